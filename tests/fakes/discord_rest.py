"""The fake Discord's REST answers for channels, messages, members and commands. Limits and tokens are front's work."""

from collections.abc import Iterable, Sequence

from aiohttp import web

from tests.fakes import discord_payloads as shape
from tests.fakes.discord_commands import check_command, check_commands
from tests.fakes.discord_events import Events
from tests.fakes.discord_front import ASKED, Asked, Refused, invalid
from tests.fakes.discord_world import DM, FORUM, MENTION, REPLY, Attachment, Channel, Guild, Json, Message, World

NONCE_MS = 300_000
"""How long Discord remembers a nonce: documented as "a few minutes", five here."""
MAX_CONTENT, MAX_NONCE = 2000, 25
MAX_FILES, MAX_STICKERS, MAX_FILE_BYTES = 10, 3, 10 * 1024 * 1024
KEPT_FLAGS = 1 << 2 | 1 << 6 | 1 << 12
"""SUPPRESS_EMBEDS, EPHEMERAL and SUPPRESS_NOTIFICATIONS: what a bot may set."""


class Rest:
    """The handlers, as routes. `typing` holds (channel id, loop time), `commands` the registered definitions."""

    def __init__(self, world: World, events: Events, *, content: bool) -> None:
        self.typing: list[tuple[int, float]] = []
        self.commands: list[Json] = []
        self._world = world
        self._events = events
        self._content = content
        self._nonces: dict[str, tuple[int, Message]] = {}

    def routes(self) -> Iterable[web.RouteDef]:
        """Every route, below /api/v10."""
        channel, message = "/channels/{channel}", "/channels/{channel}/messages/{message}"
        mine = message + "/reactions/{emoji}/@me"
        commands, guild = "/applications/{app}/commands", "/guilds/{guild}"
        return (
            web.get("/users/@me", self._me),
            web.get("/oauth2/applications/@me", self._application),
            web.get("/applications/@me", self._application),
            web.post("/users/@me/channels", self._open_dm),
            web.get("/users/{user}", self._user),
            web.get(channel, self._channel),
            web.post(channel + "/typing", self._typing),
            web.get(channel + "/messages", self._history),
            web.post(channel + "/messages", self._send),
            web.get(message, self._one),
            web.patch(message, self._edit),
            web.delete(message, self._delete),
            web.put(mine, self._react),
            web.delete(mine, self._react),
            web.put(channel + "/thread-members/@me", self._join),
            web.get(channel + "/threads/archived/public", self._archived),
            web.get(guild, self._guild),
            web.get(guild + "/channels", self._channels),
            web.get(guild + "/threads/active", self._active),
            web.get(guild + "/members/{user}", self._member),
            web.get(commands, self._get_commands),
            web.put(commands, self._put_commands),
            web.post(commands, self._post_command),
        )

    def check_content(self, body: Json, *, files: bool = False, empty: bool = False) -> str:
        """The text as Discord keeps it, without the white space around it; raises Refused."""
        content = str(body.get("content") or "")
        if len(content.encode("utf-16-le", "surrogatepass")) // 2 > MAX_CONTENT:
            raise invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_CONTENT} or fewer in length.")
        if not (content.strip() or files or empty or body.get("embeds") or body.get("sticker_ids")):
            raise Refused(400, 50006, "Cannot send an empty message")
        return content.strip()

    def check_files(self, files: Sequence[Attachment]) -> None:
        """Raises Refused for files that are too large, or too many."""
        if len(files) > MAX_FILES:
            raise invalid("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_FILES} or fewer in length.")
        if any(len(one.data) > MAX_FILE_BYTES for one in files):
            raise Refused(413, 40005, "Request entity too large")

    async def _me(self, request: web.Request) -> web.Response:
        return web.json_response(shape.user(self._world.bot) | {"verified": True, "mfa_enabled": False, "flags": 0})

    async def _application(self, request: web.Request) -> web.Response:
        flags = 1 << 18 | 1 << 14 if self._content else 0
        body: Json = {"id": str(self._world.bot.id), "name": self._world.bot.name, "description": "", "icon": None}
        body |= {"bot_public": True, "bot_require_code_grant": False, "verify_key": "00", "flags": flags}
        body |= {"summary": "", "team": None, "bot": shape.user(self._world.bot)}
        owner = next((guild.owner for guild in self._world.guilds.values()), self._world.bot)
        return web.json_response(body | {"owner": shape.user(owner)})

    async def _user(self, request: web.Request) -> web.Response:
        user = self._world.users.get(int(request.match_info["user"]))
        if user is None:
            raise Refused(404, 10013, "Unknown User")
        return web.json_response(shape.user(user))

    async def _open_dm(self, request: web.Request) -> web.Response:
        user = self._world.users.get(int(asked(request).body.get("recipient_id", 0)))
        if user is None or user is self._world.bot:
            raise Refused(400, 50033, "Invalid Recipient(s)")
        return web.json_response(shape.channel(self._world.open_dm(user), self._world.bot))

    async def _channel(self, request: web.Request) -> web.Response:
        return web.json_response(shape.channel(self._place(request), self._world.bot))

    async def _typing(self, request: web.Request) -> web.Response:
        self._writable(place := self._place(request))
        self.typing.append((place.id, asked(request).at))
        return web.Response(status=204)

    async def _history(self, request: web.Request) -> web.Response:
        place, query = self._place(request), request.query
        limit = int(query.get("limit", 50))
        if not 1 <= limit <= 100:
            raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
        messages = place.messages if place.remembers else []
        if "around" in query:
            middle, half = int(query["around"]), limit // 2
            before = [one for one in messages if one.id < middle][-half:] if half else []
            found = before + [one for one in messages if one.id >= middle][: limit - half]
        elif "after" in query:
            found = [one for one in messages if one.id > int(query["after"])][:limit]
        else:
            end = int(query.get("before", 1 << 63))
            found = [one for one in messages if one.id < end][-limit:]
        newest_first = sorted(found, key=lambda one: one.id, reverse=True)
        return web.json_response([shape.message(one, self._world, content=self._content) for one in newest_first])

    async def _one(self, request: web.Request) -> web.Response:
        return web.json_response(shape.message(self._message(request), self._world, content=self._content))

    async def _send(self, request: web.Request) -> web.Response:
        place, told = self._place(request), asked(request)
        self._writable(place)
        if place.kind == FORUM:
            raise Refused(400, 50008, "Cannot send messages in a non-text channel")
        if place.recipient is not None and place.recipient.blocks_bot:
            raise Refused(403, 50007, "Cannot send messages to this user")
        self.check_files(told.files)
        stickers = [int(one) for one in told.body.get("sticker_ids") or ()]
        if len(stickers) > MAX_STICKERS or not self._world.stickers.keys() >= set(stickers):
            raise invalid("sticker_ids", "STICKER_INVALID", "Sticker is invalid.")
        content = self.check_content(told.body, files=bool(told.files))
        nonce = told.body.get("nonce")
        if nonce is not None and len(str(nonce)) > MAX_NONCE:
            raise invalid("nonce", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_NONCE} or fewer in length.")
        if nonce is not None and told.body.get("enforce_nonce"):
            at, first = self._nonces.get(str(nonce), (-NONCE_MS, None))
            if first is not None and self._world.now() - at < NONCE_MS:
                if self._world.message(first.channel_id, first.id) is None:
                    raise Refused(404, 10008, "Unknown Message")
                return web.json_response(shape.message(first, self._world))
        message = self._world.write(place, self._world.bot, content, told.files)
        message.stickers = [self._world.stickers[one] for one in stickers]
        message.nonce, message.components = nonce, told.body.get("components") or []
        message.embeds, message.flags = told.body.get("embeds") or [], int(told.body.get("flags") or 0) & KEPT_FLAGS
        self._refer(place, message, told.body)
        ping(message, told.body, self._world)
        place.messages.append(message)
        if nonce is not None:
            self._nonces[str(nonce)] = (self._world.now(), message)
        self._events.message("MESSAGE_CREATE", place, message)
        return web.json_response(shape.message(message, self._world))

    def _refer(self, place: Channel, message: Message, body: Json) -> None:
        pointer = body.get("message_reference")
        if not pointer:
            return
        target = self._world.message(place.id, int(pointer["message_id"]))
        if target is not None:
            message.kind, message.reply_to = REPLY, target.id
        elif pointer.get("fail_if_not_exists", True):
            raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")

    async def _edit(self, request: web.Request) -> web.Response:
        message, place, body = self._message(request), self._place(request), asked(request).body
        if message.author is not self._world.bot:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        self.apply(message, body)
        self._events.message("MESSAGE_UPDATE", place, message)
        return web.json_response(shape.message(message, self._world))

    def apply(self, message: Message, body: Json) -> None:
        """Change a message as an edit asks; raises Refused."""
        if "content" in body:
            message.content = self.check_content(body, files=bool(message.attachments), empty=bool(message.embeds))
            named = dict.fromkeys(int(found) for found in MENTION.findall(message.content))
            message.mentions = [self._world.users[one] for one in named if one in self._world.users]
            ping(message, body, self._world)
            message.edited_at = self._world.now()
        if body.get("flags") is not None:
            message.flags = int(body["flags"]) & KEPT_FLAGS
        message.components = body.get("components", message.components) or []
        message.embeds = body.get("embeds", message.embeds) or []

    async def _delete(self, request: web.Request) -> web.Response:
        message, place = self._message(request), self._place(request)
        if place.kind == DM and message.author is not self._world.bot:
            raise Refused(403, 50003, "Cannot execute action on a DM channel")
        place.messages.remove(message)
        self._events.deleted(place, [message.id], bulk=False)
        return web.Response(status=204)

    async def _react(self, request: web.Request) -> web.Response:
        message, place, emoji = self._message(request), self._place(request), request.match_info["emoji"]
        if ":" not in emoji and emoji.isascii():
            raise Refused(400, 10014, "Unknown Emoji")
        who = message.reactions.get(emoji, [])
        added, bot = request.method == "PUT", self._world.bot
        if added == (bot.id in who):
            return web.Response(status=204)
        message.reactions[emoji] = [*who, bot.id] if added else [one for one in who if one != bot.id]
        if not message.reactions[emoji]:
            del message.reactions[emoji]
        self._events.reaction(place, message, bot, emoji, added=added)
        return web.Response(status=204)

    async def _join(self, request: web.Request) -> web.Response:
        self._place(request)
        return web.Response(status=204)

    async def _guild(self, request: web.Request) -> web.Response:
        return web.json_response(shape.guild(self._home(request), self._world))

    async def _channels(self, request: web.Request) -> web.Response:
        return web.json_response(shape.guild(self._home(request), self._world)["channels"])

    async def _active(self, request: web.Request) -> web.Response:
        threads = shape.guild(self._home(request), self._world)["threads"]
        return web.json_response({"threads": threads, "members": []})

    async def _archived(self, request: web.Request) -> web.Response:
        place = self._place(request)
        rows = [one for one in self._world.channels.values() if one.parent is place and one.archived]
        threads = [shape.channel(one, self._world.bot) for one in reversed(rows)]
        return web.json_response({"threads": threads, "members": [], "has_more": False})

    async def _member(self, request: web.Request) -> web.Response:
        guild, key = self._home(request), int(request.match_info["user"])
        if key not in guild.members:
            raise Refused(404, 10007, "Unknown Member")
        return web.json_response(shape.member(guild, self._world.users[key]))

    async def _get_commands(self, request: web.Request) -> web.Response:
        return web.json_response(self.commands)

    async def _put_commands(self, request: web.Request) -> web.Response:
        bodies = asked(request).body.get("list", [])
        check_commands(bodies)
        self.commands = [self._registered(body) for body in bodies]
        return web.json_response(self.commands)

    async def _post_command(self, request: web.Request) -> web.Response:
        new = self._registered(asked(request).body)
        self.commands = [one for one in self.commands if one["name"] != new["name"]] + [new]
        return web.json_response(new)

    def _registered(self, body: Json) -> Json:
        name = str(body.get("name", ""))
        if body.get("type", 1) == 1:
            check_command(body)
        old = next((one["id"] for one in self.commands if one["name"] == name), None)
        mine: Json = {"id": old or str(self._world.snowflake()), "application_id": str(self._world.bot.id)}
        mine |= {"version": str(self._world.snowflake()), "default_member_permissions": None, "options": []}
        return {"type": 1, "nsfw": False, "dm_permission": True} | mine | body

    def _place(self, request: web.Request) -> Channel:
        place = self._world.channels.get(int(request.match_info["channel"]))
        if place is None:
            raise Refused(404, 10003, "Unknown Channel")
        if not place.visible:
            raise Refused(403, 50001, "Missing Access")
        return place

    def _writable(self, place: Channel) -> None:
        if not place.writable or (place.parent is not None and not place.parent.writable):
            raise Refused(403, 50013, "Missing Permissions")

    def _message(self, request: web.Request) -> Message:
        message = self._world.message(self._place(request).id, int(request.match_info["message"]))
        if message is None:
            raise Refused(404, 10008, "Unknown Message")
        return message

    def _home(self, request: web.Request) -> Guild:
        guild = self._world.guilds.get(int(request.match_info["guild"]))
        if guild is None:
            raise Refused(404, 10004, "Unknown Guild")
        if not guild.has_bot:
            raise Refused(403, 50001, "Missing Access")
        return guild


def asked(request: web.Request) -> Asked:
    """What the front recorded about this request."""
    return request[ASKED]


def ping(message: Message, body: Json, world: World) -> None:
    """Keep of the mentions those that allowed_mentions lets through; without it everything pings, as on Discord."""
    message.allowed_mentions = allowed = body.get("allowed_mentions")
    everyone = "@everyone" in message.content or "@here" in message.content
    if allowed is None:
        message.everyone = everyone
    else:
        kinds, users = allowed.get("parse", []), {int(one) for one in allowed.get("users", [])}
        message.everyone = everyone and "everyone" in kinds
        message.mentions = [one for one in message.mentions if "users" in kinds or one.id in users]
    if message.reply_to is not None and (allowed or {}).get("replied_user", allowed is None):
        target = world.message(message.channel_id, message.reply_to)
        if target is not None and target.author not in message.mentions:
            message.mentions.append(target.author)
