"""Limits when the clock is set back, at the change of summer time, and for an answer that is begun anew."""

from collections.abc import Iterator

import pytest

from bot.core.errors import ModelError
from tests.conftest import NewWorld, OpenMedia
from tests.fakes.clock import SimClock
from tests.fakes.media import image
from tests.fakes.model import Answer
from tests.test_limits import FAST
from tests.world import World

DAY_S = 86_400


async def set_back(world: World, seconds: int) -> None:
    """nuan is stopped, and its clock is wrong at the next start."""
    await world.close()
    world.clock = SimClock(world.clock.now() - seconds * 1_000)
    await world.open()


@pytest.mark.parametrize("limit", ["person_minute", "global_minute", "cooldown_seconds", "person_day", "global_day"])
async def test_a_clock_that_is_set_back_locks_nobody_out(new_world: NewWorld, limit: str) -> None:
    world = await new_world(limits={limit: 60 if limit == "cooldown_seconds" else 1})
    await world.say("你好", "阿明")
    await set_back(world, 3 * DAY_S)
    await world.say("在吗", "阿明")
    assert world.replies == ["好的", "好的"]
    await world.say("还在吗", "阿明")
    assert len(world.model.requests) == 2, "the limit holds from here on"
    assert len(world.replies) == 3, "and who meets it is told so"


async def test_a_minute_that_is_lived_twice_has_one_minutes_answers(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 1})
    await world.say("你好", "阿明")
    await set_back(world, 30)
    await world.say("在吗", "阿明")
    assert [reply.startswith(FAST) for reply in world.replies] == [False, True]


async def test_a_day_of_twenty_five_hours_is_one_day(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_day": 1}, bot={"timezone": "America/New_York"})
    world.clock = SimClock(1_793_505_600_000)  # Sunday 2026-11-01 00:00 in New York: the clocks go back that night
    await world.restart()
    await world.say("hello", "Sam")
    await world.wait(25 * 3_600 - 1)
    await world.say("are you there?", "Sam")
    assert len(world.model.requests) == 1
    await world.wait(1)
    await world.say("and now?", "Sam")
    assert len(world.model.requests) == 2


async def test_an_answer_that_is_begun_anew_is_no_second_one(open_world: OpenMedia) -> None:
    world = await open_world({"limits": {"person_minute": 1}, "prompt": {"light": "off"}})
    world.shut()
    await world.app.ingest.accept(world.message("小暖，你好", "阿蓝", "闲聊"))
    await world.held()
    await world.app.ingest.accept(world.message("小暖，看图", "阿明", "闲聊", attachments=(image(),)))
    await world.app.ingest.accept(world.message("小暖，我是阿红", "阿红", "闲聊"))
    answers: Iterator[Answer] = iter(["好的", ModelError("overflow", "too long"), "你们好"])
    world.model.script = lambda request: next(answers)
    await world.let_answer()
    assert world.replies == ["好的", "你们好"]
    assert all(text in world.last_user for text in ("看图", "我是阿红"))
