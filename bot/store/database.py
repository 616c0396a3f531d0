"""Opening, checking and closing the one file; reads beside the writer. It never replaces a file it cannot use."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from bot.errors import StoreError
from bot.store.schema import MIGRATIONS, SCHEMA_VERSION
from bot.store.writer import Writer

T = TypeVar("T")
Params = Sequence[object]
Row = tuple[Any, ...]

BUSY_MS = 5_000
"""How long a statement waits for another process's lock (FAULTS S4: at least 5 s)."""


class Database:
    """One writer thread, one read-only connection, and the count of what is in flight."""

    def __init__(self, reader: aiosqlite.Connection, writer: Writer | None) -> None:
        self._reader = reader
        self._writer = writer
        self._reading = 0

    @property
    def busy(self) -> bool:
        """True while a write or a read is in flight."""
        return self._reading > 0 or (self._writer is not None and self._writer.waiting > 0)

    async def write(self, verb: Callable[[sqlite3.Connection], T]) -> T:
        """Run one verb in a transaction and return after its commit; StoreError when it cannot be stored."""
        if self._writer is None:
            raise StoreError("the database is open for reading only")
        return await self._writer.run(verb)

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """All rows of a SELECT; StoreError when the file cannot be read."""
        self._reading += 1
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, tuple(params))]
        except sqlite3.Error as error:
            raise StoreError(f"the database cannot be read ({error})") from error
        finally:
            self._reading -= 1

    async def row(self, sql: str, params: Params = ()) -> Row | None:
        """The first row of a SELECT, or None."""
        found = await self.rows(sql, params)
        return found[0] if found else None

    async def truncate(self) -> None:
        """Empty the write-ahead log into the file, so that nothing deleted is left in it."""
        if self._writer is not None:
            await self._writer.checkpoint()

    async def close(self) -> None:
        """Finish the writes that wait and free both connections."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        await self._reader.close()


async def open_database(path: Path, *, read_only: bool = False) -> Database:
    """Open or create the database and bring it to the newest schema.

    Raises StoreError, saying what to do, when the file is damaged, newer than this nuan, not a database,
    unwritable, or (read only) absent.
    """
    if read_only and not await asyncio.to_thread(path.exists):
        raise StoreError(f"there is no database at {path.name} yet: talk to nuan once, or give --data DIR")
    if not read_only:
        await asyncio.to_thread(_prepare, path)
    reader = await _reader(path)
    if read_only:
        found = await Database(reader, None).row("PRAGMA user_version")
        if found is None or found[0] != SCHEMA_VERSION:
            await reader.close()
            raise StoreError("the database has another version: start nuan of the same version once")
        return Database(reader, None)
    return Database(reader, Writer(_connect(path)))


async def _reader(path: Path) -> aiosqlite.Connection:
    try:
        reader = await aiosqlite.connect(f"file:{_quoted(path)}?mode=rw", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be opened ({error}): check the folder's rights") from error
    await reader.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    await reader.execute("PRAGMA query_only = ON")
    return reader


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _prepare(path: Path) -> None:
    """Create or check the file and run what migrations are missing, each in a transaction."""
    fresh = not path.exists()
    try:
        if fresh:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = _connect(path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(_advice(path, error)) from error
    with contextlib.closing(connection):
        try:
            if not fresh:
                _check(connection, path)
            _migrate(connection, path)
        except sqlite3.Error as error:
            raise StoreError(_advice(path, error)) from error


def _advice(path: Path, error: Exception) -> str:
    text = str(error)
    if "full" in text:
        return f"{path.name}: the disk is full; free some space and start again, nothing was changed"
    if "malformed" in text or "not a database" in text:
        return (
            f"{path.name} is damaged ({text}); nothing was changed. Put a backup in its place, "
            "or move it away to begin anew"
        )
    return f"{path.name} cannot be used ({text}): check that the folder exists, is yours and is writable"


def _check(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path.name} was written by a newer nuan (schema {version}): update nuan, nothing was changed"
        )
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"malformed: {verdict}")
    if version == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path.name} is a database of another program; give --data DIR another folder")
    if version:
        connection.execute("INSERT INTO memory_text (memory_text) VALUES ('integrity-check')")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if 0 < version < SCHEMA_VERSION:
        backup = path.with_name(f"{path.stem}.before-{version + 1}.db")
        with contextlib.closing(sqlite3.connect(backup)) as target:
            backup.chmod(0o600)
            connection.backup(target)
    for number in range(version, SCHEMA_VERSION):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
