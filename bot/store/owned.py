"""How much there is of one person, by kind, before it goes."""

import sqlite3

COUNTS = (
    ("memories", "SELECT count(*) FROM memory WHERE owner_id = ?1 AND disabled_at IS NULL"),
    ("promises", "SELECT count(*) FROM commitment WHERE owner_id = ?1 AND text <> ''"),
    ("reminders", "SELECT count(*) FROM reminder WHERE person_id = ?1 AND ended_at IS NULL"),
    ("talks", "SELECT count(*) FROM digest WHERE owner_id = ?1 AND summary <> '' AND session_id IS NOT NULL"),
    ("notes", "SELECT count(DISTINCT path) FROM note WHERE owner_id = ?1"),
    ("lines", "SELECT count(*) FROM event WHERE person_id = ?1 AND text <> ''"),
)


def counted(db: sqlite3.Connection, person_id: int) -> dict[str, int]:
    """Verb part: each kind with its number."""
    return {name: int(db.execute(sql, (person_id,)).fetchone()[0]) for name, sql in COUNTS}
