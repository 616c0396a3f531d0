"""The times a text names as moments in a zone, the day a sentence is about, and a model's date checked against the
text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

from bot.core.clock import HOUR_MS, MINUTE_MS, DatedMoment, Instant, Precision, UnclearTime
from bot.core.memories import Nudge, NudgeRules
from bot.language.time import spans_en, spans_zh
from bot.language.time.calendar import DateRange, NamedTime, day, day_of
from bot.language.time.moments import MOST_MS, hour_of, moment_meant, parts_folded, reading_of, unspaced
from bot.language.time.moments import TIME_CHARS as FOLDED_READ
from bot.language.time.parts import ClockTime, DayPart, Reading, lunar_days, read_lunar
from bot.language.time.tense import tells_of_booking, tense
from bot.text.catalogue import LazyPattern
from bot.text.dates import day_start, local, local_day, ms_of, next_local_time
from bot.text.fold import fold

READ_CHARS = 2_000
"""A longer text is read at both ends."""

LATE_DAYS = 92
"""A day without a year that was over no longer ago than so many is that one, where the words leave it open."""

NUMBERED = 45
"""Days within which a number alone may be a day: 13号 of the month of a wedding that was named."""

HALF_YEAR = 183
"""Days within which a model may say which day 3/4 is."""

STRETCH = 3
"""Days of a stretch, such as a weekend, that is told by its first one; a week or a season names no day."""

MOST_TIMES = 24
"""Times of a text that are looked at."""

LONGEST_DAY_MS = 25 * 3_600_000
"""The longest day of a zone: one on which its clocks go back."""

_AGAIN = LazyPattern(r"每|天天|总是|平时|通常|生日|纪念日|\b(?:every|each|always|usually|birthday|anniversary)\b")
"""What comes back is of no one day."""
_EACH = LazyPattern(
    r"(?:每(?:一?个)?(?:月|周|星期)?的?|\b(?:every|each)(?: other| second| third| month)?(?: on)?(?: the)?)\s*$"
)
_YEARLY = LazyPattern(
    r"(?:生日|纪念日|周年|诞辰|忌日|祭日)(?!聚|派|会|宴|蛋糕|礼|快乐|趴|餐|饭|晚|歌|卡|旅)|每年|年年"
    r"|\b(?:birthday|bday|b-day|anniversary|every year|each year|yearly|annually)\b"
    r"(?! (?:party|dinner|cake|present|gift|lunch|trip|brunch|drinks|card))"
)
_UPTO = LazyPattern(r"\s*(?:[-–—~]|到|至|to|through|till?|until)\s*(?:the )?")
_INSTEAD = LazyPattern(
    r"(?:改[到成在为]|推迟?到|延[期后]?到|提前到|挪到|换[到成]|调整?[到成]|\b(?:moved|rescheduled|postponed|pushed|shifted|changed|delayed)\b"
    r"[^.;!?\n]*? (?:to|until|till)|\bnow on|\binstead on)(?: the)? ?了?$"
)
"""What stands before the day that holds in place of another one."""
_NOT = LazyPattern(
    r"(?:不是|并非|\bnot(?: on| the)*) ?$|(?:原定|原本|本来)[^,。]{0,4}$|\b(?:originally|instead of)(?: on| the)* ?$"
    r"|\b(?:days?|weeks?|months?|eve) (?:after|before|from|of|following)(?: the)? ?$"
)
_NEXT_TO = LazyPattern(r"^节?的?(?:[前后](?:[一二两三几]|\d+)?[天晚夜周]|前夕)")
"""圣诞节前一天, the day after Christmas: a day that is only named to count from it."""
_DAY_BEFORE = LazyPattern(r"\b(?:day|night|evening|morning) before\b(?! yesterday)|前一个?[天晚日夜]|前夕")
_DAY_AFTER = LazyPattern(r"\b(?:day|night|evening|morning) after\b(?! tomorrow)|隔[天日]|第二天|翌日|次日|后一天")
_BEFORE_IN_CLAUSE = LazyPattern(r"[^,.;:()!?，。；：（）！？]{0,60}$")
_TO_NEXT = LazyPattern(r"节?的?")
_BETWEEN = LazyPattern(r"[\s的那里,()、]*(?:on|of|in)?(?: the)?\s*")
_RANGE = LazyPattern(r"\s*(?:[-–—~、,]|到|至|和|或|to|and|or|through|till?|until)\s*(?:the )?")
_SEPARATOR = LazyPattern(r"到|至|[-–—~,]| to | until | till ")
_SENTENCE_END = LazyPattern(r"[。.!?！？;；\n]")
_BETWEEN_DAYS = LazyPattern(r"(?<!\d)[,，、]|[,，](?!\d)|[。.!?！？;；\n]| (?=(?:and|but|so) )")
_NOW = LazyPattern(r"今[天日早晚]|刚|现在|昨[晚夜]|\b(?:today|tonight|just|now|this (?:morning|afternoon|evening))\b")
_WITHIN = LazyPattern(r"(?<=[天周月时头钟])(?:之内|以内|内)")
_WITHIN_EN = LazyPattern(r"\bwithin (?=\w+ (?:\w+ )?(?:minute|hour|day|week|month))")

_NUMBER = LazyPattern(
    r"(?<![\d月/.:])(\d{1,2})(?:st|nd|rd|th|[号日]|(?= (?:to|and|or|till|until|-) (?:the )?\d)|(?=[-–~到至]\d))"
)
_MONTH = re.compile(r"(?:月\d{1,2}[日号]?\s*[到至~–-]?|\b[a-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?\s*[-–~])$")
_WRITTEN = re.compile(
    r"(?P<y>\d{4})(?:-(?P<m>\d\d)(?:-(?P<d>\d\d)"
    r"(?:[T ](?P<h>\d\d):(?P<min>\d\d)(?::\d\d)?)?)?)?|--(?P<ym>\d\d)-(?P<yd>\d\d)",
    re.ASCII,
)

_ELSEWHERE: frozenset[UnclearTime] = frozenset(("past", "vague"))
"""昨天说好明天去, 明天下班后发你: the day is certain; a time of day may belong to the other words.
So is a weekend, though it is no day."""

_MOVED = LazyPattern(r"改|挪|换到|推[到迟]|\b(?:now|instead|moved?|pushed|rather)\b")
"""What moves a day: what else is told of it is past, the day itself is not."""


def spans(text: str, now: int, tz: tzinfo) -> tuple[tuple[int, int], ...]:
    """From the first moment, ms, to the first after it, of each time that the text names; `now` in ms.

    A day without a year is the latest one, a weekday alone as well. Times that include another one are left out: 2023
    beside 3 May 2023.
    """
    return tuple(dict.fromkeys(moments_of(days, tz) for days in _latest(text, now, tz)))


def coming_spans(text: str, now: int, tz: tzinfo) -> tuple[tuple[int, int], ...]:
    """Of each time that leaves its year, month or week open the next one to come: 周五 is also the Friday ahead."""
    today = local_day(now, tz)
    times = (one for one in named_times(_folded(text), today) if one.left and not one.passing)
    found = (next((days for days in one.choices if days.first > today), None) for one in times)
    return tuple(dict.fromkeys(moments_of(days, tz) for days in found if days is not None))


def days_ahead(text: str, said_at: int, tz: tzinfo) -> frozenset[date]:
    """The days after the one on which it was said, ms, that a text names, and of stretches of at most STRETCH days all.

    What comes back (every Thursday), what is only about then (in two weeks), and the ends of a longer stretch name none.
    """
    folded, today = _folded(text), local_day(said_at, tz)
    times, found = _meant(folded, today), set[date]()
    meant = [_pick(folded, one, today) for one in times]
    for place, (one, days) in enumerate(zip(times, meant, strict=True)):
        if days is None or one.counted is not None or _EACH.search(folded[: one.start]):
            continue
        beside = [folded[before.end : after.start] for before, after in pairwise(times[max(0, place - 1) : place + 2])]
        whole = any(map(_UPTO.fullmatch, beside))
        ends = [each for each in meant[max(0, place - 1) : place + 2] if each is not None] if whole else [days]
        first, last = min(each.first for each in ends), max(each.last for each in ends)
        if (last - first).days < STRETCH:
            found.update(first + timedelta(days=n) for n in range((last - first).days + 1))
    return frozenset(each for each in found if each > today)


def named_times(folded: str, today: date) -> list[NamedTime]:
    """The times that a folded text names, in their order; of what overlaps, the one that begins first."""
    reading = Reading(folded)
    read_lunar(reading)
    lunar = reading.parts.day
    found = [*spans_zh.times(reading.text, today), *spans_en.times(reading.text, today)]
    if lunar is not None and len(reading.days) == 1:
        choices = tuple(day(one) for one in lunar_days(lunar.month, lunar.number, today))
        spans_of = (span for span in reading.parts.spans if folded[: span[0]].rstrip("的")[-1:] != "年")
        found += [NamedTime(*span, choices, "year", passing=True) for span in spans_of if choices]
    kept: list[NamedTime] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _latest(text: str, now: int, tz: tzinfo) -> list[DateRange]:
    today = local_day(now, tz)
    found = dict.fromkeys(one.latest(today) for one in named_times(_folded(text), today) if not one.passing)
    return [one for one in found if not any(_holds(one, other) for other in found)]


def _folded(text: str) -> str:
    whole = len(text) <= READ_CHARS
    return unspaced(fold(text if whole else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"))


def _holds(one: DateRange, other: DateRange) -> bool:
    """Whether the other is only a part of this one."""
    return (
        one != other
        and one.first <= other.first
        and other.last <= one.last
        and ((one.first, one.last) != (other.first, other.last) or one.hours == (0, 24))
    )


def moments_of(days: DateRange, tz: tzinfo) -> tuple[int, int]:
    """The first moment, ms, of a stretch and the first one after it."""
    start, end = days.hours
    return _moment(days, start, tz, after=False), _moment(days, end, tz, after=True)


def _moment(days: DateRange, hour: int, tz: tzinfo, *, after: bool) -> int:
    one = days.last if after else days.first
    try:
        more, hour = divmod(hour, 24)
        one += timedelta(days=more)
        return ms_of(datetime(one.year, one.month, one.day, hour, tzinfo=tz))
    except OverflowError:  # the calendar's last day
        return ms_of(datetime(one.year, one.month, one.day, 23, tzinfo=UTC))


def date_in(text: str, said_at: int, tz: tzinfo) -> DatedMoment | None:
    """The day that a sentence is about, read at `said_at`, ms; None where it names none, or one in doubt.

    Of several days it is the first one that is not today, and one that lies ahead before one that is over.
    """
    folded, today = _folded(text), local_day(said_at, tz)
    found = _about(folded, today)
    if found is None:
        at = _delay(folded, said_at)
        return DatedMoment(at, "time") if at is not None else None
    one, days = found
    precision = _precision(days)
    if precision is None:
        return None
    yearly = precision == "day" and one.left in ("", "year") and _YEARLY.search(folded) is not None
    start, _ = moments_of(replace(days, hours=(0, 24)), tz)
    time = _time(folded, one, days.first, said_at, tz) if precision == "day" else None
    return DatedMoment(start if time is None else time, precision if time is None else "time", yearly)


def due_in(text: str, at: int, tz: tzinfo) -> Instant | None:
    """When what a text says is due, as seen from `at`, ms; None where it names no day ahead, or an hour in doubt.

    `timed`: a time of day is named, and that is the instant. Else it is the last millisecond of the day, of a weekend
    that of Sunday. Never raises.
    """
    folded = _WITHIN.sub("后", _WITHIN_EN.sub("in ", _folded(text)))
    parts, today = parts_folded(folded[:FOLDED_READ]), local_day(at, tz)
    found, doubts = _about(folded, today), parts.doubts - {"before"}
    sure = _ELSEWHERE if found is None or _single(found[0]) else _ELSEWHERE | {"day"}
    if parts.every is not None or parts.lead is not None or doubts - sure:
        return None
    if found is None:
        moment = moment_meant(replace(parts, doubt=None), local(at, tz)) if not doubts else None
        return moment if isinstance(moment, Instant) and moment.timed else None
    one, days = found
    if one.counted is not None:
        days = DateRange(one.counted, one.counted)
    elif one.left in ("week", "month"):
        days = _from(one, today) or days
    if _precision(days) != "day":
        return None
    time = _time(folded, one, days.first, at, tz) if not doubts else None
    if time is None and not doubts and (parts.clock is not None or parts.half == "dawn"):
        return None  # 明天凌晨 may be either night, 明天8点 morning or evening
    end = moments_of(replace(days, hours=(0, 24)), tz)[1] - 1 if time is None else time
    return Instant(end, timed=time is not None) if at < end <= at + MOST_MS else None


def comes_before(text: str, at: int, until: int, tz: tzinfo) -> bool:
    """Whether a text, read at `at`, ms, names a moment to come before `until`, ms: 今晚八点, or in either half of the
    day an hour alone, 四点. Never raises."""
    due = due_in(text, at, tz)
    if due is not None:
        return due.timed and at < due.at <= until
    parts, now = parts_folded(_folded(text)[:FOLDED_READ]), local(at, tz)
    if parts.clock is None or parts.day is not None or parts.every is not None or "past" in parts.doubts:
        return False
    hours = {parts.clock.hour % 24, (parts.clock.hour + 12) % 24} if not parts.clock.whole else {parts.clock.hour % 24}
    return any(at < ms_of(now.replace(hour=hour, minute=parts.clock.minute % 60)) <= until for hour in hours)


def nudge_for(
    due: Instant | None, at: int, how: NudgeRules | None, tz: tzinfo, words: Sequence[tuple[str, int]] = ()
) -> Nudge | None:
    """When its person is reminded, as seen from `at`, ms, of what is due: then, or at the configured hour on its day.

    What is earlier on that day than an hour after the configured one comes with an hour to go. `words` are the lines
    that may name a time of day where `due` has none, each with when it was said. None without `due`.
    """
    if due is None or how is None:
        return None
    usual = next_local_time(day_start(due.at, tz) - 1, how.hour, tz)
    begins = due.at if due.timed else _beginning(words, local_day(due.at, tz), tz)
    if begins is not None and begins < usual + HOUR_MS:
        return Nudge(begins - HOUR_MS if begins - HOUR_MS > at else begins, how.most_open)
    return Nudge(due.at if due.timed else usual, how.most_open)


def _beginning(words: Sequence[tuple[str, int]], day: date, tz: tzinfo) -> int | None:
    """The earliest moment on that day that a line names, in the morning where it leaves the half of the day open."""
    found = []
    for text, said_at in words:
        for clause in _BETWEEN_DAYS.split(text):
            parts, about = parts_folded(_folded(clause)[:FOLDED_READ]), date_in(clause, said_at, tz)
            if parts.clock is None or "several" in parts.doubts or about is None or local_day(about.at, tz) != day:
                continue
            open_hour = parts.clock.hour * HOUR_MS + parts.clock.minute * MINUTE_MS
            found.append(about.at if about.precision == "time" else about.at + open_hour)
    return min(found, default=None)


def checked_when(when: str, words: Sequence[tuple[str, int]], tz: tzinfo) -> DatedMoment | None:
    """A model's word for when something is, if the lines name it, each read at the moment (ms) it was said; else None.

    `when` is an ISO day, day and time, month or year, or "--06-15" for a day of every year. An hour that no line names
    is left out.
    """
    match = _WRITTEN.fullmatch(when.strip())
    if match is None or not words:
        return None
    try:
        if match["ym"]:
            return _every_year(int(match["ym"]), int(match["yd"]), words, tz)
        first = date(int(match["y"]), int(match["m"] or 1), int(match["d"] or 1))
        start = datetime(first.year, first.month, first.day, tzinfo=tz)
        if match["d"] is None:
            return _coarse(first, words, tz, month=match["m"] is not None)
        if first not in {one for text, said in words for one in _days(text, said, tz)} and not any(
            _numbered(text, first, local_day(said, tz)) for text, said in words
        ):
            return None
        if match["h"] is not None:
            there = start.replace(hour=int(match["h"]), minute=int(match["min"]))
            if any(_tells(text, said, there, tz) for text, said in words):
                return DatedMoment(ms_of(there), "time")
        return DatedMoment(ms_of(start), "day")
    except (ValueError, OverflowError):
        return None


def days_beside(folded: str) -> tuple[int, ...]:
    """How many days from one that is named a text counts, -1 or 1: the night before, 隔天."""
    return tuple(step for step, words in ((-1, _DAY_BEFORE), (1, _DAY_AFTER)) if words.search(folded))


def _step(folded: str, one: NamedTime) -> int:
    """How many days from that time a text means, where it counts one from it: the night before my exam on Friday."""
    behind = _TO_NEXT.match(folded, one.end)
    at = behind.end() if behind else one.end
    clause = _BEFORE_IN_CLAUSE.search(folded[: one.start])
    before = clause[0] if clause else ""
    for step, words in ((-1, _DAY_BEFORE), (1, _DAY_AFTER)):
        found = words.search(before)
        if words.match(folded, at) or (found is not None and found[0].isascii()):
            return step
    return 0


def event_moment(text: str, at: int, tz: tzinfo) -> int:
    """The middle of the one past day, or part of it, that a statement is about; else `at`, when it was said. In ms.

    Several days, longer times, what comes back or lies ahead name no such day.
    """
    folded, today = _folded(text), local_day(at, tz)
    found = dict.fromkeys(_pick(folded, one, today) for one in _meant(folded, today))
    days = next(iter(found), None)
    if days is None or len(found) > 1 or _AGAIN.search(folded):
        return at
    start, end = moments_of(days, tz)
    middle = (start + end) // 2
    return at if end - start > LONGEST_DAY_MS or local_day(middle, tz) >= today else middle


def _about(folded: str, today: date) -> tuple[NamedTime, DateRange] | None:
    """The time that a sentence is about, with the stretch that is meant."""
    yearly = _YEARLY.search(folded) is not None
    found: list[tuple[NamedTime, DateRange]] = []
    for one in _meant(folded, today):
        days, before = _pick(folded, one, today), folded[: one.start]
        if days is not None and one.counted is not None and _precision(days) is None:
            days = DateRange(one.counted, one.counted)  # two weeks ago
        if days is None or _precision(days) is None or (_EACH.search(before) and not yearly):
            continue
        if _INSTEAD.search(before):
            return one, days
        if days.first == days.last and (step := _step(folded, one)):
            beside = days.first + timedelta(days=step)
            found.append((one, DateRange(beside, beside)))
            continue
        if not _NOT.search(before) and not _NEXT_TO.search(folded[one.end :]):
            found.append((one, days))
    other = [pair for pair in found if pair[1].first != today] or found
    exact = [pair for pair in other if _precision(pair[1]) != "year"] or other
    return next((pair for pair in exact if pair[1].first > today), exact[0] if exact else None)


def _meant(folded: str, today: date) -> list[NamedTime]:
    """The times that a text names, each with what the others say of it: 明年…3月3日, Monday the 15th, 3月3日到5日."""
    times = named_times(folded, today)[:MOST_TIMES]
    for place, one in enumerate(times):
        before = times[place - 1] if place else None
        if before is None or one.left != "month" or not _single(before):
            continue
        if _RANGE.fullmatch(folded[before.end : one.start]):  # 3月3日到5日
            months = {(days.first.year, days.first.month) for days in before.choices}
            within = tuple(days for days in one.choices if (days.first.year, days.first.month) in months)
            times[place] = replace(one, choices=within or one.choices, left=before.left if within else one.left)
    gone: set[int] = set()
    for place, one in enumerate(times):
        for number, other in enumerate(times):
            if number == place or number in gone or not one.left:
                continue
            if other.left == "week" and one.left != "week" and _beside(folded, one, other):  # 6月15日(周一)
                one = times[place] = _on_weekday(one, other.choices[0].first.weekday(), today)
                gone.add(number)
            elif inside := _inside(folded, one, other):
                one = times[place] = replace(one, choices=inside, left=one.left if len(inside) > 1 else "")
                gone.add(number)
        if not one.left and _single(one) and place + 1 < len(times):  # 明天(周六)
            after = times[place + 1]
            if (
                after.left == "week"
                and _beside(folded, one, after)
                and not _RANGE.fullmatch(folded[one.end : after.start])
            ):
                gone.add(place + 1)
    return [one for place, one in enumerate(times) if place not in gone]


def _single(one: NamedTime) -> bool:
    return one.choices[0].first == one.choices[0].last


def _beside(folded: str, one: NamedTime, other: NamedTime) -> bool:
    first, second = sorted((one, other), key=lambda each: each.start)
    return _BETWEEN.fullmatch(folded[first.end : second.start]) is not None


def _on_weekday(one: NamedTime, weekday: int, today: date) -> NamedTime:
    """The day of the two nearest that falls on that weekday; as it was where none or both do."""
    near = [days for days in (_before(one, today), _from(one, today)) if days and days.first.weekday() == weekday]
    return replace(one, choices=(near[0],), left="") if len(near) == 1 and _single(one) else one


def _inside(folded: str, one: NamedTime, other: NamedTime) -> tuple[DateRange, ...]:
    """What of a day lies in a longer time that says which one is meant: next year, 下个月, last week."""
    if other.left or len(other.choices) != 1 or _single(other):
        return ()
    wide, between = other.choices[0], folded[other.end : one.start]
    told = (
        _SENTENCE_END.search(between)
        or tells_of_booking(between)
        or tense(folded, other.start, other.end) in ("done", "perhaps", "arranged")
    )
    if not _beside(folded, one, other) and (other.start > one.start or told):
        return ()
    return tuple(days for days in one.choices if wide.first <= days.first and days.last <= wide.last and days != wide)


def _before(one: NamedTime, today: date) -> DateRange | None:
    """The latest choice that is over."""
    return next((days for days in reversed(one.choices) if days.last < today), None)


def _from(one: NamedTime, today: date) -> DateRange | None:
    """The choice that holds today, or the first one after it."""
    return next((days for days in one.choices if days.last >= today), None)


def _pick(folded: str, one: NamedTime, today: date) -> DateRange | None:
    """The stretch that is meant; None where the words contradict the calendar."""
    if not one.left:
        return one.choices[-1]
    if one.left == "either":
        return None
    over, coming = _before(one, today), _from(one, today)
    if over is None or coming is None or coming.first <= today:
        return coming or over
    told = tense(folded, one.start, one.end)
    if one.left != "year":
        return over if told in ("done", "perhaps", "arranged") else coming
    ahead, ago = (coming.first - today).days, (today - over.last).days
    match told:
        case "ahead":
            return coming
        case "done":
            return over
        case "perhaps":
            return over if ago <= LATE_DAYS or ahead > LATE_DAYS else None
    return over if ago < LATE_DAYS and _YEARLY.search(folded) is None else coming


def _precision(days: DateRange) -> Precision | None:
    length = (days.last - days.first).days + 1
    if length <= STRETCH:
        return "day"
    if days.first.day == 1 and length > 360:
        return "year"
    return "month" if days.first.day == 1 and 28 <= length <= 31 else None


def _time(folded: str, one: NamedTime, day: date, said_at: int, tz: tzinfo) -> int | None:
    """The moment on that day, where one time of day is named without doubt; of a span of hours its beginning."""
    reading = reading_of(folded[:FOLDED_READ])
    if len(reading.clocks) > 1:
        rest = _SEPARATOR.search(folded, one.end)
        reading = reading_of(folded[one.start : rest.start() if rest else len(folded)])
    hour = hour_of(reading.done(), day, local(said_at, tz)) if len(reading.clocks) < 2 else "several"
    if isinstance(hour, str):
        return None
    start = datetime(day.year, day.month, day.day, tzinfo=tz) + timedelta(days=hour[0] // 24)
    return ms_of(start.replace(hour=hour[0] % 24, minute=hour[1]))


def _delay(folded: str, said_at: int) -> int | None:
    """The moment that hours or minutes from now come to."""
    parts = parts_folded(folded[:FOLDED_READ])
    delay = parts.delay
    return said_at + delay.ms if delay is not None and delay.ms and not parts.doubts else None


def _stretches(text: str, said_at: int, tz: tzinfo) -> Iterator[tuple[NamedTime, DateRange]]:
    """Each time that a line can name, read when it was said."""
    folded, today = _folded(text), local_day(said_at, tz)
    for one in _meant(folded, today):
        pick = _pick(folded, one, today)
        if not one.left:
            picks = list(one.choices)
        elif one.left == "either":
            picks = [days for days in one.choices if abs((days.first - today).days) < HALF_YEAR]
        else:
            picks = [days for days in (_before(one, today), _from(one, today)) if days is not None]
            # The one that the words tell of; the nearest where they leave it open. A weekday may be the last or the
            # next.
            later = next((days for days in one.choices if days.first > today), None) if one.left == "week" else None
            told = tense(folded, one.start, one.end)
            if one.left != "week" or not (told in ("arranged", "perhaps") or _MOVED.search(folded)):
                picks = [pick or min(picks, key=lambda days: abs((days.first - today).days))]
            if later and any(days.first <= today <= days.last for days in picks):
                picks.append(later)
        for days in picks:
            yield one, days


def _days(text: str, said_at: int, tz: tzinfo) -> Iterator[date]:
    """Those that a line names; and the one on which it was said, if one of its clauses names none or today."""
    today = local_day(said_at, tz)
    if any(
        _NOW.search(clause) or not named_times(clause, today)
        for clause in _BETWEEN_DAYS.split(_folded(text))
        if clause.strip()
    ):
        yield today
    for one, days in _stretches(text, said_at, tz):
        if one.counted is not None:
            yield one.counted
        if (days.last - days.first).days < 7:
            yield from (days.first, days.last)


def _numbered(text: str, day: date, today: date) -> bool:
    """Whether a text names the number of a day, without its month, of this month or the next: on the 28th, 13号."""
    if abs((day - today).days) > NUMBERED:
        return False
    folded = _folded(text)
    read = [(one.start, one.end) for one in named_times(folded, today)]
    return any(
        int(found[1]) == day.day
        and not _MONTH.search(folded, 0, found.start())
        and not any(start <= found.start() < end for start, end in read)
        for found in _NUMBER.finditer(folded)
    )


def _coarse(first: date, words: Sequence[tuple[str, int]], tz: tzinfo, *, month: bool) -> DatedMoment | None:
    """A month or a year that the lines name, or a day in it."""

    def same(one: date) -> bool:
        return one.year == first.year and (not month or one.month == first.month)

    for text, said in words:
        within = any(same(days.first) and same(days.last) for _, days in _stretches(text, said, tz))
        if within or any(same(one) for one in _days(text, said, tz)):
            return DatedMoment(ms_of(datetime(first.year, first.month, 1, tzinfo=tz)), "month" if month else "year")
    return None


def _every_year(month: int, number: int, words: Sequence[tuple[str, int]], tz: tzinfo) -> DatedMoment | None:
    """The coming such day, if a line names one; that on which it was said where it names no other."""
    date(2000, month, number)  # ValueError where there is none
    said_last = local_day(words[-1][1], tz)
    for text, said in words:
        times = _meant(_folded(text), local_day(said, tz))
        there = {days.first for one in times if _single(one) for days in one.choices} or {local_day(said, tz)}
        if any((day.month, day.day) == (month, number) for day in there):
            years = range(said_last.year, said_last.year + 9)
            days = (day_of(year, month, number) for year in years)
            coming = next(day.first for day in days if day and day.first >= said_last)
            return DatedMoment(ms_of(datetime(coming.year, coming.month, coming.day, tzinfo=tz)), yearly=True)
    return None


def _tells(text: str, said_at: int, there: datetime, tz: tzinfo) -> bool:
    """Whether a line names that time of day, or a number of hours or minutes that comes to it."""
    folded = _folded(text)
    delayed = _delay(folded, said_at)
    if delayed is not None and abs(delayed - ms_of(there)) <= MINUTE_MS:
        return True
    reading, now = reading_of(folded), local(said_at, tz)
    halves: list[DayPart] = list(dict.fromkeys(half for half in reading.halves if half))
    clocks: list[ClockTime | None] = [*reading.clocks] or [None]
    for clock in clocks:
        for half in halves or [""]:
            hour = hour_of(replace(reading.done(), clock=clock, half=half), there.date(), now)
            if not isinstance(hour, str) and (hour[0] % 24, hour[1]) == (there.hour, there.minute):
                return True
        if clock is not None and not halves and clock.minute == there.minute and clock.hour % 12 == there.hour % 12:
            return clock.hour <= 12 or clock.hour == there.hour
    return False
