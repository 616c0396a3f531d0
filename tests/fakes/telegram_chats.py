"""Chats of the fake Telegram and what happens to them: members, titles, pins, topics, migration, removal."""

from collections.abc import Sequence

from tests.fakes.telegram_shapes import ANONYMOUS, Json, Kind, Person, Posted, Room, Status
from tests.fakes.telegram_world import World

RIGHTS = (
    "can_be_edited is_anonymous can_manage_chat can_delete_messages can_manage_video_chats can_restrict_members"
    " can_promote_members can_change_info can_invite_users can_post_stories can_edit_stories can_delete_stories"
)


def member(person: Person, status: Status) -> Json:
    """A `ChatMember`."""
    shown: Json = {"user": person.json(), "status": status}
    match status:
        case "administrator":
            return shown | dict.fromkeys(RIGHTS.split(), False) | {"can_manage_chat": True, "can_delete_messages": True}
        case "creator":
            return shown | {"is_anonymous": False}
        case "kicked":
            return shown | {"until_date": 0}
        case _:
            return shown


class Chats:
    """Groups and channels; each change is told to the bot as Telegram does."""

    def __init__(self, world: World) -> None:
        self._world = world

    def group(
        self,
        title: str,
        *members: Person,
        kind: Kind = "supergroup",
        forum: bool = False,
        bot: Status = "administrator",
        owner: Person | None = None,
    ) -> int:
        """A group (or channel) where the bot already is; its number. Nothing is told."""
        first = -1_000_000_000_000 if kind in ("supergroup", "channel") else 0
        chat = first - 1001 - len(self._world.chats)
        room = self._world.chats[chat] = Room(chat, kind, title, is_forum=forum, bot=bot)
        for person in members:
            room.members[self._world.meet(person).id] = "member"
        if owner is not None:
            room.members[self._world.meet(owner).id] = "creator"
        return chat

    def link(self, channel: int, group: int) -> None:
        """Make a group the place where a channel is discussed."""
        self._world.chats[channel].linked = group

    def topic(self, chat: int, person: Person, name: str, *, rename: int = 0) -> int:
        """A new topic of a forum, or a new name for topic `rename`; the number of its thread."""
        room = self._world.room(chat, person)
        if rename:
            fields: Json = {"forum_topic_edited": {"name": name}}
            self._world.tell(self._world.post(room, person, fields, thread=rename))
            return rename
        thread = room.next_message
        room.topics[thread] = {}
        fields = {"forum_topic_created": {"name": name, "icon_color": 7322096}, "is_topic_message": True}
        message = self._world.post(room, person, {**fields, "message_thread_id": thread})
        room.topics[thread] = {key: value for key, value in message.items() if key != "reply_to_message"}
        self._world.tell(message)
        return thread

    def join(self, chat: int, person: Person, *, by: Person | None = None) -> Posted:
        """Somebody comes, or is brought; the bot hears of it as a message and as chat_member."""
        old = self._world.chats[chat].members.get(person.id, "left")
        room = self._world.room(chat, person)
        room.members[person.id] = "member"
        self._member("chat_member", room, by or person, member(person, old), member(person, "member"))
        return self._service(room, by or person, {"new_chat_members": [person.json()]})

    def leave(self, chat: int, person: Person) -> Posted:
        """Somebody goes."""
        room = self._world.room(chat, person)
        room.members[person.id] = "left"
        self._member("chat_member", room, person, member(person, "member"), member(person, "left"))
        return self._service(room, person, {"left_chat_member": person.json()})

    def title(self, chat: int, person: Person, title: str) -> Posted:
        """A new name for the chat."""
        room = self._world.room(chat, person)
        room.title = title
        return self._service(room, person, {"new_chat_title": title})

    def pin(self, posted: Posted, person: Person) -> Posted:
        """Pin a message."""
        room = self._world.room(posted.chat, person)
        pinned = {key: value for key, value in room.messages[posted.message_id].items() if key != "reply_to_message"}
        return self._service(room, person, {"pinned_message": pinned})

    def migrate(self, chat: int, by: Person) -> int:
        """The group becomes a supergroup: two messages, one in each; the new number."""
        old = self._world.room(chat, by)
        known: Sequence[Person] = [self._world.people[one] for one in old.members]
        new = self.group(old.title, *known, bot=old.bot)
        old.migrated_to = new
        self._service(old, by, {"migrate_to_chat_id": new})
        self._service(self._world.chats[new], ANONYMOUS, {"migrate_from_chat_id": chat})
        return new

    def bot_status(self, chat: int, by: Person, status: Status) -> int | None:
        """Add, promote, remove ("left") or ban ("kicked") the bot; the id of the update that tells it."""
        room = self._world.room(chat, by)
        old, room.bot = room.bot, status
        bot = self._world.bot
        told = self._member("my_chat_member", room, by, member(bot, old), member(bot, status))
        if old in ("left", "kicked") and status in ("member", "administrator") and room.kind != "channel":
            self._service(room, by, {"new_chat_members": [bot.json()]})
        return told

    def block(self, person: Person, *, undo: bool = False) -> int | None:
        """A person blocks the bot, or takes that back; the id of the update that tells it."""
        room = self._world.room(person.id, person)
        room.blocked = not undo
        pair = (member(self._world.bot, "member"), member(self._world.bot, "kicked"))
        old, new = reversed(pair) if undo else pair
        return self._member("my_chat_member", room, person, old, new)

    def deactivate(self, person: Person) -> None:
        """The account is deleted; nothing is told."""
        self._world.room(person.id, person).deactivated = True

    def _service(self, room: Room, sender: Person, fields: Json) -> Posted:
        return self._world.tell(self._world.post(room, sender, fields))

    def _member(self, kind: str, room: Room, by: Person, old: Json, new: Json) -> int | None:
        if kind == "chat_member" and room.bot != "administrator":
            return None  # documented at Update.chat_member
        shape: Json = {"chat": room.json(), "from": by.json(), "date": int(self._world.date())}
        return self._world.updates.add(kind, {**shape, "old_chat_member": old, "new_chat_member": new})
