"""When what comes back is due next: APScheduler's cron trigger in the person's zone, once for every wall-clock time.

What a change of clocks leaves out is kept an hour later (RFC 5545), what comes twice counts once.
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
LOOKED_AT = 8
SEVERAL = "|"


def ms_of(moment: datetime) -> int:
    """An aware moment as ms since 1970 UTC."""
    return (moment.astimezone(UTC) - EPOCH) // _MS


def local(at: int, tz: tzinfo) -> datetime:
    """A moment, ms, in a zone."""
    return (EPOCH + at * _MS).astimezone(tz)


def stepped(rule: str, days: int, since: date) -> str:
    """The rule, kept only every so many days."""
    return SEVERAL.join(f"{each} {days}@{since.isoformat()}" for each in rule.split(SEVERAL))


def next_of(rule: str, after: int, tz: tzinfo) -> int | None:
    """The first moment, ms, strictly after `after`, at which a rule ("30 8 * * mon") is due; None: never again.

    Several times of a day are rules with "|" between; a sixth word, "14@2026-11-20", keeps only every so many days,
    counted from that day of the person's calendar. ValueError for what is no rule.
    """
    found = [_next(each, after, tz) for each in rule.split(SEVERAL)]
    return min((at for at in found if at is not None), default=None)


def _next(rule: str, after: int, tz: tzinfo) -> int | None:
    cron, (step, since) = " ".join(rule.split(" ")[:5]), step_of(rule)
    if not step:
        return _cron(cron, after, tz)
    day = max(local(after, tz).date(), since)
    for _ in range(LOOKED_AT):
        day += timedelta(days=-(day - since).days % step)
        midnight = ms_of(datetime.combine(day, time(), tz)) - 1
        found = _cron(cron, max(after, midnight), tz)
        if found is None or local(found, tz).date() == day:
            return found
        day = max(local(found, tz).date(), day + timedelta(days=1))
    return None


def step_of(rule: str) -> tuple[int, date]:
    """Every how many days a rule is kept, 0 where it is not so bounded, and since which day."""
    words = rule.split(SEVERAL, maxsplit=1)[0].split(" ")
    days, _, since = words[5].partition("@") if len(words) > 5 else ("0", "", EPOCH.date().isoformat())
    return int(days), date.fromisoformat(since)


def _cron(rule: str, after: int, tz: tzinfo) -> int | None:
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
