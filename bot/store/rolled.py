"""Rolled-up rows of dialogue memory: made of the talks that went into them, and made anew when one of these changes."""

import json
import sqlite3
from collections.abc import Iterable
from typing import cast

from bot.store.documents import drop
from bot.store.indexing import index_digest
from bot.text.gist import gist

TALKS_OF = """session_id IS NOT NULL AND (id = ?2 OR into_id IN (?2,
    (SELECT into_id FROM digest WHERE id = ?2 AND session_id IS NULL)))"""
"""The talks that row ?2 tells, also one that went into another since it was read: of that it leaves an empty row."""


def remake(db: sqlite3.Connection, number: int) -> None:
    """Verb part: a rolled-up row tells what is left of its talks, and is gone when there are none."""
    rows = db.execute(
        "SELECT summary, names, started_at, ended_at FROM digest WHERE into_id = ? AND session_id IS NOT NULL "
        "ORDER BY ended_at, id",
        (number,),
    ).fetchall()
    if not rows:
        drop(db, "digest", (number,))
        db.execute("DELETE FROM digest WHERE id = ?1 OR into_id = ?1", (number,))
        return
    told = [row for row in rows if row[0]]
    names = dict.fromkeys(name for row in told for name in json.loads(row[1]))
    db.execute(
        "UPDATE digest SET summary = ?, names = ?, talks = ?, started_at = ?, ended_at = ?, made_by = 'rule', "
        "remake = ? "
        "WHERE id = ?",
        (gist([row[0] for row in told]), json.dumps(list(names), ensure_ascii=False), max(len(told), 1),
         min(row[2] for row in rows), max(row[3] for row in rows), int(len(told) > 1), number),
    )  # fmt: skip
    index_digest(db, number)


def retell(db: sqlite3.Connection, number: int) -> None:
    """Verb part: the summary of a talk has changed: its place in the index, or what it was rolled up into, follows."""
    index_digest(db, number)
    (into,) = db.execute("SELECT into_id FROM digest WHERE id = ?", (number,)).fetchone()
    if into is not None:
        remake(db, into)


def drop_talks(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Verb part: these talks go for good, out of what they were rolled up into, too; no digest of them is made again.

    A log that told one still knows from which lines that came.
    """
    into: set[int] = set()
    for number in numbers:
        row = db.execute("SELECT into_id, session_id FROM digest WHERE id = ?", (number,)).fetchone()
        if row is None:
            continue
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'told', log.derived_id, line.event_id "
            "FROM edge AS log JOIN edge AS line ON line.kind = 'digest' AND line.derived_id = log.event_id "
            "WHERE log.kind = 'recount' AND log.event_id = ?",
            (number,),
        )
        db.execute("DELETE FROM edge WHERE kind = 'recount' AND event_id = ?", (number,))
        db.execute("DELETE FROM edge WHERE kind = 'digest' AND derived_id = ?", (number,))
        db.execute("DELETE FROM talker WHERE digest_id = ?", (number,))
        drop(db, "digest", (number,))
        db.execute("DELETE FROM digest WHERE id = ?", (number,))
        db.execute("UPDATE session SET digest_due_at = NULL WHERE id = ? AND state = 'closed'", (row[1],))
        if row[0] is not None:
            into.add(cast("int", row[0]))
    for number in sorted(into):
        remake(db, number)


def drop_old(db: sqlite3.Connection, before: int) -> int:
    """Verb part: talks that ended before that instant, ms, go; how many."""
    old = db.execute("SELECT id FROM digest WHERE session_id IS NOT NULL AND ended_at < ?", (before,)).fetchall()
    drop_talks(db, [cast("int", number) for (number,) in old])
    db.execute("DELETE FROM digest WHERE session_id IS NULL AND into_id IS NOT NULL AND ended_at < ?", (before,))
    return len(old)
