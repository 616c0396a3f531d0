"""A command to stop, in the commit that stores it: what runs is void, what waits is off the queue, one line says so.

Whether a message is one, and whether it counts, is decided elsewhere; the model's call is ended elsewhere, too.
"""

import sqlite3
from dataclasses import replace
from typing import cast

from bot.store.access import Lists, standing
from bot.store.arrival import Accepted, Arrival, Halted
from bot.store.cutting import UNSENT, answers, says_on, supersede, unsay
from bot.store.events import APART, finish
from bot.store.outbox import put
from bot.store.steps import under_way
from bot.store.voiding import cut_short
from bot.store.windows import hush
from bot.types.event import Event
from bot.types.outgoing import Draft
from bot.types.people import Chat
from bot.types.speaking import HALTS, UNASKED
from bot.types.turn import Turn

STOPPED = "stopped"
"""The outcome of what is not answered, the error of the turn, the label of the line that says so."""

NOTHING_SAID = ("copy", "stranger", "old")
"""Why nuan listens to what does not count as said in the chat just now."""


def halt(db: sqlite3.Connection, accepted: Accepted, arrival: Arrival, *, lists: Lists) -> Accepted:
    """Verb part: carry out a command to stop; any other call of somebody cuts off what is still being said to them.

    Owners end every turn of their chat, others those that answer them. What is due while none runs is being composed.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None:
        return accepted
    if decision.why not in HALTS:
        said = event.kind == "message" and decision.why not in (*APART, *NOTHING_SAID)
        called = decision.action != "listen"
        cut = supersede(db, event.chat_id, event.person_id, at, called=called) if said else ()
        return replace(accepted, superseded=cut) if cut else accepted
    owner = standing(db, lists, event.chat_id, event.person_id).owner
    running = under_way(db, event.chat_id)
    ended = tuple(turn for turn in running if owner or turn.why in UNASKED or answers(db, turn.id, event.person_id))
    lines = [line for turn in ended for line in _void(db, turn, at)]
    unsent = [turn_id for (turn_id,) in db.execute(UNSENT, (event.chat_id,)).fetchall()]
    unsaid = [turn_id for turn_id in unsent if owner or answers(db, turn_id, event.person_id)]
    for turn_id in unsaid:
        unsay(db, turn_id, 0, at)
    dropped = _drop(db, event, arrival, everyone=owner and not running)
    others = len(ended) < len(running) or (not running and not dropped and _composing(db, event.chat_id, at))
    # What is still being said to somebody else is told, unless there was something of one's own to stop.
    goes_on = others or (not (ended or unsaid or dropped) and says_on(db, event.chat_id))
    if decision.why == "quiet" and accepted.chat.kind == "group":
        dropped += hush(db, event.chat_id, event.id, STOPPED, at)
    finish(db, (event.id,), "done", decision.why)
    key = "stop_others" if goes_on else _key(accepted.chat, decision.why)
    script = db.execute("SELECT script FROM person WHERE id = ?", (event.person_id,)).fetchone()[0]
    _receipt(db, event.chat_id, "\n".join((*lines, arrival.receipt(key, str(script)))), at)
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), dropped, others))


def _key(chat: Chat, why: str) -> str:
    """In a DM every word calls, so that silence lasts until the next one anyway."""
    return "quieted" if why == "quiet" and chat.kind == "group" else "stopped"


def _void(db: sqlite3.Connection, turn: Turn, at: int) -> tuple[str, ...]:
    """The turn is over and what it answers with it; its receipts, unless they are on the screen."""
    events = db.execute("SELECT event_id FROM turn_event WHERE turn_id = ?", (turn.id,))
    finish(db, tuple(row[0] for row in events), "done", STOPPED)
    return () if cut_short(db, turn, STOPPED, at) else turn.receipts


def _drop(db: sqlite3.Connection, event: Event, arrival: Arrival, *, everyone: bool) -> int:
    """What that person said before and nobody has begun to answer waits no more; how many lines.

    With `everyone` also what others wait for now. Of what asks something of memory only that is done.
    """
    waiting = db.execute(
        "SELECT id, text FROM event WHERE chat_id = ?1 AND state = 'queued' AND id < ?2 AND ((kind = 'message' "
        "AND (person_id = ?3 OR (?4 AND due_at <= ?5)) AND why NOT IN ('command', 'pair', 'closed')) "
        "OR why IN ('heartbeat', 'join')) AND id NOT IN (SELECT event_id FROM turn_event "
        "JOIN turn ON turn.id = turn_event.turn_id WHERE turn.chat_id = ?1 AND turn.state IN ('asked', 'answered'))",
        (event.chat_id, event.id, event.person_id, everyone, arrival.situation.at),
    ).fetchall()
    gone = tuple(cast("int", number) for number, text in waiting if not arrival.spared(str(text)))
    finish(db, gone, "done", STOPPED)
    kept = [(arrival.situation.at, number) for number, _ in waiting if number not in gone]
    db.executemany("UPDATE event SET why = 'stop', due_at = ? WHERE id = ?", kept)
    return len(waiting)


def _composing(db: sqlite3.Connection, chat_id: int, at: int) -> bool:
    """Whether somebody's message is about to be asked."""
    return (
        db.execute(
            "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND kind = 'message' AND due_at <= ? "
            "AND why NOT IN ('command', 'pair', 'closed', 'stop', 'quiet')",
            (chat_id, at),
        ).fetchone()
        is not None
    )


def _receipt(db: sqlite3.Connection, chat_id: int, text: str, at: int) -> None:
    line = db.execute(
        "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'stop', 'done')",
        (chat_id, at, text),
    ).lastrowid
    put(db, chat_id, Draft(text, "receipt"), at, event_id=line)
