"""A short list that answers all of a question: what the lines before it tell already, a next one tells less. Pure.

After maximal marginal relevance (Carbonell and Goldstein, 1998), by the question's terms instead of likeness: 张伟和李婷
谁更高 needs a line of each, and not five of 张伟.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heapreplace

from bot.recall.question import Question
from bot.types.recall import Scored

AGAIN = 0.6
"""What a term still tells in a line for each line before it that holds it (measured)."""

ONE = 0.5
"""The share of a figure that such terms decide; of several questions in one text all, for each wants its line."""


def covering(
    question: Question, ordered: Sequence[Scored], shares: Mapping[int, Mapping[str, float]], most: int
) -> list[Scored]:
    """The same, best first: `most` places are given one after the other, each to what tells most beside those before.

    `shares` is what each term of the question gives a document, by its number. The first place is never another's, and
    what is cut stays behind. Who asks for all of a kind wants lines that are alike: their order stays.
    """
    if question.lists:
        return list(ordered)
    share = 1.0 if question.clauses else ONE
    worth = [(-one.score, place, 0) for place, one in enumerate(ordered) if not one.cut]  # ordered: a heap already
    left: dict[str, float] = {}
    taken: dict[int, float] = {}
    # Figures only fall while terms are told, so that an old one that is best when weighed anew is the best of all.
    while worth and len(taken) < most:
        _, place, weighed = worth[0]
        one = ordered[place]
        found = shares.get(one.finding.doc, {})
        if weighed == len(taken):
            taken[place] = -heappop(worth)[0]
            for term in found:
                left[term] = left.get(term, 1.0) * AGAIN
            continue
        whole = sum(found.values())
        news = sum(figure * left.get(term, 1.0) for term, figure in found.items()) / whole if whole else 1.0
        heapreplace(worth, (-one.score * (1 - share + share * news), place, len(taken)))
    least = min(taken.values(), default=0.0)
    return [
        *(_as(ordered[place], score) for place, score in taken.items()),
        *(
            one if one.cut or one.score <= least else _as(one, least)
            for place, one in enumerate(ordered)
            if place not in taken
        ),
    ]


def _as(one: Scored, score: float) -> Scored:
    return Scored(one.finding, score, (*one.parts, ("new", score / one.score)), one.cut) if score < one.score else one
