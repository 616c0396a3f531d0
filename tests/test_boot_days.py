"""Days and pauses by the calendar of the person: near a change of the clocks, and wherever the machine stands."""

from zoneinfo import ZoneInfo

import pytest

from bot.prompt.since import since
from bot.prompt.unfinished import unfinished
from bot.text.dates import clock_label
from bot.text.script import Script
from tests.waking import DAY, NOW, WORDS, at, facts, memory, narrative, promise

BERLIN, NEW_YORK, SHANGHAI = "Europe/Berlin", "America/New_York", "Asia/Shanghai"


@pytest.mark.parametrize(
    ("happened", "now", "zone", "day"),
    [
        ("2026-03-28 23:30", "2026-03-29 00:10", BERLIN, "昨天"),
        ("2026-03-28 23:30", "2026-03-29 23:30", BERLIN, "昨天"),  # a day of 23 hours
        ("2026-03-28 23:30", "2026-03-30 00:10", BERLIN, "2天前"),
        ("2026-10-24 23:30", "2026-10-25 23:50", BERLIN, "昨天"),  # a day of 25 hours
        ("2026-10-25 00:10", "2026-10-25 23:50", BERLIN, "今天"),
        ("2026-10-25 23:30", "2026-10-26 00:10", BERLIN, "昨天"),
        ("2026-11-01 23:30", "2026-11-02 00:30", NEW_YORK, "昨天"),
        ("2026-03-07 23:30", "2026-03-15 00:30", NEW_YORK, "2026-03-07"),
        ("2026-03-07 23:30", "2026-03-14 23:59", NEW_YORK, "7天前"),
        ("2026-06-13 00:10", "2026-06-12 23:50", SHANGHAI, "明天"),
        ("2026-06-19 08:00", "2026-06-12 23:50", SHANGHAI, "7天后"),
        ("2026-06-20 08:00", "2026-06-12 23:50", SHANGHAI, "2026-06-20"),
    ],
)
def test_the_day_of_an_event_is_that_of_the_calendar(happened: str, now: str, zone: str, day: str) -> None:
    known = facts(memory(1, "看了极光", "event", at(happened, zone)), now=at(now, zone), zone=zone)
    assert f"- 小王：看了极光（{day}）" in narrative(known).splitlines()


def test_the_same_instant_is_another_day_for_somebody_elsewhere() -> None:
    event, now = memory(1, "看了极光", "event", at("2026-06-11 20:00", BERLIN)), at("2026-06-12 01:00", BERLIN)
    for zone, day in ((BERLIN, "昨天"), (NEW_YORK, "今天"), (SHANGHAI, "今天")):
        assert f"看了极光（{day}）" in narrative(facts(event, now=now, zone=zone)), zone


@pytest.mark.parametrize(
    ("last", "now", "zh", "hant", "en"),
    [
        ("2026-06-12 08:10", "2026-06-12 09:00", "", "", ""),
        ("2026-06-12 07:30", "2026-06-12 09:00", "隔了一个小时", "隔了一個小時", "an hour since"),
        ("2026-06-11 23:50", "2026-06-12 03:00", "隔了三个小时", "隔了三個小時", "three hours since"),
        ("2026-06-11 18:00", "2026-06-12 09:00", "隔了一天", "隔了一天", "a day since"),
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
        assert since(at(last), at(now), tz, WORDS.opening(script)) == wanted
    assert since(None, at(now), tz, WORDS.opening("en")) == ""


def test_a_pause_over_the_change_of_the_clocks_counts_days() -> None:
    tz = ZoneInfo(BERLIN)
    told = since(at("2026-03-27 09:00", BERLIN), at("2026-03-30 08:30", BERLIN), tz, WORDS.opening("zh-Hans"))
    assert told == "隔了三天"


OPEN = (
    ("待办：交报告", None), ("明天要去医院复查", "2026-06-13"), ("後天要交房租，別忘了", "2026-06-14"),
    ("下周五要交论文", "2026-06-19"), ("周一要开会", "2026-06-15"), ("6月20日要去杭州出差", "2026-06-20"),
    ("3月1日要续签", "2027-03-01"), ("还没写完论文", None), ("還沒回覆老師的郵件", None), ("记得买牛奶", None),
    ("TO-DO: fix the bike", None), ("I need to call the bank tomorrow", "2026-06-13"),
    ("I'll fly to Paris next Friday", "2026-06-19"), ("he has to hand in the essay", None),
    ("昨天说好明天要一起去跑步", "2026-06-13"),
)  # fmt: skip
DONE = (
    "昨天去了公园", "今天觉得很累", "今天得了第一名", "今天很重要", "你还记得我吗", "不需要去了", "明天不用去了", "报告已经交了",
    "明天要下雨吗？", "I don't need to go", "I had to leave early", "the trip was cancelled, no need to pack",
    "上周要交的报告交了", "I already sent what I need to send",
)  # fmt: skip


@pytest.mark.parametrize(("text", "day"), OPEN)
def test_what_is_still_to_be_done_is_found_with_its_day(text: str, day: str | None) -> None:
    task = unfinished(text, NOW, NOW, ZoneInfo(SHANGHAI))
    assert task is not None
    assert (task.due and clock_label(task.due, ZoneInfo(SHANGHAI))[:10]) == day


@pytest.mark.parametrize("text", DONE)
def test_what_is_done_or_never_was_to_be_done_is_no_task(text: str) -> None:
    assert unfinished(text, NOW, NOW, ZoneInfo(SHANGHAI)) is None


def test_a_task_whose_day_is_over_is_told_as_such_for_a_week_and_then_as_what_happened() -> None:
    said = NOW - DAY
    for days, told in (
        (0, "（昨天说的，今天到期）"),
        (1, "（2天前说的，原定昨天，已过）"),
        (7, "（2026-06-11说的，原定7天前，已过）"),
    ):
        text = narrative(facts(memory(1, "明天要交报告", "event", said), now=NOW + days * DAY))
        assert f"## 还没做完的事\n- 小王：明天要交报告{told}" in text
    late = narrative(facts(memory(1, "明天要交报告", "event", said), now=NOW + 8 * DAY))
    assert "还没做完的事" not in late
    assert "## 最近发生的事\n- 小王：明天要交报告（2026-06-11）" in late


def test_an_event_that_was_stored_with_a_day_ahead_is_due_then() -> None:
    task = unfinished("明天要交报告", NOW + DAY, NOW, ZoneInfo(SHANGHAI))
    assert task is not None
    assert task.due == NOW + DAY


def test_a_promise_is_due_by_the_calendar_of_the_person() -> None:
    due = at("2026-06-12 23:30", BERLIN)
    for zone, told in ((BERLIN, "今天到期"), (SHANGHAI, "明天到期")):
        known = facts(promises=(promise(1, "还书", NOW - DAY, due),), now=at("2026-06-12 12:00", BERLIN), zone=zone)
        assert told in narrative(known)
