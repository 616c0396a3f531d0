"""The next deadline over all tables, and the daily retention."""

from dataclasses import dataclass

from bot.store.digests import drop_old_talks
from bot.store.engine import Repository
from bot.store.erase import IS_LEAVING
from bot.store.index import drop_documents, forget_terms
from bot.store.proactive import FREE_AT
from bot.store.reminders import tidy_reminders
from bot.store.transactions import Tx
from bot.store.windows import end_windows

AT_ONCE = 20_000
"""Lines that go in one commit: people wait for no longer than that takes."""

SUMS = (
    "calls", "reserved_tokens", "reserved_cost", "prompt_tokens", "cached_tokens", "output_tokens", "cost",
    "written_tokens", "reasoning_tokens", "estimated_tokens",
)  # fmt: skip

MONTHLY = "chat_id, person_id, cause, model, state, counted, uncounted, strftime('%Y-%m', at / 1000, 'unixepoch')"
"""What calls of one sum have in common: all that a limit or a report of that time tells apart."""


def drop_counts(db: Tx, before: int) -> bool:
    """Within a transaction: blank lines, their turns, epochs and sessions before that instant, ms; whether more are
    left.

    What something still refers to stays: the lines that a memory came from, what was set off the record, a turn that
    runs, the last session of each chat, which its next number goes by.
    """
    lines = db.execute(
        "SELECT id FROM event WHERE at < ? AND hidden = 'old' AND text = '' AND state <> 'queued' AND off_record = 0 "
        "AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.event_id = event.id) "
        "AND NOT EXISTS (SELECT 1 FROM attachment WHERE attachment.event_id = event.id) LIMIT ?",
        (before, AT_ONCE),
    ).fetchall()
    db.executemany("DELETE FROM turn_event WHERE event_id = ?", lines)
    db.executemany("UPDATE event SET same_as = NULL WHERE same_as = ?", lines)
    db.executemany("DELETE FROM event WHERE id = ?", lines)
    _sum_up(db, before)
    turns = db.execute(
        "SELECT id FROM turn WHERE asked_at < ? AND state NOT IN ('asked', 'answered') "
        "AND session_id IN (SELECT id FROM session WHERE state = 'closed') "
        + "".join(f"AND id NOT IN (SELECT turn_id FROM {table}) " for table in ("turn_event", "entry"))
        + "AND NOT EXISTS (SELECT 1 FROM event WHERE event.turn_id = turn.id)",
        (before,),
    ).fetchall()
    db.executemany("UPDATE call SET turn_id = NULL WHERE turn_id = ?", turns)
    db.executemany("DELETE FROM turn WHERE id = ?", turns)
    over = "SELECT id FROM session WHERE state = 'closed' AND closed_at < ? AND digest_due_at IS NULL"
    db.execute(
        f"DELETE FROM epoch WHERE session_id IN ({over}) AND id NOT IN (SELECT epoch_id FROM turn) "
        "AND id NOT IN (SELECT epoch_id FROM entry)",
        (before,),
    )
    sessions = db.execute(
        f"{over} AND id NOT IN (SELECT max(id) FROM session GROUP BY chat_id) "
        "AND id NOT IN (SELECT session_id FROM epoch) AND id NOT IN (SELECT session_id FROM turn) "
        "AND id NOT IN (SELECT session_id FROM digest WHERE session_id IS NOT NULL)",
        (before,),
    ).fetchall()
    db.executemany("DELETE FROM participant WHERE session_id = ?", sessions)
    db.executemany("DELETE FROM session WHERE id = ?", sessions)
    db.execute("DELETE FROM prefix WHERE signature NOT IN (SELECT signature FROM epoch)")
    return len(lines) == AT_ONCE


def _sum_up(db: Tx, before: int) -> None:
    """The oldest call of each month stands for all like it; those that cost nothing go."""
    db.execute("DELETE FROM call WHERE at < ? AND state = 'released'", (before,))
    sums = ", ".join(f"sum({name})" for name in SUMS)
    rows = db.execute(
        f"SELECT {sums}, min(id) FROM call WHERE at < ? AND state <> 'reserved' GROUP BY {MONTHLY} HAVING count(*) > 1",
        (before,),
    ).fetchall()
    db.execute(
        f"DELETE FROM call WHERE at < ?1 AND state <> 'reserved' AND id NOT IN "
        f"(SELECT min(id) FROM call WHERE at < ?1 AND state <> 'reserved' GROUP BY {MONTHLY})",
        (before,),
    )
    columns = ", ".join(f"{name} = ?" for name in SUMS)
    db.executemany(f"UPDATE call SET {columns}, turn_id = NULL, session_id = NULL, occasion = NULL WHERE id = ?", rows)


NEXT_DEADLINE = f"""SELECT min(due) FROM (
    SELECT min(due_at) AS due FROM event INDEXED BY event_queue WHERE state = 'queued' AND due_at > ?1
    UNION ALL SELECT min(until) FROM window WHERE until > ?1
    UNION ALL SELECT min(close_at) FROM session WHERE state = 'open' AND close_at > ?1
    UNION ALL SELECT min(digest_due_at) FROM session WHERE digest_due_at > ?1
    UNION ALL SELECT min(due_at) FROM outbox INDEXED BY outbox_due WHERE state = 'pending' AND due_at > ?1
    UNION ALL SELECT min(due_at) FROM joining WHERE due_at > ?1
    UNION ALL SELECT min(purge_at) FROM memory WHERE purge_at > ?1
    UNION ALL SELECT min(due_at) FROM rewriting WHERE due_at > ?1
    UNION ALL SELECT min(roll_at) FROM digest WHERE roll_at > ?1
    UNION ALL SELECT min(due_at) FROM reminder WHERE ended_at IS NULL AND due_at > ?1
    UNION ALL SELECT min(max(due_at, {FREE_AT})) FROM heartbeat WHERE max(due_at, {FREE_AT}) > ?1
    UNION ALL SELECT CAST(value AS INTEGER) FROM meta WHERE (key IN ('tidy_at', 'life_at', 'backup_at') OR {IS_LEAVING})
        AND CAST(value AS INTEGER) > ?1)"""

LAST_UNSAID = (
    "SELECT max(due_at) FROM outbox INDEXED BY outbox_due WHERE state = 'pending' AND wait_ms > 0 AND attempts = 0"
)
"""Messages of paced replies; one that a platform did not take is not waited for."""

DUE_DEADLINES = f"""SELECT 'event' AS kind, chat_id FROM event INDEXED BY event_queue
    WHERE state = 'queued' AND due_at <= ?1 GROUP BY chat_id
    UNION ALL SELECT 'window', 0 WHERE EXISTS (SELECT 1 FROM window WHERE until <= ?1)
    UNION ALL SELECT 'session', id FROM session WHERE state = 'open' AND close_at <= ?1
    UNION ALL SELECT 'digest', chat_id FROM session WHERE digest_due_at <= ?1 GROUP BY chat_id
    UNION ALL SELECT 'outbox', chat_id FROM outbox INDEXED BY outbox_due
    WHERE state = 'pending' AND due_at <= ?1 GROUP BY chat_id
    UNION ALL SELECT 'heartbeat', 0 WHERE EXISTS (SELECT 1 FROM heartbeat WHERE max(due_at, {FREE_AT}) <= ?1)
    UNION ALL SELECT 'join', chat_id FROM joining WHERE due_at <= ?1
    UNION ALL SELECT 'rewrite', memory_id FROM rewriting WHERE due_at <= ?1
    UNION ALL SELECT 'roll', chat_id FROM digest WHERE roll_at <= ?1 GROUP BY chat_id
    UNION ALL SELECT 'reminder', 0 WHERE EXISTS (SELECT 1 FROM reminder WHERE ended_at IS NULL AND due_at <= ?1)
    UNION ALL SELECT 'purge', 0 WHERE EXISTS (SELECT 1 FROM memory WHERE purge_at <= ?1)
    UNION ALL SELECT 'tidy', 0
        WHERE coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'tidy_at'), 0) <= ?1
    UNION ALL SELECT 'leave', 0 WHERE EXISTS (SELECT 1 FROM meta WHERE {IS_LEAVING} AND CAST(value AS INTEGER) <= ?1)
    UNION ALL SELECT 'backup', 0 WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'backup_at'
        AND CAST(value AS INTEGER) <= ?1)
    UNION ALL SELECT 'life', 0
        WHERE coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'life_at'), 0) <= ?1"""


@dataclass(frozen=True, slots=True)
class DeadlineBounds:
    """How far ahead a deadline can be set, ms, by what it is for."""

    followup: int
    window: int
    idle: int
    send: int
    digest: int
    day: int = 90_000_000


@dataclass(frozen=True, slots=True)
class Retention:
    """The instants, ms, before which delivery ids, transcript texts, logs of closed sessions, talks and counts go.

    `next_at` is when to look again, `soon_at` when there was more than goes at once.
    """

    ids_before: int
    transcript_before: int
    logs_before: int
    next_at: int
    talks_before: int = 0
    counts_before: int = 0
    soon_at: int = 0


class Deadlines(Repository):
    """Every deadline is a column; this reads the nearest one."""

    async def next(self, now: int) -> int | None:
        """The nearest instant after `now`, ms, at which something is to be done."""
        row = await self._database.row(NEXT_DEADLINE, (now,))
        return int(row[0]) if row and row[0] is not None else None

    async def due(self, now: int) -> tuple[tuple[str, int], ...]:
        """What is to be done by now: its kind, and the number of the chat or session it is about."""
        return tuple((str(row[0]), int(row[1])) for row in await self._database.rows(DUE_DEADLINES, (now,)))

    async def look(self, now: int) -> tuple[tuple[tuple[str, int], ...], int | None]:
        """What `due` and `next` say, in one trip and of one moment."""
        due, upcoming = await self._database.snapshot((DUE_DEADLINES, (now,)), (NEXT_DEADLINE, (now,)))
        return tuple((str(row[0]), int(row[1])) for row in due), upcoming[0][0]

    async def waiting(self) -> int | None:
        """When the last line that waits for an answer, or message of a paced reply, is due, ms; None when none is."""
        row = await self._database.row(
            "SELECT max(due) FROM (SELECT max(due_at) AS due FROM event INDEXED BY event_queue WHERE state = 'queued' "
            f"UNION ALL {LAST_UNSAID})"
        )
        return int(row[0]) if row and row[0] is not None else None

    async def unsaid(self) -> int | None:
        """When the last message of a reply that is still being said is due, ms; None when there is none."""
        row = await self._database.row(LAST_UNSAID)
        return int(row[0]) if row and row[0] is not None else None

    async def bring_back(self, now: int, farthest: DeadlineBounds) -> int:
        """What is due later than it can ever be set was set while the machine's clock was ahead: it is due again.

        Returns how many deadlines that were.
        """
        return await self._database.write(lambda db: bring_deadlines_back(db, now, farthest))

    async def move_along(self, ms: int, now: int) -> int:
        """The clock was set forward by so much: what waits for a while, not for an hour of the day, waits as long as
        before. Returns how many deadlines that were.
        """
        return await self._database.write(lambda db: move_deadlines(db, ms, now))

    async def end_windows(self, now: int) -> int:
        """Remove the activation windows that are over, and the follow-ups put back within them; how many windows."""
        return await self._database.write(lambda db: end_windows(db, now))

    async def set_backup(self, at: int | None) -> None:
        """The next backup is due at that instant, ms; None: none is."""

        def transaction(db: Tx) -> None:
            db.execute("DELETE FROM meta WHERE key = 'backup_at'")
            if at is not None:
                db.execute("INSERT INTO meta (key, value) VALUES ('backup_at', ?)", (str(at),))

        await self._database.write(transaction)

    async def backup_at(self) -> int | None:
        """When the next backup is due, ms; None when none is."""
        row = await self._database.row("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'backup_at'")
        return int(row[0]) if row is not None else None

    async def tidy(self, retention: Retention) -> None:
        """Drop what is older than it may be kept, and set the next time."""
        await self._database.write(lambda db: apply_retention(db, retention))


def bring_deadlines_back(db: Tx, now: int, farthest: DeadlineBounds) -> int:
    """One transaction: no deadline is farther ahead than it could be set now."""
    limits = (
        ("event", "due_at", "state = 'queued' AND tries = 0", farthest.followup, 0),
        ("event", "due_at", "state = 'queued'", max(farthest.followup, farthest.send), 0),
        ("window", "until", "1", farthest.window, farthest.window),
        ("session", "close_at", "state = 'open'", farthest.idle, farthest.idle),
        ("session", "digest_due_at", "digest_due_at IS NOT NULL", farthest.digest, 0),
        ("outbox", "due_at", "state = 'pending'", farthest.send, 0),
    )
    changed = 0
    for table, column, which, most, then in limits:
        changed += db.execute(
            f"UPDATE {table} SET {column} = ? WHERE {which} AND {column} > ?", (now + then, now + most)
        ).rowcount
    db.execute(
        f"UPDATE meta SET value = ? WHERE (key IN ('tidy_at', 'life_at', 'backup_at') OR {IS_LEAVING}) "
        "AND CAST(value AS INTEGER) > ?",
        (str(now), now + farthest.day),
    )
    return changed


def move_deadlines(db: Tx, ms: int, now: int) -> int:
    """One transaction: follow-ups, windows, paced messages and silences that were to end later than now end that much
    later.
    """
    waits = (
        ("event", "due_at", "state = 'queued'"),
        ("window", "until", "1"),
        ("outbox", "due_at", "state = 'pending'"),
        ("joining", "due_at", "1"),
    )
    return sum(
        db.execute(f"UPDATE {table} SET {column} = {column} + ? WHERE {which} AND {column} > ?", (ms, now)).rowcount
        for table, column, which in waits
    )


def apply_retention(db: Tx, retention: Retention) -> None:
    """One transaction: delivery ids, old texts and what was made or told with them, logs of digested sessions; then
    counts.
    """
    db.execute(
        "UPDATE event SET delivery_key = NULL, external_id = '' WHERE at < ? AND "
        "(delivery_key IS NOT NULL OR external_id <> '')",
        (retention.ids_before,),
    )
    old = "at < ? AND state <> 'queued' AND hidden <> 'old'"
    gone = db.execute(f"SELECT id FROM event WHERE {old}", (retention.transcript_before,)).fetchall()
    db.execute(
        f"UPDATE event SET text = '', quote = '', name = '', hidden = 'old' WHERE {old}", (retention.transcript_before,)
    )
    drop_documents(db, "line", (number for (number,) in gone))
    drop_old_talks(db, retention.talks_before)
    forget_terms(db)
    db.execute("DELETE FROM attachment WHERE event_id IN (SELECT id FROM event WHERE hidden = 'old')")
    _untold(db, retention)
    closed = "SELECT id FROM session WHERE state = 'closed' AND closed_at < ?"
    logs = f"SELECT entry.id FROM entry JOIN epoch ON epoch.id = epoch_id WHERE session_id IN ({closed})"
    db.execute(
        f"DELETE FROM edge WHERE kind IN ('entry', 'told', 'recount') AND derived_id IN ({logs})",
        (retention.logs_before,),
    )
    db.execute(f"DELETE FROM entry WHERE id IN ({logs})", (retention.logs_before,))
    db.execute("DELETE FROM effect WHERE at < ?", (retention.ids_before,))
    over = "state NOT IN ('pending', 'sending') AND coalesce(sent_at, due_at) < ?"
    db.execute(
        "DELETE FROM sent WHERE turn_id IS NULL AND (chat_id, external_id) IN (SELECT chat_id, value FROM outbox, "
        f"json_each(external_ids) WHERE {over})",
        (retention.ids_before,),
    )
    db.execute(f"DELETE FROM outbox WHERE {over}", (retention.ids_before,))
    tidy_reminders(db, retention.ids_before, retention.ids_before)
    more = drop_counts(db, min(retention.counts_before, retention.transcript_before))
    db.execute(
        "INSERT INTO meta (key, value) VALUES ('tidy_at', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
        (str(retention.soon_at if more else retention.next_at),),
    )


def _untold(db: Tx, retention: Retention) -> None:
    """Of old turns nobody knows any more what they were told, under which ids they went, and how they were liked."""
    turns = "SELECT id FROM turn WHERE asked_at < ? AND state NOT IN ('asked', 'answered')"
    for table in ("brought", "turn_memory", "feedback", "sent", "section_round"):
        db.execute(f"DELETE FROM {table} WHERE turn_id IN ({turns})", (retention.transcript_before,))
