"""An edited message reads in notes as it does now; what a model kept of words that it has no more goes."""

import sqlite3
from dataclasses import dataclass, field

from bot.store.documents import forget_terms
from bot.store.noting import abandon, forget_lines, mark, unread
from bot.store.unnoting import Shelf, put_back, read_note, without
from bot.text.tokens import index_terms


@dataclass(slots=True)
class _Lines:
    """The lines of one note that are made from a message: (number, mark), and whether its name is."""

    known: list[tuple[int, str]] = field(default_factory=list)
    named: list[int] = field(default_factory=list)


def amend(db: sqlite3.Connection, shelf: Shelf, event_id: int, before: str, now: str) -> None:
    """Verb part: notes that tell of a message follow its edit; "" takes it out of them. StoreError as in `unnote`.

    A line that somebody changed by hand stays: it is theirs.
    """
    found: dict[int, _Lines] = {}
    rows = db.execute(
        "SELECT note_line.id, note_id, mark FROM edge JOIN note_line ON note_line.id = derived_id "
        "WHERE edge.kind = 'note' AND event_id = ? ORDER BY note_line.id",
        (event_id,),
    )
    for line_id, note_id, told in rows.fetchall():
        lines = found.setdefault(note_id, _Lines())
        if told:
            lines.known.append((line_id, told))
        else:
            lines.named.append(line_id)
    for note_id, lines in sorted(found.items()):
        _amend(db, shelf, note_id, lines, (before, now))
    if found:
        forget_terms(db)


def _amend(db: sqlite3.Connection, shelf: Shelf, note_id: int, made: _Lines, said: tuple[str, str]) -> None:
    path = str(db.execute("SELECT path FROM note WHERE id = ?", (note_id,)).fetchone()[0])
    lines = read_note(shelf, path)
    unread(db, note_id)
    forget_lines(db, made.named)
    if lines is None:
        forget_lines(db, [line_id for line_id, _ in made.known])
        return
    marks, out = [mark(line) for line in lines], set[int]()
    for line_id, told in made.known:
        place = next((each for each, one in enumerate(marks) if one == told and each not in out), None)
        if place is None:
            continue
        new = _reads(lines[place], *said)
        if new:
            lines[place] = new
            db.execute("UPDATE note_line SET mark = ? WHERE id = ?", (mark(new), line_id))
        else:
            out.add(place)
            forget_lines(db, [line_id])
    kept = without(lines, out, frozenset())
    path = put_back(shelf, path, kept, bool(made.named))
    if kept:
        db.execute("UPDATE note SET path = ? WHERE id = ?", (path, note_id))
    else:
        abandon(db, note_id)


def _reads(line: str, before: str, now: str) -> str:
    """The line after the edit, "" when it tells what the message says no more."""
    old, new = (" ".join(text.split()) for text in (before, now))
    if new and f": {old}" in line:
        return line.replace(f": {old}", f": {new}", 1)
    lost = set(index_terms(old)) - set(index_terms(new))
    return "" if lost & set(index_terms(line)) else line
