"""The day by which a promise is to be kept: 明天, 下周三, 月底, tomorrow, by Friday. Pure; when unsure it names none."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo

from bot.text.dates import local_day, next_local_time
from bot.text.fold import fold

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)

_NEAR = (
    (re.compile(r"今[天晚早夜儿日]|\b(?:today|tonight|this (?:evening|afternoon))\b"), 0),
    (re.compile(r"明[天晚早儿日]|(?<!after )\btomorrow\b"), 1),
    (re.compile(r"(?<!大)后天|\bday after tomorrow\b"), 2),
    (re.compile(r"大后天"), 3),
)
_DAYS = re.compile(
    r"([0-9]{1,2}|[一二两三四五六七八九十])天(?:之内|以内|内|后|之后)|\b(?:in|within) ([0-9]{1,2}) days\b"
)
_WEEKDAY = re.compile(
    r"(?P<which>下下个?|下个?|这个?|本)?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])"
    r"|(?P<en>\b(?:this |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"
)
_DATE = re.compile(
    r"(?<![0-9])(1[0-2]|[1-9])月(3[01]|[12][0-9]|[1-9])(?:日|号)|(?<![月0-9])(3[01]|[12][0-9]|[1-9])号(?!线|楼|门)"
)
_MONTH_END = re.compile(r"(?<![下上])(?:这个?|本)?月底")
_OTHER = re.compile(
    r"下个?月|明年|下下?个?(?:周|星期|礼拜)(?![一二三四五六日天末])|\bnext (?:week|month|year)\b|\bweekend\b"
)
"""Times that are no one day."""

_NUMBERS = {char: number for number, char in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_DAYS_OF_WEEK = {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6, "末": 6}
_ENGLISH_DAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")


def due_at(text: str, at: int, tz: tzinfo) -> int | None:
    """The last millisecond of the one day that the words name as seen from `at`, ms; None without one or with several.

    A weekday alone is the next one of its name, and none on that very day; "next Friday" means two things.
    """
    folded = fold(text)
    today = local_day(at, tz)
    try:
        found = set(_days(folded, today))
    except (ValueError, OverflowError):  # the 31st of a month without one
        return None
    if len(found) != 1 or _OTHER.search(folded):
        return None
    day = found.pop()
    return _last(day, tz) if day is not None and day >= today else None


def _days(folded: str, today: date) -> Iterator[date | None]:
    for pattern, days in _NEAR:
        if pattern.search(folded):
            yield today + timedelta(days=days)
    for found in _DAYS.finditer(folded):
        number = found[1] or found[2]
        yield today + timedelta(days=_NUMBERS.get(number) or int(number))
    for found in _WEEKDAY.finditer(folded):
        yield _english(found["en"], today) if found["en"] else _weekday(found["which"] or "", found["day"], today)
    for found in _DATE.finditer(folded):
        yield _dated(found, today)
    if _MONTH_END.search(folded):
        yield _month_end(today)


def _weekday(which: str, name: str, today: date) -> date | None:
    number, monday = _DAYS_OF_WEEK[name], today - timedelta(days=today.weekday())
    if which.startswith("下"):
        return monday + timedelta(days=7 * which.count("下") + number)
    there = monday + timedelta(days=number)
    if which or name == "末":
        return there
    if there == today:
        return None
    return there if there > today else there + timedelta(days=7)


def _english(name: str, today: date) -> date | None:
    number = _ENGLISH_DAYS.index(name.rsplit(maxsplit=1)[-1].removesuffix("day"))
    ahead = (number - today.weekday()) % 7
    return None if name.startswith("next") or not ahead else today + timedelta(days=ahead)


def _dated(found: re.Match[str], today: date) -> date:
    if found[3]:
        there = today.replace(day=int(found[3]))
        return there if there >= today else (today.replace(day=1) + timedelta(days=32)).replace(day=int(found[3]))
    there = today.replace(month=int(found[1]), day=int(found[2]))
    return there if there >= today else there.replace(year=there.year + 1)


def _month_end(today: date) -> date:
    return (today.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _last(day: date, tz: tzinfo) -> int:
    """The last millisecond of a day there."""
    noon = (datetime(day.year, day.month, day.day, 12, tzinfo=tz) - _EPOCH) // _MS
    return next_local_time(noon, 0, tz) - 1
