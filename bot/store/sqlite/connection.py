"""Connections to a database file, and what only SQLite can tell of it."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from bot.core.errors import StatementError, StoreError
from bot.store.engine import Connection
from bot.store.schema import placeholders
from bot.store.transactions import Row, Tx

T = TypeVar("T")

SQLITE_VERSION = sqlite3.sqlite_version_info

DISK_ERRORS = frozenset(
    (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CORRUPT,
    )
)
"""Primary result codes that say something of the disk or of other programs, and nothing of what was to be done."""


def store_error(text: str, error: Exception) -> StoreError:
    """The error with that text: StatementError where the database is well."""
    code = getattr(error, "sqlite_errorcode", None)
    return StoreError(text) if code is None or code & 0xFF in DISK_ERRORS else StatementError(text)


class SqliteTx(sqlite3.Connection, Connection):
    """A connection to a database file."""

    BEGIN = "BEGIN IMMEDIATE"
    failures = sqlite3.Error

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

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """As `Connection.fill`."""
        self.execute("PRAGMA defer_foreign_keys = ON")  # until the end of the transaction
        self.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({placeholders(columns)})", rows)

    def undoes_all(self, error: Exception) -> bool:
        """When the disk or the file refuses."""
        return isinstance(error, sqlite3.OperationalError | sqlite3.InternalError)

    def refusal(self, error: Exception) -> StoreError:
        """As `store_error`."""
        return store_error(f"the database refused a write ({error}); nothing of it was stored", error)

    def last_numbers(self) -> dict[str, int]:
        """As `Tx.last_numbers`."""
        return dict(self.all("SELECT name, seq FROM sqlite_sequence"))

    def raise_last_number(self, table: str, number: int) -> None:
        """As `Tx.raise_last_number`."""
        self.run("UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?", number, table, number)
        sql = (
            "INSERT INTO sqlite_sequence (name, seq) SELECT name, ? FROM sqlite_master WHERE name = ? "
            "AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)"
        )
        self.run(sql, number, table)

    def columns(self, table: str) -> tuple[tuple[str, str, str | None], ...]:
        """As `Tx.columns`."""
        return self.all("SELECT name, type, dflt_value FROM pragma_table_info(?)", table)

    def faults(self, check: Literal["quick_check", "integrity_check"] = "integrity_check") -> tuple[str, ...]:
        """As `Tx.faults`; it reads all of the file.

        Since 3.44 SQLite looks into the FTS5 indexes of older schemas, too: however worn they are, they are dropped.
        """
        try:
            rows = self.all(f"PRAGMA {check}(5)")
        except sqlite3.DatabaseError as error:
            if "vtable constructor failed" not in str(error):
                raise
            # Some versions refuse altogether where an index is worn: then all other tables, one by one.
            tables = self.all(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%'"
            )
            rows = tuple(row for (table,) in tables for row in self.all(f"PRAGMA {check}({table})"))
        verdicts = [" ".join(verdict.split()) for (verdict,) in rows]
        return tuple(verdict for verdict in verdicts if verdict != "ok" and "fts5" not in verdict.casefold())

    def dangling(self) -> int:
        """As `Tx.dangling`."""
        return len(self.all("PRAGMA foreign_key_check"))


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
