"""What a person plainly tells, or has still to do, in a sentence of their own, and whether a message is made to work on a
model instead: by rule, no model. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.core.memories import SUBJECT_CHARS
from bot.core.people import MemoryKind
from bot.language.wishes.patterns import pattern as wish_pattern
from bot.text.catalogue import LazyPattern, read_table
from bot.text.clean import one_row
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.length import SENTENCE, clauses_of, clip, estimate_tokens

STATEMENT_TOKENS = 80
"""Longest sentence that is kept; a part of a longer one would say something else."""

SENTENCE_CHARS = 240
"""A longer sentence is left out: a hostile one of 2,000 characters held the loop for 120 ms (measured)."""

READ_CHARS = 800
"""So much of a message is read as it arrives: a promise is a short thing, and a pasted article none."""

MOST = 3
"""Promises that are read off one message."""

DATA = read_table("bot.language", "fallback")
_NAMED = re.compile(r"<([a-z_]+)>")

GRIEF = -0.7
"""What a feeling weighs of which nobody wants a cheerful receipt."""

_WEIGHTS, _ALONE = (
    {word: float(weight) for weight, words in DATA[table].items() for word in words}
    for table in ("weight", "weight_alone")
)

_SIGNS = {name: "|".join(texts) for name, texts in read_table("bot.language", "injection").items()}
LINK = LazyPattern(f"(?i){_SIGNS.pop('link')}")
INSTRUCTION = LazyPattern(_SIGNS.pop("instruction"))
"""Words that speak to a model instead of telling something."""

_POWER = f"(?:{_SIGNS.pop('power')})"
_INJECTIONS = tuple(LazyPattern(text.replace("{power}", _POWER)) for text in _SIGNS.values())
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]")
"""Signs that turn or hide text; no keyboard makes them."""
_SPELT = re.compile(r"(?<![a-z0-9])(?:[a-z][ ._*-]){3,}[a-z](?![a-z0-9])")
"""i g n o r e, s.y.s.t.e.m"""

_OWN = LazyPattern(r"[我咱俺]|\b(?:i|my|we|our)\b")
_ANYBODY = LazyPattern(
    r"[我咱俺你您他她它谁]|大家|一起|人家|\b(?:i|my|we|our|you|your|he|she|they|it|let['’]?s|who)\b|吧$"
)

_WOULD, _TOLD_ALL = re.compile("(?<=i)['’]d\\b"), re.compile("[喔哦呀吧哈啊]$")
_ADDRESSED = re.compile(r"[^\s:：,，]{1,30}[:：] ")

_AHEAD = LazyPattern(r"[明后][天早晚日]|下个?(?:周|星期|礼拜|月)|\btomorrow\b|\bnext (?:week|month|[a-z]+day)\b")
"""What names a day to come: that is more than how it feels."""


def is_injection(text: str) -> bool:
    """Whether a message speaks to a program instead of to people; of its words nothing is to be kept."""
    if _HIDDEN.search(text):
        return True
    folded = fold(text)
    plain = _SPELT.sub(lambda spelt: re.sub("[ ._*-]", "", spelt[0]), folded)
    overrides = wish_pattern("override").search(plain) is not None
    return overrides or any(pattern.search(plain) for pattern in (INSTRUCTION, *_INJECTIONS))


def holds_link(text: str) -> bool:
    """Whether something in it can be opened."""
    return bool(LINK.search(fold(text)))


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """What someone plainly said, their whole sentence: of themselves, or of the `subject`, somebody of theirs.

    `emotion` and `value` (-1 to 1) are for a feeling.
    """

    kind: MemoryKind
    text: str
    emotion: str = ""
    value: float = 0.0
    subject: str = ""
    slot: str = ""
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A person's own sentence as it was written, its clauses beside their folded forms, and the mark behind it."""

    text: str
    folded: str
    end: str

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return "?" in fold(self.end) or QUESTION.search(self.folded) is not None

    def clauses(self) -> Iterator[tuple[str, str, int]]:
        """Each clause, folded as well, and where in the folded one its fillers end."""
        for clause in clauses_of(self.text):
            folded = fold(clause).rstrip(" ,~")
            yield clause, folded, _lead_end(folded)


@dataclass(frozen=True, slots=True)
class _Fact:
    """One row of the vocabulary: its patterns behind 我, behind I, in a whole clause, and after somebody of theirs.

    `slot` "" may hold many. One that is `firm` holds whatever doubt follows it; of a `bare` one 我 may be left out
    before somebody of theirs.
    """

    kind: MemoryKind
    slot: str
    lasting: bool
    current: bool
    zh: LazyPattern
    en: LazyPattern
    whole: LazyPattern
    theirs: LazyPattern
    firm: bool
    bare: bool


def _spelt(pattern: str) -> str:
    """A pattern with the lists that it names written out."""

    def listed(found: re.Match[str]) -> str:
        words = DATA["words"].get(found[1])
        return found[0] if words is None else _any(words)

    return _NAMED.sub(listed, pattern)


def _any(patterns: Iterable[str]) -> str:
    return "(?:" + "|".join(map(_spelt, patterns)) + ")"


def patterns_of(table: str, name: str) -> LazyPattern:
    """A list of the vocabulary as one pattern."""
    return LazyPattern(_any(DATA[table][name]))


def _fact(row: dict[str, Any]) -> _Fact:
    zh, en, whole = _any(row["zh"]), _any(row["en"]), [_spelt(one) for one in row.get("whole", ())]
    between, between_en = _spelt("(?:<between>)*+"), _spelt("(?:(?:<between_en>) )*+")
    name = "(?:(?![不没别想说要会能跟和给对])[一-鿿]){0,3}?"
    bare = bool(row.get("bare"))
    theirs = (
        rf"(?:我们?家?的?){'?' if bare else ''}(?P<zh>{_spelt('<kin>')}{name}){between}{zh}"
        rf"|my (?P<en>(?:[a-z]+ )?{_spelt('<kin_en>')}(?: (?!is|was|has|had|and|or|who|will)[a-z]+)?) ?{between_en}{en}"
    )
    return _Fact(
        row["kind"],
        row["slot"] if row.get("single") else "",
        bool(row.get("lasting")),
        bool(row.get("current")),
        LazyPattern("(?!)" if row.get("theirs") else zh),
        LazyPattern("(?!)" if row.get("theirs") else en),
        LazyPattern("|".join(whole) or "(?!)"),
        LazyPattern(theirs),
        bool(row.get("firm")),
        bare,
    )


UNSURE, ASKING, QUESTION = (patterns_of("silent", name) for name in ("unsure", "asking", "question"))
"""Questions, conditions, doubt, reports, fiction and jokes; a clause that asks or does not know; a question."""
_SMALL, _REMINDING = (
    LazyPattern(rf"(?:[\W_]|{_any(DATA['silent']['small_talk'])})*+$"),
    patterns_of("silent", "reminding"),
)
_LEAD = LazyPattern(rf"(?:[\W_]|{_any(DATA['silent']['lead'])})*+")
_BESIDE, _OTHERS, _PLAYED, _FORMER, _AGAIN, _UNLUCKY, _PLEASED, _MACHINES, _QUOTING, _POINTING = (
    patterns_of("silent", name)
    for name in (
        "beside",
        "others",
        "played",
        "former",
        "again",
        "unlucky",
        "pleased",
        "machines",
        "quoting",
        "pointing",
    )
)
_I = LazyPattern(_spelt("我(?:们|自己|本人)?(?!<kin>|<folk>)(?:<between>)*+|i(?=['’ ]) ?(?:(?:<between_en>) )*+"))
_MY = LazyPattern(_spelt("我们?家?的?<kin>|my "))
"""What stands before a fact of one's own, and before somebody of theirs: most clauses have neither."""
_NEAR = LazyPattern(_spelt(r"<kin>|<folk>|\b(?:<kin_en>|<folk_en>)\b"))
_SAD = patterns_of("words", "sad")
_FACTS = tuple(_fact(row) for row in DATA["fact"])
_FEELING = tuple(_spelt(one) for language in ("zh", "en") for one in DATA["feeling"][language])
_FEELINGS = tuple(map(LazyPattern, _FEELING))
_DAY = LazyPattern(_spelt(r"<day>|\b(?:<day_en>)\b"))
_DEED = LazyPattern(_spelt(r"<deed>|\b(?:<deed_en>)\b"))
_SOMEBODY = LazyPattern(
    _spelt(
        r"(?:<day>|<hour>|,)*+(?:我们?家?的?)(?P<zh><kin>)(?!们?一起|[和跟])|(?:.* )?my (?P<en><kin_en>)\b(?! and i)"
    )
)
_LISTED, _LISTED_OVER, _PROMISED, _DUE, _TO_WHOM, _IDLE, OVER, _OFF, NOT_OVER, _PAST, BARE = (
    patterns_of("task", name)
    for name in (
        "listed",
        "listed_over",
        "promised",
        "due",
        "to_whom",
        "idle",
        "over",
        "off",
        "not_over",
        "past",
        "bare",
    )
)
"""Rows of a list, what is promised or due, and to whom; what is over, off, not over yet, in the past; a bare "done"."""


def _lead_end(folded: str) -> int:
    lead = _LEAD.match(folded)
    return lead.end() if lead else 0


def sentences(words: str) -> Iterator[Sentence]:
    """The sentences of somebody's own words; quoted rows, code and rows with links give none."""
    for row in words.split("\n"):
        if _QUOTING.search(row) or LINK.search(fold(row)):
            continue
        addressed = _ADDRESSED.match(row)
        for match in SENTENCE.finditer(row, addressed.end() if addressed else 0):
            text = one_row(match[1]).strip(" ,，、;；~～")
            if text and len(text) <= SENTENCE_CHARS:
                yield Sentence(text, fold(text), match[2])


def kept_sentence(sentence: Sentence) -> str:
    """The whole sentence as it is kept, a filler before its first comma apart; "" when it is too long."""
    folded, origin = fold_mapped(sentence.text)
    end = _lead_end(folded)
    start = end if folded[:end].endswith((",", " ")) else 0
    text = unfold(sentence.text, origin, start, len(folded)).strip(" ,，、")
    return text if estimate_tokens(text) <= STATEMENT_TOKENS else ""


def statements_in(words: str, alone: bool = True) -> tuple[PlainStatement, ...]:
    """What somebody's own words plainly tell, a sentence each, in order; `alone` with the bot, 我 may be left out."""
    found = (_statement(sentence, alone) for sentence in sentences(words) if _plain(sentence) and _names(sentence))
    return tuple(one for one in found if one is not None and one.text)


def _names(sentence: Sentence) -> bool:
    """Whether a sentence says itself whom its he or she is."""
    return _POINTING.search(sentence.folded) is None or _NEAR.search(sentence.folded) is not None


def feeling(tag: str, text: str = "") -> float:
    """How a word of feeling weighs, -1 to 1; of an unknown one what is said in `text` does; 0 without a known word."""
    return _weight(tag, _WEIGHTS | _ALONE) or _weight(text, _WEIGHTS)


def _weight(words: str, weights: Mapping[str, float]) -> float:
    """The weight of the longest known word that is in them."""
    folded = fold(words)
    known = [word for word in weights if word in folded]
    return weights[max(known, key=lambda word: (len(word), -weights[word]))] if known else 0.0


def is_sad(words: str) -> bool:
    """Whether somebody tells a loss, or that they feel as bad as one does after it."""
    return _SAD.search(fold(words)) is not None or _weight(words, _WEIGHTS) <= GRIEF


def tasks_in(words: str) -> Iterator[str]:
    """What somebody's own words say they have to do: with a day, for somebody, or as a row of a list of such things."""
    for row in words.split("\n"):
        listed = _listed(row)
        if listed:
            yield listed
        elif not _LISTED.match(fold(row)):
            yield from (text for sentence in sentences(row) if _is_task(sentence) and (text := kept_sentence(sentence)))


def idle(folded: str) -> bool:
    """Whether a folded sentence is nothing but greetings, thanks and nods, or speaks to a program."""
    return _SMALL.match(folded) is not None or INSTRUCTION.search(folded) is not None


def wants_reminding(text: str) -> bool:
    """Whether it asks to be reminded or woken: a reminder says that."""
    return _REMINDING.search(fold(text)) is not None


def _plain(sentence: Sentence) -> bool:
    folded = sentence.folded
    if sentence.asks or idle(folded):
        return False
    told, _, beside = folded.partition(",")
    firm = beside and any(fact.firm for fact, _ in _facts_of(told, _lead_end(told)))
    sure = f"{told},{_BESIDE.sub(' ', beside)}" if firm else folded
    return not any(pattern.search(sure) for pattern in (UNSURE, ASKING, INSTRUCTION, _PLAYED))


def _statement(sentence: Sentence, alone: bool) -> PlainStatement | None:
    """The first thing that a sentence tells: a fact, a feeling, or something on a day."""
    unlucky = _UNLUCKY.search(sentence.folded) is not None
    if _MACHINES.search(sentence.folded) or (unlucky and _PLEASED.search(sentence.folded)):
        return None  # English talk about machines is about the machine; nobody is glad of misfortune: irony
    text = kept_sentence(sentence)
    fact = _found_fact(sentence, text) or (_event(sentence, text, alone) if _AHEAD.search(sentence.folded) else None)
    if fact is not None:
        return fact
    for clause, folded, start in sentence.clauses():
        for pattern in _FEELINGS:
            match = pattern.match(folded, start)
            if match:
                origin = fold_mapped(clause)[1]
                tag = unfold(clause, origin, *match.span("tag"))
                return PlainStatement("emotion", text, tag, feeling(tag))
    return _event(sentence, text, alone)


def _found_fact(sentence: Sentence, text: str) -> PlainStatement | None:
    """The first fact that a sentence tells; one that tells more than one holds no slot: what replaces one leaves the
    others."""
    former = _FORMER.search(sentence.folded) is not None
    found: list[PlainStatement] = []
    for clause, folded, start in sentence.clauses():
        for fact, span in _facts_of(folded, start):
            if former and fact.current:
                continue
            about = clip(unfold(clause, fold_mapped(clause)[1], *span), SUBJECT_CHARS)
            found.append(PlainStatement(fact.kind, text, subject=about, slot=fact.slot, lasting=fact.lasting))
            break
    if len(found) < 2:
        return found[0] if found else None
    return replace(found[0], slot="", lasting=any(one.lasting for one in found))


def _facts_of(folded: str, start: int) -> Iterator[tuple[_Fact, tuple[int, int]]]:
    """The rows that a folded clause fits, its fillers ending at `start`, each with where it names whom it is about."""
    lead, others = _I.match(folded, start), _MY.match(folded, start)
    for fact in _FACTS:
        theirs = fact.theirs.match(folded, start) if others or fact.bare else None
        own = fact.en if lead and lead[0].startswith("i") else fact.zh
        mine = (lead and own.match(folded, lead.end())) or fact.whole.match(folded, start)
        if theirs or mine:
            yield fact, theirs.span("zh" if theirs["zh"] else "en") if theirs else (0, 0)


def _event(sentence: Sentence, text: str, alone: bool) -> PlainStatement | None:
    """What befalls them, or somebody of theirs, on a day."""
    folded = sentence.folded
    if not (_DAY.search(folded) and _DEED.search(folded)) or _OTHERS.search(folded) or _AGAIN.search(folded):
        return None
    bare = alone and not folded.isascii() and not _ANYBODY.search(folded)
    if wants_reminding(folded) or not (bare or _OWN.search(folded)):
        return None
    theirs = _SOMEBODY.match(folded)
    subject = "" if theirs is None else theirs["zh"] or theirs["en"]
    return PlainStatement("event", text, subject=subject)


def _is_task(sentence: Sentence) -> bool:
    folded = sentence.folded
    if _PROMISED.search(folded):  # I promised Ann I'd come is no guess
        sentence = replace(sentence, folded=_WOULD.sub("", folded))
    reported = _OTHERS.search(folded) or _AGAIN.search(folded) or _IDLE.search(folded)
    if (_TOLD_ALL.search(folded) and not _OWN.search(folded)) or not _plain(sentence):
        return False
    if reported or _is_over(folded) or wants_reminding(folded):
        return False
    dated = (_DAY.search(folded) or _TO_WHOM.search(folded)) and not (_PAST.search(folded) or _OFF.search(folded))
    return any(
        _PROMISED.match(part, start) or (dated and _DUE.match(part, start)) for _, part, start in sentence.clauses()
    )


def _is_over(folded: str) -> bool:
    return BARE.fullmatch(folded) is not None or (OVER.search(folded) is not None and NOT_OVER.search(folded) is None)


def _listed(row: str) -> str:
    """What a row of a list of things to do says; or ""."""
    folded, origin = fold_mapped(row)
    match = _LISTED.match(folded)
    if match is None or LINK.search(folded) or _LISTED_OVER.search(folded):
        return ""
    task = one_row(unfold(row, origin, *match.span(match.lastgroup or 0))).strip(" ,，。.")
    said = fold(task)
    if _LISTED_OVER.search(said) or QUESTION.search(said) or INSTRUCTION.search(said) or re.search("[<>{}]", said):
        return ""
    return task if estimate_tokens(task) <= STATEMENT_TOKENS else ""
