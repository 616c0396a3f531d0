"""Whether what a clause of a statement puts together was said together: its words, figures, days, and of whom.

A clause may join what clauses of its lines say; it may not cross them: of two in one line, neither told whole.
Pure; it may load a dictionary: in a thread.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from typing import Literal

from bot.memory import evidence
from bot.memory.evidence import MEASURE, VOCABULARY, Part, numbers, poles
from bot.memory.saiddays import same_time, times
from bot.text.calendar import Named
from bot.text.stem import stem
from bot.text.tokens import STOP, runs, words

Wrong = Literal["mixed", "whose", "denial", "number"]


_PLAIN = frozenset(VOCABULARY.plain_han) | STOP
_FIGURES = frozenset("零〇一二两三四五六七八九十百千万亿半")
_LATIN = re.compile(r"[a-z\u00c0-\u024f][a-z0-9\u00c0-\u024f'-]*")
_PREFIX = 6
_DIGITS = re.compile(r"(?<![a-z\d.])\d+(?:\.\d+)?|[零一二两三四五六七八九十百千万]{2,}")
_BETWEEN = re.compile(
    r"借给?|欠|帮|陪|[送卖还]给?|\b(?:lent|lends?|borrow|ow(?:es?|ed)|help|tell|told|wants?|gave|gives?)"
)
_COUNTED = re.compile(
    r"(\d+(?:\.\d+)?|[一二两三四五六七八九十百千万半]+|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b)[ -]?"
    rf"(个[月半]|[{MEASURE}夜晚只颗片粒条]|(?!and\b|to\b|or\b|at\b|on\b|in\b|for\b)[a-z]{{2,10}})"
)
_OF = re.compile("的|家|'s|' ")
_REPORTS = re.compile(r"觉得|认为|\b(?:thinks?|thought|says?|said|feels?|reckons?|believes?)\b")
_ME = re.compile(r"我|\b(?:m[ey]|us|our)\b")


@dataclass(frozen=True, slots=True)
class Told:
    """A clause of somebody's own words with the days and figures it names; `strict` must be figures."""

    part: Part
    terms: tuple[str, ...]
    stems: frozenset[str]
    days: tuple[Named, ...]
    figures: frozenset[str]
    strict: frozenset[str]
    rows: frozenset[int]
    names: tuple[str, ...]

    def says(self, term: str, *, plainly: bool = False) -> bool:
        """Whether a term stands in it; a Chinese word of several characters with one of them, if not `plainly`."""
        if term[0] < "㐀":
            return term in self.stems
        if term in self.part.folded:
            return True
        return not plainly and any(char not in _PLAIN and char in self.part.folded for char in term)


def told(part: Part, at: int, tz: tzinfo, names: Iterable[str]) -> Told:
    """A clause as claims are checked against it; `at` is when it was said, ms, `names` are those of its line."""
    days, rest = undated(part.folded, at, tz)
    return Told(
        part, terms(rest), _stems(part.folded), days, frozenset(numbers(rest, all_of_them=True)),
        frozenset(numbers(rest, all_of_them=False)), evidence.kin(part.folded) | evidence.kin(part.who),
        tuple(name for name in names if name in part.folded),
    )  # fmt: skip


def undated(folded: str, at: int, tz: tzinfo) -> tuple[tuple[Named, ...], str]:
    """The days of a text, and what is left of it."""
    found = times(folded, at, tz)
    rest, cut = "", 0
    for one in found:
        rest, cut = f"{rest}{folded[cut : one.start]}\t", one.end
    return found, rest + folded[cut:]


@lru_cache(maxsize=4096)
def _stems(folded: str) -> frozenset[str]:
    return frozenset(stem(word)[:_PREFIX] for word in _LATIN.findall(folded))


@lru_cache(maxsize=4096)
def terms(folded: str) -> tuple[str, ...]:
    """The telling words of a folded text without relatives and figures: stems of Latin ones, the dictionary's."""
    return tuple(dict.fromkeys(_terms(folded)))


def _terms(folded: str) -> Iterator[str]:
    for run, word in runs(folded):
        root = stem(word)
        if word and not (VOCABULARY.plain & {word, root} or word[0].isdigit() or root in VOCABULARY.alike):
            yield root[:_PREFIX]
        for one in words(run) if run else ():
            if one not in VOCABULARY.alike and not _PLAIN.issuperset(one) and one not in _PLAIN and (
                not _FIGURES.issuperset(one)
            ):  # fmt: skip
                yield one


def counted(folded: str) -> Iterator[tuple[str, str]]:
    """The numbers with what they count: (5, 天), (7, lb)."""
    for found in _COUNTED.finditer(folded):
        for number in numbers(f"{found[1]}个", all_of_them=False):
            yield number, stem(found[2])


def _units(folded: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for number, unit in counted(folded):
        found.setdefault(unit, set()).add(number)
    return found


@dataclass(frozen=True, slots=True)
class Claim:
    """A clause of a statement, folded and without the names of those who talk; `who` are rows of the relatives that it
    is about, None where that is open, none of its owner; `named` are all that it names."""

    folded: str
    at: int
    tz: tzinfo
    who: frozenset[int] | None
    named: frozenset[int]

    def wrong(self, sources: Sequence[Told], about: str) -> Wrong | None:
        """What of it was not said so."""
        days, rest = undated(self.folded, self.at, self.tz)
        wanted, figures = terms(rest), numbers(rest, all_of_them=False)
        shares = [
            frozenset((*(term for term in wanted if one.says(term)), *(f"#{n}" for n in figures & one.figures),
                       *(f"@{n}" for n, day in enumerate(days) if any(same_time(day, other) for other in one.days))))
            for one in sources
        ]  # fmt: skip
        most = max(map(len, shares), default=0)
        core = [one for one, share in zip(sources, shares, strict=True) if most and len(share) == most]
        fits = [one for one in core if self._fits(one)]
        if self._of_others(wanted, figures, sources) or (core and not fits and most > 1):
            return "whose"
        if self._denial(wanted, fits):
            return "denial"
        if self._turned(sources) or self._other_unit(rest, core):
            return "mixed"
        said = f"{self.folded} {about}"
        if self._crossed(sources, shares, said, days) or (
            fits and all(self._replaced(one, said, days, figures, sources) or self._reversed(one) for one in fits)
        ):
            return "mixed"
        return None

    def _denial(self, wanted: Sequence[str], fits: Sequence[Told]) -> bool:
        """Whether the clauses that say most of it say the contrary."""
        ended = VOCABULARY.patterns["ended"]
        claimed = poles(self.folded, told=True) | ({True, False} if ended.search(self.folded) else set())
        own = self.who is not None and not self.who and not _REPORTS.search(self.folded)
        near = [
            one for one in fits for shared in (sum(one.says(term, plainly=True) for term in wanted),)
            if (2 * shared > len(wanted) or shared > 1) and 2 * shared >= max(len(wanted), len(one.terms))
        ]  # fmt: skip
        return bool(near) and all(
            one.part.firm and claimed.isdisjoint({True} if own and one.part.refused else poles(one.part.folded))
            for one in near
        )

    def _reversed(self, one: Told) -> bool:
        """Whether it tells figures and names of a clause in the other order, from 8.1 to 6.9, or puts somebody on the
        other side of what is done between two: who lent, who owes."""
        texts = self.folded, one.part.folded
        for verb in (verb.group() for verb in _BETWEEN.finditer(self.folded)):
            root = verb if verb[0] > "㐀" else verb[:3]
            for word in evidence.relatives(self.folded) & evidence.relatives(one.part.folded):
                if (
                    all(root in text for text in texts)
                    and len({text.find(word) < text.find(root) for text in texts}) > 1
                ):
                    return True
        marks = [mark for mark in dict.fromkeys((*_DIGITS.findall(one.part.folded), *one.names)) if mark in self.folded]
        here, there = sorted(marks, key=self.folded.find), sorted(marks, key=one.part.folded.find)
        return len(marks) > 1 and here == there[::-1]

    def _turned(self, sources: Sequence[Told]) -> bool:
        """Whether it says a word that nobody said, whose opposite was said: 买 for 卖, lowered for raised."""
        heard = " ".join(one.part.folded for one in sources)
        there, mine = _stems(heard), _stems(self.folded)

        def says(word: str, text: str, stems: frozenset[str]) -> bool:
            return stem(word)[:_PREFIX] in stems if word.isascii() else word in text

        return any(
            says(mine_, self.folded, mine) and not says(mine_, heard, there) and says(theirs, heard, there)
            for row in VOCABULARY.opposites for mine_, theirs in (row, row[::-1])
        )  # fmt: skip

    def _other_unit(self, rest: str, core: Sequence[Told]) -> bool:
        """Whether it counts another number of something than the clauses that say most of it."""
        mine = counted(rest)
        return bool(core) and all(
            any(unit in units and number not in units[unit] for number, unit in mine)
            for one in core for units in (_units(one.part.folded),)
        )  # fmt: skip

    def _replaced(
        self, one: Told, said: str, days: Sequence[Named], figures: Iterable[str], sources: Sequence[Told]
    ) -> bool:
        """Whether it puts another day, figure or name in the place of that of a clause."""
        elsewhere = [other for other in sources if other.terms]
        if (
            days
            and one.days
            and not any(same_time(day, other) for day in days for other in one.days)
            and any(same_time(day, other) for there in elsewhere for day in days for other in there.days)
        ):
            return True
        there = numbers(said, all_of_them=True)
        if one.strict and not one.strict & there and any(n in other.figures for other in elsewhere for n in figures):
            return True
        names = frozenset(name for other in sources for name in other.names)
        return any(name in said and name not in one.part.folded for name in names) and any(
            name not in said for name in one.names
        )

    def _fits(self, one: Told) -> bool:
        """Whether a clause may be of whom the claim is about."""
        part, rows = one.part, one.rows
        if part.subject == "you":
            return False
        if self.who is None or rows & self.named:
            return True
        if not self.who and _REPORTS.search(self.folded) and evidence.reported(part.folded):
            return False
        if self.who:
            return part.subject == "" or (part.subject == "other" and not rows)
        if part.subject != "other" or not evidence.relative(part.who) or evidence.shown(part.who) in self.folded:
            return True
        return _ME.search(part.folded.replace(part.who, "")) is not None

    def _of_others(self, wanted: Iterable[str], figures: Iterable[str], sources: Sequence[Told]) -> bool:
        """Whether it says a word or a figure that was only said of others."""
        for term in (*wanted, *figures):
            saying = [one for one in sources if term in one.strict or (
                len(term) > 1 and not term.isdigit() and one.says(term, plainly=True))]  # fmt: skip
            if saying and not any(self._fits(one) for one in saying):
                return True
        return False

    def _crossed(
        self, sources: Sequence[Told], shares: Sequence[frozenset[str]], said: str, days: Sequence[Named]
    ) -> bool:
        left, used = frozenset[str]().union(*shares), list[int]()
        while left:
            best = max(range(len(sources)), key=lambda n: (len(left & shares[n]), len(shares[n])))
            used.append(best)
            left -= shares[best]
        over = {n: self._left_out(sources[n], said, days) for n in used}
        return any(
            over[a] and over[b] and not shares[a] & shares[b]
            and sources[a].part.line == sources[b].part.line
            for place, a in enumerate(used) for b in used[place + 1 :]
        )  # fmt: skip

    def _left_out(self, one: Told, said: str, days: Sequence[Named]) -> bool:
        """Whether a clause says more than the claim does."""
        stems, there = _stems(said), numbers(said, all_of_them=True)
        return (
            any(term not in stems if term[0] < "㐀" else not any(c in said and c not in _PLAIN for c in term)
                for term in one.terms)
            or bool(one.strict - there)
            or bool(one.days and not any(same_time(a, b) for a in days for b in one.days))
        )  # fmt: skip


def bound(
    text: str, about: str, sources: Sequence[Told], people: Sequence[str], at: int, tz: tzinfo
) -> tuple[Wrong, str] | None:
    """What of a folded text was not said together in clauses of one person, or of others; `people` are who talks."""
    who: frozenset[int] | None = None if evidence.without_kin(about) else evidence.kin(about)
    named = evidence.kin(about)
    for claim in evidence.clauses_of(text):
        name = next((name for name in people if claim.startswith(name)), "")
        named |= (rows := evidence.kin(claim))
        rest = claim.removeprefix(name).strip()
        if name and not _OF.match(rest) and evidence.subject_of(rest)[0] != "other":
            who = frozenset()
        elif rows or name:
            who = rows or None
        elif who or evidence.points(claim):
            who = None
        bare = re.sub("|".join(map(re.escape, people)) or "(?!)", " ", claim)
        if wrong := Claim(bare, at, tz, who, named).wrong(sources, about):
            return wrong, claim[:20]
    return None
