"""What people thought of replies: their reactions, and which memories each reply was told. It ranks nothing."""

import re
import sqlite3
from dataclasses import dataclass

from bot.store.database import Database
from bot.store.events import Effect, Happened

UP, DOWN = ("👍", "❤"), ("👎",)
"""The reactions that count, without skin tone and variation selector."""

_DRESS = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many reactions were for and against the replies that a memory was told to."""

    up: int
    down: int


class Feedback:
    """Reactions to replies, by the memories behind them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def for_memory(self, memory_id: int) -> Counts:
        """The reactions to all replies that this memory was told to; each person counts once for each emoji."""
        rows = await self._database.rows(
            "SELECT emoji, count(*) FROM turn_memory JOIN feedback USING (turn_id) WHERE memory_id = ? GROUP BY emoji",
            (memory_id,),
        )
        counted = {str(emoji): int(count) for emoji, count in rows}
        return Counts(sum(counted.get(emoji, 0) for emoji in UP), sum(counted.get(emoji, 0) for emoji in DOWN))


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
    if reply is not None and person is not None and emoji in UP + DOWN:
        key = (reply[0], person, emoji)
        if taken_back:
            db.execute("DELETE FROM feedback WHERE turn_id = ? AND person_id = ? AND emoji = ?", key)
        else:
            db.execute(
                "INSERT OR IGNORE INTO feedback (turn_id, person_id, emoji, at) VALUES (?, ?, ?, ?)",
                (*key, happened.at),
            )
    return Effect("change") if taken_back else Effect()


def told(db: sqlite3.Connection, turn_id: int, memories: tuple[int, ...]) -> None:
    """Verb part: this turn was told these memories."""
    db.executemany(
        "INSERT OR IGNORE INTO turn_memory (turn_id, memory_id) VALUES (?, ?)", [(turn_id, each) for each in memories]
    )
