"""What broke: 全部 for good, places in a list, 撤销 said to a question, two wishes in one message, chains of undos."""

import pytest

from tests.test_bare_wishes import kept
from tests.world import World


async def test_all_of_it_for_good_is_for_good(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我怕猫")
    for line in ("彻底忘记", "全部", "是"):
        await world.say(line)
    assert (world.replies[-1], world.peek.memories("id")) == ("好，彻底忘掉了 #2 #1，找不回来了", [])


@pytest.mark.parametrize("wishes", [["彻底忘记年糕"], ["彻底忘记", "年糕"]])
async def test_what_was_forgotten_for_a_while_is_forgotten_for_good_by_its_object(
    world: World, wishes: list[str]
) -> None:
    await world.say("记住我养的猫叫年糕")
    await world.say("忘记年糕")
    for line in wishes:
        await world.say(line)
    assert (world.peek.memories("id"), world.model.requests) == ([], [])


@pytest.mark.parametrize(
    ("wish", "asked", "left"),
    [
        ("忘记第一条", "是要忘掉这一条吗？", ["我怕猫", "我怕鸡"]),
        ("彻底忘记第2条", "是要忘掉这一条吗？", ["我怕狗", "我怕鸡"]),
        ("把第三條忘了", "是要忘掉這一條嗎？", ["我怕狗", "我怕猫"]),
        ("忘记第一条和第三条", "要忘掉哪一条？", ["我怕猫"]),
        ("忘记这两条", "要忘掉哪一条？", []),
        ("忘记第十二条", "我没找到这件事的记忆哦", ["我怕狗", "我怕猫", "我怕鸡"]),
    ],
)
async def test_a_place_in_a_list_is_not_the_last_one_and_is_asked_back(
    world: World, wish: str, asked: str, left: list[str]
) -> None:
    for fact in ("我怕狗", "我怕猫", "我怕鸡"):
        await world.say(f"记住{fact}")
    await world.say(wish)
    assert (world.replies[-1].startswith(asked), len(kept(world))) == (True, 3)
    await world.say("全部")
    assert kept(world) == left


async def test_a_place_is_that_of_the_list_that_was_shown(world: World) -> None:
    for fact in ("我怕狗", "我怕猫", "我怕鸡"):
        await world.say(f"记住{fact}")
    await world.say("忘记我怕")
    await world.say("忘记第一条")
    assert kept(world) == ["我怕狗", "我怕猫"]


@pytest.mark.parametrize("no", ["撤销", "不用了"])
@pytest.mark.parametrize(
    ("asked", "told"),
    [("记住", "好，不记"), ("忘记", "好，都留着"), ("忘记我怕", "好，都留着")],
)
async def test_a_no_to_a_question_takes_nothing_else_back(world: World, asked: str, told: str, no: str) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我怕猫")
    await world.say("/new")
    for line in (asked, no):
        await world.say(line)
    assert (world.replies[-1], kept(world)) == (told, ["我怕狗", "我怕猫"])


@pytest.mark.parametrize(
    ("told", "both"),
    [
        ("记住我怕狗", "记住我喜欢茶，忘记我怕狗"),
        ("记住我怕狗", "记住我喜欢茶。然后忘记 #1"),
        ("記住我怕狗", "記住我喜歡茶，順便忘記我怕狗"),
        ("记住我怕狗", "记住我喜欢茶，再把我怕狗忘掉"),
        ("remember I like tea", "remember I like coffee, forget that I like tea"),
    ],
)
async def test_a_wish_to_forget_after_one_to_keep_is_no_part_of_what_is_kept(
    world: World, told: str, both: str
) -> None:
    await world.say(told)
    await world.say(both)
    assert kept(world)[0] in ("我喜欢茶", "我喜歡茶", "I like coffee")
    assert len(kept(world)) == 1


@pytest.mark.parametrize("fact", ["我经常忘记带钥匙，忘记关灯", "我去年搬家，把我的猫忘了"])
async def test_what_tells_of_forgetting_stays_in_what_is_kept(world: World, fact: str) -> None:
    await world.say(f"记住{fact}")
    assert kept(world) == [fact]


async def test_a_name_is_still_there_after_any_number_of_undos(world: World) -> None:
    await world.say("叫我小李")
    await world.wait(5)
    await world.say("叫我老李")
    for left in ("小李", "老李", "小李", "老李"):
        await world.wait(5)
        await world.say("撤销")
        assert kept(world) == [left]


@pytest.mark.parametrize(
    ("told", "wish", "undo", "back"),
    [
        ("remember I have an allergy to peanuts", "forget my allergy", "undo", "It's back #1"),
        ("记住我对花生过敏", "忘记关于过敏的事", "撤销", "找回来啦 #1"),
        ("記住我對花生過敏", "忘記關於過敏的事", "撤銷", "找回來啦 #1"),
    ],
)
async def test_a_wish_to_forget_that_finds_nothing_is_not_the_last_one(
    world: World, told: str, wish: str, undo: str, back: str
) -> None:
    for line in (told, wish, wish, undo):
        await world.say(line)
    assert world.replies[-1] == back


async def test_all_of_ones_own_is_asked_about_and_long_ones_are_told_in_part(world: World) -> None:
    for fact in ("我怕狗", "我的阳台上种了" + "绿萝" * 300):
        await world.say(f"记住{fact}")
    for wish in ("忘记我的一切", "忘记我所有的事"):
        await world.say(wish)
        listed = world.replies[-1].splitlines()[1:-1]
        assert [line[:4] for line in listed] == ["1. #", "2. #"]
        assert max(map(len, listed)) < 140
        await world.say("算了")


async def test_what_follows_a_question_back_is_kept_only_where_it_can_be_a_fact(world: World) -> None:
    for answer in ("/mem", "```rm -rf```", "你真笨"):
        await world.say("记住")
        await world.say(answer)
        await world.wait(7_200)
    assert world.peek.memories("text") == []
    await world.say("我家的猫怕吸尘器")
    await world.wait(7_200)
    await world.say("记住")
    await world.say("刚才那句")
    assert world.peek.memories("text") == [("我家的猫怕吸尘器",)]
