"""A command as platforms show it in their menus."""

from dataclasses import dataclass
from typing import Literal

Shape = Literal["none", "text", "words"]


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command of the table: `says` is what a person would type (".ai ctx"), `about` one sentence per language.

    `shape` is what may follow it: nothing, a text that is wanted, or words that may be left out; `arguments` shows
    them. `under` names the group that it stands in where menus have groups, "" for the first word of its name.
    """

    name: str
    says: str
    about: tuple[tuple[str, str], ...]
    shape: Shape = "none"
    arguments: str = ""
    under: str = ""
