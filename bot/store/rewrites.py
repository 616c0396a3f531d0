"""The queue of kept sentences that a model is to put into clean statements; the original stays beside the new text."""

import sqlite3
from dataclasses import dataclass

from bot.store.database import Repository
from bot.store.indexing import index_memory
from bot.store.keeping import Receipt, confirm, done_before
from bot.store.ledger import Owner, Reservation, Settlement, reserve, settle
from bot.store.outbox import put
from bot.store.questions import Asked, ask
from bot.store.rows import MEMORY, memory_of
from bot.store.sorting import sort_memory
from bot.text.fold import fold
from bot.types.memory import Memory
from bot.types.outgoing import Draft
from bot.types.turn import Call


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory to be rewritten, and how often a model was asked before."""

    memory: Memory
    attempts: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it: a new text ("" leaves it as it was said), what is said of it, and what the call cost.

    With `asked` the person is asked, and it waits for the answer.
    """

    text: str
    notice: Draft | None = None
    settlement: Settlement | None = None
    asked: Asked | None = None


class Rewrites(Repository):
    """What waits to be rewritten."""

    async def waiting(self, memory_id: int, now: int) -> Waiting | None:
        """The memory, if it is active and due."""
        row = await self._database.row(
            MEMORY.replace("SELECT ", "SELECT rewriting.attempts, ", 1)
            + "JOIN rewriting ON memory_id = memory.id WHERE memory.id = ? AND disabled_at IS NULL AND due_at <= ?",
            (memory_id, now),
        )
        return Waiting(memory_of(tuple(row[1:])), int(row[0])) if row else None

    async def reserve(self, memory: Memory, reservation: Reservation, at: int) -> Call:
        """Reserve the call and count the attempt in one commit; OverBudget when a limit would be passed."""

        def verb(db: sqlite3.Connection) -> Call:
            db.execute("UPDATE rewriting SET attempts = attempts + 1 WHERE memory_id = ?", (memory.id,))
            return reserve(db, reservation, at, Owner(None, memory.chat_id))

        return await self._database.write(verb)

    async def postpone(self, memory_id: int, due_at: int) -> None:
        """Try again at that instant, ms."""
        await self._database.write(
            lambda db: db.execute("UPDATE rewriting SET due_at = ? WHERE memory_id = ?", (due_at, memory_id))
        )

    async def end(self, memory: Memory, outcome: Outcome, at: int) -> None:
        """Commit what became of it; of a memory that was forgotten or changed meanwhile nothing is said."""
        await self._database.write(lambda db: _end(db, memory, outcome, at))

    async def add(self, memory_id: int, owner_id: int, more: str, receipt: Receipt, at: int) -> str | None:
        """A person's answer joins what they had said, which is rewritten anew; None when it is gone. Once for a key."""
        return await self._database.write(lambda db: _add(db, memory_id, owner_id, more, receipt, at))


def _end(db: sqlite3.Connection, memory: Memory, outcome: Outcome, at: int) -> None:
    if outcome.settlement is not None:
        settle(db, outcome.settlement, at)
    same = db.execute(
        "SELECT 1 FROM memory WHERE id = ? AND disabled_at IS NULL AND text = ?", (memory.id, memory.text)
    ).fetchone()
    if outcome.asked is not None and same is not None:
        db.execute("UPDATE rewriting SET due_at = NULL WHERE memory_id = ?", (memory.id,))
        ask(db, memory.chat_id, memory.owner_id or 0, outcome.asked)
    else:
        db.execute("DELETE FROM rewriting WHERE memory_id = ?", (memory.id,))
    if same is None:
        return
    if outcome.text:
        _say_otherwise(db, memory.id, outcome.text, at)
    if outcome.notice is not None:
        line = db.execute(
            "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'memory', 'done')",
            (memory.chat_id, at, outcome.notice.text),
        ).lastrowid
        put(db, memory.chat_id, outcome.notice, at, event_id=line)


def _say_otherwise(db: sqlite3.Connection, number: int, text: str, at: int) -> None:
    db.execute(
        "UPDATE memory SET original = CASE original WHEN '' THEN text ELSE original END, text = ?, folded = ?, "
        "updated_at = ? WHERE id = ?",
        (text, fold(text), at, number),
    )
    sort_memory(db, number)
    index_memory(db, number)


def _add(
    db: sqlite3.Connection, memory_id: int, owner_id: int, more: str, receipt: Receipt, at: int
) -> str | None:  # fmt: skip
    before = done_before(db, receipt, at)
    if before is not None:
        return before
    row = db.execute(
        "SELECT text FROM memory WHERE id = ? AND owner_id = ? AND disabled_at IS NULL", (memory_id, owner_id)
    ).fetchone()
    if row is None:
        return None
    text = f"{row[0]}\n{more}"
    db.execute("UPDATE memory SET text = ?, folded = ?, updated_at = ? WHERE id = ?", (text, fold(text), at, memory_id))
    db.execute(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)",
        (memory_id, receipt.event_id),
    )
    sort_memory(db, memory_id)
    index_memory(db, memory_id)
    db.execute("UPDATE rewriting SET due_at = ? WHERE memory_id = ?", (at, memory_id))
    return confirm(db, receipt, receipt.text(memory_id, True), at, memory_id)
