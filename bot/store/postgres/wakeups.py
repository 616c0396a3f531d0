"""Hints between processes on one database, by NOTIFY and LISTEN on connections of their own: never in a transaction, many
in one statement. What is lost is found by whoever looks at the rows."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from bot.core.ports import WakeKind
from bot.store.postgres.connection import CONNECT_SECONDS, LINE

CHANNEL = "nuan"

GATHER_SECONDS = 0.03
"""Between two statements: what is told meanwhile goes with the second."""

AGAIN_SECONDS = 1.0
"""How soon a connection that broke is made anew."""

MOST_AT_ONCE = 200
"""Hints of one statement: a server takes 8,000 bytes."""


class ServerWakeups:
    """As `Wakeups`, until it is closed. Who told something does not hear it."""

    def __init__(self, url: str, boot: str) -> None:
        """`boot` names this process."""
        self._url = url
        self._boot = boot
        self._told: dict[tuple[WakeKind, int], None] = {}
        self._some = asyncio.Event()
        self._heard: Callable[[WakeKind, int], None] = lambda kind, key: None
        self.listening = asyncio.Event()
        """Set while what others tell is heard."""
        works = (self._listen, self._send)
        self._tasks = [asyncio.create_task(self._kept(work), name="nuan-wakeups") for work in works]

    def tell(self, kind: WakeKind, key: int) -> None:
        """As `Wakeups.tell`."""
        self._told[kind, key] = None
        self._some.set()

    def on_heard(self, call: Callable[[WakeKind, int], None]) -> None:
        """As `Wakeups.on_heard`."""
        self._heard = call

    async def close(self) -> None:
        """End the connections; what is not sent by then stays untold."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _kept(self, work: Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]]) -> None:
        """Do that work on a connection, and once more on another one when the server went away."""
        while True:
            with contextlib.suppress(psycopg.Error, OSError):
                async with await psycopg.AsyncConnection.connect(
                    self._url,
                    autocommit=True,
                    connect_timeout=CONNECT_SECONDS,
                    application_name=f"nuan {self._boot}",
                    **LINE,
                ) as connection:
                    await work(connection)
            self.listening.clear()
            await _pause(AGAIN_SECONDS)

    async def _listen(self, connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        self.listening.set()
        async for notice in connection.notifies():
            boot, hints = json.loads(notice.payload)
            for kind, key in hints if boot != self._boot else ():
                self._heard(kind, key)

    async def _send(self, connection: psycopg.AsyncConnection[Any]) -> None:
        while True:
            await self._some.wait()
            some = list(self._told)[:MOST_AT_ONCE]
            for hint in some:
                del self._told[hint]
            if not self._told:
                self._some.clear()
            await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, json.dumps((self._boot, some))))
            await _pause(GATHER_SECONDS)


async def _pause(seconds: float) -> None:
    """Real time: the server's."""
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, passed.set)
    await passed.wait()
