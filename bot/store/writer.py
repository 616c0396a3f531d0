"""The one thread that writes. Verbs that wait share a commit, each in a savepoint, and are told after it.

It knows no table and no verb.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from bot.errors import StoreError
from bot.store.unfit import refusal

T = TypeVar("T")
Verb = Callable[[sqlite3.Connection], Any]

BATCH = 64
"""Most verbs in one commit: bounds how long the first of them waits."""


class _Job:
    __slots__ = ("alone", "error", "future", "result", "verb")

    def __init__(self, verb: Verb, future: "asyncio.Future[Any]", alone: bool) -> None:
        self.verb = verb
        self.future = future
        self.alone = alone
        self.result: Any = None
        self.error: BaseException | None = None


class Writer:
    """Runs verbs one after the other on the only connection that may write."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="nuan-writer", daemon=True)
        self._waiting = 0
        self._closed = False
        self.refusing = ""
        """Why the disk or the database refused the last write, "" when it took it."""
        self._gate = threading.Lock()
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many verbs are asked for and not yet told their result."""
        return self._waiting

    async def run(self, verb: Callable[[sqlite3.Connection], T]) -> T:
        """Run `verb` in a transaction; return after the commit.

        A cancelled caller does not undo it: the verb runs whole or not at all. Raises what the verb raised
        (its savepoint is rolled back) or StoreError when the disk or the database refuses.
        """
        result: T = await self._do(verb, alone=False)
        return result

    async def checkpoint(self) -> bool:
        """Copy the write-ahead log into the file and truncate it, outside any transaction.

        False when somebody read for so long that it could not be done.
        """
        busy: bool = await self._do(_truncate, alone=True)
        return not busy

    async def _do(self, verb: Verb, *, alone: bool) -> Any:
        job = _Job(verb, asyncio.get_running_loop().create_future(), alone)
        with self._gate:  # a verb that came after the last one would wait for ever
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
        self._connection.close()

    def _work(self) -> None:
        while (first := self._jobs.get()) is not None:
            batch, rest, last = self._batch(first)
            self._commit(batch)
            if rest is not None:
                self._alone(rest)
                batch.append(rest)
            for job in batch:
                with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to be told
                    job.future.get_loop().call_soon_threadsafe(self._tell, job)
            if last:
                return

    def _batch(self, first: _Job) -> tuple[list[_Job], _Job | None, bool]:
        """What waits now: verbs for one commit, a job that runs alone after them, and whether it was the last."""
        batch: list[_Job] = []
        job: _Job | None = first
        while job is not None:
            if job.alone:
                return batch, job, False
            batch.append(job)
            if len(batch) == BATCH:
                return batch, None, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return batch, None, False
        return batch, None, True

    def _commit(self, batch: list[_Job]) -> None:
        """One transaction for all; when it is refused, one for each, so that nobody fails for another's verb."""
        if not batch:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._one(job)
            self._connection.execute("COMMIT")
            self.refusing = ""
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):  # the failure itself may have ended the transaction
                self._connection.execute("ROLLBACK")
            for job in batch:
                job.result, job.error = None, None
            if len(batch) == 1:
                self.refusing = str(error)
                batch[0].error = refusal(f"the database refused a write ({error}); nothing of it was stored", error)
                return
            for job in batch:
                self._commit([job])

    def _alone(self, job: _Job) -> None:
        try:
            job.result = job.verb(self._connection)
        except sqlite3.Error as error:
            job.error = StoreError(f"the database refused ({error})")
        except Exception as error:  # noqa: BLE001 - as in a transaction: it belongs to the caller
            job.error = error

    def _one(self, job: _Job) -> None:
        self._connection.execute("SAVEPOINT verb")
        try:
            job.result = job.verb(self._connection)
        except (sqlite3.OperationalError, sqlite3.InternalError):
            # The disk or the file refuses: nothing of this commit can be trusted, so all of it is undone.
            raise
        except Exception as error:  # noqa: BLE001 - whatever a verb raises belongs to its caller, not to this thread
            job.error = error
        if job.error is not None:
            self._connection.execute("ROLLBACK TO verb")
        self._connection.execute("RELEASE verb")

    def _tell(self, job: _Job) -> None:
        self._waiting -= 1
        if job.future.cancelled():
            return
        if job.error is not None:
            job.future.set_exception(job.error)
            job.future.exception()  # seen, also when a cancelled caller no longer looks
        else:
            job.future.set_result(job.result)


def _truncate(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
