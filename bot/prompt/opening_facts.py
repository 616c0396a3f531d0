"""What an opening block is made of, and the block as it was made; what lies ahead: dated statements, open tasks, reminders and
birthdays, each once, the soonest first."""

from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from typing import Literal

from bot.core.clock import HOUR_MS
from bot.core.memories import Commitment, Dated, Memory, Reminder
from bot.core.people import Chat, Person
from bot.core.recall import TopicLine
from bot.core.sessions import Dialogue
from bot.prompt.days import DayFormatter, said_at
from bot.text.dates import next_yearly
from bot.text.fold import fold
from bot.text.similarity import content_words, words_weight

OpeningSectionName = Literal["who", "about", "ahead", "moods", "events", "talks"]
"""The parts of a warm boot: who nuan is, what it knows of people, what comes and is to be done, how they felt, what
happened, what was talked about. Templates know them by these names."""

OVER_DAYS = 7
"""A task whose day is over is told as such for so long."""

YEARLY_DAYS = 7
"""Birthdays and anniversaries are told from so many days before."""

PRESSING = 3.0
"""Lines that weigh so much take of what all sections leave before all others."""

TITLE, SAME = 2, 3
"""Characters (a Latin word counts as two) of the shorter of two texts that are one thing: on the same day, on any."""


@dataclass(frozen=True, slots=True)
class OpeningFacts:
    """Everything a session's opening may tell its audience; `names` are display names by person number.

    `memories`, `dialogues` and `commitments` were already filtered by audience in the query, `vitality` is that of the
    memories by number; `zone` is the name of the time zone `tz`. `last_at` is when they last talked, ms; `met`: a talk
    with this audience has ended before, or nuan answered them. `topic` is what the last talk stayed with. `user` is
    what the owner wrote of themselves, "" for every other audience. `reminders` are those that the person waits for,
    `groups` the titles of the groups that something of it was said in, where that is told elsewhere. `changed` are
    memories whose lines told a day that was changed later. `repeats` are the rules of reminders that come back, in
    words, by number.
    """

    bot_name: str
    who: str
    owner: str
    zone: str
    tz: tzinfo
    now: int
    chat: Chat
    present: tuple[Person, ...]
    names: Mapping[int, str]
    memories: tuple[Memory, ...]
    dialogues: tuple[Dialogue, ...]
    vitality: Mapping[int, float] = field(default_factory=dict)
    commitments: tuple[Commitment, ...] = ()
    last_at: int | None = None
    topic: TopicLine | None = None
    met: bool = True
    user: str = ""
    reminders: tuple[Reminder, ...] = ()
    groups: Mapping[int, str] = field(default_factory=dict)
    changed: frozenset[int] = frozenset()
    repeats: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpeningLine:
    """One thing that a warm boot tells. Templates print `id` (0: none), `who` ("": nobody's words), `text`, `tag` and
    `value` of a mood, and `when`: of a fact the day it was said, of an event the day it happened, of what lies ahead
    its day and how far off that is. `day` and `due` ("": none) say the first two and the last in one word, `over` that
    it was due.

    `place` is the group that it was said in, where that is not here; `who` ends with it.

    `at` is when it was or will be, ms; `weight` orders what is told when not all of it fits, the greatest first: what
    weighs a whole one less takes no room that was too small. The numbers say what it was made from, 0 where from
    nothing of that sort.
    """

    text: str
    id: int = 0
    who: str = ""
    tag: str = ""
    value: float = 0.0
    day: str = ""
    due: str = ""
    over: bool = False
    at: int = 0
    weight: float = 0.0
    memory: int = 0
    commitment: int = 0
    dialogues: tuple[int, ...] = ()
    when: str = ""
    place: str = ""
    reminder: int = 0


@dataclass(frozen=True, slots=True)
class OpeningSection:
    """A part of a warm boot in the order in which it is read; `share` is what it may take when all are full."""

    name: OpeningSectionName
    share: float
    lines: tuple[OpeningLine, ...]


@dataclass(frozen=True, slots=True)
class OpeningBlock:
    """An opening block: its text, how long they had not talked, in words ("" for not worth a word), what it tells.

    `memories` are all whose words are in it: more than have a line, as names and twins have none.
    """

    text: str
    since: str = ""
    sections: tuple[OpeningSection, ...] = ()
    memories: tuple[int, ...] = ()

    def told(self, kind: Literal["memory", "dialogue", "commitment", "reminder"]) -> tuple[int, ...]:
        """The numbers of what its lines tell of that kind."""
        lines = (line for section in self.sections for line in section.lines)
        match kind:
            case "memory":
                numbers = [line.memory for line in lines]
            case "dialogue":
                numbers = [number for line in lines for number in line.dialogues]
            case "commitment":
                numbers = [line.commitment for line in lines]
            case "reminder":
                numbers = [line.reminder for line in lines]
        return tuple(number for number in numbers if number)


@dataclass(frozen=True, slots=True)
class UpcomingThing:
    """One thing ahead, due or open: its `day` (None: none was named), the moment, ms, and how exactly that is known.

    Of a month or year that is named `day` is the last.

    `memories` and `commitment` (0: none) are what it was made from; `said` is when it was said, ms; `toward`
    to whom it was promised, if its words do not say so. `remind_at`, ms, is when its person is reminded (0: never) by
    `reminder`; `chat` is where it was said, if others heard it.
    """

    text: str
    owner: int | None
    day: date | None
    at: int
    dated: Dated
    said: int
    memories: tuple[Memory, ...] = ()
    commitment: int = 0
    yearly: bool = False
    toward: str = ""
    core: frozenset[str] = frozenset()
    reminder: int = 0
    remind_at: int = 0
    chat: int = 0


def upcoming(facts: OpeningFacts, days: DayFormatter) -> tuple[UpcomingThing, ...]:
    """Overdue tasks, then what comes, the soonest first, then tasks without a day, the newest first."""
    found: list[UpcomingThing] = []
    for one in (*_tasks(facts.commitments, days), *_dated(facts.memories, days), *_reminders(facts, days)):
        same = next((place for place, other in enumerate(found) if _same(one, other)), None)
        if same is None:
            found.append(one)
        else:
            found[same] = _merged(found[same], one)
    seen = {memory.id for one in found for memory in one.memories}
    # What was noticed of a task that is overdue is no thing of its own that happened.
    past = [memory for memory in facts.memories if memory.kind == "event" and memory.id not in seen]
    found = [_with_past(one, past, days) for one in found]
    return tuple(sorted(found, key=_order))


def _tasks(commitments: Iterable[Commitment], days: DayFormatter) -> Iterable[UpcomingThing]:
    for one in commitments:
        due = UpcomingThing(
            one.text,
            one.owner_id,
            None,
            0,
            "",
            one.made_at,
            commitment=one.id,
            toward="" if fold(one.toward) in fold(one.text) else one.toward,
            core=content_words(one.text),
            chat=one.chat_id if one.visibility == "chat" else 0,
        )
        if one.due_at is not None:
            day = _last_day(days.day(one.due_at), one.dated)
            if (days.today - day).days > OVER_DAYS:
                continue
            due = replace(due, day=day, at=one.due_at, dated=one.dated or "day")
        yield due


def _reminders(facts: OpeningFacts, days: DayFormatter) -> Iterable[UpcomingThing]:
    """What is said to the person by itself, the next time of it; what is of a promise is told with that."""
    told = {one.id for one in facts.commitments}
    for one in facts.reminders:
        if one.due_at > facts.now and one.promise not in told:
            yield UpcomingThing(
                one.text,
                one.person_id,
                days.day(one.due_at),
                one.due_at,
                "time",
                one.made_at,
                core=content_words(one.text),
                reminder=one.id,
                remind_at=one.due_at,
                chat=one.chat_id,
            )


def _dated(memories: Iterable[Memory], days: DayFormatter) -> Iterable[UpcomingThing]:
    for memory in memories:
        if memory.is_name or memory.kind in ("emotion", "experience"):
            continue
        day = days.day(memory.observed_at)
        if memory.kind == "anniversary":
            day = next_yearly(day, days.today)
            if day - days.today <= timedelta(days=YEARLY_DAYS):
                yield replace(_noticed(memory, day), at=0, dated="day", yearly=True)
        elif is_upcoming(memory, days):
            yield _noticed(memory, _last_day(day, memory.dated))


def _noticed(memory: Memory, day: date) -> UpcomingThing:
    return UpcomingThing(
        memory.text,
        memory.owner_id,
        day,
        memory.observed_at,
        memory.dated,
        said_at(memory),
        (memory,),
        core=content_words(memory.text),
        chat=memory.chat_id if memory.visibility == "chat" else 0,
    )


def is_upcoming(memory: Memory, days: DayFormatter) -> bool:
    """Whether its day is today or later, of a time not over for long, and lay ahead already when it was said; a month or
    year till it is over."""
    at, day = memory.observed_at, days.day(memory.observed_at)
    if memory.dated == "time" and at < days.now - HOUR_MS:
        return False
    later = at > said_at(memory) if memory.dated == "time" else day > days.day(said_at(memory))
    if not memory.dated and memory.kind != "event":
        return False
    return later and _last_day(day, memory.dated) >= days.today


def _last_day(day: date, dated: Dated) -> date:
    """The last day of what is named: of a month or a year, or the day itself."""
    if dated == "year":
        return day.replace(month=12, day=31)
    return day.replace(day=monthrange(day.year, day.month)[1]) if dated == "month" else day


def _same(one: UpcomingThing, other: UpcomingThing) -> bool:
    """Whether two things of one person are one: of one day, or one without, and all that one says the other says."""
    if one.owner != other.owner or (one.commitment and other.commitment) or one.yearly != other.yearly:
        return False
    if one.day is not None and other.day is not None and one.day != other.day:
        return False
    mine, theirs = one.core, other.core
    less, more = (mine, theirs) if len(mine) <= len(theirs) else (theirs, mine)
    return less <= more and words_weight(less) >= (TITLE if one.day == other.day else SAME)


def _merged(one: UpcomingThing, other: UpcomingThing) -> UpcomingThing:
    """Both as one: the words that say more with their number first, the moment that is known more exactly; that of a
    reminder only for what has no day."""
    words = other if len(other.core) > len(one.core) and not other.reminder else one
    less = one if words is other else other
    exact = max(one, other, key=lambda due: (due.day is not None, not due.reminder, due.dated == "time"))
    return UpcomingThing(
        words.text,
        one.owner,
        exact.day,
        exact.at,
        exact.dated,
        words.said,
        (*words.memories, *less.memories),
        one.commitment or other.commitment,
        one.yearly or other.yearly,
        words.toward,
        words.core,
        one.reminder or other.reminder,
        one.remind_at or other.remind_at,
        words.chat,
    )


def _with_past(one: UpcomingThing, past: Iterable[Memory], days: DayFormatter) -> UpcomingThing:
    if one.day is None or one.day >= days.today:
        return one
    same = [memory for memory in past if _same(one, _noticed(memory, days.day(memory.observed_at)))]
    return replace(one, memories=(*one.memories, *same))


def _order(one: UpcomingThing) -> tuple[object, ...]:
    exact = one.at if one.dated == "time" else 0
    return (one.day is None, one.day or date.max, not one.yearly, exact, -one.said if one.day is None else 0)
