"""Ranges of days as people name them, counted from today; independent of language and zone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

DAY = timedelta(days=1)

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The first month of each season of three months, as the north has them."""

OpenPart = Literal["", "year", "month", "week", "either"]
"""What a name leaves open: 5月2日 and Christmas the year, 15号 the month, Friday the week.

In 3/4 either number may be the month.
"""


@dataclass(frozen=True, slots=True)
class DateRange:
    """From one day to the last, both included; `hours` narrows them: from an hour of the first day to one after it."""

    first: date
    last: date
    hours: tuple[int, int] = (0, 24)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a text names, from one index to another: each stretch that it can be, the earliest first.

    `counted` is the very day a count of weeks or months comes to, where people mean the time around it. `passing`: a
    question is not about it, though it names it (over the weekend, by Friday, at Christmas).
    """

    start: int
    end: int
    choices: tuple[DateRange, ...]
    left: OpenPart = ""
    counted: date | None = None
    passing: bool = False

    def latest(self, today: date) -> DateRange:
        """The latest stretch that has begun; where none has, the last one."""
        return next((one for one in reversed(self.choices) if one.first <= today), self.choices[-1])


@dataclass(frozen=True, slots=True)
class TimeReading:
    """What a name can mean, before it is known where it stands."""

    choices: tuple[DateRange, ...]
    left: OpenPart = ""
    counted: date | None = None


def only(days: DateRange | None) -> TimeReading | None:
    """A name that leaves nothing open."""
    return TimeReading((days,)) if days else None


def each(made: Iterable[DateRange | None], left: OpenPart) -> TimeReading | None:
    """A name that can be any of these."""
    choices = tuple(days for days in made if days is not None)
    return TimeReading(choices, left) if choices else None


def every_year(today: date, made: Callable[[int], DateRange | None]) -> TimeReading | None:
    """What comes once a year, or on 29 February."""
    return each((made(today.year + off) for off in range(-9, 10)), "year")


def every_month(today: date, number: int) -> TimeReading | None:
    """The day of that number in its month; 0 is the last one."""
    months = [month_off(today, off) for off in range(-13, 14)]
    days = (
        (day(month.last) if not number else day_of(month.first.year, month.first.month, number))
        for month in months
        if month
    )
    return each(days, "month")


def every_week(today: date, weekday: int, length: int = 1) -> TimeReading | None:
    """That weekday, or so many days from it on."""
    found = (weekday_off(today, weekday, off) for off in range(-4, 5))
    return each((longer(days, length) for days in found), "week")


def longer(days: DateRange | None, length: int) -> DateRange | None:
    """So many days from the first one on."""
    try:
        return DateRange(days.first, days.first + (length - 1) * DAY) if days else None
    except OverflowError:
        return None


def day(one: date) -> DateRange:
    """That day alone."""
    return DateRange(one, one)


def days_off(today: date, off: int) -> DateRange | None:
    """The day so many days from today, negative for the past; None outside of the calendar."""
    try:
        return day(today + off * DAY)
    except OverflowError:
        return None


def week_off(today: date, off: int) -> DateRange | None:
    """Monday to Sunday, so many weeks from this one."""
    try:
        monday = today - today.weekday() * DAY + 7 * off * DAY
        return DateRange(monday, monday + 6 * DAY)
    except OverflowError:
        return None


def weekday_off(today: date, weekday: int, off: int) -> DateRange | None:
    """That weekday (0 is Monday) of the week so many weeks from this one."""
    week = week_off(today, off)
    return day(week.first + weekday * DAY) if week else None


def month_off(today: date, off: int) -> DateRange | None:
    """The whole month so many months from this one."""
    number = today.year * 12 + today.month - 1 + off
    return month_of(number // 12, number % 12 + 1)


def month_of(year: int, month: int) -> DateRange | None:
    """That month of that year; None when there is none."""
    try:
        first = date(year, month, 1)
        after = date(year + month // 12, month % 12 + 1, 1)
    except ValueError:
        return None
    return DateRange(first, after - DAY)


def year_of(year: int) -> DateRange | None:
    """That whole year."""
    try:
        return DateRange(date(year, 1, 1), date(year, 12, 31))
    except ValueError:
        return None


def day_of(year: int, month: int, number: int) -> DateRange | None:
    """That day; None when the calendar has none such."""
    try:
        return day(date(year, month, number))
    except ValueError:
        return None


def season_of(year: int, season: str) -> DateRange | None:
    """Three months; a winter ends in the next year."""
    first, last = month_of(year, SEASONS[season]), month_of(year, SEASONS[season] + 2)
    if SEASONS[season] == 12:
        last = month_of(year + 1, 2)
    return DateRange(first.first, last.last) if first and last else None


def ago(today: date, count: int, unit: str) -> TimeReading | None:
    """So many days, weeks, months or years back: the day, or around it as far as people mean it when they count so."""
    match unit:
        case "day":
            return only(days_off(today, -count))
        case "week":
            near = days_off(today, -7 * count)
            if near is None or near.first.year == 1:
                return None
            return TimeReading((DateRange(near.first - 2 * DAY, near.first + 2 * DAY),), counted=near.first)
        case "month":
            return only(month_off(today, -count))
        case _:
            return only(year_of(today.year - count))


def ahead(today: date, days: int, months: int) -> TimeReading | None:
    """So many days on, or so many months: then around that day, as far as people mean it."""
    try:
        if not months:
            return only(day(today + days * DAY))
        month = month_off(today, months)
        if month is None:
            return None
        there = min(month.last, month.first + (today.day - 1) * DAY) + days * DAY
    except OverflowError:
        return None
    around = month_of(there.year, there.month)
    return TimeReading((around,), counted=there) if around else None
