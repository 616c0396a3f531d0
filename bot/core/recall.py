"""A question to memory, what comes back, and the sections in which turns find things."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from bot.core.events import ChatKind
from bot.core.memories import Memory
from bot.core.people import Audience, MemoryKind

HitKind = Literal["memory", "digest", "note", "line"]
HIT_KINDS: tuple[HitKind, ...] = ("memory", "digest", "note", "line")

RecallMode = Literal["keyword", "v2", "hybrid"]
"""By shared words; by words, age and importance; by those and by likeness."""
RECALL_MODES: tuple[RecallMode, ...] = ("keyword", "v2", "hybrid")

RankingProfile = Literal["default", "seed"]
"""Nuan's numbers for the mode v2, or the reference's."""

TimeSpan = tuple[int, int]
"""From the first moment, ms, to the first that is not in it any more."""

CutReason = Literal["", "no_term", "relevance", "score", "beyond", "aside", "former", "duplicate", "limit"]
"""Why something is not brought: nothing in common, below a cut-off, in neither list, says nothing by itself (a
question, small talk of nuan's), so no more, told already, too many."""

WindowSize = Literal[3, 5, 10]

SectionStanding = Literal["dominant", "also", "low", "none"]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to memory: who hears the answer, whose question it is, and the text; `now` in ms.

    `most` findings (None: as configured) of these kinds, of memories only of these types (none: all), that happened in
    [since, until), ms. `mode` and `profile` are None for the configured ones. `own` are the person's recent own lines,
    oldest first, and `scene` is what happens around: they give words that weigh less. Lines of the chat from event
    `heard` on are left out: the model has them before it (0: none is left out). `strict`: nobody asked for it, so that
    even what somebody wanted kept must be above the cut-offs. Of `sections` (none: all) memories are looked for by
    whatever word; those of the others only by a rare one, and those that somebody wanted kept always. `said` are the
    person's own words where a model asks for them: whether they are about the past. `people` are the names and time
    zones of all these, by number, where they are known.
    """

    audience: Audience
    person_id: int
    text: str
    now: int
    most: int | None = None
    kinds: tuple[HitKind, ...] = HIT_KINDS
    memory_kinds: tuple[MemoryKind, ...] = ()
    since: int | None = None
    until: int | None = None
    mode: RecallMode | None = None
    profile: RankingProfile | None = None
    own: tuple[str, ...] = ()
    scene: str = ""
    heard: int = 0
    strict: bool = False
    sections: tuple[str, ...] = ()
    said: str = ""
    people: Mapping[int, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinePosition:
    """Where a line stands: its chat, its number among the lines of it, and the first line of its talk."""

    chat_id: int
    place: int
    talk: int


@dataclass(frozen=True, slots=True)
class SearchHit:
    """Something that may come back: `doc` is its number in the index, `ref` the one among those of its kind.

    `who` is whose words or memory it is ("": nuan's own, or nobody's), `person_id` the same as a number; `at` is when
    it happened, ms. `line` is set for lines, `memory` for memories. `around` are the lines just before and after one
    that is short: who said it ("": nuan) and what. What is `forwarded` is somebody else's words. `group` is the
    title of the group that it was said in, where that is not here.
    """

    doc: int
    kind: HitKind
    ref: int
    text: str
    person_id: int | None
    who: str
    at: int
    line: LinePosition | None = None
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
class IndexedTalk:
    """Lines of a chat without a long silence between them: when the first and the last were said, ms, and how many
    terms they have. Only what the audience may see."""

    chat_id: int
    talk: int
    begun: int
    at: int
    length: int


@dataclass(frozen=True, slots=True)
class Matches:
    """What the index says of a question: the postings of its terms; how many documents the audience may see, and how
    many terms are in them. `dated` happened when the question asks about; `talks` are all that it may look at, with
    the place among these of each document that is a line, and how many terms that has."""

    postings: tuple[Posting, ...]
    count: int
    length: int
    dated: tuple[int, ...] = ()
    talks: tuple[IndexedTalk, ...] = ()
    talk_of: Mapping[int, int] = field(default_factory=dict)
    length_of: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A finding with its terms in the index, as they occur; of a memory with the lines that it was drawn from."""

    finding: SearchHit
    terms: tuple[str, ...]
    sources: tuple[int, ...] = ()


# These are tuples, as hundreds of them are made for each question: frozen dataclasses take three times as long.
class TalkScore(NamedTuple):
    """How well a talk fits a question, 0 to 1; `talk` is its first line."""

    chat_id: int
    talk: int
    figure: float


class ScoredHit(NamedTuple):
    """A finding with the figure that orders it and what that is made of; `cut` is "" for what is brought."""

    finding: SearchHit
    score: float
    parts: tuple[tuple[str, float], ...]
    cut: CutReason = ""


@dataclass(frozen=True, slots=True)
class RecallTrace:
    """How a question was answered: its terms, the rarest first, the cut-offs, every candidate and talk, best first.

    `missing` says why likeness did not count where it should have, "" otherwise; `spans` are the times it asks about.
    """

    mode: RecallMode
    terms: tuple[str, ...]
    thresholds: tuple[tuple[str, float], ...]
    scored: tuple[ScoredHit, ...]
    missing: str = ""
    spans: tuple[TimeSpan, ...] = ()
    talks: tuple[TalkScore, ...] = ()

    @property
    def chosen(self) -> tuple[ScoredHit, ...]:
        """What is brought, best first."""
        return tuple(one for one in self.scored if not one.cut)


@dataclass(frozen=True, slots=True)
class SectionWords:
    """A section by its key, with the words by which a text belongs to it."""

    key: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallRound:
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
class ConversationTopic:
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
class SectionHistory:
    """One person in one chat, with their rounds, oldest first, and how many memories each section holds for them."""

    chat_id: int
    person_id: int
    kind: ChatKind
    title: str
    name: str
    rounds: tuple[RecallRound, ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SectionAdvice:
    """A section that holds something: its share of the hits, how many memories it holds, and the rounds without a hit.

    `merge`: so many that it might be merged into another.
    """

    key: str
    share: float
    memories: int
    misses: int
    standing: SectionStanding
    merge: bool
