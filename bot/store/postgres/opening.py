"""Opening, checking and migrating a database on a PostgreSQL server: one writing connection and some that read."""

import asyncio
import contextlib
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg

from bot.core.errors import FolderLockedError, StoreError
from bot.store.engine import WIPE_KEY, Database, Writer
from bot.store.files import DataFiles
from bot.store.index import refresh_index
from bot.store.postgres.connection import PostgresTx, first_line, store_error
from bot.store.schema import SCHEMA_VERSION, read_migrations
from bot.store.transactions import AccessLists, Tx

T = TypeVar("T")

LEAST_SERVER = 15
"""The oldest PostgreSQL that is tried with."""

READERS = 4
"""Reading connections of a process: as many transactions read at once."""

LOCK = 0x6E75616E
"""The number of the lock that who writes to a database holds: "nuan"."""

BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""All of one moment."""

UNFINISHED = "move_unfinished"
"""The table that a database has for as long as a move into it lasts: nobody answers from half of the rows."""

MIGRATIONS = read_migrations("bot.store.postgres")


class WritingTx(PostgresTx):
    """The connection that keeps every other nuan from writing to its database for as long as it lasts."""

    def _connect(self) -> None:
        super()._connect()
        if not self.value("SELECT pg_try_advisory_lock(?)", LOCK):
            self._server.close()
            raise psycopg.OperationalError("another nuan is answering from this database")


class PostgresDatabase(Database):
    """One writer thread, and connections that read on threads of their own."""

    def __init__(self, url: str, writer: Writer | None) -> None:
        super().__init__(writer)
        self._url = url
        self._free: queue.LifoQueue[PostgresTx] = queue.LifoQueue()
        self._threads = ThreadPoolExecutor(READERS, "nuan-reader")
        self._shared: tuple[DataFiles, AccessLists, str] | None = None

    def share(self, files: DataFiles, lists: AccessLists | None = None, boot: str = "") -> None:
        """As `Database.share`, also for connections that are made later."""
        self._shared = files, lists or AccessLists(), boot
        super().share(files, self._shared[1], boot)

    def _connections(self) -> tuple[Tx, ...]:
        return () if self._writer is None else (self._writer.tx,)

    async def read(self, work: Callable[[Tx], T]) -> T:
        """As `Database.read`."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._look, work)
        except psycopg.Error as error:
            raise store_error(f"the database cannot be read ({first_line(error)})", error) from error

    def _look(self, work: Callable[[Tx], T]) -> T:
        try:
            reader = self._free.get_nowait()
        except queue.Empty:
            reader = PostgresTx(self._url)
        if self._shared is not None:
            reader.files, reader.lists, reader.boot = self._shared
        try:
            reader.ready()
            try:
                return _read(reader, work)
            except psycopg.OperationalError:
                if not reader.lost:
                    raise
                reader.ready()  # the server was started anew since this connection read last
                return _read(reader, work)
        finally:
            self._free.put(reader)

    async def truncate(self) -> None:
        """Nothing but the mark that it is due: a server frees what was deleted, and its log, by itself."""
        if self._writer is not None:
            await self._writer.run(lambda tx: tx.set_meta(WIPE_KEY, None))

    async def close(self) -> None:
        """As `Database.close`."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        await asyncio.to_thread(self._threads.shutdown)
        while not self._free.empty():
            self._free.get_nowait().close()


def _read(reader: PostgresTx, work: Callable[[Tx], T]) -> T:
    reader.execute(BEGIN_READING)
    try:
        return work(reader)
    finally:
        with contextlib.suppress(psycopg.Error):  # what was read is told, or why it could not be
            reader.execute("ROLLBACK")


async def open_database(url: str, *, read_only: bool = False) -> PostgresDatabase:
    """Open the database and bring it to the newest schema.

    Raises StoreError, saying what to do, when the server cannot be reached or refuses, and when the database is newer
    than this nuan, of another program or (read only) empty; FolderLockedError when another nuan writes to it.
    """
    return await asyncio.to_thread(_open, url, read_only)


def _open(url: str, read_only: bool) -> PostgresDatabase:
    if read_only:
        read_existing(url, check_version)
        return PostgresDatabase(url, None)
    with explained():
        writer = WritingTx(url)
        try:
            bring_forward(writer)
        except BaseException:
            writer.close()
            raise
        return PostgresDatabase(url, Writer(writer))


@contextlib.contextmanager
def explained(server: str = "the PostgreSQL server of store.url") -> Iterator[None]:
    """What the driver raises is a StoreError that says what to do."""
    try:
        yield
    except psycopg.Error as error:
        told = first_line(error)
        if "another nuan" in told:
            raise FolderLockedError(f"{told}: stop it, or name another database") from error
        raise StoreError(f"{server} cannot be used ({told})") from error


def read_existing(url: str, work: Callable[[Tx], T]) -> T:
    """What a function reads in a database that is there, beside whoever has it open; StoreError when it cannot be read."""
    with explained(), contextlib.closing(PostgresTx(url)) as tx:
        return _read(tx, work)


def server_version(url: str) -> str:
    """The version of the server; StoreError when it cannot be reached."""
    version: str = read_existing(url, lambda tx: tx.value("SELECT current_setting('server_version')"))
    return version


def tables_in(tx: Tx) -> frozenset[str]:
    """The names of all tables."""
    return frozenset(name for (name,) in tx.all("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"))


def version_of(tx: Tx) -> int:
    """The number of the last migration; 0 for a database with nothing in it."""
    server = int(tx.value("SELECT current_setting('server_version_num')")) // 10_000
    if server < LEAST_SERVER:
        raise StoreError(f"the server is PostgreSQL {server}: {LEAST_SERVER} or newer is needed")
    tables = tables_in(tx)
    if UNFINISHED in tables:
        raise StoreError("a move into the database of store.url is not finished: run `nuan move` again")
    if tables and "schema_version" not in tables:
        raise StoreError("the database is of another program; name another")
    return tx.number("SELECT number FROM schema_version") if tables else 0


def check_version(tx: Tx) -> None:
    """StoreError unless the schema is the one of this nuan."""
    version = version_of(tx)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"the database was written by a newer nuan (schema {version}): update nuan, nothing was changed"
        )
    if not version:
        raise StoreError("there is nothing in the database of store.url yet: talk to nuan once")
    if version < SCHEMA_VERSION:
        raise StoreError("the database has another version: start nuan of the same version once")


def bring_forward(tx: PostgresTx) -> None:
    """Run all migrations that are missing in one transaction, for who alone may write."""
    if (version := version_of(tx)) > SCHEMA_VERSION:
        check_version(tx)
    tx.execute("BEGIN")
    try:
        for number, statements in MIGRATIONS.items():
            for statement in statements if number > version else ():
                tx.execute(statement)
        tx.run("UPDATE schema_version SET number = ?", SCHEMA_VERSION)
        refresh_index(tx)
        tx.commit()
    except BaseException:
        with contextlib.suppress(psycopg.Error):  # the failure itself may have ended the transaction
            tx.execute("ROLLBACK")
        raise
