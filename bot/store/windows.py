"""Activation windows as they are stored: kept open by what nuan says, closed when she is told to be quiet."""

import sqlite3

from bot.store.database import Repository
from bot.store.lulls import keep_quiet

QUIET = "quiet:"
"""How the key of the effect begins that keeps a turn, by its number, from opening windows."""

IS_QUIET = f"SELECT 1 FROM effect WHERE key = '{QUIET}' || ?"


class Windows(Repository):
    """Who is in conversation, and what waits until they call again."""

    async def put_back(self, events: tuple[int, ...], outcome: str, at: int) -> None:
        """Follow-ups for which no call may be made wait for the next call of their chat."""
        await self._database.write(lambda db: put_back(db, events, outcome, at))

    async def end_with(self, turn_id: int) -> bool:
        """Whether silence was wanted while that turn ran, so that it opens no window."""
        return await self._database.row(IS_QUIET, (turn_id,)) is not None


def keep_open(db: sqlite3.Connection, turn_id: int, events: tuple[int, ...], until: int) -> None:
    """Verb part: whoever was answered stays in conversation until that time, ms, unless somebody wanted silence.

    An entry into a talk keeps nobody: who answers it by a call or a reply opens a window like anybody.
    """
    if db.execute(IS_QUIET, (turn_id,)).fetchone():
        return
    db.executemany(
        "INSERT INTO window (chat_id, person_id, until) SELECT chat_id, person_id, ? FROM event WHERE id = ? "
        "AND person_id IS NOT NULL AND why <> 'join' ON CONFLICT (chat_id, person_id) "
        "DO UPDATE SET until = max(until, excluded.until)",
        [(until, number) for number in events],
    )


def hush(db: sqlite3.Connection, chat_id: int, before: int | None, outcome: str, at: int) -> int:
    """Verb part: nobody in the chat is in conversation, follow-ups before that event (None: all) are off the queue.

    A turn under way opens no window again. Returns how many follow-ups that were.
    """
    db.execute("DELETE FROM window WHERE chat_id = ?", (chat_id,))
    keep_quiet(db, chat_id)
    db.execute(
        f"INSERT OR IGNORE INTO effect (key, result, at) SELECT '{QUIET}' || id, 'done', ? FROM turn WHERE chat_id = ? "
        "AND state IN ('asked', 'answered')",
        (at, chat_id),
    )
    return db.execute(
        "UPDATE event SET state = 'done', outcome = ?1, due_at = NULL WHERE chat_id = ?2 AND state = 'queued' "
        "AND why = 'window' AND (?3 IS NULL OR id < ?3) AND id NOT IN (SELECT event_id FROM turn_event JOIN turn "
        "ON turn.id = turn_event.turn_id WHERE turn.chat_id = ?2 AND turn.state IN ('asked', 'answered'))",
        (outcome, chat_id, before),
    ).rowcount


def put_back(db: sqlite3.Connection, events: tuple[int, ...], outcome: str, at: int) -> None:
    """Verb part: follow-ups that could not be answered wait, without a deadline, for the next call of their chat.

    Those of people whose window is over are done: the next delta tells them like any other line.
    """
    db.executemany(
        "UPDATE event SET due_at = NULL, turn_id = NULL, outcome = ?1, state = CASE WHEN EXISTS (SELECT 1 FROM window "
        "WHERE window.chat_id = event.chat_id AND window.person_id = event.person_id AND until > ?2) "
        "THEN 'queued' ELSE 'done' END WHERE id = ?3 AND state = 'queued'",
        [(outcome, at, number) for number in events],
    )


def requeue(db: sqlite3.Connection, events: tuple[int, ...], at: int) -> None:
    """Verb part: events whose turn failed are due again."""
    db.executemany(
        "UPDATE event SET state = 'queued', due_at = ?, outcome = '' WHERE id = ? AND outcome = 'failed'",
        [(at, number) for number in events],
    )


def end_windows(db: sqlite3.Connection, now: int) -> int:
    """Verb: remove the windows that are over, and what waits for a call of their people; how many windows."""
    over = db.execute("DELETE FROM window WHERE until <= ?", (now,)).rowcount
    db.execute(
        "UPDATE event SET state = 'done' WHERE state = 'queued' AND due_at IS NULL AND NOT EXISTS (SELECT 1 FROM "
        "window WHERE window.chat_id = event.chat_id AND window.person_id = event.person_id) AND id NOT IN (SELECT "
        "event_id FROM turn_event JOIN turn ON turn.id = turn_event.turn_id WHERE turn.state IN ('asked', 'answered'))"
    )
    return over
