"""The warm boot: typed memories, open tasks and past talks as the sections of a narrative, without a model."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Literal

from bot.core.clock import DAY_MS, HOUR_MS
from bot.core.memories import Memory
from bot.core.sessions import Dialogue
from bot.language.sections import is_lasting, is_single_valued
from bot.language.time.dates import named_times
from bot.language.time.moments import unspaced
from bot.language.time.parts import DAYS_OFF
from bot.prompt.days import CatalogueText, DayFormatter, said_at, speaks_of_days
from bot.prompt.opening_facts import (
    OVER_DAYS,
    PRESSING,
    OpeningFacts,
    OpeningLine,
    OpeningSection,
    UpcomingThing,
    is_upcoming,
    upcoming,
)
from bot.text.clean import clean_line, is_named, named_once
from bot.text.dates import local_day, period_end
from bot.text.fold import fold
from bot.text.length import JOINT, clip, excerpt

TalkPeriod = Literal["raw", "hour", "day", "week", "month"]
TALK_PERIODS: tuple[TalkPeriod, ...] = ("raw", "hour", "day", "week", "month")

NAMES, SUMMARIES = 3, 3
"""So many people, and so many summaries of one line, are told (C38)."""

ALONE_TOKENS, BESIDE_TOKENS = 70, 40
"""How much of a summary is told by itself, and how much beside others: whole sentences."""

_LEVELS: tuple[tuple[int, TalkPeriod], ...] = (
    (HOUR_MS, "raw"),
    (DAY_MS, "hour"),
    (7 * DAY_MS, "day"),
    (30 * DAY_MS, "week"),
)
"""Up to which age, ms, talks are told by themselves, by hour, by day and by week; older ones by month (C38)."""

_PARTS = {"早": "早上", "晚": "晚上", "tonight": " evening"}
_NEAR_DAY = re.compile(
    r"大?[后後]天|大?前天|[今明昨]天|[今明](?:早|日)(?![已就])(?:上(?![班课课學学]))?|[今明昨]晚(?:上(?![班课学學]))?"
    r"|\b(?:tomorrow|tmrw|tmr|today|tonight|yesterday)\b(?!['’]s)",
    re.IGNORECASE,
)
"""Days that are named as seen from when something was said, with the part of the day that some of them name."""

ALIVE = 0.5
"""Knowledge that nobody asked to keep is told while its vitality is above this (seed Warm Boot)."""

EMOTIONS, EVENTS, KNOWLEDGE = 5, 7, 10
"""How many lines of each at most (seed Warm Boot); of passing knowledge those with the most vitality."""

MOOD_DAYS, LIGHT_MOOD_DAYS = 14, 3
"""An older mood is none of these days any more, for small talk none of now."""

AHEAD, UNDATED = 12, 6
"""Things with a day and tasks without one that are told at most: of more of them nobody keeps track."""

SOON_DAYS = 14
"""What comes in so many days gives no room to what is farther away, and comes before what is known of people but was
not told to be kept: of 342 such plans in 93 openings of played talks 335 are told so, 309 were with a week and after it."""

LINE_TOKENS = 90
"""A longer memory is told in part; recall brings it whole."""

SHARES = {"who": 0.06, "about": 0.30, "ahead": 0.28, "moods": 0.08, "events": 0.13, "talks": 0.15}
"""What each section may take when all are full; what is known of people takes most."""

TITLE_CHARS = 24
"""Of a group's title; platforms allow 128."""

ORDER = ("ahead", "about", "events", "moods")
"""Whoever tells the same thing first keeps it; summaries of talks are told whatever is in them."""

LIVING = ("knowledge", "experience")
"""The kinds that are told while they live."""

KEPT, NAMED, LASTING = PRESSING, 2.0, 1.5
"""What somebody asked to keep weighs so much; what lasts of health, home and the like; and what lasts else."""

LIST_MARKS = str.maketrans("（）();；【】[]", " " * 10)
"""Brackets and separators of the list of those present."""

QUOTE_MARKS = str.maketrans('「」『』“”"', "       ")


@dataclass(frozen=True, slots=True)
class PastTalk:
    """When and with whom, and what it was about; `at` is when the newest of the `talks` (numbers) ended, ms."""

    head: str
    text: str
    at: int
    talks: tuple[int, ...]


def past_talk_lines(talks: Sequence[Dialogue], days: DayFormatter) -> tuple[PastTalk, ...]:
    """One line of each stretch, in the order of the first talk in it."""
    groups: dict[tuple[object, ...], list[Dialogue]] = {}
    for talk in talks:
        level = _level(talk, days.now)
        groups.setdefault((talk.own, level, _stretch(talk, level, days.tz)), []).append(talk)
    return tuple(_line(group, days) for group in groups.values())


def _level(talk: Dialogue, now: int) -> TalkPeriod:
    age = now - talk.ended_at
    by_age: TalkPeriod = next((tier for most, tier in _LEVELS if age <= most), "month")
    return max(by_age, talk.tier, key=TALK_PERIODS.index)


def _stretch(talk: Dialogue, level: TalkPeriod, tz: tzinfo) -> object:
    match level:
        case "raw":
            return talk.id
        case "month":
            return local_day(talk.ended_at, tz).replace(day=1)
        case _:
            return period_end(level, talk.ended_at, tz)


def _line(group: list[Dialogue], days: DayFormatter) -> PastTalk:
    words, count = days.words, sum(talk.talks for talk in group)
    shown = group[:SUMMARIES]
    tokens = ALONE_TOKENS if len(group) == 1 else BESIDE_TOKENS
    parts = [
        clean_line(excerpt(_on_days(talk, days), tokens)) + (words("talk_changed") if talk.changed else "")
        for talk in shown
    ]
    if len(group) > SUMMARIES:
        parts.append(words("talk_more", n=count))
    text = JOINT.join(parts)
    label = _label(group[0], _level(group[0], days.now) if count > 1 else "raw", days)
    if count > 1:
        label = words("talk_merged", label=label, n=count)
    people = _people(group, text, words)
    told = tuple(talk.id for talk in group)
    return PastTalk(f"{label} {people}" if people else label, text, max(talk.ended_at for talk in group), told)


def _on_days(talk: Dialogue, days: DayFormatter) -> str:
    """The summary of a talk of an earlier day, where 明天 is the day that it was: 6月10日. Of two days it is left."""
    said = days.day(talk.ended_at)
    if said == days.today or days.day(talk.started_at) != said:
        return talk.summary

    def dated(found: re.Match[str]) -> str:
        near = found[0].lower().replace("後", "后")
        day = said + timedelta(days=next(off for word, off in DAYS_OFF.items() if near.startswith(word)))
        month = days.words("month_names").split()[day.month - 1]
        part = next((told for end, told in _PARTS.items() if near.removesuffix("上").endswith(end)), "")
        return days.words("date", year=day.year, month=month, day=day.day) + part

    return _NEAR_DAY.sub(dated, talk.summary)


def _label(talk: Dialogue, level: TalkPeriod, days: DayFormatter) -> str:
    """昨天, 昨天 14:00, 6月1日那周, 5月: when a talk was, or the stretch of several, as people say it."""
    at = talk.ended_at
    if level == "month":
        return days.span(days.day(at), "month")
    began = at if level in ("raw", "hour") else period_end(level, at, days.tz)
    day = days.day(began) - timedelta(days={"day": 1, "week": 7}.get(level, 0))
    if level == "week":
        return days.words("talk_week", day=days.date_label(day))
    return f"{days.told_day(day)} {days.time(at)[:2]}:00" if level == "hour" else days.told_day(day)


def _people(group: list[Dialogue], text: str, words: CatalogueText) -> str:
    """Who took part, unless the text names them all."""
    names = [clean_line(name) for name in dict.fromkeys(name for talk in group for name in talk.names)]
    if all(name in text for name in names):
        return ""
    told = words("talk_joint").join(names[:NAMES])
    return words("talk_people", names=told, n=len(names)) if len(names) > NAMES else told


def warm_boot_sections(facts: OpeningFacts, days: DayFormatter) -> tuple[OpeningSection, ...]:
    """The narrative's sections in the order they are read, past ones in the order of what happened, the last first.

    Past talks come as they were selected. Empty ones are dropped; what one section tells no other does.
    """
    teller = LineBuilder(facts, days)
    coming = upcoming(facts, days)
    dated, undated = [one for one in coming if one.day], [one for one in coming if not one.day]
    shown = (*dated[:AHEAD], *undated[:UNDATED])
    busy = {memory.id for one in coming for memory in one.memories}
    told = [memory for memory in _current(facts) if not memory.is_name and memory.id not in busy]
    found = (
        OpeningSection("who", SHARES["who"], (OpeningLine(excerpt(facts.who, LINE_TOKENS)),)),
        OpeningSection("about", SHARES["about"], tuple(teller.fact(memory) for memory in _about(facts, told))),
        OpeningSection("ahead", SHARES["ahead"], tuple(teller.due(one) for one in shown)),
        OpeningSection("moods", SHARES["moods"], tuple(teller.event(memory) for memory in moods(facts))),
        OpeningSection(
            "events", SHARES["events"], tuple(teller.event(memory) for memory in happened(told, days)[:EVENTS])
        ),
        OpeningSection("talks", SHARES["talks"], teller.talks()),
    )
    return _once(found)


def moods(facts: OpeningFacts, days: int = MOOD_DAYS) -> list[Memory]:
    """The moods of these days, the last first; of each person the last one of a day."""
    oldest = facts.now - days * DAY_MS
    found = _latest(m for m in facts.memories if m.kind == "emotion" and m.observed_at >= oldest)
    last: dict[tuple[int | None, date], Memory] = {}
    for memory in found:
        last.setdefault((memory.owner_id, local_day(memory.observed_at, facts.tz)), memory)
    return [*last.values()][:EMOTIONS]


def happened(memories: Iterable[Memory], days: DayFormatter) -> list[Memory]:
    """What happened and does not last, the last first."""
    events = (m for m in memories if m.kind == "event" and not (m.kept or m.lasting))
    return _latest(memory for memory in events if not is_upcoming(memory, days))


@dataclass(frozen=True, slots=True)
class LineBuilder:
    """Says who, what and when."""

    facts: OpeningFacts
    days: DayFormatter

    def fact(self, memory: Memory) -> OpeningLine:
        """What is known of somebody, with the day it was said; of an event that lasts, that of the event."""
        day = self.days.told(memory.observed_at, memory.dated) if memory.kind == "event" else ""
        said = self.days.told(said_at(memory))
        when = self._when(memory, day) if day else self.days.said(said_at(memory)) if memory.teller_id else said
        if until := self._until(memory):
            when = self.days.words("and_said", when=when, said=until)
        who, text = named_once(self.whom(memory), memory.text)
        place = self._heard(memory)
        return OpeningLine(
            self._told(text, memory),
            memory.id,
            who + place,
            day=day or said,
            at=said_at(memory),
            weight=self._weight(memory),
            memory=memory.id,
            when=when,
            place=place,
        )

    def event(self, memory: Memory) -> OpeningLine:
        """What happened, or how somebody felt, with its day."""
        day = self.days.told(memory.observed_at, memory.dated)
        who, text = named_once(self.whom(memory), memory.text)
        place = self._heard(memory)
        return OpeningLine(
            self._told(text, memory),
            memory.id,
            who + place,
            memory.emotion,
            memory.emotion_value,
            day,
            at=memory.observed_at,
            memory=memory.id,
            when=self._when(memory, day),
            place=place,
        )

    def _told(self, text: str, memory: Memory) -> str:
        """As much of a text as is told, marked where it names a day that was changed later."""
        mark = memory.id in self.facts.changed and named_times(unspaced(fold(text)), self.days.today)
        return excerpt(text, LINE_TOKENS) + (self.days.words("talk_changed") if mark else "")

    def _until(self, memory: Memory) -> str:
        """Till when it holds, where what takes its place is known, and lies ahead."""
        after = next((m for m in self.facts.memories if m.id == memory.replaced_by), None)
        if memory.former_at is not None or after is None or said_at(after) - said_at(memory) < HOUR_MS:
            return ""
        return self.days.words("found_until", day=self.days.dated(after.observed_at))

    def due(self, one: UpcomingThing) -> OpeningLine:
        """What lies ahead, with its day; the number where its words were told to be kept."""
        days = self.days
        over = one.day is not None and one.day < days.today
        if one.day is None:
            due, when = "", days.words("undated", said=days.said(one.said))
        elif over:
            due, when = days.told(one.at), days.over(one.at)
        else:
            due = days.far(one.day)
            repeats = self.facts.repeats.get(one.reminder, "") if one.at == one.remind_at else ""
            when = days.ahead(one.at, one.dated) if not one.yearly else days.on(one.day)
            when = days.words("ahead", day=repeats, far=due) if repeats else when
            if speaks_of_days(one.text, days.words) and days.day(one.said) != days.today:
                when = days.words("and_said", when=when, said=days.said(one.said))
        kept = next((memory.id for memory in one.memories if memory.kept), 0)
        number = one.memories[0].id if one.memories else 0
        memory = next((memory for memory in one.memories if memory.id == number), None)
        who = self.whom(memory) if memory is not None and memory.text == one.text else self._name(one.owner)
        who, text = named_once(who, one.text)
        text = excerpt(text, LINE_TOKENS)
        if one.toward:
            text = days.words("toward", text=text, toward=one.toward)
        if one.reminder:
            key = "reminder_bare" if not text else "reminder" if one.remind_at == one.at else "reminded"
            text = days.words(key, text=text, time=days.time(one.remind_at))
        group = self._place(one.chat)
        return OpeningLine(
            text,
            kept,
            who + group,
            day=days.told(one.said),
            due=due,
            over=over,
            at=one.at,
            weight=_nearness(one.day, days.today),
            memory=number,
            commitment=one.commitment,
            when=when,
            place=group,
            reminder=one.reminder,
        )

    def talks(self) -> tuple[OpeningLine, ...]:
        """Past talks, a line for each stretch."""
        days = self.days
        lines = past_talk_lines(self.facts.dialogues, days)
        return tuple(
            OpeningLine(one.text, day=one.head, at=one.at, dialogues=one.talks, when=one.head) for one in lines
        )

    def whom(self, memory: Memory) -> str:
        """Whose words it is and whom it is about, if its own words do not name them: 小王, 猫 年糕."""
        owner = self._name(memory.teller_id)
        if not memory.subject or is_named(memory.subject, memory.text):
            return owner
        alone = self.facts.chat.kind == "dm"
        return memory.subject if alone else self.days.words("subject", who=owner, subject=memory.subject)

    def _heard(self, memory: Memory) -> str:
        return self._place(memory.chat_id) if memory.visibility == "chat" else ""

    def _place(self, chat: int) -> str:
        """The group in which it was said, if that is not here: 在群「家」里."""
        if chat not in self.facts.groups:
            return ""
        return self.days.words(
            "found_in", chat=clip(self.facts.groups[chat].translate(LIST_MARKS | QUOTE_MARKS), TITLE_CHARS)
        )

    def _when(self, memory: Memory, day: str) -> str:
        """The day of an event, and when that was said if its words count from then; only that where they name none."""
        said = self.days.told(said_at(memory))
        if said == day and not memory.dated and speaks_of_days(memory.text, self.days.words):
            return self.days.said(said_at(memory))
        if said in (day, self.days.near.today) or not speaks_of_days(memory.text, self.days.words):
            return day
        return self.days.words("and_said", when=day, said=self.days.said(said_at(memory)))

    def _weight(self, memory: Memory) -> float:
        """What somebody asked to keep weighs most, then health, home and the like, whenever it was, then what lasts."""
        if memory.kept:
            return KEPT
        if memory.lasts and is_lasting(memory.slot):
            return NAMED
        if durable(memory):
            return LASTING
        return min(self.facts.vitality.get(memory.id, 0.0), 0.99)

    def _name(self, person: int | None) -> str:
        return self.facts.names.get(person, "?") if person else ""


def _nearness(day: date | None, today: date) -> float:
    """What comes soon weighs more the nearer it is, by a whole one for each day; what is overdue as what comes in a
    week and as many days. All that is farther away weighs less, the nearest most."""
    if day is None:
        return 0.0
    away = (day - today).days
    far = away if away >= 0 else OVER_DAYS - away
    return PRESSING + SOON_DAYS - far if far <= SOON_DAYS else 0.99 / far


def durable(memory: Memory) -> bool:
    """Whether it stays true of somebody: who they are, what lasts, and what they asked to keep."""
    return memory.kept or memory.lasts


def _current(facts: OpeningFacts) -> Iterable[Memory]:
    """Of what somebody has one of, the newer of what they said here and in groups."""
    if not facts.groups:
        return facts.memories
    held = {(m.owner_id, m.subject, m.slot): m.id for m in reversed(_newest(facts.memories))}
    return (
        m
        for m in facts.memories
        if not m.slot or not is_single_valued(m.slot) or m.is_name or held[m.owner_id, m.subject, m.slot] == m.id
    )


def _about(facts: OpeningFacts, told: Iterable[Memory]) -> list[Memory]:
    """What is known of people: what lasts, the newest first, and the passing that lives; each subject together."""
    known = [memory for memory in told if memory.kind != "emotion" or memory.kept]
    lasting = _newest(memory for memory in known if durable(memory))
    vital = facts.vitality
    alive = [m for m in known if not durable(m) and m.kind in LIVING and vital.get(m.id, 1.0) > ALIVE]
    alive.sort(key=lambda memory: (-vital.get(memory.id, 1.0), -memory.id))
    found = (*lasting, *_newest(alive[:KNOWLEDGE]))
    first = {memory.subject: place for place, memory in reversed(tuple(enumerate(found)))} | {"": -1}
    return sorted(found, key=lambda memory: first[memory.subject])


def _newest(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (-said_at(memory), -memory.id))


def _latest(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (-memory.observed_at, -memory.id))


def _once(found: tuple[OpeningSection, ...]) -> tuple[OpeningSection, ...]:
    """The sections without lines that another tells in the same words of the same person."""
    known: set[tuple[str, str]] = set()
    left: dict[str, tuple[OpeningLine, ...]] = {section.name: section.lines for section in found}
    for name in ORDER:
        kept: list[OpeningLine] = []
        for line in left[name]:
            mark = line.who.removesuffix(line.place), "".join(filter(str.isalnum, fold(line.text)))
            if mark not in known:
                known.add(mark)
                kept.append(line)
        left[name] = tuple(kept)
    return tuple(
        OpeningSection(section.name, section.share, left[section.name]) for section in found if left[section.name]
    )
