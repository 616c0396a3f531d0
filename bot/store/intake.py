"""Taking an event in: stored with the decision about it, and with what it does to older events and to turns."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from bot.core.events import Draft, Event, Incoming
from bot.core.memories import Signal, SpokenPromise
from bot.core.people import Chat
from bot.core.sessions import Turn
from bot.core.speaking import HEARTBEAT, STOP_REASONS, UNASKED, Decision, PacedDecision, PendingMessages, Situation
from bot.store.access import find_chat, find_person, permissions_of, stored_part, with_permissions
from bot.store.changes import Change, ChangeEffect, apply_change
from bot.store.commitments import note_promises
from bot.store.duplicates import bots_are_quiet, find_copy, note_print, print_of, retargeted
from bot.store.engine import Database, Repository
from bot.store.events import COMMAND_REASONS, finish_events, note_effect, read_events
from bot.store.forget import announced_before
from bot.store.index import index_lines
from bot.store.outbox import announce
from bot.store.removal import TOLD_THEN
from bot.store.told import remark
from bot.store.transactions import Tx
from bot.store.turns import has_acted, running_turns, void_turn
from bot.store.windows import (
    FOR_MODEL,
    IN_RUNNING_TURNS,
    INTERRUPTED_KEY,
    PACED_TURNS,
    UNSENT_TURNS,
    answers_person,
    arm_join,
    composed_messages,
    cut_replies_to,
    cut_reply,
    end_conversations,
    keep_pace,
    pending_messages,
    requeue_events,
)

STOPPED_OUTCOME = "stopped"
"""The outcome of what is not answered, the error of the turn, the label of the line that says so."""

UNCOUNTED_REASONS = ("copy", "stranger", "old")
"""Why nuan listens to what does not count as said in the chat just now."""


PLATFORM_FACTS = ("delete", "migrate", "gone", "back")
"""What counts whoever did it."""

MOST_HEARD = 1_024
"""Chats that are known by their place; beyond that they are found anew."""


QUOTE_CHARS = 200
"""What is kept of a message that was never stored itself, where another one replies to it."""


@dataclass(frozen=True, slots=True)
class Halted:
    """What a command to stop, or a message that interrupts, ended: turns under way, and `dropped` waiting lines.

    `others`: what is going on in the chat belongs to somebody else, and goes on.
    """

    turns: tuple[int, ...]
    dropped: int
    others: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of an incoming event; `event` is None for a copy of one that was there before.

    `superseded` are the turns whose replies were still being said to its sender, and end with it. `armed`: there is a
    deadline now that is nearer than the one there was.
    """

    event: Event | None
    chat: Chat
    decision: Decision | None
    halted: Halted | None = None
    superseded: tuple[int, ...] = ()
    armed: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """What intake knows of an event before it is stored: the situation (window and switch still unknown).

    `script` gives what its sender usually writes in, from what that was ("" when unknown) and the lines before it, the
    newest first. For a command to stop: `receipt` is a sentence by its key in a script, and `spared` tells the waiting
    texts that are done though nothing is answered any more. `pace` sets a decision's deadline by what waits in the
    chat; a turn that answers its sender and was asked less than `interrupts_ms` ago (None: at any time) is cut short, and
    both are asked `pause_ms` later, ms.
    `remarks` are what it lets on about the last reply, `promising` (None: nothing) what its writer promises, given the
    name of their zone ("": none). `called` is their name by the script they usually write in, where they told none.
    """

    incoming: Incoming
    situation: Situation
    script: Callable[[str, tuple[str, ...]], str]
    hidden: str = ""
    receipt: Callable[[str, str], str] = lambda key, script: key
    spared: Callable[[str], bool] = lambda text: False
    pace: Callable[[Decision, PendingMessages], PacedDecision] = lambda decision, waiting: PacedDecision(decision)
    interrupts_ms: int | None = 0
    pause_ms: int = 0
    remarks: tuple[Signal, ...] = ()
    promising: Callable[[str], tuple[SpokenPromise, ...]] | None = None
    called: Callable[[str], str] | None = None


class Intake(Repository):
    """What comes in: messages, and edits and deletions of what came before."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._heard: dict[tuple[str, str], int] = {}
        """The chats of places where something was heard, by platform and id; where one moved, the commit finds out."""

    async def accept(self, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        """Commit an event together with the decision about it; a second copy changes nothing."""
        incoming = arrival.incoming
        place = incoming.place.platform, incoming.place.external_id
        chat = self._heard.get(place) if incoming.kind == "message" else None
        accepted = await self._database.write(lambda tx: self._take_in(tx, arrival, decide), chat=chat)
        if len(self._heard) == MOST_HEARD:
            self._heard.clear()
        self._heard[place] = accepted.chat.id
        return accepted

    async def accept_deletion(self, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        """As `accept`, for a message that was deleted: a hundred of them at once hold no message up."""
        return await self._database.write(lambda tx: self._take_in(tx, arrival, decide), beside=True)

    def _take_in(self, tx: Tx, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        accepted, said = self._accept(tx, arrival, decide)
        event, decision, at = accepted.event, accepted.decision, arrival.situation.at
        if event is None or event.person_id is None or decision is None:
            return accepted
        if arrival.remarks:
            remark(tx, event.chat_id, event.person_id, arrival.remarks, at)
        if said is not None and arrival.promising is not None:
            made = arrival.promising(tx.value("SELECT timezone FROM person WHERE id = ?", event.person_id))
            promised = note_promises(tx, said, event, accepted.chat.kind, made, at)
            accepted = replace(accepted, armed=accepted.armed or promised)
        if decision.why in STOP_REASONS:
            return replace(accepted, halted=self._stop(tx, accepted, event, event.person_id, decision.why, arrival))
        if event.kind == "message" and decision.why not in (*COMMAND_REASONS, *UNCOUNTED_REASONS):
            called = decision.action != "listen"
            cut = cut_replies_to(tx, event.chat_id, event.person_id, at, called=called)
            accepted = replace(accepted, superseded=cut)
        if arrival.interrupts_ms != 0:
            accepted = replace(accepted, halted=_interrupt(tx, event, event.person_id, decision, arrival))
        return accepted

    def _accept(self, tx: Tx, arrival: Arrival, decide: Callable[[Situation], Decision]) -> tuple[Accepted, int | None]:
        """Store one event with its decision; of what strangers send, and of a copy, only that it came.

        Also the message that people can read in these words now.
        """
        incoming, at = arrival.incoming, arrival.situation.at
        chat = find_chat(tx, incoming.place, at)
        tx.check_chat(chat.id)
        if tx.has("SELECT 1 FROM event WHERE delivery_key = ?", _delivery(incoming)):
            return Accepted(None, chat, None), None
        incoming = came = retargeted(tx, chat.id, incoming)
        sender, person_id = incoming.sender, None
        if sender is not None:
            person_id, name = find_person(tx, sender, chat.id, arrival.script, at, arrival.called)
            incoming = came = replace(incoming, sender=replace(sender, name=name))
        situation = with_permissions(tx, chat.id, person_id, arrival.situation)
        gone, until = tx.row(
            "SELECT gone, coalesce((SELECT until FROM conversation_window WHERE chat_id = chat.id AND person_id = ?), 0) "
            "FROM chat WHERE id = ?",
            person_id,
            chat.id,
        )
        bots_quiet = situation.from_bot and situation.mentions_bot and bots_are_quiet(tx, chat.id, at)
        seen = replace(situation, enabled=chat.enabled, window_until=until, muted=gone > at, bots_quiet=bots_quiet)
        decision = decide(replace(seen, mode=chat.mode))
        new = print_of(incoming, person_id, at)
        twin = find_copy(tx, chat.id, new)
        before = pending_messages(tx, chat.id, person_id, at)
        if person_id is not None:
            _member(tx, chat.id, person_id, incoming, at)
        paced = arrival.pace(decision, before) if twin is None else PacedDecision(Decision("listen", "copy", 0, until))
        decision = paced.decision
        incoming, stranger = stored_part(incoming, situation, decision.why)
        if incoming.scene is not None and incoming.scene != chat.scene and not stranger:
            tx.run("UPDATE chat SET scene = ? WHERE id = ?", incoming.scene, chat.id)
            _insert(tx, chat.id, at, Incoming(incoming.place, None, "event", incoming.scene, "scene"))
        # What was asked to be kept is told and forgotten like any line; another command is nobody's talk.
        commands = decision.why == "command" and not situation.is_memory_command
        hidden = "stranger" if stranger else "command" if commands else arrival.hidden
        effect = ChangeEffect()
        if incoming.kind == "message":
            if 0 < gone <= at:
                tx.run("UPDATE chat SET gone = 0 WHERE id = ?", chat.id)
        elif not stranger or came.label in PLATFORM_FACTS:
            effect = apply_change(tx, Change(came, chat.id, person_id, at))
            if not effect.told:
                incoming, hidden = replace(incoming, text=""), hidden or "change"
            if effect.queued:
                decision = Decision("now", "listen", at, until)
        if twin is not None:
            incoming, hidden = replace(incoming, text="", quote=""), "copy"
        told = incoming.kind == "message" and not hidden and not situation.is_memory_command
        announced = announced_before(tx, chat.id, person_id, at) if told and person_id is not None else 0
        unkept = TOLD_THEN if announced else 0
        if came.label == "edit":
            unkept = _unkept(tx, chat.id, came)
        number = _insert(tx, chat.id, at, incoming, person_id, decision, hidden, unkept)
        if announced:
            tx.link("aside", announced, (number,))
        note_print(tx, chat.id, number, new, twin)
        is_message = incoming.kind == "message"
        if person_id is not None and is_message and decision.action != "listen" and decision.why not in COMMAND_REASONS:
            keep_pace(tx, chat.id, person_id, at, paced, before)
        (stored,) = read_events(tx, "WHERE id = ?", number, marked=bool(incoming.attachments))
        accepted = Accepted(stored, chat, decision, armed=arm_join(tx, chat.id, decision.silence_at))
        return accepted, number if is_message and not (hidden or announced) else effect.reread

    def _stop(self, tx: Tx, accepted: Accepted, event: Event, person_id: int, why: str, arrival: Arrival) -> Halted:
        """Carry out a command to stop.

        Owners end every turn of their chat, others those that answer them. What is due while none runs is being
        composed.
        """
        at = arrival.situation.at
        owner = permissions_of(tx, event.chat_id, person_id).owner
        running = running_turns(tx, event.chat_id)
        ended = [turn for turn in running if owner or turn.why in UNASKED or answers_person(tx, turn.id, person_id)]
        lines: list[str] = []
        for turn in ended:
            finish_events(tx, turn.event_ids, STOPPED_OUTCOME)
            if not void_turn(tx, turn, STOPPED_OUTCOME, at):  # receipts that are not on the screen
                lines += turn.receipts
        unsent = tx.ids(UNSENT_TURNS, event.chat_id)
        unsaid = [turn_id for turn_id in unsent if owner or answers_person(tx, turn_id, person_id)]
        for turn_id in unsaid:
            cut_reply(tx, turn_id, 0, at)
        dropped = _drop(tx, event, arrival, everyone=owner and not running)
        others = len(ended) < len(running) or (not running and not dropped and _composing(tx, event.chat_id, at))
        # What is still being said to somebody else is told, unless there was something of one's own to stop.
        goes_on = others or (not (ended or unsaid or dropped) and tx.has(PACED_TURNS, event.chat_id))
        # In a DM every word calls, so that silence lasts until the next one anyway.
        quiet = why == "quiet" and accepted.chat.kind == "group"
        if quiet:
            dropped += end_conversations(tx, event.chat_id, event.id, STOPPED_OUTCOME, at)
        finish_events(tx, (event.id,), why)
        key = "stop_others" if goes_on else "quieted" if quiet else "stopped"
        script = tx.value("SELECT script FROM person WHERE id = ?", person_id)
        text = "\n".join((*lines, arrival.receipt(key, script)))
        announce(tx, event.chat_id, Draft(text, "receipt"), at, "stop")
        return Halted(tuple(turn.id for turn in ended), dropped, others)


def _insert(
    tx: Tx,
    chat_id: int,
    at: int,
    incoming: Incoming,
    person_id: int | None = None,
    decision: Decision | None = None,
    hidden: str = "",
    off_record: int = 0,
) -> int:
    queued = decision is not None and decision.action != "listen"
    number = tx.insert(
        "event",
        chat_id=chat_id,
        at=min(incoming.at or at, at),
        kind=incoming.kind,
        person_id=person_id,
        name=incoming.sender.name if incoming.sender else "",
        account=incoming.sender.external_id if incoming.sender else "",
        text=incoming.text,
        label=incoming.label,
        delivery_key=_delivery(incoming),
        external_id=incoming.external_id,
        forwarded=int(incoming.forwarded),
        state="queued" if queued else "listened",
        why=decision.why if decision else "",
        due_at=decision.due_at if decision and queued else None,
        hidden=hidden,
        target=incoming.target,
        via=incoming.via,
        off_record=off_record,
        quote="" if hidden or _was_stored(tx, chat_id, incoming.target) else incoming.quote[:QUOTE_CHARS],
    )
    for place, each in enumerate(incoming.attachments):
        tx.insert("attachment", event_id=number, position=place, **asdict(each))
    index_lines(tx, (number,))
    return number


def _unkept(tx: Tx, chat_id: int, edit: Incoming) -> int:
    """How the message that an edit is of is kept nowhere; 0: it is kept."""
    sql = (
        "SELECT max(off_record) FROM event WHERE chat_id = ? AND external_id = ? AND external_id <> '' "
        "AND kind = 'message'"
    )
    return tx.number(sql, chat_id, edit.target)


def _delivery(incoming: Incoming) -> str | None:
    """Delivery keys are unique within a platform only; None (never repeated) equals nothing."""
    return f"{incoming.place.platform} {incoming.delivery_key}" if incoming.delivery_key else None


def _member(tx: Tx, chat_id: int, person_id: int, incoming: Incoming, at: int) -> None:
    """Whoever does something in a chat belongs to its audience until they leave."""
    if incoming.kind == "event" and incoming.label == "leave":
        tx.run("DELETE FROM member WHERE chat_id = ? AND person_id = ?", chat_id, person_id)
        return
    tx.put("member", "chat_id, person_id", chat_id=chat_id, person_id=person_id, seen_at=at)


def _drop(tx: Tx, event: Event, arrival: Arrival, *, everyone: bool) -> int:
    """What that person said before and nobody has begun to answer waits no more; how many lines.

    With `everyone` also what others wait for now. Of what asks something of memory only that is done.
    """
    sql = (
        "SELECT id, text FROM event WHERE chat_id = ? AND state = 'queued' AND id < ? AND ((kind = 'message' "
        "AND (person_id = ? OR (? AND due_at <= ?)) AND why NOT IN ('command', 'pair', 'closed')) "
        f"OR why IN ('heartbeat', 'join')) AND id NOT IN {IN_RUNNING_TURNS}"
    )
    waiting = tx.all(sql, event.chat_id, event.id, event.person_id, everyone, arrival.situation.at)
    gone = tuple(number for number, text in waiting if not arrival.spared(text))
    finish_events(tx, gone, STOPPED_OUTCOME)
    for number, _ in waiting:
        if number not in gone:
            tx.run("UPDATE event SET why = 'stop', due_at = ? WHERE id = ?", arrival.situation.at, number)
    return len(waiting)


def _composing(tx: Tx, chat_id: int, at: int) -> bool:
    """Whether somebody's message is about to be asked."""
    return tx.has(
        f"SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND due_at <= ? AND {FOR_MODEL}", chat_id, at
    )


def _interrupt(tx: Tx, event: Event, person_id: int, decision: Decision, arrival: Arrival) -> Halted | None:
    """Void the turns that answer the sender; what they answer is due again, with the new message. None: there is none.

    What was shown of their replies is taken away. What a turn is being composed for is due with the new message, too, so
    that this turn is not asked. Not what was interrupted before, nor a turn of which a tool was carried out: nothing is
    done or paid twice.
    """
    at = arrival.situation.at
    if event.kind != "message" or decision.action == "listen" or decision.why in COMMAND_REASONS:
        return None
    if arrival.situation.is_memory_command:
        return None
    oldest = 0 if arrival.interrupts_ms is None else at - arrival.interrupts_ms
    running = running_turns(tx, event.chat_id)
    ended = tuple(turn for turn in running if turn.asked_at > oldest and _may_interrupt(tx, turn, person_id))
    composed = () if running else composed_messages(tx, event.chat_id, person_id, oldest, at, event.id)
    if not (ended or composed):
        return None
    due = decision.due_at
    if decision.why == "window":  # a follow-up that interrupts waits for no silence, though for the end of a flood
        due = max(at + arrival.pause_ms, tx.number("SELECT until FROM rush WHERE chat_id = ?", event.chat_id))
        tx.run("UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", due, event.id)
    for turn in ended:
        void_turn(tx, turn, INTERRUPTED_KEY, at, withdrawn=True)
        requeue_events(tx, turn.event_ids, due)
        note_effect(tx, f"{INTERRUPTED_KEY}:{min(turn.event_ids)}", at)
    for number in composed:
        tx.run("UPDATE event SET due_at = ? WHERE id = ?", due, number)
        note_effect(tx, f"{INTERRUPTED_KEY}:{number}", at)
    # What is composed goes on to its end unless any turn may be cut: a picture is not looked at twice.
    return Halted(tuple(turn.id for turn in ended), 0) if ended or arrival.interrupts_ms is None else None


def _may_interrupt(tx: Tx, turn: Turn, person_id: int) -> bool:
    """Whether a message of that person may cut the turn short."""
    if turn.why == HEARTBEAT or not answers_person(tx, turn.id, person_id):
        return False
    sql = f"SELECT 1 FROM turn_event JOIN effect ON effect.key = '{INTERRUPTED_KEY}:' || event_id WHERE turn_id = ?"
    before = tx.has(sql, turn.id)
    shown = "SELECT 1 FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''"
    # Receipts are said again with the next answer, so they must not be on the screen.
    told = bool(turn.receipts) and tx.has(shown, turn.id)
    return not (before or told or has_acted(tx, turn.id))


def _was_stored(tx: Tx, chat_id: int, target: str) -> bool:
    """Whether the message of that id was stored once: then its own row says what may be told of it."""
    if not target:
        return False
    said = "SELECT 1 FROM event WHERE chat_id = ? AND external_id = ?"
    sent = "SELECT 1 FROM sent WHERE chat_id = ? AND external_id = ?"
    return tx.has(said, chat_id, target) or tx.has(sent, chat_id, target)
