"""Notes for an audience, of full logs, in exports and imports; what is forgotten or edited is taken out of them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from bot.core.archive import (
    CURATED_NOTE,
    NOTES_FOLDER,
    ExportedNote,
    FrontMatter,
    IndexedNote,
    NewNote,
    NotePart,
    NoteRefused,
    ReadNoteFile,
)
from bot.core.errors import StoreError
from bot.core.people import Audience
from bot.store.engine import Database
from bot.store.index import forget_terms
from bot.store.ledger import Settlement, settle_call
from bot.store.note_rows import (
    MOST_NUMBERS,
    NoteFiles,
    content_of,
    delete_note,
    delete_note_lines,
    drop_note_path,
    line_mark,
    store_read_note,
    unindex_note,
    write_note,
)
from bot.store.people import AccessLists
from bot.store.schema import placeholders
from bot.store.transactions import Row, Tx
from bot.text.clean import clean
from bot.text.files import lines_of, read_front, with_events, write_front
from bot.text.similarity import echoes
from bot.text.terms import index_terms

READ_BYTES = 64 * 1024 * 1024
"""A file of any size that was ever a note is searched."""


AddTombstone = Callable[[int, str, int], None]
"""Writes down that the text of a memory, or a line of a note (0), was forgotten at that time, ms."""


@dataclass(slots=True)
class NoteStorage:
    """The files of notes, how a tombstone is added for a line, and what operators are to be told.

    `told` are lines for the log: the number of a note, its path, how many lines, and what was done.
    """

    files: NoteFiles
    add_tombstone: AddTombstone
    told: list[tuple[int, str, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RemovedContent:
    """What goes: events with all that was written down of them, and a statement, in each of its wordings, wherever one
    of these people's notes, or those of these chats, repeats it.
    """

    events: frozenset[int]
    wordings: tuple[str, ...] = ()
    chats: tuple[int, ...] = ()
    owner_id: int | None = None


@dataclass(slots=True)
class _RemovedLines:
    """What is to go from one note: the numbers of lines, how many of each mark, the texts of the events of each."""

    numbers: list[int] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    named: bool = False


def remove_from_notes(db: Tx, note_storage: NoteStorage, unsaid: RemovedContent, at: int) -> None:
    """Within a transaction: nothing of it is left in a note. To be done while the events still have their texts.

    What nuan wrote is taken out of its file, also when somebody edited that; a line that an owner wrote by hand
    stays in theirs, but is told no more. StoreError when a file cannot be written.
    """
    affected = _from(db, unsaid.events)
    if unsaid.wordings:
        for number, path, made in _searched(db, unsaid):
            if made:
                affected.setdefault(number, _RemovedLines())
            else:
                _hide_curated(db, note_storage, (number, path), unsaid.wordings, at)
    changed = [_take_out(db, note_storage, number, lines, unsaid, at) for number, lines in sorted(affected.items())]
    if any(changed):
        forget_terms(db)


def _from(db: Tx, events: Iterable[int]) -> dict[int, _RemovedLines]:
    """The lines made from these events, by note."""
    found: dict[int, _RemovedLines] = {}
    for event in sorted(events):
        rows = db.execute(
            "SELECT note_line.id, note_id, mark, event.text FROM edge JOIN note_line ON note_line.id = derived_id "
            "JOIN event ON event.id = event_id WHERE edge.kind = 'note' AND event_id = ?",
            (event,),
        )
        for line_id, note_id, told, text in rows:
            lines = found.setdefault(note_id, _RemovedLines())
            lines.numbers.append(line_id)
            if told:
                lines.marks[told] += 1
                lines.texts[told] = text
            else:
                lines.named = True
    return found


def _searched(db: Tx, unsaid: RemovedContent) -> list[tuple[int, str, bool]]:
    """The notes that may repeat a statement: of these chats, and of the person whose statement it is."""
    rows = db.execute(
        f"SELECT id, path, made FROM note WHERE chat_id IN ({placeholders(unsaid.chats)}) OR owner_id = ? ORDER BY id",
        (*unsaid.chats, unsaid.owner_id),
    )
    return [(number, path, bool(made)) for number, path, made in rows]


def read_note(note_storage: NoteStorage, path: str) -> list[str] | None:
    """The lines of a note as its file has them now; None when it is none any more."""
    try:
        # Whatever an editor made of it: what is not UTF-8 stays as it is.
        return lines_of(
            note_storage.files.read(path, READ_BYTES)[0].decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        )
    except (NoteRefused, OSError):
        return None


def _hide_curated(db: Tx, note_storage: NoteStorage, note: tuple[int, str], wordings: tuple[str, ...], at: int) -> None:
    """An owner's own file stays as it is; what it says of that comes back no more, and the operator is told."""
    number, path = note
    lines = read_note(note_storage, path) or []
    said = [line for line in lines if line.strip() and any(echoes(text, line) for text in wordings)]
    for line in said:
        note_storage.add_tombstone(0, line, at)
    if said:
        unindex_note(db, number)
        forget_terms(db)
        note_storage.told.append((number, path, len(said), "hushed"))


def _take_out(
    db: Tx, note_storage: NoteStorage, number: int, gone: _RemovedLines, unsaid: RemovedContent, at: int
) -> bool:
    """Take lines out of one note; whether anything of it changed."""
    path = str(db.execute("SELECT path FROM note WHERE id = ?", (number,)).fetchone()[0])
    lines = read_note(note_storage, path)
    if lines is None:
        unindex_note(db, number)
        delete_note_lines(db, gone.numbers)
        return True
    _, top = _top(lines)
    marks = [line_mark(line) for line in lines]
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
        note_storage.add_tombstone(0, lines[place], at)
    by_echo = sum(marks[place] not in gone.marks for place in out)
    kept = note_without(lines, out, unsaid.events)
    path = write_note_back(note_storage, path, kept, gone.named)
    if not kept:
        delete_note(db, number)
    else:
        _unmark(db, number, gone.numbers, {marks[place] for place in out} - gone.marks.keys())
        unindex_note(db, number)
        db.execute("UPDATE note SET path = ? WHERE id = ?", (path, number))
    if by_echo or len(edited) > len(unsaid.wordings):
        note_storage.told.append((number, path, len(out), "edited"))
    return True


def _unmark(db: Tx, number: int, gone: list[int], marks: set[str]) -> None:
    rows = db.execute("SELECT id, mark FROM note_line WHERE note_id = ?", (number,)).fetchall()
    delete_note_lines(db, sorted({*gone, *(line_id for line_id, told in rows if told in marks)}))


def _top(lines: list[str]) -> tuple[tuple[int, ...], int]:
    """The events at the top of a note, and how many lines that takes."""
    try:
        front, end = read_front(lines)
    except NoteRefused:
        return (), 0
    return (front.events if front is not None else ()), end


def note_without(lines: list[str], out: set[int], events: frozenset[int]) -> list[str]:
    """The note without these lines and events; [] when nothing but headings is left."""
    known, top = _top(lines)
    kept = [line for place, line in enumerate(lines) if place not in out]
    if not any(line.strip() and not line.lstrip().startswith("#") for line in kept[top:]):
        return []
    return with_events(kept, tuple(number for number in known if number not in events)) if top else kept


def write_note_back(note_storage: NoteStorage, path: str, lines: list[str], rename: bool) -> str:
    """Put a note back without what is gone, or remove it when nothing is left; its path.

    With `rename` a name that told something becomes its day and a number.
    """
    if not lines:
        note_storage.files.remove(path)
        return path
    note_storage.files.replace(path, content_of(lines))
    day = path.rpartition("/")[2][:10]
    if rename and _is_day(day):
        for number in range(1, MOST_NUMBERS):
            other = f"{NOTES_FOLDER}/{day}-talk-{number}.md"
            if note_storage.files.rename(path, other):
                return other
    return path


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


@dataclass(slots=True)
class _MadeLines:
    """The lines of one note that are made from a message: (number, mark), and whether its name is."""

    known: list[tuple[int, str]] = field(default_factory=list)
    named: list[int] = field(default_factory=list)


def amend_notes(db: Tx, note_storage: NoteStorage, event_id: int, before: str, now: str) -> None:
    """Within a transaction: notes that tell of a message follow its edit; "" takes it out of them. StoreError as in
    `unnote`.

    A line that somebody changed by hand stays: it is theirs.
    """
    found: dict[int, _MadeLines] = {}
    rows = db.execute(
        "SELECT note_line.id, note_id, mark FROM edge JOIN note_line ON note_line.id = derived_id "
        "WHERE edge.kind = 'note' AND event_id = ? ORDER BY note_line.id",
        (event_id,),
    )
    for line_id, note_id, told in rows.fetchall():
        lines = found.setdefault(note_id, _MadeLines())
        if told:
            lines.known.append((line_id, told))
        else:
            lines.named.append(line_id)
    for note_id, lines in sorted(found.items()):
        _amend(db, note_storage, note_id, lines, (before, now))
    if found:
        forget_terms(db)


def _amend(db: Tx, note_storage: NoteStorage, note_id: int, made: _MadeLines, said: tuple[str, str]) -> None:
    path = str(db.execute("SELECT path FROM note WHERE id = ?", (note_id,)).fetchone()[0])
    lines = read_note(note_storage, path)
    unindex_note(db, note_id)
    delete_note_lines(db, made.named)
    if lines is None:
        delete_note_lines(db, [line_id for line_id, _ in made.known])
        return
    marks, out = [line_mark(line) for line in lines], set[int]()
    for line_id, told in made.known:
        place = next((each for each, one in enumerate(marks) if one == told and each not in out), None)
        if place is None:
            continue
        new = _reads(lines[place], *said)
        if new:
            lines[place] = new
            db.execute("UPDATE note_line SET mark = ? WHERE id = ?", (line_mark(new), line_id))
        else:
            out.add(place)
            delete_note_lines(db, [line_id])
    kept = note_without(lines, out, frozenset())
    path = write_note_back(note_storage, path, kept, bool(made.named))
    if kept:
        db.execute("UPDATE note SET path = ? WHERE id = ?", (path, note_id))
    else:
        delete_note(db, note_id)


def _reads(line: str, before: str, now: str) -> str:
    """The line after the edit, "" when it tells what the message says no more."""
    old, new = (" ".join(text.split()) for text in (before, now))
    if new and f": {old}" in line:
        return line.replace(f": {old}", f": {new}", 1)
    lost = set(index_terms(old)) - set(index_terms(new))
    return "" if lost & set(index_terms(line)) else line


class Notes:
    """The notes of this installation."""

    def __init__(self, database: Database, lists: AccessLists, note_storage: NoteStorage) -> None:
        self._database = database
        self._lists = lists
        self._note_storage = note_storage
        self.files: NoteFiles = note_storage.files

    async def known(self) -> tuple[IndexedNote, ...]:
        """All notes that the index has, each once; `stamp` is "" where one is to be read anew."""
        rows = await self._database.rows(
            "SELECT path, min(stamp), min(cut), max(made) FROM note GROUP BY path ORDER BY path"
        )
        return tuple(IndexedNote(str(path), str(stamp), str(cut), bool(made)) for path, stamp, cut, made in rows)

    async def owners(self) -> tuple[int, ...]:
        """The persons who are owners now."""
        rows = await self._database.rows(
            "SELECT DISTINCT person_id, platform || ':' || external_id, owner FROM account JOIN person "
            "ON person.id = person_id WHERE is_bot = 0"
        )
        return tuple(sorted({int(row[0]) for row in rows if row[2] or row[1] in self._lists.owners}))

    async def take(self, taken: ReadNoteFile) -> bool:
        """Have the index say what a note says now; False when the file has changed since it was read.

        NoteRefused when it is for nobody; StoreError when the disk refuses.
        """
        return await self._database.write(lambda db: store_read_note(db, self.files, taken))

    async def leave(self, path: str) -> None:
        """The file is gone, or is no note any more."""
        await self._database.write(lambda db: drop_note_path(db, path))

    async def write(self, new: NewNote, most: int) -> str | None:
        """Write a note of at most `most` bytes; its path, None when nothing of it may be written down.

        StoreError when the disk refuses; then nothing is known of it.
        """
        return await self._database.write(lambda db: write_note(db, self.files, new, most))

    def told(self) -> tuple[tuple[int, str, int, str], ...]:
        """What was taken out of notes that somebody had edited since this was asked last: number, path, lines, how."""
        told, self._note_storage.told[:] = tuple(self._note_storage.told), []
        return told

    async def readable(self, audience: Audience, path: str) -> str | None:
        """The hash of a note that this audience may see, as it was read last; None for every other path."""
        where, params = seen_by(audience)
        row = await self._database.row(f"SELECT hash FROM note WHERE path = ? AND {where}", (path, *params))
        return str(row[0]) if row is not None and row[0] else None

    async def part(self, audience: Audience, chunk_id: int) -> NotePart | None:
        """A chunk of a note by its number, as recall finds it; None unless this audience may see it."""
        where, params = seen_by(audience)
        row = await self._database.row(
            "SELECT path, first_line, last_line, (SELECT max(last_line) FROM note_chunk WHERE note_id = note.id), text "
            f"FROM note_chunk JOIN note ON note.id = note_id WHERE note_chunk.id = ? AND {where}",
            (chunk_id, *params),
        )
        return NotePart(str(row[0]), int(row[1]), int(row[2]), int(row[3]), str(row[4])) if row is not None else None


def seen_by(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 for notes: a private one only in its owner's own DM, a chat's only there."""
    people = placeholders(audience.person_ids)
    here = "(note.visibility = 'chat' AND note.chat_id = ?)"
    public = f"(note.visibility = 'public' AND note.owner_id IN ({people}))"
    if audience.alone is not None:
        own = "(note.visibility = 'private' AND note.owner_id = ?)"
        return f"({own} OR {here} OR {public})", (audience.alone, audience.chat_id, *audience.person_ids)
    return f"({here} OR {public})", (audience.chat_id, *audience.person_ids)


def hash_of(data: bytes) -> str:
    """By what the content of a file is known."""
    return hashlib.sha256(data).hexdigest()


SELECT_FULL_LOG = """SELECT session.id, epoch.id, (SELECT coalesce(sum(tokens), 0) FROM entry WHERE epoch_id =
    epoch.id), flushed_upto IS NOT NULL, (SELECT why FROM turn WHERE epoch_id = epoch.id ORDER BY turn.id DESC LIMIT 1),
    (SELECT max(flushed_upto) FROM epoch AS other WHERE other.session_id = session.id)
    FROM session JOIN epoch ON epoch.id = (SELECT id FROM epoch WHERE session_id = session.id
    ORDER BY number DESC LIMIT 1) WHERE session.state <> 'closed' AND """


@dataclass(frozen=True, slots=True)
class FullLog:
    """The newest log of a session that is not digested yet: its estimated tokens, and why its last turn was taken.

    `flushed`: it had its call; `before` is the event up to which that, or one of an earlier log, went (0: none yet).
    """

    session_id: int
    epoch_id: int
    tokens: int
    flushed: bool
    last_why: str
    before: int


class Flushes:
    """Logs that are flushed, each once."""

    def __init__(self, database: Database, files: NoteFiles) -> None:
        self._database = database
        self._files = files

    async def open_log(self, chat_id: int) -> FullLog | None:
        """The log of a chat's open session."""
        return await self._one("session.chat_id = ? AND session.state = 'open'", chat_id)

    async def log(self, session_id: int) -> FullLog | None:
        """The log of a session that is not digested yet."""
        return await self._one("session.id = ?", session_id)

    async def begin(self, epoch_id: int, upto: int) -> bool:
        """This log has its call now, for what was said up to that event; False when it had it before."""
        return await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE epoch SET flushed_upto = ? WHERE id = ? AND flushed_upto IS NULL", (upto, epoch_id)
                ).rowcount
                == 1
            )
        )

    async def store(self, settlement: Settlement, new: NewNote | None, most: int, at: int) -> str | None:
        """What the call cost, and the note of at most `most` bytes that it made, in one commit; its path."""

        def transaction(db: Tx) -> str | None:
            settle_call(db, settlement, at)
            return write_note(db, self._files, new, most) if new is not None else None

        return await self._database.write(transaction)

    async def _one(self, where: str, number: int) -> FullLog | None:
        row = await self._database.row(SELECT_FULL_LOG + where, (number,))
        if row is None:
            return None
        return FullLog(int(row[0]), int(row[1]), int(row[2]), bool(row[3]), str(row[4] or ""), int(row[5] or 0))


MOST_NOTE_BYTES = 16_384 * 1024
"""The largest note that a setting allows."""

SELECT_ACCOUNTS = (
    "SELECT person_id, platform || ':' || external_id, owner FROM account JOIN person ON person.id = person_id "
    "WHERE is_bot = 0 ORDER BY 2"
)
SELECT_MADE_NOTES = "SELECT path, chat_id FROM note WHERE made = 1"


@dataclass(frozen=True, slots=True)
class NoteReaders:
    """Who notes are for: the place of each chat and, of a direct one, whose it is; the accounts of each owner.

    `indexed` is the chat of each note as it was read last.
    """

    places: Mapping[int, str]
    whose: Mapping[str, str]
    owners: tuple[tuple[str, ...], ...]
    indexed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """The notes there are, all names that are taken, and how many files are for nobody or cannot be read."""

    notes: tuple[ExportedNote, ...]
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


def read_notes(files: NoteFiles, readers: NoteReaders, covers: Callable[[str], bool]) -> FoundNotes:
    """Every note without its forgotten lines; it blocks."""
    listing = files.listing()
    found = [_note(files, path, readers, covers) for path in sorted(listing.found)]
    notes = tuple(note for note in found if note is not None)
    taken = frozenset({*listing.found, *listing.refused})
    return FoundNotes(notes, taken, len(taken) - len(notes))


def _note(files: NoteFiles, path: str, readers: NoteReaders, covers: Callable[[str], bool]) -> ExportedNote | None:
    try:
        lines = lines_of(files.read(path, MOST_NOTE_BYTES)[0].decode("utf-8-sig"))
        front, top = (None, 0) if path == CURATED_NOTE else read_front(lines)
    except (NoteRefused, UnicodeDecodeError, OSError):
        return None
    told = clean("\n".join(line for line in lines[top:] if not (line.strip() and covers(line))))
    if not told.strip():
        return None
    if front is None:
        owners = tuple(group[0] for group in readers.owners)
        return ExportedNote(path, owners, "", "private", (), told) if owners else None
    chat = readers.places.get(front.chat_id) or readers.places.get(readers.indexed.get(path, 0), "")
    owner = readers.whose.get(chat, "") if front.visibility != "chat" else ""
    if not chat or (front.visibility != "chat" and not owner):
        return None
    return ExportedNote(path, (owner,) if owner else (), chat, front.visibility, front.events, told)


def join_direct_chats(db: Tx, notes: tuple[ExportedNote, ...], at: int) -> None:
    """Within a transaction: a direct chat that was brought in is the one of whoever its notes are for."""
    for note in notes:
        if note.chat and note.owners:
            db.execute(
                "INSERT INTO member (chat_id, person_id, seen_at) SELECT place.chat_id, person_id, ? "
                "FROM place, account "
                "WHERE place.platform || ':' || place.external_id = ? AND account.platform || ':' || "
                "account.external_id = ? AND NOT EXISTS (SELECT 1 FROM member WHERE chat_id = place.chat_id)",
                (at, note.chat, note.owners[0]),
            )


def write_notes(db: Tx, files: NoteFiles, notes: tuple[ExportedNote, ...]) -> None:
    """One transaction: write new notes, after their chats were committed: a number that no chat has yet may become any
    chat's.

    StoreError when the disk refuses, or another file has that name by now; the same import brings the rest.
    """
    for note in notes:
        top: list[str] = []
        if note.chat:
            row = db.execute(
                "SELECT chat_id FROM place WHERE platform || ':' || external_id = ?", (note.chat,)
            ).fetchone()  # fmt: skip
            top = write_front(FrontMatter(row[0], note.visibility, note.events))
        if not files.create(note.path, content_of([*top, *note.text.split("\n")])):
            raise StoreError("a note of that name has just been written: import once more")
