"""Notes that several machines share: rows of a server, and the folder of the one that looks after them as their view.

A change goes to the rows, and where the folder is their view to that, too. What somebody edits in it is taken in, what
another machine changed is written there, by what the two were when they were last the same.
"""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import psycopg

from bot.core.archive import NoteRefused
from bot.core.errors import LeaseLostError, StoreError
from bot.core.files import disk_errors, write_file
from bot.store.files import DataFiles, Listing, NoteFiles, too_large
from bot.store.postgres.connection import KEPT, TAKEN_OFF, PostgresTx
from bot.store.postgres.kept import FilesOnServer, KeptOnServer
from bot.store.postgres.opening import explained

SEEN_FILE = "notes.seen"
"""How each note was when this folder and the rows were last the same."""

VIEW = "view"
"""The value by which a folder knows the rows that it was a view of."""

MOST_BYTES = 8_000_000
"""A larger file is no note: it stays in its folder."""

HERE = "-here"
"""Added to the name of what was edited in the folder while another machine changed the note."""


class NotesOnServer(NoteFiles):
    """The notes of all that answer from a database of a server; every method blocks."""

    def __init__(self, data: Path, url: str, boot: str = "") -> None:
        """`boot` names the process, which LeaseLostError keeps from all notes once another took it off."""
        super().__init__(data)
        self._url, self._boot = url, boot
        self._path = data / SEEN_FILE
        self._lock = threading.RLock()
        self._server: PostgresTx | None = None
        self._is_view = False
        self._view = ""
        self._seen: dict[str, tuple[str, str]] = {}
        """Of each note the stamp of its file, and the hash of both."""

    def watched(self) -> Listing:
        """As `NoteFiles.watched`, when folder and rows are the same again; StoreError when they cannot be made so."""
        self._is_view = True
        return self.listing()

    def carried(self) -> int:
        """How many notes folder and rows have, the same in both from now on; StoreError where one is not."""
        self.watched()
        here = {path: _hash(data) for path, data in self._readable()}
        with self._rows() as tx:
            rows = {str(path): str(found) for path, _, found in tx.all(SELECT_STATES)}
        if differs := sorted(path for path in {*here, *rows} if here.get(path) != rows.get(path)):
            told = f"{differs[0]} is not the same in the folder and on the server"
            raise StoreError(f"{told}: look at it, and run the same command again")
        return len(rows)

    def _readable(self) -> Iterator[tuple[str, bytes]]:
        """What is a note of those in the folder."""
        for path in super().listing().found:
            with suppress(NoteRefused, FileNotFoundError):
                yield path, super().read(path, MOST_BYTES)[0]

    def listing(self) -> Listing:
        """As `NoteFiles.listing`; of a view as `watched`."""
        with self._rows() as tx:
            if not self._is_view:
                return Listing({path: _stamp(size, found) for path, size, found in tx.all(SELECT_STATES)})
            listing = super().listing()
            return super().listing() if self._same_again(tx, listing) else listing

    def stamp(self, path: str) -> str:
        """As `NoteFiles.stamp`."""
        with self._rows() as tx:
            if self._is_view:
                self._bring(tx, path)
                return super().stamp(path)
            row = tx.one(f"{SELECT_STATES} WHERE path = ?", path)
            return _stamp(*row[1:]) if row is not None else ""

    def read(self, path: str, most: int) -> tuple[bytes, str]:
        """As `NoteFiles.read`; StoreError when the server is away."""
        with self._rows() as tx:
            if self._is_view:
                self._bring(tx, path)
                return super().read(path, most)
            data, found = tx.one(SELECT_NOTE, path) or (None, "")
        if data is None:
            raise FileNotFoundError(path)
        if len(data) > most:
            raise too_large(most)
        return data, _stamp(len(data), found)

    def create(self, path: str, data: bytes) -> bool:
        """As `NoteFiles.create`."""
        with self._rows() as tx:
            if self._is_view:
                self._bring(tx, path)
                if not super().create(path, data):
                    return False
                self._put(tx, path)
                return True
            insert = f"INSERT INTO {KEPT}.note (path, data, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            return tx.run(insert, path, data, _hash(data)) == 1

    def replace(self, path: str, data: bytes) -> None:
        """As `NoteFiles.replace`."""
        with self._rows() as tx:
            if self._is_view:
                super().replace(path, data)
                self._put(tx, path)
            elif not tx.run(f"UPDATE {KEPT}.note SET data = ?, hash = ? WHERE path = ?", data, _hash(data), path):
                raise StoreError("a note cannot be written (it is gone): nothing was changed")

    def rename(self, path: str, other: str) -> bool:
        """As `NoteFiles.rename`."""
        with self._rows() as tx:
            if self._is_view:
                self._bring(tx, other)
                if not super().rename(path, other):
                    return False
                self._put(tx, other)
                self._drop(tx, path)
                return True
            free = f"NOT EXISTS (SELECT 1 FROM {KEPT}.note WHERE path = ?)"
            return tx.run(f"UPDATE {KEPT}.note SET path = ? WHERE path = ? AND {free}", other, path, other) == 1

    def remove(self, path: str) -> None:
        """As `NoteFiles.remove`."""
        with self._rows() as tx:
            if self._is_view:
                super().remove(path)
            self._drop(tx, path)

    def close(self) -> None:
        """As `NoteFiles.close`."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None

    def _same_again(self, tx: PostgresTx, listing: Listing) -> bool:
        """Bring folder and rows together; whether anything in the folder changed."""
        rows = {str(path): str(found) for path, _, found in tx.all(SELECT_STATES)}
        paths = sorted({*rows, *listing.found, *self._seen} - listing.refused.keys())
        changed = [self._together(tx, path, listing.found.get(path), rows.get(path)) for path in paths]
        return any(changed)

    def _bring(self, tx: PostgresTx, path: str) -> None:
        """Bring one note and its row together, as another machine may have changed it since the last look."""
        try:
            with self._open(path):
                pass
            there: str | None = super().stamp(path)
        except FileNotFoundError:
            there = None
        except (NoteRefused, OSError):
            return
        self._together(tx, path, there, tx.value(f"SELECT hash FROM {KEPT}.note WHERE path = ?", path))

    def _together(self, tx: PostgresTx, path: str, stamp: str | None, row: str | None) -> bool:
        """Bring a file of that stamp and a row of that hash together, None: there is none; whether the folder changed."""
        file = self._known(path, stamp) if stamp is not None else None
        if stamp is not None and file is None:  # it is too large, or cannot be read just now
            return False
        found, was = file and file[1], self._seen.get(path, ("", None))[1]
        if file is not None and row == found:
            self._seen[path] = file
        elif row == was:
            self._put(tx, path, row) if file is not None else self._drop(tx, path, row)
        else:
            with suppress(NoteRefused, OSError):  # it changes just now: the next look sees it
                if found not in (None, was):
                    self._set_aside(tx, path)
                self._take(tx, path)
            return True
        return False

    def _known(self, path: str, stamp: str) -> tuple[str, str] | None:
        """The stamp and the hash of a file; None when it cannot be read."""
        before = self._seen.get(path)
        if before is not None and before[0] == stamp:
            return before
        try:
            data, stamp = super().read(path, MOST_BYTES)
        except (NoteRefused, OSError):
            return None
        return stamp, _hash(data)

    def _take(self, tx: PostgresTx, path: str) -> None:
        """The folder has what the row says."""
        self._seen.pop(path, None)
        data, found = tx.one(SELECT_NOTE, path) or (None, "")
        if data is None:
            super().remove(path)
            return
        if not super().create(path, data):
            super().replace(path, data)
        self._seen[path] = super().stamp(path), found

    def _set_aside(self, tx: PostgresTx, path: str) -> None:
        """What was edited here is a note of its own."""
        data, _ = super().read(path, MOST_BYTES)
        stem, number = path.removesuffix(".md") + HERE, 1
        while not super().create(other := f"{stem}{number if number > 1 else ''}.md", data):
            number += 1
        self._put(tx, other)

    def _put(self, tx: PostgresTx, path: str, *was: str | None) -> None:
        """The row has what the file says, unless it is no longer what it `was`, which the next look sees."""
        try:
            data, stamp = super().read(path, MOST_BYTES)
        except (NoteRefused, OSError):
            return
        put = (
            f"INSERT INTO {KEPT}.note (path, data, hash) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
            f"data = excluded.data, hash = excluded.hash{' WHERE note.hash = ?' if was else ''}"
        )
        found = _hash(data)
        if tx.run(put, path, data, found, *was):
            self._seen[path] = stamp, found

    def _drop(self, tx: PostgresTx, path: str, *was: str | None) -> None:
        """There is no such row any more, unless it is no longer what it `was`."""
        tx.run(f"DELETE FROM {KEPT}.note WHERE path = ?{' AND hash = ?' if was else ''}", path, *was)
        self._seen.pop(path, None)

    @contextmanager
    def _rows(self) -> Iterator[PostgresTx]:
        """One at a time, each statement a commit of its own; what is the same from now on is written down."""
        with self._lock, explained():
            tx = self._connected()
            if self._is_view:
                self._load()
            before = dict(self._seen)
            try:
                yield tx
            finally:
                if self._seen != before:
                    self._save()

    def _connected(self) -> PostgresTx:
        """The connection, made anew where the server ended it since it was used last: so it does with those of who is
        taken off, whose statements come too late."""
        if self._server is None:
            self._server = PostgresTx(self._url, self._boot)
        try:
            self._server.execute("SELECT 1")
        except psycopg.OperationalError as error:
            if not self._server.cut_off(error):
                raise
            self._server.ready()
        if self._boot and not self._server.has("SELECT 1 FROM process WHERE boot = ?", self._boot):
            raise LeaseLostError(TAKEN_OFF)
        return self._server

    def _load(self) -> None:
        """What was the same when this folder was last a view of these rows; nothing where it was one of others."""
        if self._view:
            return
        self._view = KeptOnServer(self._url, self._boot).settle(VIEW, secrets.token_hex(8).encode()).decode()
        try:
            read = json.loads(self._path.read_bytes())
            if read["view"] == self._view:
                self._seen = {path: (stamp, found) for path, (stamp, found) in read["notes"].items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return  # then what is in both and differs is kept twice

    def _save(self) -> None:
        with disk_errors(f"{SEEN_FILE} cannot be written"):
            write_file(self._path, json.dumps({"view": self._view, "notes": self._seen}, indent=0).encode())


SELECT_STATES = f"SELECT path, length(data), hash FROM {KEPT}.note"
SELECT_NOTE = f"SELECT data, hash FROM {KEPT}.note WHERE path = ?"


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()


def _stamp(size: int, found: str) -> str:
    """As a file's: when it was changed is not known."""
    return f"0:{size}:{found}"


def files_on_server(folder: Path, url: str, boot: str = "") -> DataFiles:
    """What lies beside a database of a server, of a process with that data folder, by its `boot`. StoreError."""
    return DataFiles(folder, KeptOnServer(url, boot), NotesOnServer(folder, url, boot), FilesOnServer(url, boot))
