"""How often people were answered, counted in the ledger. An occasion to answer is marked on its first call."""

import sqlite3

from bot.errors import OverLimit
from bot.types.duration import MINUTE_MS
from bot.types.pace import Pace

COUNTED = """FROM call LEFT JOIN turn ON turn.id = call.turn_id WHERE occasion IS NOT NULL
    AND (call.state <> 'released' OR turn.state NOT IN ('failed', 'void')) """
"""Occasions that were answered or are being answered; one that a server refused, at no cost, is given back."""


def admit(db: sqlite3.Connection, pace: Pace, at: int, person_id: int | None) -> int | None:
    """Verb part: the mark of a call that begins an occasion, None for one that goes on with it. OverLimit."""
    if begun(db, pace):
        return None
    found = reached(db, pace, at, person_id)
    if found is not None:
        raise found
    return pace.occasion


def begun(db: sqlite3.Connection, pace: Pace) -> bool:
    """Verb part: whether a call was counted for that occasion before."""
    return db.execute(f"SELECT 1 {COUNTED} AND occasion = ?", (pace.occasion,)).fetchone() is not None


def reached(db: sqlite3.Connection, pace: Pace, at: int, person_id: int | None) -> OverLimit | None:
    """Verb part: of the limits that are reached, the one that holds longest.

    What lies further ahead than a period is long was counted before the clock was set back.
    """
    own, minute, pause = "AND call.person_id = ? ", (at - MINUTE_MS, at + MINUTE_MS), pace.cooldown_ms or 0
    day = (pace.day_since - 1, pace.day_until)
    limits = (
        ("cooldown", pace.cooldown_ms and 1, (at - pause, at + pause), own),
        ("person_minute", pace.person_minute, minute, own),
        ("person_day", pace.person_day, day, own),
        ("global_minute", pace.global_minute, minute, ""),
        ("global_day", pace.global_day, day, ""),
    )
    met: list[OverLimit] = []
    for name, most, (after, before), who in limits:
        if most is None:
            continue
        # The oldest of the newest `most`: when it is out of the period, there is room again.
        row = db.execute(
            f"SELECT call.at {COUNTED} AND call.at > ? AND call.at < ? {who}ORDER BY call.at DESC LIMIT 1 OFFSET ?",
            (after, before, *((person_id,) if who else ()), most - 1),
        ).fetchone()
        if row is not None:
            met.append(OverLimit(name, (pace.day_until if name.endswith("day") else row[0] + at - after) - at))
    return max(met, key=lambda each: each.wait_ms, default=None)


def tell(db: sqlite3.Connection, person_id: int, window: str, since: int, at: int) -> bool:
    """Verb part: whether a person is to be told of a limit: not if they were told of one of that window since then.

    Whoever was told before the clock was set back is told again.
    """
    return (
        db.execute(
            "INSERT INTO told (person_id, window, at) VALUES (?1, ?2, ?3) "
            "ON CONFLICT (person_id, window) DO UPDATE SET at = ?3 WHERE at < ?4 OR at > ?3",
            (person_id, window, at, since),
        ).rowcount
        == 1
    )
