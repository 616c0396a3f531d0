"""Dialogue memory as time and people change it: rolled up by the calendar, and cleared on a word."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from bot.store.database import Repository
from bot.store.digests import CHANGED, told_to, whose_dm
from bot.store.documents import drop, forget_terms
from bot.store.indexing import index_digest
from bot.store.ledger import Settlement, settle
from bot.store.rolled import drop_talks, remake
from bot.store.sessions import end_logs
from bot.types.dialogue import Roll, RollPlan, Standing
from bot.types.people import Audience


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A row that several talks were rolled up into, each with when it ended, ms, and its summary; `changed` are the
    places of those that tell a day which was changed later."""

    id: int
    talks: tuple[tuple[int, str], ...]
    changed: frozenset[int] = frozenset()


class Rollups(Repository):
    """The rows that talks are rolled up into."""

    async def standing(self, chat_id: int) -> tuple[Standing, ...]:
        """All rows of a chat that are told now. It tells nobody anything: no audience is asked."""
        rows = await self._database.rows(
            "SELECT id, owner_id, tier, ended_at FROM digest WHERE chat_id = ? AND into_id IS NULL", (chat_id,)
        )
        return tuple(Standing(int(row[0]), row[1], row[2], int(row[3])) for row in rows)

    async def roll(self, chat_id: int, plan: RollPlan, at: int) -> int:
        """Carry the plan out in one commit; how many rows went into others. What changed meanwhile stays as it is."""
        return await self._database.write(lambda db: roll(db, chat_id, plan, at))

    async def unwritten(self, chat_id: int) -> tuple[Unwritten, ...]:
        """The rows of a chat made of several talks that no model has put into words yet, with what they are made of."""
        rows, talks = await self._database.snapshot(
            ("SELECT id FROM digest WHERE chat_id = ? AND session_id IS NULL AND into_id IS NULL AND remake = 1 "
             "ORDER BY id", (chat_id,)),
            (f"SELECT into_id, summary, ended_at, {CHANGED} FROM digest WHERE chat_id = ? AND session_id IS NOT NULL "
             "AND into_id IS NOT NULL AND summary <> '' ORDER BY ended_at, id", (chat_id,)),
        )  # fmt: skip
        return tuple(_unwritten(int(number), [row[1:] for row in talks if row[0] == number]) for (number,) in rows)

    async def write(self, row: Unwritten, summary: str, settlement: Settlement, at: int) -> bool:
        """Commit a model's words for a row and what they cost; False when its talks changed meanwhile."""
        return await self._database.write(lambda db: write(db, row, summary, settlement, at))

    async def clear(self, audience: Audience, at: int) -> int:
        """Drop all talks that this audience is told, and the logs that tell of them; how many talks that were."""
        return await self._database.write(lambda db: clear(db, audience, at))


def _unwritten(number: int, talks: Sequence[tuple[str, int, int]]) -> Unwritten:
    changed = frozenset(place for place, row in enumerate(talks) if row[2])
    return Unwritten(number, tuple((int(at), str(text)) for text, at, _ in talks), changed)


def roll(db: sqlite3.Connection, chat_id: int, plan: RollPlan, at: int) -> int:
    """Verb: rows of an hour, a day or a week become one; each talk is in one row before and after."""
    absorbed = sum(_absorb(db, chat_id, one, at) for one in plan.rolls)
    db.executemany(
        "UPDATE digest SET roll_at = ? WHERE id = ? AND into_id IS NULL",
        [(then, number) for number, then in plan.waits],
    )
    return absorbed


def write(db: sqlite3.Connection, row: Unwritten, summary: str, settlement: Settlement, at: int) -> bool:
    """Verb: a model's words for a row, unless it tells other talks by now; "" keeps the rule's."""
    settle(db, settlement, at)
    talks = db.execute(
        "SELECT ended_at, summary FROM digest WHERE into_id = ? AND session_id IS NOT NULL AND summary <> '' "
        "ORDER BY ended_at, id",
        (row.id,),
    ).fetchall()
    if tuple((int(ended), str(text)) for ended, text in talks) != row.talks:
        return False
    db.execute("UPDATE digest SET remake = 0 WHERE id = ?", (row.id,))
    if summary:
        db.execute("UPDATE digest SET summary = ?, made_by = 'model' WHERE id = ?", (summary, row.id))
        index_digest(db, row.id)
    return bool(summary)


def _absorb(db: sqlite3.Connection, chat_id: int, one: Roll, at: int) -> int:
    found = [
        row
        for number in one.members
        for row in db.execute(
            "SELECT id, session_id FROM digest WHERE id = ? AND into_id IS NULL AND chat_id = ? AND owner_id IS ?",
            (number, chat_id, one.owner_id),
        )
    ]
    if not found:
        return 0
    into = _row(db, chat_id, one, at)
    db.execute("UPDATE digest SET roll_at = ? WHERE id = ?", (one.roll_at, into))
    for number, session_id in found:
        drop(db, "digest", (number,))
        if session_id is not None:
            db.execute("UPDATE digest SET into_id = ?, roll_at = NULL WHERE id = ?", (into, number))
            continue
        db.execute("UPDATE digest SET into_id = ?1 WHERE into_id = ?2 OR id = ?2", (into, number))
        db.execute("UPDATE digest SET summary = '', names = '[]', roll_at = NULL WHERE id = ?", (number,))
    remake(db, into)
    return len(found)


def _row(db: sqlite3.Connection, chat_id: int, one: Roll, at: int) -> int:
    """The row of that stretch, a new one unless a talk that was digested late comes to those of its time."""
    row = db.execute(
        "SELECT id FROM digest WHERE chat_id = ? AND owner_id IS ? AND tier = ? AND until = ? "
        "AND session_id IS NULL AND into_id IS NULL",
        (chat_id, one.owner_id, one.tier, one.until),
    ).fetchone() or (
        db.execute(
            "INSERT INTO digest (chat_id, owner_id, summary, tier, until, made_by, names, started_at, ended_at, "
            "created_at) VALUES (?, ?, '', ?, ?, 'rule', '[]', 0, 0, ?)",
            (chat_id, one.owner_id, one.tier, one.until, at),
        ).lastrowid,
    )
    return cast("int", row[0])


def clear(db: sqlite3.Connection, audience: Audience, at: int) -> int:
    """Verb: talks, what they were rolled up into and the logs that told them go; what is not digested yet tells nobody.

    Memories that were made of them stay.
    """
    whose, params = told_to(audience)
    talks = db.execute(f"SELECT id FROM digest WHERE session_id IS NOT NULL AND {whose}", params).fetchall()
    numbers = [cast("int", number) for (number,) in talks]
    end_logs(db, {
        cast("int", row[0])
        for number in numbers
        for row in db.execute(
            "SELECT entry.epoch_id FROM edge JOIN entry ON entry.id = edge.derived_id "
            "WHERE edge.kind = 'recount' AND edge.event_id = ?",
            (number,),
        )
    })  # fmt: skip
    filled = db.execute(
        f"SELECT count(*) FROM digest WHERE session_id IS NOT NULL AND summary <> '' AND {whose}", params
    )
    count: int = filled.fetchone()[0]
    drop_talks(db, numbers)
    forget_terms(db)
    db.execute(
        "UPDATE chat SET talks_cleared = ? WHERE id = ? OR (kind = 'dm' AND id IN (SELECT chat_id FROM member WHERE "
        "person_id = ?))",
        (at, audience.chat_id, whose_dm(audience)),
    )
    return count
