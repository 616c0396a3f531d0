"""What a reply is made of besides text: a reaction, a sticker, an image, a file, a voice message, or a text that becomes
one; each is one message of the outbox. It sends nothing."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

PartKind = Literal["reaction", "sticker", "image", "file", "voice", "speech"]

SHOWN_FIRST: tuple[str, ...] = ("", "image", "file")
"""What a message that begins as … may become by an edit, where a platform begins them so: text, "", or one of these."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """One emoji under a message of a person; `event_id` is its line."""

    kind: ClassVar[PartKind] = "reaction"
    emoji: str
    event_id: int


@dataclass(frozen=True, slots=True)
class Sticker:
    """A sticker; `id` is what the platform of the chat knows it by."""

    kind: ClassVar[PartKind] = "sticker"
    label: str
    id: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture. `file` is where its bytes lie in the data folder (`PartFiles`, or the archive of an export), `size` how
    many they are, `name` what people read, `caption` what stands below it, `about` what it shows, for the line that stands
    for it."""

    kind: ClassVar[PartKind] = "image"
    file: str
    name: str
    size: int
    caption: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A document; fields as those of an image."""

    kind: ClassVar[PartKind] = "file"
    file: str
    name: str
    size: int
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Voice:
    """A recording that is shown as a voice message where the platform has these; fields as those of an image.

    Telegram takes Opus in OGG, MP3 and M4A.
    """

    kind: ClassVar[PartKind] = "voice"
    file: str
    name: str
    size: int
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Speech:
    """The text of its message, which is spoken before it is sent: then it is a voice message. `person_id` is who is
    answered."""

    kind: ClassVar[PartKind] = "speech"
    person_id: int


Media = Image | File | Voice
"""Parts that have bytes."""

Part = Reaction | Sticker | Image | File | Voice | Speech

_KINDS: Mapping[str, type[Part]] = {kind.kind: kind for kind in (Reaction, Sticker, Image, File, Voice, Speech)}


def size_of(part: Part) -> int:
    """How many bytes it has, 0 for one without."""
    return part.size if isinstance(part, Image | File | Voice) else 0


def file_of(part: Part | None) -> str:
    """Where its bytes lie in the data folder, "" for one without."""
    return part.file if isinstance(part, Image | File | Voice) else ""


def stored_part(part: Part) -> str:
    """The part as its row keeps it."""
    return json.dumps({"kind": part.kind, **asdict(part)}, ensure_ascii=False)


def read_part(stored: str) -> Part:
    """The part that a row keeps."""
    fields = json.loads(stored)
    return _KINDS[fields.pop("kind")](**fields)
