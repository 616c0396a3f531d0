"""Wishes that name little, in a conversation: 记住, 忘记, 忘记年糕, 忘记 #3 和 #4."""

import pytest

from tests.conftest import NewWorld
from tests.world import World

WHAT = (
    "要我记住什么呢？再说一遍内容吧",
    "要我記住什麼呢？再說一遍內容吧",
    "What should I remember? Tell me once more.",
)
DROP = ("要我忘掉什么呢？", "要我忘掉什麼呢？", "What should I forget?")
TALK = "好的"


def kept(world: World) -> list[str]:
    return [str(row[0]) for row in world.peek.memories("text", disabled_at=None)]


@pytest.mark.parametrize(("wish", "asked"), list(zip(("记住", "記住。", "remember"), WHAT, strict=True)))
@pytest.mark.parametrize("fact", ["我的车停在B2层", "我的車停在B2層", "my bike is blue"])
async def test_what_to_keep_is_asked_back_and_answered_in_any_script(
    world: World, wish: str, asked: str, fact: str
) -> None:
    await world.say(wish)
    await world.say(fact)
    assert (world.replies[0], kept(world)) == (asked, [fact])
    assert world.model.requests == []


@pytest.mark.parametrize(
    ("fact", "wish", "receipt"),
    [
        ("我对花生过敏", "记住", "记住啦 #1：我对花生过敏"),
        ("我對花生過敏", "幫我記一下", "記住啦 #1：我對花生過敏"),
        ("I'm allergic to nuts", "remember", "Got it, I'll remember #1: I'm allergic to nuts"),
    ],
)
async def test_a_bare_wish_right_after_a_fact_keeps_it(world: World, fact: str, wish: str, receipt: str) -> None:
    await world.say(fact)
    await world.say(wish)
    assert world.replies[1:] == [receipt]
    assert kept(world) == [fact]


@pytest.mark.parametrize("before", ["早", "你叫什么名字？", "哈哈哈", "记住我怕狗"])
async def test_a_bare_wish_after_small_talk_asks_what(world: World, before: str) -> None:
    await world.say(before)
    await world.say("记住")
    assert world.replies[-1] == WHAT[0]


async def test_a_fact_of_yesterday_is_not_what_a_bare_wish_means(world: World) -> None:
    await world.say("我对花生过敏")
    await world.wait(2 * 3600)
    await world.say("记住")
    assert world.replies[-1] == WHAT[0]


@pytest.mark.parametrize("never", ["算了", "没什么", "算了吧", "never mind", "沒什麼", "我忘了"])
@pytest.mark.parametrize("wish", ["记住", "忘记"])
async def test_never_mind_ends_the_asking_in_any_script(world: World, wish: str, never: str) -> None:
    await world.say(wish)
    await world.say(never)
    await world.say("我对花生过敏")
    assert world.replies[1:] == [world.replies[1], TALK]
    assert world.replies[1] != TALK
    assert kept(world) == []


@pytest.mark.parametrize("pause", ["等一下，我想想", "等我一下", "hold on, let me think", "稍等", "嗯嗯"])
async def test_who_asks_for_time_may_still_answer(world: World, pause: str) -> None:
    await world.say("记住")
    await world.say(pause)
    await world.say("我属兔，我住在上海")
    assert world.replies[1] == TALK
    assert kept(world) == ["我属兔", "我住在上海"]


async def test_what_others_say_meanwhile_ends_no_asking_and_time_does(new_world: NewWorld) -> None:
    world = await new_world(memory={"confirm_seconds": 60})
    await world.say("小暖，记住", "阿明", "闲聊")
    await world.say("小暖，今天吃什么？", "阿红", "闲聊")
    await world.say("小暖，我怕狗", "阿明", "闲聊")
    assert kept(world) == ["我怕狗"]
    await world.say("记住", "阿明")
    await world.wait(61)
    await world.say("我属兔", "阿明")
    assert len(kept(world)) == 1


@pytest.mark.parametrize(("wish", "asked"), list(zip(("忘记", "忘記", "forget"), DROP, strict=True)))
@pytest.mark.parametrize("answer", ["花生", "我對花生過敏", "#1", "1", "#1 和 #2", "allergic"])
async def test_what_to_forget_is_asked_back_and_answered_by_words_or_number(
    world: World, wish: str, asked: str, answer: str
) -> None:
    await world.say("记住我对花生过敏")
    await world.say("记住I'm allergic to花生" if answer == "allergic" else "记住我怕狗")
    await world.say(wish)
    assert world.replies[-1].startswith(asked if wish != "forget" else DROP)
    assert len(kept(world)) == 2
    await world.say(answer)
    assert len(kept(world)) == (0 if answer == "#1 和 #2" else 1)
    assert world.model.requests == []


async def test_an_answer_that_names_nothing_known_is_talk(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("忘记")
    await world.say("今天真热")
    await world.say("我怕狗")
    assert world.replies[-2:] == [TALK, TALK]
    assert kept(world) == ["我怕狗"]


@pytest.mark.parametrize(
    ("told", "wish", "other"),
    [
        ("记住年糕对鸡肉过敏", "忘记年糕", "忘记豆包"),
        ("記住年糕對雞肉過敏", "忘記年糕", "忘記豆包"),
        ("remember that I live in Oslo", "forget Oslo", "forget Rome"),
        ("记住我妹妹住在Oslo", "忘掉Oslo", "忘掉Rome"),
    ],
)
async def test_an_object_alone_is_a_wish_where_something_fits_and_talk_elsewhere(
    world: World, told: str, wish: str, other: str
) -> None:
    await world.say(told)
    await world.say(other)
    assert (world.replies[-1], len(kept(world)), len(world.model.requests)) == (TALK, 1, 1)
    await world.say(wish)
    assert "#1" in world.replies[-1]
    assert (kept(world), len(world.model.requests)) == ([], 1)
    await world.say("撤销")
    assert len(kept(world)) == 1


@pytest.mark.parametrize(
    ("facts", "wish", "yes"),
    [
        (("年糕对鸡肉过敏", "年糕的生日是8月1日"), "忘记年糕", "全部"),
        (("my dog is Rex", "my uncle lives near Rex"), "forget Rex", "both"),
        (("阿寧是我同桌",), "忘記阿寧吧", "是"),
        (("小明是我同桌",), "忘了小明吧", "yes"),
        (("我的生日是3月4日",), "忘了我的生日", "是"),
        (("我喜歡喝茶",), "忘記茶", "是"),
        (("我的猫叫年糕",), "忘记猫的事", "是"),
        (("我的猫叫年糕", "我对猫毛过敏"), "把猫忘了", "全部"),
    ],
)
async def test_several_or_a_doubtful_one_are_asked_about_first(
    world: World, facts: tuple[str, ...], wish: str, yes: str
) -> None:
    for fact in facts:
        await world.say(f"记住：{fact}" if not fact.isascii() else f"remember that {fact}")
    await world.say(wish)
    assert all(fact in world.replies[-1] for fact in facts)
    assert kept(world) == list(facts)
    await world.say(yes)
    assert kept(world) == []


@pytest.mark.parametrize("line", ["忘了我的生日", "忘记茶", "把猫忘了"])
async def test_what_may_be_a_reproach_is_talk_where_nothing_fits_and_its_no_leaves_all(world: World, line: str) -> None:
    await world.say("记住我怕狗")
    await world.say(line)
    assert (world.replies[-1], kept(world)) == (TALK, ["我怕狗"])
    facts = ["我的生日是3月4日", "我喜欢喝茶", "我的猫叫年糕"]
    for fact in facts:
        await world.say(f"记住{fact}")
    await world.say(line)
    assert "#" in world.replies[-1]
    await world.say("不是")
    assert kept(world) == ["我怕狗", *facts]


LAMENTS = (
    "忘记密码怎么办",
    "我忘记带伞了",
    "忘记他",
    "忘记他吧，我做不到",
    "forget it",
    "忘记了",
    "你忘记雨伞",
    "forget him",
    "別忘記雨傘",
)


async def test_laments_reports_and_idioms_forget_nothing(world: World) -> None:
    facts = ["我的密码是蓝鲸", "我的雨伞是红的", "他是我前男友", "I like him"]
    for fact in facts:
        await world.say(f"/remember {fact}")
    for line in LAMENTS:
        await world.say(line)
        assert (world.replies[-1], kept(world)) == (TALK, facts), line


async def test_nobody_elses_memories_make_a_wish_of_it(world: World) -> None:
    await world.say("小暖，记住年糕对鸡肉过敏", "阿明", "闲聊")
    await world.say("小暖，忘记年糕", "阿红", "闲聊")
    assert kept(world) == ["年糕对鸡肉过敏"]
    assert world.replies[-1] == TALK


@pytest.mark.parametrize(
    ("wish", "left"),
    [
        ("忘记 #3 和 #4", [1, 2, 5]),
        ("忘記 #3、#4", [1, 2, 5]),
        ("forget #3, #4 and #1", [2, 5]),
        ("忘记 #3-#5", [1, 2]),
        ("忘記 #5～#3", [1, 2]),
        ("/forget #1 #2", [3, 4, 5]),
    ],
)
async def test_numbers_named_together_are_forgotten_in_one_reply_and_come_back_in_one(
    world: World, wish: str, left: list[int]
) -> None:
    for number in range(1, 6):
        await world.say(f"记住我的第{number}个柜子在{number}楼")
    before = len(world.replies)
    await world.say(wish)
    assert [fact[3] for fact in kept(world)] == [str(number) for number in left]
    assert all(f"#{number}" in world.replies[-1] for number in range(1, 6) if number not in left)
    await world.say("撤销")
    assert len(kept(world)) == 5
    assert (len(world.replies), world.model.requests) == (before + 2, [])


async def test_a_number_without_a_memory_is_named_as_such(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("forget #1 and #7")
    assert world.replies[-1].splitlines()[1:] == ["Besides, there is no #7 in my memory"]
    await world.say("忘记 #8 和 #9")
    assert world.replies[-1] == "我没找到这件事的记忆哦"


@pytest.mark.parametrize(
    ("wish", "asked", "answer"),
    [
        ("忘记全部", "我记着你的 2 条", "全部"),
        ("忘記全部。", "我記著你的 2 條", "全部"),
        ("請全部忘掉吧", "我記著你的 2 條", "全部"),
        ("forget everything please", "I keep 2 things of yours", "all"),
    ],
)
async def test_all_of_it_is_asked_back_before_it_goes(world: World, wish: str, asked: str, answer: str) -> None:
    await world.say("记住我的车停在B2层")
    await world.say("记住我对花生过敏")
    await world.say(wish)
    assert world.replies[-1].startswith(asked)
    assert all(fact in world.replies[-1] for fact in kept(world))
    assert len(kept(world)) == 2
    await world.say(answer)
    assert kept(world) == []


@pytest.mark.parametrize("told", ["喝完这杯，忘记全部，重新开始", "全部忘记了", "他说要忘掉所有"])
async def test_all_of_it_in_a_sentence_is_talk(world: World, told: str) -> None:
    await world.say("记住我的车停在B2层")
    await world.say(told)
    assert world.replies[-1] == TALK


@pytest.mark.parametrize("wish", ["/remember 好的", "记住以下内容：\n好的"])
async def test_what_says_nothing_is_not_kept_but_asked_about(world: World, wish: str) -> None:
    await world.say(wish)
    assert (world.replies, kept(world)) == (["“好的”里没有要记的内容哦。要记什么？直接说就好"], [])
