"""Files of Markdown notes, opened safely, and the rows that the index has of them."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from errno import ENOTDIR
from pathlib import Path

from bot.core.archive import (
    CURATED_NOTE,
    NOTES_FOLDER,
    FrontMatter,
    NewNote,
    NoteLine,
    NoteRefused,
    ReadNoteFile,
)
from bot.core.errors import StoreError
from bot.core.files import file_beside, give_name
from bot.core.memories import Visibility
from bot.store.index import Doc, drop_documents, put_document, scope_of
from bot.store.transactions import Tx
from bot.text.files import lines_of, read_front, with_events, write_front

MOST_FILES = 5_000
"""Notes that are looked at; a folder with more is no folder of notes."""
PATH_BYTES = 400
"""Longest path of a note."""
SCRATCH = "nuan"
"""Names the file that is written before it becomes a note; a note's own name may be as long as a disk allows."""

MOST_NUMBERS = 1_000
"""Notes of one name: far more than anybody says `/new` in a day."""
REMOVED_STATES = "('forgotten', 'deleted')"
"""Why a line may not be written down."""


@dataclass(slots=True)
class Listing:
    """The notes there are with how each file stands, and what is refused, with the reason."""

    found: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


class NoteFiles:
    """The notes of one data folder. Paths are like notes/2026-05-02.md; every method blocks."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def listing(self) -> Listing:
        """All notes as they stand now."""
        listing = Listing()
        for path in self._paths(listing.refused):
            try:
                with self._open(path) as descriptor:
                    listing.found[path] = stamp_of(os.fstat(descriptor))
            except NoteRefused as refused:
                listing.refused[path] = refused.why
            except FileNotFoundError:
                continue
        return listing

    def stamp(self, path: str) -> str:
        """How a file stands now; "" when there is none."""
        try:
            with self._open(path) as descriptor:
                return stamp_of(os.fstat(descriptor))
        except (NoteRefused, OSError):
            return ""

    def read(self, path: str, most: int) -> tuple[bytes, str]:
        """What a note holds and how it stood; NoteRefused with more than `most` bytes, OSError when it is gone."""
        with self._open(path) as descriptor:
            before = os.fstat(descriptor)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                data = file.read(most + 1)
            if len(data) > most:
                raise NoteRefused(f"it has more than {most // 1024} kilobytes (notes.max_kilobytes)")
            return data, stamp_of(before)

    def create(self, path: str, data: bytes) -> bool:
        """Write a new note, whole or not at all; False when there is a file of that name. StoreError when it fails."""
        file = self._data / path
        try:
            self._folder(Path(path).parent)
            with file_beside(file.parent / SCRATCH, (data,)) as new:
                try:
                    give_name(new, file)
                except FileExistsError:
                    return False
            return True
        except OSError as error:
            raise StoreError(f"no note can be written ({error.strerror}): check the folder notes") from error

    def replace(self, path: str, data: bytes) -> None:
        """Put other content in the place of a note, whole or not at all; StoreError when the disk refuses."""
        file = self._data / path
        try:
            with self._open(path) as descriptor:
                mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            with file_beside(file.parent / SCRATCH, (data,), mode) as new:
                new.replace(file)
        except (OSError, NoteRefused) as error:
            raise StoreError(f"a note cannot be written ({error}): nothing was changed") from error

    def rename(self, path: str, other: str) -> bool:
        """Give a note another name; False when that is taken. StoreError when the disk refuses."""
        try:
            give_name(self._data / path, self._data / other)
            (self._data / path).unlink(missing_ok=True)
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(f"a note cannot be renamed ({error.strerror}): nothing was changed") from error
        return True

    def remove(self, path: str) -> None:
        """The note is gone; StoreError when the disk refuses."""
        try:
            (self._data / path).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"a note cannot be removed ({error.strerror}): nothing was changed") from error

    def _folder(self, where: Path) -> None:
        """Make the folders of a note; OSError for one below the folder of notes that is a link."""
        for part in (*reversed(where.parents[:-1]), where):
            (self._data / part).mkdir(mode=0o700, exist_ok=True)
            if part.parts[1:] and (self._data / part).is_symlink():
                raise NotADirectoryError(ENOTDIR, "a folder is a link")

    def _paths(self, refused: dict[str, str]) -> Iterator[str]:
        """The names of what may be a note."""
        if os.path.lexists(self._data / CURATED_NOTE):
            yield CURATED_NOTE
        root, count = self._data / NOTES_FOLDER, 0
        for folder, inside, names in os.walk(root):
            where = Path(folder).relative_to(self._data)
            inside[:] = sorted(name for name in inside if not name.startswith("."))
            for name in [name for name in inside if (Path(folder) / name).is_symlink()]:
                inside.remove(name)
                refused[_shown(where / name)] = "it is a link"
            for name in sorted(names):
                if name.startswith(".") or not name.lower().endswith(".md"):
                    continue
                path = str(where / name)
                if not _sound(path):
                    refused[_shown(where / name)] = "its name is too long or no text"
                    continue
                count += 1
                if count > MOST_FILES:
                    refused[NOTES_FOLDER] = f"it holds more than {MOST_FILES} notes"
                    return
                yield path

    @contextlib.contextmanager
    def _open(self, path: str) -> Iterator[int]:
        """A regular file below the data folder, opened step by step so that no link is followed."""
        *folders, name = path.split("/")
        if (folders[:1] != [NOTES_FOLDER] and path != CURATED_NOTE) or {"", ".", ".."} & {*folders, name}:
            raise NoteRefused("it is outside of the folder of notes")
        with contextlib.ExitStack() as opened:
            at = os.open(self._data, os.O_RDONLY | os.O_DIRECTORY)
            opened.callback(os.close, at)
            for number, folder in enumerate(folders):
                # The folder itself may be a link: whoever runs nuan chose where the notes lie.
                follow = os.O_NOFOLLOW if number else 0
                at = _step(folder, os.O_DIRECTORY | follow, at)
                opened.callback(os.close, at)
            descriptor = _step(name, os.O_NOFOLLOW | os.O_NONBLOCK, at)
            opened.callback(os.close, descriptor)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoteRefused("it is no ordinary file")
            yield descriptor


def stamp_of(found: os.stat_result) -> str:
    """When a file was changed, ns, its size and its number: a new file of the same name has another."""
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"


def _step(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoteRefused("it is a link, or cannot be read") from error


def _sound(path: str) -> bool:
    try:
        return len(path.encode()) <= PATH_BYTES and path.isprintable()
    except UnicodeEncodeError:
        return False


def _shown(path: Path) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(path))[:PATH_BYTES]


def content_of(lines: list[str]) -> bytes:
    """Lines as the bytes of a file."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class NoteAudience:
    """Who may read a note: a chat, or the owner of what it says."""

    chat_id: int
    owner_id: int | None
    visibility: Visibility


def store_read_note(tx: Tx, files: NoteFiles, taken: ReadNoteFile) -> bool:
    """The index has a note as it was read; False when the file changed meanwhile: nothing was done then.

    NoteRefused when its front matter names no chat of ours; nothing of it is left in the index then.
    """
    if files.stamp(taken.path) != taken.stamp:
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
            each.chat_id, each.visibility, int(taken.front is not None), taken.stamp, taken.hash, taken.cut, taken.at,
            number,
        )  # fmt: skip
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


def write_note(tx: Tx, files: NoteFiles, new: NewNote, most: int) -> str | None:
    """Write a note and where each line comes from; its path, None when nothing of it may be written down.

    What was forgotten meanwhile is left out. A name that is taken gets a number, unless the very same stands there,
    which a crash left, or `new` appends to it; a note has at most `most` bytes.
    """
    gone = f"SELECT id FROM event WHERE id = ? AND (hidden IN {REMOVED_STATES} OR off_record = 1)"
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
    for chunk in taken.chunks:
        told = hashlib.sha256(chunk.text.encode("utf-8", "replace")).hexdigest()[:32]
        same = old.get(told, [])
        if same and _stays(tx, same[-1], scope, taken.at):
            tx.run(
                "UPDATE note_chunk SET first_line = ?, last_line = ? WHERE id = ?", chunk.first, chunk.last, same.pop()
            )
            continue
        ref = tx.insert(
            "note_chunk", note_id=number, first_line=chunk.first, last_line=chunk.last, text=chunk.text, hash=told
        )
        put_document(tx, Doc("note", ref, scope, audience.chat_id, audience.owner_id, taken.at, chunk.text))
    _drop_chunks(tx, [chunk_id for rest in old.values() for chunk_id in rest])


def _stays(tx: Tx, ref: int, scope: str, at: int) -> bool:
    """Whether the index has this chunk for the same readers; its day may have changed."""
    return bool(tx.run("UPDATE doc SET at = ? WHERE kind = 'note' AND ref = ? AND scope = ?", at, ref, scope))


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
