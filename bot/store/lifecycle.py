"""The life of memories: tidying, archive, protection, the operator's edits, and putting wrong rows right."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

from bot.core.inspection import MemoryFault, PlacedMemory, RepairPart
from bot.core.memories import FADED_FACTOR, MOST_IMPORTANCE, Memory, OldMemory, ReviewedMemory
from bot.core.people import Audience
from bot.language.sections import SectionRegistry
from bot.store.engine import Database, Repository
from bot.store.forget import Forgetting, disable_memories, purge_now
from bot.store.index import forget_terms, index_digest, index_lines, index_memory, index_note, rebuild_index
from bot.store.inspector import FORGOTTEN_REASONS
from bot.store.memories import StatementKey, replace_same, visible_memory
from bot.store.notes import NoteStorage
from bot.store.schema import IS_NAME, NAME_SLOT, SELECT_MEMORY, memory_of
from bot.store.supersession import apply_dated_ahead, one_current
from bot.store.tombstones import Tombstones
from bot.store.transactions import Tx
from bot.text.fold import fold

REVIEW_BATCH = 200
"""Rows of an older nuan that are read again at a time."""

LAST_UNREVIEWED = """coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'reread'), 0)"""
"""The highest number of a memory that is still to be read by the rules of today; 0 when none is."""

OWNER_ZONE = """SELECT memory.id, timezone FROM memory JOIN chat ON chat.id = memory.chat_id AND chat.kind = 'dm'
    JOIN person ON person.id = owner_id WHERE memory.id = ?"""

SOURCE_LINES = """SELECT text, at FROM edge JOIN event ON event.id = event_id
    WHERE edge.kind = 'memory' AND derived_id = ? AND event.kind = 'message' AND hidden = '' AND text <> ''
    ORDER BY event.id"""


@dataclass(frozen=True, slots=True)
class MemoryPool:
    """Memories that are limited together: one person's, or what nobody owns in one chat."""

    owner_id: int | None
    chat_id: int


@dataclass(frozen=True, slots=True)
class UpkeepPlan:
    """What tidying makes of some memories: (number, new count), and the numbers of what is archived till `purge_at`."""

    counts: tuple[tuple[int, int], ...]
    archived: tuple[int, ...]
    purge_at: int


class MemoryLifecycle(Repository):
    """Memories as time and their owners change them."""

    async def memory_pools(self) -> tuple[MemoryPool, ...]:
        """Everybody with memories that tidying may touch. It tells nobody anything: no audience is asked."""
        rows = await self._database.rows(
            "SELECT DISTINCT owner_id, CASE WHEN owner_id IS NULL THEN chat_id ELSE 0 END FROM memory "
            f"WHERE disabled_at IS NULL AND asked = 0 AND protected = 0 AND NOT {IS_NAME}"
        )
        return tuple(MemoryPool(row[0], int(row[1])) for row in rows)

    async def of(self, pool: MemoryPool) -> tuple[tuple[Memory, int], ...]:
        """Their active memories, each with when its count was last looked at, ms; for tidying only."""
        rows = await self._database.rows(
            SELECT_MEMORY.replace(" FROM memory ", ", decayed_at FROM memory ")
            + f"WHERE disabled_at IS NULL AND NOT {IS_NAME} AND owner_id IS ?1 AND (?1 IS NOT NULL OR chat_id = ?2)",
            (pool.owner_id, pool.chat_id),
        )
        return tuple((memory_of(row[:-1]), int(row[-1])) for row in rows)

    async def apply_upkeep(self, upkeep: UpkeepPlan, at: int) -> None:
        """Carry it out in one commit; what was asked for, protected or forgotten meanwhile stays as it is."""
        await self._database.write(lambda db: apply_upkeep(db, upkeep, at))

    async def older(self) -> tuple[OldMemory, ...]:
        """Some memories that an older nuan stored and that were not read again yet, the newest first."""
        return await self._database.read(unreviewed_memories)

    async def reread(self, done: tuple[OldMemory, ...], found: tuple[ReviewedMemory, ...]) -> None:
        """These were read again, and this is what changed; in one commit."""
        await self._database.write(lambda db: store_reviews(db, done, found))

    async def due(self, now: int) -> bool:
        """Whether it is time to tidy."""
        row = await self._database.row("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'life_at'")
        return row is None or int(row[0]) <= now

    async def come_true(self, now: int) -> int:
        """What was dated ahead takes the place of what it names once its day has come; how many are former."""
        return await self._database.write(lambda db: apply_dated_ahead(db, now))

    async def done(self, merged_before: int, now: int, next_at: int) -> None:
        """The tidying is done till `next_at`; what was merged or replaced before `merged_before` (ms) goes for good."""
        await self._database.write(lambda db: finish_upkeep(db, merged_before, now, next_at))

    async def archived(self, owner_id: int, audience: Audience) -> tuple[Memory, ...]:
        """What of a person's memories is archived, as far as this audience may see it, newest first."""
        where, params = visible_memory(audience)
        rows = await self._database.rows(
            SELECT_MEMORY + f"WHERE disabled_reason = 'archived' AND owner_id = ? AND {where} "
            "ORDER BY disabled_at DESC, id DESC",
            (owner_id, *params),
        )
        return tuple(memory_of(row) for row in rows)

    async def protect(self, memory: Memory, on: bool) -> None:
        """Keep it from tidying, limits and merges, or no longer."""
        sql = "UPDATE memory SET protected = ? WHERE id = ?"
        await self._database.write(lambda db: db.execute(sql, (int(on), memory.id)).rowcount)

    async def fade(self, memory: Memory) -> None:
        """A tenth of its vitality is left, whatever time it is; being recalled brings it back little by little."""
        sql = "UPDATE memory SET faded = faded * ? WHERE id = ?"
        await self._database.write(lambda db: db.execute(sql, (FADED_FACTOR, memory.id)).rowcount)

    async def archive(self, memory: Memory, purge_at: int, at: int) -> None:
        """Out of recall and openings; its row goes at `purge_at`, ms."""
        await self._database.write(lambda db: archive_memory(db, memory.id, purge_at, at))

    async def restore(self, memory: Memory, at: int) -> bool:
        """Back from the archive, as fresh as if it had been recalled; False when it is not there any more."""
        return await self._database.write(lambda db: restore_memory(db, memory.id, at))


def apply_upkeep(db: Tx, upkeep: UpkeepPlan, at: int) -> None:
    """One transaction: counts fall and memories are archived; neither changes when something happened, or in which
    order.
    """
    free = "disabled_at IS NULL AND asked = 0 AND protected = 0"
    db.executemany(
        f"UPDATE memory SET importance = min(importance, ?), decayed_at = ? WHERE id = ? AND {free}",
        [(count, at, number) for number, count in upkeep.counts],
    )
    for number in upkeep.archived:
        if db.execute(f"SELECT 1 FROM memory WHERE id = ? AND {free}", (number,)).fetchone():
            archive_memory(db, number, upkeep.purge_at, at)


def unreviewed_memories(db: Tx) -> tuple[OldMemory, ...]:
    """Within a transaction: as `Lives.older`."""
    sql = f"{SELECT_MEMORY}WHERE id <= {LAST_UNREVIEWED} AND disabled_at IS NULL ORDER BY id DESC LIMIT {REVIEW_BATCH}"
    memories = [memory_of(row) for row in db.execute(sql)]
    return tuple(
        OldMemory(
            memory, tuple((str(text), int(at)) for text, at in db.execute(SOURCE_LINES, (memory.id,))),
            str((db.execute(OWNER_ZONE, (memory.id,)).fetchone() or (0, ""))[1]),
        )
        for memory in memories
    )  # fmt: skip


def store_reviews(db: Tx, done: tuple[OldMemory, ...], found: tuple[ReviewedMemory, ...]) -> None:
    """One transaction: older memories are as found, as far as nobody changed them meanwhile; the next are older than
    these.
    """
    for one in found:
        db.execute(
            "UPDATE memory SET lasting = max(lasting, ?1), observed_at = iif(access_count = 0, ?2, observed_at), "
            "dated = iif(access_count = 0 AND dated = '' AND observed_at <> ?2, 'day', dated) "
            "WHERE id = ?3 AND disabled_at IS NULL",
            (one.lasting, one.observed_at, one.number),
        )
        index_memory(db, one.number)
    if len(done) < REVIEW_BATCH:
        db.execute("DELETE FROM meta WHERE key = 'reread'")
    else:
        db.execute("UPDATE meta SET value = ? WHERE key = 'reread'", (str(done[-1].memory.id - 1),))


def archive_memory(db: Tx, number: int, purge_at: int, at: int) -> None:
    """Within a transaction: an active memory is put away."""
    if db.execute(
        "UPDATE memory SET disabled_at = ?, disabled_reason = 'archived', purge_at = ? WHERE id = ? "
        "AND disabled_at IS NULL",
        (at, purge_at, number),
    ).rowcount:
        index_memory(db, number)


def restore_memory(db: Tx, number: int, at: int) -> bool:
    """One transaction: active again, unless the same was told anew meanwhile: that one then counts for both."""
    row = db.execute(
        f"SELECT owner_id, folded, visibility, {NAME_SLOT}, chat_id FROM memory WHERE id = ? "
        "AND disabled_reason = 'archived'",
        (number,),
    ).fetchone()
    if row is None:
        return False
    same = db.execute(
        f"SELECT id FROM memory WHERE owner_id IS ? AND folded = ? AND visibility = ? AND {NAME_SLOT} = ? "
        "AND disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?)",
        row,
    ).fetchone()
    if same is not None:
        db.execute("UPDATE memory SET importance = min(?, importance + 1) WHERE id = ?", (MOST_IMPORTANCE, same[0]))
        db.execute("UPDATE memory SET disabled_reason = 'replaced', purge_at = NULL WHERE id = ?", (number,))
        return True
    db.execute(
        "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, accessed_at = ?, faded = 1 "
        "WHERE id = ?",
        (at, number),
    )
    index_memory(db, number)
    one_current(db, row[0])
    return True


def finish_upkeep(db: Tx, merged_before: int, now: int, next_at: int) -> None:
    """One transaction: old merges and names that others took the place of are settled for good, the index is one part
    again, and the next time is set.

    One part is searched three times as fast as many; where nothing was written since, making it is free (measured).
    """
    forget_terms(db)
    db.execute(
        "UPDATE memory SET purge_at = ? WHERE disabled_reason IN ('merged', 'replaced') AND purge_at IS NULL "
        "AND disabled_at < ?",
        (now, merged_before),
    )
    old = [cast("int", row[0]) for row in db.execute("SELECT id FROM merged WHERE at < ?", (merged_before,))]
    db.executemany(
        "DELETE FROM edge WHERE kind IN ('merge', 'proof') AND derived_id = ?", [(number,) for number in old]
    )
    db.executemany("DELETE FROM merged WHERE id = ?", [(number,) for number in old])
    db.execute(
        "INSERT INTO meta (key, value) VALUES ('life_at', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
        (str(next_at),),
    )


RewordResult = Literal["done", "gone", "named", "known", "buried"]
"""What became of new words: taken; there is no such memory (any more); it is how somebody is called, which only they
change; another memory says that already; it was forgotten, and only its owner can have it kept again."""


class OperatorEdits:
    """Memories in their keeper's hands."""

    def __init__(self, database: Database, tombstones: Tombstones, note_storage: NoteStorage) -> None:
        self._database = database
        self._tombstones = tombstones
        self._note_storage = note_storage

    async def reword(self, number: int, text: str, at: int) -> RewordResult:
        """Say a memory otherwise. Its sources stay, and what it said first is forgotten together with it."""
        if self._tombstones.covers(text):
            return "buried"
        return await self._database.write(lambda db: reword_memory(db, number, text, at))

    async def forget(self, number: int, purge_at: int | None, at: int) -> bool:
        """忘记: it and every copy made of it go, to be brought back till `purge_at`, ms (None: gone at once).

        False when it is over already.
        """
        memory = await self._active(number)
        if memory is None:
            return False
        self._tombstones.add_tombstones([(memory.id, text) for text in memory.wordings], at)
        forgetting = Forgetting((memory,), memory.owner_id or 0, purge_at)
        await self._database.write(lambda db: forget_by_operator(db, forgetting, at, self._note_storage))
        if purge_at is None:
            await purge_now(self._database, at)
        return True

    async def bring_back(self, number: int, at: int) -> bool:
        """撤销: a forgotten memory holds again, in place of what was said since; False when it is gone for good."""
        found = await self._database.write(lambda db: bring_memory_back(db, number, at))
        if found is None:
            return False
        self._tombstones.remove_tombstones(found.wordings, at)
        return True

    async def _active(self, number: int) -> Memory | None:
        row = await self._database.row(f"{SELECT_MEMORY}WHERE id = ? AND disabled_at IS NULL", (number,))
        return memory_of(row) if row is not None else None


def reword_memory(db: Tx, number: int, text: str, at: int) -> RewordResult:
    """One transaction: new words for an active memory."""
    row = db.execute(f"{SELECT_MEMORY}WHERE id = ? AND disabled_at IS NULL", (number,)).fetchone()
    if row is None:
        return "gone"
    memory = memory_of(tuple(row))
    if memory.is_name:
        return "named"
    folded = fold(text)
    same = db.execute(
        f"SELECT 1 FROM memory WHERE owner_id IS ? AND folded = ? AND visibility = ? AND NOT {IS_NAME} "
        "AND disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?) AND id <> ?",
        (memory.owner_id, folded, memory.visibility, memory.chat_id, number),
    ).fetchone()
    if same is not None:
        return "known"
    db.execute(
        "UPDATE memory SET original = CASE original WHEN '' THEN text ELSE original END, text = ?, folded = ?, "
        "updated_at = ? WHERE id = ?",
        (text, folded, at, number),
    )
    db.execute("DELETE FROM rewriting WHERE memory_id = ?", (number,))
    index_memory(db, number)
    begin_logs_anew(db)
    return "done"


def forget_by_operator(db: Tx, forgetting: Forgetting, at: int, note_storage: NoteStorage) -> None:
    """One transaction: disabled, with all that was derived."""
    disable_memories(db, forgetting, forgetting.memories[0].chat_id, at, note_storage)
    begin_logs_anew(db)


def bring_memory_back(db: Tx, number: int, at: int) -> Memory | None:
    """One transaction: what was forgotten and is still kept for undo is active again."""
    row = db.execute(
        f"SELECT owner_id, chat_id, visibility, {NAME_SLOT}, folded, disabled_reason FROM memory WHERE id = ? "
        "AND disabled_at IS NOT NULL AND purge_at > ?",
        (number, at),
    ).fetchone()
    if row is None or row[5] not in FORGOTTEN_REASONS:
        return None
    replace_same(db, StatementKey(*row[:5]), at)
    db.execute(
        "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = ? WHERE id = ?",
        (at, number),
    )
    index_memory(db, number)
    begin_logs_anew(db)
    return memory_of(
        cast("tuple[object, ...]", tuple(db.execute(f"{SELECT_MEMORY}WHERE id = ?", (number,)).fetchone()))
    )


def begin_logs_anew(db: Tx) -> None:
    """Within a transaction: open logs begin anew, and with them what they were told from memory."""
    db.execute(
        "UPDATE epoch SET stale = 'memory' WHERE stale = '' AND session_id IN "
        "(SELECT id FROM session WHERE state = 'open')"
    )


SELECT_PLACED = """SELECT memory.id, owner_id, person.id IS NOT NULL, memory.chat_id, chat.kind, visibility,
    memory.kind, slot FROM memory LEFT JOIN person ON person.id = owner_id LEFT JOIN chat ON chat.id = memory.chat_id
    WHERE disabled_at IS NULL AND (? IS NULL OR memory.id = ?) ORDER BY memory.id"""
UNSORTED = """SELECT id, owner_id, kind, text, section FROM memory WHERE (disabled_at IS NULL
    OR disabled_reason = 'archived') AND (? IS NULL OR id = ?) ORDER BY id"""
SHIPPED_REGISTRY = SectionRegistry()
SELECT_DOCUMENTS = """SELECT kind, ref, doc.scope, doc_text.scope, chat_id, terms FROM doc LEFT JOIN doc_text
    ON doc_text.rowid = doc.id"""
ORPHANS = "SELECT rowid FROM doc_text WHERE rowid NOT IN (SELECT id FROM doc)"

PlacementJudge = Callable[[PlacedMemory], MemoryFault | None]
"""What is wrong with a memory's namespace, and where it belongs."""
FaultFinder = Callable[[Tx, int | None], Iterator[MemoryFault]]
"""What is wrong in one part, everywhere or with one memory."""


class MemoryRepair(Repository):
    """What does not stand as it should."""

    async def find(
        self, parts: frozenset[RepairPart], judge: PlacementJudge, registry: SectionRegistry = SHIPPED_REGISTRY
    ) -> tuple[MemoryFault, ...]:  # fmt: skip
        """Everything that is wrong in these parts, by part and number; `registry` says where memories belong."""
        finders = _finders(judge, registry)
        return await self._database.read(
            lambda db: tuple(fault for part in sorted(parts) for fault in finders[part](db, None))
        )

    async def mend(
        self, faults: tuple[MemoryFault, ...], judge: PlacementJudge, at: int,
        registry: SectionRegistry = SHIPPED_REGISTRY
    ) -> int:  # fmt: skip
        """Put these right in one transaction; how many were. Each is looked at again: done twice it is done once."""
        return await self._database.write(lambda db: sum(_mend(db, fault, judge, at, registry) for fault in faults))


def _finders(judge: PlacementJudge, registry: SectionRegistry) -> dict[RepairPart, FaultFinder]:
    return {
        "namespaces": partial(namespace_faults, judge), "sections": partial(section_faults, registry),
        "text-index": index_faults
    }  # fmt: skip


def _mend(db: Tx, fault: MemoryFault, judge: PlacementJudge, at: int, registry: SectionRegistry) -> int:
    match fault.part:
        case "namespaces":
            return _mend_place(db, fault, judge, at)
        case "sections":
            return _mend_section(db, fault, registry)
        case _:
            return _mend_text(db, fault)


def section_faults(registry: SectionRegistry, db: Tx, number: int | None) -> Iterator[MemoryFault]:
    """Memories, or that one, without a section that the registry knows; one that it knows may have been given."""
    for memory_id, owner, kind, text, section in db.execute(UNSORTED, (number, number)).fetchall():
        wanted = registry.assign(text, kind, owned=owner is not None)
        if section not in registry.keys and section != wanted:
            yield MemoryFault("sections", memory_id, f"is in {section or 'none'} → {wanted or 'none'}", about=wanted)


def _mend_section(db: Tx, fault: MemoryFault, registry: SectionRegistry) -> int:
    now = next(section_faults(registry, db, fault.number), None)
    if now is None:
        return 0
    db.execute("UPDATE memory SET section = ? WHERE id = ?", (now.about, fault.number))
    return 1


def _mend_place(db: Tx, fault: MemoryFault, judge: PlacementJudge, at: int) -> int:
    now = next(namespace_faults(judge, db, fault.number), None)
    if now is None or now.place is None:
        return 0
    place = now.place
    db.execute(
        "UPDATE memory SET owner_id = ?, chat_id = ?, visibility = ?, kind = ?, slot = ?, updated_at = ? WHERE id = ?",
        (place.owner_id, place.chat_id, place.visibility, place.kind, place.slot, at, fault.number),
    )
    index_memory(db, fault.number)
    return 1


def namespace_faults(judge: PlacementJudge, db: Tx, number: int | None) -> Iterator[MemoryFault]:
    """Memories, or that one, whose owner, chat or visibility is missing or impossible."""
    for memory_id, owner, known, chat, chat_kind, seen, kind, slot in db.execute(
        SELECT_PLACED, (number, number)
    ).fetchall():
        row = PlacedMemory(memory_id, owner, bool(known), chat, chat_kind, str(seen), str(kind), str(slot))
        if judge(row) is not None:
            fault = judge(_with_lines(db, row))
            if fault is not None:
                yield fault


def _with_lines(db: Tx, row: PlacedMemory) -> PlacedMemory:
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
    return PlacedMemory(
        row.number, row.owner_id, row.owner_known, row.chat_id, row.chat_kind, row.visibility, row.kind, row.slot,
        senders, chats, tuple(cast("int", person) for (person,) in members),
    )  # fmt: skip


def index_faults(db: Tx, number: int | None) -> Iterator[MemoryFault]:
    """Rows of the full-text index that are missing, extra or otherwise than it would be if it were written anew now.

    It is written anew in a temporary database, which SQLite deletes when it is closed.
    """
    with contextlib.closing(sqlite3.connect("", factory=Tx)) as other:
        db.backup(other)
        rebuild_index(other)
        wanted = {(kind, ref): rest for kind, ref, *rest in other.execute(SELECT_DOCUMENTS)}
    found = {(kind, ref): rest for kind, ref, *rest in db.execute(SELECT_DOCUMENTS)}
    for key in sorted(wanted.keys() | found.keys()):
        if key not in found:
            yield MemoryFault("text-index", key[1], f"{key[0]}: is not in the index", about=key[0])
        elif key not in wanted:
            yield MemoryFault("text-index", key[1], f"{key[0]}: is in the index and is not there", about=key[0])
        elif wanted[key] != found[key]:
            yield MemoryFault("text-index", key[1], f"{key[0]}: is otherwise in the index", about=key[0])
    for (rowid,) in db.execute(ORPHANS).fetchall():
        yield MemoryFault("text-index", rowid, "a row of the index belongs to nothing", about="row")
    for memory_id, text, folded in db.execute("SELECT id, text, folded FROM memory WHERE disabled_at IS NULL"):
        if folded != fold(text):
            yield MemoryFault("text-index", memory_id, "memory: is compared by an old form of its text", about="folded")


def _mend_text(db: Tx, fault: MemoryFault) -> int:
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
