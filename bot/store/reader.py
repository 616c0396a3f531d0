"""The connection that only reads: several SELECTs of one moment in one trip to its thread."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import aiosqlite

T = TypeVar("T")
Params = Sequence[object]
Row = tuple[Any, ...]


class Reader(aiosqlite.Connection):
    """A connection that can also answer several SELECTs in one trip to its thread."""

    async def snapshot(self, selects: Sequence[tuple[str, Params]]) -> list[list[Row]]:
        """The rows of each SELECT, read in one transaction."""
        return await self.look(lambda db: [db.execute(sql, params).fetchall() for sql, params in selects])

    async def look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` reads, all of one moment."""
        found: T = await self._execute(self._look, work)  # type: ignore[no-untyped-call]
        return found

    def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._conn.execute("BEGIN")
        try:
            return work(self._conn)
        finally:
            self._conn.execute("COMMIT")
