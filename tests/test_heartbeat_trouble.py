"""First messages and what can go wrong: budgets, faults, people who write meanwhile, crashes. Nobody is ever told."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from bot.commands.registry import is_command
from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.pipeline.concurrency import Activity
from bot.pipeline.ingest import Ingest
from bot.pipeline.initiative import HeartbeatService
from bot.store.store import DATABASE
from tests.beating import DAY_S, FIRST, HOUR_S, ON, beat_held, firsts, is_first, writes
from tests.configured import configured
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.fakes.model import calls
from tests.sizes import PATIENCE_S
from tests.world import World


async def test_her_own_tokens_used_up_nothing_is_asked_and_nobody_told(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "day_tokens": 100})
    await world.say("明天要面试")
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    assert world.replies == ["好的"]
    assert [line["limit"] for line in world.log.named("over_budget")] == ["heartbeat_tokens"] * 3
    assert world.peek.events.count(state="queued") == 0
    assert world.peek.outbox.count() == 1
    await world.say("在吗")
    assert world.replies[-1] == "好的", "answers have their own limits"


async def test_the_tokens_of_a_day_are_shared_by_all_chats(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "day_tokens": 3_500})
    writes(world)
    for who in ("阿明", "阿红", "阿强"):
        await world.say("明天要面试", who)
    await world.wait(DAY_S + HOUR_S)
    used = world.rows("SELECT count(*), sum(prompt_tokens + output_tokens) FROM call WHERE cause = 'heartbeat'")
    assert used[0][0] in (1, 2)
    assert int(str(used[0][1])) <= 3_500
    assert world.log.named("over_budget")


async def test_the_general_budget_over_there_is_silence(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    await world.say("明天要面试")
    (most,) = world.peek.calls("reserved_tokens")[0]
    world = await new_world(heartbeat=ON, budget={"total_tokens": most})
    await world.say("明天要面试")
    assert world.replies == ["好的"]
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    assert world.replies == ["好的"]
    assert {line["limit"] for line in world.log.named("over_budget")} == {"total_tokens"}


@pytest.mark.parametrize("fault", [ModelError("unreachable", "down"), ValueError("a defect")])
async def test_a_model_that_fails_is_logged_and_nobody_is_told(new_world: NewWorld, fault: Exception) -> None:
    world = await new_world(heartbeat=ON)
    writes(world, fault)
    await world.say("明天要面试")
    await world.wait(DAY_S)
    assert len(firsts(world)) == 1
    assert world.replies == ["好的"]
    assert world.log.named("turn")[-1]["error.type"] in ("unreachable", "ValueError")
    assert world.peek.calls.count(state="reserved") == 0
    writes(world)
    await world.wait(DAY_S)
    assert world.replies[-1] == FIRST


async def test_what_cannot_even_be_composed_stops_nothing(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("明天要面试")

    async def broken(*_: object) -> None:
        raise ValueError("a defect")

    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "heartbeat": ON})
    current, platforms = configured(settings), frozenset(("console",))
    beats = HeartbeatService(world.store, world.clock, current, broken, lambda: platforms, world.log)
    await beats.rearm()
    world.away(DAY_S)
    beats = HeartbeatService(world.store, world.clock, current, broken, lambda: platforms, world.log)
    chat_id = await beats.fire()
    assert chat_id is not None
    await beats.work(chat_id)
    assert world.log.named("heartbeat_failed")
    assert world.peek.events.count(state="queued") == 0
    await world.say("在吗")
    assert world.replies == ["好的", "好的"]


async def test_tools_on_the_way_are_counted_as_hers(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    world.model.script = lambda request: (
        FIRST
        if request.prompt.messages[-1].role == "tool"
        else calls(("memory_recall", '{"query": "面试"}'))
        if is_first(request)
        else "好的"
    )
    await world.say("明天要面试")
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST]
    assert world.rows("SELECT cause, count(*) FROM call GROUP BY cause") == [("heartbeat", 2), ("reply", 1)]


async def test_who_writes_meanwhile_is_answered_and_nothing_is_said_first(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    await world.app.ingest.accept(world.message("在吗"))
    async with asyncio.timeout(PATIENCE_S):
        while len(world.model.requests) < 3:
            await let_others_run()
    assert world.model.held == 1, "the message is being answered, the other call has ended"
    await world.let_answer()
    assert world.replies == ["好的", "好的"]
    assert "heartbeat" not in world.last_user
    assert FIRST not in world.sent
    assert world.peek.calls("state", cause="heartbeat") == [("lost",)]
    await world.wait(DAY_S)
    assert world.replies[-1] == FIRST


async def test_who_has_written_before_it_begins_is_answered_and_the_model_not_asked(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.wait(DAY_S - 1)
    world.clock._now += 1_000  # the alarm has rung, the chat's work queue has not begun
    assert await world.app._services.heartbeat.fire() == 1
    await world.say("在吗")
    assert firsts(world) == []
    assert world.replies == ["好的", "好的"]
    assert world.peek.events("state", "outcome", label="heartbeat") == [("done", "overtaken")]


async def test_who_writes_as_it_is_being_said_is_answered_alone(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    # It is stored, and before anybody is woken for it the completion is there.
    unheard = Ingest(
        world.store,
        world.clock,
        world.parts.current,
        world.app._services.debounce,
        is_command,
        lambda *_: None,
        Activity(),
        world.parts.timings,
    )
    await unheard.accept(world.message("在吗"))
    await world.let_answer()
    world.app.look()
    await world.app.settled()
    assert world.replies == ["好的", "好的"]
    assert world.peek.turns("state", "error", why="heartbeat") == [("void", "overtaken")]
    assert world.peek.calls("state", cause="heartbeat") == [("settled",)]


async def test_a_crash_on_the_way_says_nothing_and_costs_one_call(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    await world.crash()
    assert world.replies == ["好的"]
    assert len(firsts(world)) == 1
    assert world.peek.turns("state", "error", why="heartbeat") == [("void", "crash")]
    assert world.peek.events("state", "outcome", label="heartbeat") == [("done", "crash")]
    assert world.peek.calls("state", cause="heartbeat") == [("lost",)]
    await world.wait(DAY_S - 1)
    assert len(firsts(world)) == 1
    await world.wait(1)
    assert world.replies == ["好的", FIRST]


async def test_what_the_disk_refuses_is_not_said_later(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    database = world.folder / DATABASE
    with closing(sqlite3.connect(database)) as other:
        # As far as the program can see, the file takes no message that is to be sent.
        other.execute("CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN INSERT INTO no_room VALUES (1); END")
        other.commit()
    await world.wait(DAY_S + 60)
    assert world.log.named("store_failed")
    assert world.peek.turns("state", "error", why="heartbeat") == [("void", "overtaken")]
    assert len(firsts(world)) == 1
    assert world.replies == ["好的"]
    with closing(sqlite3.connect(database)) as other:
        other.execute("DROP TRIGGER full")
        other.commit()
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST]
    assert world.peek.events.count(state="queued") == 0


async def test_a_restart_says_it_no_second_time(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 1})
    writes(world)
    await world.say("明天要面试")
    await world.wait(HOUR_S)
    for _ in range(3):
        await world.restart()
        await world.wait(HOUR_S)
        await world.crash()
    assert world.replies == ["好的", FIRST]
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST, FIRST]


async def test_switched_off_at_a_restart_nothing_is_left_of_it(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    world.settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "prompt": {"light": "off"}})
    await world.crash()
    await world.wait(7 * DAY_S)
    assert world.replies == ["好的"]
    assert world.peek.heartbeats("due_at") == [(None,)]
    assert world.peek.events.count(state="queued") == 0


async def one_slot(new_world: NewWorld) -> World:
    """A first message is due and waits for the only slot, which the call for somebody in a group holds."""
    world = await new_world(heartbeat=ON, model={"slots": 1})
    writes(world)
    await world.say("明天要面试")
    await world.say("小暖，在吗", "阿红", "家")
    await world.say("小暖，在吗", "阿明", "球队")
    await world.wait(DAY_S - 1)
    world.shut()
    await world.app.ingest.accept(world.message("小暖，吃了吗", "阿红", "家"))
    await world.held()
    world.clock._now += 1_000
    world.app.look()
    await waiting(world, 1)
    return world


async def waiting(world: World, calls: int) -> None:
    """Return when so many calls wait for a slot."""
    slots = world.app._services.slots
    while sum(map(len, (*slots._people.values(), *slots._behind.values()))) != calls:
        await let_others_run()


async def test_a_first_message_waits_for_a_slot_behind_people(new_world: NewWorld) -> None:
    world = await one_slot(new_world)
    await world.app.ingest.accept(world.message("小暖，开会吗", "阿明", "球队"))
    await waiting(world, 2)
    await world.let_answer()
    assert ["开会吗" in prompt[-1].content for prompt in world.prompts[-2:]] == [True, False]
    assert len(firsts(world)) == 1


async def test_a_first_message_that_waits_for_a_slot_gives_way_to_whom_it_is_for(new_world: NewWorld) -> None:
    world = await one_slot(new_world)
    await world.app.ingest.accept(world.message("过了！"))
    await world.app.ingest.accept(world.message("小暖，开会吗", "阿明", "球队"))
    await waiting(world, 2)
    await world.let_answer()
    assert ["过了" in prompt[-1].content for prompt in world.prompts[-2:]] == [True, False]
    assert firsts(world) == []
