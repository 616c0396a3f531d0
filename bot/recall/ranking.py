"""Ranks candidates in the modes keyword, v2 (words, age, importance) and hybrid (reciprocal rank fusion), with the
weights of each profile."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal

from bot.core.clock import DAY_MS
from bot.core.recall import (
    Candidate,
    CutReason,
    Matches,
    RankingProfile,
    RecallMode,
    RecallTrace,
    ScoredHit,
    SearchHit,
    TalkScore,
)
from bot.recall.filters import filtered, lines_to_hide, only_asks, own_terms_fit
from bot.recall.lexical import LexicalFit, lexical_fit, telling, without_common
from bot.recall.query import SearchQuery
from bot.recall.selection import diversified, with_kept_memory
from bot.recall.talks import rank_talks
from bot.text.fold import fold
from bot.text.terms import STOP_WORDS, index_terms, runs

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

AGELESS = 0.4
"""How far what is found by its meaning alone counts as if it were of middle age: likeness differs by less than age would
make of it (docs/recall.md)."""

_SHORT = re.compile(r"^.$", re.DOTALL)

RRF_K = 60
"""A place counts 1/(60+place) (Cormack et al. 2009; seed Recall, hybrid)."""

HASH_WEIGHT = 0.01
"""What a place counts in a list of vectors that know no meaning: they break ties and find what words did not.

They count the words that a search knows better, with its rare ones first. Measured beside v2 on 380 English and 313
Chinese questions for lines and 96 English ones for sessions, recall at 5: 0.01 lost nothing on any, 0.03 lost 1.1, 0
and 1.0 points; before the search looked at the talk around, 1 lost 12.
"""

MissingVectors = Literal["", "off", "none", "loading", "down", "budget", "unpaid"]
"""Nothing is missing; no embedder is set; nothing has a vector yet; the encoder is being loaded; it or the server fails
or rests; a limit is reached; who only looks may not call."""

SEED_LIST = 20
"""Places in the sparse and in the dense list of the profile `seed` (seed Recall, hybrid)."""

SHORT = 40
"""A line of at most so many characters comes back with those around it."""

AROUND_CHARS = 80
"""Characters of a line around another."""

Mix = tuple[float, tuple[tuple[str, float], ...], CutReason]
"""The figure that orders a candidate, what that is made of, and why it is not brought."""

RANKED_LAST: tuple[CutReason, ...] = ("no_term", "beyond", "aside", "former")
"""What is not brought for these reasons comes after all else."""

OF_TALK = 0.3
"""How much more a line of the best talk counts."""


@dataclass(frozen=True, slots=True)
class RankRules:
    """How relevance, age and importance are mixed, and what is too little.

    `relevance`, `recency` and `importance` are the weights of the mix; `half_life_days` the age at which recency is one
    half; `count_saturation` how often something is told until its importance is full; `saturation` the figure at which
    relevance is 1-1/e.
    """

    min_score: float
    min_relevance: float
    half_life_days: float
    relevance: float
    recency: float
    importance: float
    count_saturation: float
    saturation: float


SEED_RULES = RankRules(0.30, 0.06, 14, 0.6, 0.2, 0.2, 20, 18)
"""Seed Recall, v2 (checklist C29)."""

DEFAULT_RULES = RankRules(0.0, 0.06, 14, 0.6, 0.3, 0.2, 20, 6)
"""As the seed, but newness counts more, as it only scales what the words say; no score hides what is old; and a
saturation of 6 is one rare word of a question found whole."""

PROFILES: Mapping[RankingProfile, RankRules] = {"default": DEFAULT_RULES, "seed": SEED_RULES}


def seed_tokens(text: str) -> tuple[str, ...]:
    """Of Chinese runs the whole if it is short, then all threes, then all pairs; Latin words of two letters or more."""
    found: list[str] = []
    for run, word in runs(fold(text)):
        if word:
            found.append(word)
            continue
        found += [run] if len(run) <= WHOLE_RUN else []
        found += [run[index : index + size] for size in (3, 2) for index in range(len(run) - size + 1)]
    telling = (token for token in found if token not in STOP_WORDS and not _SHORT.match(token))
    return tuple(dict.fromkeys(telling))[:MOST_TOKENS]


def content_score(found: Iterable[str], text: str) -> float:
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
    return sum(TERM_WEIGHT * min(len(term) / 2, LONGEST_TERM) for term in shared if len(term) > 1 or term not in longer)


def relevance(raw: float, saturation: float = 18.0) -> float:
    """0 to 1: 1-e^(-raw/18)."""
    return 1 - math.exp(-raw / saturation)


def importance(told: int, feedback: float | None, rules: RankRules) -> float:
    """0 to 1, by how often it was told and what people thought of the replies that it was told to (-1 to 1)."""
    share = min(1.0, math.log(1 + max(told, 0)) / math.log(1 + rules.count_saturation))
    return COUNT_SHARE * share + FEEDBACK_SHARE * (NO_FEEDBACK if feedback is None else (feedback + 1) / 2)


def recency(at: int, now: int, rules: RankRules) -> float:
    """1 when it is new, one half after the half-life."""
    return float(0.5 ** (max(0, now - at) / DAY_MS / rules.half_life_days))


@dataclass(frozen=True, slots=True)
class Likeness:
    """Documents that are like a question: place, from 1, and cosine, by number; `missing` says why there are none.

    `shares` is what each document that is liker than usual has of the likest one's likeness, 0 to 1, which is added to what
    words tell; None where the vectors know no meaning: then a place counts `weight` times as much as one among those found
    by words.
    """

    found: Mapping[int, tuple[int, float]] = field(default_factory=dict)
    missing: MissingVectors = ""
    weight: float = 1.0
    shares: Mapping[int, float] | None = None


def rank_places(best_first: Iterable[int]) -> dict[int, int]:
    """The places of these, from 1; of one that comes twice the first."""
    found: dict[int, int] = {}
    for number in best_first:
        found.setdefault(number, len(found) + 1)
    return found


def fuse_ranks(lists: Sequence[tuple[float, Mapping[int, int]]]) -> dict[int, float]:
    """What each number has from all lists, of which each weighs as much as its first part says.

    In the reference the fused figure only broke ties, so a text that one list alone had found could never win.
    """
    sums: dict[int, float] = {}
    for weight, found in lists:
        for number, place in found.items():
            sums[number] = sums.get(number, 0.0) + weight / (RRF_K + place)
    return sums


@dataclass(frozen=True, slots=True)
class RankTask:
    """How a question is to be answered; `now` in ms. `strict`: the cut-offs hold for what was kept as well."""

    mode: RecallMode
    profile: RankingProfile
    rules: RankRules
    question: SearchQuery
    now: int
    limit: int
    strict: bool = False


def rank(
    task: RankTask, matches: Matches, candidates: Sequence[Candidate], like: Likeness | None = None
) -> RecallTrace:
    """At most `limit` of the candidates, and why these.

    Only the mode hybrid looks at `like`; where nothing has a vector, words decide, and the trace says why.
    """
    candidates = sorted(candidates, key=attrgetter("finding.doc"))  # sums are the same in whatever order they came
    like = like if task.mode == "hybrid" and like is not None else Likeness()
    meant = like.shares or {} if task.profile != "seed" else {}
    whole = telling(task.question, matches)
    matches = without_common(task.question, matches)
    fit = lexical_fit(task.question, matches, candidates, meant, whole)
    own = own_terms_fit(task.question, fit)
    nothing = lines_to_hide(task.question, own, candidates)
    mixes = _keyword(fit, candidates) if task.mode == "keyword" else _mixed(task, fit, candidates, nothing)
    heard = [
        ((line.chat_id, line.talk), score)
        for each, (score, _, cut) in zip(candidates, mixes, strict=True)
        if (line := each.finding.line) is not None and cut != "no_term"
    ]
    talks = rank_talks(task.question, task.now, matches, candidates, heard, fit.counts, meant)
    scored = _scored(candidates, mixes, talks if task.profile != "seed" else ())
    scored = filtered(task.question, own, candidates, scored, nothing, meant)
    ordered = sorted(scored, key=_place)
    if task.profile != "seed":
        ordered = diversified(task.question, ordered, fit.shares, task.limit)
    if like.found and (task.profile == "seed" or like.shares is None):
        ordered = sorted(_hybrid(task, ordered, like), key=_place)
    done = _limited(ordered, task)
    if task.profile != "seed" and not task.strict:
        done = with_kept_memory(task.question.text, done)
    return RecallTrace(task.mode, tuple(fit.weights), _thresholds(task), done, like.missing, task.question.spans, talks)


def _thresholds(task: RankTask) -> tuple[tuple[str, float], ...]:
    if task.mode == "keyword":
        return ()
    return ("relevance", task.rules.min_relevance), ("score", task.rules.min_score)


def _keyword(fit: LexicalFit, candidates: Sequence[Candidate]) -> list[Mix]:
    """By their words alone; when nothing has one of them, the newest (checklist C28)."""
    figures = fit.figures
    if not any(figures.values()):
        newest = max((each.finding.at for each in candidates), default=1) or 1
        return [(each.finding.at / newest, (("recent", 1.0),), "") for each in candidates]
    return [
        (figure := figures[each.finding.doc], (("words", figure),), "" if figure else "no_term") for each in candidates
    ]


def _mixed(task: RankTask, fit: LexicalFit, candidates: Sequence[Candidate], nothing: Set[int]) -> list[Mix]:
    """Words, age and importance."""
    if task.profile == "seed":
        return [_seeded(task, each.finding) for each in candidates]
    return _ours(task, fit, candidates, nothing)


def _ours(task: RankTask, fit: LexicalFit, candidates: Sequence[Candidate], nothing: Set[int]) -> list[Mix]:
    """The mix scales what the words say, so that age orders and hides nothing (in the reference it hides).

    The best is what else is measured by; what tells `nothing` is none, however well its words fit.
    """
    rules = task.rules
    top = max((figure for doc, figure in fit.figures.items() if doc not in nothing), default=0.0)
    sure = relevance(fit.best, rules.saturation)
    mixes: list[Mix] = []
    for each in candidates:
        finding = each.finding
        figure = fit.figures[finding.doc]
        found = sure * min(figure / top, 1.0) if top else 0.0
        fresh = recency(_used(finding), task.now, rules)
        # A line weighs nothing by itself; what was kept does.
        told = importance(_count(finding), _liked(finding), rules) if finding.kind != "line" else 0.0
        fresh += AGELESS * fit.meant.get(finding.doc, 0.0) * (0.5 - fresh)
        score = found * (rules.relevance + rules.recency * fresh + rules.importance * told)
        parts = (("words", figure), ("relevance", found), ("recency", fresh), ("importance", told))
        cut = _cut(figure, found, found * (rules.relevance + rules.recency + rules.importance * told), rules)
        mixes.append((score, parts, "" if cut and figure > 0 and _kept(task, finding) else cut))
    return mixes


def _seeded(task: RankTask, finding: SearchHit) -> Mix:
    """Exactly the reference's formula: the parts are added, and the sum decides whether it is brought."""
    rules = task.rules
    raw = content_score(seed_tokens(task.question.text), finding.text)
    found = relevance(raw, rules.saturation)
    fresh, told = recency(_used(finding), task.now, rules), importance(_count(finding), _liked(finding), rules)
    score = rules.relevance * found + rules.recency * fresh + rules.importance * told
    parts = (("raw", raw), ("relevance", found), ("recency", fresh), ("importance", told))
    return score, parts, _cut(raw, found, score, rules)


def _cut(words: float, found: float, score: float, rules: RankRules) -> CutReason:
    if not words:
        return "no_term"
    return "relevance" if found < rules.min_relevance else "score" if score < rules.min_score else ""


def _kept(task: RankTask, finding: SearchHit) -> bool:
    """Whether no cut-off may hide it: what a person stated never disappears because of age or a threshold."""
    return finding.memory is not None and finding.memory.kept and not task.strict


def _used(finding: SearchHit) -> int:
    """When it was last news: told, told anew or praised; of a line, when it was said."""
    memory = finding.memory
    return max(memory.created_at, memory.updated_at, memory.praised_at) if memory is not None else finding.at


def _count(finding: SearchHit) -> int:
    return finding.memory.importance if finding.memory is not None else 1


def _liked(finding: SearchHit) -> float | None:
    return finding.memory.feedback if finding.memory is not None else None


def _scored(candidates: Sequence[Candidate], mixes: Sequence[Mix], talks: Sequence[TalkScore]) -> list[ScoredHit]:
    """The candidates with their mixes; lines of a talk that is about the question count more."""
    figures = {(each.chat_id, each.talk): each.figure for each in talks}
    done: list[ScoredHit] = []
    for each, (score, parts, cut) in zip(candidates, mixes, strict=True):
        line = each.finding.line
        figure = figures.get((line.chat_id, line.talk), 0.0) if line is not None else 0.0
        if figure:
            score, parts = score * (1 + OF_TALK * figure), (*parts, ("talk", figure))
        done.append(ScoredHit(each.finding, score, parts, cut))
    return done


def _hybrid(task: RankTask, ordered: Sequence[ScoredHit], like: Likeness) -> list[ScoredHit]:
    """Both lists fused: their places order (in the reference they only broke ties)."""
    words = [one for one in ordered if one.cut != "no_term"]
    lexical = rank_places(one.finding.doc for one in (words[:SEED_LIST] if task.profile == "seed" else words))
    dense = {doc: place for doc, (place, _) in like.found.items() if task.profile != "seed" or place <= SEED_LIST}
    fused = fuse_ranks(((1.0, lexical), (like.weight, dense)))
    done: list[ScoredHit] = []
    for one in ordered:
        doc = one.finding.doc
        found = (
            *((("sparse", float(lexical[doc])),) if doc in lexical else ()),
            *((("dense", float(dense[doc])), ("cosine", like.found[doc][1])) if doc in dense else ()),
        )
        alone: CutReason = (
            ""
            if doc in dense and one.cut not in ("aside", "former", "duplicate")
            else one.cut or ("" if doc in lexical else "beyond")
        )
        parts = (("mix", one.score), *one.parts, *found)
        done.append(ScoredHit(one.finding, fused.get(doc, 0.0) * RRF_K, parts, alone))
    return done


def _place(one: ScoredHit) -> tuple[bool, float, float, int]:
    """What shares nothing comes last; of equals the better mix first, then the newer."""
    finding, score, parts, cut = one
    mix = parts[0][1] if parts[0][0] == "mix" else 0.0
    return cut in RANKED_LAST, -score, -mix, -finding.doc


def _limited(ordered: Sequence[ScoredHit], task: RankTask) -> tuple[ScoredHit, ...]:
    """The same with what is told twice and what is one too many marked; two people who say the same told two things.

    A line that only repeats something kept gives its place to it.
    """
    kept = {fold(one.finding.text) for one in ordered if one.finding.kind == "memory" and not one.cut}
    seen: set[tuple[int | None, str]] = set()
    done: list[ScoredHit] = []
    brought = 0
    for one in ordered:
        finding, score, parts, cut = one
        if not cut and brought >= task.limit:
            cut = "limit"
        elif not cut:
            folded = fold(finding.text)
            key = (finding.person_id, folded)
            twice = finding.kind == "line" and any(text in folded for text in kept if len(text) * 2 > len(folded))
            cut = "duplicate" if key in seen or twice else ""
            seen.add(key)
        brought += not cut
        done.append(ScoredHit(finding, score, parts, cut) if cut != one.cut else one)
    return tuple(done)


def with_context(trace: RecallTrace) -> RecallTrace:
    """The same with the lines around each short line that is brought."""
    places = {
        (one.finding.line.chat_id, one.finding.line.place): one.finding
        for one in trace.scored
        if one.finding.line is not None
    }

    def around(finding: SearchHit) -> SearchHit:
        line = finding.line
        if line is None or len(finding.text) > SHORT:
            return finding
        near = [places.get((line.chat_id, line.place + step)) for step in (-1, 1)]
        told = tuple(
            (each.who, " ".join(each.text.split())[:AROUND_CHARS])
            for each in near
            if each is not None
            and each.line is not None
            and each.line.talk == line.talk
            # Of nuan's only the question that this line answers.
            and (each.person_id is not None or (each.line.place < line.place and only_asks(each.text)))
        )
        return replace(finding, around=told)

    chosen = (one if one.cut else one._replace(finding=around(one.finding)) for one in trace.scored)
    return replace(trace, scored=tuple(chosen))
