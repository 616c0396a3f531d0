"""Mistakes that were measured in the references (seed Warm Boot, c to e), each told by what a person would notice."""

from tests.fakes.model import calls, says
from tests.living import found
from tests.world import World


async def test_yesterday_evening_is_yesterday_in_the_morning(world: World) -> None:
    """There a day was 24 hours: what was ten hours ago read 今天."""
    await world.wait(14 * 3_600)
    await found(world, "参加了公司年会", "event")
    await world.wait(10 * 3_600)
    await world.say("你好呀")
    opening = world.turns[-1][1].content
    line = next(line for line in opening.splitlines() if "参加了公司年会" in line)
    assert "昨天" in line


async def test_a_memory_of_two_lines_is_told_whole(world: World) -> None:
    """There only the first line was told."""
    await world.say("记住我家的门牌：\n和平路15号3单元")
    await world.say("你好呀")
    assert "和平路15号3单元" in world.turns[-1][1].content


async def test_the_last_words_of_a_long_memory_find_it(world: World) -> None:
    """There an index kept thirty terms of it."""
    await world.say("在吗")
    await world.say(
        "记住上个月全家一起从上海坐高铁去北京旅行住在王府井附近的酒店吃了烤鸭还爬了长城回来以后把所有的证件都整理好了护照放在蓝色箱子"
    )
    world.model.script = lambda request: (
        says("好") if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "护照"}'))
    )
    await world.say("护照呢？")
    assert "护照放在蓝色箱子" in world.turns[-1][-1].content


async def test_what_somebody_does_not_like_is_told_with_its_not(world: World) -> None:
    """There 不 was a word that says nothing, in the index as in the question."""
    await world.say("在吗")
    for kept in ("我不吃香菜饺子", "我爱吃韭菜饺子"):
        await world.say(f"记住{kept}")
    world.model.script = lambda request: (
        says("好")
        if request.prompt.messages[-1].role == "tool"
        else calls(("memory_recall", '{"query": "不吃香菜的饺子", "top_k": 1, "kinds": ["knowledge"]}'))
    )
    await world.say("我有什么忌口？")
    assert "我不吃香菜饺子" in world.turns[-1][-1].content


async def test_a_talk_of_two_lines_leaves_something_for_the_next(world: World) -> None:
    """There only a talk that had been compacted was kept, and none was that was short."""
    await world.say("我的快递明天到楼下便利店")
    await world.say("/new")
    await world.wait(1)
    await world.say("下午有什么安排吗")
    assert "快递明天到" in world.turns[-1][1].content


async def test_what_one_character_names_is_asked_about_before_it_is_forgotten(world: World) -> None:
    await world.say("小暖，记住我的猫叫小白", group="饭团")
    await world.say("忘记关于猫的记忆")
    assert world.replies[-1].startswith("是要忘掉这一条吗")
    assert world.peek.memories.count(disabled_at=None) == 1
    await world.say("是")
    assert world.peek.memories.count(disabled_at=None) == 0
