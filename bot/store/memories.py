"""Memories: storing, finding and undoing. Every read takes an audience and filters in the query."""

from collections.abc import Callable

from bot.store.database import Repository
from bot.store.keeping import Receipt, answer, passes, remember, undo
from bot.store.rows import IS_NAME, MEMORY, marks, memory_of
from bot.types.memory import Memory, NewMemory
from bot.types.merging import Merging, keep_apart
from bot.types.people import Audience
from bot.types.quota import Excess, Quota


class Memories(Repository):
    """What lasts."""

    async def remember(
        self, memory: NewMemory, receipt: Receipt, at: int, merging: Merging = keep_apart, *, rewrite: bool = False,
        quota: Quota | None = None, refused: Callable[[Excess], str] = str,
    ) -> str:  # fmt: skip
        """Store what a person asked to keep and its receipt in one commit; the receipt's text. Once for each key.

        With `rewrite` it waits for a model to put it into a clean statement. Past the quota the receipt is what
        `refused` says, and nothing is stored.
        """
        return await self._database.write(
            lambda db: remember(db, memory, receipt, at, merging, rewrite=rewrite, quota=quota, refused=refused)
        )

    async def passes(self, memory: NewMemory, quota: Quota, at: int) -> Excess:
        """The limit that keeping it would pass now."""
        return await self._database.read(lambda db: passes(db, memory, quota, at))

    async def is_done(self, key: str) -> bool:
        """Whether the command with that key was carried out before a crash."""
        return await self._database.row("SELECT 1 FROM effect WHERE key = ?", (key,)) is not None

    async def undo(
        self, numbers: tuple[int, ...], owner_id: int, audience: Audience, receipt: Receipt, at: int
    ) -> str | None:  # fmt: skip
        """Bring back forgotten memories of that owner while their rows are kept; None when there is none."""
        where, params = visible(audience)
        whose = (f"owner_id = ? AND {where}", (owner_id, *params))
        return await self._database.write(lambda db: undo(db, numbers, whose, receipt, at))

    async def answer(self, receipt: Receipt, at: int) -> str:
        """Store a receipt for a command that changed nothing; its text. Once for each key."""
        return await self._database.write(lambda db: answer(db, receipt, at))

    async def experiences_since(self, chat_id: int, since: int) -> int:
        """How many experiences a chat saved since that instant, ms."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE chat_id = ? AND source = 'tool' AND asked = 0 AND created_at >= ?",
            (chat_id, since),
        )
        return int(row[0]) if row else 0

    async def owned(self, owner_id: int, audience: Audience, *, forgotten: bool = False) -> tuple[Memory, ...]:
        """The memories of a person that this audience may see, archived ones too, newest first: what 忘记 may mean.

        With `forgotten` also those that can still be brought back: what 彻底忘记 may mean.
        """
        where, params = visible(audience)
        reasons = "('archived', 'asked')" if forgotten else "('archived')"
        rows = await self._database.rows(
            MEMORY + f"WHERE (disabled_at IS NULL OR disabled_reason IN {reasons}) AND owner_id = ? "
            f"AND {where} ORDER BY id DESC",
            (owner_id, *params),
        )
        return tuple(memory_of(row) for row in rows)


def visible(audience: Audience, *, elsewhere: bool = True) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 and its parameters: private only in the owner's own DM, chat only there.

    What somebody said in a group is theirs in their own DM as well (unless `elsewhere` is False), but not how they are
    called in a group.
    """
    people = marks(audience.person_ids)
    public = f"(memory.visibility = 'public' AND (memory.owner_id IN ({people}) OR memory.owner_id IS NULL))"
    here = "(memory.visibility = 'chat' AND memory.chat_id = ?)"
    if audience.alone is None:
        return f"({here} OR {public})", (audience.chat_id, *audience.person_ids)
    kinds = f"memory.visibility = 'chat' AND NOT memory.{IS_NAME}" if elsewhere else "0"
    own = f"(memory.owner_id = ? AND (memory.visibility = 'private' OR ({kinds})))"
    return f"({own} OR {here} OR {public})", (audience.alone, audience.chat_id, *audience.person_ids)
