"""Which calendar day a named day is, counted from today, in the Gregorian and the Chinese calendar."""

import re
from calendar import monthrange
from datetime import date, timedelta

from bot.core.clock import UnclearTime
from bot.language.time.parts import Delay, NamedDay, Reading, count_zh
from bot.text.patterns import LazyPattern
from bot.text.tables import read_table

_DATA = read_table("bot.language.time", "feasts")
LUNAR_FEASTS, FEASTS_ZH, FEASTS_EN = (
    {name: (month, number) for name, (month, number) in _DATA[table].items()} for table in ("lunar", "zh", "en")
)
_NAMED_MONTHS = {"正": 1, "冬": 11, "腊": 12}
_TENTH = "初[一二三四五六七八九十]"
_NUMBER = rf"(?:{_TENTH}|廿[一二三四五六七八九]?|三十|二?十[一二三四五六七八九]?|[12]\d|30|[1-9](?!\d))"
_DAY = LazyPattern(
    rf"(?:(?:农历|阴历|旧历)(?:的)?(?P<m>正|冬|腊|十[一二]?|[一二三四五六七八九]|1[0-2]|[1-9])月|(?P<own>正|冬|腊)月)的?"
    rf"(?P<d>{_NUMBER})(?:[日号](?!点))?(?![点时:\d])"
)
_NEW_YEAR = LazyPattern(rf"(?:大|过)?年(?P<d>{_TENTH})")
_FEAST = LazyPattern(
    r"(?<![后前])(?P<feast>" + "|".join(sorted(map(re.escape, LUNAR_FEASTS), key=len, reverse=True))
    + r")(?:节|夜)?(?:当天|那天)?(?!晚会|快乐|节?[前后]|假|联欢)"
)  # fmt: skip

PAST_DAYS = 92
"""A date without a year that is over by fewer days may be meant for next year, or be a slip: it is asked."""

NIGHT_ENDS = 4
"""Before this hour 明天 may be the day that has begun: it is asked."""


def read_lunar(reading: Reading) -> None:
    """Take the days of the Chinese calendar that a text names."""
    for match in reading.take(_DAY):
        name = match["m"] or match["own"]
        month = _NAMED_MONTHS.get(name) or count_zh(name)
        reading.name_day(NamedDay("lunar", _count(match["d"]), month=month))
    for match in reading.take(_NEW_YEAR):
        reading.name_day(NamedDay("lunar", _count(match["d"]), month=1))
    for match in reading.take(_FEAST):
        month, number = LUNAR_FEASTS[match["feast"]]
        reading.name_day(NamedDay("lunar", number, month=month))


def lunar_day(month: int, number: int, today: date) -> date | None:
    """The next such day from `today` on, not of a leap month; None where there is none in sight."""
    for year in (today.year - 1, today.year, today.year + 1):
        found = _lunar_date(year, month, number)
        if found is not None and found >= today:
            return found
    return None


def lunar_days(month: int, number: int, today: date) -> list[date]:
    """Such days of the years around today, not of a leap month, the earliest first."""
    found = (_lunar_date(year, month, number) for year in range(today.year - 2, today.year + 3))
    return [one for one in found if one is not None]


def _lunar_date(year: int, month: int, number: int) -> date | None:
    row: str | None = _DATA["years"].get(str(year))
    if row is None or not 1 <= month <= 12:
        return None
    first, leap, months = row.split(":")
    place = month - 1 + (0 < int(leap) < month)
    lengths = [29 + int(bit) for bit in months]
    if number > lengths[place]:
        return None
    return date(year, int(first[:2]), int(first[2:])) + timedelta(sum(lengths[:place]) + (number or lengths[place]) - 1)


def _count(word: str) -> int:
    if word.startswith("廿"):
        return 20 + count_zh(word[1:])
    return count_zh(word.removeprefix("初"))


def date_of_named(day: NamedDay, today: date, hour: int) -> date | UnclearTime:
    """The day that is named, at this hour of `today`."""
    found = _named(day, today, hour)
    if isinstance(found, str):
        return found
    return "several" if day.on not in (None, found.weekday()) else found + timedelta(days=day.plus)


def _named(day: NamedDay, today: date, hour: int) -> date | UnclearTime:
    match day.kind:
        case "near":
            return "day" if day.number and hour < NIGHT_ENDS else today + timedelta(days=day.number)
        case "week":
            found = today + timedelta(days=day.weekday - today.weekday() + 7 * day.number)
            return found if found >= today else "past"
        case "weekend":
            found = today + timedelta(days=5 - today.weekday() + 7 * day.number)
            return found if found > today else "day"
        case "weekday":
            ahead = (day.weekday - today.weekday()) % 7
            return today + timedelta(days=ahead) if ahead else "day"
        case "next":
            return _next(day.weekday, today)
        case "date":
            return _date(day, today)
        case "feast":
            return date(today.year + ((day.month, day.number) < (today.month, today.day)), day.month, day.number)
        case "number":
            return _number(day, today)
        case "lunar":
            return lunar_day(day.month, day.number, today) or "none_such"
        case "last":
            year, month = _month(today, day.off or 0)
            return date(year, month, monthrange(year, month)[1])


def after_delay(today: date, delay: Delay) -> date:
    """The day after so many days and months; the 31st becomes the last day of a shorter month."""
    year, month = _month(today, delay.months)
    return date(year, month, min(today.day, monthrange(year, month)[1])) + timedelta(days=delay.days)


def _month(today: date, off: int) -> tuple[int, int]:
    number = today.year * 12 + today.month - 1 + off
    return number // 12, number % 12 + 1


def _next(weekday: int, today: date) -> date | UnclearTime:
    """English "next Friday": the one of next week, unless that is so near that another may be meant."""
    ahead = (weekday - today.weekday()) % 7 or 7
    if today.weekday() + ahead < 7:
        return today + timedelta(days=ahead + 7)
    return today + timedelta(days=ahead) if ahead >= 3 else "day"


def _date(day: NamedDay, today: date) -> date | UnclearTime:
    year = day.year or (today.year + day.off if day.off is not None else 0)
    try:
        found = _of_month(year or today.year, day)
        if year:
            return found if found >= today else "past"
        if found >= today:
            return found
        return "past" if (today - found).days < PAST_DAYS and day.number else _of_month(today.year + 1, day)
    except (ValueError, OverflowError):
        return "none_such"


def _of_month(year: int, day: NamedDay) -> date:
    return date(year, day.month, day.number or monthrange(year, day.month)[1])


def _number(day: NamedDay, today: date) -> date | UnclearTime:
    off = day.off
    if off is None:
        if day.number == today.day:
            return "day"
        off = int(day.number < today.day)
    try:
        found = date(*_month(today, off), day.number)
    except ValueError:
        return "none_such"
    return found if found >= today else "past"
