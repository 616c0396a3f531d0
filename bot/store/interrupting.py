"""A message that cuts the turn short which answers its sender, in the commit that stores it: both are asked together.

Whether messages do so is configuration; the model's call is ended elsewhere.
"""

import sqlite3
from dataclasses import replace

from bot.store.access import Lists
from bot.store.arrival import Accepted, Arrival, Halted
from bot.store.cutting import answers
from bot.store.events import APART
from bot.store.halting import halt
from bot.store.steps import under_way
from bot.store.voiding import cut_short
from bot.store.windows import requeue
from bot.types.event import Event
from bot.types.heartbeat import HEARTBEAT
from bot.types.speaking import Decision
from bot.types.turn import Turn

INTERRUPTED = "interrupted"
"""The error of the turn, and how the key of the effect begins that keeps what it answered from a second time."""


def halt_or_interrupt(db: sqlite3.Connection, accepted: Accepted, arrival: Arrival, *, lists: Lists) -> Accepted:
    """Verb part: carry out a command to stop, or let a message interrupt; anything else passes as it is."""
    halted = halt(db, accepted, arrival, lists=lists)
    return interrupt(db, halted, arrival) if halted.halted is None and arrival.interrupts else halted


def interrupt(db: sqlite3.Connection, accepted: Accepted, arrival: Arrival) -> Accepted:
    """Verb part: void the turn that answers the sender; what it answers is due again, with the new message.

    Not what was interrupted before, nor a turn of which a tool was carried out: nothing is done or paid twice.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None or event.kind != "message":
        return accepted
    if decision.action == "listen" or decision.why in APART or arrival.situation.is_memory_command:
        return accepted
    ended = tuple(turn for turn in under_way(db, event.chat_id) if _may(db, turn, event.person_id))
    due = _due(db, event, decision, at + arrival.pause_ms) if ended else at
    for turn in ended:
        cut_short(db, turn, INTERRUPTED, at)
        requeue(db, turn.event_ids, due)
        db.execute(
            "INSERT OR IGNORE INTO effect (key, result, at) VALUES (?, 'done', ?)",
            (f"{INTERRUPTED}:{min(turn.event_ids)}", at),
        )
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), 0)) if ended else accepted


def _due(db: sqlite3.Connection, event: Event, decision: Decision, at: int) -> int:
    """When both are asked: a follow-up that interrupts waits for no silence, though for the end of a flood.

    `at` is when a call that came now would be asked.
    """
    if decision.why != "window":
        return decision.due_at
    row = db.execute("SELECT until FROM rush WHERE chat_id = ?", (event.chat_id,)).fetchone()
    due = max(at, row[0] if row else 0)
    db.execute("UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", (due, event.id))
    return due


def _may(db: sqlite3.Connection, turn: Turn, person_id: int) -> bool:
    """Whether a message of that person may cut the turn short."""
    if turn.why == HEARTBEAT or not answers(db, turn.id, person_id):
        return False
    before = db.execute(
        f"SELECT 1 FROM turn_event JOIN effect ON effect.key = '{INTERRUPTED}:' || event_id WHERE turn_id = ?",
        (turn.id,),
    ).fetchone()
    done = db.execute("SELECT 1 FROM effect WHERE key >= ?1 AND key < ?1 || 'x'", (f"turn:{turn.id}:",)).fetchone()
    shown = db.execute("SELECT 1 FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''", (turn.id,))
    # Receipts are said again with the next answer, so they must not be on the screen.
    told = bool(turn.receipts) and shown.fetchone() is not None
    return before is None and done is None and not told
