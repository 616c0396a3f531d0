"""What goes out: one row of the outbox, ordered per chat and part."""

from dataclasses import dataclass
from typing import Literal

OutgoingKind = Literal["reply", "receipt", "notice", "command", "withdrawal"]


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message: pressed by the account it is made for, it says `text` in that person's name."""

    label: str
    text: str
    account: str


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to send. `outbox_id` is stable over retries, so a platform may use it against duplicates.

    `preview_id` is the platform's id of a message that already shows a part of it: that one is edited. `via` is the
    interaction it answers. `only_for` is the account that alone may read it, "" for everyone in the chat. `again` says
    that an earlier try may have reached the platform, `tried_at` (ms, 0 unknown) when the first one was. A withdrawal
    has no text: it takes the preview away.
    """

    outbox_id: int
    chat_id: int
    platform: str
    external_chat_id: str
    text: str
    kind: OutgoingKind
    preview_id: str = ""
    via: str = ""
    only_for: str = ""
    buttons: tuple[Button, ...] = ()
    again: bool = False
    tried_at: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """An outbox row to be. It goes `wait_ms` after the one before it; for the last `typed_ms` of them it is typed."""

    text: str
    kind: OutgoingKind
    via: str = ""
    only_for: str = ""
    buttons: tuple[Button, ...] = ()
    wait_ms: int = 0
    typed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Following:
    """The message of the same reply that goes next: at `due_at`, ms, after being typed for `typed_ms`."""

    due_at: int
    typed_ms: int
