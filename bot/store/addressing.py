"""A change of how somebody is to be addressed, told to the logs under way as `<e t="address">`: openings are frozen."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import cast

LABEL = "address"

_CHATS = """SELECT chat.id FROM memory JOIN chat ON CASE memory.visibility WHEN 'chat' THEN chat.id = memory.chat_id
    ELSE EXISTS (SELECT 1 FROM member WHERE member.chat_id = chat.id AND person_id = memory.owner_id)
    AND (chat.kind = 'dm' OR memory.visibility = 'public') END
    WHERE memory.id = ? AND EXISTS (SELECT 1 FROM session WHERE session.chat_id = chat.id AND state = 'open')"""
"""The chats with a log under way in which a memory may be told."""


def tell_address(db: sqlite3.Connection, number: int, words: Callable[[str, str], str], at: int) -> None:
    """Verb part: a wish how to be addressed holds now; `words` says it from its slot and name. Others are not told."""
    row = db.execute(
        "SELECT slot, text, owner_id, person.name FROM memory JOIN person ON person.id = owner_id "
        "WHERE memory.id = ? AND slot IN ('address', 'no_address') AND disabled_at IS NULL",
        (number,),
    ).fetchone()
    if row is None:
        return
    for (chat_id,) in db.execute(_CHATS, (number,)).fetchall():
        event = db.execute(
            "INSERT INTO event (chat_id, at, kind, person_id, name, text, label, state) "
            "VALUES (?, ?, 'event', ?, ?, ?, ?, 'done')",
            (chat_id, at, row[2], row[3], words(row[0], row[1]), LABEL),
        ).lastrowid
        db.execute("INSERT INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)", (number, event))


def addresses(db: sqlite3.Connection, events: Iterable[int]) -> set[int]:
    """Verb part: the lines by which logs were told of wishes in these messages."""
    return {
        cast("int", row[0])
        for number in sorted(events)
        for row in db.execute(
            "SELECT event.id FROM edge AS said JOIN edge AS told ON told.kind = 'memory' AND told.derived_id = "
            "said.derived_id JOIN event ON event.id = told.event_id WHERE said.kind = 'memory' AND said.event_id = ? "
            "AND event.label = ? AND event.hidden = ''",
            (number, LABEL),
        )
    }
