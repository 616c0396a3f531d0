"""Sessions, epochs and the entries of the append-only log."""

from dataclasses import dataclass
from typing import Literal

from bot.types.prompt import Message

SessionState = Literal["open", "closing", "closed"]
Mode = Literal["light", "full"]
"""How much of the bootstrap a log begins with."""

LightPolicy = Literal["auto", "per_message", "sticky", "off"]
"""When a log may begin with the light one."""

CloseReason = Literal["", "idle", "budget", "new", "clear", "day"]


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
    mode: Mode = "full"
    counted_by: str = ""
