"""The deadlines at which nuan looks whether to enter a talk, one for each group. What she finds is in joins.py."""

import sqlite3


def arm(db: sqlite3.Connection, chat_id: int, at: int) -> bool:
    """Verb part: look at that chat at `at`, ms, 0 for never; True when no look was as near.

    Nothing where she is to be quiet.
    """
    if not at:
        return False
    sooner = db.execute(
        "INSERT INTO joining (chat_id, due_at) VALUES (?1, ?2) ON CONFLICT (chat_id) DO UPDATE SET due_at = ?2 "
        "WHERE hushed = 0 AND (due_at IS NULL OR due_at > ?2)",
        (chat_id, at),
    )
    return sooner.rowcount == 1


def keep_quiet(db: sqlite3.Connection, chat_id: int) -> None:
    """Verb part: nuan enters no talk of that chat until somebody calls her."""
    db.execute(
        "INSERT INTO joining (chat_id, hushed) VALUES (?, 1) "
        "ON CONFLICT (chat_id) DO UPDATE SET hushed = 1, due_at = NULL",
        (chat_id,),
    )


def called(db: sqlite3.Connection, chat_id: int) -> None:
    """Verb part: somebody calls nuan, so that she may enter talks again."""
    db.execute("UPDATE joining SET hushed = 0 WHERE chat_id = ? AND hushed <> 0", (chat_id,))
