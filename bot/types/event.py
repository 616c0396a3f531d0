"""What happened in a chat. Incoming is the adapter's view, Event the stored one; neither decides anything."""

from dataclasses import dataclass
from typing import Literal

EventKind = Literal["message", "server", "bot", "tool", "event"]
ChatKind = Literal["dm", "group"]
AttachmentKind = Literal["image", "voice", "file"]
FORGOTTEN = "forgotten"
"""The label of a line of which nothing is left but that somebody said it."""

EventState = Literal["new", "listened", "queued", "done", "dead"]


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
    """A stored event. `id` grows with time over all chats; `at` is milliseconds since 1970 UTC."""

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
