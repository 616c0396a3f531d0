"""Times in questions: what people name is resolved in their own zone, in three ways of writing."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from bot.language.time.dates import days_ahead, spans
from tests.tables import all_cases

NOW = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai."""
SHANGHAI = ZoneInfo("Asia/Shanghai")
DAYS = st.dates(datetime(1990, 1, 1).date(), datetime(2060, 12, 31).date())  # noqa: DTZ001 - days have no zone
ZONES = st.sampled_from(["Asia/Shanghai", "America/Sao_Paulo", "Pacific/Apia", "Europe/London", "UTC"])
EDGES = (-62_000_000_000_000, -1, 0, NOW, 253_300_000_000_000)


def days(text: str, now: int = NOW) -> list[tuple[str, str]]:
    """First and last day of each time."""
    return [
        (str(_local(start).date()), str((_local(end) - timedelta(milliseconds=1)).date()))
        for start, end in spans(text, now, SHANGHAI)
    ]


def _local(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(SHANGHAI)


@all_cases(
    ("text", "first", "last"),
    [
        ("昨天我说了什么", "2026-06-11", "2026-06-11"),
        ("前天吃的什麼", "2026-06-10", "2026-06-10"),
        ("上周三去了哪", "2026-06-03", "2026-06-03"),
        ("上禮拜三去了哪", "2026-06-03", "2026-06-03"),
        ("上个星期", "2026-06-01", "2026-06-07"),
        ("上上周末", "2026-05-30", "2026-05-31"),
        ("上个月的账单", "2026-05-01", "2026-05-31"),
        ("上個月5號", "2026-05-05", "2026-05-05"),
        ("5月2日", "2026-05-02", "2026-05-02"),
        ("我在8月2号", "2025-08-02", "2025-08-02"),
        ("十二月二十五日", "2025-12-25", "2025-12-25"),
        ("去年夏天去了哪里", "2025-06-01", "2025-08-31"),
        ("前年3月", "2024-03-01", "2024-03-31"),
        ("二〇二三年五月", "2023-05-01", "2023-05-31"),
        ("2023年5月2日", "2023-05-02", "2023-05-02"),
        ("三天前", "2026-06-09", "2026-06-09"),
        ("兩個月前", "2026-04-01", "2026-04-30"),
        ("星期三", "2026-06-10", "2026-06-10"),
        ("yesterday", "2026-06-11", "2026-06-11"),
        ("the day before yesterday", "2026-06-10", "2026-06-10"),
        ("two days ago", "2026-06-10", "2026-06-10"),
        ("last May", "2026-05-01", "2026-05-31"),
        ("in August", "2025-08-01", "2025-08-31"),
        ("on 3 May 2023", "2023-05-03", "2023-05-03"),
        ("May 3rd, 2023", "2023-05-03", "2023-05-03"),
        ("on May 2nd", "2026-05-02", "2026-05-02"),
        ("last Monday", "2026-06-08", "2026-06-08"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("last weekend", "2026-06-06", "2026-06-07"),
        ("2023-05-02", "2023-05-02", "2023-05-02"),
        ("summer of 2022", "2022-06-01", "2022-08-31"),
    ],
)
def test_what_people_name_is_the_day_they_mean(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


def test_a_night_ends_in_the_morning() -> None:
    ((start, end),) = spans("昨晚 海獭 故事 结尾", NOW, SHANGHAI)
    assert (str(_local(start))[:16], str(_local(end))[:16]) == ("2026-06-11 17:00", "2026-06-12 05:00")


@all_cases(
    "text", ["以前说过的", "May I ask you", "前面提到的", "一号线", "13月5日", "2月30日", "I may march on", "", "今"]
)
def test_what_is_no_time_names_none(text: str) -> None:
    assert spans(text, NOW, SHANGHAI) == ()


@given(DAYS, DAYS, ZONES)
def test_a_written_day_is_that_day_in_the_zone_of_the_asker(day: datetime, today: datetime, zone: str) -> None:
    tz = ZoneInfo(zone)
    now = int(datetime(today.year, today.month, today.day, 12, tzinfo=tz).timestamp() * 1000)
    start = int(datetime(day.year, day.month, day.day, tzinfo=tz).timestamp() * 1000)
    for text in (f"{day.year}年{day.month}月{day.day}日", f"{day:%Y-%m-%d}", f"{day:%B} {day.day}, {day.year}"):
        ((found, end),) = spans(text, now, tz)
        assert found == start
        assert timedelta(hours=22) <= timedelta(milliseconds=end - found) <= timedelta(hours=26)


@given(DAYS, st.integers(0, 400))
def test_a_day_without_a_year_is_the_latest_one(today: datetime, back: int) -> None:
    day = today - timedelta(days=back)
    now = int(datetime(today.year, today.month, today.day, 12, tzinfo=SHANGHAI).timestamp() * 1000)
    ((start, _),) = spans(f"{day.month}月{day.day}号", now, SHANGHAI)
    assert start <= now
    assert (_local(start).month, _local(start).day) == (day.month, day.day)
    if (day.month, day.day) != (2, 29):
        assert now - start <= 367 * 86_400_000


PARTS = (
    *"上下个本去前昨大今明年月周天日号末半三十二百零九春夏 -/",
    "last ",
    "next ",
    "in ",
    "may ",
    "31",
    "2023",
    "9999",
    "0 ",
    "ago",
    "week ",
    "two ",
    "of ",
    "the ",
)
WORDS = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


@given(WORDS | st.text(max_size=60), st.sampled_from(EDGES), ZONES)
def test_whatever_is_asked_a_time_ends_after_it_begins(text: str, now: int, zone: str) -> None:
    assert all(start < end for start, end in spans(text, now, ZoneInfo(zone)))


@all_cases(
    ("text", "numbers"),
    [
        ("下周四晚上看电影", (18,)),
        ("19號或21號都行", (19, 21)),
        ("a week on Saturday", (20,)),
        ("周末去爬山", (13, 14)),
        ("13号到15号都在", (13, 14, 15)),
        ("13号到29号都在", ()),
        ("周一到周五都上班", ()),
        ("今天好累，昨天也是", ()),
        ("下周再说", ()),
        ("every Thursday, 每周四", ()),
    ],
)
def test_the_days_ahead_that_a_message_names(text: str, numbers: tuple[int, ...]) -> None:
    found = sorted(days_ahead(text, NOW, SHANGHAI))
    assert [(each.month, each.day) for each in found] == [(6, number) for number in numbers]
