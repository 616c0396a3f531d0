"""A child that erases a person or restores a backup and is killed, with SIGKILL, in the middle of it.

`python -m tests.kill_data erase FOLDER WHO` and `… restore FOLDER FILE`: the tests say what must hold then.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from bot.store import backups
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import open_store
from tests.fork_server import run_module
from tests.storing import NOW

AT = {"erase": "UPDATE person SET name = ''", "restore": "wal_checkpoint"}
"""The statement that is not lived to see the end of: of the last step, and when the present file is put aside."""


def kill_in(verb: str, folder: Path, *words: str) -> None:
    """Run the child until it dies of that."""
    assert run_module("tests.kill_data", verb, str(folder), *words) == -signal.SIGKILL


def _die(sql: str, wanted: str) -> None:
    if wanted in sql:
        os.kill(os.getpid(), signal.SIGKILL)


async def erase(folder: Path, who: str) -> None:
    """Erase, with a writer that dies."""
    async with await open_store(folder) as store:
        writer = store._database._writer
        assert writer is not None
        assert isinstance(writer.tx, SqliteTx)
        writer.tx.set_trace_callback(lambda sql: _die(sql, AT["erase"]))
        number = await store.people.by_account(who)
        assert number is not None
        await store.people.erase(number, NOW)


async def restore(folder: Path, copy: str) -> None:
    """Restore, dying when the present file is about to be put aside."""
    swap = backups._swap

    def dying(present: Path, new: Path, previous: Path) -> bool:
        previous.hardlink_to(present)
        os.kill(os.getpid(), signal.SIGKILL)
        return swap(present, new, previous)

    backups._swap = dying
    await backups.roll_back(folder, Path(copy), "20260612T010000000Z", NOW, label="restore")


if __name__ == "__main__":
    asyncio.run({"erase": erase, "restore": restore}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3]))
