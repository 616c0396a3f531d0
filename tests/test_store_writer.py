"""Writing: told only after the commit, together or not, whole or not at all."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.errors import StoreError
from bot.store.engine import Writer
from bot.store.transactions import Tx


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.db"
    with closing(sqlite3.connect(path, factory=Tx)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE row (n INTEGER PRIMARY KEY, half INTEGER NOT NULL)")
    return path


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    connection = sqlite3.connect(path, timeout=0.1, isolation_level=None, check_same_thread=False, factory=Tx)
    connection.execute("PRAGMA foreign_keys = ON")
    writer = Writer(connection)
    yield writer
    writer.close()


def rows(path: Path) -> set[int]:
    """What is committed; a row is whole when its second half was written as well."""
    with closing(sqlite3.connect(path, factory=Tx)) as db:
        found = db.execute("SELECT n, half FROM row").fetchall()
    assert all(half == 1 for _, half in found)
    return {n for n, _ in found}


def put(number: int, error: Exception | None = None) -> Callable[[Tx], int]:
    """A transaction in two steps, which may fail between them."""

    def transaction(db: Tx) -> int:
        db.execute("INSERT INTO row VALUES (?, 0)", (number,))
        if error is not None:
            raise error
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


async def test_a_result_is_told_only_after_the_commit(writer: Writer, path: Path) -> None:
    seen_inside: list[set[int]] = []

    def transaction(db: Tx) -> int:
        put(1)(db)
        seen_inside.append(rows(path))
        return 1

    assert await writer.run(transaction) == 1
    assert seen_inside == [set()]
    assert rows(path) == {1}


async def test_of_two_verbs_in_one_commit_the_one_that_raises_leaves_nothing_and_the_other_is_stored(
    writer: Writer, path: Path
) -> None:
    first, second, third = await together(writer, put(1), put(2, ValueError("no")), put(3))
    assert (first, third) == (1, 3)
    assert isinstance(second, ValueError)
    assert rows(path) == {1, 3}


async def test_a_verb_that_the_database_refuses_does_not_take_its_neighbours_along(writer: Writer, path: Path) -> None:
    def broken(db: Tx) -> int:
        db.execute("INSERT INTO row VALUES (9, 0)")
        return len(db.execute("SELECT * FROM nothing").fetchall())

    first, second, third = await together(writer, put(1), broken, put(3))
    assert (first, third) == (1, 3)
    assert isinstance(second, StoreError)
    assert rows(path) == {1, 3}
    assert await writer.run(put(4)) == 4


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


async def test_the_verb_of_a_cancelled_caller_is_stored_whole(writer: Writer, path: Path) -> None:
    gate = Gate()
    first = asyncio.ensure_future(writer.run(gate.transaction))
    await asyncio.to_thread(gate.entered.wait, 10)
    caller = asyncio.ensure_future(writer.run(put(1)))
    while writer.waiting < 2:
        await asyncio.to_thread(int)
    caller.cancel()
    gate.open()
    await first
    with pytest.raises(asyncio.CancelledError):
        await caller
    await writer.run(put(2))
    assert rows(path) == {1, 2}
    assert writer.waiting == 0


async def test_closing_finishes_what_waits_and_refuses_what_comes_later(writer: Writer, path: Path) -> None:
    gate = Gate()
    first = asyncio.ensure_future(writer.run(gate.transaction))
    await asyncio.to_thread(gate.entered.wait, 10)
    waiting = [asyncio.ensure_future(writer.run(put(number))) for number in range(200)]
    while writer.waiting <= len(waiting):
        await asyncio.to_thread(int)
    closing_now = asyncio.ensure_future(asyncio.to_thread(writer.close))
    gate.open()
    assert await asyncio.gather(*waiting) == list(range(200))
    await first
    await closing_now
    with pytest.raises(StoreError, match="closed"):
        await writer.run(put(300))
    assert rows(path) == set(range(200))


async def test_a_log_that_somebody_reads_is_not_called_emptied(writer: Writer, path: Path) -> None:
    await writer.run(put(1))
    with closing(sqlite3.connect(path, factory=Tx)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM row").fetchall()
        await writer.run(put(2))
        assert not await writer.checkpoint()
    assert await writer.checkpoint()
    assert (path.parent / "rows.db-wal").stat().st_size == 0


async def test_of_a_thousand_that_write_fail_or_leave_exactly_the_acknowledged_are_stored(
    writer: Writer, path: Path
) -> None:
    chance = random.Random(1)
    acknowledged: set[int] = set()
    left: set[int] = set()
    failed: set[int] = set()

    async def one(number: int) -> None:
        kind = chance.choice(("write", "write", "raise", "refuse", "leave"))
        error = {"raise": ValueError("no"), "refuse": sqlite3.OperationalError("disk")}.get(kind)
        task = asyncio.ensure_future(writer.run(put(number, error)))
        if kind == "leave":
            await asyncio.to_thread(int)
            if task.cancel():
                left.add(number)
        try:
            acknowledged.add(await task)
        except asyncio.CancelledError:
            pass
        except (ValueError, StoreError):
            failed.add(number)

    await asyncio.gather(*(one(number) for number in range(1_000)))
    assert not writer._connection.in_transaction
    await asyncio.to_thread(writer.close)
    assert rows(path) - left == acknowledged - left
    assert left <= rows(path)
    assert not failed & rows(path)
    assert acknowledged
    assert left
    assert failed
