"""Finds the plain statements about oneself in a person's words, sentence by sentence. It knows no commands."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from bot.memory import doubting, owning_en, owning_zh
from bot.memory import statements as s
from bot.text.clean import clean_line
from bot.text.clip import clip
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.lazy import LazyPattern
from bot.types.memory import MemoryKind

TEXT_CHARS = 120
"""Longest statement."""

_KINDS: tuple[tuple[MemoryKind, LazyPattern], ...] = (
    ("identity", s.IDENTITY),
    ("knowledge", s.KNOWLEDGE),
    ("emotion", s.EMOTION),
    ("event", s.EVENT),
    ("identity", owning_zh.IDENTITY),
    ("identity", owning_en.IDENTITY),
    ("emotion", owning_zh.EMOTION),
    ("emotion", owning_en.EMOTION),
    ("event", owning_zh.EVENT),
    ("event", owning_en.EVENT),
    ("knowledge", owning_zh.KNOWLEDGE),
    ("knowledge", owning_en.KNOWLEDGE),
    ("knowledge", owning_en.OPEN_KNOWLEDGE),
    ("event", owning_en.OPEN_EVENT),
    ("event", owning_zh.OPEN_EVENT),
    ("emotion", s.ALONE),
    ("emotion", owning_zh.ALONE),
)
SENTENCE = re.compile(r"((?:[^。！？!?\n；;….]|\.(?!\s|$))+)([。！？!?；;….]*)")
_CLAUSE_END = re.compile(r"(?<!\d)[,，]|[,，](?!\d)| (?=(?:and|but|so) (?:i|my)\b)", re.IGNORECASE)
_SPACED = re.compile(r"(?<=[一-鿿]{4}) (?=[一-鿿])")
"""A space that stands for a comma."""
ADDRESSED = re.compile(r"[^\s:：,，]{1,30}[:：] ")


@dataclass(frozen=True, slots=True)
class Statement:
    """What someone plainly said of themselves, in their own words; `emotion` and `value` (-1 to 1) for a feeling."""

    kind: MemoryKind
    text: str
    emotion: str = ""
    value: float = 0.0


def statements_in(words: str) -> tuple[Statement, ...]:
    """The plain statements in a person's own words, in order; doubt means none."""
    return tuple(found for sentence, end in _sentences(words) for found in _read(sentence, end))


def one_row(text: str) -> str:
    """The text on one line, without anything invisible."""
    spaced = clean_line(text)
    return "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def feeling(words: str) -> float:
    """How a word of feeling weighs, -1 to 1; 0 for an unknown one."""
    folded = fold(words)
    known = [word for word in s.FEELINGS if word in folded]
    if not known:
        return 0.0
    return s.FEELINGS[max(known, key=lambda word: (len(word), -s.FEELINGS[word]))]


def _sentences(words: str) -> Iterator[tuple[str, str]]:
    """Sentences of a message with what ends them; a quoted or code line gives none."""
    for row in words.split("\n"):
        if s.QUOTING.search(row) or s.LINK.search(row):
            continue
        addressed = ADDRESSED.match(row)
        for match in SENTENCE.finditer(row, addressed.end() if addressed else 0):
            yield match[1], match[2]


def _read(sentence: str, end: str) -> Iterator[Statement]:
    folded = fold(sentence).strip()
    asked = "?" in fold(end) and not doubting.NO_QUESTION.search(folded)
    clauses = clauses_of(_SPACED.sub(",", sentence))
    if asked and len(clauses) > 1 and s.TAGGED_ON.match(fold(clauses[-1]).strip(" ,")):
        clauses, asked = clauses[:-1], False
        folded = fold("".join(clauses)).strip(" ,")
    if asked or len(folded) > 2 * TEXT_CHARS:
        return
    if s.UNSURE.search(folded) or s.INSTRUCTION.search(folded):
        return
    machines, unlucky = s.MACHINES.search(folded) is not None, doubting.UNLUCKY.search(folded) is not None
    pending: Statement | None = None
    for number, clause in enumerate(clauses):
        asking = doubting.ASKING.search(fold(clause)) is not None
        found = None if asking else _statement(clause, alone=not number)
        if found and ((machines and found.kind != "identity") or (unlucky and _pleased(found))):
            continue
        if found:
            if pending:
                yield _finished(pending)
            pending = found
        elif pending and (asking or s.SECOND_PERSON.search(fold(clause))):
            yield _finished(pending)
            pending = None
        elif pending:
            pending = Statement(pending.kind, pending.text + clause, pending.emotion, pending.value)
    if pending:
        yield _finished(pending)


def _pleased(found: Statement) -> bool:
    """Whether it says that its speaker likes something: beside misfortune that is hardly meant."""
    return found.value > 0 or doubting.PLEASED.search(fold(found.text)) is not None


def clauses_of(sentence: str) -> list[str]:
    """The parts of a sentence, each with the comma before it."""
    cuts = [0, *(match.start() for match in _CLAUSE_END.finditer(sentence) if match.start()), len(sentence)]
    return [sentence[start:stop] for start, stop in pairwise(cuts)]


def _statement(clause: str, alone: bool) -> Statement | None:
    """The statement that a clause begins with."""
    folded, origin = fold_mapped(clause)
    lead = s.LEAD.match(folded)
    start = lead.end() if lead else 0
    for kind, pattern in _KINDS if alone else _KINDS[:-2]:
        match = pattern.match(folded, start)
        if not match:
            continue
        text = unfold(clause, origin, start, len(folded))
        if kind != "emotion":
            return Statement(kind, text)
        span = next(match.span(name) for name in match.re.groupindex if match[name])
        tag = unfold(clause, origin, *span)
        return Statement(kind, text, tag, feeling(tag))
    return None


def _finished(statement: Statement) -> Statement:
    text = clip(one_row(statement.text).strip(" ,，、;；"), TEXT_CHARS)
    return Statement(statement.kind, text, statement.emotion, statement.value)
