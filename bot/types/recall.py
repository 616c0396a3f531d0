"""What is asked of memory, and what comes back: memories, summaries, notes and lines of the transcript."""

from dataclasses import dataclass
from typing import Literal

from bot.types.memory import Memory
from bot.types.people import Audience

FindingKind = Literal["memory", "digest", "note", "line"]
KINDS: tuple[FindingKind, ...] = ("memory", "digest", "note", "line")

Mode = Literal["keyword", "v2", "hybrid"]
"""By shared words; by words, age and importance; by those and by likeness."""
MODES: tuple[Mode, ...] = ("keyword", "v2", "hybrid")

Cut = Literal["", "no_term", "relevance", "score", "beyond", "duplicate", "limit"]
"""Why something is not brought: nothing in common, below a cut-off, in neither list, told already, too many."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question to memory: who hears the answer, whose question it is, and the text; `now` in ms.

    `most` findings (None: as configured) of these kinds that happened in [since, until), ms. `mode` is None for the
    configured one. `own` are the person's recent own lines, oldest first, and `scene` is what happens around: they
    give words that weigh less. Lines of the chat from event `heard` on are left out: the model has them before it
    (0: none is left out).
    """

    audience: Audience
    person_id: int
    text: str
    now: int
    most: int | None = None
    kinds: tuple[FindingKind, ...] = KINDS
    since: int | None = None
    until: int | None = None
    mode: Mode | None = None
    own: tuple[str, ...] = ()
    scene: str = ""
    heard: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that may come back: `doc` is its number in the index, `ref` the one among those of its kind.

    `who` is whose words or memory it is ("" : nuan's own, or nobody's), `person_id` the same as a number; `at` is when
    it happened, ms. `around` are the lines just before and after a line that is short. `memory` is set for memories.
    """

    doc: int
    kind: FindingKind
    ref: int
    text: str
    person_id: int | None
    who: str
    at: int
    around: tuple[str, ...] = ()
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A finding with the figure that orders it and what that is made of; `cut` is "" for what is brought."""

    finding: Finding
    score: float
    parts: tuple[tuple[str, float], ...]
    cut: Cut = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How a question was answered: its terms, the cut-offs, and every candidate, best first."""

    mode: Mode
    terms: tuple[str, ...]
    thresholds: tuple[tuple[str, float], ...]
    scored: tuple[Scored, ...]

    @property
    def chosen(self) -> tuple[Scored, ...]:
        """What is brought, best first."""
        return tuple(one for one in self.scored if not one.cut)
