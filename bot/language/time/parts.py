"""The parts of a time expression as they stand in a text (day, clock, delay, repetition), their numbers, and which
day is meant."""

import re
from calendar import monthrange
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Literal

from bot.core.clock import UnclearTime
from bot.text.catalogue import LazyPattern, read_table

ZH = r"(?:\d{1,4}|[零〇一二三四五六七八九两俩仨十百]{1,5})"
DIGITS = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "俩": 2, "仨": 3}

_ONES = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_WORDS = {word: number for number, word in enumerate(_ONES, 1)} | _TENS | {"a": 1, "an": 1}
EN_HOUR = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
EN = (
    r"(?:\d{1,4}(?:\.\d+)?|(?:twenty|thirty|forty|fifty|sixty|ninety)(?:[- ](?:one|two|three|four|five|six|seven"
    r"|eight|nine))?|" + "|".join(sorted(_ONES, key=len, reverse=True)) + "|an?)"
)

TAKEN = "\x00"
"""What stands for each character of a part that was read."""

WEEKDAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_EN = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
MONTH_LIKE_EN = f"(?:{'|'.join(MONTH_NAMES)})[a-z]*"
"""A word that begins as a month does."""
WEEKDAY_EN = r"(?:mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
FULL_WEEKDAY_EN = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WEEKDAYS_ZH = {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6}
"""The sign behind 周, and its day; Monday is 0."""
DAYS_OFF = (
    {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3, "听": 1, "寻": -1, "琴": -1}
    | {"yesterday": -1, "today": 0, "tonight": 0}
    | dict.fromkeys(("tomorrow", "tomorow", "tmr", "tmrw", "tmw"), 1)
)
"""How many days from today a word names, in Chinese without its 天."""
DayPart = Literal["", "dawn", "morning", "noon", "afternoon", "dusk", "night", "am", "pm"]
RepeatPeriod = Literal["", "week", "month", "year"]
DayKind = Literal["near", "week", "weekday", "next", "date", "number", "last", "lunar", "feast", "weekend"]

_DATA = read_table("bot.language.time", "feasts")
LUNAR_FEASTS, FEASTS_ZH, FEASTS_EN = (
    {name: (month, number) for name, (month, number) in _DATA[table].items()} for table in ("lunar", "zh", "en")
)
_NAMED_MONTHS = {"正": 1, "冬": 11, "腊": 12}
_TENTH = "初[一二三四五六七八九十]"
_NUMBER = rf"(?:{_TENTH}|廿[一二三四五六七八九]?|三十|二?十[一二三四五六七八九]?|[12]\d|30|[1-9](?!\d))"
_DAY = LazyPattern(
    rf"(?:(?:农历|阴历|旧历)(?:的)?(?P<m>正|冬|腊|十[一二]?|[一二三四五六七八九]|1[0-2]|[1-9])月|(?P<own>正|冬|腊)月)的?"
    rf"(?P<d>{_NUMBER})(?:[日号](?!点))?(?![点时:\d])"
)
_NEW_YEAR = LazyPattern(rf"(?:大|过)?年(?P<d>{_TENTH})")
_FEAST = LazyPattern(
    r"(?<![后前])(?P<feast>"
    + "|".join(sorted(map(re.escape, LUNAR_FEASTS), key=len, reverse=True))
    + r")(?:节|夜)?(?:当天|那天)?(?!晚会|快乐|节?[前后]|假|联欢)"
)

PAST_DAYS = 92
"""A date without a year that is over by fewer days may be meant for next year, or be a slip: it is asked."""

NIGHT_ENDS = 4
"""Before this hour 明天 may be the day that has begun: it is asked."""


def count_zh(word: str) -> int:
    """A number in figures or characters; 0 for what is none."""
    if word.isascii() and word.isdigit():
        return int(word)
    total, digit = 0, 0
    for char in word:
        if char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            digit = digit * 10 * (char in "零〇") + DIGITS.get(char, 0)
    return total + digit


def count_en(word: str) -> float:
    """A number in figures or words; 0 for what is none."""
    try:
        return float(word)
    except ValueError:
        return float(sum(_WORDS.get(part, 0) for part in word.replace("-", " ").split()))


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day as it was named.

    near: `number` days on. week: `weekday` of the week `number` weeks on; weekday: the coming one; next: English "next
    Friday". date: `month` and `number` (0: its last), of `year` if said; feast: the next such day. number: that day of
    the month `off` months on (None: the next such day). last: the last day of that month. lunar: of the Chinese
    calendar; day 0 is the last of its month. weekend: the Saturday of the week `number` weeks on.
    `plus` days are counted on from it (a week from Friday, the day after Christmas); `on` is the weekday it has to be.
    """

    kind: DayKind
    number: int = 0
    weekday: int = 0
    month: int = 0
    year: int = 0
    off: int | None = None
    plus: int = 0
    on: int | None = None


@dataclass(frozen=True, slots=True)
class ClockTime:
    """Hour and minute as said; `whole`: by the 24-hour clock (08:00, 20:30), so that nothing is to be asked."""

    hour: int
    minute: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Delay:
    """How long from now: `ms` on the clock, and calendar days and months; `same`: at the time of day that it is now."""

    ms: int = 0
    days: int = 0
    months: int = 0
    same: bool = False


@dataclass(frozen=True, slots=True)
class Repetition:
    """What comes back: day of the month ("*", a number, last), month, weekdays; `hourly` needs no time of day.

    `step`: only every so many days, counted from the first.
    """

    day: str = "*"
    month: str = "*"
    weekdays: str = "*"
    hourly: bool = False
    step: int = 0


@dataclass(frozen=True, slots=True)
class TimeParts:
    """All that was read. `doubt` is what is unclear already (`doubts`: everything that is, as far as it was read);
    `spans` are where it stands in the folded text.

    `times` are the times of day of what comes several times a day; `clock` and `half` then say nothing. What comes
    back is kept from `since`, until the day `until` or for a `span`. `others` are all days where more than one is named
    and nothing else is unclear; `period` is that of what comes back on a day that stands elsewhere.
    """

    day: NamedDay | None = None
    clock: ClockTime | None = None
    half: DayPart = ""
    delay: Delay | None = None
    every: Repetition | None = None
    lead: Delay | None = None
    doubt: UnclearTime | None = None
    tonight: bool = False
    times: tuple[tuple[ClockTime, DayPart], ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    doubts: frozenset[UnclearTime] = frozenset()
    since: NamedDay | None = None
    until: NamedDay | None = None
    span: Delay | None = None
    others: tuple[NamedDay, ...] = ()
    period: RepeatPeriod = ""

    @property
    def empty(self) -> bool:
        """Whether nothing of a time was said."""
        return replace(self, spans=()) == TimeParts()


def periodic(parts: TimeParts) -> TimeParts:
    """Every year, and a date elsewhere: what comes back on it."""
    day = parts.day
    if not parts.period or parts.every is not None or day is None or day.plus:
        return parts
    match day.kind, parts.period:
        case (("date" | "feast"), "year") if day.number:
            every = Repetition(str(day.number), str(day.month))
        case "number", "month":
            every = Repetition(str(day.number))
        case "last", "month":
            every = Repetition("last")
        case "weekday", "week":
            every = Repetition(weekdays=WEEKDAY_NAMES[day.weekday])
        case _:
            return parts
    doubts = parts.doubts - {"rule", "day", "past"}
    return replace(parts, every=every, day=None, period="", doubts=doubts, doubt=next(iter(doubts), None))


@dataclass(slots=True)
class Reading:
    """A folded text while its times are read; what was read is blanked out, so nothing is read twice.

    `loose`: something is named that is no time by itself (after work), and adds nothing to a time of day; `feast`: one
    that falls on another day each year, and adds nothing to a day.
    """

    text: str
    parts: TimeParts = TimeParts()
    clocks: set[ClockTime] = field(default_factory=set)
    days: set[NamedDay] = field(default_factory=set)
    halves: list[DayPart] = field(default_factory=list)
    loose: bool = False
    feast: bool = False

    def take(self, pattern: LazyPattern) -> list[re.Match[str]]:
        """Every match, blanked out; where each stands is a span of the time."""
        found = [match for match in pattern.finditer(self.text) if match[0]]
        for match in found:
            self.blank(*match.span())
        return found

    def blank(self, begin: int, end: int) -> None:
        """That part is read."""
        self.text = self.text[:begin] + TAKEN * (end - begin) + self.text[end:]
        self.parts = replace(self.parts, spans=(*self.parts.spans, (begin, end)))

    @property
    def bounded(self) -> bool:
        """Whether it is known from when or until when it comes back."""
        return bool(self.parts.since or self.parts.until or self.parts.span)

    def doubt(self, what: UnclearTime) -> None:
        """Something is unclear; the first thing that was is asked."""
        parts = self.parts
        self.parts = replace(parts, doubt=parts.doubt or what, doubts=parts.doubts | {what})

    def name_day(self, day: NamedDay) -> None:
        """A day is named; a second one makes it unclear which is meant."""
        self.days.add(day)
        self.parts = replace(self.parts, day=day)

    def name_times(self, pieces: list["Reading"]) -> None:
        """Several times of one day are named, each in its own piece; a part of the day holds on until the next."""
        half: DayPart = ""
        for piece in pieces:
            found = piece.done()
            half = found.half or half
            if found.clock is None or found.doubt is not None:
                self.doubt(found.doubt or "time")
            else:
                own = "" if found.clock.whole and not found.half else half
                self.parts = replace(self.parts, times=(*self.parts.times, (found.clock, own)))

    def name_clock(self, clock: ClockTime, half: DayPart = "") -> None:
        """A time of day is named."""
        self.clocks.add(clock)
        self.parts = replace(self.parts, clock=clock)
        if half:
            self.halves.append(half)

    def _joined(self, day: NamedDay, named: NamedDay) -> None:
        """12月10日星期四 is one day named twice."""
        if day.kind in ("date", "number", "feast", "lunar", "near") and named.kind == "weekday" and not named.plus:
            self.days = {replace(day, on=named.weekday)}
            self.parts = replace(self.parts, day=replace(day, on=named.weekday))

    def done(self) -> TimeParts:
        """What was read, with the doubts that only the whole shows."""
        if len(self.days) == 2:
            self._joined(*sorted(self.days, key=lambda day: day.kind in ("weekday", "week")))
        others: tuple[NamedDay, ...] = ()
        if len(self.clocks) > 1 or len(self.days) > 1:
            others = tuple(self.days) if len(self.clocks) < 2 and not self.parts.doubts else ()
            self.doubt("several")
        if self.loose and not (self.clocks or self.parts.times or self.parts.delay):
            self.doubt("vague")
        if self.feast and not self.days:
            self.doubt("vague")
        halves = [half for half in self.halves if half]
        half: DayPart = halves[-1] if halves else ""
        # 今晚凌晨1点 is after midnight; 明天早上 … 晚上 names two times.
        if len(set(halves)) > 1:
            if set(halves) == {"night", "dawn"}:
                half = "dawn"
            elif set(halves) <= {"night", "pm"} or set(halves) <= {"afternoon", "pm"} or set(halves) <= {"dusk", "pm"}:
                half = "pm"
            elif set(halves) <= {"morning", "am"}:
                half = "am"
            else:
                others = ()
                self.doubt("several")
        parts = replace(self.parts, half=half, spans=tuple(sorted(self.parts.spans)), others=others)
        return periodic(parts)


def read_lunar(reading: Reading) -> None:
    """Take the days of the Chinese calendar that a text names."""
    for match in reading.take(_DAY):
        name = match["m"] or match["own"]
        month = _NAMED_MONTHS.get(name) or count_zh(name)
        reading.name_day(NamedDay("lunar", _count(match["d"]), month=month))
    for match in reading.take(_NEW_YEAR):
        reading.name_day(NamedDay("lunar", _count(match["d"]), month=1))
    for match in reading.take(_FEAST):
        month, number = LUNAR_FEASTS[match["feast"]]
        reading.name_day(NamedDay("lunar", number, month=month))


def lunar_day(month: int, number: int, today: date) -> date | None:
    """The next such day from `today` on, not of a leap month; None where there is none in sight."""
    for year in (today.year - 1, today.year, today.year + 1):
        found = _lunar_date(year, month, number)
        if found is not None and found >= today:
            return found
    return None


def lunar_days(month: int, number: int, today: date) -> list[date]:
    """Such days of the years around today, not of a leap month, the earliest first."""
    found = (_lunar_date(year, month, number) for year in range(today.year - 2, today.year + 3))
    return [one for one in found if one is not None]


def _lunar_date(year: int, month: int, number: int) -> date | None:
    row: str | None = _DATA["years"].get(str(year))
    if row is None or not 1 <= month <= 12:
        return None
    first, leap, months = row.split(":")
    place = month - 1 + (0 < int(leap) < month)
    lengths = [29 + int(bit) for bit in months]
    if number > lengths[place]:
        return None
    return date(year, int(first[:2]), int(first[2:])) + timedelta(sum(lengths[:place]) + (number or lengths[place]) - 1)


def _count(word: str) -> int:
    if word.startswith("廿"):
        return 20 + count_zh(word[1:])
    return count_zh(word.removeprefix("初"))


def date_of_named(day: NamedDay, today: date, hour: int) -> date | UnclearTime:
    """The day that is named, at this hour of `today`."""
    found = _named(day, today, hour)
    if isinstance(found, str):
        return found
    return "several" if day.on not in (None, found.weekday()) else found + timedelta(days=day.plus)


def _named(day: NamedDay, today: date, hour: int) -> date | UnclearTime:
    match day.kind:
        case "near":
            return "day" if day.number and hour < NIGHT_ENDS else today + timedelta(days=day.number)
        case "week":
            found = today + timedelta(days=day.weekday - today.weekday() + 7 * day.number)
            return found if found >= today else "past"
        case "weekend":
            found = today + timedelta(days=5 - today.weekday() + 7 * day.number)
            return found if found > today else "day"
        case "weekday":
            ahead = (day.weekday - today.weekday()) % 7
            return today + timedelta(days=ahead) if ahead else "day"
        case "next":
            return _next(day.weekday, today)
        case "date":
            return _date(day, today)
        case "feast":
            return date(today.year + ((day.month, day.number) < (today.month, today.day)), day.month, day.number)
        case "number":
            return _number(day, today)
        case "lunar":
            return lunar_day(day.month, day.number, today) or "none_such"
        case "last":
            year, month = _month(today, day.off or 0)
            return date(year, month, monthrange(year, month)[1])


def after_delay(today: date, delay: Delay) -> date:
    """The day after so many days and months; the 31st becomes the last day of a shorter month."""
    year, month = _month(today, delay.months)
    return date(year, month, min(today.day, monthrange(year, month)[1])) + timedelta(days=delay.days)


def after(then: datetime, delay: Delay) -> datetime:
    """As `after_delay`, by the wall clock."""
    return datetime.combine(after_delay(then.date(), delay), then.time()) + timedelta(milliseconds=delay.ms)


def _month(today: date, off: int) -> tuple[int, int]:
    number = today.year * 12 + today.month - 1 + off
    return number // 12, number % 12 + 1


def _next(weekday: int, today: date) -> date | UnclearTime:
    """English "next Friday": the one of next week, unless that is so near that another may be meant."""
    ahead = (weekday - today.weekday()) % 7 or 7
    if today.weekday() + ahead < 7:
        return today + timedelta(days=ahead + 7)
    return today + timedelta(days=ahead) if ahead >= 3 else "day"


def _date(day: NamedDay, today: date) -> date | UnclearTime:
    year = day.year or (today.year + day.off if day.off is not None else 0)
    try:
        found = _of_month(year or today.year, day)
        if year:
            return found if found >= today else "past"
        if found >= today:
            return found
        return "past" if (today - found).days < PAST_DAYS and day.number else _of_month(today.year + 1, day)
    except (ValueError, OverflowError):
        return "none_such"


def _of_month(year: int, day: NamedDay) -> date:
    return date(year, day.month, day.number or monthrange(year, day.month)[1])


def _number(day: NamedDay, today: date) -> date | UnclearTime:
    off = day.off
    if off is None:
        if day.number == today.day:
            return "day"
        off = int(day.number < today.day)
    try:
        found = date(*_month(today, off), day.number)
    except ValueError:
        return "none_such"
    return found if found >= today else "past"
