"""Local days, hours, durations, holidays and file name stamps as functions of milliseconds since 1970 UTC and a
zone."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache, lru_cache

from bot.core.clock import HOUR_MS
from bot.core.people import Script
from bot.core.sessions import Tier
from bot.lazy_packages import load_parts_when_asked

RELATIVE_DAYS = 7
"""Older than this a day is shown as a date (seed Warm Boot: N天前 up to 7)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_DAY = timedelta(days=1)

_LUNAR_REGIONS = ("CN", "TW", "HK", "MO")
_LUNAR_NAMES: dict[str, dict[Script, str]] = {
    "eve": {"zh-Hans": "除夕", "zh-Hant": "除夕", "en": "Chinese New Year's Eve"},
    "moon": {"zh-Hans": "中秋节", "zh-Hant": "中秋節", "en": "Mid-Autumn Festival"},
}
_LUNAR_EVES = ("农历除夕", "農曆除夕", "Chinese New Year's Eve")
_SWAPPED = re.compile(r" ?[(（][^)）]*\d[^)）]*[)）]")
"""Which day a day off was swapped for: 休息日（由 2026-02-14 调休）."""
_LANGUAGES: dict[Script, tuple[str, ...]] = {
    "zh-Hans": ("zh_CN",),
    "zh-Hant": ("zh_HK", "zh_MO", "zh_TW"),
    "en": ("en_US",),
}

_STAMP = re.compile(r"\d{8}T\d{9}Z")

DAY_BEGINS, WEEK_BEGINS = 4, 0
"""At 04:00, when people have gone to bed, and on Monday (C36)."""


@dataclass(frozen=True, slots=True)
class DayWords:
    """The words for near days; `days_ago` and `days_ahead` hold {n} for the number. Without the latter it is a date."""

    today: str
    yesterday: str
    tomorrow: str
    days_ago: str
    days_ahead: str = ""


def local(ms: int, tz: tzinfo) -> datetime:
    """A moment, ms, in a zone."""
    return (_EPOCH + ms * _MS).astimezone(tz)


def ms_of(moment: datetime) -> int:
    """An aware moment as ms since 1970 UTC."""
    return (moment - _EPOCH) // _MS


def local_day(ms: int, tz: tzinfo) -> date:
    """The calendar day of a moment in a zone."""
    return local(ms, tz).date()


def local_hour(ms: int, tz: tzinfo) -> int:
    """The hour of a moment in a zone, 0-23."""
    return local(ms, tz).hour


def between_hours(hour: int, start: int, end: int) -> bool:
    """Whether a local hour, 0-23, is from `start` on and before `end`; they may cross midnight."""
    return start <= hour < end if start <= end else hour >= start or hour < end


def clock_label(ms: int, tz: tzinfo) -> str:
    """A moment in a zone as YYYY-MM-DD HH:MM."""
    return local(ms, tz).isoformat(" ", "minutes")[:16]


def time_label(ms: int, tz: tzinfo) -> str:
    """A moment in a zone as HH:MM:SS."""
    return local(ms, tz).strftime("%H:%M:%S")


def relative_day(day: date, today: date, words: DayWords) -> str:
    """今天, 昨天, 明天, N天前 and N天后 up to RELATIVE_DAYS, else YYYY-MM-DD."""
    age = (today - day).days
    if age == 0:
        return words.today
    if age == 1:
        return words.yesterday
    if age == -1:
        return words.tomorrow
    if 1 < age <= RELATIVE_DAYS:
        return words.days_ago.replace("{n}", str(age))
    if words.days_ahead and -RELATIVE_DAYS <= age < -1:
        return words.days_ahead.replace("{n}", str(-age))
    return day.isoformat()


def duration_label(ms: float) -> str:
    """Whole minutes as 5m, 1h5m, 2h, from a day on whole days as 3d; 0m for less than a minute or no duration."""
    if not math.isfinite(ms) or ms < 0:
        return "0m"
    minutes = int(ms // 60_000)
    hours = minutes // 60
    if hours >= 24:
        return f"{hours // 24}d"
    if not hours:
        return f"{minutes}m"
    return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"


def day_start(ms: int, tz: tzinfo) -> int:
    """The first moment, ms, of the local day of `ms` (01:00 where summer time begins at midnight)."""
    return moment(local_day(ms, tz), 0, tz)


def month_start(ms: int, tz: tzinfo) -> int:
    """The first moment, ms, of the local month of `ms`."""
    return moment(local_day(ms, tz).replace(day=1), 0, tz)


def moment(day: date, hour: int, tz: tzinfo) -> int:
    """The moment, ms, when it is `hour` o'clock on a day."""
    return ms_of(datetime(day.year, day.month, day.day, hour, tzinfo=tz))


def next_yearly(at: date, today: date) -> date:
    """The next day with this month and day, today or later; the 28th of February where there is no 29th."""
    for year in (today.year, today.year + 1):
        day = _in_year(at, year)
        if day >= today:
            return day
    return _in_year(at, today.year + 1)


def _in_year(at: date, year: int) -> date:
    try:
        return at.replace(year=year)
    except ValueError:
        return at.replace(year=year, day=28)


def next_local_time(after_ms: int, hour: int, tz: tzinfo) -> int:
    """The next moment, ms, strictly after `after_ms` when it is `hour` o'clock (0-23).

    Once a day: the first time where clocks go back, and where they leap over it the moment after the leap.
    """
    day = local_day(after_ms, tz)
    while (at := moment(day, hour, tz)) <= after_ms:
        day += _DAY
    return at


def next_full_hour(after_ms: int, tz: tzinfo) -> int:
    """The next moment, ms, strictly after `after_ms` when a clock of that zone shows a full hour."""
    there = local(after_ms, tz)
    return after_ms - (there.minute * 60 + there.second) * 1000 - there.microsecond // 1000 + HOUR_MS


@lru_cache(maxsize=64)
def holiday_name(day: date, region: str, script: Script) -> str:
    """The holiday of a day in a region (ISO 3166 alpha-2, "CN") in the script, or the region's own language; else "".

    In CN, TW, HK and MO also 除夕 and 中秋, where they are no public holiday.
    """
    if region in _LUNAR_REGIONS:
        feast = _lunar_feast(day)
        if feast:
            return _LUNAR_NAMES[feast][script]
    name = _holidays(region, day.year, script).get(day, "")
    # The package calls both days before the Taiwanese new year 除夕.
    return "" if region == "TW" and name.startswith(_LUNAR_EVES) else _SWAPPED.sub("", name)


def _lunar_feast(day: date) -> str:
    """ "eve", "moon" or "", as the mainland's calendar has it (it names all days of 春节)."""
    tomorrow = day + _DAY if day < date.max else day
    if _mainland(tomorrow).startswith("春节") and not _mainland(day).startswith("春节"):
        return "eve"
    return "moon" if _mainland(day) == "中秋节" else ""


def _mainland(day: date) -> str:
    return _holidays("CN", day.year, "zh-Hans").get(day, "")


@cache
def _holidays(region: str, year: int, script: Script) -> dict[date, str]:
    load_parts_when_asked("holidays.countries", "holidays.groups", "holidays.calendars")
    import holidays

    try:
        languages = holidays.country_holidays(region).supported_languages
    except NotImplementedError:
        return {}
    language = next((name for name in _LANGUAGES[script] if name in languages), None)
    return dict(holidays.country_holidays(region, years=year, language=language).items())


def stamp(ms: int) -> str:
    """Milliseconds since 1970 UTC as 20260612T010000000Z."""
    at = local(ms, UTC)
    return f"{at:%Y%m%dT%H%M%S}{at.microsecond // 1000:03}Z"


def stamp_in(name: str) -> str:
    """The last stamp in a file's name, "" for none."""
    return str((_STAMP.findall(name) or [""])[-1])


def stamp_label(text: str) -> str:
    """A stamp as people read it: 2026-06-12 01:00 UTC; "" for none."""
    return f"{text[:4]}-{text[4:6]}-{text[6:8]} {text[9:11]}:{text[11:13]} UTC" if _STAMP.fullmatch(text) else ""


def period_end(tier: Tier, at: int, tz: tzinfo) -> int:
    """When the clock hour, day or week ends, ms, in which `at` lies; a talk ends when it does itself."""
    match tier:
        case "raw":
            return at
        case "hour":
            return next_full_hour(at, tz)
        case "day":
            return next_local_time(at, DAY_BEGINS, tz)
        case "week":
            end = next_local_time(at, DAY_BEGINS, tz)
            while local_day(end, tz).weekday() != WEEK_BEGINS:
                end = next_local_time(end, DAY_BEGINS, tz)
            return end
