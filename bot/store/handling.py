"""What the operator does to a memory with their own hands, by the same verb parts as 忘记, 撤销 and rewriting.

Nobody is told of it in a chat; every open log is told anew what it was told from memory.
"""

import sqlite3
from typing import Literal, cast

from bot.store.browsing import GONE
from bot.store.database import Database
from bot.store.forgetting import Forgetting, disable
from bot.store.indexing import index_memory
from bot.store.keeping import Statement, replace_same
from bot.store.purging import purge_now
from bot.store.rows import IS_NAME, MEMORY, NAME_SLOT, memory_of
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf
from bot.text.fold import fold
from bot.types.memory import Memory

Reworded = Literal["done", "gone", "named", "known", "buried"]
"""What became of new words: taken; there is no such memory (any more); it is how somebody is called, which only they
change; another memory says that already; it was forgotten, and only its owner can have it kept again."""


class Handling:
    """Memories in their keeper's hands."""

    def __init__(self, database: Database, tombstones: Tombstones, shelf: Shelf) -> None:
        self._database = database
        self._tombstones = tombstones
        self._shelf = shelf

    async def reword(self, number: int, text: str, at: int) -> Reworded:
        """Say a memory otherwise. Its sources stay, and what it said first is forgotten together with it."""
        if self._tombstones.covers(text):
            return "buried"
        return await self._database.write(lambda db: reword(db, number, text, at))

    async def forget(self, number: int, purge_at: int | None, at: int) -> bool:
        """忘记: it and every copy made of it go, to be brought back till `purge_at`, ms (None: gone at once).

        False when it is over already.
        """
        memory = await self._active(number)
        if memory is None:
            return False
        self._tombstones.bury_all([(memory.id, text) for text in memory.wordings], at)
        forgetting = Forgetting((memory,), memory.owner_id or 0, purge_at)
        await self._database.write(lambda db: forget(db, forgetting, at, self._shelf))
        if purge_at is None:
            await purge_now(self._database, at)
        return True

    async def bring_back(self, number: int, at: int) -> bool:
        """撤销: a forgotten memory holds again, in place of what was said since; False when it is gone for good."""
        found = await self._database.write(lambda db: bring_back(db, number, at))
        if found is None:
            return False
        self._tombstones.lift_all(found.wordings, at)
        return True

    async def _active(self, number: int) -> Memory | None:
        row = await self._database.row(f"{MEMORY}WHERE id = ? AND disabled_at IS NULL", (number,))
        return memory_of(row) if row is not None else None


def reword(db: sqlite3.Connection, number: int, text: str, at: int) -> Reworded:
    """Verb: new words for an active memory."""
    row = db.execute(f"{MEMORY}WHERE id = ? AND disabled_at IS NULL", (number,)).fetchone()
    if row is None:
        return "gone"
    memory = memory_of(tuple(row))
    if memory.is_name:
        return "named"
    folded = fold(text)
    same = db.execute(
        f"SELECT 1 FROM memory WHERE owner_id IS ? AND folded = ? AND visibility = ? AND NOT {IS_NAME} "
        "AND disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?) AND id <> ?",
        (memory.owner_id, folded, memory.visibility, memory.chat_id, number),
    ).fetchone()
    if same is not None:
        return "known"
    db.execute(
        "UPDATE memory SET original = CASE original WHEN '' THEN text ELSE original END, text = ?, folded = ?, "
        "updated_at = ? WHERE id = ?",
        (text, folded, at, number),
    )
    db.execute("DELETE FROM rewriting WHERE memory_id = ?", (number,))
    index_memory(db, number)
    tell_anew(db)
    return "done"


def forget(db: sqlite3.Connection, forgetting: Forgetting, at: int, shelf: Shelf) -> None:
    """Verb: disabled, with all that was derived."""
    disable(db, forgetting, forgetting.memories[0].chat_id, at, shelf)
    tell_anew(db)


def bring_back(db: sqlite3.Connection, number: int, at: int) -> Memory | None:
    """Verb: what was forgotten and is still kept for undo is active again."""
    row = db.execute(
        f"SELECT owner_id, chat_id, visibility, {NAME_SLOT}, folded, disabled_reason FROM memory WHERE id = ? "
        "AND disabled_at IS NOT NULL AND purge_at > ?",
        (number, at),
    ).fetchone()
    if row is None or row[5] not in GONE:
        return None
    replace_same(db, Statement(*row[:5]), at)
    db.execute(
        "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = ? WHERE id = ?",
        (at, number),
    )
    index_memory(db, number)
    tell_anew(db)
    return memory_of(cast("tuple[object, ...]", tuple(db.execute(f"{MEMORY}WHERE id = ?", (number,)).fetchone())))


def tell_anew(db: sqlite3.Connection) -> None:
    """Verb part: open logs begin anew, and with them what they were told from memory."""
    db.execute(
        "UPDATE epoch SET stale = 'memory' WHERE stale = '' AND session_id IN "
        "(SELECT id FROM session WHERE state = 'open')"
    )
