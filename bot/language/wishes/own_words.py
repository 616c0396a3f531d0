"""What a person's own words of one turn carry: a wish to keep or to forget, and which words say what. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.language.assertions import denied, folded_plain
from bot.language.wishes.patterns import CALLED, QUOTED, pattern, shaped
from bot.language.wishes.reader import has_wish_word, understand, wish_cue
from bot.text.fold import fold_mapped, unfold
from bot.text.similarity import shares_words
from bot.text.terms import STOP_WORDS, index_terms

READ_CHARS = 8_000
"""Of a message so much is read: what one may be long (`input.max_chars`)."""

_BARE = re.compile(r"[\W_]+")

HINTED = {"remember", "forget", "nick_set"}
"""What words of a wish may ask for: which of it, if any, a model judges."""


@dataclass(frozen=True, slots=True)
class OwnClause:
    """A part of a message between two stops, folded; `start` and `end` are where it stands in its message."""

    text: str
    sentence: int
    asks: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What one message says in its writer's own words: neither quotes, code nor what others are said to say.

    `asks` are the verbs of what it asks of memory, certain or not.
    """

    event_id: int
    clauses: tuple[OwnClause, ...]
    text: str
    origin: tuple[int, ...]
    asks: frozenset[str] = frozenset()

    @property
    def keeps(self) -> bool:
        """Whether it asks to keep something."""
        return "remember" in self.asks or any(_wishes(clause, "own_keep", "own_not_keep") for clause in self.clauses)

    @property
    def calls(self) -> bool:
        """Whether it says how its writer wants to be called, or not."""
        return not self.asks.isdisjoint(("nick_set", "nick_revoke"))

    def refuses(self, name: str, heard: str = "") -> bool:
        """Whether it says that its writer is not to be called by that name, which stands in it or in what was `heard`
        right before."""
        folded, unwanted = folded_plain(self.text), folded_plain(name).strip()
        if unwanted and any(unwanted in clause.text and denied(clause.text) for clause in self.clauses):
            return True
        says_no = "nick_revoke" in self.asks or (self.calls and denied(folded))
        return says_no and bool(unwanted) and unwanted in f"{folded}\n{folded_plain(heard)}"

    @property
    def forever(self) -> bool:
        """Whether what it asks to forget is to be gone at once."""
        return any(pattern("own_forever").search(self.clauses[place].text) for place in self.drops)

    @property
    def erases(self) -> bool:
        """Whether it asks to forget or to delete something, and not only to keep nothing of it."""
        return any(pattern("own_gone").search(self.clauses[place].text) for place in self.drops)

    @property
    def drops(self) -> tuple[int, ...]:
        """The places of the clauses that ask to forget or to delete something; all where it is not certain which."""
        found = tuple(n for n, clause in enumerate(self.clauses) if _wishes(clause, "own_drop", "own_not_drop"))
        return found or (tuple(range(len(self.clauses))) if "forget" in self.asks else ())

    @property
    def behind(self) -> str:
        """What it says behind its wish to forget something; "" where it has none, or asks that nothing of it is kept."""
        last = self.clauses[max(self.drops)].end if self.erases else len(self.origin)
        return unfold(self.text, self.origin, last, len(self.origin)).strip()

    def carries(self, text: str) -> bool:
        """Whether each clause of `text` stands in this message word for word, and not denied or asked there."""
        wanted = [_BARE.sub("", part) for part in re.split(",", shaped(fold_mapped(text)[0], ()).replace("。", ","))]
        wanted = [part for part in wanted if part]
        telling = [term for part in wanted for term in index_terms(part) if term not in STOP_WORDS]
        return bool(telling) and all(any(_holds(clause, part) for clause in self.clauses) for part in wanted)

    def near(self, place: int) -> str:
        """What stands before a clause in the same sentence, where 那条 points."""
        this = self.clauses[place]
        return ",".join(c.text for c in self.clauses[:place] if c.sentence == this.sentence)

    def without(self, places: Iterable[int]) -> str:
        """The message as its writer wrote it, without these clauses and what stands before them in their sentences."""
        last = {self.clauses[place].sentence: place for place in sorted(places)}
        gone = [c for n, c in enumerate(self.clauses) if n <= last.get(c.sentence, -1)]
        kept, at = "", 0
        for clause in (*gone, OwnClause("", 0, False, len(self.origin), len(self.origin))):
            kept += unfold(self.text, self.origin, at, clause.start) if clause.start > at else ""
            at = max(at, clause.end)
        return kept.strip(" \n,，。.!！?？;；、")


@dataclass(frozen=True, slots=True)
class NamedMemories:
    """The memories that a wish to forget is about; `named` when it gives their numbers."""

    numbers: tuple[int, ...]
    named: bool = False


def read_own_words(event_id: int, text: str, names: tuple[str, ...]) -> OwnWords:
    """What a message says in its writer's own words; `names` are those the bot is called by. Linear in the text."""
    text = text[:READ_CHARS]
    folded, origin = fold_mapped(text)
    if pattern("about_words").search(folded):
        return OwnWords(event_id, (), text, origin)
    shape = shaped(folded, names)
    clauses: list[OwnClause] = []
    start = number = 0
    while start < len(shape):
        found = pattern("own_ends").search(shape, start)
        end = found.start() if found else len(shape)
        clauses += _clauses(shape, start, end, number)
        start, number = max(found.end() if found else end, start + 1), number + 1
    may = wish_cue(text, names)
    asks: set[str] = {each.verb for each in understand(text, names).commands}
    if may is not None and may.verb == "forget":  # what may be a wish to keep nothing of it keeps nothing
        asks.add("forget")
    elif may is not None or (not asks and has_wish_word(text, names)):
        asks |= HINTED | ({may.verb} if may is not None else set())
    return OwnWords(event_id, tuple(clauses), text, origin, frozenset(asks))


def memories_named(words: OwnWords, texts: Iterable[tuple[int, str]]) -> NamedMemories:
    """Which of these memories (number and text) the wish to forget of a message is about, by number or by word.

    The clause itself decides; where it only points (那条), what stands before it in its sentence, else in the message.
    """
    known = tuple(texts)
    clauses = words.clauses
    for line in (
        *(clauses[place].text for place in words.drops),
        *(words.near(place) for place in words.drops),
        *(each.text for place in words.drops for each in reversed(clauses[:place])),
    ):
        numbers = {int(found[1] or found[2]) for found in pattern("own_number").finditer(line)}
        named = tuple(number for number, _ in known if number in numbers)
        found = named or tuple(number for number, text in known if shares_words(text, line))
        if found:
            return NamedMemories(found, bool(named))
    return NamedMemories(())


def _clauses(shape: str, start: int, end: int, number: int) -> Iterable[OwnClause]:
    """The clauses of a sentence; what somebody is said to have said in it is left out, as is a line with a speaker."""
    sentence = shape[start:end]
    if pattern("own_speaker").match(sentence) and not pattern("cue_hint").search(sentence.partition(":")[0]):
        return
    told = QUOTED in sentence and pattern("own_told").search(sentence)
    asks = sentence.rstrip().endswith(("?", "吗", "么", "呢"))
    at, limit = start, end + (shape[end : end + 1] in ("。", "\n"))
    for part in re.split(",", sentence):
        begin, at = at, at + len(part) + 1
        if told or (":" in part and pattern("own_told").search(part.partition(":")[0])):
            return
        said = part.replace(QUOTED, " ").replace(CALLED, " ").strip()
        if said:
            yield OwnClause(said, number, asks, begin, min(at, limit))
        if pattern("own_told").search(part) and part.rstrip().endswith(
            ("说", "讲", "问", "写着", "said", "says", "wrote")
        ):
            return


def _wishes(clause: OwnClause, wish: str, none: str) -> bool:
    found = pattern(wish).search(clause.text)
    if found is None or pattern(none).search(clause.text) or pattern("own_others").search(clause.text):
        return False
    return not clause.asks or pattern("asking").search(clause.text) is not None


def _holds(clause: OwnClause, part: str) -> bool:
    """Whether the words stand in the clause, and what stands before them does not turn them round."""
    if clause.asks and pattern("asking").search(clause.text) is None:
        return False
    kept = [(index, char) for index, char in enumerate(clause.text) if not _BARE.fullmatch(char)]
    line = "".join(char for _, char in kept)
    at = line.find(part)
    if at < 0:
        return False
    before, after = clause.text[: kept[at][0]], clause.text[kept[at + len(part) - 1][0] + 1 :]
    whole = not (part[0].isascii() and re.search(r"[a-z0-9']$", before)) and not (
        part[-1].isascii() and re.match(r"[a-z0-9']", after)
    )
    return whole and pattern("own_not").search(before) is None
