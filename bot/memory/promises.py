"""Which of somebody's open promises a line of theirs says are done, or called off. By rule, no model. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.core.memories import SOMETHING_ELSE, CommitmentState, SettledCommitment
from bot.language.assertions import (
    VOCABULARY,
    Clause,
    denied,
    folded_plain,
    kin,
    names,
    parts_of,
    relative,
    without_possessive,
)
from bot.language.statements import BARE, NOT_OVER, OVER, sentences
from bot.language.time.tense import IRREGULAR
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold
from bot.text.similarity import content_words, names_promise, words_weight

ASKED, MOST = 4, 0.5
"""Of more promises that may be meant nobody is asked; a clause holds most of one when it says more than this part."""

_FAILED, _OVER, _PAST_ZH = (VOCABULARY.patterns[name] for name in ("failed", "over", "past"))
_PAST = LazyPattern(rf"\b(?:[a-z]{{2,}}ed|(?!was|were|had|felt|thought)(?:{IRREGULAR}))\b")
_MANY = LazyPattern(r"每|天天|坚持|\b(?:every|each|daily|weekly|always|keep)\b")
_ENDING = LazyPattern("[啦喽咯啰](?=[呀哦哈~!]*(?:[,， ]|$))")
_TO_WHOM = LazyPattern("[给跟和陪帮找约向替]([一-鿿]{2})")
_DOER_ZH = LazyPattern("^(?!我)([^把被给帮替]{1,6})(?:把|[给帮替]我)")
_OF_A_THING = LazyPattern(r"\b(?:i|is|are|was|were|got|been)\b|'s\b")
"""What before an English deed leaves it to its writer: I, and the rent is paid."""


@dataclass(frozen=True, slots=True)
class PromiseEndings:
    """What a line ends, and which promises it may mean; `whole`: it says nothing else."""

    ended: tuple[SettledCommitment, ...] = ()
    asks: tuple[int, ...] = ()
    whole: bool = False


def promise_endings(line: str, promises: Iterable[tuple[int, str]], last: int = 0) -> PromiseEndings:
    """What becomes of these open promises (number, text) of its writer; `last` is the one nuan spoke of just before,
    SOMETHING_ELSE where it reminded of what is none of them."""
    known = {number: text for number, text in promises if not _MANY.search(folded_plain(text))}
    ended, asks, whole = dict[int, CommitmentState](), list[int](), True
    for sentence in sentences(line) if known else ():
        told, topic = False, ""
        for part in () if sentence.asks else _firm(sentence.text, known.values()):
            state = _state(part.folded)
            found, sure = list[int](), False
            if state is not None and not (told and _points(part.folded)):
                found, sure = _meant(_FAILED.sub(" ", part.folded), topic, known, last)
            told, topic = told or bool(found), topic if found else f"{topic} {part.folded}"
            if sure and state is not None:
                ended[found[0]] = state
            else:
                asks += found
        whole = whole and told
    left = tuple(dict.fromkeys(number for number in asks if number not in ended))
    over = tuple(SettledCommitment(number, state) for number, state in ended.items())
    return PromiseEndings(over, left if len(left) <= ASKED else (), whole)


def may_tell_end(cited: str, said: str, promise: str, *, over: bool) -> bool:
    """Whether what somebody `said` may tell an end, by the words of it that a model cites: half of them stand there.

    Which promise it is of the model says; `over`: a clause that plans, denies and asks nothing is of that promise, or
    tells that something is over.
    """
    words, mine = content_words(cited), content_words(promise)
    if fold(cited) not in fold(said) and (not words or 2 * len(words & content_words(said)) < len(words)):
        return False
    told = (part for each in sentences(said) if not each.asks for part in parts_of(0, _plain(each.text)))
    sure = (part.folded for part in told if not (part.hedged or part.planned))
    return not over or any(
        content_words(folded) & mine or _state(folded)
        for folded in sure
        if not (denied(folded) or NOT_OVER.search(folded))
    )


def _plain(text: str) -> str:
    return _ENDING.sub("了", folded_plain(text))


def _firm(sentence: str, promises: Iterable[str]) -> Iterator[Clause]:
    """The clauses that tell without doubt what their writer did: no plan, no denial, nobody else's doing."""
    texts = tuple(promises)
    known, relatives = content_words("\n".join(texts)), kin(folded_plain("\n".join(texts)))
    whom = {name for text in texts for name in (*names(text), *_TO_WHOM.findall(folded_plain(text)))}
    for part in parts_of(0, _plain(sentence)):
        folded, owner = _FAILED.sub(" ", part.folded), (f"{part.who}的", f"{part.who}'s")
        if part.hedged or part.planned or denied(folded) or NOT_OVER.search(folded) or not kin(folded) <= relatives:
            continue
        other = (
            part.who
            and not part.folded.startswith(owner)
            and (relative(part.who) or not content_words(part.who) <= known)
        )
        doer, first = _doer(folded), without_possessive(part.folded)
        other = other or any(re.match(rf"{re.escape(name)}(?![的那'])", first) for name in whom)
        if not other and not (doer and (kin(doer) or not content_words(doer) <= known)):
            yield part


def _doer(folded: str) -> str:
    """What stands before the words that tell what was done and may be who did it."""
    if not folded.isascii():
        found = _DOER_ZH.match(folded)
        return found[1] if found else ""
    over = OVER.search(folded) or _PAST.search(folded)
    before = folded[: over.start()] if over else ""
    return "" if _OF_A_THING.search(before) else before


def _state(folded: str) -> CommitmentState | None:
    """Whether a clause tells that something is done, or off."""
    if _FAILED.search(folded):
        return "failed"
    return "done" if any(pattern.search(folded) for pattern in (_OVER, OVER, _PAST_ZH, _PAST)) else None


def _things(words: str) -> frozenset[str]:
    """What words name besides that something is over."""
    return content_words(_OVER.sub(" ", words))


def _points(folded: str) -> bool:
    """Whether a clause names nothing but that something is over: 搞定了, sent it this morning."""
    return BARE.fullmatch(folded) is not None or bool(content_words(folded) and not _things(folded))


def _shared(words: str, promise: str) -> frozenset[str]:
    """What words share with a promise: two characters of what they name, or half of it; else nothing."""
    said = _things(words) or content_words(words)
    both = said & content_words(promise)
    return (
        content_words(words) & content_words(promise)
        if both and (words_weight(both) >= 2 or 2 * len(both) >= len(said))
        else frozenset()
    )


def _meant(said: str, topic: str, known: Mapping[int, str], last: int) -> tuple[list[int], bool]:
    """The promises that a clause of something over may mean, and whether it is the one beyond doubt; the clauses before
    it are its `topic`, where it names nothing itself."""
    points, shared = _points(said), {number: _shared(said, text) for number, text in known.items()}
    if topic and not any(shared.values()):
        may = {number: text for number, text in known.items() if points or content_words(said) & content_words(text)}
        said = f"{topic} {said}"
        shared = {number: _shared(said, text) for number, text in may.items()}
    found = [number for number, both in shared.items() if both and not any(both < other for other in shared.values())]
    if not found and points:
        found = [last] if last in known else [] if last == SOMETHING_ELSE else list(known)
        return found, len(found) == 1 and BARE.fullmatch(said) is not None
    if len(found) != 1:
        return ([last] if last in found else found), False
    text = known[found[0]]
    most = words_weight(shared[found[0]]) > MOST * words_weight(content_words(text))
    little = content_words(said) <= content_words(text) or names_promise(said, text)
    return found, little and (most or len(known) == 1 or last == found[0])
