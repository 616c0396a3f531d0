"""Days and pauses by the calendar of the person: near a change of the clocks, and wherever the machine stands."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from bot.core.memories import Dated
from bot.core.people import Script
from bot.prompt.days import pause_since
from tests.tables import all_cases
from tests.waking import DAY, NOW, WORDS, at, facts, memory, narrative, opened, promise
from tests.world import World

BERLIN, NEW_YORK, SHANGHAI = "Europe/Berlin", "America/New_York", "Asia/Shanghai"


@all_cases(
    ("happened", "now", "zone", "day"),
    [
        ("2026-03-28 23:30", "2026-03-29 00:10", BERLIN, "昨天"),
        ("2026-03-28 23:30", "2026-03-29 23:30", BERLIN, "昨天"),  # a day of 23 hours
        ("2026-03-28 23:30", "2026-03-30 00:10", BERLIN, "2天前"),
        ("2026-10-24 23:30", "2026-10-25 23:50", BERLIN, "昨天"),  # a day of 25 hours
        ("2026-10-25 00:10", "2026-10-25 23:50", BERLIN, "今天"),
        ("2026-10-25 23:30", "2026-10-26 00:10", BERLIN, "昨天"),
        ("2026-11-01 23:30", "2026-11-02 00:30", NEW_YORK, "昨天"),
        ("2026-03-07 23:30", "2026-03-15 00:30", NEW_YORK, "3月7日"),
        ("2026-03-07 23:30", "2026-03-14 23:59", NEW_YORK, "7天前"),
    ],
)
def test_the_day_of_an_event_is_that_of_the_calendar(happened: str, now: str, zone: str, day: str) -> None:
    known = facts(memory(1, "看了极光", "event", at(happened, zone)), now=at(now, zone), zone=zone)
    assert f"- 小王：看了极光（{day}）" in narrative(known).splitlines()


def test_the_same_instant_is_another_day_for_somebody_elsewhere() -> None:
    event, now = memory(1, "看了极光", "event", at("2026-06-11 20:00", BERLIN)), at("2026-06-12 01:00", BERLIN)
    for zone, day in ((BERLIN, "昨天"), (NEW_YORK, "今天"), (SHANGHAI, "今天")):
        assert f"看了极光（{day}）" in narrative(facts(event, now=now, zone=zone)), zone


@all_cases(
    ("last", "now", "zh", "hant", "en"),
    [
        ("2026-06-12 08:10", "2026-06-12 09:00", "", "", ""),
        ("2026-06-12 07:30", "2026-06-12 09:00", "隔了一个小时", "隔了一個小時", "an hour since"),
        ("2026-06-11 23:50", "2026-06-12 03:00", "隔了三个小时", "隔了三個小時", "three hours since"),
        ("2026-06-11 18:00", "2026-06-12 09:00", "隔了十五个小时", "隔了十五個小時", "15 hours since"),
        ("2026-06-11 12:00", "2026-06-12 09:00", "隔了一天", "隔了一天", "a day since"),
        ("2026-06-10 23:50", "2026-06-12 00:10", "隔了两天", "隔了兩天", "two days since"),
        ("2026-06-09 09:00", "2026-06-12 09:00", "隔了三天", "隔了三天", "three days since"),
        ("2026-05-20 09:00", "2026-06-12 09:00", "隔了二十三天", "隔了二十三天", "23 days since"),
        ("2026-05-12 09:00", "2026-06-12 08:00", "隔了一个月", "隔了一個月", "a month since"),
        ("2026-04-10 09:00", "2026-06-12 09:00", "隔了两个多月", "隔了兩個多月", "over two months since"),
        ("2026-05-02 09:00", "2026-06-12 09:00", "隔了一个多月", "隔了一個多月", "over a month since"),
        ("2026-01-31 09:00", "2026-03-31 09:00", "隔了两个月", "隔了兩個月", "two months since"),
        ("2025-06-12 09:00", "2026-06-12 09:00", "隔了一年", "隔了一年", "a year since"),
        ("2023-01-12 09:00", "2026-06-12 09:00", "隔了三年多", "隔了三年多", "over three years since"),
        ("2026-06-12 10:00", "2026-06-12 09:00", "", "", ""),
    ],
)
def test_the_pause_is_told_in_words(last: str, now: str, zh: str, hant: str, en: str) -> None:
    tz = ZoneInfo(SHANGHAI)
    told: dict[Script, str] = {"zh-Hans": zh, "zh-Hant": hant, "en": en}
    for script, wanted in told.items():
        assert pause_since(at(last), at(now), tz, WORDS.opening(script)) == wanted
    assert pause_since(None, at(now), tz, WORDS.opening("en")) == ""


def test_a_pause_over_the_change_of_the_clocks_counts_days() -> None:
    tz = ZoneInfo(BERLIN)
    told = pause_since(at("2026-03-27 09:00", BERLIN), at("2026-03-30 08:30", BERLIN), tz, WORDS.opening("zh-Hans"))
    assert told == "隔了三天"


def test_a_task_is_told_by_its_day_till_then_and_for_a_week_as_one_that_is_over() -> None:
    due = promise(1, "交报告", NOW - DAY, NOW + DAY)
    for days, told in (
        (0, "6月13日周六，明天"),
        (1, "6月13日周六，今天"),
        (2, "原定6月13日，过了1天"),
        (8, "原定6月13日，过了7天"),
    ):
        assert f"## 即将到来\n- ✓1 小王：交报告（{told}）" in narrative(facts(promises=(due,), now=NOW + days * DAY))
    assert "交报告" not in narrative(facts(promises=(due,), now=NOW + 9 * DAY))


def test_an_event_ahead_is_ahead_till_an_hour_after_it_began_and_then_it_happened() -> None:
    event = memory(1, "面试", "event", at("2026-06-15 10:30"), dated="time", said=NOW - DAY)
    for now, heading, told in (
        ("2026-06-11 09:00", "即将到来", "6月15日周一 10:30，4天后"),
        ("2026-06-14 23:00", "即将到来", "6月15日周一 10:30，明天"),
        ("2026-06-15 11:00", "即将到来", "6月15日周一 10:30，今天"),
        ("2026-06-15 12:00", "最近发生的事", "今天"),
        ("2026-06-16 00:10", "最近发生的事", "昨天"),
        ("2026-06-30 09:00", "最近发生的事", "6月15日"),
    ):
        assert narrative(facts(event, now=at(now))).endswith(
            f"## {heading}\n- {'#1 ' * (heading == '即将到来')}小王：面试（{told}）"
        )


@all_cases(
    ("dated", "when", "zh", "en"),
    [
        ("day", "2026-08-20 00:00", "8月20日周四，约2个月后", "August 20 (Thu), in about 2 months"),
        ("day", "2027-05-03 00:00", "2027年5月3日周一，约11个月后", "May 3, 2027 (Mon), in about 11 months"),
        ("month", "2026-09-01 00:00", "9月", "September"),
        ("month", "2027-02-01 00:00", "2027年2月", "February 2027"),
        ("year", "2028-01-01 00:00", "2028年", "2028"),
    ],
)
def test_what_is_far_off_is_told_as_exactly_as_it_is_known(dated: Dated, when: str, zh: str, en: str) -> None:
    known = facts(memory(1, "婚礼", "event", at(when), dated=dated, said=NOW - DAY))
    assert f"婚礼（{zh}）" in narrative(known)
    assert f"婚礼 ({en})" in narrative(known, "en")


def test_a_month_that_was_named_lies_ahead_till_it_is_over() -> None:
    wedding = memory(1, "婚礼", "event", at("2026-09-01 00:00"), dated="month", said=NOW)
    for now, heading in (("2026-09-30 20:00", "即将到来"), ("2026-10-01 08:00", "最近发生的事")):
        assert f"## {heading}\n- {'#1 ' * (heading == '即将到来')}小王：婚礼（9月）" in narrative(
            facts(wedding, now=at(now))
        )


def test_words_that_count_from_another_day_come_with_the_day_they_were_said() -> None:
    for text, said, told in (
        ("明天去面试", NOW - DAY, "6月12日周五，今天；昨天说的"),
        ("去面试", NOW - DAY, "6月12日周五，今天"),
    ):
        known = facts(memory(1, text, "event", NOW, dated="day", said=said))
        assert f"{text}（{told}）" in narrative(known)
    assert "下周去面试（6月18日周四，6天后）" in narrative(
        facts(memory(1, "下周去面试", "event", NOW + 6 * DAY, dated="day", said=NOW - 60_000))
    )
    assert "昨天搬了家（2天前；昨天说的）" in narrative(
        facts(memory(1, "昨天搬了家", "event", NOW - 2 * DAY, dated="day", said=NOW - DAY))
    )


def test_a_birthday_is_told_from_a_week_before_and_otherwise_a_fact() -> None:
    born = memory(1, "妈妈的生日是6月15日", "anniversary", at("1962-06-15 00:00"), dated="day", said=NOW - 99 * DAY)
    for now, told in (
        ("2026-06-07 12:00", None),
        ("2026-06-08 00:10", "6月15日周一，7天后"),
        ("2026-06-15 08:00", "6月15日周一，今天"),
        ("2026-06-16 00:10", None),
    ):
        text = narrative(facts(born, now=at(now)))
        assert ("## 即将到来" in text) == (told is not None)
        assert f"妈妈的生日是6月15日（{told or '3月5日说的'}）" in text


@pytest.mark.parametrize(("now", "day"), [("2027-02-21 09:00", "2月28日周日"), ("2028-02-27 09:00", "2月29日周二")])
def test_who_was_born_on_a_leap_day_has_their_birthday_every_year(now: str, day: str) -> None:
    born = memory(1, "生日2月29日", "anniversary", at("2000-02-29 00:00"), dated="day", said=NOW)
    assert f"生日2月29日（{day}，" in narrative(facts(born, now=at(now)))


def test_the_same_thing_noticed_twice_is_told_once_with_what_is_known_most_exactly() -> None:
    known = facts(
        memory(1, "去字节面试", "event", at("2026-06-15 10:30"), dated="time", said=NOW - DAY),
        memory(2, "看牙", "event", at("2026-06-15 09:00"), dated="time", said=NOW - DAY),
        promises=(
            promise(1, "面试", NOW - DAY, at("2026-06-15 23:59"), "day"),
            promise(2, "面试", NOW - DAY, NOW + 9 * DAY, "day"),
        ),
    )
    (ahead,) = [section for section in opened(known).sections if section.name == "ahead"]
    assert [(line.text, line.when, line.memory, line.commitment) for line in ahead.lines] == [
        ("看牙", "6月15日周一 09:00，3天后", 2, 0),
        ("去字节面试", "6月15日周一 10:30，3天后", 1, 1),
        ("面试", "6月21日周日，9天后", 0, 2),
    ]


def test_to_whom_something_was_promised_is_told_where_its_words_do_not_say_so() -> None:
    to_granny = replace(promise(1, "周末打电话", NOW, None), toward="奶奶")
    assert "- ✓1 小王：周末打电话，答应奶奶的（没有定日子，今天说的）" in narrative(facts(promises=(to_granny,)))
    said = replace(to_granny, text="给奶奶打电话")
    assert "- ✓1 小王：给奶奶打电话（没有定日子，今天说的）" in narrative(facts(promises=(said,)))


def test_a_promise_is_due_by_the_calendar_of_the_person() -> None:
    due = at("2026-06-12 23:30", BERLIN)
    for zone, told in ((BERLIN, "6月12日周五，今天"), (SHANGHAI, "6月13日周六，明天")):
        known = facts(promises=(promise(1, "还书", NOW - DAY, due),), now=at("2026-06-12 12:00", BERLIN), zone=zone)
        assert told in narrative(known)


def test_what_comes_sooner_is_not_left_out_for_what_comes_later() -> None:
    """Though a shorter line of a later day would still have room; and what is known besides takes none of it."""
    day = at("2026-06-12 00:00")
    plans = [f"第{n}件很早就和大家一起商量好了要去做的事情" for n in range(8, 14)]
    known = facts(
        *(memory(n, f"第{n}个朋友住在很远很远的城市里面", "identity") for n in range(1, 30)),
        *(
            memory(100 + n, text, "event", day + n * DAY, said=NOW - DAY, dated="day")
            for n, text in enumerate((*plans, "还书"), 8)
        ),
    )
    for limit in range(150, 600, 15):
        told = [number for number in opened(known, limit=limit).told("memory") if number > 100]
        assert told == [*range(108, 115)][: len(told)]
    assert len(told) == 7


async def test_a_reminder_that_comes_back_says_how_often(world: World) -> None:
    await world.say("每天早上七点五十提醒我打给妈妈")
    await world.say("/new")
    await world.say("最近有什么好看的电影推荐给我吗")
    assert "- ⏰1 小王：提醒：打给妈妈（每天早上7:50，明天）" in world.last_user
