"""Values that tests and the fake Telegram server hand to each other, and their wire shapes. It keeps no state."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Json = dict[str, object]
Kind = Literal["private", "group", "supergroup", "channel"]
Status = Literal["creator", "administrator", "member", "left", "kicked"]


class Refused(Exception):
    """An answer that is not ok: HTTP status `code`, `description`, and the documented `parameters`."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def json(self) -> Json:
        """The body of the answer."""
        body: Json = {"ok": False, "error_code": self.code, "description": self.description}
        return {**body, "parameters": self.parameters} if self.parameters else body


def bad(description: str) -> Refused:
    """400 with the prefix that Telegram puts before every such description."""
    return Refused(400, f"Bad Request: {description}")


@dataclass(frozen=True, slots=True)
class Person:
    """A Telegram account; `id` is positive."""

    id: int
    first_name: str
    username: str = ""
    language: str = ""
    is_bot: bool = False
    last_name: str = ""

    def json(self) -> Json:
        """A `User`."""
        shown: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        optional = {"last_name": self.last_name, "username": self.username, "language_code": self.language}
        return shown | {name: value for name, value in optional.items() if value}


ANONYMOUS = Person(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
"""Who appears to write when an administrator is anonymous, or a chat writes (documented at Message.from)."""
TELEGRAM = Person(777000, "Telegram")
"""Who forwards a channel's posts into its discussion group (documented at Message.from)."""


@dataclass(slots=True)
class Room:
    """A chat. `bot` is the bot's own status there; `blocked` and `deactivated` matter in private chats only."""

    id: int
    kind: Kind
    title: str
    username: str = ""
    is_forum: bool = False
    bot: Status = "administrator"
    blocked: bool = False
    deactivated: bool = False
    migrated_to: int | None = None
    linked: int | None = None
    members: dict[int, Status] = field(default_factory=dict)
    topics: dict[int, Json] = field(default_factory=dict)
    messages: dict[int, Json] = field(default_factory=dict)
    next_message: int = 1

    def json(self) -> Json:
        """A `Chat`."""
        shown: Json = {"id": self.id, "type": self.kind}
        shown |= {"first_name": self.title} if self.kind == "private" else {"title": self.title}
        if self.username:
            shown["username"] = self.username
        if self.is_forum:
            shown["is_forum"] = True
        return shown


@dataclass(frozen=True, slots=True)
class Posted:
    """A message somebody wrote; `update_id` is None when Telegram tells the bot nothing about it."""

    chat: int
    message_id: int
    update_id: int | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """Formatting of UTF-16 units `offset` … `offset + length`; `extra` is the url, language, user or emoji id."""

    type: str
    offset: int
    length: int
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of the bot as people see it now; `at` in seconds of loop time; `buttons` maps texts to their data.

    `medium` is photo, document, voice, sticker or "", `data` the bytes; `text` is then what stands below.
    """

    message_id: int
    text: str
    entities: tuple[Entity, ...]
    reply_to: int | None
    thread: int | None
    edits: int
    buttons: Mapping[str, str]
    preview: bool
    at: float
    medium: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Draft:
    """One step of a streamed preview, or a chat action when `draft_id` is 0; `at` in seconds of loop time."""

    chat: int
    draft_id: int
    text: str
    thread: int | None
    at: float


@dataclass(frozen=True, slots=True)
class Request:
    """One call as it came in; `params` hold text as sent, JSON where the API wants JSON; `at` is loop time."""

    method: str
    params: Mapping[str, str]
    at: float

    @property
    def chat(self) -> int | None:
        """The chat it is for."""
        return Params(self.params).chat


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent along with a call."""

    name: str
    data: bytes


class Params:
    """The parameters of a call, read as the type that the API documents; a wrong type is a 400."""

    def __init__(self, given: Mapping[str, str], files: Mapping[str, Upload] | None = None) -> None:
        self.given = given
        self.files = files or {}

    def text(self, name: str) -> str:
        """The text, or nothing."""
        return self.given.get(name, "")

    def integer(self, name: str, otherwise: int = 0) -> int:
        """The whole number."""
        raw = self.given.get(name, "")
        if raw in ("", "null"):
            return otherwise
        if not re.fullmatch(r"-?\d+", raw):
            raise bad(f"{name} must be an integer")
        return int(raw)

    def flag(self, name: str) -> bool:
        """True for true, True, yes and 1."""
        return self.given.get(name, "").lower() in ("true", "yes", "1")

    def mapping(self, name: str) -> Json:
        """The JSON object, empty when not given."""
        value = self._json(name, "{}")
        if not isinstance(value, dict):
            raise bad(f"can't parse {name} JSON object")
        return value

    def objects(self, name: str) -> list[Json]:
        """The JSON array of objects, empty when not given."""
        value = self._json(name, "[]")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise bad(f"can't parse {name} JSON object")
        return value

    def names(self, name: str) -> frozenset[str]:
        """The JSON array of strings."""
        value = self._json(name, "[]")
        return frozenset(str(item) for item in value) if isinstance(value, list) else frozenset()

    @property
    def chat(self) -> int | None:
        """The number of the chat."""
        raw = self.given.get("chat_id", "")
        return int(raw) if re.fullmatch(r"-?\d+", raw) else None

    def _json(self, name: str, otherwise: str) -> object:
        try:
            return json.loads(self.given.get(name) or otherwise)
        except ValueError as error:
            raise bad(f"can't parse {name} JSON object") from error


def number(value: object) -> int:
    """A number out of JSON, 0 for anything else."""
    return value if isinstance(value, int) else 0


def mapping(value: object) -> Json:
    """An object out of JSON, empty for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Json]:
    """An array of objects out of JSON, empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def origin(whom: Person | str, date: int) -> Json:
    """A `MessageOrigin`: a person, or only the name of somebody who hides the account."""
    if isinstance(whom, Person):
        return {"type": "user", "date": date, "sender_user": whom.json()}
    return {"type": "hidden_user", "date": date, "sender_user_name": whom}


def entity(item: Json) -> Entity:
    """A test's view of a `MessageEntity`."""
    user = mapping(item.get("user")).get("id")
    extra = item.get("url") or item.get("language") or item.get("custom_emoji_id") or user or ""
    return Entity(str(item["type"]), number(item["offset"]), number(item["length"]), str(extra))
