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
from adapters.telegram import TelegramSettings
from adapters.telegram.adapter import TelegramAdapter
from bot.config.settings import Settings
from bot.core.clock import SystemClock
from bot.core.events import CommandSpec
from bot.core.models import Completion, ModelRequest
from bot.core.ports import Log, Role
from bot.ops.health import Supervisor
from tests.cluster import WORKER, Cluster
from tests.discord_support import COMMANDS, TOKEN
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.fakes.model import ScriptedModel
from tests.fakes.telegram_faults import Fault
from tests.fakes.telegram_server import FakeTelegram
from tests.telegram_stage import ANN, QUICK
from tests.world import World

pytestmark = pytest.mark.postgres

STORY = "从前有座山，山里有座庙，庙里有个老和尚在讲故事。" * 6
"""Long enough to be shown while it grows."""


class Wired(Cluster):
    """Processes in real time, woken by each other, each of which serves an adapter that `make` makes of its name and log."""

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
        supervisor = Supervisor(world.app.ingest, world.clock, world.log, world.store.inspector.writable)
        self.running[name] = asyncio.create_task(world.app.serve(world.talk, supervisor))
        return world

    async def cut(self, name: str) -> None:
        """That process's connections to its platform end."""
        self.running[name].cancel()
        await asyncio.gather(self.running.pop(name), return_exceptions=True)

    async def close(self) -> None:
        for name in tuple(self.running):
            await self.cut(name)
        await super().close()


@dataclass
class DiscordProcesses:
    """A Discord bot of two shards, with a gateway for each and nobody yet who answers; a channel of the second."""

    server: FakeDiscord
    cluster: Wired
    model: "Writing"
    lin: User
    place: Channel


@pytest.fixture
async def discord(tmp_path: Path) -> AsyncIterator[DiscordProcesses]:
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
            return DiscordAdapter(settings, (*COMMANDS, TALK), SystemClock(), log)

        cluster = Wired(tmp_path / "nuan", make, discord={"allow": [str(guild.id)]})
        cluster.model = model = Writing()
        try:
            for name in ("first", "second"):
                await cluster.add(name, ("gateway", "janitor"))
            await server.until(lambda: server.gateway.connected == 2)
            yield DiscordProcesses(server, cluster, model, lin, place)
        finally:
            await cluster.close()
        assert server.violations == []


async def test_a_slash_command_whose_gateway_is_gone_is_answered_where_it_was_given_and_once(
    discord: DiscordProcesses,
) -> None:
    used = discord.server.people.slash(discord.place, discord.lin, "ai ctx")
    await discord.server.until(lambda: used.acknowledged)
    await discord.cluster.cut("second")
    await discord.cluster.kill("second")
    await discord.cluster.add("worker", WORKER)
    await discord.server.until(lambda: bool(discord.server.ephemeral(discord.lin)[0].content))
    await discord.cluster.settled()
    (answer,) = discord.server.ephemeral(discord.lin)
    assert answer.content == "这个只有主人能做哦"
    assert discord.server.texts(discord.place) == []
    assert discord.cluster.processes["first"].rows("SELECT state FROM outbox") == [("sent",)]


async def test_a_slash_command_that_the_model_answers_in_the_chat_shows_nothing_under_way_any_more(
    discord: DiscordProcesses,
) -> None:
    used = discord.server.people.slash(discord.place, discord.lin, "talk")
    await discord.server.until(lambda: used.acknowledged)
    assert len(discord.server.ephemeral(discord.lin)) == 1
    await discord.cluster.add("worker", WORKER)
    await discord.server.until(lambda: discord.server.texts(discord.place) == ["好的"])
    await discord.server.until(lambda: discord.server.ephemeral(discord.lin) == ())
    await discord.cluster.settled()
    rows = discord.cluster.processes["first"].rows("SELECT state, kind FROM outbox ORDER BY id")
    assert rows == [("sent", "reply"), ("sent", "withdrawal")]


TALK = CommandSpec("talk", "我们聊聊大熊猫吧", (("en", "Talk about pandas"),))
"""A command that says what one would type to a friend."""


async def test_what_a_killed_worker_was_showing_is_finished_by_another_in_the_same_message(
    discord: DiscordProcesses,
) -> None:
    discord.cluster.shut()
    await discord.cluster.add("one", WORKER)
    discord.server.people.say(discord.place, discord.lin, f"<@{discord.server.world.bot.id}> 讲个故事")
    await discord.server.until(lambda: discord.server.texts(discord.place) == [STORY])
    (_, shown) = discord.place.messages
    await discord.cluster.cut("one")
    await discord.cluster.kill("one")
    await discord.cluster.add("two", WORKER)
    discord.model.end()
    await discord.server.until(lambda: shown.content == f"{STORY}完。")
    await discord.cluster.settled()
    assert discord.place.messages[1:] == [shown]
    assert discord.cluster.processes["two"].rows("SELECT state FROM outbox") == [("sent",)]


@dataclass
class TelegramProcesses:
    """A Telegram bot with one process that polls and another one that answers, and a group; who writes is not its owner."""

    server: FakeTelegram
    cluster: Wired
    model: "Writing"
    group: int

    @property
    def replies(self) -> list[str]:
        """What the person sees of what nuan said."""
        return [shown.text for shown in self.server.sent(ANN.id)]


@pytest.fixture
async def telegram(tmp_path: Path) -> AsyncIterator[TelegramProcesses]:
    """The bot, both of whose processes reach Telegram."""
    async with FakeTelegram() as server:
        group = server.chats.group("家", owner=ANN)

        def make(name: str, log: Log) -> TelegramAdapter:
            settings = TelegramSettings(token=SecretStr(server.token), base_url=server.url)
            return TelegramAdapter(settings, (), SystemClock(), log, limits=QUICK)

        cluster = Wired(tmp_path / "nuan", make, telegram={"allow": [str(ANN.id), str(group)]})
        cluster.model = model = Writing()
        try:
            await cluster.add("gateway", ("gateway", "janitor"))
            await cluster.add("worker", WORKER)
            await server.until(lambda: len(server.calls("getMe")) == 2 and bool(server.calls("getUpdates")))
            yield TelegramProcesses(server, cluster, model, group)
        finally:
            await cluster.close()
        assert server.violations == []


class Writing(ScriptedModel):
    """A model that, while the gate is shut, has written a story and waits with its end."""

    async def stream(self, request: ModelRequest, hear: Callable[[Callable[[], str]], None]) -> Completion:
        if self.gate is not None:
            hear(lambda: STORY)
            self.script = lambda request: f"{STORY}完。"
        return await self.complete(request)

    def end(self) -> None:
        """All of it is written."""
        assert self.gate is not None
        self.gate.set()
        self.gate = None


async def test_a_worker_reads_files_that_the_gateway_was_told_of(telegram: TelegramProcesses) -> None:
    telegram.server.people.document(ANN.id, ANN, "诗.txt", "床前明月光".encode(), "这是谁写的")
    await telegram.server.until(lambda: telegram.replies == ["好的"])
    assert "床前明月光" in telegram.cluster.model.requests[-1].prompt.messages[-1].content


async def test_a_worker_asks_who_looks_after_a_group(telegram: TelegramProcesses) -> None:
    telegram.server.people.say(telegram.group, ANN, ".ai off")
    await telegram.server.until(lambda: bool(telegram.server.sent(telegram.group)))
    assert telegram.server.sent(telegram.group)[0].text == "好，我在这里先不说话了；发 .ai on 叫醒我"


async def test_a_worker_shows_that_it_thinks_and_what_it_writes_and_the_gateway_says_it(
    telegram: TelegramProcesses,
) -> None:
    telegram.cluster.shut()
    telegram.server.people.say(ANN.id, ANN, "讲个故事")
    await telegram.server.until(lambda: bool(telegram.server.actions) and bool(telegram.server.drafts))
    assert telegram.replies == []
    telegram.model.end()
    await telegram.server.until(lambda: telegram.replies == [f"{STORY}完。"])
    await telegram.cluster.settled()
    assert len(telegram.server.calls("sendMessage")) == 1


async def test_who_takes_over_from_one_that_polls_on_waits_for_its_turn_and_answers(
    telegram: TelegramProcesses,
) -> None:
    first, spare = telegram.cluster.processes["gateway"], await telegram.cluster.add("spare", ("gateway", "worker"))
    await telegram.cluster.kill("gateway")  # from the database; its line to Telegram is well
    await telegram.server.until(
        lambda: bool([*first.log.named("telegram_contested"), *spare.log.named("telegram_contested")])
    )
    telegram.server.people.say(ANN.id, ANN, "在吗")
    await telegram.server.until(lambda: telegram.replies == ["好的"])
    assert spare.log.named("platform_failed") == []


async def test_a_gateway_that_is_refused_leaves_the_platform_to_another_and_does_what_else_is_its_to_do(
    telegram: TelegramProcesses,
) -> None:
    await telegram.cluster.add("spare", ("gateway",))
    telegram.server.faults.add("getUpdates", Fault("unauthorized"))
    telegram.server.people.say(ANN.id, ANN, "在吗")
    await telegram.server.until(lambda: telegram.server.faults.unauthorized)
    telegram.server.faults.clear()
    await telegram.server.until(lambda: telegram.replies == ["好的"])
    telegram.server.people.say(ANN.id, ANN, "还在吗")
    await telegram.server.until(lambda: telegram.replies == ["好的", "好的"])
    gateway, spare = (telegram.cluster.processes[name] for name in ("gateway", "spare"))
    assert gateway.log.named("lease_left") == spare.log.named("lease_taken") == [{"lease": "telegram"}]
    assert not telegram.cluster.running["gateway"].done()
    assert [line["final"] for line in gateway.log.named("platform_failed")] == [True]


async def test_a_worker_that_may_be_a_gateway_polls_once_the_one_that_did_is_gone(telegram: TelegramProcesses) -> None:
    await telegram.cluster.add("spare", ("gateway", "worker"))
    await telegram.cluster.cut("gateway")
    await telegram.cluster.kill("gateway")
    telegram.server.people.say(ANN.id, ANN, "还在吗")
    await telegram.server.until(lambda: telegram.replies == ["好的"])
    assert telegram.cluster.processes["spare"].log.named("lease_taken") == [{"lease": "telegram"}], (
        "a name would be left out"
    )
