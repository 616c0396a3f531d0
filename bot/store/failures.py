"""Events and turns that end without an answer: refused, limited, failed, void."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from bot.core.errors import OverBudget, OverLimit
from bot.core.events import Draft, Event
from bot.core.sessions import Turn, TurnState
from bot.core.speaking import AnswerLimits
from bot.store.engine import Repository, reads, writes
from bot.store.events import add_line, finish_events, note_effect, read_events
from bot.store.index import index_lines
from bot.store.ledger import (
    charge_call,
    charge_reserved,
    limit_reached,
    occasion_begun,
    release_call,
    tell_limit_once,
)
from bot.store.outbox import enqueue, mark_sent, withdraw
from bot.store.schema import placeholders
from bot.store.sessions import drop_entries, drop_log
from bot.store.sqlite import EVENT_QUEUE
from bot.store.transactions import Tx
from bot.store.windows import CUT_LABEL, put_follow_ups_back

OVER_BUDGET = "over_budget"
"""How the error of a turn begins that a limit ended; its events are refused, not failed."""

LIMITED = "limited"
"""What becomes of events that came too often."""

SORRY_KEY = "sorry:"
"""How the key of the effect begins that keeps when a chat was told that no model answers, until one does."""

NO_ROOM_KEY = "no_room:"
"""How the key of the effect begins that keeps what a person's last refused answer lacked, by chat and person."""

IS_DEAD = "state = 'dead' AND hidden <> 'old'"
"""What was given up, as long as its text is kept."""


@dataclass(frozen=True, slots=True)
class FailedEvents:
    """The events that had one try more, and those of them that get no other."""

    events: tuple[int, ...]
    dead: tuple[int, ...]


class Failures(Repository):
    """What gets no answer, and who was told why."""

    @writes
    def refuse(self, tx: Tx, chat_id: int, events: tuple[int, ...], notice: Draft, at: int) -> None:
        """No turn for these events: say why, once, and take them off the queue."""
        finish_events(tx, events, "done", "refused")
        enqueue(tx, chat_id, notice, at)

    @writes
    def confirm(self, tx: Tx, chat_id: int, event_id: int, text: str, at: int) -> None:
        """Receipts of a message whose turn was stopped before it was asked; a turn that was asked says them itself.

        What is still on the queue says them when its turn has come.
        """
        asked = (
            "SELECT 1 FROM turn_event WHERE event_id = ?1 UNION SELECT 1 FROM event WHERE id = ?1 AND state = 'queued'"
        )
        if not tx.has(asked, event_id):
            enqueue(tx, chat_id, Draft(text, "receipt"), at)

    @writes
    def limit(
        self, tx: Tx, chat_id: int, person_id: int, events: tuple[int, ...],
        drafts: tuple[Draft | None, Draft | None], window: tuple[str, int], at: int,
    ) -> bool:  # fmt: skip
        """No answer for these events now; whether the person was told why.

        The first of `drafts` is said unless the person was told of a limit of that `window` (its name, and when it
        began, ms), else the second; None says nothing. What was said counts over all chats.
        """
        finish_events(tx, events, "done", LIMITED)
        notice, rest = drafts
        told = notice is not None and tell_limit_once(tx, person_id, *window, at)
        draft = notice if told else rest
        if draft is not None:
            enqueue(tx, chat_id, draft, at)
        return told

    @reads
    def reached_limit(self, tx: Tx, person_id: int, pace: AnswerLimits, at: int) -> OverLimit | None:
        """The limit that an answer to that person would meet now; none when it was begun before."""
        return None if occasion_begun(tx, pace) else limit_reached(tx, pace, at, person_id)

    @reads
    def told_since(self, tx: Tx, chat_id: int, person_id: int, since: int) -> bool:
        """Whether that person was told there why nothing is answered, for what they wrote at `since` (ms) or later."""
        return tx.has(
            "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND outcome = 'refused' "
            "AND kind = 'message' AND at >= ? LIMIT 1",
            chat_id, person_id, since,
        )  # fmt: skip

    @reads
    def sorry(self, tx: Tx, chat_id: int, since: int) -> bool:
        """Whether that chat was told at `since` (ms) or later that no model answers, and none has answered since."""
        return tx.has("SELECT 1 FROM effect WHERE key = ? AND at >= ?", f"{SORRY_KEY}{chat_id}", since)

    @writes
    def keep_shortage(self, tx: Tx, chat_id: int, person_id: int, error: OverBudget, at: int) -> None:
        """Keep by how much a limit had no room for an answer to that person there."""
        told = json.dumps((error.limit, error.used, error.held, error.needed, error.most))
        note_effect(tx, f"{NO_ROOM_KEY}{chat_id}:{person_id}", at, told)

    @reads
    def last_shortage(self, tx: Tx, chat_id: int, person_id: int, since: int) -> OverBudget | None:
        """What was kept of them last, at `since` (ms) or later."""
        key = f"{NO_ROOM_KEY}{chat_id}:{person_id}"
        told: str | None = tx.value("SELECT result FROM effect WHERE key = ? AND at >= ?", key, since)
        return None if told is None else OverBudget(*json.loads(told))

    @reads
    def met_limit(self, tx: Tx, chat_id: int, person_id: int, since: int) -> bool:
        """Whether what that person wrote there last, at `since` (ms) or later, met a limit."""
        return tx.value(
            "SELECT outcome FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? "
            "AND outcome IN ('answered', 'failed', 'refused', 'silent') ORDER BY id DESC LIMIT 1",
            chat_id, person_id, since,
        ) in ("refused", "silent")  # fmt: skip

    @writes
    def failed(
        self, tx: Tx, chat_id: int, events: tuple[int, ...], error: str, again: Callable[[int], int | None],
        notice: Draft | None, at: int,
    ) -> FailedEvents:  # fmt: skip
        """Handling these queued events of a chat failed once more.

        Without any it was the first that is due there. `again` tells from the number of tries in how many ms the next
        one is, None for no more; then the chat is told the notice, if there is one.
        """
        which, values = f"id IN ({placeholders(events)}) AND state = 'queued'", events
        if not events:
            which = f"id = (SELECT min(id) FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' AND due_at <= ?)"
            values = (chat_id, at)
        counted, dead = list[int](), list[int]()
        for number, tries in tx.all(f"SELECT id, tries + 1 FROM event WHERE {which} ORDER BY id", *values):
            wait = again(tries)
            counted.append(number)
            due, state, outcome = (None, "dead", "failed") if wait is None else (at + wait, "queued", "")
            tx.run(
                "UPDATE event SET tries = ?, error = ?, due_at = ?, state = ?, outcome = ? WHERE id = ?",
                tries, error, due, state, outcome, number,
            )  # fmt: skip
            if wait is None:
                dead.append(number)
        if dead and notice is not None:
            enqueue(tx, chat_id, notice, at)
        return FailedEvents(tuple(counted), tuple(dead))

    @reads
    def dead(self, tx: Tx) -> dict[str, int]:
        """How many events were given up, by the name of the error."""
        return dict(tx.all(f"SELECT error, count(*) FROM event WHERE {IS_DEAD} GROUP BY error"))

    @reads
    def events(self, tx: Tx, numbers: tuple[int, ...]) -> tuple[Event, ...]:
        """Those events, in order."""
        return read_events(tx, f"WHERE id IN ({placeholders(numbers)}) ORDER BY id", *numbers)

    @reads
    def acted(self, tx: Tx, turn_id: int) -> bool:
        """Whether a tool did something in that turn: what is asked anew would do it twice."""
        return has_acted(tx, turn_id)


def has_acted(tx: Tx, turn_id: int) -> bool:
    """Whether a tool did something in that turn."""
    return tx.has("SELECT 1 FROM effect WHERE key >= ?1 AND key < ?1 || 'x'", f"turn:{turn_id}:")


def say_line(tx: Tx, turn: Turn, text: str, at: int, label: str = "") -> int:
    """The line of nuan's that a turn said, or that is left of it; off the record when it answers such a line."""
    off_record = tx.value(
        "SELECT coalesce(max(off_record), 0) FROM turn_event JOIN event ON event.id = event_id "
        "WHERE turn_event.turn_id = ?",
        turn.id,
    )
    line = add_line(tx, turn.chat_id, text, at, label, turn_id=turn.id, off_record=off_record)
    index_lines(tx, (line,))
    return line


def fail_turn(
    tx: Tx, turn: Turn, error: str, notice: Draft | None, call: tuple[int, str] | None, at: int, *, sorry: bool = False
) -> None:
    """Void a turn: its log entries go, its events end as failed and join the next delta; tell the person.

    Without a notice a follow-up goes back: the next call of the chat answers it, too.

    `call` is the call in flight and what becomes of its reservation: charge or release. `sorry`: the notice tells that
    no model answers, which is kept with the time.
    """
    if call is not None:
        (charge_call if call[1] == "charge" else release_call)(tx, call[0], at)
    if not end_turn(tx, turn.id, "failed"):
        return
    drop_entries(tx, "turn_id", turn.id)
    tx.run(
        "UPDATE epoch SET logged_upto = (SELECT logged_before FROM turn WHERE id = ?1), prompt_tokens = 0, "
        "prompt_entries = 0 WHERE id = ?2",
        turn.id, turn.epoch_id,
    )  # fmt: skip
    tx.run("UPDATE turn SET error = ? WHERE id = ?", error, turn.id)
    drop_forgotten(tx, turn.epoch_id)
    over = error.startswith(OVER_BUDGET)
    if turn.why == "window" and notice is None:
        put_follow_ups_back(tx, turn.event_ids, "silent" if over else "failed", at)
    else:
        finish_events(tx, turn.event_ids, "done", "refused" if over else "failed")
    if notice is None:
        withdraw(tx, turn.id, at)
        return
    enqueue(tx, turn.chat_id, notice, at, turn_id=turn.id)
    if sorry:
        note_effect(tx, f"{SORRY_KEY}{turn.chat_id}", at)


def void_turn(tx: Tx, turn: Turn, error: str, at: int) -> bool:
    """A turn under way is void: a call in flight costs what was reserved, nothing stays logged.

    Whether something of it is on the screen, which stays there; then the next delta tells it.
    """
    charge_reserved(tx, turn.id, at)
    shown = _keep_shown(tx, turn, at)
    fail_turn(tx, turn, error, None, None, at)
    tx.run("UPDATE turn SET state = 'void' WHERE id = ?", turn.id)
    return shown


def _keep_shown(tx: Tx, turn: Turn, at: int) -> bool:
    """What is on the screen stays there as it is, and the next delta tells it; whether something is."""
    row = tx.one(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''", turn.id
    )
    if row is None:
        return False
    number, shown, text = row
    line = say_line(tx, turn, text, at, CUT_LABEL)
    ids = (shown,) if shown else ()
    tx.run(
        "UPDATE outbox SET state = ?, kind = 'reply', text = '', event_id = ?, sent_at = ?, external_ids = ? "
        "WHERE id = ?",
        "sent" if shown else "cancelled", line, at, json.dumps(ids), number,
    )  # fmt: skip
    mark_sent(tx, turn.chat_id, turn.id, ids)
    return True


def end_turn(tx: Tx, turn_id: int, state: TurnState) -> bool:
    """A turn ends once; its receipts are in the reply or the notice from now on. True for the first time."""
    running = "state IN ('asked', 'answered')"
    return tx.run(f"UPDATE turn SET state = ?, receipts = '[]' WHERE id = ? AND {running}", state, turn_id) == 1


def drop_forgotten(tx: Tx, epoch_id: int) -> None:
    """What was forgotten while a turn ran on its log is deleted as soon as nothing runs on it."""
    if tx.has("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", epoch_id):
        drop_log(tx, epoch_id)
