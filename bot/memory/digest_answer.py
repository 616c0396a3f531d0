"""Reads the form of a model's digest: one JSON object. What it says is judged elsewhere.

It is liberal in types and names (from: 3, "3", "#12"), and takes a fence or a word around the object for none.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from bot.text.clauses import one_row
from bot.text.clean import clean
from bot.text.slots import lasts, slot_of
from bot.types.memory import SLOT_CHARS, SUBJECT_CHARS
from bot.types.prompt import Shape

ANSWER_CHARS = 20_000
"""A longer answer is no digest."""
STATEMENTS, OTHERS, CITED = 16, 8, 12
"""How many statements and how many of each other list are read, and how many lines one item may cite."""
TEXT_CHARS = 1_000
"""No text of an item is read farther."""

Section = Literal["statements", "moods", "tasks", "promises"]
SECTIONS: tuple[Section, ...] = get_args(Section)
Kind = Literal["identity", "knowledge", "event", "anniversary"]
_KINDS: tuple[Kind, ...] = get_args(Kind)

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_NUMBER = re.compile(r"\d{1,9}")
_SIGNS = re.compile(r"[^\w<>]+")
"""What makes no other statement of the same words."""
_NAMES: Mapping[Section, tuple[str, ...]] = {
    "statements": ("text", "statement", "title"),
    "moods": ("text", "mood", "title"),
    "tasks": ("title", "text", "task"),
    "promises": ("title", "text", "promise"),
}
"""The fields in which the text of an item may stand."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a model says of a talk; `cited` are numbers of lines, `when` is ISO or "", not yet checked."""

    section: Section
    number: int
    text: str
    cited: tuple[int, ...]
    about: str = ""
    slot: str = ""
    kind: Kind = "knowledge"
    when: str = ""
    lasting: bool = False
    replaces: tuple[int, ...] = ()
    tag: str = ""
    toward: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A task that a model says is over, with the lines that tell so."""

    number: int
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's digest as it stands; items are numbered from 1 in their order."""

    summary: str
    items: tuple[Item, ...]
    done: tuple[Done, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """Why an answer is no digest, in words that hold nothing of the answer: too_long, no_json, or field: fault."""

    fault: str


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _list(properties: dict[str, object]) -> dict[str, object]:
    return {"type": "array", "items": _object(properties)}


_TEXT: dict[str, object] = {"type": "string"}
_FLAG: dict[str, object] = {"type": "boolean"}
_LINES: dict[str, object] = {"type": "array", "items": {"type": "integer"}}
_TASK: dict[str, object] = {"title": _TEXT, "when": _TEXT, "from": _LINES}

SHAPE = Shape(
    "digest",
    json.dumps(
        _object(
            {
                "summary": _TEXT,
                "statements": _list(
                    {
                        "text": _TEXT, "about": _TEXT, "slot": _TEXT, "kind": {"type": "string", "enum": [*_KINDS]},
                        "when": _TEXT, "lasting": _FLAG, "replaces": _LINES, "from": _LINES,
                    }
                ),
                "moods": _list({"text": _TEXT, "tag": _TEXT, "from": _LINES}),
                "tasks": _list(_TASK),
                "promises": _list({"title": _TEXT, "to": _TEXT, "when": _TEXT, "from": _LINES}),
                "done": _list({"task": {"type": "integer"}, "from": _LINES}),
            }
        )
    ),
)  # fmt: skip
"""What an answer must look like, for servers that can be told."""


def read_answer(answer: str) -> Answer | Broken:
    """The digest in a model's answer; Broken when there is no object, no summary in it, or none of its lists."""
    text = clean(answer[: ANSWER_CHARS + 1]).strip()
    if len(text) > ANSWER_CHARS:
        return Broken("too_long")
    fenced = _FENCED.search(text)
    text = fenced[1].strip() if fenced else text[max(text.find("{"), 0) : text.rfind("}") + 1]
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return Broken("no_json")
    if not isinstance(found, dict):
        return Broken("no_json")
    summary = found.get("summary")
    if not isinstance(summary, str):
        return Broken("summary: missing" if summary is None else "summary: string_type")
    if not any(section in found for section in (*SECTIONS, "done")) and any(
        isinstance(value, list) for value in found.values()
    ):
        return Broken("statements: missing")
    for section in SECTIONS:
        if not isinstance(found.get(section, []), list | None):
            return Broken(f"{section}: list_type")
    return Answer(summary[:TEXT_CHARS], tuple(_items(found)), tuple(_done(found.get("done"))))


def _items(found: Mapping[str, object]) -> Iterator[Item]:
    number = 0
    for section in SECTIONS:
        listed = found.get(section)
        seen: set[str] = set()
        for one in listed if isinstance(listed, list) else ():
            item = _item(one, section, number + 1)
            if item is None or (said := _SIGNS.sub("", item.text)) in seen:
                continue
            seen.add(said)
            if len(seen) > (STATEMENTS if section == "statements" else OTHERS):
                break
            number += 1
            yield item


def _item(one: object, section: Section, number: int) -> Item | None:
    if not isinstance(one, dict):
        return None
    text = next((words for name in _NAMES[section] if (words := _words(one.get(name), TEXT_CHARS))), "")
    if not text:
        return None
    kind = _words(one.get("kind"), 20).lower()
    return Item(
        section, number, text, _numbers(one.get("from"))[:CITED], _words(one.get("about"), SUBJECT_CHARS),
        slot_of(_words(one.get("slot"), SLOT_CHARS)), next((name for name in _KINDS if name == kind), "knowledge"),
        _words(one.get("when"), 24).strip("[]").replace("[", ""), _lasting(one), _numbers(one.get("replaces"))[:CITED],
        _words(one.get("tag"), 40), _words(one.get("to"), SUBJECT_CHARS),
    )  # fmt: skip


def _lasting(one: dict[str, object]) -> bool:
    """As the model judged it; by its slot where the model did not say."""
    return one.get("lasting", lasts(_words(one.get("slot"), SLOT_CHARS))) in (True, "true", 1)


def _done(listed: object) -> Iterator[Done]:
    for one in listed[:STATEMENTS] if isinstance(listed, list) else ():
        source = one.get("task", one.get("number")) if isinstance(one, dict) else one
        cited = _numbers(one.get("from"))[:CITED] if isinstance(one, dict) else ()
        for number in _numbers(source)[:1]:
            yield Done(number, cited)


def _words(value: object, most: int) -> str:
    """A text on one row; one that is longer than `most` is cut, which no check takes for more than it says.

    The lines were shown escaped: an & is one again.
    """
    return one_row(value[:TEXT_CHARS].replace("&amp;", "&")).strip()[:most].strip() if isinstance(value, str) else ""


def _numbers(value: object) -> tuple[int, ...]:
    """The whole numbers in 12, "#12", "3, 4", [3, "T4"], each once."""
    match value:
        case bool():
            return ()
        case int():
            return (value,) if 0 <= value < 10**9 else ()
        case float():
            return (int(value),) if value.is_integer() and 0 <= value < 10**9 else ()
        case str():
            return tuple(dict.fromkeys(int(one) for one in _NUMBER.findall(value[:200])))
        case list():
            flat = (number for one in value[:64] if not isinstance(one, list) for number in _numbers(one))
            return tuple(dict.fromkeys(flat))
    return ()
