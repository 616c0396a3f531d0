"""Events and turns that end without an answer: refused, limited, failed, void."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from bot.core.errors import OverBudget, OverLimit
from bot.core.events import Draft, Event
from bot.core.money import AnswerLimits
from bot.core.sessions import Turn, TurnState
from bot.store.engine import Repository
from bot.store.events import SELECT_EVENT, event_of, finish_events
from bot.store.index import index_lines
from bot.store.ledger import charge_call, limit_reached, occasion_begun, release_call, tell_limit_once
from bot.store.outbox import enqueue, withdraw
from bot.store.schema import placeholders
from bot.store.sessions import drop_log
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


class Refusals(Repository):
    """What is refused."""

    async def refuse(
        self, chat_id: int, events: tuple[int, ...], notice: Draft, at: int, outcome: str = "refused"
    ) -> None:
        """No turn for these events: say why, once, and take them off the queue; `outcome` is why in one word."""

        def transaction(db: Tx) -> None:
            finish_events(db, events, "done", outcome)
            enqueue(db, chat_id, notice, at)

        await self._database.write(transaction)

    async def confirm(self, chat_id: int, event_id: int, text: str, at: int) -> None:
        """Receipts of a message whose turn was stopped before it was asked; a turn that was asked says them itself.

        What is still on the queue says them when its turn has come.
        """

        def transaction(db: Tx) -> None:
            asked = "SELECT 1 FROM turn_event WHERE event_id = ?1 UNION SELECT 1 FROM event WHERE id = ?1 AND state = "
            if db.execute(f"{asked}'queued'", (event_id,)).fetchone() is None:
                enqueue(db, chat_id, Draft(text, "receipt"), at)

        await self._database.write(transaction)

    async def limit(
        self, chat_id: int, person_id: int, events: tuple[int, ...], drafts: tuple[Draft | None, Draft | None],
        window: tuple[str, int], at: int,
    ) -> bool:  # fmt: skip
        """No answer for these events now; whether the person was told why.

        The first of `drafts` is said unless the person was told of a limit of that `window` (its name, and when it
        began, ms), else the second; None says nothing. What was said counts over all chats.
        """

        def transaction(db: Tx) -> bool:
            finish_events(db, events, "done", LIMITED)
            notice, rest = drafts
            told = notice is not None and tell_limit_once(db, person_id, *window, at)
            draft = notice if told else rest
            if draft is not None:
                enqueue(db, chat_id, draft, at)
            return told

        return await self._database.write(transaction)

    async def over(self, person_id: int, pace: AnswerLimits, at: int) -> OverLimit | None:
        """The limit that an answer to that person would meet now; none when it was begun before."""
        return await self._database.write(
            lambda db: None if occasion_begun(db, pace) else limit_reached(db, pace, at, person_id)
        )

    async def told_since(self, chat_id: int, person_id: int, since: int) -> bool:
        """Whether that person was told there why nothing is answered, for what they wrote at `since` (ms) or later."""
        row = await self._database.row(
            "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND outcome = 'refused' "
            "AND kind = 'message' AND at >= ? LIMIT 1",
            (chat_id, person_id, since),
        )
        return row is not None

    async def sorry(self, chat_id: int, since: int) -> bool:
        """Whether that chat was told at `since` (ms) or later that no model answers, and none has answered since."""
        row = await self._database.row(
            "SELECT 1 FROM effect WHERE key = ? AND at >= ?", (f"{SORRY_KEY}{chat_id}", since)
        )
        return row is not None

    async def keep(self, chat_id: int, person_id: int, error: OverBudget, at: int) -> None:
        """Keep by how much a limit had no room for an answer to that person there."""
        told = json.dumps((error.limit, error.used, error.held, error.needed))
        await self._database.write(
            lambda db: db.execute(
                "INSERT OR REPLACE INTO effect (key, result, at) VALUES (?, ?, ?)",
                (f"{NO_ROOM_KEY}{chat_id}:{person_id}", told, at),
            )
        )

    async def last(self, chat_id: int, person_id: int, since: int) -> OverBudget | None:
        """What was kept of them last, at `since` (ms) or later."""
        row = await self._database.row(
            "SELECT result FROM effect WHERE key = ? AND at >= ?", (f"{NO_ROOM_KEY}{chat_id}:{person_id}", since)
        )
        return OverBudget(*json.loads(str(row[0]))) if row is not None else None

    async def met(self, chat_id: int, person_id: int, since: int) -> bool:
        """Whether what that person wrote there last, at `since` (ms) or later, met a limit."""
        row = await self._database.row(
            "SELECT outcome IN ('refused', 'silent') FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? "
            "AND outcome IN ('answered', 'failed', 'refused', 'silent') ORDER BY id DESC LIMIT 1",
            (chat_id, person_id, since),
        )
        return row is not None and row[0] == 1


IS_DEAD = "state = 'dead' AND hidden <> 'old'"
"""What was given up, as long as its text is kept."""


@dataclass(frozen=True, slots=True)
class FailedEvents:
    """The events that had one try more, and those of them that get no other."""

    events: tuple[int, ...]
    dead: tuple[int, ...]


class Failures(Repository):
    """What could not be handled."""

    async def failed(
        self, chat_id: int, events: tuple[int, ...], error: str, again: Callable[[int], int | None],
        notice: Draft | None, at: int,
    ) -> FailedEvents:  # fmt: skip
        """Handling these queued events of a chat failed once more.

        Without any it was the first that is due there. `again` tells from the number of tries in how many ms the next
        one is, None for no more; then the chat is told the notice, if there is one.
        """
        return await self._database.write(lambda db: count_failure(db, chat_id, events, error, again, notice, at))

    async def dead(self) -> dict[str, int]:
        """How many events were given up, by the name of the error."""
        rows = await self._database.rows(f"SELECT error, count(*) FROM event WHERE {IS_DEAD} GROUP BY error")
        return {str(row[0]): int(row[1]) for row in rows}

    async def events(self, numbers: tuple[int, ...]) -> tuple[Event, ...]:
        """Those events, in order."""
        rows = await self._database.rows(f"{SELECT_EVENT}WHERE id IN ({placeholders(numbers)}) ORDER BY id", numbers)
        return tuple(event_of(row) for row in rows)

    async def acted(self, turn_id: int) -> bool:
        """Whether a tool did something in that turn: what is asked anew would do it twice."""
        row = await self._database.row(
            "SELECT 1 FROM effect WHERE key >= ?1 AND key < ?1 || 'x'", (f"turn:{turn_id}:",)
        )
        return row is not None


def count_failure(
    db: Tx, chat_id: int, events: tuple[int, ...], error: str, again: Callable[[int], int | None],
    notice: Draft | None, at: int,
) -> FailedEvents:  # fmt: skip
    """One transaction: one try more for each; see Failing.failed."""
    which, values = f"id IN ({placeholders(events)}) AND state = 'queued'", events
    if not events:
        which = (
            "id = (SELECT min(id) FROM event INDEXED BY event_queue WHERE chat_id = ? AND state = 'queued' "
            "AND due_at <= ?)"
        )
        values = (chat_id, at)
    counted, dead = list[int](), list[int]()
    for number, tries in db.execute(f"SELECT id, tries + 1 FROM event WHERE {which} ORDER BY id", values).fetchall():
        wait = again(tries)
        counted.append(number)
        due, state, outcome = (None, "dead", "failed") if wait is None else (at + wait, "queued", "")
        db.execute(
            "UPDATE event SET tries = ?, error = ?, due_at = ?, state = ?, outcome = ? WHERE id = ?",
            (tries, error, due, state, outcome, number),
        )
        if wait is None:
            dead.append(number)
    if dead and notice is not None:
        enqueue(db, chat_id, notice, at)
    return FailedEvents(tuple(counted), tuple(dead))


ANSWERS_OFF_RECORD = (
    "(SELECT coalesce(max(told.off_record), 0) FROM turn_event JOIN event AS told ON told.id = turn_event.event_id "
    "WHERE turn_event.turn_id = ?)"
)
"""Whether a turn answers such a line: its reply is one as well."""


def fail_turn(
    db: Tx, turn: Turn, error: str, notice: Draft | None, call: tuple[int, str] | None, at: int,
    sorry: bool = False,
) -> None:  # fmt: skip
    """One transaction: the turn is void; what it logged is taken out again, from the end of the log only.

    `sorry`: the notice tells that no model answers, which is kept with the time.


    A follow-up of which nobody is told goes back: the next call of the chat answers it, too.
    """
    if call is not None:
        (charge_call if call[1] == "charge" else release_call)(db, call[0], at)
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
    over = error.startswith(OVER_BUDGET)
    if turn.why == "window" and notice is None:
        put_follow_ups_back(db, turn.event_ids, "silent" if over else "failed", at)
    else:
        finish_events(db, turn.event_ids, "done", "refused" if over else "failed")
    if notice is None:
        withdraw(db, turn.id, at)
    else:
        enqueue(db, turn.chat_id, notice, at, turn_id=turn.id)
    if notice is not None and sorry:
        db.execute(
            "INSERT OR REPLACE INTO effect (key, result, at) VALUES (?, 'done', ?)", (f"{SORRY_KEY}{turn.chat_id}", at)
        )


def void_turn(db: Tx, turn: Turn, error: str, at: int) -> bool:
    """Within a transaction: a turn under way is void: a call in flight costs what was reserved, nothing stays logged.

    Whether something of it is on the screen, which stays there; then the next delta tells it.
    """
    for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn.id,)).fetchall():
        charge_call(db, call_id, at)
    shown = _keep_shown(db, turn, at)
    fail_turn(db, turn, error, None, None, at)
    db.execute("UPDATE turn SET state = 'void' WHERE id = ?", (turn.id,))
    return shown


def _keep_shown(db: Tx, turn: Turn, at: int) -> bool:
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
    line = cast("int", db.execute(sql, (turn.chat_id, at, text, CUT_LABEL, turn.id, turn.id)).lastrowid)
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


def end_turn(db: Tx, turn_id: int, state: TurnState) -> bool:
    """Within a transaction: a turn ends once; its receipts are in the reply or the notice from now on. True for the
    first time.
    """
    ended = db.execute(
        "UPDATE turn SET state = ?, receipts = '[]' WHERE id = ? AND state IN ('asked', 'answered')", (state, turn_id)
    )
    return ended.rowcount == 1


def drop_forgotten(db: Tx, epoch_id: int) -> None:
    """Within a transaction: what was forgotten while a turn ran on its log is deleted as soon as nothing runs on it."""
    if db.execute("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", (epoch_id,)).fetchone():
        drop_log(db, epoch_id)
