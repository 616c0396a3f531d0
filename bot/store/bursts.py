"""Deadlines of messages that come close together, as they are stored. How long they wait is decided elsewhere."""

import sqlite3

from bot.store.database import Repository
from bot.store.lulls import called
from bot.types.speaking import Paced, Waiting

NOT_YET = """FROM event INDEXED BY event_queue WHERE chat_id = ?1 AND state = 'queued' AND due_at > ?2
    AND kind = 'message' AND tries = 0 AND why NOT IN ('command', 'pair', 'closed', 'stop', 'quiet')"""
"""Messages of chat ?1 that wait for a deadline after ?2, and for an answer of the model; what failed waits alone."""


class Bursts(Repository):
    """The waits that are lengthened after a message is stored."""

    async def wait(self, events: tuple[int, ...], until: int) -> None:
        """These messages are answered then, ms, unless they were done meanwhile."""
        await self._database.write(
            lambda db: (
                db.executemany(
                    "UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", [(until, one) for one in events]
                ).rowcount
            )
        )


def waiting(db: sqlite3.Connection, chat_id: int, person_id: int | None, at: int) -> Waiting:
    """Verb part: what a decision made at that time must know of the chat's other messages."""
    row = db.execute("SELECT last, before, since, until FROM rush WHERE chat_id = ?", (chat_id,)).fetchone()
    first = db.execute(
        f"SELECT at, why <> 'window' {NOT_YET} AND person_id = ?3 ORDER BY due_at, id LIMIT 1", (chat_id, at, person_id)
    ).fetchone()
    since, calls = first or (0, 0)
    last, before, rush_since, rush_until = row or (0, 0, 0, 0)
    return Waiting(since, last, before, rush_since, rush_until, bool(calls))


def keep_pace(
    db: sqlite3.Connection, chat_id: int, person_id: int, paced: Paced, came: tuple[Waiting, int]
) -> None:  # fmt: skip
    """Verb part: a message for nuan came: the window is open, and what waits keeps pace with it.

    `came` is what `waiting` told, and when. While a flood is gathered for longer, everything that is not due waits on.
    """
    before, at = came
    if paced.decision.why != "window":
        called(db, chat_id)
    db.execute(
        "INSERT INTO rush (chat_id, last, before, since, until) VALUES (?1, ?2, 0, ?3, ?4) ON CONFLICT (chat_id) "
        "DO UPDATE SET before = last, last = excluded.last, since = excluded.since, until = excluded.until",
        (chat_id, at, paced.rush_since, paced.rush_until),
    )
    if paced.rush_until > max(at, before.rush_until):
        db.execute(
            f"UPDATE event SET due_at = ?3 WHERE id IN (SELECT id {NOT_YET} AND due_at < ?3)",
            (chat_id, at, paced.rush_until),
        )
    _activate(db, chat_id, person_id, at, paced)


def _activate(db: sqlite3.Connection, chat_id: int, person_id: int, at: int, paced: Paced) -> None:
    """Open or extend the window, and let this person's waiting lines keep pace with the newest one.

    One is answered in the order in which one spoke: what was said before a call that is due already goes with that
    call, and nothing waits for longer than what came after it.
    """
    decision = paced.decision
    db.execute(
        "INSERT INTO window (chat_id, person_id, until) VALUES (?, ?, ?) "
        "ON CONFLICT (chat_id, person_id) DO UPDATE SET until = excluded.until",
        (chat_id, person_id, decision.window_until),
    )
    db.execute(
        "UPDATE event SET due_at = ?1 WHERE chat_id = ?2 AND person_id = ?3 AND state = 'queued' AND due_at IS NOT ?1 "
        "AND tries = 0 AND ((why = 'window' AND id > ?6) "
        "OR ((?5 OR due_at > ?1) AND due_at > ?4 AND why NOT IN ('command', 'pair', 'closed')))",
        (decision.due_at, chat_id, person_id, at, paced.joins, _call(db, chat_id, person_id, at, paced)),
    )


def _call(db: sqlite3.Connection, chat_id: int, person_id: int, at: int, paced: Paced) -> int:
    """The newest call of this person that waits for its turn and not for this line; 0 for none."""
    if paced.decision.why != "window":
        return 0
    ((newest,),) = db.execute(
        "SELECT ifnull(max(id), 0) FROM event INDEXED BY event_queue WHERE chat_id = ?1 AND person_id = ?2 "
        "AND state = 'queued' AND kind = 'message' AND tries = 0 AND (due_at <= ?3 OR NOT ?4) "
        "AND why NOT IN ('window', 'command', 'pair', 'closed', 'stop', 'quiet')",
        (chat_id, person_id, at, paced.joins),
    )
    return int(newest)
