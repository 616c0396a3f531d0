"""What people thought of replies: reactions and clear words; and which memories each reply was told."""

import math
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass

from bot.store.events import Effect, Happened
from bot.text.echo import touches
from bot.types.duration import DAY_MS
from bot.types.feedback import (
    CLEAR,
    LATE,
    LATE_MS,
    MOST_CREDITED,
    MOST_PER_DAY,
    REACTIONS,
    SIGNS,
    WINDOW_MS,
    Signal,
)
from bot.types.memory import BOOTED, MOST_IMPORTANCE, MOST_STABLE, RECALLED

VITAL = 1.2
"""What was let fade comes back by this factor when it is recalled (seed Warm Boot)."""

_DRESS = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")


def react(db: sqlite3.Connection, happened: Happened) -> Effect:
    """Verb part: a reaction is recorded for the reply it is on, or taken back; the latter is not told."""
    incoming = happened.incoming
    emoji, taken_back = _DRESS.sub("", incoming.text.removeprefix("-")), incoming.text.startswith("-")
    # Telegram does not say in which topic of a group a reaction was; message ids are the whole group's.
    reply = db.execute(
        "SELECT turn_id FROM sent WHERE external_id = ?2 AND turn_id IS NOT NULL AND chat_id IN (SELECT ?1 UNION "
        "SELECT topic.chat_id FROM place JOIN place AS topic ON topic.platform = place.platform "
        "AND topic.parent = place.external_id WHERE place.chat_id = ?1) LIMIT 1",
        (happened.chat_id, incoming.target),
    ).fetchone()
    person = None if incoming.sender is None or incoming.sender.is_bot else happened.person_id
    if reply is not None and person is not None and emoji in REACTIONS:
        credit(db, reply[0], person, (emoji,), happened.at, taken_back=taken_back)
    return Effect("change") if taken_back else Effect()


def remark(
    db: sqlite3.Connection, chat_id: int, person_id: int, signals: tuple[Signal, ...], at: int
) -> None:  # fmt: skip
    """Verb part: somebody's clear words are about the last reply to them in that chat, if it was said just now.

    Thanks and corrections may come later, when nuan has said nothing else there. In the reference the oldest open
    window got them (measured).
    """
    last = db.execute(
        "SELECT turn.id, said_at FROM session JOIN turn ON turn.session_id = session.id WHERE session.chat_id = ?1 "
        "AND session.number > (SELECT max(number) FROM session WHERE chat_id = ?1) - 2 AND turn.state = 'said' "
        "AND turn.error = '' AND (turn.person_id = ?2 OR EXISTS (SELECT 1 FROM turn_event JOIN event "
        "ON event.id = event_id WHERE turn_event.turn_id = turn.id AND event.person_id = ?2)) "
        "ORDER BY said_at DESC, turn.id DESC LIMIT 1",
        (chat_id, person_id),
    ).fetchone()
    if last is None or not 0 <= at - last[1] <= LATE_MS:
        return
    if at - last[1] > WINDOW_MS:
        signals = tuple(each for each in signals if each in LATE)
        since = "SELECT 1 FROM event WHERE chat_id = ? AND kind = 'bot' AND at > ? AND turn_id IS NOT ? LIMIT 1"
        if db.execute(since, (chat_id, last[1], last[0])).fetchone():
            return
    credit(db, last[0], person_id, signals, at)


def credit(
    db: sqlite3.Connection, turn_id: int, person_id: int, signs: tuple[str, ...], at: int, *, taken_back: bool = False
) -> None:
    """Verb part: a reply gets these signs of a person, each once, and its memories what their average says now."""
    before = _average(db, turn_id, person_id)
    for sign in signs:
        if taken_back:
            key = (turn_id, person_id, sign)
            db.execute("DELETE FROM feedback WHERE turn_id = ? AND person_id = ? AND sign = ?", key)
        else:
            db.execute(
                "INSERT OR IGNORE INTO feedback (turn_id, person_id, sign, at) VALUES (?, ?, ?, ?)",
                (turn_id, person_id, sign, at),
            )
    after = _average(db, turn_id, person_id)
    up, down = (after > 0) - (before > 0), (after < 0) - (before < 0)
    if up or down or before != after:
        db.executemany(
            "UPDATE memory SET helpful = max(0, helpful + ?), unhelpful = max(0, unhelpful + ?), "
            "importance = max(1, min(?, importance + ?)), praised_at = max(praised_at, ?) WHERE id = ?",
            [(up, down, MOST_IMPORTANCE, after - before, at if up > 0 else 0, each) for each in _behind(db, turn_id)],
        )


def _average(db: sqlite3.Connection, turn_id: int, person_id: int) -> int:
    """What a person's signs to a reply add to its memories' counts: their average rounded away from 0, or 0."""
    rows = db.execute("SELECT sign FROM feedback WHERE turn_id = ? AND person_id = ?", (turn_id, person_id)).fetchall()
    average = sum(SIGNS.get(row[0], 0.0) for row in rows) / len(rows) if rows else 0.0
    return int(math.copysign(math.ceil(abs(average)), average)) if abs(average) > CLEAR else 0


def _behind(db: sqlite3.Connection, turn_id: int) -> list[int]:
    """The memories that a sign to a reply counts for: none of them more often than for three replies of a day."""
    lately = db.execute(
        "SELECT DISTINCT feedback.turn_id FROM feedback JOIN turn ON turn.id = feedback.turn_id JOIN turn AS this "
        "ON this.id = ?1 AND this.chat_id = turn.chat_id WHERE feedback.turn_id < ?1 AND turn.said_at > this.said_at "
        f"- {DAY_MS} ORDER BY 1 DESC LIMIT 32",
        (turn_id,),
    ).fetchall()
    often = Counter(number for (turn,) in lately for number in _spoken_of(db, turn))
    return [number for number in _spoken_of(db, turn_id) if often[number] < MOST_PER_DAY]


def _spoken_of(db: sqlite3.Connection, turn_id: int) -> list[int]:
    """The memories of a reply: what was recalled for it, and what it speaks of that its log told before; the first."""
    rows = db.execute(
        "SELECT memory.id, memory.text, min(boot OR turn.id < ?1) AS before FROM turn AS this JOIN turn "
        "ON turn.session_id = this.session_id AND turn.epoch_id = this.epoch_id AND turn.id <= this.id "
        "JOIN turn_memory ON turn_memory.turn_id = turn.id JOIN memory ON memory.id = memory_id WHERE this.id = ?1 "
        "GROUP BY memory.id ORDER BY before, max(turn.id) DESC, memory.id",
        (turn_id,),
    ).fetchall()
    said = "\n".join(
        str(row[0]) for row in db.execute("SELECT text FROM event WHERE turn_id = ? AND kind = 'bot'", (turn_id,))
    )  # fmt: skip
    return [number for number, text, before in rows if not before or touches(text, said)][:MOST_CREDITED]


@dataclass(frozen=True, slots=True)
class Use:
    """How a turn came by its memories: by its opening (`boot`) or by a recall. It strengthens each memory at most once
    in `rest_ms`."""

    rest_ms: int
    boot: bool = False


def told(db: sqlite3.Connection, turn_id: int, memories: tuple[int, ...], use: Use, at: int) -> None:
    """Verb part: this turn was told these memories, and what is used lasts longer."""
    if not memories:
        return
    db.executemany(
        "INSERT INTO turn_memory (turn_id, memory_id, boot) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET boot = min(boot, excluded.boot)",
        [(turn_id, each, int(use.boot)) for each in memories],
    )
    if use.boot:
        db.executemany(
            "UPDATE memory SET stability_days = min(?, stability_days * ?), booted_at = ? WHERE id = ? "
            "AND booted_at <= ?",
            [(MOST_STABLE, BOOTED, at, each, at - use.rest_ms) for each in memories],
        )
    else:
        db.executemany(
            "UPDATE memory SET stability_days = min(?, stability_days * ?), accessed_at = ?, recalled_at = ?, "
            "access_count = access_count + 1, faded = min(1, faded * ?) WHERE id = ? AND recalled_at <= ?",
            [(MOST_STABLE, RECALLED, at, at, VITAL, each, at - use.rest_ms) for each in memories],
        )
