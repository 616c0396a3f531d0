"""A child that imports or mends and is killed, by itself and with SIGKILL, at the n-th statement that changes memories.

`python -m tests.kill_memory FOLDER N [FILE]`: with a file it imports, without one it mends. Tests say what must hold.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from bot.memory.archive.imports import make_plan
from bot.memory.archive.records import parse_jsonl
from bot.memory.lifecycle import ownership_fault
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import Store, open_store
from tests.fork_server import run_module
from tests.storing import NOW

CHANGES = ("INSERT INTO memory", "UPDATE memory", "INSERT INTO doc_text")


def kill_at(folder: Path, statement: int, *words: str) -> None:
    """Run the child until it dies of that statement."""
    assert run_module("tests.kill_memory", str(folder), str(statement), *words) == -signal.SIGKILL


async def work(folder: Path, statement: int, text: str) -> None:
    """Import that text, or mend without one, with a writer that dies."""
    async with await open_store(folder) as store:
        _arm(store, statement)
        if text:
            parsed = parse_jsonl(text, "f")
            plan = make_plan(parsed, await store.memories.import_base(), store.tombstones.covers)
            await store.memories.bring_in(plan, NOW)
        else:
            for fault in await store.memories.faults(frozenset(("namespaces", "text-index")), ownership_fault):
                await store.memories.mend((fault,), ownership_fault, NOW)
            await store.memories.fill_postings()


def _arm(store: Store, statement: int) -> None:
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


if __name__ == "__main__":
    asyncio.run(
        work(Path(sys.argv[1]), int(sys.argv[2]), "".join(Path(name).read_text("utf-8") for name in sys.argv[3:]))
    )
