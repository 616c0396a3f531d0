"""Payloads as the Bot API documents them, and what the adapter reads from them. Nothing is sent."""

from collections.abc import Mapping

from telegram import Update

from adapters.telegram.events import BotAccount, events_of
from bot.core.events import CommandSpec, Incoming

Json = dict[str, object]
ME = BotAccount(7700, "nuan_bot", (CommandSpec("ctx", ".ai ctx", (("en", "Show the context"),)),))
BOT: Json = {"id": 7700, "is_bot": True, "first_name": "暖", "username": "nuan_bot"}
ANN: Json = {"id": 501, "is_bot": False, "first_name": "安", "last_name": "娜", "username": "Ann"}
BO: Json = {"id": 502, "is_bot": False, "first_name": "Bo", "username": "bo_bo"}
DM: Json = {"id": 501, "type": "private", "first_name": "安"}
GROUP: Json = {"id": -1001, "type": "supergroup", "title": "小组"}
FORUM: Json = {**GROUP, "is_forum": True}
CHANNEL: Json = {"id": -1009, "type": "channel", "title": "频道"}
AT = 1_790_000_000


def message(chat: Mapping[str, object] = GROUP, sender: Mapping[str, object] | None = ANN, /, **fields: object) -> Json:
    """A `Message`; with sender None nobody in particular wrote it."""
    shown: Json = {"message_id": 42, "date": AT, "chat": chat, **fields}
    return shown if sender is None else {**shown, "from": sender}


def read(kind: str, payload: Mapping[str, object], me: BotAccount = ME) -> tuple[Incoming, ...]:
    """What the adapter reads from this update."""
    update = Update.de_json({"update_id": 9, kind: payload}, None)
    return events_of(update, me)


def one(payload: Mapping[str, object], kind: str = "message") -> Incoming:
    """The one thing that this update tells."""
    (incoming,) = read(kind, payload)
    return incoming


def entity(kind: str, text: str, part: str, **more: object) -> Json:
    """A `MessageEntity` around the first `part` of the text, in UTF-16 units."""
    before = text[: text.index(part)]
    units = [len(piece.encode("utf-16-le")) // 2 for piece in (before, part)]
    return {"type": kind, "offset": units[0], "length": units[1], **more}


def marked(text: str, kind: str, part: str, **more: object) -> Json:
    """A text with one entity."""
    return {"text": text, "entities": [entity(kind, text, part, **more)]}
