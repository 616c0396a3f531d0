"""What nuan was asked to say though nobody called: the end of it when nothing is said. Why it is asked is elsewhere."""

import sqlite3

from bot.store.ledger import charge
from bot.store.steps import TURN, turn_of
from bot.store.voiding import fail
from bot.types.turn import Turn


def leave(db: sqlite3.Connection, why: str, chat_id: int | None, outcome: str, at: int) -> None:
    """Verb part: of all that was asked for that reason in a chat (None: in any) nothing is said any more."""
    where = "why = ?2 AND (?1 IS NULL OR {}chat_id = ?1)"
    running = f"WHERE turn.state IN ('asked', 'answered') AND turn.{where.format('turn.')}"
    for row in db.execute(TURN + running, (chat_id, why)).fetchall():
        _void(db, turn_of(row), outcome, at)
    db.execute(
        f"UPDATE event SET state = 'done', outcome = ?3, due_at = NULL WHERE state = 'queued' AND {where.format('')}",
        (chat_id, why, outcome),
    )


def _void(db: sqlite3.Connection, turn: Turn, error: str, at: int) -> None:
    """A turn that is over without a word; what it logged goes, a call in flight costs what was reserved."""
    for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn.id,)).fetchall():
        charge(db, call_id, at)
    fail(db, turn, error, None, None, at)
    db.execute("UPDATE turn SET state = 'void' WHERE id = ?", (turn.id,))
