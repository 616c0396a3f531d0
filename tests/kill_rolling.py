"""A child that rolls talks up and is killed, by itself and with SIGKILL, at the n-th statement that changes them.

`python -m tests.kill_rolling FOLDER N NOW`. Tests say what must hold.
"""

import asyncio
import os
import signal
import sys
from datetime import UTC
from pathlib import Path

from bot.memory.dialogue import plan_rolls
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import Store, open_store
from tests.fork_server import run_module

CHANGES = ("INSERT INTO digest", "UPDATE digest", "DELETE FROM doc", "INSERT INTO doc", "COMMIT")


def kill_at(folder: Path, statement: int, now: int) -> None:
    """Run the child until it dies of that statement."""
    assert run_module("tests.kill_rolling", str(folder), str(statement), str(now)) == -signal.SIGKILL


async def roll_up(store: Store, now: int) -> None:
    """What the installation does when talks of the first chat are to be rolled up."""
    rows = await store.digests.standing(1)
    await store.digests.roll(1, plan_rolls(rows, now, UTC, 60), now)


async def work(folder: Path, statement: int, now: int) -> None:
    """Roll up with a writer that dies."""
    async with await open_store(folder) as store:
        left = statement

        def see(sql: str) -> None:
            nonlocal left
            left -= sql.startswith(CHANGES)
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        writer = store._database._writer
        assert writer is not None
        assert isinstance(writer.tx, SqliteTx)
        writer.tx.set_trace_callback(see)
        await roll_up(store, now)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
