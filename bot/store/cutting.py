"""Replies of which only a part goes out: what people saw is what was said. Whether one is cut is decided elsewhere."""

import sqlite3
from collections.abc import Callable
from typing import cast

from bot.types.speaking import UNASKED

CUT = "cut"
"""The label of what people saw of a reply that was not said whole."""

UNSENT = (
    "SELECT DISTINCT turn_id FROM outbox WHERE chat_id = ? AND state IN ('pending', 'sending') AND state = 'pending' "
    "AND kind = 'reply' AND EXISTS (SELECT 1 FROM turn WHERE turn.id = turn_id AND turn.state = 'said')"
)
"""Turns of a chat of whose replies something waits to be sent."""

PACED = (
    "SELECT turn_id, min(part) FROM outbox WHERE chat_id = ? AND state IN ('pending', 'sending') AND state = "
    "'pending' AND kind = 'reply' AND wait_ms > 0 GROUP BY turn_id"
)
"""Turns of a chat whose replies are still being said, message by message, and the message that comes next."""


def supersede(db: sqlite3.Connection, chat_id: int, person_id: int, at: int, *, called: bool) -> tuple[int, ...]:
    """Verb part: that person spoke, so what is still to be said is left out; of which turns (C19).

    Of what answers them when they `called` nuan, and of what nobody asked for.
    """
    return _cut(db, chat_id, at, lambda turn: (called and answers(db, turn, person_id)) or _unasked(db, turn))


def give_way(db: sqlite3.Connection, chat_id: int, turn_id: int, at: int) -> None:
    """Verb part: a reply is said; of older ones to the same people nothing more comes in between."""
    rows = db.execute(
        "SELECT DISTINCT person_id FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ?",
        (turn_id,),
    )
    people = tuple(cast("int", person_id) for (person_id,) in rows if person_id is not None)
    _cut(db, chat_id, at, lambda older: any(answers(db, older, person_id) for person_id in people))


def fall_silent(db: sqlite3.Connection, chat_id: int, at: int) -> tuple[int, ...]:
    """Verb part: what is still to be said in that chat is left out, whoever it answers; of which turns."""
    return _cut(db, chat_id, at, lambda _: True)


def says_on(db: sqlite3.Connection, chat_id: int) -> bool:
    """Verb part: whether a reply of that chat is still being said, message by message."""
    return db.execute(PACED, (chat_id,)).fetchone() is not None


def _cut(db: sqlite3.Connection, chat_id: int, at: int, ends: Callable[[int], bool]) -> tuple[int, ...]:
    cut = tuple(
        (cast("int", turn_id), cast("int", part))
        for turn_id, part in db.execute(PACED, (chat_id,)).fetchall()
        if ends(turn_id)
    )
    for turn_id, part in cut:
        unsay(db, turn_id, part, at)
    return tuple(turn_id for turn_id, _ in cut)


def _unasked(db: sqlite3.Connection, turn_id: int) -> bool:
    why = db.execute("SELECT why FROM turn WHERE id = ?", (turn_id,)).fetchone()
    return why is not None and why[0] in UNASKED


def answers(db: sqlite3.Connection, turn_id: int, person_id: int) -> bool:
    """Verb part: whether that turn answers something that this person said."""
    return (
        db.execute(
            "SELECT 1 FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ? AND person_id = ?",
            (turn_id, person_id),
        ).fetchone()
        is not None
    )


def unsay(db: sqlite3.Connection, turn_id: int, part: int, at: int) -> None:
    """Verb part: what waits to be sent of a reply, from that part on, goes no more.

    Its line holds what went, and the next delta tells that.
    """
    rows = db.execute(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND part >= ? AND state = 'pending' AND "
        "kind = 'reply' ORDER BY part, id",
        (turn_id, part),
    ).fetchall()
    for number, shown, _ in rows:
        kind, state = ("withdrawal", "pending") if shown else ("reply", "cancelled")
        db.execute(
            "UPDATE outbox SET kind = ?, state = ?, text = '', due_at = ? WHERE id = ?", (kind, state, at, number)
        )
    said = db.execute(
        "SELECT id, text FROM event WHERE turn_id = ? AND kind = 'bot' AND label = '' AND hidden = ''", (turn_id,)
    ).fetchone()
    if said is not None:
        went = db.execute(
            "SELECT 1 FROM outbox WHERE turn_id = ? AND kind = 'reply' AND state IN ('pending', 'sending', 'sent', "
            "'unknown')",
            (turn_id,),
        ).fetchone()
        seen = _without(str(said[1]), tuple(str(row[2]) for row in rows)) if went is not None else ""
        db.execute("UPDATE event SET text = ?, label = ? WHERE id = ?", (seen.rstrip(), CUT, said[0]))
        _tell_again(db, said[0], at)


def _without(whole: str, parts: tuple[str, ...]) -> str:
    """A reply without its last parts, as far as these are found in it: code that is split has marks of its own."""
    end = len(whole)
    for part in reversed(parts):
        at = whole.rfind(part, 0, end)
        end = at if at >= 0 else end
    return whole[:end]


def _tell_again(db: sqlite3.Connection, line: int, at: int) -> None:
    """Somebody else was answered meanwhile, so that the log has passed the line: it stands anew after that."""
    passed = db.execute(
        "SELECT 1 FROM event JOIN session ON session.chat_id = event.chat_id AND session.state = 'open' "
        "WHERE event.id = ?1 AND ?1 <= (SELECT logged_upto FROM epoch WHERE session_id = session.id "
        "ORDER BY number DESC LIMIT 1)",
        (line,),
    ).fetchone()
    if passed is None:
        return
    new = db.execute(
        "INSERT INTO event (chat_id, at, kind, text, label, state, turn_id) "
        "SELECT chat_id, ?, kind, text, label, 'done', turn_id FROM event WHERE id = ?",
        (at, line),
    ).lastrowid
    db.execute("UPDATE event SET hidden = ?, text = '' WHERE id = ?", (CUT, line))
    db.execute("UPDATE outbox SET event_id = ? WHERE event_id = ?", (new, line))
