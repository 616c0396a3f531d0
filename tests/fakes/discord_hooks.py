"""Interactions on the fake Discord: callbacks within 3 s, follow-ups and edits by token within 15 minutes."""

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aiohttp import web

from tests.fakes import discord_payloads as shape
from tests.fakes.discord_events import Events
from tests.fakes.discord_front import Refused
from tests.fakes.discord_rest import KEPT_FLAGS, Rest, asked
from tests.fakes.discord_world import EPHEMERAL, LOADING, SLASH, Attachment, Channel, Json, Message, User, World

ANSWER_S, TOKEN_S = 3.0, 900.0
"""Discord's own limits for the first answer and for the token."""


@dataclass(slots=True, eq=False)
class Interaction:
    """One slash command or button press. `answers` are its messages, the original first; `kind` the callback's."""

    id: int
    token: str
    user: User
    place: Channel
    at: float
    command: str = ""
    source: Message | None = None
    kind: int | None = None
    answers: list[Message] = field(default_factory=list)
    modal: Json | None = None

    @property
    def acknowledged(self) -> bool:
        """Whether it was answered or deferred; if not, the person saw "did not respond" after 3 s."""
        return self.kind is not None


class Hooks:
    """Every interaction, by token, and the routes that answer them."""

    def __init__(self, world: World, events: Events, rest: Rest) -> None:
        self.interactions: dict[str, Interaction] = {}
        self._world = world
        self._events = events
        self._rest = rest

    def routes(self) -> Iterable[web.RouteDef]:
        """Every route, below /api/v10."""
        one = "/webhooks/{app}/{token}/messages/{message}"
        return (
            web.post("/interactions/{id}/{token}/callback", self._callback),
            web.post("/webhooks/{app}/{token}", self._follow_up),
            web.get(one, self._get),
            web.patch(one, self._edit),
            web.delete(one, self._delete),
        )

    def begin(self, user: User, place: Channel, kind: int, data: Json, source: Message | None = None) -> Interaction:
        """Tell the gateway that someone used a command (2) or pressed a button (3)."""
        loop = asyncio.get_running_loop()
        one = Interaction(self._world.snowflake(), secrets.token_urlsafe(24), user, place, loop.time())
        one.source, one.command = source, str(data.get("name", ""))
        self.interactions[one.token] = one
        app = str(self._world.bot.id)
        body: Json = {"id": str(one.id), "application_id": app, "type": kind, "token": one.token, "version": 1}
        body |= {"data": data, "channel_id": str(place.id), "channel": shape.channel(place, self._world.bot)}
        body |= {"locale": "zh-CN", "entitlements": [], "attachment_size_limit": 10_485_760}
        body["app_permissions"] = str(shape.EVERYTHING)
        if place.guild is None:
            body |= {"user": shape.user(user), "context": 1, "authorizing_integration_owners": {"1": str(user.id)}}
        else:
            permissions = {"permissions": str(shape.EVERYTHING)}
            guild = {"id": str(place.guild.id), "locale": "en-US", "features": []}
            body |= {"guild_id": guild["id"], "guild": guild, "guild_locale": "en-US", "context": 0}
            body |= {"member": shape.member(place.guild, user) | permissions}
            body |= {"authorizing_integration_owners": {"0": guild["id"]}}
        if source is not None:
            body["message"] = shape.message(source, self._world)
        self._events.interaction(place, body)
        return one

    async def _callback(self, request: web.Request) -> web.Response:
        one = self.interactions.get(request.match_info["token"])
        late = one is not None and asyncio.get_running_loop().time() - one.at > ANSWER_S
        if one is None or late or str(one.id) != request.match_info["id"]:
            raise Refused(404, 10062, "Unknown interaction")
        if one.acknowledged:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        body = asked(request).body
        kind, data = int(body.get("type", 0)), body.get("data") or {}
        if kind not in (1, 4, 5, 6, 7, 8, 9) or (kind in (6, 7) and one.source is None):
            raise Refused(400, 50035, "Invalid Form Body")
        if kind == 4:
            self._say(one, data, asked(request).files)
        elif kind == 5:
            waiting = self._world.write(one.place, self._world.bot, "")
            waiting.flags = LOADING | int(data.get("flags") or 0) & KEPT_FLAGS
            self._show(one, waiting)
        elif kind == 7 and one.source is not None:
            self._change(one, one.source, data)
        elif kind == 9:
            one.modal = data
        one.kind = kind
        if request.query.get("with_response", "").lower() not in ("1", "true"):
            return web.Response(status=204)
        told: Json = {"id": str(one.id), "type": 3 if one.source else 2, "response_message_loading": kind == 5}
        resource: Json = {"type": kind}
        shown = one.answers[0] if one.answers else one.source if kind == 7 else None
        if shown is not None:
            told |= {"response_message_id": str(shown.id), "response_message_ephemeral": bool(shown.flags & EPHEMERAL)}
            resource["message"] = shape.message(shown, self._world)
        return web.json_response({"interaction": told, "resource": resource})

    async def _follow_up(self, request: web.Request) -> web.Response:
        one, body = self._known(request), asked(request).body
        files = asked(request).files
        first = one.answers[0] if one.answers else None
        if first is not None and first.flags & LOADING:  # the first follow-up fills what was deferred
            self._change(one, first, body, files)
            return web.json_response(shape.message(first, self._world))
        return web.json_response(shape.message(self._say(one, body, files), self._world))

    async def _get(self, request: web.Request) -> web.Response:
        return web.json_response(shape.message(self._message(request), self._world))

    async def _edit(self, request: web.Request) -> web.Response:
        message = self._message(request)
        self._change(self._known(request), message, asked(request).body, asked(request).files)
        return web.json_response(shape.message(message, self._world))

    async def _delete(self, request: web.Request) -> web.Response:
        one, message = self._known(request), self._message(request)
        if message in one.answers:
            one.answers.remove(message)
        if message in one.place.messages:
            one.place.messages.remove(message)
            self._events.deleted(one.place, [message.id], bulk=False)
        return web.Response(status=204)

    def _say(self, one: Interaction, body: Json, files: Sequence[Attachment]) -> Message:
        self._rest.check_files(files)
        content = self._rest.check_content(body, files=bool(files), empty=bool(body.get("components")))
        message = self._world.write(one.place, self._world.bot, content, files)
        message.flags, message.components = int(body.get("flags") or 0) & KEPT_FLAGS, body.get("components") or []
        message.embeds, message.allowed_mentions = body.get("embeds") or [], body.get("allowed_mentions")
        self._show(one, message)
        return message

    def _show(self, one: Interaction, message: Message) -> None:
        message.webhook_id, message.command = self._world.bot.id, one.command
        message.kind = SLASH if one.source is None and not one.answers else message.kind
        one.answers.append(message)
        if message.flags & EPHEMERAL:
            message.visible_to = one.user
            return
        one.place.messages.append(message)
        self._events.message("MESSAGE_CREATE", one.place, message)

    def _change(self, one: Interaction, message: Message, body: Json, files: Sequence[Attachment] = ()) -> None:
        self._rest.check_files(files)
        message.attachments += self._world.write(one.place, self._world.bot, "", files).attachments
        self._rest.apply(message, {key: value for key, value in body.items() if key != "flags"})
        message.flags &= ~LOADING
        if message in one.place.messages:
            self._events.message("MESSAGE_UPDATE", one.place, message)

    def _known(self, request: web.Request) -> Interaction:
        one = self.interactions.get(request.match_info["token"])
        if one is None or asyncio.get_running_loop().time() - one.at > TOKEN_S:
            raise Refused(401, 50027, "Invalid Webhook Token")
        if not one.acknowledged:
            raise Refused(404, 10015, "Unknown Webhook")
        return one

    def _message(self, request: web.Request) -> Message:
        one, name = self._known(request), request.match_info["message"]
        original = one.source if one.kind in (6, 7) else one.answers[0] if one.answers else None
        found = original if name == "@original" else next((m for m in one.answers if str(m.id) == name), None)
        if found is None:
            raise Refused(404, 10008, "Unknown Message")
        return found
