"""A memory as its row and its place in the full-text index. It decides nothing and opens no transaction."""

import sqlite3
from typing import cast

from bot.text.tokens import index_terms
from bot.types.memory import Memory, MemoryKind, Slot, Source, Visibility

COLUMNS = """memory.id, memory.owner_id, memory.chat_id, memory.visibility, memory.kind, memory.text,
    memory.observed_at, memory.created_at, memory.source, memory.slot, memory.asked, memory.importance, memory.emotion,
    memory.emotion_value, memory.stability_days, memory.accessed_at, memory.disabled_at, memory.protected,
    memory.updated_at, memory.access_count, memory.faded, memory.helpful, memory.unhelpful, memory.praised_at"""
MEMORY = f"SELECT {COLUMNS} FROM memory "


def index_owner(owner_id: int | None, chat_id: int, visibility: str) -> str:
    """The word by which the full-text index narrows a row to whom it may be told."""
    return f"c{chat_id}" if visibility == "chat" else "all" if owner_id is None else f"p{owner_id}"


def index(db: sqlite3.Connection, number: int) -> None:
    """Verb part: write the full-text row of an active memory. Its terms need no dictionary, so this takes no time."""
    owner, chat, seen, text = db.execute(
        "SELECT owner_id, chat_id, visibility, text FROM memory WHERE id = ?", (number,)
    ).fetchone()
    key = index_owner(owner, chat, seen)
    db.execute(
        "INSERT INTO memory_text (rowid, owner, terms) VALUES (?, ?, ?)", (number, key, " ".join(index_terms(text)))
    )


def memory_of(row: tuple[object, ...]) -> Memory:
    """A row of MEMORY as a value."""
    (number, owner, chat, seen, kind, text, observed, created, source, slot, asked, importance, emotion, value,
     stability, accessed, disabled, protected, *life) = row  # fmt: skip
    updated, count, faded, helpful, unhelpful, praised = life
    return Memory(
        cast("int", number), cast("int | None", owner), cast("int", chat), cast("Visibility", seen),
        cast("MemoryKind", kind), str(text), cast("int", observed), cast("int", created), cast("Source", source),
        cast("Slot", slot), bool(asked), cast("int", importance), str(emotion), cast("float", value),
        cast("float", stability), cast("int", accessed), cast("int | None", disabled), bool(protected),
        cast("int", updated), cast("int", count), cast("float", faded), cast("int", helpful), cast("int", unhelpful),
        cast("int", praised),
    )  # fmt: skip
