"""Budgets that count anew before their day or month is over: what was spent stays, and is left out of the limits."""

import sqlite3
from collections.abc import Mapping

from bot.store.database import Repository
from bot.types.money import PERIODS, Period, Recount

COUNTED: Mapping[Period, str] = {period: f"AND uncounted & {1 << bit} = 0 " for bit, period in enumerate(PERIODS)}
"""Which calls the limits of a period count, as SQL: not what was over when they began anew. A call in flight counts."""


class Recounts(Repository):
    """When the limits of a period last began anew."""

    async def begin(self, period: Period, since: int, person_id: int | None, at: int) -> None:
        """The limits of that period, which began at `since` (ms), count from now on; what is in flight still counts."""
        await self._database.write(lambda db: begin(db, period, since, person_id, at))

    async def last(self) -> Mapping[Period, Recount]:
        """Whose word it was, and when."""
        rows = await self._database.rows(
            "SELECT period, coalesce(person.name, ''), at FROM recount LEFT JOIN person ON person.id = person_id"
        )
        return {row[0]: Recount(str(row[1]), int(row[2])) for row in rows}


def begin(db: sqlite3.Connection, period: Period, since: int, person_id: int | None, at: int) -> None:
    """Verb part: every call of that period that is over counts no more."""
    bit = 1 << PERIODS.index(period)
    db.execute(
        "UPDATE call SET uncounted = uncounted | ?1 WHERE at >= ?2 AND uncounted & ?1 = 0 AND state <> 'reserved'",
        (bit, since),
    )
    db.execute("INSERT OR REPLACE INTO recount (period, person_id, at) VALUES (?, ?, ?)", (period, person_id, at))
