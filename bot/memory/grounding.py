"""Whether a statement or a task that a model found in a talk stands in what its person said, clause by clause.

Pure: by words (evidence.py), never by meaning. Summaries and notes are checked as a whole (screening.py).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Literal

from bot.memory import evidence
from bot.memory.digest_answer import Item
from bot.memory.evidence import (
    MEASURE,
    VOCABULARY,
    Heard,
    Part,
    clauses_of,
    denied,
    folded_plain,
    numbers,
    parts_of,
    points,
    subject_of,
)
from bot.memory.minutes import DigestLine, Scope, forgets, played, was_forgotten, words_of
from bot.memory.screening import harmless
from bot.text.calendar import Days, Named
from bot.text.dated import checked_when, when_in
from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.text.spans import named
from bot.text.tokens import runs
from bot.types.when import When

Reason = Literal[
    "lines", "owner", "empty", "harm", "forgotten", "words", "number", "day", "when", "about", "whose", "denial",
    "hedge", "plan", "former", "done",
]  # fmt: skip
"""Why an item is refused: it cites no such lines, or those of several; it says nothing, or is made to work on a
program; it was to be forgotten; a word, number or day was not said, or `when`; nobody named whom it is about; it was
said of somebody else, of the contrary, with doubt, as a plan, of the past; or it is over."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an item is refused, and the words that are meant, if any."""

    reason: Reason
    words: str = ""


@dataclass(frozen=True, slots=True)
class Grounded:
    """An item that stands: whose it is, the lines it cites, whom it is about ("" = its owner) and when that is."""

    owner: int
    cited: tuple[DigestLine, ...]
    subject: str
    when: When | None


class Grounds:
    """A talk, as what a model says of it is checked against it."""

    def __init__(self, lines: tuple[DigestLine, ...], scope: Scope, known: Mapping[int, tuple[str, ...]]) -> None:
        """`known` are texts that each person's present facts hold: names in them need not be said again."""
        self._lines = {line.number: line for line in lines}
        self._scope, self._known = scope, known
        self._gone = forgets(lines)
        self.told = words_of(lines, scope.bot_name, scope.screened)
        play = played(lines)
        self._own = {line.number: words for line, words in self.told if words and line.number not in play}
        self._parts = {number: parts_of(number, words) for number, words in self._own.items()}
        self._loose = frozenset(self._corrected())
        self._called = {
            word.lower() for _, words in self.told for word in re.findall(r"(?<![.!?] )(?<!^)\b[A-Z][a-z-]+", words)
        } | {fold(line.name) for line in lines if not line.is_bot}

    def _corrected(self) -> Iterator[int]:
        """The lines whose figures and days the same person puts right in their next one."""
        last: dict[int | None, int] = {}
        for line, words in self.told:
            folded = folded_plain(words)
            before = last.get(line.person_id)
            if (
                before is not None
                and _PATTERNS["corrects"].search(folded)
                and re.search(r"\d|[一二三四五六七八九十]|day\b", folded)
            ):
                yield before
            last[line.person_id] = line.number

    def check(self, item: Item) -> Grounded | Refusal:
        """Whether an item stands in what its one speaker said."""
        cited = tuple(self._lines[number] for number in item.cited if number in self._lines)
        if not cited or len(cited) < len(item.cited):
            return Refusal("lines")
        owners = {line.person_id for line in cited}
        owner = next(iter(owners))
        if len(owners) > 1 or owner is None or any(line.is_bot or line.number not in self._own for line in cited):
            return Refusal("owner")
        if not harmless(item.text, self._scope.screened):
            return Refusal("harm")
        if any(was_forgotten(item.text, line, self._gone) for line in cited):
            return Refusal("forgotten")
        return _Case(self, item, owner, cited).judged()

    def before(self, owner: int, cited: tuple[DigestLine, ...]) -> tuple[DigestLine, ...]:
        """What that person said up to the last of these lines, these apart."""
        last, numbers = max(line.number for line in cited), {line.number for line in cited}
        return tuple(
            line for line, _ in self.told
            if line.person_id == owner and line.number < last and line.number in self._own
            and line.number not in numbers
        )  # fmt: skip

    def after(self, owner: int, number: int) -> tuple[Part, ...]:
        """What that person said later, clause by clause."""
        return tuple(
            part for line, _ in self.told if line.person_id == owner and line.number > number
            for part in self._parts.get(line.number, ())
        )  # fmt: skip

    def parts(self, lines: tuple[DigestLine, ...]) -> tuple[Part, ...]:
        """The clauses of these lines."""
        return tuple(part for line in lines for part in self._parts.get(line.number, ()))

    def words(self, lines: tuple[DigestLine, ...]) -> tuple[tuple[str, int], ...]:
        """The own words of these lines with when they were said, where nobody put their days right later."""
        return tuple(
            ("\n".join(part.folded for part in self._parts[line.number] if part.firm), line.at)
            for line in lines if line.number not in self._loose
        )  # fmt: skip

    def firm(self, part: Part) -> bool:
        """Whether figures and days of a clause hold."""
        return part.firm and part.line not in self._loose

    def is_name(self, words: str, owner: int) -> bool:
        """Whether these words only name the person themselves."""
        own = {fold(line.name) for line, _ in self.told if line.person_id == owner}
        return fold(words).strip() in own | _SELF

    def is_called(self, word: str) -> bool:
        """Whether a Latin word is written like a name somewhere."""
        return word in self._called

    def own_names(self, owner: int) -> tuple[str, ...]:
        """What that person is called in the talk, folded, the longest first."""
        own = {fold(line.name) for line, _ in self.told if line.person_id == owner}
        return tuple(sorted(own, key=len, reverse=True))

    def known(self, owner: int) -> tuple[str, ...]:
        """What is known of that person, folded."""
        return tuple(folded_plain(text) for text in self._known.get(owner, ()))

    @property
    def tz(self) -> tzinfo:
        """The zone in which days are meant."""
        return self._scope.tz

    def zone(self, owner: int) -> tzinfo:
        """The zone in which that person means days."""
        return self._scope.zones.get(owner, self._scope.tz)


def stands(text: str, said: Sequence[tuple[str, int]], scope: Scope, known: str = "") -> int | None:
    """The place of the line, of these that one person wrote (with their time, ms), that a text rests on: its words,
    numbers, days and denials stand in them, with what is `known` already; something of it is new. None: it does not.
    """
    person = scope.owner_id or 0
    lines = tuple(DigestLine(n, n, person, "", words, at, False) for n, (words, at) in enumerate(said, 1))
    whole = (DigestLine(0, 0, person, "", known, lines[0].at, False), *lines) if known and lines else lines
    new = evidence.terms(folded_plain(text)) - evidence.terms(folded_plain(known))
    for tried in (lines, whole):
        cited = tuple(line.number for line in tried)
        item = Item("statements", 1, text, cited)
        if not tried or isinstance(Grounds(tried, scope, {}).check(item), Refusal):
            continue
        carrying = [line.number for line in lines if new & evidence.terms(folded_plain(line.text))]
        if carrying:
            return carrying[-1] - 1
    return None


class _Case:
    """One item beside what its speaker said."""

    def __init__(self, grounds: Grounds, item: Item, owner: int, cited: tuple[DigestLine, ...]) -> None:
        self._grounds, self._item, self._owner, self._cited = grounds, item, owner, cited
        self._task = item.section in ("tasks", "promises")
        self._tz = grounds.zone(owner) if self._task else grounds.tz
        prior = grounds.before(owner, cited)
        self._here, self._all = grounds.parts(cited), grounds.parts((*prior, *cited))
        words, earlier = grounds.words(cited), grounds.words(prior)
        self._dated = words if any(_times(text, at, self._tz) for text, at in words) else (*words, *earlier)
        self._text = _AS.sub("is", self._nameless(folded_plain(item.text)))

    def _nameless(self, folded: str) -> str:
        """The text with "i", "my" or 我 for the person's own name."""
        for name in self._grounds.own_names(self._owner):
            if not name:
                continue
            edge = (r"(?<![a-z0-9])", r"(?![a-z0-9])") if name.isascii() else ("", "")
            folded = re.sub(rf"{edge[0]}{re.escape(name)}{edge[1]}(?P<of>'s|的)?", _myself, folded)
        return folded

    def judged(self) -> Grounded | Refusal:
        """What stands of it, or the first thing that does not."""
        if not self._here:
            return Refusal("words")
        subject = self._subject()
        if isinstance(subject, Refusal):
            return subject
        when = self._when()
        if isinstance(when, Refusal):
            return when
        text = self._dayless(self._text)
        if text is None:
            return Refusal("day")
        wrong = self._foreign(text) or self._clauses(text, subject, when)
        if wrong:
            return wrong
        if self._task and (self._over(text) or _DONE.search(text)):
            return Refusal("done")
        return Grounded(self._owner, self._cited, subject, when)

    # -- whom it is about ----------------------------------------------------------------------------------------------

    def _subject(self) -> str | Refusal:
        about = self._item.about.strip()
        if not about or self._grounds.is_name(about, self._owner) or self._task:
            kind, who = subject_of(self._text.strip())
            return _bare(who) if kind == "other" and not points(who) else ""
        said = Heard((*(part.folded for part in self._all), *self._grounds.known(self._owner)))
        strange = said.foreign(self._nameless(folded_plain(about)))
        bare = _bare_kin(folded_plain(about))
        if strange or not harmless(about) or (bare and bare.isdisjoint(_rows(said.text))):
            return Refusal("about", " ".join(strange))
        return about

    # -- when ----------------------------------------------------------------------------------------------------------

    def _when(self) -> When | Refusal | None:
        """The day that the model names, if the lines do; else the one that the statement's own words name."""
        item = self._item
        if not item.when:
            return when_in(item.text, self._cited[-1].at, self._tz) if _times(
                item.text, self._cited[-1].at, self._tz
            ) else None  # fmt: skip
        found = checked_when(item.when, self._dated, self._tz)
        if found is None:
            return Refusal("when", item.when)
        there = [one for text, at in self._dated for one in _times(text, at, self._tz)]
        day = local_day(found.at, self._tz)
        if found.precision in ("day", "time") and not found.yearly and there:
            loose = not any(_covers(one, day) for one in there)
            if loose and not any(_PATTERNS["today"].search(folded_plain(text)) for text, _ in self._dated):
                return Refusal("when", item.when)
        own = _times(item.text, self._cited[-1].at, self._tz)
        if own and not found.yearly and not any(_covers(one, day) or _within(one, found, self._tz) for one in own):
            return Refusal("when", item.when)
        if not own and not found.yearly and len({one.choices for one in there}) > 1:
            near = [one for part in self._nearest(evidence.terms(self._text)) for one in self._times_of(part)]
            if near and not any(_covers(one, day) or _within(one, found, self._tz) for one in near):
                return Refusal("when", item.when)
        return found

    def _times_of(self, part: Part) -> list[Named]:
        at = next((line.at for line in (*self._cited, *self._grounds.before(self._owner, self._cited))
                   if line.number == part.line), self._cited[-1].at)  # fmt: skip
        return _times(part.sentence, at, self._tz)

    def _dayless(self, folded: str) -> str | None:
        """The text without the days that it names; None when the lines do not name one of them."""
        at = self._cited[-1].at
        there = [one for text, said in self._dated for one in _times(text, said, self._tz)]
        rest, cut = "", 0
        for one in named(folded, local_day(at, self._tz)):
            if not any(_same(one, other) for other in there):
                said_then = any(
                    _covers(one, local_day(said, self._tz)) for text, said in self._dated
                    if not _times(text, said, self._tz) or _PATTERNS["today"].search(folded_plain(text))
                )  # fmt: skip
                ahead = self._item.when and _covers_when(one, self._item.when)
                if not said_then and not ahead:
                    return None
            rest, cut = f"{rest}{folded[cut : one.start]}\t", one.end
        return rest + folded[cut:]

    # -- what it says --------------------------------------------------------------------------------------------------

    def _wrong_number(self, claim: str, best: tuple[Part, ...]) -> Refusal | None:
        """The numbers of a clause that neither the cited lines nor the line of its words name."""
        lines = {line.number for line in self._cited} | {part.line for part in best}
        there = {
            number
            for part in self._all
            if part.line in lines and self._grounds.firm(part)
            for number in numbers(part.folded, all_of_them=True)
        }
        strange = [one for one in numbers(claim, all_of_them=False) if one not in there]
        return Refusal("number", " ".join(sorted(strange))) if strange else None

    def _foreign(self, text: str) -> Refusal | None:
        said = Heard((*(part.folded for part in self._all), *self._names()))
        strange = said.foreign(_NUMBERS.sub(" ", text))
        return Refusal("words", " ".join(strange[:4])) if strange else None

    def _names(self) -> tuple[str, ...]:
        """Names that may be put for a pronoun: what is known of the person, where it is about another."""
        about = folded_plain(self._item.about)
        return tuple(fact for fact in self._grounds.known(self._owner) if about and about in fact) and (about,)

    def _nearest(self, wanted: frozenset[str]) -> tuple[Part, ...]:
        """The clauses that share most with what is looked for, those of the cited lines before others."""
        best: list[Part] = []
        for parts in (self._here, self._all):
            most = max((len(wanted & part.terms) for part in parts), default=0)
            if most and (not best or most > len(wanted & best[0].terms) + 1):
                best = [part for part in parts if len(wanted & part.terms) == most]
        return tuple(best)

    def _clauses(self, text: str, subject: str, when: When | None) -> Refusal | None:
        claims = [claim for claim in clauses_of(text) if evidence.terms(claim) or numbers(claim, all_of_them=False)]
        if not claims:
            claims = [text] if self._plainly(text) else []
        if not claims:
            return Refusal("empty")
        before = ("", "")
        for claim in claims:
            whose = self._claimed(claim, subject)
            whose = whose if whose[0] or before[0] == "self" else before
            before = whose
            wanted = evidence.terms(claim)
            said_of = evidence.terms(f"{whose[1]} {folded_plain(self._item.about)}")
            over = frozenset(term for found in _PATTERNS["ended"].finditer(claim) for term in evidence.terms(found[0]))
            own = frozenset(term for term in wanted - said_of - over if term[0] != "=")
            best = self._nearest(own) or self._nearest(wanted) or (self._here if not wanted else ())
            if not best or not self._together(wanted - said_of, best):
                return Refusal("words", claim[:20])
            if not whose[0] and not self._on_topic(claim, best):
                return Refusal("whose", claim[:20])
            if wrong := self._wrong_number(claim, best):
                return wrong
            wrongs = [self._wrong(claim, text, part, whose, subject, when) for part in best]
            if all(wrongs):
                return Refusal(wrongs[0]) if wrongs[0] else None
        return None

    def _claimed(self, claim: str, subject: str) -> tuple[str, str]:
        """Whom a clause of the statement is about: ("self" | "other" | "", the words for the other)."""
        kind, who = subject_of(claim)
        about = _bare(folded_plain(self._item.about or subject))
        first = claim.strip(" ,.。").removeprefix("her ").removeprefix("his ").removeprefix("their ")
        if kind == "self" and not who and not self._task:
            return "self", ""
        if who and points(who) and not self._item.about:
            return "any", ""
        if who:
            owned = re.match(rf"{re.escape(who)}'s ([a-z]+)", first) if who.isascii() else None
            return "other", about if points(who) else f"{_bare(who)} {owned[1]}" if owned else _bare(who)
        if about and any(first.startswith(word) for word in (about, *about.split()) if word):
            return "other", about
        named = re.match(r"([a-z][a-z-]+)(?:'s)? ", first)
        if named and re.search(rf"\b{named[1].capitalize()}\b", self._item.text) and self._grounds.is_called(named[1]):
            return "other", named[1]
        return "", ""

    def _together(self, wanted: frozenset[str], best: tuple[Part, ...]) -> bool:
        """Whether one line holds most of what the lines together hold of a clause."""
        lines = {part.line for part in self._all}
        by_line = {line: _all_terms(part for part in self._all if part.line == line) for line in lines}
        union = frozenset(term for found in by_line.values() for term in found if term[0] != "=") & wanted
        most = max((len(by_line[part.line] & wanted) for part in best), default=0)
        return most >= TOGETHER * len(union)

    def _on_topic(self, claim: str, best: tuple[Part, ...]) -> bool:
        """Whether the first telling word of a clause stands in the line of its other words, or a pronoun for it."""
        for run, word in runs(claim):
            first = word or run[:2]
            if not evidence.terms(first) or (run and run[0] in "我他她它"):
                continue
            for part in best:
                line = "\n".join(one.folded for one in self._all if one.line == part.line)
                there = (
                    any(char in line for char in first) if run else bool(evidence.terms(first) & evidence.terms(line))
                )
                if there or points(part.folded) or part.who:
                    return True
            return False
        return True

    def _plainly(self, text: str) -> bool:
        """Whether a text of nothing but plain words was said as it stands."""
        words = text.strip(" ,.。")
        return len(words) > 3 and any(words in part.folded for part in self._here)

    def _wrong(
        self, claim: str, text: str, part: Part, whose: tuple[str, str], subject: str, when: When | None
    ) -> Reason | None:
        heard = part.folded
        if self._task:
            heard = _PATTERNS["undone"].sub(" ", heard)
        if denied(heard) != denied(claim):
            return "denial"
        if part.hedged and (self._task or not _PATTERNS["hedge"].search(text)):
            return "hedge"
        ahead = when is not None and when.at > self._cited[-1].at
        if part.planned and not (self._task or ahead or _PATTERNS["plan"].search(text)):
            return "plan"
        if part.formerly and not _PATTERNS["former"].search(text):
            return "former"
        if _turned(claim, part.folded):
            return "denial"
        there = _units(part.sentence)
        measured = {unit for _, unit in there}
        if any(pair not in there and (pair[1] in measured or pair[0] in {one for one, _ in there})
               for pair in _units(claim)):  # fmt: skip
            return "number"
        return self._whose(claim, text, part, whose, subject)

    def _whose(self, claim: str, text: str, part: Part, whose: tuple[str, str], subject: str) -> Reason | None:
        """Whether a clause is said of whom the person said it of."""
        if part.subject == "you":
            return "whose"
        kind, who = whose
        if self._task:
            return "whose" if part.subject == "other" or kind == "other" else None
        about = folded_plain(f"{who} {subject} {self._item.about}")
        if part.subject == "other":
            if points(part.who):
                return "whose" if kind == "self" else None if (about.strip() or self._tells_whom(text)) else "whose"
            return None if _same_one(part.who, claim if kind == "self" else f"{about} {text}") else "whose"
        if kind == "other" and not points(part.folded) and not _same_one(who, part.folded):
            return None if part.who and _same_one(part.who, about) else "whose"
        if kind == "other" and part.subject == "self" and not part.who and not _HAS.search(part.folded):
            return "whose" if not self._item.about or _DEALS.search(part.folded) else None
        return None

    def _tells_whom(self, text: str) -> bool:
        return bool(_rows(text) & _KIN_ROWS) or points(text)

    def _over(self, text: str) -> bool:
        """Whether the person said later that it is done or off."""
        wanted = evidence.terms(text)
        for part in self._grounds.after(self._owner, self._cited[-1].number):
            if not part.hedged and not part.planned and ends(part, wanted, MOST_SHARED):
                return True
        return False


def _myself(found: re.Match[str]) -> str:
    """i or my in English, 我 or 我的 beside Chinese."""
    beside = found.string[max(0, found.start() - 1) : found.end() + 1]
    if found["of"] == "'s":
        return "my"
    if found["of"] == "的" or re.search("[一-鿿]", beside.replace(found[0], "") or found[0]):
        return f"我{found['of'] or ''}"
    return "i"


TOGETHER = 0.6
"""Share of what all lines hold of a clause that one line must hold: what is put together from two was not said."""

MOST_SHARED = 0.5
"""So much of a task must stand in the clause that says it is over; a clause of nothing else needs none of it."""

_PATTERNS = VOCABULARY.patterns
_SELF = frozenset(
    ("", "user", "用户", "本人", "自己", "self", "我", "i", "me", "the user", "the person", "person", "他", "她", "himself",
     "herself", "themselves", "对方", "主人")
)  # fmt: skip
_NUMBERS = re.compile(rf"\d+(?:[.,:]\d+)*|[一二两三四五六七八九十百千万零]+(?=[{MEASURE}])")
_KIN_ROWS = frozenset(range(18))
"""The rows of grounding.toml that name relatives, partners, children and animals."""
_FROM = re.compile(r"(?:从|由|自|\bfrom )(?:the )?(\w{2})")
_TO = re.compile(r"(?:[到去往](?:了)?|\b(?:to|into) )(?:the )?(\w{2})")
_COUNTED = re.compile(
    r"(\d+(?:\.\d+)?|[一二两三四五六七八九十百千万]+|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b)[ -]?"
    r"(岁|天|周|年|个月|小时|分钟|公里|公斤|只|块|万|years?|months?|weeks?|days?|hours?|minutes?|km|kg|miles?)"
)
_DEALS = LazyPattern(
    r"答应|承诺|保证|借|欠|送|教|请|问|告诉|骂|推荐|付|约|\b(?:promis\w+|owe[sd]?|lent|lend|borrow\w*|gave|give|asked|told|taught|paid"
    r"|invited|bought|sent|hit)\b"
)
"""What goes from one to another: who is the one must be as it was said."""
_AS = re.compile(r"\bworks as\b|\bis working as\b")
_DONE = LazyPattern(r"[^,除为]了(?!解)|已经?|过了")
_HAS = LazyPattern(
    r"有|养|叫|是|收养|领养|生了|\b(?:have|has|had|got|adopt\w*|nam(?:ed|ing)|call\w*|named|is|are|with|meet|met|and)\b"
)
_ALONE = LazyPattern(
    "^(?:都|全|终于|已经|总算|我|它|这个|那个|刚刚?|,| )*(?:搞定|弄好|办好|做完|完成|交|写完|弄完|还|寄|买|付|办)(?:上去|出去)?了?[啦呀!~]*$"
    r"|^(?:all |it's |that's )?(?:done|sorted|finished)\W*$"
)


def ends(part: Part, wanted: frozenset[str], share: float) -> bool:
    """Whether a clause says that something with these terms is done or off."""
    if denied(_PATTERNS["failed"].sub(" ", part.folded)) or not (
        _PATTERNS["over"].search(part.folded) or _PATTERNS["failed"].search(part.folded)
    ):
        return False
    return bool(_ALONE.search(part.folded)) or len(wanted & part.terms) >= max(1, share * len(wanted))


def _bare(who: str) -> str:
    """The words for somebody without whose they are."""
    return re.sub(r"^(?:我(?:们?家?的?|那?个?|[养领]养?的?)?|(?:my|our|his|her|their|the|a|an) )", "", who).strip()


def _same_one(who: str, folded: str) -> bool:
    """Whether a text names somebody that these words are for."""
    rows = _rows(who) & _KIN_ROWS
    return (
        bool(_rows(folded) & rows if rows else evidence.terms(_bare(who)) & evidence.terms(folded))
        or _bare(who) in folded
    )


def _all_terms(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset(term for part in parts for term in part.terms)


def _turned(claim: str, heard: str) -> bool:
    """Whether a claim goes from where the words go to, or back."""
    return any(
        (ours := _roles(claim, mark)) and (theirs := _roles(heard, other)) and any(
            one[:2] == two[:2] for one in ours for two in theirs
        ) and not any(one[:2] == two[:2] for one in ours for two in _roles(heard, mark))
        for mark, other in ((_FROM, _TO), (_TO, _FROM))
    )  # fmt: skip


def _roles(folded: str, mark: re.Pattern[str]) -> list[str]:
    return [found[1] for found in mark.finditer(folded)]


def _units(folded: str) -> set[tuple[str, str]]:
    """The numbers with what they count, where that is a measure."""
    return {
        (number, found[2].rstrip("s")) for found in _COUNTED.finditer(folded)
        for number in numbers(f"{found[1]}个", all_of_them=False)
    }  # fmt: skip


def _rows(folded: str) -> frozenset[int]:
    return frozenset(int(term[1:]) for term in evidence.terms(folded) if term.startswith("="))


def _bare_kin(folded: str) -> frozenset[int]:
    return _rows(folded) & _KIN_ROWS


def _times(text: str, at: int, tz: tzinfo) -> list[Named]:
    return named(folded_plain(text), local_day(at, tz))


def _covers(one: Named, day: date) -> bool:
    return any(days.first <= day <= days.last for days in one.choices) or one.counted == day


def _within(one: Named, when: When, tz: tzinfo) -> bool:
    """Whether a month or year holds what was named."""
    day = local_day(when.at, tz)
    return when.precision in ("month", "year") and any(
        days.first.year == day.year and (when.precision == "year" or days.first.month == day.month)
        for days in one.choices
    )


def _covers_when(one: Named, when: str) -> bool:
    try:
        day = datetime.fromisoformat(when.strip()).date()
    except ValueError:
        return False
    return any(days.first == day == days.last for days in one.choices)


def _same(one: Named, other: Named) -> bool:
    """Whether what a statement names is what a line names, and not more exact."""
    return any(_overlap(mine, theirs) for mine in one.choices for theirs in other.choices)


def _overlap(mine: Days, theirs: Days) -> bool:
    meets = mine.first <= theirs.last and theirs.first <= mine.last
    return meets and (mine.last - mine.first) >= (theirs.last - theirs.first)
