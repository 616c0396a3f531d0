"""The outbox: what is to be sent, in order for each chat, with its states; and who is sent a trace of every turn."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core.errors import StoreError
from bot.core.events import Button, Draft, NextPart, Outgoing
from bot.core.parts import SHOWN_FIRST, Reaction, Voice, file_of, read_part, stored_part
from bot.store.engine import IS_LEFT, Repository, reading, reads, writes, writes_chat, writing_chat
from bot.store.events import add_line, finish_events
from bot.store.ledger import Settlement, settle_call, tell_limit_once
from bot.store.schema import OVER_THERE, WAITING_THERE, placeholders
from bot.store.transactions import Tx
from bot.store.windows import cut_all_replies

FURTHER = """(outbox.via <> '' AND EXISTS (SELECT 1 FROM outbox AS first WHERE first.via <> '' AND first.via = outbox.via
    AND first.id < outbox.id AND first.state NOT IN ('failed', 'cancelled')))"""
"""Whether an earlier row answers the same interaction."""

SELECT_OUTGOING = f"""SELECT outbox.id, outbox.chat_id, place.platform, place.external_id, outbox.text, outbox.kind,
    preview_id, via, only_for, buttons, attempts > 0, tried_at, payload, {FURTHER} FROM outbox {WAITING_THERE}
    JOIN place ON place.chat_id = outbox.chat_id AND place.current = 1 """


LIMITED = "limited"
"""What becomes of events that came too often."""

GONE_UNTIL_HEARD = 1
"""A chat that cannot be written to until something is heard there; a larger number is the time, ms, until which not."""


def enqueue(
    tx: Tx,
    chat_id: int,
    draft: Draft,
    at: int,
    *,
    part: int = 0,
    turn_id: int | None = None,
    event_id: int | None = None,
) -> int:
    """One row to be sent; the first part of a turn ends its preview, if it is text and there is one."""
    buttons = json.dumps([[button.label, button.text, button.account] for button in draft.buttons], ensure_ascii=False)
    shown = "SELECT id FROM outbox WHERE turn_id = ? AND state = 'preview'"
    preview: int | None = None if turn_id is None or part or draft.part else tx.value(shown, turn_id)
    if preview is None:
        return tx.insert(
            "outbox",
            chat_id=chat_id,
            turn_id=turn_id,
            event_id=event_id,
            part=part,
            kind=draft.kind,
            text=draft.text,
            state="pending",
            due_at=at,
            via=draft.via,
            only_for=draft.only_for,
            buttons=buttons,
            wait_ms=draft.wait_ms,
            typed_ms=draft.typed_ms,
            medium="" if draft.part is None else draft.part.kind,
            payload="" if draft.part is None else stored_part(draft.part),
        )
    sql = (
        "UPDATE outbox SET event_id = ?, kind = ?, text = ?, state = 'pending', due_at = ?, via = ?, only_for = ?, "
        "buttons = ? WHERE id = ?"
    )
    tx.run(sql, event_id, draft.kind, draft.text, at, draft.via, draft.only_for, buttons, preview)
    return preview


def announce(tx: Tx, chat_id: int, draft: Draft, at: int, label: str = "memory") -> int:
    """Something is said that is no reply of the model; the number of its line."""
    line = add_line(tx, chat_id, draft.text, at, label)
    enqueue(tx, chat_id, draft, at, event_id=line)
    return line


def waiting_files(tx: Tx) -> frozenset[str]:
    """Where the bytes of everything lie that is still to be sent."""
    waiting = "SELECT payload FROM outbox WHERE state IN ('pending', 'sending') AND medium <> ''"
    running = "SELECT parts FROM turn WHERE state IN ('asked', 'answered') AND parts <> '[]'"
    stored = [payload for (payload,) in tx.all(waiting)]
    stored += [part for (parts,) in tx.all(running) for part in json.loads(parts)]
    return frozenset(file_of(read_part(each)) for each in stored)


def mark_sent(tx: Tx, chat_id: int, turn_id: int | None, external_ids: tuple[str, ...]) -> None:
    """These messages of the platform are of that turn, or of none."""
    for external_id in external_ids:
        tx.put("sent", "chat_id, external_id", chat_id=chat_id, external_id=external_id, turn_id=turn_id)


def withdraw(tx: Tx, turn_id: int, at: int) -> None:
    """Of a turn that will not be said nothing stays on the screen; what was shown is taken away."""
    left = "turn_id = ? AND state IN ('preview', 'cancelled')"
    tx.run(f"UPDATE outbox SET state = 'cancelled', text = '', payload = '' WHERE preview_id = '' AND {left}", turn_id)
    sql = (
        "UPDATE outbox SET state = 'pending', kind = 'withdrawal', text = '', payload = '', due_at = ? "
        f"WHERE preview_id <> '' AND {left}"
    )
    tx.run(sql, at, turn_id)


@dataclass(frozen=True, slots=True)
class Unsent:
    """A row of the outbox that was not sent; `text` is with what its part says, `shown`: something of it stands on the
    screen."""

    id: int
    text: str
    event_id: int | None
    turn_id: int | None
    kind: str
    state: str
    shown: bool


def unsent(tx: Tx, chat_id: int) -> tuple[Unsent, ...]:
    """What waits to be sent in that chat or was not sent; what was sent keeps no text."""
    rows = "SELECT id, text || payload, event_id, turn_id, kind, state, preview_id <> '' FROM outbox {} WHERE chat_id = ? AND {}"
    waiting = rows.format(WAITING_THERE, "state IN ('pending', 'sending')")
    over = rows.format(OVER_THERE, "state NOT IN ('pending', 'sending', 'sent')")
    return tuple(row for sql in (waiting, over) for row in tx.all(sql, chat_id, to=Unsent))


def take_next(tx: Tx, chat_id: int, now: int, platforms: frozenset[str] | None = None) -> Outgoing | None:
    """Pending → sending, only for the first row of the chat, and only when nothing of it is being sent.

    What only waits for its moment in a paced reply holds up nothing but the rest of that reply.
    """
    found = tx.one(
        SELECT_OUTGOING
        + "WHERE outbox.chat_id = ? AND outbox.state IN ('pending', 'sending') AND outbox.state = 'pending' "
        f"AND outbox.due_at <= ? AND NOT EXISTS (SELECT 1 FROM outbox AS before {WAITING_THERE} WHERE before.chat_id = outbox.chat_id "
        "AND before.state IN ('pending', 'sending') AND (before.state = 'sending' OR (before.id < outbox.id AND "
        "(before.turn_id = outbox.turn_id OR before.attempts > 0 OR before.due_at <= ?)))) ORDER BY outbox.id LIMIT 1",
        chat_id,
        now,
        now,
        to=_outgoing,
    )
    if found is not None and isinstance(found.part, Reaction):
        about = "SELECT external_id FROM event WHERE id = ? AND hidden = ''"
        found = replace(found, target=tx.value(about, found.part.event_id) or "")
    if found is None or (platforms is not None and found.platform not in platforms):
        return None
    sql = (
        "UPDATE outbox SET state = 'sending', boot = ?, attempts = attempts + 1, "
        "tried_at = CASE tried_at WHEN 0 THEN ? ELSE tried_at END WHERE id = ?"
    )
    tx.run(sql, tx.boot, now, found.outbox_id)
    return found


def _outgoing(*row: Any) -> Outgoing:
    made = Outgoing(*row)
    buttons = tuple(Button(*each) for each in json.loads(row[9]))
    part = read_part(row[12]) if row[12] else None
    return replace(made, buttons=buttons, again=bool(made.again), part=part, further=bool(made.further))


class Outbox(Repository):
    """Rows on their way out: preview → pending → sending → sent | unknown | failed | cancelled."""

    @writes_chat
    def answer(
        self, tx: Tx, chat_id: int, events: tuple[int, ...], drafts: Sequence[Draft], at: int, outcome: str = "command"
    ) -> None:
        """Store what is said to these events instead of a turn, in as many messages as it takes; they are done."""
        for part, one in enumerate(drafts):
            enqueue(tx, chat_id, one, at, part=part)
        finish_events(tx, events, outcome)

    @writes_chat
    def confirm(self, tx: Tx, chat_id: int, event_id: int, text: str, at: int) -> None:
        """Receipts of a message whose turn was stopped before it was asked; a turn that was asked says them itself.

        What is still on the queue says them when its turn has come.
        """
        asked = "SELECT 1 FROM turn_event WHERE event_id = ?"
        if not tx.has(asked, event_id) and not tx.has(
            "SELECT 1 FROM event WHERE id = ? AND state = 'queued'", event_id
        ):
            enqueue(tx, chat_id, Draft(text, "receipt"), at)

    @writes_chat
    def limit(
        self,
        tx: Tx,
        chat_id: int,
        person_id: int,
        events: tuple[int, ...],
        drafts: tuple[Draft | None, Draft | None],
        window: tuple[str, int],
        at: int,
    ) -> bool:
        """No answer for these events now; whether the person was told why.

        The first of `drafts` is said unless the person was told of a limit of that `window` (its name, and when it
        began, ms), else the second; None says nothing. What was said counts over all chats.
        """
        notice, rest = drafts
        told = notice is not None and tell_limit_once(tx, person_id, *window, at)
        draft = notice if told else rest
        if draft is not None:
            enqueue(tx, chat_id, draft, at)
        finish_events(tx, events, LIMITED)
        return told

    @writes_chat
    def sent(
        self,
        tx: Tx,
        chat_id: int,
        outbox_id: int,
        external_ids: tuple[str, ...],
        at: int,
        platforms: frozenset[str] | None = frozenset(),
    ) -> tuple[NextPart | None, Outgoing | None]:
        """It went out; the row keeps its ids, not what it said. What of the same reply goes later, and when; and, as `take`
        has it, what of the chat goes now."""
        sql = (
            "UPDATE outbox SET state = 'sent', sent_at = ?, external_ids = ?, text = '', payload = '', buttons = '[]' "
            "WHERE id = ? AND state = 'sending'"
        )
        tx.run(sql, at, json.dumps(external_ids), outbox_id)
        row = tx.one("SELECT chat_id, turn_id FROM outbox WHERE id = ?", outbox_id)
        if row is None:  # erased meanwhile
            return None, None
        chat_id, turn_id = row
        tx.check_chat(chat_id)
        mark_sent(tx, chat_id, turn_id, external_ids)
        following = _next_part(tx, chat_id, turn_id, outbox_id, at)
        return following, take_next(tx, chat_id, at, platforms)

    @writes_chat
    def not_sent(self, tx: Tx, chat_id: int, outbox_id: int, error: str, retry_at: int | None) -> None:
        """It did not go out: try again at `retry_at`, or never (None). What was cancelled meanwhile stays so."""
        sql = "UPDATE outbox SET state = ?, error = ?, due_at = coalesce(?, due_at) WHERE id = ? AND state = 'sending'"
        tx.run(sql, "failed" if retry_at is None else "pending", error, retry_at, outbox_id)

    @writes_chat
    def spoken(self, tx: Tx, chat_id: int, outbox_id: int, voice: Voice, settlement: Settlement, at: int) -> bool:
        """Its text is spoken, and the call for that settled: it is that voice message now, next of its chat; False when it
        was cancelled meanwhile."""
        settle_call(tx, settlement, at)
        sql = "UPDATE outbox SET state = 'pending', medium = ?, payload = ? WHERE id = ? AND state = 'sending'"
        return tx.run(sql, voice.kind, stored_part(voice), outbox_id) == 1

    @writes_chat
    def as_text(self, tx: Tx, chat_id: int, outbox_id: int, text: str, error: str) -> None:
        """The platform does not take its part: the row says this text instead, next of its chat; without one it falls away."""
        state = "pending" if text else "cancelled"
        sql = (
            "UPDATE outbox SET state = ?, text = ?, error = ?, medium = '', payload = '' WHERE id = ? "
            "AND state = 'sending'"
        )
        tx.run(sql, state, text, error, outbox_id)

    @writes_chat
    def undeliverable(
        self, tx: Tx, outgoing: Outgoing, error: str, notice: Callable[[str, str], Draft], at: int
    ) -> None:
        """What one person alone may read never reaches them: the chat gets a notice instead, once while it waits.

        `notice` makes it of the person's name and script.
        """
        failed = "UPDATE outbox SET state = 'failed', error = ? WHERE id = ? AND state = 'sending'"
        tx.run(failed, error, outgoing.outbox_id)
        name, script = tx.one(
            "SELECT person.name, script FROM person JOIN account ON account.person_id = person.id "
            "WHERE platform = ? AND external_id = ?",
            outgoing.platform,
            outgoing.only_for.removeprefix(f"{outgoing.platform}:"),
        ) or ("", "")
        draft = notice(name, script)
        waits = "SELECT 1 FROM outbox WHERE chat_id = ? AND state = 'pending' AND text = ?"
        if not tx.has(waits, outgoing.chat_id, draft.text):
            enqueue(tx, outgoing.chat_id, draft, at)

    @writes_chat
    def unknown(self, tx: Tx, chat_id: int, outbox_id: int, error: str) -> None:
        """It may have gone out: it is never sent again."""
        tx.run("UPDATE outbox SET state = 'unknown', error = ? WHERE id = ? AND state = 'sending'", error, outbox_id)

    @writes_chat
    def gone(self, tx: Tx, chat_id: int, error: str, until: int = GONE_UNTIL_HEARD) -> int:
        """Nothing can be sent to this chat: what waits is cancelled; how many messages that were.

        It is over with the next message that is heard there, with `until` (ms) only after that time.
        """
        tx.run("UPDATE chat SET gone = ? WHERE id = ?", until, chat_id)
        sql = (
            "UPDATE outbox SET state = 'cancelled', error = ? WHERE chat_id = ? "
            "AND state IN ('preview', 'pending', 'sending')"
        )
        return tx.run(sql, error, chat_id)

    @writes_chat
    def preview(self, tx: Tx, chat_id: int, turn_id: int, at: int, text: str, *, draft: bool) -> tuple[int, str]:
        """The row that a turn's live preview belongs to, older than its first character, and the id of the message.

        It holds the `text` that people are about to see: once there is a message, or without one as a `draft`.
        StoreError when the turn is void: nothing of it may be shown.
        """
        if tx.has("SELECT 1 FROM turn WHERE id = ? AND state = 'void'", turn_id):
            raise StoreError(f"turn {turn_id} is void")
        row = tx.one("SELECT id, preview_id FROM outbox WHERE turn_id = ? AND state = 'preview'", turn_id)
        if row is None:
            return tx.insert(
                "outbox",
                chat_id=chat_id,
                turn_id=turn_id,
                kind="reply",
                text=text if draft else "",
                state="preview",
                due_at=at,
                boot=tx.boot,
            ), ""
        number, preview_id = row
        if draft or preview_id:
            tx.run("UPDATE outbox SET text = ? WHERE id = ?", text, number)
        return number, preview_id

    @writes_chat
    def shown(self, tx: Tx, chat_id: int, outbox_id: int, preview_id: str, at: int) -> bool:
        """The preview of a row is on the platform under this id; False when the row was cancelled: it is taken away again."""
        tx.run("UPDATE outbox SET preview_id = ? WHERE id = ?", preview_id, outbox_id)
        sql = (
            "UPDATE outbox SET state = 'pending', kind = 'withdrawal', text = '', payload = '', due_at = ? "
            "WHERE id = ? AND state = 'cancelled'"
        )
        return not tx.run(sql, at, outbox_id)

    files = reading(waiting_files)
    take = writing_chat(take_next)
    leave_off = writing_chat(cut_all_replies)
    tell = writing_chat(enqueue)

    @reads
    def states(self, tx: Tx) -> dict[str, int]:
        """How many rows are in each state."""
        count = "SELECT state, count(*) FROM outbox WHERE state {} GROUP BY state"
        found: dict[str, int] = {}
        for which in ("IN ('pending', 'sending')", "NOT IN ('pending', 'sending', 'sent')"):
            found |= dict(tx.all(count.format(which)))
        sent = tx.number("SELECT count(*) FROM outbox") - sum(found.values())
        return found | ({"sent": sent} if sent else {})

    @writes
    def recover(self, tx: Tx, resending: frozenset[str], placing: frozenset[str] = frozenset()) -> tuple[int, int]:
        """Rows in sending that a process left which is gone: pending again where no second copy comes of it, else unknown.

        That is on the `resending` platforms, where a preview is edited, of reactions and what is still to be spoken, and on the `placing` ones, where
        only a … may have gone out (what one person alone may read, stickers and voice are sent whole there, too). A further
        answer to an interaction is a second copy anywhere.
        Returns both numbers.
        """
        left = f"WHERE state IN ('pending', 'sending') AND state = 'sending' AND {IS_LEFT}"
        sql = (
            f"UPDATE outbox SET state = 'pending' {left} AND NOT {FURTHER} AND (preview_id <> '' OR medium IN ('reaction', 'speech') OR EXISTS (SELECT 1 FROM place "
            f"WHERE place.chat_id = outbox.chat_id AND current = 1 AND (platform IN ({placeholders(resending)}) "
            f"OR (only_for = '' AND medium IN ({placeholders(SHOWN_FIRST)}) AND platform IN ({placeholders(placing)})))))"
        )
        again = tx.run(sql, tx.boot, *sorted(resending), *SHOWN_FIRST, *sorted(placing))
        lost = tx.run(f"UPDATE outbox SET state = 'unknown', error = 'crash' {left}", tx.boot)
        return again, lost

    @writes
    def set_trace(self, tx: Tx, chat_id: int, person_id: int, on: bool, at: int) -> None:
        """Tell that person, an owner, in that direct chat of every turn from now on, or no more."""
        if on:
            tx.put("trace", "chat_id", chat_id=chat_id, person_id=person_id, at=at)
        else:
            tx.run("DELETE FROM trace WHERE chat_id = ?", chat_id)


def _next_part(tx: Tx, chat_id: int, turn_id: int | None, outbox_id: int, at: int) -> NextPart | None:
    """What of the same reply goes next, if it waits; after a delay its waits count from `at` (ms), now."""
    sql = (
        f"SELECT due_at, wait_ms, typed_ms, id FROM outbox {WAITING_THERE} WHERE chat_id = ? AND turn_id = ? "
        "AND state IN ('pending', 'sending') AND state = 'pending' AND id > ? ORDER BY id LIMIT 1"
    )
    row = tx.one(sql, chat_id, turn_id, outbox_id)
    if row is None or not row[1]:
        return None
    due, wait, typed, number = row
    late = max(at + wait - due, 0)
    if late:
        sql = "UPDATE outbox SET due_at = due_at + ? WHERE turn_id = ? AND id >= ? AND state = 'pending'"
        tx.run(sql, late, turn_id, number)
    return NextPart(due + late, typed)
