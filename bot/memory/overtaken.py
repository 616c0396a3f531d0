"""What was planned and a later line moved, called off or corrected: it is not told any more. By rule, no model. Pure.

The same matter and a word of change; in doubt it leaves a plan out rather than tell one that is over.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from bot.memory.correcting import AT_ONCE, AT_ONCE_MS, redates
from bot.memory.match import features_of
from bot.memory.minutes import MESSAGE_CHARS, DigestLine, Scope, Told
from bot.memory.plain import DATA, patterns_of, sentences
from bot.memory.wish_reader import understand
from bot.text.alike import FORM, core
from bot.text.clauses import clauses_of
from bot.text.clean import clean
from bot.text.dated import when_in
from bot.text.dates import local_day
from bot.text.fold import fold
from bot.types.duration import DAY_MS

DAYS = 14
"""A change is of something that was said no longer ago."""

_MOVED, _OFF, _UNSURE = (patterns_of("change", name) for name in ("moved", "off", "unsure"))
_SAME = {word: group[0] for group in DATA["change"]["same"] for word in group}
_DAYS = re.compile(r"[0-9]+|[一二三四五六七八九十]+(?=[点号月日])|上午|下午|早上|晚上|改期|时间|已经|今年")


@dataclass(frozen=True, slots=True)
class _Plan:
    """A sentence of a line that names a day, today or later when it was said, and what it is about."""

    line: DigestLine
    text: str
    day: date
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Change:
    """A line that changes something: its words for that, and the days that it names; `text` says what is when now."""

    line: DigestLine
    words: frozenset[str]
    days: frozenset[date]
    text: str


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Sentences (folded) of lines by the number of their events, the corrections right behind a line, and what lines
    say of a new day."""

    sentences: dict[int, frozenset[str]]
    corrected: dict[int, DigestLine]
    moved: dict[int, str]

    def without(self, told: Told) -> Told:
        """The lines without these sentences; a correction stands with the line that it corrects."""
        behind = {one.event_id for one in self.corrected.values()}
        return tuple(
            (line, "" if line.event_id in behind else self._left(line, words)) for line, words in told
        )  # fmt: skip

    def _left(self, line: DigestLine, words: str) -> str:
        gone = self.sentences.get(line.event_id, frozenset())
        for one in sentences(words) if gone else ():
            if one.folded in gone:
                words = words.replace(one.text, " ")
        return words


def overtaken(told: Told, scope: Scope) -> Overtaken:
    """What later lines of these overtook, each line with its speaker's own words."""
    plans, changes = _plans(told, scope), list[_Change]()
    corrected = _corrected(told, plans, scope)
    behind = {one.event_id for one in corrected.values()}
    changes = [change for line, words in told if line.event_id not in behind
               for change in _changes(line, words or _kept(line), scope)]  # fmt: skip
    found: dict[int, set[str]] = {}
    moved = {change.line.event_id: change.text for change in changes if change.text}
    for change in changes:
        for plan in _meant(change, plans, scope):
            found.setdefault(plan.line.event_id, set()).add(fold(plan.text))
    return Overtaken({event: frozenset(texts) for event, texts in found.items()}, corrected, moved)


def _kept(line: DigestLine) -> str:
    """What a line asks to keep (记一下，爬山改到周日): it changes plans like any line."""
    found = () if line.forwarded else understand(clean(line.text[:MESSAGE_CHARS])).commands
    return "\n".join(one.content for one in found if one.verb == "remember" and one.content)


def _plans(told: Told, scope: Scope) -> list[_Plan]:
    found: list[_Plan] = []
    for line, words in told:
        tz = scope.zones.get(line.person_id or 0, scope.tz)
        for one in sentences(words or _kept(line)):
            when = when_in(one.text, line.at, tz)
            if when is not None and local_day(when.at, tz) >= local_day(line.at, tz) and not one.asks:
                found.append(_Plan(line, one.text, local_day(when.at, tz), _matter(one.text)))
    return found


def _corrected(told: Told, plans: list[_Plan], scope: Scope) -> dict[int, DigestLine]:
    """Lines whose day or hour their speaker corrects right behind them, by event: that next line."""
    planned = {plan.line.event_id for plan in plans}
    found: dict[int, DigestLine] = {}
    for place, (line, words) in enumerate(told):
        if not redates(words):
            continue
        before = [one for one, _ in told[max(0, place - AT_ONCE) : place] if one.person_id == line.person_id]
        last = next((one for one in reversed(before) if one.event_id in planned), None)
        if last is not None and line.at - last.at <= AT_ONCE_MS:
            found[last.event_id] = line
    return found


def _changes(line: DigestLine, words: str, scope: Scope) -> Iterable[_Change]:
    tz = scope.zones.get(line.person_id or 0, scope.tz)
    before, named = frozenset[str](), ""
    for one in sentences(words):
        heard = frozenset[str]()
        for clause in clauses_of(one.text):
            folded = fold(clause)
            moved, off = _MOVED.search(folded), _OFF.search(folded)
            cue = moved or off
            if cue is None or one.asks or _UNSURE.search(folded):
                heard = _matter(clause) or heard
                continue
            after = "" if moved and not folded.isascii() else folded[cue.end() :]
            own = _matter(f"{folded[: cue.start()]} {after}") if not (off and not moved) else _matter(folded)
            when = when_in(clause, line.at, tz)
            days = frozenset((local_day(when.at, tz),)) if when is not None else frozenset[date]()
            text = one.text if own or heard else f"{named}，{one.text}" if before else ""
            heard = own or heard or before
            yield _Change(line, heard, days, text if moved and when is not None and when.at > line.at else "")
        before, named = heard or before, one.text


def _meant(change: _Change, plans: list[_Plan], scope: Scope) -> list[_Plan]:
    """The plans that a change is of: those that share most words with it; without a word those of the only day, or the
    last of the same talk."""
    line, today = change.line, local_day(change.line.at, scope.tz)
    before = [
        plan for plan in plans
        if (plan.line.event_id < line.event_id or (plan.line.event_id == line.event_id and plan.text not in line.text))
        and plan.line.at >= line.at - DAYS * DAY_MS and plan.day >= today - timedelta(days=1)
        and (plan.line.person_id == line.person_id or scope.kind == "group")
    ]  # fmt: skip
    shared = {id(plan): len(change.words & plan.words) for plan in before}
    most = max(shared.values(), default=0)
    if most:
        return [plan for plan in before if shared[id(plan)] == most]
    mine = [plan for plan in before if plan.line.person_id == line.person_id]
    if not change.words and mine:
        last, one_day = mine[-1], len({plan.day for plan in mine}) == 1
        return mine if one_day else [last] if line.at - last.line.at <= AT_ONCE_MS else []
    return []


def _matter(text: str) -> frozenset[str]:
    """What a text is about, without days, hours and words of change."""
    folded = _DAYS.sub(" ", FORM.sub(" ", fold(text)))
    for pattern in (_MOVED, _OFF):
        folded = pattern.sub(" ", folded)
    found = {word for word in core(folded) if word.isascii()}
    found |= {word for word in features_of(folded) if not word.isascii()}
    return frozenset(_SAME.get(word, word) for word in found)
