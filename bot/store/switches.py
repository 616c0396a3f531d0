"""What owners switch on and off while nuan runs; it lasts beyond a restart."""

import json
import sqlite3
from collections.abc import Mapping

from bot.store.database import Database


class Switches:
    """The owner's word."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def background(self) -> bool:
        """Whether the model may be called in the background; on until the owner says otherwise."""
        row = await self._database.row("SELECT value FROM meta WHERE key = 'background'")
        return row is None or row[0] == "on"

    async def switch_background(self, on: bool) -> None:
        """Remember the owner's word."""
        await self._database.write(
            lambda db: (
                db.execute(
                    "INSERT INTO meta (key, value) VALUES ('background', ?1) "
                    "ON CONFLICT (key) DO UPDATE SET value = ?1",
                    ("on" if on else "off",),
                ).rowcount
            )
        )

    async def limits(self) -> dict[str, str]:
        """What the owner said of how often people are answered, by key of the configuration; empty: nothing."""
        row = await self._database.row("SELECT value FROM meta WHERE key = 'limits'")
        return dict(json.loads(row[0])) if row is not None else {}

    async def set_limits(self, words: Mapping[str, str] | None) -> None:
        """Remember the owner's word beside what was said before; None takes all of it back."""

        def verb(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT value FROM meta WHERE key = 'limits'").fetchone()
            db.execute("DELETE FROM meta WHERE key = 'limits'")
            if words is not None:
                said = {**(json.loads(row[0]) if row else {}), **words}
                db.execute("INSERT INTO meta (key, value) VALUES ('limits', ?)", (json.dumps(said),))

        await self._database.write(verb)
