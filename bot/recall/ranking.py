"""Which findings fit a question best: three modes over the same candidates. Pure; it knows no audience."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from bot.recall.asides import asides, asks, itself, settled
from bot.recall.covering import covering
from bot.recall.fit import Fit, fitting, without_common
from bot.recall.fusion import RRF_K, fuse, places
from bot.recall.kept import with_kept
from bot.recall.question import Question
from bot.recall.rules import Rules
from bot.recall.seeded import content, importance, recency, relevance, tokens
from bot.recall.talks import talks_of
from bot.text.fold import fold
from bot.types.recall import Candidate, Cut, Finding, Likenesses, Matches, Mode, Profile, Scored, TalkFigure, Trace

LIST = 20
"""Places in the sparse and in the dense list of the profile `seed` (seed Recall, hybrid)."""

SHORT = 40
"""A line of at most so many characters comes back with those around it."""

AROUND_CHARS = 80
"""Characters of a line around another."""

LAST: tuple[Cut, ...] = ("no_term", "beyond", "aside", "former")
"""What is not brought for these reasons comes after all else."""

OF_TALK = 0.3
"""How much more a line of the best talk counts."""


@dataclass(frozen=True, slots=True)
class Task:
    """How a question is to be answered; `now` in ms. `strict`: the cut-offs hold for what was kept as well."""

    mode: Mode
    profile: Profile
    rules: Rules
    question: Question
    now: int
    limit: int
    strict: bool = False


def rank(task: Task, matches: Matches, candidates: Sequence[Candidate], like: Likenesses | None = None) -> Trace:
    """At most `limit` of the candidates, and why these.

    Only the mode hybrid looks at `like`; where nothing has a vector, words decide, and the trace says why.
    """
    candidates = sorted(candidates, key=lambda each: each.finding.doc)  # sums are the same in whatever order they came
    matches = without_common(task.question, matches)
    fit = fitting(task.question, matches, candidates)
    own = itself(task.question, fit)
    nothing = asides(task.question, own, candidates)
    scored = _keyword(fit, candidates) if task.mode == "keyword" else _mixed(task, fit, candidates, nothing)
    talks = talks_of(task.question, task.now, matches, candidates, scored)
    scored = _in_talks(scored, talks) if task.profile != "seed" else scored
    scored = settled(task.question, own, candidates, scored, nothing)
    ordered = sorted(scored, key=_place)
    if task.profile != "seed":
        ordered = covering(task.question, ordered, fit.shares, task.limit)
    missing = like.missing if task.mode == "hybrid" and like is not None else ""
    if task.mode == "hybrid" and like is not None and like.found:
        ordered = sorted(_hybrid(task, ordered, like), key=_place)
    done = _limited(ordered, task)
    if task.profile != "seed" and not task.strict:
        done = with_kept(task.question.text, done)
    return Trace(task.mode, tuple(fit.weights), _thresholds(task), done, missing, task.question.spans, talks)


def _thresholds(task: Task) -> tuple[tuple[str, float], ...]:
    if task.mode == "keyword":
        return ()
    return ("relevance", task.rules.min_relevance), ("score", task.rules.min_score)


def _keyword(fit: Fit, candidates: Sequence[Candidate]) -> list[Scored]:
    """By their words alone; when nothing has one of them, the newest (checklist C28)."""
    figures = fit.figures
    if not any(figures.values()):
        newest = max((each.finding.at for each in candidates), default=1) or 1
        return [Scored(each.finding, each.finding.at / newest, (("recent", 1.0),)) for each in candidates]
    return [
        Scored(each.finding, figure := figures[each.finding.doc], (("words", figure),), "" if figure else "no_term")
        for each in candidates
    ]


def _mixed(task: Task, fit: Fit, candidates: Sequence[Candidate], nothing: Set[int]) -> list[Scored]:
    """Words, age and importance."""
    if task.profile == "seed":
        return [_seeded(task, each) for each in candidates]
    return _ours(task, fit, candidates, nothing)


def _ours(task: Task, fit: Fit, candidates: Sequence[Candidate], nothing: Set[int]) -> list[Scored]:
    """The mix scales what the words say, so that age orders and hides nothing (in the reference it hides).

    The best is what else is measured by; what tells `nothing` is none, however well its words fit.
    """
    rules = task.rules
    top = max((figure for doc, figure in fit.figures.items() if doc not in nothing), default=0.0)
    sure = relevance(fit.best, rules.saturation)
    scored: list[Scored] = []
    for each in candidates:
        figure = fit.figures[each.finding.doc]
        found = sure * min(figure / top, 1.0) if top else 0.0
        fresh, told = recency(_used(each.finding), task.now, rules), _told(each.finding, rules)
        score = found * (rules.relevance + rules.recency * fresh + rules.importance * told)
        parts = (("words", figure), ("relevance", found), ("recency", fresh), ("importance", told))
        new = found * (rules.relevance + rules.recency + rules.importance * told)
        shown = figure > 0 and _kept(task, each.finding)
        scored.append(Scored(each.finding, score, parts, "" if shown else _cut(figure, found, new, rules)))
    return scored


def _seeded(task: Task, each: Candidate) -> Scored:
    """Exactly the reference's formula: the parts are added, and the sum decides whether it is brought."""
    rules, finding = task.rules, each.finding
    raw = content(tokens(task.question.text), finding.text)
    found = relevance(raw, rules.saturation)
    fresh, told = recency(_used(finding), task.now, rules), importance(_count(finding), _liked(finding), rules)
    score = rules.relevance * found + rules.recency * fresh + rules.importance * told
    parts = (("raw", raw), ("relevance", found), ("recency", fresh), ("importance", told))
    return Scored(finding, score, parts, _cut(raw, found, score, rules))


def _cut(words: float, found: float, score: float, rules: Rules) -> Cut:
    if not words:
        return "no_term"
    return "relevance" if found < rules.min_relevance else "score" if score < rules.min_score else ""


def _kept(task: Task, finding: Finding) -> bool:
    """Whether no cut-off may hide it: what a person stated never disappears because of age or a threshold."""
    return finding.memory is not None and finding.memory.kept and not task.strict


def _used(finding: Finding) -> int:
    """When it was last news: told, told anew or praised; of a line, when it was said."""
    memory = finding.memory
    return max(memory.created_at, memory.updated_at, memory.praised_at) if memory is not None else finding.at


def _count(finding: Finding) -> int:
    return finding.memory.importance if finding.memory is not None else 1


def _liked(finding: Finding) -> float | None:
    return finding.memory.feedback if finding.memory is not None else None


def _told(finding: Finding, rules: Rules) -> float:
    """A line weighs nothing by itself; what was kept does."""
    return importance(_count(finding), _liked(finding), rules) if finding.kind != "line" else 0.0


def _in_talks(scored: Sequence[Scored], talks: Sequence[TalkFigure]) -> list[Scored]:
    """Lines of a talk that is about the question count more."""
    figures = {(each.chat_id, each.talk): each.figure for each in talks}
    done: list[Scored] = []
    for one in scored:
        line = one.finding.line
        figure = figures.get((line.chat_id, line.talk), 0.0) if line is not None else 0.0
        parts = (*one.parts, ("talk", figure)) if figure else one.parts
        done.append(Scored(one.finding, one.score * (1 + OF_TALK * figure), parts, one.cut) if figure else one)
    return done


def _hybrid(task: Task, ordered: Sequence[Scored], like: Likenesses) -> list[Scored]:
    """Both lists fused: their places order (in the reference they only broke ties)."""
    words = [one for one in ordered if one.cut != "no_term"]
    lexical = places(one.finding.doc for one in (words[:LIST] if task.profile == "seed" else words))
    dense = {doc: place for doc, (place, _) in like.found.items() if task.profile != "seed" or place <= LIST}
    fused = fuse(((1.0, lexical), (like.weight, dense)))
    done: list[Scored] = []
    for one in ordered:
        doc = one.finding.doc
        found = (*((("sparse", float(lexical[doc])),) if doc in lexical else ()),
                 *((("dense", float(dense[doc])), ("cosine", like.found[doc][1])) if doc in dense else ()))  # fmt: skip
        alone: Cut = (
            ""
            if doc in dense and one.cut not in ("aside", "former", "duplicate")
            else one.cut or ("" if doc in lexical else "beyond")
        )
        parts = (("mix", one.score), *one.parts, *found)
        done.append(Scored(one.finding, fused.get(doc, 0.0) * RRF_K, parts, alone))
    return done


def _place(one: Scored) -> tuple[bool, float, float, int]:
    """What shares nothing comes last; of equals the better mix first, then the newer."""
    return one.cut in LAST, -one.score, -dict(one.parts).get("mix", 0.0), -one.finding.doc


def _limited(ordered: Sequence[Scored], task: Task) -> tuple[Scored, ...]:
    """The same with what is told twice and what is one too many marked; two people who say the same told two things.

    A line that only repeats something kept gives its place to it.
    """
    kept = {fold(one.finding.text) for one in ordered if one.finding.kind == "memory" and not one.cut}
    seen: set[tuple[int | None, str]] = set()
    done: list[Scored] = []
    brought = 0
    for one in ordered:
        cut = one.cut
        if not cut and brought >= task.limit:
            cut = "limit"
        elif not cut:
            folded = fold(one.finding.text)
            key = (one.finding.person_id, folded)
            twice = one.finding.kind == "line" and any(text in folded for text in kept if len(text) * 2 > len(folded))
            cut = "duplicate" if key in seen or twice else ""
            seen.add(key)
        brought += not cut
        done.append(Scored(one.finding, one.score, one.parts, cut) if cut != one.cut else one)
    return tuple(done)


def with_context(trace: Trace) -> Trace:
    """The same with the lines around each short line that is brought."""
    places = {(one.finding.line.chat_id, one.finding.line.place): one.finding
              for one in trace.scored if one.finding.line is not None}  # fmt: skip

    def around(finding: Finding) -> Finding:
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
            and (each.person_id is not None or (each.line.place < line.place and asks(each.text)))
        )
        return replace(finding, around=told)

    chosen = (one if one.cut else replace(one, finding=around(one.finding)) for one in trace.scored)
    return replace(trace, scored=tuple(chosen))
