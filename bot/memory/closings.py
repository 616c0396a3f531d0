"""Which of somebody's open promises a line of theirs says are done, or called off. By rule, no model. Pure.

It ends only what is certain: what is told as over is of the kind that was promised, of its object, and by its writer.
The words are in bot/memory/closings.toml. The first Chinese line loads a dictionary (call it in a thread).
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Literal

from bot.memory.plain import DATA as PLAIN
from bot.memory.plain import sentences
from bot.text.alike import FORM, core
from bot.text.clauses import clauses_of
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.text.script import ENGLISH
from bot.text.stem import stem
from bot.text.tokens import STOP, runs, words
from bot.types.commitment import CommitmentState, Settled

CLAUSE_CHARS = 60
"""A longer clause tells a story."""

ASKED = 4
"""Of more promises that may be meant nobody is asked."""

Over = Literal["", "done", "failed"]

_DATA: dict[str, Any] = tomllib.loads(files("bot.memory").joinpath("closings.toml").read_text("utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_DATA["words"][name])


def _pattern(name: str) -> LazyPattern:
    listed = {f"<{key}>": "(?:" + "|".join(PLAIN["words"][key]) + ")" for key in ("kin", "folk")}
    text = "|".join(f"(?:{one})" for one in _DATA["pattern"][name])
    for key, found in listed.items():
        text = text.replace(key, found)
    return LazyPattern(text)


def _deeds() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for deed, names in _DATA["deed"].items():
        for name in names:
            key = stem(name)
            found[key] = found.get(key, frozenset()) | {deed}
    return found


_DEEDS, _PAST = _deeds(), dict[str, str](_DATA["past"])
_GENERIC = frozenset(map(stem, _words("generic")))
_FILLER = _words("filler") | STOP | ENGLISH
_TOWARD, _POINTING, _LOOSE, _OTHERS, _LEAD, _BE, _ACTIVE, _MEDIUM = map(
    _words, ("toward", "pointing", "loose", "others", "lead", "be", "active", "medium")
)
_IS_OVER, _OFF, _NOT_OVER, _NOT_OVER_EN, _VOID, _BY_OTHER, _TIME, _HANDLED, _LASTING, _DENIED = map(
    _pattern, ("over", "off", "not_over", "not_over_en", "void", "by_other", "time", "handled", "lasting", "denied")
)
_SAME = {stem(word): stem(group[0]) for group in _DATA["same"]["words"] for word in group}
_HAN = re.compile(r"[㐀-鿿]")
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_NEXT = re.compile(r"\s(?:and|but|then)\s+(?=(?:(?:i|then|also|finally|just|already|even)(?:['’]ve)?\s+)*([a-z]+))")
_AFTER = "给到完好掉了过出去上回来下走成清齐妥在"
_NAME = re.compile("(?<=[给跟和向找帮替还约陪])([老小阿][一-鿿])")
_NAMED = frozenset("老小阿")
_RETURN = frozenset("还")
_RETURNED: tuple[list[str], ...] = ([], ["了"], ["给"], ["掉"], ["清"], ["上"], ["好"])
_MANAGED = ("remembered", "managed", "went", "around")
_NUMERAL = re.compile(r"^(?:[0-9]+|[一二三四五六七八九十两几]+)[个份张本次遍封条篇项件]?$")
_ALL = re.compile(r"全[都部]|[两俩三]个?.{0,4}都|都.{0,3}[完好]|\b(?:both|all)\b")


@dataclass(frozen=True, slots=True)
class Closings:
    """What a line ends, and which of several it may mean; `whole`: it says nothing else."""

    ended: tuple[Settled, ...] = ()
    asks: tuple[int, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Matter:
    """What words are about: kinds of deeds, and the things they name. `generic` is done with anything.

    `people` are those of the things that it is for, or with.
    """

    things: frozenset[str] = frozenset()
    deeds: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    generic: bool = False
    points: bool = False
    people: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Fit:
    """A promise that a clause is about, by the things that both name."""

    number: int
    shared: frozenset[str]


def closings(line: str, promises: Iterable[tuple[int, str]], last: int = 0) -> Closings:
    """What becomes of these open promises (number, text) of its writer; `last` is the one nuan spoke of just before."""
    known = {number: matter_of(text) for number, text in promises if not _LASTING.search(fold(text))}
    if not known or _VOID.search(fold(line)):
        return Closings()
    ended: dict[int, CommitmentState] = {}
    asks: list[int] = []
    whole = True
    for sentence in sentences(line):
        topic, told = _Matter(), False
        pieces = [] if sentence.asks else _pieces(sentence.text)
        for place, piece in enumerate(pieces):
            over, matter = _read(piece, known.values())
            if not over:
                topic = replace(matter, things=topic.things | matter.things) if _names(piece, matter) else topic
                continue
            if not matter.things:
                behind = matter_of(pieces[place + 1]) if place + 1 < len(pieces) else _Matter()
                named = topic.things or (behind.things if _names(pieces[place + 1 :][:1], behind) else frozenset())
                matter = replace(matter, things=named)
            sure, perhaps = _meant(matter, over, known, last, bool(_ALL.search(piece)))
            ended |= dict.fromkeys(sure, over)
            asks += perhaps
            told = told or bool(sure or perhaps)
        whole = whole and told
    left = tuple(dict.fromkeys(number for number in asks if number not in ended))
    return Closings(
        tuple(Settled(number, state) for number, state in ended.items()), left if len(left) <= ASKED else (), whole
    )  # fmt: skip


def admits(
    cited: str, said: str, number: int, promises: Iterable[tuple[int, str]], *, over: bool, last: int = 0
) -> bool:  # fmt: skip
    """Whether what somebody `said` leaves it to a model to say by the `cited` words of it that this promise is over.

    One of its things stands there, or a deed that no other one is of, or they only point and no other one can be meant.
    With `over` a cited clause also denies, plans and asks nothing, and tells of nobody else. `last` is the promise that
    nuan spoke of just before.
    """
    known = {each: matter_of(text) for each, text in promises}
    one = known[number]
    clauses = [piece for sentence in sentences(cited) if not sentence.asks for piece in _pieces(sentence.text)]
    if over:
        clauses = [piece for piece in clauses if not (_denied(piece) or _by_other(piece))]
    for piece in clauses:
        matter = matter_of(piece)
        may = [
            each for each, other in known.items() if matter.generic or not matter.deeds or matter.deeds & other.deeds
        ]
        if (matter.points or not matter.things) and (may == [number] or last == number):
            return True
    heard, other = core(said), [matter.verbs for each, matter in known.items() if each != number]
    deed = core(" ".join(one.verbs)) - core(" ".join(verb for verbs in other for verb in verbs))
    return bool(clauses) and bool((core(" ".join(one.things)) | deed) & heard)


def _denied(piece: str) -> bool:
    return _DENIED.search(piece) is not None


def matter_of(text: str) -> _Matter:
    """What words are about, without who, when and how."""
    folded = _HANDLED.sub(" done ", fold(text).replace("’", "'"))
    if _HAN.search(folded):
        folded = _TIME.sub(" ", FORM.sub(" ", _NAME.sub(r" \1 ", folded)))
    things, deeds, verbs, people = set[str](), set[str](), set[str](), set[str]()
    generic = points = toward = False
    for token in _tokens(folded):
        if token in _POINTING:
            points = True
        base = stem(_PAST.get(token, token))
        if token in _GENERIC or base in _GENERIC:
            generic = True
        elif base in _DEEDS and (token.isascii() or token not in _FILLER - _RETURN):
            deeds |= _DEEDS[base]
            verbs.add(base)
        elif token not in _FILLER and token not in _POINTING and not (_NUMERAL.match(token) and not token.isdigit()):
            thing = _SAME.get(base, base)
            things.add(thing)
            if toward:
                people.add(thing)
        toward = token in _TOWARD or (toward and token in _FILLER and token not in _POINTING)
    if not deeds and "给" in folded:
        deeds.add("send")
    return _Matter(
        frozenset(things), frozenset(deeds), frozenset(verbs), generic, points, frozenset(people)
    )  # fmt: skip


def _tokens(folded: str) -> Iterable[str]:
    """Words of a folded text; of Chinese ones a deed before its object is one of its own."""
    for run, word in runs(folded.replace("'s", " ").replace("'", "")):
        if word:
            yield word
            continue
        parts = words(run)
        for place, token in enumerate(parts):
            if place and parts[place - 1] in _NAMED and len(token) == 1:
                continue
            if token in _NAMED and place + 1 < len(parts) and len(parts[place + 1]) == 1:
                yield token + parts[place + 1]
                continue
            if token in _RETURN and parts[place + 1 : place + 2] not in _RETURNED:
                continue  # still
            yield from _split(token)


def _split(token: str) -> Iterable[str]:
    if token in _DEEDS or token in _GENERIC or token in _FILLER or len(token) < 2:
        yield token
        return
    for size in (2, 1):
        rest = token[size:]
        if token[:size] in _DEEDS and rest and (len(rest) > 1 or rest in _AFTER):
            yield token[:size]
            if rest[0] == "给":
                yield "给"
            bare = rest.lstrip(_AFTER)
            if bare:
                yield bare
            return
    yield token


def _pieces(sentence: str) -> list[str]:
    """The clauses of a sentence, folded; English ones also where a new deed begins."""
    found: list[str] = []
    for clause in clauses_of(sentence):
        folded = fold(clause).strip(" ,，、~").replace("’", "'")
        if _HAN.search(folded):
            found += [part for part in re.split(r"[,，、:：~～…]+|\s(?=[㐀-鿿])", folded) if part.strip()]
            continue
        start = 0
        for match in _NEXT.finditer(folded):
            if _is_past(match[1], ()):
                found.append(folded[start : match.start()])
                start = match.start(1)
        found.append(folded[start:])
    return [piece.strip() for piece in found if piece.strip()]


def _names(piece: str | Sequence[str], matter: _Matter) -> bool:
    """Whether a clause only names something: 那个表格, the report."""
    text = piece if isinstance(piece, str) else "".join(piece)
    return bool(matter.things) and not matter.deeds and not _blocked(text) and not _by_other(text)


def _read(piece: str, promises: Iterable[_Matter]) -> tuple[Over, _Matter]:
    """Whether a clause tells that something is over, and what."""
    if len(piece) > CLAUSE_CHARS * (1 if _HAN.search(piece) else 2):
        return "", _Matter()
    matter = matter_of(piece)
    if _OFF.search(piece):
        return ("failed", matter) if matter.things else ("", matter)
    if _blocked(piece) or _by_other(piece):
        return "", matter
    if _HAN.search(piece):
        return ("done" if _IS_OVER.search(piece) else ""), matter
    return _english(piece, matter, promises)


def _blocked(piece: str) -> bool:
    return (_NOT_OVER if _HAN.search(piece) else _NOT_OVER_EN).search(piece) is not None


def _by_other(piece: str) -> bool:
    return _BY_OTHER.search(piece) is not None


def _english(piece: str, matter: _Matter, promises: Iterable[_Matter]) -> tuple[Over, _Matter]:
    """As `_read` of an English clause: a deed in the past, by nobody else."""
    told = _WORD.findall(_HANDLED.sub("done", piece))
    verbs = frozenset[str]().union(*(one.verbs | one.things for one in promises))
    at = next((place for place, word in enumerate(told) if _is_past(word, verbs)), None)
    if at is None or not _OTHERS.isdisjoint(told[:at]):
        return "", matter
    passive = at > 0 and (told[at - 1] in _BE or told[at - 1].endswith("'s"))
    subject = [word for word in told[:at] if word not in _LEAD]
    object_ = [word for word in _direct(told[at + 1 :]) if word not in _FILLER and word not in _POINTING]
    verb = stem(_PAST.get(told[at], told[at]))
    acts = object_ or _DEEDS.get(verb, frozenset()) & _ACTIVE
    if subject and acts and not passive and verb not in _GENERIC:
        return "", matter
    if "by" in told[at:-1] and told[told.index("by", at) + 1] not in _MEDIUM:
        return "", matter
    deeds, heard = set[str](), set(matter.things)
    for place, word in enumerate(told):
        base = stem(_PAST.get(word, word))
        before = told[max(0, place - 2) : place]
        did = before[-1:] == ["did"] or (before[-1:] == ["to"] and before[0] in _MANAGED)
        if did or _is_past(word, verbs) or (word.endswith("ing") and place > at):
            deeds |= _DEEDS.get(base, frozenset())
        elif base in _DEEDS and before[-1:] != ["to"]:
            heard.add(base)  # made the call
    return "done", replace(matter, things=frozenset(heard), deeds=frozenset(deeds))


def _direct(behind: list[str]) -> list[str]:
    """The words behind a verb up to the first preposition."""
    stop = next(
        (n for n, word in enumerate(behind) if word in ("to", "at", "on", "in", "for", "by", "with", "from", "via")),
        None,
    )
    return behind[:stop]


def _is_past(word: str, verbs: Iterable[str]) -> bool:
    base = stem(_PAST.get(word, word))
    if word in _PAST:
        return True
    return word.endswith("ed") and base != word and (base in _DEEDS or base in _GENERIC or base in verbs)


def _meant(told: _Matter, over: Over, known: dict[int, _Matter], last: int, every: bool) -> tuple[list[int], list[int]]:
    """The promises that a clause of something over is certainly about, and those among which it is not certain."""
    may = {number: one for number, one in known.items() if over == "failed" or _same_deed(told, one)}
    if not told.things:
        if told.deeds & _LOOSE and not told.generic and not told.points:
            return [], []
        if not (told.deeds or told.generic):
            return [], []
        fits = [last] if last in may else list(may)
        return (fits, []) if len(fits) == 1 or every else ([], fits)
    found = [_Fit(number, shared) for number, one in may.items() if (shared := _shared(told, one))]
    best = [each for each in found if not any(each.shared < other.shared for other in found)]
    sure, perhaps = list[int](), list[int]()
    for each in best:
        same = [other.number for other in best if other.shared == each.shared]
        if _differs(told, known[each.number]):
            continue
        if len(same) == 1 or every or last == each.number:
            sure.append(each.number)
        elif last not in same:
            perhaps.append(each.number)
    if not found:
        near = [number for number, one in known.items() if any(map(_telling, _shared(told, one)))]
        perhaps = near if len(near) == 1 else []
    elif not sure and not perhaps and len(best) == 1:
        perhaps = [best[0].number] if any(map(_telling, best[0].shared)) else []
    return sure, perhaps


def _telling(thing: str) -> bool:
    """Whether a word tells by itself what is meant."""
    return len(thing) > (3 if thing.isascii() else 1)


def _differs(told: _Matter, one: _Matter) -> bool:
    """Whether each says something of its own of what both name: 数学作业 and 英语作业; to Tom and to Ann."""
    more = frozenset(thing for thing in told.things if not _within(thing, one.things | one.verbs))
    left = frozenset(thing for thing in one.things if not _within(thing, told.things))
    if told.people and one.people and not _like(told.people, one.people):
        return True
    return bool(left and more - told.people)


def _same_deed(told: _Matter, one: _Matter) -> bool:
    """Whether what was done is of the kind that was promised."""
    if told.generic or told.deeds & one.deeds or told.things & one.verbs:
        return True
    if told.deeds:
        return False
    both = _like(told.things, one.things)
    return len(both) > 1 or (not one.deeds and both == told.things)


def _shared(told: _Matter, one: _Matter) -> frozenset[str]:
    """The things of a promise that a clause names, with its deed where that is named as a thing (the call)."""
    return _like(one.things, told.things) | (one.verbs & told.things)


def _like(these: Iterable[str], those: Iterable[str]) -> frozenset[str]:
    """Those of the first that are among the second, also as the end or a part of a longer word."""
    others = tuple(those)
    return frozenset(each for each in these if any(_same_thing(each, other) for other in others))


def _within(thing: str, others: Iterable[str]) -> bool:
    """Whether a word says nothing more than one of the others: 税 of 牌照税, not 电费 of 费."""
    return any(_same_thing(thing, other) and len(thing) <= len(other) for other in others)


def _same_thing(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.isascii() or other.isascii():
        return False
    short, long = sorted((one, other), key=len)
    return long.endswith(short) or (len(short) > 1 and short in long)
