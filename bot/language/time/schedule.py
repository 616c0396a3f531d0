"""Time zones by the names people use, and when a recurring rule (cron fields, step, end) is due next in one."""

import difflib
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from bot.text.dates import local, ms_of
from bot.text.fold import fold
from bot.text.tables import read_table

MOST_CHARS = 64

_CITIES: dict[str, str] = read_table("bot.language.time", "zones")
_OFFSET = re.compile(r"(?:utc|gmt)? ?([+-])(\d{1,2})(?::?00)?")

LOOKED_AT = 8
SEVERAL = "|"
SHORTEST = 28
"""Days that every month has."""


def zone_or(name: str, other: str) -> ZoneInfo:
    """The zone of that name, or the other where this machine's tables do not know it: a stored name outlives them."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return ZoneInfo(other)


def zone_named(words: str) -> str | None:
    """The IANA zone of a name, a city in Chinese or English, or a whole offset from UTC; None when there is none."""
    wanted = fold(words[:MOST_CHARS]).strip().removesuffix("时间").removesuffix(" time").strip()
    if not wanted:
        return None
    if found := _OFFSET.fullmatch(wanted):
        hours = int(found[2])
        # POSIX has it the other way round: Etc/GMT-8 is eight hours before Greenwich.
        return f"Etc/GMT{'-' if found[1] == '+' else '+'}{hours}" if 0 < hours <= 12 else "UTC" if not hours else None
    return _names().get(wanted.replace(" ", "_")) or _names().get(wanted)


def zone_near(words: str) -> str | None:
    """The zone whose name is most like what was written; None when none is."""
    wanted = fold(words[:MOST_CHARS]).strip().replace(" ", "_")
    near = difflib.get_close_matches(wanted, _names(), 1, 0.72)
    return _names()[near[0]] if near else None


@cache
def _names() -> dict[str, str]:
    """Folded names: cities first, then every zone by its whole name and by its last part."""
    known = sorted(available_timezones())
    names: dict[str, str] = {}
    for zone in known:
        if "/" in zone and not zone.startswith(("Etc/", "posix/", "right/", "SystemV/")):
            names.setdefault(fold(zone.rsplit("/", 1)[1]), zone)
    names |= {fold(zone): zone for zone in known if "/" in zone or zone == "UTC"}
    for zone, words in _CITIES.items():
        if zone in known:
            names |= {fold(word): zone for word in words.split()}
            names[fold(zone.rsplit("/", 1)[-1])] = zone
    return names | {"san_francisco": "America/Los_Angeles"}


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
    cron, (step, since) = " ".join(rule.split(" ")[:5]), rule_step(rule)
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


def rule_step(rule: str) -> tuple[int, date]:
    """Every how many days a rule is kept, 0 where it is not so bounded, and since which day."""
    words = rule.split(SEVERAL, maxsplit=1)[0].split(" ")
    days, _, since = next((word for word in words[5:] if "@" in word), "0@1970-01-01").partition("@")
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
