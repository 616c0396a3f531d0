"""Erasing a person: asked once more, written down outside the database, then done in one commit."""

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.store.database import Database
from bot.store.erasing import erase_person
from bot.store.erasures import Erasures, erase_again, mark_done
from bot.store.leaving import leave
from bot.store.owned import COUNTS
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf
from bot.types.erased import Erased

LEFT = "unfinished:"
"""The key in meta of whoever may still be in files begins with it; ';' is the character after ':'."""

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
        """Nothing of the person is left but counts, in one commit; who it was, for the files, until `finish`.

        `last` is the event whose answer is still to be sent there. StoreError: nothing was erased.
        """
        rows = await self._database.rows(
            "SELECT platform || ':' || external_id FROM account WHERE person_id = ?", (person_id,)
        )
        name = self._erasures.begin((str(row[0]) for row in rows), at)

        def verb(db: sqlite3.Connection) -> Erased:
            erased = erase_person(db, person_id, self._shelf, at, last)
            mark_done(db, name, at)
            _note(db, erased)
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
            gone = erase_again(db, self._erasures, self._shelf, at)
            for erased in gone:
                _note(db, erased)
            return len(gone)

        count = await self._database.write(verb)
        if count:
            await self._database.truncate()
        return count

    async def unfinished(self) -> tuple[Erased, ...]:
        """Who was erased from the database, and may still be in files."""
        rows = await self._database.rows(
            "SELECT key, value FROM meta WHERE key > ? AND key < ? ORDER BY key", (LEFT, f"{LEFT[:-1]};")
        )
        return tuple(_noted(str(key), json.loads(str(value))) for key, value in rows)

    async def finish(self, gone: tuple[Erased, ...]) -> None:
        """No file tells of them, nor does the database nor its log from now on; StoreError while somebody reads."""
        keys = [(f"{LEFT}{erased.person_id}",) for erased in gone]
        await self._database.write(lambda db: db.executemany("DELETE FROM meta WHERE key = ?", keys).rowcount)
        await self._database.truncate()

    async def leave(self, now: int) -> int:
        """Where the last word has been sent, the address goes, too; how many went."""
        count = await self._database.write(lambda db: leave(db, now))
        await self._database.truncate()
        return count


def _note(db: sqlite3.Connection, erased: Erased) -> None:
    """Verb part: by what the rest of them is found in files, also after a crash."""
    told = {"dms": erased.dms, "chats": erased.chats, "ids": erased.ids, "names": erased.names}
    value = json.dumps({name: sorted(each) for name, each in told.items()})
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (f"{LEFT}{erased.person_id}", value))


def _noted(key: str, told: Mapping[str, Sequence[object]]) -> Erased:
    dms, chats = (frozenset(int(str(each)) for each in told[name]) for name in ("dms", "chats"))
    ids, names = (frozenset(str(each) for each in told[name]) for name in ("ids", "names"))
    return Erased(int(key.removeprefix(LEFT)), dms, chats, ids, names, {})
