"""Merges of memories: carried out, kept with what was before, and taken back. What is merged is decided elsewhere."""

import sqlite3
from collections.abc import Callable
from typing import Any, cast

from bot.store.database import Repository
from bot.store.documents import scope_of
from bot.store.indexing import index_memory
from bot.store.rows import MEMORY, memory_of
from bot.store.sorting import sort_memory
from bot.text.fold import fold
from bot.text.terms import search_terms
from bot.text.tokens import STOP
from bot.types.memory import MOST_IMPORTANCE, STABILITY_DAYS, Memory, NewMemory
from bot.types.merging import INTO_OLDER, Merge, Merged

NEAR = 12
"""How many memories a new statement is compared with: those that share the most telling terms."""

TERMS = 48
"""Terms of a statement that are searched for."""

RELATED = {
    "搬到": ("住在",), "搬去": ("住在",), "搬来": ("住在",), "搬回": ("住在",), "住在": ("搬到", "搬去"),
    "moved to": ("live", "living"), "live in": ("moved",),
}  # fmt: skip
"""What tells of the same thing in other words: where somebody lives and where they moved."""

MERGED = "SELECT id, at, how, before, said, undone_at FROM merged WHERE memory_id = ? ORDER BY id DESC"


class Merges(Repository):
    """What was merged, and its undoing."""

    async def of(self, memory: Memory) -> tuple[Merged, ...]:
        """Everything that was merged into a memory, newest first; who may see the memory may see this."""
        rows, edges = await self._database.snapshot(
            (MERGED, (memory.id,)),
            ("SELECT derived_id, event_id FROM edge WHERE kind = 'merge' AND derived_id IN "
             "(SELECT id FROM merged WHERE memory_id = ?) ORDER BY event_id", (memory.id,)),
        )  # fmt: skip
        return tuple(
            _merged(row, tuple(int(event) for derived, event in edges if derived == row[0])) for row in rows
        )  # fmt: skip

    async def undo(self, memory: Memory, at: int) -> int | None:
        """Take its newest merge back: both statements stand for themselves again. The other's number, None for none."""
        return await self._database.write(lambda db: undo(db, memory.id, at))


def near(db: sqlite3.Connection, new: NewMemory) -> tuple[Memory, ...]:
    """Verb part: the memories of the same owner in the same place that share the most with a statement.

    One whose merge somebody took back is left alone.
    """
    terms = dict.fromkeys(term for term in search_terms(new.text) if len(term) > 1 and term not in STOP)
    said = fold(new.text)
    related = dict.fromkeys(other for word, others in RELATED.items() if word in said
                            for one in others for other in search_terms(one))  # fmt: skip
    words = " OR ".join(f'"{term}"' for term in [*related, *terms][:TERMS])
    if not terms:
        return ()
    key = scope_of(new.visibility, new.owner_id, new.chat_id)
    rows = db.execute(
        MEMORY.replace(
            "FROM memory ", "FROM doc_text JOIN doc ON doc.id = doc_text.rowid JOIN memory ON memory.id = ref "
        )
        + "WHERE doc_text MATCH ? AND doc.kind = 'memory' AND memory.disabled_at IS NULL AND memory.former_at IS NULL "
        "AND memory.owner_id IS ? "
        "AND memory.visibility = ? AND memory.slot NOT IN ('address', 'no_address') "
        "AND (memory.visibility <> 'chat' OR memory.chat_id = ?) "
        "AND NOT EXISTS (SELECT 1 FROM merged WHERE memory_id = memory.id AND undone_at IS NOT NULL) "
        "ORDER BY bm25(doc_text, 0.0, 1.0), memory.id DESC LIMIT ?",
        (f"scope : ({key}) AND terms : ({words})", new.owner_id, new.visibility, new.chat_id, NEAR),
    )
    return tuple(memory_of(row) for row in rows.fetchall())


def merge(db: sqlite3.Connection, number: int, new: NewMemory, done: Merge, at: int) -> None:
    """Verb part: carry a merge out. Into the older memory `number`, or of the older one into `number`."""
    older = done.older
    events = set(new.event_ids) if done.how in INTO_OLDER else _events(db, older.id)
    added = {event for event in events if event not in _events(db, number)}
    into = done.how in INTO_OLDER
    said, kind, source, seen = (
        (new.text, new.kind, new.source, new.observed_at) if into
        else (older.text, older.kind, older.source, older.observed_at)
    )  # fmt: skip
    before = (older.text, older.observed_at) if into else (new.text, new.observed_at)
    row = db.execute(
        "INSERT INTO merged (memory_id, at, how, before, before_observed_at, said, kind, source, observed_at, "
        "absorbed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, at, done.how, *before, said, kind, source, seen, None if into else older.id),
    ).lastrowid
    edge = "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES (?, ?, ?)"
    db.executemany(edge, [("merge", row, event) for event in events])
    if done.how != "outdo":
        db.executemany(edge, [("proof", row, event) for event in added])
        db.executemany(edge, [("memory", number, event) for event in added])
    if not into:
        _put_away(db, older.id, "merged", at)
    elif done.text:
        _say(db, number, done.text, max(older.observed_at, new.observed_at), at)
    if added and done.how != "outdo":
        db.execute(
            "UPDATE memory SET importance = min(?, importance + 1), accessed_at = max(accessed_at, ?) WHERE id = ?",
            (MOST_IMPORTANCE, at, number),
        )


def undo(db: sqlite3.Connection, memory_id: int, at: int) -> int | None:
    """Verb: the newest merge that stands is taken back; the number of what stands for itself again."""
    row = db.execute(
        "SELECT id, before, before_observed_at, said, kind, source, observed_at, absorbed FROM merged "
        "WHERE memory_id = ? AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
        (memory_id,),
    ).fetchone()
    if row is None:
        return None
    number, before, seen, said, kind, source, observed, absorbed = row
    events = [event for (event,) in db.execute(
        "SELECT event_id FROM edge WHERE kind = 'merge' AND derived_id = ?", (number,)
    )]  # fmt: skip
    db.execute(
        "DELETE FROM edge WHERE kind = 'memory' AND derived_id = ? AND event_id IN "
        "(SELECT event_id FROM edge WHERE kind = 'proof' AND derived_id = ?)",
        (memory_id, number),
    )
    db.execute("UPDATE merged SET undone_at = ? WHERE id = ?", (at, number))
    if absorbed is not None:
        if db.execute(
            "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL WHERE id = ? "
            "AND disabled_reason = 'merged'",
            (absorbed,),
        ).rowcount:
            index_memory(db, absorbed)
        return cast("int", absorbed)
    text = db.execute("SELECT text FROM memory WHERE id = ?", (memory_id,)).fetchone()[0]
    if text != before:
        _say(db, memory_id, before, seen, at)
    other = db.execute(
        "INSERT INTO memory (owner_id, chat_id, visibility, kind, text, folded, source, stability_days, accessed_at, "
        "observed_at, created_at, updated_at) SELECT owner_id, chat_id, visibility, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6, ?6 "
        "FROM memory WHERE id = ?8",
        (kind, said, fold(said), source, STABILITY_DAYS[kind], at, observed, memory_id),
    ).lastrowid
    assert other is not None
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)",
        [(other, event) for event in events],
    )
    sort_memory(db, other)
    index_memory(db, other)
    return other


def drop_merges(db: sqlite3.Connection, memory_id: int, at: int, purge_at: int) -> None:
    """Verb part: a memory is over, and so is what it was made of."""
    db.execute(
        "UPDATE memory SET disabled_at = ?, disabled_reason = 'derived', purge_at = ? WHERE disabled_reason = 'merged' "
        "AND id IN (SELECT absorbed FROM merged WHERE memory_id = ?)",
        (at, purge_at, memory_id),
    )
    _delete(db, [row[0] for row in db.execute("SELECT id FROM merged WHERE memory_id = ?", (memory_id,))])


def scrub_merges(
    db: sqlite3.Connection, events: set[int], whose: tuple[int | None, int] | None = None,
    tells: Callable[[str], bool] = lambda text: False,
) -> None:  # fmt: skip
    """Verb part: of merges from these events nothing is kept, nor of those of `whose` (owner, chat) that `tells`."""
    gone = {
        cast("int", row[0])
        for event in events
        for row in db.execute("SELECT derived_id FROM edge WHERE kind = 'merge' AND event_id = ?", (event,))
    }
    if whose is not None:
        for number, before, said in db.execute(
            "SELECT merged.id, before, said FROM merged JOIN memory ON memory.id = memory_id "
            "WHERE owner_id IS ?1 OR (owner_id IS NULL AND chat_id = ?2)",
            whose,
        ):
            if tells(before) or tells(said):
                gone.add(number)
    _delete(db, sorted(gone))


def _delete(db: sqlite3.Connection, merges: list[int]) -> None:
    db.executemany(
        "DELETE FROM edge WHERE kind IN ('merge', 'proof') AND derived_id = ?", [(number,) for number in merges]
    )
    db.executemany("DELETE FROM merged WHERE id = ?", [(number,) for number in merges])


def _events(db: sqlite3.Connection, memory_id: int) -> set[int]:
    return {
        cast("int", row[0])
        for row in db.execute("SELECT event_id FROM edge WHERE kind = 'memory' AND derived_id = ?", (memory_id,))
    }


def _merged(row: tuple[Any, ...], event_ids: tuple[int, ...]) -> Merged:
    number, at, how, before, said, undone_at = row
    return Merged(number, at, how, before, said, undone_at, event_ids)


def _put_away(db: sqlite3.Connection, number: int, why: str, at: int) -> None:
    db.execute("UPDATE memory SET disabled_at = ?, disabled_reason = ? WHERE id = ?", (at, why, number))
    index_memory(db, number)


def _say(db: sqlite3.Connection, number: int, text: str, observed_at: int, at: int) -> None:
    db.execute(
        "UPDATE memory SET text = ?, folded = ?, observed_at = ?, updated_at = ? WHERE id = ?",
        (text, fold(text), observed_at, at, number),
    )
    sort_memory(db, number)
    index_memory(db, number)
