"""What closing a session made."""

from dataclasses import dataclass
from typing import Literal

from bot.types.commitment import NewCommitment
from bot.types.memory import NewMemory


@dataclass(frozen=True, slots=True)
class Digest:
    """What closing a session made: a summary of at most 40 字, typed memories, and what people have still to do."""

    summary: str
    memories: tuple[NewMemory, ...]
    by: Literal["model", "rule"]
    commitments: tuple[NewCommitment, ...] = ()
