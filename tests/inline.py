"""Stores of Worlds without threads: what they read and write is done at once, in the thread of the event loop.

Handing each statement to a thread and its rows back was a fifth of what a World costs. Whoever asks waits a turn of the
loop all the same, so others run in between. Whatever runs in asyncio's debug mode or at its full size, the contract
suite and the tests of the store have the engine's own threads.
"""

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from bot.core.errors import StoreError
from bot.store import engine
from bot.store.sqlite import opening
from tests.fakes.clock import let_others_run
from tests.sizes import is_full

_THREADED = {"Writer": engine.Writer, "ReadConnection": opening.ReadConnection}


class InlineReader(opening.ReadConnection):
    """A connection that reads when it is asked."""

    def __await__(self) -> Generator[Any, None, "InlineReader"]:
        return self._connect().__await__()

    async def _connect(self) -> "InlineReader":
        self._connection = self._connector()
        return self

    async def _execute(self, fn: Callable[..., Any], *args: object, **kwargs: object) -> Any:
        if not self._running or self._connection is None:
            raise ValueError("Connection closed")
        try:
            return fn(*args, **kwargs)
        finally:
            await let_others_run()

    def stop(self) -> None:
        """There is no thread to be stopped."""
        self._running = False


class InlineWriter(engine.Writer):
    """A writer that runs each transaction when it is asked, as one commit."""

    def __init__(self, connection: engine.Connection) -> None:
        self.tx = connection
        self.refusing = ""
        self._waiting = 0
        self._closed = False

    async def _do(self, transaction: engine.Transaction, order: engine.JobOrder) -> Any:
        if self._closed:
            raise StoreError("the database is closed")
        loop = asyncio.get_running_loop()
        job = engine._Job(transaction, loop.create_future(), order)
        self._waiting += 1
        if order == "alone":
            self._alone(job)
        else:
            self._commit([job])
        loop.call_soon(self._tell, job)
        return await job.future

    def close(self) -> None:
        """Nothing waits: end the connection."""
        if not self._closed:
            self._closed = True
            self.tx.close()


@contextmanager
def inline(threads: bool = False) -> Iterator[None]:
    """Who opens a database meanwhile opens it without threads, unless they are wanted."""
    if not (threads or is_full() or asyncio.get_running_loop().get_debug()):
        vars(opening).update(Writer=InlineWriter, ReadConnection=InlineReader)
    try:
        yield
    finally:
        vars(opening).update(_THREADED)
