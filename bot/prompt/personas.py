"""All personas of a house: which folders there are, and the stable prefixes of each. Files are read at start only."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from bot.prompt.persona import FULL, Bootstraps, Persona, persona_words, read_bootstraps
from bot.types.people import Chat
from bot.types.prompt import ToolSpec

_NAME = re.compile(r"[\w-]{1,64}")

SKILL = "skill"
"""The tool that a persona without skills does not bring."""


@dataclass(frozen=True, slots=True)
class Personas:
    """The prefixes of every persona by name; `default` holds wherever nobody chose another."""

    default: str
    known: Mapping[str, Bootstraps]

    def name(self, chosen: str) -> str:
        """The persona that holds where this one was chosen: one that is gone is not missed."""
        return chosen if chosen in self.known else self.default

    def of(self, chosen: str) -> Bootstraps:
        """Its prefixes."""
        return self.known[self.name(chosen)]

    def paced(self, chat: Chat) -> bool:
        """Whether replies there are scripts of several messages."""
        return self.of(chat.persona).paced

    def near(self, name: str) -> str:
        """The one whose name is most like this, "" when none is."""
        lower = {known.lower(): known for known in self.known}
        found = get_close_matches(name.lower(), lower, n=1)
        return lower[found[0]] if found else ""


def persona_folders(*folders: Path) -> dict[str, Path]:
    """The folders in these that hold a persona, by name; of two of the same name the one in the first counts."""
    found: dict[str, Path] = {}
    for folder in folders:
        for each in sorted(folder.iterdir()) if folder.is_dir() else ():
            if _NAME.fullmatch(each.name) and any((each / file).is_file() for file in FULL):
                found.setdefault(each.name, each)
    return found


def read_personas(
    find: Callable[[str], Path], personas: Mapping[str, Persona], default: str, name: str,
    tools: tuple[ToolSpec, ...], dialect: str,
) -> Personas:  # fmt: skip
    """Read all of them as a bot of that name; ConfigError names the first file that cannot be read."""
    known = {}
    for each, persona in personas.items():
        brings = tuple(tool for tool in tools if tool.name != SKILL or persona.skills)
        known[each] = read_bootstraps(find, persona, name, brings, dialect)
    return Personas(default, known)


def words_of(personas: Mapping[str, Persona]) -> Mapping[str, str]:
    """What each persona is about, by name."""
    return {each: persona_words(persona) for each, persona in personas.items()}
