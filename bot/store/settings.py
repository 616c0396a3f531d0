"""What is set in a chat beside the configuration: stored with who said it. What it means is not known here."""

import sqlite3
from contextlib import closing
from pathlib import Path

from bot.store.database import Repository
from bot.store.reader import Row
from bot.store.wholecopy import opened
from bot.types.said import Said, Wish

SAID = """SELECT key, value, person_id, coalesce(person.name, ''), at FROM setting
    LEFT JOIN person ON person.id = person_id ORDER BY key"""

HOUSE = "house"
"""The row of the house that is switched off everywhere; there is none while it is on."""

HOUSE_OFF = f"EXISTS (SELECT 1 FROM setting WHERE key = '{HOUSE}')"
"""Whether it is, as SQL."""


class SettingRows(Repository):
    """One row for each key that somebody set."""

    async def all(self) -> tuple[Said, ...]:
        """Everything that is set in chats, by key."""
        return tuple(said_of(row) for row in await self._database.rows(SAID))

    async def put(self, wish: Wish, person_id: int | None, at: int) -> None:
        """Remember each value, or drop the row where there is none any more, all in one commit."""
        await self._database.write(lambda db: put(db, wish, person_id, at))

    async def put_back(self, before: tuple[Said, ...]) -> None:
        """Everything as it was: what was stored last could not be worked by."""

        def verb(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM setting")
            for one in before:
                put(db, {one.key: one.value}, one.person_id, one.at)

        await self._database.write(verb)

    async def house_off(self) -> bool:
        """Whether the house is switched off everywhere."""
        return await self._database.row(f"SELECT 1 WHERE {HOUSE_OFF}") is not None


def house_off(db: sqlite3.Connection) -> bool:
    """Verb part: whether the house is switched off everywhere."""
    return bool(db.execute(f"SELECT {HOUSE_OFF}").fetchone()[0])


def put(db: sqlite3.Connection, wish: Wish, person_id: int | None, at: int) -> None:
    """Verb part: the same inside another commit."""
    for key, value in wish.items():
        db.execute("DELETE FROM setting WHERE key = ?", (key,))
        if value is not None:
            row = (key, value, person_id, at)
            db.execute("INSERT INTO setting (key, value, person_id, at) VALUES (?, ?, ?, ?)", row)


def said_of(row: Row) -> Said:
    """A row of SAID as a value."""
    key, value, person_id, name, at = row
    return Said(str(key), str(value), person_id, str(name), at)


def said_in(database: Path) -> tuple[Said, ...]:
    """What is set in the chats of that file, read before anybody opens it, and beside whoever has it open.

    Nothing where there is no file yet, or one of an older nuan; what is wrong with a file is said by who opens it.
    """
    if not database.is_file():
        return ()
    try:
        # Not mode=ro: such a reader would leave the files of the WAL behind.
        with closing(opened(database)) as db:
            db.execute("PRAGMA query_only = ON")
            return tuple(said_of(row) for row in db.execute(SAID).fetchall())
    except sqlite3.Error:
        return ()
