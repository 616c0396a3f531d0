"""`nuan memory backfill`: rows whose namespace or full-text row is wrong, found and put right. It decides no rule."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from bot.store.database import Repository
from bot.store.indexing import index_digest, index_lines, index_memory, index_note, rebuild
from bot.text.fold import fold
from bot.text.sections import Registry
from bot.types.mending import Fault, Part, Standing

ASTRAY = """SELECT memory.id, owner_id, person.id IS NOT NULL, memory.chat_id, chat.kind, visibility, memory.kind, slot
    FROM memory LEFT JOIN person ON person.id = owner_id LEFT JOIN chat ON chat.id = memory.chat_id
    WHERE disabled_at IS NULL AND (? IS NULL OR memory.id = ?) ORDER BY memory.id"""
UNSORTED = """SELECT id, owner_id, kind, text, section FROM memory WHERE (disabled_at IS NULL
    OR disabled_reason = 'archived') AND (? IS NULL OR id = ?) ORDER BY id"""
SHIPPED_REGISTRY = Registry()
ROWS = """SELECT kind, ref, doc.scope, doc_text.scope, chat_id, terms FROM doc LEFT JOIN doc_text
    ON doc_text.rowid = doc.id"""
ORPHANS = "SELECT rowid FROM doc_text WHERE rowid NOT IN (SELECT id FROM doc)"

Judge = Callable[[Standing], Fault | None]
"""What is wrong with a memory's namespace, and where it belongs."""
Finder = Callable[[sqlite3.Connection, int | None], Iterator[Fault]]
"""What is wrong in one part, everywhere or with one memory."""


class Mending(Repository):
    """What does not stand as it should."""

    async def find(
        self, parts: frozenset[Part], judge: Judge, registry: Registry = SHIPPED_REGISTRY
    ) -> tuple[Fault, ...]:  # fmt: skip
        """Everything that is wrong in these parts, by part and number; `registry` says where memories belong."""
        finders = _finders(judge, registry)
        return await self._database.read(
            lambda db: tuple(fault for part in sorted(parts) for fault in finders[part](db, None))
        )

    async def mend(
        self, faults: tuple[Fault, ...], judge: Judge, at: int, registry: Registry = SHIPPED_REGISTRY
    ) -> int:  # fmt: skip
        """Put these right in one transaction; how many were. Each is looked at again: done twice it is done once."""
        return await self._database.write(lambda db: sum(_mend(db, fault, judge, at, registry) for fault in faults))


def _finders(judge: Judge, registry: Registry) -> dict[Part, Finder]:
    return {
        "namespaces": partial(namespaces, judge), "sections": partial(sections, registry), "text-index": text_index
    }  # fmt: skip


def _mend(db: sqlite3.Connection, fault: Fault, judge: Judge, at: int, registry: Registry) -> int:
    match fault.part:
        case "namespaces":
            return _mend_place(db, fault, judge, at)
        case "sections":
            return _mend_section(db, fault, registry)
        case _:
            return _mend_text(db, fault)


def sections(registry: Registry, db: sqlite3.Connection, number: int | None) -> Iterator[Fault]:
    """Memories, or that one, without a section that the registry knows; one that it knows may have been given."""
    for memory_id, owner, kind, text, section in db.execute(UNSORTED, (number, number)).fetchall():
        wanted = registry.assign(text, kind, owned=owner is not None)
        if section not in registry.keys and section != wanted:
            yield Fault("sections", memory_id, f"is in {section or 'none'} → {wanted or 'none'}", about=wanted)


def _mend_section(db: sqlite3.Connection, fault: Fault, registry: Registry) -> int:
    now = next(sections(registry, db, fault.number), None)
    if now is None:
        return 0
    db.execute("UPDATE memory SET section = ? WHERE id = ?", (now.about, fault.number))
    return 1


def _mend_place(db: sqlite3.Connection, fault: Fault, judge: Judge, at: int) -> int:
    now = next(namespaces(judge, db, fault.number), None)
    if now is None or now.place is None:
        return 0
    place = now.place
    db.execute(
        "UPDATE memory SET owner_id = ?, chat_id = ?, visibility = ?, kind = ?, slot = ?, updated_at = ? WHERE id = ?",
        (place.owner_id, place.chat_id, place.visibility, place.kind, place.slot, at, fault.number),
    )
    index_memory(db, fault.number)
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
    """Rows of the full-text index that are missing, extra or otherwise than it would be if it were written anew now.

    It is written anew in a temporary database, which SQLite deletes when it is closed.
    """
    with contextlib.closing(sqlite3.connect("")) as other:
        db.backup(other)
        rebuild(other)
        wanted = {(kind, ref): rest for kind, ref, *rest in other.execute(ROWS)}
    found = {(kind, ref): rest for kind, ref, *rest in db.execute(ROWS)}
    for key in sorted(wanted.keys() | found.keys()):
        if key not in found:
            yield Fault("text-index", key[1], f"{key[0]}: is not in the index", about=key[0])
        elif key not in wanted:
            yield Fault("text-index", key[1], f"{key[0]}: is in the index and is not there", about=key[0])
        elif wanted[key] != found[key]:
            yield Fault("text-index", key[1], f"{key[0]}: is otherwise in the index", about=key[0])
    for (rowid,) in db.execute(ORPHANS).fetchall():
        yield Fault("text-index", rowid, "a row of the index belongs to nothing", about="row")
    for memory_id, text, folded in db.execute("SELECT id, text, folded FROM memory WHERE disabled_at IS NULL"):
        if folded != fold(text):
            yield Fault("text-index", memory_id, "memory: is compared by an old form of its text", about="folded")


def _mend_text(db: sqlite3.Connection, fault: Fault) -> int:
    match fault.about:
        case "memory":
            index_memory(db, fault.number)
        case "digest":
            index_digest(db, fault.number)
        case "note":
            index_note(db, fault.number)
        case "line":
            index_lines(db, (fault.number,))
        case "row":
            db.execute("DELETE FROM doc_text WHERE rowid = ? AND rowid NOT IN (SELECT id FROM doc)", (fault.number,))
        case _:
            row = db.execute("SELECT text FROM memory WHERE id = ?", (fault.number,)).fetchone()
            if row is not None:
                db.execute("UPDATE memory SET folded = ? WHERE id = ?", (fold(row[0]), fault.number))
    return 1
