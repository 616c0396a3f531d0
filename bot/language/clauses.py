"""Sentences and clauses of a text, and an excerpt of whole sentences."""

import re
from itertools import pairwise

from bot.text.length import ELLIPSIS, clip, estimate_tokens, longest_prefix

SENTENCE = re.compile(r"((?:[^。！？!?\n；;….]|\.(?!\s|$))+)([。！？!?；;….]*)")
"""A sentence, and what ends it."""

_CLAUSE_END = re.compile(r"(?<!\d)[,，]|[,，](?!\d)| (?=(?:and|but|so) (?:i|my)\b)", re.IGNORECASE)

CHARS_PER_TOKEN = 16
"""Characters for each token up to which a text is looked at: words are shorter."""

MOST_TOKENS = 2.2
"""Tokens of a character at most: of an emoji."""

LEAST_SHARE = 0.3
"""A part is at least so much of what there is room for, if it can end with a sentence or a clause."""

_SENTENCE = re.compile(r"[。！？!?；;\n]+[”」』\"')）]*|\.(?=\s|$)")
_CLAUSE = re.compile(r"[，,、：:]")


def clauses_of(sentence: str) -> list[str]:
    """The parts of a sentence, each with the comma before it."""
    cuts = [0, *(match.start() for match in _CLAUSE_END.finditer(sentence) if match.start()), len(sentence)]
    return [sentence[start:stop] for start, stop in pairwise(cuts)]


def excerpt(text: str, most: int) -> str:
    """The text, or its first sentences and "…" in about `most` tokens: a part that ends in the middle may say the
    contrary."""
    if len(text) * MOST_TOKENS <= most or estimate_tokens(text) <= most:
        return text
    room = longest_prefix(text, most * CHARS_PER_TOKEN, lambda part: estimate_tokens(part) <= most)
    for ends in (_SENTENCE, _CLAUSE):
        least = room * LEAST_SHARE
        cut = max((match.end() for match in ends.finditer(text, 0, room) if match.end() >= least), default=0)
        if cut:
            return text[:cut].rstrip() + ELLIPSIS
    return clip(text, room)
