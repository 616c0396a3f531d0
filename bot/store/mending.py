"""`nuan memory backfill`: rows whose namespace or full-text row is wrong, found and put right. It decides no rule."""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from bot.store.database import Database
from bot.store.keeping import index
from bot.text.fold import fold
from bot.text.tokens import index_terms
from bot.types.mending import Fault, Part, Standing

ASTRAY = """SELECT memory.id, owner_id, person.id IS NOT NULL, memory.chat_id, chat.kind, visibility, memory.kind, slot
    FROM memory LEFT JOIN person ON person.id = owner_id LEFT JOIN chat ON chat.id = memory.chat_id
    WHERE disabled_at IS NULL AND (? IS NULL OR memory.id = ?) ORDER BY memory.id"""
TEXTS = """SELECT memory.id, owner_id, chat_id, visibility, text, folded, memory_text.owner, terms FROM memory
    LEFT JOIN memory_text ON memory_text.rowid = memory.id
    WHERE disabled_at IS NULL AND (? IS NULL OR memory.id = ?) ORDER BY memory.id"""
EXTRA = """SELECT rowid FROM memory_text WHERE rowid NOT IN (SELECT id FROM memory WHERE disabled_at IS NULL)
    AND (? IS NULL OR rowid = ?) ORDER BY rowid"""


Judge = Callable[[Standing], Fault | None]
"""What is wrong with a memory's namespace, and where it belongs."""
Finder = Callable[[sqlite3.Connection, int | None], Iterator[Fault]]
"""What is wrong in one part, everywhere or with one memory."""


class Mending:
    """What does not stand as it should."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, parts: frozenset[Part], judge: Judge) -> tuple[Fault, ...]:
        """Everything that is wrong in these parts, by part and number."""
        finders = _finders(judge)
        return await self._database.read(
            lambda db: tuple(fault for part in sorted(parts) for fault in finders[part](db, None))
        )

    async def mend(self, faults: tuple[Fault, ...], judge: Judge, at: int) -> int:
        """Put these right in one transaction; how many were. Each is looked at again: done twice it is done once."""
        finders = _finders(judge)
        return await self._database.write(lambda db: sum(_mend(db, fault, finders[fault.part], at) for fault in faults))


def _finders(judge: Judge) -> dict[Part, Finder]:
    return {"namespaces": partial(namespaces, judge), "text-index": text_index}


def _mend(db: sqlite3.Connection, fault: Fault, find: Finder, at: int) -> int:
    now = next(find(db, fault.number), None)
    if now is None or not now.mendable:
        return 0
    if now.place is not None:
        place = now.place
        db.execute(
            "UPDATE memory SET owner_id = ?, chat_id = ?, visibility = ?, kind = ?, slot = ?, updated_at = ? "
            "WHERE id = ?",
            (place.owner_id, place.chat_id, place.visibility, place.kind, place.slot, at, fault.number),
        )
    row = db.execute("SELECT text, disabled_at FROM memory WHERE id = ?", (fault.number,)).fetchone()
    db.execute("DELETE FROM memory_text WHERE rowid = ?", (fault.number,))
    if row is not None and row[1] is None:
        db.execute("UPDATE memory SET folded = ? WHERE id = ?", (fold(row[0]), fault.number))
        index(db, fault.number)
    return 1


def namespaces(judge: Judge, db: sqlite3.Connection, number: int | None) -> Iterator[Fault]:
    """Memories, or that one, whose owner, chat or visibility is missing or impossible."""
    for memory_id, owner, known, chat, chat_kind, seen, kind, slot in db.execute(ASTRAY, (number, number)).fetchall():
        row = Standing(memory_id, owner, bool(known), chat, chat_kind, str(seen), str(kind), str(slot))
        if judge(row) is not None:
            fault = judge(_with_lines(db, row))
            if fault is not None:
                yield fault


def _with_lines(db: sqlite3.Connection, row: Standing) -> Standing:
    lines = db.execute(
        "SELECT DISTINCT event.person_id, event.chat_id, chat.kind FROM edge JOIN event ON event.id = event_id "
        "JOIN chat ON chat.id = event.chat_id LEFT JOIN person ON person.id = event.person_id "
        "WHERE edge.kind = 'memory' AND derived_id = ? AND coalesce(is_bot, 0) = 0",
        (row.number,),
    ).fetchall()
    senders = tuple(sorted({person for person, _, _ in lines if person is not None}))
    chats = tuple(sorted({(chat, kind) for _, chat, kind in lines}))
    chat = row.chat_id if row.chat_kind is not None or len(chats) != 1 else chats[0][0]
    members = db.execute(
        "SELECT person_id FROM member JOIN person ON person.id = person_id WHERE chat_id = ? AND is_bot = 0", (chat,)
    ).fetchall()
    return Standing(
        row.number, row.owner_id, row.owner_known, row.chat_id, row.chat_kind, row.visibility, row.kind, row.slot,
        senders, chats, tuple(cast("int", person) for (person,) in members),
    )  # fmt: skip


def text_index(db: sqlite3.Connection, number: int | None) -> Iterator[Fault]:
    """Memories, or that one, whose full-text row is missing, is not what the table says, or of none that is there."""
    for memory_id, owner, chat, seen, text, folded, key, terms in db.execute(TEXTS, (number, number)).fetchall():
        wanted = f"c{chat}" if seen == "chat" else "all" if owner is None else f"p{owner}"
        if key is None:
            yield Fault("text-index", memory_id, "is not in the index")
        elif (key, terms) != (wanted, " ".join(index_terms(text))) or folded != fold(text):
            yield Fault("text-index", memory_id, "is otherwise in the index")
    for (memory_id,) in db.execute(EXTRA, (number, number)).fetchall():
        yield Fault("text-index", memory_id, "is in the index and not remembered")
