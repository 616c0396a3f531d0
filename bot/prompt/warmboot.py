"""Waking up warm: typed memories, open tasks and past talks as the sections of a narrative, without a model. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.prompt.once import once
from bot.text.clip import clip
from bot.text.dates import DayWords, local_day, relative_day
from bot.text.pasttalks import TalkLine, Words, talk_lines
from bot.types.commitment import Commitment
from bot.types.memory import Memory
from bot.types.opening import Line, OpeningFacts, Section

ALIVE = 0.5
"""Knowledge that nobody asked to keep is told while its vitality is above this (seed Warm Boot)."""

IDENTITIES, EMOTIONS, EVENTS, KNOWLEDGE = 50, 5, 7, 10
"""How many lines of each at most (seed Warm Boot); of knowledge those with the most vitality."""

TASKS = 10
"""Open tasks that are told at most: of more of them nobody keeps track."""

LINE_CHARS = 160
"""A longer memory is told in part; recall brings it whole."""

WHOLE_CHARS = 60
"""A part is at least so long, if it can end with a sentence or a clause: less would say nothing."""

SHARES = {"who": 0.14, "moods": 0.08, "events": 0.17, "knowledge": 0.33, "tasks": 0.13, "talks": 0.15}
"""What each section may take when all are full; what was told to be kept takes most."""

LIVING = ("knowledge", "experience")
"""The kinds that are told while they live."""

KEPT = 2.0
"""What somebody asked to keep weighs so much; of whole numbers the lesser waits for the greater."""

_SENTENCE = re.compile(r"[。！？!?；;\n]+[”」』\"')）]*|\.(?=\s|$)")
_CLAUSE = re.compile(r"[，,、：:]")


def sections(facts: OpeningFacts, words: Words, days: DayWords) -> tuple[Section, ...]:
    """The narrative's sections in the order they are read, each in the order of what happened, the last first.

    Past talks come as they were selected. Empty ones are dropped; what one section tells no other does.
    """
    teller = _Teller(facts, days)
    told = [memory for memory in facts.memories if not memory.is_name]
    kept = [memory for memory in told if memory.kept]
    rest = [memory for memory in told if not memory.kept]
    events = _kind(rest, "event")
    who = (Line(clip(facts.who, LINE_CHARS)), *_lines(teller, _kind(rest, "identity")[:IDENTITIES]))
    talks = talk_lines(facts.dialogues, (facts.now, facts.tz), words, days)
    found = (
        Section("who", SHARES["who"], who),
        Section("moods", SHARES["moods"], _lines(teller, _kind(rest, "emotion")[:EMOTIONS])),
        Section("events", SHARES["events"], _lines(teller, events[:EVENTS])),
        Section("knowledge", SHARES["knowledge"], _lines(teller, _latest((*kept, *_alive(facts, rest))))),
        Section("tasks", SHARES["tasks"], _tasks(facts, teller)),
        Section("talks", SHARES["talks"], tuple(map(teller.talk, talks))),
    )
    return once(found)


def excerpt(text: str, most: int = LINE_CHARS) -> str:
    """The text, or of a long one its first sentences and "…": a part that ends in the middle may say the contrary."""
    if len(text) <= most:
        return text
    for ends in (_SENTENCE, _CLAUSE):
        cut = max((match.end() for match in ends.finditer(text, 0, most) if match.end() >= WHOLE_CHARS), default=0)
        if cut:
            return text[:cut].rstrip() + "…"
    return clip(text, most)


@dataclass(frozen=True, slots=True)
class _Teller:
    """Says who, what and when."""

    facts: OpeningFacts
    days: DayWords

    def day(self, at: int) -> str:
        facts = self.facts
        return relative_day(local_day(at, facts.tz), local_day(facts.now, facts.tz), self.days)

    def who(self, person: int | None) -> str:
        return self.facts.names.get(person, "?") if person else ""

    def memory(self, memory: Memory, weight: float = 0.0) -> Line:
        return Line(
            excerpt(memory.text), memory.id, self.who(memory.teller_id), memory.emotion, memory.emotion_value,
            self.day(memory.observed_at), at=memory.observed_at, weight=weight, memory=memory.id,
        )  # fmt: skip

    def commitment(self, promised: Commitment) -> Line:
        line = Line(excerpt(promised.text), 0, self.who(promised.owner_id), commitment=promised.id)
        return self._due(line, promised.made_at, promised.due_at)

    def talk(self, talks: TalkLine) -> Line:
        return Line(talks.text, day=talks.head, at=talks.at, dialogues=talks.talks)

    def _due(self, line: Line, at: int, due: int | None) -> Line:
        over = due is not None and local_day(due, self.facts.tz) < local_day(self.facts.now, self.facts.tz)
        return Line(
            line.text, line.id, line.who, day=self.day(at), due="" if due is None else self.day(due), over=over, at=at,
            weight=0.0 if due is None or over else 1.0, memory=line.memory, commitment=line.commitment,
        )  # fmt: skip


def _tasks(facts: OpeningFacts, teller: _Teller) -> tuple[Line, ...]:
    """What is still to be done, the day that comes first ahead."""
    found = [(promised.due_at, promised.made_at, teller.commitment(promised)) for promised in facts.commitments]
    found.sort(key=lambda one: (one[0] is None, one[0] or 0, -one[1]))
    return tuple(line for _, _, line in found[:TASKS])


def _alive(facts: OpeningFacts, rest: Iterable[Memory]) -> list[Memory]:
    """The knowledge with the most vitality, all of it above one half."""
    vital = facts.vitality
    alive = [m for m in rest if m.kind in LIVING and vital.get(m.id, 1.0) > ALIVE]
    return sorted(alive, key=lambda memory: (-vital.get(memory.id, 1.0), -memory.id))[:KNOWLEDGE]


def _kind(memories: Iterable[Memory], kind: str) -> list[Memory]:
    return _latest(memory for memory in memories if memory.kind == kind)


def _latest(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (-memory.observed_at, -memory.id))


def _lines(teller: _Teller, memories: Iterable[Memory]) -> tuple[Line, ...]:
    """What somebody asked to keep weighs more than the rest, whenever it was."""
    vital = teller.facts.vitality
    weights = ((m, KEPT if m.kept else min(vital.get(m.id, 0.0), 0.99) if m.kind in LIVING else 0.0) for m in memories)
    return tuple(teller.memory(memory, weight) for memory, weight in weights)
