"""The world in the shapes of Discord's API v10 documents. Pure: it changes nothing and sends nothing."""

from datetime import UTC, datetime

from tests.fakes.discord_world import (
    DM,
    FORUM,
    HAS_SNAPSHOT,
    PINNED,
    SUPPRESS_EMBEDS,
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

EVERYTHING = (1 << 53) - 1
ADMINISTRATOR, VIEW, SEND, HISTORY, SEND_IN_THREADS = 1 << 3, 1 << 10, 1 << 11, 1 << 16, 1 << 38
VOICE_MESSAGE = 1 << 13


def iso(at: int) -> str:
    """Milliseconds since 1970 as Discord writes a time."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="microseconds")


def user(one: User) -> Json:
    """A user object."""
    return {
        "id": str(one.id),
        "username": one.name,
        "discriminator": "0000" if one.bot else "0",
        "global_name": None if one.bot else one.name,
        "avatar": None,
        "bot": one.bot,
        "public_flags": 0,
    }


def member(guild: Guild, one: User, *, with_user: bool = True) -> Json:
    """A guild member object; messages carry it without the user inside."""
    body: Json = {
        "roles": [],
        "nick": None,
        "avatar": None,
        "joined_at": iso(guild.members.get(one.id, 0)),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }
    return {**body, "user": user(one)} if with_user else body


def channel(one: Channel, bot: User) -> Json:
    """A channel object of any kind."""
    last = one.messages[-1].id if one.messages else None
    body: Json = {"id": str(one.id), "type": one.kind, "flags": 0, "last_message_id": str(last) if last else None}
    if one.kind == DM:
        return {**body, "recipients": [user(one.recipient or bot)]}
    assert one.guild is not None
    body |= {"guild_id": str(one.guild.id), "name": one.name, "rate_limit_per_user": 0, "nsfw": False}
    body["parent_id"] = str(one.parent.id) if one.parent else None
    if one.kind == THREAD:
        return body | {
            "owner_id": str(one.owner_id or one.guild.owner.id),
            "message_count": len(one.messages),
            "total_message_sent": len(one.messages),
            "member_count": 1,
            "thread_metadata": {
                "archived": one.archived,
                "auto_archive_duration": 1440,
                "archive_timestamp": iso(one.messages[-1].at if one.messages else 0),
                "locked": False,
            },
        }
    denied = (0 if one.readable else VIEW) | (0 if one.remembers else HISTORY)
    denied |= 0 if one.writable else SEND | SEND_IN_THREADS
    overwrites = [{"id": str(one.guild.id), "type": 0, "allow": "0", "deny": str(denied)}] if denied else []
    body |= {"topic": one.topic, "position": 0, "permission_overwrites": overwrites}
    return body | ({"available_tags": [], "default_reaction_emoji": None} if one.kind == FORUM else {})


def guild(one: Guild, world: World, *, members: bool = False) -> Json:
    """A guild object as GUILD_CREATE carries it; without the members intent only the bot itself is listed."""
    everyone = {
        "id": str(one.id),
        "name": "@everyone",
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": 0,
        "permissions": str(EVERYTHING & ~ADMINISTRATOR),  # to an administrator no channel is closed
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }
    listed = [world.users[key] for key in one.members] if members else [world.bot]
    return {
        "id": str(one.id),
        "name": one.name,
        "icon": None,
        "splash": None,
        "owner_id": str(one.owner.id),
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "preferred_locale": "en-US",
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [everyone],
        "joined_at": iso(one.members.get(world.bot.id, 0)),
        "large": False,
        "member_count": len(one.members),
        "members": [member(one, each) for each in listed],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "channels": [channel(each, world.bot) for each in one.channels if each.kind != THREAD],
        "threads": [channel(each, world.bot) for each in one.channels if each.kind == THREAD and not each.archived],
    }


def attachment(one: Attachment, at: int, world: World) -> Json:
    """An attachment object; its address is on this server."""
    url = f"{world.cdn_url}/attachments/{at}/{one.id}/{one.name}"
    size = len(one.data) if one.said_size is None else one.said_size
    body: Json = {"id": str(one.id), "filename": one.name, "size": size, "url": url, "proxy_url": url}
    body["content_type"] = one.content_type
    if one.content_type.startswith("image/"):
        body |= {"width": 8, "height": 8}
    if one.duration_s is not None:
        body |= {"duration_secs": one.duration_s, "waveform": "AAAA"}
    return body


def sticker(one: Sticker) -> Json:
    """A sticker item."""
    return {"id": str(one.id), "name": one.name, "format_type": one.format}


def emoji(text: str) -> Json:
    """An emoji object from "👍" or "name:id"."""
    name, _, number = text.partition(":")
    return {"id": number or None, "name": name, "animated": False}


def message(one: Message, world: World, *, gateway: bool = False, content: bool = True, deep: bool = True) -> Json:
    """A message object; `gateway` adds what only events carry, without `content` it is bare of what was said.

    `deep` adds the message it answers, one level only, as Discord does.
    """
    place = world.channels[one.channel_id]
    shown = content or sees_all(one, place, world)
    body = _inner(one, world) if shown else _inner(one, world) | BARE
    body |= {
        "id": str(one.id),
        "channel_id": str(one.channel_id),
        "author": user(one.author),
        "tts": False,
        "mention_everyone": one.everyone,
        "pinned": one.pinned,
        "reactions": [_reaction(text, ids, world) for text, ids in one.reactions.items()],
    }
    if one.webhook_id is not None:
        body |= {"webhook_id": str(one.webhook_id), "author": user(one.author) | {"bot": True}}
    if one.nonce is not None:
        body["nonce"] = one.nonce
    body |= _pointers(one, world, shown=shown, deep=deep)
    if gateway and place.guild is not None:
        body["guild_id"] = str(place.guild.id)
        if one.webhook_id is None:
            body["member"] = member(place.guild, one.author, with_user=False)
        for named in body["mentions"]:
            named["member"] = member(place.guild, world.users[int(named["id"])], with_user=False)
    return body


BARE: Json = {"content": "", "embeds": [], "attachments": [], "components": []}


def sees_all(one: Message, place: Channel, world: World) -> bool:
    """Whether the bot gets what was said without the message content intent (DM, its own, mentions of it)."""
    return place.guild is None or one.author is world.bot or world.bot in one.mentions


def _inner(one: Message, world: World) -> Json:
    """What a message and its snapshot in a forward share."""
    flags = one.flags | (HAS_SNAPSHOT if one.snapshot else 0)
    if any(each.duration_s is not None for each in one.attachments):
        flags |= VOICE_MESSAGE
    return {
        "type": one.kind,
        "content": one.content,
        "timestamp": iso(one.at),
        "edited_timestamp": iso(one.edited_at) if one.edited_at else None,
        "mentions": [user(each) for each in one.mentions],
        "mention_roles": [],
        "attachments": [attachment(each, one.channel_id, world) for each in one.attachments],
        "embeds": [] if flags & SUPPRESS_EMBEDS else one.embeds,
        "components": one.components,
        "sticker_items": [sticker(each) for each in one.stickers],
        "flags": flags,
    }


def _pointers(one: Message, world: World, *, shown: bool, deep: bool) -> Json:
    """message_reference with the message or snapshot it points to."""
    if one.snapshot is not None:
        body = reference(one.snapshot.channel_id, one.snapshot.id, world) | {"type": 1}
        inner = _inner(one.snapshot, world) if shown else _inner(one.snapshot, world) | BARE
        return {"message_reference": body, "message_snapshots": [{"message": inner}]}
    if one.reply_to is None:
        return {}
    body = {"message_reference": reference(one.channel_id, one.reply_to, world) | {"type": 0}}
    if one.kind == PINNED or not deep:
        return body
    target = world.message(one.channel_id, one.reply_to)
    return body | {"referenced_message": message(target, world, content=shown, deep=False) if target else None}


def reference(channel_id: int, message_id: int, world: World) -> Json:
    """A message reference."""
    place = world.channels.get(channel_id)
    body: Json = {"channel_id": str(channel_id), "message_id": str(message_id)}
    return body | ({"guild_id": str(place.guild.id)} if place and place.guild else {})


def _reaction(text: str, ids: list[int], world: World) -> Json:
    details = {"burst": 0, "normal": len(ids)}
    mine = world.bot.id in ids
    body: Json = {"emoji": emoji(text), "count": len(ids), "count_details": details, "burst_colors": []}
    return body | {"me": mine, "me_burst": False}
