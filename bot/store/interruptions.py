"""Stop commands and messages that interrupt a turn, in the transaction that stores the message."""

from dataclasses import replace
from typing import cast

from bot.core.events import Draft, Event
from bot.core.people import Chat
from bot.core.sessions import Turn
from bot.core.speaking import HEARTBEAT, STOP_REASONS, UNASKED, Decision
from bot.store.events import COMMAND_REASONS, finish_events
from bot.store.failures import void_turn
from bot.store.ingest import Accepted, Arrival, Halted
from bot.store.outbox import enqueue
from bot.store.people import AccessLists, permissions_of
from bot.store.transactions import Tx
from bot.store.turns import running_turns
from bot.store.windows import (
    UNSENT_TURNS,
    answers_person,
    cut_replies_to,
    cut_reply,
    end_conversations,
    is_still_replying,
    requeue_events,
)

STOPPED_OUTCOME = "stopped"
"""The outcome of what is not answered, the error of the turn, the label of the line that says so."""

UNCOUNTED_REASONS = ("copy", "stranger", "old")
"""Why nuan listens to what does not count as said in the chat just now."""


def stop_turns(db: Tx, accepted: Accepted, arrival: Arrival, *, lists: AccessLists) -> Accepted:
    """Within a transaction: carry out a command to stop; any other call of somebody cuts off what is still being said
    to them.

    Owners end every turn of their chat, others those that answer them. What is due while none runs is being composed.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None:
        return accepted
    if decision.why not in STOP_REASONS:
        said = event.kind == "message" and decision.why not in (*COMMAND_REASONS, *UNCOUNTED_REASONS)
        called = decision.action != "listen"
        cut = cut_replies_to(db, event.chat_id, event.person_id, at, called=called) if said else ()
        return replace(accepted, superseded=cut) if cut else accepted
    owner = permissions_of(db, lists, event.chat_id, event.person_id).owner
    running = running_turns(db, event.chat_id)
    ended = tuple(
        turn for turn in running if owner or turn.why in UNASKED or answers_person(db, turn.id, event.person_id)
    )
    lines = [line for turn in ended for line in _void(db, turn, at)]
    unsent = [turn_id for (turn_id,) in db.execute(UNSENT_TURNS, (event.chat_id,)).fetchall()]
    unsaid = [turn_id for turn_id in unsent if owner or answers_person(db, turn_id, event.person_id)]
    for turn_id in unsaid:
        cut_reply(db, turn_id, 0, at)
    dropped = _drop(db, event, arrival, everyone=owner and not running)
    others = len(ended) < len(running) or (not running and not dropped and _composing(db, event.chat_id, at))
    # What is still being said to somebody else is told, unless there was something of one's own to stop.
    goes_on = others or (not (ended or unsaid or dropped) and is_still_replying(db, event.chat_id))
    if decision.why == "quiet" and accepted.chat.kind == "group":
        dropped += end_conversations(db, event.chat_id, event.id, STOPPED_OUTCOME, at)
    finish_events(db, (event.id,), "done", decision.why)
    key = "stop_others" if goes_on else _key(accepted.chat, decision.why)
    script = db.execute("SELECT script FROM person WHERE id = ?", (event.person_id,)).fetchone()[0]
    _receipt(db, event.chat_id, "\n".join((*lines, arrival.receipt(key, str(script)))), at)
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), dropped, others))


def _key(chat: Chat, why: str) -> str:
    """In a DM every word calls, so that silence lasts until the next one anyway."""
    return "quieted" if why == "quiet" and chat.kind == "group" else "stopped"


def _void(db: Tx, turn: Turn, at: int) -> tuple[str, ...]:
    """The turn is over and what it answers with it; its receipts, unless they are on the screen."""
    events = db.execute("SELECT event_id FROM turn_event WHERE turn_id = ?", (turn.id,))
    finish_events(db, tuple(row[0] for row in events), "done", STOPPED_OUTCOME)
    return () if void_turn(db, turn, STOPPED_OUTCOME, at) else turn.receipts


def _drop(db: Tx, event: Event, arrival: Arrival, *, everyone: bool) -> int:
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
    finish_events(db, gone, "done", STOPPED_OUTCOME)
    kept = [(arrival.situation.at, number) for number, _ in waiting if number not in gone]
    db.executemany("UPDATE event SET why = 'stop', due_at = ? WHERE id = ?", kept)
    return len(waiting)


def _composing(db: Tx, chat_id: int, at: int) -> bool:
    """Whether somebody's message is about to be asked."""
    return (
        db.execute(
            "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND kind = 'message' AND due_at <= ? "
            "AND why NOT IN ('command', 'pair', 'closed', 'stop', 'quiet')",
            (chat_id, at),
        ).fetchone()
        is not None
    )


def _receipt(db: Tx, chat_id: int, text: str, at: int) -> None:
    line = db.execute(
        "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'stop', 'done')",
        (chat_id, at, text),
    ).lastrowid
    enqueue(db, chat_id, Draft(text, "receipt"), at, event_id=line)


INTERRUPTED_KEY = "interrupted"
"""The error of the turn, and how the key of the effect begins that keeps what it answered from a second time."""


def halt_or_interrupt(db: Tx, accepted: Accepted, arrival: Arrival, *, lists: AccessLists) -> Accepted:
    """Within a transaction: carry out a command to stop, or let a message interrupt; anything else passes as it is."""
    halted = stop_turns(db, accepted, arrival, lists=lists)
    return interrupt(db, halted, arrival) if halted.halted is None and arrival.interrupts else halted


def interrupt(db: Tx, accepted: Accepted, arrival: Arrival) -> Accepted:
    """Within a transaction: void the turn that answers the sender; what it answers is due again, with the new message.

    Not what was interrupted before, nor a turn of which a tool was carried out: nothing is done or paid twice.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None or event.kind != "message":
        return accepted
    if decision.action == "listen" or decision.why in COMMAND_REASONS or arrival.situation.is_memory_command:
        return accepted
    ended = tuple(turn for turn in running_turns(db, event.chat_id) if _may(db, turn, event.person_id))
    due = _due(db, event, decision, at + arrival.pause_ms) if ended else at
    for turn in ended:
        void_turn(db, turn, INTERRUPTED_KEY, at)
        requeue_events(db, turn.event_ids, due)
        db.execute(
            "INSERT OR IGNORE INTO effect (key, result, at) VALUES (?, 'done', ?)",
            (f"{INTERRUPTED_KEY}:{min(turn.event_ids)}", at),
        )
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), 0)) if ended else accepted


def _due(db: Tx, event: Event, decision: Decision, at: int) -> int:
    """When both are asked: a follow-up that interrupts waits for no silence, though for the end of a flood.

    `at` is when a call that came now would be asked.
    """
    if decision.why != "window":
        return decision.due_at
    row = db.execute("SELECT until FROM rush WHERE chat_id = ?", (event.chat_id,)).fetchone()
    due = max(at, row[0] if row else 0)
    db.execute("UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", (due, event.id))
    return due


def _may(db: Tx, turn: Turn, person_id: int) -> bool:
    """Whether a message of that person may cut the turn short."""
    if turn.why == HEARTBEAT or not answers_person(db, turn.id, person_id):
        return False
    before = db.execute(
        f"SELECT 1 FROM turn_event JOIN effect ON effect.key = '{INTERRUPTED_KEY}:' || event_id WHERE turn_id = ?",
        (turn.id,),
    ).fetchone()
    done = db.execute("SELECT 1 FROM effect WHERE key >= ?1 AND key < ?1 || 'x'", (f"turn:{turn.id}:",)).fetchone()
    shown = db.execute("SELECT 1 FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''", (turn.id,))
    # Receipts are said again with the next answer, so they must not be on the screen.
    told = bool(turn.receipts) and shown.fetchone() is not None
    return before is None and done is None and not told
