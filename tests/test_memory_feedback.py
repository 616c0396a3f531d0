"""What people let on about a reply reaches the memories behind it: of the last reply, within half a minute, bounded."""

import pytest

from tests.fakes.model import calls, says
from tests.living import active
from tests.test_feedback import react
from tests.world import World

FIGURES = "helpful, unhelpful, importance"


async def recalled(world: World, who: str = "小王") -> None:
    """A reply for which memory 1 was recalled."""
    world.model.script = lambda request: (
        says("你怕狗") if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "怕狗"}'))
    )
    await world.say("我怕什么？", who)
    world.model.script = lambda request: "嗯"


async def kept(world: World) -> None:
    """Memory 1, told in no opening."""
    await world.say("在吗")
    await world.say("记住我怕狗")


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("谢谢你记得", (1, 0, 3)),
        ("不對不是這樣", (0, 1, 1)),
        ("你记错了，我怕猫", (0, 1, 1)),
        ("牛奶", (0, 0, 1)),
        ("what a pretty city", (0, 0, 1)),
        ("别担心", (0, 0, 1)),
        ("停车场在哪", (0, 0, 1)),
        ("对不起", (0, 0, 1)),
    ],
)
async def test_clear_words_right_after_a_reply_count(world: World, text: str, figures: tuple[int, int, int]) -> None:
    await kept(world)
    await recalled(world)
    await world.wait(5)
    await world.say(text)
    assert active(world, FIGURES) == [figures]


async def test_words_count_for_half_a_minute_and_only_for_the_last_reply(world: World) -> None:
    await kept(world)
    await recalled(world)
    await world.wait(31)
    await world.say("哈哈哈")
    assert active(world, FIGURES) == [(0, 0, 1)]
    await recalled(world)
    await world.say("那明天见吧？")
    await world.say("谢谢")
    assert active(world, FIGURES) == [(0, 0, 1)]


@pytest.mark.parametrize(("text", "figures"), [("谢谢你记得", (1, 0, 3)), ("你记错了，我怕猫", (0, 1, 1))])
@pytest.mark.parametrize(("seconds", "counts"), [(240, True), (601, False)])
async def test_thanks_and_corrections_count_some_minutes_later(
    world: World, text: str, figures: tuple[int, int, int], seconds: int, counts: bool
) -> None:
    await kept(world)
    await recalled(world)
    await world.wait(seconds)
    await world.say(text)
    assert active(world, FIGURES) == [figures if counts else (0, 0, 1)]


async def test_late_thanks_are_for_what_was_said_last(world: World) -> None:
    await kept(world)
    await recalled(world)
    await world.say("3分钟后提醒我喝水")
    await world.wait(240)
    assert "喝水" in world.replies[-1]
    await world.say("谢谢")
    assert active(world, FIGURES) == [(0, 0, 1)]


async def test_anothers_thanks_are_not_about_it(world: World) -> None:
    await kept(world)
    await recalled(world)
    await world.say("谢谢你记得", "阿明")
    assert active(world, FIGURES) == [(0, 0, 1)]


async def test_a_reaction_counts_and_is_taken_back(world: World) -> None:
    await kept(world)
    await recalled(world)
    reply = str(
        world.rows("SELECT external_id FROM sent WHERE turn_id IS NOT NULL ORDER BY turn_id DESC LIMIT 1")[0][0]
    )
    await react(world, "👍", reply)
    assert active(world, FIGURES) == [(1, 0, 2)]
    await react(world, "👍", reply, key="again")
    assert active(world, FIGURES) == [(1, 0, 2)]
    await react(world, "-👍", reply)
    assert active(world, FIGURES) == [(0, 0, 1)]
    await world.say("你记错了")
    assert active(world, FIGURES) == [(0, 1, 1)]
    await world.say(".ai mem stats")
    assert "有用 0，没用 1，平均 -1.00" in world.replies[-1]


async def test_of_an_opening_only_what_the_reply_speaks_of_is_meant(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我的车位是B12")
    world.model.script = lambda request: "你怕狗，散步时绕远一点吧"
    await world.say("下午去散步好不好")
    await world.say("谢谢")
    assert active(world, "helpful") == [(1,), (0,)]


async def test_what_the_opening_told_counts_for_every_reply_that_speaks_of_it(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我的车位是B12")
    await world.say("下午去散步好不好")
    world.model.script = lambda request: "你怕狗，散步时绕远一点吧"
    await world.say("走哪条路呢")
    await world.say("谢谢")
    assert active(world, "helpful") == [(1,), (0,)]


async def test_one_reply_counts_for_three_memories_and_one_memory_for_three_replies_a_day(world: World) -> None:
    for thing in ("狗", "蛇", "高", "黑", "蜘蛛"):
        await world.say(f"记住我怕{thing}")
    world.model.script = lambda request: "你怕狗，怕蛇，怕高，怕黑，怕蜘蛛"
    for _ in range(4):
        await world.say("我都怕些什么来着")
        await world.say("谢谢你记得")
    assert sorted(active(world, "helpful")) == [(0,), (0,), (3,), (3,), (3,)]
    await world.wait(86_400)
    await world.say("我都怕些什么来着")
    await world.say("谢谢你记得")
    assert sorted(active(world, "helpful"))[2:] == [(4,), (4,), (4,)]


async def test_praise_and_blame_stay_within_bounds(world: World) -> None:
    await kept(world)
    await world.store._database.write(lambda db: db.execute("UPDATE memory SET importance = 99").rowcount)
    for _ in range(2):
        await recalled(world)
        await world.say("谢谢你记得")
    assert active(world, FIGURES) == [(2, 0, 100)]
