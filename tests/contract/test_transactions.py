"""Transactions: told only after the commit, whole or not at all, each by itself; a reader sees one moment."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from bot.core.errors import StatementError, StoreError
from bot.store.engine import Database
from bot.store.transactions import Tx
from tests.contract.engines import Engine
from tests.sizes import PATIENCE_S


@pytest.fixture
async def database(engine: Engine) -> AsyncIterator[Database]:
    """An empty database, open."""
    database = await engine.open_database()
    yield database
    await database.close()


def rows(engine: Engine) -> set[int]:
    """What is committed, as another program sees it; a row is whole when its second half was written as well."""
    found = engine.peek.settings("key", "value")
    assert all(value == "whole" for _, value in found)
    return {int(str(key)) for key, _ in found}


def put(number: int, error: Exception | None = None) -> Callable[[Tx], int]:
    """A transaction in two steps, which may fail between them."""

    def transaction(tx: Tx) -> int:
        tx.insert("setting", key=str(number), value="half", at=0)
        if error is not None:
            raise error
        tx.run("UPDATE setting SET value = 'whole' WHERE key = ?", str(number))
        return number

    return transaction


def refused(tx: Tx) -> int:
    """A transaction that the database refuses half way."""
    put(9)(tx)
    return len(tx.all("SELECT * FROM nothing"))


class Gate:
    """A transaction that lasts until others wait behind it."""

    def __init__(self, database: Database) -> None:
        self._open, self._entered = threading.Event(), threading.Event()
        self._database = database

    async def enter(self) -> "asyncio.Task[int]":
        """Begin; done when it has been opened."""
        held = asyncio.create_task(self._database.write(self._hold))
        await asyncio.to_thread(self._entered.wait, PATIENCE_S)
        return held

    async def open(self, waiting: int) -> None:
        """Let go as soon as so many wait."""
        while self._database.unwritten <= waiting:
            await asyncio.to_thread(int)
        self._open.set()

    def _hold(self, tx: Tx) -> int:
        self._entered.set()
        self._open.wait(PATIENCE_S)
        return 0


async def together(database: Database, *transactions: Callable[[Tx], int]) -> list[int | BaseException]:
    """Run transactions that all wait at the same moment."""
    gate = Gate(database)
    held = await gate.enter()
    tasks = [asyncio.create_task(database.write(transaction)) for transaction in transactions]
    await gate.open(len(tasks))
    await held
    return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_a_result_is_told_only_after_the_commit(database: Database, engine: Engine) -> None:
    seen_inside: list[set[int]] = []

    def transaction(tx: Tx) -> int:
        put(1)(tx)
        seen_inside.append(rows(engine))
        return 1

    assert await database.write(transaction) == 1
    assert seen_inside == [set()]
    assert rows(engine) == {1}
    assert database.unwritten == 0


async def test_what_raises_leaves_nothing_and_what_waited_beside_it_is_stored(
    database: Database, engine: Engine
) -> None:
    first, second, third = await together(database, put(1), put(2, ValueError("no")), put(3))
    assert (first, third) == (1, 3)
    assert isinstance(second, ValueError)
    assert rows(engine) == {1, 3}


async def test_what_is_refused_says_so_leaves_nothing_and_takes_no_neighbour_along(
    database: Database, engine: Engine
) -> None:
    first, second, third = await together(database, put(1), refused, put(3))
    assert (first, third) == (1, 3)
    assert isinstance(second, StatementError), "nothing is wrong with the disk"
    assert "nothing of it was stored" in str(second)
    assert rows(engine) == {1, 3}
    assert await database.write(put(4)) == 4


async def test_a_refusal_is_known_until_the_next_write_is_taken(database: Database) -> None:
    assert database.refusing == ""
    with pytest.raises(StoreError, match="refused a write"):
        await database.write(refused)
    assert database.refusing
    await database.write(put(1))
    assert database.refusing == ""


async def test_a_row_that_is_there_already_is_refused_and_nothing_is_wrong_with_the_database(
    database: Database, engine: Engine
) -> None:
    await database.write(put(1))
    with pytest.raises(StatementError, match="nothing of it was stored"):
        await database.write(put(1))
    assert database.refusing == ""
    assert rows(engine) == {1}


async def test_the_transaction_of_a_cancelled_caller_is_stored_whole(database: Database, engine: Engine) -> None:
    gate = Gate(database)
    held = await gate.enter()
    caller = asyncio.create_task(database.write(put(1)))
    while database.unwritten < 2:
        await asyncio.to_thread(int)
    caller.cancel()
    await gate.open(1)
    await held
    with pytest.raises(asyncio.CancelledError):
        await caller
    await database.write(put(2))
    assert rows(engine) == {1, 2}
    assert database.unwritten == 0


async def test_closing_finishes_what_waits_and_refuses_what_comes_later(database: Database, engine: Engine) -> None:
    gate = Gate(database)
    held = await gate.enter()
    waiting = [asyncio.create_task(database.write(put(number))) for number in range(200)]
    while database.unwritten <= len(waiting):
        await asyncio.to_thread(int)
    closing = asyncio.create_task(database.close())
    await gate.open(len(waiting))
    assert await asyncio.gather(*waiting) == list(range(200))
    await held
    await closing
    with pytest.raises(StoreError, match="closed"):
        await database.write(put(300))
    assert rows(engine) == set(range(200))


async def test_a_reader_sees_one_moment_and_what_was_written_before_it(database: Database) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def twice(tx: Tx) -> tuple[int, int]:
        first = tx.value("SELECT count(*) FROM setting")
        begun.set()
        go_on.wait(PATIENCE_S)
        return first, tx.value("SELECT count(*) FROM setting")

    await database.write(put(1))
    reading = asyncio.create_task(database.read(twice))
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    await database.write(put(2))
    go_on.set()
    assert await reading == (1, 1)
    assert await database.read(lambda tx: tx.value("SELECT count(*) FROM setting")) == 2


async def test_who_reads_writes_nothing(database: Database, engine: Engine) -> None:
    with pytest.raises(StoreError):
        await database.read(put(1))
    assert rows(engine) == set()
    await database.write(put(2))
    beside = await engine.open_database(read_only=True)
    assert await beside.read(lambda tx: tx.value("SELECT key FROM setting")) == "2"
    with pytest.raises(StoreError, match="reading only"):
        await beside.write(put(3))
    await beside.close()
    assert rows(engine) == {2}


async def test_what_was_committed_is_there_at_the_next_start(engine: Engine) -> None:
    for number in range(3):
        database = await engine.open_database()
        assert rows(engine) == set(range(number))
        await database.write(put(number))
        await database.close()
    assert rows(engine) == {0, 1, 2}
    assert engine.faults() == []


async def test_of_a_thousand_that_write_fail_or_leave_exactly_the_acknowledged_are_stored(
    database: Database, engine: Engine
) -> None:
    chance = random.Random(1)
    acknowledged: set[int] = set()
    left: set[int] = set()
    failed: set[int] = set()

    async def one(number: int) -> None:
        kind = chance.choice(("write", "write", "raise", "refuse", "leave"))
        transactions = {"raise": put(number, ValueError("no")), "refuse": refused}
        task = asyncio.create_task(database.write(transactions.get(kind, put(number))))
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

    await asyncio.gather(*(one(number) for number in range(10, 1_010)))
    await database.close()
    assert rows(engine) - left == acknowledged - left
    assert left <= rows(engine)
    assert not failed & rows(engine)
    assert acknowledged
    assert left
    assert failed
