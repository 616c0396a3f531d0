"""A memory as its row, and marks for values. It decides nothing and opens no transaction."""

from collections.abc import Sized
from typing import cast

from bot.types.memory import Memory, MemoryKind, Slot, Source, Visibility

COLUMNS = """memory.id, memory.owner_id, memory.chat_id, memory.visibility, memory.kind, memory.text,
    memory.observed_at, memory.created_at, memory.source, memory.slot, memory.asked, memory.importance, memory.emotion,
    memory.emotion_value, memory.stability_days, memory.accessed_at, memory.disabled_at, memory.protected,
    memory.updated_at, memory.access_count, memory.faded, memory.helpful, memory.unhelpful, memory.praised_at,
    memory.original, memory.agent, memory.section"""
MEMORY = f"SELECT {COLUMNS} FROM memory "


def marks(values: Sized) -> str:
    """A question mark for each value, for IN (…); SQLite takes none, too."""
    return ", ".join("?" * len(values))


def memory_of(row: tuple[object, ...]) -> Memory:
    """A row of MEMORY as a value."""
    (number, owner, chat, seen, kind, text, observed, created, source, slot, asked, importance, emotion, value,
     stability, accessed, disabled, protected, *life) = row  # fmt: skip
    updated, count, faded, helpful, unhelpful, praised, original, agent, section = life
    return Memory(
        cast("int", number), cast("int | None", owner), cast("int", chat), cast("Visibility", seen),
        cast("MemoryKind", kind), str(text), cast("int", observed), cast("int", created), cast("Source", source),
        cast("Slot", slot), bool(asked), cast("int", importance), str(emotion), cast("float", value),
        cast("float", stability), cast("int", accessed), cast("int | None", disabled), bool(protected),
        cast("int", updated), cast("int", count), cast("float", faded), cast("int", helpful), cast("int", unhelpful),
        cast("int", praised), str(original), str(agent), str(section),
    )  # fmt: skip
