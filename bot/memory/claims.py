"""The days that a statement names, and whether what its clauses put together was said together. Pure."""

from datetime import date, timedelta, tzinfo
from functools import lru_cache

from bot.language.assertions import folded_plain
from bot.language.time.calendar import NamedTime
from bot.language.time.dates import named_times
from bot.text.dates import local_day


def times(text: str, at: int, tz: tzinfo) -> tuple[NamedTime, ...]:
    """The days and longer times that a text names, read at that moment, ms."""
    return _named(folded_plain(text), local_day(at, tz))


@lru_cache(maxsize=1024)
def _named(folded: str, today: date) -> tuple[NamedTime, ...]:
    return tuple(named_times(folded, today))


def iso_day(when: str) -> date | None:
    try:
        return date.fromisoformat(when.strip()[:10])
    except ValueError:
        return None


def same_time(one: NamedTime, other: NamedTime) -> bool:
    """Whether what a statement names is what a line names, and not more exact; counts of weeks are meant roughly."""
    mine = [(days.first, days.last) for days in one.choices]
    theirs = [(days.first, days.last) for days in other.choices]
    if other.counted is not None:
        theirs.append((other.counted - timedelta(days=3), other.counted + timedelta(days=3)))
    return any(a <= d and c <= b and (b - a >= d - c or other.counted is not None) for a, b in mine for c, d in theirs)
