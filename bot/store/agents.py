"""What other agents keep and forget for a person, and how much of it they did. It confirms nothing to a chat."""

import sqlite3

from bot.store.database import Database
from bot.store.forgetting import Forgetting, disable
from bot.store.keeping import Stored, known, store_memory
from bot.store.purging import purge_now
from bot.store.unnoting import Shelf
from bot.types.memory import NewMemory


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

    async def forget(self, forgetting: Forgetting, chat_id: int, at: int) -> None:
        """Disable the memories and scrub every derived copy in one commit; without days for undo they are purged."""
        await self._database.write(lambda db: disable(db, forgetting, chat_id, at, self._shelf))
        if forgetting.purge_at is None:
            await purge_now(self._database, at)


def remember(db: sqlite3.Connection, memory: NewMemory, at: int) -> Stored:
    """Verb: an agent that says the same a hundred times does not make it weigh more than what people say."""
    same = known(db, memory)
    if same is not None and not memory.asked:
        return Stored(same, True)
    return store_memory(db, memory, at)
