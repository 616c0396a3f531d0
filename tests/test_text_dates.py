"""Dates: days, durations and holidays as a person in that place would say them."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.people import Script
from bot.text.dates import (
    DayWords,
    clock_label,
    day_start,
    duration_label,
    holiday_name,
    local_day,
    month_start,
    next_local_time,
    relative_day,
)
from tests.tables import all_cases

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
ZONES = st.sampled_from(
    [
        "Asia/Shanghai",
        "America/New_York",
        "Africa/Cairo",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "America/Havana",
        "UTC",
    ]
).map(ZoneInfo)
MOMENTS = st.integers(0, 4_000_000_000_000)
WORDS = DayWords("今天", "昨天", "明天", "{n}天前")
HOUR = 3_600_000


def ms(text: str, zone: ZoneInfo) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


@all_cases(
    ("days", "label"),
    [(0, "今天"), (-1, "昨天"), (-2, "2天前"), (-7, "7天前"), (-8, "2026-11-12"), (1, "明天"), (2, "2026-11-22")],
)
def test_near_days_have_words_and_far_days_a_date(days: int, label: str) -> None:
    today = date(2026, 11, 20)
    assert relative_day(today + timedelta(days), today, WORDS) == label


@given(st.dates(), st.dates())
def test_every_day_has_a_label(day: date, today: date) -> None:
    assert relative_day(day, today, WORDS)


def test_yesterday_ends_at_local_midnight() -> None:
    late, early = ms("2026-11-20T23:59:59", SHANGHAI), ms("2026-11-21T00:00:00", SHANGHAI)
    assert relative_day(local_day(late, SHANGHAI), local_day(early, SHANGHAI), WORDS) == "昨天"
    assert clock_label(early, SHANGHAI) == "2026-11-21 00:00"
    assert clock_label(early, ZoneInfo("UTC")) == "2026-11-20 16:00"


@all_cases(
    ("length", "label"),
    [
        (0, "0m"),
        (59_999, "0m"),
        (60_000, "1m"),
        (59 * 60_000, "59m"),
        (HOUR, "1h"),
        (HOUR + 5 * 60_000, "1h5m"),
        (24 * HOUR - 1, "23h59m"),
        (24 * HOUR, "1d"),
        (71 * HOUR, "2d"),
        (-1, "0m"),
        (float("nan"), "0m"),
        (float("inf"), "0m"),
    ],
)
def test_durations_are_rounded_down_to_the_shown_unit(length: float, label: str) -> None:
    assert duration_label(length) == label


@given(st.floats())
def test_every_duration_has_a_label(length: float) -> None:
    assert duration_label(length)[-1] in "mhd"


@given(MOMENTS, st.integers(0, 23), ZONES)
def test_the_next_four_o_clock_is_later_and_at_most_a_day_and_a_clock_change_away(
    after: int, hour: int, zone: ZoneInfo
) -> None:
    moment = next_local_time(after, hour, zone)
    assert after < moment <= after + 50 * HOUR
    assert next_local_time(moment - 1, hour, zone) == moment


@all_cases(
    ("after", "hour", "then"),
    [
        ("2026-11-20T03:59:59", 4, "2026-11-20 04:00"),
        ("2026-11-20T04:00:00", 4, "2026-11-21 04:00"),
        ("2026-03-07T12:00:00", 2, "2026-03-08 03:00"),
        ("2026-11-01T00:30:00", 1, "2026-11-01 01:00"),
        ("2026-11-01T01:00:00", 1, "2026-11-02 01:00"),
    ],
)
def test_an_hour_comes_once_a_day_also_when_clocks_change(after: str, hour: int, then: str) -> None:
    assert clock_label(next_local_time(ms(after, NEW_YORK), hour, NEW_YORK), NEW_YORK) == then


@given(MOMENTS, ZONES)
def test_a_day_and_a_month_begin_before_every_moment_in_them(at: int, zone: ZoneInfo) -> None:
    day, month = day_start(at, zone), month_start(at, zone)
    assert month <= day <= at
    assert local_day(day, zone) == local_day(at, zone)
    assert local_day(day - 1, zone) < local_day(at, zone)
    assert local_day(month, zone).day == 1


def test_a_day_with_a_leap_at_midnight_begins_after_the_leap() -> None:
    cairo = ZoneInfo("Africa/Cairo")
    at = int(datetime(2026, 4, 24, 12, tzinfo=UTC).timestamp() * 1000)
    assert clock_label(day_start(at, cairo), cairo) == "2026-04-24 01:00"


@pytest.mark.parametrize("region", ["CN", "TW", "HK", "MO"])
@pytest.mark.parametrize("day", [date(2024, 2, 9), date(2025, 1, 28), date(2026, 2, 16), date(2027, 2, 5)])
def test_new_years_eve_is_one_evening_everywhere(region: str, day: date) -> None:
    assert holiday_name(day, region, "zh-Hans") == "除夕"
    assert holiday_name(day, region, "zh-Hant") == "除夕"
    assert holiday_name(day, region, "en") == "Chinese New Year's Eve"
    assert "除夕" not in holiday_name(day - timedelta(1), region, "zh-Hans")
    assert "除夕" not in holiday_name(day + timedelta(1), region, "zh-Hans")


@all_cases(
    ("day", "region", "script", "name"),
    [
        (date(2026, 2, 17), "CN", "zh-Hans", "春节"),
        (date(2026, 2, 17), "CN", "zh-Hant", "春節"),
        (date(2027, 2, 6), "TW", "zh-Hant", "春節"),
        (date(2027, 2, 6), "HK", "zh-Hant", "農曆年初一"),
        (date(2027, 2, 6), "HK", "zh-Hans", "农历年初一"),
        (date(2026, 2, 17), "CN", "en", "Chinese New Year (Spring Festival)"),
        (date(2026, 9, 25), "CN", "zh-Hans", "中秋节"),
        (date(2026, 9, 25), "HK", "zh-Hant", "中秋節"),
        (date(2027, 9, 15), "TW", "en", "Mid-Autumn Festival"),
        (date(2026, 2, 20), "CN", "zh-Hans", "休息日"),
        (date(2026, 4, 6), "CN", "zh-Hans", "清明节（补假）"),
        (date(2026, 7, 4), "US", "zh-Hans", "Independence Day"),
        (date(2026, 11, 20), "CN", "zh-Hans", ""),
    ],
)
def test_holidays_are_named_in_the_persons_script(day: date, region: str, script: Script, name: str) -> None:
    assert holiday_name(day, region, script) == name


@settings(deadline=None, max_examples=50)
@given(st.dates(), st.sampled_from(["CN", "TW", "HK", "US", "XX", "", "中国", "cn"]))
@example(date.max, "CN")
def test_any_day_of_any_region_has_a_name_or_none(day: date, region: str) -> None:
    assert isinstance(holiday_name(day, region, "en"), str)
