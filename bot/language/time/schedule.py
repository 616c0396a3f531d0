"""What recurs: as people say it, as a rule (cron fields, step, end), and when it is due next; time zones by name."""

import difflib
import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from bot.language.time import moments_en, moments_zh
from bot.language.time.moments_zh import delay_of
from bot.language.time.parts import (
    EN,
    FULL_WEEKDAY_EN,
    TAKEN,
    WEEKDAY_EN,
    WEEKDAY_NAMES,
    WEEKDAYS_ZH,
    ZH,
    NamedDay,
    Reading,
    Repetition,
    TimeParts,
    count_en,
    count_zh,
)
from bot.text.catalogue import LazyPattern, read_table
from bot.text.dates import local, ms_of
from bot.text.fold import fold

ZONE_CHARS = 64
"""Longest name of a time zone."""

_CITIES: dict[str, str] = read_table("bot.language.time", "zones")
_OFFSET = re.compile(r"(?:utc|gmt)? ?([+-])(\d{1,2})(?::?00)?")

LOOKED_AT = 8
SEVERAL = "|"
SHORTEST = 28
"""Days that every month has."""

EVERY = LazyPattern(
    r"每|逢(?=周|星期|礼拜)|工作日|上班日|平日|天天|(?a:\b(?:every|each|daily|weekly|monthly|weekdays|weekends)\b"
    rf"|\b{FULL_WEEKDAY_EN}s\b)"
)
LONGEST = 24
"""Characters in which a day is named."""

_UNTIL = LazyPattern(
    r"(?:(?<=[,，])[㐀-鿿]到|一?直到|持续到|截止到?|(?<![\d一二三四五六日天点半分号])到|到(?=[^,，。]{1,14}?(?:为止|结束|截止)))"
    r"|(?a:,? ?\b(?:up )?(?:until|till|til|through|thru|ending(?: on)?)\b )"
)
_UNTIL_END = LazyPattern(r"\s*(?:那天)?(?:为止|结束|截止|就行了?|就好了?|就可以了?|就不用了?|即可)")
_RANGE = LazyPattern(r"(?<=[\d号日])(?:到|至|-|~)|(?a: (?:to|through|thru) )")
_FOR = LazyPattern(
    rf"(?:接下来|未来|今后|往后|连续|持续|连着)的?(?P<zh>{ZH}个?(?:天|日|周|星期|礼拜|月|年))(?:里|内)?"
    rf"|(?a:\bfor (?:the )?(?:next |coming |following )?(?P<n>{EN}) (?P<unit>day|week|month)s?\b)"
)
_FROM = LazyPattern(r"从|自(?!己)|(?a:\b(?:starting|beginning|from|as of)(?: on| from)? )")
_FROM_END = LazyPattern(r"\s*(?:开始|起(?![床来身飞夜立]))|(?a: ?\b(?:on|onwards?)\b(?= |$))")
_BEGINS = LazyPattern(r"开始|起(?![床来身飞夜立])")
_NEXT = LazyPattern(
    r"\s*(?:下个?(?:月|(?P<zh>周|星期|礼拜))(?![一二三四五六日天\d])|(?a:next (?:month|(?P<week>week))\b))"
)
_PERIOD = LazyPattern(
    r"\s*(?:(?:今|本|这)?年(?:底|末)|(?a:(?:the )?end of (?:the|this) (?P<what>year|month)\b)"
    rf"|(?P<zh>{ZH})月(?:份)?(?:底|末)?(?![\d一二三四五六七八九十])|(?a:(?:the end of )?(?P<mon>{moments_en.MONTH})(?! ?\d)\b))"
)

_HALF_ZH = "(?:凌晨|清晨|清早|一?大?早|早晨|早上|上午|中午|正午|下午|午后|傍晚|晚上|晚间|夜里|晚|早)"
_CLOCK_ZH = rf"(?:{_HALF_ZH}?(?:{moments_zh.BARE_CLOCK}|\d{{1,2}}:\d{{2}}(?!\d))|中午|正午)"
_LIST_ZH = LazyPattern(rf"{_CLOCK_ZH}(?:\s?(?:[、,]|和|及|与|跟|还有|以及)\s?{_CLOCK_ZH})+")
_BOTH_ZH = LazyPattern(
    rf"早(?:上)?(?:和|、)?晚(?:上)?(?:各?一?次)?的?(?P<clock>{moments_zh.BARE_CLOCK}|\d{{1,2}}:\d{{2}}(?!\d))"
)
_CLOCK_EN = (
    r"(?:(?:every|each) day |(?:(?:every|each) )?(?:morning|afternoon|evening|"
    r"night) )?(?:(?:at )?(?:noon|midday)|(?:at )?\d{1,2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\b\.?|"
    r" in the (?:morning|afternoon|evening)"
    r"| at night)|(?:at )?\d{1,2}:\d{2}(?![:\d]))"
)
_LIST_EN = LazyPattern(rf"(?a)(?<![\w:.]){_CLOCK_EN}(?:(?:,? and|,| &|,? then) (?:again )?{_CLOCK_EN})+")
_EVERY_ZH = LazyPattern(r"每(?!日(?:一|任|签|报|新|必|打|例|计|总))|工作日|天天")
_EVERY_EN = LazyPattern(
    r"(?a)\b(?:every|each|daily|(?:twice|(?:two|three|four|\d) times|thrice) (?:a|per) day|weekdays)\b"
)
_TIMES_EN = LazyPattern(
    r"(?a)\b(?:(?P<two>twice)|(?P<n>two|three|four|\d) times|(?P<three>thrice)) (?:a|per|every|"
    r"each) day\b|\btwice daily\b"
)
_TIMES_ZH = LazyPattern(rf"(?:每天|每日|一天|一日)(?P<n>{ZH})[次遍]")
_DAYS_ZH = LazyPattern(rf"(?P<other>每隔[天日])|每(?P<between>隔)?(?P<n>{ZH})[天日](?![一二三四五六七八九十\d])")
_WEEKS_ZH = LazyPattern(
    rf"(?:(?P<other>每隔(?:[一1]个?)?)|每(?P<n>{ZH})个?)(?:周|星期|礼拜)(?:的|,)?(?:周|星期|礼拜)?(?P<day>[一二三四五六日天])(?![一二三四五六日天、到至期])"
)
_DAYS_EN = LazyPattern(
    rf"(?a)\b(?:every|each) (?:(?P<other>other|second|2nd)|(?P<third>third|3rd)|(?P<n>{EN})) days?\b"
)
_WEEKS_EN = LazyPattern(
    rf"(?a)\b(?:every|each) (?:(?:(?P<other>other|second|2nd)|(?P<third>third|3rd)|"
    rf"(?P<n>{EN})) weeks?,?(?: on)?(?: a)? (?P<day>{WEEKDAY_EN})s?"
    rf"|(?P<other2>other|second|2nd) (?P<day2>{WEEKDAY_EN})s?)\b"
)
LOOSE = LazyPattern(
    rf"(?:从|自(?!己)|(?<=\d)年|除了?|不是|并非|第[一二三四五六七八九十\d]+个?|闰)\s?{TAKEN}"
    rf"|{TAKEN}\s?(?:的?前(?:一[天晚日]|夕)|的?(?:第二|次|隔|后一)[天日]|后的|开始|起(?![床来身飞夜立])|为止|除外|以外|之间|期间"
    rf"|[以之]内|内(?![容衣部存科心人裤]))"
    rf"|(?a:\b(?:after|before|from|since|past|following|but|except|not|weeks?|days?|hours?|minutes?|"
    rf"mins?|months?|years?|second"
    rf"|third|fourth|first|last|next|of|other|half|quarter|til|than) {TAKEN}|{TAKEN} ?(?:ish\b|-?ish\b|"
    rf"or so\b|ago\b|and a half\b"
    rf"|weeks?\b|before\b|after\b|after next\b|through\b|(?:-|–|to|til|till|until) \d)|(?:\d|"
    rf"\b{EN}) ?(?:to|-|–|til|till|until|or|and) {TAKEN})"
)
"""What stands right beside a time and may change it: nobody has understood it, so it is asked."""


def zone_or(name: str, other: str) -> ZoneInfo:
    """The zone of that name, or the other where this machine's tables do not know it: a stored name outlives them."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return ZoneInfo(other)


def zone_named(words: str) -> str | None:
    """The IANA zone of a name, a city in Chinese or English, or a whole offset from UTC; None when there is none."""
    wanted = fold(words[:ZONE_CHARS]).strip().removesuffix("时间").removesuffix(" time").strip()
    if not wanted:
        return None
    if found := _OFFSET.fullmatch(wanted):
        hours = int(found[2])
        # POSIX has it the other way round: Etc/GMT-8 is eight hours before Greenwich.
        return f"Etc/GMT{'-' if found[1] == '+' else '+'}{hours}" if 0 < hours <= 12 else "UTC" if not hours else None
    return _names().get(wanted.replace(" ", "_")) or _names().get(wanted)


def zone_near(words: str) -> str | None:
    """The zone whose name is most like what was written; None when none is."""
    wanted = fold(words[:ZONE_CHARS]).strip().replace(" ", "_")
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


def read_bounds(reading: Reading) -> None:
    """Take what bounds a rule."""
    if not EVERY.search(reading.text):
        return
    for match in reading.take(_FOR):
        delay = delay_of(match["zh"]) if match["zh"] else None
        if match["n"]:
            delay = moments_en.delay_of(f"{count_en(match['n']):g} {match['unit']}s")
        reading.parts = replace(reading.parts, span=delay)
    for match in _RANGE.finditer(reading.text):
        named = _named(reading.text, match.end())
        if named is not None and named[0].clock is None:
            _begin_at(reading, match.start(), match.start())
            if reading.parts.since is not None:
                _blank(reading, match.start(), named[1], _UNTIL_END)
                reading.parts = replace(reading.parts, until=named[0].day)
                return
    if (until := _UNTIL.search(reading.text)) is not None:
        period = _PERIOD.match(reading.text, until.end())
        named = None if period is not None else _named(reading.text, until.end())
        if period is not None:
            month = moments_en.month_of(period["mon"]) if period["mon"] else count_zh(period["zh"] or "")
            last = NamedDay("last", off=0) if period["what"] == "month" else NamedDay("date", 0, month=month or 12)
            _blank(reading, until.start(), period.end(), _UNTIL_END)
            reading.parts = replace(reading.parts, until=last)
        elif named is not None and named[0].clock is None:
            _blank(reading, until.start(), named[1], _UNTIL_END)
            reading.parts = replace(reading.parts, until=named[0].day)
    first = _FROM.search(reading.text)
    if first is not None and (coming := _NEXT.match(reading.text, first.end())) is not None:
        week = coming["week"] or coming["zh"]
        _blank(reading, first.start(), coming.end(), _FROM_END)
        reading.parts = replace(reading.parts, since=NamedDay("week", 1, 0) if week else NamedDay("number", 1, off=1))
    elif first is not None and (named := _named(reading.text, first.end())) is not None:
        _begin(reading, named[0], first.start(), named[1])
    elif (ends := _BEGINS.search(reading.text)) is not None:
        _begin_at(reading, ends.start(), ends.end())


def _begin_at(reading: Reading, end: int, more: int) -> None:
    """Take the day that ends there as the first one, with what stands behind it up to `more`."""
    for begin in range(max(end - LONGEST // 2, 0), end):
        named = _named(reading.text[:end], begin)
        if named is not None and named[1] == end:
            _begin(reading, named[0], begin, more)
            return


def _begin(reading: Reading, parts: TimeParts, begin: int, end: int) -> None:
    _blank(reading, begin, end, _FROM_END)
    reading.parts = replace(reading.parts, since=parts.day)
    if parts.clock is not None:
        reading.name_clock(parts.clock, parts.half)
    elif parts.half:
        reading.halves.append(parts.half)


def _named(text: str, begin: int) -> tuple[TimeParts, int] | None:
    """The day that is named right there, and where its name ends."""
    rule = EVERY.search(text, begin)
    piece = Reading(text[begin : min(begin + LONGEST, rule.start() if rule else len(text))])
    moments_zh.read(piece)
    moments_en.read(piece)
    end = 0
    for start, stop in sorted(piece.parts.spans):
        if start > end + (text[begin + end : begin + end + 1] == " "):
            break
        end = max(end, stop)
    alone = Reading(text[begin : begin + end])
    moments_zh.read(alone)
    moments_en.read(alone)
    parts = alone.done()
    return (parts, begin + end) if end and parts.day is not None and parts.doubt is None and not parts.every else None


def _blank(reading: Reading, begin: int, end: int, more: LazyPattern) -> None:
    if (found := more.match(reading.text, end)) is not None:
        end = found.end()
    reading.blank(begin, end)


def read_lists(reading: Reading) -> None:
    """Take lists of times of day of what comes back, and every few days or weeks."""
    _steps(reading)
    every = reading.parts.every is not None or _EVERY_ZH.search(reading.text) or _EVERY_EN.search(reading.text)
    if not every:
        return
    for match in reading.take(_BOTH_ZH):
        _name(reading, [f"早上{match['clock']}", f"晚上{match['clock']}"])
    for match in reading.take(_LIST_ZH):
        _name(reading, re.split("[、,]|和|及|与|跟|还有|以及", match[0]))
    for match in reading.take(_LIST_EN):
        if "every" in match[0] or "each" in match[0]:
            reading.parts = replace(reading.parts, every=reading.parts.every or Repetition())
        _name(reading, re.split(r",? and |, | & |,? then ", match[0]))
    for match in [*reading.take(_TIMES_EN), *reading.take(_TIMES_ZH)]:
        word = match.groupdict().get("n") or ""
        wanted = 3 if match.groupdict().get("three") else int(count_en(word)) or count_zh(word) or 2
        if wanted != max(len(reading.parts.times), 1):
            reading.doubt("rule")
        if not re.search("every|daily|每", reading.text):
            reading.parts = replace(reading.parts, every=Repetition())


def _name(reading: Reading, words: list[str]) -> None:
    pieces = []
    for word in words:
        piece = Reading(re.sub(r"\b(?:again|every|each|day) ", "", word).strip())
        moments_zh.read(piece)
        moments_en.read(piece)
        pieces.append(piece)
    if reading.parts.times:
        reading.doubt("several")
    reading.name_times(pieces)


def _steps(reading: Reading) -> None:
    for match in reading.take(_WEEKS_ZH):
        weeks = 2 if match["other"] else count_zh(match["n"])
        _every(reading, Repetition(weekdays=WEEKDAY_NAMES[WEEKDAYS_ZH[match["day"]]], step=7 * weeks))
    for match in reading.take(_WEEKS_EN):
        weeks = 3 if match["third"] else 2 if match["other"] or match["other2"] else int(count_en(match["n"]))
        _every(reading, Repetition(weekdays=(match["day"] or match["day2"])[:3], step=7 * weeks))
    for match in reading.take(_DAYS_ZH):
        # 每隔一天 is every second day, so 每隔两天 is every third; the confirmation says which.
        days = 2 if match["other"] else count_zh(match["n"])
        _every(reading, Repetition(step=days + 1 if days and match["between"] else days))
    for match in reading.take(_DAYS_EN):
        _every(reading, Repetition(step=3 if match["third"] else 2 if match["other"] else int(count_en(match["n"]))))


def _every(reading: Reading, every: Repetition) -> None:
    if reading.parts.every is not None or not every.step:
        reading.doubt("rule")
    reading.parts = replace(reading.parts, every=every)
