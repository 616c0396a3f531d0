"""Dialogue memory: one digest for each closed session, rolled up by hour, day and week."""

import json
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, cast

from bot.core.clock import DAY_MS
from bot.core.memories import MergeRule, no_merge
from bot.core.people import Audience
from bot.core.sessions import Dialogue, DialogueRow, Digest, Rollup, RollupPlan, Session
from bot.store.commitments import store_commitment
from bot.store.engine import Database, Repository
from bot.store.index import drop_documents, forget_terms, index_digest, index_memory
from bot.store.ledger import Settlement, settle_call
from bot.store.memories import store_memory
from bot.store.reminders import change_reminder
from bot.store.schema import placeholders
from bot.store.sessions import end_logs
from bot.store.supersession import drop_merges, restore_former
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.length import gist

TALKS_OF = """session_id IS NOT NULL AND (id = ?2 OR into_id IN (?2,
    (SELECT into_id FROM digest WHERE id = ?2 AND session_id IS NULL)))"""
"""The talks that row ?2 tells, also one that went into another since it was read: of that it leaves an empty row."""


def remake_rollup(db: Tx, number: int) -> None:
    """Within a transaction: a rolled-up row tells what is left of its talks, and is gone when there are none."""
    rows = db.execute(
        "SELECT summary, names, started_at, ended_at FROM digest WHERE into_id = ? AND session_id IS NOT NULL "
        "ORDER BY ended_at, id",
        (number,),
    ).fetchall()
    if not rows:
        drop_documents(db, "digest", (number,))
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


def summary_changed(db: Tx, number: int) -> None:
    """Within a transaction: the summary of a talk has changed: its place in the index, or what it was rolled up into,
    follows.
    """
    index_digest(db, number)
    (into,) = db.execute("SELECT into_id FROM digest WHERE id = ?", (number,)).fetchone()
    if into is not None:
        remake_rollup(db, into)


def drop_talks(db: Tx, numbers: Iterable[int]) -> None:
    """Within a transaction: these talks go for good, out of what they were rolled up into, too; no digest of them is
    made again.

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
        drop_documents(db, "digest", (number,))
        db.execute("DELETE FROM digest WHERE id = ?", (number,))
        db.execute("UPDATE session SET digest_due_at = NULL WHERE id = ? AND state = 'closed'", (row[1],))
        if row[0] is not None:
            into.add(cast("int", row[0]))
    for number in sorted(into):
        remake_rollup(db, number)


def drop_old_talks(db: Tx, before: int) -> int:
    """Within a transaction: talks that ended before that instant, ms, go; how many."""
    old = db.execute("SELECT id FROM digest WHERE session_id IS NOT NULL AND ended_at < ?", (before,)).fetchall()
    drop_talks(db, [cast("int", number) for (number,) in old])
    db.execute("DELETE FROM digest WHERE session_id IS NULL AND into_id IS NOT NULL AND ended_at < ?", (before,))
    return len(old)


REMADE_MS = 7 * DAY_MS
"""What the rule made of a talk so long ago stays as it is."""


@dataclass(frozen=True, slots=True)
class Digested:
    """A digest with the session it is of: whose it is (None: a group's), who took part, which events it covers.

    `members` are the earlier sessions that it tells, too, the first of which began at `opened_at`, ms. `remake`: the
    rule made it because no model could, so the next digest that a model makes in this chat has it made again.

    `settlement` is of the model call that made it, if one did: paid for and used in one commit. `merging` says what
    becomes of memories much like older ones. `seen` is the chat's newest event when the lines were read.
    """

    session: Session
    digest: Digest
    owner_id: int | None
    names: tuple[str, ...]
    event_ids: tuple[int, ...]
    settlement: Settlement | None = None
    merging: MergeRule = no_merge
    members: tuple[int, ...] = ()
    opened_at: int = 0
    remake: bool = False
    seen: int = 0


class Digests:
    """Summaries of closed sessions."""

    def __init__(self, database: Database, covers: Callable[[str], bool]) -> None:
        """`covers` tells what was forgotten for good: no digest brings it back."""
        self._database = database
        self._covers = covers

    async def store(self, digested: Digested, at: int) -> bool:
        """Commit the digest and close the session.

        False when another commit did so before, or when a line it was made from was forgotten meanwhile: it stays due.
        """
        kept = replace(digested, digest=self.allowed(digested.digest))
        return await self._database.write(lambda db: store_digest(db, kept, at))

    def allowed(self, digest: Digest) -> Digest:
        """The digest without what was forgotten for good."""
        return replace(
            digest,
            summary="" if self._covers(digest.summary) else digest.summary,
            memories=tuple(memory for memory in digest.memories if not self._covers(memory.text)),
            commitments=tuple(task for task in digest.commitments if not self._covers(task.text)),
        )

    async def told_upto(self, chat_id: int) -> int:
        """The last event of a chat that a model's digest tells; 0 when none does."""
        row = await self._database.row(
            "SELECT coalesce(max(upto_event), 0) FROM session JOIN digest ON digest.session_id = session.id "
            "WHERE session.chat_id = ? AND made_by <> 'rule'",
            (chat_id,),
        )
        return int(row[0]) if row else 0

    async def by_rule(self, session_id: int, events: tuple[int, ...]) -> frozenset[int]:
        """The numbers of the memories that the rule made of these lines alone, where it made this session's digest."""
        rows = await self._database.rows("SELECT made_by FROM digest WHERE session_id = ?", (session_id,))
        if not rows or rows[0][0] != "rule":
            return frozenset()
        lines = json.dumps(events)
        return frozenset(int(number) for number, _ in await self._database.rows(MADE_OF_LINES, (lines, lines)))

    async def seen(self, chat_id: int) -> int:
        """The number of the newest event of a chat; 0 for none."""
        row = await self._database.row("SELECT max(id) FROM event WHERE chat_id = ?", (chat_id,))
        return int(row[0] or 0) if row is not None else 0

    async def told(self, audience: Audience, person_id: int, since: int) -> tuple[Dialogue, ...]:
        """All summaries of talks since then, ms, that this audience may see, newest first; `own` is that person's."""
        whose, params = told_to(audience)
        rows = await self._database.rows(
            f"{SELECT_TOLD_TALKS}{whose} AND ended_at >= ? ORDER BY ended_at DESC, id DESC",
            (person_id, person_id, *params, since),
        )
        return tuple(_dialogue(row) for row in rows)


MADE_OF_LINES = """SELECT memory.id, folded FROM memory WHERE source = 'digest' AND asked = 0 AND protected = 0
    AND disabled_at IS NULL AND id IN (SELECT derived_id FROM edge WHERE kind = 'memory' AND event_id IN
    (SELECT value FROM json_each(?))) AND NOT EXISTS (SELECT 1 FROM edge WHERE kind = 'memory'
    AND derived_id = memory.id AND event_id NOT IN (SELECT value FROM json_each(?))) ORDER BY memory.id"""
"""What digests made of some lines, JSON, and of no others: number and folded text."""

DAY_CHANGED = """EXISTS (SELECT 1 FROM digest AS talk
    JOIN edge AS line ON line.kind = 'digest' AND line.derived_id = talk.id
    JOIN edge AS told ON told.event_id = line.event_id AND told.kind IN ('memory', 'commitment')
    LEFT JOIN memory ON told.kind = 'memory' AND memory.id = told.derived_id AND memory.dated <> ''
    AND NOT EXISTS (SELECT 1 FROM memory AS now WHERE now.id = memory.replaced_by
    AND abs(now.observed_at - memory.observed_at) < 43200000)
    LEFT JOIN commitment ON told.kind = 'commitment' AND commitment.id = told.derived_id
    WHERE (talk.id = digest.id OR talk.into_id = digest.id)
    AND max(coalesce(memory.former_at, 0), coalesce(commitment.moved_at, 0)) >
    CASE WHEN digest.made_by = 'model' THEN max(talk.created_at, digest.created_at) ELSE talk.created_at END)"""
"""Whether a day that a row of `digest` tells was changed after it was written: by a statement that took the place of
another, or of an open task."""

SELECT_TOLD_TALKS = f"""SELECT digest.id, digest.session_id, digest.chat_id, digest.summary, digest.started_at,
    digest.ended_at, digest.names, digest.tier, digest.talks, digest.owner_id IS ? OR EXISTS (SELECT 1 FROM talker
    WHERE person_id = ? AND digest_id IN (SELECT digest.id UNION ALL SELECT talk.id FROM digest AS talk WHERE
    talk.into_id = digest.id)), {DAY_CHANGED} FROM digest WHERE digest.summary <> '' AND digest.into_id IS NULL AND """
"""What is told of talks, each once, whether a person took part, and whether a later talk changed a day of it."""


def told_to(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition under which an audience is told a talk, and its parameters: one's own in a DM, a chat's there."""
    return "(digest.owner_id = ? OR digest.chat_id = ?)", (whose_dm(audience), audience.chat_id)


def whose_dm(audience: Audience) -> int:
    """The one person of a DM; nobody's number for a group."""
    return audience.alone if audience.alone is not None else -1


def _dialogue(row: tuple[Any, ...]) -> Dialogue:
    number, session, chat, summary, started, ended, names, tier, talks, own, changed = row
    return Dialogue(
        int(number), int(session or 0), int(chat), str(summary), int(started), int(ended), tuple(json.loads(names)),
        tier, int(talks), bool(own), bool(changed),
    )  # fmt: skip


def store_digest(db: Tx, digested: Digested, at: int) -> bool:
    """One transaction: the digest with its memories and source edges; one made again takes the place of what it made
    before.
    """
    if digested.settlement is not None:
        settle_call(db, digested.settlement, at)
    session, digest = digested.session, digested.digest
    if any(
        db.execute(
            "SELECT 1 FROM event WHERE id = ? AND (hidden IN ('forgotten', 'deleted') OR off_record)", (number,)
        ).fetchone()
        for number in digested.event_ids
    ):
        return False
    if _outdated(db, digested):
        return False
    told = (*digested.members, session.id)
    due = db.execute(
        f"SELECT count(*) FROM session WHERE id IN ({placeholders(told)}) AND digest_due_at IS NOT NULL", told
    ).fetchone()
    if due[0] < len(told):
        return False
    db.executemany(
        "UPDATE session SET state = 'closed', digest_due_at = NULL, digested_in = ? WHERE id = ?",
        [(session.id, number) for number in digested.members],
    )
    db.execute(
        "UPDATE session SET state = 'closed', digest_due_at = NULL, digest_from = ? WHERE id = ?",
        (session.told_from, session.id),
    )
    again = db.execute("SELECT id, made_by FROM digest WHERE session_id = ?", (session.id,)).fetchone()
    if again is not None:
        db.execute(
            "UPDATE digest SET summary = ?, made_by = ?, remake = 0 WHERE id = ?", (digest.summary, digest.by, again[0])
        )
        summary_changed(db, again[0])
        if again[1] == "rule":  # what a model found stands, but for what was taken back with its lines
            retract_derived(db, digested.event_ids, {fold(memory.text) for memory in digest.memories}, at)
    else:
        _tell(db, digested, at)
        _tell_anew(db, digest.overtook, at)
    for memory in digest.memories:
        store_memory(db, memory, at, digested.merging)
    _change_open(db, digest, at)
    if digest.by == "model":
        db.execute(
            "UPDATE session SET digest_due_at = ?1 WHERE id IN (SELECT session_id FROM digest WHERE chat_id = ?2 "
            "AND remake = 1 AND ended_at > ?1 - ?3)",
            (at, session.chat_id, REMADE_MS),
        )
    return True


def _change_open(db: Tx, digest: Digest, at: int) -> None:
    """Within a transaction: new tasks, and what became of open tasks, plans and reminders."""
    due = dict[int, int | None](db.execute("SELECT id, due_at FROM commitment WHERE ended_at IS NULL"))
    owed = {store_commitment(db, commitment, at): commitment.due_at for commitment in digest.commitments}
    for done in digest.settled:
        if owed.get(done.number, due.get(done.number)) not in (None, due.get(done.number)):
            continue  # of the old day alone it is over: it was moved
        db.execute(
            "UPDATE commitment SET state = ?1, updated_at = ?2, ended_at = ?2 WHERE id = ?3 AND ended_at IS NULL",
            (done.state, at, done.number),
        )
    for number in digest.former:
        db.execute("UPDATE memory SET former_at = ? WHERE id = ? AND former_at IS NULL", (at, number))
    for changed in digest.reminders:
        change_reminder(db, changed, at)


def _outdated(db: Tx, digested: Digested) -> bool:
    """Within a transaction: whether a line was edited, or the talk cleared, while the digest was made: it is made anew
    then.
    """
    session = digested.session
    (reason,) = db.execute("SELECT close_reason FROM session WHERE id = ?", (session.id,)).fetchone()
    if reason == "clear" and session.close_reason != "clear":
        return True
    row = db.execute(
        "SELECT 1 FROM event AS edit JOIN event AS said ON said.chat_id = edit.chat_id "
        "AND said.external_id = edit.target "
        "WHERE edit.chat_id = ? AND edit.id > ? AND edit.label = 'edit' AND said.id IN "
        f"({placeholders(digested.event_ids)})",
        (session.chat_id, digested.seen, *digested.event_ids),
    ).fetchone()
    return row is not None


def _tell_anew(db: Tx, events: tuple[int, ...], at: int) -> None:
    """Within a transaction: what the rule made of talks with these lines is made again: they tell of plans that
    changed.
    """
    db.executemany(
        "UPDATE session SET digest_due_at = ?1 WHERE state = 'closed' AND digest_due_at IS NULL AND id IN (SELECT "
        "session_id FROM edge JOIN digest ON digest.id = derived_id WHERE kind = 'digest' AND event_id = ?2 "
        "AND made_by = 'rule')",
        [(at, event) for event in events],
    )


def retract_derived(db: Tx, events: Iterable[int], still: Set[str], at: int) -> None:
    """Within a transaction: what digests made of these lines alone is over, unless it is `still` told (folded texts).

    What it took the place of holds again.
    """
    lines = json.dumps(sorted(set(events)))
    for number, folded in db.execute(MADE_OF_LINES, (lines, lines)).fetchall():
        if folded not in still:
            take_memory_back(db, cast("int", number), at)


def retract_edited(db: Tx, event_id: int, at: int) -> None:
    """Within a transaction: a message reads anew: what digests made of it as it was is over."""
    rows = db.execute(
        "SELECT memory.id FROM edge JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory' AND event_id = ? "
        "AND source = 'digest' AND asked = 0 AND disabled_at IS NULL",
        (event_id,),
    ).fetchall()
    for (number,) in rows:
        take_memory_back(db, cast("int", number), at)


def take_memory_back(db: Tx, number: int, at: int) -> None:
    """Within a transaction: a memory is over as if it had never been made: what it replaced is current."""
    restore_former(db, number)
    db.execute(
        "UPDATE memory SET disabled_at = ?1, disabled_reason = 'derived', purge_at = ?1 WHERE id = ?2", (at, number)
    )
    drop_merges(db, number, at, at)
    index_memory(db, number)


def _tell(db: Tx, digested: Digested, at: int) -> None:
    """Within a transaction: the talk's row; what somebody cleared from dialogue memory before it was digested tells
    nothing.
    """
    session, digest = digested.session, digested.digest
    (cleared,) = db.execute("SELECT talks_cleared FROM chat WHERE id = ?", (session.chat_id,)).fetchone()
    number = db.execute(
        "INSERT INTO digest (session_id, chat_id, owner_id, summary, made_by, names, started_at, ended_at, created_at, "
        "remake) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session.id, session.chat_id, digested.owner_id, digest.summary if session.last_at > cleared else "", digest.by,
         json.dumps(digested.names, ensure_ascii=False), digested.opened_at or session.opened_at, session.last_at, at,
         int(digested.remake)),
    ).lastrowid  # fmt: skip
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('digest', ?, ?)",
        [(number, event) for event in digested.event_ids],
    )
    db.executemany(
        "INSERT OR IGNORE INTO talker (digest_id, person_id) SELECT ?, person_id FROM event WHERE id = ? "
        "AND kind = 'message' AND person_id IS NOT NULL",
        [(number, event) for event in digested.event_ids],
    )
    index_digest(db, cast("int", number))


@dataclass(frozen=True, slots=True)
class UnwrittenRollup:
    """A row that several talks were rolled up into, each with when it ended, ms, and its summary; `changed` are the
    places of those that tell a day which was changed later."""

    id: int
    talks: tuple[tuple[int, str], ...]
    changed: frozenset[int] = frozenset()


class Rollups(Repository):
    """The rows that talks are rolled up into."""

    async def standing(self, chat_id: int) -> tuple[DialogueRow, ...]:
        """All rows of a chat that are told now. It tells nobody anything: no audience is asked."""
        rows = await self._database.rows(
            "SELECT id, owner_id, tier, ended_at FROM digest WHERE chat_id = ? AND into_id IS NULL", (chat_id,)
        )
        return tuple(DialogueRow(int(row[0]), row[1], row[2], int(row[3])) for row in rows)

    async def roll(self, chat_id: int, plan: RollupPlan, at: int) -> int:
        """Carry the plan out in one commit; how many rows went into others. What changed meanwhile stays as it is."""
        return await self._database.write(lambda db: roll_up(db, chat_id, plan, at))

    async def unwritten(self, chat_id: int) -> tuple[UnwrittenRollup, ...]:
        """The rows of a chat made of several talks that no model has put into words yet, with what they are made of."""
        rows, talks = await self._database.snapshot(
            ("SELECT id FROM digest WHERE chat_id = ? AND session_id IS NULL AND into_id IS NULL AND remake = 1 "
             "ORDER BY id", (chat_id,)),
            (f"SELECT into_id, summary, ended_at, {DAY_CHANGED} FROM digest WHERE chat_id = ? AND session_id IS NOT "
                "NULL "
             "AND into_id IS NOT NULL AND summary <> '' ORDER BY ended_at, id", (chat_id,)),
        )  # fmt: skip
        return tuple(_unwritten(int(number), [row[1:] for row in talks if row[0] == number]) for (number,) in rows)

    async def write(self, row: UnwrittenRollup, summary: str, settlement: Settlement, at: int) -> bool:
        """Commit a model's words for a row and what they cost; False when its talks changed meanwhile."""
        return await self._database.write(lambda db: write_rollup(db, row, summary, settlement, at))

    async def clear(self, audience: Audience, at: int) -> int:
        """Drop all talks that this audience is told, and the logs that tell of them; how many talks that were."""
        return await self._database.write(lambda db: clear_talks(db, audience, at))


def _unwritten(number: int, talks: Sequence[tuple[str, int, int]]) -> UnwrittenRollup:
    changed = frozenset(place for place, row in enumerate(talks) if row[2])
    return UnwrittenRollup(number, tuple((int(at), str(text)) for text, at, _ in talks), changed)


def roll_up(db: Tx, chat_id: int, plan: RollupPlan, at: int) -> int:
    """One transaction: rows of an hour, a day or a week become one; each talk is in one row before and after."""
    absorbed = sum(_absorb(db, chat_id, one, at) for one in plan.rolls)
    db.executemany(
        "UPDATE digest SET roll_at = ? WHERE id = ? AND into_id IS NULL",
        [(then, number) for number, then in plan.waits],
    )
    return absorbed


def write_rollup(db: Tx, row: UnwrittenRollup, summary: str, settlement: Settlement, at: int) -> bool:
    """One transaction: a model's words for a row, unless it tells other talks by now; "" keeps the rule's."""
    settle_call(db, settlement, at)
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


def _absorb(db: Tx, chat_id: int, one: Rollup, at: int) -> int:
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
        drop_documents(db, "digest", (number,))
        if session_id is not None:
            db.execute("UPDATE digest SET into_id = ?, roll_at = NULL WHERE id = ?", (into, number))
            continue
        db.execute("UPDATE digest SET into_id = ?1 WHERE into_id = ?2 OR id = ?2", (into, number))
        db.execute("UPDATE digest SET summary = '', names = '[]', roll_at = NULL WHERE id = ?", (number,))
    remake_rollup(db, into)
    return len(found)


def _row(db: Tx, chat_id: int, one: Rollup, at: int) -> int:
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


def clear_talks(db: Tx, audience: Audience, at: int) -> int:
    """One transaction: talks, what they were rolled up into and the logs that told them go; what is not digested yet
    tells nobody.

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
