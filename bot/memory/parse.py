"""Reads a model's digest strictly: one JSON object, everything in it cited and grounded in its speaker's own lines.

Whatever does not fit is dropped, or the whole answer is; it never mends a broken answer, it names what is wrong.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.memory.digest import COMMITMENTS, MEMORIES, new_commitment, new_memory, rule_digest
from bot.memory.forging import forged
from bot.memory.grounding import (
    MARKUP,
    checked_day,
    grounded,
    harmless,
    named_days,
    nearest,
    parts,
    sums_up,
    terms,
)
from bot.memory.minutes import DigestLine, Scope, Told, forgets, played, was_forgotten, words_of
from bot.memory.promises import is_own_task, still_open
from bot.memory.statements import LINK
from bot.memory.summary import SUMMARY_CHARS
from bot.memory.telling import TEXT_CHARS, Statement, feeling, one_row, statements_in
from bot.text.clean import clean
from bot.text.clip import clip
from bot.text.echo import echoes
from bot.text.fold import fold
from bot.text.spans import spans
from bot.types.commitment import NewCommitment
from bot.types.digest import Digest
from bot.types.memory import NewMemory
from bot.types.prompt import Shape

ANSWER_CHARS = 20_000
"""A longer answer is no digest."""
ITEMS, CITED = 16, 8
"""How much of each list is read, and how many lines one item may cite."""
TAG_CHARS = 12
"""Longest word for a feeling."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


class _Cited(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    cited: list[int] = Field(alias="from")
    day: str = ""


class _Memory(_Cited):
    type: Literal["emotion", "event", "knowledge", "identity"]
    tag: str = ""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    summary: str
    memories: list[_Memory]
    profile: list[_Cited] = []
    commitments: list[_Cited] = []
    unfinished: list[_Cited] = []


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _list(properties: dict[str, object]) -> dict[str, object]:
    return {"type": "array", "items": _object(properties)}


_TEXT: dict[str, object] = {"type": "string"}
_CITED: dict[str, object] = {
    "text": _TEXT, "from": {"type": "array", "items": {"type": "integer"}}, "day": _TEXT,
}  # fmt: skip
_KINDS: dict[str, object] = {"type": "string", "enum": ["emotion", "event", "knowledge", "identity"]}

SHAPE = Shape(
    "digest",
    json.dumps(
        _object(
            {
                "summary": _TEXT,
                "memories": _list({"type": _KINDS, **_CITED, "tag": _TEXT}),
                "profile": _list(_CITED),
                "commitments": _list(_CITED),
                "unfinished": _list(_CITED),
            }
        )
    ),
)
"""What an answer must look like, for servers that can be told."""

KNOWN = frozenset(("summary", "memories", "profile", "commitments", "unfinished", "type", "text", "from", "tag", "day"))
"""The fields of an answer."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Why an answer is no digest, in words that hold nothing of the answer: too_long, no_json, or field: fault."""

    fault: str


def read_digest(answer: str, lines: tuple[DigestLine, ...], scope: Scope) -> Digest | Broken:
    """The digest in a model's answer; Broken when it is not exactly the JSON object that was asked for.

    What cites no line, the bot, or more than one person, is not grounded in the own words it cites, speaks to a model
    or names another day than they do is dropped. A summary that cannot be used is replaced by the rule's.
    """
    found = _read(answer)
    return found if isinstance(found, Broken) else _Reading(lines, scope).digest(found)


def _read(answer: str) -> _Answer | Broken:
    text = clean(answer[: ANSWER_CHARS + 1]).strip()
    fenced = _FENCED.fullmatch(text)
    if len(text) > ANSWER_CHARS:
        return Broken("too_long")
    try:
        return _Answer.model_validate_json(fenced[1] if fenced else text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        if first["type"] == "json_invalid":
            return Broken("no_json")
        place = ".".join(str(one) if isinstance(one, int) or one in KNOWN else "?" for one in first["loc"])
        return Broken(f"{place}: {first['type']}" if place else first["type"])


class _Reading:
    """One answer beside the talk it is of."""

    def __init__(self, lines: tuple[DigestLine, ...], scope: Scope) -> None:
        self._lines, self._scope = lines, scope
        self._gone = forgets(lines)
        self._told = words_of(lines, scope.bot_name, scope.screened)
        # What is played, and what the bot said, cannot be cited.
        play = played(lines)
        self._words = {line.number: (line, words) for line, words in self._told if line.number not in play}

    def digest(self, found: _Answer) -> Digest:
        """What of an answer is believed."""
        memories: dict[tuple[int | None, str], NewMemory] = {}
        told = (
            *(self._memory(item) for item in found.memories[:ITEMS]),
            *(self._change(item) for item in found.profile[:ITEMS]),
        )
        for memory in told:
            if memory:
                memories.setdefault((memory.owner_id, fold(memory.text)), memory)
        tasks: dict[tuple[int, str], NewCommitment] = {}
        for item in (*found.commitments[:ITEMS], *found.unfinished[:ITEMS]):
            task = self._task(item)
            if task:
                tasks.setdefault((task.owner_id, fold(task.text)), task)
        kept, open_ = tuple(memories.values())[:MEMORIES], tuple(tasks.values())[:COMMITMENTS]
        summary = self._summary(found.summary) or rule_digest(self._lines, self._scope).summary
        return Digest(summary, kept, "model", open_)

    def _cited(self, item: _Cited, text: str) -> Told:
        """The lines it cites with their own words: none unless all are there and carry it, and nobody asked later to
        forget it."""
        numbers = sorted(set(item.cited))
        if not 0 < len(numbers) <= CITED or any(number not in self._words for number in numbers):
            return ()
        if not harmless(text, self._scope.screened):
            return ()
        told = tuple(self._words[number] for number in numbers)
        if any(was_forgotten(text, line, self._gone) for line, _ in told):
            return ()
        days = named_days(text, told, self._scope.tz)
        return told if days and grounded(text, parts(told), told[0][0].name) else ()

    def _memory(self, item: _Memory) -> NewMemory | None:
        text = clip(one_row(item.text), TEXT_CHARS)
        told = self._cited(item, text)
        if not told:
            return None
        if item.type != "emotion":
            return self._new(Statement(item.type, text), told, item.day)
        tag = one_row(item.tag)
        tag = clip(tag, TAG_CHARS) if harmless(tag, self._scope.screened) else ""
        return self._new(Statement(item.type, text, tag, feeling(tag) or feeling(text)), told, item.day)

    def _new(self, statement: Statement, told: Told, day: str) -> NewMemory | None:
        """The memory, dated by its own words, or with the day that the model names and the lines too."""
        text, tz = statement.text, self._scope.tz
        named = "" if spans(text, told[0][0].at, tz) else checked_day(day, told, tz)
        return new_memory(statement, _lines(told), self._scope, f"{named} {text}" if named else text)

    def _own(self, text: str, told: Told) -> str:
        """The sentence of the person's own that an item tells, verbatim; "" when none does."""
        best = nearest(terms(fold(text)), parts(told)) if told else None
        own = clip(best.sentence, TEXT_CHARS) if best else ""
        return "" if any(was_forgotten(own, line, self._gone) for line, _ in told) else own

    def _change(self, item: _Cited) -> NewMemory | None:
        """What changed about somebody, in their own words, so that it meets what was known before."""
        text = clip(one_row(item.text), TEXT_CHARS)
        cited = self._cited(item, text)
        own = self._own(text, cited)
        if not own:
            return None
        told = next((one for one in statements_in(own) if one.kind in ("identity", "knowledge")), None)
        return self._new(told or Statement("knowledge", own), cited, item.day)

    def _task(self, item: _Cited) -> NewCommitment | None:
        """A promise or what is still to do, in the person's own words, unless they said later that it is done."""
        text = clip(one_row(item.text), TEXT_CHARS)
        told = self._cited(item, text)
        own = self._own(text, told)
        if not own or not is_own_task(own) or not still_open(own, told[-1][0], self._told):
            return None
        return new_commitment(own, _lines(told), self._scope, checked_day(item.day, told, self._scope.tz))

    def _summary(self, text: str) -> str:
        """The summary on one line without links and markup; "" when it is not of what people said."""
        plain = one_row(MARKUP.sub("", LINK.sub("", text)))
        names = " ".join(line.name for line in self._lines)
        if (self._scope.screened and forged(plain)) or not sums_up(plain, self._told, names):
            return ""
        if any(echoes(what, plain) or echoes(plain, what) for _, what in self._gone):
            return ""
        return clip(plain, SUMMARY_CHARS)


def _lines(told: Told) -> tuple[DigestLine, ...]:
    return tuple(line for line, _ in told)
