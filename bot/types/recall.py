"""What is asked of memory, and what comes back: memories, summaries, notes and lines of the transcript."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.types.memory import Memory, MemoryKind
from bot.types.people import Audience

FindingKind = Literal["memory", "digest", "note", "line"]
KINDS: tuple[FindingKind, ...] = ("memory", "digest", "note", "line")

Mode = Literal["keyword", "v2", "hybrid"]
"""By shared words; by words, age and importance; by those and by likeness."""
MODES: tuple[Mode, ...] = ("keyword", "v2", "hybrid")

Profile = Literal["default", "seed"]
"""Nuan's numbers for the mode v2, or the reference's."""

Span = tuple[int, int]
"""From the first moment, ms, to the first that is not in it any more."""

Cut = Literal["", "no_term", "relevance", "score", "beyond", "aside", "former", "duplicate", "limit"]
"""Why something is not brought: nothing in common, below a cut-off, in neither list, says nothing by itself (a
question, small talk of nuan's), so no more, told already, too many."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question to memory: who hears the answer, whose question it is, and the text; `now` in ms.

    `most` findings (None: as configured) of these kinds, of memories only of these types (none: all), that happened in
    [since, until), ms. `mode` and `profile` are None for the configured ones. `own` are the person's recent own lines,
    oldest first, and `scene` is what happens around: they give words that weigh less. Lines of the chat from event
    `heard` on are left out: the model has them before it (0: none is left out). `strict`: nobody asked for it, so that
    even what somebody wanted kept must be above the cut-offs. Of `sections` (none: all) memories are looked for by
    whatever word; those of the others only by a rare one, and those that somebody wanted kept always. `said` are the
    person's own words where a model asks for them: whether they are about the past.
    """

    audience: Audience
    person_id: int
    text: str
    now: int
    most: int | None = None
    kinds: tuple[FindingKind, ...] = KINDS
    memory_kinds: tuple[MemoryKind, ...] = ()
    since: int | None = None
    until: int | None = None
    mode: Mode | None = None
    profile: Profile | None = None
    own: tuple[str, ...] = ()
    scene: str = ""
    heard: int = 0
    strict: bool = False
    sections: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: its chat, its number among the lines of it, and the first line of its talk."""

    chat_id: int
    place: int
    talk: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that may come back: `doc` is its number in the index, `ref` the one among those of its kind.

    `who` is whose words or memory it is ("": nuan's own, or nobody's), `person_id` the same as a number; `at` is when
    it happened, ms. `line` is set for lines, `memory` for memories. `around` are the lines just before and after one
    that is short: who said it ("": nuan) and what. What is `forwarded` is somebody else's words. `group` is the
    title of the group that it was said in, where that is not here.
    """

    doc: int
    kind: FindingKind
    ref: int
    text: str
    person_id: int | None
    who: str
    at: int
    line: Place | None = None
    memory: Memory | None = None
    around: tuple[tuple[str, str], ...] = ()
    forwarded: bool = False
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Posting:
    """The documents that hold a term, of those that the audience may see and that are searched.

    `everywhere` counts all that it may see, where only some sections are searched; None where that is all of `docs`.
    """

    term: str
    docs: tuple[int, ...]
    everywhere: int | None = None

    @property
    def holding(self) -> int:
        """How many documents hold it, whether they are searched or not: what makes a term rare is the same."""
        return len(self.docs) if self.everywhere is None else self.everywhere


@dataclass(frozen=True, slots=True)
class Talk:
    """Lines of a chat without a long silence between them: when the first and the last were said, ms, how many terms
    and which documents they are, with the terms of each. Only what the audience may see."""

    chat_id: int
    talk: int
    begun: int
    at: int
    length: int
    docs: tuple[int, ...]
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TalkFigure:
    """How well a talk fits a question, 0 to 1; `talk` is its first line."""

    chat_id: int
    talk: int
    figure: float


@dataclass(frozen=True, slots=True)
class Matches:
    """What the index says of a question: the postings of its terms; how many documents the audience may see, and how
    many terms are in them. `dated` happened when the question asks about; `talks` are all that it may look at."""

    postings: tuple[Posting, ...]
    count: int
    length: int
    dated: tuple[int, ...] = ()
    talks: tuple[Talk, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A finding with its terms in the index, as they occur; of a memory with the lines that it was drawn from."""

    finding: Finding
    terms: tuple[str, ...]
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """A finding with the figure that orders it and what that is made of; `cut` is "" for what is brought."""

    finding: Finding
    score: float
    parts: tuple[tuple[str, float], ...]
    cut: Cut = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How a question was answered: its terms, the rarest first, the cut-offs, every candidate and talk, best first.

    `missing` says why likeness did not count where it should have, "" otherwise; `spans` are the times it asks about.
    """

    mode: Mode
    terms: tuple[str, ...]
    thresholds: tuple[tuple[str, float], ...]
    scored: tuple[Scored, ...]
    missing: str = ""
    spans: tuple[Span, ...] = ()
    talks: tuple[TalkFigure, ...] = ()

    @property
    def chosen(self) -> tuple[Scored, ...]:
        """What is brought, best first."""
        return tuple(one for one in self.scored if not one.cut)


class Likenesses(Protocol):
    """Documents that are like a question: place, from 1, and cosine, by number; `missing` says why there are none."""

    @property
    def found(self) -> Mapping[int, tuple[int, float]]: ...

    @property
    def missing(self) -> str: ...

    @property
    def weight(self) -> float:
        """What a place counts beside one among those found by words."""
        ...


class Near(Protocol):
    """Finds documents by likeness, of what the audience may see."""

    async def like(self, asking: Asking, most: int) -> Likenesses:
        """At most `most` of them."""
        ...
