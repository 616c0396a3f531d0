"""How past talks are told: each by itself, then by hour, by day and by week, the older the more in one line. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta, tzinfo

from bot.text.clean import clean_line
from bot.text.clip import clip
from bot.text.dates import DayWords, local_day, relative_day, time_label
from bot.text.gist import JOINT
from bot.text.stretches import end_of
from bot.types.dialogue import TIERS, Dialogue, Tier
from bot.types.duration import DAY_MS, HOUR_MS

Words = Callable[..., str]
"""A text of the opening catalogue by key, filled with named values."""

NAMES, SUMMARIES = 3, 3
"""So many people, and so many summaries of one line, are told (C38)."""

ALONE_CHARS, BESIDE_CHARS = 80, 40
"""How much of a summary is told by itself, and how much beside others."""

_LEVELS: tuple[tuple[int, Tier], ...] = ((HOUR_MS, "raw"), (DAY_MS, "hour"), (7 * DAY_MS, "day"))
"""Up to which age, ms, talks are told by themselves, by hour and by day; older ones are told by week."""


@dataclass(frozen=True, slots=True)
class TalkLine:
    """When and with whom, and what it was about; `at` is when the newest of the `talks` (numbers) ended, ms."""

    head: str
    text: str
    at: int
    talks: tuple[int, ...]


def talk_lines(
    talks: Sequence[Dialogue], when: tuple[int, tzinfo], words: Words, days: DayWords
) -> tuple[TalkLine, ...]:  # fmt: skip
    """One line of each stretch, in the order of the first talk in it; `when` is now, ms, and whose calendar counts."""
    now, tz = when
    groups: dict[tuple[object, ...], list[Dialogue]] = {}
    for talk in talks:
        level = _level(talk, now)
        stretch = talk.id if level == "raw" else end_of(level, talk.ended_at, tz)
        groups.setdefault((talk.own, level, stretch), []).append(talk)
    return tuple(_line(group, when, words, days) for group in groups.values())


def _level(talk: Dialogue, now: int) -> Tier:
    age = now - talk.ended_at
    by_age: Tier = next((tier for most, tier in _LEVELS if age <= most), "week")
    return max(by_age, talk.tier, key=TIERS.index)


def _line(group: list[Dialogue], when: tuple[int, tzinfo], words: Words, days: DayWords) -> TalkLine:
    count = sum(talk.talks for talk in group)
    shown = group[:SUMMARIES]
    chars = ALONE_CHARS if len(group) == 1 else BESIDE_CHARS
    parts = [clean_line(clip(talk.summary, chars)) for talk in shown]
    if len(group) > SUMMARIES:
        parts.append(words("talk_more", n=count))
    text = JOINT.join(parts)
    level = _level(group[0], when[0])
    if count == 1:
        label = relative_day(local_day(group[0].ended_at, when[1]), local_day(when[0], when[1]), days)
    else:
        label = words("talk_merged", label=_label(group[0], level, when, days), kind=words(f"talk_{level}"), n=count)
    people = _people(group, text, words)
    told = tuple(talk.id for talk in group)
    return TalkLine(f"{label} {people}" if people else label, text, max(talk.ended_at for talk in group), told)


def _label(talk: Dialogue, level: Tier, when: tuple[int, tzinfo], days: DayWords) -> str:
    """昨天 14:00, 3天前 2026-06-10, 2026-06-01: when the stretch of several talks began, as people say it."""
    now, tz = when
    today, at = local_day(now, tz), talk.ended_at
    if level == "hour":
        return f"{relative_day(local_day(at, tz), today, days)} {time_label(at, tz)[:2]}:00"
    began = local_day(end_of(level, at, tz), tz) - timedelta(days=1 if level == "day" else 7)
    near = relative_day(began, today, days)
    return near if near == began.isoformat() else f"{near} {began.isoformat()}"


def _people(group: list[Dialogue], text: str, words: Words) -> str:
    """Who took part, unless the text names them all."""
    names = [clean_line(name) for name in dict.fromkeys(name for talk in group for name in talk.names)]
    if all(name in text for name in names):
        return ""
    told = words("talk_joint").join(names[:NAMES])
    return words("talk_people", names=told, n=len(names)) if len(names) > NAMES else told
