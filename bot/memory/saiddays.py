"""The days and times of day that a statement names, beside those that were said. Pure."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta, tzinfo
from functools import lru_cache

from bot.memory.evidence import VOCABULARY, folded_plain
from bot.text.calendar import Named
from bot.text.dates import local_day
from bot.text.spans import named
from bot.text.when.meaning import reading_of

_PATTERNS = VOCABULARY.patterns
_HOUR = re.compile(r"(?<![\d.:])(\d{1,2})[.:]([0-5]\d)(?![\d.:])")
_FIGURES = re.compile(r"\d+")
BESIDE_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|[日号])?(?: (?:or|and|to) |[-–~、或到和至])\t")
"""A number of a day right before a day that was cut out: the 16th or 17th."""

_YEAR = re.compile(r"\b(?:19|20)\d\d(?!\d)")


@lru_cache(maxsize=1024)  # every statement of an answer is held against the same lines
def clocks(folded: str) -> frozenset[tuple[int, int]]:
    """The times of day that a folded text names, of twelve hours."""
    found = {(clock.hour % 12, clock.minute) for clock in reading_of(folded).clocks}
    return frozenset(found | {(int(hour) % 12, int(minute)) for hour, minute in _HOUR.findall(folded)})


def times(text: str, at: int, tz: tzinfo) -> tuple[Named, ...]:
    """The days and longer times that a text names, read at that moment, ms."""
    return _named(folded_plain(text), local_day(at, tz))


@lru_cache(maxsize=1024)
def _named(folded: str, today: date) -> tuple[Named, ...]:
    return tuple(named(folded, today))


def days_said(said: Iterable[tuple[str, int]], tz: tzinfo) -> set[date]:
    """The days on which something was told that names no other day, or today."""
    return {local_day(at, tz) for text, at in said if not times(text, at, tz) or _PATTERNS["today"].search(text)}


def dayless(
    text: str, said: Sequence[tuple[str, int]], others: Sequence[tuple[str, int]], at: int, tz: tzinfo
) -> str | None:
    """A folded text of that moment without the days that it names; None when what was said does not name one of them,
    nor `others` as a date: its figures stand there at least, the year of the talk apart, like 11月8日 in 11/7-8."""
    there = [one for words, moment in said for one in times(words, moment, tz)]
    there += [one for words, moment in others for one in times(words, moment, tz) if one.left == "year"]
    days = days_said(said, tz)
    spelt = {number for words, _ in said for number in _FIGURES.findall(words)}
    rest, cut = "", 0
    mine = times(text, at, tz)
    for one in mine:
        told = any(_covers(one, day) for day in days) and (one.left in ("", "year") or _beside_day(one, text, mine))
        figures = set(_FIGURES.findall(text[one.start : one.end])) - {str(local_day(at, tz).year)}
        bare = _YEAR.sub("", text[one.start : one.end]).strip(" ,.年的")
        meant = len(bare) > 1 and not figures and any(bare in words for words, _ in said)  # spring 2026 for: by spring
        if (
            not told
            and not any(same_time(one, other) for other in there)
            and not (figures and figures <= spelt and not _other_month(one, there))
            and not (meant and abs((one.choices[0].first - local_day(at, tz)).days) <= 366)
        ):
            return None
        rest, cut = f"{rest}{text[cut : one.start]}\t", one.end
    return rest + text[cut:]


def _beside_day(one: Named, text: str, times: Iterable[Named]) -> bool:
    """Whether it is the day of the week of another day, which stands beside it."""
    return one.left == "week" and any(
        other.left != "week" and not text[min(one.end, other.end) : max(one.start, other.start)].strip(" ,()")
        for other in times
    )


def _other_month(one: Named, there: Iterable[Named]) -> bool:
    """Whether its number of a day was said of other months alone."""
    months = {days.first.month for days in one.choices}
    same = [other for other in there if other.left == "year" and other.choices[0].first.day == one.choices[0].first.day]
    return bool(same) and all(months.isdisjoint(days.first.month for days in other.choices) for other in same)


def _covers(one: Named, day: date) -> bool:
    return any(days.first <= day <= days.last for days in one.choices) or one.counted == day


def iso_day(when: str) -> date | None:
    try:
        return date.fromisoformat(when.strip()[:10])
    except ValueError:
        return None


def same_time(one: Named, other: Named) -> bool:
    """Whether what a statement names is what a line names, and not more exact; counts of weeks are meant roughly."""
    mine = [(days.first, days.last) for days in one.choices]
    theirs = [(days.first, days.last) for days in other.choices]
    if other.counted is not None:
        theirs.append((other.counted - timedelta(days=3), other.counted + timedelta(days=3)))
    return any(a <= d and c <= b and (b - a >= d - c or other.counted is not None) for a, b in mine for c, d in theirs)
