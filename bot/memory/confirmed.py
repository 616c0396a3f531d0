"""What must stand in a talk of a statement that a model looked at twice: numbers, days, names, denials.

What it means, and what of the talk it joins, the model has judged. Pure; it may load a dictionary: in a thread.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal

from bot.memory import evidence
from bot.memory.digest_answer import Item
from bot.memory.evidence import VOCABULARY, Part, folded_plain, novelty, numbers, poles
from bot.memory.saiddays import iso_day, same_time, times
from bot.text.calendar import Named
from bot.text.dated import checked_when
from bot.text.dates import local_day
from bot.types.when import When

NEWS, FEW = 0.8, 3
"""The share of its telling words that may stand nowhere in the talk, nor in what is known; fewer new words are none."""

LEAST_CHARS = 4
"""A statement of nothing but plain words must be so long, and have been said as it stands."""

NEAR_DAYS = timedelta(days=15)
"""So far from its line a day may lie that is told by its day of the week."""
MONTH = timedelta(days=45)
"""The same by its number; farther where a month or a year with it is named."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What people said, folded, line by line with when (ms), and what is known of them; `names` are who talks, `own`
    what the speaker said, and others just before the lines that are cited."""

    said: Sequence[tuple[str, int]]
    own: Sequence[str]
    known: Sequence[tuple[str, int]]
    names: Sequence[str]
    tz: tzinfo

    @property
    def dated(self) -> tuple[tuple[str, int], ...]:
        """All of it, with when it was said."""
        return (*self.said, *self.known)

    @property
    def heard(self) -> str:
        """All of it as one text."""
        return "\n".join((*(text for text, _ in self.dated), *self.own, *self.names))


_FIGURES = re.compile(r"\d+")

Missing = tuple[Literal["number", "day", "words", "denial"], str]
"""A reason and the words that are meant."""


def missing(item: Item, talk: Talk, own: Sequence[Part], said_at: int, news: float = NEWS) -> Missing | None:
    """What of an item stands nowhere; `own` are the clauses of the lines that it cites, of its one speaker; `news` is
    the share of its words that may be a model's own."""
    text = folded_plain(item.text)
    days = times(text, said_at, talk.tz)
    spelt = {number for words, _ in talk.dated for number in _FIGURES.findall(words)}
    if strange := [one for one in days if not (_told(one, talk, said_at) or _spelt(one, text, spelt))]:
        return "day", text[strange[0].start : strange[0].end]
    there = _numbers(talk, said_at)
    said = numbers(_without(text, days), all_of_them=False)
    if new := [one for one in said if one not in there and one.removesuffix("000") not in there]:
        return "number", " ".join(sorted(new))
    heard = f"{talk.heard}\n{folded_plain(item.about)}"
    bare, plain = text, item.text
    for name in talk.names:
        bare, plain = bare.replace(name, " "), re.sub(re.escape(name), " ", plain, flags=re.IGNORECASE)
    if strange_names := [name for name in evidence.names(plain) if name not in heard and not shortened(name, heard)]:
        return "words", " ".join(strange_names[:4])
    share, words = novelty(bare, heard)
    words_said = bare.strip(" ,.。，")
    plain_only = news < 1 and not evidence.terms(bare) and not (len(words_said) >= LEAST_CHARS and words_said in heard)
    empty = item.section != "moods" and not said and not days and (plain_only or share == 1)
    if empty:  # 嗯, x, a bare name
        return "words", item.text[:20]
    if share > news and len(words) >= FEW:
        return "words", " ".join(words[:4])
    return ("denial", item.text[:20]) if _turned(text, own) else None


def day_of(item: Item, talk: Talk, said_at: int) -> When | None:
    """The day that a model names for it, if the talk names it in some way; None where it does not."""
    found = checked_when(item.when, talk.dated, talk.tz)
    if found is not None or (day := iso_day(item.when)) is None:
        return found
    today = local_day(said_at, talk.tz)
    if day != today and not _told_day(day, talk, said_at):
        return None
    start = datetime(day.year, day.month, day.day, tzinfo=talk.tz)
    return When(round(start.timestamp() * 1000), "day")


def _told(one: Named, talk: Talk, said_at: int) -> bool:
    """Whether the talk names a time that a statement names, or a day by its number or its day of the week."""
    if any(same_time(one, other) for words, at in talk.dated for other in times(words, at, talk.tz)):
        return True
    today = local_day(said_at, talk.tz)
    return any(
        (days.first == today or _told_day(days.first, talk, said_at))
        and (days.first == days.last or _told_day(days.last, talk, said_at))
        for days in one.choices
    )


def _spelt(one: Named, text: str, spelt: set[str]) -> bool:
    """Whether all its figures stand in the talk as they are: in 2011."""
    figures = set(_FIGURES.findall(text[one.start : one.end]))
    return bool(figures) and figures <= spelt


def _told_day(day: date, talk: Talk, said_at: int) -> bool:
    today, number = local_day(said_at, talk.tz), str(day.day)
    named = [one for words, at in talk.said for one in times(words, at, talk.tz)]
    if abs(day - today) <= NEAR_DAYS and any(
        one.left == "week" and any(days.first.weekday() == day.weekday() for days in one.choices) for one in named
    ):
        return True
    around = any(days.first < days.last and days.first <= day <= days.last for one in named for days in one.choices)
    if not around and abs(day - today) > MONTH:
        return False
    return any(number in numbers(words, all_of_them=True) for words, _ in talk.said)


def _numbers(talk: Talk, said_at: int) -> set[str]:
    texts = (*talk.own, *(text for text, _ in talk.known))
    there = {number for text in texts for number in numbers(text, all_of_them=True)}
    today = local_day(said_at, talk.tz)
    return there | {str(today.year), str(len(talk.names))}


def _without(text: str, days: Iterable[Named]) -> str:
    rest, cut = "", 0
    for one in days:
        rest, cut = f"{rest}{text[cut : one.start]}\t", one.end
    return rest + text[cut:]


def shortened(name: str, heard: str) -> bool:
    """Whether a Chinese name was said in short: 兰大 for 兰州大学."""
    return not name.isascii() and len(name) > 2 and any(name[0] + other in heard for other in name[2:])


def _turned(text: str, own: Sequence[Part]) -> bool:
    """Whether it denies what they plainly say, or says plainly what all clauses of it deny."""
    if VOCABULARY.patterns["ended"].search(text):
        return False
    claimed, wanted = poles(text, told=True), evidence.terms(text)
    near = [part for part in own if wanted & part.terms]
    if claimed == {True}:
        against = [key for part in own for key in evidence.negated(part.folded)]
        return any(
            key not in against and any(evidence.asserts(part.folded, key) for part in own)
            for key in evidence.negated(text)
        )
    return bool(near) and claimed == {False} and all(poles(part.folded) == {True} for part in near)
