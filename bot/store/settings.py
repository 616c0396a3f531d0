"""Settings and switches set in chats beside the configuration, stored with who set them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bot.core.people import ChatContextSettings
from bot.core.ports import ChatSetting, SettingChanges
from bot.core.speaking import GroupMode
from bot.store.engine import Repository
from bot.store.schema import open_existing
from bot.store.transactions import Row, Tx

SELECT_SETTINGS = """SELECT key, value, person_id, coalesce(person.name, ''), at FROM setting
    LEFT JOIN person ON person.id = person_id ORDER BY key"""

BOT_SWITCH = "house"
"""The row of the installation that is switched off everywhere; there is none while it is on."""

BOT_OFF = f"EXISTS (SELECT 1 FROM setting WHERE key = '{BOT_SWITCH}')"
"""Whether it is, as SQL."""


class SettingRows(Repository):
    """One row for each key that somebody set."""

    async def all(self) -> tuple[ChatSetting, ...]:
        """Everything that is set in chats, by key."""
        return tuple(setting_of(row) for row in await self._database.rows(SELECT_SETTINGS))

    async def put(self, wish: SettingChanges, person_id: int | None, at: int) -> None:
        """Remember each value, or drop the row where there is none any more, all in one commit."""
        await self._database.write(lambda db: put_settings(db, wish, person_id, at))

    async def put_back(self, before: tuple[ChatSetting, ...]) -> None:
        """Everything as it was: what was stored last could not be worked by."""

        def transaction(db: Tx) -> None:
            db.execute("DELETE FROM setting")
            for one in before:
                put_settings(db, {one.key: one.value}, one.person_id, one.at)

        await self._database.write(transaction)

    async def is_bot_off(self) -> bool:
        """Whether the installation is switched off everywhere."""
        return await self._database.row(f"SELECT 1 WHERE {BOT_OFF}") is not None


def bot_off(db: Tx) -> bool:
    """Within a transaction: whether the installation is switched off everywhere."""
    return bool(db.execute(f"SELECT {BOT_OFF}").fetchone()[0])


def put_settings(db: Tx, wish: SettingChanges, person_id: int | None, at: int) -> None:
    """Within a transaction: the same inside another commit."""
    for key, value in wish.items():
        db.execute("DELETE FROM setting WHERE key = ?", (key,))
        if value is not None:
            row = (key, value, person_id, at)
            db.execute("INSERT INTO setting (key, value, person_id, at) VALUES (?, ?, ?, ?)", row)


def setting_of(row: Row) -> ChatSetting:
    """A row of SAID as a value."""
    key, value, person_id, name, at = row
    return ChatSetting(str(key), str(value), person_id, str(name), at)


def settings_in(database: Path) -> tuple[ChatSetting, ...]:
    """What is set in the chats of that file, read before anybody opens it, and beside whoever has it open.

    Nothing where there is no file yet, or one of an older nuan; what is wrong with a file is said by who opens it.
    """
    if not database.is_file():
        return ()
    try:
        # Not mode=ro: such a reader would leave the files of the WAL behind.
        with closing(open_existing(database)) as db:
            db.execute("PRAGMA query_only = ON")
            return tuple(setting_of(row) for row in db.execute(SELECT_SETTINGS).fetchall())
    except sqlite3.Error:
        return ()


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

    async def context(self, chat_id: int) -> ChatContextSettings:
        """What a chat asked to be told of what happened; nothing of its own until somebody says otherwise."""
        row = await self._database.row(
            "SELECT recent, window_seconds, recent_max FROM chat_context WHERE chat_id = ?", (chat_id,)
        )
        return ChatContextSettings(*row) if row is not None else ChatContextSettings()

    async def set_context(self, chat_id: int, wish: ChatContextSettings) -> None:
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

    async def set_mode(self, chat_id: int, mode: GroupMode | None, *, drop: bool) -> None:
        """Remember how nuan speaks in a chat, None as configured; with `drop` follow-ups that wait are not answered."""

        def transaction(db: Tx) -> None:
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

        await self._database.write(transaction)
