"""Rules after the scores: lines that only ask or repeat, memories in place of their lines, former values."""

import tomllib
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, wraps
from hashlib import blake2b
from importlib.resources import files

from bot.core.memories import Memory
from bot.core.recall import Candidate, ScoredHit, SearchHit, TimeSpan
from bot.recall.lexical import LexicalFit, in_spans
from bot.recall.query import SearchQuery
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold
from bot.text.length import SENTENCE, clauses_of

NEWS = 0.3
"""What a line of nuan's tells that no person near it tells, as a share of the best fit: less is small talk. The same of
what somebody asked to be done, beside any other finding."""

NEAR = 2
"""So many lines before and after it a person may have said the same."""

QUOTED = 5
"""Characters of what a person told that are known again in a line of nuan's, which tells it back."""

COVERS = 0.6
"""What holds this share of what another has of the question stands for it: a memory for its line."""

RELATED = 0.6
"""What a memory about the same, or from the same line, has of the figure it goes with (seed Warm Boot, W13)."""

CHANGES = 0.3
"""What says that something is otherwise now has this share of the figure of what it changes (measured): else it is
about another thing."""

FORMER = 0.9
"""What a former value has of the figure of the one that took its place, where the question is about the past."""

KNOWN_TEXTS, KNOWN_CHARS = 4_096, 500
"""Texts that are read only once, since the same lines are candidates again and again, and the characters of those that
are kept for it."""

_WORDS = tomllib.loads(files("bot.recall").joinpath("wording.toml").read_text("utf-8"))
_PAST, _ASKED, _SAID, _REQUESTS, _REQUESTED, _ASKS, _LEADS, _PRESUMES, _CHANGED = (
    LazyPattern("|".join(f"(?:{each})" for each in _WORDS[name]))
    for name in ("past", "asked", "said", "requests", "requested", "asks", "leads", "presumes", "changed")
)


def _remembered(read: Callable[[str], bool]) -> Callable[[str], bool]:
    """The same verdict on a text, which is read once; what was said of long ones is remembered by their digests."""
    known, of_long = lru_cache(KNOWN_TEXTS)(read), dict[bytes, bool]()

    @wraps(read)
    def verdict(text: str) -> bool:
        if len(text) <= KNOWN_CHARS:
            return known(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = of_long.get(digest)
        if found is None:
            if len(of_long) >= KNOWN_TEXTS:
                of_long.clear()
            found = of_long[digest] = read(text)
        return found

    return verdict


_known_fold = lru_cache(KNOWN_TEXTS)(fold)


def _fold(text: str) -> str:
    return _known_fold(text) if len(text) <= KNOWN_CHARS else fold(text)


def asks_about_past(question: str) -> bool:
    """Whether a question is about what was so before."""
    return _PAST.search(_fold(question)) is not None


@_remembered
def only_asks(text: str) -> bool:
    """Whether a line only asks, so that it tells nothing: no clause states anything, nor takes it as known."""
    asked = False
    for words, end in reversed(SENTENCE.findall(_fold(text))):  # most lines are known by their last clause
        for part in filter(None, [each.strip(" ,，") for each in reversed(clauses_of(words + end))]):
            if not _ASKS.search(part) or _PRESUMES.search(part):
                if not _LEADS.search(part):
                    return False
            else:
                asked = True
    return asked


@_remembered
def _requests(text: str) -> bool:
    """Whether a line asks for a thing to be done."""
    return _REQUESTS.search(_fold(text)) is not None


@_remembered
def _changes(text: str) -> bool:
    """Whether a line says that something is otherwise now."""
    return _CHANGED.search(_fold(text)) is not None


def own_terms_fit(question: SearchQuery, fit: LexicalFit) -> LexicalFit:
    """The same fit by the question's own terms alone: what only stands around it tells nothing of what is found."""
    if not question.beside:
        return fit
    own = {
        doc: {term: share for term, share in found.items() if term not in question.beside}
        for doc, found in fit.shares.items()
    }
    return replace(fit, shares=own)


def filtered(
    question: SearchQuery,
    fit: LexicalFit,
    candidates: Sequence[Candidate],
    scored: Sequence[ScoredHit],
    nothing: Collection[int],
    meant: Collection[int] = (),
) -> list[ScoredHit]:
    """The same with what tells `nothing` aside, memories in their lines' places, and what goes with them.

    What is `meant` is found by itself, whatever words it has.
    """
    done = [one._replace(cut="aside") if not one.cut and one.finding.doc in nothing else one for one in scored]
    memories = {each.finding.doc: each for each in candidates if each.finding.memory is not None}
    if memories:
        sources = {doc: each.sources for doc, each in memories.items()}
        done = _standing(fit.shares, sources, _without_former_lines(question, sources, done))
    done = _changed(fit.shares, _supported(question.spans, fit.shares, done, meant))
    if memories:
        done = _outdated({each.finding.doc: each.terms for each in candidates}, _with_former(question, done))
    return _once(fit.shares, done)


def _once(shares: Mapping[int, Mapping[str, float]], scored: list[ScoredHit]) -> list[ScoredHit]:
    """The same without summaries and notes that hold a finding's words, former ones or those of a line that tells
    nothing, and nothing more of the question."""
    late = [place for place, one in enumerate(scored) if not one.cut and one.finding.kind in ("digest", "note")]
    if not late:
        return scored
    told = [
        (_fold(one.finding.text), shares.get(one.finding.doc, {}).keys(), one.cut)
        for one in scored
        if one.cut in ("", "former", "aside") and one.finding.kind in ("line", "memory")
    ]
    for place in late:
        finding = scored[place].finding
        text, own = _fold(finding.text), shares.get(finding.doc, {}).keys()
        for words, known, cut in told:
            if words in text and own <= known:
                line = text.rpartition(".md#l")[2]  # a note has it in its name, too
                rest = line.replace(words.rstrip(" ?!.。~"), "")
                if cut != "aside" or not any(term in rest for term in own):
                    scored[place] = scored[place]._replace(cut=cut or "duplicate")
                    break
    return scored


def _outdated(terms: Mapping[int, Sequence[str]], scored: list[ScoredHit]) -> list[ScoredHit]:
    """The same without older summaries and notes that tell a former value and nothing of what took its place."""
    current = {one.finding.ref: one for one in scored if one.finding.memory is not None}
    gone: list[tuple[int, frozenset[str], frozenset[str]]] = []
    for one in scored:
        memory = one.finding.memory
        now = _now(memory, current)
        if memory is not None and memory.former_at is not None and one.cut == "former" and now is not None:
            was, is_ = (frozenset(terms.get(each.finding.doc, ())) for each in (one, now))
            value = frozenset(term for term in was - is_ if len(term) > 1)
            gone.append((memory.former_at, value, is_ - was))

    def outdated(one: ScoredHit) -> bool:
        there = frozenset(terms.get(one.finding.doc, ()))
        return any(one.finding.at <= till and value & there and not new & there for till, value, new in gone)

    late = ("digest", "note")
    return (
        [
            one._replace(cut="former") if not one.cut and one.finding.kind in late and outdated(one) else one
            for one in scored
        ]
        if gone
        else scored
    )


def lines_to_hide(question: SearchQuery, fit: LexicalFit, candidates: Sequence[Candidate]) -> frozenset[int]:
    """The lines that tell nothing of a question: what only asks, what was to be done and tells nothing of its own, and
    what nuan says that a person told."""
    of_questions, of_nuan, of_requests = (
        words.search(question.wording) is not None for words in (_ASKED, _SAID, _REQUESTED)
    )
    told: dict[tuple[int, int], Candidate] = {}
    for each in candidates:
        line = each.finding.line
        if line is not None and each.finding.person_id is not None:
            told[line.chat_id, line.place] = each
    requests = {each.finding.doc for each in told.values() if not of_requests and _requests(each.finding.text)}
    telling = {each.finding.doc for each in candidates if each.finding.kind in ("line", "memory")}
    of_people = [each for each in candidates if each.finding.person_id is not None]
    quotable = cache(lambda: [(_fold(each.finding.text), fit.shares[each.finding.doc]) for each in of_people])

    def untold(finding: SearchHit, known: Container[str]) -> float:
        return sum(share for term, share in fit.shares[finding.doc].items() if term not in known)

    def aside(finding: SearchHit) -> bool:
        line = finding.line
        if line is None or not fit.figures[finding.doc]:
            return False
        if not of_questions and only_asks(finding.text):
            answer = told.get((line.chat_id, line.place + 1))
            return answer is None or answer.finding.person_id == finding.person_id
        if finding.doc in requests:
            return any(untold(finding, fit.shares[doc]) < NEWS * fit.best for doc in telling - requests)
        if finding.person_id is not None or of_nuan:
            return False
        places = [(line.chat_id, line.place + step) for step in range(-NEAR, NEAR + 1)]
        near = [fit.shares[told[place].finding.doc] for place in places if place in told]
        own, text = fit.shares[finding.doc].keys(), _fold(finding.text)
        near += [
            shares
            for words, shares in quotable()
            if len(words) >= QUOTED and not own.isdisjoint(shares) and words in text
        ]
        return untold(finding, set[str]().union(*near)) < NEWS * fit.best

    return frozenset(each.finding.doc for each in candidates if aside(each.finding))


def _standing(
    shares: Mapping[int, Mapping[str, float]], sources: Mapping[int, Sequence[int]], scored: Sequence[ScoredHit]
) -> list[ScoredHit]:
    """Memories have the figure of the best line they stand for, which is told no more; others go with what is found."""
    done = {one.finding.doc: one for one in scored}
    lines = {one.finding.ref: one for one in scored if one.finding.line is not None}
    memories = [one for one in scored if one.finding.memory is not None]
    best: dict[tuple[int | None, str], float] = {}
    for one in memories:
        own = shares.get(one.finding.doc, {})
        for ref in sources.get(one.finding.doc, ()):
            line = lines.get(ref)
            if line is None or line.cut == "no_term":
                continue
            there = shares.get(line.finding.doc, {})
            if not there:  # it comes for those around it, and proves nothing for what was drawn from it
                continue
            if not own.keys() & there.keys() and _asked_for(one.finding, line.finding):
                done[line.finding.doc] = line._replace(cut="duplicate")  # 住 of 记住 is no word of what is to be kept
            elif _covers(own, there) or (one.finding.memory is not None and one.finding.memory.former_at is not None):
                done[line.finding.doc] = line._replace(cut="duplicate")
                if not line.cut or line.cut == "aside":
                    one = one._replace(score=max(one.score, line.score), cut="")
            elif one.cut == "no_term" and not line.cut:
                one = one._replace(score=RELATED * line.score, parts=(*one.parts, ("related", RELATED)), cut="")
        done[one.finding.doc] = one
        subject = _subject(one.finding)
        if not one.cut and subject[1]:
            best[subject] = max(best.get(subject, 0.0), one.score)
    for one in memories:
        figure = best.get(_subject(one.finding), 0.0)
        if figure and done[one.finding.doc].cut == "no_term":
            parts = (*one.parts, ("related", RELATED))
            done[one.finding.doc] = ScoredHit(one.finding, RELATED * figure, parts, "")
    return list(done.values())


def _without_former_lines(
    question: SearchQuery, sources: Mapping[int, Sequence[int]], scored: Sequence[ScoredHit]
) -> list[ScoredHit]:
    """The same without lines of which nothing is kept but what is former and not asked for."""
    former, told = set[int](), set[int]()
    for one in scored:
        memory = one.finding.memory
        if memory is not None:
            (told if _told(question, memory) else former).update(sources.get(one.finding.doc, ()))
    gone = former - told
    return [
        one._replace(cut="former") if one.finding.line is not None and one.finding.ref in gone and not one.cut else one
        for one in scored
    ]


def _supported(
    spans: Sequence[TimeSpan],
    shares: Mapping[int, Mapping[str, float]],
    scored: Sequence[ScoredHit],
    meant: Collection[int],
) -> list[ScoredHit]:
    """The same without lines that come only for those around them, where these are told no more: a question is one
    that the line answers."""
    near = {
        (line.chat_id, line.place)
        for one in scored
        if (line := one.finding.line) is not None
        and (shares.get(one.finding.doc) or one.finding.doc in meant)
        and (not one.cut or only_asks(one.finding.text))
    }

    def alone(one: ScoredHit) -> bool:
        doc, line = one.finding.doc, one.finding.line
        if one.cut or line is None or shares.get(doc) or doc in meant or in_spans(one.finding.at, spans):
            return False
        return near.isdisjoint([(line.chat_id, line.place + step) for step in range(-NEAR, NEAR + 1)])

    return [one._replace(cut="no_term") if alone(one) else one for one in scored]


def _changed(shares: Mapping[int, Mapping[str, float]], scored: Sequence[ScoredHit]) -> list[ScoredHit]:
    """What somebody says is otherwise now comes before what they said of it there earlier."""
    news = [one for one in scored if not one.cut and shares.get(one.finding.doc) and _changes(one.finding.text)]

    def below(one: ScoredHit) -> ScoredHit:
        own, where = shares.get(one.finding.doc, {}), _where(one.finding)
        later = [
            new.score
            for new in news
            if new.finding.at > one.finding.at
            and _where(new.finding) == where
            and CHANGES * one.score <= new.score < one.score
            and _covers(shares[new.finding.doc], own)
        ]
        return one._replace(score=FORMER * max(later)) if later else one

    return [below(one) if not one.cut else one for one in scored] if news else list(scored)


def _where(finding: SearchHit) -> tuple[int | None, int]:
    chat = finding.memory.chat_id if finding.memory is not None else finding.line.chat_id if finding.line else 0
    return finding.person_id, chat


def _covers(own: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether what holds these terms stands for what holds the others."""
    return bool(other) and sum(share for term, share in other.items() if term in own) >= COVERS * sum(other.values())


def _asked_for(finding: SearchHit, line: SearchHit) -> bool:
    """Whether a line is the wish to keep that memory, and holds it."""
    return finding.memory is not None and finding.memory.asked and _fold(finding.text) in _fold(line.text)


def _subject(finding: SearchHit) -> tuple[int | None, str]:
    return finding.person_id, _fold(finding.memory.subject) if finding.memory is not None else ""


def _told(question: SearchQuery, memory: Memory) -> bool:
    """Whether a memory holds, or the question is about the past, or a time when it still held."""
    until = memory.former_at
    return until is None or question.past or any(start < until for start, _ in question.then)


def _with_former(question: SearchQuery, scored: Sequence[ScoredHit]) -> list[ScoredHit]:
    """What is former comes only when it is asked for, below what took its place unless it held at a time that is named;
    what took its place answers for it where the words of the question are the former one's alone."""
    current = {one.finding.ref: one for one in scored if one.finding.memory is not None}
    for one in scored:
        memory = one.finding.memory
        now = _now(memory, current) if memory is not None and not _told(question, memory) else None
        if now is not None and not one.cut and (now.cut == "no_term" or now.score < FORMER * one.score):
            current[now.finding.ref] = now._replace(score=FORMER * one.score, cut="")
    done: list[ScoredHit] = []
    for one in (current[each.finding.ref] if each.finding.memory is not None else each for each in scored):
        memory = one.finding.memory
        if memory is None or memory.former_at is None:
            done.append(one)
        elif not _told(question, memory):
            done.append(one._replace(cut="former"))
        else:
            now = _now(memory, current)
            if now is not None and not now.cut:
                own = one.score if question.then and not one.cut else 0.0
                one = one._replace(score=max(FORMER * now.score, own), cut="")
            done.append(one)
    return done


def _now(memory: Memory | None, found: Mapping[int, ScoredHit]) -> ScoredHit | None:
    """Of a former value what took its place in the end, as far as that is found."""
    now = None
    for _ in found:
        if memory is None or memory.former_at is None:
            break
        now = found.get(memory.replaced_by or 0)
        memory = now.finding.memory if now is not None else None
    return now
