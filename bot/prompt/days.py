"""Days and pauses as an opening tells them: 昨天, 6月4日, "June 15 (Mon), in 3 days", three days since."""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, tzinfo
from functools import lru_cache

from bot.core.clock import HOUR_MS
from bot.core.memories import Dated, Memory
from bot.text.dates import RELATIVE_DAYS, DayWords, clock_label, local_day, relative_day
from bot.text.fold import fold

CatalogueText = Callable[..., str]
"""A text of the opening catalogue by key, filled with named values."""

COUNTED_DAYS = 60
"""So far ahead days are counted; what is farther off is told in months."""

MONTH_DAYS = 30.44
"""The mean length of a month: 365.25 / 12."""

COARSE_DATES: tuple[Dated, ...] = ("month", "year")
"""What is named no more exactly than so has no day."""

_LATIN = re.compile("[a-z]+")

SHORTEST_MS = HOUR_MS
"""A shorter pause is not worth a word."""

SLEPT_MS = 20 * HOUR_MS
"""From yesterday to today it is a day only when it was about so long: last night is hours ago."""

MOST_DAYS = 30
"""Longer pauses are told in months, and from twelve of them on in years."""


@dataclass(frozen=True, slots=True)
class DayFormatter:
    """The days of one calendar as seen from `now`, ms, in the words of one language."""

    now: int
    tz: tzinfo
    words: CatalogueText
    near: DayWords

    @property
    def today(self) -> date:
        """The day that it is there."""
        return _day(self.now, self.tz)

    def day(self, at: int) -> date:
        """The day of a moment there."""
        return _day(at, self.tz)

    def told(self, at: int, dated: Dated = "") -> str:
        """When something was: 今天, 3天前, and from eight days on 6月4日; 6月 or 2025年 where no more is known."""
        day = self.day(at)
        return self.span(day, dated) if dated in COARSE_DATES else self.told_day(day)

    def told_day(self, day: date) -> str:
        """When a day was: 今天, 3天前, and from eight days on 6月4日."""
        near = abs((self.today - day).days) <= RELATIVE_DAYS
        return relative_day(day, self.today, self.near) if near else self.date_label(day)

    def dated(self, at: int) -> str:
        """A moment's date: 6月4日."""
        return self.date_label(self.day(at))

    def said(self, at: int) -> str:
        """When something was said: 6月8日说的."""
        return self.words("said", day=self.told(at))

    def ahead(self, at: int, dated: Dated = "day") -> str:
        """When something will be, and how far off that is: 6月15日周一 10:30，3天后."""
        day = self.day(at)
        return (
            self.span(day, dated) if dated in COARSE_DATES else self.on(day, self.time(at) if dated == "time" else "")
        )

    def about(self, at: int, dated: Dated) -> str:
        """The day that something is about, whether it was or will be: 6月15日，4天前."""
        day, told = self.day(at), self.told(at, dated)
        if day >= self.today:
            return self.ahead(at, dated)
        return (
            told
            if dated in COARSE_DATES or told == self.date_label(day)
            else self.words("ahead", day=self.date_label(day), far=told)
        )

    def on(self, day: date, time: str = "") -> str:
        """A day that comes, with its weekday, perhaps a time of it, and how far off it is."""
        weekday = self.words("weekday_names").split()[day.weekday()]
        label = self.words("date_weekday", date=self.date_label(day), weekday=weekday)
        return self.words("ahead", day=f"{label} {time}" if time else label, far=self.far(day))

    def over(self, at: int) -> str:
        """When something was due that nobody did: 原定6月10日，过了2天."""
        day = self.day(at)
        days = (self.today - day).days
        return self.words("overdue_one" if days == 1 else "overdue", day=self.date_label(day), n=days)

    def far(self, day: date) -> str:
        """How far off a day is: 今天, 明天, 4天后, 约3个月后."""
        days = (day - self.today).days
        if days <= 1:
            return self.near.tomorrow if days == 1 else self.near.today
        if days <= COUNTED_DAYS:
            return self.near.days_ahead.replace("{n}", str(days))
        return self.words("months_ahead", n=round(days / MONTH_DAYS))

    def time(self, at: int) -> str:
        """The time of day of a moment there, HH:MM."""
        return clock_label(at, self.tz)[11:]

    def span(self, day: date, dated: Dated) -> str:
        """A day's month, or its year: 6月, 2025年6月, 2025年."""
        month = self.words("month_names").split()[day.month - 1]
        if dated == "year":
            return self.words("only_year", year=day.year)
        return month if day.year == self.today.year else self.words("month_year", month=month, year=day.year)

    def date_label(self, day: date) -> str:
        """A day's date: 6月4日, 2025年6月4日."""
        month = self.words("month_names").split()[day.month - 1]
        key = "date" if day.year == self.today.year else "date_year"
        return self.words(key, year=day.year, month=month, day=day.day)


@lru_cache(maxsize=1024)
def _day(at: int, tz: tzinfo) -> date:
    """Of one opening the same few moments are asked for hundreds of times."""
    return local_day(at, tz)


def said_at(memory: Memory) -> int:
    """When it was said, ms; when it was stored where that is not known."""
    return memory.said_at or memory.created_at


def speaks_of_days(text: str, words: CatalogueText) -> bool:
    """Whether a text names days as seen from when it was said: 明天, next week."""
    folded = fold(text)
    latin = frozenset(_LATIN.findall(folded))
    return any(word in latin if word.isascii() else word in folded for word in words("near_days").split())


def pause_since(last: int | None, now: int, tz: tzinfo, words: CatalogueText) -> str:
    """The pause between two moments, ms, by the calendar of that zone; "" for a short one, or when nobody ever talked.

    Whole units that have passed; of months and years it says when it is more than that.
    """
    if last is None or now - last < SHORTEST_MS:
        return ""
    then, today = local_day(last, tz), local_day(now, tz)
    days = (today - then).days
    if days < 1 or (days == 1 and now - last < SLEPT_MS):
        return _told("hours", (now - last) // HOUR_MS, words)
    if days <= MOST_DAYS:
        return _told("days", days, words)
    months = _months(then, today)
    if months < 12:
        return _told("months", months, words, more=_later(then, months) < today)
    return _told("years", months // 12, words, more=_later(then, months // 12 * 12) < today)


def _told(unit: str, count: int, words: CatalogueText, *, more: bool = False) -> str:
    numbers = words("numbers").split()
    number = numbers[count - 1] if 0 < count <= len(numbers) else str(count)
    return words(f"since_{unit}{'_more' if more else ''}{'_one' if count == 1 else ''}", n=number)


def _months(then: date, today: date) -> int:
    months = (today.year - then.year) * 12 + today.month - then.month
    return months - (_later(then, months) > today)


def _later(then: date, months: int) -> date:
    """The same day so many months later; the last of that month where it is shorter."""
    year, month = divmod(then.year * 12 + then.month - 1 + months, 12)
    return date(year, month + 1, min(then.day, monthrange(year, month + 1)[1]))
