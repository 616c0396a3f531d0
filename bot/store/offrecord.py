"""别记这个: lines that stay in the conversation and enter no digest, no note and no search of the transcript.

`event.off_record` marks them; whoever makes something lasting of lines leaves them out.
"""

import sqlite3
from typing import cast

from bot.store.database import Database
from bot.store.deleting import lines
from bot.store.forgetting import Forgetting, disable, undigest
from bot.store.indexing import index_lines, index_memory
from bot.store.keeping import Receipt, confirm, done_before
from bot.store.promising import unpromise
from bot.store.rows import MEMORY, marks, memory_of
from bot.store.unnoting import Shelf, Unsaid, unnote
from bot.types.memory import Memory


class OffRecord:
    """Marks lines, and takes back what was made of them."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def replied(self, event_id: int) -> tuple[tuple[int, ...], str, int]:
        """The lines that a message replies to, what is visible of them, and when that was said, ms."""
        return await self._database.write(lambda db: _replied(db, event_id))

    async def kept_from(self, events: tuple[int, ...], owner_id: int) -> tuple[Memory, ...]:
        """What that person asked to keep in these messages."""
        rows = await self._database.rows(
            f"{MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ? AND memory.id IN "
            f"(SELECT derived_id FROM edge WHERE kind = 'memory' AND event_id IN ({marks(events)})) ORDER BY id",
            (owner_id, *events),
        )
        return tuple(memory_of(tuple(row)) for row in rows)

    async def set_aside(
        self, events: tuple[int, ...], forgetting: Forgetting | None, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        """Mark these messages and the replies to them, with the receipt in one commit; its text. Once for each key."""
        return await self._database.write(lambda db: _set_aside(db, events, forgetting, receipt, at, self._shelf))


def _said_by(db: sqlite3.Connection, events: set[int], person_id: int) -> set[int]:
    """Of these lines that person's and nuan's: what others said and promised stays theirs."""
    rows = db.execute(
        f"SELECT id FROM event WHERE id IN ({marks(events)}) AND (person_id = ? OR person_id IS NULL)",
        (*events, person_id),
    )
    return {cast("int", row[0]) for row in rows}


def _replied(db: sqlite3.Connection, event_id: int) -> tuple[tuple[int, ...], str, int]:
    chat_id, target = db.execute("SELECT chat_id, target FROM event WHERE id = ?", (event_id,)).fetchone()
    found = lines(db, chat_id, target)
    shown = [
        (text, row[0])
        for number, text in sorted(found.items())
        if (row := db.execute("SELECT at FROM event WHERE id = ? AND hidden = ''", (number,)).fetchone())
    ]
    text, at = shown[-1] if shown else ("", 0)
    return tuple(sorted(found)), text.strip(), at


def _set_aside(
    db: sqlite3.Connection, events: tuple[int, ...], forgetting: Forgetting | None, receipt: Receipt, at: int,
    shelf: Shelf,
) -> str:  # fmt: skip
    before = done_before(db, receipt, at)
    if before is not None:
        return before
    marked = set(events)
    for number in events:
        rows = db.execute(
            "SELECT event.id FROM turn_event JOIN event ON event.turn_id = turn_event.turn_id "
            "WHERE turn_event.event_id = ? AND event.kind = 'bot'",
            (number,),
        )
        marked |= {cast("int", row[0]) for row in rows}
    db.executemany("UPDATE event SET off_record = 1 WHERE id = ?", [(number,) for number in sorted(marked)])
    lifted = [(receipt.event_id, number) for number in sorted(marked)]
    db.executemany("INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('aside', ?, ?)", lifted)
    index_lines(db, marked)
    unnote(db, shelf, Unsaid(frozenset(marked)), at)
    undigest(db, marked, at)
    own = marked & _said_by(db, marked, receipt.person_id)
    unpromise(db, own)
    for number in sorted(own):
        derived = db.execute(
            "SELECT memory.id FROM edge JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory' "
            "AND event_id = ? AND asked = 0 AND disabled_at IS NULL",
            (number,),
        ).fetchall()
        for (memory_id,) in derived:
            db.execute(
                "UPDATE memory SET disabled_at = ?1, disabled_reason = 'derived', purge_at = ?1 WHERE id = ?2",
                (at, memory_id),
            )
            index_memory(db, memory_id)
    number = 0
    if forgetting is not None:
        disable(db, forgetting, receipt.chat_id, at, shelf)
        number = forgetting.memories[0].id if forgetting.purge_at is not None else 0
    return confirm(db, receipt, receipt.text(number, forgetting is not None), at, number)
