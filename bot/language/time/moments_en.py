"""Reads future times in folded English text."""

import re
from dataclasses import replace

from bot.core.clock import HOUR_MS, MINUTE_MS
from bot.language.time.parts import (
    EN,
    EN_HOUR,
    FEASTS_EN,
    FULL_WEEKDAY_EN,
    MONTH_EN,
    MONTH_NAMES,
    TAKEN,
    WEEKDAY_EN,
    WEEKDAY_NAMES,
    ClockTime,
    DayPart,
    Delay,
    NamedDay,
    Reading,
    RepeatPeriod,
    Repetition,
    count_en,
)
from bot.text.catalogue import LazyPattern

_OFTEN = "".join(f"(?<!{word} )" for word in ("once", "twice", "time", "times", "day", "days", "for", "every", "per"))
"""Not behind these: once a week on Friday is each week."""
_FROM = LazyPattern(
    rf"(?a)\b(?:(?!{EN} weeks? on\b)|{_OFTEN})(?P<n>{EN}) (?P<unit>days?|weeks?|fortnights?)"
    rf" (?:from|after|(?<=week )on|(?<=weeks )on) (?:(?P<near>today|tomorrow)"
    rf"|(?:on )?(?:(?P<which>this|next|coming|this coming) )?(?P<day>{WEEKDAY_EN}))\b"
)
"""A week from Friday."""
_AFTER = LazyPattern(r"(?a)\b(?:on )?the day (?P<way>after|before) (?P<feast>" + "|".join(FEASTS_EN) + r")\b")
_SAME = LazyPattern(r"(?a)\b(?:at )?(?:this|the same|same) time (?P<day>tomorrow|next week)\b")

MONTH = rf"(?:{MONTH_EN})\.?"
_VAGUE = LazyPattern(
    r"(?a)\b(?:in a (?:while|bit|moment|few|couple)\b(?: of)?(?: more)?(?: (?:minutes|hours|days|weeks|mins))?"
    r"|in (?:some|several|a few|a couple of) (?:minutes|hours|days|weeks|time)|sometime|some day|someday"
    r"|eventually|soon"
    r"|(?<!hours )(?<!minutes )(?<!days )(?<!weeks )(?<!hour )(?<!minute )(?<!mins )(?<!week )(?<!day )later"
    r"|thanksgiving|easter|lunar|chinese new year|"
    r"end of (?:the )?(?:year|week|day)|(?:half|fortnightly))\b(?! (?:past|an? |hour|1?\d\b|" + EN_HOUR + r"\b))"
)
_EVENT = LazyPattern(
    r"(?a)\b(?:after|before|at) (?:work|school|lunch|dinner|breakfast|bed(?:time)?|class)\b(?! (?:at|by) \x00)"
)
"""What happens at a time that nobody knows: it says nothing beside a time of day."""
_WEEKEND = LazyPattern(r"(?a)\b(?:(?:on |over )?(?P<which>this|the|next) weekend|(?:on|at) the weekend)\b")
_OVER = LazyPattern(r"(?a)\b(?:yesterday|last (?:night|week|month|year|" + WEEKDAY_EN + r")|ago)\b")
_UNIT = r"(?:hours?|hrs?|minutes?|mins?|seconds?|secs?|days?|weeks?|fortnights?|months?|years?)"
_PARTS = {" and a half": 0.5, " and a quarter": 0.25, " and three quarters": 0.75}
_PART = f"(?:{'|'.join(_PARTS)})"
_BODY = (
    rf"(?:half an hour|an? half[- ]hour|(?:a quarter|three quarters) of an hour|"
    rf"{EN}{_PART}?\s?(?:more )?{_UNIT}{_PART}?(?:,? (?:and )?{EN} {_UNIT})*)"
)
LENGTH = LazyPattern(rf"(?a)\b(?:half[- ](?:hour|hr)s?|{_BODY})\b")
"""How long, also without a word that says from when: push it an hour."""
_ONE = LazyPattern(rf"(?a)(?P<n>{EN})(?P<mid>{_PART})?\s?(?:more )?(?P<unit>{_UNIT})(?P<part>{_PART})?")
_DELAY = LazyPattern(
    rf"(?a)\b(?:in|after) (?:about |around |roughly |approximately |like |another |exactly |"
    rf"just )?(?P<a>{_BODY})(?: time| or so)?\b|\b(?P<b>{_BODY}) (?:from now|later)\b"
)
_SHORT = LazyPattern(
    r"(?a)\bin (?:(?P<h>\d{1,2}) ?h(?:rs?)?(?: ?(?P<m>\d{1,3}) ?m(?:in)?)?|(?P<m2>\d{1,3}) ?m"
    r"|(?P<m3>[5-9]|[1-9]\d)(?= to\b|[,.!?]|$))(?!\w)"
)
"""In 1h30m; in 10 is of minutes."""
_LEAD = LazyPattern(rf"(?a)\b(?P<a>{_BODY}) (?:before|ahead of|prior to|early|in advance)\b")
_MS = {"h": HOUR_MS, "mi": MINUTE_MS, "s": 1000}

_EACH = "(?:every|each)"
_ALONE = r"(?! (?!(?:to|on|at|about|that|from|until|till|for|in|by|and|around|please|starting|of)\b)[a-z])"
"""A daily standup is none that comes back by being told of."""
_EVERY_OTHER = LazyPattern(
    rf"(?a)\b{_EACH} (?:other|second|third|few|couple|{EN}) ?(?:{_UNIT}|{WEEKDAY_EN}s?)?\b|\b{_EACH} (?:minute|"
    rf"second|quarter)\b"
    r"|\bfortnightly\b|\bbi-?weekly\b"
)
_EVERY_WEEK = LazyPattern(
    rf"(?a)\b(?:{_EACH} (?P<a>{WEEKDAY_EN}(?:(?:,| and|, and|/| &) (?:{_EACH} )?{WEEKDAY_EN})*)|"
    rf"(?:on )?(?P<b>{FULL_WEEKDAY_EN}s(?:(?: and|,) {FULL_WEEKDAY_EN}s)*))\b"
)
_EVERY_WORKDAY = LazyPattern(
    rf"(?a)\b(?:{_EACH} (?:weekday|workday|work day|working day)|(?:on )?(?:weekdays|workdays))\b"
)
_EVERY_WEEKEND = LazyPattern(rf"(?a)\b(?:{_EACH} weekend|(?:on|at) weekends)\b")
_EVERY_LAST = LazyPattern(
    rf"(?a)\b(?:on )?(?:the )?last day of (?:{_EACH}) month\b|\b{_EACH} last day of the month\b"
    rf"|\b{_EACH} month on the last day\b"
)
_EVERY_MONTH = LazyPattern(
    rf"(?a)\b(?:{_EACH} month on the (?P<a>\d{{1,2}})(?:st|nd|rd|th)?|(?:on )?the (?P<b>\d{{1,2}})(?:st|nd|rd|th) of "
    rf"{_EACH} month|monthly on the (?P<c>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|{_EACH} (?P<e>\d{{1,2}})(?:st|nd|rd|th) of the month)\b"
)
_EVERY_YEAR = LazyPattern(
    rf"(?a)\b(?:{_EACH} year on |{_EACH} |yearly on |annually on )(?P<mon>{MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b"
)
_EVERY_DAY = LazyPattern(rf"(?a)\b(?:{_EACH} ?day|daily{_ALONE}|{_EACH} (?P<half>morning|afternoon|evening|night))\b")
_EVERY_HOUR = LazyPattern(rf"(?a)\b(?:{_EACH} hour|hourly)\b")
_NO_DAY = LazyPattern(rf"(?a)\b(?:(?:weekly|monthly|yearly|annually){_ALONE}|{_EACH} (?:week|month|year))\b")
_BOUNDED = LazyPattern(r"(?a)\b(?:until|till|starting|beginning|for the next|for \d+ (?:days|weeks))\b")

_NEAR = LazyPattern(
    r"(?a)\b(?:the )?(?P<after>day after tomorrow)\b|\b(?P<tomorrow>tomorrow|tmrw?|tmw|tomorow|2morrow|2moro)\b"
    r"|\b(?P<tonight>tonight)\b|\b(?P<today>today|this (?=morning|afternoon|evening))\b"
)
_WEEKDAY = LazyPattern(
    rf"(?a)\b(?:on )?(?:(?P<which>this|next|coming|this coming) )?(?P<day>{WEEKDAY_EN})(?P<week> week)?\b(?!')"
)
_ATTRIBUTE = LazyPattern(rf"(?a)\b(?:the|my|our|your|his|her|their|a) {WEEKDAY_EN}\b(?! of)")
_WEEKS = LazyPattern(r"(?a)\b(?:next|this) (?:week|month|year)\b")
_ISO = LazyPattern(r"(?a)(?<!\d)(?P<y>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})(?!\d)")
_SLASH = LazyPattern(r"(?a)(?<![\d/:.])(?:on )?(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:/(?P<y>\d{4}))?(?![\d/])")
_MONTH_DAY = LazyPattern(
    rf"(?a)\b(?:on )?(?:(?P<mon>{MONTH}) (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:| ?[ap]\.?m)"
    rf"|(?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<mon2>{MONTH}))(?:,? (?P<y>\d{{4}}))?\b"
)
_LAST = LazyPattern(
    r"(?a)\b(?:(?:on )?(?:the )?last day|(?:at |by )?(?:the )?end) of (?P<next>the|this|next)? ?month\b"
    rf"|\b(?:on )?(?:the )?last day (?:of|in) (?P<mon>{MONTH})\b"
)
_NEXT_MONTH = LazyPattern(
    r"(?a)\bnext month,? on the (?P<a>\d{1,2})(?:st|nd|rd|th)\b|\b(?:on )?the (?P<b>\d{1,2})(?:st|nd|rd|"
    r"th) of next month\b|\b(?:on )?(?:the )?first(?: day)? of (?:next|the) month\b"
)
_NUMBER = LazyPattern(r"(?a)\b(?:on )?the (?P<n>\d{1,2})(?:st|nd|rd|th)\b")
_FEAST = LazyPattern(r"(?a)\b(?:on )?(?P<feast>" + "|".join(FEASTS_EN) + r")\b")

_AMPM = r"\s?(?P<ap>[ap])\.?m\b\.?"
_SO = "(?:[ -]?ish| or so)"
"""About that time, which is told by the hour that is named."""
_NEARLY = LazyPattern(
    rf"(?a)(?:\b(?:at|around|round|about|by) )?\b(?:(?P<h>1?\d|2[0-4])(?P<m>[:.][0-5]\d)?|(?P<h2>{EN_HOUR}))[ -]?ish\b"
)
_ABOUT = LazyPattern(
    rf"(?a)\b(?:round|about|roughly) (?P<h>1?\d|2[0-4]|{EN_HOUR})"
    rf"(?= ?(?:$|[,.;!?)\n{TAKEN}]|(?:to|and|on|in the|please|pls|thanks|cheers|ta)\b))"
)
"""Round eight; what about eight is said of goes on with a noun."""
_WITH = LazyPattern(
    rf"(?a)(?:\b(?:at|@|for|around|round|about|like) ?)?(?<![\d:])(?P<h>\d{{1,2}})(?:[:.](?P<m>\d{{2}}))?{_AMPM}"
    rf"(?:{_SO}\b)?"
)
_HALF_PAST = LazyPattern(
    rf"(?a)(?:\bat )?\b(?P<what>half|(?:a )?quarter|\d{{1,2}}|five|ten|twenty(?:[- ]five)?)(?: minutes?)? "
    rf"(?P<way>past|after|to|till|of) (?P<h>\d{{1,2}}|{EN_HOUR}){_SO}?\b(?:{_AMPM})?"
)
_HALF = LazyPattern(rf"(?a)(?:\bat )?\bhalf (?P<h>1[0-2]|[1-9]|{EN_HOUR}){_SO}?\b(?! (?:hours?|days?|dozen|of)\b)")
"""Half seven is half past seven in Britain, whose word it is."""
_WORD = LazyPattern(
    rf"(?a)\b(?:at|for|around|by) (?P<h>{EN_HOUR})(?: (?P<m>o'clock|thirty|fifteen|forty[- ]five|ten|twenty))?"
    rf"(?:{_AMPM})?(?:{_SO})?\b|\b(?P<h2>{EN_HOUR}) o'clock(?:{_AMPM})?(?:{_SO}\b)?".replace(
        "(?P<ap>", "(?:", 1
    ).replace("(?P<ap>", "(?P<ap2>", 1)
)
_OCLOCK = LazyPattern(
    r"(?a)\b(?:at )?(?P<h>\d{1,2})(?: ?o'?clock\b|(?= (?:in the (?:morning|afternoon|evening)|at night)\b))"
)
_COLON = LazyPattern(r"(?a)(?:\b(?:at|@|for|around|round|about) )?(?<![\d:./-])(?P<h>\d{1,2}):(?P<m>\d{2})(?![\d:])")
_AT = LazyPattern(
    r"(?a)(?:\b(?:at|around)|@) ?(?P<h>\d{1,2})(?![\d:./%]|\s?(?:st|nd|rd|th|people|euros?|dollars?)\b)"
    rf"(?:{_SO}\b)?"
)
_NAMED = LazyPattern(r"(?a)\b(?:at |by )?(?P<name>noon|midday|midnight|noontime)\b")
_HALVES: tuple[tuple[LazyPattern, DayPart], ...] = (
    (LazyPattern(r"(?a)\b(?:in the )?morning\b"), "morning"),
    (LazyPattern(r"(?a)\b(?:in the )?afternoon\b"), "afternoon"),
    (LazyPattern(r"(?a)\b(?:in the )?evening\b"), "pm"),
    (LazyPattern(r"(?a)\b(?:(?:at |in the )?night|tonight)\b"), "night"),
    (LazyPattern(r"(?a)^ *a\.?m\.? *$"), "am"),
    (LazyPattern(r"(?a)^ *p\.?m\.? *$"), "pm"),
)
_OR = LazyPattern(r"(?a)\b\d{1,2} or (?=\d)|\bbetween\b|" + TAKEN + r" (?:or|to|-|until|till) " + TAKEN)
_BEFORE = LazyPattern(r"(?a)\b(?:before|by|until|till|no later than) " + TAKEN)


def read_counted(reading: Reading) -> None:
    """Take days that are counted from another one, and the same time of another day."""
    for match in reading.take(_FROM):
        plus = int(count_en(match["n"]) * {"d": 1, "w": 7, "f": 14}[match["unit"][0]])
        if match["near"]:
            reading.name_day(NamedDay("near", plus + (match["near"] == "tomorrow")))
            continue
        weekday = weekday_of(match["day"])
        base = NamedDay("next", weekday=weekday) if match["which"] == "next" else NamedDay("weekday", weekday=weekday)
        reading.name_day(replace(base, plus=plus))
    for match in reading.take(_SAME):
        reading.parts = replace(reading.parts, delay=Delay(days=1 if match["day"] == "tomorrow" else 7, same=True))
    for match in reading.take(_AFTER):
        month, number = FEASTS_EN[match["feast"]]
        reading.name_day(NamedDay("feast", number, month=month, plus=1 if match["way"] == "after" else -1))


def weekday_of(word: str) -> int:
    """Monday is 0."""
    return WEEKDAY_NAMES.index(word[:3])


def read(reading: Reading) -> None:
    """Take every part of a time that English names."""
    if not re.search("[a-z]{2}|@", reading.text):
        return
    if _OR.search(reading.text):
        reading.doubt("several")
    if _ATTRIBUTE.search(reading.text):
        reading.doubt("day")
    if reading.take(_OVER):
        reading.doubt("past")
    _every(reading)
    read_counted(reading)
    _durations(reading)
    _days(reading)
    _clocks(reading)
    if re.search(rf"\bhalf {EN_HOUR}\b", reading.text):
        reading.doubt("half")
    if reading.take(_VAGUE):
        reading.doubt("vague")
    if reading.take(_EVENT):
        reading.loose = True
    if _BEFORE.search(reading.text):
        reading.doubt("before")
    if _OR.search(reading.text):
        reading.doubt("several")


def _every(reading: Reading) -> None:
    def set_every(every: Repetition) -> None:
        if reading.parts.every is not None:
            reading.doubt("rule")
        reading.parts = replace(reading.parts, every=every)

    if reading.take(_EVERY_OTHER):
        reading.doubt("rule")
    if reading.take(_EVERY_HOUR):
        set_every(Repetition(hourly=True))
    if reading.take(_EVERY_LAST):
        set_every(Repetition("last"))
    for match in reading.take(_EVERY_MONTH):
        set_every(Repetition(str(int(match["a"] or match["b"] or match["c"] or match["e"]))))
    for match in reading.take(_EVERY_YEAR):
        set_every(Repetition(str(int(match["d"])), str(month_of(match["mon"]))))
    if reading.take(_EVERY_WORKDAY):
        set_every(Repetition(weekdays="mon,tue,wed,thu,fri"))
    if reading.take(_EVERY_WEEKEND):
        set_every(Repetition(weekdays="sat,sun"))
    for match in reading.take(_EVERY_WEEK):
        named = sorted({weekday_of(word) for word in re.findall(r"[a-z]+", match["a"] or match["b"]) if _is_day(word)})
        set_every(Repetition(weekdays=",".join(WEEKDAY_NAMES[number] for number in named)))
    for match in reading.take(_EVERY_DAY):
        set_every(Repetition())
        if match["half"]:
            reading.halves.append(_half_of(match["half"]))
    for match in reading.take(_NO_DAY):
        reading.parts = replace(reading.parts, period=_period(match[0]))
        if reading.parts.every is None:
            reading.doubt("day")
    if re.search(rf"\b{_EACH}\b(?! (?:one|of|other|time))", reading.text):
        reading.doubt("rule")
    if reading.parts.every is not None and _BOUNDED.search(reading.text) and not reading.bounded:
        reading.doubt("rule")


def _period(words: str) -> RepeatPeriod:
    return "week" if "week" in words else "month" if "month" in words else "year"


def _half_of(word: str) -> DayPart:
    halves: dict[str, DayPart] = {"morning": "morning", "afternoon": "afternoon", "evening": "pm", "night": "night"}
    return halves[word]


def _is_day(word: str) -> bool:
    return re.fullmatch(WEEKDAY_EN, word.removesuffix("s") if word.endswith("days") else word) is not None


def month_of(word: str) -> int:
    return MONTH_NAMES.index(word[:3]) + 1


def _durations(reading: Reading) -> None:
    for match in reading.take(_LEAD):
        reading.parts = replace(reading.parts, lead=delay_of(match["a"]))
        if reading.parts.lead is None:
            reading.doubt("before")
    for match in reading.take(_SHORT):
        minutes = int(match["h"] or 0) * 60 + int(match["m"] or match["m2"] or match["m3"] or 0)
        reading.parts = replace(reading.parts, delay=Delay(minutes * MINUTE_MS))
    for match in reading.take(_DELAY):
        if reading.parts.delay is not None:
            reading.doubt("several")
        delay = delay_of(match["a"] or match["b"])
        if delay is None:
            reading.doubt("vague")
        reading.parts = replace(reading.parts, delay=delay)


def delay_of(body: str) -> Delay | None:
    if re.fullmatch("half an hour|(?:an? )?half[- ](?:hour|hr)s?", body):
        return Delay(30 * MINUTE_MS)
    if body.endswith(" of an hour"):
        return Delay((15 if "a quarter" in body else 45) * MINUTE_MS)
    ms, days, months = 0.0, 0.0, 0.0
    for match in _ONE.finditer(body):
        number, unit = count_en(match["n"]) + _PARTS.get(match["part"] or match["mid"], 0.0), match["unit"]
        if unit[0] in "hs" or unit.startswith("mi"):
            ms += number * _MS["mi" if unit.startswith("mi") else unit[0]]
        elif unit.startswith(("mo", "y")):
            months += number * (12 if unit[0] == "y" else 1)
        else:
            days += number * {"d": 1, "w": 7, "f": 14}[unit[0]]
    return Delay(int(ms), int(days), int(months)) if days == int(days) and months == int(months) else None


def _days(reading: Reading) -> None:
    for match in reading.take(_ISO):
        reading.name_day(NamedDay("date", int(match["d"]), month=int(match["m"]), year=int(match["y"])))
    for match in reading.take(_SLASH):
        first, second = int(match["a"]), int(match["b"])
        if first <= 12 and second <= 12 and first != second:
            reading.doubt("day")
        month, number = (first, second) if first <= 12 else (second, first)
        reading.name_day(NamedDay("date", number, month=month, year=int(match["y"] or 0)))
    for match in reading.take(_MONTH_DAY):
        month = month_of(match["mon"] or match["mon2"])
        reading.name_day(NamedDay("date", int(match["d"] or match["d2"]), month=month, year=int(match["y"] or 0)))
    for match in reading.take(_LAST):
        month = month_of(match["mon"]) if match["mon"] else 0
        reading.name_day(
            NamedDay("date", 0, month=month) if month else NamedDay("last", off=int(match["next"] == "next"))
        )
    for match in reading.take(_FEAST):
        month, number = FEASTS_EN[match["feast"]]
        reading.name_day(NamedDay("feast", number, month=month))
    for match in reading.take(_NEXT_MONTH):
        reading.name_day(NamedDay("number", int(match["a"] or match["b"] or 1), off=1))
    for match in reading.take(_NUMBER):
        reading.name_day(NamedDay("number", int(match["n"])))
    for match in reading.take(_WEEKEND):
        reading.name_day(NamedDay("weekend", int(match["which"] == "next")))
    if reading.take(_WEEKS):
        reading.doubt("day")
    for match in reading.take(_WEEKDAY):
        if match["week"] and not match["which"]:  # a week from then
            reading.name_day(NamedDay("weekday", weekday=weekday_of(match["day"]), plus=7))
            continue
        if match["week"]:
            reading.doubt("day")
        kinds = {
            "this": NamedDay("week", 0, weekday_of(match["day"])),
            "next": NamedDay("next", weekday=weekday_of(match["day"])),
        }
        reading.name_day(kinds.get(match["which"] or "", NamedDay("weekday", weekday=weekday_of(match["day"]))))
    for match in reading.take(_NEAR):
        reading.name_day(NamedDay("near", 2 if match["after"] else 1 if match["tomorrow"] else 0))
        if match["tonight"]:
            reading.parts = replace(reading.parts, tonight=True)
            reading.halves.append("night")


def _clocks(reading: Reading) -> None:
    for match in reading.take(_HALF_PAST):
        minutes = {"half": 30, "quarter": 15, "a quarter": 15}.get(match["what"]) or int(count_en(match["what"]))
        hour = int(count_en(match["h"]))
        if match["way"] in ("to", "till", "of"):
            hour, minutes = (hour - 1) or 12, 60 - minutes
        reading.name_clock(ClockTime(hour, minutes), _ampm(match["ap"]))
    for match in reading.take(_HALF):
        reading.name_clock(ClockTime(int(count_en(match["h"])), 30))
    for match in reading.take(_NEARLY):
        hour = int(count_en(match["h"] or match["h2"]))
        reading.name_clock(ClockTime(hour, int((match["m"] or ":0")[1:])))
    for match in reading.take(_WITH):
        if int(match["h"]) > 12:
            reading.doubt("none_such")
        reading.name_clock(ClockTime(int(match["h"]), int(match["m"] or 0)), _ampm(match["ap"]))
    for match in reading.take(_WORD):
        hour, more = int(count_en(match["h"] or match["h2"])), match["m"] or ""
        minute = 0 if more in ("", "o'clock") else int(count_en(more))
        reading.name_clock(ClockTime(hour, minute), _ampm(match["ap2"]))
    for match in reading.take(_ABOUT):
        reading.name_clock(ClockTime(int(count_en(match["h"]))))
    for match in reading.take(_OCLOCK):
        reading.name_clock(ClockTime(int(match["h"])))
    for match in reading.take(_COLON):
        reading.name_clock(ClockTime(int(match["h"]), int(match["m"]), whole=match["h"].startswith("0")))
    for match in reading.take(_AT):
        reading.name_clock(ClockTime(int(match["h"]), whole=match["h"].startswith("0")))
    for match in reading.take(_NAMED):
        if match["name"] == "midnight":
            coming = reading.parts.tonight or (reading.parts.day is None and reading.parts.every is None)
            reading.name_clock(ClockTime(24 if coming else 0, whole=True))
            if not coming:
                reading.doubt("day")
        else:
            reading.name_clock(ClockTime(12, whole=True))
    for pattern, half in _HALVES:
        if reading.take(pattern):
            reading.halves.append(half)


def _ampm(letter: str | None) -> DayPart:
    return "am" if letter == "a" else "pm" if letter == "p" else ""
