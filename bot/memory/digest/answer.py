"""The forms of a model's digest and of the second look at it: JSON schemas, and how the answers are read. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from bot.core.memories import SLOT_CHARS, SUBJECT_CHARS
from bot.core.models import ResponseFormat
from bot.language.sections import is_lasting, slot_of
from bot.memory.digest.request import KnownFacts
from bot.memory.transcript import DigestLine
from bot.text.clean import clean, escaped, one_row

ANSWER_CHARS = 20_000
"""A longer answer is no digest."""
STATEMENTS, OTHERS, CITED = 64, 32, 12
"""How many statements and how many of each other list are read, and how many lines one item may cite."""
TEXT_CHARS = 1_000
"""No text of an item is read farther."""

ItemSection = Literal["statements", "moods", "tasks", "promises"]
SECTIONS: tuple[ItemSection, ...] = get_args(ItemSection)
ChangeState = Literal["done", "off", "changed"]
ItemKind = Literal["identity", "knowledge", "event", "anniversary"]
_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_NUMBER = re.compile(r"\d{1,9}")
_MARK = re.compile(r"[^\w#]?(?P<mark>[TR#])?\d{1,9}\W?", re.ASCII | re.IGNORECASE)
"""How a known task, reminder or plan is named: T1, [R2], #3."""
_SIGNS = re.compile(r"[^\w<>]+")
"""What makes no other statement of the same words."""
_NAMES: Mapping[ItemSection, tuple[str, ...]] = {
    "statements": ("text", "statement", "title"),
    "moods": ("text", "mood", "title"),
    "tasks": ("title", "text", "task"),
    "promises": ("title", "text", "promise"),
}
"""The fields in which the text of an item may stand."""

TEXT: dict[str, object] = {"type": "string"}
_FLAG: dict[str, object] = {"type": "boolean"}
LINES: dict[str, object] = {"type": "array", "items": {"type": "integer"}}
_TASK: dict[str, object] = {"title": TEXT, "when": TEXT, "from": LINES}

BEFORE, BEHIND = 6, 6
"""So many lines before and behind one that is cited tell what it is about."""

SUMMARY = 0
"""The number of the summary; items have their own, changes of what is open follow them."""


@dataclass(frozen=True, slots=True)
class DigestItem:
    """One thing that a model says of a talk; `cited` are numbers of lines, `when` is ISO or "", not yet checked."""

    section: ItemSection
    number: int
    text: str
    cited: tuple[int, ...]
    about: str = ""
    slot: str = ""
    kind: ItemKind = "knowledge"
    when: str = ""
    lasting: bool = False
    replaces: tuple[int, ...] = ()
    tag: str = ""
    toward: str = ""


@dataclass(frozen=True, slots=True)
class DigestChange:
    """What a model says became of a known task (T), reminder (R) or plan (#); a task or reminder that is changed has a
    new title or `when`."""

    mark: Literal["T", "R", "#"]
    number: int
    state: ChangeState
    cited: tuple[int, ...]
    text: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class DigestAnswer:
    """A model's digest as it stands; items are numbered from 1 in their order, so many more were `left_out`."""

    summary: str
    items: tuple[DigestItem, ...]
    changes: tuple[DigestChange, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class BrokenAnswer:
    """Why an answer is no digest, in words that hold nothing of the answer: too_long, no_json, or field: fault."""

    fault: str


def object_of(properties: dict[str, object]) -> dict[str, object]:
    """The schema of an object with just these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(properties: dict[str, object]) -> dict[str, object]:
    """The schema of a list of such objects."""
    return {"type": "array", "items": object_of(properties)}


DIGEST_SHAPE = ResponseFormat(
    "digest",
    json.dumps(
        object_of(
            {
                "summary": TEXT,
                "statements": list_of(
                    {
                        "text": TEXT,
                        "about": TEXT,
                        "slot": TEXT,
                        "kind": {"type": "string", "enum": [*_KINDS]},
                        "when": TEXT,
                        "lasting": _FLAG,
                        "replaces": LINES,
                        "from": LINES,
                    }
                ),
                "moods": list_of({"text": TEXT, "tag": TEXT, "from": LINES}),
                "tasks": list_of(_TASK),
                "promises": list_of({"title": TEXT, "to": TEXT, "when": TEXT, "from": LINES}),
                "open": list_of(
                    {
                        "id": TEXT,
                        "now": {"type": "string", "enum": ["done", "off", "changed"]},
                        "title": TEXT,
                        "when": TEXT,
                        "from": LINES,
                    }
                ),
            }
        )
    ),
)
"""What an answer must look like, for servers that can be told."""


def read_answer(answer: str) -> DigestAnswer | BrokenAnswer:
    """The digest in a model's answer; Broken when there is no object, no summary in it, or none of its lists."""
    if len(clean(answer[: ANSWER_CHARS + 1]).strip()) > ANSWER_CHARS:
        return BrokenAnswer("too_long")
    found = found_object(answer)
    if found is None:
        return BrokenAnswer("no_json")
    summary = found.get("summary")
    if not isinstance(summary, str):
        return BrokenAnswer("summary: missing" if summary is None else "summary: string_type")
    if not any(section in found for section in (*SECTIONS, "open", "done")) and any(
        isinstance(value, list) for value in found.values()
    ):
        return BrokenAnswer("statements: missing")
    for section in SECTIONS:
        if not isinstance(found.get(section, []), list | None):
            return BrokenAnswer(f"{section}: list_type")
    items, left_out = _items(found)
    return DigestAnswer(summary[:TEXT_CHARS], items, tuple(_changes(found)), left_out)


def found_object(answer: str) -> dict[str, object] | None:
    """The JSON object in a model's answer, with or without a fence around it; None where there is none."""
    text = clean(answer[: ANSWER_CHARS + 1]).strip()
    fenced = _FENCED.search(text)
    text = fenced[1].strip() if fenced else text[max(text.find("{"), 0) : text.rfind("}") + 1]
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _items(found: Mapping[str, object]) -> tuple[tuple[DigestItem, ...], int]:
    """Its items, each once, and how many more there are than are read."""
    items, left_out = list[DigestItem](), 0
    for section in SECTIONS:
        listed = found.get(section)
        most = STATEMENTS if section == "statements" else OTHERS
        seen: set[str] = set()
        for one in listed if isinstance(listed, list) else ():
            item = _item(one, section, len(items) + 1)
            if item is None or (said := _SIGNS.sub("", item.text)) in seen:
                continue
            seen.add(said)
            if len(seen) > most:
                left_out += 1
            else:
                items.append(item)
    return tuple(items), left_out


def _item(one: object, section: ItemSection, number: int) -> DigestItem | None:
    if not isinstance(one, dict):
        return None
    text = next((words for name in _NAMES[section] if (words := one_text(one.get(name), TEXT_CHARS))), "")
    if not text:
        return None
    kind = one_text(one.get("kind"), 20).lower()
    return DigestItem(
        section,
        number,
        text,
        line_numbers(one.get("from"))[:CITED],
        one_text(one.get("about"), SUBJECT_CHARS),
        slot_of(one_text(one.get("slot"), SLOT_CHARS)),
        next((name for name in _KINDS if name == kind), "knowledge"),
        _when(one),
        _lasting(one),
        line_numbers(one.get("replaces"))[:CITED],
        one_text(one.get("tag"), 40),
        one_text(one.get("to"), SUBJECT_CHARS),
    )


def _lasting(one: dict[str, object]) -> bool:
    """As the model judged it; by its slot where the model did not say."""
    return one.get("lasting", is_lasting(one_text(one.get("slot"), SLOT_CHARS))) in (True, "true", 1)


def _changes(found: Mapping[str, object]) -> Iterator[DigestChange]:
    """Those of the list `open`, and of `done`, in which an older form named tasks that are over."""
    for name in ("open", "done"):
        listed = found.get(name)
        for one in listed[:STATEMENTS] if isinstance(listed, list) else ():
            row: dict[str, object] = one if isinstance(one, dict) else {"id": one}
            source = row.get("id", row.get("task", row.get("number")))
            state = next((word for word in ("changed", "off") if word in one_text(row.get("now"), 20).lower()), "done")
            named = _MARK.fullmatch(str(source).strip())
            if named is None and isinstance(source, str):
                continue
            sign = (named["mark"] or "").upper() if named is not None else ""
            mark: Literal["T", "R", "#"] = "R" if sign == "R" else "#" if sign == "#" else "T"
            for number in line_numbers(source)[:1]:
                yield DigestChange(
                    mark,
                    number,
                    cast("ChangeState", state),
                    line_numbers(row.get("from"))[:CITED],
                    one_text(row.get("title"), TEXT_CHARS),
                    _when(row),
                )


def _when(one: Mapping[str, object]) -> str:
    return one_text(one.get("when"), 24).strip("[]").replace("[", "")


def one_text(value: object, most: int) -> str:
    """A text on one row; one that is longer than `most` is cut, which no check takes for more than it says.

    The lines were shown escaped: an & is one again.
    """
    return one_row(value[:TEXT_CHARS].replace("&amp;", "&")).strip()[:most].strip() if isinstance(value, str) else ""


def line_numbers(value: object) -> tuple[int, ...]:
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
            flat = (number for one in value[:64] if not isinstance(one, list) for number in line_numbers(one))
            return tuple(dict.fromkeys(flat))
    return ()


CHECK_SHAPE = ResponseFormat(
    "check",
    json.dumps(object_of({"wrong": list_of({"n": {"type": "integer"}, "text": TEXT, "when": TEXT, "from": LINES})})),
)
"""What an answer must look like, for servers that can be told."""


@dataclass(frozen=True, slots=True)
class ItemCorrection:
    """What is said instead of an item; "" where nobody said it. `when` "" is no day, None as it was, and so are no
    lines."""

    text: str
    when: str | None = None
    cited: tuple[int, ...] = ()


def lines_around(found: DigestAnswer, lines: Sequence[DigestLine]) -> tuple[DigestLine, ...]:
    """The lines that a digest cites, with those before and behind them: what a second look is shown of a talk."""
    cited = {number for item in found.items for number in item.cited}
    cited |= {number for change in found.changes for number in change.cited}
    near = {number + step for number in cited for step in range(-BEFORE, BEHIND + 1)}
    return tuple(line for line in lines if line.number in near)


def check_rows(found: DigestAnswer, doubts: Mapping[int, str], known: KnownFacts, *, whole: bool) -> str:
    """A digest as numbered rows: lines, text, whom it is about, when, and why a rule doubts it; the summary where the
    talk is shown `whole`."""
    rows = [f"{SUMMARY}. {found.summary}" + _doubted(doubts, SUMMARY)] if whole else []
    rows += [_row(item) + _doubted(doubts, item.number) for item in found.items]
    texts = {("T", task.id): task.text for task in known.commitments}
    texts |= {("R", one.id): one.text or "reminder" for one in known.reminders}
    texts |= {("#", one.id): one.text for one in known.memories}
    for number, one in enumerate(found.changes, first_change(found)):
        new = f" → {'; '.join(filter(None, (one.text, one.when)))}" if one.state == "changed" else ""
        known_text = texts.get((one.mark, one.number), f"{one.mark}{one.number}")
        rows.append(f"{number}. {list(one.cited)} {one.state}: {known_text}{new}" + _doubted(doubts, number))
    return escaped("\n".join(rows))


def first_change(found: DigestAnswer) -> int:
    """The number of the first change of a known task or reminder."""
    return max((item.number for item in found.items), default=SUMMARY) + 1


def _doubted(doubts: Mapping[int, str], number: int) -> str:
    return f" ? {doubt}" if (doubt := doubts.get(number, "")) else ""


def _row(item: DigestItem) -> str:
    kind = "" if item.section == "statements" else item.section.removesuffix("s") + ": "
    facets = "; ".join(filter(None, (item.about, item.toward, item.when)))
    return f"{item.number}. {list(item.cited)} {kind}{item.text}" + (f" ({facets})" if facets else "")


def read_check(answer: str) -> Mapping[int, ItemCorrection] | None:
    """The corrections by number; None where the answer is none."""
    found = found_object(answer)
    if found is None or not isinstance(wrong := found.get("wrong"), list):
        return None
    return dict(_corrections(wrong))


def _corrections(wrong: Iterable[object]) -> Iterable[tuple[int, ItemCorrection]]:
    for one in wrong:
        if isinstance(one, dict):
            text, when = one_text(one.get("text"), TEXT_CHARS), _when(one) if "when" in one else None
            for number in line_numbers(one.get("n"))[:1]:
                yield number, ItemCorrection(text, when, line_numbers(one.get("from"))[:CITED])
        else:
            for number in line_numbers(one)[:1]:
                yield number, ItemCorrection("")
