"""The next deadline over all tables, and the daily retention."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from typing import NamedTuple

from bot.core.clock import DAY_MS
from bot.store.digests import drop_old_rollups, drop_talks, old_talks
from bot.store.engine import WIPE_KEY, Repository, reading, reads, wipe_soon, writes, writing
from bot.store.index import drop_documents
from bot.store.joining import drop_old_links
from bot.store.ledger import sum_again
from bot.store.personal_data import IS_LEAVING
from bot.store.proactive import FREE_AT
from bot.store.reminders import tidy_reminders
from bot.store.removal import empty_off_record
from bot.store.schema import EVENT_QUEUE, GREATEST, META_AT, OUTBOX_DUE
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
    f"UNION ALL SELECT {META_AT} FROM meta WHERE key IN ('tidy_at', 'life_at') AND {META_AT} > ?) AS upcoming"
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

ROWS_AT_ONCE, LINES_AT_ONCE, CHATS_AT_ONCE, TALKS_AT_ONCE = 500, 100, 20, 20
"""Rows, lines, chats or talks that one step looks at: people wait for no longer than that takes. On a server a line or a
talk that leaves the index takes milliseconds."""

TidyStep = tuple[str, str, int, Callable[..., None]]
"""A table, the column that numbers its steps, how many numbers one step has, and what it does."""

SUMS = (
    "calls",
    "reserved_tokens",
    "reserved_cost",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "cost",
    "written_tokens",
    "reasoning_tokens",
    "estimated_tokens",
)

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
    """The instants, ms, before which delivery ids, transcript texts, logs of closed sessions, talks, counts and what was
    to be kept nowhere go.

    `next_at` is when to look again.
    """

    ids_before: int
    transcript_before: int
    logs_before: int
    next_at: int
    talks_before: int = 0
    counts_before: int = 0
    unkept_before: int = 0

    @property
    def blank_before(self) -> int:
        """A line is blank before it goes."""
        return min(self.counts_before, self.transcript_before)


def next_deadline(tx: Tx, now: int) -> int | None:
    """The nearest instant after `now`, ms, at which something is to be done."""
    at: int | None = tx.value(NEXT_DEADLINE, *[now] * NEXT_DEADLINE.count("?"))
    return at


class Deadlines(Repository):
    """Every deadline is a column; this reads the nearest one."""

    end_windows = writing(end_windows)
    next = reading(next_deadline)

    async def wipe(self) -> None:
        """Nothing that was taken away is left in the log of the database; StoreError while somebody reads for long."""
        await self._database.truncate()

    @reads
    def look(self, tx: Tx, now: int) -> tuple[tuple[tuple[str, int], ...], int | None]:
        """What is to be done by now: its kind, and the chat or session it is about; and what `next` says."""
        due = tx.all(DUE_DEADLINES, *[now] * DUE_DEADLINES.count("?"))
        return tuple((kind, number) for kind, number in due), next_deadline(tx, now)

    @reads
    def waiting(self, tx: Tx) -> int | None:
        """When the last line that waits for an answer, or message of a paced reply, is due, ms; None when none is."""
        queued = f"SELECT max(due_at) AS due FROM {EVENT_QUEUE} WHERE state = 'queued'"
        at: int | None = tx.value(f"SELECT max(due) FROM ({queued} UNION ALL {LAST_UNSAID}) AS waiting")
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
            ("event", "due_at", IS_QUEUED),
            ("conversation_window", "until", ""),
            ("outbox", "due_at", IS_PENDING),
            ("joining", "due_at", ""),
        )
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

    async def tidy(self, retention: Retention) -> None:
        """Drop what is older than it may be kept, and set the next time; between its steps others are served.

        A crash between two of them is no harm: the next start begins anew.
        """
        talks = await self._database.read(partial(old_talks, before=retention.talks_before))
        for place in range(0, len(talks), TALKS_AT_ONCE):
            some = talks[place : place + TALKS_AT_ONCE]
            await self._database.write(partial(drop_talks, numbers=some), beside=True)
        await self._steps(STEPS, retention)
        await self._database.write(partial(_tidy_rest, retention=retention), beside=True)
        await self._steps(LAST_STEPS, retention)
        await self._database.write(partial(_tidied, retention=retention), beside=True)

    async def _steps(self, steps: Sequence[TidyStep], retention: Retention) -> None:
        for table, column, at_once, work in steps:
            first, last = await self._database.read(partial(_span, table=table, column=column))
            for number in range(first, last + 1, at_once):
                await self._database.write(partial(work, first=number, retention=retention), beside=True)


def _span(tx: Tx, table: str, column: str) -> tuple[int, int]:
    """The least and the greatest number in a table; of an empty one the second is the smaller."""
    return tx.number(f"SELECT min({column}) FROM {table}"), tx.value(f"SELECT max({column}) FROM {table}") or -1


def _tidy_lines(tx: Tx, first: int, retention: Retention) -> None:
    """What platforms called old lines, then what they said, at last the lines; what a memory came from, or was set off
    the record, stays as a blank line.
    """
    some = (first, first + LINES_AT_ONCE)
    sql = (
        "UPDATE event SET delivery_key = NULL, external_id = '' WHERE id >= ? AND id < ? AND at < ? AND "
        "(delivery_key IS NOT NULL OR external_id <> '')"
    )
    tx.run(sql, *some, retention.ids_before)
    sql = (
        "SELECT id FROM event WHERE id >= ? AND id < ? AND off_record > 0 AND text <> '' AND at < ? AND state <> 'queued' "
        "AND NOT EXISTS (SELECT 1 FROM session WHERE session.chat_id = event.chat_id AND session.state <> 'closed' "
        "AND event.id > from_event)"
    )
    if unkept := tx.ids(sql, *some, retention.unkept_before):
        wipe_soon(tx, retention.unkept_before)
        empty_off_record(tx, unkept)
    old = "id >= ? AND id < ? AND at < ? AND state <> 'queued' AND hidden <> 'old'"
    gone = tx.ids(f"SELECT id FROM event WHERE {old}", *some, retention.transcript_before)
    if gone:
        blank = f"UPDATE event SET text = '', quote = '', name = '', hidden = 'old' WHERE {old}"
        tx.run(blank, *some, retention.transcript_before)
        wipe_soon(tx, retention.transcript_before)
        drop_documents(tx, "line", gone)
    of_old = "SELECT id FROM event WHERE id >= ? AND id < ? AND hidden = 'old'"
    tx.run(f"DELETE FROM attachment WHERE event_id >= ? AND event_id < ? AND event_id IN ({of_old})", *some, *some)
    sql = (
        "SELECT id FROM event WHERE id >= ? AND id < ? AND at < ? AND hidden = 'old' AND text = '' "
        "AND state <> 'queued' AND off_record = 0 "
        "AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.event_id = event.id) "
        "AND NOT EXISTS (SELECT 1 FROM attachment WHERE attachment.event_id = event.id)"
    )
    lines = tx.all(sql, *some, retention.blank_before)
    tx.executemany("DELETE FROM turn_event WHERE event_id = ?", lines)
    tx.executemany("UPDATE event SET same_as = NULL WHERE same_as = ?", lines)
    tx.executemany("DELETE FROM event WHERE id = ?", lines)


def _tidy_turns(tx: Tx, first: int, retention: Retention) -> None:
    """Of old turns nobody knows any more what they were told, and how they were liked; at last they go."""
    some = "SELECT id FROM turn WHERE id >= ? AND id < ? AND asked_at < ? AND state NOT IN ('asked', 'answered')"
    for table in ("told_item", "turn_memory", "feedback", "section_round"):
        sql = f"DELETE FROM {table} WHERE turn_id IN ({some})"
        tx.run(sql, first, first + ROWS_AT_ONCE, retention.transcript_before)
    turns = tx.all(
        f"{some} AND EXISTS (SELECT 1 FROM session WHERE session.id = session_id AND session.state = 'closed') "
        "AND NOT EXISTS (SELECT 1 FROM turn_event WHERE turn_event.turn_id = turn.id) "
        "AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.turn_id = turn.id) "
        "AND NOT EXISTS (SELECT 1 FROM event WHERE event.turn_id = turn.id)",
        first,
        first + ROWS_AT_ONCE,
        retention.blank_before,
    )
    tx.executemany("UPDATE call SET turn_id = NULL WHERE turn_id = ?", turns)
    tx.executemany("DELETE FROM turn WHERE id = ?", turns)


def _tidy_sent(tx: Tx, first: int, retention: Retention) -> None:
    """Under which ids old turns went nobody knows any more."""
    tx.run(
        "DELETE FROM sent WHERE chat_id >= ? AND chat_id < ? AND EXISTS (SELECT 1 FROM turn WHERE turn.id = sent.turn_id "
        "AND asked_at < ? AND turn.state NOT IN ('asked', 'answered'))",
        first,
        first + CHATS_AT_ONCE,
        retention.transcript_before,
    )


def _tidy_outbox(tx: Tx, first: int, retention: Retention) -> None:
    """What was sent long ago goes with the ids of receipts."""
    over = "id >= ? AND id < ? AND state NOT IN ('pending', 'sending') AND coalesce(sent_at, due_at) < ?"
    values = first, first + ROWS_AT_ONCE, retention.ids_before
    receipt = "DELETE FROM sent WHERE turn_id IS NULL AND chat_id = ? AND external_id = ?"
    for chat_id, external_ids in tx.all(f"SELECT chat_id, external_ids FROM outbox WHERE {over}", *values):
        for external_id in json.loads(external_ids):
            tx.run(receipt, chat_id, external_id)
    tx.run(f"DELETE FROM outbox WHERE {over}", *values)


def _tidy_sessions(tx: Tx, first: int, retention: Retention) -> None:
    """Logs, and sessions of which nothing is left but the last of each chat, which its next number goes by."""
    some = first, first + ROWS_AT_ONCE
    closed = "SELECT id FROM session WHERE id >= ? AND id < ? AND state = 'closed' AND closed_at < ?"
    logs = f"SELECT entry.id FROM entry JOIN epoch ON epoch.id = epoch_id WHERE session_id IN ({closed})"
    for where in ("edge WHERE kind IN ('entry', 'told', 'recount') AND derived_id", "entry WHERE id"):
        tx.run(f"DELETE FROM {where} IN ({logs})", *some, retention.logs_before)
    over = f"{closed} AND digest_due_at IS NULL"
    tx.run(
        f"DELETE FROM epoch WHERE session_id IN ({over}) "
        "AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.epoch_id = epoch.id) "
        "AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.epoch_id = epoch.id)",
        *some,
        retention.blank_before,
    )
    sessions = tx.all(
        f"{over} AND EXISTS (SELECT 1 FROM session AS next WHERE next.chat_id = session.chat_id "
        "AND next.number > session.number) "
        "AND NOT EXISTS (SELECT 1 FROM epoch WHERE epoch.session_id = session.id) "
        "AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.session_id = session.id) "
        "AND NOT EXISTS (SELECT 1 FROM digest WHERE digest.session_id = session.id)",
        *some,
        retention.blank_before,
    )
    tx.executemany("DELETE FROM participant WHERE session_id = ?", sessions)
    tx.executemany("DELETE FROM session WHERE id = ?", sessions)


STEPS: tuple[TidyStep, ...] = (
    ("event", "id", LINES_AT_ONCE, _tidy_lines),
    ("sent", "chat_id", CHATS_AT_ONCE, _tidy_sent),
    ("turn", "id", ROWS_AT_ONCE, _tidy_turns),
    ("outbox", "id", ROWS_AT_ONCE, _tidy_outbox),
)
"""What is tidied in steps, in this order."""

LAST_STEPS: tuple[TidyStep, ...] = (("session", "id", ROWS_AT_ONCE, _tidy_sessions),)
"""What comes after the calls of old sessions were summed up."""


def _tidy_rest(tx: Tx, retention: Retention) -> None:
    """Roll-ups, answers, links, reminders and calls."""
    drop_old_rollups(tx, retention.talks_before)
    tx.run("DELETE FROM effect WHERE at < ?", retention.ids_before)
    tx.run("DELETE FROM lately WHERE arrived_at < ?", retention.logs_before)
    drop_old_links(tx, retention.ids_before)
    tidy_reminders(tx, retention.ids_before, retention.ids_before)
    _sum_up(tx, retention.blank_before)


def _tidied(tx: Tx, retention: Retention) -> None:
    """Nobody's prefixes go, and the next time is set."""
    tx.run("DELETE FROM prefix WHERE NOT EXISTS (SELECT 1 FROM epoch WHERE epoch.signature = prefix.signature)")
    tx.set_meta("tidy_at", str(retention.next_at))


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
