"""Notes: rows of what their files say, taking out of them what is forgotten or edited, and the notes of full logs."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from bot.core.archive import (
    NOTES_FOLDER,
    FrontMatter,
    IndexedNote,
    NewNote,
    NoteLine,
    NotePart,
    NoteRefused,
    ReadNoteFile,
)
from bot.core.memories import Visibility
from bot.core.people import Audience
from bot.store.access import owner_ids
from bot.store.engine import Repository, reading, reads, writes, writing
from bot.store.files import NoteFiles, content_of
from bot.store.index import drop_documents, index_document, scope_of
from bot.store.ledger import Settlement, settle_call
from bot.store.memories import visible_rows
from bot.store.schema import placeholders
from bot.store.transactions import Tx
from bot.text.files import lines_of, read_front, with_events, write_front
from bot.text.similarity import echoes
from bot.text.terms import index_terms

READ_BYTES = 64 * 1024 * 1024
"""A file of any size that was ever a note is searched."""


@dataclass(frozen=True, slots=True)
class RemovedContent:
    """What goes: events with all that was written down of them, and a statement, in each of its wordings, wherever one
    of these people's notes, or those of these chats, repeats it.
    """

    events: frozenset[int]
    wordings: tuple[str, ...] = ()
    chats: tuple[int, ...] = ()
    owner_id: int | None = None


MOST_NUMBERS = 1_000
"""Notes of one name: far more than anybody says `/new` in a day."""
REMOVED_STATES = "('forgotten', 'deleted')"
"""Why a line may not be written down."""

_Made = list[tuple[int, str, str]]
"""The lines of one note that are made from messages: number, mark and text of the message. One without a mark is the
note's name."""


def remove_from_notes(tx: Tx, unsaid: RemovedContent, at: int) -> None:
    """Nothing of it is left in a note. To be done while the events still have their texts.

    What nuan wrote is taken out of its file, also when somebody edited that; a line that an owner wrote by hand
    stays in theirs, but is told no more. StoreError when a file cannot be written.
    """
    affected = _made_lines(tx, unsaid.events)
    if unsaid.wordings:
        sql = (
            f"SELECT id, path, made FROM note WHERE chat_id IN ({placeholders(unsaid.chats)}) OR owner_id = ? "
            "ORDER BY id"
        )
        rows = tx.all(sql, *unsaid.chats, unsaid.owner_id)
        for number, path, made in rows:
            if made:
                affected.setdefault(number, [])
            else:
                _hide_curated(tx, number, path, unsaid.wordings, at)
    for number, made in sorted(affected.items()):
        _take_out(tx, number, made, unsaid, at)


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


def read_note(tx: Tx, path: str) -> list[str] | None:
    """The lines of a note as its file has them now; None when it is none any more."""
    try:
        # Whatever an editor made of it: what is not UTF-8 stays as it is.
        return lines_of(
            tx.files.notes.read(path, READ_BYTES)[0].decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        )
    except (NoteRefused, OSError):
        return None


def _hide_curated(tx: Tx, number: int, path: str, wordings: tuple[str, ...], at: int) -> None:
    """An owner's own file stays as it is; what it says of that comes back no more, and the operator is told."""
    lines = read_note(tx, path) or []
    said = [line for line in lines if line.strip() and any(echoes(text, line) for text in wordings)]
    if said:
        tx.files.tombstones.add_tombstones([(0, line) for line in said], at)
        unindex_note(tx, number)
        tx.files.told.append((number, path, len(said), "hushed"))


def _take_out(tx: Tx, number: int, made: _Made, unsaid: RemovedContent, at: int) -> None:
    """Take lines out of one note."""
    path, lines = _read_made(tx, number, made)
    if lines is None:
        return
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
        return
    tx.files.tombstones.add_tombstones([(0, lines[place]) for place in sorted(out)], at)
    echoed = {marks[place] for place in out} - texts.keys()
    known = tx.all("SELECT id, mark FROM note_line WHERE note_id = ?", number)
    delete_note_lines(
        tx, {*(line_id for line_id, _, _ in made), *(line_id for line_id, mark in known if mark in echoed)}
    )
    _put_back(tx, (number, path), note_without(lines, out, unsaid.events), made)
    if echoed or len(edited) > len(unsaid.wordings):
        tx.files.told.append((number, path, len(out), "edited"))


def _read_made(tx: Tx, number: int, made: _Made) -> tuple[str, list[str] | None]:
    """The path and the lines of a note that nuan made; of one whose file is none any more nothing comes back."""
    path = tx.value("SELECT path FROM note WHERE id = ?", number)
    lines = read_note(tx, path)
    if lines is None:
        unindex_note(tx, number)
        delete_note_lines(tx, [line_id for line_id, _, _ in made])
    return path, lines


def _put_back(tx: Tx, note: tuple[int, str], lines: list[str], made: _Made) -> None:
    """A note has these lines now, or is gone without any; where its name was made from a message it gets another."""
    number, path = note
    path = write_note_back(tx.files.notes, path, lines, any(not mark for _, mark, _ in made))
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


def write_note_back(files: NoteFiles, path: str, lines: list[str], rename: bool) -> str:
    """Put a note back without what is gone, or remove it when nothing is left; its path.

    With `rename` a name that told something becomes its day and a number.
    """
    if not lines:
        files.remove(path)
        return path
    files.replace(path, content_of(lines))
    day = path.rpartition("/")[2][:10]
    if rename and _is_day(day):
        for number in range(1, MOST_NUMBERS):
            other = f"{NOTES_FOLDER}/{day}-talk-{number}.md"
            if files.rename(path, other):
                return other
    return path


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def amend_notes(tx: Tx, event_id: int, before: str, now: str) -> None:
    """Notes that tell of a message follow its edit; "" takes it out of them. StoreError as of `remove_from_notes`.

    A line that somebody changed by hand stays: it is theirs.
    """
    for number, made in sorted(_made_lines(tx, (event_id,)).items()):
        _amend(tx, number, made, before, now)


def _amend(tx: Tx, number: int, made: _Made, before: str, now: str) -> None:
    path, lines = _read_made(tx, number, made)
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
    _put_back(tx, (number, path), note_without(lines, out, frozenset()), made)


def _reads(line: str, before: str, now: str) -> str:
    """The line after the edit, "" when it tells what the message says no more."""
    old, new = (" ".join(text.split()) for text in (before, now))
    if new and f": {old}" in line:
        return line.replace(f": {old}", f": {new}", 1)
    lost = set(index_terms(old)) - set(index_terms(new))
    return "" if lost & set(index_terms(line)) else line


@dataclass(frozen=True, slots=True)
class NoteAudience:
    """Who may read a note: a chat, or the owner of what it says."""

    chat_id: int
    owner_id: int | None
    visibility: Visibility


def store_read_note(tx: Tx, taken: ReadNoteFile) -> bool:
    """The index has a note as it was read; False when the file changed meanwhile: nothing was done then.

    NoteRefused when its front matter names no chat of ours; nothing of it is left in the index then.
    """
    if tx.files.notes.stamp(taken.path) != taken.stamp:
        return False
    try:
        audiences = _audiences(tx, taken.front, taken.owners)
    except NoteRefused:
        drop_note_path(tx, taken.path)
        raise
    known = {owner: number for number, owner in tx.all("SELECT id, owner_id FROM note WHERE path = ?", taken.path)}
    for owner in known.keys() - {each.owner_id for each in audiences}:
        delete_note(tx, known[owner])
    for each in audiences:
        number = known.get(each.owner_id) or _new(tx, taken.path, each)
        tx.run(
            "UPDATE note SET chat_id = ?, visibility = ?, made = ?, stamp = ?, hash = ?, cut = ?, at = ? WHERE id = ?",
            each.chat_id,
            each.visibility,
            int(taken.front is not None),
            taken.stamp,
            taken.hash,
            taken.cut,
            taken.at,
            number,
        )
        _index(tx, number, each, taken)
        if taken.front is not None and not _has_lines(tx, number):
            _relink(tx, number, each.chat_id, taken.front, taken)
    return True


def drop_note_path(tx: Tx, path: str) -> None:
    """A file is gone, or none of ours any more: nothing of it comes back."""
    for number in tx.ids("SELECT id FROM note WHERE path = ?", path):
        delete_note(tx, number)


def unindex_note(tx: Tx, number: int) -> None:
    """Nothing of a note comes back until its file was read anew."""
    _drop_chunks(tx, tx.ids("SELECT id FROM note_chunk WHERE note_id = ?", number))
    tx.run("UPDATE note SET stamp = '', hash = '' WHERE id = ?", number)


def _drop_chunks(tx: Tx, chunks: Iterable[int]) -> None:
    for number in chunks:
        drop_documents(tx, "note", (number,))
        tx.run("DELETE FROM note_chunk WHERE id = ?", number)


def write_note(tx: Tx, new: NewNote, most: int) -> str | None:
    """Write a note and where each line comes from; its path, None when nothing of it may be written down.

    What was forgotten meanwhile is left out. A name that is taken gets a number, unless the very same stands there,
    which a crash left, or `new` appends to it; a note has at most `most` bytes.
    """
    files = tx.files.notes
    gone = f"SELECT id FROM event WHERE id = ? AND (hidden IN {REMOVED_STATES} OR off_record > 0)"
    lines = tuple(line for line in new.lines if not tx.ids_for(gone, line.event_ids))
    if not lines:
        return None
    for number in range(1, MOST_NUMBERS):
        path = f"{NOTES_FOLDER}/{new.path}.md" if number == 1 else f"{NOTES_FOLDER}/{new.path}-{number}.md"
        before = _before(files, path, new.front, most) if new.appends else None
        data = content_of(_content(new, lines, before))
        if before is not None and len(data) <= most:
            files.replace(path, data)
        elif not files.create(path, data) and not _same(files, path, data):
            continue
        _written(tx, path, new, lines)
        return path
    return None


def line_mark(line: str) -> str:
    """By what a line is found again in its file."""
    return hashlib.sha256(line.strip().encode("utf-8", "replace")).hexdigest()[:32]


def _audiences(tx: Tx, front: FrontMatter | None, owners: tuple[int, ...] = ()) -> tuple[NoteAudience, ...]:
    """Those kept by hand are the owners', what was made of a talk is for who could read that."""
    if front is None:
        return tuple(NoteAudience(0, owner, "private") for owner in owners)
    chat_id, kind = _chat(tx, front)
    if front.visibility == "chat":
        return (NoteAudience(chat_id, None, "chat"),)
    person = tx.value("SELECT person_id FROM member WHERE chat_id = ? ORDER BY seen_at DESC LIMIT 1", chat_id)
    if kind != "dm" or person is None:
        raise NoteRefused(f"only the note of a private chat can be {front.visibility}")
    return (NoteAudience(chat_id, person, front.visibility),)


def _chat(tx: Tx, front: FrontMatter) -> tuple[int, str]:
    """The chat that a note is of, and its kind; one that became part of another is where its events are now."""
    find = "SELECT id, kind FROM chat WHERE id = ? AND EXISTS (SELECT 1 FROM place WHERE chat_id = chat.id)"
    row = tx.one(find, front.chat_id)
    if row is None and front.events and tx.has("SELECT 1 FROM chat WHERE id = ?", front.chat_id):
        row = tx.one(find, tx.value("SELECT chat_id FROM event WHERE id = ?", front.events[0]))
    if row is None:
        raise NoteRefused("its front matter names a chat that is not there")
    return row[0], row[1]


def _new(tx: Tx, path: str, audience: NoteAudience) -> int:
    return tx.insert(
        "note", path=path, chat_id=audience.chat_id, owner_id=audience.owner_id, visibility=audience.visibility
    )


def _index(tx: Tx, number: int, audience: NoteAudience, taken: ReadNoteFile) -> None:
    """Chunks that say what they said keep their numbers; only the others are written anew."""
    old: dict[str, list[int]] = {}
    for chunk_id, told in tx.all("SELECT id, hash FROM note_chunk WHERE note_id = ? ORDER BY id DESC", number):
        old.setdefault(told, []).append(chunk_id)
    scope = scope_of(audience.visibility, audience.owner_id, audience.chat_id)
    # Where the index has a chunk for the same readers, only its day may have changed.
    stays = "UPDATE doc SET at = ? WHERE kind = 'note' AND ref = ? AND scope = ?"
    for chunk in taken.chunks:
        told = hashlib.sha256(chunk.text.encode("utf-8", "replace")).hexdigest()[:32]
        same = old.get(told, [])
        if same and tx.run(stays, taken.at, same[-1], scope):
            tx.run(
                "UPDATE note_chunk SET first_line = ?, last_line = ? WHERE id = ?", chunk.first, chunk.last, same.pop()
            )
            continue
        ref = tx.insert(
            "note_chunk", note_id=number, first_line=chunk.first, last_line=chunk.last, text=chunk.text, hash=told
        )
        index_document(tx, "note", ref)
    _drop_chunks(tx, [chunk_id for rest in old.values() for chunk_id in rest])


def _relink(tx: Tx, number: int, chat_id: int, front: FrontMatter, taken: ReadNoteFile) -> None:
    """A note that came from elsewhere (a backup, a crash) says itself which events it is made from.

    The line that has an event's text is taken for its; where none has, forgetting looks for an echo.
    """
    lines = [line for chunk in taken.chunks for line in chunk.text.split("\n")]
    for event in front.events:
        text = tx.value("SELECT text FROM event WHERE id = ? AND chat_id = ?", event, chat_id) or ""
        said = " ".join(text.split())
        if said:
            found = next((line for line in lines if said in line), None)
            _add_line(tx, number, line_mark(found) if found is not None else f"event {event}", (event,))


def _add_line(tx: Tx, number: int, told: str, events: tuple[int, ...]) -> None:
    tx.link("note", tx.insert("note_line", note_id=number, mark=told), events)


def _has_lines(tx: Tx, number: int) -> bool:
    return tx.has("SELECT 1 FROM note_line WHERE note_id = ?", number)


def delete_note(tx: Tx, number: int) -> None:
    """Nothing is known of a note any more."""
    unindex_note(tx, number)
    delete_note_lines(tx, tx.ids("SELECT id FROM note_line WHERE note_id = ?", number))
    tx.run("DELETE FROM note WHERE id = ?", number)


def delete_note_lines(tx: Tx, numbers: Iterable[int]) -> None:
    """Nobody knows any more where these lines come from."""
    for number in numbers:
        tx.unlink("note", number)
        tx.run("DELETE FROM note_line WHERE id = ?", number)


def _before(files: NoteFiles, path: str, front: FrontMatter, most: int) -> list[str] | None:
    """The lines of a note that can be written on: one for the same readers, as nuan left it or an operator."""
    try:
        lines = lines_of(files.read(path, most)[0].decode("utf-8-sig"))
        found, _ = read_front(lines)
    except (NoteRefused, UnicodeDecodeError, OSError):
        return None
    same = found is not None and (found.chat_id, found.visibility) == (front.chat_id, front.visibility)
    return lines if same else None


def _content(new: NewNote, lines: tuple[NoteLine, ...], before: list[str] | None) -> list[str]:
    """A new note with these lines, or the one before with them at its end."""
    told = [new.heading, "", *(line.text for line in lines)]
    events = {event for line in lines for event in line.event_ids}
    if before is None:
        front = FrontMatter(new.front.chat_id, new.front.visibility, tuple(sorted(events)))
        return [*write_front(front), "", *told]
    found, _ = read_front(before)
    events.update(found.events if found is not None else ())
    return [*with_events(before, tuple(sorted(events))), "", *told]


def _same(files: NoteFiles, path: str, data: bytes) -> bool:
    try:
        return files.read(path, len(data))[0] == data
    except (NoteRefused, OSError):
        return False


def _written(tx: Tx, path: str, new: NewNote, lines: tuple[NoteLine, ...]) -> None:
    """The note and the edges of its lines; a name that tells of a message is a line of its own."""
    number = tx.value("SELECT id FROM note WHERE path = ?", path) or _new(tx, path, _audiences(tx, new.front)[0])
    tx.run("UPDATE note SET made = 1, stamp = '' WHERE id = ?", number)
    if not new.appends and _has_lines(tx, number):
        return  # the very same was written before
    if new.named_by:
        _add_line(tx, number, "", new.named_by)
    for line in lines:
        _add_line(tx, number, line_mark(line.text) if line.text else "", line.event_ids)


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

    @reads
    def known(self, tx: Tx) -> tuple[IndexedNote, ...]:
        """All notes that the index has, each once; `stamp` is "" where one is to be read anew."""
        sql = "SELECT path, min(stamp), min(cut), max(made) FROM note GROUP BY path ORDER BY path"
        return tx.all(sql, to=IndexedNote)

    owners = reading(owner_ids)
    take = writing(store_read_note)
    leave = writing(drop_note_path)
    write = writing(write_note)

    def told(self) -> tuple[tuple[int, str, int, str], ...]:
        """What was taken out of notes that somebody had edited since this was asked last: number, path, lines, how."""
        told, self._files.told[:] = tuple(self._files.told), []
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
        sql = (
            "SELECT path, first_line, last_line, (SELECT max(last_line) FROM note_chunk WHERE note_id = note.id), text "
            f"FROM note_chunk JOIN note ON note.id = note_id WHERE note_chunk.id = ? AND {where}"
        )
        return tx.one(sql, chunk_id, *values, to=NotePart)

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
        return write_note(tx, new, most) if new is not None else None


def hash_of(data: bytes) -> str:
    """By what the content of a file is known."""
    return hashlib.sha256(data).hexdigest()
