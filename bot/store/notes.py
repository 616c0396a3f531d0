"""Markdown notes in the index and on disk: what is known of them, and reading them back for an audience."""

import hashlib

from bot.store.access import Lists
from bot.store.database import Database
from bot.store.notefiles import NoteFiles
from bot.store.noting import leave, take, write
from bot.store.rows import marks
from bot.store.unnoting import Shelf
from bot.types.note import Known, NewNote, NotePart, Taken
from bot.types.people import Audience


class Notes:
    """The notes of this house."""

    def __init__(self, database: Database, lists: Lists, shelf: Shelf) -> None:
        self._database = database
        self._lists = lists
        self._shelf = shelf
        self.files: NoteFiles = shelf.files

    async def known(self) -> tuple[Known, ...]:
        """All notes that the index has, each once; `stamp` is "" where one is to be read anew."""
        rows = await self._database.rows(
            "SELECT path, min(stamp), min(cut), max(made) FROM note GROUP BY path ORDER BY path"
        )
        return tuple(Known(str(path), str(stamp), str(cut), bool(made)) for path, stamp, cut, made in rows)

    async def owners(self) -> tuple[int, ...]:
        """The persons who are owners now."""
        rows = await self._database.rows(
            "SELECT DISTINCT person_id, platform || ':' || external_id, owner FROM account JOIN person "
            "ON person.id = person_id WHERE is_bot = 0"
        )
        return tuple(sorted({int(row[0]) for row in rows if row[2] or row[1] in self._lists.owners}))

    async def take(self, taken: Taken) -> bool:
        """Have the index say what a note says now; False when the file has changed since it was read.

        NoteRefused when it is for nobody; StoreError when the disk refuses.
        """
        return await self._database.write(lambda db: take(db, self.files, taken))

    async def leave(self, path: str) -> None:
        """The file is gone, or is no note any more."""
        await self._database.write(lambda db: leave(db, path))

    async def write(self, new: NewNote, most: int) -> str | None:
        """Write a note of at most `most` bytes; its path, None when nothing of it may be written down.

        StoreError when the disk refuses; then nothing is known of it.
        """
        return await self._database.write(lambda db: write(db, self.files, new, most))

    def told(self) -> tuple[tuple[int, str, int, str], ...]:
        """What was taken out of notes that somebody had edited since this was asked last: number, path, lines, how."""
        told, self._shelf.told[:] = tuple(self._shelf.told), []
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
    people = marks(audience.person_ids)
    here = "(note.visibility = 'chat' AND note.chat_id = ?)"
    public = f"(note.visibility = 'public' AND note.owner_id IN ({people}))"
    if audience.alone is not None:
        own = "(note.visibility = 'private' AND note.owner_id = ?)"
        return f"({own} OR {here} OR {public})", (audience.alone, audience.chat_id, *audience.person_ids)
    return f"({here} OR {public})", (audience.chat_id, *audience.person_ids)


def hash_of(data: bytes) -> str:
    """By what the content of a file is known."""
    return hashlib.sha256(data).hexdigest()
