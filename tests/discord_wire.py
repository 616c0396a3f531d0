"""Gateway payloads as Discord sends them, and the real library fed with them by hand, without a connection."""

from dataclasses import dataclass, field
from typing import Any

import discord

from adapters.discord.client import Address, Client
from adapters.discord.events import events_of
from bot.core.events import Incoming
from tests.discord_support import Lines

BOT, LIN, ANN, HOOK = (10**17 + number for number in (1, 2, 3, 4))
GUILD, HALL, THREAD, DM = (10**17 + number for number in (10, 11, 12, 13))
EVERYONE, MANAGED, PLAIN = GUILD, GUILD + 90, GUILD + 91
MESSAGE = 1_400_000_000_000_000_000
SAID_AT = 1_753_856_410_742
"""When a message of that id was written, ms."""


def person(number: int, name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "username": name.lower(),
        "global_name": name,
        "discriminator": "0",
        "avatar": None,
    } | more


LIN_USER, ANN_USER = person(LIN, "林"), person(ANN, "Ann")
BOT_USER = person(BOT, "warm", bot=True, global_name=None)
MEMBER = {"roles": [], "joined_at": "2024-01-02T03:04:05+00:00", "deaf": False, "mute": False, "flags": 0, "nick": None}


def role(number: int, name: str, **tags: str) -> dict[str, Any]:
    body = {"id": str(number), "name": name, "color": 0, "hoist": False, "position": 0, "permissions": "0"}
    return body | {"managed": bool(tags), "mentionable": True, "flags": 0} | ({"tags": tags} if tags else {})


def channel(**changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": str(HALL),
        "type": 0,
        "name": "hall",
        "position": 0,
        "permission_overwrites": [],
        "topic": None,
    }
    return body | {"nsfw": False, "parent_id": None, "guild_id": str(GUILD)} | changes


def thread(**changes: Any) -> dict[str, Any]:
    times = {"archived": False, "auto_archive_duration": 60, "archive_timestamp": "2024-01-02T03:04:05+00:00"}
    body: dict[str, Any] = {
        "id": str(THREAD),
        "type": 11,
        "name": "周末计划",
        "parent_id": str(HALL),
        "owner_id": str(LIN),
    }
    more = {"message_count": 0, "member_count": 1, "thread_metadata": times, "guild_id": str(GUILD)}
    return body | more | changes


def guild_payload() -> dict[str, Any]:
    roles = [role(EVERYONE, "@everyone"), role(MANAGED, "warm", bot_id=str(BOT)), role(PLAIN, "friends")]
    return {
        "id": str(GUILD),
        "name": "茶馆",
        "owner_id": str(LIN),
        "roles": roles,
        "emojis": [],
        "stickers": [],
        "features": [],
        "channels": [channel()],
        "threads": [thread()],
        "members": [],
        "member_count": 3,
        "system_channel_id": str(HALL),
        "system_channel_flags": 0,
        "verification_level": 0,
        "mfa_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "preferred_locale": "en-US",
        "afk_timeout": 60,
        "afk_channel_id": None,
        "unavailable": False,
    }


def message(content: str = "", **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": str(MESSAGE),
        "channel_id": str(HALL),
        "guild_id": str(GUILD),
        "author": LIN_USER,
        "member": MEMBER,
        "content": content,
        "timestamp": "2025-07-30T07:02:24.854000+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
        "flags": 0,
    }
    return body | changes


def direct(content: str = "", **changes: Any) -> dict[str, Any]:
    body = message(content, channel_id=str(DM), **changes)
    return {key: value for key, value in body.items() if key not in ("guild_id", "member")}


@dataclass
class Wire:
    """The library fed with payloads by hand."""

    seen: list[Incoming] = field(default_factory=list)
    log: Lines = field(default_factory=Lines)

    def __post_init__(self) -> None:
        self.client = Client(Address(), self._take, self.log)
        self.state = self.client._connection
        self.state.user = discord.ClientUser(state=self.state, data=BOT_USER)  # type: ignore[arg-type]
        self.feed("GUILD_CREATE", guild_payload())

    def feed(self, name: str, payload: dict[str, Any]) -> list[Incoming]:
        """What this payload alone tells."""
        before = len(self.seen)
        self.state.parsers[name](payload)
        return self.seen[before:]

    def one(self, name: str, payload: dict[str, Any]) -> Incoming:
        (found,) = self.feed(name, payload)
        return found

    def _take(self, event: str, args: tuple[object, ...]) -> None:
        self.seen.extend(events_of(event, args, self.client))
