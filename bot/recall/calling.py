"""Does a message call for what was found? A stricter rule than a recall's: nobody asked for these lines. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.recall.ranking import LONGEST_TERM, Scored, Trace
from bot.text.echo import COMMON
from bot.text.tokens import STOP, index_terms

LEAST_SHARE = 0.35
"""What is brought holds at least this part of what the message is about, by the weight of its telling words."""


def calls_for(trace: Trace) -> tuple[Scored, ...]:
    """Of what a recall chose, best first, what the message itself is about."""
    about = _weights(trace.terms)
    whole = sum(about.values())
    found = []
    for one in trace.chosen:
        there = set(index_terms(one.memory.text))
        shared = sum(weight for term, weight in about.items() if term in there)
        if whole and shared / whole >= LEAST_SHARE:
            found.append(one)
    return tuple(found)


def why(one: Scored) -> str:
    """What made a line come, in figures: never text."""
    parts = "  ".join(f"{name} {figure:.2f}" for name, figure in one.parts)
    return f"{one.score:.2f}: {parts}"


def _weights(terms: Iterable[str]) -> Mapping[str, float]:
    return {
        term: min(len(term) / 2, LONGEST_TERM)
        for term in terms
        if len(term) > 1 and term not in STOP and COMMON.isdisjoint(term)
    }
