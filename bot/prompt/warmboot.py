"""Waking up warm: typed memories and past talks as a short narrative, by template, without a model. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.text.clean import as_data
from bot.text.clip import clip
from bot.text.dates import DayWords, local_day, relative_day
from bot.text.pasttalks import talk_lines
from bot.types.memory import Memory
from bot.types.opening import OpeningFacts

Words = Callable[..., str]
"""A text of the opening catalogue by key, filled with named values."""

ALIVE = 0.5
"""Knowledge that nobody asked to keep is told while its vitality is above this (seed Warm Boot)."""

KNOWLEDGE = 10
"""How many such lines at most (seed Warm Boot: top 10)."""

LINE_CHARS = 160
"""A longer memory is told in part; recall brings it whole."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines, the most important first; `share` is what it may take of the block when all are full."""

    heading: str
    lines: tuple[str, ...]
    share: float


def sections(facts: OpeningFacts, words: Words, days: DayWords) -> tuple[Section, ...]:
    """The narrative's sections in the order they are read, empty ones dropped."""
    today = local_day(facts.now, facts.tz)

    def day(at: int) -> str:
        return relative_day(local_day(at, facts.tz), today, days)

    def who(memory: Memory) -> str:
        return as_data(facts.names.get(memory.owner_id or 0, "")) or words("me")

    def line(key: str, memory: Memory) -> str:
        text = as_data(clip(memory.text, LINE_CHARS))
        return words(
            key if memory.teller_id else "own_line", id=memory.id, who=who(memory), text=text,
            tag=as_data(memory.emotion) or "…", day=day(memory.observed_at),
        )  # fmt: skip

    told = [memory for memory in facts.memories if not memory.slot]
    asked = [memory for memory in told if memory.asked]
    rest = [memory for memory in told if not memory.asked]
    vital = facts.vitality
    alive = sorted(
        (m for m in rest if m.kind in ("knowledge", "experience") and vital.get(m.id, 1.0) > ALIVE),
        key=lambda memory: (-vital.get(memory.id, 1.0), -memory.id),
    )[:KNOWLEDGE]
    found = (
        Section(words("who"), ("- " + facts.who, *_lines(line, "known_line", rest, "identity")), 0.15),
        Section(words("mood"), _lines(line, "mood_line", rest, "emotion"), 0.1),
        Section(words("happened"), _lines(line, "event_line", rest, "event"), 0.2),
        Section(words("known"), tuple(line("known_line", m) for m in (*asked, *alive)), 0.35),
        Section(
            words("dialogue"),
            tuple(
                words("dialogue_line", day=talk.head, text=talk.text)
                for talk in talk_lines(facts.dialogues, (facts.now, facts.tz), words, days)
            ),
            0.2,
        ),
    )
    return tuple(section for section in found if section.lines)


def _lines(line: Callable[[str, Memory], str], key: str, memories: Iterable[Memory], kind: str) -> tuple[str, ...]:
    return tuple(line(key, memory) for memory in memories if memory.kind == kind)


def fit(found: tuple[Section, ...], limit: int, cost: Callable[[str], int]) -> str:
    """The sections as text of at most `limit` tokens.

    Each section first takes lines up to its share; what is left goes to the largest share first: what was told to be
    kept.
    """
    kept: dict[str, list[str]] = {section.heading: [] for section in found}
    left = limit - sum(cost(section.heading) for section in found)
    by_weight = sorted(found, key=lambda section: -section.share)
    for shared in (True, False):
        for section in found if shared else by_weight:
            room = min(left, int(limit * section.share)) if shared else left
            mine = kept[section.heading]
            for text in section.lines:
                price = cost(text)
                if price <= room and text not in mine:
                    room -= price
                    left -= price
                    mine.append(text)
    parts = [
        "\n".join((section.heading, *(line for line in section.lines if line in kept[section.heading])))
        for section in found
        if kept[section.heading]
    ]
    return "\n".join(parts)
