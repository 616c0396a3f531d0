"""After long small talk the tail of one request says so: something may be worth keeping or asking about."""

import pytest

from tests.conftest import NewWorld


@pytest.mark.parametrize(
    ("said", "full", "told"),
    [
        ("好的", "我明天要面试，帮我想想", "连着闲聊了 3 轮"),
        ("好喔，謝謝你啦", "我明天要面試，幫我想想", "連著閒聊了 3 輪"),
        ("ok", "help me with my interview tomorrow", "3 replies of small talk"),
    ],
)
async def test_after_so_many_rounds_of_small_talk_the_tail_says_so_once(
    new_world: NewWorld, said: str, full: str, told: str
) -> None:
    world = await new_world(prompt={"light": "per_message", "light_hint_turns": 3})
    hints = []
    for _ in range(6):
        await world.say(said)
        hints.append(told in world.last_user.rpartition("</ctx>")[2])
        await world.wait(3_600)
    assert hints == [False, False, False, True, False, False]
    assert told not in "".join(prompt[0].content for prompt in world.prompts), "never in the prefix"
    await world.say(full)
    for _ in range(4):
        await world.say(said)
        hints.append(told in world.last_user)
        await world.wait(60)
    assert hints[6:] == [False, False, False, True]


async def test_what_others_said_is_no_small_talk_of_mine(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "per_message", "light_hint_turns": 2})
    for who in ("阿明", "阿红", "阿明"):
        await world.say("小暖，早", who, "饭团")
        await world.wait(120)
    assert "连着闲聊" not in world.sent
    await world.say("小暖，早", "阿明", "饭团")
    assert "连着闲聊了 2 轮" in world.last_user


async def test_the_hint_of_small_talk_comes_after_fifteen_rounds_and_can_be_left_out(new_world: NewWorld) -> None:
    for rules, expected in (({}, True), ({"light_hint_turns": 0}, False)):
        world = await new_world(prompt={"light": "per_message", **rules})
        for _ in range(15):
            await world.say("好的")
        assert "连着闲聊" not in world.sent
        await world.say("好的")
        assert ("连着闲聊了 15 轮" in world.last_user) is expected
