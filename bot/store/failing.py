"""Events whose handling failed: tried again later and later, given up in the end, and then still to be seen."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from bot.store.database import Repository
from bot.store.events import EVENT, event_of
from bot.store.outbox import put
from bot.store.rows import marks
from bot.types.event import Event
from bot.types.outgoing import Draft

DEAD = "state = 'dead' AND hidden <> 'old'"
"""What was given up, as long as its text is kept."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The events that had one try more, and those of them that get no other."""

    events: tuple[int, ...]
    dead: tuple[int, ...]


class Failing(Repository):
    """What could not be handled."""

    async def failed(
        self, chat_id: int, events: tuple[int, ...], error: str, again: Callable[[int], int | None],
        notice: Draft | None, at: int,
    ) -> Counted:  # fmt: skip
        """Handling these queued events of a chat failed once more.

        Without any it was the first that is due there. `again` tells from the number of tries in how many ms the next
        one is, None for no more; then the chat is told the notice, if there is one.
        """
        return await self._database.write(lambda db: failed(db, chat_id, events, error, again, notice, at))

    async def dead(self) -> dict[str, int]:
        """How many events were given up, by the name of the error."""
        rows = await self._database.rows(f"SELECT error, count(*) FROM event WHERE {DEAD} GROUP BY error")
        return {str(row[0]): int(row[1]) for row in rows}

    async def events(self, numbers: tuple[int, ...]) -> tuple[Event, ...]:
        """Those events, in order."""
        rows = await self._database.rows(f"{EVENT}WHERE id IN ({marks(numbers)}) ORDER BY id", numbers)
        return tuple(event_of(row) for row in rows)

    async def acted(self, turn_id: int) -> bool:
        """Whether a tool did something in that turn: what is asked anew would do it twice."""
        row = await self._database.row(
            "SELECT 1 FROM effect WHERE key >= ?1 AND key < ?1 || 'x'", (f"turn:{turn_id}:",)
        )
        return row is not None


def failed(
    db: sqlite3.Connection, chat_id: int, events: tuple[int, ...], error: str, again: Callable[[int], int | None],
    notice: Draft | None, at: int,
) -> Counted:  # fmt: skip
    """Verb: one try more for each; see Failing.failed."""
    which, values = f"id IN ({marks(events)}) AND state = 'queued'", events
    if not events:
        which = (
            "id = (SELECT min(id) FROM event INDEXED BY event_queue WHERE chat_id = ? AND state = 'queued' "
            "AND due_at <= ?)"
        )
        values = (chat_id, at)
    counted, dead = list[int](), list[int]()
    for number, tries in db.execute(f"SELECT id, tries + 1 FROM event WHERE {which} ORDER BY id", values).fetchall():
        wait = again(tries)
        counted.append(number)
        due, state, outcome = (None, "dead", "failed") if wait is None else (at + wait, "queued", "")
        db.execute(
            "UPDATE event SET tries = ?, error = ?, due_at = ?, state = ?, outcome = ? WHERE id = ?",
            (tries, error, due, state, outcome, number),
        )
        if wait is None:
            dead.append(number)
    if dead and notice is not None:
        put(db, chat_id, notice, at)
    return Counted(tuple(counted), tuple(dead))
