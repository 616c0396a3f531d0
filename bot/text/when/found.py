"""The parts of a time that stand in a text, before anybody asks which moment they mean. Pure."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.text.lazy import LazyPattern
from bot.types.when import Missing

TAKEN = "\x00"
"""What stands for each character of a part that was read."""

NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Half = Literal["", "dawn", "morning", "noon", "afternoon", "dusk", "night", "am", "pm"]
Period = Literal["", "week", "month", "year"]
DayKind = Literal["near", "week", "weekday", "next", "date", "number", "last", "lunar", "feast", "weekend"]


@dataclass(frozen=True, slots=True)
class Day:
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
class Clock:
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
class Every:
    """What comes back: day of the month ("*", a number, last), month, weekdays; `hourly` needs no time of day.

    `step`: only every so many days, counted from the first.
    """

    day: str = "*"
    month: str = "*"
    weekdays: str = "*"
    hourly: bool = False
    step: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """All that was read. `doubt` is what is unclear already (`doubts`: everything that is, as far as it was read);
    `spans` are where it stands in the folded text.

    `times` are the times of day of what comes several times a day; `clock` and `half` then say nothing. What comes
    back is kept from `since`, until the day `until` or for a `span`. `others` are all days where more than one is named
    and nothing else is unclear; `period` is that of what comes back on a day that stands elsewhere.
    """

    day: Day | None = None
    clock: Clock | None = None
    half: Half = ""
    delay: Delay | None = None
    every: Every | None = None
    lead: Delay | None = None
    doubt: Missing | None = None
    tonight: bool = False
    times: tuple[tuple[Clock, Half], ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    doubts: frozenset[Missing] = frozenset()
    since: Day | None = None
    until: Day | None = None
    span: Delay | None = None
    others: tuple[Day, ...] = ()
    period: Period = ""

    @property
    def empty(self) -> bool:
        """Whether nothing of a time was said."""
        return replace(self, spans=()) == Parts()


def periodic(parts: Parts) -> Parts:
    """Every year, and a date elsewhere: what comes back on it."""
    day = parts.day
    if not parts.period or parts.every is not None or day is None or day.plus:
        return parts
    match day.kind, parts.period:
        case (("date" | "feast"), "year") if day.number:
            every = Every(str(day.number), str(day.month))
        case "number", "month":
            every = Every(str(day.number))
        case "last", "month":
            every = Every("last")
        case "weekday", "week":
            every = Every(weekdays=NAMES[day.weekday])
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
    parts: Parts = Parts()
    clocks: set[Clock] = field(default_factory=set)
    days: set[Day] = field(default_factory=set)
    halves: list[Half] = field(default_factory=list)
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

    def doubt(self, what: Missing) -> None:
        """Something is unclear; the first thing that was is asked."""
        parts = self.parts
        self.parts = replace(parts, doubt=parts.doubt or what, doubts=parts.doubts | {what})

    def name_day(self, day: Day) -> None:
        """A day is named; a second one makes it unclear which is meant."""
        self.days.add(day)
        self.parts = replace(self.parts, day=day)

    def name_times(self, pieces: list["Reading"]) -> None:
        """Several times of one day are named, each in its own piece; a part of the day holds on until the next."""
        half: Half = ""
        for piece in pieces:
            found = piece.done()
            half = found.half or half
            if found.clock is None or found.doubt is not None:
                self.doubt(found.doubt or "time")
            else:
                own = "" if found.clock.whole and not found.half else half
                self.parts = replace(self.parts, times=(*self.parts.times, (found.clock, own)))

    def name_clock(self, clock: Clock, half: Half = "") -> None:
        """A time of day is named."""
        self.clocks.add(clock)
        self.parts = replace(self.parts, clock=clock)
        if half:
            self.halves.append(half)

    def _joined(self, day: Day, named: Day) -> None:
        """12月10日星期四 is one day named twice."""
        if day.kind in ("date", "number", "feast", "lunar", "near") and named.kind == "weekday" and not named.plus:
            self.days = {replace(day, on=named.weekday)}
            self.parts = replace(self.parts, day=replace(day, on=named.weekday))

    def done(self) -> Parts:
        """What was read, with the doubts that only the whole shows."""
        if len(self.days) == 2:
            self._joined(*sorted(self.days, key=lambda day: day.kind in ("weekday", "week")))
        others: tuple[Day, ...] = ()
        if len(self.clocks) > 1 or len(self.days) > 1:
            others = tuple(self.days) if len(self.clocks) < 2 and not self.parts.doubts else ()
            self.doubt("several")
        if self.loose and not (self.clocks or self.parts.times or self.parts.delay):
            self.doubt("vague")
        if self.feast and not self.days:
            self.doubt("vague")
        halves = [half for half in self.halves if half]
        half: Half = halves[-1] if halves else ""
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
