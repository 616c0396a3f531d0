"""When something that is still to be done is due: found in what was said, and told in words (明天, 过了 2 天). Pure."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, tzinfo

from bot.text.dates import RELATIVE_DAYS, DayWords, day_start, local_day, next_local_time, relative_day
from bot.text.fold import fold
from bot.text.when.days import day_of, later
from bot.text.when.found import Parts
from bot.text.when.meaning import MOST_MS, READ_CHARS, meaning, parts_folded
from bot.text.when.rules import local, ms_of
from bot.types.commitment import Nudge, Nudging
from bot.types.when import Instant, Missing

_WEEKEND = re.compile(r"(?<!每)(?<!每个)(这个?|本|下+个?)?(周|星期|礼拜)末")
_WEEKEND_EN = re.compile(r"\b(?:(?:this|the|on|at) )+weekend\b")
_WITHIN = re.compile(r"(?<=[天周月时头钟])(?:之内|以内|内)")
_WITHIN_EN = re.compile(r"\bwithin (?=\w+ (?:\w+ )?(?:minute|hour|day|week|month))")

_ELSEWHERE: frozenset[Missing] = frozenset(("past", "vague"))
"""昨天说好明天去, 明天下班后发你: the day is certain; a time of day may belong to the other words."""


def due_in(text: str, at: int, tz: tzinfo) -> Instant | None:
    """When what a text says is due, as seen from `at`, ms; None where it names no day, several, or one in doubt.

    `timed`: a time of day is named, and that is the instant. Else it is the last millisecond of the local day, also
    where only a part of the day is named, of a weekend that of Sunday. What comes back is never due. 周五前 and
    "by Friday" are due on that day. Never raises.
    """
    folded = fold(text[:READ_CHARS])[:READ_CHARS]
    folded = _WITHIN.sub("后", _WEEKEND.sub(lambda found: f"{found[1] or '这'}{found[2]}日", folded))
    folded = _WITHIN_EN.sub("in ", _WEEKEND_EN.sub("this sunday", folded))
    parts, now = parts_folded(folded), local(at, tz)
    doubts = parts.doubts - {"before"}
    if parts.every is not None or parts.lead is not None or doubts - _ELSEWHERE:
        return None
    clocked = parts.clock is not None or parts.half == "noon" or (parts.delay is not None and parts.delay.ms > 0)
    if clocked and not doubts:
        found = meaning(replace(parts, doubt=None), now)
        return found if isinstance(found, Instant) else None
    try:
        day = _day(parts, now) if parts.half != "dawn" else None  # 明天凌晨 may be either night
        end = next_local_time(ms_of(datetime(day.year, day.month, day.day, 12, tzinfo=tz)), 0, tz) - 1 if day else at
    except (ValueError, OverflowError):
        return None
    return Instant(end, timed=False) if at < end <= at + MOST_MS else None


def comes_before(text: str, at: int, until: int, tz: tzinfo) -> bool:
    """Whether a text, read at `at`, ms, names a moment to come before `until`, ms: 今晚八点, or in either half of the
    day an hour alone, 四点. Never raises."""
    due = due_in(text, at, tz)
    if due is not None:
        return due.timed and at < due.at <= until
    parts, now = parts_folded(fold(text[:READ_CHARS])[:READ_CHARS]), local(at, tz)
    if parts.clock is None or parts.day is not None or parts.every is not None or "past" in parts.doubts:
        return False
    hours = {parts.clock.hour % 24, (parts.clock.hour + 12) % 24} if not parts.clock.whole else {parts.clock.hour % 24}
    return any(at < ms_of(now.replace(hour=hour, minute=parts.clock.minute % 60)) <= until for hour in hours)


def nudged(due: Instant | None, how: Nudging | None, tz: tzinfo) -> Nudge | None:
    """When its person is reminded of what is due: then, or at the hour of the house on its day; None without."""
    if due is None or how is None:
        return None
    at = due.at if due.timed else next_local_time(day_start(due.at, tz) - 1, how.hour, tz)
    return Nudge(at, how.most_open)


def _day(parts: Parts, now: datetime) -> date | None:
    if parts.delay is not None:
        return later(now.date(), parts.delay) if parts.day is None and not parts.delay.ms else None
    named = day_of(parts.day, now.date(), now.hour) if parts.day is not None else None
    return named if isinstance(named, date) else None


def overdue(due_at: int | None, now: int) -> bool:
    """Whether its time, ms, is over."""
    return due_at is not None and due_at < now


def due_label(due_at: int | None, now: int, tz: tzinfo, days: DayWords, text: Callable[..., str]) -> str:
    """When it is due, or since when it was, by the person's calendar; "" without a day.

    `text` gives a sentence by its key: due_in (with n) and due_over (with day).
    """
    if due_at is None:
        return ""
    today, day = local_day(now, tz), local_day(due_at, tz)
    if overdue(due_at, now):
        return text("due_over", day=relative_day(day, today, days))
    ahead = (day - today).days
    return text("due_in", n=ahead) if 1 < ahead <= RELATIVE_DAYS else relative_day(day, today, days)
