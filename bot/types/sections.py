"""Sections of memory: what belongs together, and what turns found in each (seed 記憶索引比例分配)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.types.event import ChatKind

WindowSize = Literal[3, 5, 10]


@dataclass(frozen=True, slots=True)
class SectionWords:
    """A section by its key, with the words by which a text belongs to it."""

    key: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proportion:
    """By which numbers shares decide; `dominant` and `low` are shares, 0 to 1.

    `window` are the rounds that count, `least` the hits without which nothing dominates, `misses` the rounds without a
    hit after which a section is advised against, `stable` the rounds after which what dominates is the topic.
    """

    window: WindowSize = 5
    dominant: float = 0.7
    low: float = 0.1
    least: int = 3
    misses: int = 3
    stable: int = 2


@dataclass(frozen=True, slots=True)
class Round:
    """What one turn's own recall found: the best memory of each section that its message called for.

    `searched` are the sections that were looked through, none for all. `held`: it only found again what it was narrowed
    to, which proves nothing and counts nothing. The turn's number and its moment, ms, are set when it is stored.
    """

    hits: Mapping[str, int] = field(default_factory=dict)
    searched: tuple[str, ...] = ()
    held: bool = False
    turn_id: int = 0
    at: int = 0


@dataclass(frozen=True, slots=True)
class Topic:
    """What a talk stays with: the section, and the memory that its turns found last."""

    section: str
    memory_id: int
    turn_id: int
    at: int


@dataclass(frozen=True, slots=True)
class TopicLine:
    """The topic as it may be told: its section, and what the memory says that was found in it last."""

    section: str
    text: str
    memory_id: int


@dataclass(frozen=True, slots=True)
class Sighted:
    """One person in one chat, with their rounds, oldest first, and how many memories each section holds for them."""

    chat_id: int
    person_id: int
    kind: ChatKind
    title: str
    name: str
    rounds: tuple[Round, ...]
    sizes: Mapping[str, int]


Standing = Literal["dominant", "also", "low", "none"]


@dataclass(frozen=True, slots=True)
class Advice:
    """A section that holds something: its share of the hits, how many memories it holds, and the rounds without a hit.

    `merge`: so many that it might be merged into another.
    """

    key: str
    share: float
    memories: int
    misses: int
    standing: Standing
    merge: bool
