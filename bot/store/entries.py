"""Entries of a log, and from which events each comes."""

import sqlite3
from typing import cast

from bot.store.rolled import TALKS_OF
from bot.types.prompt import Message


def append(db: sqlite3.Connection, turn_id: int, message: Message, tokens: int) -> int:
    """Verb part: a message at the end of the log of that turn; the entry's number."""
    return cast(
        "int",
        db.execute(
            "INSERT INTO entry (epoch_id, turn_id, position, message, tokens) SELECT epoch_id, turn.id, "
            "(SELECT coalesce(max(position), -1) + 1 FROM entry WHERE epoch_id = turn.epoch_id), ?, ? "
            "FROM turn WHERE turn.id = ?",
            (message.canonical(), tokens, turn_id),
        ).lastrowid,
    )


def answers(db: sqlite3.Connection, entry_id: int, turn_id: int) -> None:
    """Verb part: an entry comes from the messages that its turn answers."""
    db.execute(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'entry', ?, event_id FROM turn_event "
        "WHERE turn_id = ?",
        (entry_id, turn_id),
    )


def tell(db: sqlite3.Connection, entry_id: int, kind: str, derived: tuple[int, ...]) -> None:
    """Verb part: an entry that tells memories or commitments comes from the same events as they do.

    One that tells talks comes from these: a week has many lines, and what is told of it does not grow with them.
    """
    into = "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT"
    if kind == "digest":
        db.executemany(f"{into} 'recount', ?1, id FROM digest WHERE {TALKS_OF}", [(entry_id, each) for each in derived])
        return
    rows = [("entry" if kind == "memory" else "told", entry_id, kind, number) for number in derived]
    db.executemany(f"{into} ?, ?, event_id FROM edge WHERE kind = ? AND derived_id = ?", rows)
