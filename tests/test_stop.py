"""停止 and 闭嘴 through ingest: what runs ends at once, what waits is dropped, one line says so, nothing is lost."""

import asyncio
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import StoreError
from bot.core.models import Completion
from bot.core.sessions import Occasion
from tests.fakes.model import says
from tests.test_sending import until
from tests.world import World

pytestmark = pytest.mark.debugged

GROUP = "闲聊"
STOPPED = "好，我不说了"
QUIETED = "好，我先安静，叫我名字我就来"


async def asked(world: World, text: str, who: str = "阿明", group: str = GROUP, **facts: object) -> None:
    """Somebody says it, and the model thinks about it."""
    world.shut()
    await world.app.ingest.accept(world.message(text, who, group, **facts))  # type: ignore[arg-type]
    await world.held()


def ends(world: World) -> list[tuple[object, ...]]:
    """How every line of people ended."""
    return world.peek.events("text", "outcome", kind="message")


async def test_the_turn_ends_in_the_same_breath_without_the_models_answer(world: World) -> None:
    await asked(world, "讲个故事", "阿明", "")
    await world.say("停", "阿明")
    assert (world.replies, world.model.held) == ([STOPPED], 0)
    assert world.peek.turns("state", "error") == [("void", "stopped")]
    assert world.peek.calls("state") == [("lost",)]
    assert world.peek.entries.count() == 0
    assert ends(world) == [("讲个故事", "stopped"), ("停", "stop")]
    (line,) = world.log.named("stopped")
    assert (line["why"], line["turns"], line["dropped"]) == ("stop", [1], 0)


async def test_what_was_stopped_joins_the_next_delta_and_is_not_answered_again(world: World) -> None:
    await asked(world, "讲个故事", "阿明", "")
    await world.say("停", "阿明")
    world.model.gate = None
    await world.say("今天星期几", "阿明")
    assert world.replies == [STOPPED, "好的"]
    assert all(text in world.last_user for text in ("讲个故事", ">停<", STOPPED, "今天星期几"))
    assert world.peek.told_events("event_id", turn_id=2) == world.peek.events("id", text="今天星期几")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("別說了", "好，我不說了"),
        ("stop", "好，我不說了"),
        ("please stop", "OK, I'll stop"),
        ("小暖，閉嘴", "好，我先安靜，叫我名字我就來"),
        ("nuan, be quiet", "OK, I'll be quiet; call my name and I'm here"),
    ],
)
async def test_the_receipt_is_in_the_persons_script(world: World, said: str, answer: str) -> None:
    await asked(world, "小暖，講個故事", "阿明")
    await world.say(said, "阿明", GROUP)
    assert world.replies == [answer]


async def test_a_stop_when_nothing_runs_costs_nothing_and_is_confirmed(world: World) -> None:
    await world.say("停", "阿明")
    assert (world.replies, world.model.requests) == ([STOPPED], [])


@pytest.mark.parametrize("text", ["别停", "the bus stop", "不要停", "他叫我闭嘴"])
async def test_talk_and_negations_go_to_the_model(world: World, text: str) -> None:
    await world.say(text, "阿明")
    assert world.replies == ["好的"]


async def test_a_stop_drops_the_persons_pending_follow_up_and_leaves_the_window(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.say("停", "阿明", GROUP)
    await world.wait(20)
    assert world.replies == ["好的", STOPPED]
    assert ends(world)[1] == ("我想说", "stopped")
    await world.say("算了，还是说吧", "阿明", GROUP)
    await world.wait(5)
    assert len(world.replies) == 3


async def test_quiet_drops_the_chats_follow_ups_and_closes_its_windows_until_a_call(world: World) -> None:
    for who in ("阿明", "阿红"):
        await world.say("小暖，在吗", who, GROUP)
        await world.say("我想说", who, GROUP)
    await world.say("闭嘴", "阿明", GROUP)
    assert world.replies[-1] == QUIETED
    assert world.peek.windows.count() == 0
    await world.wait(6)
    await world.say("今天好热", "阿红", GROUP)
    await world.wait(6)
    assert len(world.replies) == 3
    await world.say("小暖，你来一下", "阿红", GROUP)
    assert len(world.replies) == 4


async def test_without_a_call_or_a_window_a_stop_is_talk(world: World) -> None:
    await asked(world, "小暖，讲个故事", "阿明")
    await world.app.ingest.accept(world.message("停", "阿红", GROUP))
    await world.held()
    await world.let_answer()
    assert world.replies == ["好的"]


async def test_to_someone_else_a_stop_is_talk(world: World) -> None:
    await asked(world, "小暖，讲个故事", "阿明")
    await world.app.ingest.accept(world.message("停", "阿明", GROUP, addresses_other=True))
    await world.app.ingest.accept(world.message("停", "阿明", GROUP, forwarded=True))
    await world.held()
    await world.let_answer()
    assert world.replies == ["好的"]


async def test_who_is_not_answered_does_not_stop_it_but_an_owner_does(world: World) -> None:
    await asked(world, "小暖，讲个故事", "阿明")
    await world.app.ingest.accept(world.message("小暖，停", "阿红", GROUP))
    await world.held()
    assert world.peek.turns("state") == [("asked",)]
    await world.say("小暖，停", "小王", GROUP)
    assert world.replies == ["我在答别人的话，说完就停", STOPPED]
    assert world.peek.turns("state") == [("void",)]


async def test_quiet_from_someone_else_keeps_what_runs_from_opening_windows(world: World) -> None:
    await asked(world, "小暖，讲个故事", "阿明")
    await world.app.ingest.accept(world.message("小暖，闭嘴", "阿红", GROUP))
    await world.let_answer()
    assert world.replies == ["我在答别人的话，说完就停", "好的"]
    assert world.peek.windows.count() == 0


async def test_in_other_chats_everything_goes_on(world: World) -> None:
    await asked(world, "小暖，讲个故事", "阿明")
    await asked_too(world)
    await world.app.ingest.accept(world.message("停", "阿明", GROUP))
    await world.held()
    await world.let_answer()
    assert sorted(world.replies) == sorted(["好的", STOPPED])


async def asked_too(world: World) -> None:
    await world.app.ingest.accept(world.message("小暖，讲个故事", "阿明", "别的群"))
    await world.held(2)


async def test_what_waited_behind_the_turn_is_dropped_but_what_memory_was_told_is_done(world: World) -> None:
    await asked(world, "讲个故事", "阿明", "")
    for text in ("要长一点", "记住我对花生过敏", "停"):
        await world.app.ingest.accept(world.message(text, "阿明"))
    await world.settled()
    assert [reply.partition("：")[0] for reply in world.replies] == [STOPPED, "记住啦 #1"]
    assert ends(world)[1] == ("要长一点", "stopped")


async def test_a_receipt_of_the_stopped_turn_is_said_with_the_stop(world: World) -> None:
    await asked(world, "记住我对花生过敏。你觉得花生酱好吃吗？", "阿明", "")
    await world.say("停", "阿明")
    assert world.replies == [f"记住啦 #1：我对花生过敏\n{STOPPED}"]


async def test_a_stop_survives_a_crash_and_is_not_done_twice(world: World) -> None:
    await asked(world, "讲个故事", "阿明", "")
    stop = world.message("停", "阿明", delivery_key="k1")
    await world.app.ingest.accept(stop)
    await world.crash()
    await world.app.ingest.accept(stop)
    await world.settled()
    assert world.replies == [STOPPED]
    assert world.peek.events.count(label="stop") == 1


async def test_a_turn_that_a_crash_left_can_be_stopped_while_it_is_asked_again(world: World) -> None:
    await asked(world, "讲个故事", "阿明", "")
    await world.crash(shut=True)
    await world.held()
    await world.say("停", "阿明")
    assert (world.replies, world.model.held) == ([STOPPED], 0)
    assert world.rows("SELECT state, count(*) FROM call GROUP BY state") == [("lost", 2)]


async def test_a_stop_that_comes_late_stops_the_question_that_came_before_it(world: World) -> None:
    minute = world.clock.now() - 60_000
    await world.app.ingest.accept(world.message("讲个故事", "阿明", at=minute))
    await world.app.ingest.accept(world.message("停", "阿明", at=minute + 9_000))
    await world.wait(20)
    assert (world.replies, world.model.requests) == ([STOPPED], [])


async def test_a_turn_that_waits_for_a_slot_is_stopped_too(tmp_path: Path) -> None:
    world = await World(
        tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "model": {"slots": 1}})
    ).open()
    await asked(world, "讲个故事", "阿明", "")
    await world.app.ingest.accept(world.message("讲个笑话", "阿红"))
    await until(lambda: len(world.peek.turns("id")) == 2)
    await world.app.ingest.accept(world.message("停", "阿红"))
    await until(lambda: world.replies == [STOPPED])
    await world.let_answer()
    assert sorted(world.replies) == sorted([STOPPED, "好的"])
    assert len(world.model.requests) == 1
    await world.close()


async def test_a_completion_that_comes_with_the_stop_is_not_said(world: World) -> None:
    stops: list[asyncio.Task[None]] = []

    def script(_: object) -> Completion:
        stops.append(asyncio.get_running_loop().create_task(world.say("停", "阿明")))
        return says("从前有座山")

    world.model.script = script
    await world.say("讲个故事", "阿明")
    await asyncio.gather(*stops)
    assert world.replies[-1] == STOPPED
    said = world.peek.turns("state") == [("said",)]
    assert (len(world.replies) == 2) == said


async def test_what_was_stopped_while_its_turn_was_composed_is_not_asked(world: World) -> None:
    await asked(world, "讲个故事", "阿明", "")
    await world.say("停", "阿明")
    question, *_ = await world.store.events.recent(1, 0, 0, 10)
    chat, person = await world.store.people.chat(1), await world.store.people.person(question.person_id or 0)
    now = world.clock.now()
    plan = await world.app._services.dispatcher._planner.plan(Occasion(chat, person, (question,), "dm"), now)
    with pytest.raises(StoreError, match="taken back"):
        await world.store.turns.ask(plan.asking, now)
