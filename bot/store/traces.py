"""Where owners are told of every turn, in private. What a line says is not known here."""

from bot.store.database import Repository
from bot.store.outbox import put
from bot.types.outgoing import Draft


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
        await self._database.write(lambda db: put(db, chat_id, draft, at))
