"""Chats that get another id, another title, or an end. What was said in them stays as it is."""

import sqlite3
from typing import cast

from bot.store.documents import rescope
from bot.store.events import Happened

MOVED = (
    "event", "turn", "call", "outbox", "memory", "digest", "code", "doc", "note", "commitment", "reminder",
    "section_round",
)  # fmt: skip
KEYED = ("member", "window", "sent", "question", "reminder_question")
"""Tables in which a chat and something else make the key: what both chats have is kept once."""


def migrate(db: sqlite3.Connection, happened: Happened) -> None:
    """Verb part: the chat goes on under the id `target`; its old id still leads to it. Doing it twice is once."""
    place, new, chat_id = happened.incoming.place, happened.incoming.target, happened.chat_id
    if not new or new == place.external_id:
        return
    there = db.execute(
        "SELECT chat_id FROM place WHERE platform = ? AND external_id = ?", (place.platform, new)
    ).fetchone()
    if there is None:
        db.execute(
            "INSERT INTO place (platform, external_id, chat_id, current, parent) "
            "SELECT platform, ?, chat_id, 0, parent FROM place WHERE platform = ? AND external_id = ?",
            (new, place.platform, place.external_id),
        )
    elif there[0] != chat_id:
        _join(db, cast("int", there[0]), chat_id, happened.at)
    db.execute("UPDATE place SET current = (external_id = ?) WHERE chat_id = ?", (new, chat_id))


def _join(db: sqlite3.Connection, other: int, chat_id: int, at: int) -> None:
    """All of a chat that arrived first under its new id belongs to the chat it is; that one's settings stay."""
    db.execute("UPDATE place SET chat_id = ?, current = 0 WHERE chat_id = ?", (chat_id, other))
    if db.execute("SELECT 1 FROM session WHERE chat_id = ? AND state = 'open'", (chat_id,)).fetchone():
        db.execute(
            "UPDATE session SET state = 'closing', close_reason = 'idle', closed_at = ?1, digest_due_at = ?1 "
            "WHERE chat_id = ?2 AND state = 'open'",
            (at, other),
        )
    db.execute(
        "UPDATE session SET chat_id = ?1, number = number + (SELECT coalesce(max(number), 0) FROM session "
        "WHERE chat_id = ?1) WHERE chat_id = ?2",
        (chat_id, other),
    )
    # A line is supported by its neighbours: those of the other come after all of this one's, not between them.
    db.execute(
        "UPDATE doc SET place = place + (SELECT coalesce(max(place), 0) FROM doc WHERE chat_id = ?1 AND kind = 'line') "
        "WHERE chat_id = ?2 AND kind = 'line'",
        (chat_id, other),
    )
    for table in MOVED:
        db.execute(f"UPDATE {table} SET chat_id = ? WHERE chat_id = ?", (chat_id, other))
    for table in KEYED:
        db.execute(f"UPDATE OR IGNORE {table} SET chat_id = ? WHERE chat_id = ?", (chat_id, other))
        db.execute(f"DELETE FROM {table} WHERE chat_id = ?", (other,))
    rescope(db, f"c{other}", f"c{chat_id}")


def gone(db: sqlite3.Connection, happened: Happened) -> None:
    """Verb part: nothing can be sent there any more; what waits is not sent."""
    db.execute("UPDATE chat SET gone = 1 WHERE id = ?", (happened.chat_id,))
    db.execute(
        "UPDATE outbox SET state = 'cancelled', text = '' WHERE chat_id = ? AND state = 'pending'",
        (happened.chat_id,),
    )


def titled(db: sqlite3.Connection, happened: Happened) -> None:
    """Verb part: the chat has another title."""
    if happened.incoming.text:
        db.execute("UPDATE chat SET title = ? WHERE id = ?", (happened.incoming.text, happened.chat_id))
