"""The verbs behind notes: what the index has of a file, and what nuan writes into one. Each row says who may see it."""

import hashlib
import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.documents import Doc, drop, put, scope_of
from bot.store.notefiles import NoteFiles, content_of
from bot.text.frontmatter import lines_of, read_front, with_events, write_front
from bot.types.memory import Visibility
from bot.types.note import FOLDER, Chunk, Front, NewNote, NoteRefused, Taken, Written

MOST_NUMBERS = 1_000
"""Notes of one name: far more than anybody says `/new` in a day."""

GONE = "('forgotten', 'deleted')"
"""Why a line may not be written down."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Who may read a note: a chat, or the owner of what it says."""

    chat_id: int
    owner_id: int | None
    visibility: Visibility


def take(db: sqlite3.Connection, files: NoteFiles, taken: Taken) -> bool:
    """Verb: the index has a note as it was read; False when the file changed meanwhile: nothing was done then.

    NoteRefused when its front matter names no chat of ours; nothing of it is left in the index then.
    """
    if files.stamp(taken.path) != taken.stamp:
        return False
    try:
        readers = _readers(db, taken.front, taken.owners)
    except NoteRefused:
        leave(db, taken.path)
        raise
    known = {
        owner: number for number, owner in db.execute("SELECT id, owner_id FROM note WHERE path = ?", (taken.path,))
    }
    for owner in set(known) - {each.owner_id for each in readers}:
        abandon(db, known[owner])
    for each in readers:
        number = known.get(each.owner_id) or _new(db, taken.path, each)
        db.execute(
            "UPDATE note SET chat_id = ?, visibility = ?, made = ?, stamp = ?, hash = ?, cut = ?, at = ? WHERE id = ?",
            (each.chat_id, each.visibility, int(taken.front is not None), taken.stamp, taken.hash, taken.cut, taken.at,
             number),
        )  # fmt: skip
        _index(db, number, each, taken)
        if (
            taken.front is not None
            and not db.execute("SELECT 1 FROM note_line WHERE note_id = ?", (number,)).fetchone()
        ):
            _relink(db, number, each.chat_id, taken.front, taken)
    return True


def leave(db: sqlite3.Connection, path: str) -> None:
    """Verb: a file is gone, or none of ours any more: nothing of it comes back."""
    for (number,) in db.execute("SELECT id FROM note WHERE path = ?", (path,)).fetchall():
        abandon(db, number)


def unread(db: sqlite3.Connection, number: int) -> None:
    """Verb part: nothing of a note comes back until its file was read anew."""
    drop(db, "note", [row[0] for row in db.execute("SELECT id FROM note_chunk WHERE note_id = ?", (number,))])
    db.execute("DELETE FROM note_chunk WHERE note_id = ?", (number,))
    db.execute("UPDATE note SET stamp = '', hash = '' WHERE id = ?", (number,))


def write(db: sqlite3.Connection, files: NoteFiles, new: NewNote, most: int) -> str | None:
    """Verb: write a note and where each line comes from; its path, None when nothing of it may be written down.

    What was forgotten meanwhile is left out. A name that is taken gets a number, unless the very same stands there,
    which a crash left, or `new` appends to it; a note has at most `most` bytes.
    """
    lines = tuple(line for line in new.lines if not any(_gone(db, number) for number in line.event_ids))
    if not lines:
        return None
    for number in range(1, MOST_NUMBERS):
        path = f"{FOLDER}/{new.path}.md" if number == 1 else f"{FOLDER}/{new.path}-{number}.md"
        before = _before(files, path, new.front, most) if new.appends else None
        events = tuple(event for line in lines for event in line.event_ids)
        data = content_of(_content(new, lines, events, before))
        if before is not None and len(data) <= most:
            files.replace(path, data)
        elif not files.create(path, data) and not _same(files, path, data):
            continue
        _written(db, path, new, lines)
        return path
    return None


def mark(line: str) -> str:
    """By what a line is found again in its file."""
    return hashlib.sha256(line.strip().encode("utf-8", "replace")).hexdigest()[:32]


def _readers(db: sqlite3.Connection, front: Front | None, owners: tuple[int, ...] = ()) -> tuple[Readers, ...]:
    """Those kept by hand are the owners', what was made of a talk is for who could read that."""
    if front is None:
        return tuple(Readers(0, owner, "private") for owner in owners)
    chat_id, kind = _chat(db, front)
    if front.visibility == "chat":
        return (Readers(chat_id, None, "chat"),)
    member = "SELECT person_id FROM member WHERE chat_id = ? ORDER BY seen_at DESC LIMIT 1"
    person = db.execute(member, (chat_id,)).fetchone()
    if kind != "dm" or person is None:
        raise NoteRefused(f"only the note of a private chat can be {front.visibility}")
    return (Readers(chat_id, person[0], front.visibility),)


def _chat(db: sqlite3.Connection, front: Front) -> tuple[int, str]:
    """The chat that a note is of, and its kind; one that became part of another is where its events are now."""
    find = "SELECT id, kind FROM chat WHERE id = ? AND EXISTS (SELECT 1 FROM place WHERE chat_id = chat.id)"
    row = db.execute(find, (front.chat_id,)).fetchone()
    if row is None and front.events and db.execute("SELECT 1 FROM chat WHERE id = ?", (front.chat_id,)).fetchone():
        moved = db.execute("SELECT chat_id FROM event WHERE id = ?", (front.events[0],)).fetchone()
        row = db.execute(find, moved).fetchone() if moved is not None else None
    if row is None:
        raise NoteRefused("its front matter names a chat that is not there")
    return row[0], row[1]


def _new(db: sqlite3.Connection, path: str, readers: Readers) -> int:
    return cast(
        "int",
        db.execute(
            "INSERT INTO note (path, chat_id, owner_id, visibility) VALUES (?, ?, ?, ?)",
            (path, readers.chat_id, readers.owner_id, readers.visibility),
        ).lastrowid,
    )


def _index(db: sqlite3.Connection, number: int, readers: Readers, taken: Taken) -> None:
    """Chunks that say what they said keep their numbers; only the others are written anew."""
    old: dict[str, list[int]] = {}
    for chunk_id, told in db.execute("SELECT id, hash FROM note_chunk WHERE note_id = ? ORDER BY id DESC", (number,)):
        old.setdefault(told, []).append(chunk_id)
    scope = scope_of(readers.visibility, readers.owner_id, readers.chat_id)
    for chunk in taken.chunks:
        same = old.get(_hash(chunk), [])
        if same and _stays(db, same[-1], scope, taken.at):
            db.execute(
                "UPDATE note_chunk SET first_line = ?, last_line = ? WHERE id = ?",
                (chunk.first, chunk.last, same.pop()),
            )
            continue
        ref = cast(
            "int",
            db.execute(
                "INSERT INTO note_chunk (note_id, first_line, last_line, text, hash) VALUES (?, ?, ?, ?, ?)",
                (number, chunk.first, chunk.last, chunk.text, _hash(chunk)),
            ).lastrowid,
        )
        put(db, Doc("note", ref, scope, readers.chat_id, readers.owner_id, taken.at, chunk.text))
    gone = [chunk_id for rest in old.values() for chunk_id in rest]
    drop(db, "note", gone)
    db.executemany("DELETE FROM note_chunk WHERE id = ?", [(chunk_id,) for chunk_id in gone])


def _relink(db: sqlite3.Connection, number: int, chat_id: int, front: Front, taken: Taken) -> None:
    """A note that came from elsewhere (a backup, a crash) says itself which events it is made from.

    The line that has an event's text is taken for its; where none has, forgetting looks for an echo.
    """
    lines = [line for chunk in taken.chunks for line in chunk.text.split("\n")]
    for event in front.events:
        row = db.execute("SELECT text FROM event WHERE id = ? AND chat_id = ?", (event, chat_id)).fetchone()
        text = " ".join(str(row[0]).split()) if row is not None else ""
        if text:
            found = next((line for line in lines if text in line), None)
            _add_line(db, number, mark(found) if found is not None else f"event {event}", (event,))


def _add_line(db: sqlite3.Connection, number: int, told: str, events: tuple[int, ...]) -> None:
    line_id = db.execute("INSERT INTO note_line (note_id, mark) VALUES (?, ?)", (number, told)).lastrowid
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('note', ?, ?)",
        [(line_id, event) for event in events],
    )


def _stays(db: sqlite3.Connection, ref: int, scope: str, at: int) -> bool:
    """Whether the index has this chunk for the same readers; its day may have changed."""
    row = db.execute("SELECT scope FROM doc WHERE kind = 'note' AND ref = ?", (ref,)).fetchone()
    if row is None or row[0] != scope:
        return False
    db.execute("UPDATE doc SET at = ? WHERE kind = 'note' AND ref = ?", (at, ref))
    return True


def _hash(chunk: Chunk) -> str:
    return hashlib.sha256(chunk.text.encode("utf-8", "replace")).hexdigest()[:32]


def abandon(db: sqlite3.Connection, number: int) -> None:
    """Verb part: nothing is known of a note any more."""
    unread(db, number)
    forget_lines(db, [row[0] for row in db.execute("SELECT id FROM note_line WHERE note_id = ?", (number,))])
    db.execute("DELETE FROM note WHERE id = ?", (number,))


def forget_lines(db: sqlite3.Connection, numbers: list[int]) -> None:
    """Verb part: nobody knows any more where these lines come from."""
    for number in numbers:
        db.execute("DELETE FROM edge WHERE kind = 'note' AND derived_id = ?", (number,))
        db.execute("DELETE FROM note_line WHERE id = ?", (number,))


def _gone(db: sqlite3.Connection, event_id: int) -> bool:
    where = f"id = ? AND (hidden IN {GONE} OR off_record)"
    return db.execute(f"SELECT 1 FROM event WHERE {where}", (event_id,)).fetchone() is not None


def _before(files: NoteFiles, path: str, front: Front, most: int) -> list[str] | None:
    """The lines of a note that can be written on: one for the same readers, as nuan left it or an operator."""
    try:
        lines = lines_of(files.read(path, most)[0].decode("utf-8-sig"))
        found, _ = read_front(lines)
    except (NoteRefused, UnicodeDecodeError, OSError):
        return None
    same = found is not None and (found.chat_id, found.visibility) == (front.chat_id, front.visibility)
    return lines if same else None


def _content(
    new: NewNote, lines: tuple[Written, ...], events: tuple[int, ...], before: list[str] | None
) -> list[str]:  # fmt: skip
    told = [new.heading, "", *(line.text for line in lines)]
    if before is None:
        front = Front(new.front.chat_id, new.front.visibility, tuple(sorted(set(events))))
        return [*write_front(front), "", *told]
    found, _ = read_front(before)
    known = found.events if found is not None else ()
    return [*with_events(before, tuple(sorted({*known, *events}))), "", *told]


def _same(files: NoteFiles, path: str, data: bytes) -> bool:
    try:
        return files.read(path, len(data))[0] == data
    except (NoteRefused, OSError):
        return False


def _written(db: sqlite3.Connection, path: str, new: NewNote, lines: tuple[Written, ...]) -> None:
    """The note and the edges of its lines; a name that tells of a message is a line of its own."""
    row = db.execute("SELECT id FROM note WHERE path = ?", (path,)).fetchone()
    number = row[0] if row is not None else _new(db, path, _readers(db, new.front)[0])
    db.execute("UPDATE note SET made = 1, stamp = '' WHERE id = ?", (number,))
    if not new.appends and db.execute("SELECT 1 FROM note_line WHERE note_id = ?", (number,)).fetchone():
        return  # the very same was written before
    named = (Written("", new.named_by),) if new.named_by else ()
    for line in (*named, *lines):
        _add_line(db, number, mark(line.text) if line.text else "", line.event_ids)
