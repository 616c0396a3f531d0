"""A question as it is searched with: its text without the names of those who talk, and its terms."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.text.fold import fold
from bot.text.tokens import query_terms

SHORTEST_NAME = 2
"""A name of one character is a word as well (猫): it stays."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: the text, and its terms with the most telling first, as many as there are."""

    text: str
    terms: tuple[str, ...]


def question(text: str, names: Sequence[str] = ()) -> Question:
    """The question, without these names unless nothing else is in it.

    "小暖，我的猫叫什么" would otherwise find whatever mentions 小暖. It may load a dictionary: call it in a thread.
    """
    rest = fold(text) if names else text
    for name in sorted({fold(name).strip() for name in names}, key=lambda name: (-len(name), name)):
        if len(name) >= SHORTEST_NAME:
            pattern = re.escape(name)
            rest = re.sub(rf"(?<![a-z0-9]){pattern}(?![a-z0-9])" if name.isascii() else pattern, " ", rest)
    terms = query_terms(rest)
    return Question(rest, terms) if terms else Question(text, query_terms(text))
