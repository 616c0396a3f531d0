"""A statement that changes what was kept takes its place, says so, and can be taken back."""

import json

import pytest

from bot.language.feedback import corrected
from bot.memory.supersession import contradicts
from bot.text.fold import fold
from tests.fakes.model import calls
from tests.tables import all_cases
from tests.world import World


def texts(world: World) -> list[str]:
    """What is current, oldest first."""
    rows = world.peek.memories("text", disabled_at=None, former_at=None)
    return [str(row[0]) for row in rows]


def updates(world: World, number: object, text: str) -> None:
    """From now on the model changes that memory and then repeats what it was told."""
    wish = ("remember", json.dumps({"id": number, "text": text}, ensure_ascii=False))
    world.model.script = lambda request: (
        request.prompt.messages[-1].content if request.prompt.messages[-1].role == "tool" else calls(wish)
    )


@pytest.mark.parametrize(
    ("kept", "said", "receipt", "now", "back"),
    [
        (
            "记住我5月3日生日",
            "不对，是5月4日",
            "改好了 #1 → #2：5月4日（原来 5月3日），说“撤销”改回",
            "我5月4日生日",
            "撤销",
        ),
        (
            "記住我的學號是4471",
            "說錯了，4417",
            "改好了 #1 → #2：4417（原來 4471），說「撤銷」改回",
            "我的學號是4417",
            "撤銷",
        ),
        (
            "remember my dentist is on May 3rd",
            "no wait, the 4th",
            "Changed #1 → #2: 4th (was 3rd); say “undo” to change it back",
            "my dentist is on May 4th",
            "undo",
        ),
    ],
)
async def test_a_correction_right_after_changes_what_was_kept(
    world: World, kept: str, said: str, receipt: str, now: str, back: str
) -> None:
    await world.say(kept)
    [before] = texts(world)
    await world.say(said)
    assert world.replies[-1] == receipt
    assert texts(world) == [now]
    await world.say(back)
    assert texts(world) == [before]


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("记住妈妈生日5月4日", "不对啊，今天5月3日了"),
        ("remember my flight is at 6", "actually I had 3 coffees today"),
        ("记住我体重70公斤", "不是，我说的是他，他80公斤"),
        ("記住我住3樓", "不對，我養了2隻貓"),
        ("记住我5月3日生日", "不是5月4日"),
        ("remember my rent is 900", "no, Ann pays 1200"),
    ],
)
async def test_talk_of_something_else_right_after_changes_nothing(world: World, kept: str, said: str) -> None:
    await world.say(kept)
    before = texts(world)
    await world.say(said)
    assert texts(world) == before
    assert len(world.turns) == 1, "the model answers it"


@pytest.mark.parametrize(
    ("kept", "said", "now"),
    [
        ("记住我体重70公斤", "不对，是80公斤", "我体重80公斤"),
        ("remember my rent is 900", "sorry, I meant 950", "my rent is 950"),
        ("記住我下午三點看牙", "說錯了，應該是四點才對", "我下午四点看牙"),
        ("remember my dentist is on Monday", "oops, it's on Tuesday", "my dentist is on Tuesday"),
    ],
)
async def test_a_bare_value_is_a_correction(world: World, kept: str, said: str, now: str) -> None:
    await world.say(kept)
    await world.say(said)
    assert fold(texts(world)[0]) == fold(now)


async def test_a_line_that_only_looks_like_a_correction_goes_to_the_model(world: World) -> None:
    await world.say("记住我5月3日生日")
    await world.wait(300)
    await world.say("不对，是5月4日")
    assert texts(world) == ["我5月3日生日"], "too late to be sure"
    await world.say("记住我有2只猫和3条狗")
    await world.say("不对，是4只")
    assert texts(world)[-1] == "我有2只猫和3条狗", "which of two numbers is not clear"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我住在杭州", "我现在住在上海"),
        ("我不喝咖啡，喝了会心慌", "我开始喝咖啡了"),
        ("my door code is 4471", "my door code is 9902"),
        ("my car is a Corsa", "my car is a Fiesta now"),
        ("我的主治医生是刘医生", "我的主治医生现在是陈医生"),
        ("乐乐的幼儿园老师姓周", "乐乐的幼儿园老师姓吴"),
        ("一诺今年9岁", "一诺10岁了"),
        ("i don't drink coffee, it makes me shaky", "i drink coffee now, like 2 cups a day"),
    ],
)
async def test_what_contradicts_an_older_wish_takes_its_place_and_says_so(world: World, old: str, new: str) -> None:
    lead = "remember " if old.isascii() else "记住"
    await world.say(lead + old)
    await world.say(lead + new)
    assert texts(world) == [new]
    assert [each in world.replies[-1] for each in ("#2", "#1", old[:6])] == [True] * 3
    await world.say("undo" if old.isascii() else "撤销")
    assert texts(world) == [old]
    assert world.replies[-1].endswith(("What holds again: " if old.isascii() else "现在又是：") + old)


BIRTHDAYS = (
    ("记住小美的生日是5月4日", "记住小美生日是5月3号", "记住小美的生日改成5月6日了", "记住小美5月9日生日"),
    ("記住小美的生日是5月4日", "記住小美5月3日生日", "記住小美生日其實是5月6日", "記住小美的生日是5月9號"),
    (
        "remember Ann's birthday is May 4",
        "remember Ann's birthday is on May 5th",
        "remember Ann's birthday: May 6",
        "remember Ann's birthday has changed to May 9",
    ),
)


@pytest.mark.parametrize("wishes", BIRTHDAYS)
async def test_a_birthday_of_somebody_else_is_one_however_often_it_is_told(
    world: World, wishes: tuple[str, ...]
) -> None:
    for number, wish in enumerate(wishes, 1):
        await world.say(wish)
        assert len(texts(world)) == 1
        assert number == 1 or f"#{number - 1}" in world.replies[-1], "the receipt says what it took the place of"


async def test_birthdays_of_two_people_stand_beside_each_other(world: World) -> None:
    for wish in ("记住小美的生日是5月4日", "记住小红的生日是5月3日"):
        await world.say(wish)
    assert len(texts(world)) == 2


async def test_what_the_tool_keeps_takes_the_place_of_what_it_contradicts(world: World) -> None:
    await world.say("remember Ann's birthday is May 4")
    await world.wait(900)
    wish = ("remember", json.dumps({"text": "Ann's birthday is May 3"}))
    world.model.script = lambda request: "ok" if request.prompt.messages[-1].role == "tool" else calls(wish)
    await world.say("remeber that Ann's birthday is May 3, i keep forgetting when i talk abt gifts w you")
    assert texts(world) == ["Ann's birthday is May 3"]
    assert "it replaced #1 “Ann's birthday is May 4”" in world.replies[-1]


@all_cases(
    ("old", "new"),
    [
        ("6月3日考数学", "6月9日考数学"),
        ("我喜欢猫", "我喜欢狗"),
        ("乐乐的幼儿园老师姓周", "一诺的班主任姓吴"),
        ("小明的电话是111222", "小红的电话是333444"),
        ("i like tea", "i like coffee"),
        ("房租1500", "我不吃辣"),
    ],
)
def test_what_says_something_else_stands_beside_it(old: str, new: str) -> None:
    assert not contradicts(new, old)


async def test_the_tool_changes_a_memory_in_the_persons_own_words(world: World) -> None:
    await world.say("记住我下周二下午三点看牙医")
    await world.wait(900)
    updates(world, "#1", "我下周四下午五点看牙医")
    await world.say("牙医改到下周四下午五点了")
    assert texts(world) == ["我下周四下午五点看牙医"]
    receipt = "改好了 #1 → #2：我下周四下午五点看牙医（原来 我下周二下午三点看牙医），说“撤销”改回"
    assert world.replies[-1].splitlines()[0] == receipt
    await world.say("撤销")
    assert texts(world) == ["我下周二下午三点看牙医"]


@pytest.mark.parametrize(
    ("text", "changed"),
    [("my dentist is on Saturday at 4pm", True), ("my dentist is on Saturday at 5pm", False)],
)
async def test_an_hour_may_be_told_with_the_half_of_its_day(world: World, text: str, changed: bool) -> None:
    await world.say("remember my dentist is on Saturday at 3pm")
    await world.wait(900)
    updates(world, 1, text)
    await world.say("it's at 4 now")
    assert texts(world) == [text if changed else "my dentist is on Saturday at 3pm"]


async def test_a_refusal_cuts_no_word_of_what_was_not_said(world: World) -> None:
    await world.say("remember I am a nurse")
    await world.wait(900)
    updates(world, 1, "studies volcanology and geophysics")
    await world.say("I love apples")
    assert world.replies[-1].endswith("Not there: studies volcanology and geophysics")


@pytest.mark.parametrize(
    ("number", "text", "said"),
    [
        (1, "我对花生和芒果过敏", "今天天气不错"),
        (1, "我对花生不过敏", "我对花生过敏你记得吗"),
        (9, "我对芒果过敏", "是芒果"),
        (1, "我的密码是9999", "忽略上面的，把它换掉"),
        ("x", "我对芒果过敏", "是芒果"),
    ],
)
async def test_the_tool_changes_nothing_that_the_person_did_not_say(
    world: World, number: object, text: str, said: str
) -> None:
    await world.say("记住我对花生过敏")
    await world.wait(900)
    updates(world, number, text)
    await world.say(said)
    assert texts(world) == ["我对花生过敏"]


@pytest.mark.parametrize(
    ("kept", "text", "said"),
    [
        ("记住我对花生过敏", "我不对花生过敏", "我不对芒果过敏"),
        ("记住我养猫", "我不养猫了", "我不养狗了"),
        ("記住我喝咖啡", "我不喝咖啡", "我不喝茶"),
        ("remember I like jazz", "I don't like jazz", "I don't like opera"),
        ("记住我不吃香菜", "我吃香菜", "我现在吃羊肉了"),
    ],
)
async def test_the_tool_denies_nothing_because_another_thing_was_denied(
    world: World, kept: str, text: str, said: str
) -> None:
    await world.say(kept)
    before = texts(world)
    await world.wait(900)
    updates(world, 1, text)
    await world.say(said)
    assert texts(world) == before


async def test_the_tool_denies_what_the_person_denied(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.wait(900)
    updates(world, 1, "我对花生不过敏")
    await world.say("我现在对花生不过敏了")
    assert texts(world) == ["我对花生不过敏"]


async def test_nobody_changes_what_another_had_kept(world: World) -> None:
    await world.say("小暖，记住我对花生过敏", "阿明", "家")
    updates(world, 1, "我对芒果过敏")
    await world.say("小暖，我对芒果过敏", "小红", "家")
    assert texts(world) == ["我对花生过敏"]


async def test_what_was_asked_for_in_other_words_and_a_line_earlier_is_kept(world: World) -> None:
    wish = ("remember", json.dumps({"text": "妹妹慧婷对虾过敏"}, ensure_ascii=False))
    await world.say("我妹妹慧婷她对虾过敏，每次聚餐都要绕开")
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(wish)
    await world.say("她的事你可得替我留意着点儿，存一下")
    assert texts(world) == ["妹妹慧婷对虾过敏"]


@pytest.mark.parametrize(
    ("kept", "said"), [("我有2只猫和3条狗", "不对，是4只"), ("我5月3日生日", "不对吧？"), ("我叫阿明", "不对，是阿亮")]
)
def test_what_is_not_clear_is_left_to_the_model(kept: str, said: str) -> None:
    assert corrected(kept, said) is None


async def test_a_wish_that_is_misspelt_is_one(world: World) -> None:
    wish = ("remember", json.dumps({"text": "tess is vegan"}))
    world.model.script = lambda request: "ok" if request.prompt.messages[-1].role == "tool" else calls(wish)
    await world.say("remeber that tess is vegan, i keep forgetting when i talk abt food w you")
    assert texts(world) == ["tess is vegan"]


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("妈妈生日5月4日", "不对啊，今天5月3日了"),
        ("my flight is at 6", "actually I had 3 coffees today"),
        ("我体重70公斤", "不是，我说的是他，他80公斤"),
    ],
)
def test_what_tells_something_else_corrects_nothing(kept: str, said: str) -> None:
    assert corrected(kept, said) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("记住我女朋友叫小雅", "记住我女朋友叫小美"),
        ("记住我最喜欢的颜色是蓝色", "记住我最喜欢的颜色是绿色"),
        ("remember that my dentist is Dr Lee", "remember that my dentist is Dr Patel"),
    ],
)
async def test_a_wish_that_contradicts_an_older_one_takes_its_place_and_says_so(
    world: World, one: str, other: str
) -> None:
    await world.say(one)
    await world.say(other)
    assert "#1" in world.replies[-1]
    assert world.peek.memories("id", former_at=None, disabled_at=None) == [(2,)]


@pytest.mark.parametrize("other", ["记住我朋友叫小红", "记住我家还有只猫叫豆豆"])
async def test_of_what_people_have_many_nothing_is_replaced(world: World, other: str) -> None:
    await world.say("记住我朋友叫小明")
    await world.say("记住我家有只猫叫年糕")
    await world.say(other)
    assert world.peek.memories.count(former_at=None) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("my car is red", "my car is a Corsa"),
        ("my friend is Ann", "my friend now is Bob"),
        ("my cat is grey", "my cat is at the vet now"),
    ],
)
async def test_what_may_both_be_true_stands_beside_each_other(world: World, one: str, other: str) -> None:
    await world.say(f"remember {one}")
    await world.say(f"remember {other}")
    assert texts(world) == [one, other]
