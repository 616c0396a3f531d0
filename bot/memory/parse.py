"""Reads a model's digest strictly: one JSON object, every statement cited and grounded in its speaker's own lines.

Whatever does not fit is dropped, or the whole answer is; it never mends a broken answer.
"""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.memory import statements as s
from bot.memory.digest import (
    MEMORIES,
    SUMMARY_CHARS,
    DigestLine,
    Scope,
    Told,
    forgets,
    new_memory,
    rule_digest,
    was_forgotten,
)
from bot.memory.telling import TEXT_CHARS, Statement, feeling, one_row
from bot.text.clean import clean
from bot.text.clip import clip
from bot.text.echo import echoes
from bot.text.fold import fold
from bot.text.tokens import STOP, index_terms
from bot.types.digest import Digest
from bot.types.memory import NewMemory

GROUNDED = 0.5
"""Share of a statement's terms that its cited lines must hold; a paraphrase keeps most of them."""
ANSWER_CHARS = 20_000
"""A longer answer is no digest."""
TAG_CHARS = 12
"""Longest word for a feeling."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_MARKUP = re.compile(r"<[^<>]{0,200}>|[<>]")
_STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["emotion", "event", "knowledge", "identity"]
    text: str
    cited: list[int] = Field(alias="from")
    tag: str = ""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    summary: str
    memories: list[_Item]


def parse_digest(answer: str, lines: tuple[DigestLine, ...], scope: Scope) -> Digest | None:
    """The digest in a model's answer; None when it is not exactly the JSON object that was asked for.

    Statements that cite no line, the bot, or more than one person, that are not grounded in what they cite, or that
    speak to a model are dropped. A summary that cannot be used is replaced by the rule's.
    """
    found = _read(answer)
    if found is None:
        return None
    gone = forgets(lines)
    kept: dict[tuple[int | None, str], NewMemory] = {}
    for item in found.memories:
        memory = _memory(item, lines, gone, scope)
        if memory:
            kept.setdefault((memory.owner_id, fold(memory.text)), memory)
    summary = _summary(found.summary, gone) or rule_digest(lines, scope).summary
    return Digest(summary, tuple(kept.values())[:MEMORIES], "model")


def _read(answer: str) -> _Answer | None:
    text = clean(answer[: ANSWER_CHARS + 1]).strip()
    fenced = _FENCED.fullmatch(text)
    if len(text) > ANSWER_CHARS:
        return None
    try:
        return _Answer.model_validate_json(fenced[1] if fenced else text)
    except ValidationError:
        return None


def _memory(item: _Item, lines: tuple[DigestLine, ...], gone: Told, scope: Scope) -> NewMemory | None:
    by_number = {line.number: line for line in lines}
    numbers = sorted(set(item.cited))
    if not numbers or any(number not in by_number for number in numbers):
        return None
    cited = tuple(by_number[number] for number in numbers)
    text = clip(one_row(item.text), TEXT_CHARS)
    if not harmless(text) or not grounded(text, cited):
        return None
    if any(was_forgotten(text, line, gone) for line in cited):
        return None
    if item.type != "emotion":
        return new_memory(Statement(item.type, text), cited, scope)
    tag = one_row(item.tag)
    tag = clip(tag, TAG_CHARS) if harmless(tag) else ""
    return new_memory(Statement(item.type, text, tag, feeling(tag) or feeling(text)), cited, scope)


def harmless(text: str) -> bool:
    """Neither empty nor a link, markup or an order to a model."""
    folded = fold(text)
    return bool(text) and not (s.LINK.search(folded) or _MARKUP.search(folded) or s.INSTRUCTION.search(folded))


def grounded(text: str, cited: tuple[DigestLine, ...]) -> bool:
    """Whether at least half of the statement's terms, the speaker's name apart, stand in the cited lines."""
    there = _terms(" ".join(line.text for line in cited))
    said = _terms(text) - (_terms(cited[0].name) - there)
    return bool(said) and len(said & there) >= GROUNDED * len(said)


def _terms(text: str) -> set[str]:
    return {term[:_STEM] if term.isascii() else term for term in index_terms(text) if term not in STOP}


def _summary(text: str, gone: Told) -> str:
    """The summary on one line without links and markup; "" when it speaks to a model or tells what was forgotten."""
    plain = one_row(_MARKUP.sub("", s.LINK.sub("", text)))
    if s.INSTRUCTION.search(fold(plain)) or any(echoes(what, plain) or echoes(plain, what) for _, what in gone):
        return ""
    return clip(plain, SUMMARY_CHARS)
