"""忘记 as a reply: the line that a message replies to is taken back with all that was made of it.

Whether somebody may do that is decided elsewhere.
"""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.database import Database
from bot.store.deleting import erase, lines
from bot.store.forgetting import Forgetting, disable, forget
from bot.store.keeping import Receipt, confirm, done_before
from bot.store.purging import purge_now
from bot.store.rows import MEMORY, memory_of
from bot.store.said import SCRUBBED_LINES
from bot.store.unnoting import Shelf
from bot.text.fold import fold
from bot.types.memory import Memory
from bot.types.people import Chat


@dataclass(frozen=True, slots=True)
class Replied:
    """What a message replies to; without `there` nothing is left of it.

    `by` are the people it belongs to: who said it, or whom nuan answered with it. `receipt` is its text when nuan
    confirmed something with it, `memories` are those that were asked to be kept in it.
    """

    chat_id: int
    target: str
    there: bool
    by: frozenset[int] = frozenset()
    receipt: str = ""
    memories: tuple[Memory, ...] = ()


class Unsay:
    """Lines that people take back."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def is_reply(self, event_id: int) -> bool:
        """Whether a message replies to another."""
        row = await self._database.row(
            "SELECT 1 FROM event WHERE id = ? AND target <> '' AND kind = 'message'", (event_id,)
        )
        return row is not None

    async def replied(self, event_id: int) -> Replied:
        """What that message replies to."""
        return await self._database.write(lambda db: replied(db, event_id))

    async def keeper(self, memory_id: int) -> Memory | None:
        """An active memory, whoever owns it."""
        row = await self._database.row(f"{MEMORY}WHERE memory.id = ? AND disabled_at IS NULL", (memory_id,))
        return memory_of(tuple(row)) if row is not None else None

    async def told(self, person_id: int, chat: Chat) -> tuple[tuple[int, int, str], ...]:
        """What that person said, oldest first: number, when (ms), text; in a group only there, else in their DMs."""
        where = "chat_id = ?2" if chat.kind == "group" else "chat_id IN (SELECT id FROM chat WHERE kind = 'dm')"
        rows = await self._database.rows(
            "SELECT id, at, text FROM event WHERE person_id = ?1 AND kind = 'message' AND hidden = '' AND text <> '' "
            f"AND (chat_id = ?2 OR {where}) ORDER BY id DESC LIMIT {SCRUBBED_LINES}",
            (person_id, chat.id),
        )
        return tuple((int(row[0]), int(row[1]), str(row[2])) for row in reversed(rows))

    async def forgot_since(self, person_id: int, chat_id: int, since: int) -> bool:
        """Whether that person had something forgotten there since then, ms: a wish of theirs is hidden."""
        row = await self._database.row(
            "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? AND hidden = 'forgotten' LIMIT 1",
            (chat_id, person_id, since),
        )
        return row is not None

    async def matter(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget memories and all that was said of a matter, with the receipt in one commit; its text. Once for a
        key; the lines are gone at once."""
        for memory in forgetting.memories:
            for text in memory.wordings:
                self._shelf.bury(memory.id, text, at)
        text = await self._database.write(lambda db: forget_matter(db, forgetting, receipt, at, self._shelf))
        if forgetting.purge_at is None:
            await purge_now(self._database, at)
        return text

    async def unsay(self, what: Replied, purge_at: int | None, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key.

        What was asked to be kept in it can be undone until `purge_at` (ms), with None it is purged now.
        """
        for memory in what.memories:
            for text in memory.wordings:
                self._shelf.bury(memory.id, text, at)
        text = await self._database.write(lambda db: self._unsay(db, what, purge_at, receipt, at))
        if purge_at is None:
            await purge_now(self._database, at)
        return text

    def _unsay(
        self, db: sqlite3.Connection, what: Replied, purge_at: int | None, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        before = done_before(db, receipt, at)
        if before is not None:
            return before
        said = lines(db, what.chat_id, what.target)
        erase(db, said, at, self._shelf)
        for memory in what.memories:  # ended by that already, but these can be undone
            disable(db, Forgetting((memory,), memory.owner_id or 0, purge_at), receipt.chat_id, at, self._shelf)
        number = what.memories[0].id if what.memories else 0
        text = receipt.text(number, len(what.memories) > 1)
        return confirm(db, receipt, text, at, number if purge_at is not None else 0)


def forget_matter(
    db: sqlite3.Connection, forgetting: Forgetting, receipt: Receipt, at: int, shelf: Shelf
) -> str:  # fmt: skip
    """Verb part: what was said of it and all that was made of that is gone, then the memories; its receipt."""
    before = done_before(db, receipt, at)
    if before is not None:
        return before
    if forgetting.lines:
        erase(db, dict(forgetting.lines), at, shelf)
    return forget(db, forgetting, receipt, at, shelf)


def replied(db: sqlite3.Connection, event_id: int) -> Replied:
    """Verb part: what a message replies to."""
    chat_id, target = db.execute("SELECT chat_id, target FROM event WHERE id = ?", (event_id,)).fetchone()
    by: set[int] = set()
    receipt, memories = "", dict[int, Memory]()
    found = sorted(lines(db, chat_id, target))
    rows = [
        db.execute("SELECT kind, person_id, text, label, turn_id, hidden FROM event WHERE id = ?", (number,)).fetchone()
        for number in found
    ]
    for number, (kind, person_id, text, label, turn_id, hidden) in zip(found, rows, strict=True):
        if hidden in ("deleted", "forgotten"):
            continue
        if kind == "bot":
            receipt = text if label == "memory" else ""
            by |= _answered(db, turn_id) | (_commanded(db, text) if receipt else set())
        elif person_id is not None:
            by.add(cast("int", person_id))
            memories |= {memory.id: memory for memory in _kept(db, number, chat_id, person_id, text)}
    there = any(row[5] not in ("deleted", "forgotten") for row in rows)
    return Replied(
        chat_id, target, there, frozenset(by), receipt, tuple(memories[number] for number in sorted(memories))
    )


def _answered(db: sqlite3.Connection, turn_id: int | None) -> set[int]:
    """The people whose messages a turn answered."""
    rows = db.execute(
        "SELECT person_id FROM turn WHERE id = ?1 UNION SELECT person_id FROM turn_event JOIN event "
        "ON event.id = event_id WHERE turn_event.turn_id = ?1 AND person_id IS NOT NULL",
        (turn_id,),
    )
    return {cast("int", row[0]) for row in rows}


def _commanded(db: sqlite3.Connection, receipt: str) -> set[int]:
    """The people whose commands got this receipt."""
    rows = db.execute("SELECT key FROM effect WHERE result = ? AND key LIKE 'event:%'", (receipt,)).fetchall()
    events = {int(key.split(":")[1]) for (key,) in rows}
    found = (db.execute("SELECT person_id FROM event WHERE id = ?", (number,)).fetchone() for number in events)
    return {cast("int", row[0]) for row in found if row is not None and row[0] is not None}


def _kept(db: sqlite3.Connection, event_id: int, chat_id: int, person_id: int, text: str) -> list[Memory]:
    """The memories that were asked to be kept in a message, or by pointing at it."""
    rows = db.execute(
        f"{MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ?1 AND (memory.id IN (SELECT derived_id "
        "FROM edge WHERE kind = 'memory' AND event_id = ?2) OR (folded = ?3 AND folded <> '' AND chat_id = ?4))",
        (person_id, event_id, fold(text.strip()), chat_id),
    )
    return [memory_of(tuple(row)) for row in rows]
