"""What turns were told from memory, which way and why: it keeps a log from telling the same twice, and is counted."""

import sqlite3
from collections.abc import Iterable

from bot.store.database import Repository
from bot.types.brought import Brought, Share

TOLD = "turn.state IN ('asked', 'answered', 'said')"
"""What a void turn was told is in no log."""


class BroughtRows(Repository):
    """What memory put into prompts."""

    async def of_epoch(self, epoch_id: int) -> tuple[tuple[int, Brought], ...]:
        """What was brought by itself or by a tool to the log of an epoch, with the turn's number, oldest first."""
        rows = await self._database.rows(
            "SELECT turn.number, way, ref, tokens, brought.why FROM brought JOIN turn ON turn.id = turn_id "
            f"WHERE epoch_id = ? AND way <> 'opening' AND {TOLD} ORDER BY turn.id, brought.rowid",
            (epoch_id,),
        )
        return tuple((int(row[0]), Brought(row[1], row[2], row[3], row[4])) for row in rows)

    async def shares(self, since: int) -> tuple[Share, ...]:
        """What each way put into the prompts of turns since that instant, ms; the largest first."""
        rows = await self._database.rows(
            "SELECT way, count(DISTINCT turn_id), count(*), sum(tokens) FROM brought JOIN turn ON turn.id = turn_id "
            "WHERE asked_at >= ? GROUP BY way ORDER BY sum(tokens) DESC, way",
            (since,),
        )
        return tuple(Share(str(row[0]), int(row[1]), int(row[2]), int(row[3])) for row in rows)


def note(db: sqlite3.Connection, turn_id: int, told: Iterable[Brought]) -> None:
    """Verb part: this turn was told these."""
    db.executemany(
        "INSERT INTO brought (turn_id, way, ref, tokens, why) VALUES (?, ?, ?, ?, ?)",
        [(turn_id, each.way, each.ref, each.tokens, each.why) for each in told],
    )
