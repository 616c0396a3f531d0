"""People who write in the fake Telegram: each method does what a person does and returns what came of it."""

from collections.abc import Sequence

from tests.fakes.telegram_markup import checked, found
from tests.fakes.telegram_shapes import ANONYMOUS, TELEGRAM, Json, Person, Posted, Room, mapping, number, origin
from tests.fakes.telegram_world import Query, World

Reply = Posted | int | None


class People:
    """Writers. `chat` is the number of a group, or of the person for a private chat, which begins by itself."""

    def __init__(self, world: World) -> None:
        self._world = world

    def say(
        self,
        chat: int,
        person: Person,
        text: str,
        *,
        reply_to: Reply = None,
        forward: Person | str | None = None,
        entities: Sequence[Json] = (),
        thread: int = 0,
        extra: Json | None = None,
    ) -> Posted:
        """A text. `forward` names its first author (a str: one who hides it); `extra` replaces raw fields, e.g. date.

        Commands, mentions, links and hashtags are marked as Telegram does, besides the given `entities`.
        """
        room = self._world.room(chat, person)
        fields: Json = {"text": text}
        marked = [*found(text), *checked(text, list(entities))]
        if marked:
            fields["entities"] = sorted(marked, key=lambda item: number(item["offset"]))
        if forward is not None:
            fields["forward_origin"] = origin(forward, int(self._world.date()) - 60)
        message = self._world.post(room, person, fields | (extra or {}), thread=thread, reply_to=_id(reply_to))
        return self._world.tell(message)

    def edit(self, posted: Posted, text: str) -> Posted:
        """Change a text; the bot hears of it as an edited message."""
        message = self._message(posted)
        message |= {"text": text, "edit_date": int(self._world.date())}
        message.pop("entities", None)
        if found(text):
            message["entities"] = found(text)
        return self._world.tell(message, "edited_message")

    def erase(self, posted: Posted) -> None:
        """Delete a message, of which Telegram tells bots nothing."""
        del self._world.chats[posted.chat].messages[posted.message_id]

    def react(self, posted: Posted, person: Person, emoji: str, *, old: str = "") -> int | None:
        """Set (or with "" take back) the reaction to a message; the update's id if the bot hears of it."""
        room = self._world.room(posted.chat, person)
        if room.kind != "private" and room.bot != "administrator":
            return None  # documented at Update.message_reaction
        shape: Json = {"chat": room.json(), "message_id": posted.message_id, "date": int(self._world.date())}
        shape |= {"user": person.json(), "old_reaction": _emoji(old), "new_reaction": _emoji(emoji)}
        return self._world.updates.add("message_reaction", shape)

    def press(self, posted: Posted, person: Person, text: str) -> str:
        """Press the button with this text; the id of the callback query (see `world.queries`)."""
        room = self._world.room(posted.chat, person)
        message = self._message(posted)
        shown = next(shown for shown in self._world.shown(posted.chat) if shown.message_id == posted.message_id)
        query = str(4_000_000_000 + len(self._world.queries))
        data = shown.buttons[text]
        self._world.queries[query] = Query(posted.chat, posted.message_id, person.id, data)
        shape: Json = {"id": query, "from": person.json(), "message": dict(message), "data": data}
        self._world.updates.add("callback_query", {**shape, "chat_instance": str(room.id)})
        return query

    def sticker(self, chat: int, person: Person, emoji: str = "😀", *, reply_to: Reply = None) -> Posted:
        """A sticker that stands for an emoji."""
        shape = {"width": 512, "height": 512, "is_animated": False, "is_video": False, "type": "regular"}
        file = self._world.store("stickers", "file.webp", b"RIFF")
        return self._file(chat, person, {"sticker": {**shape, **file, "emoji": emoji, "set_name": "fake"}}, reply_to)

    def photo(
        self, chat: int, person: Person, data: bytes, caption: str = "", *, size: int | None = None, album: str = ""
    ) -> Posted:
        """A photo in two sizes, the last one with `data`; `size` in bytes if it shall claim another."""
        small = self._world.store("photos", "small.jpg", data[:16])
        large = self._world.store("photos", "file.jpg", data, size)
        sizes = [{**small, "width": 90, "height": 67}, {**large, "width": 800, "height": 600}]
        fields: Json = {"photo": sizes, **_caption(caption)}
        return self._file(chat, person, fields | ({"media_group_id": album} if album else {}), None)

    def voice(self, chat: int, person: Person, data: bytes, seconds: int = 3, *, size: int | None = None) -> Posted:
        """A voice message."""
        file = self._world.store("voice", "file.oga", data, size)
        return self._file(chat, person, {"voice": {**file, "duration": seconds, "mime_type": "audio/ogg"}}, None)

    def document(
        self, chat: int, person: Person, name: str, data: bytes, caption: str = "", *, mime: str = "text/plain"
    ) -> Posted:
        """A file with a name."""
        file = self._world.store("documents", name, data)
        fields: Json = {"document": {**file, "file_name": name, "mime_type": mime}, **_caption(caption)}
        return self._file(chat, person, fields, None)

    def anonymous(self, chat: int, text: str, *, reply_to: Reply = None, thread: int = 0) -> Posted:
        """An administrator who hides behind the group."""
        room = self._world.room(chat)
        fields: Json = {"text": text, "sender_chat": room.json()}
        if found(text):
            fields["entities"] = found(text)
        return self._world.tell(self._world.post(room, ANONYMOUS, fields, thread=thread, reply_to=_id(reply_to)))

    def channel_post(self, channel: int, text: str) -> tuple[Posted, Posted | None]:
        """A post in a channel and, when a group is linked to it, the copy that Telegram forwards there."""
        room = self._world.room(channel)
        post = self._world.post(room, None, {"text": text, "sender_chat": room.json()})
        told = self._world.tell(post)
        if room.linked is None:
            return told, None
        source: Json = {"type": "channel", "date": post["date"], "chat": room.json(), "message_id": post["message_id"]}
        fields: Json = {"text": text, "sender_chat": room.json(), "is_automatic_forward": True}
        copy = self._world.post(self._world.room(room.linked), TELEGRAM, fields | {"forward_origin": source})
        return told, self._world.tell(copy)

    def _file(self, chat: int, person: Person, fields: Json, reply_to: Reply) -> Posted:
        room: Room = self._world.room(chat, person)
        return self._world.tell(self._world.post(room, person, fields, reply_to=_id(reply_to)))

    def _message(self, posted: Posted) -> Json:
        return mapping(self._world.chats[posted.chat].messages[posted.message_id])


def _id(reply_to: Reply) -> int:
    return reply_to.message_id if isinstance(reply_to, Posted) else reply_to or 0


def _emoji(emoji: str) -> list[Json]:
    return [{"type": "emoji", "emoji": emoji}] if emoji else []


def _caption(caption: str) -> Json:
    marked = found(caption)
    return ({"caption": caption} if caption else {}) | ({"caption_entities": marked} if marked else {})
