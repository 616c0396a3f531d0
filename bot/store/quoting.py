"""What a message replies to: a stored line, or what the platform sent along of a line that never was stored."""

import sqlite3

QUOTED = """coalesce((SELECT max(said.id) FROM main.event AS said WHERE said.chat_id = event.chat_id
    AND said.external_id = event.target AND said.external_id <> '' AND said.kind = 'message' AND said.id < event.id),
    (SELECT max(said.id) FROM sent JOIN main.event AS said ON said.turn_id = sent.turn_id AND said.kind = 'bot'
    WHERE sent.chat_id = event.chat_id AND sent.external_id = event.target AND event.target <> ''))"""
"""The line that a message replies to."""

QUOTE_CHARS = 200
"""What is kept of a message that was never stored itself, where another one replies to it."""


def known(db: sqlite3.Connection, chat_id: int, target: str) -> bool:
    """Verb part: whether the message of that id was stored once: then its own row says what may be told of it."""
    there = (
        "SELECT 1 FROM event WHERE chat_id = ?1 AND external_id = ?2 AND external_id <> '' "
        "UNION SELECT 1 FROM sent WHERE chat_id = ?1 AND external_id = ?2"
    )
    return db.execute(there, (chat_id, target)).fetchone() is not None
