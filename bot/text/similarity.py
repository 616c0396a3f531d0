"""Similarity of texts by the words they share: whether two promises are the same, whether one text repeats another."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import ENGLISH_FUNCTION_WORDS, fold
from bot.text.terms import index_terms, stem

LEAST_WEIGHT = 3
"""Characters (a Latin word counts as two) of a promise that is found again in a longer one."""

PROMISE_STEM = 4
"""Latin words are the same when they begin alike: report and reports."""

STATEMENT_STEM = 6
"""Latin words of statements are the same when so much of their stems is: allergy and allergic."""

MEANT_SHARE = 0.5
"""Words mean a promise when so much of them is in it."""

NAMED_SHARE = 0.8
"""Words name a promise when so much of them is in it: 修药箱的事 says one thing more."""

_WORDS = read_table("bot.text", "similarity")
FORM_WORDS, _PERSON = (LazyPattern("|".join(_WORDS[name])) for name in ("form", "person"))
"""What words of a promise do not tell what it is of, and who is told, or tells, of it."""
COMMON_CHARS = frozenset(_WORDS["common"])
"""A pair of characters with one of these tells nothing of what a sentence is about."""
_COMMON_IN_STATEMENTS, _EMPTY = (
    COMMON_CHARS | frozenset(_WORDS[f"common_in_{what}"]) for what in ("statements", "promises")
)
_IRREGULAR: dict[str, str] = _WORDS["irregular"]
_RUNS = LazyPattern(r"([\u3400-\u9fff])|([a-z0-9']+)")

ECHO_SHARE = 0.5
"""More than this share of a statement's telling words must be in a line that is its echo: a paraphrase keeps most of
them, 我喜欢喝茶 has half of those of 我喜欢喝咖啡."""

LONG_WORD = 5
"""A Latin word or number this long that holds a figure (a code, a number) gives a statement away by itself."""


def same_promise(one: str, other: str) -> bool:
    """Whether two promises of the same person are the same: what one says, the other says too."""
    mine, theirs = content_words(one), content_words(other)
    if not mine or not theirs:
        return fold(one).strip() == fold(other).strip()
    less, more = (mine, theirs) if len(mine) <= len(theirs) else (theirs, mine)
    return less == more or (less <= more and words_weight(less) >= LEAST_WEIGHT)


def reminds_of(asked: str, promised: str) -> bool:
    """Whether a reminder, bare or of these words, is one of that promise."""
    return not content_words(asked) or same_promise(_PERSON.sub("", asked), _PERSON.sub("", promised))


def promise_meant(about: str, texts: Iterable[tuple[int, str]]) -> int | None:
    """The number of the one text that these words are about; None when none is, or several are equally.

    Without words it is the only one there is.
    """
    known = tuple(texts)
    words = content_words(about)
    if not words:
        return known[0][0] if len(known) == 1 else None
    shared = {number: words & content_words(text) for number, text in known}
    fits = {
        number: len(both)
        for number, both in shared.items()
        if len(both) >= MEANT_SHARE * len(words) and (words_weight(both) >= 2 or both == words)
    }
    most = [number for number, count in fits.items() if count == max(fits.values())]
    return most[0] if len(most) == 1 else None


def names_promise(about: str, text: str) -> bool:
    """Whether words name this promise beyond doubt: nearly all that they say is in it."""
    words = content_words(about)
    shared = words & content_words(text)
    return words_weight(shared) >= LEAST_WEIGHT and len(shared) >= NAMED_SHARE * len(words)


def content_words(text: str) -> frozenset[str]:
    """The characters and word stems of a text that tell what it is of."""
    plain = FORM_WORDS.sub(" ", fold(text).replace("’", "'"))
    found = set[str]()
    for char, word in _RUNS.findall(plain):
        if char and char not in _EMPTY:
            found.add(char)
        elif word and word.split("'")[0] not in ENGLISH_FUNCTION_WORDS:
            found.add(_IRREGULAR.get(word, word)[:PROMISE_STEM])
    return frozenset(found)


def content_terms(text: str) -> frozenset[str]:
    """The characters, pairs and word stems that tell what a statement is about; all it has where none does."""
    found = _telling(frozenset(index_terms(text)), _COMMON_IN_STATEMENTS)
    return frozenset(stem(term)[:STATEMENT_STEM] if term.isascii() else term for term in found)


def _telling(terms: frozenset[str], common: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in terms if t not in ENGLISH_FUNCTION_WORDS and common.isdisjoint(t)) or terms


def words_weight(words: frozenset[str]) -> int:
    return sum(2 if word.isascii() else 1 for word in words)


def echoes(statement: str, line: str) -> bool:
    """True when `line` repeats `statement` in whole or in large part, in either script."""
    said = fold(line)
    told, telling, codes, enough = _read_statement(statement)
    if not told:
        return False
    if _holds(said, told):
        return True
    # Terms are parts of the folded text, so most lines need not be cut into terms.
    if sum(term in said for term in telling) <= enough and not any(code in said for code in codes):
        return False
    there = set(index_terms(line))
    return not codes.isdisjoint(there) or len(telling & there) > enough


class EchoIndex:
    """Numbered texts in which echoes of many statements are looked for; each is folded once."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = tuple(lines)
        folded = [fold(text) for _, text in self._lines]
        self._starts = tuple(accumulate((len(text) + 1 for text in folded), initial=0))
        self._all = "\0".join(folded)
        self._places: dict[str, tuple[int, ...]] = {}

    def echoing(self, statement: str) -> set[int]:
        """The numbers of those that `echoes` says repeat the statement."""
        told, telling, codes, enough = _read_statement(statement)
        if not told:
            return set()
        near = {place for part in (told, *codes) for place in self._having(part)}
        shared = Counter(place for term in telling for place in self._having(term))
        near |= {place for place, count in shared.items() if count > enough}
        return {self._lines[place][0] for place in near if echoes(statement, self._lines[place][1])}

    def _having(self, part: str) -> tuple[int, ...]:
        if part not in self._places:
            self._places[part] = tuple(self._found(part))
        return self._places[part]

    def _found(self, part: str) -> Iterator[int]:
        at = self._all.find(part)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            yield place
            at = self._all.find(part, self._starts[place + 1])


def repeating(statements: Iterable[str], lines: Iterable[tuple[int, str]]) -> set[int]:
    """The numbers of the lines that repeat one of the statements (`echoes`)."""
    index = EchoIndex(lines)
    return {number for statement in statements for number in index.echoing(statement)}


def shares_words(statement: str, line: str) -> bool:
    """True when `line` has even one telling word of `statement`: enough for a line that was made from it."""
    _, telling, _, _ = _read_statement(statement)
    return echoes(statement, line) or not telling.isdisjoint(index_terms(line))


@lru_cache(maxsize=8)
def _read_statement(statement: str) -> tuple[str, frozenset[str], frozenset[str], float]:
    """Of a statement: the folded text, its telling words, those that are codes, and how many are not yet enough."""
    words = frozenset(term for term in index_terms(statement) if len(term) > 1)
    telling = _telling(words, COMMON_CHARS)
    codes = frozenset(term for term in words if len(term) >= LONG_WORD and any(char.isdigit() for char in term))
    return fold(statement).strip(), telling, codes, ECHO_SHARE * len(telling) if len(words) > 1 else len(words)


def _holds(said: str, told: str) -> bool:
    """Whether the whole statement stands in the line; a Latin one as whole words, a single character only alone."""
    if len(told) == 1:
        return said.strip() == told
    if told not in said:
        return False
    before, after = (r"(?<![a-z0-9])" if told[0].isascii() else ""), (r"(?![a-z0-9])" if told[-1].isascii() else "")
    return re.search(before + re.escape(told) + after, said) is not None
