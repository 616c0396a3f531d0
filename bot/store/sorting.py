"""The verbs behind sections: the registry by which a memory gets its own, and what a turn found in which."""

import json
import sqlite3
from collections.abc import Sequence

from bot.store.rows import marks
from bot.text.sections import Registry, read_registry
from bot.types.sections import Round

KEPT_ROUNDS = 60
"""Rounds that are kept of one person in one chat; the widest window and the longest count of misses need fewer."""


def register(db: sqlite3.Connection, text: str) -> None:
    """Verb: from now on memories are stored by this registry."""
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('sections', ?)", (text,))


def registered(db: sqlite3.Connection) -> Registry:
    """Verb part: the registry by which memories are stored."""
    row = db.execute("SELECT value FROM meta WHERE key = 'sections'").fetchone()
    return read_registry(row[0] if row else None)


def sort_memory(db: sqlite3.Connection, number: int) -> None:
    """Verb part: a memory stands in the section that its text is of; the index follows (trigger memory_section)."""
    text, kind, owner = db.execute("SELECT text, kind, owner_id FROM memory WHERE id = ?", (number,)).fetchone()
    key = registered(db).assign(text, kind, owned=owner is not None)
    db.execute("UPDATE memory SET section = ?1 WHERE id = ?2 AND section <> ?1", (key, number))


def note_round(db: sqlite3.Connection, turn_id: int, found: Round | None, at: int) -> None:
    """Verb part: what a turn's own recall found, once; of many the oldest go."""
    if found is None:
        return
    chat, person = db.execute("SELECT chat_id, person_id FROM turn WHERE id = ?", (turn_id,)).fetchone()
    db.execute(
        "INSERT OR IGNORE INTO section_round (turn_id, chat_id, person_id, at, hits, searched, held) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (turn_id, chat, person, at, json.dumps(found.hits, ensure_ascii=False),
         json.dumps(found.searched, ensure_ascii=False), int(found.held)),
    )  # fmt: skip
    db.execute(
        "DELETE FROM section_round WHERE chat_id = ?1 AND person_id = ?2 AND turn_id <= (SELECT turn_id FROM "
        "section_round WHERE chat_id = ?1 AND person_id = ?2 ORDER BY turn_id DESC LIMIT 1 OFFSET ?3)",
        (chat, person, KEPT_ROUNDS),
    )


def note_hit(db: sqlite3.Connection, turn_id: int, memories: Sequence[int]) -> None:
    """Verb part: the section of the best memory that a tool found in this turn was hit, whatever was searched."""
    row = db.execute("SELECT hits FROM section_round WHERE turn_id = ?", (turn_id,)).fetchone()
    best = f"SELECT id, section FROM memory WHERE id IN ({marks(memories)}) AND section <> ''"
    found = dict(db.execute(best, tuple(memories)).fetchall())
    number = next((each for each in memories if each in found), None)
    if row is None or number is None:
        return
    hits = {found[number]: number} | json.loads(row[0])
    db.execute(
        "UPDATE section_round SET hits = ?, held = 0 WHERE turn_id = ?", (json.dumps(hits, ensure_ascii=False), turn_id)
    )
