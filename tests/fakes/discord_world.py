"""What exists on the fake Discord: people, guilds, channels, messages. It sends nothing and checks no permission."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
"""A body of the wire. It stays inside tests/fakes; tests see the classes below."""

EPOCH = 1_420_070_400_000
"""Milliseconds of 2015-01-01, where Discord's ids begin."""
TEXT, DM, THREAD, FORUM = 0, 1, 11, 15
PLAIN, PINNED, JOINED, REPLY, SLASH = 0, 6, 7, 19, 20
SUPPRESS_EMBEDS, EPHEMERAL, LOADING, HAS_SNAPSHOT = 1 << 2, 1 << 6, 1 << 7, 1 << 14
MENTION = re.compile(r"<@!?(\d+)>")


def shard_of(guild_id: int, count: int) -> int:
    """By which of so many connections a guild's events come."""
    return (guild_id >> 22) % count


def wall_clock() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True, eq=False)
class User:
    """An account. `blocks_bot` refuses the bot's direct messages (50007)."""

    id: int
    name: str
    bot: bool = False
    blocks_bot: bool = False

    @property
    def mention(self) -> str:
        """How a message names this person."""
        return f"<@{self.id}>"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file; `said_size` is what Discord claims (default the true size), `duration_s` makes it a voice message."""

    name: str
    data: bytes
    content_type: str = "application/octet-stream"
    id: int = 0
    duration_s: float | None = None
    said_size: int | None = None


@dataclass(frozen=True, slots=True)
class Sticker:
    """A sticker sent with a message; `format` 1 is PNG, 3 Lottie."""

    id: int
    name: str
    format: int = 1


@dataclass(slots=True, eq=False)
class Message:
    """One message. `at`, `edited_at` ms since 1970; `visible_to` is set when only that person sees it."""

    id: int
    channel_id: int
    author: User
    content: str
    at: int
    kind: int = PLAIN
    edited_at: int | None = None
    flags: int = 0
    nonce: str | int | None = None
    mentions: list[User] = field(default_factory=list)
    everyone: bool = False
    reply_to: int | None = None
    snapshot: "Message | None" = None
    attachments: list[Attachment] = field(default_factory=list)
    stickers: list[Sticker] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    embeds: list[Json] = field(default_factory=list)
    reactions: dict[str, list[int]] = field(default_factory=dict)
    pinned: bool = False
    webhook_id: int | None = None
    allowed_mentions: Json | None = None
    visible_to: User | None = None
    command: str = ""

    @property
    def previews(self) -> bool:
        """Whether links in it may unfold."""
        return not self.flags & SUPPRESS_EMBEDS


@dataclass(slots=True, eq=False)
class Guild:
    """A server. `members` maps ids to joining times, ms; `has_bot` is False when the bot was removed."""

    id: int
    name: str
    owner: User
    members: dict[int, int]
    channels: "list[Channel]" = field(default_factory=list)
    has_bot: bool = True


@dataclass(slots=True, eq=False)
class Channel:
    """A text channel, forum, thread or direct message; without `readable` 50001, without `writable` 50013.

    Without `remembers` the bot may not read its history, which then looks empty.
    """

    id: int
    kind: int
    name: str
    guild: Guild | None = None
    parent: "Channel | None" = None
    recipient: User | None = None
    owner_id: int = 0
    topic: str | None = None
    messages: list[Message] = field(default_factory=list)
    readable: bool = True
    writable: bool = True
    remembers: bool = True
    archived: bool = False

    @property
    def visible(self) -> bool:
        """Whether the bot gets its events."""
        return self.readable and (self.guild is None or self.guild.has_bot)


class World:
    """Everything that exists. `now` gives ms since 1970; ids grow and hold their time, as Discord's do."""

    def __init__(self, bot_name: str = "warm", now: Callable[[], int] = wall_clock) -> None:
        self.now = now
        self.cdn_url = ""
        self.users: dict[int, User] = {}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.files: dict[int, Attachment] = {}
        self.stickers: dict[int, Sticker] = {}
        self._last = 0
        self.bot = self.add_user(bot_name, bot=True)

    def snowflake(self) -> int:
        """A new id, larger than every one before."""
        self._last = max(self._last + 1, (self.now() - EPOCH) << 22)
        return self._last

    def add_user(self, name: str, *, bot: bool = False) -> User:
        """A new account."""
        user = User(self.snowflake(), name, bot)
        self.users[user.id] = user
        return user

    def add_guild(self, name: str, *members: User, shard: tuple[int, int] = (0, 1)) -> Guild:
        """A new guild with the bot in it; its first member owns it. The gateway is not told (see People.invite).

        Its events come by that shard, of so many.
        """
        number, count = shard
        while shard_of(self.snowflake(), count) != number:
            self._last += 1 << 22
        guild = Guild(self._last, name, members[0], {user.id: self.now() for user in (*members, self.bot)})
        self.guilds[guild.id] = guild
        return guild

    def add_sticker(self, name: str) -> Sticker:
        """A sticker of a guild that the bot may use."""
        sticker = Sticker(self.snowflake(), name)
        self.stickers[sticker.id] = sticker
        return sticker

    def add_channel(self, guild: Guild, name: str, kind: int = TEXT, parent: Channel | None = None) -> Channel:
        """A new channel, forum (15) or thread (11, with its parent)."""
        channel = Channel(self.snowflake(), kind, name, guild, parent)
        guild.channels.append(channel)
        self.channels[channel.id] = channel
        return channel

    def open_dm(self, user: User) -> Channel:
        """The direct channel of the bot and this person, the same one every time."""
        for channel in self.channels.values():
            if channel.recipient is user:
                return channel
        channel = Channel(self.snowflake(), DM, "", recipient=user)
        self.channels[channel.id] = channel
        return channel

    def message(self, channel_id: int, message_id: int) -> Message | None:
        """That message if it exists and was not deleted; ephemeral ones are no channel messages."""
        channel = self.channels.get(channel_id)
        found = (one for one in (channel.messages if channel else ()) if one.id == message_id)
        return next(found, None)

    def write(self, channel: Channel, author: User, content: str, files: Sequence[Attachment] = ()) -> Message:
        """A new message, not yet in its channel; mentions are read from its text, files get their address."""
        message = Message(self.snowflake(), channel.id, author, content, self.now())
        ids = dict.fromkeys(int(found) for found in MENTION.findall(content))
        message.mentions = [self.users[one] for one in ids if one in self.users]
        for file in files:
            kept = Attachment(
                file.name, file.data, file.content_type, self.snowflake(), file.duration_s, file.said_size
            )
            self.files[kept.id] = kept
            message.attachments.append(kept)
        return message
