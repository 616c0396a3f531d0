"""Which memories fit a question best: three rankings of what the store let through. Pure; it knows no audience."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.recall.fusion import Likeness, Missing, fuse, places
from bot.recall.question import Question
from bot.text.fold import fold
from bot.text.tokens import index_terms
from bot.types.memory import Candidate, Memory, Ranking

RANKINGS: tuple[Ranking, ...] = ("keyword", "v2", "hybrid")

TERM_WEIGHT = 4.0
"""What a shared term counts: a memory is one statement, so each of its terms is a trigger (seed Recall: trigger 4)."""

LONGEST_TERM = 3.0
"""A term weighs half its characters, at most this (seed Recall: len/2, up to 3)."""

SATURATION = 18.0
"""Relevance is 1-e^(-raw/18) (seed Recall, v2)."""

HALF_LIFE_DAYS = 14.0
"""Age at which recency is one half (seed Recall, v2)."""

RELEVANCE, RECENCY, IMPORTANCE = 0.6, 0.2, 0.2
"""Weights of the mix (seed Recall, v2)."""

COUNT_SHARE, COUNT_FULL, FEEDBACK_SHARE, NO_FEEDBACK = 0.8, 20, 0.2, 0.5
"""Importance is 0.8·ln(1+n)/ln(21) of how often it was told, and 0.2 of feedback, 0.5 where there is none (v2)."""

LEAST_RELEVANCE, LEAST_SCORE = 0.06, 0.30
"""Cut-offs (seed Recall, v2).

Age orders, it does not hide: LEAST_SCORE asks for the score as it was on the first day. In the reference an allergy
that was told once is found no more after two months (measured: .282 < .30).
"""

LIST = 50
"""Places in the dense list (seed Recall, hybrid: 20, in both; of those found by words all have a place)."""

DAY_MS = 86_400_000

NOTHING_ALIKE = Likeness(missing="off")

Cut = Literal["", "no_term", "relevance", "score", "duplicate", "limit"]
"""Why a candidate is not brought: nothing in common, below a cut-off, told already, too many."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with the figure that orders it and what that is made of; `cut` is "" for what is brought."""

    memory: Memory
    score: float
    parts: tuple[tuple[str, float], ...]
    cut: Cut = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How a question was answered: its terms, the cut-offs, and every candidate, best first.

    `missing` says why a hybrid recall went by words alone.
    """

    ranking: Ranking
    terms: tuple[str, ...]
    thresholds: tuple[tuple[str, float], ...]
    scored: tuple[Scored, ...]
    missing: Missing = ""

    @property
    def chosen(self) -> tuple[Scored, ...]:
        """What is brought, best first."""
        return tuple(one for one in self.scored if not one.cut)


def rank(
    ranking: Ranking, question: Question, candidates: Sequence[Candidate], now: int, limit: int,
    likeness: Likeness = NOTHING_ALIKE,
) -> Trace:  # fmt: skip
    """At most `limit` of the candidates, and why these; `now` in ms. Only hybrid looks at `likeness`."""
    if ranking == "keyword":
        scored, thresholds = _keyword(candidates)
    elif ranking == "v2":
        scored, thresholds = _v2(question, candidates, now)
    else:
        scored, thresholds = _hybrid(question, candidates, now, likeness)
    ordered = sorted(scored, key=_place)
    limited = tuple(_limited(ordered, limit, distinct=ranking != "keyword"))
    return Trace(ranking, question.terms, thresholds, limited, likeness.missing if ranking == "hybrid" else "")


def raw_score(terms: Iterable[str], text: str) -> float:
    """What a text has of these terms: 4 for each, times half its length up to 3.

    A single character counts only where no longer shared term holds it: 花 says nothing beside 花生.
    """
    there = set(index_terms(text))
    shared = [term for term in dict.fromkeys(terms) if term in there]
    longer = "\n".join(term for term in shared if len(term) > 1)
    return sum(
        TERM_WEIGHT * min(len(term) / 2, LONGEST_TERM) for term in shared if len(term) > 1 or term not in longer
    )  # fmt: skip


def relevance(raw: float) -> float:
    """0 to 1."""
    return 1 - math.exp(-raw / SATURATION)


def recency(memory: Memory, now: int) -> float:
    """1 when it is new, told anew or praised, one half 14 days later."""
    age = max(0, now - max(memory.created_at, memory.updated_at, memory.praised_at)) / DAY_MS
    return float(0.5 ** (age / HALF_LIFE_DAYS))


def importance(memory: Memory) -> float:
    """0 to 1, by how often it was told and what people thought of the replies that it was told to."""
    told = min(1.0, math.log(1 + max(memory.importance, 0)) / math.log(1 + COUNT_FULL))
    liked = NO_FEEDBACK if memory.feedback is None else (memory.feedback + 1) / 2
    return COUNT_SHARE * told + FEEDBACK_SHARE * liked


def _keyword(candidates: Sequence[Candidate]) -> tuple[list[Scored], tuple[tuple[str, float], ...]]:
    """As the full-text index orders them: BM25, rare terms first."""
    return [
        Scored(each.memory, 0.0, (), "no_term") if each.bm25 is None
        else Scored(each.memory, each.bm25, (("bm25", each.bm25),)) for each in candidates
    ], ()  # fmt: skip


def _v2(
    question: Question, candidates: Sequence[Candidate], now: int
) -> tuple[list[Scored], tuple[tuple[str, float], ...]]:  # fmt: skip
    """Words, age and importance."""
    scored: list[Scored] = []
    for each in candidates:
        raw = raw_score(question.terms, each.memory.text)
        score, parts, cut = _mix(each.memory, relevance(raw), now)
        scored.append(Scored(each.memory, score, (("raw", raw), *parts), cut if raw else "no_term"))
    return scored, (("relevance", LEAST_RELEVANCE), ("score", LEAST_SCORE))


def _hybrid(
    question: Question, candidates: Sequence[Candidate], now: int, likeness: Likeness
) -> tuple[list[Scored], tuple[tuple[str, float], ...]]:  # fmt: skip
    """What v2 brings and what is alike, fused by their places: what either list alone has found comes, too."""
    worded, cuts = _v2(question, candidates, now)
    lexical = places(one.memory.id for one in sorted(worded, key=_place) if not one.cut)
    number_of = {each.doc: each.memory.id for each in candidates}
    like = {number_of[doc]: found for doc, found in likeness.found.items() if doc in number_of}
    dense = {number: place for number, (place, _) in like.items()}
    fused = fuse([(1.0, lexical), (likeness.weight, dense)])
    scored: list[Scored] = []
    for one in worded:
        number = one.memory.id
        lists = [
            (name, float(found[number])) for name, found in (("lexical", lexical), ("dense", dense)) if number in found
        ]
        alike = (("cosine", like[number][1]),) if number in like else ()
        cut: Cut = "" if number in fused else one.cut
        scored.append(Scored(one.memory, fused.get(number, 0.0), (("v2", one.score), *one.parts, *alike, *lists), cut))
    return scored, (*cuts, ("weight", likeness.weight))


def _mix(memory: Memory, found: float, now: int) -> tuple[float, tuple[tuple[str, float], ...], Cut]:
    fresh, told = recency(memory, now), importance(memory)
    score = RELEVANCE * found + RECENCY * fresh + IMPORTANCE * told
    new = score + RECENCY * (1 - fresh)
    cut: Cut = "relevance" if found < LEAST_RELEVANCE else "score" if new < LEAST_SCORE else ""
    return score, (("relevance", found), ("recency", fresh), ("importance", told)), cut


def _place(one: Scored) -> tuple[bool, float, float, int]:
    """What shares nothing comes last; of equals the better by words first, then the newer."""
    return one.cut == "no_term", -one.score, -dict(one.parts).get("v2", 0.0), -one.memory.id


def _limited(ordered: Iterable[Scored], limit: int, *, distinct: bool) -> list[Scored]:
    """The same with what is one too many marked; two people who say the same told two things."""
    seen: set[tuple[int | None, str]] = set()
    done: list[Scored] = []
    brought = 0
    for one in ordered:
        cut = one.cut
        if not cut and distinct:
            key = (one.memory.owner_id, fold(one.memory.text))
            cut = "duplicate" if key in seen else ""
            seen.add(key)
        if not cut and brought >= limit:
            cut = "limit"
        brought += not cut
        done.append(replace(one, cut=cut))
    return done
