"""Which memory of a slot is current, tasks and their reminders that move with it, and merges of memories."""

import json
from collections.abc import Callable, Iterable
from typing import Any, cast

from bot.core.clock import DAY_MS
from bot.core.commitments import NewCommitment
from bot.core.memories import INTO_OLDER, MOST_IMPORTANCE, STABILITY_DAYS, Memory, Merge, NewMemory, PastMerge
from bot.language.sections import is_single_valued
from bot.store.engine import Repository
from bot.store.index import index_memory, scope_of, sort_memory
from bot.store.reminders import same_thing, unsay_reminders
from bot.store.schema import IS_CURRENT, IS_NAME, SELECT_MEMORY, memory_of
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.terms import STOP_WORDS, search_terms


def set_nudge(db: Tx, number: int, new: NewCommitment, at: int) -> None:
    """Within a transaction: a promise has another day: its person is reminded then, in the chat where they named it, or
    not at all where that is over, where they asked for that themselves, or have reminders enough.
    """
    db.execute("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", (number,))
    wanted = new.nudge
    if wanted is None or wanted.at <= at or _asked(db, new):
        return
    (waiting,) = db.execute(
        "SELECT count(*) FROM reminder WHERE ended_at IS NULL AND person_id = ?", (new.owner_id,)
    ).fetchone()
    if waiting < wanted.most_open:
        db.execute(
            "INSERT INTO reminder (person_id, chat_id, text, due_at, made_at, commitment_id, wall) "
            "VALUES (?, ?, '', ?, ?, ?, 1)",
            (new.owner_id, new.chat_id, wanted.at, at, number),
        )


def hand_nudge_over(db: Tx, kept: int, gone: int) -> None:
    """Within a transaction: two promises are one: the later one's day counts, and so does when its person is reminded
    of it.
    """
    db.execute("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", (kept,))
    db.execute("UPDATE reminder SET commitment_id = ? WHERE commitment_id = ?", (kept, gone))


def withdraw_nudges(db: Tx, commitments: Iterable[int]) -> None:
    """Within a transaction: these promises were never made: what nuan said of them is not told any more, nor sent
    again.
    """
    for number in commitments:
        rows = db.execute("SELECT id FROM reminder WHERE commitment_id = ?", (number,)).fetchall()
        unsay_reminders(db, tuple(cast("int", row[0]) for row in rows))


def _asked(db: Tx, new: NewCommitment) -> bool:
    """Whether one of its messages asked to be reminded of it."""
    return any(
        same_thing(str(text), new.text)
        for event in new.event_ids
        for (text,) in db.execute(
            "SELECT text FROM edge JOIN reminder ON reminder.id = derived_id WHERE edge.kind = 'reminder' "
            "AND event_id = ? AND ended_at IS NULL",
            (event,),
        )
    )


def note_moved(db: Tx, number: int, at: int) -> None:
    """Within a transaction: it has another day: talks that told the old one say so."""
    db.execute("UPDATE commitment SET moved_at = ? WHERE id = ?", (at, number))


def move_with_memory(db: Tx, older: int, newer: int, at: int) -> None:
    """Within a transaction: a statement that names a day takes the place of another: open tasks of the same lines and
    day move with it, and so does when their person is reminded.
    """
    days = {row[0]: row[1:] for row in db.execute(
        "SELECT id, observed_at, dated FROM memory WHERE id IN (?, ?)", (older, newer))}  # fmt: skip
    (was, was_dated), (now, now_dated) = days[older], days[newer]
    if not {was_dated, now_dated} <= {"day", "time"} or was == now:
        return
    rows = db.execute(
        "SELECT DISTINCT commitment.id, due_at, commitment.dated FROM commitment "
        "JOIN edge AS own ON own.kind = 'commitment' AND own.derived_id = commitment.id "
        "JOIN edge AS told ON told.kind = 'memory' AND told.derived_id = ? AND told.event_id = own.event_id "
        "WHERE commitment.ended_at IS NULL AND commitment.text <> '' AND abs(due_at - ?) <= ?",
        (older, was, DAY_MS // 2),
    ).fetchall()
    for number, due, dated in rows:
        timed = now_dated == "time"
        whole = now - was if was_dated == now_dated else round((now - was) / DAY_MS) * DAY_MS
        then = now if timed and dated != "time" else due + whole
        db.execute(
            "UPDATE commitment SET due_at = ?, dated = ? WHERE id = ?", (then, "time" if timed else dated, number)
        )
        db.execute(
            "UPDATE reminder SET due_at = due_at + ?1 WHERE commitment_id = ?2 AND ended_at IS NULL "
            "AND due_at + ?1 > ?3",
            (then - due, number, at),
        )
        note_moved(db, number, at)


def make_current(db: Tx, number: int, new: NewMemory, at: int) -> None:
    """Within a transaction: this memory is current; what it names as replaced, and what holds its slot, is former.

    Only of the same owner in the same place; what is named may be what they said in a group, or a plan that another
    made in that group. It is as asked for as what it takes the place of. What somebody asked to keep goes for another
    such wish only where that names it: its receipt says so. What is dated ahead takes its place on its day: till then
    both are current (`come_true`).
    """
    ahead = new.observed_at > at and new.kind != "anniversary" and new.source == "digest"
    one = new.slot if is_single_valued(new.slot) else None
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
            move_with_memory(db, older, number, at)
        db.execute("UPDATE memory SET former_at = ?, replaced_by = ? WHERE id = ?", (till, number, older))
        db.execute("UPDATE memory SET asked = max(asked, ?) WHERE id = ?", (asked, number))


def apply_dated_ahead(db: Tx, at: int) -> int:
    """One transaction: what was dated ahead takes the place of what it names once its day has come; how many are
    former.

    A day without a time is stored as its noon, and has come with its first hour.
    """
    return db.execute(
        "UPDATE memory SET former_at = ?1 WHERE former_at IS NULL AND replaced_by IN "
        "(SELECT id FROM memory WHERE observed_at <= ?1 + CASE dated WHEN 'time' THEN 0 ELSE ?2 END "
        "AND disabled_at IS NULL)",
        (at, DAY_MS // 2),
    ).rowcount


def restore_former(db: Tx, number: int) -> None:
    """Within a transaction: what this memory took the place of is current again, or former for what took the place of
    this one.
    """
    before = db.execute("SELECT id FROM memory WHERE replaced_by = ?", (number,)).fetchall()
    owner, by = db.execute("SELECT owner_id, replaced_by FROM memory WHERE id = ?", (number,)).fetchone()
    if by is not None:
        db.execute("UPDATE memory SET replaced_by = ? WHERE replaced_by = ?", (by, number))
        return
    db.execute("UPDATE memory SET former_at = NULL, replaced_by = NULL WHERE replaced_by = ?", (number,))
    if len(before) > 1:
        one_current(db, owner)


def one_current(db: Tx, owner_id: int | None) -> None:
    """Within a transaction: after rows came back, or two people became one, of what somebody has one of the newest is
    current.

    The others were so until it was said.
    """
    rows = db.execute(
        "SELECT id, max(said_at, created_at), visibility, CASE visibility WHEN 'chat' THEN chat_id ELSE 0 END, "
        "subject, slot FROM memory "
        f"WHERE owner_id IS ? AND {IS_CURRENT} AND slot <> '' AND NOT {IS_NAME} "
        "AND observed_at <= max(said_at, created_at) "
        "ORDER BY max(said_at, created_at) DESC, id DESC",
        (owner_id,),
    ).fetchall()
    newest: dict[tuple[object, ...], tuple[int, int]] = {}
    for number, said, *place in rows:
        if not is_single_valued(str(place[-1])):
            continue
        first, at = newest.setdefault(tuple(place), (number, said))
        if first != number:
            db.execute("UPDATE memory SET former_at = ?, replaced_by = ? WHERE id = ?", (at, first, number))


MOST_NEAR = 12
"""How many memories a new statement is compared with: those that share the most telling terms."""

MOST_TERMS = 48
"""Terms of a statement that are searched for."""

RELATED = {
    "搬到": ("住在",), "搬去": ("住在",), "搬来": ("住在",), "搬回": ("住在",), "住在": ("搬到", "搬去"),
    "moved to": ("live", "living"), "live in": ("moved",),
}  # fmt: skip
"""What tells of the same thing in other words: where somebody lives and where they moved."""

MERGED = "SELECT id, at, how, before, said, undone_at FROM merged WHERE memory_id = ? ORDER BY id DESC"


class Merges(Repository):
    """What was merged, and its undoing."""

    async def of(self, memory: Memory) -> tuple[PastMerge, ...]:
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
        return await self._database.write(lambda db: undo_merge(db, memory.id, at))


def near_memories(db: Tx, new: NewMemory) -> tuple[Memory, ...]:
    """Within a transaction: the memories of the same owner in the same place that share the most with a statement.

    One whose merge somebody took back is left alone.
    """
    terms = dict.fromkeys(term for term in search_terms(new.text) if len(term) > 1 and term not in STOP_WORDS)
    said = fold(new.text)
    related = dict.fromkeys(other for word, others in RELATED.items() if word in said
                            for one in others for other in search_terms(one))  # fmt: skip
    words = " OR ".join(f'"{term}"' for term in [*related, *terms][:MOST_TERMS])
    if not terms:
        return ()
    key = scope_of(new.visibility, new.owner_id, new.chat_id)
    rows = db.execute(
        SELECT_MEMORY.replace(
            "FROM memory ", "FROM doc_text JOIN doc ON doc.id = doc_text.rowid JOIN memory ON memory.id = ref "
        )
        + "WHERE doc_text MATCH ? AND doc.kind = 'memory' AND memory.disabled_at IS NULL AND memory.former_at IS NULL "
        "AND memory.owner_id IS ? "
        "AND memory.visibility = ? AND memory.slot NOT IN ('address', 'no_address') "
        "AND (memory.visibility <> 'chat' OR memory.chat_id = ?) "
        "AND NOT EXISTS (SELECT 1 FROM merged WHERE memory_id = memory.id AND undone_at IS NOT NULL) "
        "ORDER BY bm25(doc_text, 0.0, 1.0), memory.id DESC LIMIT ?",
        (f"scope : ({key}) AND terms : ({words})", new.owner_id, new.visibility, new.chat_id, MOST_NEAR),
    )
    return tuple(memory_of(row) for row in rows.fetchall())


def merge_memories(db: Tx, number: int, new: NewMemory, done: Merge, at: int) -> None:
    """Within a transaction: carry a merge out. Into the older memory `number`, or of the older one into `number`."""
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


def undo_merge(db: Tx, memory_id: int, at: int) -> int | None:
    """One transaction: the newest merge that stands is taken back; the number of what stands for itself again."""
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


def drop_merges(db: Tx, memory_id: int, at: int, purge_at: int) -> None:
    """Within a transaction: a memory is over, and so is what it was made of."""
    db.execute(
        "UPDATE memory SET disabled_at = ?, disabled_reason = 'derived', purge_at = ? WHERE disabled_reason = 'merged' "
        "AND id IN (SELECT absorbed FROM merged WHERE memory_id = ?)",
        (at, purge_at, memory_id),
    )
    _delete(db, [row[0] for row in db.execute("SELECT id FROM merged WHERE memory_id = ?", (memory_id,))])


def scrub_merges(
    db: Tx, events: set[int], whose: tuple[int | None, int] | None = None,
    tells: Callable[[str], bool] = lambda text: False,
) -> None:  # fmt: skip
    """Within a transaction: of merges from these events nothing is kept, nor of those of `whose` (owner, chat) that
    `tells`.
    """
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


def _delete(db: Tx, merges: list[int]) -> None:
    db.executemany(
        "DELETE FROM edge WHERE kind IN ('merge', 'proof') AND derived_id = ?", [(number,) for number in merges]
    )
    db.executemany("DELETE FROM merged WHERE id = ?", [(number,) for number in merges])


def _events(db: Tx, memory_id: int) -> set[int]:
    return {
        cast("int", row[0])
        for row in db.execute("SELECT event_id FROM edge WHERE kind = 'memory' AND derived_id = ?", (memory_id,))
    }


def _merged(row: tuple[Any, ...], event_ids: tuple[int, ...]) -> PastMerge:
    number, at, how, before, said, undone_at = row
    return PastMerge(number, at, how, before, said, undone_at, event_ids)


def _put_away(db: Tx, number: int, why: str, at: int) -> None:
    db.execute("UPDATE memory SET disabled_at = ?, disabled_reason = ? WHERE id = ?", (at, why, number))
    index_memory(db, number)


def _say(db: Tx, number: int, text: str, observed_at: int, at: int) -> None:
    db.execute(
        "UPDATE memory SET text = ?, folded = ?, observed_at = ?, updated_at = ? WHERE id = ?",
        (text, fold(text), observed_at, at, number),
    )
    sort_memory(db, number)
    index_memory(db, number)
