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
from bot.store.engine import Database, Repository, reads, writes, writing
from bot.store.index import forget_terms
from bot.store.ledger import Settlement, settle_call
from bot.store.memories import visible_rows
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
from bot.store.people import AccessLists, persons
from bot.store.schema import placeholders
from bot.store.transactions import Tx
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


_Made = list[tuple[int, str, str]]
"""The lines of one note that are made from messages: number, mark and text of the message. One without a mark is the
note's name."""


def remove_from_notes(tx: Tx, note_storage: NoteStorage, unsaid: RemovedContent, at: int) -> None:
    """Nothing of it is left in a note. To be done while the events still have their texts.

    What nuan wrote is taken out of its file, also when somebody edited that; a line that an owner wrote by hand
    stays in theirs, but is told no more. StoreError when a file cannot be written.
    """
    affected = _made_lines(tx, unsaid.events)
    if unsaid.wordings:
        rows = tx.all(
            f"SELECT id, path, made FROM note WHERE chat_id IN ({placeholders(unsaid.chats)}) OR owner_id = ? "
            "ORDER BY id",
            *unsaid.chats, unsaid.owner_id,
        )  # fmt: skip
        for number, path, made in rows:
            if made:
                affected.setdefault(number, [])
            else:
                _hide_curated(tx, note_storage, number, path, unsaid.wordings, at)
    changed = [_take_out(tx, note_storage, number, made, unsaid, at) for number, made in sorted(affected.items())]
    if any(changed):
        forget_terms(tx)


def _made_lines(tx: Tx, events: Iterable[int]) -> dict[int, _Made]:
    """The lines made from these events, by note."""
    found: dict[int, _Made] = {}
    for event in sorted(events):
        rows = tx.all(
            "SELECT note_id, note_line.id, mark, event.text FROM edge JOIN note_line ON note_line.id = derived_id "
            "JOIN event ON event.id = event_id WHERE edge.kind = 'note' AND event_id = ? ORDER BY note_line.id",
            event,
        )
        for note_id, line_id, mark, text in rows:
            found.setdefault(note_id, []).append((line_id, mark, text))
    return found


def read_note(note_storage: NoteStorage, path: str) -> list[str] | None:
    """The lines of a note as its file has them now; None when it is none any more."""
    try:
        # Whatever an editor made of it: what is not UTF-8 stays as it is.
        return lines_of(
            note_storage.files.read(path, READ_BYTES)[0].decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        )
    except (NoteRefused, OSError):
        return None


def _hide_curated(
    tx: Tx, note_storage: NoteStorage, number: int, path: str, wordings: tuple[str, ...], at: int
) -> None:  # fmt: skip
    """An owner's own file stays as it is; what it says of that comes back no more, and the operator is told."""
    lines = read_note(note_storage, path) or []
    said = [line for line in lines if line.strip() and any(echoes(text, line) for text in wordings)]
    for line in said:
        note_storage.add_tombstone(0, line, at)
    if said:
        unindex_note(tx, number)
        forget_terms(tx)
        note_storage.told.append((number, path, len(said), "hushed"))


def _take_out(tx: Tx, note_storage: NoteStorage, number: int, made: _Made, unsaid: RemovedContent, at: int) -> bool:
    """Take lines out of one note; whether anything of it changed."""
    path, lines = _read_made(tx, note_storage, number, made)
    if lines is None:
        return True
    _, top = _top(lines)
    marks = [line_mark(line) for line in lines]
    texts = {mark: text for _, mark, text in made if mark}
    edited = [*(text for mark, text in texts.items() if mark not in marks and text), *unsaid.wordings]
    left, out = Counter(mark for _, mark, _ in made if mark), set[int]()
    for place, line in enumerate(lines[top:], top):
        ours = left[marks[place]] > 0
        if ours or (line.strip() and any(echoes(text, line) for text in edited)):
            left[marks[place]] -= ours
            out.add(place)
    if not out and not made:
        return False
    for place in sorted(out):
        note_storage.add_tombstone(0, lines[place], at)
    echoed = {marks[place] for place in out} - texts.keys()
    known = tx.all("SELECT id, mark FROM note_line WHERE note_id = ?", number)
    delete_note_lines(
        tx, {*(line_id for line_id, _, _ in made), *(line_id for line_id, mark in known if mark in echoed)}
    )
    _put_back(tx, note_storage, (number, path), note_without(lines, out, unsaid.events), made)
    if echoed or len(edited) > len(unsaid.wordings):
        note_storage.told.append((number, path, len(out), "edited"))
    return True


def _read_made(tx: Tx, note_storage: NoteStorage, number: int, made: _Made) -> tuple[str, list[str] | None]:
    """The path and the lines of a note that nuan made; of one whose file is none any more nothing comes back."""
    path = tx.value("SELECT path FROM note WHERE id = ?", number)
    lines = read_note(note_storage, path)
    if lines is None:
        unindex_note(tx, number)
        delete_note_lines(tx, [line_id for line_id, _, _ in made])
    return path, lines


def _put_back(tx: Tx, note_storage: NoteStorage, note: tuple[int, str], lines: list[str], made: _Made) -> None:
    """A note has these lines now, or is gone without any; where its name was made from a message it gets another."""
    number, path = note
    path = write_note_back(note_storage, path, lines, any(not mark for _, mark, _ in made))
    if lines:
        unindex_note(tx, number)
        tx.run("UPDATE note SET path = ? WHERE id = ?", path, number)
    else:
        delete_note(tx, number)


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


def amend_notes(tx: Tx, note_storage: NoteStorage, event_id: int, before: str, now: str) -> None:
    """Notes that tell of a message follow its edit; "" takes it out of them. StoreError as of `remove_from_notes`.

    A line that somebody changed by hand stays: it is theirs.
    """
    found = _made_lines(tx, (event_id,))
    for number, made in sorted(found.items()):
        _amend(tx, note_storage, number, made, before, now)
    if found:
        forget_terms(tx)


def _amend(tx: Tx, note_storage: NoteStorage, number: int, made: _Made, before: str, now: str) -> None:
    path, lines = _read_made(tx, note_storage, number, made)
    if lines is None:
        return
    marks, out = [line_mark(line) for line in lines], set[int]()
    gone = [line_id for line_id, mark, _ in made if not mark]
    for line_id, mark, _ in made:
        place = next((each for each, one in enumerate(marks) if one == mark and each not in out), None)
        if place is None:
            continue
        new = _reads(lines[place], before, now)
        if new:
            lines[place] = new
            tx.run("UPDATE note_line SET mark = ? WHERE id = ?", line_mark(new), line_id)
        else:
            out.add(place)
            gone.append(line_id)
    delete_note_lines(tx, gone)
    _put_back(tx, note_storage, (number, path), note_without(lines, out, frozenset()), made)


def _reads(line: str, before: str, now: str) -> str:
    """The line after the edit, "" when it tells what the message says no more."""
    old, new = (" ".join(text.split()) for text in (before, now))
    if new and f": {old}" in line:
        return line.replace(f": {old}", f": {new}", 1)
    lost = set(index_terms(old)) - set(index_terms(new))
    return "" if lost & set(index_terms(line)) else line


SELECT_FULL_LOG = """SELECT session.id, epoch.id, (SELECT coalesce(sum(tokens), 0) FROM entry WHERE epoch_id =
    epoch.id), flushed_upto IS NOT NULL,
    coalesce((SELECT why FROM turn WHERE epoch_id = epoch.id ORDER BY turn.id DESC LIMIT 1), ''),
    coalesce((SELECT max(flushed_upto) FROM epoch AS other WHERE other.session_id = session.id), 0)
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


class Notes(Repository):
    """The notes of this installation."""

    def __init__(self, database: Database, lists: AccessLists, note_storage: NoteStorage) -> None:
        super().__init__(database)
        self._lists = lists
        self._note_storage = note_storage
        self.files: NoteFiles = note_storage.files

    @reads
    def known(self, tx: Tx) -> tuple[IndexedNote, ...]:
        """All notes that the index has, each once; `stamp` is "" where one is to be read anew."""
        sql = "SELECT path, min(stamp), min(cut), max(made) FROM note GROUP BY path ORDER BY path"
        return tx.all(sql, to=IndexedNote)

    @reads
    def owners(self, tx: Tx) -> tuple[int, ...]:
        """The persons who are owners now."""
        return tuple(person.id for person in persons(tx, self._lists, "ORDER BY id") if person.is_owner)

    @writes
    def take(self, tx: Tx, taken: ReadNoteFile) -> bool:
        """Have the index say what a note says now; False when the file has changed since it was read.

        NoteRefused when it is for nobody; StoreError when the disk refuses.
        """
        return store_read_note(tx, self.files, taken)

    leave = writing(drop_note_path)

    @writes
    def write(self, tx: Tx, new: NewNote, most: int) -> str | None:
        """Write a note of at most `most` bytes; its path, None when nothing of it may be written down.

        StoreError when the disk refuses; then nothing is known of it.
        """
        return write_note(tx, self.files, new, most)

    def told(self) -> tuple[tuple[int, str, int, str], ...]:
        """What was taken out of notes that somebody had edited since this was asked last: number, path, lines, how."""
        told, self._note_storage.told[:] = tuple(self._note_storage.told), []
        return told

    @reads
    def readable(self, tx: Tx, audience: Audience, path: str) -> str | None:
        """The hash of a note that this audience may see, as it was read last; None for every other path."""
        where, values = visible_rows(audience, "note")
        return tx.value(f"SELECT hash FROM note WHERE path = ? AND {where}", path, *values) or None

    @reads
    def part(self, tx: Tx, audience: Audience, chunk_id: int) -> NotePart | None:
        """A chunk of a note by its number, as recall finds it; None unless this audience may see it."""
        where, values = visible_rows(audience, "note")
        return tx.one(
            "SELECT path, first_line, last_line, (SELECT max(last_line) FROM note_chunk WHERE note_id = note.id), text "
            f"FROM note_chunk JOIN note ON note.id = note_id WHERE note_chunk.id = ? AND {where}",
            chunk_id, *values, to=NotePart,
        )  # fmt: skip

    @reads
    def open_log(self, tx: Tx, chat_id: int) -> FullLog | None:
        """The log of a chat's open session."""
        return tx.one(f"{SELECT_FULL_LOG}session.chat_id = ? AND session.state = 'open'", chat_id, to=FullLog)

    @reads
    def full_log(self, tx: Tx, session_id: int) -> FullLog | None:
        """The log of a session that is not digested yet."""
        return tx.one(f"{SELECT_FULL_LOG}session.id = ?", session_id, to=FullLog)

    @writes
    def begin_flush(self, tx: Tx, epoch_id: int, upto: int) -> bool:
        """This log has its call now, for what was said up to that event; False when it had it before."""
        return tx.run("UPDATE epoch SET flushed_upto = ? WHERE id = ? AND flushed_upto IS NULL", upto, epoch_id) == 1

    @writes
    def store_flush(self, tx: Tx, settlement: Settlement, new: NewNote | None, most: int, at: int) -> str | None:
        """What the call cost, and the note of at most `most` bytes that it made, in one commit; its path."""
        settle_call(tx, settlement, at)
        return write_note(tx, self.files, new, most) if new is not None else None


def hash_of(data: bytes) -> str:
    """By what the content of a file is known."""
    return hashlib.sha256(data).hexdigest()


MOST_NOTE_BYTES = 16_384 * 1024
"""The largest note that a setting allows."""


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


def owner_accounts(tx: Tx, lists: AccessLists) -> tuple[tuple[str, ...], ...]:
    """The accounts of each owner, also of one who has not been here yet."""
    accounts: dict[int, list[str]] = {}
    rows = tx.all(
        "SELECT person_id, platform || ':' || external_id FROM account JOIN person ON person.id = person_id "
        "WHERE is_bot = 0 ORDER BY 2"
    )
    for person_id, account in rows:
        accounts.setdefault(person_id, []).append(account)
    owners = [person.id for person in persons(tx, lists, "") if person.is_owner]
    known = {account for _, account in rows}
    groups = [tuple(accounts[number]) for number in owners]
    return tuple(sorted([*groups, *((account,) for account in lists.owners - known)]))


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


def join_direct_chats(tx: Tx, notes: tuple[ExportedNote, ...], at: int) -> None:
    """A direct chat that was brought in is the one of whoever its notes are for."""
    for note in notes:
        if note.chat and note.owners:
            tx.run(
                "INSERT INTO member (chat_id, person_id, seen_at) SELECT place.chat_id, person_id, ? "
                "FROM place, account "
                "WHERE place.platform || ':' || place.external_id = ? AND account.platform || ':' || "
                "account.external_id = ? AND NOT EXISTS (SELECT 1 FROM member WHERE chat_id = place.chat_id)",
                at, note.chat, note.owners[0],
            )  # fmt: skip


def write_notes(tx: Tx, files: NoteFiles, notes: tuple[ExportedNote, ...]) -> None:
    """Write new notes, after their chats were committed: a number that no chat has yet may become any chat's.

    StoreError when the disk refuses, or another file has that name by now; the same import brings the rest.
    """
    for note in notes:
        top: list[str] = []
        if note.chat:
            chat_id = tx.value("SELECT chat_id FROM place WHERE platform || ':' || external_id = ?", note.chat)
            top = write_front(FrontMatter(chat_id, note.visibility, note.events))
        if not files.create(note.path, content_of([*top, *note.text.split("\n")])):
            raise StoreError("a note of that name has just been written: import once more")
