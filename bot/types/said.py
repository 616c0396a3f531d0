"""What somebody set in a chat beside the configuration, and how it is taken up."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.types.reload import Reloaded


@dataclass(frozen=True, slots=True)
class Said:
    """One key with its value as a variable would hold it, who set it (None: nobody knows any more) and when, ms."""

    key: str
    value: str
    person_id: int | None = None
    name: str = ""
    at: int = 0


Wish = Mapping[str, str | None]
"""Dotted keys of the configuration with their new values; None takes back what was said of that key."""

Settle = Callable[[Wish, int], Awaitable[Reloaded]]
"""Stores the wish of a person (by number) and lets the house work by it; with problems nothing has changed."""
