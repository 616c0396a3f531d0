"""Which day a named day is, counted from now; a Missing where nobody can know without asking. Pure."""

from calendar import monthrange
from datetime import date, timedelta

from bot.text.when.found import Day, Delay
from bot.text.when.lunar import lunar_day
from bot.types.when import Missing

LATE_DAYS = 92
"""A date without a year that is over by fewer days may be meant for next year, or be a slip: it is asked."""

NIGHT_ENDS = 4
"""Before this hour 明天 may be the day that has begun: it is asked."""


def day_of(day: Day, today: date, hour: int) -> date | Missing:
    """The day that is named, at this hour of `today`."""
    found = _named(day, today, hour)
    if isinstance(found, str):
        return found
    return "several" if day.on not in (None, found.weekday()) else found + timedelta(days=day.plus)


def _named(day: Day, today: date, hour: int) -> date | Missing:
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


def later(today: date, delay: Delay) -> date:
    """The day after so many days and months; the 31st becomes the last day of a shorter month."""
    year, month = _month(today, delay.months)
    return date(year, month, min(today.day, monthrange(year, month)[1])) + timedelta(days=delay.days)


def _month(today: date, off: int) -> tuple[int, int]:
    number = today.year * 12 + today.month - 1 + off
    return number // 12, number % 12 + 1


def _next(weekday: int, today: date) -> date | Missing:
    """English "next Friday": the one of next week, unless that is so near that another may be meant."""
    ahead = (weekday - today.weekday()) % 7 or 7
    if today.weekday() + ahead < 7:
        return today + timedelta(days=ahead + 7)
    return today + timedelta(days=ahead) if ahead >= 3 else "day"


def _date(day: Day, today: date) -> date | Missing:
    year = day.year or (today.year + day.off if day.off is not None else 0)
    try:
        found = _of_month(year or today.year, day)
        if year:
            return found if found >= today else "past"
        if found >= today:
            return found
        return "past" if (today - found).days < LATE_DAYS and day.number else _of_month(today.year + 1, day)
    except (ValueError, OverflowError):
        return "none_such"


def _of_month(year: int, day: Day) -> date:
    return date(year, day.month, day.number or monthrange(year, day.month)[1])


def _number(day: Day, today: date) -> date | Missing:
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
