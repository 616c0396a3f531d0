"""Times ahead: what people write, in three scripts, becomes an instant, a rule or a question, never a guess."""

from calendar import monthrange
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.speaking import RemindRules
from bot.core.clock import Instant, Recurring, Unclear
from bot.language.reminders.multiple_requests import reminder_wishes
from bot.language.reminders.replies import time_reply
from bot.language.reminders.requests import reminder_wish, task_of
from bot.language.time.dates import due_in, nudge_for
from bot.language.time.moments import HourRules, joined_parts, moment_meant, time_parts
from bot.language.time.parts import lunar_day
from bot.language.time.schedule import ending, next_of, stepped, zone_named, zone_near
from bot.speaking.reminders import nudging_rules, promised_task, spoken_at
from bot.text.dates import local, ms_of
from tests.tables import all_cases

PHRASES = Path(__file__).parent / "when_phrases.tsv"
NAMES = ("小暖", "nuan")
SHANGHAI, NEW_YORK = ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York")
PIECES = st.sampled_from(
    [
        "明天",
        "下周一",
        "8点",
        "半",
        "早上",
        "晚上",
        "12月24日",
        "2月30日",
        "每天",
        "每周一",
        "提醒我",
        "开会",
        "半小时后",
        "25:61",
        "tomorrow",
        "at 8",
        "pm",
        "every",
        "Monday",
        "remind me",
        "in 3 days",
        "0",
        "99999999999",
        "点",
        "月",
        "号",
        "\x00",
        "，",
        " ",
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=7).map("".join))


def rows() -> list[tuple[str, str, str, str]]:
    lines = PHRASES.read_text("utf-8").splitlines()[1:]
    return [(phrase, now, zone, wanted) for phrase, now, zone, wanted in (line.split("\t") for line in lines)]


def shown(at: int, tz: ZoneInfo) -> str:
    return f"{local(at, tz):%Y-%m-%d %H:%M:%S}".removesuffix(":00")


def heard(phrase: str, now: str, zone: str) -> str:
    tz = ZoneInfo(zone)
    wish = reminder_wish(phrase, NAMES)
    if wish is None or wish.verb == "cancel":
        return "NONE"
    match moment_meant(wish.parts, datetime.strptime(now, "%Y-%m-%d %H:%M").replace(tzinfo=tz), wish.manner):
        case Instant(at=at):
            return shown(at, tz)
        case Recurring(rule=rule, at=at):
            return f"RULE {rule} > {shown(at, tz)}"
        case _:
            return "ASK"


def test_of_the_phrases_at_least_ninety_eight_in_a_hundred_are_right_and_none_is_silently_wrong() -> None:
    wrong = [(*row, got) for row in rows() if (got := heard(*row[:3])) != row[3]]
    silent = [row for row in wrong if row[4] not in ("ASK", "NONE")]
    assert silent == []
    assert len(wrong) <= len(rows()) * 0.02, wrong


def test_there_are_phrases_enough_in_three_scripts() -> None:
    assert len({row[0] for row in rows()}) >= 450
    assert sum(row[0].isascii() for row in rows()) > 150
    assert sum(any(char in row[0] for char in "點後週禮號兩麼") for row in rows()) > 30


@given(TEXTS, TEXTS)
def test_several_wishes_of_one_message_are_read_without_an_error(text: str, more: str) -> None:
    now = datetime(2026, 11, 18, 10, 0, tzinfo=SHANGHAI)
    for wish in reminder_wishes(f"提醒我{text}，{more}，还有{text}", NAMES):
        found = moment_meant(wish.parts, now, HourRules(hour=9))
        if isinstance(found, Instant | Recurring):
            assert found.at > ms_of(now)


@given(st.integers(1, 31), st.integers(0, 400))
def test_a_day_of_the_month_comes_once_in_every_month_until_its_end(day: int, days: int) -> None:
    at = ms_of(datetime(2026, 1, 1, tzinfo=SHANGHAI))
    last = date(2026, 1, 1) + timedelta(days=days)
    months: list[tuple[int, int]] = []
    while (then := next_of(ending(f"0 9 {day} * *", last), at, SHANGHAI)) is not None:
        there = local(then, SHANGHAI)
        assert there.date() <= last
        assert there.day == min(day, monthrange(there.year, there.month)[1])
        months.append((there.year, there.month))
        at = then
    assert len(set(months)) == len(months)
    assert len(months) >= last.month + 12 * (last.year - 2026) - 1


@given(TEXTS)
def test_no_text_raises_and_every_instant_lies_ahead(text: str) -> None:
    now = datetime(2026, 11, 18, 10, 0, tzinfo=SHANGHAI)
    for said in (text, f"提醒我 {text}", f"remind me at {text}"):
        found = moment_meant(time_parts(said), now)
        if isinstance(found, Instant | Recurring):
            assert found.at > ms_of(now)
        else:
            assert found is None or isinstance(found, Unclear)
    due = due_in(text, ms_of(now), SHANGHAI)
    assert due is None or due.at > ms_of(now)
    wish = reminder_wish(f"提醒我{text}", NAMES)
    assert wish is None or len(wish.task) <= 200
    time_reply(text, NAMES)
    task_of(text)
    assert promised_task(text) or not text
    zone_named(text)
    zone_near(text)


@given(TEXTS, TEXTS)
def test_the_same_words_mean_the_same_and_an_answer_never_raises(text: str, answer: str) -> None:
    now = datetime(2026, 11, 18, 10, 0, tzinfo=SHANGHAI)
    assert moment_meant(time_parts(text), now) == moment_meant(time_parts(text), now)
    moment_meant(joined_parts(time_parts(text), time_parts(answer)), now)


@given(st.integers(0, 59), st.integers(0, 23), st.integers(1_700_000_000_000, 1_900_000_000_000))
def test_what_comes_back_daily_comes_once_a_day_whatever_the_clocks_do(minute: int, hour: int, start: int) -> None:
    at, days = start, []
    for _ in range(5):
        found = next_of(f"{minute} {hour} * * *", at, NEW_YORK)
        assert found is not None
        assert found > at
        at = found
        days.append(local(at, NEW_YORK).date())
    assert [(after - before).days for before, after in pairwise(days)] == [1, 1, 1, 1]


def test_an_hour_that_comes_twice_is_said_once_and_one_left_out_an_hour_later() -> None:
    before = ms_of(datetime(2026, 10, 31, 12, tzinfo=NEW_YORK))
    first = next_of("30 1 * * *", before, NEW_YORK)
    assert first is not None
    second = next_of("30 1 * * *", first, NEW_YORK)
    assert [shown(at, NEW_YORK) for at in (first, second or 0)] == ["2026-11-01 01:30", "2026-11-02 01:30"]
    leap = next_of("30 2 * * *", ms_of(datetime(2027, 3, 13, 12, tzinfo=NEW_YORK)), NEW_YORK)
    assert shown(leap or 0, NEW_YORK) == "2027-03-14 03:30"


@pytest.mark.parametrize(
    ("hour", "timed", "said"),
    [(23, False, "2026-11-19 08:00"), (23, True, "2026-11-18 23:00"), (21, False, "2026-11-18 21:00")],
)
def test_only_what_names_no_time_waits_for_the_morning(hour: int, timed: bool, said: str) -> None:
    found = Instant(ms_of(datetime(2026, 11, 18, hour, tzinfo=SHANGHAI)), timed)
    assert shown(spoken_at(found, RemindRules(), SHANGHAI), SHANGHAI) == said


@all_cases(
    ("said", "due"),
    [
        ("我明天要交报告", "2026-11-19 09:00"),
        ("周五下午三点我去复诊", "2026-11-20 15:00"),
        ("I will send it on Friday", "2026-11-20 09:00"),
        ("明天下班后交", "2026-11-19 09:00"),
        ("两小时内发你", "2026-11-18 12:00"),
        ("明天凌晨去接你", ""),
        ("以后再说", ""),
        ("我每天跑步", ""),
        ("明天8点交", ""),
        ("昨天交了", ""),
    ],
)
def test_of_a_promise_one_is_reminded_when_it_says_or_at_the_hour_of_the_installation(said: str, due: str) -> None:
    at = ms_of(datetime(2026, 11, 18, 10, tzinfo=SHANGHAI))
    found = due_in(said, at, SHANGHAI)
    nudge = nudge_for(found, at, nudging_rules(RemindRules()), SHANGHAI)
    assert (shown(nudge.at, SHANGHAI) if nudge is not None else "") == due


@all_cases(
    ("said", "task"),
    [
        ("我明天把报告发给你", "把报告发给你"),
        ("我必须在周一之前把合同寄出去", "把合同寄出去"),
        ("我今晚會把碗洗好", "把碗洗好"),
        ("我三天内还你", "还你"),
        ("我明天还要开会", "开会"),
        ("I need to renew my passport tomorrow", "renew my passport"),
        ("给房东打电话", "给房东打电话"),
        ("說好週六一起吃飯", "一起吃飯"),
        ("I’m going to call Mom at 5pm tomorrow", "call Mom"),
        ("明天", "明天"),
        ("我周五（2026-01-09）前把报告给老师", "把报告给老师"),
        ("周六（9月19日）给客人做蛋糕", "给客人做蛋糕"),
    ],
)
def test_a_promise_is_told_without_who_makes_it_and_when(said: str, task: str) -> None:
    assert promised_task(said) == task


@pytest.mark.parametrize(("hour", "said"), [(7, "08:00"), (10, "10:00"), (23, "08:00")])
def test_the_hour_for_promises_keeps_the_quiet_hours(hour: int, said: str) -> None:
    due = Instant(ms_of(datetime(2026, 11, 19, 23, 59, tzinfo=SHANGHAI)), timed=False)
    nudge = nudge_for(due, 0, nudging_rules(RemindRules(commitment_hour=hour)), SHANGHAI)
    assert nudge is not None
    assert shown(nudge.at, SHANGHAI) == f"2026-11-19 {said}"
    assert nudge_for(due, 0, nudging_rules(RemindRules(commitments=False)), SHANGHAI) is None


@pytest.mark.parametrize(
    ("day", "zone", "said"),
    [
        ("2026-03-29", "Europe/Berlin", "2026-03-29 09:00"),
        ("2026-10-25", "Europe/Berlin", "2026-10-25 09:00"),
        ("2026-09-06", "America/Santiago", "2026-09-06 09:00"),
    ],
)
def test_on_a_day_when_the_clocks_change_it_is_still_the_hour_of_the_wall_clock(day: str, zone: str, said: str) -> None:
    tz = ZoneInfo(zone)
    found = due_in(day, ms_of(datetime.fromisoformat(day).replace(tzinfo=tz)) - 3 * 86_400_000, tz)
    assert found is not None
    assert not found.timed
    assert (shown(found.at, tz), shown(found.at + 1, tz)[11:]) == (f"{day} 23:59:59", "00:00")
    nudge = nudge_for(found, 0, nudging_rules(RemindRules()), tz)
    assert nudge is not None
    assert shown(nudge.at, tz) == said


@all_cases(
    ("said", "task"),
    [
        ("明天早上8点提醒我开会", "开会"),
        ("明天下午3点开会，提前10分钟提醒我", "开会"),
        ("Remind me tomorrow at 8:30 am to call Mom", "call Mom"),
        ("明天下午兩點提醒我交《報告》", "交《報告》"),
        ("我明天下午3点要开会提醒我一下", "开会"),
        ("下午五点提醒我交8号楼的钥匙", "交8号楼的钥匙"),
    ],
)
def test_what_to_remind_of_is_in_the_own_words_without_the_time(said: str, task: str) -> None:
    wish = reminder_wish(said, NAMES)
    assert wish is not None
    assert wish.task == task


@given(st.integers(2, 40), st.integers(0, 59), st.integers(0, 23), st.integers(1_700_000_000_000, 1_900_000_000_000))
def test_what_comes_every_few_days_keeps_its_distance_whatever_the_clocks_do(
    days: int, minute: int, hour: int, start: int
) -> None:
    rule = stepped(f"{minute} {hour} * * *", days, local(start, NEW_YORK).date())
    at, found = start, []
    for _ in range(4):
        at = next_of(rule, at, NEW_YORK) or 0
        found.append(local(at, NEW_YORK).date())
    assert [(after - before).days for before, after in pairwise(found)] == [days] * 3


@given(st.dates(date(2026, 3, 1), date(2055, 12, 31)), st.integers(1, 12), st.integers(0, 29))
def test_a_day_of_the_chinese_calendar_lies_ahead_within_thirteen_months(today: date, month: int, day: int) -> None:
    found = lunar_day(month, day, today)
    assert found is not None
    assert 0 <= (found - today).days < 400


@all_cases(
    ("month", "day", "year", "falls"),
    [
        (1, 1, 2026, "2026-02-17"),
        (1, 1, 2027, "2027-02-06"),
        (8, 15, 2028, "2028-10-03"),
        (6, 1, 2028, "2028-07-22"),
        (12, 0, 2030, "2030-02-02"),
        (1, 1, 2050, "2050-01-23"),
    ],
)
def test_the_chinese_calendar_is_the_one_on_the_wall(month: int, day: int, year: int, falls: str) -> None:
    assert str(lunar_day(month, day, date(year, 1, 1))) == falls
