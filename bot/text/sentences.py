"""The first sentences of a text that is too long to be told whole. Pure."""

import re

from bot.text.clip import ELLIPSIS, clip
from bot.text.estimate import estimate_tokens

CHARS = 16
"""Characters for each token up to which a text is looked at: words are shorter."""

MOST_TOKENS = 2.2
"""Tokens of a character at most: of an emoji."""

LEAST_SHARE = 0.3
"""A part is at least so much of what there is room for, if it can end with a sentence or a clause."""

_SENTENCE = re.compile(r"[。！？!?；;\n]+[”」』\"')）]*|\.(?=\s|$)")
_CLAUSE = re.compile(r"[，,、：:]")


def excerpt(text: str, most: int) -> str:
    """The text, or its first sentences and "…" in about `most` tokens: a part that ends in the middle may say the
    contrary."""
    if len(text) * MOST_TOKENS <= most or estimate_tokens(text) <= most:
        return text
    room = _room(text, most)
    for ends in (_SENTENCE, _CLAUSE):
        least = room * LEAST_SHARE
        cut = max((match.end() for match in ends.finditer(text, 0, room) if match.end() >= least), default=0)
        if cut:
            return text[:cut].rstrip() + ELLIPSIS
    return clip(text, room)


def _room(text: str, most: int) -> int:
    """How many characters of the beginning take at most so many tokens."""
    low, high = 1, min(len(text), most * CHARS)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= most else (low, middle - 1)
    return low
