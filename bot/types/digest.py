"""What closing a session made."""

from dataclasses import dataclass
from typing import Literal

from bot.types.commitment import NewCommitment, Settled
from bot.types.memory import NewMemory


@dataclass(frozen=True, slots=True)
class DigestCounts:
    """How many items a model proposed, and how many were kept, mended (kept after a second asking, or cut to what was
    said) and refused; `reasons` are those of the refused, with how often."""

    proposed: int = 0
    kept: int = 0
    mended: int = 0
    refused: int = 0
    reasons: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedReminder:
    """What becomes of an open reminder: new words, a new time, ms ("" and None: as they were); both empty: it ends."""

    number: int
    text: str = ""
    due_at: int | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    """What closing a session made: a summary of at most 60 tokens, typed memories, what people have still to do, and
    what became of earlier tasks and reminders; by the rule also the events of earlier lines whose plans it overtook.
    `former` are earlier plans that are none any more."""

    summary: str
    memories: tuple[NewMemory, ...]
    by: Literal["model", "rule"]
    commitments: tuple[NewCommitment, ...] = ()
    settled: tuple[Settled, ...] = ()
    counts: DigestCounts = DigestCounts()
    overtook: tuple[int, ...] = ()
    reminders: tuple[ChangedReminder, ...] = ()
    former: tuple[int, ...] = ()
