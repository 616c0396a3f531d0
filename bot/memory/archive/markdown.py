"""An export as Markdown that people read, and reading an edited one back. It compares nothing."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from typing import cast, get_args

from bot.core.archive import (
    ExportContents,
    ExportedChat,
    ExportedMemory,
    ExportedNote,
    ExportedPerson,
    ExportedSummary,
    ImportProblem,
    ParsedExport,
)
from bot.core.memories import STABILITY_DAYS, MemoryKind
from bot.memory.archive.records import (
    VERSION,
    BadValue,
    from_json,
    header_of,
    object_of,
    time_of,
    time_text,
    to_json,
    value_of,
)

_COMMENT = r"<!-- (?P<more>\{[^<>\n]*\}) -->"
_ITEM = re.compile(
    rf"[-*+] (?:#(?P<number>\d{{1,15}}) (?P<day>\d{{4}}-\d\d-\d\d) )?(?P<text>.*?)(?: {_COMMENT})?[ \t\r]*"
)
_NOTE = re.compile(rf"(?P<text>.*?) *{_COMMENT}[ \t\r]*")
_ESCAPED = re.compile(r"\\([nr\\<])")
_RANGE = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?")

MOST_NUMBERS = 10_000_000
"""How many numbers a header may name: a wrong range must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line as read: number 0 and day "" for one that somebody wrote; `more` is what its comment holds."""

    number: int
    day: str
    text: str
    more: Mapping[str, object]


def comment(values: Mapping[str, object]) -> str:
    """A comment that no value can end."""
    told = json.dumps(values, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- {told} -->"


def bullet(number: int, at: int, text: str, more: Mapping[str, object]) -> str:
    """The line of a record, with its line end; `at` gives the day, UTC."""
    shown = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("<!--", "\\<!--")
    return f"- #{number} {time_text(at)[:10]} {shown} {comment(more)}\n"


def bullet_of(line: str) -> Bullet | None:
    """A line read back; None when it is no list item. BadValue when its comment is none of ours."""
    found = _ITEM.fullmatch(line)
    if found is None:
        return None
    text = _ESCAPED.sub(lambda match: {"n": "\n", "r": "\r"}.get(match[1], match[1]), found["text"])
    more = object_of(found["more"]) if found["more"] else {}
    return Bullet(int(found["number"] or 0), found["day"] or "", text, more)


def noted(line: str) -> tuple[str, dict[str, object]]:
    """The text of a heading or a line, and the values of the comment at its end."""
    found = _NOTE.fullmatch(line)
    return (line.strip(), {}) if found is None else (found["text"].strip(), object_of(found["more"]))


def moved(day: str, at: int) -> int:
    """The time of a record whose day may have been edited: as it was, or noon of the other day, UTC."""
    return at if not day or time_text(at).startswith(day) else time_of(f"{day}T12:00:00Z")


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as 1-40,42."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def numbers_of(text: object) -> frozenset[int]:
    """The numbers of such ranges; BadValue when it is none."""
    found: set[int] = set()
    for part in text.split(",") if isinstance(text, str) and text else ():
        match = _RANGE.fullmatch(part)
        if match is None:
            raise BadValue("numbers should be like 1-40,42")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first + len(found) > MOST_NUMBERS:
            raise BadValue("numbers should be like 1-40,42")
        found.update(range(first, last + 1))
    return frozenset(found)


TITLE = "# nuan memories"
CONVERSATIONS = "## Conversations"
NOTES = "## Notes"
END = "<!-- end -->"
STRUCK = "~~"
"""Around what was so before and is no more."""
HELP = """
Each line is one memory: its number, the day it is of, its text, and a comment that keeps the rest. Change a text or a
day, delete a line, or add one (`- text`) under a person and a kind; then `nuan memory import` shows what would change
and asks. `\\n` is a line break, what is ~~struck through~~ was so before. Conversations are only shown, and a note
that was changed is taken in beside the one that is there. Keep the last line: it says that nothing was cut off.
"""
KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)

_ORDER = {kind: number for number, kind in enumerate(KINDS)}
_DEFAULTS = {field.name: field.default for field in fields(ExportedMemory)}


def write_markdown(carried: ExportContents) -> Iterator[str]:
    """The file in pieces."""
    people = {person.accounts[0]: person for person in carried.people}
    chats = {chat.places[0]: chat for chat in carried.chats}
    yield f"{TITLE}\n\n"
    yield comment({
        "nuan": "memories", "version": VERSION, "house": carried.house, "exported_at": time_text(carried.exported_at),
        "memories": len(carried.memories), "numbers": ranges(memory.id for memory in carried.memories),
        "people": [to_json(person) for person in carried.people], "chats": [to_json(chat) for chat in carried.chats],
    }) + "\n"  # fmt: skip
    yield HELP
    ordered = sorted(carried.memories, key=_sort_key)
    for (owner, chat), memories in groupby(ordered, key=lambda memory: _sort_key(memory)[:2]):
        if owner:
            yield _heading(people[owner].name, people[owner].accounts, {"owner": owner})
        else:
            yield _heading(chats[chat].title, chats[chat].places, {"chat": chat})
        yield from _memories(memories)
    yield from _summaries(carried.summaries, people, chats)
    yield from _notes(carried.notes)
    yield f"\n{END}\n"


def _sort_key(memory: ExportedMemory) -> tuple[str, str, int, int]:
    """Where a memory stands: by owner, or by chat when it has none, then by kind and number."""
    return memory.owner, "" if memory.owner else memory.chat, _ORDER[memory.kind], memory.id


def _heading(name: str, ids: tuple[str, ...], refers: dict[str, object], level: int = 2) -> str:
    shown = " ".join(name.replace("<", "‹").split()) or "?"
    return f"\n{'#' * level} {shown} ({', '.join(ids)}) {comment(refers)}\n"


def _memories(memories: Iterable[ExportedMemory]) -> Iterator[str]:
    for kind, found in groupby(memories, key=lambda memory: memory.kind):
        yield f"\n### {kind}\n\n"
        for memory in found:
            text = f"{STRUCK}{memory.text}{STRUCK}" if is_former(dict(memory.more)) else memory.text
            yield bullet(memory.id, memory.observed_at, text, rest_of(memory))


def is_former(more: Mapping[str, object]) -> bool:
    """Whether something else holds in the place of a memory now."""
    return bool(more.get("former_at"))


def rest_of(memory: ExportedMemory) -> dict[str, object]:
    """What the line itself does not tell and what is not as it mostly is (`usual`)."""
    values = to_json(memory)
    told = {"id", "owner", "kind", "text", *({} if memory.owner else {"chat"})}
    usual: dict[str, object] = {
        **_DEFAULTS,
        "more": {},
        "merges": [],
        "archived_at": "",
        "stability_days": float(STABILITY_DAYS[memory.kind]),
    }
    usual |= dict.fromkeys(("observed_at", "accessed_at", "updated_at"), values["created_at"])
    return {name: value for name, value in values.items() if name not in told and usual.get(name) != value}


def _summaries(
    summaries: tuple[ExportedSummary, ...], people: dict[str, ExportedPerson], chats: dict[str, ExportedChat]
) -> Iterator[str]:  # fmt: skip
    if summaries:
        yield f"\n{CONVERSATIONS}\n"
    for chat, found in groupby(sorted(summaries, key=lambda each: (each.chat, each.id)), key=lambda each: each.chat):
        yield _heading(chats[chat].title, chats[chat].places, {"chat": chat}, 3) + "\n"
        for each in found:
            told = {"id", "chat", "summary"}
            more = {name: value for name, value in to_json(each).items() if name not in told}
            yield bullet(each.id, each.ended_at, each.summary, more)


def _notes(notes: tuple[ExportedNote, ...]) -> Iterator[str]:
    """Each note as a quotation, so that no line of it reads as one of ours."""
    if notes:
        yield f"\n{NOTES}\n"
    for note in notes:
        shown = note.path.replace("<", "‹")
        yield f"\n### {shown} {comment({name: each for name, each in to_json(note).items() if name != 'text'})}\n\n"
        yield "".join(f"> {line}\n" if line else ">\n" for line in note.text.split("\n"))


@dataclass(slots=True)
class _Note:
    """A note as far as it was read."""

    where: str
    values: dict[str, object]
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reading:
    """Where a reader stands in the file and what it found."""

    name: str
    now: int
    carried: ExportContents = field(default_factory=ExportContents)
    begun: bool = False
    part: str = ""
    owner: str = ""
    chat: str = ""
    kind: str = ""
    memories: list[ExportedMemory] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    summaries: list[ExportedSummary] = field(default_factory=list)
    notes: list[_Note] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)


def is_export(text: str) -> bool:
    """Whether a Markdown file was written by an export of ours."""
    return text.removeprefix("\ufeff").lstrip().startswith(TITLE)


def parse_markdown(text: str, name: str, now: int) -> ParsedExport:
    """What such a file says; lines that cannot be read are problems by `name`:line. Never raises.

    A line without a number is new: private of the person it stands under, or of the chat, and of this time (`now`, ms).
    """
    reading = _Reading(name, now)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = f"{name}:{number}"
        try:
            _line(reading, line.rstrip("\r"), where)
        except BadValue as error:
            reading.problems.append(ImportProblem(where, str(error)))
    if not reading.begun:
        reading.problems.append(ImportProblem(f"{name}:1", "has no header of a nuan export"))
    notes = [read for note in reading.notes if (read := _noted(reading, note)) is not None]
    carried = replace(
        reading.carried, memories=tuple(reading.memories), summaries=tuple(reading.summaries), notes=tuple(notes)
    )
    return ParsedExport(carried, tuple(reading.lines), tuple(reading.problems))


def _line(reading: _Reading, line: str, where: str) -> None:
    if not reading.begun:
        if line.startswith("<!-- {"):
            reading.carried, reading.begun = _header(line), True
    elif line.strip() == END:
        reading.carried = replace(reading.carried, whole=True)
    elif line.strip() == NOTES:
        reading.part, reading.owner, reading.chat, reading.kind = "notes", "", "", ""
    elif reading.part == "notes" and line.startswith(">") and reading.notes:
        reading.notes[-1].lines.append(line[1:].removeprefix(" "))
    elif reading.part == "notes" and line.startswith("### "):
        reading.notes.append(_Note(where, noted(line)[1]))
    elif line.strip() == CONVERSATIONS:
        reading.part, reading.owner, reading.chat, reading.kind = "summaries", "", "", ""
    elif line.startswith("### ") and reading.part != "summaries":
        reading.kind = line[4:].strip().lower()
        if reading.kind not in KINDS:
            raise BadValue(f"is no kind of memory: use one of {', '.join(KINDS)}")
    elif line.startswith(("## ", "### ")):
        _read_heading(reading, line)
    elif line.startswith(("- ", "* ", "+ ")):
        _item(reading, line, where)


def _header(line: str) -> ExportContents:
    _, values = noted(line)
    house, exported_at, _ = header_of(values)
    people, chats = values.get("people"), values.get("chats")
    if not isinstance(people, list) or not isinstance(chats, list):
        raise BadValue("has a header without people and chats")
    records = [from_json("person", _object(each)) for each in people]
    places = [from_json("chat", _object(each)) for each in chats]
    return ExportContents(
        house, exported_at, tuple(cast("list[ExportedPerson]", records)), tuple(cast("list[ExportedChat]", places)),
        numbers=numbers_of(values.get("numbers", "")),
    )  # fmt: skip


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadValue("has a header with something else among people and chats")
    return value


def _read_heading(reading: _Reading, line: str) -> None:
    """A heading with a comment says under whom its lines stand; any other one that they stand under nobody."""
    reading.owner = reading.chat = reading.kind = ""
    if line.startswith("## "):
        reading.part = "memories"
    _, values = noted(line)
    for name in ("owner", "chat"):
        if name in values:
            setattr(reading, name, value_of("summary" if name == "chat" else "memory", name, values[name]))


def _item(reading: _Reading, line: str, where: str) -> None:
    found = bullet_of(line)
    if reading.part == "notes":
        raise BadValue("stands among notes: each line of a note begins with >")
    if found is None or not found.text.strip():
        raise BadValue("is a line without a text")
    if reading.part == "summaries":
        reading.summaries.append(_summary(reading, found))
        return
    if not reading.kind or not (reading.owner or reading.chat):
        raise BadValue("stands under no person (or chat) and kind")
    reading.memories.append(_memory(reading, found) if found.more else _new(reading, found))
    reading.lines.append(where)


def _new(reading: _Reading, found: Bullet) -> ExportedMemory:
    """A line that somebody wrote: asked to be kept. Without its comment a number is not known to be ours."""
    kind = cast("MemoryKind", reading.kind)
    at = moved(found.day, reading.now)
    return ExportedMemory(
        0, reading.owner, reading.chat, "private" if reading.owner else "chat", kind,
        str(value_of("memory", "text", found.text)), at, reading.now, "command", float(STABILITY_DAYS[kind]),
        reading.now, reading.now, asked=True,
    )  # fmt: skip


def _memory(reading: _Reading, found: Bullet) -> ExportedMemory:
    """A line of the export, its text, day and kind as they are now."""
    kind = cast("MemoryKind", reading.kind)
    values = {
        "chat": reading.chat, "section": "", "slot": "", "asked": False, "importance": 1, "emotion": "",
        "archived_at": "", "original": "", "merges": [],
        "more": {}, "emotion_value": 0.0, "access_count": 0, "protected": False,
        "stability_days": float(STABILITY_DAYS[kind]),
        **found.more,
    }  # fmt: skip
    for name in ("observed_at", "accessed_at", "updated_at"):
        values.setdefault(name, values.get("created_at"))
    text, more = found.text, values["more"]
    if isinstance(more, dict) and is_former(more):
        text = text.removeprefix(STRUCK).removesuffix(STRUCK)
    said = {"id": found.number, "owner": reading.owner, "kind": reading.kind, "text": text}
    memory = cast("ExportedMemory", from_json("memory", {**values, **said}))
    return replace(memory, observed_at=moved(found.day, memory.observed_at))


def _summary(reading: _Reading, found: Bullet) -> ExportedSummary:
    values = {"ended_at": time_text(reading.now), **found.more}
    said = {"id": found.number, "chat": reading.chat, "summary": found.text}
    return cast("ExportedSummary", from_json("summary", {**values, **said}))


def _noted(reading: _Reading, note: _Note) -> ExportedNote | None:
    try:
        return cast("ExportedNote", from_json("note", {**note.values, "text": "\n".join(note.lines)}))
    except BadValue as error:
        reading.problems.append(ImportProblem(note.where, str(error)))
        return None
