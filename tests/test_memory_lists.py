"""Lists that begin in the line of the wish, and what is forgotten for good after it was forgotten."""

import pytest

from tests.world import World


def kept(world: World) -> list[str]:
    return [str(row[0]) for row in world.peek.memories("text", disabled_at=None)]


@pytest.mark.parametrize("how", ["彻底忘记 #1", "彻底忘记我的密码是蓝鲸七号"])
async def test_what_was_forgotten_can_be_forgotten_for_good(world: World, how: str) -> None:
    await world.say("记住我的密码是蓝鲸七号")
    await world.say("忘记 #1")
    await world.say(how)
    assert world.replies[-1] == "好，彻底忘掉了 #1，找不回来了"
    assert world.peek.memories.count() == 0
    await world.say("撤销 #1")
    assert world.peek.memories.count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "记住：1. 我有1只猫\n2. 我喜欢茶\n3. 我住上海",
        "記住：- 我有1隻貓\n- 我喜歡茶\n- 我住上海",
        "记住 1、我有1只猫\n2、我喜欢茶\n3、我住上海",
    ],
)
async def test_a_list_that_begins_in_the_line_of_the_wish_is_kept_whole(world: World, text: str) -> None:
    await world.say(text)
    assert len(kept(world)) == 3
    assert "上海" in kept(world)[2]
