"""What a message says: mentions, emojis, stickers and polls as people see them. Pure; it translates nothing."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from mimetypes import guess_type

import discord

from bot.types.event import Attachment, AttachmentKind

_MARK = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|/(?P<command>[^:<>\n]+):\d+)>"
)

_EDGE = " \t\n,，、:："
"""What stands between a call and what is said."""


@dataclass(frozen=True, slots=True)
class Names:
    """How the ids of one message read: people and roles without the @, channels without the #."""

    users: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)


def readable(content: str, names: Names) -> str:
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


def names_of(message: discord.Message) -> Names:
    """The names that Discord sent along, and those of the guild."""
    users = {str(user.id): user.display_name for user in message.mentions}
    guild = message.guild
    if guild is None:
        return Names(users)
    for number in message.raw_mentions:
        if str(number) not in users and (member := guild.get_member(number)) is not None:
            users[str(number)] = member.display_name
    roles = {str(role.id): role.name for role in message.role_mentions}
    channels: dict[str, str] = {}
    for number in message.raw_channel_mentions:
        if (channel := guild.get_channel_or_thread(number)) is not None:
            channels[str(number)] = channel.name
    return Names(users, roles, channels)


def without_call(content: str, marks: Collection[str]) -> str:
    """The content without the bot's own marks at either end; content that is nothing else stays as it is."""
    left, before = content, ""
    while left != before:
        before = left
        for mark in marks:
            if left.lstrip(_EDGE).startswith(mark):
                left = left.lstrip(_EDGE).removeprefix(mark).lstrip(_EDGE)
            if left.rstrip(_EDGE).endswith(mark):
                left = left.rstrip(_EDGE).removesuffix(mark).rstrip(_EDGE)
    return left or content


def words_of(message: discord.Message, calls: Collection[str] = ()) -> str:
    """Everything that a message or what it forwards says, one thing per line; `calls` are marks of the bot itself."""
    names = names_of(message)
    parts = [readable(without_call(message.content, calls), names)]
    parts += [readable(snapshot.content, names) for snapshot in message.message_snapshots]
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
