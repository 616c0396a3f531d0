"""Opening, checking and migrating the file: one writing connection and one that reads."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import aiosqlite

from bot.core.errors import StoreError
from bot.core.files import create_file, make_private_folder, sync_to_disk
from bot.store.engine import WIPE_KEY, Database, Writer
from bot.store.index import refresh_index
from bot.store.schema import MIGRATIONS, SCHEMA_VERSION
from bot.store.sqlite.connection import SqliteTx, open_existing, reading_uri, store_error
from bot.store.sqlite.copies import copy_database, verify_copy
from bot.store.transactions import Tx

T = TypeVar("T")

LEAST_SQLITE = (3, 39)
"""The oldest SQLite that knows all statements (IS NOT DISTINCT FROM)."""

Migrations = tuple[tuple[str, ...], ...]

MOVING = "nuan.moving.db"
"""The database of the folder for as long as a move into it lasts."""

POSTINGS = 46
"""The first schema without full-text indexes of FTS5."""

WAL_BYTES = 32 * 1024 * 1024
"""What the log of the database keeps on the disk once it is copied into the file; a long backup may need more for as
long as it runs (FAULTS S12: at most 64 MB)."""

READER_MS = 250
"""How long everybody waits for a reader who keeps the log from being emptied; later it is tried again."""

STATEMENTS = 512
"""How many statements a connection keeps prepared."""

BUSY_MS = 5_000
"""How long a statement waits for another process's lock (FAULTS S4: at least 5 s)."""


class ReadConnection(aiosqlite.Connection):
    """A connection that can also run a reading transaction on its thread."""

    @property
    def tx(self) -> Tx:
        """The connection as transactions have it."""
        return cast("SqliteTx", self._conn)

    async def look(self, work: Callable[[Tx], T]) -> T:
        """What `work` reads, all of one moment."""
        found: T = await self._execute(self._look, work)  # type: ignore[no-untyped-call]
        return found

    def _look(self, work: Callable[[Tx], T]) -> T:
        self._conn.execute("BEGIN")
        try:
            return work(self.tx)
        finally:
            self._conn.execute("COMMIT")


class SqliteDatabase(Database):
    """One writer thread and one read-only connection."""

    def __init__(self, reader: ReadConnection, writer: Writer | None) -> None:
        super().__init__(writer)
        self._reader = reader

    def _connections(self) -> tuple[Tx, ...]:
        return (self._reader.tx, *(() if self._writer is None else (self._writer.tx,)))

    async def read(self, work: Callable[[Tx], T]) -> T:
        """As `Database.read`."""
        try:
            return await self._reader.look(work)
        except sqlite3.Error as error:
            raise store_error(f"the database cannot be read ({error})", error) from error

    async def truncate(self) -> None:
        """Empty the write-ahead log into the file, so that nothing deleted is left in it.

        StoreError when somebody reads for longer than READER_MS; whatever was to be emptied by then is still due.
        """

        def empty(tx: Tx) -> bool:
            emptied = checkpoint(tx)
            if emptied:
                tx.set_meta(WIPE_KEY, None)
            return emptied

        if self._writer is not None and not await self._writer.alone(empty):
            raise StoreError("the log of the database could not be emptied: another program is reading it")

    async def close(self) -> None:
        """As `Database.close`."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        await self._reader.close()


def checkpoint(tx: Tx) -> bool:
    """Copy the write-ahead log into the file and truncate it; whether it could be emptied."""
    tx.run(f"PRAGMA busy_timeout = {READER_MS}")
    try:
        emptied = not tx.value("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        tx.run(f"PRAGMA busy_timeout = {BUSY_MS}")
    return emptied


async def open_database(path: Path, *, read_only: bool = False) -> SqliteDatabase:
    """Open or create the database and bring it to the newest schema.

    Raises StoreError, saying what to do, when the file is damaged, newer than this nuan, not a database,
    unwritable, or (read only) absent, and when SQLite is older than LEAST_SQLITE.
    """
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        raise StoreError(f"this Python brings SQLite {sqlite3.sqlite_version}: {least} or newer is needed")
    if read_only and not await asyncio.to_thread(path.exists):
        raise StoreError(f"there is no database at {path} yet: talk to nuan once, or give --data DIR")
    if not read_only:
        await asyncio.to_thread(_prepare, path, MIGRATIONS)
    reader = await _reader(path)
    try:
        if read_only:
            await _same_version(reader, path)
            return SqliteDatabase(reader, None)
        return SqliteDatabase(reader, Writer(await asyncio.to_thread(connect, path)))
    except sqlite3.Error as error:
        await reader.close()
        raise StoreError(_advice(path, error)) from error
    except BaseException:
        await reader.close()
        raise


async def _reader(path: Path) -> ReadConnection:
    def connect() -> SqliteTx:
        return sqlite3.connect(
            reading_uri(path), uri=True, isolation_level=None, cached_statements=STATEMENTS, factory=SqliteTx
        )

    try:
        reader = ReadConnection(connect, iter_chunk_size=64)
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


async def _same_version(reader: ReadConnection, path: Path) -> None:
    found = list(await reader.execute_fetchall("PRAGMA user_version"))
    if found[0][0] > SCHEMA_VERSION:
        raise StoreError(_newer(path, found[0][0]))
    if found[0][0] < 1:
        raise StoreError(_advice(path, sqlite3.DatabaseError("malformed: it is empty, or its version is lost")))
    if found[0][0] != SCHEMA_VERSION:
        raise StoreError(
            f"{path.name} is of an older nuan: start nuan once (`nuan chat`), it keeps a copy and brings it forward"
        )


def _newer(path: Path, version: int) -> str:
    return f"{path.name} was written by a newer nuan (schema {version}): update nuan, nothing was changed"


def connect(path: Path, factory: type[SqliteTx] = SqliteTx) -> SqliteTx:
    """A connection that may write."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS, factory=factory
    )
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
    """Create or check the file and run what migrations are missing."""
    try:
        if path.exists():
            with contextlib.closing(open_existing(path)) as connection:
                _check(connection, path, len(migrations))
            with contextlib.closing(connect(path)) as connection:
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
    if path.with_name(MOVING).exists():
        raise StoreError(f"a move into this folder is not finished: run `nuan move` again, or remove {MOVING}")
    left = path.with_name(f"{path.name}-wal")
    if left.exists() and left.stat().st_size:
        raise StoreError(f"{path.name} is gone but {left.name} is there: put the database or a backup back beside it")
    make_private_folder(path.parent)
    new = path.with_name(f"{path.name}.new")
    for part in ("-wal", "-shm"):
        new.with_name(new.name + part).unlink(missing_ok=True)
    create_file(new)
    with contextlib.closing(connect(new)) as connection:
        _migrate(connection, new, migrations)
        _index(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    new.rename(path)
    sync_to_disk(path.parent)


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


def _check(connection: SqliteTx, path: Path, newest: int) -> None:
    """Read only: a file that is not ours, or not whole, must stay as it is."""
    version = connection.value("PRAGMA user_version")
    if version > newest:
        raise StoreError(_newer(path, version))
    for fault in connection.faults("quick_check"):
        raise sqlite3.DatabaseError(f"malformed: {fault}")
    if version < 0:
        raise sqlite3.DatabaseError("malformed: its version is lost")
    if version == 0 and connection.value("SELECT count(*) FROM sqlite_master"):
        raise StoreError(f"{path.name} is a database of another program; give --data DIR another folder")
    if version == 0:
        raise sqlite3.DatabaseError("malformed: it is empty")


def _migrate(connection: SqliteTx, path: Path, migrations: Migrations) -> None:
    """Run all that are missing in one transaction: a process that is killed leaves the old schema whole."""
    version = connection.value("PRAGMA user_version")
    if version == len(migrations):
        return
    if version:
        copy = path.with_name(f"{path.stem}.before-{version + 1}.db")
        if not _is_copied(connection, copy, version):
            copy_database(path, copy, again=True)
    with _transaction(connection):
        if version < POSTINGS <= len(migrations):
            empty_old_indexes(connection)
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def empty_old_indexes(tx: Tx) -> None:
    """The FTS5 indexes of a schema before `posting` can be read and dropped, however worn they are: they are empty."""
    for index in ("memory_text", "doc_text"):
        if tx.has("SELECT 1 FROM sqlite_master WHERE name = ?", f"{index}_data"):
            tx.run(f"DELETE FROM {index}_data")
            tx.run(f"DELETE FROM {index}_idx")
            # The averages and the structure of an index without parts (FTS5_AVERAGES_ROWID, FTS5_STRUCTURE_ROWID).
            tx.run(f"INSERT INTO {index}_data (id, block) VALUES (1, ?), (10, ?)", b"", bytes(7))


def _is_copied(connection: SqliteTx, copy: Path, version: int) -> bool:
    """Whether an attempt that failed left a copy, and nothing was added since: that one stays."""
    if not copy.exists():
        return False
    try:
        if verify_copy(copy) != version:
            return False
        with contextlib.closing(open_existing(copy)) as copied:
            return copied.last_numbers() == connection.last_numbers()
    except (StoreError, sqlite3.Error):
        return False


def _index(connection: SqliteTx) -> None:
    with _transaction(connection):
        refresh_index(connection)


@contextlib.contextmanager
def _transaction(connection: SqliteTx) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # the failure itself may have ended the transaction
            connection.execute("ROLLBACK")
        raise
