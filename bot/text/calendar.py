"""Stretches of days as people name them, counted from today. Knows no language and no zone."""

from dataclasses import dataclass
from datetime import date, timedelta

DAY = timedelta(days=1)

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The first month of each season of three months, as the north has them."""


@dataclass(frozen=True, slots=True)
class Days:
    """From one day to the last, both included; `hours` narrows them: from an hour of the first day to one after it."""

    first: date
    last: date
    hours: tuple[int, int] = (0, 24)


def day(one: date) -> Days:
    """That day alone."""
    return Days(one, one)


def days_off(today: date, off: int) -> Days | None:
    """The day so many days from today, negative for the past; None outside of the calendar."""
    try:
        return day(today + off * DAY)
    except OverflowError:
        return None


def week_off(today: date, off: int) -> Days | None:
    """Monday to Sunday, so many weeks from this one."""
    try:
        monday = today - today.weekday() * DAY + 7 * off * DAY
        return Days(monday, monday + 6 * DAY)
    except OverflowError:
        return None


def weekday_off(today: date, weekday: int, off: int) -> Days | None:
    """That weekday (0 is Monday) of the week so many weeks from this one."""
    week = week_off(today, off)
    return day(week.first + weekday * DAY) if week else None


def last_weekday(today: date, weekday: int) -> Days:
    """The latest such day, today included."""
    return day(today - (today.weekday() - weekday) % 7 * DAY)


def month_off(today: date, off: int) -> Days | None:
    """The whole month so many months from this one."""
    number = today.year * 12 + today.month - 1 + off
    return month_of(number // 12, number % 12 + 1)


def month_of(year: int, month: int) -> Days | None:
    """That month of that year; None when there is none."""
    try:
        first = date(year, month, 1)
        after = date(year + month // 12, month % 12 + 1, 1)
    except ValueError:
        return None
    return Days(first, after - DAY)


def year_of(year: int) -> Days | None:
    """That whole year."""
    try:
        return Days(date(year, 1, 1), date(year, 12, 31))
    except ValueError:
        return None


def day_of(year: int, month: int, number: int) -> Days | None:
    """That day; None when the calendar has none such."""
    try:
        return day(date(year, month, number))
    except ValueError:
        return None


def season_of(year: int, season: str) -> Days | None:
    """Three months; a winter ends in the next year."""
    first, last = month_of(year, SEASONS[season]), month_of(year, SEASONS[season] + 2)
    if SEASONS[season] == 12:
        last = month_of(year + 1, 2)
    return Days(first.first, last.last) if first and last else None


def last_month(today: date, month: int) -> Days | None:
    """The latest month of that name that has begun."""
    return month_of(today.year - (month > today.month), month)


def last_day(today: date, month: int, number: int) -> Days | None:
    """The latest such day of the year, today included; 29 February may lie years back."""
    for year in range(today.year, max(today.year - 9, 0), -1):
        found = day_of(year, month, number)
        if found is not None and found.first <= today:
            return found
    return None


def last_number(today: date, number: int) -> Days | None:
    """The latest day of that number in its month, today included."""
    for off in range(3):
        month = month_off(today, -off)
        found = day_of(month.first.year, month.first.month, number) if month else None
        if found is not None and found.first <= today:
            return found
    return None


def last_season(today: date, season: str) -> Days | None:
    """The latest season of that name that has begun."""
    found = season_of(today.year, season)
    return found if found is None or found.first <= today else season_of(today.year - 1, season)


def ago(today: date, count: int, unit: str) -> Days | None:
    """So many days, weeks, months or years back: the day, or around it as far as people mean it when they count so."""
    match unit:
        case "day":
            return days_off(today, -count)
        case "week":
            near = days_off(today, -7 * count)
            return Days(near.first - 2 * DAY, near.first + 2 * DAY) if near and near.first.year > 1 else None
        case "month":
            return month_off(today, -count)
        case _:
            return year_of(today.year - count)
