"""How well whole talks fit a query: BM25 over talks, their best lines, and how recent they are."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeVar, cast

from bot.core.clock import DAY_MS
from bot.core.recall import Candidate, Matches, ScoredHit, TalkScore
from bot.recall.query import SearchQuery

K1, B = 2.5, 0.75
"""BM25 of a whole talk: a word that comes again and again is its subject (Robertson's B)."""

LIKE_BEST, NEW_TERMS, FEEDBACK, SHORTEST, MOST_LINES = 3, 40, 0.5, 3, 3
"""Talks that give so many new terms, the first of which counts this much for a message (RM3); letters of such a Latin
term; lines of a talk in which a term is counted."""

LEAST_FEEDBACK = 0.1
"""Below it new terms change no order, and are not looked for."""

MORE, LINES = 0.3, 20
"""A talk's lines count as its best one, and each next one so much less."""

TOGETHER = 0.35
"""What the words of the whole talk count beside its lines; a message twice as much (measured)."""

MEANT, MEANT_MORE, MEANT_LINES = 0.15, 0.5, 5
"""What is like the question in a talk counts beside its words: its likest line, and of so many each next one so much
less (docs/architecture.md)."""

MESSAGE = 9.0
"""Words from which a question is more of a message that goes on with a talk, and how soon one becomes the other."""
STEEP = 5

SIDE = 0.25
"""Terms that tell less do not make a question longer."""

LATELY, HALF_MS = 1.5, 5 * DAY_MS
"""How much more a message's talk of today counts, and in what time that is halved."""

DATED = 3.0
"""How much more a talk counts that was when the question asks about."""

Key = TypeVar("Key")
TalkKey = tuple[int, int]
TalkCounts = dict[int, int]
"""How often something is in each talk, by the talk's place among all."""


@dataclass(frozen=True, slots=True)
class _Words:
    """BM25 over whole talks: how much the length of each holds it back."""

    long: Sequence[float]

    def add(self, figures: dict[int, float], weight: float, times: Mapping[int, int], *, only: bool = False) -> None:
        """Add what a term that is so often in these talks gives each; `only` those that have a figure already."""
        rare = weight * rarity(len(times), len(self.long))
        for place, count in times.items():
            share = rare * count * (K1 + 1) / (count + self.long[place])
            if place in figures:
                figures[place] += share
            elif not only:
                figures[place] = share


def rarity(holding: int, count: int) -> float:
    """BM25's weight of a term that so many of so many documents hold; positive."""
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def rank_talks(
    question: SearchQuery,
    now: int,
    matches: Matches,
    candidates: Sequence[Candidate],
    scored: Sequence[ScoredHit],
    counts: Mapping[int, Mapping[str, int]],
    meant: Mapping[int, float],
) -> tuple[TalkScore, ...]:
    """Every talk that has anything in common with the question, the best first, its figure at most 1; `now` in ms.

    `counts` is how often each term of the question is in each candidate, `meant` how like the question documents are,
    0 to 1.
    """
    if not matches.talks:
        return ()
    talks = {(each.chat_id, each.talk): each for each in matches.talks}
    average = max(1.0, sum(each.length for each in matches.talks) / len(matches.talks))
    words = _Words([K1 * (1 - B + B * each.length / average) for each in matches.talks])
    long = message_share(question)
    keys = tuple(talks)
    whole = {
        keys[place]: figure
        for place, figure in _whole(question, matches, candidates, counts, words, FEEDBACK * long).items()
    }
    heard = [(one.finding.line, one.score) for one in scored if one.finding.line and one.cut != "no_term"]
    lines = talk_sums((((line.chat_id, line.talk), score) for line, score in heard), MORE, LINES)
    of = matches.talk_of
    like = talk_sums(((of[doc], share) for doc, share in meant.items() if doc in of), MEANT_MORE, MEANT_LINES)
    near = {keys[place]: figure for place, figure in like.items()}
    share, beside = TOGETHER * (1 + long), MEANT if near else 0.0
    figures: dict[TalkKey, float] = {}
    for key in whole.keys() | (lines.keys() & talks.keys()) | near.keys():
        at = talks[key].at
        figure = share * whole.get(key, 0.0) + (1 - share) * lines.get(key, 0.0)
        figure += beside * (near.get(key, 0.0) - figure)
        figure *= 1 + LATELY * long * 0.5 ** (max(0, now - at) / HALF_MS)
        asked = any(talks[key].begun < end and start <= at for start, end in question.spans)
        figures[key] = figure * (1 + DATED * asked)
    best = max(figures.values(), default=0.0) or 1.0
    ordered = sorted(figures, key=lambda key: (-figures[key], -talks[key].at, key))
    return tuple(TalkScore(*key, figures[key] / best) for key in ordered)


def message_share(question: SearchQuery) -> float:
    """0 to 1: how much this is a message that goes on with a talk; two characters without spaces are a word."""
    words = sum(
        1.0 if term.isascii() else 0.5
        for term, weight in question.weights.items()
        if weight >= SIDE and (term.isascii() or len(term) > 1)
    )
    return words**STEEP / (words**STEEP + MESSAGE**STEEP)


def _whole(
    question: SearchQuery,
    matches: Matches,
    candidates: Sequence[Candidate],
    counts: Mapping[int, Mapping[str, int]],
    words: _Words,
    feedback: float,
) -> dict[int, float]:
    """The words' figures of whole talks, the best 1. Lines that were looked at tell how often a term is in them."""
    again: dict[str, TalkCounts] = defaultdict(dict)
    for doc, found in counts.items():
        place = matches.talk_of.get(doc)
        for term, count in found.items():
            if count > 1 and place is not None:
                again[term][place] = again[term].get(place, 0) + count - 1
    figures: dict[int, float] = {}
    for posting in matches.postings:
        times = Counter(map(matches.talk_of.get, posting.docs))
        times.pop(None, 0)  # what is no line
        for place, count in again.get(posting.term, {}).items():
            times[place] += count
        words.add(figures, question.weights[posting.term], cast("TalkCounts", times))
    best = max(figures.values(), default=0.0)
    if not best:
        return {}
    shares = {place: figure / best for place, figure in figures.items()}
    if feedback < LEAST_FEEDBACK:
        return shares
    of = matches.talk_of
    lines = [(of[each.finding.doc], each.terms) for each in candidates if each.finding.doc in of]
    # A new term alone brings nothing: it may be anybody's.
    for weight, times_of in _new(question, shares, lines, words):
        words.add(figures, feedback * weight, times_of, only=True)
    best = max(figures.values())
    return {place: figure / best for place, figure in figures.items()}


def _new(
    question: SearchQuery, figures: Mapping[int, float], lines: Sequence[tuple[int, Sequence[str]]], words: _Words
) -> list[tuple[float, TalkCounts]]:
    """Terms of the best talks that the question lacks, with what each tells and the talks that it is seen in."""
    best = {place: figures[place] for place in sorted(figures, key=lambda place: (-figures[place], place))[:LIKE_BEST]}
    told = set[str]().union(*(terms for place, terms in lines if place in best))
    told = {term for term in told if len(term) >= (SHORTEST if term.isascii() else 2)} - question.weights.keys()
    seen: dict[str, TalkCounts] = {term: {} for term in told}
    for place, terms in lines:
        for term in told.intersection(terms):
            times = seen[term]
            times[place] = times.get(place, 0) + 1
    sums: list[tuple[float, str]] = []
    for term, times in seen.items():
        if len(times) > 1:
            sure = sum([figure * min(times.get(place, 0), MOST_LINES) for place, figure in best.items()])
            sums.append((-sure * rarity(len(times), len(words.long)), term))
    ordered = heapq.nsmallest(NEW_TERMS, sums)
    return [(figure / ordered[0][0], seen[term]) for figure, term in ordered]


def talk_sums(lines: Iterable[tuple[Key, float]], decay: float, most: int | None = None) -> dict[Key, float]:
    """The figures of each talk's lines together, the best talk's 1; of `most` lines each next one counts `decay` of the
    one before. Empty when no line has a figure."""
    found: dict[Key, list[float]] = defaultdict(list)
    for key, figure in lines:
        found[key].append(figure)
    counts = [decay**place for place in range(max(map(len, found.values()), default=0))]
    sums = {key: sum(map(mul, sorted(figures, reverse=True)[:most], counts)) for key, figures in found.items()}
    best = max(sums.values(), default=0.0)
    return {key: figure / best for key, figure in sums.items()} if best > 0 else {}
