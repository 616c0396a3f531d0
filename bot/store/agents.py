"""What other agents keep and forget for a person, and how much of it they did; what they forget is told there."""

import sqlite3

from bot.store.asked import OWN_LINES, OWN_MS
from bot.store.database import Database
from bot.store.events import VISIBLE
from bot.store.forgetting import Forgetting, disable
from bot.store.keeping import Stored, known, store_memory
from bot.store.outbox import tell
from bot.store.purging import purge_now
from bot.store.unnoting import Shelf
from bot.types.memory import NewMemory
from bot.types.outgoing import Draft


class AgentRows:
    """The writes that other agents ask for."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def kept(self, owner_id: int, since: int) -> int:
        """How many memories agents added for that person since that moment, ms; also those that are gone again."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE owner_id = ? AND source = 'mcp' AND created_at >= ?", (owner_id, since)
        )
        return int(row[0]) if row else 0

    async def forgotten(self, owner_id: int, since: int) -> int:
        """How many memories of that person were forgotten on somebody's word since that moment, ms."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE owner_id = ? AND disabled_reason = 'asked' AND disabled_at >= ?",
            (owner_id, since),
        )
        return int(row[0]) if row else 0

    async def remember(self, memory: NewMemory, at: int) -> Stored:
        """Store it beside what is there, merged with nothing; what is known already is not counted once more."""
        return await self._database.write(lambda db: remember(db, memory, at))

    async def said(self, person_id: int, chat_id: int, now: int) -> tuple[str, ...]:
        """What that person wrote there last, newest first: as much as says what somebody asks for."""
        rows = await self._database.rows(
            f"SELECT text FROM event WHERE {VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? "
            f"AND chat_id = ? AND at >= ? ORDER BY id DESC LIMIT {OWN_LINES}",
            (person_id, chat_id, now - OWN_MS),
        )
        return tuple(str(row[0]) for row in rows)

    async def forget(self, forgetting: Forgetting, chat_id: int, told: Draft, at: int) -> None:
        """Disable the memories, scrub every derived copy and tell the chat, in one commit; without days for undo they
        are purged.
        """

        def verb(db: sqlite3.Connection) -> None:
            disable(db, forgetting, chat_id, at, self._shelf)
            tell(db, chat_id, told, at)

        await self._database.write(verb)
        if forgetting.purge_at is None:
            await purge_now(self._database, at)


def remember(db: sqlite3.Connection, memory: NewMemory, at: int) -> Stored:
    """Verb: an agent that says the same a hundred times does not make it weigh more than what people say."""
    same = known(db, memory)
    if same is not None and not memory.asked:
        return Stored(same, True)
    return store_memory(db, memory, at)
