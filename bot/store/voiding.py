"""The end of a turn, and what is taken back of one that failed. What it said otherwise is in bot/store/steps.py."""

import json
import sqlite3
from typing import cast

from bot.store.cutting import CUT
from bot.store.events import finish
from bot.store.indexing import index_lines
from bot.store.ledger import charge, release
from bot.store.outbox import put, withdraw
from bot.store.refusals import OVER, SORRY
from bot.store.sessions import drop_log
from bot.store.windows import put_back
from bot.types.outgoing import Draft
from bot.types.turn import Turn, TurnState

ANSWERS_OFF_RECORD = (
    "(SELECT coalesce(max(told.off_record), 0) FROM turn_event JOIN event AS told ON told.id = turn_event.event_id "
    "WHERE turn_event.turn_id = ?)"
)
"""Whether a turn answers such a line: its reply is one as well."""


def fail(
    db: sqlite3.Connection, turn: Turn, error: str, notice: Draft | None, call: tuple[int, str] | None, at: int,
    sorry: bool = False,
) -> None:  # fmt: skip
    """Verb: the turn is void; what it logged is taken out again, from the end of the log only.

    `sorry`: the notice tells that no model answers, which is kept with the time.


    A follow-up of which nobody is told goes back: the next call of the chat answers it, too.
    """
    if call is not None:
        (charge if call[1] == "charge" else release)(db, call[0], at)
    if not end_turn(db, turn.id, "failed"):
        return
    db.execute(
        "DELETE FROM edge WHERE kind IN ('entry', 'told', 'recount') AND derived_id IN "
        "(SELECT id FROM entry WHERE turn_id = ?)",
        (turn.id,),
    )
    db.execute("DELETE FROM entry WHERE turn_id = ?", (turn.id,))
    db.execute(
        "UPDATE epoch SET logged_upto = (SELECT logged_before FROM turn WHERE id = ?1), prompt_tokens = 0, "
        "prompt_entries = 0 WHERE id = ?2",
        (turn.id, turn.epoch_id),
    )
    db.execute("UPDATE turn SET error = ? WHERE id = ?", (error, turn.id))
    drop_forgotten(db, turn.epoch_id)
    over = error.startswith(OVER)
    if turn.why == "window" and notice is None:
        put_back(db, turn.event_ids, "silent" if over else "failed", at)
    else:
        finish(db, turn.event_ids, "done", "refused" if over else "failed")
    if notice is None:
        withdraw(db, turn.id, at)
    else:
        put(db, turn.chat_id, notice, at, turn_id=turn.id)
    if notice is not None and sorry:
        db.execute(
            "INSERT OR REPLACE INTO effect (key, result, at) VALUES (?, 'done', ?)", (f"{SORRY}{turn.chat_id}", at)
        )


def cut_short(db: sqlite3.Connection, turn: Turn, error: str, at: int) -> bool:
    """Verb part: a turn under way is void: a call in flight costs what was reserved, nothing stays logged.

    Whether something of it is on the screen, which stays there; then the next delta tells it.
    """
    for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn.id,)).fetchall():
        charge(db, call_id, at)
    shown = _keep_shown(db, turn, at)
    fail(db, turn, error, None, None, at)
    db.execute("UPDATE turn SET state = 'void' WHERE id = ?", (turn.id,))
    return shown


def _keep_shown(db: sqlite3.Connection, turn: Turn, at: int) -> bool:
    """What is on the screen stays there as it is, and the next delta tells it; whether something is."""
    row = db.execute(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''", (turn.id,)
    ).fetchone()
    if row is None:
        return False
    number, shown, text = row
    sql = (
        "INSERT INTO event (chat_id, at, kind, text, label, state, turn_id, off_record) "
        f"VALUES (?, ?, 'bot', ?, ?, 'done', ?, {ANSWERS_OFF_RECORD})"
    )
    line = cast("int", db.execute(sql, (turn.chat_id, at, text, CUT, turn.id, turn.id)).lastrowid)
    index_lines(db, (line,))
    ids = (shown,) if shown else ()
    db.execute(
        "UPDATE outbox SET state = ?, kind = 'reply', text = '', event_id = ?, sent_at = ?, external_ids = ? "
        "WHERE id = ?",
        ("sent" if shown else "cancelled", line, at, json.dumps(ids), number),
    )
    db.executemany(
        "INSERT OR REPLACE INTO sent (chat_id, external_id, turn_id) VALUES (?, ?, ?)",
        [(turn.chat_id, external_id, turn.id) for external_id in ids],
    )
    return True


def end_turn(db: sqlite3.Connection, turn_id: int, state: TurnState) -> bool:
    """Verb part: a turn ends once; its receipts are in the reply or the notice from now on. True for the first time."""
    ended = db.execute(
        "UPDATE turn SET state = ?, receipts = '[]' WHERE id = ? AND state IN ('asked', 'answered')", (state, turn_id)
    )
    return ended.rowcount == 1


def drop_forgotten(db: sqlite3.Connection, epoch_id: int) -> None:
    """Verb part: what was forgotten while a turn ran on its log is deleted as soon as nothing runs on it."""
    if db.execute("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", (epoch_id,)).fetchone():
        drop_log(db, epoch_id)
