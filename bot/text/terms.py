"""Terms of the search over everything that can come back, and how much each term of a question tells.

A question asks for the forms that a text is stored in; no dictionary is needed on either side.
"""

import re
from collections.abc import Iterator

from bot.text.fold import fold
from bot.text.stem import stem
from bot.text.tokens import QUERY_CHARS, STOP, runs

TERMS = 2
"""Which terms an index holds: one that was written with others is written anew."""

CHARACTER = 0.3
"""What a single character of a question tells beside a pair: 猫 finds 猫咪, and 花 alone says little (measured)."""

SIDE = 0.5
"""What a pair tells that holds a stop word (我喜, 的猫): half a word (measured)."""

_FIGURES = re.compile(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)")


def search_terms(text: str) -> tuple[str, ...]:
    """The terms to store for a text, as often as they occur: stems of Latin words, figures with and without what is
    stuck to them (160cm), and of scripts without spaces each character and each pair. Letters and figures only."""
    terms: list[str] = []
    for run, word in runs(fold(text)):
        terms.extend(_words(word) if word else _marks(run))
    return tuple(terms)


def asked_terms(text: str) -> dict[str, float]:
    """The terms to look for, in order, each with what it tells, 0 to 1.

    Stop words are left out unless nothing else is there. At most QUERY_CHARS are read.
    """
    found = runs(fold(text[:QUERY_CHARS]))
    return _weighed(found, STOP) or _weighed(found, frozenset())


def _weighed(found: list[tuple[str, str]], stop: frozenset[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for run, word in found:
        if word:
            weights.update(dict.fromkeys((term for term in _words(word) if word not in stop), 1.0))
            continue
        for pair in _pairs(run):
            if pair not in stop:
                weights[pair] = 1.0 if stop.isdisjoint(pair) else max(SIDE, weights.get(pair, 0.0))
        for char in run:
            if char not in stop:
                weights[char] = 1.0 if len(run) == 1 else max(CHARACTER, weights.get(char, 0.0))
    return weights


def _words(word: str) -> Iterator[str]:
    yield stem(word)
    if not (word.isalpha() or word.isdigit()) and word.isascii():
        yield from (stem(part) for part in _FIGURES.split(word) if part != word)


def _marks(run: str) -> Iterator[str]:
    yield from run
    yield from _pairs(run)


def _pairs(run: str) -> Iterator[str]:
    return (run[index : index + 2] for index in range(len(run) - 1))
