"""Other bots: how often nuan answered them in a chat. What a bot must do to be answered is decided elsewhere."""

import sqlite3

MOST = 20
WINDOW_MS = 60_000
SILENCE_MS = 60_000
"""So many exchanges within a minute, then a minute of silence towards all bots of the chat (FAULTS D20)."""

IN_A_ROW = 60
"""Exchanges without a line of a human, after which nuan waits for one: two slow bots never make 20 in a minute."""


def quiet(db: sqlite3.Connection, chat_id: int, at: int) -> bool:
    """Verb part: whether bots get no answer in that chat now."""
    rows = db.execute(
        "SELECT id, at FROM event WHERE chat_id = ? AND why = 'bot' ORDER BY id DESC LIMIT ?", (chat_id, IN_A_ROW)
    ).fetchall()
    # abs: after the clock was set back the newest lie ahead, and nobody is to wait until it has caught up.
    if len(rows) >= MOST and abs(rows[0][1] - rows[MOST - 1][1]) < WINDOW_MS and abs(at - rows[0][1]) < SILENCE_MS:
        return True
    if len(rows) < IN_A_ROW:
        return False
    human = db.execute(
        "SELECT 1 FROM event JOIN person ON person.id = person_id WHERE chat_id = ? AND event.id > ? "
        "AND kind = 'message' AND is_bot = 0 LIMIT 1",
        (chat_id, rows[-1][0]),
    ).fetchone()
    return human is None
