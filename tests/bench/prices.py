"""What providers' prompt caches make of a sequence of requests. Pure: prompts are chains of pieces, nobody is called.

Rules, prices and lives: PROMPT_ECONOMICS section 1. What it leaves open is fixed here and printed: OpenAI <= 5.5 keeps
for its default of 24 h, DeepSeek for 6 h in units of 64 tokens (its older documents); every use renews the life of what
was used and of every marked end before it; one account, so all chats share a cache.
A price is a part of that of a full input token; output is no input and costs nothing here.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

MINUTE, HOUR = 60_000, 3_600_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt that is cached whole or not at all: its bytes, hashed, and its tokens."""

    key: bytes
    tokens: int


@dataclass(frozen=True, slots=True)
class End:
    """A place between two pieces: everything before it, hashed, and how many tokens that is."""

    key: bytes
    tokens: int


@dataclass(frozen=True, slots=True)
class Ask:
    """One request at `at`, ms: the ends of its pieces, those of them that are marked, and the end of its reply."""

    at: int
    cause: str
    ends: tuple[End, ...]
    marks: tuple[int, ...] = ()
    said: End | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the prompt."""
        return self.ends[-1].tokens


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of one prompt by their price."""

    uncached: int
    cached: int
    written: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A provider: how it matches, from how many tokens and in which steps, for how long (ms), at which prices.

    longest: the longest run of pieces that any request began with. marks: only where this request and an earlier one
    are marked; what is marked is paid as written. units: where an earlier prompt or its reply ended, or, from the third
    request on, where two earlier ones parted. `tools_first`: tools stand before the system message.
    """

    name: str
    match: Literal["longest", "marks", "units"]
    least: int
    grain: int
    life: int
    cached: float
    written: float = 1.0
    tools_first: bool = False

    def cost(self, bill: Bill) -> float:
        """Tokens at the full price that this is worth."""
        return bill.uncached + bill.cached * self.cached + bill.written * self.written

    def line(self) -> str:
        """The rule as one line to read."""
        life = f"{self.life // HOUR} h" if self.life >= HOUR else f"{self.life // MINUTE} min"
        return (
            f"{self.name}: match {self.match}, from {self.least} tokens in steps of {self.grain}, kept {life} after "
            f"the last use, cached {self.cached:g}, written {self.written:g}"
        )


RULES = (
    Rule("OpenAI <= 5.5", "longest", 1024, 128, 24 * HOUR, 0.10),
    Rule("OpenAI >= 5.6", "marks", 1024, 1, 30 * MINUTE, 0.10, 1.25),
    Rule("DeepSeek", "units", 64, 64, 6 * HOUR, 0.02),
    Rule("Anthropic-like", "marks", 1024, 1, 5 * MINUTE, 0.10, 1.25, tools_first=True),
)
MOST_MARKS = 4


@dataclass(slots=True)
class Cache:
    """The cache of one account under one rule: until when what is before an end is kept."""

    rule: Rule
    _until: dict[bytes, int] = field(default_factory=dict)
    _begun: dict[bytes, int] = field(default_factory=dict)

    def bill(self, ask: Ask) -> Bill:
        """What this request pays, and what later ones find because of it."""
        match self.rule.match:
            case "longest":
                return self._longest(ask)
            case "marks":
                return self._marks(ask)
            case "units":
                return self._units(ask)

    def _longest(self, ask: Ask) -> Bill:
        hit = self._hit(ask, ask.ends)
        self._keep(ask, ask.ends)
        return Bill(ask.tokens - hit, hit, 0)

    def _marks(self, ask: Ask) -> Bill:
        marked = [ask.ends[place] for place in ask.marks[-MOST_MARKS:] if ask.ends[place].tokens >= self.rule.least]
        hit = self._hit(ask, marked)
        self._keep(ask, marked)
        last = max((end.tokens for end in marked), default=0)
        return Bill(ask.tokens - max(hit, last), hit, max(0, last - hit))

    def _units(self, ask: Ask) -> Bill:
        hit = self._hit(ask, ask.ends)
        shared = [end for end in ask.ends if self._begun.get(end.key, -1) >= ask.at]
        self._keep(ask, shared[-1:] + [ask.ends[-1]] + ([ask.said] if ask.said is not None else []))
        self._begun |= {end.key: ask.at + self.rule.life for end in ask.ends}
        return Bill(ask.tokens - hit, hit, 0)

    def _hit(self, ask: Ask, ends: Sequence[End]) -> int:
        """Tokens before the last of these ends that is still kept, in whole steps."""
        found = max((end.tokens for end in ends if self._until.get(end.key, -1) >= ask.at), default=0)
        return found // self.rule.grain * self.rule.grain if found >= self.rule.least else 0

    def _keep(self, ask: Ask, ends: Iterable[End]) -> None:
        self._until |= {end.key: ask.at + self.rule.life for end in ends}


def piece(text: str, tokens: int) -> Piece:
    """A part of a prompt with this text."""
    return Piece(hashlib.sha256(text.encode("utf-8", "replace")).digest(), tokens)


def chain(pieces: Iterable[Piece], before: End | None = None) -> tuple[End, ...]:
    """The ends of pieces that follow one another, after `before`."""
    end = before or End(b"", 0)
    ends = []
    for one in pieces:
        end = End(hashlib.sha256(end.key + one.key).digest(), end.tokens + one.tokens)
        ends.append(end)
    return tuple(ends)


def bills(rule: Rule, asks: Iterable[Ask]) -> list[Bill]:
    """What each of these requests pays, in order, from an empty cache."""
    cache = Cache(rule)
    return [cache.bill(ask) for ask in asks]
