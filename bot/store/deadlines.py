"""The next deadline over all tables, and the daily retention."""

import json
from dataclasses import dataclass
from datetime import UTC
from typing import NamedTuple

from bot.core.clock import DAY_MS
from bot.store.digests import drop_old_talks
from bot.store.engine import WIPE_KEY, Repository, reads, wipe_soon, writes, writing
from bot.store.index import drop_documents
from bot.store.ledger import sum_again
from bot.store.personal_data import IS_LEAVING
from bot.store.proactive import FREE_AT
from bot.store.reminders import tidy_reminders
from bot.store.sqlite import EVENT_QUEUE, GREATEST, OUTBOX_DUE
from bot.store.transactions import Tx
from bot.store.windows import end_windows
from bot.text.dates import month_start


class _Deadline(NamedTuple):
    """A column that holds when something is due, in which rows, and the number that it is about ("0": none), which
    several rows may have. Nothing of it is done before `free_at`, an instant as SQL.
    """

    kind: str
    table: str
    column: str
    which: str = ""
    number: str = "0"
    several: bool = False
    free_at: str = ""

    @property
    def upcoming(self) -> str:
        """The nearest after a time, as SQL."""
        after = f"SELECT min({self.column}) AS due FROM {self.table} WHERE {self.which}{self.column} > ?"
        if not self.free_at:
            return after
        freed = (
            f"SELECT {GREATEST}({self.column}, {self.free_at}) FROM {self.table} WHERE {self.column} IS NOT NULL "
            f"ORDER BY {self.column} LIMIT 1"
        )
        return f"SELECT CASE WHEN {self.free_at} > ? THEN ({freed}) ELSE ({after}) END AS due"

    @property
    def due(self) -> str:
        """What is due by a time, kind and number once each, as SQL."""
        rows = f"FROM {self.table} WHERE {self.which}{self.column} <= ?"
        if self.number == "0":
            free = f" AND {self.free_at} <= ?" if self.free_at else ""
            return f"SELECT '{self.kind}', 0 WHERE EXISTS (SELECT 1 {rows}){free}"
        # The plus keeps SQLite from reading the whole table in the order of that number.
        return f"SELECT '{self.kind}', {self.number} {rows}" + f" GROUP BY +{self.number}" * self.several


IS_QUEUED, IS_OPEN, IS_PENDING = "state = 'queued' AND ", "state = 'open' AND ", "state = 'pending' AND "
META_AT = "CAST(value AS INTEGER)"
IN_META = f"(key IN ('tidy_at', 'life_at', 'backup_at', '{WIPE_KEY}') OR {IS_LEAVING}) AND "

DEADLINES = (
    _Deadline("event", EVENT_QUEUE, "due_at", IS_QUEUED, "chat_id", several=True),
    _Deadline("window", "conversation_window", "until"),
    _Deadline("session", "session", "close_at", IS_OPEN, "id"),
    _Deadline("digest", "session", "digest_due_at", "", "chat_id", several=True),
    _Deadline("outbox", OUTBOX_DUE, "due_at", IS_PENDING, "chat_id", several=True),
    _Deadline("heartbeat", "heartbeat", "due_at", free_at=FREE_AT),
    _Deadline("join", "joining", "due_at", "", "chat_id"),
    _Deadline("rewrite", "rewriting", "due_at", "", "memory_id"),
    _Deadline("roll", "digest", "roll_at", "", "chat_id", several=True),
    _Deadline("reminder", "reminder", "due_at", "ended_at IS NULL AND "),
    _Deadline("purge", "memory", "purge_at"),
    _Deadline("leave", "meta", META_AT, f"{IS_LEAVING} AND "),
    _Deadline("backup", "meta", META_AT, "key = 'backup_at' AND "),
    _Deadline("wipe", "meta", META_AT, f"key = '{WIPE_KEY}' AND "),
)
"""All but the tidying of rows and of memories, which are due also when nothing is stored of them."""

NEXT_DEADLINE = (
    f"SELECT min(due) FROM ({' UNION ALL '.join(each.upcoming for each in DEADLINES)} "
    f"UNION ALL SELECT {META_AT} FROM meta WHERE key IN ('tidy_at', 'life_at') AND {META_AT} > ?)"
)

DUE_DEADLINES = " UNION ALL ".join(
    (
        *(each.due for each in DEADLINES),
        *(
            f"SELECT '{kind}', 0 WHERE coalesce((SELECT {META_AT} FROM meta WHERE key = '{kind}_at'), 0) <= ?"
            for kind in ("tidy", "life")
        ),
    )
)

LAST_UNSAID = f"SELECT max(due_at) FROM {OUTBOX_DUE} WHERE state = 'pending' AND wait_ms > 0 AND attempts = 0"
"""Messages of paced replies; one that a platform did not take is not waited for."""

AT_ONCE = 20_000
"""Lines that go in one commit: people wait for no longer than that takes."""

SUMS = (
    "calls", "reserved_tokens", "reserved_cost", "prompt_tokens", "cached_tokens", "output_tokens", "cost",
    "written_tokens", "reasoning_tokens", "estimated_tokens",
)  # fmt: skip

ONE_SUM = "chat_id, person_id, cause, model, state, counted, uncounted"
"""What calls of one sum have in common beside the month: all that a limit or a report of that time tells apart."""


@dataclass(frozen=True, slots=True)
class DeadlineBounds:
    """How far ahead a deadline can be set, ms, by what it is for."""

    followup: int
    window: int
    idle: int
    send: int
    digest: int
    day: int = 90_000_000


@dataclass(frozen=True, slots=True)
class Retention:
    """The instants, ms, before which delivery ids, transcript texts, logs of closed sessions, talks and counts go.

    `next_at` is when to look again, `soon_at` when there was more than goes at once.
    """

    ids_before: int
    transcript_before: int
    logs_before: int
    next_at: int
    talks_before: int = 0
    counts_before: int = 0
    soon_at: int = 0


class Deadlines(Repository):
    """Every deadline is a column; this reads the nearest one."""

    end_windows = writing(end_windows)

    async def wipe(self) -> None:
        """Nothing that was taken away is left in the log of the database; StoreError while somebody reads for long."""
        await self._database.truncate()

    @reads
    def next(self, tx: Tx, now: int) -> int | None:
        """The nearest instant after `now`, ms, at which something is to be done."""
        return _next(tx, now)

    @reads
    def look(self, tx: Tx, now: int) -> tuple[tuple[tuple[str, int], ...], int | None]:
        """What is to be done by now: its kind, and the chat or session it is about; and what `next` says."""
        due = tx.all(DUE_DEADLINES, *[now] * DUE_DEADLINES.count("?"))
        return tuple((kind, number) for kind, number in due), _next(tx, now)

    @reads
    def waiting(self, tx: Tx) -> int | None:
        """When the last line that waits for an answer, or message of a paced reply, is due, ms; None when none is."""
        queued = f"SELECT max(due_at) AS due FROM {EVENT_QUEUE} WHERE state = 'queued'"
        at: int | None = tx.value(f"SELECT max(due) FROM ({queued} UNION ALL {LAST_UNSAID})")
        return at

    @reads
    def unsaid(self, tx: Tx) -> int | None:
        """When the last message of a reply that is still being said is due, ms; None when there is none."""
        at: int | None = tx.value(LAST_UNSAID)
        return at

    @writes
    def bring_back(self, tx: Tx, now: int, farthest: DeadlineBounds) -> int:
        """What is due later than it can ever be set, by a clock that was ahead, is due again; how many deadlines that were."""
        limits = (
            ("event", "due_at", f"{IS_QUEUED}tries = 0 AND ", farthest.followup, 0),
            ("event", "due_at", IS_QUEUED, max(farthest.followup, farthest.send), 0),
            ("conversation_window", "until", "", farthest.window, farthest.window),
            ("session", "close_at", IS_OPEN, farthest.idle, farthest.idle),
            ("session", "digest_due_at", "", farthest.digest, 0),
            ("outbox", "due_at", IS_PENDING, farthest.send, 0),
        )
        changed = sum(
            tx.run(f"UPDATE {table} SET {column} = ? WHERE {which}{column} > ?", now + then, now + most)
            for table, column, which, most, then in limits
        )
        tx.run(f"UPDATE meta SET value = ? WHERE {IN_META}{META_AT} > ?", str(now), now + farthest.day)
        return changed

    @writes
    def move_along(self, tx: Tx, ms: int, now: int) -> int:
        """The clock was set forward by so much: what waits for a while, not for an hour of the day (follow-ups,
        windows, paced messages, silences), waits as long as before. Returns how many deadlines that were.
        """
        waits = (
            ("event", "due_at", IS_QUEUED), ("conversation_window", "until", ""), ("outbox", "due_at", IS_PENDING),
            ("joining", "due_at", ""),
        )  # fmt: skip
        return sum(
            tx.run(f"UPDATE {table} SET {column} = {column} + ? WHERE {which}{column} > ?", ms, now)
            for table, column, which in waits
        )

    @writes
    def set_backup(self, tx: Tx, at: int | None) -> None:
        """The next backup is due at that instant, ms; None: none is."""
        tx.set_meta("backup_at", None if at is None else str(at))

    @reads
    def backup_at(self, tx: Tx) -> int | None:
        """When the next backup is due, ms; None when none is."""
        at = tx.meta("backup_at")
        return None if at is None else int(at)

    @writes
    def tidy(self, tx: Tx, retention: Retention) -> None:
        """Drop what is older than it may be kept, and set the next time."""
        ids_before, transcript_before = retention.ids_before, retention.transcript_before
        tx.run(
            "UPDATE event SET delivery_key = NULL, external_id = '' WHERE at < ? AND "
            "(delivery_key IS NOT NULL OR external_id <> '')",
            ids_before,
        )
        old = "at < ? AND state <> 'queued' AND hidden <> 'old'"
        gone = tx.ids(f"SELECT id FROM event WHERE {old}", transcript_before)
        tx.run(f"UPDATE event SET text = '', quote = '', name = '', hidden = 'old' WHERE {old}", transcript_before)
        wipe_soon(tx, transcript_before)
        drop_documents(tx, "line", gone)
        drop_old_talks(tx, retention.talks_before)
        tx.run("DELETE FROM attachment WHERE event_id IN (SELECT id FROM event WHERE hidden = 'old')")
        # Of old turns nobody knows any more what they were told, under which ids they went, and how they were liked.
        turns = "SELECT id FROM turn WHERE asked_at < ? AND state NOT IN ('asked', 'answered')"
        for table in ("told_item", "turn_memory", "feedback", "sent", "section_round"):
            tx.run(f"DELETE FROM {table} WHERE turn_id IN ({turns})", transcript_before)
        closed = "SELECT id FROM session WHERE state = 'closed' AND closed_at < ?"
        logs = f"SELECT entry.id FROM entry JOIN epoch ON epoch.id = epoch_id WHERE session_id IN ({closed})"
        for where in ("edge WHERE kind IN ('entry', 'told', 'recount') AND derived_id", "entry WHERE id"):
            tx.run(f"DELETE FROM {where} IN ({logs})", retention.logs_before)
        tx.run("DELETE FROM effect WHERE at < ?", ids_before)
        over = "state NOT IN ('pending', 'sending') AND coalesce(sent_at, due_at) < ?"
        receipt = "DELETE FROM sent WHERE turn_id IS NULL AND chat_id = ? AND external_id = ?"
        for chat_id, external_ids in tx.all(f"SELECT chat_id, external_ids FROM outbox WHERE {over}", ids_before):
            for external_id in json.loads(external_ids):
                tx.run(receipt, chat_id, external_id)
        tx.run(f"DELETE FROM outbox WHERE {over}", ids_before)
        tidy_reminders(tx, ids_before, ids_before)
        more = _drop_counts(tx, min(retention.counts_before, transcript_before))
        tx.set_meta("tidy_at", str(retention.soon_at if more else retention.next_at))


def _next(tx: Tx, now: int) -> int | None:
    at: int | None = tx.value(NEXT_DEADLINE, *[now] * NEXT_DEADLINE.count("?"))
    return at


def _drop_counts(tx: Tx, before: int) -> bool:
    """Blank lines, their turns, epochs and sessions before that instant, ms; whether more are left.

    What something still refers to stays: the lines that a memory came from, what was set off the record, a turn that
    runs, the last session of each chat, which its next number goes by.
    """
    lines = tx.all(
        "SELECT id FROM event WHERE at < ? AND hidden = 'old' AND text = '' AND state <> 'queued' AND off_record = 0 "
        "AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.event_id = event.id) "
        "AND NOT EXISTS (SELECT 1 FROM attachment WHERE attachment.event_id = event.id) LIMIT ?",
        before, AT_ONCE,
    )  # fmt: skip
    tx.executemany("DELETE FROM turn_event WHERE event_id = ?", lines)
    tx.executemany("UPDATE event SET same_as = NULL WHERE same_as = ?", lines)
    tx.executemany("DELETE FROM event WHERE id = ?", lines)
    _sum_up(tx, before)
    turns = tx.all(
        "SELECT id FROM turn WHERE asked_at < ? AND state NOT IN ('asked', 'answered') "
        "AND session_id IN (SELECT id FROM session WHERE state = 'closed') "
        "AND id NOT IN (SELECT turn_id FROM turn_event) AND id NOT IN (SELECT turn_id FROM entry) "
        "AND NOT EXISTS (SELECT 1 FROM event WHERE event.turn_id = turn.id)",
        before,
    )
    tx.executemany("UPDATE call SET turn_id = NULL WHERE turn_id = ?", turns)
    tx.executemany("DELETE FROM turn WHERE id = ?", turns)
    over = "SELECT id FROM session WHERE state = 'closed' AND closed_at < ? AND digest_due_at IS NULL"
    tx.run(
        f"DELETE FROM epoch WHERE session_id IN ({over}) AND id NOT IN (SELECT epoch_id FROM turn) "
        "AND id NOT IN (SELECT epoch_id FROM entry)",
        before,
    )
    sessions = tx.all(
        f"{over} AND id NOT IN (SELECT max(id) FROM session GROUP BY chat_id) "
        "AND id NOT IN (SELECT session_id FROM epoch) AND id NOT IN (SELECT session_id FROM turn) "
        "AND id NOT IN (SELECT session_id FROM digest WHERE session_id IS NOT NULL)",
        before,
    )
    tx.executemany("DELETE FROM participant WHERE session_id = ?", sessions)
    tx.executemany("DELETE FROM session WHERE id = ?", sessions)
    tx.run("DELETE FROM prefix WHERE signature NOT IN (SELECT signature FROM epoch)")
    return len(lines) == AT_ONCE


def _sum_up(tx: Tx, before: int) -> None:
    """The oldest call of each month stands for all like it; those that cost nothing go."""
    tx.run("DELETE FROM call WHERE at < ? AND state = 'released'", before)
    oldest = tx.value("SELECT min(at) FROM call WHERE at < ?", before)
    alike = "FROM call WHERE at >= ? AND at < ? AND state <> 'reserved'"
    sums, sets = ", ".join(f"sum({name})" for name in SUMS), ", ".join(f"{name} = ?" for name in SUMS)
    start = before if oldest is None else month_start(oldest, UTC)
    while start < before:
        end = min(month_start(start + 32 * DAY_MS, UTC), before)
        rows = tx.all(f"SELECT {sums}, min(id) {alike} GROUP BY {ONE_SUM} HAVING count(*) > 1", start, end)
        if rows:
            tx.run(f"DELETE {alike} AND id NOT IN (SELECT min(id) {alike} GROUP BY {ONE_SUM})", *[start, end] * 2)
            tx.executemany(
                f"UPDATE call SET {sets}, turn_id = NULL, session_id = NULL, occasion = NULL WHERE id = ?", rows
            )
        start = end
    sum_again(tx, 0, before)
