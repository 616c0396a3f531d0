"""By when something that people have still to do is due, where they name one day or part of it. Pure."""

from datetime import tzinfo

from bot.text.dates import local_day
from bot.text.happened import DAY_MS
from bot.text.spans import spans


def due_moment(text: str, at: int, tz: tzinfo) -> int | None:
    """The last moment (ms) of the one day, or part of it, from today on that a task names; None when in doubt.

    A weekday or a date that may be the past one of its name is doubt.
    """
    named = spans(text, at, tz)
    if len(named) != 1:
        return None
    start, end = named[0]
    ahead = local_day(start, tz) >= local_day(at, tz) and end > at
    return end - 1 if ahead and end - start <= DAY_MS else None
