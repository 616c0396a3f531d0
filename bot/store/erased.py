"""Erasing a person: asked once more, written down outside the database, then done in one commit."""

import secrets
import sqlite3
from pathlib import Path

from bot.store.database import Database
from bot.store.erasing import erase_person
from bot.store.erasures import Erasures, erase_again, mark_done
from bot.store.leaving import leave
from bot.store.owned import COUNTS
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf
from bot.types.erased import Erased

ASK_MS = 600_000
"""How long the number counts that somebody is to repeat."""


class Erasing:
    """Takes people out of the house."""

    def __init__(self, database: Database, tombstones: Tombstones, shelf: Shelf, folder: Path) -> None:
        self._database = database
        self._shelf = shelf
        self._erasures = Erasures(folder, tombstones)

    async def counts(self, person_id: int) -> dict[str, int]:
        """How much there is of a person, by kind."""
        found = await self._database.snapshot(*((sql, (person_id,)) for _, sql in COUNTS))
        return {name: int(rows[0][0]) for (name, _), rows in zip(COUNTS, found, strict=True)}

    async def known(self, person_id: int) -> bool:
        """Whether the person has an account: without one they were erased."""
        return await self._database.row("SELECT 1 FROM account WHERE person_id = ?", (person_id,)) is not None

    async def ask(self, person_id: int, chat_id: int, at: int) -> str:
        """A new number of four digits for that person to repeat in that chat; the one before is void."""
        number = f"{secrets.randbelow(9_000) + 1_000}"

        def verb(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM code WHERE (kind = 'erase' AND person_id = ?) OR expires_at <= ?", (person_id, at))
            row = (f"erase {person_id} {chat_id} {number}", person_id, chat_id, at, at + ASK_MS)
            db.execute("INSERT INTO code VALUES (?, 'erase', ?, ?, ?, ?)", row)

        await self._database.write(verb)
        return number

    async def agreed(self, person_id: int, chat_id: int, number: str, at: int) -> bool:
        """Whether this is the number; a wrong one makes it void."""

        def verb(db: sqlite3.Connection) -> bool:
            found = db.execute(
                "SELECT 1 FROM code WHERE code = ? AND kind = 'erase' AND expires_at > ?",
                (f"erase {person_id} {chat_id} {number}", at),
            ).fetchone()
            if found is None:
                db.execute("DELETE FROM code WHERE kind = 'erase' AND person_id = ?", (person_id,))
            return found is not None

        return await self._database.write(verb)

    async def erase(self, person_id: int, at: int, last: int | None = None) -> Erased:
        """Nothing of the person is left but counts, in one commit; who it was, for the files of the log.

        `last` is the event whose answer is still to be sent there. StoreError: nothing was erased.
        """
        rows = await self._database.rows(
            "SELECT platform || ':' || external_id FROM account WHERE person_id = ?", (person_id,)
        )
        name = self._erasures.begin((str(row[0]) for row in rows), at)

        def verb(db: sqlite3.Connection) -> Erased:
            erased = erase_person(db, person_id, self._shelf, at, last)
            mark_done(db, name, at)
            return erased

        try:
            return await self._database.write(verb)
        except Exception:  # whatever refused; one that is only cancelled may have been committed
            self._erasures.give_up(name)
            raise

    async def resume(self) -> int:
        """Do what a crash left between the file and the commit; how many people went."""
        if not self._erasures.all():
            return 0

        def verb(db: sqlite3.Connection) -> int:
            at = db.execute("SELECT coalesce(max(at), 0) FROM event").fetchone()[0]
            return erase_again(db, self._erasures, self._shelf, at)

        count = await self._database.write(verb)
        if count:
            await self._database.truncate()
        return count

    async def settle(self) -> None:
        """Nothing of it is left in the write-ahead log; StoreError while somebody reads for long."""
        await self._database.truncate()

    async def leave(self, now: int) -> int:
        """Where the last word has been sent, the address goes, too; how many went."""
        count = await self._database.write(lambda db: leave(db, now))
        await self._database.truncate()
        return count
