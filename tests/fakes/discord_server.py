"""A strict fake of Discord on loopback (REST v10, CDN and gateway) that the unmodified discord.py connects to.

`async with FakeDiscord(token) as server:` … server.api_url, server.gateway_url, server.people, server.sent(channel).
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.fakes.discord_events import Events
from tests.fakes.discord_front import Asked, Fault, Front, Kind
from tests.fakes.discord_gateway import PRIVILEGED, Gateway
from tests.fakes.discord_hooks import Hooks
from tests.fakes.discord_people import People
from tests.fakes.discord_rest import Rest
from tests.fakes.discord_world import Channel, Json, Message, User, World
from tests.sizes import PATIENCE_S

CONTENT_INTENT = 1 << 15


class FakeDiscord:
    """The server. `privileged` are the intents switched on for the application; `limit` 0 switches buckets off."""

    def __init__(
        self,
        token: str = "made-up.discord.token",
        *,
        world: World | None = None,
        privileged: int = PRIVILEGED,
        limit: int = 5,
        window_s: float = 5.0,
        port: int = 0,
    ) -> None:
        self._changed = asyncio.Event()
        self.world = world or World()
        self.gateway = Gateway(self.world, token, privileged, self._changed.set)
        self.front = Front(token, self._changed.set, limit=limit, window_s=window_s)
        events = Events(self.world, self.gateway)
        self.rest = Rest(self.world, events, content=bool(privileged & CONTENT_INTENT))
        self.hooks = Hooks(self.world, events, self.rest)
        self.begin_typing = events.typing
        self.people = People(self.world, events, self.rest, self.hooks)
        self._port = port
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self.front.pass_through], client_max_size=64 * 1024**2)
        api = web.Application()
        api.add_routes([*self.rest.routes(), *self.hooks.routes(), web.get("/gateway/bot", self._gateway_bot)])
        app.add_subapp("/api/v10", api)
        app.add_routes([web.get("/gateway/", self.gateway.handle), web.get("/gateway", self.gateway.handle)])
        app.add_routes([web.get("/attachments/{channel}/{file}/{name}", self._file)])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        self.world.cdn_url = f"http://127.0.0.1:{self._port}"
        self.gateway.url = self.gateway_url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.front.released.set()
        self.gateway.close()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        """What goes into `discord.api_url`."""
        return f"http://127.0.0.1:{self._port}/api/v10"

    @property
    def gateway_url(self) -> str:
        """What goes into `discord.gateway_url`; /gateway/bot answers the same."""
        return f"ws://127.0.0.1:{self._port}/gateway/"

    @property
    def requests(self) -> list[Asked]:
        """Every API request in order."""
        return self.front.requests

    @property
    def violations(self) -> list[str]:
        """Every rule the client broke; a test ends with this being empty."""
        return self.front.violations

    @property
    def commands(self) -> list[Json]:
        """The application commands registered now."""
        return self.rest.commands

    def sent(self, place: Channel) -> tuple[Message, ...]:
        """The bot's messages that people see there now, in order (copies)."""
        return tuple(replace(one) for one in place.messages if one.author is self.world.bot)

    def texts(self, place: Channel) -> list[str]:
        """The texts of `sent`."""
        return [one.content for one in self.sent(place)]

    def ephemeral(self, who: User) -> tuple[Message, ...]:
        """What only this person was shown, in order; the live objects, so that buttons on them can be pressed."""
        answers = [one for hook in self.hooks.interactions.values() for one in hook.answers]
        return tuple(one for one in answers if one.visible_to is who)

    def typing(self, place: Channel) -> list[float]:
        """When the typing indicator was asked for there, loop time."""
        return [at for channel, at in self.rest.typing if channel == place.id]

    def misbehave(
        self, kind: Kind, *, times: int = 1, retry_after: float = 0.2, method: str = "POST", path: str = ""
    ) -> None:
        """Let the next requests fail that way, by default sends; `path` is a pattern below /api/v10."""
        self.front.faults.append(Fault(kind, method, path or Fault("503").path, times, retry_after))

    async def until(self, true: Callable[[], bool], timeout_s: float = PATIENCE_S) -> None:
        """Wait until this holds, looking after every request and gateway message; TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def _gateway_bot(self, request: web.Request) -> web.Response:
        limit = {"total": 1000, "remaining": 1000, "reset_after": 86_400_000, "max_concurrency": self.gateway.at_once}
        shards = self.gateway.least_shards
        return web.json_response({"url": self.gateway_url, "shards": shards, "session_start_limit": limit})

    async def _file(self, request: web.Request) -> web.Response:
        file = self.world.files.get(int(request.match_info["file"]))
        if file is None or file.name != request.match_info["name"]:
            return web.Response(status=404)
        return web.Response(body=file.data, content_type=file.content_type)
