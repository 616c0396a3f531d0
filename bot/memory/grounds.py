"""A talk as evidence: whose own words its lines hold, clause by clause, and what is known of who speaks.

It judges no statement (grounding.py). Pure; it may load a dictionary: in a thread.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from bot.memory.confirmed import Talk, missing
from bot.memory.digest_answer import Item
from bot.memory.evidence import Part, folded_plain, parts_of, points
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

    def talk(self, words: Iterable[str], tz: tzinfo, lines: Iterable[DigestLine], owner: int | None = None) -> Talk:
        """What people said in these lines, what others than the owner asked with it, and what is known of them; numbers
        must stand in these words."""
        said = [
            (self.plainly(line) if line.is_bot or owner in (None, line.person_id) else self.heard(line), line.at)
            for line in lines
        ]  # fmt: skip
        known = [(folded_plain(text), at) for facts in self.facts.values() for text, at in facts]
        return Talk(said, [folded_plain(one) for one in words], known, self.names(), tz)

    def sentence(self, text: str) -> bool:
        """Whether numbers, days and names of a sentence of a summary stand in what people said, with a word of it."""
        talk = self.talk(map(self.plainly, self.lines), self.scope.tz, self.lines)
        bare = Item("statements", 0, SCAFFOLD.sub(" ", text), ())
        return missing(bare, talk, (), self.lines[-1].at, news=1) is None

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
            min(there, key=lambda person: there[person])
            if there
            else next(reversed(people))
            if len(people) == 1 or (people and item.about)
            else None
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

    def after(self, owner: int, number: int) -> tuple[Part, ...]:
        """What that person said later, clause by clause."""
        return tuple(
            part for line, _ in self.told if line.person_id == owner and line.number > number
            for part in self._parts.get(line.number, ())
        )  # fmt: skip

    def parts(self, lines: Iterable[DigestLine]) -> tuple[Part, ...]:
        """The clauses of these lines."""
        return tuple(part for line in lines for part in self._parts.get(line.number, ()))

    def names(self) -> list[str]:
        """How those who talk are called, folded, the longest first."""
        return sorted({fold(line.name) for line in self.lines} - {""}, key=len, reverse=True)

    def zone(self, owner: int, *, task: bool) -> tzinfo:
        """The zone in which that person means days; of a task their own."""
        return self.scope.zones.get(owner, self.scope.tz) if task else self.scope.tz
