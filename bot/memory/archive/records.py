"""The records of an export as JSON Lines and back, each value checked. It opens no file."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

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
from bot.core.memories import MemorySource, MergeKind, Visibility
from bot.core.people import MemoryKind
from bot.text.clean import clean, clean_name
from bot.text.dates import local, ms_of
from bot.text.files import events_of, events_text

Record = ExportedPerson | ExportedChat | ExportedMemory | ExportedSummary | ExportedNote

VERSION = 1
"""Of the format, in the first line of a file."""

NOTE_CHARS = 16_384 * 1024
"""Longest note that a file may bring, in characters: as many as the largest that a setting allows has bytes."""

TEXT_CHARS = 20_000
"""Longest text of a memory that a file may bring, in characters: two long messages."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)")
_ACCOUNT = re.compile(r"[a-z][a-z0-9_]{0,31}:[^\x00-\x20\x7f]{1,200}")
_COLUMN = re.compile("[a-z][a-z_]{0,40}")
_MOST = 2**53 - 1
_MAYBE_NEVER = ("archived_at", "undone_at")

_LIST = Field(strict=False, max_length=1_000)

Count = Annotated[int, Field(ge=0, le=_MOST)]

_KINDS: Mapping[str, type[Record]] = {
    "person": ExportedPerson,
    "chat": ExportedChat,
    "memory": ExportedMemory,
    "summary": ExportedSummary,
    "note": ExportedNote,
}
_SAID = {
    "model_type": "should be a list of merges",
    "union_tag_invalid": f"type should be one of {', '.join(_KINDS)}",
    "union_tag_not_found": f"type should be one of {', '.join(_KINDS)}",
    "missing": "is missing",
    "bool_type": "should be true or false",
    "int_type": "should be a number, 0 or more",
    "float_type": "should be a number",
    "finite_number": "should be a number",
    "string_type": "should be a text",
    "tuple_type": "should be a list",
    "too_short": "should be a list",
    "too_long": "should be a list",
}
"""What is said of pydantic's types of error."""


class BadValue(ValueError):
    """A value of a file that cannot be taken; the text says what it should be."""


def time_text(ms: int) -> str:
    """Milliseconds since 1970 UTC as 2026-06-12T01:00:00.000Z."""
    return local(ms, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(value: object) -> int:
    """The milliseconds of an ISO time with a zone; BadValue for anything else."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise BadValue("should be a time like 2026-06-12T01:00:00.000Z")
    try:
        return ms_of(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        raise BadValue("is no day or hour that there is") from None


def reference(value: object) -> str:
    """A platform id, like telegram:123."""
    if not isinstance(value, str) or not _ACCOUNT.fullmatch(value):
        raise BadValue("should be platform:id, like telegram:123")
    return value


def text_of(value: str) -> str:
    """The text of a memory, cleaned; BadValue when it is empty or too long."""
    found = clean(value)
    if not found.strip():
        raise BadValue("should be a text")
    if len(found) > TEXT_CHARS:
        raise BadValue(f"is longer than {TEXT_CHARS} characters")
    return found


def _word(value: str) -> str:
    if len(value) > 200 or clean(value) != value:
        raise BadValue("should be a short text")
    return value


def _more(value: object) -> tuple[tuple[str, int | float | str], ...]:
    if not isinstance(value, dict) or not all(
        _COLUMN.fullmatch(name) and _scalar(each) for name, each in value.items()
    ):
        raise BadValue("should be an object of names with numbers and texts")
    return tuple(sorted(value.items()))


def _scalar(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= 200 and clean(value) == value
    return isinstance(value, int | float) and not isinstance(value, bool) and -_MOST <= value <= _MOST


def _events(value: object) -> tuple[int, ...]:
    try:
        return events_of(value if isinstance(value, str) else "?")
    except NoteRefused:
        raise BadValue("should be numbers like 12-15, 20") from None


def _note_path(path: str) -> str:
    parts = path.split("/")
    hidden = any(not part or part.startswith(".") for part in parts)
    if path != CURATED_NOTE and (parts[0] != NOTES_FOLDER or len(parts) < 2 or hidden or not path.endswith(".md")):
        raise BadValue("should be a name like notes/2026-05-02.md")
    if not path.isprintable():
        raise BadValue("should be printable")
    return path


def _note_text(value: str) -> str:
    found = clean(value)
    if not found.strip() or len(found) > NOTE_CHARS:
        raise BadValue("should be the text of a note")
    return found


def _maybe(read: Callable[[Any], Any], nothing: object = "") -> Callable[[object], Any]:
    return lambda value: nothing if value == "" else read(value)


Time = Annotated[int, BeforeValidator(time_of)]
MaybeTime = Annotated[int, BeforeValidator(_maybe(time_of, 0))]
Account = Annotated[str, BeforeValidator(reference)]
MaybeAccount = Annotated[str, BeforeValidator(_maybe(reference))]
Accounts = Annotated[tuple[Account, ...], _LIST]
SomeAccounts = Annotated[Accounts, Field(min_length=1)]
Text = Annotated[str, AfterValidator(text_of)]
MaybeText = Annotated[str, AfterValidator(_maybe(text_of))]
Word = Annotated[str, AfterValidator(_word)]


class _Values(BaseModel):
    """Values as JSON has them: each there, none besides, and of its own type. Built at the first file, not at start."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class _Header(_Values):
    """The first line of a file, as far as this nuan needs it."""

    model_config = ConfigDict(extra="ignore")

    installation: Word = Field(alias="house")
    exported_at: Time
    memories: Count
    notes: Count = 0


class _Merge(_Values):
    at: Time
    how: MergeKind
    before: Text
    before_observed_at: Time
    said: Text
    kind: MemoryKind
    source: MemorySource
    observed_at: Time
    undone_at: MaybeTime


class _Record(_Values):
    """A line after the header; `owner_name` is for people who read the file."""

    owner_name: Any = ""


class _Person(_Record):
    type: Literal["person"]
    accounts: SomeAccounts
    name: Annotated[Word, AfterValidator(clean_name)]
    script: Word
    timezone: Word
    is_bot: bool


class _Chat(_Record):
    type: Literal["chat"]
    places: SomeAccounts
    kind: ChatKind
    title: Word


class _Memory(_Record):
    type: Literal["memory"]
    id: Count
    owner: MaybeAccount
    chat: MaybeAccount
    visibility: Visibility
    kind: MemoryKind
    text: Text
    observed_at: Time
    created_at: Time
    source: MemorySource
    stability_days: Annotated[float, Field(ge=0, le=1e9)]
    accessed_at: Time
    updated_at: Time
    section: Word
    slot: Word
    asked: bool
    importance: Count
    emotion: Word
    emotion_value: Annotated[float, Field(ge=-1e6, le=1e6)]
    access_count: Count
    protected: bool
    archived_at: MaybeTime
    original: MaybeText
    merges: Annotated[tuple[Annotated[_Merge, AfterValidator(lambda each: ExportedMerge(**dict(each)))], ...], _LIST]
    more: Annotated[Any, BeforeValidator(_more)]


class _Summary(_Record):
    type: Literal["summary"]
    id: Count
    owner: MaybeAccount
    chat: Account
    summary: Text
    made_by: Word
    names: Annotated[tuple[Word, ...], _LIST]
    started_at: Time
    ended_at: Time
    created_at: Time
    tier: Word


class _Note(_Record):
    type: Literal["note"]
    path: Annotated[Word, AfterValidator(_note_path)]
    owners: Accounts
    chat: MaybeAccount
    visibility: Visibility
    events: Annotated[tuple[int, ...], BeforeValidator(_events)]
    text: Annotated[str, AfterValidator(_note_text)]


_LINE: TypeAdapter[_Person | _Chat | _Memory | _Summary | _Note] = TypeAdapter(
    Annotated[_Person | _Chat | _Memory | _Summary | _Note, Field(discriminator="type")],
    config=ConfigDict(defer_build=True),
)


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


def object_of(line: str) -> dict[str, object]:
    """The JSON object of a line; BadValue when it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadValue("is no JSON") from None
    if not isinstance(found, dict):
        raise BadValue("should be a JSON object")
    return found


def record_of(line: Mapping[str, object]) -> Record:
    """The record of a line; BadValue, naming the field, when one is missing, unknown or wrong."""
    try:
        read = _LINE.validate_python(line)
    except ValidationError as error:
        raise BadValue(_problem(error)) from None
    values = dict(read)
    del values["type"], values["owner_name"]
    return _KINDS[read.type](**values)


def _problem(error: ValidationError) -> str:
    """The first of the errors, in a few words: its field, then what that should be."""
    first = error.errors(include_url=False)[0]
    kind, names = "", [each for each in first["loc"] if isinstance(each, str)]
    if names and names[0] in _KINDS:
        kind = names.pop(0)
    field, limits = ": ".join(names), first.get("ctx", {})
    match first["type"]:
        case "extra_forbidden":
            return f"{field[:40]!r} is not known of a {kind}"
        case "value_error":
            said = str(limits["error"])
        case "literal_error":
            said = f"should be one of {limits['expected'].replace(' or ', ', ')}".replace("'", "")
        case "greater_than_equal":
            said = f"should be {limits['ge']:.0f} or more"
        case "less_than_equal":
            said = f"should be {limits['le']:.0f} or less"
        case other:
            said = _SAID.get(other, "cannot be read")
    return f"{field} {said}".strip()


def header_of(values: Mapping[str, object]) -> _Header:
    """The header of a file; BadValue when this nuan cannot read what follows it."""
    if values.get("nuan") != "memories":
        raise BadValue("is no header of a nuan export")
    if values.get("version") != VERSION:
        raise BadValue(f"is version {str(values.get('version'))[:20]}, this nuan reads version {VERSION}: update nuan")
    try:
        return _Header.model_validate(values)
    except ValidationError as error:
        raise BadValue(f"has a header that cannot be read: {_problem(error)}") from None


def write_jsonl(carried: ExportContents) -> Iterator[str]:
    """The lines, each with its line end: header, people, chats, memories and summaries by number, notes."""
    yield _line(
        {
            "nuan": "memories",
            "version": VERSION,
            "house": carried.installation,
            "exported_at": time_text(carried.exported_at),
            "people": len(carried.people),
            "chats": len(carried.chats),
            "memories": len(carried.memories),
            "summaries": len(carried.summaries),
            "notes": len(carried.notes),
        }
    )
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
    header: _Header | None = None
    found: list[tuple[Record, str]] = []
    problems: list[ImportProblem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            values = object_of(line)
            if header is None:
                header = header_of(values)
            else:
                found.append((record_of(values), where))
        except BadValue as error:
            problems.append(ImportProblem(where, str(error)))
            if header is None:
                return ParsedExport(ExportContents(), (), tuple(problems))
    if header is None:
        return ParsedExport(ExportContents(), (), (ImportProblem(f"{name}:1", "is empty: there is no header"),))
    memories = [(record, where) for record, where in found if isinstance(record, ExportedMemory)]
    notes = tuple(record for record, _ in found if isinstance(record, ExportedNote))
    counts = (("memories", header.memories, len(memories)), ("notes", header.notes, len(notes)))
    for what, told, there in () if problems else counts:
        if told != there:
            problems.append(ImportProblem(f"{name}:1", f"tells of {told} {what}, {there} are there: was it cut off?"))
    carried = ExportContents(
        header.installation,
        header.exported_at,
        tuple(record for record, _ in found if isinstance(record, ExportedPerson)),
        tuple(record for record, _ in found if isinstance(record, ExportedChat)),
        tuple(memory for memory, _ in memories),
        tuple(record for record, _ in found if isinstance(record, ExportedSummary)),
        notes,
    )
    return ParsedExport(carried, tuple(where for _, where in memories), tuple(problems))
