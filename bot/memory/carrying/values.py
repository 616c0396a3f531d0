"""The values of an export's records as JSON has them, and back, each checked. It knows no file format."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import get_args

from bot.text.clean import clean, clean_name
from bot.text.frontmatter import events_of, events_text
from bot.types.carried import CarriedChat, CarriedMemory, CarriedMerge, CarriedNote, CarriedPerson, CarriedSummary
from bot.types.event import ChatKind
from bot.types.memory import MemoryKind, Source, Visibility
from bot.types.merging import How
from bot.types.note import CURATED, FOLDER, NoteRefused

Record = CarriedPerson | CarriedChat | CarriedMemory | CarriedSummary | CarriedNote
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


def _merges(value: object) -> tuple[CarriedMerge, ...]:
    if not isinstance(value, list) or not all(
        isinstance(each, dict) and each.keys() == _MERGE.keys() for each in value
    ):
        raise BadValue("should be a list of merges")

    made = [{name: reader(each[name]) for name, reader in _MERGE.items()} for each in value]
    return tuple(CarriedMerge(**each) for each in made)  # type: ignore[arg-type]


def _events(value: object) -> tuple[int, ...]:
    try:
        return events_of(value) if isinstance(value, str) else _events("?")
    except NoteRefused:
        raise BadValue("should be numbers like 12-15, 20") from None


def _note_path(value: object) -> str:
    path = _word(value)
    parts = path.split("/")
    hidden = any(not part or part.startswith(".") for part in parts)
    if path != CURATED and (parts[0] != FOLDER or len(parts) < 2 or hidden or not path.endswith(".md")):
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
    "at": time_of, "how": _one_of(get_args(How)), "before": _text, "before_observed_at": time_of, "said": _text,
    "kind": _one_of(get_args(MemoryKind)), "source": _one_of(get_args(Source)), "observed_at": time_of,
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
    "source": _one_of(get_args(Source)), "stability_days": _number(0, 1e9), "accessed_at": time_of,
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
    "person": (CarriedPerson, _PERSON), "chat": (CarriedChat, _CHAT),
    "memory": (CarriedMemory, _MEMORY), "summary": (CarriedSummary, _SUMMARY),
    "note": (CarriedNote, _NOTE),
}  # fmt: skip


def to_json(record: Record | CarriedMerge) -> dict[str, object]:
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
