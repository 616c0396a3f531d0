"""One conversation walking through the whole bot."""

import pytest

from tests.world import World

pytestmark = pytest.mark.debugged


async def test_a_dm_is_answered(world: World) -> None:
    await world.say("你好")
    assert world.replies == ["好的"]


async def test_what_was_asked_to_be_kept_is_there_after_new(world: World) -> None:
    await world.say("记住我对花生过敏")
    assert [reply.partition("：")[0] for reply in world.replies] == ["记住啦 #1"]
    await world.say("/new")
    await world.say("早上好")
    assert "我对花生过敏" in world.last_user


async def test_prompts_grow_by_appending_only(world: World) -> None:
    for text in ("你好", "最近想学做饭", "番茄炒蛋先炒什么？"):
        await world.say(text)
        await world.wait(20)
    for earlier, later in zip(world.prompts, world.prompts[1:], strict=False):
        assert later[: len(earlier)] == earlier
