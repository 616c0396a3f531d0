"""The day that a sentence is about, read at the moment it was said, and a model's word for it against the lines."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from bot.core.clock import DatedMoment
from bot.language.time.dates import checked_when, date_in
from tests.bench.dates import Row, read, rows, verdict
from tests.tables import all_cases

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = int(datetime(2026, 6, 12, 9, 0, tzinfo=SHANGHAI).timestamp() * 1000)
"""A Friday morning."""
DATED = tuple(rows(Path(__file__).with_name("when_dated.tsv")))
LABELS = {"time": "%Y-%m-%d %H:%M", "day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}


def label(when: DatedMoment | None) -> str:
    """The moment as exactly as it is known; a day of every year ends with *."""
    if when is None:
        return ""
    there = datetime.fromtimestamp(when.at / 1000, UTC).astimezone(SHANGHAI)
    return there.strftime(LABELS[when.precision]) + "*" * when.yearly


@all_cases(
    ("text", "day"),
    [
        # A month and a day without a year: the nearest one, whatever was done for it.
        ("8月2号去青岛的票我订了", "2026-08-02"),
        ("租約簽了，9月1號起租", "2026-09-01"),
        ("10月3日我和阿澄领证，酒店已经付了定金", "2026-10-03"),
        ("I booked us a cabin for August 8", "2026-08-08"),
        ("We're getting married on October 3", "2026-10-03"),
        ("got tickets for the Sept 5 show!", "2026-09-05"),
        ("The surgery is scheduled for July 20 at 2pm", "2026-07-20 14:00"),
        ("7月20日下午两点做手术，定下来了", "2026-07-20 14:00"),
        ("我5月2日领了证", "2026-05-02"),
        ("On March 3 I went to the dentist", "2026-03-03"),
        ("4月18號我搬到了台中", "2026-04-18"),
        ("护照5月30号到期，要去换", "2027-05-30"),
        ("11月25日我们去看雪", "2026-11-25"),
        ("8月2号我去了海边", "2025-08-02"),
        ("On August 2 I went to the sea", "2025-08-02"),
        ("since March 3 I don't smoke", "2026-03-03"),
        # A day of the month alone: the coming one unless it is told as done.
        ("15号体检", "2026-06-15"),
        ("5号交房租", "2026-07-05"),
        ("10號我去了趟醫院", "2026-06-10"),
        ("19-20号我去北京", "2026-06-19"),
        ("19到20號去台北開會", "2026-06-19"),
        ("展览早上8:30-20号", "2026-06-20 08:30"),
        ("月初3号我去了医院", "2026-06-03"),
        ("The exam is on the 3rd", "2026-07-03"),
        ("On the 3rd I finally quit", "2026-06-03"),
        ("月底要交论文", "2026-06-30"),
        ("下個月8號面試", "2026-07-08"),
        ("rent is due at the end of the month", "2026-06-30"),
        # Weekdays.
        ("下周三面试", "2026-06-17"),
        ("we move saturday week", "2026-06-20"),
        ("下禮拜一回診", "2026-06-15"),
        ("上周五去了爬山", "2026-06-05"),
        ("周二我有课", "2026-06-16"),
        ("周二我摔了一跤", "2026-06-09"),
        ("約了週六看房", "2026-06-13"),
        ("I fly out next Tuesday", "2026-06-16"),
        ("Monday's meeting is at 10:30am", "2026-06-15 10:30"),
        ("On Tuesday I crashed my bike", "2026-06-09"),
        ("I was at the vet last Friday", "2026-06-05"),
        # Counted, with a year, of a feast, of the Chinese calendar.
        ("两周后比赛", "2026-06-26"),
        ("三個月後我就畢業了", "2026-09"),
        ("in two weeks we move", "2026-06-26"),
        ("I'll be done in three months", "2026-09"),
        ("明年3月8日开展", "2027-03-08"),
        ("去年11月2號我們分手", "2025-11-02"),
        ("the wedding is on March 8 next year", "2027-03-08"),
        ("明年我们办婚礼，3月8号", "2027-03-08"),
        ("中秋节回老家", "2026-09-25"),
        ("We fly home for Christmas", "2026-12-25"),
        ("I start the job in September", "2026-09"),
        # Ranges begin; a weekday beside a day is the same day; what was moved is on its new day.
        ("7月3日到5日在杭州出差", "2026-07-03"),
        ("The fair runs from July 3 to 5", "2026-07-03"),
        ("3-5 July we're in Rome", "2026-07-03"),
        ("7月6日（周一）开庭", "2026-07-06"),
        ("会从15号改到18号了", "2026-06-18"),
        ("The call moved from Monday to Wednesday", "2026-06-17"),
        ("今天订了8月2号的机票", "2026-08-02"),
        ("昨天医生说手术定在7月3号", "2026-07-03"),
        ("明天早上八点半面試", "2026-06-13 08:30"),
        # With the spaces that some keyboards put around figures.
        ("6 月 20 日下午 3 點要去看牙醫", "2026-06-20 15:00"),
        ("我老公下个月 14 号去高雄出差", "2026-07-14"),
        ("2027 年 7 月 1 日搬家", "2027-07-01"),
        # Every year.
        ("我妈的生日是3月8号", "2027-03-08*"),
        ("my birthday is July 9", "2026-07-09*"),
        ("每年10月3日是我們的紀念日", "2026-10-03*"),
        # No one day.
        ("我每周三去游泳", ""),
        ("I swim every Monday", ""),
        ("我怕狗", ""),
        ("下周很忙", ""),
        ("I may march on", ""),
        ("坐3号线到8号楼", ""),
        ("我初8号去北京", ""),
        ("He was 3rd in the race", ""),
    ],
)
def test_a_sentence_is_about_the_day_that_people_would_take_it_for(text: str, day: str) -> None:
    assert label(date_in(text, NOW, SHANGHAI)) == day


LINES = (
    "婚礼酒店订了，10月3号办",
    "下周三上午十点半面试",
    "my rent is due on the 1st",
    "今天我升职了",
    "我生日是5月2号",
    "三个月后毕业",
    "We move next Friday",
    "8月去冰岛",
    "3月3日到5日去了杭州",
)


@all_cases(
    ("when", "line", "kept"),
    [
        ("2026-10-03", 0, "2026-10-03"),
        ("2025-10-03", 0, ""),
        ("2027-10-03", 0, ""),
        ("2026-10-04", 0, ""),
        ("2026-10", 0, "2026-10"),
        ("2025-10", 0, ""),
        ("2026", 0, "2026"),
        ("2025", 0, ""),
        ("--10-03", 0, "2026-10-03*"),
        ("2026-06-17T10:30", 1, "2026-06-17 10:30"),
        ("2026-06-17 10:30:00", 1, "2026-06-17 10:30"),
        ("2026-06-17T15:00", 1, "2026-06-17"),
        ("2026-06-24T10:30", 1, ""),
        ("2026-07-01", 2, "2026-07-01"),
        ("2026-08-01", 2, ""),
        ("2026-06-12", 3, "2026-06-12"),
        ("2025-06-12", 3, ""),
        ("2026-06-13", 3, ""),
        ("--05-02", 4, "2027-05-02*"),
        ("--05-03", 4, ""),
        ("2026-09", 5, "2026-09"),
        ("2026-09-12", 5, "2026-09-12"),
        ("2026-09-20", 5, ""),
        ("2026-06-19", 6, "2026-06-19"),
        ("2026-08", 7, "2026-08"),
        ("2026-08-15", 7, ""),
        ("2025-08", 7, ""),
        ("2026-03-03", 8, "2026-03-03"),
        ("2027-03-03", 8, ""),
        ("2026-06-05", 8, ""),
        ("", 0, ""),
        ("soon", 0, ""),
        ("2026-13-40", 0, ""),
        ("--02-30", 0, ""),
        ("2026-10-03T25:99", 0, ""),
        ("9999-12-31", 0, ""),
    ],
)
def test_a_models_word_for_a_day_is_taken_only_if_the_line_names_it(when: str, line: int, kept: str) -> None:
    assert label(checked_when(when, [(LINES[line], NOW)], SHANGHAI)) == kept


def test_each_line_is_read_at_its_own_moment_and_an_hour_may_stand_in_another_line() -> None:
    lines = [("明天面试", NOW), ("几点？", NOW), ("下午两点", NOW + 3 * 86_400_000)]
    assert label(checked_when("2026-06-13T14:00", lines, SHANGHAI)) == "2026-06-13 14:00"
    assert label(checked_when("2026-06-16T14:00", lines, SHANGHAI)) == ""
    assert checked_when("2026-06-13", [], SHANGHAI) is None


@given(
    st.dates(date(2024, 1, 1), date(2040, 12, 31)),
    st.integers(-360, 360),
    st.sampled_from(("{m}月{d}号的票订好了", "{m}月{d}日要交稿", "I've booked it for {e}", "{e} is my first day")),
)
def test_what_is_to_come_is_the_next_such_day_and_no_other_year_is_taken(today: date, off: int, text: str) -> None:
    day = today + timedelta(days=off)
    if (day.month, day.day) == (2, 29) or day == today:
        return
    said = int(datetime(today.year, today.month, today.day, 12, tzinfo=SHANGHAI).timestamp() * 1000)
    line = text.format(m=day.month, d=day.day, e=f"{day:%B} {day.day}")
    when = date_in(line, said, SHANGHAI)
    assert when is not None
    found = datetime.fromtimestamp(when.at / 1000, UTC).astimezone(SHANGHAI).date()
    assert (found.month, found.day) == (day.month, day.day)
    assert abs((found - today).days) <= 366
    if "订好" not in text:
        assert found > today
    assert checked_when(found.isoformat(), [(line, said)], SHANGHAI) == when
    for wrong in (found.replace(year=found.year - 1), found.replace(year=found.year + 1)):
        assert checked_when(wrong.isoformat(), [(line, said)], SHANGHAI) is None


@given(st.text(max_size=60), st.text(max_size=20), st.integers(-60_000_000_000_000, 250_000_000_000_000))
def test_any_text_is_read_and_any_word_checked_without_an_error(text: str, when: str, at: int) -> None:
    for each in (text, f"3月5日{text}", f"{text} on May 3, next year {when}", f"下周{text}周三{when}号"):
        date_in(each, at, SHANGHAI)
        checked_when(when, [(each, at)], SHANGHAI)
        checked_when("2026-06-13T10:00", [(each, at)], SHANGHAI)


def test_two_hundred_dated_sentences_are_read_in_the_right_year() -> None:
    told: dict[str, list[Row]] = {}
    for row in DATED:
        told.setdefault(verdict(row, read(row)), []).append(row)
    assert len(DATED) == 200
    assert told.get("wrong year", []) == []
    assert told.get("wrong day", []) == []
    assert len(told.get("unread", [])) + len(told.get("made up", [])) <= 4


@all_cases("row", rows(Path(__file__).with_name("when_told.tsv")))
def test_what_is_done_or_still_to_come_is_told_by_the_words_about_that_day(row: Row) -> None:
    assert read(row) == row.expected


def test_of_each_dated_sentence_only_its_own_year_is_taken_from_a_model() -> None:
    for row in DATED:
        tz = ZoneInfo(row.zone)
        said = int(datetime.fromisoformat(row.said_at).replace(tzinfo=tz).timestamp() * 1000)
        if not row.expected:
            continue
        day = date.fromisoformat(row.expected + "-01" * (len(row.expected) == 7))
        assert checked_when(row.expected, [(row.text, said)], tz) is not None, row
        for year in (day.year - 1, day.year + 1):
            wrong = f"{year}{row.expected[4:]}"
            if wrong != row.said_at[: len(wrong)]:
                assert checked_when(wrong, [(row.text, said)], tz) is None, (row, wrong)
