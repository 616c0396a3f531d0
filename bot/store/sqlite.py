"""What only SQLite can do: its connection as a transaction, its own tables and hints, and copies that are checked."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from bot.core.errors import StoreError
from bot.core.files import create_file, give_name, sync_to_disk
from bot.store.schema import SCHEMA_VERSION
from bot.store.transactions import Tx

T = TypeVar("T")

EVENT_QUEUE = "event INDEXED BY event_queue"
"""The events of a chat by state: without the hint SQLite may read all that the chat ever said."""

OUTBOX_DUE = "outbox INDEXED BY outbox_due"
"""What waits to be sent: without the hint SQLite may read all that was ever sent."""

WAITING_THERE = "INDEXED BY outbox_pending"
"""Of the outbox what waits in a chat: without the hint SQLite may read all that was ever sent there."""

VECTOR_INDEX = "doc CROSS JOIN vector INDEXED BY vector_space ON doc_id = doc.id"
"""Documents with what is known of their vectors, read from the index alone: the rows with the vectors are large."""

SQLITE_VERSION = sqlite3.sqlite_version_info

GREATEST, LEAST = "max", "min"
"""The functions for the larger and the smaller of two values; PostgreSQL calls them by these names."""

GIVEN = "json_each(?) AS given"
"""The values of a list in JSON as rows with a column `value`."""


class SqliteTx(sqlite3.Connection, Tx):
    """A connection inside a transaction."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As of any connection; a file that is damaged, its schema included, is a DatabaseError."""
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError as error:
            # SQLite quotes the schema in its message, and Python wants a message to be text.
            raise sqlite3.DatabaseError("malformed: its schema is no text") from error

    def copied(self) -> "SqliteTx":
        """As `Tx.copied`, in a temporary file."""
        other = sqlite3.connect("", factory=SqliteTx)
        self.backup(other)
        return other


def last_numbers(tx: Tx) -> dict[str, int]:
    """The last number that was given in each table whose numbers are never given twice."""
    return dict(tx.all("SELECT name, seq FROM sqlite_sequence"))


def raise_last_number(tx: Tx, table: str, number: int) -> None:
    """The next number of that table is higher than this one."""
    tx.run("UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?", number, table, number)


def table_columns(tx: Tx, table: str) -> tuple[tuple[str, str, str | None], ...]:
    """Each column of a table with its type and its default as SQL, None without one."""
    return tx.all("SELECT name, type, dflt_value FROM pragma_table_info(?)", table)


def file_faults(tx: Tx, check: Literal["quick_check", "integrity_check"] = "integrity_check") -> tuple[str, ...]:
    """What SQLite finds wrong with the file, nothing when it is whole; it reads all of it.

    Since 3.44 it looks into the FTS5 indexes of older schemas, too: however worn they are, they are dropped.
    """
    try:
        rows = tx.all(f"PRAGMA {check}(5)")
    except sqlite3.DatabaseError as error:
        if "vtable constructor failed" not in str(error):
            raise
        # Some versions refuse altogether where an index is worn: then all other tables, one by one.
        tables = tx.all("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%'")
        rows = tuple(row for (table,) in tables for row in tx.all(f"PRAGMA {check}({table})"))
    verdicts = [" ".join(verdict.split()) for (verdict,) in rows]
    return tuple(verdict for verdict in verdicts if verdict != "ok" and "fts5" not in verdict.casefold())


def empty_old_indexes(tx: Tx) -> None:
    """The FTS5 indexes of a schema before `posting` can be read and dropped, however worn they are: they are empty."""
    for index in ("memory_text", "doc_text"):
        if tx.has("SELECT 1 FROM sqlite_master WHERE name = ?", f"{index}_data"):
            tx.run(f"DELETE FROM {index}_data")
            tx.run(f"DELETE FROM {index}_idx")
            # The averages and the structure of an index without parts (FTS5_AVERAGES_ROWID, FTS5_STRUCTURE_ROWID).
            tx.run(f"INSERT INTO {index}_data (id, block) VALUES (1, ?), (10, ?)", b"", bytes(7))


def dangling_rows(tx: Tx) -> int:
    """How many rows refer to one that is not there."""
    return len(tx.all("PRAGMA foreign_key_check"))


PAGES = 2_000
"""Pages of one step of a copy: 8 MB, after each of which progress is told."""

CopyProgress = Callable[[int, int], None]
"""Pages that are left, and all of them."""


def no_progress(left: int, pages: int) -> None:
    """Nobody watches."""


def copy_database(database: Path, path: Path, tell: CopyProgress = no_progress, *, again: bool = False) -> None:
    """Copy a database, look the copy over and only then give it its name (0600); StoreError when it is not whole.

    Works beside a running nuan: the copy is of one moment. A file of that name is never replaced, unless `again`.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_file(new)
        with (
            contextlib.closing(sqlite3.connect(reading_uri(database), uri=True, factory=SqliteTx)) as source,
            contextlib.closing(sqlite3.connect(new)) as copy,
        ):
            # With a snapshot held, what others write meanwhile neither comes in nor begins the copy anew.
            source.execute("BEGIN")
            wrong = dangling_rows(source)
            source.backup(copy, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            version = source.value("PRAGMA user_version")
        if verify_copy(new, wrong) != version:
            raise StoreError("the backup has another schema than the database: it was thrown away")
        sync_to_disk(new)
        if again:
            new.replace(path)
        else:
            give_name(new, path)
        sync_to_disk(path.parent)
    except FileExistsError:
        raise StoreError(f"{path} is there already: give another name") from None
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"no backup could be made ({error}): nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def verify_copy(path: Path, wrong: int | None = None) -> int:
    """Open a copy and look it over; its schema. StoreError when it is damaged, no database of nuan, newer than this
    nuan, or has more dangling rows than `wrong`.
    """
    try:
        with contextlib.closing(open_existing(path)) as copy:
            faults = file_faults(copy)
            known = copy.has("SELECT 1 FROM sqlite_master WHERE name = 'memory'")
            version = int(copy.value("PRAGMA user_version"))
            dangling = dangling_rows(copy)
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be used ({error}): nothing was changed") from error
    if version > SCHEMA_VERSION and known:
        raise StoreError(
            f"{path.name} was written by a newer nuan (schema {version}, this one knows {SCHEMA_VERSION}): "
            "update nuan, nothing was changed"
        )
    if faults or not known or version < 1 or (wrong is not None and dangling > wrong):
        raise StoreError(f"{path.name} is damaged or no database of nuan: nothing was changed")
    return version


def open_existing(path: Path) -> SqliteTx:
    """A connection to a file that is there; sqlite3.Error when it is not."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, factory=SqliteTx)


def reading_uri(path: Path) -> str:
    """The address by which a file that is there is opened to be read, also on a mount that can only be read."""
    if os.access(path.parent, os.W_OK):
        return (
            f"{path.resolve().as_uri()}?mode=rw"  # not mode=ro: such a reader would leave the files of the WAL behind
        )
    wal = path.with_name(f"{path.name}-wal")
    alone = not (wal.exists() and wal.stat().st_size)  # then SQLite needs no file beside it, and can make none
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def read_existing(path: Path, work: Callable[[Tx], T]) -> T:
    """What a function reads in a file that is there, beside whoever has it open; StoreError when it cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(reading_uri(path), uri=True, factory=SqliteTx)) as tx:
            tx.run("PRAGMA query_only = ON")
            return work(tx)
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be read ({error})") from error
