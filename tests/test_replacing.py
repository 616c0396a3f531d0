"""Of what somebody has one of one value is current: what a digest and a wish take the place of, and what they leave."""

from dataclasses import replace

import pytest

from bot.core.memories import Memory, NewMemory
from bot.language.sections import is_single_valued, slot_of
from bot.memory.supersession import merge_rule, same_subject, with_replaced
from bot.memory.transcript import DigestLine
from tests.test_digest_changes import after
from tests.test_shared_digests import answering, facts
from tests.world import World


async def kept(world: World, text: str) -> None:
    """Somebody asks to keep it; nothing is digested."""
    answering(world, {"summary": ""})
    await world.say(("remember that " if text.isascii() else "记住") + text)
    await world.say("/new")


def current(world: World) -> list[str]:
    """What is told as true today."""
    return [str(text) for text, holds in facts(world) if holds]


async def about(world: World) -> str:
    """What the next opening tells of its person."""
    await world.say("帮我想想周末去哪里玩比较好呢")
    return next(part for part in world.last_user.split("## ") if part.startswith(("关于TA", "About them")))


KEPT = (
    ("我住在苏州", "我搬到杭州了", {"text": "小王搬到杭州了", "slot": "home"}),
    ("我在华为上班", "我跳槽去小米了", {"text": "小王跳槽去小米了", "slot": "job"}),
    ("I live in Leeds", "we moved to York last week", {"text": "小王 moved to York", "slot": "home"}),
    ("我女朋友叫小雅", "我跟阿兰在一起了", {"text": "小王跟阿兰在一起了", "slot": "partner", "about": "阿兰"}),
)


@pytest.mark.parametrize(("wish", "said", "statement"), KEPT)
async def test_a_new_value_takes_the_place_of_a_kept_one_that_the_model_names(
    world: World, wish: str, said: str, statement: dict[str, object]
) -> None:
    await kept(world, wish)
    await after(world, said, statements=[{**statement, "lasting": True, "replaces": [1], "from": [1]}])
    assert facts(world) == [(wish, 0), (statement["text"], 1)]
    told = await about(world)
    assert (str(statement["text"]) in told, wish in told) == (True, False)


@pytest.mark.parametrize(
    ("wish", "said", "slot"),
    [("我住在苏州", "我搬到杭州了", "residence"), ("我女朋友叫小雅", "我女朋友叫小美", "partner")],
)
async def test_a_kept_value_goes_for_a_new_one_that_names_nothing(
    world: World, wish: str, said: str, slot: str
) -> None:
    await kept(world, wish)
    await after(world, said, statements=[{"text": said, "slot": slot, "from": [1]}])
    assert current(world) == [said]


KNOWN = ("我女朋友叫小雅", "我对花生过敏", "我住在苏州")


async def know(world: World, *, asked: bool) -> None:
    """A partner, an allergy and a home are known, numbered in this order."""
    if asked:
        for text in KNOWN:
            await kept(world, text)
        return
    slots = ("partner", "allergy", "home")
    made = [
        {"text": text, "slot": slot, "lasting": True, "from": [1 + 2 * place]}
        for place, (text, slot) in enumerate(zip(KNOWN, slots, strict=True))
    ]
    await after(world, *KNOWN, statements=made)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(
    ("said", "slot"),
    [("我开始学游泳了", "hobby"), ("我对芒果过敏", "allergy"), ("我跳槽去小米了", "job"), ("我膝盖做过手术", "health")],
)
async def test_numbers_alone_take_nothing_of_another_kind_away(
    world: World, said: str, slot: str, *, asked: bool
) -> None:
    await know(world, asked=asked)
    statement = {"text": said, "slot": slot, "lasting": True, "replaces": [1, 2, 3], "from": [1]}
    await after(world, said, statements=[statement])
    assert current(world) == [*KNOWN, said]


async def test_an_allergy_goes_for_what_is_said_of_the_same_one(world: World) -> None:
    await know(world, asked=False)
    statement = {"text": "小王对花生不过敏了", "slot": "allergy", "lasting": True, "replaces": [2], "from": [1]}
    await after(world, "我脱敏治疗做完了，对花生不过敏了", statements=[statement])
    assert current(world) == [KNOWN[0], KNOWN[2], "小王对花生不过敏了"]


SEVERAL = (
    ("我有高血压在吃药", "medication", "我每天吃维生素D"),
    ("我弟弟叫小军", "brother", "我还有个弟弟叫小民"),
    ("我有一辆车是本田", "car", "我又买了辆特斯拉"),
    ("我喜欢喝美式", "drink", "我喜欢喝乌龙茶"),
)


@pytest.mark.parametrize(("old", "slot", "new"), SEVERAL)
async def test_of_a_slot_that_is_not_known_to_hold_one_both_stay(world: World, old: str, slot: str, new: str) -> None:
    await after(world, old, statements=[{"text": old, "slot": slot, "lasting": True, "from": [1]}])
    await after(world, new, statements=[{"text": new, "slot": slot, "lasting": True, "from": [1]}])
    assert current(world) == [old, new]


FREE = (
    ("我的家庭医生是李医生", "doctor", "我现在看王医生"),
    ("我在威尔士健身", "gym", "我办了乐刻的卡"),
    ("我老闆姓陳", "boss", "我老闆姓林"),
    ("I drive a Honda", "car", "I drive a Tesla"),
    ("I eat no meat", "Diet", "I eat fish"),
)


@pytest.mark.parametrize(("old", "slot", "new"), FREE)
async def test_of_a_slot_that_the_model_names_one_value_is_current(world: World, old: str, slot: str, new: str) -> None:
    await after(world, old, statements=[{"text": old, "slot": slot, "lasting": True, "from": [1]}])
    await after(world, new, statements=[{"text": new, "slot": slot.lower(), "lasting": True, "from": [1]}])
    assert facts(world) == [(old, 0), (new, 1)]


async def test_what_one_answer_tells_twice_of_a_slot_holds_none(world: World) -> None:
    both = ("我每天喝两杯茶", "我不喝酒")
    made = [
        {"text": text, "slot": "diet rhythm", "lasting": True, "from": [1 + 2 * place]}
        for place, text in enumerate(both)
    ]
    await after(world, *both, statements=made)
    assert current(world) == [*both]


@pytest.mark.parametrize(
    ("old", "said", "slot", "replaces"),
    [
        ("我住在苏州", "我搬到杭州了", "home", []),
        ("我在华为上班", "我在小米上班", "job", []),
        ("我健身卡在威尔士", "我换到乐刻了", "gym", [1]),
        ("I live in Leeds", "I live in York", "home", []),
    ],
)
@pytest.mark.parametrize("wished", [True, False])
async def test_a_row_without_a_slot_goes_for_one_of_the_same_thing(
    world: World, old: str, said: str, slot: str, replaces: list[int], *, wished: bool
) -> None:
    if wished:
        await kept(world, old)
    else:
        await after(world, old, statements=[{"text": old, "lasting": True, "from": [1]}])
    statement = {"text": said, "slot": slot, "lasting": True, "replaces": replaces, "from": [1]}
    await after(world, said, statements=[statement])
    assert current(world) == [said]


async def test_of_any_slot_the_old_one_goes_where_the_words_tell_of_a_change(world: World) -> None:
    await after(world, "我开的是本田", statements=[{"text": "我开的是本田", "slot": "car", "from": [1]}])
    await after(world, "我把车换成特斯拉了", statements=[{"text": "我把车换成特斯拉了", "slot": "car", "from": [1]}])
    assert current(world) == ["我把车换成特斯拉了"]


SAME = (
    ("我住在苏州", {"slot": "home"}, "我搬到杭州了", {"slot": "residence"}),
    ("我在华为上班", {"slot": "job"}, "我换到小米了", {"slot": "工作"}),
    ("我妹妹小雨住在成都", {"slot": "home", "about": "妹妹小雨"}, "小雨搬到重庆了", {"slot": "home", "about": "小雨"}),
    ("我妹妹小雨住在成都", {"slot": "home", "about": "妹妹小雨"}, "我妹搬到重庆了", {"slot": "home", "about": "妹妹"}),
    ("我的猫年糕三岁", {"slot": "age", "about": "猫年糕"}, "年糕四岁了", {"slot": "age", "about": "年糕"}),
    (
        "我女朋友叫小雅",
        {"slot": "partner", "about": "小雅"},
        "我有新女朋友了，叫小美",
        {"slot": "女朋友", "about": "小美"},
    ),
)


@pytest.mark.parametrize(("old", "facets", "new", "others"), SAME)
async def test_other_names_of_a_slot_and_of_somebody_are_the_same(
    world: World, old: str, facets: dict[str, object], new: str, others: dict[str, object]
) -> None:
    await after(world, old, statements=[{"text": old, "lasting": True, "from": [1], **facets}])
    await after(world, new, statements=[{"text": new, "lasting": True, "from": [1], **others}])
    assert facts(world) == [(old, 0), (new, 1)]


async def test_the_mother_of_somebody_else_is_not_ones_own(world: World) -> None:
    mine, other = "我妈生日是三月八号", "阿凯的妈妈生日是十二月三号"
    await after(world, mine, statements=[{"text": mine, "slot": "birthday", "about": "妈妈", "from": [1]}])
    await after(world, other, statements=[{"text": other, "slot": "birthday", "about": "阿凯的妈妈", "from": [1]}])
    assert current(world) == [mine, other]


async def test_ones_mother_told_by_ones_name_is_ones_own(world: World) -> None:
    row = {"slot": "home", "from": [1]}
    await after(world, "我妈住在苏州", statements=[{"text": "小王的妈妈住在苏州", "about": "妈妈", **row}])
    await after(world, "我妈搬到杭州了", statements=[{"text": "小王的妈妈搬到杭州了", "about": "小王的妈妈", **row}])
    assert current(world) == ["小王的妈妈搬到杭州了"]


async def test_the_partner_of_a_sister_is_nobodys_own(world: World) -> None:
    await after(world, "我男朋友叫阿明", statements=[{"text": "我男朋友叫阿明", "slot": "partner", "from": [1]}])
    said = "我妹妹小雨交了男朋友叫阿强"
    await after(world, said, statements=[{"text": said, "slot": "partner", "about": "小雨", "from": [1]}])
    assert current(world) == ["我男朋友叫阿明", said]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("妹妹小雨", "小雨", True),
        ("我妹", "妹妹小雨", True),
        ("sister Ines", "Ines", True),
        ("妈妈", "母亲", True),
        ("猫年糕", "猫汤圆", False),
        ("朋友", "女朋友", False),
        ("妹妹小雨", "姐姐小雨", False),
        ("", "妹妹", False),
        ("cat Mochi", "dog Mochi", False),
        ("小雨", "小雨点", False),
        ("阿凯的妈妈", "妈妈", False),
        ("阿凯的妈妈", "男友阿凯的母亲", True),
        ("男友的妈妈", "我的妈妈", False),
        ("我的妈妈", "妈妈", True),
        ("Tom's mother", "mum", False),
        ("boyfriend Tom's mum", "Tom's mother", True),
    ],
)
def test_whether_two_subjects_are_one(one: str, other: str, *, same: bool) -> None:
    assert same_subject(one, other) is same
    assert same_subject(other, one) is same


def test_slots_have_one_name() -> None:
    names = ("Residence", "住址", "home_address", "工作", "favorite color", "current book", "gadget")
    assert [slot_of(name) for name in names] == [
        "home",
        "home",
        "home",
        "job",
        "favorite color",
        "current book",
        "gadget",
    ]
    assert [is_single_valued(slot_of(name)) for name in names] == [True] * 6 + [False]


MOVED = (
    ("房租我跟房东说好了，20号交就行", "2026-06-20", "pending"),
    ("房租交了", "", "done"),
)


@pytest.mark.parametrize(("said", "when", "state"), MOVED)
async def test_a_task_that_gets_another_day_is_not_over(world: World, said: str, when: str, state: str) -> None:
    owed = {"title": "交房租", "when": "2026-06-15", "from": [1]}
    await after(world, "我15号要交房租", tasks=[owed])
    moved = [{"title": "交房租", "when": when, "from": [1]}] if when else []
    await after(world, said, tasks=moved, done=[{"task": 1, "from": [1]}])
    assert world.peek.commitments("text", "state") == [("交房租", state)]
    await world.say("帮我想想周末去哪里玩比较好呢")
    assert ("6月20日" in world.last_user and "交房租" in world.last_user) is bool(when)


@pytest.mark.parametrize(
    ("wish", "statement"),
    [
        ("我住在苏州", {"text": "小王住在苏州", "slot": "home"}),
        ("我对花生过敏", {"text": "小王对花生过敏", "slot": "allergy"}),
        ("I live in Leeds", {"text": "小王 lives in Leeds", "slot": "home"}),
    ],
)
async def test_what_was_kept_is_not_told_a_second_time(world: World, wish: str, statement: dict[str, object]) -> None:
    await kept(world, wish)
    await after(world, wish, statements=[{**statement, "lasting": True, "from": [1]}])
    assert current(world) == [wish]
    assert world.peek.memories("slot") == [(statement["slot"],)]
    assert (await about(world)).count("#") == 1


def test_one_slot_of_a_kept_sentence_that_tells_more_stands_for_itself() -> None:
    kept = Memory(1, 1, 1, "private", "knowledge", "我住在苏州，在华为上班", 0, 0, "command", asked=True)
    new = NewMemory(1, 1, "private", "knowledge", "小王在华为上班", 0, "digest", (), "job")
    assert merge_rule({1: "小王"})(new, (kept,)) == ()
    whole = replace(kept, text="我在华为上班")
    assert [done.how for done in merge_rule({1: "小王"})(new, (whole,))] == ["evidence"]


def test_nobody_takes_the_place_of_what_another_told_of_themselves() -> None:
    new = NewMemory(1, 1, "chat", "knowledge", "我现在在上海上班", 0, "digest", (3,), "job")
    line = DigestLine(1, 3, 1, "阿红", "我现在在上海上班", 0, False)
    own = Memory(7, 1, 1, "chat", "knowledge", "我在苏州上班", 0, 0, "command", slot="job", asked=True)
    assert with_replaced(new, [7], (line,), [own]).replaces == (7,)
    assert with_replaced(new, [7], (line,), [replace(own, owner_id=2)]).replaces == ()


async def appointments(world: World, *texts: tuple[str, str]) -> list[str]:
    """A talk of these plans with their days, and what is current after the interview was put off to the 18th."""
    plans = [
        {"text": text, "when": when, "kind": "event", "from": [1 + 2 * place]}
        for place, (text, when) in enumerate(texts)
    ]
    await after(world, *(text for text, _ in texts), statements=plans)
    moved = {"text": "小王的面试改到6月18日", "when": "2026-06-18", "kind": "event", "from": [1]}
    await after(world, "面试改到周四了，18号", statements=[moved])
    return current(world)


async def test_a_plan_that_is_moved_stands_once(world: World) -> None:
    left = await appointments(world, ("我6月16日下午两点面试", "2026-06-16T14:00"), ("我6月16日看牙", "2026-06-16"))
    assert left == ["我6月16日看牙", "小王的面试改到6月18日"]
    await world.say("帮我想想周末去哪里玩比较好呢")
    ahead = next(part for part in world.last_user.split("## ") if part.startswith("即将到来"))
    assert ahead.count("面试") == 1


async def test_of_two_plans_of_the_kind_it_is_not_clear_which_is_moved(world: World) -> None:
    left = await appointments(world, ("我6月16日去小米面试", "2026-06-16"), ("我6月17日去华为面试", "2026-06-17"))
    assert len(left) == 3


WISHES = (
    ("我女朋友叫小雅", "我女朋友叫小美"),
    ("最喜欢的颜色是蓝色", "最喜欢的颜色是绿色"),
    ("我的牙医是李医生", "我牙医是王医生"),
    ("my dentist is Dr Lee", "my dentist is Dr Patel"),
    ("my favourite colour is blue", "my favorite colour is green"),
)


@pytest.mark.parametrize(("old", "new"), WISHES)
async def test_a_wish_that_contradicts_an_older_one_says_so_and_can_be_taken_back(
    world: World, old: str, new: str
) -> None:
    lead = "remember " if old.isascii() else "记住"
    await world.say(lead + old)
    await world.say(lead + new)
    assert current(world) == [new]
    assert ("#1" in world.replies[-1], old in world.replies[-1]) == (True, True)
    await world.say("undo" if old.isascii() else "撤销")
    assert current(world) == [old]


BESIDE = (
    ("我朋友叫阿明", "我朋友叫阿芳"),
    ("我的猫叫年糕", "我的猫叫汤圆"),
    ("我儿子叫小满", "我儿子叫大满"),
    ("我同事叫小李", "我同事叫小王"),
    ("我女朋友叫小雅", "我女朋友是护士"),
    ("my son is called Max", "my son is called Leo"),
    ("我住在苏州", "我妹妹小雨住在成都"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的歌手是周杰伦"),
    ("我住在苏州", "我家在三楼"),
)


@pytest.mark.parametrize(("old", "new"), BESIDE)
async def test_wishes_of_what_one_may_have_many_of_stand_beside_each_other(world: World, old: str, new: str) -> None:
    lead = "remember " if old.isascii() else "记住"
    await world.say(lead + old)
    await world.say(lead + new)
    assert current(world) == [old, new]
