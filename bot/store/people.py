"""Persons, accounts, chats and places. Names are display only; platform ids decide who is who."""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import cast

from bot.store.access import Lists
from bot.store.cutting import fall_silent
from bot.store.database import Database
from bot.store.rows import marks
from bot.store.settings import HOUSE, HOUSE_OFF, house_off, put
from bot.types.event import ChatKind, Place, Sender
from bot.types.people import Audience, Chat, Person
from bot.types.speaking import Mode

CHAT = f"""SELECT chat.id, place.platform, place.external_id, chat.kind, chat.title,
    chat.enabled AND NOT {HOUSE_OFF}, chat.scene,
    chat.mode, chat.persona
    FROM chat JOIN place ON place.chat_id = chat.id AND place.current = 1 """
PERSON = """SELECT id, name, script, timezone, is_bot, (SELECT group_concat(platform || ':' || external_id, char(10))
    FROM account WHERE person_id = person.id), (SELECT max(owner) FROM account WHERE person_id = person.id)
    FROM person """


USUAL_LINES, USUAL_CHARS = 5, 500
"""Of so many of a person's last lines, the beginning of each, it is told what they usually write in."""

AUDIENCE = 200
"""In a larger group only the public memories of those who were seen last can be told."""


class People:
    """Who takes part, and where."""

    def __init__(self, database: Database, lists: Lists) -> None:
        self._database = database
        self._lists = lists

    async def chat(self, chat_id: int) -> Chat:
        """The chat of that number; LookupError when there is none."""
        row = await self._database.row(CHAT + "WHERE chat.id = ?", (chat_id,))
        if row is None:
            raise LookupError(f"no chat {chat_id!r}")
        return chat_of(row)

    async def written(self, chat_id: int, person_id: int) -> tuple[str, ...]:
        """What a person wrote last in a chat, the newest first."""
        return await self._database.read(lambda db: _last_lines(db, chat_id, person_id))

    async def chats(self) -> tuple[Chat, ...]:
        """All chats, by number."""
        return tuple(chat_of(row) for row in await self._database.rows(CHAT + "ORDER BY chat.id"))

    async def places(self, platform: str) -> tuple[Place, ...]:
        """Where on that platform something happened that is stored."""
        rows = await self._database.rows(
            "SELECT platform, external_id, kind, title, parent FROM place JOIN chat ON chat.id = chat_id "
            "WHERE platform = ? AND current = 1 AND gone = 0 ORDER BY chat.id",
            (platform,),
        )
        return tuple(
            Place(str(name), str(number), kind, str(title), str(parent)) for name, number, kind, title, parent in rows
        )

    async def person(self, person_id: int) -> Person:
        """The person of that number; LookupError when there is none."""
        row = await self._database.row(PERSON + "WHERE id = ?", (person_id,))
        if row is None:
            raise LookupError(f"no person {person_id!r}")
        return person_of(row, self._lists.owners)

    async def named(self, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The display names of these persons and their time zones ("": none of their own)."""
        rows = await self._database.rows(
            f"SELECT id, name, timezone FROM person WHERE id IN ({marks(numbers)})", numbers
        )
        return {int(row[0]): (str(row[1]), str(row[2])) for row in rows}

    async def titles(self, numbers: Collection[int]) -> dict[int, str]:
        """The titles of those of these chats that are groups."""
        rows = await self._database.rows(
            f"SELECT id, title FROM chat WHERE kind = 'group' AND id IN ({marks(numbers)})", tuple(numbers)
        )
        return {int(row[0]): str(row[1]) for row in rows}

    async def person_named(self, name: str) -> Person | None:
        """The person with that number or, if it is unique, that display name; None otherwise."""
        rows = await self._database.rows("SELECT id FROM person WHERE id = ? OR name = ?", (_number(name), name))
        return await self.person(int(rows[0][0])) if len(rows) == 1 else None

    async def by_account(self, account: str) -> int | None:
        """The number of the person with that account, "platform:id"; None when nuan knows none."""
        row = await self._database.row(
            "SELECT person_id FROM account WHERE platform = ? AND external_id = ?", account.partition(":")[::2]
        )
        return int(row[0]) if row else None

    async def accounts(self, person_id: int, platform: str) -> frozenset[str]:
        """The ids by which that platform knows the person."""
        rows = await self._database.rows(
            "SELECT external_id FROM account WHERE person_id = ? AND platform = ?", (person_id, platform)
        )
        return frozenset(str(row[0]) for row in rows)

    async def audience(self, chat: Chat) -> Audience:
        """Everyone who wrote in that chat and has not left it, at most AUDIENCE, whoever was seen last first."""
        rows = await self._database.rows(
            "SELECT person_id FROM member WHERE chat_id = ? ORDER BY seen_at DESC, person_id LIMIT ?",
            (chat.id, AUDIENCE),
        )
        return Audience(chat.id, chat.kind, tuple(int(row[0]) for row in rows))

    async def switch_house(self, on: bool, person_id: int, at: int) -> None:
        """Let nuan speak anywhere, or nowhere; what waits for an answer, or is still to be said, waits no more.

        Each chat keeps its own switch.
        """

        def verb(db: sqlite3.Connection) -> None:
            put(db, {HOUSE: None if on else "off"}, person_id, at)
            if on:  # deadlines that came while it was off are worked out anew
                db.execute("UPDATE heartbeat SET due_at = ? WHERE due_at IS NULL", (at,))
            else:
                for (chat_id,) in db.execute("SELECT id FROM chat").fetchall():
                    _silence(db, chat_id, at)

        await self._database.write(verb)

    async def switch(self, chat_id: int, enabled: bool, at: int) -> None:
        """Let nuan speak in a chat, or not; what waits there for an answer, or is still to be said, waits no more."""

        def verb(db: sqlite3.Connection) -> None:
            db.execute("UPDATE chat SET enabled = ? WHERE id = ?", (int(enabled), chat_id))
            if not enabled:
                _silence(db, chat_id, at)

        await self._database.write(verb)


def _silence(db: sqlite3.Connection, chat_id: int, at: int) -> None:
    """Verb part: nothing more is said there, and only commands are still answered."""
    fall_silent(db, chat_id, at)
    db.execute(
        "UPDATE event SET state = 'listened', outcome = 'off', due_at = NULL WHERE chat_id = ? "
        "AND state = 'queued' AND why <> 'command'",
        (chat_id,),
    )


def chat_of(row: tuple[object, ...]) -> Chat:
    """A row of CHAT as a value."""
    number, platform, external_id, kind, title, enabled, scene, mode, persona = row
    return Chat(
        cast("int", number),
        str(platform),
        str(external_id),
        cast("ChatKind", kind),
        str(title),
        bool(enabled),
        str(scene),
        cast("Mode", mode) if mode else None,
        str(persona),
    )


def person_of(row: tuple[object, ...], owners: frozenset[str]) -> Person:
    """A row of PERSON as a value; an account among `owners`, or one that used the owner code, makes them an owner."""
    number, name, script, timezone, is_bot, accounts, coded = row
    is_owner = not is_bot and (bool(coded) or not owners.isdisjoint(str(accounts or "").split("\n")))
    return Person(cast("int", number), str(name), str(script), str(timezone), is_owner, bool(is_bot))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1


def find_chat(db: sqlite3.Connection, place: Place, at: int) -> Chat:
    """The chat a place points to, made when it is new; its title follows the platform's."""
    row = db.execute(
        CHAT + "WHERE chat.id = (SELECT chat_id FROM place WHERE platform = ? AND external_id = ?)",
        (place.platform, place.external_id),
    ).fetchone()
    if row is None:
        chat_id = db.execute(
            "INSERT INTO chat (kind, title, created_at) VALUES (?, ?, ?)", (place.kind, place.title, at)
        ).lastrowid
        db.execute(
            "INSERT INTO place (platform, external_id, chat_id, parent) VALUES (?, ?, ?, ?)",
            (place.platform, place.external_id, chat_id, place.parent),
        )
        there = (place.platform, place.external_id, place.kind, place.title)
        return Chat(cast("int", chat_id), *there, enabled=not house_off(db))
    chat = chat_of(row)
    if place.title and place.title != chat.title:
        db.execute("UPDATE chat SET title = ? WHERE id = ?", (place.title, chat.id))
    if place.parent:
        db.execute(
            "UPDATE place SET parent = ?1 WHERE platform = ?2 AND external_id = ?3 AND parent <> ?1",
            (place.parent, place.platform, place.external_id),
        )
    return chat


def find_person(
    db: sqlite3.Connection, sender: Sender, chat_id: int, script: Callable[[str, tuple[str, ...]], str], at: int
) -> int:  # fmt: skip
    """The person an account belongs to, made when it is new; the name follows what was last seen, the script what they
    wrote last in that chat."""
    row = db.execute(
        "SELECT person_id, account.name, script FROM account JOIN person ON person.id = person_id "
        "WHERE platform = ? AND external_id = ?",
        (sender.platform, sender.external_id),
    ).fetchone()
    if row is None:
        person_id = db.execute(
            "INSERT INTO person (name, script, is_bot, created_at) VALUES (?, ?, ?, ?)",
            (sender.name, script("", ()), int(sender.is_bot), at),
        ).lastrowid
        db.execute(
            "INSERT INTO account (platform, external_id, person_id, name, created_at) VALUES (?, ?, ?, ?, ?)",
            (sender.platform, sender.external_id, person_id, sender.name, at),
        )
        return cast("int", person_id)
    if row[1] != sender.name:
        db.execute(
            "UPDATE account SET name = ? WHERE platform = ? AND external_id = ?",
            (sender.name, sender.platform, sender.external_id),
        )
    db.execute(
        "UPDATE person SET name = ?1, script = ?2 WHERE id = ?3 AND (name <> ?1 OR script <> ?2)",
        (sender.name, script(str(row[2]), _last_lines(db, chat_id, row[0])), row[0]),
    )
    return cast("int", row[0])


def _last_lines(db: sqlite3.Connection, chat_id: int, person_id: int) -> tuple[str, ...]:
    """What a person wrote last in a chat, of its newest lines, the newest first."""
    rows = db.execute(
        "SELECT text FROM event WHERE kind = 'message' AND hidden = '' AND forwarded = 0 AND person_id = ? AND id IN "
        "(SELECT id FROM event WHERE chat_id = ? ORDER BY id DESC LIMIT 60) ORDER BY id DESC LIMIT ?",
        (person_id, chat_id, USUAL_LINES - 1),
    )
    return tuple(str(row[0])[:USUAL_CHARS] for row in rows)
