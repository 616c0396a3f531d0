"""What happens in a chat and what is sent there: events, attachments, outgoing messages, menu commands."""

from dataclasses import dataclass
from typing import Literal

from bot.core.parts import Part

EventKind = Literal["message", "server", "bot", "tool", "event"]
ChatKind = Literal["dm", "group"]
AttachmentKind = Literal["image", "voice", "file"]
FORGOTTEN = "forgotten"
"""The label of a line of which nothing is left but that somebody said it."""

WISH_TAKEN = "wish"
"""The label of a message of which a wish to forget was taken out, so that only what it says besides is left."""

OutgoingKind = Literal["reply", "receipt", "notice", "command", "withdrawal"]

ArgumentShape = Literal["none", "text", "words"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happened, in the platform's own ids; the title is display only.

    `parent` is what it belongs to and is allowed with: the guild of a channel, the group of a topic.
    """

    platform: str
    external_id: str
    kind: ChatKind
    title: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who did it, in the platform's own ids; the name is display only, never identity."""

    platform: str
    external_id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something sent along: `handle` is what its adapter fetches it by, `size` is in bytes, 0 when unknown."""

    kind: AttachmentKind
    handle: str
    name: str = ""
    mime: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Incoming:
    """One platform update, made by an adapter's pure function.

    `label` names what happened when `kind` is "event" (join, leave, rename, edit, delete, reaction, pin, title,
    migrate …); `target` is the platform's id of the message it is about, or that a message replies to, or the new
    place of a chat that migrated. A reaction's text is its emoji, with a "-" before it when it was taken back.
    `delivery_key` is unique per platform and bot account; a second copy is dropped; "" means never repeated.
    `scene` is the adapter's present description of the place, or None when it knows none. `at` is when it happened
    by the platform's clock, ms, 0 for now. `quote` is the text of the message it replies to, as the platform sent it
    along. `via` is where the platform wants the answer to a command (an interaction).
    """

    place: Place
    sender: Sender | None
    kind: EventKind
    text: str = ""
    label: str = ""
    delivery_key: str = ""
    external_id: str = ""
    mentions_bot: bool = False
    replies_to_bot: bool = False
    addresses_other: bool = False
    forwarded: bool = False
    scene: str | None = None
    target: str = ""
    attachments: tuple[Attachment, ...] = ()
    at: int = 0
    via: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A stored event. `id` grows with time over all chats; `at` is milliseconds since 1970 UTC.

    `quote` is the text of the older line it replies to, else who said it; `marks` is what was sent along, like
    [image #12].
    """

    id: int
    chat_id: int
    at: int
    kind: EventKind
    person_id: int | None
    name: str
    text: str
    label: str = ""
    why: str = ""
    forwarded: bool = False
    turn_id: int | None = None
    quote: str = ""
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message: pressed by the account it is made for, it says `text` in that person's name."""

    label: str
    text: str
    account: str

    @property
    def data(self) -> str:
        """What a platform keeps with it until it is pressed."""
        return f"{self.account}|{self.text}"

    @staticmethod
    def pressed(data: str, account: str) -> str:
        """What that account says by pressing the button of that data; "" when it is made for another."""
        owner, _, text = data.partition("|")
        return text if owner == account else ""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to send. `outbox_id` is stable over retries, so a platform may use it against duplicates.

    `preview_id` is the platform's id of a message that already shows a part of it: that one is edited. `via` is the
    interaction it answers, `further` says that an earlier row does, too. `only_for` is the account that alone may read
    it, "" for everyone in the chat. `again` says that an earlier try may have reached the platform, `tried_at` (ms, 0
    unknown) when the first one was. A withdrawal has no text: it takes the preview away, or with `via` the sign that
    the interaction is being answered. One with a `part` is that, with these bytes as its `content`; `text` is what is
    said where it cannot be sent, and `target` the platform's id of the message that a reaction is about.
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
    part: Part | None = None
    further: bool = False
    target: str = ""
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Draft:
    """An outbox row to be. It goes `wait_ms` after the one before it; for the last `typed_ms` of them it is typed.

    One with a `part` is that; `text` is what is said where it cannot be sent, "" for nothing.
    """

    text: str
    kind: OutgoingKind
    via: str = ""
    only_for: str = ""
    buttons: tuple[Button, ...] = ()
    wait_ms: int = 0
    typed_ms: int = 0
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class NextPart:
    """The message of the same reply that goes next: at `due_at`, ms, after being typed for `typed_ms`."""

    due_at: int
    typed_ms: int


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command of the table: `says` is what a person would type (".ai ctx"), `about` one sentence per language.

    `shape` is what may follow it: nothing, a text that is wanted, or words that may be left out; `arguments` shows
    them. `under` names the group that it stands in where menus have groups, "" for the first word of its name.
    """

    name: str
    says: str
    about: tuple[tuple[str, str], ...]
    shape: ArgumentShape = "none"
    arguments: str = ""
    under: str = ""
