"""Past talks as lines: single ones, then by hour, day, week and month."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from typing import Literal

from bot.core.clock import DAY_MS, HOUR_MS
from bot.core.sessions import Dialogue
from bot.prompt.days import CatalogueText, DayFormatter
from bot.text.clean import clean_line
from bot.text.dates import local_day, period_end
from bot.text.length import JOINT, excerpt

TalkPeriod = Literal["raw", "hour", "day", "week", "month"]
TALK_PERIODS: tuple[TalkPeriod, ...] = ("raw", "hour", "day", "week", "month")

NAMES, SUMMARIES = 3, 3
"""So many people, and so many summaries of one line, are told (C38)."""

ALONE_TOKENS, BESIDE_TOKENS = 70, 40
"""How much of a summary is told by itself, and how much beside others: whole sentences."""

_LEVELS: tuple[tuple[int, TalkPeriod], ...] = (
    (HOUR_MS, "raw"), (DAY_MS, "hour"), (7 * DAY_MS, "day"), (30 * DAY_MS, "week"),
)  # fmt: skip
"""Up to which age, ms, talks are told by themselves, by hour, by day and by week; older ones by month (C38)."""


_NEAR = {
    "大后": 3, "后": 2, "明": 1, "今": 0, "昨": -1, "大前": -3, "前": -2, "tom": 1, "tm": 1, "today": 0, "tonight": 0,
    "yes": -1,
}  # fmt: skip
_PARTS = {"早": "早上", "晚": "晚上", "tonight": " evening"}
_NEAR_DAY = re.compile(
    r"大?[后後]天|大?前天|[今明昨]天|[今明](?:早|日)(?![已就])(?:上(?![班课课學学]))?|[今明昨]晚(?:上(?![班课学學]))?"
    r"|\b(?:tomorrow|tmrw|tmr|today|tonight|yesterday)\b(?!['’]s)",
    re.IGNORECASE,
)
"""Days that are named as seen from when something was said, with the part of the day that some of them name."""


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
        day = said + timedelta(days=next(far for start, far in _NEAR.items() if near.startswith(start)))
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
