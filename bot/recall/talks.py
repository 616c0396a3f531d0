"""How well whole talks fit a query: BM25 over talks, their best lines, and how recent they are."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar, cast

from bot.core.clock import DAY_MS
from bot.core.recall import Candidate, IndexedTalk, Matches, TalkScore
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
less (docs/recall.md)."""

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


class _TalkFigures:
    """BM25 over whole talks: what each has so far, by its place."""

    def __init__(self, talks: Sequence[IndexedTalk]) -> None:
        average = max(1.0, sum(each.length for each in talks) / len(talks))
        self._long = [K1 * (1 - B + B * each.length / average) for each in talks]
        """How much the length of each holds it back."""
        self._figures = [0.0] * len(talks)

    def add(self, weight: float, times: Mapping[int, int]) -> None:
        """Add what a term that is so often in these talks gives each."""
        rare = weight * self.rarity(len(times))
        figures, long = self._figures, self._long
        for place, count in times.items():
            figures[place] += rare * count * (K1 + 1) / (count + long[place])

    def rarity(self, holding: int) -> float:
        """The weight of a term that so many talks hold."""
        return rarity(holding, len(self._long))

    def shares(self, places: Iterable[int]) -> dict[int, float]:
        """The figures of these, the best 1; empty when none has any."""
        figures = {place: self._figures[place] for place in places}
        best = max(figures.values(), default=0.0)
        return {place: figure / best for place, figure in figures.items()} if best else {}


def rarity(holding: int, count: int) -> float:
    """BM25's weight of a term that so many of so many documents hold; positive."""
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def rank_talks(
    question: SearchQuery,
    now: int,
    matches: Matches,
    candidates: Sequence[Candidate],
    heard: Iterable[tuple[TalkKey, float]],
    counts: Mapping[int, Mapping[str, int]],
    meant: Mapping[int, float],
) -> tuple[TalkScore, ...]:
    """Every talk that has anything in common with the question, the best first, its figure at most 1; `now` in ms.

    `heard` are the figures of lines by their talks, `counts` is how often each term of the question is in each candidate,
    `meant` how like the question documents are, 0 to 1.
    """
    if not matches.talks:
        return ()
    long = message_share(question)
    places = {(each.chat_id, each.talk): place for place, each in enumerate(matches.talks)}
    whole = _whole(question, matches, candidates, counts, FEEDBACK * long)
    lines = {places[key]: figure for key, figure in talk_sums(heard, MORE, LINES).items() if key in places}
    of = matches.talk_of
    near = talk_sums(((of[doc], share) for doc, share in meant.items() if doc in of), MEANT_MORE, MEANT_LINES)
    share, beside = TOGETHER * (1 + long), MEANT if near else 0.0
    found: list[tuple[float, int, int, int]] = []
    for place in whole.keys() | lines.keys() | near.keys():
        talk = matches.talks[place]
        figure = share * whole.get(place, 0.0) + (1 - share) * lines.get(place, 0.0)
        figure += beside * (near.get(place, 0.0) - figure)
        figure *= 1 + LATELY * long * 0.5 ** (max(0, now - talk.at) / HALF_MS)
        if question.spans and any(talk.begun < end and start <= talk.at for start, end in question.spans):
            figure *= 1 + DATED
        found.append((-figure, -talk.at, talk.chat_id, talk.talk))
    found.sort()
    best = (-found[0][0] if found else 0.0) or 1.0
    return tuple([TalkScore(chat, talk, -figure / best) for figure, _, chat, talk in found])


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
    feedback: float,
) -> dict[int, float]:
    """The words' figures of whole talks, the best 1. Lines that were looked at tell how often a term is in them."""
    of = matches.talk_of
    again: dict[str, TalkCounts] = defaultdict(dict)
    for doc, found in counts.items():
        if sum(found.values()) > len(found) and (place := of.get(doc)) is not None:
            for term, count in found.items():
                if count > 1:
                    again[term][place] = again[term].get(place, 0) + count - 1
    words = _TalkFigures(matches.talks)
    holding = set[int]()
    for posting in matches.postings:
        times = Counter(map(of.get, posting.docs))
        times.pop(None, 0)  # what is no line
        for place, count in again.get(posting.term, {}).items():
            times[place] += count
        holding.update(cast("TalkCounts", times))
        words.add(question.weights[posting.term], cast("TalkCounts", times))
    shares = words.shares(holding)
    if not shares or feedback < LEAST_FEEDBACK:
        return shares
    lines = [(of[each.finding.doc], each.terms) for each in candidates if each.finding.doc in of]
    # A new term alone brings nothing: it may be anybody's.
    for weight, times_of in _new(question, shares, lines, words):
        words.add(feedback * weight, times_of)
    return words.shares(holding)


def _new(
    question: SearchQuery, figures: Mapping[int, float], lines: Sequence[tuple[int, Sequence[str]]], words: _TalkFigures
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
    rarities = [words.rarity(holding) for holding in range(max(map(len, seen.values()), default=0) + 1)]
    sums: list[tuple[float, str]] = []
    for term, times in seen.items():
        if len(times) > 1:
            sure = sum([figure * min(times[place], MOST_LINES) for place, figure in best.items() if place in times])
            sums.append((-sure * rarities[len(times)], term))
    ordered = heapq.nsmallest(NEW_TERMS, sums)
    return [(figure / ordered[0][0], seen[term]) for figure, term in ordered]


def talk_sums(lines: Iterable[tuple[Key, float]], decay: float, most: int | None = None) -> dict[Key, float]:
    """The figures of each talk's lines together, the best talk's 1; of `most` lines each next one counts `decay` of the
    one before. Empty when no line has a figure."""
    told: dict[Key, int] = {}
    sums: dict[Key, float] = {}
    for key, figure in sorted(lines, key=itemgetter(1), reverse=True):
        before = told.get(key, 0)
        if most is None or before < most:
            told[key] = before + 1
            sums[key] = sums.get(key, 0.0) + figure * decay**before
    best = max(sums.values(), default=0.0)
    return {key: figure / best for key, figure in sums.items()} if best > 0 else {}
