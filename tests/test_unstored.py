"""An answer that the database does not take, though it is well: paid for once, stored as soon as it can be, given up in the
end, and nobody else waits for it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from bot.core.models import Completion, ModelRequest, ToolCall
from bot.store.store import DATABASE
from tests import servers
from tests.world import World

ODD = "怪话"
ALL = "INSERT ON outbox", "true"
ONE = "INSERT ON outbox", f"new.text = '{ODD}'"
HOUR, DAY = 3_600, 86_400

MADE = {
    "sqlite": ("CREATE TRIGGER refuses BEFORE {} WHEN {} BEGIN SELECT RAISE(ABORT, 'odd'); END",),
    "postgres": (
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'odd'; END $$",
        "CREATE TRIGGER refuses BEFORE {} FOR EACH ROW WHEN ({}) EXECUTE FUNCTION refuse()",
    ),
}
DROPPED = {"sqlite": "DROP TRIGGER refuses", "postgres": "DROP FUNCTION refuse CASCADE"}


@contextmanager
def refusing(world: World, engine: str, what: tuple[str, str]) -> Iterator[None]:
    """As long as it lasts the database refuses that."""
    url, file = servers.URLS.get(world.folder), world.folder / DATABASE

    def alter(*statements: str) -> None:
        other = psycopg.connect(url, autocommit=True) if url else sqlite3.connect(file, isolation_level=None)
        with closing(other) as database:
            for statement in statements:
                database.execute(statement)

    alter(*(made.format(*what) for made in MADE[engine]))
    try:
        yield
    finally:
        alter(DROPPED[engine])


async def test_an_answer_that_is_always_refused_is_paid_for_once_and_given_up(world: World, engine: str) -> None:
    await world.say("你好")
    with refusing(world, engine, ALL):
        await world.say("在吗")
        await world.wait(600)
        assert world.peek.events("state", "outcome", "tries", text="在吗") == [("dead", "failed", 8)]
    assert len(world.model.requests) == 2
    assert len(world.log.named("answer_failed")) == 8
    assert world.peek.turns.values("state") == ["said", "failed"]
    assert sorted(map(str, world.peek.calls.values("state"))) == ["lost", "settled"]
    await world.say(".ai calls")
    assert "有 1 条消息试了多次还是处理不了" in world.replies[-1]
    await world.say("好了吗")
    assert world.replies[-1] == "好的"
    assert world.last_user.count("在吗") == 1, "nothing that was said is lost"


async def test_an_answer_that_was_refused_is_said_when_it_can_be_stored(world: World, engine: str) -> None:
    world.model.script = lambda request: f"第{len(world.model.requests)}答"
    with refusing(world, engine, ALL):
        await world.say("在吗")
        await world.wait(10)
        assert (world.replies, world.peek.events.values("tries", text="在吗")) == ([], [4])
    await world.wait(5)
    assert world.replies == ["第1答"]
    assert world.peek.calls("state") == [("settled",)]
    assert len(world.prompts) == 1


async def test_nobody_waits_for_an_answer_that_is_refused(world: World, engine: str) -> None:

    def script(request: ModelRequest) -> str:
        return ODD if "甲" in request.prompt.messages[-1].content else "好的"

    world.model.script = script
    with refusing(world, engine, ONE):
        await world.say("甲")
        await world.say("乙")
        assert world.replies == ["好的"]
        await world.wait(600)
        assert world.peek.events("state", "tries", text="甲") == [("dead", 8)]
        assert world.replies[1:] == ["我这边出了点问题，已经记进日志；你说的话没有丢"]
    assert len(world.prompts) == 3


async def test_what_a_tool_did_is_not_done_again_for_it(world: World, engine: str) -> None:
    call = ToolCall("c1", "memory_recall", '{"query": "狗"}')

    def script(request: ModelRequest) -> Completion | str:
        return "好的" if request.prompt.messages[-1].role == "tool" else Completion("", (call,), None)

    world.model.script = script
    with refusing(world, engine, ALL):
        await world.say("查一下")
        await world.wait(10)
    await world.wait(5)
    assert (world.replies, len(world.prompts)) == (["好的"], 2)


async def test_who_takes_it_back_hears_nothing_of_it(world: World, engine: str) -> None:
    with refusing(world, engine, ONE):
        world.model.script = lambda request: ODD
        await world.say("在吗")
        await world.say("停")
    await world.wait(600)
    assert world.replies == ["好，我不说了"]
    assert len(world.prompts) == 1


async def test_a_digest_that_is_always_refused_is_made_a_few_times_and_then_by_the_rule(
    world: World, engine: str
) -> None:
    answer = '{"summary": "小王要面试", "statements": []}'
    world.model.digests = True
    world.model.script = lambda request: "好的" if request.prompt.tools else answer
    await world.say("明天要面试，有点紧张，昨晚也没睡好，一直在想自我介绍该怎么说")
    with refusing(world, engine, ("INSERT ON digest", "true")):
        await world.wait(2 * DAY)
        assert world.peek.calls.count(cause="digest") == 12
    await world.wait(HOUR)
    assert world.rows("SELECT state FROM session") == [("closed",)]
    assert world.peek.calls.count(state="reserved") == 0


async def test_words_for_a_day_that_are_refused_are_asked_for_once(world: World, engine: str) -> None:
    for words in ("我下周去成都看大熊猫", "我周末学做红烧肉"):
        await world.say(words)
        await world.wait(3 * HOUR)
    world.model.digests = True
    said = "小王下周去成都看大熊猫，周末学做红烧肉。"
    world.model.script = lambda request: "好的" if request.prompt.tools else said
    with refusing(world, engine, ("UPDATE OF summary ON digest", f"new.summary = '{said}'")):
        await world.wait(DAY)
    assert [line["chat"] for line in world.log.named("rollup_failed")] == [1]
    assert world.peek.calls("state", cause="digest") == [("lost",)]
