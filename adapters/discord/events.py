"""What happened on Discord as events of ours, and what a message says: pure functions from the library's objects."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from mimetypes import guess_type
from typing import Protocol

import discord
from discord.abc import GuildChannel

from bot.core.events import Attachment, AttachmentKind, Incoming, Place, Sender
from bot.text.clean import without_call
from bot.text.length import clip

_MARK = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|/(?P<command>[^:<>\n]+):\d+)>"
)

PLATFORM = "discord"
PIN_CHARS = 80
"""How much of a pinned message is told."""

_MESSAGE_TYPES = (discord.MessageType.default, discord.MessageType.reply, discord.MessageType.chat_input_command)
_MENU_MESSAGE_TYPES = (discord.MessageType.context_menu_command,)

AnyChannel = GuildChannel | discord.Thread | discord.abc.PrivateChannel
Author = discord.User | discord.Member | discord.ClientUser


@dataclass(frozen=True, slots=True)
class MentionNames:
    """How the ids of one message read: people and roles without the @, channels without the #."""

    users: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)


def readable_text(content: str, names: MentionNames) -> str:
    """The content with <@id> as @name, <#id> as #name, <:emoji:id> as :emoji:; an unknown id stays a number."""

    def word(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "user":
                return f"@{names.users.get(found['user'], found['user'])}"
            case "role":
                return f"@{names.roles.get(found['role'], found['role'])}"
            case "channel":
                return f"#{names.channels.get(found['channel'], found['channel'])}"
            case "emoji":
                return f":{found['emoji']}:"
            case _:
                return f"/{found['command']}"

    return _MARK.sub(word, content)


def names_of(message: discord.Message) -> MentionNames:
    """The names that Discord sent along, and those of the guild."""
    users = {str(user.id): user.display_name for user in message.mentions}
    guild = message.guild
    if guild is None:
        return MentionNames(users)
    for number in message.raw_mentions:
        if str(number) not in users and (member := guild.get_member(number)) is not None:
            users[str(number)] = member.display_name
    roles = {str(role.id): role.name for role in message.role_mentions}
    channels: dict[str, str] = {}
    for number in message.raw_channel_mentions:
        if (channel := guild.get_channel_or_thread(number)) is not None:
            channels[str(number)] = channel.name
    return MentionNames(users, roles, channels)


def text_of(message: discord.Message, calls: Collection[str] = ()) -> str:
    """Everything that a message or what it forwards says, one thing per line; `calls` are marks of the bot itself."""
    names = names_of(message)
    parts = [readable_text(without_call(message.content, calls), names)]
    parts += [readable_text(snapshot.content, names) for snapshot in message.message_snapshots]
    stickers = [*message.stickers, *(item for snapshot in message.message_snapshots for item in snapshot.stickers)]
    parts += [f"[sticker {item.name}]" for item in stickers]
    if message.poll is not None:
        parts += [f"[poll {message.poll.question}]", *(f"- {answer.text}" for answer in message.poll.answers)]
    return "\n".join(part for part in parts if part)


def attachments_of(message: discord.Message) -> tuple[Attachment, ...]:
    """What is attached to a message or to what it forwards; the handle is its address, good for about a day."""
    forwarded = (item for snapshot in message.message_snapshots for item in snapshot.attachments)
    return tuple(attachment(item) for item in (*message.attachments, *forwarded))


def attachment(item: discord.Attachment) -> Attachment:
    """One attachment; its kind by the type that Discord names, else by the end of its name."""
    mime = (item.content_type or guess_type(item.filename)[0] or "").partition(";")[0].strip().lower()
    kind: AttachmentKind = "file"
    if item.is_voice_message() or mime.startswith("audio/"):
        kind = "voice"
    elif mime.startswith("image/"):
        kind = "image"
    return Attachment(kind, item.url, item.filename, mime, max(item.size, 0))


def emoji_text(emoji: discord.PartialEmoji) -> str:
    """👍, or :name: for an emoji of a guild."""
    return f":{emoji.name}:" if emoji.id is not None else emoji.name


class KnownObjects(Protocol):
    """What the connection remembers; discord.Client is one."""

    @property
    def user(self) -> discord.ClientUser | None:
        """The bot itself."""
        ...

    def get_channel(self, id: int, /) -> AnyChannel | None:  # noqa: A002
        """A channel that was seen."""
        ...

    def get_user(self, id: int, /) -> discord.User | None:  # noqa: A002
        """A person that was seen."""
        ...

    def get_guild(self, id: int, /) -> discord.Guild | None:  # noqa: A002
        """A guild the bot is in."""
        ...


def events_of(event: str, args: tuple[object, ...], known: KnownObjects) -> tuple[Incoming, ...]:
    """What one event of the library tells; nothing for events that nobody needs."""
    if (me := known.user) is None:
        return ()
    match event, args:
        case "message", (discord.Message() as message,):
            found = from_message(message, me)
        case "raw_message_edit", (discord.RawMessageUpdateEvent() as edit,):
            found = from_edit(edit, me)
        case "raw_message_delete", (discord.RawMessageDeleteEvent() as gone,):
            place = place_at(gone.channel_id, gone.guild_id, known)
            return (deletion(place, gone.message_id, me.id),)
        case "raw_bulk_message_delete", (discord.RawBulkMessageDeleteEvent() as many,):
            place = place_at(many.channel_id, many.guild_id, known)
            return tuple(deletion(place, number, me.id) for number in sorted(many.message_ids))
        case "raw_reaction_add" | "raw_reaction_remove", (discord.RawReactionActionEvent() as reaction,):
            found = from_reaction(reaction, known)
        case "member_join", (discord.Member() as member,):
            joined = int(member.joined_at.timestamp()) if member.joined_at is not None else 0
            key = f"{me.id}:join:{member.id}:{joined}"
            found = _member(member.guild, member, "join", key) if member.id != me.id else None
        case "raw_member_remove", (discord.RawMemberRemoveEvent() as left,):
            guild = known.get_guild(left.guild_id)
            found = _member(guild, left.user, "leave", "") if guild is not None and left.user.id != me.id else None
        case "guild_channel_update", (GuildChannel() as before, GuildChannel() as after):
            found = _retitled(before, after)
        case "thread_update", (discord.Thread() as old, discord.Thread() as new):
            found = _retitled(old, new)
        case _:
            return ()
    return (found,) if found is not None else ()


def from_message(message: discord.Message, me: discord.ClientUser) -> Incoming | None:
    """A message that somebody else sent, or a pin; None for our own and for what Discord itself announces."""
    if _mine(message, me):
        return None
    place, key, at = place_of(message), f"{me.id}:{message.id}", ms(message.created_at)
    reference = message.reference
    if message.type is discord.MessageType.pins_add:
        pinned = reference.cached_message if reference is not None else None
        start = clip(text_of(pinned), PIN_CHARS) if pinned is not None else ""
        target = str(reference.message_id or "") if reference is not None else ""
        return Incoming(place, author_of(message), "event", start, "pin", key, target=target, at=at)
    if message.type not in (*_MESSAGE_TYPES, *_MENU_MESSAGE_TYPES):
        return None
    forwarded = bool(message.message_snapshots)
    reply = reference if message.type is discord.MessageType.reply and not forwarded else None
    answered = _answered(reply)
    called = () if forwarded else tuple(message.raw_mentions)
    return Incoming(
        place,
        author_of(message),
        "message",
        text_of(message, _my_marks(message, me)),
        delivery_key=key,
        external_id=str(message.id),
        mentions_bot=me.id in called or (not forwarded and bool(_my_roles(message, me))),
        replies_to_bot=answered == me.id,
        addresses_other=_calls_others(message, me, {*called, answered}, forwarded=forwarded),
        forwarded=forwarded,
        target=str(reply.message_id or "") if reply is not None else "",
        attachments=attachments_of(message),
        at=at,
        quote=_quoted(reply),
    )


def from_edit(edit: discord.RawMessageUpdateEvent, me: discord.ClientUser) -> Incoming | None:
    """A changed text; None for our own messages and when only a link preview, a pin or a flag changed."""
    before = edit.cached_message
    return None if before is not None and before.content == edit.message.content else edit_of(edit.message, me)


def edit_of(message: discord.Message, me: discord.ClientUser) -> Incoming | None:
    """What a message says since it was last edited; None for our own messages and for those never edited."""
    edited = message.edited_at
    if _mine(message, me) or message.type not in (*_MESSAGE_TYPES, *_MENU_MESSAGE_TYPES) or edited is None:
        return None
    key = f"{me.id}:{message.id}:edit:{ms(edited)}"
    text, target = text_of(message, _my_marks(message, me)), str(message.id)
    return Incoming(place_of(message), author_of(message), "event", text, "edit", key, target=target, at=ms(edited))


def deletion(where: Place, message_id: int, me: int) -> Incoming:
    """A message is gone, whoever took it away."""
    target = str(message_id)
    return Incoming(where, None, "event", "", "delete", f"{me}:{target}:delete", target=target)


def typing_of(typing: discord.RawTypingEvent, known: KnownObjects) -> tuple[Place, str] | None:
    """Who is typing where; None for the bot itself."""
    if known.user is None or typing.user_id == known.user.id:
        return None
    return place_at(typing.channel_id, typing.guild_id, known), str(typing.user_id)


def from_reaction(reaction: discord.RawReactionActionEvent, known: KnownObjects) -> Incoming | None:
    """A reaction, its emoji with a "-" before it when it was taken back; None for our own."""
    if known.user is not None and reaction.user_id == known.user.id:
        return None
    user = reaction.member or known.get_user(reaction.user_id)
    sender = sender_of(user) if user is not None else Sender(PLATFORM, str(reaction.user_id), "")
    text = emoji_text(reaction.emoji)
    if reaction.event_type == "REACTION_REMOVE":
        text = f"-{text}"
    place = place_at(reaction.channel_id, reaction.guild_id, known)
    return Incoming(place, sender, "event", text, "reaction", target=str(reaction.message_id))


def place_of(message: discord.Message) -> Place:
    """Where a message was said."""
    guild_id = message.guild.id if message.guild is not None else None
    return place(message.channel, message.channel.id, guild_id)


def place_at(channel_id: int, guild_id: int | None, known: KnownObjects) -> Place:
    """The place of that id, with its title if it was seen before."""
    return place(known.get_channel(channel_id), channel_id, guild_id)


def place(channel: object, channel_id: int, guild_id: int | None) -> Place:
    """A channel as a place; threads and forum posts are places of their own, all belong to their guild."""
    if isinstance(channel, GuildChannel | discord.Thread):
        guild_id = channel.guild.id
    elif isinstance(channel, discord.PartialMessageable) and guild_id is None:
        guild_id = channel.guild_id
    if guild_id is None:
        return Place(PLATFORM, str(channel_id), "group" if isinstance(channel, discord.GroupChannel) else "dm")
    return Place(PLATFORM, str(channel_id), "group", title_of(channel), str(guild_id))


def title_of(channel: object) -> str:
    """#channel, or the name of a thread."""
    match channel:
        case discord.Thread():
            return channel.name
        case GuildChannel():
            return f"#{channel.name}"
        case _:
            return ""


def author_of(message: discord.Message) -> Sender:
    """Who wrote it; a webhook is a bot, whatever name it takes."""
    if message.webhook_id is not None:
        return Sender(PLATFORM, str(message.webhook_id), message.author.display_name, is_bot=True)
    return sender_of(message.author)


def sender_of(user: Author) -> Sender:
    """A person or a bot, by the name that people see."""
    return Sender(PLATFORM, str(user.id), user.display_name, is_bot=user.bot)


def ms(moment: datetime) -> int:
    """Milliseconds since 1970 UTC."""
    return round(moment.timestamp() * 1000)


def _mine(message: discord.Message, me: discord.ClientUser) -> bool:
    return message.author.id == me.id


def _answered(reply: discord.MessageReference | None) -> int:
    """Who wrote what is replied to; 0 when that is unknown."""
    found = (reply.resolved or reply.cached_message) if reply is not None else None
    return found.author.id if isinstance(found, discord.Message) else 0


def _quoted(reply: discord.MessageReference | None) -> str:
    """The text of what is replied to, as Discord sends it along."""
    found = (reply.resolved or reply.cached_message) if reply is not None else None
    return text_of(found) if isinstance(found, discord.Message) else ""


def _my_marks(message: discord.Message, me: discord.ClientUser) -> tuple[str, ...]:
    """How a message may write that it calls this bot."""
    return (f"<@{me.id}>", f"<@!{me.id}>", *(f"<@&{role.id}>" for role in _my_roles(message, me)))


def _my_roles(message: discord.Message, me: discord.ClientUser) -> list[discord.Role]:
    """The role that Discord made for this bot, if it is mentioned; other roles it has call many."""
    return [role for role in message.role_mentions if role.tags is not None and role.tags.bot_id == me.id]


def _calls_others(message: discord.Message, me: discord.ClientUser, called: set[int], *, forwarded: bool) -> bool:
    """Whether it is meant for somebody else: for one of those it calls, for a role, or for all that are here."""
    roles = {*message.raw_role_mentions} - {role.id for role in _my_roles(message, me)}
    many = not forwarded and (message.mention_everyone or bool(roles))
    return many or not called <= {me.id, message.author.id, 0}


def _member(guild: discord.Guild, user: Author, label: str, key: str) -> Incoming | None:
    """Told where Discord itself tells it: in the guild's system channel, if it has one."""
    channel = guild.system_channel
    if channel is None:
        return None
    return Incoming(place(channel, channel.id, guild.id), sender_of(user), "event", "", label, key)


def _retitled(before: GuildChannel | discord.Thread, after: GuildChannel | discord.Thread) -> Incoming | None:
    """A new name, else a new topic."""
    where = place(after, after.id, after.guild.id)
    if before.name != after.name:
        return Incoming(where, None, "event", where.title, "title")
    topic = getattr(after, "topic", None)
    if topic and topic != getattr(before, "topic", None):
        return Incoming(where, None, "event", topic, "topic")
    return None
