"""How well whole talks fit a question: their words together, their best lines, and how lately they were. Pure.

A question of a few words is answered by a line; a long message goes on with what was talked about, of late mostly.
Numbers were measured on conversations in two languages; none is tuned to one of them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.recall.question import Question
from bot.types.duration import DAY_MS
from bot.types.recall import Candidate, Matches, Scored, Talk, TalkFigure

K1, B = 2.5, 0.75
"""BM25 of a whole talk: a word that comes again and again is its subject (Robertson's B)."""

LIKE_BEST, NEW_TERMS, FEEDBACK, SHORTEST, MOST_LINES = 3, 40, 0.5, 3, 3
"""Talks that give so many new terms, the first of which counts this much for a message (RM3); letters of such a Latin
term; lines of a talk in which a term is counted."""

LEAST_FEEDBACK = 0.05
"""Below it new terms change no order, and are not looked for."""

MORE, LINES = 0.3, 20
"""A talk's lines count as its best one, and each next one so much less."""

TOGETHER = 0.35
"""What the words of the whole talk count beside its lines; a message twice as much (measured)."""

MESSAGE = 9.0
"""Words from which a question is more of a message that goes on with a talk, and how soon one becomes the other."""
STEEP = 5

SIDE = 0.25
"""Terms that tell less do not make a question longer."""

LATELY, HALF_MS = 1.5, 5 * DAY_MS
"""How much more a message's talk of today counts, and in what time that is halved."""

DATED = 3.0
"""How much more a talk counts that was when the question asks about."""

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Words:
    """BM25 over whole talks, and their mean length in terms."""

    talks: Mapping[Key, Talk]
    average: float

    def shares(self, weight: float, times: Mapping[Key, int]) -> Iterable[tuple[Key, float]]:
        """What a term that is so often in these talks gives each."""
        rare = weight * self.rarity(len(times))
        for key, count in times.items():
            long = K1 * (1 - B + B * self.talks[key].length / self.average)
            yield key, rare * count * (K1 + 1) / (count + long)

    def rarity(self, holding: int) -> float:
        return math.log(1 + (len(self.talks) - holding + 0.5) / (holding + 0.5))


def talks_of(
    question: Question, now: int, matches: Matches, candidates: Sequence[Candidate], scored: Sequence[Scored]
) -> tuple[TalkFigure, ...]:
    """Every talk that has anything in common with the question, the best first, its figure at most 1; `now` in ms."""
    if not matches.talks:
        return ()
    talks = {(each.chat_id, each.talk): each for each in matches.talks}
    words = _Words(talks, max(1.0, sum(each.length for each in matches.talks) / len(matches.talks)))
    message = _message(question)
    whole = _whole(question, matches, candidates, words, FEEDBACK * message)
    lines = _lines(scored)
    share = TOGETHER * (1 + message)
    figures: dict[Key, float] = {}
    for key in whole.keys() | (lines.keys() & talks.keys()):
        at = talks[key].at
        figure = share * whole.get(key, 0.0) + (1 - share) * lines.get(key, 0.0)
        figure *= 1 + LATELY * message * 0.5 ** (max(0, now - at) / HALF_MS)
        asked = any(talks[key].begun < end and start <= at for start, end in question.spans)
        figures[key] = figure * (1 + DATED * asked)
    best = max(figures.values(), default=0.0) or 1.0
    ordered = sorted(figures, key=lambda key: (-figures[key], -talks[key].at, key))
    return tuple(TalkFigure(*key, figures[key] / best) for key in ordered)


def _message(question: Question) -> float:
    """0 to 1: how much this is a message that goes on with a talk; two characters without spaces are a word."""
    words = sum(
        1.0 if term.isascii() else 0.5
        for term, weight in question.weights.items()
        if weight >= SIDE and (term.isascii() or len(term) > 1)
    )
    return words**STEEP / (words**STEEP + MESSAGE**STEEP)


def _whole(
    question: Question, matches: Matches, candidates: Sequence[Candidate], words: _Words, feedback: float
) -> dict[Key, float]:  # fmt: skip
    """The words' figures of whole talks, the best 1. Lines that were looked at tell how often a term is in them."""
    of = {number: key for key, talk in words.talks.items() for number in talk.docs}
    repeated: dict[str, Counter[Key]] = defaultdict(Counter)
    for each in candidates:
        key = of.get(each.finding.doc)
        if key is not None and len(set(each.terms)) < len(each.terms):
            for term in filter(question.weights.__contains__, each.terms):
                repeated[term][key] += 1
            for term in question.weights.keys() & set(each.terms):
                repeated[term][key] -= 1
    figures: dict[Key, float] = defaultdict(float)
    for posting in matches.postings:
        counted = Counter(map(of.get, posting.docs))
        times = Counter({key: count for key, count in counted.items() if key is not None})
        times.update(repeated.get(posting.term, {}))
        for key, share in words.shares(question.weights[posting.term], times):
            figures[key] += share
    best = max(figures.values(), default=0.0)
    if not best:
        return {}
    if feedback < LEAST_FEEDBACK:
        return {key: figure / best for key, figure in figures.items()}
    for weight, seen in _new(question, {key: figure / best for key, figure in figures.items()}, candidates, of, words):
        for key, share in words.shares(feedback * weight, seen):
            if key in figures:  # a new term alone brings nothing: it may be anybody's
                figures[key] += share
    best = max(figures.values())
    return {key: figure / best for key, figure in figures.items()}


def _new(
    question: Question, figures: Mapping[Key, float], candidates: Sequence[Candidate], of: Mapping[int, Key],
    words: _Words,
) -> list[tuple[float, Mapping[Key, int]]]:  # fmt: skip
    """Terms of the best talks that the question lacks, with what each tells and the talks that it is seen in."""
    best = {key: figures[key] for key in sorted(figures, key=lambda key: (-figures[key], key))[:LIKE_BEST]}
    told = {
        term
        for each in candidates
        if of.get(each.finding.doc) in best
        for term in each.terms
        if len(term) >= (SHORTEST if term.isascii() else 2)
    } - question.weights.keys()
    seen: dict[str, Counter[Key]] = defaultdict(Counter)
    for each in candidates:
        key = of.get(each.finding.doc)
        if key is not None:
            for term in told.intersection(each.terms):
                seen[term][key] += 1
    sums = {
        term: sum(best[key] * min(times[key], MOST_LINES) for key in best.keys() & times.keys())
        * words.rarity(len(times))
        for term, times in seen.items()
        if len(times) > 1
    }
    ordered = sorted(sums, key=lambda term: (-sums[term], term))[:NEW_TERMS]
    return [(sums[term] / sums[ordered[0]], seen[term]) for term in ordered]


def _lines(scored: Sequence[Scored]) -> dict[Key, float]:
    """The lines' figures of each talk, the best 1."""
    found: dict[Key, list[float]] = defaultdict(list)
    for one in scored:
        line = one.finding.line
        if line is not None and one.cut != "no_term":
            found[line.chat_id, line.talk].append(one.score)
    sums = {
        key: sum(score * MORE**place for place, score in enumerate(sorted(scores, reverse=True)[:LINES]))
        for key, scores in found.items()
    }
    best = max(sums.values(), default=0.0)
    return {key: figure / best for key, figure in sums.items()} if best > 0 else {}
