"""While no model answers: one apology in each chat and ten minutes, and the sign that nuan is typing goes away."""

import pytest

from bot.core.errors import ModelError
from tests.world import World

DOWN = "我连不上模型，稍后再跟我说一次好吗？"


def down(world: World, fault: str = "unreachable") -> None:
    world.model.script = lambda request: ModelError(fault, "")  # type: ignore[arg-type]


async def test_an_outage_is_told_once_in_each_chat_until_it_is_over(world: World) -> None:
    down(world)
    for _ in range(5):
        await world.say("小暖，在吗", group="群")
        await world.wait(100)
    assert world.replies == [DOWN]
    await world.say("小暖，在吗", "阿明", "家")
    await world.say("小暖，有人吗", "阿红", "家")
    assert world.replies == [DOWN] * 2, "each chat once"
    await world.restart()
    await world.say("小暖，在吗", group="群")
    assert world.replies == [DOWN] * 2, "also after a restart"
    await world.wait(101)
    await world.say("小暖，在吗", group="群")
    assert world.replies == [DOWN] * 3, "ten minutes after the first"
    world.model.script = lambda request: "好的"
    await world.say("小暖，好了吗", group="群")
    assert world.replies[-1] == "好的"
    assert world.last_user.count("在吗") == 7, "nothing that was said is lost"
    down(world)
    await world.say("小暖，又怎么了", group="群")
    assert world.replies[-1] == DOWN, "another outage"


async def test_whoever_sits_at_the_machine_is_told_of_each_line(world: World) -> None:
    """Silence looks as if it hung."""
    down(world)
    for _ in range(3):
        await world.say("在吗")
    assert world.replies == [DOWN] * 3


@pytest.mark.parametrize(("fault", "told"), [("timeout", 1), ("busy", 1), ("refused", 1), ("filtered", 3)])
async def test_what_is_wrong_with_one_message_is_told_of_each(world: World, fault: str, told: int) -> None:
    down(world, fault)
    for text in ("小暖，一", "小暖，二", "小暖，三"):
        await world.say(text, group="群")
    assert len(world.replies) == told


async def test_receipts_are_said_in_an_outage(world: World) -> None:
    down(world)
    await world.say("小暖，在吗", group="群")
    await world.say("小暖，记住我怕狗。你呢？", group="群")
    assert world.replies == [DOWN, "记住啦 #1：我怕狗"]
