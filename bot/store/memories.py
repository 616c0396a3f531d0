"""Memories: storing, finding and undoing. Every read takes an audience and filters in the query."""

from typing import cast

from bot.store.database import Database
from bot.store.keeping import Receipt, answer, remember, undo
from bot.types.memory import Memory, MemoryKind, NewMemory, Slot, Source, Visibility
from bot.types.people import Audience

COLUMNS = """memory.id, memory.owner_id, memory.chat_id, memory.visibility, memory.kind, memory.text,
    memory.observed_at, memory.created_at, memory.source, memory.slot, memory.asked, memory.importance, memory.emotion,
    memory.emotion_value, memory.stability_days, memory.accessed_at, memory.disabled_at"""
MEMORY = f"SELECT {COLUMNS} FROM memory "

LAYERS = (
    ("asked = 1 AND slot = ''", 50),
    ("slot <> ''", 20),
    ("asked = 0 AND kind = 'identity' AND slot = ''", 50),
    ("asked = 0 AND kind = 'emotion'", 5),
    ("asked = 0 AND kind = 'event'", 7),
    ("asked = 0 AND kind IN ('knowledge', 'experience')", 40),
)
"""What a warm boot may draw from (seed Warm Boot: identity 50, emotion 5, event 7; knowledge is cut by vitality)."""


class Memories:
    """What lasts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, memory: NewMemory, receipt: Receipt, at: int) -> str:
        """Store what a person asked to keep and its receipt in one commit; the receipt's text. Once for each key."""
        return await self._database.write(lambda db: remember(db, memory, receipt, at))

    async def undo(
        self, memory_id: int, owner_id: int, audience: Audience, receipt: Receipt, at: int
    ) -> str | None:  # fmt: skip
        """Bring back a forgotten memory of that owner while its row is kept; None when there is none."""
        where, params = visible(audience)
        whose = (f"owner_id = ? AND {where}", (owner_id, *params))
        return await self._database.write(lambda db: undo(db, memory_id, whose, receipt, at))

    async def answer(self, receipt: Receipt, at: int) -> str:
        """Store a receipt for a command that changed nothing; its text. Once for each key."""
        return await self._database.write(lambda db: answer(db, receipt, at))

    async def last_forgotten(self, owner_id: int, audience: Audience) -> int | None:
        """The newest forgotten memory of a person that this audience could see."""
        where, params = visible(audience)
        row = await self._database.row(
            f"SELECT id FROM memory WHERE owner_id = ? AND disabled_reason = 'asked' AND {where} "
            "ORDER BY disabled_at DESC, id DESC LIMIT 1",
            (owner_id, *params),
        )
        return int(row[0]) if row else None

    async def layers(self, audience: Audience) -> tuple[Memory, ...]:
        """What an opening may tell this audience, newest first in each layer."""
        where, params = visible(audience)
        parts = [
            f"SELECT * FROM ({MEMORY} WHERE disabled_at IS NULL AND {where} AND {layer} "
            f"ORDER BY observed_at DESC, id DESC LIMIT {limit})"
            for layer, limit in LAYERS
        ]
        rows = await self._database.rows(" UNION ALL ".join(parts), params * len(parts))
        return tuple(memory_of(row) for row in rows)

    async def experiences_since(self, chat_id: int, since: int) -> int:
        """How many experiences a chat saved since that instant, ms."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE chat_id = ? AND source = 'tool' AND created_at >= ?", (chat_id, since)
        )
        return int(row[0]) if row else 0

    async def owned(self, owner_id: int, audience: Audience) -> tuple[Memory, ...]:
        """The memories of a person that this audience may see, newest first."""
        where, params = visible(audience)
        rows = await self._database.rows(
            MEMORY + f"WHERE disabled_at IS NULL AND owner_id = ? AND {where} ORDER BY id DESC", (owner_id, *params)
        )
        return tuple(memory_of(row) for row in rows)


def visible(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 and its parameters: private only in the owner's own DM, chat only there."""
    people = ",".join("?" * len(audience.person_ids)) or "NULL"
    public = f"(memory.visibility = 'public' AND (memory.owner_id IN ({people}) OR memory.owner_id IS NULL))"
    here = "(memory.visibility = 'chat' AND memory.chat_id = ?)"
    if audience.kind == "dm" and len(audience.person_ids) == 1:
        own = "(memory.visibility = 'private' AND memory.owner_id = ?)"
        return f"({own} OR {here} OR {public})", (audience.person_ids[0], audience.chat_id, *audience.person_ids)
    return f"({here} OR {public})", (audience.chat_id, *audience.person_ids)


def memory_of(row: tuple[object, ...]) -> Memory:
    """A row of MEMORY as a value."""
    (number, owner, chat, seen, kind, text, observed, created, source, slot, asked, importance, emotion, value,
     stability, accessed, disabled) = row  # fmt: skip
    return Memory(
        cast("int", number), cast("int | None", owner), cast("int", chat), cast("Visibility", seen),
        cast("MemoryKind", kind), str(text), cast("int", observed), cast("int", created), cast("Source", source),
        cast("Slot", slot), bool(asked), cast("int", importance), str(emotion), cast("float", value),
        cast("float", stability), cast("int", accessed), cast("int | None", disabled),
    )  # fmt: skip
