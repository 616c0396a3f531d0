"""Notes where several machines may answer in turn: rows of a server, and the folder of the one that answers as their view.

Each change of nuan goes to both. What somebody edits in the folder is taken in, what another machine changed is written
there, by what the two were when they were last the same.
"""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from bot.core.archive import NoteRefused
from bot.core.errors import StoreError
from bot.core.files import disk_errors, write_file
from bot.store.files import Listing, NoteFiles
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.kept import KeptOnServer
from bot.store.postgres.opening import KEPT, explained

SEEN_FILE = "notes.seen"
"""How each note was when this folder and the rows were last the same."""

VIEW = "view"
"""The value by which a folder knows the rows that it was a view of."""

MOST_BYTES = 8_000_000
"""A larger file is no note: it stays in its folder."""

HERE = "-here"
"""Added to the name of what was edited in the folder while another machine changed the note."""


class NotesOnServer(NoteFiles):
    """The notes of whoever answers from a database of a server; every method blocks."""

    def __init__(self, data: Path, url: str) -> None:
        super().__init__(data)
        self._url = url
        self._path = data / SEEN_FILE
        self._lock = threading.RLock()
        self._view = ""
        self._seen: dict[str, tuple[str, str]] = {}
        """Of each note the stamp of its file, and the hash of both."""

    def listing(self) -> Listing:
        """As `NoteFiles.listing`, when folder and rows are the same again; StoreError when they cannot be made so."""
        with self._changing() as tx:
            listing = super().listing()
            return super().listing() if self._same_again(tx, listing) else listing

    def create(self, path: str, data: bytes) -> bool:
        """As `NoteFiles.create`."""
        made = super().create(path, data)
        if made:
            with self._changing() as tx:
                self._put(tx, path)
        return made

    def replace(self, path: str, data: bytes) -> None:
        """As `NoteFiles.replace`."""
        super().replace(path, data)
        with self._changing() as tx:
            self._put(tx, path)

    def rename(self, path: str, other: str) -> bool:
        """As `NoteFiles.rename`."""
        renamed = super().rename(path, other)
        if renamed:
            with self._changing() as tx:
                self._put(tx, other)
                self._drop(tx, path)
        return renamed

    def remove(self, path: str) -> None:
        """As `NoteFiles.remove`."""
        super().remove(path)
        with self._changing() as tx:
            self._drop(tx, path)

    def _same_again(self, tx: PostgresTx, listing: Listing) -> bool:
        """Bring folder and rows together; whether anything in the folder changed."""
        rows = {str(path): str(found) for path, found in tx.all(f"SELECT path, hash FROM {KEPT}.note")}
        here = {path: self._known(path, stamp) for path, stamp in listing.found.items()}
        changed = False
        for path in sorted({*rows, *here, *self._seen} - listing.refused.keys()):
            if path in here and here[path] is None:  # it is too large, or cannot be read just now
                continue
            file = here.get(path)
            row, found, was = rows.get(path), file and file[1], self._seen.get(path, ("", None))[1]
            if file is not None and row == found:
                self._seen[path] = file
            elif row == was:
                self._put(tx, path) if file is not None else self._drop(tx, path)
            else:
                with suppress(NoteRefused, OSError):  # it changes just now: the next look sees it
                    if found not in (None, was):
                        self._set_aside(tx, path)
                    self._take(tx, path, row)
                changed = True
        return changed

    def _known(self, path: str, stamp: str) -> tuple[str, str] | None:
        """The stamp and the hash of a file; None when it cannot be read."""
        before = self._seen.get(path)
        if before is not None and before[0] == stamp:
            return before
        try:
            data, stamp = self.read(path, MOST_BYTES)
        except (NoteRefused, OSError):
            return None
        return stamp, sha256(data).hexdigest()

    def _take(self, tx: PostgresTx, path: str, row: str | None) -> None:
        """The folder has what the row says."""
        self._seen.pop(path, None)
        if row is None:
            super().remove(path)
            return
        data: bytes = tx.value(f"SELECT data FROM {KEPT}.note WHERE path = ?", path)
        if not super().create(path, data):
            super().replace(path, data)
        self._seen[path] = self.stamp(path), row

    def _set_aside(self, tx: PostgresTx, path: str) -> None:
        """What was edited here is a note of its own."""
        data, _ = self.read(path, MOST_BYTES)
        stem, number = path.removesuffix(".md") + HERE, 1
        while not super().create(other := f"{stem}{number if number > 1 else ''}.md", data):
            number += 1
        self._put(tx, other)

    def _put(self, tx: PostgresTx, path: str) -> None:
        """The row has what the file says."""
        try:
            data, stamp = self.read(path, MOST_BYTES)
        except (NoteRefused, OSError):
            return
        found = sha256(data).hexdigest()
        tx.put(f"{KEPT}.note", "path", path=path, data=data, hash=found)
        self._seen[path] = stamp, found

    def _drop(self, tx: PostgresTx, path: str) -> None:
        """There is no such row any more."""
        tx.run(f"DELETE FROM {KEPT}.note WHERE path = ?", path)
        self._seen.pop(path, None)

    @contextmanager
    def _changing(self) -> Iterator[PostgresTx]:
        """One at a time; what is the same from now on is written down."""
        try:
            with self._lock, explained(), closing(PostgresTx(self._url)) as tx:
                self._load()
                before = dict(self._seen)
                try:
                    yield tx
                finally:
                    if self._seen != before:
                        self._save()
        except StoreError as error:
            raise StoreError(f"notes cannot be shared: {error}") from error

    def _load(self) -> None:
        """What was the same when this folder was last a view of these rows; nothing where it was one of others."""
        if self._view:
            return
        self._view = KeptOnServer(self._url).settle(VIEW, secrets.token_hex(8).encode()).decode()
        try:
            read = json.loads(self._path.read_bytes())
            if read["view"] == self._view:
                self._seen = {path: (stamp, found) for path, (stamp, found) in read["notes"].items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return  # then what is in both and differs is kept twice

    def _save(self) -> None:
        with disk_errors(f"{SEEN_FILE} cannot be written"):
            write_file(self._path, json.dumps({"view": self._view, "notes": self._seen}, indent=0).encode())


def carry_notes(source: str, target: str) -> None:
    """The notes of one database are those of another, too."""
    with explained(), closing(PostgresTx(source)) as there, closing(PostgresTx(target)) as here:
        here.execute(here.BEGIN)
        here.run(f"DELETE FROM {KEPT}.note")
        here.fill(f"{KEPT}.note", ("path", "data", "hash"), there.all(f"SELECT path, data, hash FROM {KEPT}.note"))
        here.execute("COMMIT")
