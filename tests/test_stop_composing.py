"""停止 while a picture is looked at for an answer that is not asked for yet: whose answer it is decides, as later."""

import asyncio

from tests.conftest import OpenMedia
from tests.fakes.media import MediaWorld, image
from tests.test_stop import GROUP, STOPPED, ends

OTHERS = "我在答别人的话，说完就停"


async def looking(open_world: OpenMedia, text: str, who: str = "阿明") -> MediaWorld:
    """Somebody asks about a picture, and nuan looks at it."""
    world = await open_world()
    world.eyes.eyes_gate = asyncio.Event()
    await world.app.ingest.accept(world.message(text, who, GROUP, attachments=(image(),)))
    await world.held()
    return world


async def seen(world: MediaWorld) -> None:
    """nuan sees what it is, and all that follows settles."""
    assert world.eyes.eyes_gate is not None
    world.eyes.eyes_gate.set()
    await world.app.settled()


async def test_somebody_elses_stop_ends_neither_the_look_nor_the_answer(open_world: OpenMedia) -> None:
    world = await looking(open_world, "小暖，这是什么")
    await world.app.ingest.accept(world.message("小暖，停", "阿红", GROUP))
    await world.held()
    await seen(world)
    assert world.replies == [OTHERS, "好的"]
    assert len(world.eyes.looked) == 1


async def test_what_was_kept_is_confirmed_once_whoever_says_stop(open_world: OpenMedia) -> None:
    world = await looking(open_world, "小暖，记住我爱吃面。这是什么")
    await world.app.ingest.accept(world.message("小暖，停", "阿红", GROUP))
    await world.held()
    await seen(world)
    assert world.replies == [OTHERS, "记住啦 #1：我爱吃面\n好的"]


async def test_ones_own_stop_ends_it(open_world: OpenMedia) -> None:
    world = await looking(open_world, "小暖，这是什么")
    await world.say("停", "阿明", GROUP)
    assert (world.replies, world.model.requests, world.model.held) == ([STOPPED], [], 0)
    assert ends(world) == [("小暖，这是什么", "stopped"), ("停", "stop")]


async def test_ones_own_stop_leaves_only_the_receipt_of_what_was_kept(open_world: OpenMedia) -> None:
    world = await looking(open_world, "小暖，记住我爱吃面。这是什么")
    await world.say("停", "阿明", GROUP)
    assert (world.replies[0], world.model.requests) == (STOPPED, [])
    assert world.replies[1].startswith("记住啦 #1")
    assert ends(world)[0][1] == "command"


async def test_an_owners_stop_ends_it_too(open_world: OpenMedia) -> None:
    world = await looking(open_world, "小暖，这是什么")
    await world.say("小暖，停", "小王", GROUP)
    assert (world.replies, world.model.requests, world.model.held) == ([STOPPED], [], 0)
    assert ends(world) == [("小暖，这是什么", "stopped"), ("小暖，停", "stop")]


async def test_a_crash_after_the_stop_answers_nothing_of_it(open_world: OpenMedia) -> None:
    world = await looking(open_world, "小暖，记住我爱吃面。这是什么")
    await world.app.ingest.accept(world.message("停", "阿明", GROUP))
    await world.crash()
    assert world.model.requests == []
    assert sum(reply.startswith("记住啦 #1") for reply in world.replies) == 1


async def test_of_what_waits_behind_a_turn_only_what_memory_was_told_is_done(open_world: OpenMedia) -> None:
    world = await open_world()
    world.shut()
    await world.app.ingest.accept(world.message("讲个故事", "阿明"))
    await world.held()
    await world.app.ingest.accept(world.message("记住我对花生过敏。你说花生酱呢？", "阿明"))
    await world.app.ingest.accept(world.message("停", "阿明"))
    await world.let_answer()
    assert [reply.partition("：")[0] for reply in world.replies] == [STOPPED, "记住啦 #1"]
    assert len(world.model.requests) == 1
