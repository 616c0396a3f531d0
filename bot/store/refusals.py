"""Messages that no call may be made for: what is said instead, and to whom it was said."""

import json
import sqlite3

from bot.errors import OverBudget, OverLimit
from bot.store.database import Repository
from bot.store.events import finish
from bot.store.outbox import put
from bot.store.pace import begun, reached, tell
from bot.types.outgoing import Draft
from bot.types.pace import Pace

OVER = "over_budget"
"""How the error of a turn begins that a limit ended; its events are refused, not failed."""

LIMITED = "limited"
"""What becomes of events that came too often."""


SORRY = "sorry:"
"""How the key of the effect begins that keeps when a chat was told that no model answers, until one does."""

NO_ROOM = "no_room:"
"""How the key of the effect begins that keeps what a person's last refused answer lacked, by chat and person."""


class Refusals(Repository):
    """What is refused."""

    async def refuse(
        self, chat_id: int, events: tuple[int, ...], notice: Draft, at: int, outcome: str = "refused"
    ) -> None:
        """No turn for these events: say why, once, and take them off the queue; `outcome` is why in one word."""

        def verb(db: sqlite3.Connection) -> None:
            finish(db, events, "done", outcome)
            put(db, chat_id, notice, at)

        await self._database.write(verb)

    async def confirm(self, chat_id: int, event_id: int, text: str, at: int) -> None:
        """Receipts of a message whose turn was stopped before it was asked; a turn that was asked says them itself.

        What is still on the queue says them when its turn has come.
        """

        def verb(db: sqlite3.Connection) -> None:
            asked = "SELECT 1 FROM turn_event WHERE event_id = ?1 UNION SELECT 1 FROM event WHERE id = ?1 AND state = "
            if db.execute(f"{asked}'queued'", (event_id,)).fetchone() is None:
                put(db, chat_id, Draft(text, "receipt"), at)

        await self._database.write(verb)

    async def limit(
        self, chat_id: int, person_id: int, events: tuple[int, ...], drafts: tuple[Draft | None, Draft | None],
        window: tuple[str, int], at: int,
    ) -> bool:  # fmt: skip
        """No answer for these events now; whether the person was told why.

        The first of `drafts` is said unless the person was told of a limit of that `window` (its name, and when it
        began, ms), else the second; None says nothing. What was said counts over all chats.
        """

        def verb(db: sqlite3.Connection) -> bool:
            finish(db, events, "done", LIMITED)
            notice, rest = drafts
            told = notice is not None and tell(db, person_id, *window, at)
            draft = notice if told else rest
            if draft is not None:
                put(db, chat_id, draft, at)
            return told

        return await self._database.write(verb)

    async def over(self, person_id: int, pace: Pace, at: int) -> OverLimit | None:
        """The limit that an answer to that person would meet now; none when it was begun before."""
        return await self._database.write(lambda db: None if begun(db, pace) else reached(db, pace, at, person_id))

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
        row = await self._database.row("SELECT 1 FROM effect WHERE key = ? AND at >= ?", (f"{SORRY}{chat_id}", since))
        return row is not None

    async def keep(self, chat_id: int, person_id: int, error: OverBudget, at: int) -> None:
        """Keep by how much a limit had no room for an answer to that person there."""
        told = json.dumps((error.limit, error.used, error.held, error.needed))
        await self._database.write(
            lambda db: db.execute(
                "INSERT OR REPLACE INTO effect (key, result, at) VALUES (?, ?, ?)",
                (f"{NO_ROOM}{chat_id}:{person_id}", told, at),
            )
        )

    async def last(self, chat_id: int, person_id: int, since: int) -> OverBudget | None:
        """What was kept of them last, at `since` (ms) or later."""
        row = await self._database.row(
            "SELECT result FROM effect WHERE key = ? AND at >= ?", (f"{NO_ROOM}{chat_id}:{person_id}", since)
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
