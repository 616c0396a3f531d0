"""Purging: what was forgotten is deleted when its days for undo are over, and every trace of it in the files."""

import asyncio
import sqlite3
from typing import cast

from bot.store.database import Database
from bot.store.documents import forget_terms
from bot.store.exporting import drop_archives
from bot.store.merges import drop_merges


async def purge_now(database: Database, now: int) -> int:
    """Delete the rows whose days for undo are over, and whatever was scrubbed from the files; how many rows.

    Archives that their owners wait for may still tell it, so they go, too.
    """
    owners = await database.rows("SELECT DISTINCT owner_id FROM memory WHERE purge_at <= ?", (now,))
    await asyncio.to_thread(drop_archives, database.folder, [owner for (owner,) in owners])
    count = await database.write(lambda db: purge(db, now))
    await database.truncate()
    return count


def purge(db: sqlite3.Connection, now: int) -> int:
    """Verb: rows whose time is over are deleted, and the full-text index keeps nothing of them."""
    gone = [cast("int", row[0]) for row in db.execute("SELECT id FROM memory WHERE purge_at <= ?", (now,))]
    for number in gone:
        drop_merges(db, number, now, now)
        db.execute("DELETE FROM edge WHERE kind = 'memory' AND derived_id = ?", (number,))
        db.execute("DELETE FROM turn_memory WHERE memory_id = ?", (number,))
        db.execute("DELETE FROM memory WHERE id = ?", (number,))
    if gone:
        forget_terms(db)
    return len(gone)
