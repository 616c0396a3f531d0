"""The records of an export as JSON Lines and back, each value checked. It opens no file."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import get_args

from bot.core.archive import (
    CURATED_NOTE,
    NOTES_FOLDER,
    ExportContents,
    ExportedChat,
    ExportedMemory,
    ExportedMerge,
    ExportedNote,
    ExportedPerson,
    ExportedSummary,
    ImportProblem,
    NoteRefused,
    ParsedExport,
)
from bot.core.events import ChatKind
from bot.core.memories import MemoryKind, MemorySource, MergeKind, Visibility
from bot.text.clean import clean, clean_name
from bot.text.files import events_of, events_text

Record = ExportedPerson | ExportedChat | ExportedMemory | ExportedSummary | ExportedNote
Reader = Callable[[object], object]

VERSION = 1
"""Of the format, in the first line of a file."""

NOTE_CHARS = 16_384 * 1024
"""Longest note that a file may bring, in characters: as many as the largest that a setting allows has bytes."""

TEXT_CHARS = 20_000
"""Longest text of a memory that a file may bring, in characters: two long messages."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)")
_ACCOUNT = re.compile(r"[a-z][a-z0-9_]{0,31}:[^\x00-\x20\x7f]{1,200}")
_COLUMN = re.compile("[a-z][a-z_]{0,40}")
_MOST = 2**53 - 1
_MAYBE_NEVER = ("archived_at", "undone_at")


class BadValue(ValueError):
    """A value of a file that cannot be taken; the text says what it should be."""


def time_text(ms: int) -> str:
    """Milliseconds since 1970 UTC as 2026-06-12T01:00:00.000Z."""
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(value: object) -> int:
    """The milliseconds of an ISO time with a zone; BadValue for anything else."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise BadValue("should be a time like 2026-06-12T01:00:00.000Z")
    try:
        return (datetime.fromisoformat(value) - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise BadValue("is no day or hour that there is") from None


def reference(value: object) -> str:
    """A platform id, like telegram:123."""
    if not isinstance(value, str) or not _ACCOUNT.fullmatch(value):
        raise BadValue("should be platform:id, like telegram:123")
    return value


def _maybe(read: Reader) -> Reader:
    return lambda value: "" if value == "" else read(value)


def _text(value: object) -> str:
    found = clean(value) if isinstance(value, str) else ""
    if not found.strip():
        raise BadValue("should be a text")
    if len(found) > TEXT_CHARS:
        raise BadValue(f"is longer than {TEXT_CHARS} characters")
    return found


def _word(value: object) -> str:
    if not isinstance(value, str) or len(value) > 200 or clean(value) != value:
        raise BadValue("should be a short text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValue("should be true or false")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise BadValue("should be a number, 0 or more")
    return value


def _number(least: float, most: float) -> Reader:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadValue("should be a number")
        if not least <= value <= most:
            raise BadValue(f"should be {least:g} to {most:g}")
        return float(value)

    return read


def _one_of(names: tuple[str, ...]) -> Reader:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in names:
            raise BadValue(f"should be one of {', '.join(name or 'nothing' for name in names)}")
        return value

    return read


def _scalar(value: float) -> int | float:
    _number(-_MOST, _MOST)(value)
    return value


def _archived(value: object) -> int:
    return 0 if value == "" else time_of(value)


def _more(value: object) -> tuple[tuple[str, int | float | str], ...]:
    found: list[tuple[str, int | float | str]] = []
    for name, each in value.items() if isinstance(value, dict) else [("", None)]:
        if not _COLUMN.fullmatch(name) or isinstance(each, bool) or not isinstance(each, int | float | str):
            raise BadValue("should be an object of names with numbers and texts")
        found.append((name, _word(each) if isinstance(each, str) else _scalar(each)))
    return tuple(sorted(found))


def _list(read: Reader, least: int = 0) -> Reader:
    def all_of(value: object) -> tuple[object, ...]:
        if not isinstance(value, list) or not least <= len(value) <= 1_000:
            raise BadValue("should be a list")
        return tuple(read(each) for each in value)

    return all_of


def _merges(value: object) -> tuple[ExportedMerge, ...]:
    if not isinstance(value, list) or not all(
        isinstance(each, dict) and each.keys() == _MERGE.keys() for each in value
    ):
        raise BadValue("should be a list of merges")

    made = [{name: reader(each[name]) for name, reader in _MERGE.items()} for each in value]
    return tuple(ExportedMerge(**each) for each in made)  # type: ignore[arg-type]


def _events(value: object) -> tuple[int, ...]:
    try:
        return events_of(value) if isinstance(value, str) else _events("?")
    except NoteRefused:
        raise BadValue("should be numbers like 12-15, 20") from None


def _note_path(value: object) -> str:
    path = _word(value)
    parts = path.split("/")
    hidden = any(not part or part.startswith(".") for part in parts)
    if path != CURATED_NOTE and (parts[0] != NOTES_FOLDER or len(parts) < 2 or hidden or not path.endswith(".md")):
        raise BadValue("should be a name like notes/2026-05-02.md")
    if not path.isprintable():
        raise BadValue("should be printable")
    return path


def _note_text(value: object) -> str:
    found = clean(value) if isinstance(value, str) else ""
    if not found.strip() or len(found) > NOTE_CHARS:
        raise BadValue("should be the text of a note")
    return found


_MERGE: Mapping[str, Reader] = {
    "at": time_of, "how": _one_of(get_args(MergeKind)), "before": _text, "before_observed_at": time_of, "said": _text,
    "kind": _one_of(get_args(MemoryKind)), "source": _one_of(get_args(MemorySource)), "observed_at": time_of,
    "undone_at": _archived,
}  # fmt: skip
_PERSON: Mapping[str, Reader] = {
    "accounts": _list(reference, 1), "name": lambda value: clean_name(_word(value)), "script": _word,
    "timezone": _word, "is_bot": _flag,
}  # fmt: skip
_CHAT: Mapping[str, Reader] = {
    "places": _list(reference, 1), "kind": _one_of(get_args(ChatKind)), "title": _word,
}  # fmt: skip
_MEMORY: Mapping[str, Reader] = {
    "id": _whole, "owner": _maybe(reference), "chat": _maybe(reference), "visibility": _one_of(get_args(Visibility)),
    "kind": _one_of(get_args(MemoryKind)), "text": _text, "observed_at": time_of, "created_at": time_of,
    "source": _one_of(get_args(MemorySource)), "stability_days": _number(0, 1e9), "accessed_at": time_of,
    "updated_at": time_of, "section": _word, "slot": _word, "asked": _flag, "importance": _whole,
    "emotion": _word, "emotion_value": _number(-1e6, 1e6), "access_count": _whole, "protected": _flag,
    "archived_at": _archived, "original": _maybe(_text), "merges": _merges, "more": _more,
}  # fmt: skip
_SUMMARY: Mapping[str, Reader] = {
    "id": _whole, "owner": _maybe(reference), "chat": reference, "summary": _text, "made_by": _word,
    "names": _list(_word), "started_at": time_of, "ended_at": time_of, "created_at": time_of, "tier": _word,
}  # fmt: skip
_NOTE: Mapping[str, Reader] = {
    "path": _note_path, "owners": _list(reference), "chat": _maybe(reference),
    "visibility": _one_of(get_args(Visibility)), "events": _events, "text": _note_text,
}  # fmt: skip
KINDS: Mapping[str, tuple[type[Record], Mapping[str, Reader]]] = {
    "person": (ExportedPerson, _PERSON), "chat": (ExportedChat, _CHAT),
    "memory": (ExportedMemory, _MEMORY), "summary": (ExportedSummary, _SUMMARY),
    "note": (ExportedNote, _NOTE),
}  # fmt: skip


def to_json(record: Record | ExportedMerge) -> dict[str, object]:
    """Every field of a record, times as ISO text."""
    found: dict[str, object] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name == "more":
            value = dict(value)
        elif field.name == "merges":
            value = [to_json(each) for each in value]
        elif field.name == "events":
            value = events_text(value)
        elif field.name == "at" or field.name.endswith("_at"):
            value = "" if field.name in _MAYBE_NEVER and not value else time_text(value)
        found[field.name] = list(value) if isinstance(value, tuple) else value
    return found


def from_json(kind: str, values: Mapping[str, object]) -> Record:
    """The record; BadValue, naming the field, when one is missing, unknown or wrong."""
    made, readers = KINDS[kind]
    unknown = sorted(set(values) - set(readers))
    if unknown:
        raise BadValue(f"{unknown[0][:40]!r} is not known of a {kind}")
    missing = [name for name in readers if name not in values]
    if missing:
        raise BadValue(f"{missing[0]} is missing")
    return made(**{name: value_of(kind, name, value) for name, value in values.items()})  # type: ignore[arg-type]


def value_of(kind: str, name: str, value: object) -> object:
    """One field of a record; BadValue naming it."""
    readers = KINDS[kind][1]
    if name not in readers:
        raise BadValue(f"{name[:40]!r} is not known of a {kind}")
    try:
        return readers[name](value)
    except BadValue as error:
        raise BadValue(f"{name} {error}") from None


def object_of(text: str) -> dict[str, object]:
    """The JSON object of a line; BadValue when it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise BadValue("is no JSON") from None
    if not isinstance(found, dict):
        raise BadValue("should be a JSON object")
    return found


def header_of(values: Mapping[str, object]) -> tuple[str, int, int]:
    """House, time and count of memories of a header; BadValue when this nuan cannot read what follows it."""
    if values.get("nuan") != "memories":
        raise BadValue("is no header of a nuan export")
    if values.get("version") != VERSION:
        raise BadValue(f"is version {str(values.get('version'))[:20]}, this nuan reads version {VERSION}: update nuan")
    try:
        return _word(values.get("house")), time_of(values.get("exported_at")), _whole(values.get("memories"))
    except BadValue as error:
        raise BadValue(f"has a header that cannot be read: a field {error}") from None


def count_of(values: Mapping[str, object], name: str) -> int:
    """How many records of a kind a header tells of, 0 where it tells nothing; BadValue when it is no number."""
    return _whole(values.get(name, 0))


def write_jsonl(carried: ExportContents) -> Iterator[str]:
    """The lines, each with its line end: header, people, chats, memories and summaries by number, notes."""
    yield _line({
        "nuan": "memories", "version": VERSION, "house": carried.house, "exported_at": time_text(carried.exported_at),
        "people": len(carried.people), "chats": len(carried.chats), "memories": len(carried.memories),
        "summaries": len(carried.summaries), "notes": len(carried.notes),
    })  # fmt: skip
    names = {person.accounts[0]: person.name for person in carried.people}
    for person in carried.people:
        yield _line({"type": "person", **to_json(person)})
    for chat in carried.chats:
        yield _line({"type": "chat", **to_json(chat)})
    for memory in carried.memories:
        yield _line({"type": "memory", **to_json(memory), "owner_name": names.get(memory.owner, "")})
    for summary in carried.summaries:
        yield _line({"type": "summary", **to_json(summary), "owner_name": names.get(summary.owner, "")})
    for note in carried.notes:
        yield _line({"type": "note", **to_json(note)})


def _line(values: dict[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


def parse_jsonl(text: str, name: str) -> ParsedExport:
    """What such a file says; lines that cannot be read are problems by `name`:line. Never raises."""
    found: dict[str, list[tuple[object, str]]] = {kind: [] for kind in KINDS}
    problems: list[ImportProblem] = []
    house, exported_at, count, notes, begun = "", 0, 0, 0, False
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            values = object_of(line)
            if not begun:
                house, exported_at, count = header_of(values)
                notes, begun = count_of(values, "notes"), True
                continue
            kind = values.pop("type", "")
            values.pop("owner_name", "")
            if not isinstance(kind, str) or kind not in KINDS:
                raise BadValue(f"type should be one of {', '.join(KINDS)}")
            found[kind].append((from_json(kind, values), where))
        except BadValue as error:
            problems.append(ImportProblem(where, str(error)))
            if not begun:
                return ParsedExport(ExportContents(), (), tuple(problems))
    if not begun:
        return ParsedExport(ExportContents(), (), (ImportProblem(f"{name}:1", "is empty: there is no header"),))
    memories = [(record, where) for record, where in found["memory"] if isinstance(record, ExportedMemory)]
    if len(memories) != count and not problems:
        problems.append(
            ImportProblem(f"{name}:1", f"tells of {count} memories, {len(memories)} are there: was it cut off?")
        )
    if len(found["note"]) != notes and not problems:
        problems.append(
            ImportProblem(f"{name}:1", f"tells of {notes} notes, {len(found['note'])} are there: was it cut off?")
        )
    return ParsedExport(
        ExportContents(
            house, exported_at,
            tuple(record for record, _ in found["person"] if isinstance(record, ExportedPerson)),
            tuple(record for record, _ in found["chat"] if isinstance(record, ExportedChat)),
            tuple(memory for memory, _ in memories),
            tuple(record for record, _ in found["summary"] if isinstance(record, ExportedSummary)),
            tuple(record for record, _ in found["note"] if isinstance(record, ExportedNote)),
        ),
        tuple(where for _, where in memories), tuple(problems),
    )  # fmt: skip
