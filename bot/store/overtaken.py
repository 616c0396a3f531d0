"""What happened since a copy was made and must not happen again, or come back, with it: promises, reminders, messages.

It decides nothing about memories and lines.
"""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.commitments import delete as drop_promises
from bot.store.documents import drop
from bot.store.forgetting import undigest
from bot.store.indexing import index_lines
from bot.store.promising import unpromise
from bot.store.reminding import end
from bot.store.tombstones import Tombstones

CALL = (
    "id, chat_id, person_id, cause, model, state, at, settled_at, reserved_tokens, reserved_cost, prompt_tokens, "
    "cached_tokens, output_tokens, cost, counted, written_tokens, reasoning_tokens, estimated_tokens"
)
"""What of a call counts against budgets: all but the turn and the session, which a copy may not have."""


@dataclass(frozen=True, slots=True)
class Overtaken:
    """What the present database has left: promises, empty rows of dropped ones, open reminders, what waits to be
    answered or sent.

    `aside` are the lines that are to be kept nowhere, `cleared` how far each chat was cleared (lines, talks), `turns`
    those that run, `calls` what was spent, as rows of CALL.
    """

    promises: frozenset[int]
    dropped: frozenset[int]
    reminders: frozenset[int]
    queued: frozenset[int]
    pending: frozenset[int]
    aside: frozenset[int]
    cleared: tuple[tuple[int, int, int], ...]
    turns: frozenset[int] = frozenset()
    calls: tuple[tuple[object, ...], ...] = ()

    @staticmethod
    def of(db: sqlite3.Connection) -> "Overtaken":
        """Read it; sqlite3.Error when the file cannot be read, or is of a schema that has none of it."""

        def numbers(sql: str) -> frozenset[int]:
            return frozenset(cast("int", row[0]) for row in db.execute(sql))

        return Overtaken(
            numbers("SELECT id FROM commitment WHERE text <> ''"),
            numbers("SELECT id FROM commitment WHERE text = ''"),
            numbers("SELECT id FROM reminder WHERE ended_at IS NULL"),
            numbers("SELECT id FROM event WHERE state = 'queued'"),
            numbers("SELECT id FROM outbox WHERE state IN ('pending', 'preview')"),
            numbers("SELECT id FROM event WHERE off_record = 1"),
            tuple(db.execute("SELECT id, cleared_upto, talks_cleared FROM chat")),
            numbers("SELECT id FROM turn WHERE state IN ('asked', 'answered')"),
            tuple(db.execute(f"SELECT {CALL} FROM call WHERE state <> 'reserved'")),
        )


def overtake(db: sqlite3.Connection, since: Overtaken, last: dict[str, int], at: int) -> None:
    """Verb part: what was ended, said, answered or set aside since is so in the copy, too; nothing happens twice.

    `last` are the last numbers that the present database gave.
    """
    promises = db.execute("SELECT id FROM commitment WHERE text <> ''").fetchall()
    gone = [number for (number,) in promises if _ended(number, since.promises, last, "commitment")]
    drop_promises(db, [number for number in gone if number not in since.dropped])
    # An empty row keeps a digest from bringing it back.
    emptied = [(at, number) for number in gone if number in since.dropped]
    db.executemany(
        "UPDATE commitment SET text = '', folded = '', state = 'failed', ended_at = coalesce(ended_at, ?) WHERE id = ?",
        emptied,
    )
    reminders = db.execute("SELECT id FROM reminder WHERE ended_at IS NULL").fetchall()
    over = [number for (number,) in reminders if _ended(number, since.reminders, last, "reminder")]
    end(db, over, "cancelled", at)
    for (number,) in db.execute("SELECT id FROM event WHERE state = 'queued'").fetchall():
        if _ended(number, since.queued, last, "event"):
            db.execute("UPDATE event SET state = 'done', outcome = 'restored', due_at = NULL WHERE id = ?", (number,))
    for (number,) in db.execute("SELECT id FROM outbox WHERE state IN ('pending', 'sending', 'preview')").fetchall():
        if _ended(number, since.pending, last, "outbox"):
            db.execute("UPDATE outbox SET state = 'cancelled', text = '', error = 'restored' WHERE id = ?", (number,))
    for (number,) in db.execute("SELECT id FROM turn WHERE state IN ('asked', 'answered')").fetchall():
        if number not in since.turns:
            db.execute("UPDATE turn SET state = 'void', receipts = '[]' WHERE id = ?", (number,))
            db.execute("UPDATE event SET turn_id = NULL WHERE turn_id = ? AND state = 'queued'", (number,))
    _pay(db, since.calls)
    _set_aside(db, since.aside, at)
    for chat, lines, talks in since.cleared:
        db.execute(
            "UPDATE chat SET cleared_upto = max(cleared_upto, ?), talks_cleared = max(talks_cleared, ?) WHERE id = ?",
            (lines, talks, chat),
        )


def bury_plans(db: sqlite3.Connection, tombstones: Tombstones, at: int) -> None:
    """Verb part: promises, reminders and summaries whose very text was forgotten are gone."""
    rows = db.execute("SELECT id, text FROM commitment WHERE text <> ''").fetchall()
    drop_promises(db, [cast("int", number) for number, text in rows if tombstones.covers(text)])
    rows = db.execute("SELECT id, text FROM reminder WHERE ended_at IS NULL").fetchall()
    end(db, [number for number, text in rows if tombstones.covers(text)], "forgotten", at)
    for number, text in db.execute("SELECT id, summary FROM digest WHERE summary <> ''").fetchall():
        if tombstones.covers(text):
            db.execute("UPDATE digest SET summary = '' WHERE id = ?", (number,))
            drop(db, "digest", (number,))


def _ended(number: int, left: frozenset[int], last: dict[str, int], table: str) -> bool:
    return number <= last.get(table, 0) and number not in left


def _pay(db: sqlite3.Connection, calls: tuple[tuple[object, ...], ...]) -> None:
    """What was spent since stays spent: a way back gives nobody their money's worth anew."""
    (most,) = db.execute("SELECT coalesce(max(id), 0) FROM call").fetchone()
    rows = [row for row in calls if cast("int", row[0]) > most]
    db.executemany(f"INSERT INTO call ({CALL}) VALUES ({', '.join('?' * len(CALL.split(', ')))})", rows)


def _set_aside(db: sqlite3.Connection, aside: frozenset[int], at: int) -> None:
    rows = db.execute("SELECT id FROM event WHERE off_record = 0 AND hidden = ''").fetchall()
    marked = {cast("int", row[0]) for row in rows} & aside
    db.executemany("UPDATE event SET off_record = 1 WHERE id = ?", [(number,) for number in marked])
    if marked:
        index_lines(db, marked)
        undigest(db, marked, at)
        unpromise(db, marked)
