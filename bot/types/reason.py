"""Why nuan last spoke, waits or stayed silent in a chat: what is known of it, and the answer. It decides nothing."""

from dataclasses import dataclass
from typing import Literal

Frame = Literal["spoke", "still", "waits"]
"""She spoke; she stayed silent; she waits."""


@dataclass(frozen=True, slots=True)
class LastLine:
    """The newest message of a chat, and what became of it; `due_at` is when it is to be answered, ms."""

    id: int
    name: str
    why: str
    state: str
    outcome: str
    due_at: int | None


@dataclass(frozen=True, slots=True)
class LastLook:
    """The last look at whether to enter the talk, up to that event, and when the next one is due, ms."""

    event_id: int
    why: str
    until: int
    due_at: int | None


@dataclass(frozen=True, slots=True)
class LastEntry:
    """The last time that nuan was asked to say something unasked, why, and what came of it ("": it goes on)."""

    id: int
    why: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known; None for what never was."""

    line: LastLine | None
    look: LastLook | None
    entry: LastEntry | None


@dataclass(frozen=True, slots=True)
class Reason:
    """The answer: `key` is the sentence of the catalogue, `name` whom it is about, `at` a moment of it, ms, or 0."""

    frame: Frame
    key: str
    name: str = ""
    at: int = 0
