"""Time ranges in English text, past or open, folded."""

from collections.abc import Callable
from datetime import date

from bot.language.time import calendar
from bot.language.time.calendar import DateRange, NamedTime, TimeReading, only
from bot.language.time.moments_en import month_of, weekday_of
from bot.language.time.parts import DAYS_OFF, EN, FEASTS_EN, FULL_WEEKDAY_EN, MONTH_EN, WEEKDAY_EN, count_en
from bot.text.catalogue import LazyPattern

_FEW = {"a couple of": 2, "couple of": 2, "a few": 3}
_NUMBER = rf"a couple of|couple of|a few|{EN}"
_SEASON = "spring|summer|autumn|fall|winter"
_DAYNUMBER = r"(?:[0-2]?\d|3[01])(?:st|nd|rd|th)?"
_FEAST = "|".join(FEASTS_EN)
_ORDINAL = r"(?:[0-2]?\d|3[01])(?:st|nd|rd|th)"
_ENDS = (
    r"(?=\W*$|[,.;:!?)\n-]|'s\b| (?:at|in|on|for|from|of (?:this|next|last|the) month|and|with|to|till|until|is|was"
    r"|are|were"
    r"|will|i|we|you|it|he|she|they|my|our|his|her|their|if|so|but|because|when|then|instead|still|now|please|or|this"
    r"|next|last|we're|i'm|it's|as|morning|afternoon|evening|night)\b)"
)
"""What stands after "the 3rd" when it is a day: not floor, time or grade."""

_FORMS = (
    r"(?P<iso>\d{4})[-/.](?P<isom>\d{1,2})(?:[-/.](?P<isod>\d{1,2}))?",
    r"(?:the )?(?P<before>day before yesterday)|(?:the )?(?P<after>day after tomorrow)",
    r"(?P<near>yesterday|today|tonight|tomorrow|tomorow|tmrw?|tmw|last night|this morning|this afternoon|this evening)",
    rf"(?P<count>{_NUMBER}) (?P<unit>day|week|month|year)s? (?:ago|back|earlier)",
    rf"in (?:about |around |exactly |another |just )?(?P<ahead>half a|{EN}) (?:more )?"
    r"(?P<aheadunit>day|week|fortnight|month|year)s?"
    r"(?:' time|'s time| time)?(?! of )",
    rf"(?P<from>half a|{EN}) (?P<fromunit>day|week|fortnight|month|year)s? (?:from|(?<=k )on|(?<=ks )on) "
    rf"(?P<base>now|today|tomorrow|(?:on )?(?:this )?{FULL_WEEKDAY_EN})",
    r"(?P<which>last|this|next|past) (?P<period>week(?:end)?|wknd|month|year)",
    r"(?:(?:on|at|over|for) )?(?P<weekend>(?:the|this coming) (?:weekend|wknd))",
    r"(?:the )?(?:very )?(?:end|last day) of (?P<monthend>the|this|next|last) month|(?P<monthly>month[- ]end)",
    rf"(?:the )?(?:very )?(?:end|last day) of (?P<endof>{MONTH_EN})|(?:the )?end of (?P<yearend>the|this|next|last) year",
    rf"(?P<whichday>last|this coming|this|next|coming|this past) (?P<weekday>{WEEKDAY_EN})",
    rf"(?P<whichseason>last|this|next) (?P<season>{_SEASON})|(?:the )?(?P<seasonof>{_SEASON}) (?:of )?(?P<sy>\d{{4}})",
    rf"(?:(?P<whichfeast>last|this|next) )?(?P<feast>{_FEAST})",
    rf"(?P<m1>{MONTH_EN})\.? (?:the )?(?P<d1>{_DAYNUMBER})(?!\d|:\d| ?[ap]\.?m|%)(?:,? (?:of )?(?P<y1>\d{{4}}))?",
    rf"(?:the )?(?P<d2>{_DAYNUMBER})(?: ?(?:[-–—]|to|and|until|till|through) ?(?:the )?{_DAYNUMBER})?"
    rf"(?: of|,)? (?P<m2>{MONTH_EN})\.?(?:,? (?P<y2>\d{{4}}))?",
    rf"(?P<m3>{MONTH_EN})\.?,? (?:of )?(?P<y3>\d{{4}})",
    rf"(?P<whichmonth>last|this|next|in|since|during|by|until|till|from|early|late|mid|of) "
    rf"(?P<m4>{MONTH_EN})(?!\.?,? (?:the |of )?\d)",
    r"(?:in|during|since|by) (?P<year>(?:19|20)\d{2})",
    r"(?<!\d/)(?P<slash>\d{1,2})/(?P<slashed>\d{1,2})(?:/(?P<slashyear>\d{4}))?(?![/%\d]|th)",
    rf"the (?P<number>{_ORDINAL}){_ENDS}",
    rf"(?<!every )(?<!each )(?<!black )(?<!good )(?:on |this past )?(?P<bare>{FULL_WEEKDAY_EN})(?! week)",
    rf"(?<!every )(?<!each )(?:on )?(?P<weekafter>{FULL_WEEKDAY_EN}) week",
    rf"(?:on|by|until|till|before|for|from) (?P<short>{WEEKDAY_EN})",
    r"(?P<shorter>mon|tues?|thu|thurs|fri)(?= (?:at|morning|afternoon|evening|night|\d))",
)
_TIME = LazyPattern(r"(?<![a-z0-9])(?:" + "|".join(_FORMS) + r")(?![a-z0-9])")
_PASSING = frozenset(
    ("weekend", "feast", "number", "short", "shorter", "slash", "ahead", "from", "weekafter", "monthly")
)
_NEAR = DAYS_OFF | {"last night": -1, "this morning": 0, "this afternoon": 0, "this evening": 0}
_STEP = {"last": -1, "past": -1, "this": 0, "the": 0, "next": 1}


def times(folded: str, today: date) -> list[NamedTime]:
    """The times that a folded text names, in their order."""
    found: list[NamedTime] = []
    for match in _TIME.finditer(folded):
        part = {key: value for key, value in match.groupdict().items() if value}
        name = next(name for name in _MEANINGS if name in part)
        meant = _MEANINGS[name](part, today)
        if meant is not None:
            passing = name in _PASSING or (name == "bare" and not match[0].startswith(("on ", "this past ")))
            found.append(NamedTime(*match.span(), meant.choices, meant.left, meant.counted, passing))
    return found


def _near(part: dict[str, str], today: date) -> TimeReading | None:
    found = calendar.days_off(today, _NEAR[part["near"]])
    night = part["near"] in ("last night", "tonight")
    return only(DateRange(found.first, found.last, (17, 29)) if found and night else found)


def _ago(part: dict[str, str], today: date) -> TimeReading | None:
    word = part["count"]
    return calendar.ago(today, _FEW.get(word) or int(count_en(word)), part["unit"])


def _from(part: dict[str, str], today: date) -> TimeReading | None:
    base = part.get("weekafter") or part["base"].split(" ")[-1]
    start = calendar.days_off(today, int(base == "tomorrow"))
    if base not in ("now", "today", "tomorrow"):
        start = calendar.days_off(today, (weekday_of(base) - today.weekday()) % 7)
    return _counted(part.get("from", "a"), part.get("fromunit", "week"), start.first) if start else None


def _counted(word: str, unit: str, start: date) -> TimeReading | None:
    count = 0.5 if word == "half a" else count_en(word)
    if unit in ("month", "year"):
        months = count * (12 if unit == "year" else 1)
        return calendar.ahead(start, 15 if months == 0.5 else 0, int(months))
    return calendar.ahead(start, int(count * {"day": 1, "week": 7, "fortnight": 14}[unit]), 0)


def _period(part: dict[str, str], today: date) -> TimeReading | None:
    step = _STEP[part["which"]]
    match part["period"]:
        case "week":
            return only(calendar.week_off(today, step))
        case "weekend" | "wknd":
            return only(calendar.longer(calendar.weekday_off(today, 5, step), 2))
        case "month":
            return only(calendar.month_off(today, step))
        case _:
            return only(calendar.year_of(today.year + step))


def _weekday(part: dict[str, str], today: date) -> TimeReading | None:
    number = weekday_of(part["weekday"])
    days = (number - today.weekday()) % 7
    match part["whichday"]:
        case "last" | "this past":
            return only(calendar.days_off(today, days - 7))
        case "this":
            return only(calendar.weekday_off(today, number, 0))
        case "next":  # that of next week; some mean the coming one
            both = (calendar.days_off(today, days or 7), calendar.weekday_off(today, number, 1))
            return calendar.each(dict.fromkeys(both), "")
        case _:
            return only(calendar.days_off(today, days or 7))


def _season(part: dict[str, str], today: date) -> TimeReading | None:
    season, which = part["season"].replace("fall", "autumn"), part["whichseason"]
    if which == "last":
        over = (calendar.season_of(today.year - back, season) for back in range(3))
        return only(next((one for one in over if one and one.last < today), None))
    return only(calendar.season_of(today.year + _STEP[which], season))


def _date(month: str, number: str, year: str | None, today: date) -> TimeReading | None:
    which, count = month_of(month), int("".join(char for char in number if char.isdigit()))
    if year:
        return only(calendar.day_of(int(year), which, count))
    return calendar.every_year(today, lambda each: calendar.day_of(each, which, count))


def _month(part: dict[str, str], today: date) -> TimeReading | None:
    month = month_of(part["m4"])
    match part["whichmonth"]:
        case "next":
            return only(calendar.month_of(today.year + (month <= today.month), month))
        case "this":
            return only(calendar.month_of(today.year, month))
        case "last":
            return only(calendar.month_of(today.year - (month >= today.month), month))
        case _:
            return calendar.every_year(today, lambda year: calendar.month_of(year, month))


def _month_end(part: dict[str, str], today: date) -> TimeReading | None:
    month = calendar.month_off(today, _STEP[part["monthend"]])
    return only(calendar.day(month.last) if month else None)


def _end_of(part: dict[str, str], today: date) -> TimeReading | None:
    def last(year: int) -> DateRange | None:
        month = calendar.month_of(year, month_of(part["endof"]))
        return calendar.day(month.last) if month else None

    return calendar.every_year(today, last)


def _feast(part: dict[str, str], today: date) -> TimeReading | None:
    month, number = FEASTS_EN[part["feast"]]
    meant = calendar.every_year(today, lambda year: calendar.day_of(year, month, number))
    match part.get("whichfeast"), meant:
        case ("last", calendar.TimeReading(choices)):
            return only(next((one for one in reversed(choices) if one.first < today), None))
        case ("this" | "next", calendar.TimeReading(choices)):
            return only(next((one for one in choices if one.first >= today), None))
    return meant


def _slash(part: dict[str, str], today: date) -> TimeReading | None:
    first, second = int(part["slash"]), int(part["slashed"])
    if (first, second) == (24, 7):
        return None
    ways = {(first, second), (second, first)}
    if "slashyear" in part:
        both = (calendar.day_of(int(part["slashyear"]), *way) for way in sorted(ways))
        return calendar.each(both, "" if len(ways) == 1 or max(first, second) > 12 else "either")
    found = [meant for way in ways if (meant := calendar.every_year(today, _of_year(*way)))]
    choices = sorted((days for meant in found for days in meant.choices), key=lambda days: days.first)
    return calendar.each(choices, "year" if len(found) == 1 else "either")


def _of_year(month: int, number: int) -> Callable[[int], DateRange | None]:
    return lambda year: calendar.day_of(year, month, number)


def _iso(part: dict[str, str], today: date) -> TimeReading | None:
    del today
    year, month = int(part["iso"]), int(part["isom"])
    return only(calendar.day_of(year, month, int(part["isod"])) if "isod" in part else calendar.month_of(year, month))


_MEANINGS: dict[str, Callable[[dict[str, str], date], TimeReading | None]] = {
    "iso": _iso,
    "before": lambda part, today: only(calendar.days_off(today, -2)),
    "after": lambda part, today: only(calendar.days_off(today, 2)),
    "near": _near,
    "count": _ago,
    "ahead": lambda part, today: _counted(part["ahead"], part["aheadunit"], today),
    "from": _from,
    "weekafter": _from,
    "which": _period,
    "weekend": lambda part, today: calendar.every_week(today, 5, 2),
    "monthend": _month_end,
    "monthly": lambda part, today: calendar.every_month(today, 0),
    "endof": _end_of,
    "yearend": lambda part, today: only(calendar.month_of(today.year + _STEP[part["yearend"]], 12)),
    "whichday": _weekday,
    "whichseason": _season,
    "seasonof": lambda part, today: only(
        calendar.season_of(int(part["sy"]), part["seasonof"].replace("fall", "autumn"))
    ),
    "feast": _feast,
    "m1": lambda part, today: _date(part["m1"], part["d1"], part.get("y1"), today),
    "m2": lambda part, today: _date(part["m2"], part["d2"], part.get("y2"), today),
    "m3": lambda part, today: only(calendar.month_of(int(part["y3"]), month_of(part["m3"]))),
    "whichmonth": _month,
    "year": lambda part, today: only(calendar.year_of(int(part["year"]))),
    "slash": _slash,
    "number": lambda part, today: (
        calendar.every_month(today, int(part["number"][:-2])) if part["number"][:-2] != "0" else None
    ),
    "bare": lambda part, today: calendar.every_week(today, weekday_of(part["bare"])),
    "short": lambda part, today: calendar.every_week(today, weekday_of(part["short"])),
    "shorter": lambda part, today: calendar.every_week(today, weekday_of(part["shorter"])),
}
