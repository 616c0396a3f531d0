"""Sentences and clauses of what somebody wrote, and a text as one row. Pure; what they mean is read elsewhere."""

import re
import unicodedata
from itertools import pairwise

from bot.text.clean import clean_line

SENTENCE = re.compile(r"((?:[^。！？!?\n；;….]|\.(?!\s|$))+)([。！？!?；;….]*)")
"""A sentence, and what ends it."""

_CLAUSE_END = re.compile(r"(?<!\d)[,，]|[,，](?!\d)| (?=(?:and|but|so) (?:i|my)\b)", re.IGNORECASE)


def one_row(text: str) -> str:
    """The text on one line, without anything invisible."""
    spaced = clean_line(text)
    return "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def clauses_of(sentence: str) -> list[str]:
    """The parts of a sentence, each with the comma before it."""
    cuts = [0, *(match.start() for match in _CLAUSE_END.finditer(sentence) if match.start()), len(sentence)]
    return [sentence[start:stop] for start, stop in pairwise(cuts)]
