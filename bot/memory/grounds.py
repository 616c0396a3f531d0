"""A talk as evidence: whose own words its lines hold, clause by clause, and what is known of who speaks.

It judges no statement (grounding.py). Pure; it may load a dictionary: in a thread.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from bot.memory import binding, evidence
from bot.memory.binding import Told, told
from bot.memory.confirmed import Talk, missing
from bot.memory.digest_answer import Item
from bot.memory.evidence import VOCABULARY, Part, folded_plain, novelty, parts_of, points
from bot.memory.minutes import DigestLine, Scope, forgets, played, words_of
from bot.memory.screening import SCAFFOLD
from bot.text.fold import fold
from bot.types.when import When

Reason = Literal[
    "lines", "owner", "empty", "harm", "forgotten", "words", "number", "day", "about", "whose", "denial", "hedge",
    "former", "done", "mixed", "checked",
]  # fmt: skip
"""Why an item is refused: it cites no such lines, or those of several; it says nothing, or is made to work on a
program; it was to be forgotten; too many words, a number or a day were not said; nobody named whom it is about; it was
said of somebody else, of the contrary, with doubt, of the past; it is over; it mixes what was said apart; or the
second look found it wrong."""

ASKED = re.compile(r"[?？]\s*$|[吗嗎呢]\s*$")
VALUE = re.compile(r"\d|[一二三四五六七八九十]|day\b")


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

    def __init__(
        self, lines: tuple[DigestLine, ...], scope: Scope, facts: Mapping[int, tuple[tuple[str, int], ...]]
    ) -> None:
        """`facts` are each person's present ones, with when they were told: names in them need not be said again."""
        self.lines, self.scope, self.facts = lines, scope, facts
        self.by_number = {line.number: line for line in lines}
        self.gone = forgets(lines)
        self.told = words_of(lines, scope.bot_name, scope.screened)
        play = played(lines)
        self.own = {line.number: words for line, words in self.told if words and line.number not in play}
        self._parts = {number: parts_of(number, words) for number, words in self.own.items()}
        self._loose = frozenset(self._corrected())

    def _corrected(self) -> Iterator[int]:
        """The lines whose figures and days the same person puts right later."""
        said: dict[int | None, list[tuple[int, str]]] = {}
        for line, words in self.told:
            folded = folded_plain(words)
            before = said.setdefault(line.person_id, [])
            if VALUE.search(folded):
                if before and VOCABULARY.patterns["corrects"].search(folded):
                    yield before[-1][0]
                if VOCABULARY.patterns["moved"].search(folded):
                    own = evidence.terms(folded)
                    yield from (number for number, other in before
                                if VALUE.search(other) and (own & evidence.terms(other)))  # fmt: skip
            before.append((line.number, folded))

    def talk(self, words: Iterable[str], tz: tzinfo) -> Talk:
        """What people said and what is known of them; numbers must stand in these words."""
        return Talk(
            [(self.plainly(line), line.at) for line in self.lines], [folded_plain(one) for one in words],
            [(folded_plain(text), at) for facts in self.facts.values() for text, at in facts],
            self.names(), tz,
        )  # fmt: skip

    def sentence(self, text: str) -> bool:
        """Whether a sentence of a summary that a second look confirmed stands in what people said."""
        talk = self.talk(map(self.plainly, self.lines), self.scope.tz)
        return missing(Item("statements", 0, text, ()), talk, (), self.lines[-1].at) is None

    def heard(self, line: DigestLine) -> str:
        """What nuan says in a line, or somebody asks or plainly says."""
        words = line.text if line.is_bot else self.own.get(line.number, "")
        return words if line.is_bot or ASKED.search(words) else self.plainly(line)

    def plainly(self, line: DigestLine) -> str:
        """What somebody plainly says in a line, folded: nothing that is quoted, asked or linked."""
        return "\n".join(part.folded for part in self._parts.get(line.number, ()))

    def cited(self, numbers: Iterable[int]) -> tuple[DigestLine, ...]:
        """The lines of these numbers with words of their speaker's own; none where one of them is not there."""
        lines = tuple(self.by_number.get(number) for number in numbers)
        return tuple(line for line in lines if line is not None and line.number in self.own) if all(lines) else ()

    def bound(self, text: str, about: str, own: Sequence[DigestLine]) -> Refusal | None:
        """What of a folded text was not said together in these lines of one person, or of others."""
        wrong = binding.bound(text, folded_plain(about), self._told_in(own), self.names(), own[-1].at, self.scope.tz)
        return Refusal(*wrong) if wrong else None

    def sums(self, piece: str, owner: int | None) -> int | None:
        """Whose lines a sentence of a summary rests on, in whatever words; None for nobody's.

        They are those of whom it names, else of `owner`, else of somebody.
        """
        folded = folded_plain(piece)
        people = {line.person_id: fold(line.name) for line in self.lines if line.number in self.own}
        there = sorted((folded.find(name), person or 0) for person, name in people.items() if name and name in folded)
        said = evidence.terms(SCAFFOLD.sub(" ", self.nameless(folded)))
        for person in [there[0][1]] if there else [owner] if owner is not None else list(people):
            own = tuple(line for line in self.lines if line.person_id == person and line.number in self.own)
            if person is None or not own:
                continue
            wrong = self.bound(folded, "", own)
            if wrong and wrong.reason != "mixed":  # to put together what was said apart is what summaries do
                continue
            heard = f"{folded_plain(' '.join(line.text for line in self.lines))} {' '.join(self.known(person))}"
            if not said or novelty(" ".join(said), heard)[0] < 1:
                return person
        return None

    def owner(self, item: Item, cited: tuple[DigestLine, ...]) -> int | None:
        """Whose own words it rests on; of several people the one that it names first, None for nobody's.

        A task or promise does not name who has it to do: of several who speak it is of the one whom it does not name.
        """
        people = {line.person_id: fold(line.name) for line in cited if line.number in self.own and not line.is_bot}
        folded = fold(item.text)
        if item.section in ("tasks", "promises") and folded.find(next(iter(people.values()), "") or "?"):
            named = f"{folded} {fold(item.toward)}"
            left = [person for person, name in people.items() if not name or name not in named]
            return left[0] if len(left) == 1 else None
        places = {person: folded.find(name) for person, name in people.items() if person is not None and name}
        there = {person: place for person, place in places.items() if place >= 0}
        owner = (
            min(there, key=lambda person: there[person]) if there else next(iter(people)) if len(people) == 1 else None
        )
        return None if owner is None or (not there and self._of_another(folded, owner, cited)) else owner

    def _of_another(self, folded: str, owner: int, cited: Sequence[DigestLine]) -> bool:
        """Whether a statement names somebody else who talks there, and its owner spoke of nobody so."""
        others = {fold(line.name): line.person_id for line in self.lines if not line.is_bot}
        places = sorted((folded.find(name), name) for name in others if name and name in folded)
        if not places or others[places[0][1]] == owner:
            return False
        parts = self.parts(line for line in cited if line.person_id == owner)
        if places[0][1] in fold(" ".join(part.folded for part in parts)):
            return False
        return places[0][1] not in fold(" ".join(words for line, words in self.told if line.person_id == owner)) or all(
            part.subject in ("", "self") and not points(part.folded) for part in parts
        )

    def before(self, owner: int, cited: tuple[DigestLine, ...]) -> tuple[DigestLine, ...]:
        """What that person said up to the last of these lines, these with it."""
        last = max(line.number for line in cited)
        return tuple(line for line, _ in self.told
                     if line.person_id == owner and line.number <= last and line.number in self.own)  # fmt: skip

    def after(self, owner: int, number: int) -> tuple[Part, ...]:
        """What that person said later, clause by clause."""
        return tuple(
            part for line, _ in self.told if line.person_id == owner and line.number > number
            for part in self._parts.get(line.number, ())
        )  # fmt: skip

    def parts(self, lines: Iterable[DigestLine]) -> tuple[Part, ...]:
        """The clauses of these lines."""
        return tuple(part for line in lines for part in self._parts.get(line.number, ()))

    def _told_in(self, lines: Iterable[DigestLine]) -> tuple[Told, ...]:
        """The clauses of these lines with what they name."""
        return tuple(told(part, line.at, self.scope.tz, evidence.names(self.own[line.number]))
                     for line in lines for part in self._parts.get(line.number, ()))  # fmt: skip

    def dated(self, lines: Iterable[DigestLine], *, all_of_them: bool) -> tuple[tuple[str, int], ...]:
        """The own words of these lines with when they were said; without those that were put right, unless all."""
        return tuple(
            ("\n".join(part.folded for part in self._parts.get(line.number, ()) if part.firm or all_of_them), line.at)
            for line in lines if all_of_them or line.number not in self._loose
        )  # fmt: skip

    def names(self) -> list[str]:
        """How those who talk are called, folded, the longest first."""
        return sorted({fold(line.name) for line in self.lines} - {""}, key=len, reverse=True)

    def nameless(self, text: str) -> str:
        """A text without these names."""
        for name in self.names():
            text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
        return text

    def known(self, owner: int) -> tuple[str, ...]:
        """What is known of that person, folded."""
        return tuple(folded_plain(text) for text, _ in self.facts.get(owner, ()))

    def zone(self, owner: int, *, task: bool) -> tzinfo:
        """The zone in which that person means days; of a task their own."""
        return self.scope.zones.get(owner, self.scope.tz) if task else self.scope.tz
