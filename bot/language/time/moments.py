"""Which moment the parts of a time mean: an instant, a recurrence, or what has to be asked."""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo

from bot.core.clock import DAY_MS, MINUTE_MS, Instant, Moment, Recurring, Unclear, UnclearTime
from bot.language.time import moments_en, moments_zh, schedule
from bot.language.time.parts import (
    FEASTS_EN,
    ClockTime,
    DayPart,
    Delay,
    NamedDay,
    Reading,
    TimeParts,
    after_delay,
    date_of_named,
    periodic,
)
from bot.language.time.schedule import SEVERAL, ending, next_of, stepped
from bot.text.catalogue import LazyPattern
from bot.text.dates import local, ms_of
from bot.text.fold import fold

_HAN = "\u4e00-\u9fff"
_SPACE = LazyPattern(
    rf"(?<=\d)\s+(?=[点时分刻月日号年周天秒]|小时|个)|(?<=[年月])\s+(?=\d{{1,2}}\s*[月日号])|(?<=[午上晚早晨点:])\s+(?=\d{{1,2}}\s*[点时分:])"
    rf"|(?<![^\s])(?:[{_HAN}]|\d+)(?:(\s)(?:[{_HAN}]|\d+)(?![^\s]))+"
)

TIME_CHARS = 600
"""How much of a text is searched for a time."""

WAKING = 6
"""Before this hour nobody is up: one that is named alone is of the afternoon, or asked."""

LATE = 10
"""From this hour on to noon one of another day that is named alone is of the morning."""

MOST_MS = 10 * 366 * DAY_MS
"""Farther ahead nothing is set."""

JUST_MS = 15 * MINUTE_MS
"""A time of day that was over no longer ago may be a slip: it is asked, not put off to the next day."""

PART_HOURS: dict[DayPart, tuple[range, range]] = {
    "dawn": (range(7), range(0)),
    "morning": (range(13), range(0)),
    "noon": (range(11, 15), range(1, 4)),
    "afternoon": (range(12, 20), range(1, 12)),
    "dusk": (range(16, 21), range(4, 9)),
    "night": (range(17, 24), range(5, 12)),
    "am": (range(12), range(0)),
    "pm": (range(12, 24), range(1, 12)),
}
"""Of each part of the day the hours that are meant as said, and those that mean twelve hours later."""

_CORRECTS = LazyPattern(
    r"\s*[,，.。…~—-]*\s*(?:啊|哦|噢|喔|呃|诶|额|哎呀?)?(?:不是|不对|说错了?|搞错了?|错了)[,，。\s]*(?:是|应该是)?"
    r"|(?a:[,.…\s-]*\b(?:oh |er |um )?(?:no|wait|actually|i mean|rather|sorry|scratch that|make (?:it|that))\b[,.…\s-]*"
    r"(?:(?:no|wait|make (?:it|that)|i mean)\b[,.\s]*)*)"
)
"""What stands between a time and the one that was meant."""
DAY_BEFORE = (
    r"的?(?<!提)[头前]一[天日晚](?!后)|(?a:\b(?:on )?the (?:day|night|evening|morning) before\b(?! (?:yesterday|"
    + "|".join(FEASTS_EN)
    + r"))|\bthe eve\b)"
)

_A_DAY_BEFORE = LazyPattern(DAY_BEFORE)

_ASSUMED: dict[DayPart, int] = {"noon": 12, "afternoon": 15, "dusk": 18, "pm": 20, "night": 20}
"""The hours of parts of a day without a time of day, where one may be assumed; of a morning it is that of a day."""

_ONE_MORE = LazyPattern(r"(?a)\b(?:another|an? extra|one more)\b")

_DOTTED = LazyPattern(r"(?<=\b(?:at|by) )(\d{1,2})\.([0-5]\d)(?![\d.%])")
"""Half past five as the British write it: at 5.30."""


def squeezed(folded: str, origin: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A folded text and its map without spaces between the characters of a time."""
    gone: set[int] = set()
    for match in _SPACE.finditer(folded):
        gone |= {index for index in range(*match.span()) if folded[index].isspace()}
    if not gone:
        return folded, origin
    keep = [index for index in range(len(folded)) if index not in gone]
    return "".join(folded[index] for index in keep), tuple(origin[index] for index in keep)


@dataclass(frozen=True, slots=True)
class HourRules:
    """How a bare hour is read: `wakes` in the morning, for whoever wants to be woken; `plain` by the 24-hour clock.

    `hour` is that of a day without a time of day; None: it is asked. `sure`: an hour that may be of either half of the
    day is of none; nobody confirms what is only told.
    """

    wakes: bool = False
    plain: bool = False
    hour: int | None = None
    sure: bool = False


def time_parts(text: str) -> TimeParts:
    """What a text says of a time."""
    return parts_folded(unspaced(fold(text[:TIME_CHARS])[:TIME_CHARS]))


def lengths(text: str) -> tuple[Delay, ...]:
    """How long a text says that something is, or is later or earlier: half an hour, 十五分钟, 两天."""
    folded = _ONE_MORE.sub("an", unspaced(fold(text[:TIME_CHARS])))
    named = (read.delay_of(found[0]) for read in (moments_en, moments_zh) for found in read.LENGTH.finditer(folded))
    return tuple(length for length in named if length is not None and length != Delay())


def unspaced(folded: str) -> str:
    """A folded text without spaces between the characters of a time (6 月 20 日)."""
    return squeezed(folded, tuple(range(len(folded))))[0] if " " in folded else folded


def parts_folded(folded: str) -> TimeParts:
    """As `parts_of`, with spans in the folded text."""
    parts = reading_of(folded).done()
    if (parts.doubt or (parts.day and parts.day.on is not None)) and (found := _CORRECTS.search(folded)):
        before, after = _halves(folded, found)
        both = joined_parts(before, after)
        if before.spans and after.spans and both.doubt is None and after.spans[0][0] <= found.end() + 1:
            return _over(both, before, after, found)
    if (found := _A_DAY_BEFORE.search(folded)) is not None:
        before, after = _halves(folded, found)
        night: DayPart = "night" if found[0][-1] in "晚夜" or "night" in found[0] or "eve" in found[0] else ""
        if before.day is not None or (before.every and before.every.month != "*") or after.day is not None:
            own = after if after.clock or after.half else before
            both = replace(
                joined_parts(before, after),
                clock=own.clock,
                half=own.half or night,
                lead=Delay(days=1),
                every=after.every or before.every,
                day=before.day or after.day,
                period=before.period or after.period,
                doubt=before.doubt or after.doubt,
            )
            return periodic(_over(both, before, after, found))
        spans = tuple(sorted((*parts.spans, found.span())))
        return replace(parts, doubt=parts.doubt or "vague", doubts=parts.doubts | {"vague"}, spans=spans)
    return parts


def _halves(folded: str, found: re.Match[str]) -> tuple[TimeParts, TimeParts]:
    """What stands before that, and behind it."""
    blank = " " * len(folded)
    before = reading_of(folded[: found.start()] + blank[found.start() :]).done()
    return before, reading_of(blank[: found.end()] + folded[found.end() :]).done()


def _over(parts: TimeParts, before: TimeParts, after: TimeParts, found: re.Match[str]) -> TimeParts:
    spans = (*before.spans, found.span(), *after.spans)
    return replace(parts, spans=spans, doubts=frozenset((parts.doubt,) if parts.doubt else ()), others=())


def reading_of(folded: str) -> Reading:
    """A folded text with all of its times read."""
    reading = Reading(_DOTTED.sub(r"\1:\2", folded))
    schedule.read_bounds(reading)
    schedule.read_lists(reading)
    moments_zh.read(reading)
    moments_en.read(reading)
    if schedule.LOOSE.search(reading.text):
        reading.doubt("vague")
    return reading


def joined_parts(before: TimeParts, answer: TimeParts) -> TimeParts:
    """What was said before, with what an answer adds or puts in its place."""
    delay, every = answer.delay, None if before.doubt == "rule" else before.every
    return TimeParts(
        None if delay and not answer.day else answer.day or before.day,
        None if delay and not answer.clock else answer.clock or before.clock,
        answer.half or ("" if answer.clock and (answer.clock.whole or answer.clock.hour > 12) else before.half),
        delay or (None if answer.day or answer.clock else before.delay),
        answer.every or every,
        answer.lead or before.lead,
        answer.doubt,
        answer.tonight or (before.tonight and not answer.day),
        answer.times or (() if answer.clock else before.times),
        since=answer.since or before.since,
        until=answer.until or before.until,
        span=answer.span or before.span,
    )


def moment_meant(parts: TimeParts, now: datetime, manner: HourRules = HourRules()) -> Moment | None:
    """The time ahead that these parts name, by the clock of `now` (aware, in the person's zone); None for none.

    Instants are after `now`. Whatever is not certain is Unclear. Never raises.
    """
    if parts.empty:
        return None
    try:
        found = _every(parts, now, manner) if parts.every is not None else _once(parts, now, manner)
    except (OverflowError, ValueError):
        return Unclear("none_such")
    if isinstance(found, Instant):
        at = found.at
        if parts.lead is not None:
            at = _before(found.at, parts.lead, now)
        if at <= ms_of(now):
            return Unclear("past")
        if at - ms_of(now) > MOST_MS:
            return Unclear("none_such")
        return replace(found, at=at)
    return found if isinstance(found, Recurring) else Unclear(found)


def _before(at: int, lead: Delay, now: datetime) -> int:
    assert now.tzinfo is not None
    there = local(at, now.tzinfo)
    if lead.days or lead.months:
        day = after_delay(there.date(), Delay(days=-lead.days, months=-lead.months))
        there = datetime.combine(day, there.time(), now.tzinfo)
    return ms_of(there) - lead.ms


def _every(parts: TimeParts, now: datetime, manner: HourRules) -> Recurring | UnclearTime:
    every = parts.every
    assert every is not None
    assert now.tzinfo is not None
    if parts.doubt is not None:
        return parts.doubt
    yearly = every.month.isdigit() and every.day.isdigit()
    if parts.day is not None or parts.delay is not None or (parts.lead is not None and not yearly):
        return "rule"
    if parts.lead is not None:
        if parts.lead.ms or parts.lead.months:
            return "rule"
        earlier = date(2001, int(every.month), int(every.day)) - timedelta(days=parts.lead.days)
        every = replace(every, day=str(earlier.day), month=str(earlier.month))
    if every.hourly:
        if parts.clock is not None or parts.half:
            return "rule"
        rule = f"{now.minute} * * * *"
    else:
        if every.day.isdigit():
            date(2000, int(every.month) if every.month.isdigit() else 1, int(every.day))  # ValueError where none is
        times = _times(parts, manner, now)
        if isinstance(times, str):
            return times
        rule = SEVERAL.join(f"{minute} {hour} {every.day} {every.month} {every.weekdays}" for hour, minute in times)
    since = date_of_named(parts.since, now.date(), now.hour) if parts.since is not None else now.date()
    if isinstance(since, str):
        return since
    begin = ms_of(datetime.combine(since, time(), now.tzinfo)) - 1
    first = next_of(rule, max(ms_of(now), begin), now.tzinfo)
    if first is None:
        return "rule"
    start = local(first, now.tzinfo).date()
    if every.step or since > now.date():
        rule = stepped(rule, every.step or 1, start)
    until = date_of_named(parts.until, now.date(), now.hour) if parts.until is not None else None
    if parts.span is not None:
        until = after_delay(start, parts.span) - timedelta(days=1)
    if isinstance(until, str) or (until is not None and until < start):
        return until if isinstance(until, str) else "none_such"
    timed = every.hourly or bool(parts.times) or parts.clock is not None or parts.half == "noon"
    return Recurring(ending(rule, until) if until is not None else rule, first, timed)


def _times(parts: TimeParts, manner: HourRules, now: datetime) -> list[tuple[int, int]] | UnclearTime:
    """The times of day at which something comes back, in order."""
    found: list[tuple[int, int]] = []
    for clock, half in parts.times or ((parts.clock, parts.half),):
        hour = _hour(replace(parts, clock=clock, half=half), manner, None, now)
        if not isinstance(hour, tuple):
            return hour
        if hour[0] >= 24 or (found and hour <= found[-1]):
            return "half"
        found.append(hour)
    return found


def _once(parts: TimeParts, now: datetime, manner: HourRules) -> Instant | UnclearTime:
    delay, today = parts.delay, now.date()
    if parts.others and len({date_of_named(each, today, now.hour) for each in parts.others}) == 1:
        parts = replace(parts, doubt=None)  # 明天9/1
    if parts.doubt is not None:
        return parts.doubt
    if parts.times:
        return "several"
    day: date | None = None
    if delay is not None:
        if delay.ms and (parts.day is not None or parts.clock is not None or parts.half):
            return "several"
        if parts.day is not None:
            return "several"
        if delay.ms:
            start = _at(after_delay(today, delay), now.hour, now.minute, now, now.second)
            return Instant(start.at + delay.ms) if isinstance(start, Instant) else start
        day = after_delay(today, delay)
        if delay == Delay() and parts.clock is None and not parts.half:
            return "time"  # in 0 minutes
        if parts.clock is None and not parts.half and (delay.same or manner.hour is None):
            found = _at(day, now.hour, now.minute, now)
            return replace(found, timed=False) if isinstance(found, Instant) else found
    elif parts.day is not None:
        named = date_of_named(parts.day, today, now.hour)
        if named == "day" and parts.day.kind == "weekday":
            named = _named_today(parts, manner, now)
        elif named == "day" and parts.day == NamedDay("near", 1) and (parts.half == "morning" or manner.wakes):
            named = today  # 明早, said after midnight
        if isinstance(named, str):
            return named
        day = named
    hour = _hour(parts, manner, day, now)
    if not isinstance(hour, tuple):
        return hour
    assumed = parts.clock is None and parts.half != "noon"
    found = _at(day or today, *hour, now)
    if day is None and isinstance(found, Instant) and found.at <= ms_of(now) - JUST_MS * (not assumed):
        found = _at(today + timedelta(days=1), *hour, now) if not parts.tonight else found
    if assumed and isinstance(found, Instant):
        # What is assumed is never over: today's nine o'clock is asked at ten.
        return replace(found, timed=False) if found.at > ms_of(now) and not _short(parts) else "time"
    return found


def _named_today(parts: TimeParts, manner: HourRules, now: datetime) -> date | UnclearTime:
    """Friday, said on a Friday: the next one, unless its time of day is still to come."""
    hour = _hour(parts, manner, now.date(), now)
    ahead = isinstance(hour, tuple) and hour > (now.hour, now.minute) and (parts.clock or parts.half)
    coming = now.date() + timedelta(days=7 + (parts.day.plus if parts.day is not None else 0))
    return "day" if ahead or hour == "half" else coming


def _short(parts: TimeParts) -> bool:
    """Whether it is to be said hours or minutes before a time that is not known."""
    return parts.lead is not None and parts.lead.ms > 0


def hour_in(half: DayPart, hour: int) -> bool:
    """Whether an hour of the day, 0-23, is one of that part of it."""
    return half != "" and hour in PART_HOURS[half][0]


def hour_of(parts: TimeParts, day: date, now: datetime, *, plain: bool = False) -> tuple[int, int] | UnclearTime:
    """Hour (24 and more: of the next day) and minute of a time on that day; what is unclear where it is not certain."""
    return _hour(parts, HourRules(plain=plain, sure=not plain), day, now)


def _hour(parts: TimeParts, manner: HourRules, day: date | None, now: datetime) -> tuple[int, int] | UnclearTime:
    """Hour (24 and more: of the next day) and minute; what is to be asked where it is not certain."""
    clock, half = parts.clock, parts.half
    if clock is None:
        # 中午 is told by the clock as 12:00, and confirmed so; other parts of a day are hours long.
        if half == "noon":
            return 12, 0
        return "time" if manner.hour is None or half == "dawn" else (_ASSUMED.get(half, manner.hour), 0)
    if clock.hour > 24 or clock.minute > 59 or (clock.hour == 24 and clock.minute):
        return "none_such"
    if clock.whole and not half:
        return clock.hour, clock.minute
    if not half:
        return _bare(clock, parts, manner, day, now)
    tonight = parts.tonight or day is None
    if half == "dawn" and clock.hour == 12 and day is None:
        return 0, clock.minute
    if half in ("night", "dawn") and clock.hour in (0, 12, 24) and (half == "night" or clock.hour != 12):
        early = half == "dawn" and not parts.tonight
        return (0 if early else 24, clock.minute) if clock.hour != 24 or not early else (24, clock.minute)
    if half == "dawn" and parts.tonight:
        return (24 + clock.hour, clock.minute) if clock.hour < 7 else "half"
    if half == "night" and 1 <= clock.hour <= 4:
        # 明天晚上一点 may be either night of that day, and so may 今晚一点 when it is said after midnight.
        return (24 + clock.hour, clock.minute) if tonight and now.hour >= 4 else "half"
    if half == "am" and clock.hour == 12:
        return 0, clock.minute
    same, other = PART_HOURS[half]
    if clock.hour in same and not (half == "am" and clock.hour == 12):
        return clock.hour, clock.minute
    return (clock.hour + 12, clock.minute) if clock.hour in other else "none_such"


def _bare(
    clock: ClockTime, parts: TimeParts, manner: HourRules, day: date | None, now: datetime
) -> tuple[int, int] | UnclearTime:
    """An hour without a part of the day."""
    hour = clock.hour
    if hour > 12 or hour == 0:
        return hour, clock.minute
    early = range(4, 12) if manner.wakes else range(6, 12) if manner.plain else range(0)
    today = day == now.date() if day is not None else False
    if hour in early and not today:
        return hour, clock.minute
    ways = (12, 24) if hour == 12 else (hour, hour + 12)
    if today:
        ahead = [way for way in ways if way * 60 + clock.minute > now.hour * 60 + now.minute]
        if len(ahead) == 1 and hour != 12:
            return ahead[0], clock.minute
        if len(ahead) == 2 and manner.sure and hour != 12:
            return "half"
        return (ahead[0], clock.minute) if ahead and ahead[0] >= WAKING else "half" if ahead else "past"
    if hour == 12 and (day is not None or 5 <= now.hour < 12) and parts.every is None:
        return 12, clock.minute
    if manner.sure:
        return "half"
    if hour < WAKING:
        if day is not None or parts.every is not None:
            return hour + 12, clock.minute
    elif day is not None or parts.every is not None:
        return (hour, clock.minute) if hour >= LATE else "half"
    coming = next((way for way in ways if way * 60 + clock.minute > now.hour * 60 + now.minute), hour + 24)
    at_night = hour == 12 or coming % 24 < WAKING <= now.hour
    return "half" if at_night else (coming, clock.minute)


def _at(day: date, hour: int, minute: int, now: datetime, second: int = 0) -> Instant | UnclearTime:
    """That wall-clock time; what a change of clocks leaves out or repeats is asked."""
    assert isinstance(now.tzinfo, tzinfo)
    day, hour = day + timedelta(days=hour // 24), hour % 24
    there = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=now.tzinfo)
    if ms_of(there) != ms_of(there.replace(fold=1)):
        return "change"
    return Instant(ms_of(there))
