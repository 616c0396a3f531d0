"""The times that a text is about, as moments in a zone: 昨天, 上周三, 5月2日, last May, two weeks ago. Pure."""

from datetime import UTC, date, datetime, timedelta, tzinfo

from bot.text import spans_en, spans_zh
from bot.text.calendar import Days, Named, day
from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.when.found import Reading
from bot.text.when.lunar import lunar_days, read_lunar

READ_CHARS = 2_000
"""A longer text is read at both ends."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def spans(text: str, now: int, tz: tzinfo) -> tuple[tuple[int, int], ...]:
    """From the first moment, ms, to the first after it, of each time that the text names; `now` in ms.

    A day without a year is the latest one, a weekday alone as well. Times that include another one are left out: 2023
    beside 3 May 2023.
    """
    return tuple(dict.fromkeys(moments_of(days, tz) for days in _latest(text, now, tz)))


def ahead(text: str, now: int, tz: tzinfo) -> tuple[tuple[int, int], ...]:
    """Of each time that leaves its year, month or week open the next one to come: 周五 is also the Friday ahead."""
    today = local_day(now, tz)
    times = (one for one in named(_folded(text), today) if one.left and not one.passing)
    found = (next((days for days in one.choices if days.first > today), None) for one in times)
    return tuple(dict.fromkeys(moments_of(days, tz) for days in found if days is not None))


def named(folded: str, today: date) -> list[Named]:
    """The times that a folded text names, in their order; of what overlaps, the one that begins first."""
    reading = Reading(folded)
    read_lunar(reading)
    lunar = reading.parts.day
    found = [*spans_zh.times(reading.text, today), *spans_en.times(reading.text, today)]
    if lunar is not None and len(reading.days) == 1:
        choices = tuple(day(one) for one in lunar_days(lunar.month, lunar.number, today))
        spans_of = (span for span in reading.parts.spans if folded[: span[0]].rstrip("的")[-1:] != "年")
        found += [Named(*span, choices, "year", passing=True) for span in spans_of if choices]
    kept: list[Named] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _latest(text: str, now: int, tz: tzinfo) -> list[Days]:
    today = local_day(now, tz)
    found = dict.fromkeys(one.latest(today) for one in named(_folded(text), today) if not one.passing)
    return [one for one in found if not any(_holds(one, other) for other in found)]


def _folded(text: str) -> str:
    return fold(text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}")


def _holds(one: Days, other: Days) -> bool:
    """Whether the other is only a part of this one."""
    return one != other and one.first <= other.first and other.last <= one.last and (
        (one.first, one.last) != (other.first, other.last) or one.hours == (0, 24)
    )  # fmt: skip


def moments_of(days: Days, tz: tzinfo) -> tuple[int, int]:
    """The first moment, ms, of a stretch and the first one after it."""
    start, end = days.hours
    return _moment(days, start, tz, after=False), _moment(days, end, tz, after=True)


def _moment(days: Days, hour: int, tz: tzinfo, *, after: bool) -> int:
    one = days.last if after else days.first
    try:
        more, hour = divmod(hour, 24)
        one += timedelta(days=more)
        return (datetime(one.year, one.month, one.day, hour, tzinfo=tz) - _EPOCH) // _MS
    except OverflowError:  # the calendar's last day
        return (datetime(one.year, one.month, one.day, 23, tzinfo=UTC) - _EPOCH) // _MS
