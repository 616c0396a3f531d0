"""The SQLite engine: opening, checking and migrating the file; one writer thread, one reading connection."""

import asyncio
import contextlib
import functools
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import aiosqlite

from bot.core.errors import StatementError, StoreError
from bot.core.files import create_file, make_private_folder, sync_to_disk
from bot.store.files import DataFiles
from bot.store.index import refresh_index
from bot.store.schema import MIGRATIONS, SCHEMA_VERSION
from bot.store.sqlite import (
    SqliteTx,
    copy_database,
    empty_old_indexes,
    file_faults,
    last_numbers,
    open_existing,
    reading_uri,
    verify_copy,
)
from bot.store.transactions import AccessLists, Tx

LEAST_SQLITE = (3, 39)
"""The oldest SQLite that knows all statements (IS NOT DISTINCT FROM)."""

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


def store_error(text: str, error: sqlite3.Error) -> StoreError:
    """The error with that text: StatementError where the database is well."""
    code = getattr(error, "sqlite_errorcode", None)
    return StoreError(text) if code is None or code & 0xFF in DISK_ERRORS else StatementError(text)


def _refusal(error: sqlite3.Error) -> StoreError:
    return store_error(f"the database refused a write ({error}); nothing of it was stored", error)


T = TypeVar("T")
P = ParamSpec("P")


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


Transaction = Callable[[Tx], Any]

COMMIT_BATCH = 64
"""Most transactions in one commit: bounds how long the first of them waits."""


JobOrder = Literal["next", "beside", "alone"]
"""When the writer does it: with what waits, after that, so that many of its kind hold nobody up, or outside any
transaction."""


class _Job:
    __slots__ = ("error", "future", "order", "result", "transaction")

    def __init__(self, transaction: Transaction, future: "asyncio.Future[Any]", order: JobOrder) -> None:
        self.transaction = transaction
        self.future = future
        self.order = order
        self.result: Any = None
        self.error: BaseException | None = None


class Writer:
    """Runs transactions one after the other on the only connection that may write."""

    def __init__(self, connection: SqliteTx) -> None:
        self.tx = connection
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._aside: deque[_Job] = deque()
        self._thread = threading.Thread(target=self._work, name="nuan-writer", daemon=True)
        self._waiting = 0
        self._closed = False
        self.refusing = ""
        """Why the disk or the database refused the last write, "" when it took it."""
        self._gate = threading.Lock()
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many transactions are asked for and not yet told their result."""
        return self._waiting

    async def run(self, transaction: Callable[[Tx], T], *, beside: bool = False) -> T:
        """Run `transaction` as one; return after the commit. One that runs `beside` lets go first what waits.

        A cancelled caller does not undo it: the transaction runs whole or not at all. Raises what the transaction
        raised (its savepoint is rolled back) or StoreError when the disk or the database refuses.
        """
        result: T = await self._do(transaction, "beside" if beside else "next")
        return result

    async def checkpoint(self, done: Callable[[Tx], None] = lambda tx: None) -> bool:
        """Copy the write-ahead log into the file and truncate it, outside any transaction; then `done`, before any other.

        False when somebody reads for longer than READER_MS.
        """

        def work(tx: Tx) -> bool:
            tx.run(f"PRAGMA busy_timeout = {READER_MS}")
            try:
                emptied = not tx.value("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                tx.run(f"PRAGMA busy_timeout = {BUSY_MS}")
            if emptied:
                done(tx)
            return emptied

        emptied: bool = await self._do(work, "alone")
        return emptied

    async def _do(self, transaction: Transaction, order: JobOrder) -> Any:
        job = _Job(transaction, asyncio.get_running_loop().create_future(), order)
        with self._gate:  # a transaction that came after the last one would wait for ever
            if self._closed:
                raise StoreError("the database is closed")
            self._jobs.put(job)
        self._waiting += 1
        return await job.future

    def close(self) -> None:
        """Finish what waits, then end the thread and the connection."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._thread.join()
        self.tx.close()

    def _work(self) -> None:
        last = False
        while not last or self._aside:
            batch, rest, last = ([], None, True) if last else self._batch()
            self._commit(batch)
            if rest is not None:
                self._alone(rest)
                batch.append(rest)
            self._answer(batch)
            if self._aside:
                beside = [self._aside.popleft()]
                self._commit(beside)
                self._answer(beside)

    def _batch(self) -> tuple[list[_Job], _Job | None, bool]:
        """What waits now: transactions for one commit, a job that runs alone after them, and whether it was the
        last. What runs beside is set aside.
        """
        batch: list[_Job] = []
        while len(batch) < COMMIT_BATCH:
            try:
                job = self._jobs.get(block=not (batch or self._aside))
            except queue.Empty:
                break
            if job is None:
                return batch, None, True
            if job.order == "alone":
                return batch, job, False
            (self._aside if job.order == "beside" else batch).append(job)
        return batch, None, False

    def _answer(self, jobs: list[_Job]) -> None:
        for job in jobs:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to be told
                job.future.get_loop().call_soon_threadsafe(self._tell, job)

    def _commit(self, batch: list[_Job]) -> None:
        """One transaction for all; when it is refused, one for each, so that nobody fails for another's transaction."""
        if not batch:
            return
        try:
            self.tx.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._one(job)
            self.tx.execute("COMMIT")
            self.refusing = ""
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):  # the failure itself may have ended the transaction
                self.tx.execute("ROLLBACK")
            for job in batch:
                job.result, job.error = None, None
            if len(batch) == 1:
                self.refusing = str(error)
                batch[0].error = _refusal(error)
                return
            for job in batch:
                self._commit([job])

    def _alone(self, job: _Job) -> None:
        try:
            job.result = job.transaction(self.tx)
        except sqlite3.Error as error:
            job.error = StoreError(f"the database refused ({error})")
        except Exception as error:  # noqa: BLE001 - as in a transaction: it belongs to the caller
            job.error = error

    def _one(self, job: _Job) -> None:
        self.tx.execute("SAVEPOINT one")
        try:
            job.result = job.transaction(self.tx)
        except (sqlite3.OperationalError, sqlite3.InternalError):
            # The disk or the file refuses: nothing of this commit can be trusted, so all of it is undone.
            raise
        except sqlite3.Error as error:
            job.error = _refusal(error)
        except Exception as error:  # noqa: BLE001 - what a transaction raises belongs to its caller
            job.error = error
        if job.error is not None:
            self.tx.execute("ROLLBACK TO one")
        self.tx.execute("RELEASE one")

    def _tell(self, job: _Job) -> None:
        self._waiting -= 1
        if job.future.cancelled():
            return
        if job.error is not None:
            job.future.set_exception(job.error)
            job.future.exception()  # seen, also when a cancelled caller no longer looks
        else:
            job.future.set_result(job.result)


WIPE_KEY, WIPE_MS = "wipe_at", 30_000
"""When, ms, the log of the database is emptied of what was taken away: so long after the first of it, so that
nothing of it is left a minute later though somebody was reading."""


def wipe_soon(tx: Tx, at: int) -> None:
    """A minute after `at`, ms, nothing of what is taken away now is left in the log of the database."""
    sql = (
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
        "WHERE CAST(excluded.value AS INTEGER) < CAST(meta.value AS INTEGER)"
    )
    tx.run(sql, WIPE_KEY, str(at + WIPE_MS))


Migrations = tuple[tuple[str, ...], ...]

POSTINGS = 46
"""The first schema without full-text indexes of FTS5."""

WAL_BYTES = 32 * 1024 * 1024
"""What the log of the database keeps on the disk once it is copied into the file; a long backup may need more for as
long as it runs (FAULTS S12: at most 64 MB)."""

READER_MS = 250
"""How long everybody waits for a reader who keeps the log from being emptied; later it is tried again."""

BUSY_MS = 5_000
"""How long a statement waits for another process's lock (FAULTS S4: at least 5 s)."""


class Database:
    """One writer thread and one read-only connection."""

    def __init__(self, reader: ReadConnection, writer: Writer | None) -> None:
        self._reader = reader
        self._writer = writer

    def share(self, files: DataFiles, lists: AccessLists | None = None, boot: str = "") -> None:
        """What transactions find beside the rows, from now on."""
        self.files = files
        for tx in (self._reader.tx, self._writer.tx if self._writer is not None else self._reader.tx):
            tx.files, tx.lists, tx.boot = files, lists or AccessLists(), boot

    @property
    def refusing(self) -> str:
        """Why the last write was refused, "" when it was taken."""
        return self._writer.refusing if self._writer is not None else ""

    @property
    def unwritten(self) -> int:
        """How many transactions wait for their commit."""
        return self._writer.waiting if self._writer is not None else 0

    async def write(self, transaction: Callable[[Tx], T], *, beside: bool = False) -> T:
        """Run one transaction and return after its commit; StoreError when it cannot be stored.

        What may be long and come by the hundred runs `beside`: after what waits already, one at a time.
        """
        if self._writer is None:
            raise StoreError("the database is open for reading only")
        return await self._writer.run(transaction, beside=beside)

    async def read(self, work: Callable[[Tx], T]) -> T:
        """What a function reads in one transaction, off the event loop; StoreError when the file cannot be read."""
        try:
            return await self._reader.look(work)
        except sqlite3.Error as error:
            raise store_error(f"the database cannot be read ({error})", error) from error

    async def truncate(self) -> None:
        """Empty the write-ahead log into the file, so that nothing deleted is left in it.

        StoreError when somebody reads for longer than READER_MS; whatever was to be emptied by then is still due.
        """
        if self._writer is not None and not await self._writer.checkpoint(lambda tx: tx.set_meta(WIPE_KEY, None)):
            raise StoreError("the log of the database could not be emptied: another program is reading it")

    async def close(self) -> None:
        """Finish the writes that wait and free both connections."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        await self._reader.close()


class Repository:
    """What the store knows of one noun: the transactions of a subclass read and write through this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def _files(self) -> DataFiles:
        """The files of the same data folder, for what is done outside of transactions."""
        return self._database.files


R = TypeVar("R", bound=Repository)


def reads(method: Callable[Concatenate[R, Tx, P], T]) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """A method of a repository whose body is a reading transaction, all of one moment; StoreError as `Database.read`."""

    @functools.wraps(method)
    async def call(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda tx: method(self, tx, *args, **kwargs))

    return call


def writes(method: Callable[Concatenate[R, Tx, P], T]) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """A method of a repository whose body is one transaction; it returns after the commit, StoreError as `Database.write`."""

    @functools.wraps(method)
    async def call(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda tx: method(self, tx, *args, **kwargs))

    return call


def reading(function: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method that runs a function, which other transactions call as well, as a reading transaction of its own."""

    @functools.wraps(function)
    async def call(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda tx: function(tx, *args, **kwargs))

    return call


def writing(function: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method that runs a function, which other transactions call as well, as one transaction of its own."""

    @functools.wraps(function)
    async def call(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda tx: function(tx, *args, **kwargs))

    return call


async def open_database(path: Path, *, read_only: bool = False) -> Database:
    """Open or create the database and bring it to the newest schema.

    Raises StoreError, saying what to do, when the file is damaged, newer than this nuan, not a database,
    unwritable, or (read only) absent, and when SQLite is older than LEAST_SQLITE.
    """
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        raise StoreError(f"this Python brings SQLite {sqlite3.sqlite_version}: {least} or newer is needed")
    if read_only and not await asyncio.to_thread(path.exists):
        raise StoreError(f"there is no database at {path.name} yet: talk to nuan once, or give --data DIR")
    if not read_only:
        await asyncio.to_thread(_prepare, path, MIGRATIONS)
    reader = await _reader(path)
    try:
        if read_only:
            await _same_version(reader, path)
            return Database(reader, None)
        return Database(reader, Writer(await asyncio.to_thread(_connect, path)))
    except sqlite3.Error as error:
        await reader.close()
        raise StoreError(_advice(path, error)) from error
    except BaseException:
        await reader.close()
        raise


async def _reader(path: Path) -> ReadConnection:
    def connect() -> SqliteTx:
        return sqlite3.connect(reading_uri(path), uri=True, isolation_level=None, factory=SqliteTx)

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
        raise StoreError(f"{path.name} has another version: start nuan of the same version once")


def _newer(path: Path, version: int) -> str:
    return f"{path.name} was written by a newer nuan (schema {version}): update nuan, nothing was changed"


def _connect(path: Path, factory: type[SqliteTx] = SqliteTx) -> SqliteTx:
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=512, factory=factory
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
    make_private_folder(path.parent)
    new = path.with_name(f"{path.name}.new")
    for part in ("-wal", "-shm"):
        new.with_name(new.name + part).unlink(missing_ok=True)
    create_file(new)
    with contextlib.closing(_connect(new)) as connection:
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
    for fault in file_faults(connection, "quick_check"):
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


def _is_copied(connection: SqliteTx, copy: Path, version: int) -> bool:
    """Whether an attempt that failed left a copy, and nothing was added since: that one stays."""
    if not copy.exists():
        return False
    try:
        if verify_copy(copy) != version:
            return False
        with contextlib.closing(open_existing(copy)) as copied:
            return last_numbers(copied) == last_numbers(connection)
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
