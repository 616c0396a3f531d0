"""Of what somebody has one of, one value is current: what it took the place of is former. Verb parts alone.

Both stand in the index; a recall tells which it brings.
"""

import json
import sqlite3

from bot.store.nudging import follow
from bot.store.rows import IS_NAME
from bot.store.schema_truth import CURRENT
from bot.text.slots import single
from bot.types.duration import DAY_MS
from bot.types.memory import NewMemory


def supersede(db: sqlite3.Connection, number: int, new: NewMemory, at: int) -> None:
    """Verb part: this memory is current; what it names as replaced, and what holds its slot, is former.

    Only of the same owner in the same place; what is named may be what they said in a group, or a plan that another
    made in that group. It is as asked for as what it takes the place of. What somebody asked to keep goes for another
    such wish only where that names it: its receipt says so. What is dated ahead takes its place on its day: till then
    both are current (`come_true`).
    """
    ahead = new.observed_at > at and new.kind != "anniversary" and new.source == "digest"
    one = new.slot if single(new.slot) else None
    if db.execute("SELECT 1 FROM memory WHERE id = ? AND former_at IS NOT NULL", (number,)).fetchone():
        db.execute("UPDATE memory SET former_at = NULL, replaced_by = NULL WHERE id = ?", (number,))
    rows = db.execute(
        "SELECT id, asked, observed_at FROM memory "
        "WHERE (id IN (SELECT value FROM json_each(?1)) OR (slot = ?2 AND subject = ?3 AND asked <= ?8)) AND id <> ?4 "
        f"AND NOT {IS_NAME} AND (owner_id IS ?5 OR (id IN (SELECT value FROM json_each(?1)) "
        "AND ?6 = 'chat' AND dated <> '' AND asked = 0)) "
        "AND ((visibility = ?6 AND (visibility <> 'chat' OR chat_id = ?7)) "
        "OR (?6 = 'private' AND visibility = 'chat' AND id IN (SELECT value FROM json_each(?1)))) "
        "AND disabled_at IS NULL AND former_at IS NULL",
        (
            json.dumps(new.replaces),
            one,
            new.subject,
            number,
            new.owner_id,
            new.visibility,
            new.chat_id,
            int(new.source != "command"),
        ),
    ).fetchall()
    for older, asked, observed_at in rows:
        till = None if ahead and observed_at <= at else at
        if till is not None:
            follow(db, older, number, at)
        db.execute("UPDATE memory SET former_at = ?, replaced_by = ? WHERE id = ?", (till, number, older))
        db.execute("UPDATE memory SET asked = max(asked, ?) WHERE id = ?", (asked, number))


def come_true(db: sqlite3.Connection, at: int) -> int:
    """Verb: what was dated ahead takes the place of what it names once its day has come; how many are former.

    A day without a time is stored as its noon, and has come with its first hour.
    """
    return db.execute(
        "UPDATE memory SET former_at = ?1 WHERE former_at IS NULL AND replaced_by IN "
        "(SELECT id FROM memory WHERE observed_at <= ?1 + CASE dated WHEN 'time' THEN 0 ELSE ?2 END "
        "AND disabled_at IS NULL)",
        (at, DAY_MS // 2),
    ).rowcount


def restore_former(db: sqlite3.Connection, number: int) -> None:
    """Verb part: what this memory took the place of is current again, or former for what took the place of this one."""
    before = db.execute("SELECT id FROM memory WHERE replaced_by = ?", (number,)).fetchall()
    owner, by = db.execute("SELECT owner_id, replaced_by FROM memory WHERE id = ?", (number,)).fetchone()
    if by is not None:
        db.execute("UPDATE memory SET replaced_by = ? WHERE replaced_by = ?", (by, number))
        return
    db.execute("UPDATE memory SET former_at = NULL, replaced_by = NULL WHERE replaced_by = ?", (number,))
    if len(before) > 1:
        one_current(db, owner)


def one_current(db: sqlite3.Connection, owner_id: int | None) -> None:
    """Verb part: after rows came back, or two people became one, of what somebody has one of the newest is current.

    The others were so until it was said.
    """
    rows = db.execute(
        "SELECT id, max(said_at, created_at), visibility, CASE visibility WHEN 'chat' THEN chat_id ELSE 0 END, "
        "subject, slot FROM memory "
        f"WHERE owner_id IS ? AND {CURRENT} AND slot <> '' AND NOT {IS_NAME} "
        "AND observed_at <= max(said_at, created_at) "
        "ORDER BY max(said_at, created_at) DESC, id DESC",
        (owner_id,),
    ).fetchall()
    newest: dict[tuple[object, ...], tuple[int, int]] = {}
    for number, said, *place in rows:
        if not single(str(place[-1])):
            continue
        first, at = newest.setdefault(tuple(place), (number, said))
        if first != number:
            db.execute("UPDATE memory SET former_at = ?, replaced_by = ? WHERE id = ?", (at, first, number))
