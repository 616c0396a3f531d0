"""The writer of SQLite: what only its commits, savepoints and log can do wrong."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from bot.core.errors import StoreError
from bot.store.engine import Writer, wipe_soon
from bot.store.sqlite.connection import SqliteTx
from bot.store.sqlite.opening import BUSY_MS, checkpoint
from bot.store.transactions import Tx
from tests.blank import open_laid
from tests.fakes.clock import let_others_run
from tests.storing import DAY, NOW


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.db"
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE row (n INTEGER PRIMARY KEY, half INTEGER NOT NULL)")
    return path


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    connection = sqlite3.connect(path, timeout=0.1, isolation_level=None, check_same_thread=False, factory=SqliteTx)
    connection.execute("PRAGMA foreign_keys = ON")
    writer = Writer(connection)
    yield writer
    writer.close()


def rows(path: Path) -> set[int]:
    """What is committed; a row is whole when its second half was written as well."""
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db:
        found = db.execute("SELECT n, half FROM row").fetchall()
    assert all(half == 1 for _, half in found)
    return {n for n, _ in found}


def put(number: int) -> Callable[[Tx], int]:
    """A transaction in two steps."""

    def transaction(db: Tx) -> int:
        db.execute("INSERT INTO row VALUES (?, 0)", (number,))
        db.execute("UPDATE row SET half = 1 WHERE n = ?", (number,))
        return number

    return transaction


class Gate:
    """A first transaction that holds the writer until others wait behind it, so that they share a commit."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.entered = threading.Event()

    def transaction(self, db: Tx) -> None:
        self.entered.set()
        self._open.wait(10)

    def open(self) -> None:
        self._open.set()


async def together(writer: Writer, *transactions: Callable[[Tx], int]) -> list[int | BaseException]:
    """Run transactions in one commit."""
    gate = Gate()
    first = asyncio.ensure_future(writer.run(gate.transaction))
    await asyncio.to_thread(gate.entered.wait, 10)
    tasks = [asyncio.ensure_future(writer.run(transaction)) for transaction in transactions]
    while writer.waiting <= len(transactions):
        await asyncio.to_thread(int)
    gate.open()
    await first
    return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_a_transaction_that_the_failure_itself_ended_stops_nobody(writer: Writer, path: Path) -> None:
    def ending(db: Tx) -> int:
        db.execute("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    first, second = await together(writer, put(1), ending)
    assert first == 1
    assert isinstance(second, StoreError)
    assert await writer.run(put(2)) == 2
    assert rows(path) == {1, 2}


async def test_a_commit_that_fails_is_told_to_nobody_as_done(writer: Writer, path: Path) -> None:
    await writer.run(lambda db: db.execute("CREATE TABLE child (p REFERENCES row (n) DEFERRABLE INITIALLY DEFERRED)"))

    def orphan(db: Tx) -> int:
        put(7)(db)
        db.execute("INSERT INTO child VALUES (99)")  # noticed by COMMIT only
        return 7

    first, second = await together(writer, put(1), orphan)
    assert first == 1
    assert isinstance(second, StoreError)
    assert rows(path) == {1}


async def test_a_log_that_somebody_reads_is_not_called_emptied(writer: Writer, path: Path) -> None:
    await writer.run(put(1))
    with closing(sqlite3.connect(path, factory=SqliteTx)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM row").fetchall()
        await writer.run(put(2))
        assert not await writer.alone(checkpoint)
    assert await writer.alone(checkpoint)
    assert (path.parent / "rows.db-wal").stat().st_size == 0


async def test_after_a_log_that_could_not_be_emptied_a_statement_waits_for_others_as_before(writer: Writer) -> None:
    await writer.run(
        lambda db: cast("SqliteTx", db).set_authorizer(
            lambda _, name, *__: sqlite3.SQLITE_DENY if name == "wal_checkpoint" else sqlite3.SQLITE_OK
        )
    )
    with pytest.raises(StoreError):
        await writer.alone(checkpoint)
    assert await writer.run(lambda db: db.value("PRAGMA busy_timeout")) == BUSY_MS


async def test_a_log_is_emptied_for_what_was_taken_away_first(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        for at in (NOW + 30 * DAY, NOW):  # a clock that was ahead
            await store._database.write(partial(wipe_soon, at=at))
        due, _ = await store.deadlines.look(NOW + 60_000)
    assert ("wipe", 0) in due


async def test_a_hundred_that_run_beside_keep_nothing_else_waiting(writer: Writer, path: Path) -> None:
    done: list[int] = []

    def noted(number: int) -> Callable[[Tx], int]:
        def transaction(db: Tx) -> int:
            done.append(number)
            return put(number)(db)

        return transaction

    gate = Gate()
    first = asyncio.ensure_future(writer.run(gate.transaction))
    await asyncio.to_thread(gate.entered.wait, 10)
    beside = [asyncio.ensure_future(writer.run(noted(number), beside=True)) for number in range(100)]
    others = [asyncio.ensure_future(writer.run(noted(number))) for number in range(100, 103)]
    while writer.waiting <= 103:
        await asyncio.to_thread(int)
    gate.open()
    await asyncio.gather(first, *beside, *others)
    assert done[:3] == [100, 101, 102], "what waits goes first"
    assert done[3:] == list(range(100)), "and all of these in their order"
    assert rows(path) == set(range(103))


async def test_what_runs_beside_is_done_though_others_come_without_end_and_before_the_end(
    writer: Writer, path: Path
) -> None:
    beside = [asyncio.ensure_future(writer.run(put(number), beside=True)) for number in range(3)]
    for number in range(10, 20):
        await writer.run(put(number))
    assert all(each.done() for each in beside), "one after each commit"
    last = asyncio.ensure_future(writer.run(put(30), beside=True))
    await let_others_run()
    await asyncio.to_thread(writer.close)
    assert await last == 30
    assert rows(path) == {0, 1, 2, *range(10, 20), 30}
