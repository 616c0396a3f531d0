"""The day that a sentence is about, read at the moment it was said, and a model's word for it against the lines."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.dated import checked_when, when_in
from bot.types.when import When

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = int(datetime(2026, 6, 12, 9, 0, tzinfo=SHANGHAI).timestamp() * 1000)
"""A Friday morning."""
LABELS = {"time": "%Y-%m-%d %H:%M", "day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}


def label(when: When | None) -> str:
    """The moment as exactly as it is known; a day of every year ends with *."""
    if when is None:
        return ""
    there = datetime.fromtimestamp(when.at / 1000, UTC).astimezone(SHANGHAI)
    return there.strftime(LABELS[when.precision]) + "*" * when.yearly


@pytest.mark.parametrize(
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
        ("since March 3 I don't smoke", "2026-03-03"),
        # A day of the month alone: the coming one unless it is told as done.
        ("15号体检", "2026-06-15"),
        ("5号交房租", "2026-07-05"),
        ("10號我去了趟醫院", "2026-06-10"),
        ("The exam is on the 3rd", "2026-07-03"),
        ("On the 3rd I finally quit", "2026-06-03"),
        ("月底要交论文", "2026-06-30"),
        ("下個月8號面試", "2026-07-08"),
        ("rent is due at the end of the month", "2026-06-30"),
        # Weekdays.
        ("下周三面试", "2026-06-17"),
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
        ("He was 3rd in the race", ""),
        ("8月2号我去了海边", ""),
    ],
)
def test_a_sentence_is_about_the_day_that_people_would_take_it_for(text: str, day: str) -> None:
    assert label(when_in(text, NOW, SHANGHAI)) == day
