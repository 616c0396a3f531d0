"""What was sent along with events: what still waits to be looked at, what was made of it. It fetches nothing.

With a deleted or forgotten event its rows go (forgetting.hide), and what is made of them later finds no row.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from bot.store.database import Repository
from bot.store.events import mark
from bot.store.indexing import index_lines
from bot.store.ledger import Owner, Reservation, Settlement, charge, release, reserve, settle
from bot.store.rows import marks
from bot.types.event import Attachment, AttachmentKind
from bot.types.turn import Call

SENT = """SELECT event_id, position, attachment.kind, handle, attachment.name, mime, size FROM attachment
    JOIN event ON event.id = attachment.event_id WHERE event.hidden = '' """
ROW = "event_id = ? AND position = ? AND EXISTS (SELECT 1 FROM event WHERE event.id = event_id AND hidden = '')"

Fate = Literal["charge", "release"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One attachment of an event; `position` counts from 0."""

    event_id: int
    position: int
    attachment: Attachment


class Attachments(Repository):
    """Pictures, voice messages and files, and the texts made from them."""

    async def waiting(self, event_ids: Sequence[int]) -> tuple[Sent, ...]:
        """What of these events nobody has looked at yet, in order."""
        rows = await self._database.rows(
            f"{SENT} AND attachment.state = 'new' AND event_id IN ({marks(event_ids)}) ORDER BY event_id, position",
            event_ids,
        )
        return tuple(_sent(row) for row in rows)

    async def marks(self, event_ids: Sequence[int]) -> dict[int, str]:
        """What the <ctx> tells of the attachments of these events; an event without any is left out."""
        rows = await self._database.rows(
            "SELECT event_id, position, kind, name, state, text FROM attachment "
            f"WHERE event_id IN ({marks(event_ids)}) ORDER BY event_id, position",
            event_ids,
        )
        found: dict[int, list[str]] = {}
        for row in rows:
            found.setdefault(row[0], []).append(mark(*row))
        return {number: " ".join(each) for number, each in found.items()}

    async def find(self, chat_id: int, event_id: int, position: int) -> Sent | None:
        """One attachment of that chat, unless it was taken back."""
        row = await self._database.row(
            f"{SENT} AND event.chat_id = ? AND event_id = ? AND position = ?", (chat_id, event_id, position)
        )
        return _sent(row) if row else None

    async def reserve(self, chat_id: int, person_id: int, reservation: Reservation, at: int) -> Call:
        """Reserve the call that looks at one; OverBudget when a limit would be passed."""
        owner = Owner(None, chat_id, None, person_id)
        return await self._database.write(lambda db: reserve(db, reservation, at, owner))

    async def described(self, sent: Sent, text: str, settlement: Settlement | None, at: int) -> None:
        """Commit what it shows or says together with what that cost; once."""

        def verb(db: sqlite3.Connection) -> None:
            if settlement is not None:
                settle(db, settlement, at)
            _finish(db, sent, "done", text)

        await self._database.write(verb)

    async def refused(self, sent: Sent, reason: str, call: tuple[int, Fate] | None, at: int) -> None:
        """Commit why it is not known; `call` is the one that failed, and what becomes of its reservation."""

        def verb(db: sqlite3.Connection) -> None:
            if call is not None:
                (release if call[1] == "release" else charge)(db, call[0], at)
            _finish(db, sent, "refused", reason)

        await self._database.write(verb)

    async def looked(self, sent: Sent, session_id: int, settlement: Settlement, at: int) -> bool:
        """Commit what another look cost, and that the log of that session tells of it; False when it is gone by now."""

        def verb(db: sqlite3.Connection) -> bool:
            settle(db, settlement, at)
            if not db.execute(f"SELECT 1 FROM attachment WHERE {ROW}", (sent.event_id, sent.position)).fetchone():
                return False
            db.execute(
                "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'entry', max(entry.id), ? FROM entry "
                "JOIN epoch ON epoch.id = epoch_id WHERE session_id = ? HAVING max(entry.id) IS NOT NULL",
                (sent.event_id, session_id),
            )
            return True

        return await self._database.write(verb)


def _finish(db: sqlite3.Connection, sent: Sent, state: Literal["done", "refused"], text: str) -> None:
    db.execute(
        f"UPDATE attachment SET state = ?, text = ? WHERE state = 'new' AND {ROW}",
        (state, text, sent.event_id, sent.position),
    )
    if state == "done":
        index_lines(db, (sent.event_id,))


def _sent(row: tuple[object, ...]) -> Sent:
    event_id, position, kind, handle, name, mime, size = row
    attachment = Attachment(cast("AttachmentKind", kind), str(handle), str(name), str(mime), cast("int", size))
    return Sent(cast("int", event_id), cast("int", position), attachment)
