"""English words cut down to what their forms share (painted, painting → paint). No dictionary; other words stay."""

from functools import lru_cache

SHORTEST = 4
"""A word this short has no ending to lose."""

_VOWELS = frozenset("aeiouy")
_ENDINGS = (
    ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"),
    ("ation", "ate"), ("ement", ""), ("ment", ""), ("ness", ""), ("ity", ""), ("ful", ""), ("ly", ""), ("er", ""),
    ("or", ""), ("ion", ""), ("al", ""), ("ive", ""), ("ous", ""),
)  # fmt: skip
"""Endings that make a word of another kind, longest first (after M. F. Porter, 1980, steps 2 to 4 taken together)."""


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word, folded before, without plural, tense and kind; never empty. Two words may share one by chance."""
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    word = _tenseless(_singular(word))
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST - 1:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) >= SHORTEST and word.endswith("e"):
        word = word[:-1]
    if len(word) >= SHORTEST - 1 and word.endswith("y") and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > SHORTEST else word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _tenseless(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if len(word) > SHORTEST else word
    if word.endswith("ied") and len(word) > SHORTEST:
        return word[:-3] + "y"
    for ending in ("ed", "ing"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= SHORTEST - 1 and not _VOWELS.isdisjoint(left):
            return left[:-1] if left[-1] == left[-2] and left[-1] not in "aeioulsz" else left
    return word
