"""One decision to answer, as it is stored, logged and shown."""

from dataclasses import dataclass, field
from typing import Literal

from bot.types.session import Mode

TurnState = Literal["asked", "answered", "said", "failed", "void"]
Cause = Literal[
    "reply",
    "followup",
    "tool",
    "digest",
    "see",
    "listen",
    "heartbeat",
    "join",
    "embedding",
    "flush",
    "rewrite",
    "doctor",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn's facts. `event_ids` are the messages being answered; the session opened at `opened_at`, ms.

    `mode` is how much of the bootstrap its log began with, `mode_why` why this turn wanted that.
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
    mode: Mode = "full"
    mode_why: str = ""

    @property
    def numbers(self) -> dict[str, int]:
        """Where it stands, as every line of the log about it says."""
        return {
            "chat": self.chat_id, "session": self.session_number, "epoch": self.epoch_number, "turn": self.number,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One model call in the ledger: reserved before it is made, settled from the returned usage."""

    id: int
    cause: Cause
    reserved_tokens: int
    reserved_cost: float
