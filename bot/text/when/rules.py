"""When what comes back is due next: APScheduler's cron trigger in the person's zone, once for every wall-clock time.

A time that summer time leaves out is kept by the offset before the leap (RFC 5545: 2:30 becomes 3:30); one that comes
twice counts the first time.
"""

from datetime import UTC, datetime, timedelta, tzinfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
LOOKED_AT = 8


def ms_of(moment: datetime) -> int:
    """An aware moment as ms since 1970 UTC."""
    return (moment.astimezone(UTC) - EPOCH) // _MS


def local(at: int, tz: tzinfo) -> datetime:
    """A moment, ms, in a zone."""
    return (EPOCH + at * _MS).astimezone(tz)


def next_of(rule: str, after: int, tz: tzinfo) -> int | None:
    """The first moment, ms, strictly after `after`, at which a rule ("30 8 * * mon") is due; None: never again.

    ValueError for what is no rule.
    """
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekdays = rule.split(" ")
    trigger = CronTrigger(minute=minute, hour=hour, day=day, month=month, day_of_week=weekdays, timezone=tz)
    start = local(after, tz) + timedelta(microseconds=1)
    for _ in range(LOOKED_AT):
        found: datetime | None = trigger.get_next_fire_time(None, start)
        if found is None:
            return None
        again = hour != "*" and found.fold and ms_of(found) != ms_of(found.replace(fold=0))
        if not again and ms_of(found) > after:
            return ms_of(found)
        start = (found.astimezone(UTC) + timedelta(minutes=1)).astimezone(tz)
    return None
