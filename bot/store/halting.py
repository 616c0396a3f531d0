"""A command to stop, in the commit that stores it: what runs is void, what waits is off the queue, one line says so.

Whether a message is one, and whether it counts, is decided elsewhere; the model's call is ended elsewhere, too.
"""

import json
import sqlite3
from dataclasses import replace
from typing import cast

from bot.store.access import Lists, standing
from bot.store.arrival import Accepted, Arrival, Halted
from bot.store.events import finish
from bot.store.ledger import charge
from bot.store.outbox import put
from bot.store.steps import TURN, turn_of
from bot.store.voiding import fail
from bot.store.windows import hush
from bot.types.event import Event
from bot.types.outgoing import Draft
from bot.types.people import Chat
from bot.types.speaking import HALTS, UNASKED
from bot.types.turn import Turn

STOPPED = "stopped"
"""The outcome of what is not answered, the error of the turn, the label of the line that says so."""

CUT = "cut"
"""The label of what people saw of a reply that was stopped."""


UNDER_WAY = "WHERE turn.chat_id = ? AND turn.state IN ('asked', 'answered') ORDER BY turn.id"
UNSENT = (
    "WHERE turn.chat_id = ?1 AND turn.state = 'said' AND turn.id IN (SELECT turn_id FROM outbox WHERE chat_id = ?1 "
    "AND state = 'pending' AND kind = 'reply')"
)


def halt(db: sqlite3.Connection, accepted: Accepted, arrival: Arrival, *, lists: Lists) -> Accepted:
    """Verb part: carry out a command to stop; anything else passes as it is.

    Owners end every turn of their chat, others those that answer them.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None or decision.why not in HALTS:
        return accepted
    owner = standing(db, lists, event.chat_id, event.person_id).owner
    running = tuple(turn_of(row) for row in db.execute(TURN + UNDER_WAY, (event.chat_id,)).fetchall())
    ended = tuple(turn for turn in running if owner or turn.why in UNASKED or _answers(db, turn.id, event.person_id))
    lines = [line for turn in ended for line in _void(db, turn, at)]
    for row in db.execute(TURN + UNSENT, (event.chat_id,)).fetchall():
        turn = turn_of(row)
        if owner or _answers(db, turn.id, event.person_id):
            _unsaid(db, turn, at)
    dropped = _drop(db, event, arrival)
    if decision.why == "quiet" and accepted.chat.kind == "group":
        dropped += hush(db, event.chat_id, event.id, STOPPED, at)
    finish(db, (event.id,), "done", decision.why)
    others = len(ended) < len(running)
    key = "stop_others" if others else _key(accepted.chat, decision.why)
    script = db.execute("SELECT script FROM person WHERE id = ?", (event.person_id,)).fetchone()[0]
    _receipt(db, event.chat_id, "\n".join((*lines, arrival.receipt(key, str(script)))), at)
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), dropped, others))


def _key(chat: Chat, why: str) -> str:
    """In a DM every word calls, so that silence lasts until the next one anyway."""
    return "quieted" if why == "quiet" and chat.kind == "group" else "stopped"


def _answers(db: sqlite3.Connection, turn_id: int, person_id: int) -> bool:
    return (
        db.execute(
            "SELECT 1 FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ? AND person_id = ?",
            (turn_id, person_id),
        ).fetchone()
        is not None
    )


def _void(db: sqlite3.Connection, turn: Turn, at: int) -> tuple[str, ...]:
    """The turn is over: a call in flight costs what was reserved, nothing stays logged; its receipts nobody saw."""
    for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn.id,)).fetchall():
        charge(db, call_id, at)
    events = db.execute("SELECT event_id FROM turn_event WHERE turn_id = ?", (turn.id,))
    finish(db, tuple(row[0] for row in events), "done", STOPPED)
    shown = _keep_shown(db, turn, at)
    fail(db, turn, STOPPED, None, None, at)
    db.execute("UPDATE turn SET state = 'void' WHERE id = ?", (turn.id,))
    return () if shown else turn.receipts


def _keep_shown(db: sqlite3.Connection, turn: Turn, at: int) -> bool:
    """What is on the screen stays there as it is, and the next delta tells it; whether something is."""
    row = db.execute(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''", (turn.id,)
    ).fetchone()
    if row is None:
        return False
    number, shown, text = row
    line = db.execute(
        "INSERT INTO event (chat_id, at, kind, text, label, state, turn_id) VALUES (?, ?, 'bot', ?, ?, 'done', ?)",
        (turn.chat_id, at, text, CUT, turn.id),
    ).lastrowid
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


def _unsaid(db: sqlite3.Connection, turn: Turn, at: int) -> None:
    """What waits to be sent of a reply goes no more; its line holds what went, and the next delta tells that."""
    rows = db.execute(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND state = 'pending' AND kind = 'reply' "
        "ORDER BY part, id",
        (turn.id,),
    ).fetchall()
    said = db.execute(
        "SELECT id, text FROM event WHERE turn_id = ? AND kind = 'bot' AND label = ''", (turn.id,)
    ).fetchone()
    if said is not None:
        went = db.execute(
            "SELECT 1 FROM outbox WHERE turn_id = ? AND state IN ('sending', 'sent', 'unknown')", (turn.id,)
        ).fetchone()
        seen = _without(str(said[1]), tuple(str(row[2]) for row in rows)) if went is not None else ""
        db.execute("UPDATE event SET text = ?, label = ? WHERE id = ?", (seen, CUT, said[0]))
    for number, shown, _ in rows:
        kind, state = ("withdrawal", "pending") if shown else ("reply", "cancelled")
        db.execute(
            "UPDATE outbox SET kind = ?, state = ?, text = '', due_at = ? WHERE id = ?", (kind, state, at, number)
        )


def _without(whole: str, parts: tuple[str, ...]) -> str:
    """A reply without its last parts, as far as these are found in it: code that is split has marks of its own."""
    end = len(whole)
    for part in reversed(parts):
        at = whole.rfind(part, 0, end)
        end = at if at >= 0 else end
    return whole[:end]


def _drop(db: sqlite3.Connection, event: Event, arrival: Arrival) -> int:
    """What that person said before and nobody has begun to answer waits no more; how many lines."""
    waiting = db.execute(
        "SELECT id, text FROM event WHERE chat_id = ?1 AND state = 'queued' AND id < ?2 AND ((person_id = ?3 AND "
        "kind = 'message' AND why NOT IN ('command', 'pair', 'closed')) OR why IN ('heartbeat', 'join')) AND id NOT IN "
        "(SELECT event_id FROM turn_event JOIN turn ON turn.id = turn_event.turn_id WHERE turn.chat_id = ?1 AND "
        "turn.state IN ('asked', 'answered'))",
        (event.chat_id, event.id, event.person_id),
    ).fetchall()
    gone = tuple(cast("int", number) for number, text in waiting if not arrival.spared(str(text)))
    finish(db, gone, "done", STOPPED)
    return len(gone)


def _receipt(db: sqlite3.Connection, chat_id: int, text: str, at: int) -> None:
    line = db.execute(
        "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'stop', 'done')",
        (chat_id, at, text),
    ).lastrowid
    put(db, chat_id, Draft(text, "receipt"), at, event_id=line)
