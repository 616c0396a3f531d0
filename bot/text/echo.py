"""Does one text say what another said? Decided by the words they share, not by meaning."""

import re
from functools import lru_cache

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


def touches(statement: str, line: str) -> bool:
    """True when `line` has even one telling word of `statement`: enough for a line that was made from it."""
    _, telling, _, _ = _read(statement)
    return echoes(statement, line) or not telling.isdisjoint(index_terms(line))


@lru_cache(maxsize=1)
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
