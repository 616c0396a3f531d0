"""Which ranked findings are brought: diversity over the query's terms, a place for kept memories, a stricter rule
for injection."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import heappop, heapreplace, nlargest
from itertools import filterfalse

from bot.core.recall import Matches, RecallTrace, ScoredHit
from bot.recall.query import SearchQuery
from bot.text.similarity import COMMON_CHARS
from bot.text.terms import STOP_WORDS, informativeness, query_terms, search_terms, stem

LEAST_SHARE = 0.3
"""What comes holds at least this part of what the message is about, by the weight of its telling words.

Measured on 15 people with 60 memories each: of 300 ordinary messages 2 got a line; of 180 questions about what was told
68 % got a right one unasked, the others are for memory_recall. Half the lines of people who talk about the same things
(an uncle's birthday) get one. Only memories come so: an opening tells the last summaries already, and what is long
shares words with any message.
"""

DATE_WORDS = re.compile(
    "[今昨明后前当]天|[今昨明当]晚|[今去明前后]年|[上下本这]周|[上下本这]个|个月|[周天][一二三四五六日末]|周末|星期|礼拜|[上下中]午|早上|晚上|几点|时候|日期"
    "|today|tonight|yesterday|tomorrow|week|weekend|month|year|night|morning|evening|afternoon|[a-z]{3,6}day"
)
"""When something was is found by its time: a day in common is no subject."""

LEAST_WORD = 0.5
"""And at least one word that tells so much: 东西 and 今天 are in every talk."""

FITS = 0.2
"""The share of the best one's telling words from which on a kept memory has a place (measured: what matters had .28 and
more, what did not 0)."""

SINGLE = 0.3
"""A single character that tells less is part of a word or in any talk: 狗 .53, 茶 .33, but 花 .29 and 吃 .08."""

SURE, LIKER = 2, 0.5
"""Of what words find unasked so many come as they are, and each next one only if it is so much liker the message than
the mean of all memories, in their standard deviations (docs/recall.md)."""

STANDS_OUT, BEFORE_NEXT = 3.5, 1.0
"""A memory that is so far above that mean, and so far above the next one, comes without a word in common (docs/recall.md)."""

MOST_ABOVE = 6
"""Memories that are read to see which of them hold, and are not told yet, before they are compared."""

FEW_KNOWN = 15
"""Of fewer memories, which may all be about one thing, a mean tells nothing: words alone decide."""

READ = 20
"""Documents other than lines that are looked at beside the best of all (kept ones are among them)."""

REPEATED_TERM = 0.6
"""What a term still tells in a line for each line before it that holds it (measured)."""

DIVERSITY_SHARE = 0.5
"""The share of a figure that such terms decide; of several questions in one text all, for each wants its line."""


def called_for(trace: RecallTrace, text: str, names: Iterable[str] = ()) -> tuple[ScoredHit, ...]:
    """Of what a recall chose, best first, what the message `text` itself is about, whatever else was searched with.

    `names` are nuan's: to be called says nothing. It may load a dictionary: in a thread.
    """
    for name in names:
        text = text.replace(name, " ")
    about = {term: weight for term, weight in _subject_weights(text).items() if len(term) > 1}
    whole = sum(about.values())
    found: list[ScoredHit] = []
    for one in trace.chosen:
        there = set(search_terms(one.finding.text))
        shared = [weight for term, weight in about.items() if term in there]
        if shared and max(shared) >= LEAST_WORD and sum(shared) >= LEAST_SHARE * whole:
            found.append(one)
    return tuple(found)


def without_unlike(found: Sequence[ScoredHit], above: Mapping[int, float]) -> tuple[ScoredHit, ...]:
    """The same without what is found by words in a later place and is not liker the message than others are.

    `above` is how far each document stands above the mean; what has no vector yet stays.
    """
    if len(above) < FEW_KNOWN:
        return tuple(found)
    return tuple(one for place, one in enumerate(found) if place < SURE or above.get(one.finding.doc, LIKER) >= LIKER)


def far_above(above: Mapping[int, float]) -> Sequence[int]:
    """The likest documents, best first, where one of them may stand out: it, and what might keep it from that."""
    if len(above) < FEW_KNOWN or max(above.values()) < STANDS_OUT:
        return ()
    best = nlargest(MOST_ABOVE, above, key=above.__getitem__)
    return [number for number in best if above[number] > STANDS_OUT - BEFORE_NEXT]


def standing_out(above: Mapping[int, float], left_out: Container[int] = ()) -> int | None:
    """The document that is liker the message than all others are by far, but for those left out, if there is one."""
    best = nlargest(2, (number for number in above if number not in left_out), key=above.__getitem__)
    if len(above) < FEW_KNOWN or len(best) < 2 or above[best[0]] < STANDS_OUT:
        return None
    return best[0] if above[best[0]] - above[best[1]] >= BEFORE_NEXT else None


def score_text(one: ScoredHit) -> str:
    """What made a line come, in figures: never text."""
    parts = " ".join(f"{name} {figure:.2f}" for name, figure in one.parts)
    return f"{one.score:.2f} = {parts}"


def _subject_weights(text: str) -> Mapping[str, float]:
    """The stems of what a text is about, each with how telling it is in itself."""
    return {
        stem(term): informativeness(term)
        for term in query_terms(text)
        if term not in STOP_WORDS and COMMON_CHARS.isdisjoint(term) and not DATE_WORDS.fullmatch(term)
    }


def best_besides_lines(matches: Matches, sums: Mapping[int, float]) -> Sequence[int]:
    """Of the documents with these figures those that are no lines, the READ best: there are always more lines."""
    if not matches.talks:
        return ()
    others = filterfalse(matches.length_of.__contains__, sums)
    return sorted(others, key=lambda doc: (-sums[doc], -doc))[:READ]


def with_kept_memory(text: str, done: Sequence[ScoredHit]) -> tuple[ScoredHit, ...]:
    """The same with a place, the second, for the kept memory that fits best: the last one brought goes for it.

    What counts is how telling the words are in themselves: of what everybody just talked about the index thinks little.
    The first place stays with what fits best, also where it is the only one. It may load a dictionary: in a thread.
    """
    places = [place for place, one in enumerate(done) if not one.cut]
    kept = [
        place
        for place, one in enumerate(done)
        if (memory := one.finding.memory) and memory.kept and one.cut in ("", "limit")
    ]
    if len(places) < 2 or all(not done[place].cut for place in kept):
        return tuple(done)
    words = {term: figure for term, figure in _subject_weights(text).items() if len(term) > 1 or figure >= SINGLE}
    figures = {place: _shared_weight(words, done[place].finding.text) for place in dict.fromkeys((*places, *kept))}
    best = max(kept, key=lambda place: (figures[place], -place))
    if not done[best].cut or not figures[best] or figures[best] < FITS * max(figures.values()):
        return tuple(done)
    last, second = places[-1], places[1]
    rest = [one._replace(cut="limit") if place == last else one for place, one in enumerate(done) if place != best]
    return (*rest[:second], done[best]._replace(cut=""), *rest[second:])


def _shared_weight(words: Mapping[str, float], text: str) -> float:
    return sum(words[term] for term in words.keys() & set(search_terms(text)))


def diversified(
    question: SearchQuery, ordered: Sequence[ScoredHit], shares: Mapping[int, Mapping[str, float]], most: int
) -> list[ScoredHit]:
    """The same, best first: `most` places are given one after the other, each to what tells most beside those before.

    `shares` is what each term of the question gives a document, by its number. The first place is never another's, and
    what is cut stays behind. Who asks for all of a kind wants lines that are alike: their order stays.
    """
    if question.lists:
        return list(ordered)
    share = 1.0 if question.clauses else DIVERSITY_SHARE
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
                left[term] = left.get(term, 1.0) * REPEATED_TERM
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


def _as(one: ScoredHit, score: float) -> ScoredHit:
    return (
        ScoredHit(one.finding, score, (*one.parts, ("new", score / one.score)), one.cut) if score < one.score else one
    )
