"""A memory as its row, and marks for values. It decides nothing and opens no transaction."""

from collections.abc import Sized
from typing import cast

from bot.types.memory import Dated, Memory, MemoryKind, Source, Visibility

COLUMNS = """memory.id, memory.owner_id, memory.chat_id, memory.visibility, memory.kind, memory.text,
    memory.observed_at, memory.created_at, memory.source, memory.slot, memory.asked, memory.importance, memory.emotion,
    memory.emotion_value, memory.stability_days, memory.accessed_at, memory.disabled_at, memory.protected,
    memory.updated_at, memory.access_count, memory.faded, memory.helpful, memory.unhelpful, memory.praised_at,
    memory.original, memory.agent, memory.section, memory.subject, memory.lasting, memory.said_at, memory.dated,
    memory.former_at, memory.replaced_by"""
IS_NAME = "slot IN ('address', 'no_address')"
"""Whether a memory says how somebody is called, as SQL."""

NAME_SLOT = f"(CASE WHEN {IS_NAME} THEN slot ELSE '' END)"
"""What of its slot tells two memories with the same words apart, as SQL; `name_slot` says the same of a value."""

MEMORY = f"SELECT {COLUMNS} FROM memory "


def marks(values: Sized) -> str:
    """A question mark for each value, for IN (…); SQLite takes none, too."""
    return ", ".join("?" * len(values))


def memory_of(row: tuple[object, ...]) -> Memory:
    """A row of MEMORY as a value."""
    (number, owner, chat, seen, kind, text, observed, created, source, slot, asked, importance, emotion, value,
     stability, accessed, disabled, protected, *life) = row  # fmt: skip
    updated, count, faded, helpful, unhelpful, praised, original, agent, section, *held = life
    subject, lasting, said, dated, former, by = held
    return Memory(
        cast("int", number), cast("int | None", owner), cast("int", chat), cast("Visibility", seen),
        cast("MemoryKind", kind), str(text), cast("int", observed), cast("int", created), cast("Source", source),
        str(slot), bool(asked), cast("int", importance), str(emotion), cast("float", value),
        cast("float", stability), cast("int", accessed), cast("int | None", disabled), bool(protected),
        cast("int", updated), cast("int", count), cast("float", faded), cast("int", helpful), cast("int", unhelpful),
        cast("int", praised), str(original), str(agent), str(section), str(subject), bool(lasting), cast("int", said),
        cast("Dated", dated), cast("int | None", former), cast("int | None", by),
    )  # fmt: skip
