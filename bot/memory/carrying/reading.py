"""Reading an export's Markdown back, after people edited it. It compares nothing."""

from dataclasses import dataclass, field, replace
from typing import cast

from bot.memory.carrying.lines import Bullet, bullet_of, moved, noted, numbers_of
from bot.memory.carrying.markdown import CONVERSATIONS, END, KINDS, NOTES, STRUCK, TITLE, is_former
from bot.memory.carrying.values import BadValue, from_json, header_of, time_text, value_of
from bot.types.carried import (
    Carried,
    CarriedChat,
    CarriedMemory,
    CarriedNote,
    CarriedPerson,
    CarriedSummary,
    Parsed,
    Problem,
)
from bot.types.memory import STABILITY_DAYS, MemoryKind


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
    carried: Carried = field(default_factory=Carried)
    begun: bool = False
    part: str = ""
    owner: str = ""
    chat: str = ""
    kind: str = ""
    memories: list[CarriedMemory] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    summaries: list[CarriedSummary] = field(default_factory=list)
    notes: list[_Note] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def is_export(text: str) -> bool:
    """Whether a Markdown file was written by an export of ours."""
    return text.removeprefix("\ufeff").lstrip().startswith(TITLE)


def parse_markdown(text: str, name: str, now: int) -> Parsed:
    """What such a file says; lines that cannot be read are problems by `name`:line. Never raises.

    A line without a number is new: private of the person it stands under, or of the chat, and of this time (`now`, ms).
    """
    reading = _Reading(name, now)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = f"{name}:{number}"
        try:
            _line(reading, line.rstrip("\r"), where)
        except BadValue as error:
            reading.problems.append(Problem(where, str(error)))
    if not reading.begun:
        reading.problems.append(Problem(f"{name}:1", "has no header of a nuan export"))
    notes = [read for note in reading.notes if (read := _noted(reading, note)) is not None]
    carried = replace(
        reading.carried, memories=tuple(reading.memories), summaries=tuple(reading.summaries), notes=tuple(notes)
    )
    return Parsed(carried, tuple(reading.lines), tuple(reading.problems))


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
        _place(reading, line)
    elif line.startswith(("- ", "* ", "+ ")):
        _item(reading, line, where)


def _header(line: str) -> Carried:
    _, values = noted(line)
    house, exported_at, _ = header_of(values)
    people, chats = values.get("people"), values.get("chats")
    if not isinstance(people, list) or not isinstance(chats, list):
        raise BadValue("has a header without people and chats")
    records = [from_json("person", _object(each)) for each in people]
    places = [from_json("chat", _object(each)) for each in chats]
    return Carried(
        house, exported_at, tuple(cast("list[CarriedPerson]", records)), tuple(cast("list[CarriedChat]", places)),
        numbers=numbers_of(values.get("numbers", "")),
    )  # fmt: skip


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadValue("has a header with something else among people and chats")
    return value


def _place(reading: _Reading, line: str) -> None:
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


def _new(reading: _Reading, found: Bullet) -> CarriedMemory:
    """A line that somebody wrote: asked to be kept. Without its comment a number is not known to be ours."""
    kind = cast("MemoryKind", reading.kind)
    at = moved(found.day, reading.now)
    return CarriedMemory(
        0, reading.owner, reading.chat, "private" if reading.owner else "chat", kind,
        str(value_of("memory", "text", found.text)), at, reading.now, "command", float(STABILITY_DAYS[kind]),
        reading.now, reading.now, asked=True,
    )  # fmt: skip


def _memory(reading: _Reading, found: Bullet) -> CarriedMemory:
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
    memory = cast("CarriedMemory", from_json("memory", {**values, **said}))
    return replace(memory, observed_at=moved(found.day, memory.observed_at))


def _summary(reading: _Reading, found: Bullet) -> CarriedSummary:
    values = {"ended_at": time_text(reading.now), **found.more}
    said = {"id": found.number, "chat": reading.chat, "summary": found.text}
    return cast("CarriedSummary", from_json("summary", {**values, **said}))


def _noted(reading: _Reading, note: _Note) -> CarriedNote | None:
    try:
        return cast("CarriedNote", from_json("note", {**note.values, "text": "\n".join(note.lines)}))
    except BadValue as error:
        reading.problems.append(Problem(note.where, str(error)))
        return None
