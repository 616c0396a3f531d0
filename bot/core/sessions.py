"""Sessions, epochs and their logs, turns and model calls, digests and dialogue memory."""

from dataclasses import dataclass, field
from typing import Literal

from bot.core.events import Event
from bot.core.memories import NewCommitment, NewMemory, SettledCommitment
from bot.core.models import Message
from bot.core.people import Chat, Person
from bot.core.speaking import AnswerLimits

SessionState = Literal["open", "closing", "closed"]
BootstrapMode = Literal["light", "full"]
"""How much of the bootstrap a log begins with."""

LightPolicy = Literal["auto", "per_message", "sticky", "off"]
"""When a log may begin with the light one."""

CloseReason = Literal["", "idle", "budget", "new", "clear", "day"]

TurnState = Literal["asked", "answered", "said", "failed", "void"]
CallCause = Literal[
    "reply",
    "followup",
    "tool",
    "digest",
    "see",
    "listen",
    "speak",
    "image",
    "heartbeat",
    "join",
    "embedding",
    "flush",
    "rewrite",
    "doctor",
]

Tier = Literal["raw", "hour", "day", "week"]
TIERS: tuple[Tier, ...] = ("raw", "hour", "day", "week")
"""One talk, then the talks of a clock hour, of a day from 04:00 on, and of a week from Monday 04:00 on."""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of one chat. `close_at` is its deadline, ms; `number` counts within the chat from 1.

    `open_reason` is why its first message was answered: how somebody called, or that nuan wrote first. `digest_from` is
    set when its digest was first thought of: before its own first event where it tells earlier short talks, too.
    """

    id: int
    chat_id: int
    number: int
    state: SessionState
    opened_at: int
    last_at: int
    close_at: int
    close_reason: CloseReason
    from_event: int
    upto_event: int
    digest_attempts: int = 0
    digest_due_at: int | None = None
    open_reason: str = ""
    digest_from: int | None = None

    @property
    def told_from(self) -> int:
        """The event after which its digest reads."""
        return self.from_event if self.digest_from is None else self.digest_from


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The open session of a chat as people may look at it; `before` is the one that ended before it.

    `participants` are the names of those who were answered in it, `windows` who need not call again, and until when
    (ms).
    """

    session: Session | None
    before: Session | None
    participants: tuple[str, ...] = ()
    windows: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One item of an epoch's log after the stable prefix, with its estimated tokens."""

    turn_id: int
    message: Message
    tokens: int


@dataclass(frozen=True, slots=True)
class Epoch:
    """One append-only log. `prefix` is the system message, `signature` names prefix and tools (sha256[:16]).

    `logged_upto` is the newest event that a committed entry holds. `stale` is the reason why the next turn must
    open another epoch ("" while it may go on); `prompt_tokens` is the last count a server returned (0: none yet), and
    `counted_by` the model that counted: others count otherwise.
    """

    id: int
    session_id: int
    number: int
    signature: str
    prefix: Message
    entries: tuple[LogEntry, ...]
    logged_upto: int
    stale: str = ""
    prompt_tokens: int = 0
    prompt_entries: int = 0
    mode: BootstrapMode = "full"
    counted_by: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn's facts. `event_ids` are the messages being answered; the session opened at `opened_at`, ms.

    `mode` is how much of the bootstrap its log began with, `mode_why` why this turn wanted that. `parts`, as rows keep
    them, are what tools made that is sent with the reply.
    """

    id: int
    chat_id: int
    session_id: int
    epoch_id: int
    number: int
    state: TurnState
    why: str
    person_id: int
    asked_at: int
    event_ids: tuple[int, ...] = field(default=())
    receipts: tuple[str, ...] = field(default=())
    session_number: int = 0
    epoch_number: int = 0
    opened_at: int = 0
    mode: BootstrapMode = "full"
    mode_why: str = ""
    parts: tuple[str, ...] = field(default=())

    @property
    def numbers(self) -> dict[str, int]:
        """Where it stands, as every line of the log about it says."""
        return {
            "chat": self.chat_id,
            "session": self.session_number,
            "epoch": self.epoch_number,
            "turn": self.number,
        }


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One model call in the ledger: reserved before it is made, settled from the returned usage."""

    id: int
    cause: CallCause
    reserved_tokens: int
    reserved_cost: float


@dataclass(frozen=True, slots=True)
class Occasion:
    """Why a turn is composed: the messages being answered what was already done for them, how often one may.

    `cues` are what they may ask of memory, or end (done, and numbers of promises), which only the model can tell.
    `due_by`: they were due then, ms; None: whatever their deadlines are. A reply of at most `spoken_chars` is spoken.
    """

    chat: Chat
    person: Person
    answering: tuple[Event, ...]
    why: str
    receipts: tuple[str, ...] = ()
    pace: AnswerLimits | None = None
    cues: tuple[str, ...] = ()
    due_by: int | None = None
    spoken_chars: int = 0


@dataclass(frozen=True, slots=True)
class ToldItem:
    """Something that a turn was told from memory: which way it came, its number (#12), its estimated tokens, and why.

    `way` is opening, auto (a line that nobody asked for) or the tool's name. `ref` is "" where the tokens are those of
    a whole block or result.
    """

    way: str
    ref: str
    tokens: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class ToldShare:
    """How many turns were told something one way, how many pieces, and their tokens; each counts once, where it
    entered a log: what goes on with that log sends it again."""

    way: str
    turns: int
    pieces: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One summary as dialogue memory shows it: of a closed session, or of the `talks` that it was rolled up of.

    `session_id` is 0 for a rolled-up one; `own` says that the person it was read for took part, `changed` that a day
    it tells of was changed later. Times in ms.
    """

    id: int
    session_id: int
    chat_id: int
    summary: str
    started_at: int
    ended_at: int
    names: tuple[str, ...]
    tier: Tier = "raw"
    talks: int = 1
    own: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class DialogueRow:
    """A row of dialogue memory as rolling up looks at it; `owner_id` is None for a group's."""

    id: int
    owner_id: int | None
    tier: Tier
    ended_at: int


@dataclass(frozen=True, slots=True)
class Rollup:
    """The rows `members` become one of that tier, which ends at `until`; it is looked at again at `roll_at`, ms."""

    owner_id: int | None
    tier: Tier
    until: int
    members: tuple[int, ...]
    roll_at: int | None


@dataclass(frozen=True, slots=True)
class RollupPlan:
    """What becomes of one chat's rows: those rolled up, and when the others are looked at again: (number, ms)."""

    rolls: tuple[Rollup, ...]
    waits: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True)
class DigestCounts:
    """How many items a model proposed, and how many were kept, mended (kept after a second asking, or cut to what was
    said) and refused; `reasons` are those of the refused, with how often. So many more were left out unread."""

    proposed: int = 0
    kept: int = 0
    mended: int = 0
    refused: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ChangedReminder:
    """What becomes of an open reminder: new words, a new time, ms ("" and None: as they were); both empty: it ends."""

    number: int
    text: str = ""
    due_at: int | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    """What closing a session made: a summary of about 60 tokens, typed memories, what people have still to do, and
    what became of earlier tasks and reminders; by the rule also the events of earlier lines whose plans it overtook.
    `former` are earlier plans that are none any more, of which `done` came about."""

    summary: str
    memories: tuple[NewMemory, ...]
    by: Literal["model", "rule"]
    commitments: tuple[NewCommitment, ...] = ()
    settled: tuple[SettledCommitment, ...] = ()
    counts: DigestCounts = DigestCounts()
    overtook: tuple[int, ...] = ()
    reminders: tuple[ChangedReminder, ...] = ()
    former: tuple[int, ...] = ()
    done: tuple[int, ...] = ()
