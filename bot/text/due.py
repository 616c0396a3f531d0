"""When a promise is due, in words: 明天, 3 天后, 过了 2 天. Pure."""

from collections.abc import Callable
from datetime import tzinfo

from bot.text.dates import RELATIVE_DAYS, DayWords, local_day, relative_day


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
