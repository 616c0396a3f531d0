"""The address of somebody who was erased: it goes once the last word has been sent there. It erases nobody."""

import sqlite3

LEAVING = "leaving:"
"""The key in meta of a chat whose address goes begins with it."""

LEAVES = f"(key > '{LEAVING}' AND key < '{LEAVING[:-1]};')"
"""All of these rows; ';' is the character after ':'."""

LEAVE_MS = 60_000
"""How long the last word may take before it is looked whether it went."""


def leave(db: sqlite3.Connection, now: int) -> int:
    """Verb: where the last word has been sent, the address goes; how many went. Whoever came back keeps theirs."""
    rows = db.execute(f"SELECT key FROM meta WHERE {LEAVES} AND CAST(value AS INTEGER) <= ?", (now,)).fetchall()
    gone = 0
    for (key,) in rows:
        number = int(key.removeprefix(LEAVING))
        waits = "SELECT 1 FROM outbox WHERE chat_id = ? AND state IN ('pending', 'sending')"
        if db.execute(waits, (number,)).fetchone():
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (str(now + LEAVE_MS), key))
            continue
        db.execute("UPDATE outbox SET only_for = '', buttons = '[]', via = '' WHERE chat_id = ?", (number,))
        db.execute("DELETE FROM meta WHERE key = ?", (key,))
        back = db.execute("SELECT 1 FROM chat WHERE id = ?1 AND (kind <> 'dm' OR EXISTS (SELECT 1 FROM member WHERE "
                          "chat_id = ?1))", (number,)).fetchone()  # fmt: skip
        if back is None:
            gone += db.execute("DELETE FROM place WHERE chat_id = ?", (number,)).rowcount
    return gone
