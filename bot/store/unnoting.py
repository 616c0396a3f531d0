"""What is forgotten or deleted goes out of notes: out of the file, the index and the edges, in one verb part.

The file is written before the commit: a crash in between takes a line too early, never too late.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date

from bot.store.documents import forget_terms
from bot.store.notefiles import NoteFiles, content_of
from bot.store.noting import MOST_NUMBERS, abandon, forget_lines, mark, unread
from bot.store.rows import marks
from bot.text.echo import echoes
from bot.text.frontmatter import lines_of, read_front, with_events
from bot.types.note import FOLDER, NoteRefused

READ_BYTES = 64 * 1024 * 1024
"""A file of any size that was ever a note is searched."""


Bury = Callable[[int, str, int], None]
"""Writes down that the text of a memory, or a line of a note (0), was forgotten at that time, ms."""


@dataclass(slots=True)
class Shelf:
    """The files of notes, how a line is buried that may not come back, and what operators are to be told.

    `told` are lines for the log: the number of a note, its path, how many lines, and what was done.
    """

    files: NoteFiles
    bury: Bury
    told: list[tuple[int, str, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What goes: events with all that was written down of them, and a statement, in each of its wordings, wherever one
    of these people's notes, or those of these chats, repeats it.
    """

    events: frozenset[int]
    wordings: tuple[str, ...] = ()
    chats: tuple[int, ...] = ()
    owner_id: int | None = None


@dataclass(slots=True)
class _Lines:
    """What is to go from one note: the numbers of lines, how many of each mark, the texts of the events of each."""

    numbers: list[int] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    named: bool = False


def unnote(db: sqlite3.Connection, shelf: Shelf, unsaid: Unsaid, at: int) -> None:
    """Verb part: nothing of it is left in a note. To be done while the events still have their texts.

    What nuan wrote is taken out of its file, also when somebody edited that; a line that an owner wrote by hand
    stays in theirs, but is told no more. StoreError when a file cannot be written.
    """
    affected = _from(db, unsaid.events)
    if unsaid.wordings:
        for number, path, made in _searched(db, unsaid):
            if made:
                affected.setdefault(number, _Lines())
            else:
                _hush(db, shelf, (number, path), unsaid.wordings, at)
    changed = [_take_out(db, shelf, number, lines, unsaid, at) for number, lines in sorted(affected.items())]
    if any(changed):
        forget_terms(db)


def _from(db: sqlite3.Connection, events: Iterable[int]) -> dict[int, _Lines]:
    """The lines made from these events, by note."""
    found: dict[int, _Lines] = {}
    for event in sorted(events):
        rows = db.execute(
            "SELECT note_line.id, note_id, mark, event.text FROM edge JOIN note_line ON note_line.id = derived_id "
            "JOIN event ON event.id = event_id WHERE edge.kind = 'note' AND event_id = ?",
            (event,),
        )
        for line_id, note_id, told, text in rows:
            lines = found.setdefault(note_id, _Lines())
            lines.numbers.append(line_id)
            if told:
                lines.marks[told] += 1
                lines.texts[told] = text
            else:
                lines.named = True
    return found


def _searched(db: sqlite3.Connection, unsaid: Unsaid) -> list[tuple[int, str, bool]]:
    """The notes that may repeat a statement: of these chats, and of the person whose statement it is."""
    rows = db.execute(
        f"SELECT id, path, made FROM note WHERE chat_id IN ({marks(unsaid.chats)}) OR owner_id = ? ORDER BY id",
        (*unsaid.chats, unsaid.owner_id),
    )
    return [(number, path, bool(made)) for number, path, made in rows]


def read_note(shelf: Shelf, path: str) -> list[str] | None:
    """The lines of a note as its file has them now; None when it is none any more."""
    try:
        # Whatever an editor made of it: what is not UTF-8 stays as it is.
        return lines_of(shelf.files.read(path, READ_BYTES)[0].decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    except (NoteRefused, OSError):
        return None


def _hush(db: sqlite3.Connection, shelf: Shelf, note: tuple[int, str], wordings: tuple[str, ...], at: int) -> None:
    """An owner's own file stays as it is; what it says of that comes back no more, and the operator is told."""
    number, path = note
    lines = read_note(shelf, path) or []
    said = [line for line in lines if line.strip() and any(echoes(text, line) for text in wordings)]
    for line in said:
        shelf.bury(0, line, at)
    if said:
        unread(db, number)
        forget_terms(db)
        shelf.told.append((number, path, len(said), "hushed"))


def _take_out(db: sqlite3.Connection, shelf: Shelf, number: int, gone: _Lines, unsaid: Unsaid, at: int) -> bool:
    """Take lines out of one note; whether anything of it changed."""
    path = str(db.execute("SELECT path FROM note WHERE id = ?", (number,)).fetchone()[0])
    lines = read_note(shelf, path)
    if lines is None:
        unread(db, number)
        forget_lines(db, gone.numbers)
        return True
    _, top = _top(lines)
    marks = [mark(line) for line in lines]
    edited = [text for told, text in gone.texts.items() if told not in marks and text]
    edited += unsaid.wordings
    left, out = gone.marks.copy(), set()
    for place, line in enumerate(lines[top:], top):
        ours = left[marks[place]] > 0
        if ours or (line.strip() and any(echoes(text, line) for text in edited)):
            left[marks[place]] -= ours
            out.add(place)
    if not out and not gone.numbers:
        return False
    for place in sorted(out):
        shelf.bury(0, lines[place], at)
    by_echo = sum(marks[place] not in gone.marks for place in out)
    kept = without(lines, out, unsaid.events)
    path = put_back(shelf, path, kept, gone.named)
    if not kept:
        abandon(db, number)
    else:
        _unmark(db, number, gone.numbers, {marks[place] for place in out} - gone.marks.keys())
        unread(db, number)
        db.execute("UPDATE note SET path = ? WHERE id = ?", (path, number))
    if by_echo or len(edited) > len(unsaid.wordings):
        shelf.told.append((number, path, len(out), "edited"))
    return True


def _unmark(db: sqlite3.Connection, number: int, gone: list[int], marks: set[str]) -> None:
    rows = db.execute("SELECT id, mark FROM note_line WHERE note_id = ?", (number,)).fetchall()
    forget_lines(db, sorted({*gone, *(line_id for line_id, told in rows if told in marks)}))


def _top(lines: list[str]) -> tuple[tuple[int, ...], int]:
    """The events at the top of a note, and how many lines that takes."""
    try:
        front, end = read_front(lines)
    except NoteRefused:
        return (), 0
    return (front.events if front is not None else ()), end


def without(lines: list[str], out: set[int], events: frozenset[int]) -> list[str]:
    """The note without these lines and events; [] when nothing but headings is left."""
    known, top = _top(lines)
    kept = [line for place, line in enumerate(lines) if place not in out]
    if not any(line.strip() and not line.lstrip().startswith("#") for line in kept[top:]):
        return []
    return with_events(kept, tuple(number for number in known if number not in events)) if top else kept


def put_back(shelf: Shelf, path: str, lines: list[str], rename: bool) -> str:
    """Put a note back without what is gone, or remove it when nothing is left; its path.

    With `rename` a name that told something becomes its day and a number.
    """
    if not lines:
        shelf.files.remove(path)
        return path
    shelf.files.replace(path, content_of(lines))
    day = path.rpartition("/")[2][:10]
    if rename and _is_day(day):
        for number in range(1, MOST_NUMBERS):
            other = f"{FOLDER}/{day}-talk-{number}.md"
            if shelf.files.rename(path, other):
                return other
    return path


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False
