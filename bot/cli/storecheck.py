"""What `nuan doctor` finds in the data folder: whether it is whole, and what did not reach its people."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.cli.checks import clock_finding
from bot.errors import HeldError, StoreError
from bot.store.levels import INDEXES
from bot.store.store import DATABASE, Store, hold, open_store
from bot.types.finding import Finding

MOST_TOLD = 3


async def store_findings(data: Path, now: int) -> tuple[Finding, ...]:
    """Beside a running nuan, too; `now` in ms."""
    nothing = _nothing_to_read(data)
    if nothing is not None:
        return (nothing,)
    try:
        async with await open_store(data, read_only=True) as store:
            wrong = await store.vitals.damage()
            if wrong:
                return (_damaged("; ".join(wrong[:MOST_TOLD])),)
            found = [Finding(True, "data", f"{DATABASE} can be read, all of it is whole")]
            if dangling := await store.vitals.dangling():
                told = f"{dangling} rows refer to what is not there: nuan works; a backup from before may be better"
                found.append(Finding(True, "data", told, warn=True))
            found += [await _index(data, store), *await _deliveries(store, now)]
            newest = await store.vitals.newest_line()
    except StoreError as error:
        return (Finding(False, "data", str(error)),)
    late = clock_finding(now, newest)
    return (*found, *((late,) if late is not None else ()))


def _nothing_to_read(data: Path) -> Finding | None:
    """Why there is no database to look into; None when there is one."""
    if data.exists() and not (data.is_dir() and os.access(data, os.R_OK | os.W_OK | os.X_OK)):
        return Finding(False, "data", f"{data} is no folder that can be written: give --data DIR")
    if (data / DATABASE).exists():
        return None
    if (data / f"{DATABASE}-wal").exists():
        told = f"{DATABASE} is gone but {DATABASE}-wal is there: put the database or a backup back beside it"
        return Finding(False, "data", told)
    return Finding(True, "data", "there is no database yet: the first start makes it")


def _damaged(what: str) -> Finding:
    return Finding(False, "data", f"{DATABASE} is damaged ({what}): stop nuan and put a backup in its place")


async def _index(data: Path, store: Store) -> Finding:
    """Whether the full-text index says what the rows say, and is whole in itself."""
    faults = await store.vitals.unindexed()
    inside = await asyncio.to_thread(_index_fault, data)
    if inside:
        return Finding(False, "full-text index", f"it is damaged ({inside}): stop nuan and put a backup in its place")
    if faults:
        text = f"{faults} rows are not as they should be: `nuan memory backfill --text-index --apply`"
        return Finding(True, "full-text index", text, warn=True)
    beside = "" if inside is not None else "; whether it is whole in itself is looked at while nuan is stopped"
    return Finding(True, "full-text index", f"it holds what can be searched{beside}")


def _index_fault(folder: Path) -> str | None:
    """What FTS5 says of its own tables; None beside a writer: it is asked by a statement that counts as a write."""
    try:
        lock = hold(folder)
    except HeldError:
        return None
    try:
        with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as database:
            database.execute("BEGIN")
            try:
                for index in INDEXES:
                    if database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (index,)).fetchone():
                        database.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
            finally:
                database.execute("ROLLBACK")
    except sqlite3.Error as error:
        return str(error)
    finally:
        os.close(lock)
    return ""


async def _deliveries(store: Store, now: int) -> list[Finding]:
    """What waits, what may not have arrived, what never will, and which digests do not come about."""
    states = await store.outbox.states()
    told = {
        "pending": ("wait to be sent", False),
        "unknown": (
            "may or may not have arrived (a crash or a timeout cut them off) and are not sent again: look there, and "
            "ask nuan again for what is missing",
            True,
        ),
        "failed": ("were refused by their platform and are not sent again: `nuan logs` says why at send_failed", True),
    }
    lines = [
        Finding(True, "outbox", f"{states[state]} messages {text}", warn=warn)
        for state, (text, warn) in told.items() if states.get(state)
    ]  # fmt: skip
    if dead := await store.failing.dead():
        causes = ", ".join(f"{error} {count}" for error, count in sorted(dead.items()))
        text = (
            f"{sum(dead.values())} could not be handled in many tries and were given up ({causes}): look at `nuan logs`"
        )
        lines.append(Finding(True, "messages", f"{text} for given_up", warn=True))
    waiting, late = await store.reminders.overdue(now)
    if waiting:
        lines.append(Finding(True, "reminders", f"{waiting} wait, {late} of them are late: the next start says them"))
    stuck = await store.vitals.stuck_digests()
    if stuck:
        text = f"{stuck} talks could not be summed up after many tries: look at `nuan logs` for digest_postponed"
        lines.append(Finding(True, "digests", text, warn=True))
    return lines
