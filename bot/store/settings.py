"""Settings and switches set in chats beside the configuration, stored with who set them."""

from dataclasses import asdict
from pathlib import Path

from bot.core.errors import StoreError
from bot.core.people import ChatContextSettings
from bot.core.ports import ChatSetting, SettingChanges
from bot.core.speaking import GroupMode
from bot.language.sections import SectionRegistry
from bot.store.engine import Repository, postgres_part, reading, reads, writes, writing
from bot.store.sqlite.connection import read_existing
from bot.store.transactions import Tx
from bot.store.windows import IN_RUNNING_TURNS

SELECT_SETTINGS = """SELECT key, value, person_id, coalesce(person.name, ''), at FROM setting
    LEFT JOIN person ON person.id = person_id ORDER BY key"""

BOT_SWITCH = "house"
"""The row of the installation that is switched off everywhere; there is none while it is on."""

BOT_OFF = f"EXISTS (SELECT 1 FROM setting WHERE key = '{BOT_SWITCH}')"
"""Whether it is, as SQL."""


def bot_off(tx: Tx) -> bool:
    """Whether the installation is switched off everywhere."""
    return bool(tx.value(f"SELECT {BOT_OFF}"))


def put_settings(tx: Tx, wish: SettingChanges, person_id: int | None, at: int) -> None:
    """Remember each value, or drop the row where there is none any more."""
    for key, value in wish.items():
        if value is None:
            tx.run("DELETE FROM setting WHERE key = ?", key)
        else:
            tx.put("setting", "key", key=key, value=value, person_id=person_id, at=at)


def settings_in(database: Path, url: str = "") -> tuple[ChatSetting, ...]:
    """What is set in the chats of that file, read before anybody opens it, and beside whoever has it open.

    With an `url` of that database of a server. Nothing where there is none yet, or one of an older nuan; what is wrong
    with it is said by who opens it.
    """

    def work(tx: Tx) -> tuple[ChatSetting, ...]:
        return tx.all(SELECT_SETTINGS, to=ChatSetting)

    if not url and not database.is_file():
        return ()
    try:
        return postgres_part("opening").read_existing(url, work) if url else read_existing(database, work)
    except StoreError:
        return ()


class StoredSettings(Repository):
    """One row for each key that somebody set, and what each chat set for itself."""

    put = writing(put_settings)
    is_bot_off = reading(bot_off)

    @reads
    def all(self, tx: Tx) -> tuple[ChatSetting, ...]:
        """Everything that is set in chats, by key."""
        return tx.all(SELECT_SETTINGS, to=ChatSetting)

    @writes
    def put_back(self, tx: Tx, before: tuple[ChatSetting, ...]) -> None:
        """Everything as it was: what was stored last could not be worked by."""
        tx.run("DELETE FROM setting")
        for one in before:
            put_settings(tx, {one.key: one.value}, one.person_id, one.at)

    @writes
    def register_sections(self, tx: Tx, registry: SectionRegistry) -> None:
        """From now on memories are stored in the sections of this registry."""
        text = registry.to_json()
        if (tx.meta("sections") or SectionRegistry().to_json()) != text:
            tx.set_meta("sections", text)

    @reads
    def background(self, tx: Tx) -> bool:
        """Whether the model may be called in the background; on until the owner says otherwise."""
        return tx.meta("background") in (None, "on")

    @writes
    def switch_background(self, tx: Tx, on: bool) -> None:
        """Remember the owner's word."""
        tx.set_meta("background", "on" if on else "off")

    @reads
    def context(self, tx: Tx, chat_id: int) -> ChatContextSettings:
        """What a chat asked to be told of what happened; nothing of its own until somebody says otherwise."""
        asked = "SELECT recent, window_seconds, recent_max FROM chat_context WHERE chat_id = ?"
        return tx.one(asked, chat_id, to=ChatContextSettings) or ChatContextSettings()

    @writes
    def set_context(self, tx: Tx, chat_id: int, wish: ChatContextSettings) -> None:
        """Remember what the chat asked for; an empty wish leaves all to the configuration."""
        tx.put("chat_context", "chat_id", chat_id=chat_id, **asdict(wish))

    @writes
    def set_persona(self, tx: Tx, chat_id: int, name: str) -> None:
        """Remember which persona a chat talks with, "" for the configured one."""
        tx.run("UPDATE chat SET persona = ? WHERE id = ?", name, chat_id)

    @writes
    def set_mode(self, tx: Tx, chat_id: int, mode: GroupMode | None, *, drop: bool) -> None:
        """Remember how nuan speaks in a chat, None as configured; with `drop` follow-ups that wait are not answered."""
        tx.run("UPDATE chat SET mode = ? WHERE id = ?", mode or "", chat_id)
        tx.run("UPDATE joining SET due_at = NULL, hushed = 0 WHERE chat_id = ?", chat_id)
        if drop:
            tx.run("DELETE FROM conversation_window WHERE chat_id = ?", chat_id)
            tx.run(
                "UPDATE event SET state = 'listened', outcome = 'uncalled', due_at = NULL WHERE chat_id = ? "
                f"AND state = 'queued' AND why IN ('window', 'join') AND id NOT IN {IN_RUNNING_TURNS}",
                chat_id,
            )
