"""What a chat can be told about itself: its conversation, what was thought of replies, what they were told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Here:
    """A chat as it stands: which conversation goes on (0: none), since when (ms), its turns; replies since the day
    began."""

    session: int
    opened_at: int
    turns: int
    said_today: int


@dataclass(frozen=True, slots=True)
class Mark:
    """One sign of somebody to one reply, when (ms), and what the reply said ("" when it is not told any more)."""

    at: int
    sign: str
    reply: str


@dataclass(frozen=True, slots=True)
class Told:
    """One memory that a reply was told: when (ms), in which conversation and turn, by its opening or by a recall."""

    at: int
    session: int
    turn: int
    boot: bool
    memory_id: int
    text: str


@dataclass(frozen=True, slots=True)
class ToldCounts:
    """How many replies there were, how many were told memories of somebody, how often by a recall or an opening."""

    replies: int
    with_memory: int
    recalled: int
    opened: int
    memories: int


@dataclass(frozen=True, slots=True)
class Looked:
    """A chat seen from outside for some days: turns by how they ended and why they were taken, signs, their memories.

    `unasked` are replies that nobody called for, `quiet` lines that were read and not answered.
    """

    said: int
    unasked: int
    failed: int
    quiet: int
    signs: tuple[tuple[str, int], ...]
    with_memory: int
