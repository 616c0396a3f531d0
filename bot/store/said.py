"""What was said in some chats and is searched for repetitions of what is forgotten."""

import sqlite3
from collections.abc import Iterator

SCRUBBED_LINES = 4_000
"""How many of a chat's newest lines are searched for echoes; what is older left every prompt long ago."""

SENT_ALONG = """SELECT event.id, attachment.text FROM event JOIN attachment ON event_id = event.id WHERE chat_id = ?
    AND hidden = '' AND attachment.text <> '' AND person_id = ?"""
"""What was made of somebody's pictures, voice and files in a chat."""


def said_in(db: sqlite3.Connection, chats: tuple[int, ...], person_id: int) -> Iterator[tuple[int, str]]:
    """Verb part: what that person, or nuan, said in these chats, with what was made of their pictures and files.

    Commands are told nobody, but what one says (`.ai remind …`) is stored like any line.
    """
    for chat_id in chats:
        yield from db.execute(
            "SELECT id, text || char(10) || quote FROM event WHERE chat_id = ? AND hidden IN ('', 'command') "
            "AND text <> '' AND (person_id = ? OR person_id IS NULL) ORDER BY id DESC LIMIT ?",
            (chat_id, person_id, SCRUBBED_LINES),
        )
        yield from db.execute(SENT_ALONG, (chat_id, person_id))
