"""What goes out: one row of the outbox, ordered per chat and part."""

from dataclasses import dataclass
from typing import Literal

OutgoingKind = Literal["reply", "receipt", "notice", "command"]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to send. `outbox_id` is stable over retries, so a platform may use it against duplicates."""

    outbox_id: int
    chat_id: int
    platform: str
    external_chat_id: str
    text: str
    kind: OutgoingKind


@dataclass(frozen=True, slots=True)
class Draft:
    """An outbox row to be."""

    text: str
    kind: OutgoingKind
