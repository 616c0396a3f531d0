"""Several processes on one database whose platforms are real adapters at fake servers: what one of them hears, another
answers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from adapters.discord import DiscordSettings
from adapters.discord.adapter import DiscordAdapter
from bot.config.settings import Settings
from bot.core.clock import SystemClock
from bot.core.ports import Log, Role
from tests.cluster import WORKER, Cluster
from tests.discord_support import COMMANDS, TOKEN
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.world import World

pytestmark = pytest.mark.postgres


class Wired(Cluster):
    """Processes in real time, woken by each other, with an adapter that `make` makes of the process's name and log; a
    gateway's runs."""

    def __init__(self, folder: Path, make: Callable[[str, Log], Any], **sections: object) -> None:
        super().__init__(
            folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **sections}), wakes=True
        )
        self.clock = SystemClock()  # type: ignore[assignment]
        self.make = make
        self.running: dict[str, asyncio.Task[None]] = {}

    def adapter(self, name: str, world: World) -> Any:
        return self.make(name, world.log)

    async def add(self, name: str, roles: tuple[Role, ...]) -> World:
        world = await super().add(name, roles)
        if "gateway" in roles:
            self.running[name] = asyncio.create_task(world.talk.run(world.app.ingest))
        return world

    async def cut(self, name: str) -> None:
        """That process's connection to its platform ends."""
        self.running[name].cancel()
        await asyncio.gather(self.running.pop(name), return_exceptions=True)

    async def close(self) -> None:
        for name in tuple(self.running):
            await self.cut(name)
        await super().close()


@dataclass
class Hall:
    """A Discord bot of two shards, with a gateway for each and nobody yet who answers; a channel of the second."""

    server: FakeDiscord
    cluster: Wired
    lin: User
    place: Channel


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    """The bot, both of whose gateways are connected."""
    async with FakeDiscord() as server:
        server.gateway.at_once = 2
        lin = server.world.add_user("林")
        guild = server.world.add_guild("茶馆", lin, shard=(1, 2))
        place = server.world.add_channel(guild, "hall")

        def make(name: str, log: Log) -> DiscordAdapter:
            settings = DiscordSettings(
                token=SecretStr(TOKEN),
                api_url=server.api_url,
                gateway_url=server.gateway_url,
                shards={"first": "0/2", "second": "1/2"}.get(name, ""),
            )
            return DiscordAdapter(settings, COMMANDS, SystemClock(), log)

        cluster = Wired(tmp_path / "nuan", make, discord={"allow": [str(guild.id)]})
        try:
            for name in ("first", "second"):
                await cluster.add(name, ("gateway", "janitor"))
            await server.until(lambda: server.gateway.connected == 2)
            yield Hall(server, cluster, lin, place)
        finally:
            await cluster.close()
        assert server.violations == []


async def test_a_slash_command_whose_gateway_is_gone_is_answered_where_it_was_given_and_once(hall: Hall) -> None:
    used = hall.server.people.slash(hall.place, hall.lin, "ai ctx")
    await hall.server.until(lambda: used.acknowledged)
    await hall.cluster.cut("second")
    await hall.cluster.kill("second")
    await hall.cluster.add("worker", WORKER)
    await hall.server.until(lambda: bool(hall.server.ephemeral(hall.lin)[0].content))
    await hall.cluster.settled()
    (answer,) = hall.server.ephemeral(hall.lin)
    assert answer.content == "这个只有主人能做哦"
    assert hall.server.texts(hall.place) == []
    assert hall.cluster.processes["first"].rows("SELECT state FROM outbox") == [("sent",)]
