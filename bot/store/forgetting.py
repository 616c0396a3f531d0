"""忘记: disabling memories, following their source edges, and purging what was kept for undo.

Tombstones are written by the caller; which memory is meant is decided elsewhere.
"""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.database import Database
from bot.store.keeping import Receipt, confirm, done_before
from bot.text.echo import echoes
from bot.types.memory import Memory

DAY_MS = 86_400_000

SCRUBBED_LINES = 4_000
"""How many of a chat's newest lines are searched for echoes; what is older left every prompt long ago."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Which memories go, on whose word; `purge_at` (ms) is when undo ends, None purges now."""

    memories: tuple[Memory, ...]
    person_id: int
    purge_at: int | None


class Forget:
    """What is told to be forgotten is gone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def forget(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Disable, scrub every derived copy and store the receipt, in one commit; the receipt's text. Once for a key."""
        text = await self._database.write(lambda db: forget(db, forgetting, receipt, at))
        if forgetting.purge_at is None:
            await self.purge(at)
        return text

    async def purge(self, now: int) -> int:
        """Delete the rows whose days for undo are over, and every trace of them in the files; how many."""
        count = await self._database.write(lambda db: purge(db, now))
        if count:
            await self._database.truncate()
        return count


def forget(db: sqlite3.Connection, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
    """Verb: rows disabled, derived copies scrubbed, receipt stored."""
    before = done_before(db, receipt)
    if before is not None:
        return before
    purge_at = at if forgetting.purge_at is None else forgetting.purge_at
    for memory in forgetting.memories:
        db.execute(
            "UPDATE memory SET disabled_at = ?, disabled_reason = 'asked', purge_at = ?, updated_at = ? WHERE id = ?",
            (at, purge_at, at, memory.id),
        )
        db.execute("DELETE FROM memory_text WHERE rowid = ?", (memory.id,))
        _scrub(db, memory, forgetting.person_id, receipt, at, purge_at)
    _hide(db, [receipt.event_id])
    number = forgetting.memories[0].id if forgetting.memories else 0
    return confirm(db, receipt, receipt.text(number, len(forgetting.memories) > 1), at)


def _scrub(db: sqlite3.Connection, memory: Memory, person_id: int, receipt: Receipt, at: int, purge_at: int) -> None:
    """Everything derived from the same events, and every line that repeats the statement."""
    sources = {
        cast("int", row[0])
        for row in db.execute("SELECT event_id FROM edge WHERE kind = 'memory' AND derived_id = ?", (memory.id,))
    }
    chats = {memory.chat_id, receipt.chat_id}
    lines = [
        row
        for chat_id in sorted(chats)
        for row in db.execute(
            "SELECT id, text FROM event WHERE chat_id = ? AND hidden = '' AND text <> '' AND (person_id = ? OR "
            "person_id IS NULL) ORDER BY id DESC LIMIT ?",
            (chat_id, person_id, SCRUBBED_LINES),
        )
    ]
    hidden = sorted(
        {number for number, text in lines if echoes(memory.text, text)}
        | (_asked_for_it(db, sources) if memory.source == "command" else set())
    )
    _hide(db, hidden)
    _stale_epochs(db, memory, hidden, chats)
    _derived(db, memory, at, purge_at)
    for chat_id in chats:
        for number, text in db.execute(
            "SELECT id, text FROM outbox WHERE chat_id = ? AND text <> ''", (chat_id,)
        ).fetchall():
            if echoes(memory.text, text):
                db.execute("UPDATE outbox SET text = '', state = 'cancelled' WHERE id = ?", (number,))


def _asked_for_it(db: sqlite3.Connection, sources: set[int]) -> set[int]:
    """Of the source events, those that still hold text: the very messages that asked to keep it."""
    marks = ",".join("?" * len(sources))
    rows = db.execute(f"SELECT id FROM event WHERE id IN ({marks}) AND hidden = ''", tuple(sources))
    return {cast("int", row[0]) for row in rows}


def _hide(db: sqlite3.Connection, events: list[int]) -> None:
    db.executemany("UPDATE event SET hidden = 'forgotten', text = '' WHERE id = ?", [(number,) for number in events])


def _stale_epochs(db: sqlite3.Connection, memory: Memory, hidden: list[int], chats: set[int]) -> None:
    """Logs that hold it are never sent again: their entries go now, unless a turn still runs on them."""
    found = {
        cast("int", row[0])
        for number in hidden
        for row in db.execute(
            "SELECT entry.epoch_id FROM edge JOIN entry ON entry.id = edge.derived_id WHERE edge.kind = 'entry' "
            "AND edge.event_id = ?",
            (number,),
        )
    }
    where = "WHERE session.chat_id = ?" if memory.visibility != "public" else "WHERE session.chat_id = ? OR 1"
    for chat_id in chats:
        logs = db.execute(
            "SELECT epoch_id, message FROM entry JOIN epoch ON epoch.id = entry.epoch_id "
            f"JOIN session ON session.id = epoch.session_id {where}",
            (chat_id,),
        )
        found |= {cast("int", epoch) for epoch, text in logs.fetchall() if echoes(memory.text, text)}
    for epoch_id in sorted(found):
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (epoch_id,))
        running = db.execute(
            "SELECT 1 FROM turn WHERE epoch_id = ? AND state IN ('asked', 'answered')", (epoch_id,)
        ).fetchone()
        if running is None:
            drop_log(db, epoch_id)


def drop_log(db: sqlite3.Connection, epoch_id: int) -> None:
    """Verb part: the log of an epoch is deleted; its turns keep their numbers."""
    db.execute(
        "DELETE FROM edge WHERE kind = 'entry' AND derived_id IN (SELECT id FROM entry WHERE epoch_id = ?)", (epoch_id,)
    )
    db.execute("DELETE FROM entry WHERE epoch_id = ?", (epoch_id,))


def _derived(db: sqlite3.Connection, memory: Memory, at: int, purge_at: int) -> None:
    """Digests and other memories that say the same go with it; a digest is made again by rule from what is left."""
    for number, session_id, summary in db.execute(
        "SELECT id, session_id, summary FROM digest WHERE owner_id IS ?1 OR chat_id = ?2",
        (memory.owner_id, memory.chat_id),
    ).fetchall():
        if echoes(memory.text, summary):
            db.execute("UPDATE digest SET summary = '' WHERE id = ?", (number,))
            db.execute("UPDATE session SET digest_due_at = ? WHERE id = ?", (at, session_id))
    for number, text in db.execute(
        "SELECT id, text FROM memory WHERE disabled_at IS NULL AND owner_id IS ?1 AND id <> ?2 AND asked = 0",
        (memory.owner_id, memory.id),
    ).fetchall():
        if echoes(memory.text, text):
            db.execute(
                "UPDATE memory SET disabled_at = ?, disabled_reason = 'derived', purge_at = ? WHERE id = ?",
                (at, purge_at, number),
            )
            db.execute("DELETE FROM memory_text WHERE rowid = ?", (number,))


def purge(db: sqlite3.Connection, now: int) -> int:
    """Verb: rows whose time is over are deleted, and the full-text index keeps nothing of them."""
    gone = [cast("int", row[0]) for row in db.execute("SELECT id FROM memory WHERE purge_at <= ?", (now,))]
    for number in gone:
        db.execute("DELETE FROM edge WHERE kind = 'memory' AND derived_id = ?", (number,))
        db.execute("DELETE FROM memory WHERE id = ?", (number,))
    if gone:
        db.execute("INSERT INTO memory_text (memory_text) VALUES ('optimize')")
    return len(gone)
