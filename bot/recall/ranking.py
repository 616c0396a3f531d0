"""Which memories fit a question best: three rankings of what the store let through. Pure; it knows no audience."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.recall.likeness import cosine, embed
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

LIST = 20
"""Places in the sparse and in the dense list (seed Recall, hybrid)."""

LEAST_COSINE = 0.25
"""Below it two texts are not alike (seed Recall, hybrid)."""

LEXICAL, DENSE = 0.6, 0.4
"""Shares of a relevance that has both (seed Recall, hybrid)."""

RRF_K = 60
"""Reciprocal rank fusion: 1/(60+place) from each list (seed Recall, hybrid)."""

DAY_MS = 86_400_000

Cut = Literal["", "no_term", "relevance", "score", "beyond", "duplicate", "limit"]
"""Why a candidate is not brought: nothing in common, below a cut-off, in neither list, told already, too many."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with the figure that orders it and what that is made of; `cut` is "" for what is brought."""

    memory: Memory
    score: float
    parts: tuple[tuple[str, float], ...]
    cut: Cut = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How a question was answered: its terms, the cut-offs, and every candidate, best first."""

    ranking: Ranking
    terms: tuple[str, ...]
    thresholds: tuple[tuple[str, float], ...]
    scored: tuple[Scored, ...]

    @property
    def chosen(self) -> tuple[Scored, ...]:
        """What is brought, best first."""
        return tuple(one for one in self.scored if not one.cut)


def rank(
    ranking: Ranking, question: Question, candidates: Sequence[Candidate], now: int, limit: int
) -> Trace:  # fmt: skip
    """At most `limit` of the candidates, and why these; `now` in ms."""
    scored, thresholds = _RANKINGS[ranking](question, candidates, now)
    ordered = sorted(scored, key=_place)
    return Trace(ranking, question.terms, thresholds, tuple(_limited(ordered, limit, distinct=ranking != "keyword")))


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


def _keyword(
    question: Question, candidates: Sequence[Candidate], now: int
) -> tuple[list[Scored], tuple[tuple[str, float], ...]]:  # fmt: skip
    """As the full-text index orders them: BM25, rare terms first."""
    del question, now
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
    question: Question, candidates: Sequence[Candidate], now: int
) -> tuple[list[Scored], tuple[tuple[str, float], ...]]:  # fmt: skip
    """Both lists fused: their places order, the mix cuts and breaks ties (in the reference the other way round)."""
    raw = {each.memory.id: raw_score(question.terms, each.memory.text) for each in candidates}
    asked = embed(question.text)
    like = {each.memory.id: cosine(asked, embed(each.memory.text)) for each in candidates}
    sparse, dense = _places(raw, 0.0), _places(like, LEAST_COSINE)
    scored: list[Scored] = []
    for each in candidates:
        number = each.memory.id
        lists = [(name, places[number]) for name, places in (("sparse", sparse), ("dense", dense)) if number in places]
        lexical = relevance(raw[number]) if number in sparse else 0.0
        found = LEXICAL * lexical + DENSE * like[number] if number in dense else lexical
        mix, parts, cut = _mix(each.memory, found, now)
        if not lists:
            cut = "beyond" if raw[number] or like[number] >= LEAST_COSINE else "no_term"
        figures = (("mix", mix), ("raw", raw[number]), ("cosine", like[number]), *parts)
        fused = sum(1 / (RRF_K + place) for _, place in lists)
        where = tuple((name, float(place)) for name, place in lists)
        scored.append(Scored(each.memory, fused, (*figures, *where), cut))
    cuts = (("relevance", LEAST_RELEVANCE), ("score", LEAST_SCORE), ("cosine", LEAST_COSINE), ("list", float(LIST)))
    return scored, cuts


_Rank = Callable[[Question, Sequence[Candidate], int], tuple[list[Scored], tuple[tuple[str, float], ...]]]
_RANKINGS: Mapping[Ranking, _Rank] = {"keyword": _keyword, "v2": _v2, "hybrid": _hybrid}


def _mix(memory: Memory, found: float, now: int) -> tuple[float, tuple[tuple[str, float], ...], Cut]:
    fresh, told = recency(memory, now), importance(memory)
    score = RELEVANCE * found + RECENCY * fresh + IMPORTANCE * told
    new = score + RECENCY * (1 - fresh)
    cut: Cut = "relevance" if found < LEAST_RELEVANCE else "score" if new < LEAST_SCORE else ""
    return score, (("relevance", found), ("recency", fresh), ("importance", told)), cut


def _places(figures: Mapping[int, float], least: float) -> dict[int, int]:
    """The places, from 1, of the first LIST memories; what shares nothing has none."""
    fit = [number for number, figure in figures.items() if figure > 0 and figure >= least]
    best = sorted(fit, key=lambda number: (-figures[number], -number))[:LIST]
    return {number: place for place, number in enumerate(best, 1)}


def _place(one: Scored) -> tuple[bool, float, float, int]:
    """What shares nothing comes last; of equals the better mix first, then the newer."""
    return one.cut in ("no_term", "beyond"), -one.score, -dict(one.parts).get("mix", 0.0), -one.memory.id


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
