"""A message whose handling fails: tried again later and later, given up in the end, and nobody else waits for it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from bot.cli.doctor import store_findings
from bot.core.models import Completion, ModelRequest, ToolCall
from bot.store.store import DATABASE
from tests.agenting import place_of
from tests.conftest import NewWorld
from tests.world import World

BAD = "坏消息"
SORRY = "我这边出了点问题，已经记进日志；你说的话没有丢"
INSTANTS = [0, 1, 3, 7, 15, 31, 63, 127]
"""Seconds after the message at which it is tried: after 1, 2, 4 … 64 s."""


def breaks(world: World) -> list[float]:
    """The model breaks nuan whenever it is asked about the bad message; when it did, s after now."""
    begun, tried = world.clock.now(), list[float]()

    def script(request: ModelRequest) -> Completion | str:
        if BAD in request.prompt.messages[-1].content:
            tried.append((world.clock.now() - begun) / 1000)
            raise RuntimeError("boom")
        return "好的"

    world.model.script = script
    return tried


def states(world: World, text: str = BAD) -> list[tuple[object, ...]]:
    return world.peek.events("state", "outcome", "tries", "error", text=text)


@contextmanager
def trigger(world: World, sql: str) -> Iterator[None]:
    """As long as it lasts the database refuses something."""
    with closing(sqlite3.connect(world.folder / DATABASE)) as database:
        database.execute(f"CREATE TRIGGER refuses {sql}")
        database.commit()
        yield
        database.execute("DROP TRIGGER refuses")
        database.commit()


async def test_a_message_that_always_fails_is_tried_eight_times_and_twenty_others_are_answered(world: World) -> None:
    tried = breaks(world)
    await world.say(BAD)
    for number in range(20):
        await world.say(f"第{number}句")
    assert world.replies == ["好的"] * 20
    await world.wait(200)
    assert tried == INSTANTS
    assert states(world) == [("dead", "failed", 8, "RuntimeError")]
    assert world.replies == ["好的"] * 20 + [SORRY]
    assert world.peek.events.count(state="done", kind="message", outcome="") == 0
    assert world.peek.calls.count(state="reserved") == 0
    await world.say(".ai calls")
    assert "有 1 条消息试了多次还是处理不了" in world.replies[-1]
    found = await store_findings(place_of(world).data, world.clock.now())
    assert any("1 could not be handled in many tries" in one.text and "RuntimeError 1" in one.text for one in found)


async def test_what_fails_once_is_answered_at_the_second_try_also_after_a_restart(world: World) -> None:
    tried = breaks(world)
    await world.say(BAD)
    assert (world.replies, states(world)) == ([], [("queued", "", 1, "RuntimeError")])
    await world.say("还在吗")
    assert world.replies == ["好的"], "nobody waits for it"
    await world.restart()
    world.model.script = lambda request: "好的，第二次"
    await world.wait(1)
    assert world.replies == ["好的", "好的，第二次"]
    assert states(world) == [("done", "answered", 1, "RuntimeError")]
    assert tried == [0]


async def test_of_several_lines_only_the_one_that_fails_is_given_up(new_world: NewWorld) -> None:
    world = await new_world(speak={"debounce_seconds": 1})
    breaks(world)
    for text in ("你好", BAD, "在吗"):
        await world.app.ingest.accept(world.message(text))
        await world.wait(0.3)
    await world.wait(200)
    assert world.replies == ["好的", "好的", SORRY]
    assert [states(world, text)[0][0] for text in ("你好", BAD, "在吗")] == ["done", "dead", "done"]


async def test_what_a_tool_did_is_not_done_again(world: World) -> None:
    call = ToolCall("c1", "memory_recall", '{"query": "狗"}')

    def script(request: ModelRequest) -> Completion:
        if request.prompt.messages[-1].role == "tool":
            raise RuntimeError("boom")
        return Completion("", (call,), None)

    world.model.script = script
    await world.say("查一下")
    await world.wait(200)
    assert world.replies == [SORRY]
    assert len(world.model.requests) == 2


async def test_a_command_that_stops_it_ends_the_tries(world: World) -> None:
    tried = breaks(world)
    await world.say(BAD)
    await world.say("停止")
    await world.wait(200)
    assert (tried, states(world)[0][:2]) == ([0], ("done", "stopped"))


@pytest.mark.parametrize(
    "refused",
    [
        "BEFORE INSERT ON turn_event WHEN EXISTS (SELECT 1 FROM event WHERE id = new.event_id AND text = '坏消息') "
        "BEGIN SELECT json('{'); END",
        "BEFORE INSERT ON turn_event WHEN EXISTS (SELECT 1 FROM event WHERE id = new.event_id AND text = '坏消息') "
        "BEGIN SELECT RAISE(ABORT, 'odd'); END",
    ],
)
async def test_a_message_that_the_database_cannot_take_does_not_block_its_chat(world: World, refused: str) -> None:
    await world.say("你好")
    with trigger(world, refused):
        await world.say(BAD)
        await world.say("还在吗")
        assert world.replies == ["好的", "好的"]
        await world.wait(200)
        assert states(world)[0][:3] == ("dead", "failed", 8)
        assert world.replies == ["好的", "好的", SORRY]
    await world.say("好了吗")
    assert world.replies[-1] == "好的"


async def test_an_edit_that_cannot_be_followed_does_not_block_its_chat(world: World) -> None:
    await world.say("记住我怕狗", external_id="1")
    refused = "BEFORE UPDATE OF text ON memory BEGIN SELECT RAISE(ABORT, 'odd'); END"
    with trigger(world, refused):
        edit = world.message("记住我怕猫", external_id="", target="1")
        await world.app.ingest.accept(replace(edit, kind="event", label="edit"))
        await world.app.settled()
        await world.say("在吗")
        assert world.replies[-1] == "好的"
        await world.wait(200)
        assert world.peek.events("state", "tries", label="edit") == [("dead", 8)]
        assert SORRY not in world.replies, "nobody asked for anything"
