"""Memories that their owner lets everybody hear, and takes back: who may see one changes, with all that told it."""

import sqlite3
from typing import cast

from bot.store.database import Database
from bot.store.forgetting import hide, undigest
from bot.store.indexing import index_memory
from bot.store.keeping import Statement, replace_same
from bot.store.rows import NAME_SLOT
from bot.store.sessions import end_logs
from bot.store.unnoting import Shelf, Unsaid, unnote
from bot.text.echo import echoes
from bot.types.memory import Memory, Visibility


class Sharing:
    """Who may see a memory, as its owner says."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def share(self, memory: Memory, at: int) -> bool:
        """From now on it is told wherever its owner speaks; False when it is so already, or is gone."""
        return await self._database.write(lambda db: _share(db, memory.id, at))

    async def unshare(self, memory: Memory, at: int) -> Visibility | None:
        """It is of the chat again in which it was told, of its owner alone if that was a DM; None when not shared.

        Elsewhere no log tells it any more, and what nuan said of it there is not shown again.
        """
        return await self._database.write(lambda db: _unshare(db, memory, at, self._shelf))


def _share(db: sqlite3.Connection, number: int, at: int) -> bool:
    """Verb: everybody whom its owner talks among may be told."""
    row = db.execute(
        f"SELECT owner_id, chat_id, {NAME_SLOT}, folded FROM memory WHERE id = ? AND owner_id IS NOT NULL "
        "AND disabled_at IS NULL AND visibility <> 'public'",
        (number,),
    ).fetchone()
    if row is None:
        return False
    owner, chat, slot, folded = row
    _move(db, number, Statement(owner, chat, "public", slot, folded), at)
    return True


def _unshare(db: sqlite3.Connection, memory: Memory, at: int, shelf: Shelf) -> Visibility | None:
    """Verb: it goes back to where it was told, and out of what was made from it elsewhere."""
    row = db.execute(
        f"SELECT owner_id, chat_id, {NAME_SLOT}, folded, chat.kind FROM memory JOIN chat ON chat.id = chat_id "
        "WHERE memory.id = ? AND disabled_at IS NULL AND visibility = 'public'",
        (memory.id,),
    ).fetchone()
    if row is None:
        return None
    owner, chat, slot, folded, chat_kind = row
    back: Visibility = "private" if chat_kind == "dm" else "chat"
    _move(db, memory.id, Statement(owner, chat, back, slot, folded), at)
    _take_back(db, memory, back, at, shelf)
    return back


def _move(db: sqlite3.Connection, number: int, said: Statement, at: int) -> None:
    """It takes the place of what its owner has there already: the same, or another name."""
    replace_same(db, said, at)
    db.execute("UPDATE memory SET visibility = ? WHERE id = ?", (said.visibility, number))
    index_memory(db, number)


def _take_back(db: sqlite3.Connection, memory: Memory, back: Visibility, at: int, shelf: Shelf) -> None:
    """Logs that were told it where it may not be told any more end, and nuan's own words of it go with them."""
    if back == "private":
        elsewhere, who = "NOT (chat.kind = 'dm' AND turn.person_id IS ?)", memory.owner_id
    else:
        elsewhere, who = "chat.id <> ?", memory.chat_id
    turns = {
        cast("int", row[0])
        for row in db.execute(
            "SELECT turn.id FROM turn_memory JOIN turn ON turn.id = turn_id JOIN chat ON chat.id = turn.chat_id "
            f"WHERE memory_id = ? AND {elsewhere}",
            (memory.id, who),
        )
    }
    logs = {
        cast("int", row[0])
        for number in turns
        for row in db.execute(
            "SELECT epoch_id FROM turn WHERE id = ?1 UNION SELECT epoch_id FROM entry WHERE turn_id = ?1", (number,)
        )
    }
    said = {
        cast("int", number)
        for epoch_id in logs
        for number, text in db.execute(
            "SELECT event.id, event.text FROM event JOIN turn ON turn.id = event.turn_id WHERE turn.epoch_id = ? "
            "AND event.kind = 'bot' AND event.text <> ''",
            (epoch_id,),
        )
        if any(echoes(wording, text) for wording in memory.wordings)
    }
    unnote(db, shelf, Unsaid(frozenset(said)), at)
    end_logs(db, logs)
    undigest(db, said, at)
    hide(db, said, "forgotten")
