"""Two persons become one: every row of the younger follows to the older. What was forgotten stays forgotten."""

import sqlite3
from typing import cast

from bot.store.current import one_current
from bot.store.documents import drop, rescope, respeak
from bot.store.noting import abandon
from bot.store.promising import join_promises

REPOINTED = (
    "account SET person_id", "event SET person_id", "turn SET person_id", "call SET person_id", "digest SET owner_id",
    "code SET person_id", "memory SET owner_id", "doc SET person_id", "commitment SET owner_id",
    "reminder SET person_id", "section_round SET person_id",
)  # fmt: skip
"""Columns that only have to name the other person; a place in a set (member, window, feedback) may be taken."""


def busy(db: sqlite3.Connection, people: tuple[int, int], event_id: int, at: int) -> bool:
    """Verb part: whether something is under way in a name that may vanish: a turn, a due message, a digest."""
    chat = "(SELECT chat_id FROM event WHERE id = ?3)"
    row = db.execute(
        "SELECT EXISTS (SELECT 1 FROM turn WHERE state IN ('asked', 'answered') AND person_id IN (?1, ?2)) "
        f"OR EXISTS (SELECT 1 FROM event WHERE state = 'queued' AND due_at <= ?4 AND person_id IN (?1, ?2) "
        f"AND chat_id <> {chat}) OR EXISTS (SELECT 1 FROM session WHERE digest_due_at <= ?4 AND chat_id IN "
        "(SELECT chat_id FROM member WHERE person_id IN (?1, ?2)))",
        (*people, event_id, at),
    ).fetchone()
    return bool(row[0])


def merge(db: sqlite3.Connection, one: int, other: int) -> int:
    """Verb part: join two persons; the number of the one that is left, who is the older.

    Their logs are stale afterwards, so that what is remembered follows at the next turn of each DM.
    """
    keep, gone = (
        row[0] for row in db.execute("SELECT id FROM person WHERE id IN (?, ?) ORDER BY created_at, id", (one, other))
    )
    db.execute(
        "UPDATE person SET script = coalesce(nullif(person.script, ''), young.script), "
        "timezone = coalesce(nullif(person.timezone, ''), young.timezone), "
        "access = CASE 'allowed' WHEN young.access THEN 'allowed' ELSE person.access END "
        "FROM (SELECT script, timezone, access FROM person WHERE id = ?2) AS young WHERE person.id = ?1",
        (keep, gone),
    )
    _memories(db, keep, gone)
    for column in REPOINTED:
        db.execute(f"UPDATE {column} = ?1 WHERE {column.split()[-1]} = ?2", (keep, gone))
    respeak(db, cast("int", keep))
    one_current(db, cast("int", keep))
    join_promises(db, cast("int", keep))
    _sets(db, keep, gone)
    _notes(db, keep, gone)
    db.execute("DELETE FROM code WHERE kind IN ('pair', 'link', 'told') AND person_id = ?", (keep,))
    db.execute(
        "UPDATE epoch SET stale = 'people' WHERE stale = '' AND session_id IN (SELECT session.id FROM session "
        "JOIN chat ON chat.id = session.chat_id AND chat.kind = 'dm' JOIN member ON member.chat_id = chat.id "
        "WHERE session.state = 'open' AND person_id = ?)",
        (keep,),
    )
    db.execute("DELETE FROM person WHERE id = ?", (gone,))
    return cast("int", keep)


def _sets(db: sqlite3.Connection, keep: int, gone: int) -> None:
    """Where both have a row, the one that lasts longer stays."""
    for table, key, value in (("member", "chat_id", "seen_at"), ("window", "chat_id", "until")):
        db.execute(
            f"INSERT INTO {table} ({key}, person_id, {value}) SELECT {key}, ?1, {value} FROM {table} "
            f"WHERE person_id = ?2 ON CONFLICT ({key}, person_id) DO UPDATE SET {value} = "
            f"max({value}, excluded.{value})",
            (keep, gone),
        )
        db.execute(f"DELETE FROM {table} WHERE person_id = ?", (gone,))
    db.execute("UPDATE OR IGNORE feedback SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE participant SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE question SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE talker SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE reminder_question SET person_id = ? WHERE person_id = ?", (keep, gone))
    for table in ("feedback", "told", "participant", "question", "talker", "reminder_question"):
        db.execute(f"DELETE FROM {table} WHERE person_id = ?", (gone,))


def _notes(db: sqlite3.Connection, keep: int, gone: int) -> None:
    """A note kept by hand is there once for each owner: of two copies one stays."""
    db.execute("UPDATE OR IGNORE note SET owner_id = ?1, stamp = '' WHERE owner_id = ?2", (keep, gone))
    for (number,) in db.execute("SELECT id FROM note WHERE owner_id = ?", (gone,)).fetchall():
        abandon(db, number)


def _memories(db: sqlite3.Connection, keep: int, gone: int) -> None:
    """The full-text rows change their owner; of two that say the same, and of two names to use, the newer stays."""
    for seen in ("p", "o"):
        rescope(db, f"{seen}{gone}", f"{seen}{keep}")
    twins = db.execute(
        "SELECT new.id, old.id FROM memory AS new JOIN memory AS old ON new.visibility = old.visibility "
        "AND (new.visibility <> 'chat' OR new.chat_id = old.chat_id) "
        "AND ((new.folded = old.folded AND "
        "((new.slot IN ('address', 'no_address')) = (old.slot IN ('address', 'no_address')))) "
        "OR (new.slot = 'address' AND old.slot = 'address')) "
        "AND (new.updated_at, new.id) > (old.updated_at, old.id) WHERE new.disabled_at IS NULL "
        "AND old.disabled_at IS NULL AND ((new.owner_id = ?1 AND old.owner_id = ?2) "
        "OR (new.owner_id = ?2 AND old.owner_id = ?1)) ORDER BY new.updated_at, new.id",
        (keep, gone),
    ).fetchall()
    for new, old in twins:
        db.execute(
            "UPDATE memory SET importance = min(100, memory.importance + twin.importance), asked = max(memory.asked, "
            "twin.asked), protected = max(memory.protected, twin.protected), helpful = memory.helpful + twin.helpful, "
            "unhelpful = memory.unhelpful + twin.unhelpful "
            "FROM (SELECT * FROM memory WHERE id = ?2) AS twin WHERE memory.id = ?1 "
            "AND memory.folded = twin.folded",
            (new, old),
        )
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT kind, ?1, event_id FROM edge "
            "WHERE kind = 'memory' AND derived_id = ?2 AND EXISTS (SELECT 1 FROM memory AS a JOIN memory AS b "
            "ON a.folded = b.folded WHERE a.id = ?1 AND b.id = ?2)",
            (new, old),
        )
        db.execute(
            "UPDATE memory SET disabled_at = (SELECT updated_at FROM memory WHERE id = ?1), "
            "disabled_reason = 'replaced' WHERE id = ?2",
            (new, old),
        )
        drop(db, "memory", (old,))
