"""What owners switch and set while nuan runs; it lasts beyond a restart."""

import sqlite3
from collections.abc import Sequence

from bot.store.database import Repository
from bot.store.reader import Row
from bot.types.context import ContextWish
from bot.types.speaking import Mode

LIMITS = "SELECT substr(key, 8), value FROM setting WHERE key >= 'limits.' AND key < 'limits/'"
"""`/` is the character after `.`."""


def limits_of(rows: Sequence[Row]) -> dict[str, str]:
    """What LIMITS reads, as a value."""
    return {str(key): str(value) for key, value in rows}


class Switches(Repository):
    """The owner's word."""

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
        return limits_of(await self._database.rows(LIMITS))

    async def context(self, chat_id: int) -> ContextWish:
        """What a chat asked to be told of what happened; nothing of its own until somebody says otherwise."""
        row = await self._database.row(
            "SELECT recent, window_seconds, recent_max FROM chat_context WHERE chat_id = ?", (chat_id,)
        )
        return ContextWish(*row) if row is not None else ContextWish()

    async def set_context(self, chat_id: int, wish: ContextWish) -> None:
        """Remember what the chat asked for; an empty wish leaves all to the configuration."""
        await self._database.write(
            lambda db: (
                db.execute(
                    "INSERT INTO chat_context (chat_id, recent, window_seconds, recent_max) VALUES (?1, ?2, ?3, ?4) "
                    "ON CONFLICT (chat_id) DO UPDATE SET recent = ?2, window_seconds = ?3, recent_max = ?4",
                    (chat_id, wish.recent, wish.window_seconds, wish.recent_max),
                ).rowcount
            )
        )

    async def set_persona(self, chat_id: int, name: str) -> None:
        """Remember which persona a chat talks with, "" for the configured one."""
        sql = "UPDATE chat SET persona = ? WHERE id = ?"
        await self._database.write(lambda db: db.execute(sql, (name, chat_id)).rowcount)

    async def set_mode(self, chat_id: int, mode: Mode | None, *, drop: bool) -> None:
        """Remember how nuan speaks in a chat, None as configured; with `drop` follow-ups that wait are not answered."""

        def verb(db: sqlite3.Connection) -> None:
            db.execute("UPDATE chat SET mode = ? WHERE id = ?", (mode or "", chat_id))
            db.execute("UPDATE joining SET due_at = NULL, hushed = 0 WHERE chat_id = ?", (chat_id,))
            if drop:
                db.execute("DELETE FROM window WHERE chat_id = ?", (chat_id,))
                db.execute(
                    "UPDATE event SET state = 'listened', outcome = 'uncalled', due_at = NULL WHERE chat_id = ? "
                    "AND state = 'queued' AND why IN ('window', 'join') AND id NOT IN (SELECT event_id FROM turn_event "
                    "JOIN turn ON turn.id = turn_event.turn_id WHERE turn.state IN ('asked', 'answered'))",
                    (chat_id,),
                )

        await self._database.write(verb)
