"""The outbox: what is to be sent, in order for each chat, with its states; and who is sent a trace of every turn."""

import json
from collections.abc import Callable
from typing import cast

from bot.core.errors import StoreError
from bot.core.events import Button, Draft, NextPart, Outgoing, OutgoingKind
from bot.store.engine import Database, Repository
from bot.store.events import finish_events
from bot.store.schema import placeholders
from bot.store.transactions import Tx
from bot.store.windows import cut_all_replies

SELECT_OUTGOING = """SELECT outbox.id, outbox.chat_id, place.platform, place.external_id, outbox.text, outbox.kind,
    preview_id, via, only_for, buttons, attempts, tried_at FROM outbox
    JOIN place ON place.chat_id = outbox.chat_id AND place.current = 1 """


GONE_UNTIL_HEARD = 1
"""A chat that cannot be written to until something is heard there; a larger number is the time, ms, until which not."""


class Outbox:
    """Rows on their way out: preview → pending → sending → sent | unknown | failed | cancelled."""

    def __init__(self, database: Database, boot: str) -> None:
        self._database = database
        self._boot = boot

    async def answer(self, chat_id: int, event_id: int, draft: Draft, at: int, *more: Draft) -> None:
        """Store the answer to a command, in as many messages as it takes, and take the command off the queue."""

        def transaction(db: Tx) -> None:
            for part, one in enumerate((draft, *more)):
                enqueue(db, chat_id, one, at, part=part)
            finish_events(db, (event_id,), "done", "command")

        await self._database.write(transaction)

    async def take(self, chat_id: int, now: int, platforms: frozenset[str] | None = None) -> Outgoing | None:
        """Mark the chat's first waiting row as being sent, and hand it out; only to one of these platforms."""
        return await self._database.write(lambda db: take_next(db, chat_id, self._boot, now, platforms))

    async def sent(self, outbox_id: int, external_ids: tuple[str, ...], at: int) -> NextPart | None:
        """It went out; the row keeps its ids, not its text. What of the same reply goes later, and when."""

        def transaction(db: Tx) -> NextPart | None:
            db.execute(
                "UPDATE outbox SET state = 'sent', sent_at = ?, external_ids = ?, text = '' WHERE id = ? "
                "AND state = 'sending'",
                (at, json.dumps(external_ids), outbox_id),
            )
            db.executemany(
                "INSERT OR REPLACE INTO sent (chat_id, external_id, turn_id) "
                "SELECT chat_id, ?, turn_id FROM outbox WHERE id = ?",
                [(external_id, outbox_id) for external_id in external_ids],
            )
            return next_part(db, outbox_id, at)

        return await self._database.write(transaction)

    async def not_sent(self, outbox_id: int, error: str, retry_at: int | None) -> None:
        """It did not go out: try again at `retry_at`, or never (None). What was cancelled meanwhile stays so."""
        state = "failed" if retry_at is None else "pending"
        await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox SET state = ?, error = ?, due_at = coalesce(?, due_at) WHERE id = ? "
                    "AND state = 'sending'",
                    (state, error, retry_at, outbox_id),
                ).rowcount
            )
        )

    async def undeliverable(self, outgoing: Outgoing, error: str, notice: Callable[[str, str], Draft], at: int) -> None:
        """What one person alone may read never reaches them: the chat gets a notice instead, once while it waits.

        `notice` makes it of the person's name and script.
        """

        def transaction(db: Tx) -> None:
            db.execute(
                "UPDATE outbox SET state = 'failed', error = ? WHERE id = ? AND state = 'sending'",
                (error, outgoing.outbox_id),
            )
            person = db.execute(
                "SELECT person.name, script FROM person JOIN account ON account.person_id = person.id "
                "WHERE platform = ? AND external_id = ?",
                (outgoing.platform, outgoing.only_for.removeprefix(f"{outgoing.platform}:")),
            ).fetchone()
            draft = notice(*(person or ("", "")))
            waits = "SELECT 1 FROM outbox WHERE chat_id = ? AND state = 'pending' AND text = ?"
            if db.execute(waits, (outgoing.chat_id, draft.text)).fetchone() is None:
                enqueue(db, outgoing.chat_id, draft, at)

        await self._database.write(transaction)

    async def unknown(self, outbox_id: int, error: str) -> None:
        """It may have gone out: it is never sent again."""
        await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox SET state = 'unknown', error = ? WHERE id = ? AND state = 'sending'",
                    (error, outbox_id),
                ).rowcount
            )
        )

    async def gone(self, chat_id: int, error: str, until: int = GONE_UNTIL_HEARD) -> int:
        """Nothing can be sent to this chat: what waits is cancelled; how many messages that were.

        It is over with the next message that is heard there, with `until` (ms) only after that time.
        """

        def transaction(db: Tx) -> int:
            db.execute("UPDATE chat SET gone = ? WHERE id = ?", (until, chat_id))
            return db.execute(
                "UPDATE outbox SET state = 'cancelled', error = ? WHERE chat_id = ? "
                "AND state IN ('preview', 'pending', 'sending')",
                (error, chat_id),
            ).rowcount

        return await self._database.write(transaction)

    async def preview(self, chat_id: int, turn_id: int, at: int, text: str, *, draft: bool) -> tuple[int, str]:
        """The row that a turn's live preview belongs to, older than its first character, and the id of the message.

        It holds the `text` that people are about to see: once there is a message, or without one as a `draft`.
        StoreError when the turn is void: nothing of it may be shown.
        """

        def transaction(db: Tx) -> tuple[int, str]:
            if _is_void(db, turn_id):
                raise StoreError(f"turn {turn_id} is void")
            row = db.execute(
                "SELECT id, preview_id FROM outbox WHERE turn_id = ? AND state = 'preview'", (turn_id,)
            ).fetchone()
            if row is not None:
                if draft or row[1]:
                    db.execute("UPDATE outbox SET text = ? WHERE id = ?", (text, row[0]))
                return int(row[0]), str(row[1])
            number = db.execute(
                "INSERT INTO outbox (chat_id, turn_id, kind, text, state, due_at, boot) "
                "VALUES (?, ?, 'reply', ?, 'preview', ?, ?)",
                (chat_id, turn_id, text if draft else "", at, self._boot),
            ).lastrowid
            return cast("int", number), ""

        return await self._database.write(transaction)

    async def shown(self, outbox_id: int, preview_id: str, at: int) -> bool:
        """The preview of a row is on the platform under this id: from now on it is edited.

        False when the row was cancelled meanwhile: it will be taken away again.
        """

        def transaction(db: Tx) -> bool:
            db.execute("UPDATE outbox SET preview_id = ? WHERE id = ?", (preview_id, outbox_id))
            return not db.execute(
                "UPDATE outbox SET state = 'pending', kind = 'withdrawal', text = '', due_at = ? "
                "WHERE id = ? AND state = 'cancelled'",
                (at, outbox_id),
            ).rowcount

        return await self._database.write(transaction)

    async def leave_off(self, chat_id: int, at: int) -> None:
        """What is still to be said of paced replies in this chat is not said any more."""
        await self._database.write(lambda db: cut_all_replies(db, chat_id, at))

    async def states(self) -> dict[str, int]:
        """How many rows are in each state."""
        rows = await self._database.rows("SELECT state, count(*) FROM outbox GROUP BY state")
        return {str(state): int(count) for state, count in rows}

    async def recover(self, resending: frozenset[str], placing: frozenset[str] = frozenset()) -> tuple[int, int]:
        """Rows an earlier process left in sending: pending again where no second copy comes of it, else unknown.

        That is on the `resending` platforms, where a preview is edited, and on the `placing` ones, where only a … may
        have gone out (what one person alone may read is sent whole there, too). Returns both numbers.
        """
        left = "WHERE state = 'sending' AND boot <> ?"

        def transaction(db: Tx) -> tuple[int, int]:
            again = db.execute(
                f"UPDATE outbox SET state = 'pending' {left} AND (preview_id <> '' OR EXISTS (SELECT 1 FROM place "
                f"WHERE place.chat_id = outbox.chat_id AND current = 1 AND (platform IN ({placeholders(resending)}) "
                f"OR (only_for = '' AND platform IN ({placeholders(placing)})))))",
                (self._boot, *sorted(resending), *sorted(placing)),
            ).rowcount
            lost = db.execute(f"UPDATE outbox SET state = 'unknown', error = 'crash' {left}", (self._boot,)).rowcount
            return again, lost

        return await self._database.write(transaction)


def next_part(db: Tx, outbox_id: int, at: int) -> NextPart | None:
    """Within a transaction: what of the same reply goes next, if it waits; after a delay its waits count from `at`
    (ms), now.

    So what a stop of the process or a slow platform held up does not come all at once.
    """
    row = db.execute(
        "SELECT turn_id, due_at, wait_ms, typed_ms, id FROM outbox WHERE chat_id = (SELECT chat_id FROM outbox WHERE "
        "id = ?1) AND turn_id = (SELECT turn_id FROM outbox WHERE id = ?1) AND state IN ('pending', 'sending') "
        "AND state = 'pending' AND id > ?1 ORDER BY id LIMIT 1",
        (outbox_id,),
    ).fetchone()
    if row is None or not row[2]:
        return None
    turn_id, due, wait, typed, number = row
    late = max(at + wait - due, 0)
    if late:
        db.execute(
            "UPDATE outbox SET due_at = due_at + ? WHERE turn_id = ? AND id >= ? AND state = 'pending'",
            (late, turn_id, number),
        )
    return NextPart(due + late, typed)


def announce(db: Tx, chat_id: int, draft: Draft, at: int) -> int:
    """Within a transaction: something is said of a memory that no message asked for; the number of its line."""
    said = "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'memory', 'done')"
    line = cast("int", db.execute(said, (chat_id, at, draft.text)).lastrowid)
    enqueue(db, chat_id, draft, at, event_id=line)
    return line


def enqueue(
    db: Tx, chat_id: int, draft: Draft, at: int,
    *, part: int = 0, turn_id: int | None = None, event_id: int | None = None,
) -> int:  # fmt: skip
    """Within a transaction: one row to be sent; the first part of a turn ends its preview, if it has one."""
    buttons = json.dumps([[button.label, button.text, button.account] for button in draft.buttons], ensure_ascii=False)
    shown = (
        db.execute("SELECT id FROM outbox WHERE turn_id = ? AND state = 'preview'", (turn_id,)).fetchone()
        if turn_id is not None and not part
        else None
    )
    if shown is not None:
        db.execute(
            "UPDATE outbox SET event_id = ?, kind = ?, text = ?, state = 'pending', due_at = ?, via = ?, only_for = ?, "
            "buttons = ? WHERE id = ?",
            (event_id, draft.kind, draft.text, at, draft.via, draft.only_for, buttons, shown[0]),
        )
        return int(shown[0])
    return cast(
        "int",
        db.execute(
            "INSERT INTO outbox (chat_id, turn_id, event_id, part, kind, text, state, due_at, via, only_for, buttons, "
            "wait_ms, typed_ms) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)",
            (chat_id, turn_id, event_id, part, draft.kind, draft.text, at, draft.via, draft.only_for, buttons,
             draft.wait_ms, draft.typed_ms),
        ).lastrowid,
    )  # fmt: skip


def withdraw(db: Tx, turn_id: int, at: int) -> None:
    """Within a transaction: of a turn that will not be said nothing stays on the screen; what was shown is taken
    away.
    """
    left = "turn_id = ? AND state IN ('preview', 'cancelled')"
    db.execute(f"UPDATE outbox SET state = 'cancelled', text = '' WHERE preview_id = '' AND {left}", (turn_id,))
    db.execute(
        "UPDATE outbox SET state = 'pending', kind = 'withdrawal', text = '', due_at = ? "
        f"WHERE preview_id <> '' AND {left}",
        (at, turn_id),
    )


def _is_void(db: Tx, turn_id: int) -> bool:
    return db.execute("SELECT 1 FROM turn WHERE id = ? AND state = 'void'", (turn_id,)).fetchone() is not None


def take_next(db: Tx, chat_id: int, boot: str, now: int, platforms: frozenset[str] | None = None) -> Outgoing | None:
    """One transaction: pending → sending, only for the first row of the chat, and only when nothing of it is being
    sent.

    What only waits for its moment in a paced reply holds up nothing but the rest of that reply.
    """
    row = db.execute(
        SELECT_OUTGOING
        + "WHERE outbox.chat_id = ?1 AND outbox.state IN ('pending', 'sending') AND outbox.state = 'pending' "
        "AND outbox.due_at <= ?2 AND NOT EXISTS (SELECT 1 FROM outbox AS before WHERE before.chat_id = ?1 "
        "AND before.state IN ('pending', 'sending') AND (before.state = 'sending' OR (before.id < outbox.id AND "
        "(before.turn_id = outbox.turn_id OR before.attempts > 0 OR before.due_at <= ?2)))) ORDER BY outbox.id LIMIT 1",
        (chat_id, now),
    ).fetchone()
    if row is None or (platforms is not None and row[2] not in platforms):
        return None
    db.execute(
        "UPDATE outbox SET state = 'sending', boot = ?, attempts = attempts + 1, "
        "tried_at = iif(tried_at, tried_at, ?) WHERE id = ?",
        (boot, now, row[0]),
    )
    return Outgoing(
        row[0], row[1], row[2], row[3], row[4], cast("OutgoingKind", row[5]), row[6], row[7], row[8],
        tuple(Button(*button) for button in json.loads(row[9])), again=row[10] > 0, tried_at=row[11],
    )  # fmt: skip


class Traces(Repository):
    """One row for each direct chat in which an owner wants to be told."""

    async def switch(self, chat_id: int, person_id: int, on: bool, at: int) -> None:
        """Tell that person there of every turn from now on, or no more."""
        sql = "INSERT OR REPLACE INTO trace (chat_id, person_id, at) VALUES (?, ?, ?)"
        drop = "DELETE FROM trace WHERE chat_id = ?"
        await self._database.write(
            lambda db: (db.execute(sql, (chat_id, person_id, at)) if on else db.execute(drop, (chat_id,))).rowcount
        )

    async def watchers(self) -> tuple[tuple[int, int], ...]:
        """The direct chats, each with the person who wanted it."""
        rows = await self._database.rows(
            "SELECT chat_id, trace.person_id FROM trace JOIN chat ON chat.id = chat_id WHERE kind = 'dm' AND gone = 0 "
            "ORDER BY chat_id"
        )
        return tuple((int(chat), int(person)) for chat, person in rows)

    async def tell(self, chat_id: int, draft: Draft, at: int) -> None:
        """Have that said there."""
        await self._database.write(lambda db: enqueue(db, chat_id, draft, at))
