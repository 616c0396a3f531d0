"""Taking an event in: it is stored with the decision about it, and may stop or interrupt turns, in one transaction."""

from collections.abc import Callable
from dataclasses import asdict, replace

from bot.core.events import Draft, Event, Incoming
from bot.core.people import Chat
from bot.core.sessions import Turn
from bot.core.speaking import HEARTBEAT, STOP_REASONS, UNASKED, Decision, PacedDecision, Situation
from bot.store.changes import Changes
from bot.store.commitments import note_promises
from bot.store.engine import Database, Repository, writes
from bot.store.events import COMMAND_REASONS, ChangeEvent, finish_events, note_effect, read_events
from bot.store.failures import has_acted, void_turn
from bot.store.feedback import remark
from bot.store.index import index_lines
from bot.store.ingest import (
    QUOTE_CHARS,
    Accepted,
    Arrival,
    Halted,
    bots_are_quiet,
    find_copy,
    note_print,
    print_of,
    retargeted,
    was_stored,
)
from bot.store.outbox import announce
from bot.store.people import AccessLists, find_chat, find_person, permissions_of, stored_part, with_permissions
from bot.store.transactions import Tx
from bot.store.turns import running_turns
from bot.store.windows import (
    IN_RUNNING_TURNS,
    UNSENT_TURNS,
    answers_person,
    arm_join,
    cut_replies_to,
    cut_reply,
    end_conversations,
    is_still_replying,
    keep_pace,
    pending_messages,
    requeue_events,
)

STOPPED_OUTCOME = "stopped"
"""The outcome of what is not answered, the error of the turn, the label of the line that says so."""

UNCOUNTED_REASONS = ("copy", "stranger", "old")
"""Why nuan listens to what does not count as said in the chat just now."""

INTERRUPTED_KEY = "interrupted"
"""The error of the turn, and how the key of the effect begins that keeps what it answered from a second time."""


class Intake(Repository):
    """Takes events in, each in one transaction with all that it does to older ones."""

    def __init__(self, database: Database, lists: AccessLists, changes: Changes, covers: Callable[[str], bool]) -> None:
        """`covers` tells what was forgotten."""
        super().__init__(database)
        self._lists = lists
        self._changes = changes
        self._covers = covers

    @writes
    def accept(self, tx: Tx, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        """Commit an event together with the decision about it; a second copy changes nothing."""
        accepted = self._accept(tx, arrival, decide)
        event = accepted.event
        if arrival.remarks and event is not None and event.person_id is not None:
            remark(tx, accepted.chat.id, event.person_id, arrival.remarks, arrival.situation.at)
        promised = note_promises(tx, accepted, arrival, self._covers)
        halted = stop_turns(tx, replace(accepted, armed=accepted.armed or promised), arrival, self._lists)
        return interrupt(tx, halted, arrival) if halted.halted is None and arrival.interrupts else halted

    def _accept(self, tx: Tx, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        """Store one event with its decision; of what strangers send, and of a copy, only that it came."""
        incoming, at = arrival.incoming, arrival.situation.at
        chat = find_chat(tx, incoming.place, at)
        if tx.has("SELECT 1 FROM event WHERE delivery_key = ?", _delivery(incoming)):
            return Accepted(None, chat, None)
        incoming = came = retargeted(tx, chat.id, incoming)
        person_id = find_person(tx, incoming.sender, chat.id, arrival.script, at) if incoming.sender else None
        until = 0
        if person_id is not None:
            _member(tx, chat.id, person_id, incoming, at)
            until = (
                tx.value(
                    "SELECT until FROM conversation_window WHERE chat_id = ? AND person_id = ?", chat.id, person_id
                )
                or 0
            )
        situation = with_permissions(tx, self._lists, chat.id, person_id, arrival.situation)
        muted = tx.has("SELECT 1 FROM chat WHERE id = ? AND gone > ?", chat.id, at)
        bots_quiet = situation.from_bot and situation.mentions_bot and bots_are_quiet(tx, chat.id, at)
        seen = replace(situation, enabled=chat.enabled, window_until=until, muted=muted, bots_quiet=bots_quiet)
        decision = decide(replace(seen, mode=chat.mode))
        new = print_of(incoming, person_id, at)
        twin = find_copy(tx, chat.id, new)
        before = pending_messages(tx, chat.id, person_id, at)
        paced = arrival.pace(decision, before) if twin is None else PacedDecision(Decision("listen", "copy", 0, until))
        decision = paced.decision
        incoming, stranger = stored_part(incoming, situation, decision.why)
        if incoming.scene is not None and incoming.scene != chat.scene and not stranger:
            tx.run("UPDATE chat SET scene = ? WHERE id = ?", incoming.scene, chat.id)
            _insert(tx, chat.id, at, Incoming(incoming.place, None, "event", incoming.scene, "scene"))
        # What was asked to be kept is told and forgotten like any line; another command is nobody's talk.
        commands = decision.why == "command" and not situation.is_memory_command
        hidden = "stranger" if stranger else "command" if commands else arrival.hidden
        if incoming.kind == "message":
            tx.run("UPDATE chat SET gone = 0 WHERE id = ? AND gone <> 0 AND gone <= ?", chat.id, at)
        else:
            effect = self._changes.apply(tx, ChangeEvent(came, chat.id, person_id, at, stranger))
            if effect.hidden:
                incoming, hidden = replace(incoming, text=""), hidden or effect.hidden
            if effect.queued:
                decision = Decision("now", "listen", at, until)
        if twin is not None:
            incoming, hidden = replace(incoming, text="", quote=""), "copy"
        number = _insert(tx, chat.id, at, incoming, person_id, decision, hidden)
        note_print(tx, chat.id, number, new, twin)
        speaks = incoming.kind == "message" and decision.action != "listen" and decision.why not in COMMAND_REASONS
        if person_id is not None and speaks:
            keep_pace(tx, chat.id, person_id, at, paced, before)
        (stored,) = read_events(tx, "WHERE id = ?", number)
        return Accepted(stored, chat, decision, armed=arm_join(tx, chat.id, decision.silence_at))


def _insert(
    tx: Tx, chat_id: int, at: int, incoming: Incoming,
    person_id: int | None = None, decision: Decision | None = None, hidden: str = "",
) -> int:  # fmt: skip
    queued = decision is not None and decision.action != "listen"
    number = tx.insert(
        "event", chat_id=chat_id, at=min(incoming.at or at, at), kind=incoming.kind, person_id=person_id,
        name=incoming.sender.name if incoming.sender else "", text=incoming.text, label=incoming.label,
        delivery_key=_delivery(incoming), external_id=incoming.external_id, forwarded=int(incoming.forwarded),
        state="queued" if queued else "listened", why=decision.why if decision else "",
        due_at=decision.due_at if decision and queued else None, hidden=hidden, target=incoming.target,
        via=incoming.via,
        quote="" if hidden or was_stored(tx, chat_id, incoming.target) else incoming.quote[:QUOTE_CHARS],
    )  # fmt: skip
    for place, each in enumerate(incoming.attachments):
        tx.insert("attachment", event_id=number, position=place, **asdict(each))
    index_lines(tx, (number,))
    return number


def _delivery(incoming: Incoming) -> str | None:
    """Delivery keys are unique within a platform only; None (never repeated) equals nothing."""
    return f"{incoming.place.platform} {incoming.delivery_key}" if incoming.delivery_key else None


def _member(tx: Tx, chat_id: int, person_id: int, incoming: Incoming, at: int) -> None:
    """Whoever does something in a chat belongs to its audience until they leave."""
    if incoming.kind == "event" and incoming.label == "leave":
        tx.run("DELETE FROM member WHERE chat_id = ? AND person_id = ?", chat_id, person_id)
        return
    tx.run(
        "INSERT INTO member (chat_id, person_id, seen_at) VALUES (?, ?, ?) "
        "ON CONFLICT (chat_id, person_id) DO UPDATE SET seen_at = excluded.seen_at",
        chat_id, person_id, at,
    )  # fmt: skip


def stop_turns(tx: Tx, accepted: Accepted, arrival: Arrival, lists: AccessLists) -> Accepted:
    """Carry out a command to stop; any other call of somebody cuts off what is still being said to them.

    Owners end every turn of their chat, others those that answer them. What is due while none runs is being composed.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None:
        return accepted
    if decision.why not in STOP_REASONS:
        said = event.kind == "message" and decision.why not in (*COMMAND_REASONS, *UNCOUNTED_REASONS)
        called = decision.action != "listen"
        cut = cut_replies_to(tx, event.chat_id, event.person_id, at, called=called) if said else ()
        return replace(accepted, superseded=cut) if cut else accepted
    owner = permissions_of(tx, lists, event.chat_id, event.person_id).owner
    running = running_turns(tx, event.chat_id)
    ended = tuple(
        turn for turn in running if owner or turn.why in UNASKED or answers_person(tx, turn.id, event.person_id)
    )
    lines = [line for turn in ended for line in _void(tx, turn, at)]
    unsent = tx.ids(UNSENT_TURNS, event.chat_id)
    unsaid = [turn_id for turn_id in unsent if owner or answers_person(tx, turn_id, event.person_id)]
    for turn_id in unsaid:
        cut_reply(tx, turn_id, 0, at)
    dropped = _drop(tx, event, arrival, everyone=owner and not running)
    others = len(ended) < len(running) or (not running and not dropped and _composing(tx, event.chat_id, at))
    # What is still being said to somebody else is told, unless there was something of one's own to stop.
    goes_on = others or (not (ended or unsaid or dropped) and is_still_replying(tx, event.chat_id))
    if decision.why == "quiet" and accepted.chat.kind == "group":
        dropped += end_conversations(tx, event.chat_id, event.id, STOPPED_OUTCOME, at)
    finish_events(tx, (event.id,), "done", decision.why)
    key = "stop_others" if goes_on else _key(accepted.chat, decision.why)
    script = tx.value("SELECT script FROM person WHERE id = ?", event.person_id)
    text = "\n".join((*lines, arrival.receipt(key, script)))
    announce(tx, event.chat_id, Draft(text, "receipt"), at, "stop")
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), dropped, others))


def _key(chat: Chat, why: str) -> str:
    """In a DM every word calls, so that silence lasts until the next one anyway."""
    return "quieted" if why == "quiet" and chat.kind == "group" else "stopped"


def _void(tx: Tx, turn: Turn, at: int) -> tuple[str, ...]:
    """The turn is over and what it answers with it; its receipts, unless they are on the screen."""
    finish_events(tx, turn.event_ids, "done", STOPPED_OUTCOME)
    return () if void_turn(tx, turn, STOPPED_OUTCOME, at) else turn.receipts


def _drop(tx: Tx, event: Event, arrival: Arrival, *, everyone: bool) -> int:
    """What that person said before and nobody has begun to answer waits no more; how many lines.

    With `everyone` also what others wait for now. Of what asks something of memory only that is done.
    """
    waiting = tx.all(
        "SELECT id, text FROM event WHERE chat_id = ?1 AND state = 'queued' AND id < ?2 AND ((kind = 'message' "
        "AND (person_id = ?3 OR (?4 AND due_at <= ?5)) AND why NOT IN ('command', 'pair', 'closed')) "
        f"OR why IN ('heartbeat', 'join')) AND id NOT IN {IN_RUNNING_TURNS}",
        event.chat_id, event.id, event.person_id, everyone, arrival.situation.at,
    )  # fmt: skip
    gone = tuple(number for number, text in waiting if not arrival.spared(text))
    finish_events(tx, gone, "done", STOPPED_OUTCOME)
    for number, _ in waiting:
        if number not in gone:
            tx.run("UPDATE event SET why = 'stop', due_at = ? WHERE id = ?", arrival.situation.at, number)
    return len(waiting)


def _composing(tx: Tx, chat_id: int, at: int) -> bool:
    """Whether somebody's message is about to be asked."""
    return tx.has(
        "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND kind = 'message' AND due_at <= ? "
        "AND why NOT IN ('command', 'pair', 'closed', 'stop', 'quiet')",
        chat_id, at,
    )  # fmt: skip


def interrupt(tx: Tx, accepted: Accepted, arrival: Arrival) -> Accepted:
    """Void the turn that answers the sender; what it answers is due again, with the new message.

    Not what was interrupted before, nor a turn of which a tool was carried out: nothing is done or paid twice.
    """
    event, decision, at = accepted.event, accepted.decision, arrival.situation.at
    if event is None or event.person_id is None or decision is None or event.kind != "message":
        return accepted
    if decision.action == "listen" or decision.why in COMMAND_REASONS or arrival.situation.is_memory_command:
        return accepted
    ended = tuple(turn for turn in running_turns(tx, event.chat_id) if _may(tx, turn, event.person_id))
    due = _due(tx, event, decision, at + arrival.pause_ms) if ended else at
    for turn in ended:
        void_turn(tx, turn, INTERRUPTED_KEY, at)
        requeue_events(tx, turn.event_ids, due)
        note_effect(tx, f"{INTERRUPTED_KEY}:{min(turn.event_ids)}", at)
    return replace(accepted, halted=Halted(tuple(turn.id for turn in ended), 0)) if ended else accepted


def _due(tx: Tx, event: Event, decision: Decision, at: int) -> int:
    """When both are asked: a follow-up that interrupts waits for no silence, though for the end of a flood.

    `at` is when a call that came now would be asked.
    """
    if decision.why != "window":
        return decision.due_at
    due = max(at, tx.value("SELECT until FROM rush WHERE chat_id = ?", event.chat_id) or 0)
    tx.run("UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", due, event.id)
    return due


def _may(tx: Tx, turn: Turn, person_id: int) -> bool:
    """Whether a message of that person may cut the turn short."""
    if turn.why == HEARTBEAT or not answers_person(tx, turn.id, person_id):
        return False
    before = tx.has(
        f"SELECT 1 FROM turn_event JOIN effect ON effect.key = '{INTERRUPTED_KEY}:' || event_id WHERE turn_id = ?",
        turn.id,
    )
    shown = "SELECT 1 FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''"
    # Receipts are said again with the next answer, so they must not be on the screen.
    told = bool(turn.receipts) and tx.has(shown, turn.id)
    return not (before or told or has_acted(tx, turn.id))
