"""What a turn does on a person's own words: reading them back, and forgetting what they ask to forget.

Which memories are meant is decided elsewhere.
"""

import sqlite3
from collections.abc import Mapping

from bot.store.changes import goes_on
from bot.store.database import Database
from bot.store.events import EVENT, VISIBLE, event_of
from bot.store.forgetting import Forgetting
from bot.store.keeping import Receipt
from bot.store.purging import purge_now
from bot.store.rows import marks
from bot.store.unnoting import Shelf
from bot.store.unsaying import forget_matter
from bot.store.voiding import fail
from bot.store.windows import requeue
from bot.types.event import Event
from bot.types.turn import Turn

OWN_LINES, OWN_MS = 4, 600_000
"""So many lines of a person, of the last ten minutes, say together what they ask for."""


class Asked:
    """The own words of a turn, and what is done on them."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def own(
        self, event_ids: tuple[int, ...], person_id: int, now: int, *, answered: bool = False
    ) -> tuple[Event, ...]:  # fmt: skip
        """Those of these messages that this person wrote, in order: nothing forwarded, and nothing of a bot.

        Where they are few, what the same person wrote in that chat just before them comes first; what was `answered`
        as a command only when it is asked for.
        """
        own = (
            f"{EVENT}WHERE {VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM person WHERE person.id = person_id AND is_bot = 1) AND "
        )
        without = "AND outcome <> 'command' "
        these, before = await self._database.snapshot(
            (f"{own}id IN ({marks(event_ids)}) ORDER BY id", (person_id, *event_ids)),
            (f"{own}chat_id = (SELECT chat_id FROM event WHERE id = ?) AND id < ? AND at >= ? "
             f"{'' if answered else without}ORDER BY id DESC LIMIT {OWN_LINES}",
             (person_id, max(event_ids, default=0), min(event_ids, default=0), now - OWN_MS)),
        )  # fmt: skip
        room = max(0, OWN_LINES - len(these))
        return tuple(event_of(row) for row in (*reversed(before[:room]), *these))

    async def before(self, event_ids: tuple[int, ...]) -> Mapping[int, str]:
        """What nuan said right before each of these messages, with nobody's line between, within ten minutes."""
        rows = await self._database.rows(
            "SELECT event.id, said.text FROM event JOIN event AS said ON said.id = (SELECT max(id) FROM event AS other "
            "WHERE other.chat_id = event.chat_id AND other.id < event.id AND other.kind IN ('message', 'bot')) "
            f"WHERE event.id IN ({marks(event_ids)}) AND said.kind = 'bot' AND said.hidden = '' "
            "AND said.at >= event.at - ?",
            (*event_ids, OWN_MS),
        )
        return {int(row[0]): str(row[1]) for row in rows}

    async def kept(self, event_ids: tuple[int, ...], owner_id: int) -> tuple[tuple[int, str], ...]:
        """Number and text of what this person asked to keep in these messages."""
        rows = await self._database.rows(
            "SELECT DISTINCT memory.id, text FROM memory JOIN edge ON edge.kind = 'memory' AND derived_id = memory.id "
            f"WHERE owner_id = ? AND asked = 1 AND disabled_at IS NULL AND event_id IN ({marks(event_ids)}) "
            "ORDER BY memory.id",
            (owner_id, *event_ids),
        )
        return tuple((int(row[0]), str(row[1])) for row in rows)

    async def forget(self, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget, confirm it and end the turn in one commit, once for the receipt's key; its text.

        What else the turn answers is due again, on a log that does not tell what is forgotten.
        """
        text = await self._database.write(lambda db: self._forget(db, turn, forgetting, receipt, at))
        if forgetting.purge_at is None:
            await purge_now(self._database, at)
        return text

    def _forget(
        self, db: sqlite3.Connection, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        goes_on(db, turn.id)
        text = forget_matter(db, forgetting, receipt, at, self._shelf)
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (turn.epoch_id,))
        fail(db, turn, "forgotten", None, None, at)
        requeue(db, turn.event_ids, at)
        return text
