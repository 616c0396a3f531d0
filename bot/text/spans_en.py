"""Times in English text, folded before: yesterday, last Friday, 3 May 2023, two weeks ago, last summer. Pure."""

from collections.abc import Callable
from datetime import date

from bot.text import calendar
from bot.text.calendar import Days
from bot.text.lazy import LazyPattern

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LONG_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = r"\d{1,3}|an?|a couple of|couple of|a few|" + "|".join(_WORDS[1:])
_SEASON = "spring|summer|autumn|fall|winter"
_DAYNUMBER = r"(?:[0-2]?\d|3[01])(?:st|nd|rd|th)?"

_FORMS = (
    r"(?P<iso>\d{4})[-/.](?P<isom>\d{1,2})(?:[-/.](?P<isod>\d{1,2}))?",
    r"(?P<before>the day before yesterday)|(?P<near>yesterday|today|tonight|tomorrow|last night|this morning)",
    rf"(?P<count>{_NUMBER}) (?P<unit>day|week|month|year)s? (?:ago|back|earlier)",
    r"(?P<which>last|this|next|past) (?P<period>week(?:end)?|month|year)",
    rf"(?P<whichday>last|this|next) (?P<weekday>{_WEEKDAY})",
    rf"(?P<whichseason>last|this|next) (?P<season>{_SEASON})|(?:the )?(?P<seasonof>{_SEASON}) (?:of )?(?P<sy>\d{{4}})",
    rf"(?P<m1>{_MONTH})\.? (?:the )?(?P<d1>{_DAYNUMBER})(?!\d)(?:,? (?:of )?(?P<y1>\d{{4}}))?",
    rf"(?P<d2>{_DAYNUMBER})(?: of|,)? (?P<m2>{_MONTH})\.?(?:,? (?P<y2>\d{{4}}))?",
    rf"(?P<m3>{_MONTH})\.?,? (?:of )?(?P<y3>\d{{4}})",
    rf"(?P<whichmonth>last|this|next|in|since|during) (?P<m4>{_MONTH})",
    r"(?:in|during|since) (?P<year>(?:19|20)\d{2})",
    rf"(?:on |this past )(?P<bare>{_LONG_WEEKDAY})",
)
_TIME = LazyPattern(r"(?<![a-z0-9])(?:" + "|".join(_FORMS) + r")(?![a-z0-9])")
_NEAR = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "last night": -1, "this morning": 0}
_STEP = {"last": -1, "past": -1, "this": 0, "next": 1}


def times(folded: str, today: date) -> list[tuple[int, int, Days]]:
    """The times that a folded text names, with where they stand in it."""
    found: list[tuple[int, int, Days]] = []
    for match in _TIME.finditer(folded):
        part = {key: value for key, value in match.groupdict().items() if value}
        days = next((meaning(part, today) for name, meaning in _MEANINGS.items() if name in part), None)
        if days is not None:
            found.append((match.start(), match.end(), days))
    return found


def _near(part: dict[str, str], today: date) -> Days | None:
    found = calendar.days_off(today, _NEAR[part["near"]])
    night = part["near"] in ("last night", "tonight")
    return Days(found.first, found.last, (17, 29)) if found and night else found


def _ago(part: dict[str, str], today: date) -> Days | None:
    word = part["count"]
    few = {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3}
    count = int(word) if word.isdigit() else few.get(word) or _WORDS.index(word)
    return calendar.ago(today, count, part["unit"])


def _period(part: dict[str, str], today: date) -> Days | None:
    step = _STEP[part["which"]]
    match part["period"]:
        case "week":
            return calendar.week_off(today, step)
        case "weekend":
            saturday = calendar.weekday_off(today, 5, step)
            return Days(saturday.first, saturday.first + calendar.DAY) if saturday else None
        case "month":
            return calendar.month_off(today, step)
        case _:
            return calendar.year_of(today.year + step)


def _weekday(part: dict[str, str], today: date) -> Days | None:
    number = _index(_WEEKDAYS, part["weekday"])
    if part["whichday"] == "last":
        return calendar.last_weekday(today - calendar.DAY, number) if today > date.min else None
    return calendar.weekday_off(today, number, _STEP[part["whichday"]])


def _season(part: dict[str, str], today: date) -> Days | None:
    season = part["season"].replace("fall", "autumn")
    if part["whichseason"] == "last":
        found = calendar.last_season(today, season)
        return found if found is None or found.last < today else calendar.season_of(today.year - 1, season)
    return calendar.season_of(today.year + _STEP[part["whichseason"]], season)


def _date(month: str, number: str, year: str | None, today: date) -> Days | None:
    which, count = _index(_MONTHS, month) + 1, int("".join(char for char in number if char.isdigit()))
    return calendar.day_of(int(year), which, count) if year else calendar.last_day(today, which, count)


def _month(part: dict[str, str], today: date) -> Days | None:
    month = _index(_MONTHS, part["m4"]) + 1
    match part["whichmonth"]:
        case "next":
            return calendar.month_of(today.year + (month <= today.month), month)
        case "this":
            return calendar.month_of(today.year, month)
        case "last":
            return calendar.month_of(today.year - (month >= today.month), month)
        case _:
            return calendar.last_month(today, month)


def _iso(part: dict[str, str], today: date) -> Days | None:
    del today
    year, month = int(part["iso"]), int(part["isom"])
    return calendar.day_of(year, month, int(part["isod"])) if "isod" in part else calendar.month_of(year, month)


def _index(names: tuple[str, ...], word: str) -> int:
    return names.index(word[:3])


_MEANINGS: dict[str, Callable[[dict[str, str], date], Days | None]] = {
    "iso": _iso,
    "before": lambda part, today: calendar.days_off(today, -2),
    "near": _near,
    "count": _ago,
    "which": _period,
    "whichday": _weekday,
    "whichseason": _season,
    "seasonof": lambda part, today: calendar.season_of(int(part["sy"]), part["seasonof"].replace("fall", "autumn")),
    "m1": lambda part, today: _date(part["m1"], part["d1"], part.get("y1"), today),
    "m2": lambda part, today: _date(part["m2"], part["d2"], part.get("y2"), today),
    "m3": lambda part, today: calendar.month_of(int(part["y3"]), _index(_MONTHS, part["m3"]) + 1),
    "whichmonth": _month,
    "year": lambda part, today: calendar.year_of(int(part["year"])),
    "bare": lambda part, today: calendar.last_weekday(today, _index(_WEEKDAYS, part["bare"])),
}
