"""The same with real clients and servers on loopback, and with replies that are shown while they are written."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.model.client import OpenAIModel
from tests.fakes.openai_script import Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.platform import Drafting, Lively, StreamingModel
from tests.pools import asked, left, tell, through
from tests.test_sending import ONCE, pass_interval, until
from tests.world import World

AWAY = "http://127.0.0.1:1/v1"


@asynccontextmanager
async def wired(
    folder: Path, *servers: tuple[str, str], deadline_s: float = 20.0, first_s: float = 20.0
) -> AsyncIterator[World]:
    """A nuan whose models are these (address, name), asked over real connections; its time stands still."""
    model = {"tries": 3, "deadline_seconds": deadline_s, "first_token_seconds": first_s}
    world = World(folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "model": model}))
    real = [OpenAIModel(url, "k", name) for url, name in servers]
    for one in real:
        await one.prepare()
    world.model, world.fallbacks = real[0], tuple(real[1:])  # type: ignore[assignment,arg-type]
    await world.open()
    try:
        yield world
    finally:
        await world.close()
        for one in real:
            await one.close()


@pytest.mark.parametrize(
    ("bad", "state"),
    [
        (Reply(fault="http", status=503), "released"),
        (Reply(fault="http", status=429, retry_after=60), "released"),
        (Reply(fault="http", status=401), "released"),
        (Reply(fault="cut"), "lost"),
        (Reply(fault="reset"), "lost"),
        (Reply(fault="empty"), "lost"),
        (Reply(fault="html200"), "lost"),
        (Reply(fault="error_stream"), "released"),
    ],
    ids=lambda value: f"{value.fault} {value.status}" if isinstance(value, Reply) else value,
)
async def test_the_second_server_gets_the_same_messages_and_answers(tmp_path: Path, bad: Reply, state: str) -> None:
    async with FakeOpenAI(lambda _: bad) as one, FakeOpenAI(lambda _: Reply("我来答")) as two:
        async with wired(tmp_path, (one.base_url, "first"), (two.base_url, "second")) as world:
            await tell(world, "你好")
            assert world.replies == ["我来答"]
            assert asked(world) == [f"first {state}", "second settled"]
        assert one.violations == two.violations == []
        (sent,), (again,) = ([json.loads(body) for body in server.bodies] for server in (one, two))
    assert (sent.pop("model"), again.pop("model")) == ("first", "second")
    assert sent == again


async def test_a_server_that_is_away_costs_nothing(tmp_path: Path) -> None:
    async with FakeOpenAI(lambda _: Reply("我来答")) as two, wired(tmp_path, (AWAY, "a"), (two.base_url, "b")) as world:
        await tell(world, "你好")
        assert world.replies == ["我来答"]
        assert asked(world) == ["a released", "b settled"]


async def test_a_server_that_hangs_is_left_in_time_for_the_second(tmp_path: Path) -> None:
    async with FakeOpenAI(lambda _: Reply(fault="hang")) as one, FakeOpenAI(lambda _: Reply("我来答")) as two:
        async with wired(tmp_path, (one.base_url, "first"), (two.base_url, "second"), deadline_s=0.6) as world:
            await tell(world, "你好")
            assert world.replies == ["我来答"]
            assert asked(world) == ["first lost", "second settled"]
        assert one.hung_up.is_set()


@pytest.mark.parametrize(
    ("fault", "state"), [("length", "lost"), ("content_filter", "lost"), ("context_overflow", "released")]
)
async def test_what_would_end_the_same_way_is_not_asked_twice(tmp_path: Path, fault: str, state: str) -> None:
    bad = Reply(fault=fault)  # type: ignore[arg-type]
    async with FakeOpenAI(lambda _: bad) as one, FakeOpenAI() as two:
        async with wired(tmp_path, (one.base_url, "first"), (two.base_url, "second")) as world:
            await tell(world, "你好")
            assert len(world.replies) == 1
            assert asked(world) == [f"first {state}"]
        assert (len(one.requests), len(two.requests)) == (1, 0)


async def test_a_short_wait_that_a_server_asks_for_is_kept(tmp_path: Path) -> None:
    said = [Reply(fault="http", status=429, retry_after=2), Reply("好了")]
    async with FakeOpenAI(lambda _: said.pop(0)) as one, wired(tmp_path, (one.base_url, "first")) as world:
        before = world.clock.now()
        await tell(world, "你好")
        assert world.replies == ["好了"]
        assert world.clock.now() - before == 2_000


async def lively(folder: Path, talk: Lively) -> tuple[World, StreamingModel, StreamingModel]:
    """A nuan that shows what is being written, with a fallback that streams as well."""
    world = World(folder)
    first, second = StreamingModel(), StreamingModel()
    world.talk, world.model, world.fallbacks = talk, first, (second,)
    return await world.open(), first, second


@pytest.mark.parametrize("second_says", ["短", "第二个回答" * 60])
async def test_over_a_first_answer_that_broke_off_the_second_is_shown_and_nothing_is_left_of_it(
    tmp_path: Path, second_says: str
) -> None:
    talk = Lively(size=10_000)
    world, first, second = await lively(tmp_path, talk)
    first.fault = ModelError("cut", "connection lost")
    await world.app.ingest.accept(world.message("讲个故事"))
    await until(lambda: first.writing)
    first.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    first.write("到一半")
    await pass_interval(world, 1_500)
    await until(lambda: talk.shown["m1"].endswith("到一半"))
    first.finish()
    await until(lambda: second.writing)
    second.write(second_says)
    second.finish()
    await through(world)
    assert talk.shown == {"m1": second_says}
    assert world.replies == [second_says]
    assert world.peek.outbox("state") == [("sent",)]
    await world.close()


async def test_when_both_break_off_the_line_about_it_stands_where_the_answer_began(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world, first, second = await lively(tmp_path, talk)
    for model in (first, second):
        model.fault = ModelError("timeout", "no end")
    await world.app.ingest.accept(world.message("讲个故事"))
    for model in (first, second):
        await until(lambda model=model: model.writing)  # type: ignore[misc]
        model.write(ONCE)
        await pass_interval(world, 1_500)
        await until(lambda: talk.shown != {})
        model.finish()
    await through(world)
    ((number, text),) = talk.shown.items()
    assert number == "m1"
    assert "想太久" in text
    assert left(world) == 0
    await world.close()


async def test_a_draft_of_the_first_answer_is_followed_by_the_second(tmp_path: Path) -> None:
    talk = Drafting(size=10_000)
    world, first, second = await lively(tmp_path, talk)
    first.fault = ModelError("busy", "HTTP 503")
    await world.app.ingest.accept(world.message("讲个故事"))
    for model, text in ((first, "第一个"), (second, "第二个")):
        await until(lambda model=model: model.writing)  # type: ignore[misc]
        model.write(text)
        await pass_interval(world, 700)
        await until(lambda text=text: text in talk.drafts)  # type: ignore[misc]
        model.finish()
    await through(world)
    assert list(talk.shown.values()) == ["第二个"]
    await world.close()
