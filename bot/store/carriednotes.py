"""Notes on their way out of a house and into one: read from their files, written as new ones. It decides nothing."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.errors import StoreError
from bot.store.notefiles import NoteFiles, content_of
from bot.store.reader import Row
from bot.text.clean import clean
from bot.text.frontmatter import lines_of, read_front, write_front
from bot.types.carried import CarriedNote
from bot.types.note import CURATED, Front, NoteRefused

MOST_BYTES = 16_384 * 1024
"""The largest note that a setting allows."""

ACCOUNTS = (
    "SELECT person_id, platform || ':' || external_id, owner FROM account JOIN person ON person.id = person_id "
    "WHERE is_bot = 0 ORDER BY 2"
)
MADE = "SELECT path, chat_id FROM note WHERE made = 1"


@dataclass(frozen=True, slots=True)
class Readers:
    """Who notes are for: the place of each chat and, of a direct one, whose it is; the accounts of each owner.

    `indexed` is the chat of each note as it was read last.
    """

    places: Mapping[int, str]
    whose: Mapping[str, str]
    owners: tuple[tuple[str, ...], ...]
    indexed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Shelved:
    """The notes there are, all names that are taken, and how many files are for nobody or cannot be read."""

    notes: tuple[CarriedNote, ...]
    files: frozenset[str]
    astray: int


def owners_of(rows: list[Row], listed: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """The accounts of each owner, also of one who has not been here yet."""
    accounts: dict[int, list[str]] = {}
    owning: set[int] = set()
    for person, account, owner in rows:
        accounts.setdefault(person, []).append(account)
        if owner or account in listed:
            owning.add(person)
    known = {account for _, account, _ in rows}
    groups = [tuple(found) for person, found in accounts.items() if person in owning]
    return tuple(sorted([*groups, *((account,) for account in listed - known)]))


def read_notes(files: NoteFiles, readers: Readers, covers: Callable[[str], bool]) -> Shelved:
    """Every note without its forgotten lines; it blocks."""
    listing = files.listing()
    found = [_note(files, path, readers, covers) for path in sorted(listing.found)]
    notes = tuple(note for note in found if note is not None)
    taken = frozenset({*listing.found, *listing.refused})
    return Shelved(notes, taken, len(taken) - len(notes))


def _note(files: NoteFiles, path: str, readers: Readers, covers: Callable[[str], bool]) -> CarriedNote | None:
    try:
        lines = lines_of(files.read(path, MOST_BYTES)[0].decode("utf-8-sig"))
        front, top = (None, 0) if path == CURATED else read_front(lines)
    except (NoteRefused, UnicodeDecodeError, OSError):
        return None
    told = clean("\n".join(line for line in lines[top:] if not (line.strip() and covers(line))))
    if not told.strip():
        return None
    if front is None:
        owners = tuple(group[0] for group in readers.owners)
        return CarriedNote(path, owners, "", "private", (), told) if owners else None
    chat = readers.places.get(front.chat_id) or readers.places.get(readers.indexed.get(path, 0), "")
    owner = readers.whose.get(chat, "") if front.visibility != "chat" else ""
    if not chat or (front.visibility != "chat" and not owner):
        return None
    return CarriedNote(path, (owner,) if owner else (), chat, front.visibility, front.events, told)


def meet(db: sqlite3.Connection, notes: tuple[CarriedNote, ...], at: int) -> None:
    """Verb part: a direct chat that was brought in is the one of whoever its notes are for."""
    for note in notes:
        if note.chat and note.owners:
            db.execute(
                "INSERT INTO member (chat_id, person_id, seen_at) SELECT place.chat_id, person_id, ? "
                "FROM place, account "
                "WHERE place.platform || ':' || place.external_id = ? AND account.platform || ':' || "
                "account.external_id = ? AND NOT EXISTS (SELECT 1 FROM member WHERE chat_id = place.chat_id)",
                (at, note.chat, note.owners[0]),
            )


def write_notes(db: sqlite3.Connection, files: NoteFiles, notes: tuple[CarriedNote, ...]) -> None:
    """Verb: write new notes, after their chats were committed: a number that no chat has yet may become any chat's.

    StoreError when the disk refuses, or another file has that name by now; the same import brings the rest.
    """
    for note in notes:
        top: list[str] = []
        if note.chat:
            row = db.execute(
                "SELECT chat_id FROM place WHERE platform || ':' || external_id = ?", (note.chat,)
            ).fetchone()  # fmt: skip
            top = write_front(Front(row[0], note.visibility, note.events))
        if not files.create(note.path, content_of([*top, *note.text.split("\n")])):
            raise StoreError("a note of that name has just been written: import once more")
