"""Rows that only count, once they are very old: who spoke when goes, what was spent stays as one sum a month.

It blanks no text: what has one is not touched.
"""

import sqlite3

AT_ONCE = 20_000
"""Lines that go in one commit: people wait for no longer than that takes."""

SUMS = (
    "calls", "reserved_tokens", "reserved_cost", "prompt_tokens", "cached_tokens", "output_tokens", "cost",
    "written_tokens", "reasoning_tokens", "estimated_tokens",
)  # fmt: skip

MONTHLY = "chat_id, person_id, cause, model, state, counted, uncounted, strftime('%Y-%m', at / 1000, 'unixepoch')"
"""What calls of one sum have in common: all that a limit or a report of that time tells apart."""


def drop_counts(db: sqlite3.Connection, before: int) -> bool:
    """Verb part: blank lines, their turns, epochs and sessions before that instant, ms; whether more are left.

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


def _sum_up(db: sqlite3.Connection, before: int) -> None:
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
