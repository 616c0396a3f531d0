"""When what comes back is due next: APScheduler's cron trigger in the person's zone, once for every wall-clock time.

What a change of clocks leaves out is kept an hour later (RFC 5545), what comes twice counts once. Pure.
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
LOOKED_AT = 8
SEVERAL = "|"
SHORTEST = 28
"""Days that every month has."""


def ms_of(moment: datetime) -> int:
    """An aware moment as ms since 1970 UTC."""
    return (moment.astimezone(UTC) - EPOCH) // _MS


def local(at: int, tz: tzinfo) -> datetime:
    """A moment, ms, in a zone."""
    return (EPOCH + at * _MS).astimezone(tz)


def stepped(rule: str, days: int, since: date) -> str:
    """The rule, kept only every so many days, from that day on."""
    return SEVERAL.join(f"{each} {days}@{since.isoformat()}" for each in rule.split(SEVERAL))


def ending(rule: str, last: date) -> str:
    """The rule, kept until that day."""
    return SEVERAL.join(f"{each} <{last.isoformat()}" for each in rule.split(SEVERAL))


def next_of(rule: str, after: int, tz: tzinfo) -> int | None:
    """The first moment, ms, strictly after `after`, at which a rule ("30 8 * * mon") is due; None: never again.

    A rule is cron's five fields, then perhaps "14@2026-11-20" (only every so many days, counted from that day of the
    person's calendar, and not before it) and "<2026-12-31" (the last day on which it is kept); of several times of day
    there is one each, with "|" between. A day that a month does not have is its last one. ValueError for no rule.
    """
    last = until_of(rule)
    found = [_next(each, after, tz) for each in rule.split(SEVERAL)]
    first = min((at for at in found if at is not None), default=None)
    return None if first is None or (last and local(first, tz).date().isoformat() > last) else first


def _next(rule: str, after: int, tz: tzinfo) -> int | None:
    cron, (step, since) = " ".join(rule.split(" ")[:5]), step_of(rule)
    if not step:
        return _dated(cron, after, tz)
    day = max(local(after, tz).date(), since)
    for _ in range(LOOKED_AT):
        day += timedelta(days=-(day - since).days % step)
        midnight = ms_of(datetime.combine(day, time(), tz)) - 1
        found = _dated(cron, max(after, midnight), tz)
        if found is None or local(found, tz).date() == day:
            return found
        day = max(local(found, tz).date(), day + timedelta(days=1))
    return None


def step_of(rule: str) -> tuple[int, date]:
    """Every how many days a rule is kept, 0 where it is not so bounded, and since which day."""
    words = rule.split(SEVERAL, maxsplit=1)[0].split(" ")
    days, _, since = next((word for word in words[5:] if "@" in word), f"0@{EPOCH.date().isoformat()}").partition("@")
    return int(days), date.fromisoformat(since)


def until_of(rule: str) -> str:
    """The last day, ISO, on which a rule is kept; "" where it has no end."""
    words = rule.split(SEVERAL, maxsplit=1)[0].split(" ")
    return next((word[1:] for word in words[5:] if word.startswith("<")), "")


def short_day(rule: str) -> int:
    """The day of the month that not every month has, of what comes back on one; else 0."""
    fields = rule.split(" ")
    return (
        int(fields[2])
        if len(fields) > 2 and fields[2].isdigit() and int(fields[2]) > SHORTEST and fields[3] in ("*", "2")
        else 0
    )


def _dated(rule: str, after: int, tz: tzinfo) -> int | None:
    """As `_cron`; a day that a month does not have is its last one."""
    found = _cron(rule, after, tz)
    minute, hour, day, month, weekdays = rule.split(" ")
    if not day.isdigit() or int(day) <= SHORTEST:
        return found
    for _ in range(LOOKED_AT):
        last = _cron(f"{minute} {hour} last {month} {weekdays}", after, tz)
        if last is None or (found is not None and found <= last):
            break
        if local(last, tz).day < int(day):
            return last
        after = last
    return found


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
