"""Opening, checking and closing the one file; reads beside the writer. It never replaces a file it cannot use."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from bot.errors import StoreError
from bot.store.indexing import up_to_date
from bot.store.levels import check_indexes
from bot.store.reader import Params, Reader, Row
from bot.store.schema import MIGRATIONS, SCHEMA_VERSION
from bot.store.unfit import refusal
from bot.store.wholecopy import Doubtful, copy_whole, opened
from bot.store.writer import Writer

T = TypeVar("T")
Migrations = tuple[tuple[str, ...], ...]

WAL_BYTES = 32 * 1024 * 1024
"""What the log of the database keeps on the disk once it is copied into the file; a long backup may need more for as
long as it runs (FAULTS S12: at most 64 MB)."""

BUSY_MS = 5_000
"""How long a statement waits for another process's lock (FAULTS S4: at least 5 s)."""


class Database:
    """One writer thread and one read-only connection; `folder` is where the file is."""

    def __init__(self, reader: Reader, writer: Writer | None, folder: Path) -> None:
        self.folder = folder
        self._reader = reader
        self._writer = writer

    @property
    def refusing(self) -> str:
        """Why the last write was refused, "" when it was taken."""
        return self._writer.refusing if self._writer is not None else ""

    @property
    def unwritten(self) -> int:
        """How many verbs wait for their commit."""
        return self._writer.waiting if self._writer is not None else 0

    async def write(self, verb: Callable[[sqlite3.Connection], T]) -> T:
        """Run one verb in a transaction and return after its commit; StoreError when it cannot be stored."""
        if self._writer is None:
            raise StoreError("the database is open for reading only")
        return await self._writer.run(verb)

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """All rows of a SELECT; StoreError when the file cannot be read."""
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, tuple(params))]
        except sqlite3.Error as error:
            raise refusal(f"the database cannot be read ({error})", error) from error

    async def snapshot(self, *selects: tuple[str, Params]) -> list[list[Row]]:
        """The rows of several SELECTs, all of one moment and in one trip; StoreError when the file cannot be read."""
        try:
            return await self._reader.snapshot(selects)
        except sqlite3.Error as error:
            raise refusal(f"the database cannot be read ({error})", error) from error

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What a function reads in one transaction, off the event loop; StoreError when the file cannot be read."""
        try:
            return await self._reader.look(work)
        except sqlite3.Error as error:
            raise refusal(f"the database cannot be read ({error})", error) from error

    async def row(self, sql: str, params: Params = ()) -> Row | None:
        """The first row of a SELECT, or None."""
        found = await self.rows(sql, params)
        return found[0] if found else None

    async def truncate(self) -> None:
        """Empty the write-ahead log into the file, so that nothing deleted is left in it.

        StoreError when another process reads for longer than BUSY_MS; the next purge or start does it then.
        """
        if self._writer is not None and not await self._writer.checkpoint():
            raise StoreError("the log of the database could not be emptied: another program is reading it")

    async def close(self) -> None:
        """Finish the writes that wait and free both connections."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        await self._reader.close()


class Repository:
    """What the store knows of one noun: the verbs of a subclass read and write through this database."""

    def __init__(self, database: Database) -> None:
        self._database = database


async def open_database(path: Path, *, read_only: bool = False) -> Database:
    """Open or create the database and bring it to the newest schema.

    Raises StoreError, saying what to do, when the file is damaged, newer than this nuan, not a database,
    unwritable, or (read only) absent.
    """
    if read_only and not await asyncio.to_thread(path.exists):
        raise StoreError(f"there is no database at {path.name} yet: talk to nuan once, or give --data DIR")
    if not read_only:
        await asyncio.to_thread(_prepare, path, MIGRATIONS)
    reader = await _reader(path)
    try:
        if read_only:
            await _same_version(reader, path)
            return Database(reader, None, path.parent)
        return Database(reader, Writer(await asyncio.to_thread(_connect, path)), path.parent)
    except sqlite3.Error as error:
        await reader.close()
        raise StoreError(_advice(path, error)) from error
    except BaseException:
        await reader.close()
        raise


async def _reader(path: Path) -> Reader:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(f"file:{_quoted(path)}?mode=rw", uri=True, isolation_level=None, factory=Doubtful)

    try:
        reader = Reader(connect, iter_chunk_size=64)
        await reader
    except sqlite3.Error as error:
        raise StoreError(_advice(path, error)) from error
    try:
        await reader.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        await reader.execute("PRAGMA query_only = ON")
    except BaseException:
        await reader.close()
        raise
    return reader


async def _same_version(reader: Reader, path: Path) -> None:
    found = list(await reader.execute_fetchall("PRAGMA user_version"))
    if found[0][0] > SCHEMA_VERSION:
        raise StoreError(_newer(path, found[0][0]))
    if found[0][0] < 1:
        raise StoreError(_advice(path, sqlite3.DatabaseError("malformed: it is empty, or its version is lost")))
    if found[0][0] != SCHEMA_VERSION:
        raise StoreError(f"{path.name} has another version: start nuan of the same version once")


def _newer(path: Path, version: int) -> str:
    return f"{path.name} was written by a newer nuan (schema {version}): update nuan, nothing was changed"


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(path: Path, migrations: Migrations) -> None:
    """Create or check the file and run what migrations are missing, each in a transaction."""
    try:
        if path.exists():
            with contextlib.closing(opened(path)) as connection:
                _check(connection, path, len(migrations))
            with contextlib.closing(_connect(path)) as connection:
                _migrate(connection, path, migrations)
                _index(connection)
        else:
            _create(path, migrations)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(_advice(path, error)) from error


def bring_forward(path: Path) -> None:
    """A database, closed, to the newest schema; StoreError when that cannot be."""
    _prepare(path, MIGRATIONS)


def _create(path: Path, migrations: Migrations) -> None:
    """A new database appears whole or not at all, so that an empty file is always a damaged one."""
    left = path.with_name(f"{path.name}-wal")
    if left.exists() and left.stat().st_size:
        raise StoreError(f"{path.name} is gone but {left.name} is there: put the database or a backup back beside it")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    for part in ("", "-wal", "-shm"):
        new.with_name(new.name + part).unlink(missing_ok=True)
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with contextlib.closing(_connect(new)) as connection:
        _migrate(connection, new, migrations)
        _index(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _advice(path: Path, error: Exception) -> str:
    text = str(error)
    if "full" in text or "No space" in text:
        return f"{path.name}: the disk is full; free some space and start again, nothing was changed"
    if "malformed" in text or "not a database" in text:
        return (
            f"{path.name} is damaged ({text}); nothing was changed. Put a backup in its place, "
            "or move it away to begin anew"
        )
    return f"{path.name} cannot be used ({text}): check that the folder is yours and writable, and the disk not full"


def _check(connection: sqlite3.Connection, path: Path, newest: int) -> None:
    """Read only: a file that is not ours, or not whole, must stay as it is."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > newest:
        raise StoreError(_newer(path, version))
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"malformed: {' '.join(verdict.split())}")
    if version < 0:
        raise sqlite3.DatabaseError("malformed: its version is lost")
    if version == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path.name} is a database of another program; give --data DIR another folder")
    if version == 0:
        raise sqlite3.DatabaseError("malformed: it is empty")


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Migrations) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version:
        with _transaction(connection):
            check_indexes(connection)
    if 0 < version < len(migrations):
        copy_whole(path, path.with_name(f"{path.stem}.before-{version + 1}.db"), again=True)
    for number in range(version, len(migrations)):
        with _transaction(connection):
            for statement in migrations[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")


def _index(connection: sqlite3.Connection) -> None:
    with _transaction(connection):
        up_to_date(connection)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # the failure itself may have ended the transaction
            connection.execute("ROLLBACK")
        raise
