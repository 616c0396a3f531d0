"""Does one text say what another said? Decided by the words they share, not by meaning."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from bot.text.fold import fold
from bot.text.script import ENGLISH
from bot.text.tokens import index_terms

SHARE = 0.5
"""More than this share of a statement's telling words must be in a line that is its echo: a paraphrase keeps most of
them, 我喜欢喝茶 has half of those of 我喜欢喝咖啡."""

LONG_WORD = 5
"""A Latin word or number this long that holds a figure (a code, a number) gives a statement away by itself."""

COMMON = frozenset("我你您他她它们的了吗呢吧啊是在也都就还又很和跟与把被这那")
"""A pair of characters with one of these tells nothing of what a sentence is about."""


def echoes(statement: str, line: str) -> bool:
    """True when `line` repeats `statement` in whole or in large part, in either script."""
    said = fold(line)
    told, telling, codes, enough = _read(statement)
    if not told:
        return False
    if _holds(said, told):
        return True
    # Terms are parts of the folded text, so most lines need not be cut into terms.
    if sum(term in said for term in telling) <= enough and not any(code in said for code in codes):
        return False
    there = set(index_terms(line))
    return not codes.isdisjoint(there) or len(telling & there) > enough


class Lines:
    """Numbered texts in which echoes of many statements are looked for; each is folded once."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = tuple(lines)
        folded = [fold(text) for _, text in self._lines]
        self._starts = tuple(accumulate((len(text) + 1 for text in folded), initial=0))
        self._all = "\0".join(folded)
        self._places: dict[str, tuple[int, ...]] = {}

    def echoing(self, statement: str) -> set[int]:
        """The numbers of those that `echoes` says repeat the statement."""
        told, telling, codes, enough = _read(statement)
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


def touches(statement: str, line: str) -> bool:
    """True when `line` has even one telling word of `statement`: enough for a line that was made from it."""
    _, telling, _, _ = _read(statement)
    return echoes(statement, line) or not telling.isdisjoint(index_terms(line))


@lru_cache(maxsize=8)
def _read(statement: str) -> tuple[str, frozenset[str], frozenset[str], float]:
    """Of a statement: the folded text, its telling words, those that are codes, and how many are not yet enough."""
    words = frozenset(term for term in index_terms(statement) if len(term) > 1)
    telling = frozenset(term for term in words if term not in ENGLISH and COMMON.isdisjoint(term)) or words
    codes = frozenset(term for term in words if len(term) >= LONG_WORD and any(char.isdigit() for char in term))
    return fold(statement).strip(), telling, codes, SHARE * len(telling) if len(words) > 1 else len(words)


def _holds(said: str, told: str) -> bool:
    """Whether the whole statement stands in the line; a Latin one as whole words, a single character only alone."""
    if len(told) == 1:
        return said.strip() == told
    if told not in said:
        return False
    before, after = (r"(?<![a-z0-9])" if told[0].isascii() else ""), (r"(?![a-z0-9])" if told[-1].isascii() else "")
    return re.search(before + re.escape(told) + after, said) is not None
