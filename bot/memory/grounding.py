"""Whether a statement or a task that a model found in a talk may stand: rules that guard, none that judges meaning.

Whose words it rests on, and that its numbers, days, names, relatives and denials stand in them; that it adds little.
Pure; it may load a dictionary: in a thread. Summaries and notes are checked as a whole (screening.py).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from bot.memory import evidence
from bot.memory.confirmed import day_of, missing, shortened
from bot.memory.digest_answer import Item, Section
from bot.memory.evidence import (
    VOCABULARY,
    Part,
    asserts,
    clauses_of,
    denied,
    folded_plain,
    negated,
    novelty,
    numbers,
    points,
    poles,
)
from bot.memory.grounds import ASKED, Grounded, Grounds, Refusal
from bot.memory.minutes import DigestLine, Scope, was_forgotten
from bot.memory.saiddays import BESIDE_DAY, clocks, dayless, days_said, iso_day, times
from bot.memory.screening import harmless
from bot.text.dated import HALF_YEAR, checked_when, when_in
from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.when import When

NEWS, CLAUSE_NEWS, CLAUSE_LEAST, WHOLE_LEAST = 0.28, 0.6, 4, 2
"""The share of a statement's telling words that may be a model's own; of a clause's where they are so many; and how
many make a clause that is nothing else an invention."""

TOGETHER = 0.6
"""The share of what all lines hold of a clause that those it cites must hold."""

NEAR, SPOKEN, GAP = 5, 2, 4
"""So many lines before those it cites may name somebody that it names; and say what a promise is about; so far from
one another lines are of one matter."""

LEAST_CHARS = 4
"""A statement of nothing but plain words must be so long, and have been said as it stands."""

STRONG, SHARED, FEW = 0.5, 2, 3
"""A clause is that of a line when they share this part of its terms, and so many: then denial and doubt must agree. So
they must when they share all of them, and the line's clause has no more than a few."""

MOST_SHARED = 0.5
"""So much of a task must stand in the clause that says it is over; a clause of nothing else needs none of it."""


def check(grounds: Grounds, item: Item, *, sure: bool = False) -> Grounded | Refusal:
    """Whether an item stands in what its one speaker said.

    What a second look confirmed is `sure`: then it must stand in the talk, in whatever words (confirmed.py).
    """
    cited = tuple(grounds.by_number[number] for number in item.cited if number in grounds.by_number)
    if not cited or len(cited) < len(item.cited):
        return Refusal("lines")
    owner = grounds.owner(item, cited)
    if owner is None:
        return Refusal("owner")
    if not harmless(item.text, grounds.scope.screened):
        return Refusal("harm")
    if any(was_forgotten(item.text, line, grounds.gone) for line in cited):
        return Refusal("forgotten")
    own = tuple(line for line in cited if line.person_id == owner and line.number in grounds.own)
    return _confirmed(grounds, item, owner, own) if sure else _Case(grounds, item, owner, own, cited).judged()


def _confirmed(grounds: Grounds, item: Item, owner: int, own: tuple[DigestLine, ...]) -> Grounded | Refusal:
    """What must stand of an item that a second look found right."""
    task = item.section in ("tasks", "promises")
    here, at = grounds.parts(own), own[-1].at if own else 0
    if not here:
        return Refusal("words")
    if item.about.strip() and not harmless(item.about):
        return Refusal("about", item.about)
    first, last = min(line.number for line in own), max(line.number for line in own)
    near = [grounds.heard(line) for line in grounds.lines if first - NEAR <= line.number <= last]
    talk = grounds.talk((*map(grounds.plainly, own), *near), grounds.zone(owner, task=task))
    if gone := missing(item, talk, here, at):
        return Refusal(gone[0], gone[1])
    when = day_of(item, talk, at) if item.when else _Case(grounds, item, owner, own, own).when()
    themselves = folded_plain(item.about).strip() in _SELF | {fold(line.name) for line in own}
    return Grounded(owner, own, "" if task or themselves else item.about.strip(), when)


def stands(
    text: str, said: Sequence[tuple[str, int]], scope: Scope, known: str = "", section: Section = "statements", *,
    sure: bool = False,
) -> int | None:  # fmt: skip
    """The place of the line, of these that one person wrote (with their time, ms), that a text rests on: its numbers,
    days, names and denials stand in them, with what is `known` already; something of it is new. None: it does not. What
    turns the known into its contrary is of the very thing that the lines speak of. `sure`: other words are no fault.
    """
    person = scope.owner_id or 0
    lines = tuple(DigestLine(n, n, person, "", words, at, False) for n, (words, at) in enumerate(said, 1))
    whole = (DigestLine(0, 0, person, "", known, lines[0].at, False), *lines) if known and lines else lines
    if known and lines and evidence.turns(folded_plain(text), folded_plain(known)):
        heard = evidence.matters(folded_plain("\n".join(words for words, _ in said)))
        wanted = evidence.matters(folded_plain(text))
        if wanted - heard and heard - wanted - evidence.matters(folded_plain(known)):
            return None
    new = evidence.terms(folded_plain(text)) - evidence.terms(folded_plain(known))
    for tried in (lines, whole):
        item = Item(section, 1, text, tuple(line.number for line in tried))
        if not tried or isinstance(check(Grounds(tried, scope, {}), item, sure=sure), Refusal):
            continue
        carrying = [line.number for line in lines if new & evidence.terms(folded_plain(line.text))]
        if not new and folded_plain(text) != folded_plain(known):  # only a number or a day is another one
            fresh = numbers(folded_plain(text), all_of_them=True) - numbers(folded_plain(known), all_of_them=True)
            carrying = [
                line.number for line in lines
                if fresh & numbers(folded_plain(line.text), all_of_them=True) or times(line.text, line.at, scope.tz)
            ]  # fmt: skip
        if carrying:
            return carrying[-1] - 1
    return None


class _Case:
    """One item beside what its speaker said."""

    def __init__(
        self,
        grounds: Grounds,
        item: Item,
        owner: int,
        own: tuple[DigestLine, ...],
        cited: tuple[DigestLine, ...],
    ) -> None:
        self._grounds, self._item, self._owner, self._own = grounds, item, owner, own
        self._task = item.section in ("tasks", "promises")
        self._tz = grounds.zone(owner, task=self._task)
        self._lines = grounds.before(owner, own)
        self._here, self._all = grounds.parts(own), grounds.parts(self._lines)
        self._text = folded_plain(item.text)
        # She, or wife and I: whom they speak of the model knows from other lines.
        self._pointed = not evidence.kin("\n".join(part.folded for part in self._here))
        moved = _PATTERNS["moved"].search(self._text) or _PATTERNS["former"].search(self._text)
        mine = grounds.dated(self._lines, all_of_them=moved is not None)
        first, last = min(line.number for line in cited), max(line.number for line in cited)
        others = grounds.dated(
            (line for line in grounds.lines if line.number <= last and line.person_id != owner and not line.is_bot),
            all_of_them=False,
        )
        self._dated, self._elsewhere = (*mine, *others), others
        self._cited = (
            *mine, *grounds.dated((line for line in cited if line.person_id != owner), all_of_them=False)
        )  # fmt: skip
        # What was asked just there is what a short answer means, and what was spoken of what a promise does; names of
        # those who talk are no news.
        near = [line for line in grounds.lines if first - NEAR <= line.number <= last and not line.forwarded]
        self._beside = [
            text for line in near
            for asked, text in (self._spoken(line),)
            if (line.number >= first - 1 and asked)
            or (self._task and not line.is_bot and line.number >= first - SPOKEN)
        ]  # fmt: skip
        self._near = "\n".join(text for line in near for _, text in (self._spoken(line),))
        self._said = folded_plain(
            "\n".join((*(grounds.own[line.number] for line in self._lines), *grounds.known(owner)))
        )
        self._heard = "\n".join((self._said, *self._beside, folded_plain("\n".join(grounds.names()))))

    def _spoken(self, line: DigestLine) -> tuple[bool, str]:
        """Whether a line asks something, and what it says, folded; of a statement of people without what they quote."""
        words = line.text if line.is_bot else self._grounds.own.get(line.number, "")
        asks = ASKED.search(words) is not None
        return asks, folded_plain(words) if asks or line.is_bot else "\n".join(
            part.folded for part in self._grounds.parts((line,))
        )

    def judged(self) -> Grounded | Refusal:
        """What stands of it, or the first thing that does not."""
        if not self._here:
            return Refusal("words")
        about = self._subject()
        if isinstance(about, Refusal):
            return about
        text = dayless(self._text, self._cited, self._elsewhere, self._own[-1].at, self._tz)
        if text is None:
            return Refusal("day")
        wrong = self._number(text) or self._names() or self._news(text) or self._clauses(text, about)
        if wrong:
            return wrong
        if self._task and (self._over(text) or _PATTERNS["past"].search(text)):
            return Refusal("done")
        when = self.when()
        if self._item.when and when is None:
            return Refusal("day", self._item.when)
        return Grounded(self._owner, self._own, about, when)

    # -- whom it is about ----------------------------------------------------------------------------------------------

    def _subject(self) -> str | Refusal:
        about, folded = self._item.about.strip(), folded_plain(self._item.about).strip()
        own = {fold(line.name) for line in self._own}
        if not about or self._task or folded in own | _SELF:
            return ""
        rows, bare = evidence.kin(folded), evidence.without_kin(folded)
        named = bool(bare) and any(
            word in self._heard or (word[-2:] in self._heard and not word.isascii())
            for word in re.findall(r"[a-z]{2,}|[㐀-鿿]{2,}", bare) or (bare,)
        )
        kin = evidence.kin(self._heard)
        there = bool(rows & kin) or (not bare and (self._others() or (bool(kin) and self._pointed)))
        if not harmless(about) or not (there or named):
            return Refusal("about", about)
        return about

    def _others(self) -> bool:
        """Whether the person speaks of somebody else at all."""
        return any(part.subject == "other" for part in self._all) or points(
            "\n".join(part.folded for part in self._here)
        )

    # -- when ----------------------------------------------------------------------------------------------------------

    def when(self) -> When | None:
        """The day that the model names, if the lines do; else the one that the statement's own words name."""
        item, at = self._item, self._own[-1].at
        if item.when:
            found = checked_when(item.when, self._dated, self._tz)
            own = when_in(item.text, at, self._tz)
            days = ("day", "time")
            if (
                found and own and found.precision in days and own.precision in days and not (found.yearly or own.yearly)
                and checked_when(item.when, ((item.text, at),), self._tz) is None
            ):  # fmt: skip
                return own
            if found is not None:
                return found
            said = iso_day(item.when)
            if said is not None and said in days_said(self._dated, self._tz):
                start = datetime(said.year, said.month, said.day, tzinfo=self._tz)
                return When(round(start.timestamp() * 1000), "day")
            return None
        found = when_in(item.text, at, self._tz) if times(item.text, at, self._tz) else None
        there = (when_in(part.folded, at, self._tz) for part in self._here) if found else ()
        # 搬来的: which year it was the line's words tell.
        return next((one for one in there if one and found and one.precision == found.precision
                     and one.at != found.at and self._day_of(one) == self._day_of(found)), found)  # fmt: skip

    def _day_of(self, when: When) -> str:
        """Its month and day."""
        return local_day(when.at, self._tz).isoformat()[4:]

    # -- what it says --------------------------------------------------------------------------------------------------

    def _number(self, text: str) -> Refusal | None:
        there = {
            number for words, _ in (*self._cited, *((one, 0) for one in self._grounds.known(self._owner)))
            for number in numbers(words, all_of_them=True)
        } | {number for words in self._beside for number in numbers(words, all_of_them=True)}  # fmt: skip
        days = {day for words, at in self._dated for one in times(words, at, self._tz) for stretch in one.choices
                for day in (stretch.first, stretch.last)
                if abs((day - local_day(at, self._tz)).days) < HALF_YEAR}  # fmt: skip
        there |= {str(day.year) for day in days}
        there |= set(BESIDE_DAY.findall(text)) & {str(day.day) for day in days}  # the 16th or 17th, for tomorrow
        strange = [one for one in numbers(text, all_of_them=False) if one not in there]
        if strange:
            return Refusal("number", " ".join(sorted(strange)))
        hours, said = clocks(self._text), frozenset[tuple[int, int]]().union(
            *(clocks(words) for words in (*(words for words, _ in self._cited), *self._beside)))  # fmt: skip
        there |= {str(hour) for hour, _ in said}
        return Refusal("number", self._item.text[:20]) if said and any(
            clock not in said and str(clock[0]) not in there for clock in hours) else None  # fmt: skip

    def _names(self) -> Refusal | None:
        about = folded_plain(self._item.about)
        strange = [name for name in evidence.names(self._grounds.nameless(self._item.text))
                   if name not in self._heard and name not in self._near and name not in about
                   and not shortened(name, self._heard)]  # fmt: skip
        return Refusal("words", " ".join(strange[:4])) if strange else None

    def _news(self, text: str) -> Refusal | None:
        heard = f"{self._heard}\n{folded_plain(self._item.about)}"
        text = self._grounds.nameless(text)
        if self._pointed:
            text = evidence.without_kin(text)
        if self._item.section == "moods":  # how somebody feels is the model's to say, why is theirs
            feelings = sorted((*VOCABULARY.feelings, folded_plain(self._item.tag)), key=len, reverse=True)
            text = re.sub("|".join(re.escape(word) for word in feelings if word), " ", text)
        share, words = novelty(text, heard)
        if share > NEWS or (share == NEWS and len(words) < WHOLE_LEAST):
            return Refusal("words", " ".join(words[:4]))
        for claim in clauses_of(text):
            share, words = novelty(claim, heard)
            least = WHOLE_LEAST if share == 1 else CLAUSE_LEAST if share >= CLAUSE_NEWS else 0
            if least and sum(1 + word.isascii() for word in words) >= least:
                return Refusal("words", " ".join(words[:4]))
        return None

    def _clauses(self, text: str, about: str) -> Refusal | None:
        """Where a clause is plainly that of a line, denial, doubt and whom it is said of must be the line's."""
        telling = [claim for claim in clauses_of(text) if evidence.terms(claim)]
        bare = self._grounds.nameless(text)
        if not evidence.terms(bare) and not numbers(bare, all_of_them=False):
            said = bare.strip(" ,.。")
            if (len(said) < LEAST_CHARS or said not in self._said) and (
                not said.strip("的 ") or not times(self._text, self._own[-1].at, self._tz)
            ):
                return Refusal("empty")
        kin = evidence.kin(f"{text} {folded_plain(about)}")
        if kin - evidence.kin(self._heard) and not self._others():
            return Refusal("whose")
        if self._turned(text):
            return Refusal("denial")
        wrong = self._grounds.bound(self._text, about, self._own)
        if wrong and not (self._item.section == "tasks" and wrong.reason == "mixed"):  # a task has a title
            return wrong
        for claim in telling:
            bare = self._grounds.nameless(claim)
            named = evidence.terms(evidence.without_kin(bare) if self._pointed else bare)
            if named and (wrong := self._loosely(claim, named)):
                return wrong
        return None

    def _turned(self, text: str) -> bool:
        """Whether it says what they only denied, or denies what they only said; what ended may be told either way."""
        if _PATTERNS["ended"].search(text):
            return False
        heard = [part.folded for part in self._here]
        against = [key for part in heard for key in negated(part)]
        if True in poles(text, told=True):  # what is denied there may be put in other words
            own = evidence.terms(text)
            return not any(True in poles(part) and own & evidence.terms(part) for part in heard) and any(
                any(asserts(part, key) for part in heard) and key not in against for key in negated(text)
            )
        if _ALREADY.search(text) and any(_PATTERNS["undone"].search(part) for part in heard):
            return True
        if _WANTS.search(text) and any(_UNWANTED.search(part) for part in heard):
            return not any(_WANTS.search(_UNWANTED.sub(" ", part)) for part in heard)
        if not self._task and _PLANS.search(text) and not any(
            part.planned or part.hedged or _WANTS.search(part.folded) for part in self._here
        ) and not any(times(words, at, self._tz) for words, at in self._cited[-len(self._own) :]):  # fmt: skip
            return True
        return self._answered_no(text) or any(
            asserts(text, key) and not any(asserts(part, key) for part in heard) for key in against
        )

    def _answered_no(self, text: str) -> bool:
        """Whether it says what they were asked, where they answered with a no."""
        asked = evidence.terms("\n".join(self._beside)) - evidence.terms(self._said)
        return (
            bool(asked & evidence.terms(text))
            and True not in poles(text)
            and any(
                _NO.match(part.folded) or (place == 0 and denied(part.folded) and len(part.terms) < FEW)
                for line in self._own
                for place, part in enumerate(self._grounds.parts((line,)))
            )
        )

    def _loosely(self, claim: str, wanted: frozenset[str]) -> Refusal | None:
        """What makes a clause worth a second look: the lines that it cites hold little of it, or the clause that says
        most of it says the contrary or speaks of somebody else."""
        there = {number for words in (*(part.folded for part in self._here), *self._beside)
                 for number in numbers(words, all_of_them=True)}  # fmt: skip
        if strange := numbers(claim, all_of_them=False) - there:
            return Refusal("number", " ".join(sorted(strange)))
        cited = (_all_terms(self._close()) | evidence.terms("\n".join(self._beside))) & wanted
        union = _all_terms(self._all) & wanted
        if not union:
            return None
        if len(cited) < TOGETHER * len(union):
            return Refusal("words", _shown(claim))
        most = max(len(wanted & part.terms) for part in self._all)
        near = [part for part in self._all if most and len(wanted & part.terms) == most]
        return self._doubtful(claim, wanted, near) if most else None

    def _close(self) -> Iterator[Part]:
        """The clauses of the cited lines that stand close to the last of them."""
        last = self._own[-1].number
        for line in reversed(self._own):
            if last - line.number > GAP:
                return
            last = line.number
            yield from (part for part in self._here if part.line == line.number)

    def _doubtful(self, claim: str, wanted: frozenset[str], near: list[Part]) -> Refusal | None:
        text = self._text
        if all(part.hedged or part.planned for part in near) and not (
            self._task or _PATTERNS["hedge"].search(text) or _PATTERNS["plan"].search(text)
        ):
            return Refusal("hedge", _shown(claim))
        for part in self._grounds.after(self._owner, max(part.line for part in near)):
            if wanted & part.terms and any(
                _PATTERNS[cue].search(part.folded) for cue in ("moved", "corrects", "failed")
            ):
                return Refusal("former", _shown(claim))
        return None

    def _over(self, text: str) -> bool:
        """Whether the person said later that it is done or off."""
        wanted = evidence.terms(text)
        later = self._grounds.after(self._owner, self._own[-1].number)
        return any(ends(part, wanted, MOST_SHARED) for part in later if not part.hedged and not part.planned)


_PATTERNS = VOCABULARY.patterns
_SELF = frozenset(
    ("", "user", "用户", "本人", "自己", "self", "我", "i", "me", "the user", "the person", "person", "他", "她", "himself",
     "herself", "themselves", "对方", "主人")
)  # fmt: skip
_NO = LazyPattern(r"(?:不|没|没有|不要|不用|不是|不会|才不|no|nah|nope|not really)(?:[啊啦呢了呀]|\W|$)")
_PLANS = LazyPattern(r"打算|计划|准备(?!好)|\b(?:intends?|plans?|planning) to\b")
_ALREADY = LazyPattern(r"已经?|\balready\b")
_ME = LazyPattern(r"我|\bm[ey]\b")
_WANTS = LazyPattern(
    r"想(?!象|法)|愿意|打算|答应|同意|(?<!不)肯|\b(?:wants?|love to|like to|keen|plans? to|agree[sd]?)\b"
)
_UNWANTED = LazyPattern(
    r"(?:不|没有?)(?:是|很|太|那么|怎么|特别|真的)*(?:想|愿意|打算|答应|同意|肯)|拒绝|\brefuse[sd]?\b|"
    r"(?:n't|\bnot|\bnever|\bno longer)(?: really| even| actually)*(?: going to)? "
    r"(?:want|like|love|wish|keen|planning)"
)
_ALONE = LazyPattern(
    "^(?:都|全|终于|已经|总算|我|它|这个|那个|刚刚?|,| )*(?:搞定|弄好|办好|做完|完成|交|写完|弄完|还|寄|买|付|办)(?:上去|出去)?了?[啦呀!~]*$"
    r"|^(?:all |it's |that's )?(?:done|sorted|finished)\W*$"
)


def ends(part: Part, wanted: frozenset[str], share: float) -> bool:
    """Whether a clause says that something with these terms is done or off."""
    if evidence.denied(_PATTERNS["failed"].sub(" ", part.folded)) or not (
        _PATTERNS["over"].search(part.folded) or _PATTERNS["failed"].search(part.folded)
    ):
        return False
    return bool(_ALONE.search(part.folded)) or len(wanted & part.terms) >= max(1, share * len(wanted))


def _shown(claim: str) -> str:
    """The beginning of a clause as a reason tells it; its days were cut out."""
    return claim.replace("\t", "…")[:20].strip()


def _within(who: str, text: str) -> bool:
    """Whether the words for another, relatives apart, stand in a text."""
    bare = evidence.without_kin(who)
    return bool(bare) and bare in text


def _all_terms(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset(term for part in parts for term in part.terms)
