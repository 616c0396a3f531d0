"""The outbox: what is to be said, in order per chat. Said means stored here first; sending is someone else's work."""

import json
import sqlite3
from typing import cast

from bot.store.database import Database
from bot.store.events import finish
from bot.types.outgoing import Draft, Outgoing, OutgoingKind

WAITING = """SELECT outbox.id, outbox.chat_id, place.platform, place.external_id, outbox.text, outbox.kind FROM outbox
    JOIN place ON place.chat_id = outbox.chat_id AND place.current = 1 """


class Outbox:
    """Rows on their way out: pending → sending → sent | unknown | failed | cancelled."""

    def __init__(self, database: Database, boot: str) -> None:
        self._database = database
        self._boot = boot

    async def answer(self, chat_id: int, event_id: int, draft: Draft, at: int) -> None:
        """Store the answer to a command and take the command off the queue."""

        def verb(db: sqlite3.Connection) -> None:
            put(db, chat_id, draft, at)
            finish(db, (event_id,), "done", "command")

        await self._database.write(verb)

    async def take(self, chat_id: int, now: int, platforms: frozenset[str] | None = None) -> Outgoing | None:
        """Mark the chat's first waiting row as being sent, and hand it out; only to one of these platforms."""
        return await self._database.write(lambda db: take(db, chat_id, self._boot, now, platforms))

    async def sent(self, outbox_id: int, external_ids: tuple[str, ...], at: int) -> None:
        """It went out; the row keeps its ids, not its text."""
        await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox SET state = 'sent', sent_at = ?, external_ids = ?, text = '' WHERE id = ?",
                    (at, json.dumps(external_ids), outbox_id),
                ).rowcount
            )
        )

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

    async def recover(self, resend: bool) -> int:
        """Rows an earlier process left in sending: pending again where a second copy does no harm, else unknown."""
        state = "pending" if resend else "unknown"
        return await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox SET state = ? WHERE state = 'sending' AND boot <> ?", (state, self._boot)
                ).rowcount
            )
        )


def put(
    db: sqlite3.Connection, chat_id: int, draft: Draft, at: int,
    *, part: int = 0, turn_id: int | None = None, event_id: int | None = None,
) -> int:  # fmt: skip
    """Verb part: one row to be sent."""
    return cast(
        "int",
        db.execute(
            "INSERT INTO outbox (chat_id, turn_id, event_id, part, kind, text, state, due_at) "
            "VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
            (chat_id, turn_id, event_id, part, draft.kind, draft.text, at),
        ).lastrowid,
    )


def take(
    db: sqlite3.Connection, chat_id: int, boot: str, now: int, platforms: frozenset[str] | None = None
) -> Outgoing | None:
    """Verb: pending → sending, only for the first row of the chat, and only when nothing of it is being sent."""
    row = db.execute(
        WAITING + "WHERE outbox.chat_id = ?1 AND outbox.id = (SELECT min(id) FROM outbox WHERE chat_id = ?1 "
        "AND state IN ('pending', 'sending')) AND state = 'pending' AND due_at <= ?2",
        (chat_id, now),
    ).fetchone()
    if row is None or (platforms is not None and row[2] not in platforms):
        return None
    db.execute("UPDATE outbox SET state = 'sending', boot = ?, attempts = attempts + 1 WHERE id = ?", (boot, row[0]))
    return Outgoing(row[0], row[1], row[2], row[3], row[4], cast("OutgoingKind", row[5]))
