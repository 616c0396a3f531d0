"""Without a model: what a later line of the chat moved, called off or corrected is told no more; the rest is."""

import re

import pytest

from tests.world import World

PLANS = [
    ("周五下午三点约了理发", "理发改到周日了，老板有事", "周五"),
    ("下周二要去北京出差，三天", "北京那个出差取消了", "下周二"),
    ("后天晚上七点跟大学室友聚餐", "聚餐推迟到下个月了，室友孩子病了", "后天"),
    ("周六带乐乐去动物园，早上九点出发", "动物园不去了，下雨", "九点出发"),
    ("我明天上午十点有驾照科目三考试，紧张", "考试延到下周四了，说是设备坏了", "上午十点"),
    ("禮拜六要搬家，叫了貨車", "搬家延後一週，房東還沒清空", "禮拜六"),
    ("下週三下午兩點跟教授meeting，有點怕", "教授把meeting提前到下週一了", "下週三"),
    ("這週五要去陽明山泡溫泉", "溫泉取消啦，朋友確診", "這週五"),
    ("flying to denver on friday at 6am, ugh", "flight got moved to saturday", "friday"),
    ("dentist appointment tomorrow at 3pm", "they called, dentist is rescheduled for next week", "3pm"),
    ("im hosting a bbq on sunday, 20 people", "bbq is off, the grill died", "sunday"),
    ("dinner with my sister thursday at 7", "sister cancelled dinner on thursday, her kid is sick", "at 7"),
]
"""A plan, the line that overtakes it hours later, and words of the plan alone."""

OTHERS = [
    ("周五下午三点约了理发", "周日要去爬山"),
    ("周五下午三点约了理发", "如果面试改到周五就麻烦了"),
    ("周五下午三点约了理发", "牙医取消了我的预约"),
    ("下周二要去北京出差，三天", "上海那边的展会没取消"),
    ("dinner with my sister thursday at 7", "my brother moved to boston"),
    ("dinner with my sister thursday at 7", "what if the concert gets cancelled"),
]
"""A plan, and a line that leaves it as it is."""


async def opening(world: World) -> str:
    """What a new opening tells, hours later."""
    await world.wait(5 * 3_600)
    await world.say("我们随便聊聊天吧，最近过得怎么样呀")
    return world.turns[-1][1].content.partition("<ctx")[0]


@pytest.mark.parametrize(("plan", "later", "words"), PLANS)
async def test_a_plan_that_a_later_talk_overtook_is_not_told(world: World, plan: str, later: str, words: str) -> None:
    """It is told until then."""
    await world.say(plan)
    assert re.search(words, await opening(world))
    await world.say(later)
    assert not re.search(words, await opening(world))


@pytest.mark.parametrize(("plan", "later"), OTHERS)
async def test_another_matter_a_guess_and_a_denial_overtake_nothing(world: World, plan: str, later: str) -> None:
    """The plan is told as before."""
    await world.say(plan)
    await opening(world)
    await world.say(later)
    assert re.split("[，,]", plan, maxsplit=1)[0] in await opening(world)


async def test_the_new_day_is_told_though_its_clause_does_not_name_the_matter(world: World) -> None:
    """Both sentences of the message stand together."""
    await world.say("钢琴考级下周三，6月17日早上九点，好紧张")
    await opening(world)
    await world.say("钢琴考级改期了！！改到6月19日，老师那天有事")
    told = await opening(world)
    assert re.search("钢琴考级.*改到6月19日.*6月19日周五", told)
    assert "6月17日" not in told


async def test_a_correction_right_behind_a_line_is_told_with_it(world: World) -> None:
    """On the corrected day."""
    await world.say("周四要去看房，下午一点")
    await world.say("不对，是周三")
    assert "周四要去看房，下午一点，不对，是周三（6月17日周三" in await opening(world)


@pytest.mark.parametrize(
    ("said", "then", "line"),
    [
        ("周四要去看房，下午一点", "不对，是周三", ">周四要去看房，下午一点，不对，是周三<"),
        (
            "the viewing is on thursday at 1",
            "wait no, wednesday",
            ">the viewing is on thursday at 1, wait no, wednesday<",
        ),
        ("周四要去看房，下午一点", "周三我妹妹来", ">周四要去看房，下午一点<"),
        ("我买了一盆绿萝", "不对，是周三买的", ">我买了一盆绿萝<"),
    ],
)
async def test_a_line_that_a_new_log_shows_stands_with_its_correction(
    world: World, said: str, then: str, line: str
) -> None:
    """Only where both name a day or an hour."""
    await world.say(said)
    await world.say(then)
    await world.wait(5 * 3_600)
    await world.say("我们随便聊聊天吧，最近过得怎么样呀")
    assert line in world.turns[-1][1].content


async def test_a_task_that_was_called_off_in_a_later_talk_is_no_open_task(world: World) -> None:
    """Nor overdue when its day is over."""
    await world.say("我答应阿嬷周六回台南陪她吃饭")
    await opening(world)
    await world.say("台南不去了，阿嬷要住院检查")
    await opening(world)
    await world.wait(3 * 86_400)
    assert "回台南" not in await opening(world)


async def test_nobody_elses_plan_is_overtaken_in_their_own_talk(world: World) -> None:
    """Who says elsewhere that something is called off says it of their own."""
    await world.say("周五下午三点约了理发")
    await opening(world)
    await world.say("理发取消了", who="小李", platform="console")
    assert "理发" in await opening(world)


async def test_a_past_talk_names_its_days_by_date(world: World) -> None:
    """明天 of the day before yesterday is no tomorrow."""
    await world.say("明早要去打疫苗，社区通知的")
    await world.wait(2 * 86_400)
    told = await opening(world)
    assert "2天前：小王：6月13日早上要去打疫苗" in told
