"""What the instruments read: whether the store answers, what waits, what calls were paid. It changes nothing."""

import sqlite3
from collections.abc import Collection

from bot.errors import StoreError
from bot.store.database import Repository
from bot.store.rows import marks
from bot.types.vitals import Paid

_CALLS = """SELECT id, cause, model, state, settled_at - at, prompt_tokens, cached_tokens, output_tokens, cost
    FROM call """

MANY_TRIES = 8
"""So often put off, a digest is stuck."""


PROBE_BYTES = 65_536
"""What a store that refused must take before anybody builds on it again: more than a line with all it causes."""


class Vitals(Repository):
    """The signs of life of the one file."""

    @property
    def refusing(self) -> str:
        """Why the last write was refused, "" when it was taken."""
        return self._database.refusing

    @property
    def unwritten(self) -> int:
        """How many verbs wait for their commit."""
        return self._database.unwritten

    async def writable(self) -> bool:
        """Whether the store takes writes again; what is written to see it is deleted."""
        try:
            await self._database.write(_fill)
            await self._database.write(_empty)
        except StoreError:
            return False
        return True

    async def queued(self) -> int:
        """Lines that wait for an answer; StoreError when the file cannot be read."""
        row = await self._database.row("SELECT count(*) FROM event WHERE state = 'queued'")
        return int(row[0]) if row is not None else 0

    async def damage(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the file, nothing when it is whole; it reads all of it."""
        verdicts = [str(row[0]) for row in await self._database.rows("PRAGMA integrity_check(5)")]
        return tuple(" ".join(verdict.split()) for verdict in verdicts if verdict != "ok")

    async def dangling(self) -> int:
        """How many rows refer to one that is not there."""
        return len(await self._database.rows("PRAGMA foreign_key_check"))

    async def unindexed(self) -> int:
        """How many rows that can be searched the full-text index lacks, or has beyond them."""
        row = await self._database.row(
            "SELECT (SELECT count(*) FROM doc WHERE id NOT IN (SELECT rowid FROM doc_text)) + "
            "(SELECT count(*) FROM doc_text WHERE rowid NOT IN (SELECT id FROM doc))"
        )
        return int(row[0]) if row is not None else 0

    async def newest_line(self) -> int:
        """When the last line was stored, ms; 0 before the first."""
        row = await self._database.row("SELECT coalesce(max(at), 0) FROM event WHERE id = (SELECT max(id) FROM event)")
        return int(row[0]) if row is not None else 0

    async def stuck_digests(self) -> int:
        """Talks whose digest was put off MANY_TRIES times or more."""
        row = await self._database.row(
            "SELECT count(*) FROM session WHERE digest_due_at IS NOT NULL AND digest_attempts >= ?", (MANY_TRIES,)
        )
        return int(row[0]) if row is not None else 0

    async def newest_call(self) -> int:
        """The number of the last call, 0 before the first."""
        row = await self._database.row("SELECT coalesce(max(id), 0) FROM call")
        return int(row[0]) if row is not None else 0

    async def calls(self, after: int, among: Collection[int] = ()) -> tuple[Paid, ...]:
        """The calls after that number, and those `among` the numbers, oldest first."""
        rows = await self._database.rows(f"{_CALLS}WHERE id > ? OR id IN ({marks(among)}) ORDER BY id", (after, *among))
        return tuple(Paid(*row) for row in rows)

    async def numbers(self, outbox_id: int) -> dict[str, int]:
        """The session, epoch and turn that a message on its way out belongs to; nothing for one of no turn."""
        row = await self._database.row(
            "SELECT session.number, epoch.number, turn.number FROM outbox JOIN turn ON turn.id = outbox.turn_id "
            "JOIN session ON session.id = turn.session_id JOIN epoch ON epoch.id = turn.epoch_id WHERE outbox.id = ?",
            (outbox_id,),
        )
        return dict(zip(("session", "epoch", "turn"), map(int, row), strict=True)) if row is not None else {}


def _fill(db: sqlite3.Connection) -> None:
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('probe', zeroblob(?))", (PROBE_BYTES,))


def _empty(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM meta WHERE key = 'probe'")
