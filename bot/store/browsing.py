"""Memories as their keeper browses them: everybody's, for the operator's eyes only. No prompt is made of these."""

import sqlite3
from dataclasses import dataclass, replace
from typing import cast

from bot.store.database import Repository
from bot.store.reader import Row
from bot.store.rows import COLUMNS, memory_of
from bot.text.fold import fold
from bot.types.memory import Memory

GONE = ("asked", "derived")
"""Why a memory is over that was forgotten: its text is told nobody any more, also while the row waits for undo."""

STATES = {
    "active": "memory.disabled_at IS NULL",
    "archived": "memory.disabled_reason = 'archived'",
    "forgotten": "memory.disabled_reason IN ('asked', 'derived')",
    "all": "1",
}
"""What can be browsed."""

PLACED = "(SELECT platform || ' ' || coalesce(nullif(chat.title, ''), external_id) FROM place WHERE place.chat_id = "
CHAT_LABEL = f"coalesce({PLACED}chat.id AND current = 1), '#' || chat.id)"
"""How a chat is called, for a query that joins it."""

_FOUND = f"""SELECT {COLUMNS}, memory.disabled_reason, memory.purge_at, coalesce(person.name, ''), {CHAT_LABEL}
    FROM memory LEFT JOIN person ON person.id = memory.owner_id
    LEFT JOIN chat ON chat.id = memory.chat_id """


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is browsed: words in the text, one owner, one kind, a state of STATES; those with numbers below `below`."""

    text: str = ""
    owner_id: int | None = None
    kind: str = ""
    state: str = "active"
    below: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Browsed:
    """One memory with whose it is and where it was told; `undo_until` (ms) is when an ended one goes for good.

    The text of one that was forgotten is empty.
    """

    memory: Memory
    owner: str
    chat: str
    ended: str = ""
    undo_until: int | None = None

    @property
    def forgotten(self) -> bool:
        """Whether somebody asked to forget it, or it went with what was forgotten."""
        return self.ended in GONE


@dataclass(frozen=True, slots=True)
class Origin:
    """A line that a memory was made from; its text is "" when it is not told any more."""

    event_id: int
    at: int
    chat: str
    who: str
    text: str
    turn_id: int | None


class Browsing(Repository):
    """All memories of the house."""

    async def memories(self, wanted: Wanted) -> tuple[Browsed, ...]:
        """The newest that fit, newest first; the text of what was forgotten is not searched."""
        where, params = [STATES.get(wanted.state, STATES["active"])], list[object]()
        if wanted.text.strip():
            like = fold(wanted.text).strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            where.append("memory.folded LIKE ? ESCAPE '\\' AND memory.disabled_reason NOT IN ('asked', 'derived')")
            params.append(f"%{like}%")
        for column, value in (("owner_id", wanted.owner_id), ("kind", wanted.kind or None)):
            if value is not None:
                where.append(f"memory.{column} = ?")
                params.append(value)
        if wanted.below:
            where.append("memory.id < ?")
            params.append(wanted.below)
        rows = await self._database.rows(
            f"{_FOUND}WHERE {' AND '.join(where)} ORDER BY memory.id DESC LIMIT ?", (*params, wanted.limit)
        )
        return tuple(browsed(row) for row in rows)

    async def memory(self, number: int) -> Browsed | None:
        """The memory of that number; None when there is none (any more)."""
        row = await self._database.row(f"{_FOUND}WHERE memory.id = ?", (number,))
        return browsed(row) if row is not None else None

    async def origins(self, number: int) -> tuple[Origin, ...]:
        """The lines that a memory was made from, in order."""
        rows = await self._database.rows(
            f"SELECT event.id, at, {CHAT_LABEL}, coalesce(nullif(event.name, ''), person.name, ''), CASE WHEN hidden "
            "= '' AND off_record = 0 THEN text ELSE '' END, turn_id FROM edge JOIN event ON event.id = event_id "
            "JOIN chat ON chat.id = event.chat_id LEFT JOIN person ON person.id = event.person_id "
            "WHERE edge.kind = 'memory' AND derived_id = ? ORDER BY event.id",
            (number,),
        )
        return tuple(Origin(*row) for row in rows)

    async def counts(self) -> dict[str, int]:
        """How many memories there are of each state of STATES."""
        sums = ", ".join(f"coalesce(sum({where}), 0)" for where in STATES.values())
        row = await self._database.row(f"SELECT {sums} FROM memory")
        assert row is not None
        return dict(zip(STATES, (int(value) for value in row), strict=True))


def browsed(row: Row | sqlite3.Row) -> Browsed:
    """A row of `_FOUND` as a value."""
    *values, ended, undo_until, owner, chat = row
    found = Browsed(memory_of(tuple(values)), str(owner), str(chat or ""), str(ended), cast("int | None", undo_until))
    return replace(found, memory=replace(found.memory, text="", original="")) if found.forgotten else found
