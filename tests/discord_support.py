"""What the tests of the Discord adapter share: a sink that remembers, and an adapter that runs beside a fake server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from adapters.discord import DiscordSettings
from adapters.discord.adapter import DiscordAdapter
from bot.core.events import CommandSpec, Incoming, Outgoing, Place
from tests.fakes.clock import SimClock
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.sizes import PATIENCE_S

TOKEN = "made-up.discord.token"
COMMANDS = (
    CommandSpec("ai ctx", ".ai ctx", (("en", "What the model sees"), ("zh-Hans", "模型看到的"))),
    CommandSpec("ai name", ".ai name", (("en", "What you are called"),), "words"),
    CommandSpec("remember", "/remember ", (("en", "Keep this"), ("zh-Hant", "記住這個")), "text"),
    CommandSpec("new", "/new", (("en", "Begin anew"),)),
)


@dataclass
class Lines:
    """A log that keeps its lines."""

    kept: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def debug(self, event: str, **fields: object) -> None:
        self.kept.append((event, fields))

    def info(self, event: str, **fields: object) -> None:
        self.kept.append((event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self.kept.append((event, fields))

    def error(self, event: str, **fields: object) -> None:
        self.kept.append((event, fields))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.kept]


class RecordingSink:
    """A sink in memory: every event once, by its delivery key; `broken` is raised instead of storing."""

    def __init__(self) -> None:
        self.stored: list[Incoming] = []
        self.broken: Exception | None = None
        self.refused = 0
        self.open = asyncio.Event()
        self.open.set()
        self._changed = asyncio.Event()

    async def accept(self, incoming: Incoming) -> bool:
        await self.open.wait()
        if self.broken is not None:
            self.refused += 1
            self._changed.set()
            raise self.broken
        keys = {one.delivery_key for one in self.stored}
        if not incoming.delivery_key or incoming.delivery_key not in keys:
            self.stored.append(incoming)
            self._changed.set()
        return True

    async def newest(self, place: Place) -> str:
        await self.open.wait()
        ids = [one.external_id for one in self.stored if one.place.external_id == place.external_id]
        return max((one for one in ids if one), key=int, default="")

    async def recent(self, place: Place, limit: int) -> tuple[str, ...]:
        gone = {one.target for one in self.stored if one.label == "delete"}
        said = [one for one in self.stored if one.place.external_id == place.external_id and one.kind == "message"]
        return tuple(one.external_id for one in reversed(said) if one.external_id and one.external_id not in gone)[
            :limit
        ]

    async def places(self, platform: str) -> tuple[Place, ...]:
        return tuple({one.place.external_id: one.place for one in self.stored}.values())

    def typing(self, place: Place, account: str) -> None:
        """Nobody looks."""

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self.stored]

    def of(self, place: Channel) -> list[str]:
        return [one.text for one in self.stored if one.place.external_id == str(place.id)]

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                self._changed.clear()
                await self._changed.wait()


@dataclass
class Scene:
    """An adapter with everything around it."""

    adapter: DiscordAdapter
    sink: RecordingSink
    clock: SimClock
    log: Lines
    running: asyncio.Task[None] | None = None


def adapter_for(
    server: FakeDiscord,
    *,
    gateway: bool = True,
    commands: tuple[CommandSpec, ...] = (),
    proxy: str = "",
    shards: str = "",
) -> Scene:
    """An adapter that talks to that server."""
    clock, log = SimClock(server.world.now()), Lines()
    gateway_url = server.gateway_url if gateway else ""
    settings = DiscordSettings(
        token=SecretStr(TOKEN), api_url=server.api_url, gateway_url=gateway_url, proxy=proxy, shards=shards
    )
    adapter = DiscordAdapter(settings, commands, clock, log)
    return Scene(adapter, RecordingSink(), clock, log)


@asynccontextmanager
async def running(server: FakeDiscord, scene: Scene) -> AsyncIterator[Scene]:
    """The adapter, connected; stopped as a shutdown stops it."""
    before = scene.log.names.count("discord_connected")
    scene.running = asyncio.create_task(scene.adapter.run(scene.sink))
    try:
        await server.until(lambda: server.gateway.connected > 0)
        async with asyncio.timeout(PATIENCE_S):
            while scene.log.names.count("discord_connected") == before and not scene.running.done():
                await asyncio.wait((scene.running,), timeout=0.01)
        yield scene
    finally:
        scene.running.cancel()
        await asyncio.gather(scene.running, return_exceptions=True)
    assert server.front.pinging == []


def outgoing(place: Channel, text: str, number: int = 1) -> Outgoing:
    """An outbox row for that channel."""
    return Outgoing(number, 1, "discord", str(place.id), text, "reply")


class Town:
    """A guild with a channel, two people, and a direct channel."""

    def __init__(self, server: FakeDiscord) -> None:
        self.server = server
        world = server.world
        self.lin: User = world.add_user("林")
        self.ann: User = world.add_user("Ann")
        self.guild = world.add_guild("茶馆", self.lin, self.ann)
        self.hall: Channel = world.add_channel(self.guild, "hall")
        self.other: Channel = world.add_channel(self.guild, "other")
        self.dm: Channel = world.open_dm(self.lin)
        self.say = server.people.say
