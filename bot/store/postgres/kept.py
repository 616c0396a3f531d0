"""What lies beside the tables, in a schema of its own that no backup of nuan holds: tombstones, who was erased, notes, and
what waits to be sent or fetched."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from bot.core.errors import LeaseLostError, StoreError
from bot.store.files import KEPT_LINES, KeptInFolder, carry_kept
from bot.store.postgres.connection import KEPT, LAST_LINE, TAKEN_OFF, PostgresTx
from bot.store.postgres.opening import explained
from bot.store.transactions import Row
from bot.store.waiting import FilesInFolder, carry_files

HOLD_PROCESS = "SELECT 1 FROM process WHERE boot = ? FOR KEY SHARE"
"""Until the transaction ends it is not taken off."""


class KeptOnServer:
    """In that schema of a database; each step has a connection of its own, and is durable when it returns."""

    def __init__(self, url: str, boot: str = "") -> None:
        """`boot` names the process that writes, which LeaseLostError keeps from it once another took it off."""
        self._url, self._boot = url, boot

    def lines(self, name: str) -> tuple[str | bytes, ...]:
        """As `KeptBeside.lines`."""
        with connected(self._url) as tx:
            return tuple(text for (text,) in tx.all(f"SELECT text FROM {KEPT}.line WHERE name = ? ORDER BY id", name))

    def news(self, name: str, after: int) -> tuple[int, tuple[str | bytes, ...]]:
        """As `KeptBeside.news`."""
        since = f"SELECT text FROM {KEPT}.line WHERE name = ? AND id > ? AND id <= ? ORDER BY id"
        with connected(self._url) as tx:
            last = tx.number(LAST_LINE)
            return last, tuple(text for (text,) in tx.all(since, name, after, last))

    def append(self, name: str, lines: Sequence[str], done: str) -> None:
        """As `KeptBeside.append`."""
        with connected(self._url, self._boot, f"nothing was {done}") as tx:
            _put_lines(tx, name, lines)

    def value(self, name: str) -> bytes | None:
        """As `KeptBeside.value`."""
        with connected(self._url) as tx:
            found: bytes | None = tx.value(f"SELECT value FROM {KEPT}.value WHERE name = ?", name)
            return found

    def settle(self, name: str, value: bytes) -> bytes:
        """As `KeptBeside.settle`."""
        with connected(self._url, self._boot) as tx:
            tx.run(f"INSERT INTO {KEPT}.value (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, value)
            found: bytes = tx.value(f"SELECT value FROM {KEPT}.value WHERE name = ?", name)
            return found

    def replace(self, name: str, lines: Sequence[str | bytes]) -> None:
        """As `KeptBeside.replace`."""
        with connected(self._url, self._boot) as tx:
            tx.run(f"DELETE FROM {KEPT}.line WHERE name = ?", name)
            _put_lines(
                tx, name, [line.decode("utf-8", "replace") if isinstance(line, bytes) else line for line in lines]
            )

    def put(self, name: str, value: bytes) -> None:
        """As `KeptBeside.put`."""
        with connected(self._url, self._boot) as tx:
            tx.put(f"{KEPT}.value", "name", name=name, value=value)


class FilesOnServer:
    """What waits, in rows of that schema: what one process made another one sends."""

    def __init__(self, url: str, boot: str = "") -> None:
        """As of `KeptOnServer`."""
        self._url, self._boot = url, boot

    def write(self, path: str, data: bytes) -> None:
        """As `WaitingFiles.write`."""
        with connected(self._url, self._boot) as tx:
            tx.put(f"{KEPT}.file", "path", path=path, data=data)

    def read(self, path: str, most: int) -> bytes:
        """As `WaitingFiles.read`."""
        part, values = ("data", ()) if most < 0 else ("substr(data, 1, ?::int)", (most,))
        with connected(self._url) as tx:
            found: bytes | None = tx.value(f"SELECT {part} FROM {KEPT}.file WHERE path = ?", *values, path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return found

    def names(self, folder: str) -> tuple[str, ...]:
        """As `WaitingFiles.names`."""
        with connected(self._url) as tx:
            return tuple(
                path for (path,) in tx.all(f"SELECT path FROM {KEPT}.file WHERE starts_with(path, ?)", f"{folder}/")
            )

    def remove(self, paths: Iterable[str]) -> None:
        """As `WaitingFiles.remove`."""
        if gone := tuple(paths):
            with connected(self._url, self._boot) as tx:
                tx.executemany(f"DELETE FROM {KEPT}.file WHERE path = ?", [(path,) for path in gone])


def take_in(url: str, folder: Path) -> None:
    """What a data folder has from before the rows were on a server is there, too: tombstones unless there are any, and
    what waits, which is no longer in the folder then."""
    kept, before = KeptOnServer(url), KeptInFolder(folder)
    if not any(map(kept.lines, KEPT_LINES)) and any(map(before.lines, KEPT_LINES)):
        carry_kept(before, kept)
    here = FilesInFolder(folder)
    try:
        here.remove(carry_files(here, FilesOnServer(url)))
    except OSError as error:
        raise StoreError(f"what waits in the data folder cannot be read ({error}): nothing was changed") from error


def carry_rows(source: str, target: str) -> None:
    """The notes of one database, and what waits there, are those of another, too."""
    tables = {"note": ("path", "data", "hash"), "file": ("path", "data")}
    with explained(), closing(PostgresTx(source)) as there, closing(PostgresTx(target)) as here:
        here.execute(here.BEGIN)
        for table, columns in tables.items():
            here.run(f"DELETE FROM {KEPT}.{table}")
            here.fill(f"{KEPT}.{table}", columns, _rows(there, f"{KEPT}.{table}", columns))
        here.execute("COMMIT")


def _rows(tx: PostgresTx, table: str, columns: Sequence[str]) -> Iterator[Row]:
    """One after the other: all together may be more than fits into memory."""
    for (path,) in tx.all(f"SELECT path FROM {table}"):
        yield from tx.all(f"SELECT {', '.join(columns)} FROM {table} WHERE path = ?", path)


@contextlib.contextmanager
def connected(url: str, boot: str = "", undone: str = "nothing was changed") -> Iterator[PostgresTx]:
    """A transaction on a connection of its own; StoreError, which says what was left `undone`.

    LeaseLostError when the process of that `boot` was taken off: a tombstone that it lifts late would undo what others
    forgot since, and a connection of its that hangs keep them waiting.
    """
    try:
        with explained(), closing(PostgresTx(url, boot)) as tx:
            tx.execute(tx.BEGIN)
            if boot and not tx.has(HOLD_PROCESS, boot):
                raise LeaseLostError(TAKEN_OFF)
            yield tx
            tx.execute("COMMIT")
    except LeaseLostError:
        raise
    except StoreError as error:
        raise StoreError(f"{error}: {undone}") from error


def _put_lines(tx: PostgresTx, name: str, lines: Sequence[str]) -> None:
    """Their numbers follow each other as their commits do: who has read up to one has missed none before it."""
    tx.execute(f"LOCK TABLE {KEPT}.line IN SHARE ROW EXCLUSIVE MODE")
    tx.fill(f"{KEPT}.line", ("name", "text"), ((name, line.replace("\0", "")) for line in lines))
