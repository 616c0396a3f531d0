"""Dialogue memory: one digest for each closed session, rolled up by hour, day and week."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.core.clock import DAY_MS
from bot.core.memories import MergeRule, no_merge
from bot.core.people import Audience
from bot.core.sessions import Dialogue, DialogueRow, Digest, Rollup, RollupPlan, Session
from bot.store.commitments import settle_nudges, store_commitment
from bot.store.engine import Repository, reads, wipe_soon, writes
from bot.store.index import drop_documents, index_digest
from bot.store.ledger import Settlement, settle_call
from bot.store.memories import store_memory
from bot.store.reminders import change_reminder
from bot.store.schema import GREATEST, placeholders
from bot.store.sessions import end_logs
from bot.store.supersession import PLAN_CHANGED, drop_merges, end_memory, restore_former
from bot.store.transactions import Row, Tx
from bot.text.fold import fold
from bot.text.length import gist

TALKS_OF = """SELECT talk.id FROM digest AS told JOIN digest AS talk ON talk.session_id IS NOT NULL AND (talk.id = told.id
    OR talk.into_id = told.id OR (told.session_id IS NULL AND talk.into_id = told.into_id)) WHERE told.id = ?"""
"""The talks that a row tells, also one that went into another since it was read: of that it leaves an empty row."""

REMADE_MS = 7 * DAY_MS
"""What the rule made of a talk so long ago stays as it is."""

ROW_AND_PARTS = """SELECT digest.id UNION ALL SELECT part.id FROM digest AS part WHERE part.into_id = digest.id"""
"""A row of `digest` and what it was rolled up of, as SQL."""

DAY_CHANGED = f"""EXISTS (SELECT 1 FROM edge AS line JOIN digest AS talk ON talk.id = line.derived_id
    JOIN edge AS told ON told.event_id = line.event_id AND told.kind IN ('memory', 'commitment')
    LEFT JOIN memory ON told.kind = 'memory' AND memory.id = told.derived_id AND {PLAN_CHANGED.format(was="memory")}
    LEFT JOIN commitment ON told.kind = 'commitment' AND commitment.id = told.derived_id
    WHERE line.kind = 'digest' AND line.derived_id IN ({ROW_AND_PARTS})
    AND {GREATEST}(coalesce(memory.former_at, 0), coalesce(commitment.moved_at, 0)) >
    CASE WHEN digest.made_by = 'model' THEN {GREATEST}(talk.created_at, digest.created_at) ELSE talk.created_at END)"""
"""Whether a day that a row of `digest` tells was changed after it was written: by a statement that took the place of
another, or of an open task."""

SELECT_TOLD_TALKS = f"""SELECT digest.id, coalesce(digest.session_id, 0), digest.chat_id, digest.summary, digest.started_at,
    digest.ended_at, digest.names, digest.tier, digest.talks, digest.owner_id IS NOT DISTINCT FROM ? OR EXISTS (SELECT 1 FROM talker
    WHERE person_id = ? AND digest_id IN ({ROW_AND_PARTS})), {DAY_CHANGED} FROM digest
    WHERE digest.summary <> '' AND digest.into_id IS NULL AND """
"""What is told of talks, each once, whether a person took part, and whether a later talk changed a day of it."""


def remake_rollup(tx: Tx, number: int) -> None:
    """A rolled-up row tells what is left of its talks, and is gone when there are none."""
    rows = tx.all(
        "SELECT summary, names, started_at, ended_at FROM digest WHERE into_id = ? AND session_id IS NOT NULL "
        "ORDER BY ended_at, id",
        number,
    )
    if not rows:
        drop_documents(tx, "digest", (number,))
        tx.run("DELETE FROM digest WHERE id = ? OR into_id = ?", number, number)
        return
    told = [row for row in rows if row[0]]
    names = dict.fromkeys(name for row in told for name in json.loads(row[1]))
    tx.run(
        "UPDATE digest SET summary = ?, names = ?, talks = ?, started_at = ?, ended_at = ?, made_by = 'rule', "
        "remake = ? WHERE id = ?",
        gist([row[0] for row in told]),
        json.dumps(list(names), ensure_ascii=False),
        max(len(told), 1),
        min(row[2] for row in rows),
        max(row[3] for row in rows),
        int(len(told) > 1),
        number,
    )
    index_digest(tx, number)


def summary_changed(tx: Tx, number: int) -> None:
    """The summary of a talk has changed: its place in the index, or what it was rolled up into, follows."""
    index_digest(tx, number)
    into = tx.value("SELECT into_id FROM digest WHERE id = ?", number)
    if into is not None:
        remake_rollup(tx, into)


def drop_talks(tx: Tx, numbers: Iterable[int]) -> None:
    """These talks go for good, out of what they were rolled up into, too; no digest of them is made again.

    A log that told one still knows from which lines that came.
    """
    rollups: set[int] = set()
    for number in numbers:
        row = tx.one("SELECT into_id, session_id FROM digest WHERE id = ?", number)
        if row is None:
            continue
        into, session_id = row
        lines = tx.sources("digest", number)
        for entry in tx.derived("recount", number):
            tx.link("told", entry, lines)
        tx.run("DELETE FROM edge WHERE kind = 'recount' AND event_id = ?", number)
        tx.unlink("digest", number)
        tx.run("DELETE FROM talker WHERE digest_id = ?", number)
        drop_documents(tx, "digest", (number,))
        tx.run("DELETE FROM digest WHERE id = ?", number)
        tx.run("UPDATE session SET digest_due_at = NULL WHERE id = ? AND state = 'closed'", session_id)
        if into is not None:
            rollups.add(into)
    for number in sorted(rollups):
        remake_rollup(tx, number)


def old_talks(tx: Tx, before: int) -> tuple[int, ...]:
    """Talks that ended before that instant, ms; those that were rolled up together stand together."""
    return tx.ids(
        "SELECT id FROM digest WHERE session_id IS NOT NULL AND ended_at < ? ORDER BY coalesce(into_id, 0), id", before
    )


def drop_old_rollups(tx: Tx, before: int) -> None:
    """What talks that ended before that instant, ms, were rolled up into on the way to a longer time goes."""
    tx.run("DELETE FROM digest WHERE session_id IS NULL AND into_id IS NOT NULL AND ended_at < ?", before)


def told_to(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition under which an audience is told a talk, and its parameters: one's own in a DM, a chat's there."""
    return "(digest.owner_id = ? OR digest.chat_id = ?)", (whose_dm(audience), audience.chat_id)


def whose_dm(audience: Audience) -> int:
    """The one person of a DM; nobody's number for a group."""
    return audience.alone if audience.alone is not None else -1


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


def _is_outdated(tx: Tx, digested: Digested) -> bool:
    """Whether another commit told the same, or a line was forgotten or edited, or the talk cleared, while the digest
    was made: it is made anew then.
    """
    session, hidden = digested.session, "(hidden IN ('forgotten', 'deleted') OR off_record > 0)"
    if any(tx.has(f"SELECT 1 FROM event WHERE id = ? AND {hidden}", number) for number in digested.event_ids):
        return True
    reason = tx.value("SELECT close_reason FROM session WHERE id = ?", session.id)
    if reason == "clear" and session.close_reason != "clear":
        return True
    sql = (
        "SELECT 1 FROM event AS edit JOIN event AS said ON said.chat_id = edit.chat_id "
        "AND said.external_id = edit.target WHERE edit.chat_id = ? AND edit.id > ? AND edit.label = 'edit' "
        f"AND said.id IN ({placeholders(digested.event_ids)})"
    )
    if tx.has(sql, session.chat_id, digested.seen, *digested.event_ids):
        return True
    due = "SELECT 1 FROM session WHERE id = ? AND digest_due_at IS NOT NULL"
    return not all(tx.has(due, number) for number in (*digested.members, session.id))


def _add_talk(tx: Tx, digested: Digested, digest: Digest, at: int) -> None:
    """The talk's row; what somebody cleared from dialogue memory before it was digested tells nothing."""
    session = digested.session
    cleared = tx.value("SELECT talks_cleared FROM chat WHERE id = ?", session.chat_id)
    number = tx.insert(
        "digest",
        session_id=session.id,
        chat_id=session.chat_id,
        owner_id=digested.owner_id,
        summary=digest.summary if session.last_at > cleared else "",
        made_by=digest.by,
        names=json.dumps(digested.names, ensure_ascii=False),
        started_at=digested.opened_at or session.opened_at,
        ended_at=session.last_at,
        created_at=at,
        remake=int(digested.remake),
    )
    tx.link("digest", number, digested.event_ids)
    for event in digested.event_ids:
        sql = (
            "INSERT INTO talker (digest_id, person_id) SELECT ?, person_id FROM event WHERE id = ? "
            "AND kind = 'message' AND person_id IS NOT NULL ON CONFLICT DO NOTHING"
        )
        tx.run(sql, number, event)
    index_digest(tx, number)


def _change_open(tx: Tx, digest: Digest, at: int) -> None:
    """New tasks, and what became of open tasks, plans and reminders."""
    due = {
        done.number: tx.value("SELECT due_at FROM commitment WHERE id = ? AND ended_at IS NULL", done.number)
        for done in digest.settled
    }
    owed = {store_commitment(tx, commitment, at): commitment.due_at for commitment in digest.commitments}
    for done in digest.settled:
        if owed.get(done.number, due.get(done.number)) not in (None, due.get(done.number)):
            continue  # of the old day alone it is over: it was moved
        ended = "UPDATE commitment SET state = ?, updated_at = ?, ended_at = ? WHERE id = ? AND ended_at IS NULL"
        if tx.run(ended, done.state, at, at, done.number):
            settle_nudges(tx, done.number)
    for number in digest.former:
        # What came about had no other day: without its day no talk that told it is marked as changed.
        day = ", dated = ''" if number in digest.done else ""
        tx.run(f"UPDATE memory SET former_at = ?{day} WHERE id = ? AND former_at IS NULL", at, number)
    for changed in digest.reminders:
        change_reminder(tx, changed, at)


def _made_of_lines(tx: Tx, events: Iterable[int]) -> tuple[Row, ...]:
    """What digests made of these lines and of no others: number and folded text."""
    lines = set(events)
    numbers = {number for event in lines for number in tx.derived("memory", event)}
    alone = sorted(number for number in numbers if tx.sources("memory", number) <= lines)
    return tx.all(
        "SELECT id, folded FROM memory WHERE source = 'digest' AND asked = 0 AND protected = 0 AND disabled_at IS NULL "
        f"AND id IN ({placeholders(alone)}) ORDER BY id",
        *alone,
    )


def retract_edited(tx: Tx, event_id: int, at: int) -> None:
    """A message reads anew: what digests made of it as it was is over."""
    for number in tx.ids(
        "SELECT memory.id FROM edge JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory' AND event_id = ? "
        "AND source = 'digest' AND asked = 0 AND disabled_at IS NULL",
        event_id,
    ):
        take_memory_back(tx, number, "derived", at)


def take_memory_back(tx: Tx, number: int, why: str, at: int) -> None:
    """A memory is over as if it had never been made: what it replaced is current."""
    restore_former(tx, number)
    end_memory(tx, number, why, at, at)
    drop_merges(tx, number, at, at)


@dataclass(frozen=True, slots=True)
class UnwrittenRollup:
    """A row that several talks were rolled up into, each with when it ended, ms, and its summary; `changed` are the
    places of those that tell a day which was changed later."""

    id: int
    talks: tuple[tuple[int, str], ...]
    changed: frozenset[int] = frozenset()


class Digests(Repository):
    """Summaries of closed sessions, and the rows that they are rolled up into."""

    def allowed(self, digest: Digest) -> Digest:
        """The digest without what was forgotten for good."""
        covers = self._files.tombstones.covers
        return replace(
            digest,
            summary="" if covers(digest.summary) else digest.summary,
            memories=tuple(memory for memory in digest.memories if not covers(memory.text)),
            commitments=tuple(task for task in digest.commitments if not covers(task.text)),
        )

    @writes
    def store(self, tx: Tx, digested: Digested, at: int) -> bool:
        """Commit the digest with its memories and source edges and close the session; one made again takes the place of
        what it made before.

        False when another commit did so before, or when a line it was made from was forgotten meanwhile: it stays due.
        """
        if digested.settlement is not None:
            settle_call(tx, digested.settlement, at)
        if _is_outdated(tx, digested):
            return False
        session, digest = digested.session, self.allowed(digested.digest)
        closed = "UPDATE session SET state = 'closed', digest_due_at = NULL"
        for number in digested.members:
            tx.run(f"{closed}, digested_in = ? WHERE id = ?", session.id, number)
        tx.run(f"{closed}, digest_from = ? WHERE id = ?", session.told_from, session.id)
        again = tx.one("SELECT id, made_by FROM digest WHERE session_id = ?", session.id)
        if again is None:
            _add_talk(tx, digested, digest, at)
            # What the rule made of talks about plans that changed is made again.
            for event in digest.overtook:
                tx.run(
                    "UPDATE session SET digest_due_at = ? WHERE state = 'closed' AND digest_due_at IS NULL AND id IN "
                    "(SELECT session_id FROM edge JOIN digest ON digest.id = derived_id WHERE kind = 'digest' "
                    "AND event_id = ? AND made_by = 'rule')",
                    at,
                    event,
                )
        else:
            number, by = again
            tx.run(
                "UPDATE digest SET summary = ?, made_by = ?, remake = 0 WHERE id = ?", digest.summary, digest.by, number
            )
            summary_changed(tx, number)
            if by == "rule":  # what a model found stands, but for what was taken back with its lines
                still = {fold(memory.text) for memory in digest.memories}
                for derived, folded in _made_of_lines(tx, digested.event_ids):
                    if folded not in still:
                        take_memory_back(tx, derived, "derived", at)
        for memory in digest.memories:
            store_memory(tx, memory, at, digested.merging)
        _change_open(tx, digest, at)
        if digest.by == "model":
            sql = (
                "UPDATE session SET digest_due_at = ? WHERE id IN (SELECT session_id FROM digest WHERE chat_id = ? "
                "AND remake = 1 AND ended_at > ?)"
            )
            tx.run(sql, at, session.chat_id, at - REMADE_MS)
        return True

    @reads
    def told_upto(self, tx: Tx, chat_id: int) -> int:
        """The last event of a chat that a model's digest tells; 0 when none does."""
        return tx.number(
            "SELECT max(upto_event) FROM session JOIN digest ON digest.session_id = session.id "
            "WHERE session.chat_id = ? AND made_by <> 'rule'",
            chat_id,
        )

    @reads
    def by_rule(self, tx: Tx, session_id: int, events: tuple[int, ...]) -> frozenset[int]:
        """The numbers of the memories that the rule made of these lines alone, where it made this session's digest."""
        if tx.value("SELECT made_by FROM digest WHERE session_id = ?", session_id) != "rule":
            return frozenset()
        return frozenset(number for number, _ in _made_of_lines(tx, events))

    @reads
    def seen(self, tx: Tx, chat_id: int) -> int:
        """The number of the newest event of a chat; 0 for none."""
        return tx.number("SELECT max(id) FROM event WHERE chat_id = ?", chat_id)

    @reads
    def told(self, tx: Tx, audience: Audience, person_id: int, since: int) -> tuple[Dialogue, ...]:
        """All summaries of talks since then, ms, that this audience may see, newest first; `own` is that person's."""
        whose, params = told_to(audience)
        talks = f"{SELECT_TOLD_TALKS}{whose} AND ended_at >= ? ORDER BY ended_at DESC, id DESC"
        return tx.all(talks, person_id, person_id, *params, since, to=Dialogue)

    @reads
    def standing(self, tx: Tx, chat_id: int) -> tuple[DialogueRow, ...]:
        """All rows of a chat that are told now. It tells nobody anything: no audience is asked."""
        rows = "SELECT id, owner_id, tier, ended_at FROM digest WHERE chat_id = ? AND into_id IS NULL"
        return tx.all(rows, chat_id, to=DialogueRow)

    @writes
    def roll(self, tx: Tx, chat_id: int, plan: RollupPlan, at: int) -> int:
        """Carry the plan out in one commit; how many rows went into others. What changed meanwhile stays as it is.

        Rows of an hour, a day or a week become one; each talk is in one row before and after.
        """
        absorbed = sum(_absorb(tx, chat_id, one, at) for one in plan.rolls)
        for number, then in plan.waits:
            tx.run("UPDATE digest SET roll_at = ? WHERE id = ? AND into_id IS NULL", then, number)
        return absorbed

    @reads
    def unwritten(self, tx: Tx, chat_id: int) -> tuple[UnwrittenRollup, ...]:
        """The rows of a chat made of several talks that no model has put into words yet, with what they are made of."""
        return tuple(
            _rollup(tx, number)
            for number in tx.ids(
                "SELECT id FROM digest WHERE chat_id = ? AND session_id IS NULL AND into_id IS NULL AND remake = 1 "
                "ORDER BY id",
                chat_id,
            )
        )

    @writes
    def write(self, tx: Tx, row: UnwrittenRollup, summary: str, settlement: Settlement, at: int) -> bool:
        """Commit a model's words for a row and what they cost, "" keeps the rule's; False when its talks changed
        meanwhile.
        """
        settle_call(tx, settlement, at)
        if _rollup(tx, row.id).talks != row.talks:
            return False
        tx.run("UPDATE digest SET remake = 0 WHERE id = ?", row.id)
        if summary:
            tx.run("UPDATE digest SET summary = ?, made_by = 'model' WHERE id = ?", summary, row.id)
            index_digest(tx, row.id)
        return bool(summary)

    @writes
    def clear(self, tx: Tx, audience: Audience, at: int) -> int:
        """Drop all talks that this audience is told, and the logs that tell of them; how many talks that were.

        What is not digested yet tells nobody; memories that were made of them stay.
        """
        whose, params = told_to(audience)
        talks = tx.all(f"SELECT id, summary FROM digest WHERE session_id IS NOT NULL AND {whose}", *params)
        numbers = [number for number, _ in talks]
        end_logs(
            tx,
            tx.ids_for(
                "SELECT entry.epoch_id FROM edge JOIN entry ON entry.id = edge.derived_id WHERE edge.event_id = ? "
                "AND edge.kind = 'recount'",
                numbers,
            ),
        )
        drop_talks(tx, numbers)
        wipe_soon(tx, at)
        sql = (
            "UPDATE chat SET talks_cleared = ? WHERE id = ? OR (kind = 'dm' AND id IN (SELECT chat_id FROM member "
            "WHERE person_id = ?))"
        )
        tx.run(sql, at, audience.chat_id, whose_dm(audience))
        return sum(summary != "" for _, summary in talks)


def _rollup(tx: Tx, number: int) -> UnwrittenRollup:
    talks = tx.all(
        f"SELECT ended_at, summary, {DAY_CHANGED} FROM digest WHERE into_id = ? AND session_id IS NOT NULL "
        "AND summary <> '' ORDER BY ended_at, id",
        number,
    )
    changed = frozenset(place for place, row in enumerate(talks) if row[2])
    return UnwrittenRollup(number, tuple((ended, text) for ended, text, _ in talks), changed)


def _absorb(tx: Tx, chat_id: int, one: Rollup, at: int) -> int:
    standing = (
        "SELECT id, session_id FROM digest WHERE id = ? AND into_id IS NULL AND chat_id = ? "
        "AND owner_id IS NOT DISTINCT FROM ?"
    )
    found = [row for number in one.members for row in tx.all(standing, number, chat_id, one.owner_id)]
    if not found:
        return 0
    # A talk that was digested late comes to those of its time.
    into = tx.value(
        "SELECT id FROM digest WHERE chat_id = ? AND owner_id IS NOT DISTINCT FROM ? AND tier = ? AND until = ? "
        "AND session_id IS NULL AND into_id IS NULL",
        chat_id,
        one.owner_id,
        one.tier,
        one.until,
    ) or tx.insert(
        "digest",
        chat_id=chat_id,
        owner_id=one.owner_id,
        summary="",
        tier=one.tier,
        until=one.until,
        made_by="rule",
        names="[]",
        started_at=0,
        ended_at=0,
        created_at=at,
    )
    tx.run("UPDATE digest SET roll_at = ? WHERE id = ?", one.roll_at, into)
    for number, session_id in found:
        drop_documents(tx, "digest", (number,))
        if session_id is not None:
            tx.run("UPDATE digest SET into_id = ?, roll_at = NULL WHERE id = ?", into, number)
            continue
        tx.run("UPDATE digest SET into_id = ? WHERE into_id = ? OR id = ?", into, number, number)
        tx.run("UPDATE digest SET summary = '', names = '[]', roll_at = NULL WHERE id = ?", number)
    remake_rollup(tx, into)
    return len(found)
