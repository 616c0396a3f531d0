"""How long they have not talked, in words: 隔了三天, three days since. Pure."""

from datetime import UTC, date, datetime, timedelta, tzinfo

from bot.prompt.days import Words
from bot.text.dates import local_day
from bot.types.duration import HOUR_MS

SHORTEST_MS = HOUR_MS
"""A shorter pause is not worth a word."""

SLEPT_MS = 20 * HOUR_MS
"""From yesterday to today it is a day only when it was about so long: last night is hours ago."""

MOST_DAYS = 30
"""Longer pauses are told in months, and from twelve of them on in years."""


def since(last: int | None, now: int, tz: tzinfo, words: Words) -> str:
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


def _told(unit: str, count: int, words: Words, *, more: bool = False) -> str:
    numbers = words("numbers").split()
    number = numbers[count - 1] if 0 < count <= len(numbers) else str(count)
    return words(f"since_{unit}{'_more' if more else ''}{'_one' if count == 1 else ''}", n=number)


def _months(then: date, today: date) -> int:
    months = (today.year - then.year) * 12 + today.month - then.month
    return months - (_later(then, months) > today)


def _later(then: date, months: int) -> date:
    """The same day so many months later; the last of that month where it is shorter."""
    year, month = divmod(then.year * 12 + then.month - 1 + months, 12)
    first = date(year, month + 1, 1)
    after = datetime(year + (month == 11), (month + 1) % 12 + 1, 1, tzinfo=UTC).date()
    return min(first.replace(day=1) + timedelta(days=then.day - 1), after - timedelta(days=1))
