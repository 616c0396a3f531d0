"""`speak.mode` and `.ai mode`: what is answered in a group in each mode, per chat, and who may change it."""

import pytest

from tests.conftest import NewWorld
from tests.joining import GROUP, asked, talk
from tests.world import World


async def test_window_is_the_default_and_answers_follow_ups(world: World) -> None:
    await talk(world, ("阿明", "小暖，在吗"), ("阿明", "我想说"))
    await world.wait(5)
    assert len(world.replies) == 2


@pytest.mark.parametrize("line", ["我想说", "记住我喜欢乌龙茶", "停"])
async def test_called_answers_calls_and_nothing_else(new_world: NewWorld, line: str) -> None:
    world = await new_world(speak={"mode": "called"})
    await talk(world, ("阿明", "小暖，在吗"), ("阿明", line))
    await world.wait(120)
    assert world.replies == ["好的"]
    assert world.peek.memories.count() == 0
    await world.say("你说呢", "阿明", GROUP, replies_to_bot=True)
    await world.say("你说呢？", "阿红", GROUP, mentions_bot=True)
    await world.say("在吗", "阿明")
    assert world.replies == ["好的"] * 4


async def test_a_chat_has_a_mode_of_its_own_that_lasts(world: World) -> None:
    await world.say(".ai mode", "小王", GROUP)
    assert "（window），按配置" in world.replies[-1]
    await world.say(".ai mode CALLED", "小王", GROUP)
    assert "（called）" in world.replies[-1]
    await world.restart()
    await world.say(".ai mode show", "小王", GROUP)
    assert "（called），这里定的" in world.replies[-1]
    for group, answers in ((GROUP, 1), ("别处", 2)):
        said = len(world.replies)
        await world.say("小暖，在吗", "阿明", group)
        await world.say("我想说", "阿明", group)
        await world.wait(10)
        assert len(world.replies) - said == answers
    await world.say(".ai mode reset", "小王", GROUP)
    await world.say(".ai mode", "小王", GROUP)
    assert "（window），按配置" in world.replies[-1]


async def test_a_follow_up_that_waits_is_not_answered_any_more(world: World) -> None:
    await talk(world, ("阿明", "小暖，在吗"), ("阿明", "我想说"), seconds=1)
    await world.say(".ai mode called", "小王", GROUP)
    said = len(world.replies)
    await world.wait(60)
    assert len(world.replies) == said


async def test_only_owners_change_it_and_nonsense_changes_nothing(world: World) -> None:
    await world.say(".ai mode called", "阿明", GROUP)
    await world.say(".ai mode loud", "小王", GROUP)
    assert ".ai mode window | called | join" in world.replies[-1]
    await world.say(".ai mode called")
    assert "私聊" in world.replies[-1]
    assert set(world.peek.chats("mode")) == {("",)}


async def test_joining_is_only_for_groups_and_only_where_it_is_on(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("有人知道哪里能露营吗？", "阿明", GROUP)
    await world.wait(300)
    assert world.peek.joinings.count() == 0
    await world.say(".ai mode join", "小王", GROUP)
    await world.say("有人知道哪里能看星星吗？", "阿明", GROUP)
    await world.wait(300)
    assert asked(world) == 1
