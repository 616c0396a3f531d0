"""Two gateways of one Discord bot, each with some of its shards, against the fake server."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from bot.core.errors import PlatformError, SendError
from bot.core.events import CommandSpec, Incoming
from tests.discord_support import COMMANDS, RecordingSink, Scene, adapter_for, outgoing, running
from tests.fakes.clock import let_others_run
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel
from tests.sizes import PATIENCE_S


class SharedSink(RecordingSink):
    """What one gateway brings into the store of all of them."""

    def __init__(self, stored: list[Incoming]) -> None:
        super().__init__()
        self.stored = stored
        self.brought: Counter[str] = Counter()

    async def accept(self, incoming: Incoming) -> bool:
        self.brought[incoming.text] += 1
        return await super().accept(incoming)


class Bot:
    """A bot of two shards: a guild with a channel for each, and a direct channel."""

    def __init__(self, server: FakeDiscord) -> None:
        self.server = server
        world = server.world
        self.lin = world.add_user("林")
        self.places: list[Channel] = []
        for number in range(2):
            guild = world.add_guild(f"g{number}", self.lin, shard=(number, 2))
            self.places.append(world.add_channel(guild, "hall"))
        self.dm = world.open_dm(self.lin)
        self.stored: list[Incoming] = []

    def gateway(self, shards: str, commands: tuple[CommandSpec, ...] = ()) -> Scene:
        """One process, with what it brings to the common store."""
        scene = adapter_for(self.server, shards=shards, commands=commands)
        scene.sink = SharedSink(self.stored)
        return scene

    def say(self, text: str, *places: Channel) -> None:
        """The same, told apart by its place, in each of them (all three if none is named)."""
        for place in places or (*self.places, self.dm):
            self.server.people.say(place, self.lin, f"{text} {place.guild.name if place.guild else 'dm'}")

    def histories(self) -> Counter[int]:
        """How often the history of each channel was read."""
        read = [
            one.path.split("/")[2] for one in self.server.requests if one.method == "GET" and "/messages" in one.path
        ]
        return Counter(int(one) for one in read)


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    async with FakeDiscord() as server:
        server.gateway.at_once = 2
        yield Bot(server)
        assert server.violations == []


async def its_turn(scene: Scene, ms: int) -> None:
    """A session waits for its turn, and so much time passes."""
    async with asyncio.timeout(PATIENCE_S):
        await scene.clock.news.wait()
    scene.clock.news.clear()
    await scene.clock.advance(ms, let_others_run)


def brought(scene: Scene) -> dict[str, int]:
    assert isinstance(scene.sink, SharedSink)
    return dict(scene.sink.brought)


async def test_each_event_comes_once_by_the_gateway_of_its_shard_and_direct_messages_by_the_first(bot: Bot) -> None:
    first, second = bot.gateway("0/2"), bot.gateway("1/2")
    async with running(bot.server, first), running(bot.server, second):
        bot.say("hi")
        await first.sink.until(lambda: len(brought(first)) == 2)
        await second.sink.until(lambda: len(brought(second)) == 1)
    assert brought(first) == {"hi g0": 1, "hi dm": 1}
    assert brought(second) == {"hi g1": 1}
    assert sorted(bot.server.gateway.shards) == [(0, 2), (1, 2)]


async def test_whichever_gateway_sends_it_reaches_every_chat_and_stands_there_once(bot: Bot) -> None:
    first, second = bot.gateway("0/2"), bot.gateway("1/2")
    async with running(bot.server, first), running(bot.server, second):
        for row, place in enumerate((*bot.places, bot.dm), 1):
            ids = [await scene.adapter.send(outgoing(place, f"row {row}", row)) for scene in (first, second)]
            assert ids[0] == ids[1]
    assert [bot.server.texts(place) for place in (*bot.places, bot.dm)] == [["row 1"], ["row 2"], ["row 3"]]


async def test_an_interaction_is_answered_by_whichever_gateway_sends_as_if_it_had_got_it(bot: Bot) -> None:
    first, second = bot.gateway("0/2", COMMANDS), bot.gateway("1/2", COMMANDS)
    async with running(bot.server, first), running(bot.server, second):
        used = bot.server.people.slash(bot.places[1], bot.lin, "ai ctx")
        await second.sink.until(lambda: len(second.sink.stored) == 1)
        await bot.server.until(lambda: used.acknowledged)
        row = replace(outgoing(bot.places[1], "part one"), via=second.sink.stored[0].via, only_for=str(bot.lin.id))
        for scene in (first, second):
            await scene.adapter.send(row)
        await first.adapter.send(replace(row, outbox_id=2, text="part two", further=True))
    assert [one.content for one in bot.server.ephemeral(bot.lin)] == ["part one", "part two"]
    assert (bot.server.texts(bot.places[1]), bot.server.texts(bot.dm)) == ([], [])
    assert used.token not in row.via


async def test_an_answer_waits_until_the_gateway_that_got_the_interaction_has_told_discord(bot: Bot) -> None:
    first, second = bot.gateway("0/2", COMMANDS), bot.gateway("1/2", COMMANDS)
    async with running(bot.server, first), running(bot.server, second):
        second.sink.open.clear()
        used = bot.server.people.slash(bot.places[1], bot.lin, "ai ctx")
        while not second.adapter._interactions._told:
            await let_others_run()
        (handle,) = second.adapter._interactions._told
        now = first.clock.now()
        row = replace(outgoing(bot.places[1], "yours"), via=handle, only_for=str(bot.lin.id))
        for tried_at in (0, now - 2_000):
            with pytest.raises(SendError) as error:
                await first.adapter.send(replace(row, tried_at=tried_at))
            assert (error.value.fate, error.value.wait_ms) == ("wait", 300)
        await first.adapter.send(replace(row, outbox_id=2, tried_at=now - 3_000))
        assert bot.server.texts(bot.dm) == ["yours"], "Discord waits no longer to be told, so nobody will"
        second.sink.open.set()
        await bot.server.until(lambda: used.acknowledged)
        await first.adapter.send(row)
    assert [one.content for one in bot.server.ephemeral(bot.lin)] == ["yours"]


async def test_any_gateway_says_who_looks_after_a_server(bot: Bot) -> None:
    first, stranger = bot.gateway("0/2"), bot.server.world.add_user("Ann")
    async with running(bot.server, first):
        for place in bot.places:
            assert await first.adapter.is_admin(str(place.id), str(bot.lin.id))
            assert not await first.adapter.is_admin(str(place.id), str(stranger.id))
        assert not await first.adapter.is_admin(str(bot.dm.id), str(bot.lin.id))


async def test_a_gateway_that_was_away_reads_what_its_own_shard_missed(bot: Bot) -> None:
    first, second = bot.gateway("0/2"), bot.gateway("1/2")
    async with running(bot.server, first):
        async with running(bot.server, second):
            bot.say("before")
            await first.sink.until(lambda: len(brought(first)) == 2)
            await second.sink.until(lambda: len(brought(second)) == 1)
        bot.say("meanwhile")
        await first.sink.until(lambda: len(brought(first)) == 4)
        bot.server.requests.clear()
        await second.clock.advance(5_000, let_others_run)
        async with running(bot.server, second):
            await second.sink.until(lambda: len(brought(second)) == 2)
            bot.say("after")
            await first.sink.until(lambda: len(brought(first)) == 6)
            await second.sink.until(lambda: len(brought(second)) == 3)
    assert {*bot.histories()} == {bot.places[1].id}
    assert brought(first) == {
        f"{when} {where}": 1 for when in ("before", "meanwhile", "after") for where in ("g0", "dm")
    }
    assert brought(second) == {f"{when} g1": 1 for when in ("before", "meanwhile", "after")}


async def test_of_a_gateway_with_two_shards_the_one_that_was_cut_off_reads_what_it_missed(bot: Bot) -> None:
    scene = bot.gateway("0-1/2")
    async with running(bot.server, scene):
        await bot.server.until(lambda: bot.server.gateway.connected == 2)
        bot.say("before")
        await scene.sink.until(lambda: len(brought(scene)) == 3)
        bot.server.requests.clear()
        await scene.clock.advance(5_000, let_others_run)
        bot.server.gateway.drop(resumable=False, shard=1)
        bot.say("meanwhile", bot.places[1])
        await scene.sink.until(lambda: len(brought(scene)) == 4)
        bot.say("after")
        await scene.sink.until(lambda: len(brought(scene)) == 7)
    assert {*bot.histories()} == {bot.places[1].id}, "the other shard missed nothing"
    assert {*brought(scene).values()} == {1}
    assert bot.server.gateway.shards == [(0, 2), (1, 2), (1, 2)]


async def test_sessions_begin_one_at_a_time_in_a_bucket_of_all_processes(bot: Bot) -> None:
    taken: list[str] = []
    free = asyncio.Event()

    async def take_for(name: str, ms: int) -> bool:
        taken.append(name)
        assert ms == 5_000
        return free.is_set()

    scene = bot.gateway("2-3/4")
    scene.adapter.share(take_for)
    running_scene = running(bot.server, scene)
    async with AsyncExitStack() as stack:
        entering = asyncio.create_task(stack.enter_async_context(running_scene))
        for _ in range(3):
            await its_turn(scene, 500)
        assert bot.server.gateway.shards == [], "it waits for its turn"
        assert taken == ["discord identify 0"] * len(taken)
        free.set()
        await its_turn(scene, 500)
        await entering
        await bot.server.until(lambda: len(bot.server.gateway.shards) == 2)
    assert bot.server.gateway.shards == [(2, 4), (3, 4)]
    assert taken[-1] == "discord identify 1"


async def test_without_other_processes_five_seconds_lie_between_two_sessions_of_a_bucket(bot: Bot) -> None:
    bot.server.gateway.at_once, scene = 1, bot.gateway("0-1/2")
    async with running(bot.server, scene):
        for _ in range(9):
            await its_turn(scene, 500)
        await let_others_run()
        assert bot.server.gateway.shards == [(0, 2)]
        await its_turn(scene, 500)
        await bot.server.until(lambda: len(bot.server.gateway.shards) == 2)


async def test_shards_that_discord_refuses_are_named(bot: Bot) -> None:
    bot.server.gateway.least_shards = 4
    scene = bot.gateway("0/2")
    with pytest.raises(PlatformError, match=r"discord\.shards"):
        await scene.adapter.run(scene.sink)
    alone = adapter_for(bot.server)
    with pytest.raises(PlatformError, match=r"discord\.shards"):
        await alone.adapter.run(alone.sink)
    assert "Discord advises 4 shards" in str([each.text for each in await alone.adapter.check()])


async def test_the_adapter_is_as_alive_as_its_quietest_shard(bot: Bot) -> None:
    bot.server.gateway.at_once, scene = 1, bot.gateway("0-1/2")
    async with running(bot.server, scene):
        assert scene.adapter.silent_ms() is None, "the second is not there yet"
        await its_turn(scene, 5_000)
        await bot.server.until(lambda: bot.server.gateway.connected == 2)
        bot.say("hi")
        await scene.sink.until(lambda: len(scene.sink.stored) == 3)
        assert scene.adapter.silent_ms() is not None
