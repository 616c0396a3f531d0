"""The state of the fake Telegram: the bot, chats, messages, files and what happened. It decides no answer."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fakes.telegram_faults import Floods, Limits
from tests.fakes.telegram_shapes import (
    Draft,
    Json,
    Params,
    Person,
    Posted,
    Refused,
    Room,
    Shown,
    bad,
    entity,
    mapping,
    number,
    objects,
)
from tests.fakes.telegram_updates import Updates

SERVICE = ("new_chat_members", "left_chat_member", "pinned_message", "new_chat_title", "forum_topic_created")
KEPT_IN_REPLY = ("reply_to_message", "reply_markup")
MEDIA = ("photo", "document", "voice", "sticker")
Commands = dict[tuple[str, str], tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class Trace:
    """What the server knows of a message of the bot beyond its wire shape."""

    at: float
    edits: int = 0
    preview: bool = True


@dataclass(slots=True)
class Query:
    """A pressed button; `answer` is None until the bot answered."""

    chat: int
    message_id: int
    person: int
    data: str
    answer: str | None = None


@dataclass(slots=True)
class World:
    """Everything the server remembers. `reads_all` False is privacy mode. `now` gives loop time, seconds."""

    bot: Person
    now: Callable[[], float]
    limits: Limits
    reads_all: bool = True
    date: Callable[[], float] = time.time
    updates: Updates = field(default_factory=Updates)
    chats: dict[int, Room] = field(default_factory=dict)
    people: dict[int, Person] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes, int]] = field(default_factory=dict)
    traces: dict[tuple[int, int], Trace] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    actions: list[Draft] = field(default_factory=list)
    reactions: dict[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    commands: Commands = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)
    sticker_sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    floods: Floods = field(init=False)

    def __post_init__(self) -> None:
        self.floods = Floods(self.limits)

    def meet(self, person: Person) -> Person:
        """Remember an account, also when its name changed."""
        self.people[person.id] = person
        return person

    def room(self, chat: int, person: Person | None = None) -> Room:
        """The chat; a private one begins when its person first does something there."""
        if person is not None:
            self.meet(person)
            if chat == person.id and chat not in self.chats:
                self.chats[chat] = Room(chat, "private", person.first_name, person.username)
                self.chats[chat].members[person.id] = "member"
            self.chats[chat].members.setdefault(person.id, "member")
        return self.chats[chat]

    def post(self, room: Room, sender: Person | None, fields: Json, *, thread: int = 0, reply_to: int = 0) -> Json:
        """A new message in a chat, in wire shape, told to nobody yet."""
        message: Json = {"message_id": room.next_message, "date": int(self.date()), "chat": room.json()}
        room.next_message += 1
        if sender is not None:
            message["from"] = sender.json()
        target = room.messages.get(reply_to)
        if target is not None:
            message["reply_to_message"] = {name: item for name, item in target.items() if name not in KEPT_IN_REPLY}
            thread = thread or number(target.get("message_thread_id"))
            if room.kind == "supergroup" and not room.is_forum:
                thread = thread or reply_to
        if thread:
            message["message_thread_id"] = thread
            if room.is_forum:
                message["is_topic_message"] = True
                # The server makes the topic's first service message the reply target of every plain message in it.
                message.setdefault("reply_to_message", room.topics.get(thread, {}))
        message |= fields
        room.messages[number(message["message_id"])] = message
        return message

    def tell(self, message: Json, kind: str = "message") -> Posted:
        """Tell the bot about a message, unless it is not there or privacy mode hides it."""
        chat, message_id = number(mapping(message["chat"])["id"]), number(message["message_id"])
        room = self.chats[chat]
        if room.kind == "channel":
            kind = {"message": "channel_post", "edited_message": "edited_channel_post"}[kind]
        gone = room.bot in ("left", "kicked") or room.blocked
        # A copy, because a later edit must not change what was told before.
        copy = json.loads(json.dumps(message))
        return Posted(chat, message_id, None if gone or self._hidden(room, copy) else self.updates.add(kind, copy))

    def _hidden(self, room: Room, message: Json) -> bool:
        if self.reads_all or room.kind in ("private", "channel") or room.bot == "administrator":
            return False
        text = f"{message.get('text', '')}{message.get('caption', '')}"
        replied = mapping(mapping(message.get("reply_to_message")).get("from")).get("id")
        meant = f"@{self.bot.username}".lower() in text.lower() or text.startswith("/") or replied == self.bot.id
        return not meant and not any(name in message for name in SERVICE)

    def target(self, params: Params) -> Room:
        """The chat that a call is for, where the bot may act; 400 or 403 otherwise, with the real wording."""
        if not params.text("chat_id"):
            raise bad("chat_id is empty")
        by_name = {
            f"@{room.username}": room for room in self.chats.values() if room.username and room.kind != "private"
        }
        room = by_name.get(params.text("chat_id")) if params.chat is None else self.chats.get(params.chat)
        if room is None:
            raise bad("chat not found")
        if room.migrated_to is not None:
            text = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Refused(400, text, migrate_to_chat_id=room.migrated_to)
        name = {"private": "private", "group": "group", "supergroup": "supergroup", "channel": "channel"}[room.kind]
        if room.deactivated:
            raise Refused(403, "Forbidden: user is deactivated")
        if room.blocked:
            raise Refused(403, "Forbidden: bot was blocked by the user")
        if room.bot == "kicked":
            raise Refused(403, f"Forbidden: bot was kicked from the {name} chat")
        if room.bot == "left":
            raise Refused(403, f"Forbidden: bot is not a member of the {name} chat")
        return room

    def store(self, folder: str, name: str, data: bytes, size: int | None = None) -> Json:
        """Keep a file; its `file_id`, `file_unique_id` and size (or the `size` it claims, bytes)."""
        count = len(self.files) + 1
        file_id = f"AgACfake{count:06d}"
        self.files[file_id] = (f"{folder}/{name}", data, len(data) if size is None else size)
        return {"file_id": file_id, "file_unique_id": f"AQfake{count:06d}", "file_size": self.files[file_id][2]}

    def shown(self, chat: int) -> tuple[Shown, ...]:
        """The bot's messages that people see now in a chat, in order."""
        room = self.chats.get(chat)
        messages = () if room is None else tuple(room.messages[one] for one in sorted(room.messages))
        told = ("text", *MEDIA)
        return tuple(self._shown(chat, one) for one in messages if self.mine(one) and any(key in one for key in told))

    def mine(self, message: Json) -> bool:
        """Whether the bot wrote it."""
        return mapping(message.get("from")).get("id") == self.bot.id

    def _shown(self, chat: int, message: Json) -> Shown:
        message_id = number(message["message_id"])
        trace = self.traces[chat, message_id]
        target = mapping(message.get("reply_to_message"))
        reply_to = None if "forum_topic_created" in target else number(target.get("message_id")) or None
        rows = mapping(message.get("reply_markup")).get("inline_keyboard")
        buttons = [button for row in rows for button in objects(row)] if isinstance(rows, list) else []
        medium = next((key for key in MEDIA if key in message), "")
        described = message.get(medium, {})
        described = described[-1] if isinstance(described, list) else mapping(described)
        marked = objects(message.get("caption_entities" if medium else "entities"))
        return Shown(
            message_id=message_id,
            text=str(message.get("caption", "") if medium else message["text"]),
            entities=tuple(entity(item) for item in marked),
            medium=medium,
            data=self.files.get(str(described.get("file_id", "")), ("", b"", 0))[1],
            reply_to=reply_to,
            thread=number(message.get("message_thread_id")) or None,
            edits=trace.edits,
            buttons={str(button["text"]): str(button.get("callback_data", "")) for button in buttons},
            preview=trace.preview,
            at=trace.at,
        )
