"""The queue of kept sentences that a model is to put into clean statements; the original stays beside the new text."""

import sqlite3
from dataclasses import dataclass

from bot.store.database import Repository
from bot.store.events import EVENT, VISIBLE, event_of
from bot.store.indexing import index_memory
from bot.store.ledger import Owner, Reservation, Settlement, reserve, settle
from bot.store.outbox import tell
from bot.store.questions import Asked, ask
from bot.store.rows import MEMORY, memory_of
from bot.store.sorting import sort_memory
from bot.text.fold import fold
from bot.types.event import Event
from bot.types.memory import Memory
from bot.types.outgoing import Draft
from bot.types.turn import Call

_QUESTION = f"(SELECT text FROM event WHERE {VISIBLE}event.id = asked_id)"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory to be rewritten, and how often a model was asked before.

    `question` is what its owner was asked about it, "" for nothing; `answer` what they said next, as it is now.
    """

    memory: Memory
    attempts: int
    question: str = ""
    answer: Event | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it: a new text ("" leaves it as it was said), what is said of it, and what the call cost.

    With `asked` the person is asked, and it waits for what they say next. An `answer` is a source of the new text.
    """

    text: str
    notice: Draft | None = None
    settlement: Settlement | None = None
    asked: Asked | None = None
    answer: Event | None = None


class Rewrites(Repository):
    """What waits to be rewritten."""

    async def waiting(self, memory_id: int, now: int) -> Waiting | None:
        """The memory, if it is active and due."""
        answer = "(SELECT answer_id FROM rewriting WHERE memory_id = ?)"
        rows, said = await self._database.snapshot(
            (
                MEMORY.replace("SELECT ", f"SELECT rewriting.attempts, coalesce({_QUESTION}, ''), ", 1)
                + "JOIN rewriting ON memory_id = memory.id WHERE memory.id = ? AND disabled_at IS NULL AND due_at <= ?",
                (memory_id, now),
            ),
            (f"{EVENT}WHERE {VISIBLE}id = {answer}", (memory_id,)),
        )
        if not rows:
            return None
        attempts, question, *memory = rows[0]
        return Waiting(memory_of(tuple(memory)), int(attempts), question, event_of(said[0]) if said else None)

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

    async def offer(self, memory_id: int, event: Event, at: int) -> None:
        """What its owner said after they were asked: a model may make one statement of both."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE rewriting SET answer_id = ?, due_at = ? WHERE memory_id = ? AND asked_id IS NOT NULL",
                (event.id, at, memory_id),
            )
        )


def _end(db: sqlite3.Connection, memory: Memory, outcome: Outcome, at: int) -> None:
    if outcome.settlement is not None:
        settle(db, outcome.settlement, at)
    same = db.execute(
        "SELECT 1 FROM memory WHERE id = ? AND disabled_at IS NULL AND text = ?", (memory.id, memory.text)
    ).fetchone()
    waits = outcome.asked is not None and same is not None
    if not waits:
        db.execute("DELETE FROM rewriting WHERE memory_id = ?", (memory.id,))
    if same is None or not _stands(db, outcome.answer):
        return
    if outcome.text:
        _say_otherwise(db, memory, outcome, at)
    if outcome.notice is not None:
        line = tell(db, memory.chat_id, outcome.notice, at)
        if outcome.asked is not None:
            db.execute(
                "UPDATE rewriting SET due_at = ?, asked_id = ? WHERE memory_id = ?",
                (outcome.asked.until, line, memory.id),
            )
            ask(db, memory.chat_id, memory.owner_id or 0, outcome.asked)


def _stands(db: sqlite3.Connection, answer: Event | None) -> bool:
    """Whether a line still says what a model was given."""
    return answer is None or bool(
        db.execute(f"SELECT 1 FROM event WHERE {VISIBLE}id = ? AND text = ?", (answer.id, answer.text)).fetchone()
    )


def _say_otherwise(db: sqlite3.Connection, memory: Memory, outcome: Outcome, at: int) -> None:
    said = memory.original or memory.text
    if outcome.answer is not None:
        said = f"{said}\n{outcome.answer.text}"
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)",
            (memory.id, outcome.answer.id),
        )
    db.execute(
        "UPDATE memory SET original = ?, text = ?, folded = ?, updated_at = ? WHERE id = ?",
        (said, outcome.text, fold(outcome.text), at, memory.id),
    )
    sort_memory(db, memory.id)
    index_memory(db, memory.id)
