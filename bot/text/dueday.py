"""By when something that people have still to do is due, where they name one day or part of it. Pure."""

import re
from datetime import tzinfo

from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.happened import DAY_MS
from bot.text.spans import spans

_TODAY = re.compile(r"今|本日|\b(?:today|tonight|this (?:morning|afternoon|evening))\b")


def due_moment(text: str, at: int, tz: tzinfo) -> int | None:
    """The last moment (ms) of the one day, or part of it, from today on that a task names; None when in doubt.

    A weekday or a date that may be the past one of its name is doubt.
    """
    named = spans(text, at, tz)
    if len(named) != 1:
        return None
    start, end = named[0]
    day, today = local_day(start, tz), local_day(at, tz)
    ahead = end > at and (day > today or (day == today and _TODAY.search(fold(text)) is not None))
    return end - 1 if ahead and end - start <= DAY_MS else None
