"""The reference's way to rank, with its numbers and its faults, to compare with (seed Recall, v2). Pure."""

import math
import re
from collections.abc import Iterable

from bot.recall.rules import Rules
from bot.text.fold import fold
from bot.text.tokens import STOP, index_terms, runs
from bot.types.duration import DAY_MS

MOST_TOKENS = 24
"""Tokens of a question, in the order of appearance: what comes later is not looked for."""

WHOLE_RUN = 6
"""A Chinese run of at most so many characters is a token itself."""

TERM_WEIGHT = 4.0
"""What a shared term counts where a text is one statement, so that each of its terms is a trigger (trigger 4)."""

LONGEST_TERM = 3.0
"""A term weighs half its characters, at most this (len/2, up to 3)."""

COUNT_SHARE, FEEDBACK_SHARE, NO_FEEDBACK = 0.8, 0.2, 0.5
"""Importance is 0.8·ln(1+n)/ln(1+full) of how often it was told, and 0.2 of feedback (none: one half)."""

_SHORT = re.compile(r"^.$", re.DOTALL)


def tokens(text: str) -> tuple[str, ...]:
    """Of Chinese runs the whole if it is short, then all threes, then all pairs; Latin words of two letters or more."""
    found: list[str] = []
    for run, word in runs(fold(text)):
        if word:
            found.append(word)
            continue
        found += [run] if len(run) <= WHOLE_RUN else []
        found += [run[index : index + size] for size in (3, 2) for index in range(len(run) - size + 1)]
    telling = (token for token in found if token not in STOP and not _SHORT.match(token))
    return tuple(dict.fromkeys(telling))[:MOST_TOKENS]


def content(found: Iterable[str], text: str) -> float:
    """What a text has of these tokens: each half its length, 1 to 3 (content 1w)."""
    folded = fold(text)
    return sum(min(max(len(token) / 2, 1.0), LONGEST_TERM) for token in found if token in folded)


def raw_score(terms: Iterable[str], text: str) -> float:
    """What a text has of these terms when each is a trigger: 4 for each, times half its length up to 3.

    A single character counts only where no longer shared term holds it: 花 says nothing beside 花生.
    """
    there = set(index_terms(text))
    shared = [term for term in dict.fromkeys(terms) if term in there]
    longer = "\n".join(term for term in shared if len(term) > 1)
    return sum(
        TERM_WEIGHT * min(len(term) / 2, LONGEST_TERM) for term in shared if len(term) > 1 or term not in longer
    )  # fmt: skip


def relevance(raw: float, saturation: float = 18.0) -> float:
    """0 to 1: 1-e^(-raw/18)."""
    return 1 - math.exp(-raw / saturation)


def importance(told: int, feedback: float | None, rules: Rules) -> float:
    """0 to 1, by how often it was told and what people thought of the replies that it was told to (-1 to 1)."""
    share = min(1.0, math.log(1 + max(told, 0)) / math.log(1 + rules.count_saturation))
    return COUNT_SHARE * share + FEEDBACK_SHARE * (NO_FEEDBACK if feedback is None else (feedback + 1) / 2)


def recency(at: int, now: int, rules: Rules) -> float:
    """1 when it is new, one half after the half-life."""
    return float(0.5 ** (max(0, now - at) / DAY_MS / rules.half_life_days))
