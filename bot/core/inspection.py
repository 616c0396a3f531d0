"""What people and operators are shown: insight into a chat, findings of checks, memory faults, vital signs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.core.errors import ModelFault
from bot.core.events import ChatKind

HealthArea = Literal["platform", "model", "store", "embedding"]

RepairPart = Literal["namespaces", "sections", "text-index", "vectors"]
"""What a backfill of the memories mends."""

CheckState = Literal["ok", "warn", "fail"]

CHECK_MARKS: dict[CheckState, str] = {"ok": "✓", "warn": "!", "fail": "✗"}


@dataclass(frozen=True, slots=True)
class ChatState:
    """A chat as it stands: which conversation goes on (0: none), since when (ms), its turns; replies since the day
    began."""

    session: int
    opened_at: int
    turns: int
    said_today: int


@dataclass(frozen=True, slots=True)
class ReplySign:
    """One sign of somebody to one reply, when (ms), and what the reply said ("" when it is not told any more)."""

    at: int
    sign: str
    reply: str


@dataclass(frozen=True, slots=True)
class ToldMemory:
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
class ChatStatistics:
    """A chat seen from outside for some days: turns by how they ended and why they were taken, signs, their memories.

    `unasked` are replies that nobody called for, `quiet` lines that were read and not answered.
    """

    said: int
    unasked: int
    failed: int
    quiet: int
    signs: tuple[tuple[str, int], ...]
    with_memory: int


@dataclass(frozen=True, slots=True)
class PaidCall:
    """One call of the ledger; `ms` is how long it took from its reservation, None while it runs."""

    id: int
    cause: str
    model: str
    state: str
    ms: int | None
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class HealthProblem:
    """Something that does not work: of which part, which one of it, and why; no person's words."""

    part: HealthArea
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class VectorWork:
    """How the making of vectors stands: by which model, if any; about how many documents wait for theirs; and its fault,
    with which recalls go by words alone."""

    model: str = ""
    waiting: int = 0
    fault: ModelFault | None = None


@dataclass(frozen=True, slots=True)
class HealthSnapshot:
    """What stands just now. Ages are in ms, None where a platform is not connected.

    `lags` is for how long the oldest of a queue has been due, ms; `roles` what this process does, in how many `chats` of
    those that several share, and what it alone does.
    """

    ailments: tuple[HealthProblem, ...] = ()
    silent: Mapping[str, int | None] = field(default_factory=dict)
    queues: Mapping[str, int] = field(default_factory=dict)
    deliveries: Mapping[str, int] = field(default_factory=dict)
    lags: Mapping[str, int] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    chats: int = 0
    leases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at: `about` is its dotted path or name, `text` what was seen or what to do.

    With `warn` it works as it is, and still something should be done.
    """

    good: bool
    about: str
    text: str
    warn: bool = False

    @property
    def state(self) -> CheckState:
        """How it is."""
        return "fail" if not self.good else "warn" if self.warn else "ok"

    @property
    def line(self) -> str:
        """As it is printed."""
        return f"{CHECK_MARKS[self.state]} {self.about}: {self.text}"


def passed(about: str, text: str) -> CheckResult:
    """It is well."""
    return CheckResult(True, about, text)


def warned(about: str, text: str) -> CheckResult:
    """It works, and still something should be done."""
    return CheckResult(True, about, text, warn=True)


def failed(about: str, text: str) -> CheckResult:
    """It does not work."""
    return CheckResult(False, about, text)


@dataclass(frozen=True, slots=True)
class PlacedMemory:
    """Where a memory stands, as its row says; `chat_kind` is None where there is no such chat.

    `owner_known`: the person it names is there. `senders` wrote the lines it was made from, `chats` are those lines'.
    `members` are the people of its chat, or of the only one of `chats`.
    """

    number: int
    owner_id: int | None
    owner_known: bool
    chat_id: int
    chat_kind: ChatKind | None
    visibility: str
    kind: str
    slot: str
    senders: tuple[int, ...] = ()
    chats: tuple[tuple[int, ChatKind], ...] = ()
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a memory is to stand."""

    owner_id: int | None
    chat_id: int
    visibility: str
    kind: str
    slot: str


@dataclass(frozen=True, slots=True)
class MemoryFault:
    """Something wrong with a memory, or with the row of the index of what `about` names and `number` counts.

    Of a section `about` is the one where the memory belongs. Without `place` nobody knows where a memory belongs; what
    the index should hold is always known.
    """

    part: RepairPart
    number: int
    why: str
    place: Placement | None = None
    about: str = ""

    @property
    def mendable(self) -> bool:
        """Whether a backfill puts it right."""
        return self.part != "namespaces" or self.place is not None
