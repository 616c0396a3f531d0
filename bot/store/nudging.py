"""Verb parts behind reminders of promises: set and moved with the promise, one of the same thing is enough.

What ends with the promise ends by triggers (bot/store/schema_nudges.py); its words are read off it (reminding.TEXT).
"""

import sqlite3
from collections.abc import Iterable
from typing import cast

from bot.store.reminding import same_thing, unsay
from bot.types.commitment import NewCommitment
from bot.types.duration import DAY_MS


def nudge(db: sqlite3.Connection, number: int, new: NewCommitment, at: int) -> None:
    """Verb part: a promise has another day: its person is reminded then, in the chat where they named it, or not at
    all where that is over, where they asked for that themselves, or have reminders enough.
    """
    db.execute("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", (number,))
    wanted = new.nudge
    if wanted is None or wanted.at <= at or _asked(db, new):
        return
    (waiting,) = db.execute(
        "SELECT count(*) FROM reminder WHERE ended_at IS NULL AND person_id = ?", (new.owner_id,)
    ).fetchone()
    if waiting < wanted.most_open:
        db.execute(
            "INSERT INTO reminder (person_id, chat_id, text, due_at, made_at, commitment_id, wall) "
            "VALUES (?, ?, '', ?, ?, ?, 1)",
            (new.owner_id, new.chat_id, wanted.at, at, number),
        )


def handed(db: sqlite3.Connection, kept: int, gone: int) -> None:
    """Verb part: two promises are one: the later one's day counts, and so does when its person is reminded of it."""
    db.execute("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", (kept,))
    db.execute("UPDATE reminder SET commitment_id = ? WHERE commitment_id = ?", (kept, gone))


def take_back(db: sqlite3.Connection, commitments: Iterable[int]) -> None:
    """Verb part: these promises were never made: what nuan said of them is not told any more, nor sent again."""
    for number in commitments:
        rows = db.execute("SELECT id FROM reminder WHERE commitment_id = ?", (number,)).fetchall()
        unsay(db, tuple(cast("int", row[0]) for row in rows))


def _asked(db: sqlite3.Connection, new: NewCommitment) -> bool:
    """Whether one of its messages asked to be reminded of it."""
    return any(
        same_thing(str(text), new.text)
        for event in new.event_ids
        for (text,) in db.execute(
            "SELECT text FROM edge JOIN reminder ON reminder.id = derived_id WHERE edge.kind = 'reminder' "
            "AND event_id = ? AND ended_at IS NULL",
            (event,),
        )
    )


def moved(db: sqlite3.Connection, number: int, at: int) -> None:
    """Verb part: it has another day: talks that told the old one say so."""
    db.execute("UPDATE commitment SET moved_at = ? WHERE id = ?", (at, number))


def follow(db: sqlite3.Connection, older: int, newer: int, at: int) -> None:
    """Verb part: a statement that names a day takes the place of another: open tasks of the same lines and day move
    with it, and so does when their person is reminded."""
    days = {row[0]: row[1:] for row in db.execute(
        "SELECT id, observed_at, dated FROM memory WHERE id IN (?, ?)", (older, newer))}  # fmt: skip
    (was, was_dated), (now, now_dated) = days[older], days[newer]
    if not {was_dated, now_dated} <= {"day", "time"} or was == now:
        return
    rows = db.execute(
        "SELECT DISTINCT commitment.id, due_at, commitment.dated FROM commitment "
        "JOIN edge AS own ON own.kind = 'commitment' AND own.derived_id = commitment.id "
        "JOIN edge AS told ON told.kind = 'memory' AND told.derived_id = ? AND told.event_id = own.event_id "
        "WHERE commitment.ended_at IS NULL AND commitment.text <> '' AND abs(due_at - ?) <= ?",
        (older, was, DAY_MS // 2),
    ).fetchall()
    for number, due, dated in rows:
        timed = now_dated == "time"
        whole = now - was if was_dated == now_dated else round((now - was) / DAY_MS) * DAY_MS
        then = now if timed and dated != "time" else due + whole
        db.execute(
            "UPDATE commitment SET due_at = ?, dated = ? WHERE id = ?", (then, "time" if timed else dated, number)
        )
        db.execute(
            "UPDATE reminder SET due_at = due_at + ?1 WHERE commitment_id = ?2 AND ended_at IS NULL "
            "AND due_at + ?1 > ?3",
            (then - due, number, at),
        )
        moved(db, number, at)
