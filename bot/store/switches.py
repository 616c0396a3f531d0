"""What owners switch on and off while nuan runs; it lasts beyond a restart."""

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
