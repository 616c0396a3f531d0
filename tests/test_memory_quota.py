"""How much one person may ask nuan to keep: what is too much is refused kindly, and what was kept stays."""

from tests.conftest import NewWorld

OFTEN = "一下子好多呀，前面的都记好了，这一条过一分钟再告诉我好吗？"
FULL = "已经替你记了 5 条，都好好留着呢。先让我忘掉一条，再记这条好吗？"


async def test_a_person_keeps_so_many_and_no_more(new_world: NewWorld) -> None:
    world = await new_world(memory={"keep_minute": 3, "keep_most": 5})

    async def keep(number: int, who: str = "阿明") -> str:
        await world.say(f"记住我的第{number}个暗号是{number * 7}", who)
        return world.replies[-1].partition("：")[0]

    assert [await keep(number) for number in range(4)] == ["记住啦 #1", "记住啦 #2", "记住啦 #3", OFTEN]
    assert await keep(0) == "这个我已经记着呢 #1", "what is known takes no room"
    assert await keep(50, "阿红") == "记住啦 #4", "each person for themselves"
    assert await keep(51, "小王") == "记住啦 #5"
    await world.wait(61)
    assert [await keep(number) for number in (3, 4, 5)] == ["记住啦 #6", "记住啦 #7", FULL]
    assert world.peek.memories.count(owner_id=1, disabled_at=None) == 5
    await world.say("叫我明明", "阿明")
    assert "明明" in world.replies[-1], "a name takes the place of the last"
    await world.say("忘记#1", "阿明")
    await world.say("忘记#2", "阿明")
    await world.wait(61)
    assert await keep(6) == "记住啦 #9", "there is room again"
    for number in range(60, 66):
        assert (await keep(number, "小王")).startswith("记住啦"), "the owner has no limit"


async def test_the_limits_can_be_lifted(new_world: NewWorld) -> None:
    world = await new_world(memory={"keep_minute": None, "keep_most": None})
    for number in range(40):
        await world.say(f"记住我的第{number}个暗号是{number * 7}", "阿明")
    assert world.replies[-1].startswith("记住啦 #40")
