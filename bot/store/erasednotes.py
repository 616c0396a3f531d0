"""The notes of a person who is erased: the files of their own are removed, also those that were never indexed."""

import sqlite3

from bot.store.noting import abandon
from bot.store.unnoting import Shelf, read_note
from bot.text.frontmatter import read_front
from bot.types.note import NoteRefused


def drop_notes(db: sqlite3.Connection, shelf: Shelf, person_id: int, dms: tuple[int, ...], at: int) -> None:
    """Verb part: no note of theirs is left, but one kept by hand that other owners have, too.

    StoreError when one cannot be removed. Lines of theirs in notes of groups are taken out with the lines themselves.
    """
    paths: set[str] = set()
    for number, path, owner, chat in db.execute("SELECT id, path, owner_id, chat_id FROM note").fetchall():
        if owner == person_id or chat in dms:
            abandon(db, number)
            others = db.execute("SELECT 1 FROM note WHERE path = ? AND owner_id IS NOT ?", (path, person_id)).fetchone()
            if others is None:
                paths.add(str(path))
    for path in shelf.files.listing().found:
        if _chat_of(shelf, path) in dms:
            paths.add(path)
    for path in sorted(paths):
        for line in read_note(shelf, path) or ():
            if line.strip():
                shelf.bury(0, line, at)
        shelf.files.remove(path)


def _chat_of(shelf: Shelf, path: str) -> int | None:
    """The chat that a note was made of, as its top says; None for every other file."""
    try:
        front, _ = read_front(read_note(shelf, path) or [])
    except NoteRefused:
        return None
    return front.chat_id if front is not None else None
