"""A talk as evidence: whose words its lines hold, clause by clause, which days are named, and what a confirmed statement
needs. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from bot.core.clock import DatedMoment
from bot.language import assertions
from bot.language.assertions import (
    LINK,
    VOCABULARY,
    Clause,
    folded_plain,
    has_pronoun,
    is_animal,
    kin,
    novelty,
    numbers,
    one_kin,
    parts_of,
    poles,
)
from bot.language.time.calendar import DateRange, NamedTime
from bot.language.time.dates import checked_when, days_beside, named_times
from bot.language.time.moments import TIME_CHARS, reading_of, unspaced
from bot.language.time.parts import WEEKDAY_NAMES, WEEKDAYS_ZH
from bot.memory.digest.answer import DigestItem
from bot.memory.screening import SCAFFOLD
from bot.memory.transcript import DigestLine, TalkScope, forgets, played, words_of
from bot.text.dates import local, local_day
from bot.text.fold import fold

NEWS, FEW = 0.8, 3
"""The share of its telling words that may stand nowhere in the talk, nor in what is known; fewer new words are none."""

STRANGE = 0.34
"""The share of them that may stand only in what others said."""

LEAST_CHARS = 4
"""A statement of nothing but plain words must be so long, and have been said as it stands."""

NEAR_DAYS = timedelta(days=15)
"""So far from its line a day may lie that is told by its day of the week."""
MONTH = timedelta(days=45)
"""The same by its number; farther where a month or a year with it is named."""

WEEK = 7

PAIR = 2
"""So many who talk are no number that a statement counts: one of them is nuan."""

_WEEKDAY = re.compile(
    rf"(?:周|星期|礼拜)([一二三四五六日天])|\b({'|'.join(WEEKDAY_NAMES)})(?:s?day|nesday|rsday|urday|[sr]+)?s?\b"
)
_FIGURES = re.compile(r"\d+")
_OF_WEEK = (
    re.compile(r"\bweek(?: \w+){0,2} ?$"),
    re.compile(r"\s*的?.?一?个?(?:周(?!末)|星期|礼拜)(?![一二三四五六日天])| week\b"),
)
"""What stands before, or behind, a day that tells its week: the week of 26 October, 11月9日那个礼拜."""
_WEEKEND = re.compile(r"周末|\bweekend")

MissingPart = tuple[Literal["number", "day", "words", "owner", "about", "denial"], str]
"""A reason and the words that are meant."""

Reason = Literal[
    "lines",
    "owner",
    "empty",
    "harm",
    "forgotten",
    "words",
    "number",
    "day",
    "about",
    "denial",
    "checked",
]
"""Why an item is refused: it cites no such lines, or those of several; it says nothing, or is made to work on a
program; it was to be forgotten; too many words, a number or a day were not said; whom it is about may do harm; the
contrary was said; or the second look found it wrong."""

NEAR = 5
"""So many lines before those that it cites may ask what these answer."""

ANSWERS, ANSWERED = 2, 0.75
"""So many lines right before an answer may name the thing that it answers: 都来啊 / 去不了. The share of the telling words
that the answer itself then may lack."""

_CONTRAST = re.compile(r"[,;] ?(?:and |but )?not |而不是|不是[^,]{1,12},?而?是")
"""One thing, not another."""
_ASKING = VOCABULARY.patterns["asking"]
ASKED = re.compile(r"[?？]\s*$|[吗嗎呢]\s*$")
"""The end of a line that asks."""


@dataclass(frozen=True, slots=True)
class TalkText:
    """What one person said and was asked, folded, line by line with when (ms), and what is known of them; `cited` is
    what others say in cited lines, `answered` in lines that those answer, `others` all that they say besides, and
    `names` are who talks."""

    said: Sequence[tuple[str, int]]
    known: Sequence[tuple[str, int]]
    names: Sequence[str]
    tz: tzinfo
    cited: Sequence[tuple[str, int]] = ()
    others: str = ""
    answered: Sequence[tuple[str, int]] = ()

    @property
    def told(self) -> tuple[tuple[str, int], ...]:
        """What days and names may stand in, with when it was said."""
        return (*self.said, *self.cited, *self.answered)

    @property
    def dated(self) -> tuple[tuple[str, int], ...]:
        """The same with what is known."""
        return (*self.told, *self.known)

    @property
    def own(self) -> str:
        """What the person said, was asked and is known of, as one text."""
        return "\n".join((*(text for text, _ in (*self.said, *self.known)), *self.names))


def first_missing(
    item: DigestItem, talk: TalkText, own: Sequence[Clause], said_at: int, news: float = NEWS
) -> MissingPart | None:
    """What of an item stands nowhere; `own` are the clauses of the lines that it cites, of its one speaker; `news` is
    the share of its words that may be a model's own."""
    text, plain = folded_plain(item.text), item.text
    bare = text
    for name in talk.names:
        bare, plain = bare.replace(name, " "), re.sub(re.escape(name), " ", plain, flags=re.IGNORECASE)
    if novelty(bare, "\n".join(part.folded for part in own))[0] > ANSWERED:
        heard = "\n".join((talk.others, *(words for words, _ in talk.answered)))
        talk = replace(talk, answered=(), others=heard)
    days = times(text, said_at, talk.tz)
    spelt = {number for words, _ in talk.dated for number in _FIGURES.findall(words)}
    today = local_day(said_at, talk.tz)
    for one in days:
        told = _told(one, talk, said_at) or _spelt(one, text, spelt) or _is_now(one, text, today)
        told = told or _in_weekend(one, text, days, talk) or _in_week(one, text, talk)
        if not told and not _beside_told(one, text, talk, said_at):
            return "day", text[one.start : one.end]
    if not _weekdays(_without(text, days)) <= _weekdays("\n".join(words for words, _ in talk.dated)):
        return "day", item.text
    there = _numbers(talk, said_at)
    said = numbers(_without(text, days), all_of_them=False)
    if new := [one for one in said if one not in there and one.removesuffix("000") not in there]:
        return "number", " ".join(sorted(new))
    mine = f"{talk.own}\n{folded_plain(item.about)}"
    heard = "\n".join((mine, *(words for words, _ in (*talk.cited, *talk.answered))))
    if strange_names := [name for name in assertions.names(plain) if name not in heard and not shortened(name, heard)]:
        return "words", " ".join(strange_names[:4])
    share, words = novelty(bare, heard)
    words_said = bare.strip(" ,.。，")
    plain_only = (
        news < 1 and not assertions.terms(bare) and not (len(words_said) >= LEAST_CHARS and words_said in heard)
    )
    empty = item.section != "moods" and not said and not days and (plain_only or share == 1)
    if empty:  # 嗯, x, a bare name
        return "words", item.text
    if share > news and len(words) >= FEW:
        return "words", " ".join(words[:4])
    share, words = novelty(bare, mine)
    rest, invented = novelty(bare, f"{mine}\n{talk.others}")
    others = [word for word in words if word not in invented]
    # One word beside the person's own may be anybody's: lives.
    if share - rest >= STRANGE and (share == 1 or len(others) > 1 or not others[0].isascii()):
        return "owner", " ".join(words[:4])
    if _another_relative(text, own, talk.own):
        return "about", item.about
    return ("denial", item.text) if _turned(text, own) else None


def day_of(item: DigestItem, talk: TalkText, said_at: int) -> DatedMoment | None:
    """The day that a model names for it, if the talk names it in some way; None where it does not."""
    found = checked_when(item.when, talk.dated, talk.tz)
    if found is not None or (day := iso_day(item.when)) is None:
        return found
    today = local_day(said_at, talk.tz)
    if day != today and not _told_day(day, talk, said_at):
        return None
    start = datetime(day.year, day.month, day.day, tzinfo=talk.tz)
    return DatedMoment(round(start.timestamp() * 1000), "day")


def _told(one: NamedTime, talk: TalkText, said_at: int) -> bool:
    """Whether the talk names a time that a statement names, or a day by its number or its day of the week."""
    if any(same_time(one, other) for words, at in talk.dated for other in times(words, at, talk.tz)):
        return True
    today = local_day(said_at, talk.tz)
    return any(
        (days.first == today or _told_day(days.first, talk, said_at))
        and (days.first == days.last or _told_day(days.last, talk, said_at))
        for days in one.choices
    )


def _is_now(one: NamedTime, text: str, today: date) -> bool:
    """Whether it is the month in which it is said, with its year: as of January 2027."""
    month = one.choices[0]
    named = str(today.year) in text[one.start : one.end] and month.first.day == (month.last + timedelta(days=1)).day
    return named and month.first <= today <= month.last


def _in_weekend(one: NamedTime, text: str, days: Iterable[NamedTime], talk: TalkText) -> bool:
    """Whether it is the first day of a weekend that is named beside it (at the weekend of 2027-01-30), or a day of one
    that the talk names, where the text calls it a weekend, too."""
    named = [two for other in days for two in other.choices]
    if _WEEKEND.search(text):
        named += [two for words, at in talk.told for other in times(words, at, talk.tz) for two in other.choices]
    firsts = {two.first for two in named if two.last - two.first == timedelta(days=1)}
    return any(day.first == day.last and day.first in firsts for day in one.choices)


def _in_week(one: NamedTime, text: str, talk: TalkText) -> bool:
    """Whether it is a day of a week that the talk names, where the text tells the week by it."""
    if not (_OF_WEEK[0].search(text[: one.start]) or _OF_WEEK[1].match(text, one.end)):
        return False
    return any(_same_week(day.first, days) for day in one.choices for days in _stretches(talk))


def _stretches(talk: TalkText) -> Iterable[DateRange]:
    """The stretches of several days, a week at most, that the talk names."""
    named = (days for words, at in talk.told for one in times(words, at, talk.tz) for days in one.choices)
    return (days for days in named if timedelta(0) < days.last - days.first < timedelta(days=WEEK))


def _same_week(day: date, days: DateRange) -> bool:
    return day.isocalendar()[:2] in (days.first.isocalendar()[:2], days.last.isocalendar()[:2])


def _beside_told(one: NamedTime, text: str, talk: TalkText, said_at: int) -> bool:
    """Whether it is the day before, or after, one that the talk names, where the text says so."""
    days = [days.first - timedelta(days=step) for step in days_beside(text) for days in one.choices]
    named = {other.first for words, at in talk.dated for each in times(words, at, talk.tz) for other in each.choices}
    return any(day in named or _told_day(day, talk, said_at) for day in days)


def _spelt(one: NamedTime, text: str, spelt: set[str]) -> bool:
    """Whether all its figures stand in the talk as they are: in 2011."""
    figures = set(_FIGURES.findall(text[one.start : one.end]))
    return bool(figures) and figures <= spelt


def _told_day(day: date, talk: TalkText, said_at: int) -> bool:
    today, number = local_day(said_at, talk.tz), str(day.day)
    named = [one for words, at in talk.told for one in times(words, at, talk.tz)]
    if abs(day - today) <= NEAR_DAYS and day.weekday() in _weekdays("\n".join(words for words, _ in talk.told)):
        return True
    around = any(days.first < days.last and days.first <= day <= days.last for one in named for days in one.choices)
    if not around and abs(day - today) > MONTH:
        return False
    return any(number in numbers(words, all_of_them=True) for words, _ in talk.told)


def _numbers(talk: TalkText, said_at: int) -> set[str]:
    heard = (*talk.said, *talk.cited, *talk.known)
    there = {number for text, _ in heard for number in numbers(text, all_of_them=True) | _clocks(text)}
    today = local_day(said_at, talk.tz)
    several = {str(len(talk.names))} if len(talk.names) > PAIR else set[str]()
    return there | {str(today.year)} | several


@lru_cache(maxsize=1024)
def _clocks(folded: str) -> frozenset[str]:
    """The hours, in either half of the day, and the minutes that a text names: quarter to 5 is 4, 16 and 45."""
    clocks = reading_of(folded[:TIME_CHARS]).clocks
    return frozenset(str(figure) for one in clocks for figure in (one.hour, one.hour + 12, one.minute))


def _weekdays(text: str) -> set[int]:
    """The days of the week, Monday is 0, that a folded text names, also as they come every week."""
    return {WEEKDAYS_ZH[han] if han else WEEKDAY_NAMES.index(latin) for han, latin in _WEEKDAY.findall(text)}


def _without(text: str, days: Iterable[NamedTime]) -> str:
    rest, cut = "", 0
    for one in days:
        rest, cut = f"{rest}{text[cut : one.start]}\t", one.end
    return rest + text[cut:]


def shortened(name: str, heard: str) -> bool:
    """Whether a Chinese name was said in short: 兰大 for 兰州大学."""
    return not name.isascii() and len(name) > 2 and any(name[0] + other in heard for other in name[2:])


def _another_relative(text: str, own: Sequence[Clause], heard: str) -> bool:
    """Whether it tells of one relative or animal, who was not named, what the lines tell of another."""
    told, meant = kin(text), kin("\n".join(part.folded for part in own))
    return one_kin(told) and one_kin(meant) and not told & kin(heard) and is_animal(told) == is_animal(meant)


def _turned(text: str, own: Sequence[Clause]) -> bool:
    """Whether it denies what they plainly say, or says plainly what all clauses of it deny."""
    if VOCABULARY.patterns["ended"].search(text):
        return False
    claimed, wanted = poles(text, told=True), assertions.terms(text)
    near = [part for part in own if wanted & part.terms and kin(part.folded) <= kin(text)]
    if claimed == {True}:
        against = [key for part in own for key in assertions.negated(part.folded)]
        contrast = _CONTRAST.search(text) is not None
        return any(
            key not in against
            and any(
                assertions.asserts(part.folded, key) and not (contrast and _left(key, part, own, wanted))
                for part in own
            )
            for key in assertions.negated(text)
        )
    return bool(near) and claimed == {False} and all(poles(part.folded) == {True} for part in near)


def _left(key: tuple[str, ...], said: Clause, own: Sequence[Clause], wanted: frozenset[str]) -> bool:
    """Whether a later line says something else of what is told: satay / no, chilli it is."""
    rest = wanted - assertions.terms(" ".join(key))
    return any(part.line > said.line and rest & part.terms for part in own)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an item is refused, and the words that are meant, if any."""

    reason: Reason
    words: str = ""


@dataclass(frozen=True, slots=True)
class GroundedItem:
    """An item that stands: whose it is, the lines it cites, whom it is about ("" = its owner) and when that is."""

    owner: int
    cited: tuple[DigestLine, ...]
    subject: str
    when: DatedMoment | None


class TalkEvidence:
    """A talk, as what a model says of it is checked against it."""

    def __init__(
        self, lines: tuple[DigestLine, ...], scope: TalkScope, facts: Mapping[int, tuple[tuple[str, int], ...]]
    ) -> None:
        """`facts` are each person's present ones, with when they were told: names in them need not be said again."""
        self.lines, self.scope, self.facts = lines, scope, facts
        self.by_number = {line.number: line for line in lines}
        self.gone = forgets(lines)
        self.told = words_of(lines, scope.bot_name, scope.screened)
        play = played(lines)
        self.own = {line.number: words for line, words in self.told if words and line.number not in play}
        self._parts = {number: parts_of(number, words, beside_irony=True) for number, words in self.own.items()}
        # What is asked is what the answer is about: 去上海吗 / 不去.
        for asking, line in pairwise(lines):
            parts = self._parts.get(line.number, ())
            if parts and asking.person_id != line.person_id and _ASKING.search(asked := self._words(asking)):
                first = replace(parts[0], terms=parts[0].terms | assertions.terms(asked))
                self._parts[line.number] = (first, *parts[1:])

    def talk(self, owner: int, cited: Sequence[DigestLine], tz: tzinfo) -> TalkText:
        """What a person said till the last of these lines, what they were asked just before those, and what is known
        of them; numbers, days and names may stand in another's line, too, where that is cited or answered."""
        own = [line.number for line in cited if line.person_id == owner]
        first, last = min(own), max(own)
        said, told, answered = list[tuple[str, int]](), list[tuple[str, int]](), list[tuple[str, int]]()
        others = list[str]()
        for line in self.lines:
            if line.person_id == owner:
                said += [(self.plainly(line), line.at)] if line.number <= last else []
                continue
            words = self._words(line)
            if first - NEAR <= line.number < last and _ASKING.search(words):
                said.append((words, line.at))
                continue
            if first - ANSWERS <= line.number < first:
                answered.append((self.plainly(line), line.at))
            else:
                others.append(words)
            told += [(self.plainly(line), line.at)] if line in cited else []
        return TalkText(said, self._known(owner), self.names(), tz, told, "\n".join(others), answered)

    def _words(self, line: DigestLine) -> str:
        """All that stands in a line, links apart, folded."""
        return LINK.sub(" ", folded_plain(line.text if line.is_bot else self.own.get(line.number, "")))

    def _known(self, *people: int) -> list[tuple[str, int]]:
        """What is known of these people, folded, with when it was told."""
        return [(folded_plain(text), at) for one in people for text, at in self.facts.get(one, ())]

    def missing(self, sentence: str) -> MissingPart | None:
        """What of a sentence of a summary stands nowhere: its numbers, days and names, or every word of it."""
        said = [(self.plainly(line), line.at) for line in self.lines]
        talk = TalkText(said, self._known(*self.facts), self.names(), self.scope.tz)
        for at in {f"{local(line.at, self.scope.tz):%H:%M}" for line in self.lines}:  # when a line was said is shown
            sentence = sentence.replace(at, " ")
        bare = DigestItem("statements", 0, SCAFFOLD.sub(" ", sentence), ())
        return first_missing(bare, talk, (), self.lines[-1].at, news=1)

    def is_borrowed(self, sentence: str) -> bool:
        """Whether a third of a sentence stands only in what somebody quoted, handed on or made to work on a program."""
        own = assertions.terms("\n".join(self.plainly(line) for line in self.lines))
        wishes = {line.number for line, _ in self.gone}
        people = (line for line in self.lines if not line.is_bot and line.number not in wishes)
        passed = "\n".join(folded_plain(line.text) for line in people)
        told = assertions.terms(folded_plain(sentence))
        return len(told & (assertions.terms(passed) - own)) > STRANGE * len(told)

    def plainly(self, line: DigestLine) -> str:
        """What somebody plainly says in a line, folded: nothing that is quoted, asked or linked."""
        return "\n".join(part.folded for part in self._parts.get(line.number, ()))

    def cited(self, numbers: Iterable[int]) -> tuple[DigestLine, ...]:
        """The lines of these numbers with words of their speaker's own; none where one of them is not there."""
        lines = tuple(self.by_number.get(number) for number in numbers)
        return tuple(line for line in lines if line is not None and line.number in self.own) if all(lines) else ()

    def owner(self, item: DigestItem, cited: tuple[DigestLine, ...]) -> int | None:
        """Whose own words it rests on; of several people the one that it names first, None for nobody's.

        A task or promise does not name who has it to do: of several who speak it is of the one whom it does not name.
        """
        people = {line.person_id: fold(line.name) for line in cited if line.number in self.own and not line.is_bot}
        folded = fold(item.text)
        if item.section in ("tasks", "promises") and folded.find(next(iter(people.values()), "") or "?"):
            named = f"{folded} {fold(item.toward)}"
            left = [person for person, name in people.items() if not name or name not in named]
            return left[0] if len(left) == 1 else None
        places = {person: folded.find(name) for person, name in people.items() if person is not None and name}
        there = {person: place for person, place in places.items() if place >= 0}
        owner = (
            min(there, key=lambda person: there[person])
            if there
            else next(reversed(people))
            if len(people) == 1 or (people and item.about)
            else None
        )
        return None if owner is None or (not there and self._of_another(folded, owner, cited)) else owner

    def _of_another(self, folded: str, owner: int, cited: Sequence[DigestLine]) -> bool:
        """Whether a statement names somebody else who talks there, and its owner spoke of nobody so."""
        others = {fold(line.name): line.person_id for line in self.lines if not line.is_bot}
        places = sorted((folded.find(name), name) for name in others if name and name in folded)
        if not places or others[places[0][1]] == owner:
            return False
        parts = self.parts(line for line in cited if line.person_id == owner)
        if places[0][1] in fold(" ".join(part.folded for part in parts)):
            return False
        return places[0][1] not in fold(" ".join(words for line, words in self.told if line.person_id == owner)) or all(
            part.subject in ("", "self") and not has_pronoun(part.folded) for part in parts
        )

    def after(self, owner: int, number: int) -> tuple[Clause, ...]:
        """What that person said later, clause by clause."""
        return tuple(
            part
            for line, _ in self.told
            if line.person_id == owner and line.number > number
            for part in self._parts.get(line.number, ())
        )

    def parts(self, lines: Iterable[DigestLine]) -> tuple[Clause, ...]:
        """The clauses of these lines."""
        return tuple(part for line in lines for part in self._parts.get(line.number, ()))

    def names(self) -> list[str]:
        """How those who talk are called, folded, the longest first."""
        return sorted({fold(line.name) for line in self.lines} - {""}, key=len, reverse=True)

    def zone(self, owner: int, *, task: bool) -> tzinfo:
        """The zone in which that person means days; of a task their own."""
        return self.scope.zones.get(owner, self.scope.tz) if task else self.scope.tz


def times(text: str, at: int, tz: tzinfo) -> tuple[NamedTime, ...]:
    """The days and longer times that a text names, read at that moment, ms."""
    return _named(unspaced(folded_plain(text)), local_day(at, tz))


@lru_cache(maxsize=1024)
def _named(folded: str, today: date) -> tuple[NamedTime, ...]:
    return tuple(named_times(folded, today))


def iso_day(when: str) -> date | None:
    try:
        return date.fromisoformat(when.strip()[:10])
    except ValueError:
        return None


def same_time(one: NamedTime, other: NamedTime) -> bool:
    """Whether what a statement names is what a line names, and not more exact; counts of weeks are meant roughly."""
    mine = [(days.first, days.last) for days in one.choices]
    theirs = [(days.first, days.last) for days in other.choices]
    if other.counted is not None:
        theirs.append((other.counted - timedelta(days=3), other.counted + timedelta(days=3)))
    return any(a <= d and c <= b and (b - a >= d - c or other.counted is not None) for a, b in mine for c, d in theirs)
