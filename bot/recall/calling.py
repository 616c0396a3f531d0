"""Does a message call for what was found? A stricter rule than a recall's: nobody asked for these lines. Pure."""

import re
from collections.abc import Iterable, Mapping

from bot.text.echo import COMMON
from bot.text.stem import stem
from bot.text.terms import search_terms
from bot.text.tokens import STOP, query_terms, telling
from bot.types.recall import Scored, Trace

LEAST_SHARE = 0.3
"""What comes holds at least this part of what the message is about, by the weight of its telling words.

Measured on 15 people with 60 memories each: of 300 ordinary messages 2 got a line; of 180 questions about what was told
68 % got a right one unasked, the others are for memory_recall. Half the lines of people who talk about the same things
(an uncle's birthday) get one. Only memories come so: an opening tells the last summaries already, and what is long
shares words with any message.
"""

DATED = re.compile(
    "[今昨明后前当]天|[今昨明当]晚|[今去明前后]年|[上下本这]周|[上下本这]个|个月|[周天][一二三四五六日末]|周末|星期|礼拜|[上下中]午|早上|晚上|几点|时候|日期"
    "|today|tonight|yesterday|tomorrow|week|weekend|month|year|night|morning|evening|afternoon|[a-z]{3,6}day"
)
"""When something was is found by its time: a day in common is no subject."""

LEAST_WORD = 0.5
"""And at least one word that tells so much: 东西 and 今天 are in every talk."""


def calls_for(trace: Trace, text: str, names: Iterable[str] = ()) -> tuple[Scored, ...]:
    """Of what a recall chose, best first, what the message `text` itself is about, whatever else was searched with.

    `names` are nuan's: to be called says nothing. It may load a dictionary: in a thread.
    """
    for name in names:
        text = text.replace(name, " ")
    about = _weights(query_terms(text))
    whole = sum(about.values())
    found: list[Scored] = []
    for one in trace.chosen:
        there = set(search_terms(one.finding.text))
        shared = [weight for term, weight in about.items() if term in there]
        if shared and max(shared) >= LEAST_WORD and sum(shared) >= LEAST_SHARE * whole:
            found.append(one)
    return tuple(found)


def why(one: Scored) -> str:
    """What made a line come, in figures: never text."""
    parts = " ".join(f"{name} {figure:.2f}" for name, figure in one.parts)
    return f"{one.score:.2f} = {parts}"


def _weights(terms: Iterable[str]) -> Mapping[str, float]:
    words = (term for term in terms if len(term) > 1 and term not in STOP and COMMON.isdisjoint(term))
    return {stem(term): telling(term) for term in words if not DATED.fullmatch(term)}
