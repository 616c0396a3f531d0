"""What becomes of a statement that is much like one already kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.types.memory import Memory, NewMemory

How = Literal["evidence", "replace", "append", "join", "timeline", "update", "absorb", "outdo"]
"""Into the older one: nothing new, only proof of it (evidence), or its text corrected (update). The older one into what
a person asks to keep: as the same (absorb) or as disproved by it (outdo). The others are of rows of an older nuan."""

INTO_OLDER: tuple[How, ...] = ("evidence", "replace", "append", "join", "timeline", "update")


@dataclass(frozen=True, slots=True)
class Merge:
    """A new statement meets an older memory; `text` is what that one says afterwards ("" where it stays as it is)."""

    older: Memory
    how: How
    text: str = ""


Merging = Callable[[NewMemory, tuple[Memory, ...]], tuple[Merge, ...]]
"""What becomes of a new statement beside those near it: nothing (it stands for itself), one merge into an older
memory, or for what a person asks to keep the older ones that go into it."""


def keep_apart(new: NewMemory, near: tuple[Memory, ...]) -> tuple[Merge, ...]:
    """Every statement stands for itself."""
    del new, near
    return ()


@dataclass(frozen=True, slots=True)
class Merged:
    """One merge as it is kept: what the memory said before, and what came to it from which events, times in ms."""

    id: int
    at: int
    how: How
    before: str
    said: str
    undone_at: int | None
    event_ids: tuple[int, ...]
