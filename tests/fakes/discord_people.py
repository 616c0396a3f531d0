"""Plays the people of the fake Discord: what they say and do, told to the gateway at once. It never plays the bot."""

from collections.abc import Sequence

from tests.fakes.discord_events import Events
from tests.fakes.discord_hooks import Hooks, Interaction
from tests.fakes.discord_rest import Rest
from tests.fakes.discord_world import (
    FORUM,
    JOINED,
    PINNED,
    REPLY,
    TEXT,
    THREAD,
    Attachment,
    Channel,
    Guild,
    Json,
    Message,
    Sticker,
    User,
    World,
)


class People:
    """Twelve things people do. Without a gateway session they are only in the history, as in reality."""

    def __init__(self, world: World, events: Events, rest: Rest, hooks: Hooks) -> None:
        self._world = world
        self._events = events
        self._rest = rest
        self._hooks = hooks

    def say(
        self,
        place: Channel,
        who: User,
        text: str = "",
        *,
        reply_to: Message | None = None,
        mentions: Sequence[User] = (),
        files: Sequence[Attachment | Sticker] = (),
        forward: Message | None = None,
        webhook: bool = False,
    ) -> Message:
        """A message. Mentions in the text count too; a reply mentions its author; `who.bot` makes it another bot's."""
        message = self._world.write(place, who, text, [one for one in files if isinstance(one, Attachment)])
        message.stickers = [one for one in files if isinstance(one, Sticker)]
        named = [*message.mentions, *mentions, *([reply_to.author] if reply_to else [])]
        message.mentions, message.everyone = list(dict.fromkeys(named)), "@everyone" in text
        if reply_to is not None:
            message.kind, message.reply_to = REPLY, reply_to.id
        if webhook:
            message.webhook_id = who.id
        message.snapshot = forward
        place.messages.append(message)
        self._events.message("MESSAGE_CREATE", place, message)
        return message

    def edit(self, message: Message, text: str) -> None:
        """The author changes a message."""
        new = self._world.write(self._place(message), message.author, text)
        message.content, message.mentions, message.edited_at = text, new.mentions, self._world.now()
        self._events.message("MESSAGE_UPDATE", self._place(message), message)

    def delete(self, *messages: Message, bulk: bool = False) -> None:
        """Messages of one channel are removed, the bot's too; `bulk` as a moderator does it."""
        place = self._place(messages[0])
        place.messages = [one for one in place.messages if one not in messages]
        self._events.deleted(place, [one.id for one in messages], bulk=bulk)

    def react(self, message: Message, who: User, emoji: str, *, remove: bool = False) -> None:
        """Someone sets a reaction, or takes it back."""
        others = [one for one in message.reactions.pop(emoji, []) if one != who.id]
        if now := others if remove else [*others, who.id]:
            message.reactions[emoji] = now
        self._events.reaction(self._place(message), message, who, emoji, added=not remove)

    def join(self, guild: Guild, who: User, greet_in: Channel | None = None) -> None:
        """Someone joins (for the bot: it is invited); `greet_in` gets Discord's own welcome line."""
        guild.members[who.id] = self._world.now()
        if who is self._world.bot:
            guild.has_bot = True
            self._events.bot(guild, joined=True)
            return
        self._events.member(guild, who, joined=True)
        if greet_in is not None:
            self._note(greet_in, who, JOINED)

    def leave(self, guild: Guild, who: User) -> None:
        """Someone leaves or is removed; for the bot: it was kicked."""
        del guild.members[who.id]
        if who is self._world.bot:
            self._events.bot(guild, joined=False)
            guild.has_bot = False
        else:
            self._events.member(guild, who, joined=False)

    def pin(self, message: Message, who: User) -> None:
        """Someone pins a message; Discord adds its own line about it."""
        place, message.pinned = self._place(message), True
        self._events.message("MESSAGE_UPDATE", place, message)
        self._events.pins(place)
        self._note(place, who, PINNED, message)

    def topic(self, place: Channel, text: str) -> None:
        """A channel's topic changes (a thread's name)."""
        if place.kind == THREAD:
            place.name = text
        else:
            place.topic = text
        self._events.channel("THREAD_UPDATE" if place.kind == THREAD else "CHANNEL_UPDATE", place)

    def channel(self, guild: Guild, name: str, kind: int = TEXT) -> Channel:
        """Someone makes a text channel, or a forum (15)."""
        place = self._world.add_channel(guild, name, kind)
        self._events.channel("CHANNEL_CREATE", place)
        return place

    def thread(self, parent: Channel, who: User, name: str, text: str = "") -> Channel:
        """Someone opens a thread, in a forum a post whose first message has the thread's id."""
        assert parent.guild is not None
        place = self._world.add_channel(parent.guild, name, THREAD, parent)
        place.owner_id = who.id
        self._events.channel("THREAD_CREATE", place, newly_created=True)
        if text:
            first = self._world.write(place, who, text)
            first.id = place.id if parent.kind == FORUM else first.id
            place.messages.append(first)
            self._events.message("MESSAGE_CREATE", place, first)
        return place

    def slash(self, place: Channel, who: User, name: str, **options: str | int | bool) -> Interaction:
        """Someone uses a registered command; "ai ctx" is a subcommand. LookupError when it was not registered."""
        first, *rest = name.split()
        found = next((one for one in self._rest.commands if one["name"] == first), None)
        if found is None:
            raise LookupError(f"no command {first!r} is registered")
        data: Json = {"id": found["id"], "name": first, "type": found["type"]}
        if place.guild is not None and found.get("guild_id"):
            data["guild_id"] = found["guild_id"]
        level, definition = data, found
        for word in rest:
            definition = option(definition, word)
            inner: Json = {"name": word, "type": definition["type"]}
            level["options"], level = [inner], inner
        missing = [one["name"] for one in definition.get("options", []) if one.get("required")]
        if set(missing) - set(options):
            raise LookupError(f"{name!r} needs {missing}")
        given = [{"name": key, "type": option(definition, key)["type"], "value": options[key]} for key in options]
        level["options"] = given
        return self._hooks.begin(who, place, 2, data)

    def press(self, message: Message, custom_id: str, who: User) -> Interaction:
        """Someone presses a button of a message they see. LookupError when there is no such button to press."""
        place = self._world.channels[message.channel_id]
        rows = [button for row in message.components for button in row.get("components", [])]
        found = next((one for one in rows if one.get("custom_id") == custom_id and not one.get("disabled")), None)
        if found is None or message.visible_to not in (None, who):
            raise LookupError(f"no button {custom_id!r} for {who.name!r} on {message.id}")
        data: Json = {"custom_id": custom_id, "component_type": found["type"], "id": found.get("id", 1)}
        return self._hooks.begin(who, place, 3, data, message)

    def _place(self, message: Message) -> Channel:
        return self._world.channels[message.channel_id]

    def _note(self, place: Channel, who: User, kind: int, about: Message | None = None) -> None:
        note = self._world.write(place, who, "")
        note.kind, note.reply_to = kind, about.id if about else None
        place.messages.append(note)
        self._events.message("MESSAGE_CREATE", place, note)


def option(definition: Json, name: str) -> Json:
    """The option or subcommand of that name. LookupError when it was not registered."""
    for one in definition.get("options", []):
        if one["name"] == name:
            return dict(one)
    raise LookupError(f"{definition['name']!r} has no {name!r}")
