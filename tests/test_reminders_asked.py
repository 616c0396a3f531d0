"""Requests as people make them: no hour, several at once, for a whole group, with an end, edited, worded right."""

from dataclasses import replace

import pytest

from tests.conftest import NewWorld
from tests.world import World

HOUR = 3_600
DAY = 24 * HOUR
ASSUMED = "（没说几点，先按这个时间，要改就说“下午三点”）"


def due(world: World) -> list[tuple[str, str]]:
    """When each open one is said next by the clock of Shanghai, and what it is about."""
    sql = "SELECT datetime(due_at / 1000 + 28800, 'unixepoch'), text FROM reminder WHERE ended_at IS NULL ORDER BY id"
    return [(str(at)[5:16], str(text)) for at, text in world.rows(sql)]


async def test_a_day_without_a_time_is_nine_and_one_word_changes_it(world: World) -> None:
    await world.say("明天提醒我开会")
    await world.say("下午三点")
    assert world.replies == [
        f"好，周六（6月13日）上午9:00提醒你：开会 ⏰1{ASSUMED}",
        "好，周六（6月13日）下午3:00提醒你：开会 ⏰1",
    ]
    await world.wait(2 * DAY)
    assert world.replies[2:] == ["提醒你：开会"]


@pytest.mark.parametrize(
    ("wish", "answer", "at"),
    [
        ("remind me on tuesday to pay rent", "3pm", "06-16 15:00"),
        ("后天提醒我交作业", "改成晚上八点吧", "06-14 20:00"),
        ("后天提醒我交作业", "改成晚上 8 点吧", "06-14 20:00"),
        ("明天晚上提醒我倒垃圾", "7点", "06-13 19:00"),
        ("每周一提醒我交周报", "下午四点", "06-15 16:00"),
        ("明天提醒我交作业，后天提醒我还书", "下午三点", "06-13 15:00"),
    ],
)
async def test_the_assumed_hour_is_changed_in_any_of_these_words(world: World, wish: str, answer: str, at: str) -> None:
    await world.say(wish)
    await world.say(answer)
    assert due(world)[0][0] == at
    assert len({when[6:] for when, _ in due(world)}) == 1
    assert world.model.requests == []


@pytest.mark.parametrize("line", ["今天天气真好", "我下午三点要去接孩子", "算了", "好", "15"])
async def test_what_is_no_other_hour_is_answered_as_what_it_is(world: World, line: str) -> None:
    await world.say("明天提醒我开会")
    await world.say(line)
    await world.say("下午三点")
    assert world.replies[1:] == ["好的", "好的"]
    assert due(world) == [("06-13 09:00", "开会")]


async def test_today_without_a_time_is_asked_once_nine_is_over(world: World) -> None:
    await world.wait(HOUR)
    await world.say("今天提醒我买菜")
    await world.say("六点")
    assert world.replies == ["今天几点？", "好，周五（6月12日）傍晚6:00提醒你：买菜 ⏰1"]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("明天早上8点提醒我吃药，晚上10点关窗", [("06-13 08:00", "吃药"), ("06-13 22:00", "关窗")]),
        (
            "remind me tomorrow at 9am to call the landlord and at 6pm to pick up the dog",
            [("06-13 09:00", "call the landlord"), ("06-13 18:00", "pick up the dog")],
        ),
        (
            "every Monday at 10am remind me to send the report and also on Aug 1",
            [("06-15 10:00", "send the report"), ("08-01 10:00", "send the report")],
        ),
        ("明天早上八點和晚上八點提醒我吃藥", [("06-13 08:00", "吃藥"), ("06-13 20:00", "吃藥")]),
        ("周二和周四晚上7点提醒我健身", [("06-16 19:00", "健身"), ("06-18 19:00", "健身")]),
        (
            "下午两点给客户回邮件，晚上七点拿快递，到点叫我一声",
            [("06-12 14:00", "给客户回邮件"), ("06-12 19:00", "拿快递")],
        ),
        ("明早八点半提醒我带简历，我九点得出门", [("06-13 08:30", "带简历")]),
        ("明天三点，不对，四点提醒我打电话", [("06-13 16:00", "打电话")]),
        ("周三要交报告，前一天晚上八点提醒我", [("06-16 20:00", "周三要交报告")]),
        ("my exam is on july 3, remind me the day before", [("07-02 09:00", "your exam")]),
        ("我妈生日8月12号，每年都提醒我一下", [("08-12 09:00", "你妈生日")]),
    ],
)
async def test_all_that_a_message_asks_for_is_set(world: World, said: str, wanted: list[tuple[str, str]]) -> None:
    await world.say(said)
    found = [(when, text.removeprefix("周三要交报告") or text) for when, text in due(world)]
    assert [when for when, _ in found] == [when for when, _ in wanted]
    assert all(text in got for (_, got), (_, text) in zip(due(world), wanted, strict=True) if "周三" not in text)
    assert world.model.requests == []


async def test_of_two_the_unclear_one_is_asked_and_the_other_set(world: World) -> None:
    await world.say("明天早上9点提醒我吃药，周日8点提醒我给妈妈打电话")
    assert due(world) == [("06-13 09:00", "吃药")]
    assert world.replies[0].endswith("周日8点，早上还是晚上？")
    await world.say("晚上")
    assert due(world)[1:] == [("06-14 20:00", "给妈妈打电话")]


@pytest.mark.parametrize(
    "said", ["提醒我们明天早上8点开会", "明天早上8点提醒大家开会", "remind us tomorrow at 8am: 开会"]
)
async def test_in_a_group_all_are_reminded(world: World, said: str) -> None:
    await world.say(f"小暖，{said}", who="小美", group="闲聊")
    assert "大家" in world.replies[0] or "everyone" in world.replies[0]
    await world.wait(DAY)
    assert world.replies[1:] in (["大家，提醒：开会"], ["Everyone — Reminder: 开会"])


async def test_alone_we_is_who_asks(world: World) -> None:
    await world.say("明天早上8点提醒我们开会")
    await world.wait(DAY)
    assert world.replies[1:] == ["提醒你：开会"]


@pytest.mark.parametrize(
    "lines",
    [
        ("明天下午三点有个会，到时候叫我一声",),
        ("明天下午三点有个会", "到时候叫我一声"),
        ("后天要交材料，明天下午三点吱一声",),
    ],
)
async def test_then_is_the_time_that_was_named_just_before(world: World, lines: tuple[str, ...]) -> None:
    for line in lines:
        await world.say(line)
    assert [when for when, _ in due(world) if when == "06-13 15:00"]


async def test_no_more_is_about_the_only_one(world: World) -> None:
    await world.say("下午三点提醒我开会")
    await world.say("不用提醒了")
    assert world.replies[1:] == ["取消了：⏰1 开会"]
    await world.say("下午三点提醒我开会")
    await world.say("下午四点提醒我喝水")
    await world.say("不用提醒我了")
    assert world.replies[-1].startswith("是哪一条？")
    assert len(due(world)) == 2


async def test_a_day_that_a_month_does_not_have_is_its_last_and_said_so(world: World) -> None:
    await world.say("每月31号上午9点提醒我交房租")
    assert world.replies == [
        "好，每月31号上午9:00提醒你：交房租 ⏰1（第一次是周二（6月30日）上午9:00）（没有31号的月份在最后一天）"
    ]
    await world.wait(70 * DAY)
    assert world.replies[1:] == ["提醒你：交房租"] * 2
    assert due(world)[0][0] == "08-31 09:00"


async def test_until_is_kept_and_over_after_it(world: World) -> None:
    await world.say("每天早上8点提醒我吃药，直到6月15号")
    assert world.replies == ["好，每天早上8:00，到6月15日为止提醒你：吃药 ⏰1（第一次是周六（6月13日）早上8:00）"]
    await world.wait(10 * DAY)
    assert world.replies[1:] == ["提醒你：吃药"] * 3
    assert due(world) == []


@pytest.mark.parametrize(
    ("first", "then", "wanted"),
    [
        ("下午三点提醒我开会", "下午五点提醒我开会", [("06-12 17:00", "开会")]),
        ("提醒我开会", "下午五点提醒我开会", [("06-12 17:00", "开会")]),
        (
            "下午三点提醒我开会",
            "下午三点提醒我开会，五点提醒我接孩子",
            [("06-12 15:00", "开会"), ("06-12 17:00", "接孩子")],
        ),
        ("下午三点提醒我开会", "下午三点我开会", []),
    ],
)
async def test_the_reminder_follows_its_message(
    world: World, first: str, then: str, wanted: list[tuple[str, str]]
) -> None:
    await world.say(first, external_id="m1")
    await world.app.ingest.accept(replace(world.message(then), kind="event", label="edit", target="m1"))
    await world.app.settled()
    assert due(world) == wanted
    assert len(world.replies) == 2


async def test_it_is_said_in_the_language_it_was_asked_in(world: World) -> None:
    for line in ("早上好", "今天有点累", "remind me in 2 hours to call my mom"):
        await world.say(line)
    await world.say("今天也不想动")
    await world.wait(2 * HOUR)
    assert world.replies[2] == "OK, I'll remind you Friday, Jun 12, at 11:00 AM: call your mom ⏰1"
    assert world.replies[-1] == "Reminder: call your mom"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("两小时后提醒我给我妈打电话", "提醒你：给你妈打电话"),
        ("两小时后提醒我跟你说晚安", "提醒你：跟我说晚安"),
        ("兩小時後提醒我把我的書還給你", "提醒你：把你的書還給我"),
        ("两小时后提醒我回“我到了”", "提醒你：回“我到了”"),
        ("remind me in 2 hours that I'm on call for my team", "Reminder: you're on call for your team"),
        ("remind me in 2 hours to send you my notes", "Reminder: send me your notes"),
    ],
)
async def test_what_is_said_is_worded_for_its_person(world: World, said: str, told: str) -> None:
    await world.say(said)
    await world.wait(2 * HOUR)
    assert world.replies[-1] == told


async def test_so_many_at_once_do_not_pass_the_most_that_one_may_have(new_world: NewWorld) -> None:
    world = await new_world(remind={"most_open": 1})
    await world.say("明天早上8点提醒我吃药，晚上10点提醒我关窗")
    assert world.replies == ["等着的提醒已经有 1 条了，先取消几条吧"]
    assert due(world) == []


@pytest.mark.parametrize(
    ("wish", "lines", "at"),
    [
        ("明天10点提醒我开会", ["不对，11点"], "06-13 11:00"),
        ("明天下午两点提醒我开会", ["改成后天", "还是4点吧"], "06-14 16:00"),
        ("remind me tomorrow at 3pm to call Ann", ["no, make it 4pm"], "06-13 16:00"),
        ("10分钟后提醒我关火", ["改成20分钟后"], "06-12 09:20"),
        ("每天晚上10点提醒我睡觉", ["不对，11点"], "06-12 23:00"),
    ],
)
async def test_a_correction_right_after_changes_the_reminder_and_says_so(
    world: World, wish: str, lines: list[str], at: str
) -> None:
    await world.say(wish)
    for line in lines:
        await world.say(line)
    assert [when for when, _ in due(world)] == [at]
    assert all("⏰1" in reply for reply in world.replies)
    assert world.model.requests == []


@pytest.mark.parametrize("line", ["11点", "不对", "我11点要开会", "改天再说吧"])
async def test_what_corrects_nothing_changes_nothing(world: World, line: str) -> None:
    await world.say("明天10点提醒我开会")
    await world.say(line)
    assert due(world) == [("06-13 10:00", "开会")]
    assert world.replies[1:] == ["好的"]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("大后天上午10点跟房东谈续租，到时候提醒一下我呗", [("06-15 10:00", "跟房东谈续租")]),
        ("十分钟后喊我一声 我面膜要揭了", [("06-12 09:10", "你面膜要揭了")]),
        ("wake me up at 6am tmrw, big exam", [("06-13 06:00", "wake up, big exam")]),
        ("20分钟后叫我翻面，一小时后叫我关烤箱～", [("06-12 09:20", "翻面"), ("06-12 10:00", "关烤箱")]),
        ("6pm提醒我去接小孩，9pm再remind我收书包", [("06-12 18:00", "去接小孩"), ("06-12 21:00", "收书包")]),
        ("下周二下午2点15体检，帮我记一下到点提醒", [("06-16 14:15", "体检")]),
        ("帮我记一下明天早上8点提醒我吃药", [("06-13 08:00", "吃药")]),
        ("聽日朝早九點半提我覆診呀唔該", [("06-13 09:30", "覆診")]),
        ("半個鐘後叫我熄火", [("06-12 09:30", "熄火")]),
        ("逢星期日下晝兩點提我打俾阿媽", [("06-14 14:00", "打俾阿媽")]),
        ("明天开始叫我小陈", []),
        ("叫我老王就好，咱们下午三点见", []),
    ],
)
async def test_what_it_is_of_is_read_from_the_one_clause_that_says_it(
    world: World, said: str, wanted: list[tuple[str, str]]
) -> None:
    await world.say(said)
    assert due(world) == wanted


UNSURE = "医生让我每天早上8点都要滴眼药水，你到点提醒我"


@pytest.mark.parametrize(("answer", "times"), [("好", ["06-13 08:00"]), ("不用了", []), ("今天天气真好", [])])
async def test_what_was_not_wholly_read_is_asked_with_its_title(world: World, answer: str, times: list[str]) -> None:
    await world.say(UNSURE)
    assert world.replies == ["要我每天早上8点提醒你“医生让你 都要滴眼药水”吗？"]
    await world.say(answer)
    assert [when for when, _ in due(world)] == times


async def test_the_night_before_a_day_that_nobody_named_is_asked(world: World) -> None:
    await world.say("remind me the night before the hike, like 9pm")
    assert due(world) == []
    assert world.replies == ["When shall I remind you?"]


@pytest.mark.parametrize(
    ("kept", "answer", "wanted"),
    [
        ("记住下周三下午三点复查", "好", [("06-17 15:00", "复查")]),
        ("记住下周三我要复查", "下午两点吧", [("06-17 14:00", "复查")]),
        ("记住下周三下午三点复查", "不用", []),
        ("记住我的生日是8月9号", "嗯嗯", [("08-09 09:00", "你的生日是8月9号")]),
    ],
)
async def test_what_is_kept_with_a_day_ahead_is_offered_as_a_reminder_in_the_same_line(
    world: World, kept: str, answer: str, wanted: list[tuple[str, str]]
) -> None:
    await world.say(kept)
    (receipt,) = world.replies
    assert receipt.startswith("记住啦 #1")
    assert receipt.endswith("，要我到时候提醒你吗？")
    await world.say(answer)
    assert due(world) == wanted
    await world.say("记住我喜欢猫")
    assert world.replies[-1].startswith("记住啦 #2")


async def test_undo_brings_back_the_reminder_of_a_promise_as_well(world: World) -> None:
    await world.say("我明天把报告发给你")
    await world.say("明天早上8点提醒我开会")
    before = due(world)
    await world.say(".ai remind cancel all")
    assert due(world) == []
    await world.say("撤销")
    assert due(world) == before
    assert len(before) == 2


async def test_all_that_is_cancelled_is_counted(world: World) -> None:
    for number in range(23):
        await world.say(f"明天下午3点{number}分提醒我做第{number}件事")
    await world.say("取消所有提醒")
    assert world.replies[-1].endswith("……还有 3 条")
    assert world.peek.reminders.count(ended_at=None) == 0


async def test_every_so_many_days_between_is_a_day_more(world: World) -> None:
    await world.say("每隔两天提醒我浇花")
    assert world.replies[-1].startswith("好，每3天上午9:00提醒你：浇花 ⏰1")
    await world.say("每隔一天晚上八点提醒我吃药")
    assert world.replies[-1].startswith("好，每2天晚上8:00提醒你：吃药 ⏰2")


async def test_a_reminder_without_a_text_stands_in_the_next_opening(world: World) -> None:
    await world.say("后天提醒我")
    await world.say("/new")
    await world.say("帮我想想这个周末可以去哪里玩，有什么好推荐的吗")
    assert "⏰1" in world.last_user
    assert "到时叫一声" in world.last_user


@pytest.mark.parametrize(("answer", "day"), [("周五", 12), ("今晚", 12), ("下周", 19), ("下周五", 19)])
async def test_a_weekday_that_is_today_is_asked_about_once(world: World, answer: str, day: int) -> None:
    await world.say("提醒我周五晚上给我爸打电话")
    await world.say(answer)
    assert world.replies[0] == "周五晚上，是今天还是之后哪一天？"
    assert world.replies[1].startswith(f"好，周五（6月{day}日）晚上8:00提醒你：给你爸打电话")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("每週三晚上七點倒垃圾要提醒我", "要我每週三晚上七點提醒你「倒垃圾要提醒你」嗎？"),
        ("pills! 8am every day pls remind", "Shall I remind you 8am every day: “pills! pls remind”?"),
    ],
)
async def test_a_request_that_is_not_wholly_read_is_asked_back_where_no_model_has_tools(
    new_world: NewWorld, text: str, question: str
) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(text)
    assert world.replies == [question]
    await world.say("要" if "你" in question else "yes")
    assert "⏰1" in world.replies[-1]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("早上8:30-20号提醒我带伞", "我看到不止一个时间（早上8:30 20号），哪个时候提醒你？"),
        ("初八提醒我回娘家", "什么时候提醒你？"),
        ("初8号早上九点提醒我回娘家", "什么时候提醒你？"),
    ],
)
async def test_a_day_that_is_not_sure_is_asked_and_minutes_are_none(world: World, text: str, question: str) -> None:
    await world.say(text)
    assert world.replies == [question]


async def test_in_no_minutes_is_asked_about(world: World) -> None:
    """There is no hour that could be assumed for it."""
    await world.say("remind me in 0 minutes to go")
    assert world.replies[-1] == "in 0 minutes: at what time?"
    await world.say("at 11pm")
    assert due(world) == [("06-12 23:00", "go")]


async def test_a_bare_correction_is_of_the_reminder_set_last_and_not_of_an_older_memory(world: World) -> None:
    """What was set after a memory is what 改成10点 means, some lines on, too."""
    for line in ("记住我12月5日下午3点看牙", "谢谢", "周日提醒我剪头发", "今天天气不错", "你在干嘛", "改成10点"):
        await world.say(line)
    assert due(world) == [("06-14 10:00", "剪头发")]
    assert "⏰1" in world.replies[-1]
    assert world.peek.memories("text", disabled_at=None) == [("我12月5日下午3点看牙",)]


async def test_a_bare_correction_is_of_the_memory_that_was_kept_last(world: World) -> None:
    """The reminder before it stays."""
    await world.say("周日提醒我剪头发")
    await world.wait(1)
    for line in ("记住我12月5日下午3点看牙", "谢谢", "改成4点"):
        await world.say(line)
    assert due(world) == [("06-14 09:00", "剪头发")]
    assert "下午4点" in world.replies[-1]


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        (["哈哈", "不对，是后天"], "06-14 09:00"),
        (["哈哈", "把开会改到10点"], "06-13 10:00"),
        (["把开会的提醒推迟到后天"], "06-14 09:00"),
        (["哈哈", "改成3点"], "06-13 15:00"),
        (["哈哈", "把开会改到13点半"], "06-13 13:30"),
        (["哈哈", "开会的提醒改成11点"], "06-13 11:00"),
    ],
)
async def test_a_reminder_that_is_named_or_was_just_set_is_moved_without_a_model(
    world: World, lines: list[str], at: str
) -> None:
    """Also when something else was said since."""
    for line in ("提醒我明天开会", *lines):
        await world.say(line)
    assert due(world) == [(at, "开会")]
    assert "⏰1" in world.replies[-1]


@pytest.mark.parametrize("line", ["把考试改到10点", "把名字改成小暖", "我们把开会改到哪天"])
async def test_what_names_no_reminder_moves_none(world: World, line: str) -> None:
    """It is talk."""
    for each in ("提醒我明天开会", "哈哈", line):
        await world.say(each)
    assert due(world) == [("06-13 09:00", "开会")]


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (("提醒我明天开会", "哈哈", "把开会改到今天早上6点"), "⏰1 开会"),
        (("提醒我明天开会", "提醒我后天开会", "哈哈", "把开会改到10点"), "⏰1 开会、⏰2 开会"),
    ],
)
async def test_a_reminder_that_cannot_be_moved_is_named(world: World, lines: tuple[str, ...], named: str) -> None:
    """A wish that names one is not passed over."""
    for line in lines[:-1]:
        await world.say(line)
    before = due(world)
    await world.say(lines[-1])
    assert world.replies[-1].startswith(f"还没有改：{named}")
    assert due(world) == before
    await world.say("⏰1 改到明天11点")
    assert due(world)[0] == ("06-13 11:00", "开会")


async def test_what_recurs_gets_another_rule_and_no_single_day(world: World) -> None:
    """A day that would be dropped silently is asked about."""
    for line in ("每周二、周四晚上八点提醒我去瑜珈", "把瑜珈改到周三晚上七点半"):
        await world.say(line)
    assert world.replies[-1].startswith("还没有改：⏰1 去瑜珈")
    await world.say("瑜珈改成每周三晚上七点半")
    assert world.replies[-1].startswith("好，每周三晚上7:30提醒你：去瑜珈 ⏰1")
    assert due(world) == [("06-17 19:30", "去瑜珈")]


@pytest.mark.parametrize("line", ["今天有什么提醒", "今天有哪些提醒？", "what reminders do I have today"])
async def test_a_question_for_the_reminders_sets_none(world: World, line: str) -> None:
    await world.say(line)
    assert "⏰" not in world.replies[-1]
    await world.say("好")
    assert due(world) == []


async def test_a_reminder_is_cancelled_by_its_day(world: World) -> None:
    """Of several on that day it is asked which, by what they say or when they are."""
    for line in ("明天早上八点提醒我打卡", "明天下午三点提醒我开会", "后天早上八点叫我", "取消明天早上那个提醒"):
        await world.say(line)
    assert world.replies[-1] == "取消了：⏰1 打卡"
    await world.say("取消后天那个提醒")
    assert world.replies[-1].startswith("取消了：⏰3 周日")
    assert due(world) == [("06-13 15:00", "开会")]


@pytest.mark.parametrize("line", ["明天提醒我買牛奶，算了不用", "remind me tomorrow at 9 to buy milk, never mind"])
async def test_what_is_taken_back_in_the_same_breath_sets_nothing_and_is_not_asked_about(
    world: World, line: str
) -> None:
    await world.say(line)
    await world.say("好")
    assert due(world) == []
