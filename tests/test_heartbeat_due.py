"""When nuan may write first: hand-computed moments, clock changes, and what holds for any talk."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.speaking import HeartbeatRules
from bot.core.speaking import SilentChat
from bot.speaking.initiative import has_nothing_to_say, heartbeat_due, is_quiet_hour
from bot.text.dates import clock_label, local_day, local_hour
from tests.tables import all_cases

ON = HeartbeatRules(on=True)
SHANGHAI, BERLIN = "Asia/Shanghai", "Europe/Berlin"
HOUR_MS = 3_600_000


def ms(when: str, zone: str = SHANGHAI, *, fold: int = 0) -> int:
    return round(datetime.fromisoformat(when).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp() * 1000)


def silence(last: int, *, tried: int = 0, said: tuple[int, ...] = (), ignored: int = 0) -> SilentChat:
    return SilentChat(last, tried, said, ignored, 1)


def label(found: int | None, zone: str = SHANGHAI) -> str:
    return clock_label(found, ZoneInfo(zone)) if found is not None else ""


@all_cases(
    ("last", "expected"),
    [
        ("2026-06-12 15:00", "2026-06-13 15:00"),
        ("2026-06-12 21:59", "2026-06-13 21:59"),
        ("2026-06-12 22:00", "2026-06-14 09:00"),
        ("2026-06-12 23:30", "2026-06-14 09:00"),
        ("2026-06-13 03:00", "2026-06-14 09:00"),
        ("2026-06-13 08:59", "2026-06-14 09:00"),
        ("2026-06-13 09:00", "2026-06-14 09:00"),
        ("2026-06-13 09:01", "2026-06-14 09:01"),
    ],
)
def test_a_day_of_silence_and_never_between_ten_at_night_and_nine(last: str, expected: str) -> None:
    assert label(heartbeat_due(silence(ms(last)), ON, ZoneInfo(SHANGHAI))) == expected


def test_once_a_day_means_the_next_days_morning() -> None:
    rules = HeartbeatRules(on=True, silence_hours=1)
    said = ms("2026-06-12 10:00")
    one = silence(said, said=(said,), ignored=1)
    assert label(heartbeat_due(one, rules, ZoneInfo(SHANGHAI))) == "2026-06-13 09:00"
    twice = HeartbeatRules(on=True, silence_hours=1, per_day=2)
    assert label(heartbeat_due(one, twice, ZoneInfo(SHANGHAI))) == "2026-06-12 11:00"
    night = HeartbeatRules(on=True, silence_hours=1, quiet_from=0, quiet_until=0)
    assert label(heartbeat_due(one, night, ZoneInfo(SHANGHAI))) == "2026-06-13 00:00"


def test_a_try_begins_the_silence_anew_though_nothing_was_said() -> None:
    tried = silence(ms("2026-06-01 10:00"), tried=ms("2026-06-12 10:00"))
    assert label(heartbeat_due(tried, ON, ZoneInfo(SHANGHAI))) == "2026-06-13 10:00"


@all_cases(
    ("skips", "expected"),
    [
        (0, "2026-06-13 10:00"),
        (1, "2026-06-14 10:00"),
        (2, "2026-06-16 10:00"),
        (3, "2026-06-19 10:00"),
        (99, "2026-06-19 10:00"),
    ],
)
def test_each_skip_doubles_the_wait_up_to_a_week(skips: int, expected: str) -> None:
    tried = replace(silence(ms("2026-06-01 10:00"), tried=ms("2026-06-12 10:00")), skips=skips)
    assert label(heartbeat_due(tried, ON, ZoneInfo(SHANGHAI))) == expected


def test_whoever_waits_longer_than_a_week_anyway_waits_no_longer() -> None:
    rules = HeartbeatRules(on=True, silence_hours=240)
    once = replace(silence(ms("2026-06-01 10:00")), skips=1)
    assert label(heartbeat_due(once, rules, ZoneInfo(SHANGHAI))) == "2026-06-11 10:00"


@all_cases(
    ("dated", "now", "expected"),
    [
        ("2026-06-15 15:00", "", "2026-06-15 10:00"),
        ("2026-06-15 00:00", "", "2026-06-15 10:00"),
        ("2026-06-15 15:00", "2026-06-15 13:30", "2026-06-15 13:30"),
        ("2026-06-15 15:00", "2026-06-15 22:30", "2026-06-19 10:00"),
        ("2026-06-15 15:00", "2026-06-16 00:30", "2026-06-19 10:00"),
        ("2026-06-12 23:00", "", "2026-06-19 10:00"),
        ("2026-07-01 15:00", "", "2026-06-19 10:00"),
    ],
)
def test_a_day_that_matters_is_not_waited_past(dated: str, now: str, expected: str) -> None:
    tried = silence(ms("2026-06-01 10:00"), tried=ms("2026-06-12 10:00"))
    known = replace(tried, skips=9, heard_at=ms("2026-06-01 10:00"), matters=(ms(dated),))
    assert label(heartbeat_due(known, ON, ZoneInfo(SHANGHAI), ms(now) if now else 0)) == expected


@pytest.mark.parametrize(
    ("told", "heard", "expected"),
    [
        ("1990-06-15 12:00", "2026-06-01 10:00", "2026-06-15 10:00"),
        ("2027-06-15 12:00", "2026-06-01 10:00", "2026-06-15 10:00"),
        ("1990-06-15 12:00", "2026-06-15 00:10", "2026-06-22 09:00"),
        ("1990-06-12 12:00", "2026-06-01 10:00", "2026-06-19 10:00"),
    ],
)
def test_a_day_of_every_year_is_not_waited_past(told: str, heard: str, expected: str) -> None:
    tried = silence(ms("2026-06-01 10:00"), tried=ms("2026-06-12 10:00"))
    known = replace(tried, skips=9, heard_at=ms(heard), yearly=(ms(told),))
    assert label(heartbeat_due(known, ON, ZoneInfo(SHANGHAI))) == expected


def test_a_day_that_matters_has_the_rules_of_every_day() -> None:
    last, dated = ms("2026-06-14 20:00"), (ms("2026-06-15 15:00"),)
    known = replace(silence(last, ignored=2), heard_at=last, matters=dated)
    assert heartbeat_due(known, ON, ZoneInfo(SHANGHAI)) is None
    late = HeartbeatRules(on=True, quiet_from=20, quiet_until=12)
    assert label(heartbeat_due(replace(known, ignored=0), late, ZoneInfo(SHANGHAI))) == "2026-06-15 12:00"
    said = replace(known, ignored=0, heard_at=ms("2026-06-15 00:30"))
    assert label(heartbeat_due(said, ON, ZoneInfo(SHANGHAI))) == "2026-06-16 09:00", "they talked on that day"


def test_never_when_it_is_off_or_was_ignored_too_often() -> None:
    last = ms("2026-06-12 15:00")
    assert heartbeat_due(silence(last), HeartbeatRules(), ZoneInfo(SHANGHAI)) is None
    assert heartbeat_due(silence(last, ignored=1), ON, ZoneInfo(SHANGHAI)) is not None
    assert heartbeat_due(silence(last, ignored=2), ON, ZoneInfo(SHANGHAI)) is None
    assert heartbeat_due(silence(last, ignored=3), ON, ZoneInfo(SHANGHAI)) is None


@pytest.mark.parametrize(
    ("now", "expected"), [("2026-06-20 12:34", "2026-06-20 12:34"), ("2026-06-20 23:00", "2026-06-21 09:00")]
)
def test_what_was_due_long_ago_is_due_now_or_when_the_quiet_hours_end(now: str, expected: str) -> None:
    old = silence(ms("2026-06-01 15:00"))
    assert label(heartbeat_due(old, ON, ZoneInfo(SHANGHAI), ms(now))) == expected


def test_quiet_hours_may_stand_within_a_day() -> None:
    rules = HeartbeatRules(on=True, quiet_from=13, quiet_until=15)
    assert [hour for hour in range(24) if is_quiet_hour(hour, rules)] == [13, 14]
    assert label(heartbeat_due(silence(ms("2026-06-12 13:30")), rules, ZoneInfo(SHANGHAI))) == "2026-06-13 15:00"


def test_quiet_hours_that_begin_when_they_end_are_none() -> None:
    rules = HeartbeatRules(on=True, quiet_from=9, quiet_until=9)
    assert not any(is_quiet_hour(hour, rules) for hour in range(24))


def test_a_day_of_silence_is_24_hours_where_clocks_change() -> None:
    last = silence(ms("2026-03-28 10:00", BERLIN))
    assert label(heartbeat_due(last, ON, ZoneInfo(BERLIN)), BERLIN) == "2026-03-29 11:00"
    last = silence(ms("2026-10-24 11:00", BERLIN))
    assert label(heartbeat_due(last, ON, ZoneInfo(BERLIN)), BERLIN) == "2026-10-25 10:00"


def test_quiet_hours_that_end_in_the_hour_that_clocks_leap_over_end_after_the_leap() -> None:
    rules = HeartbeatRules(on=True, quiet_until=2)
    found = heartbeat_due(silence(ms("2026-03-28 01:30", BERLIN)), rules, ZoneInfo(BERLIN))
    assert label(found, BERLIN) == "2026-03-29 03:00"
    assert found == ms("2026-03-29 01:00", "UTC")


def test_the_hour_that_comes_twice_is_quiet_twice() -> None:
    rules = HeartbeatRules(on=True, quiet_until=3)
    for last in (ms("2026-10-24 02:30", BERLIN), ms("2026-10-24 03:30", BERLIN)):
        found = heartbeat_due(silence(last), rules, ZoneInfo(BERLIN))
        assert found == ms("2026-10-25 02:00", "UTC"), "03:00 in winter time"


ZONES = st.sampled_from(
    ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia"]
)
RULES = st.builds(
    HeartbeatRules,
    on=st.just(True),
    silence_hours=st.integers(1, 50),
    per_day=st.integers(1, 4),
    quiet_from=st.integers(0, 23),
    quiet_until=st.integers(0, 23),
    most_ignored=st.integers(1, 5),
)
YEAR = (ms("2026-01-01 00:00", "UTC"), ms("2026-12-31 00:00", "UTC"))


@given(
    RULES, ZONES, st.integers(*YEAR), st.lists(st.sampled_from(["ignored", "skip", "answered", "away"]), max_size=30)
)
def test_whatever_happens_the_rules_hold(rules: HeartbeatRules, zone: str, last: int, story: list[str]) -> None:
    tz, tried, ignored, not_before = ZoneInfo(zone), 0, 0, 0
    said: list[int] = []
    for step in story:
        found = heartbeat_due(silence(last, tried=tried, said=tuple(said), ignored=ignored), rules, tz, not_before)
        if ignored >= rules.most_ignored:
            assert found is None
            last, ignored = max(last, tried) + HOUR_MS, 0  # the person writes
            continue
        assert found is not None
        assert found >= max(max(last, tried) + rules.silence_hours * HOUR_MS, not_before)
        assert not is_quiet_hour(local_hour(found, tz), rules)
        assert sum(local_day(each, tz) == local_day(found, tz) for each in said) < rules.per_day
        if step == "away":
            not_before = found + 7 * HOUR_MS
            continue
        tried = found
        if step != "skip":
            said, last, ignored = [*said, found], found, ignored + 1
        if step == "answered":
            last, ignored = found + HOUR_MS // 2, 0


@all_cases(
    "text",
    [
        "skip",
        "Skip",
        " SKIP. ",
        "“skip”",
        "（skip）",
        "**skip**",
        "`skip`",
        "ｓｋｉｐ！",
        "skip\n今天没什么想说的",
        "[skip] 没什么可说的",
        "skip，没有由头",
        "Skip - no reason to write",
        "skip（没有由头）",
        "skip skip",
        "s k i p",
        "跳过",
        "跳過。",
        "<ctx>skip</ctx>",
        "我选择 skip",
        "I will skip.",
        "",
        " \n",
    ],
)
def test_skip_is_heard_however_it_is_written(text: str) -> None:
    assert has_nothing_to_say(text)


@all_cases("text", ["Skip the gym today?", "今天要不要 skip 晚饭", "skipping", "面试怎么样？", "不说了"])
def test_a_message_with_that_word_is_none(text: str) -> None:
    assert not has_nothing_to_say(text)
