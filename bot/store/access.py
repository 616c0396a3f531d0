"""Who may talk with nuan, and where: read from accounts, chats and the operator's lists. It makes no codes."""

import sqlite3
from dataclasses import dataclass, replace
from typing import Literal

from bot.store.database import Database
from bot.types.event import Event, Incoming
from bot.types.speaking import Situation

CONSOLE = "console"
"""Whoever sits at this machine's terminal is always allowed."""

GUESSES = 5
"""Wrong codes within an hour after which a person's codes are ignored for an hour."""

Access = Literal["", "allowed", "denied"]
UNSEEN = ("pair", "stranger", "closed")
"""Decisions about messages whose text is not kept."""


@dataclass(slots=True)
class Lists:
    """What the configuration says: owners' accounts, and ids that need no approval, each "platform:id".

    One for the whole store, which a reload fills anew.
    """

    owners: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Standing:
    """What one person may in one chat. `refused`: no answer at all, because an owner said so."""

    allowed: bool
    refused: bool
    owner: bool


class Admission:
    """Who may talk with nuan, as it is stored."""

    def __init__(self, database: Database, lists: Lists) -> None:
        self._database = database
        self._lists = lists

    async def standing(self, chat_id: int, person_id: int) -> Standing:
        """What this person may in this chat."""
        return await self._database.write(lambda db: standing(db, self._lists, chat_id, person_id))

    async def set_chat(self, chat_id: int, access: Access) -> None:
        """Let nuan talk in a group with all that belongs to it (a guild's channels, a group's topics), or not."""
        await self._database.write(lambda db: set_chat(db, chat_id, access))

    async def set_person(self, person_id: int, access: Access) -> None:
        """Let nuan talk with a person, or not."""
        await self._database.write(
            lambda db: db.execute("UPDATE person SET access = ? WHERE id = ?", (access, person_id)).rowcount
        )

    async def find(self, words: str, platform: str) -> tuple[int | None, int | None]:
        """The chat or the person of an id ("platform:id", or an id of that platform), or a person's unique name."""
        head, _, tail = words.partition(":")
        for place, external_id in ((head, tail), (platform, words)):
            chat = await self._database.row(
                "SELECT chat.id FROM place JOIN chat ON chat.id = chat_id WHERE kind = 'group' AND platform = ?1 "
                "AND (external_id = ?2 OR parent = ?2) ORDER BY external_id = ?2 DESC, chat.id LIMIT 1",
                (place, external_id),
            ) if external_id else None  # fmt: skip
            if chat is not None:
                return int(chat[0]), None
            person = await self._database.row(
                "SELECT person_id FROM account WHERE platform = ? AND external_id = ?", (place, external_id)
            )
            if person is not None:
                return None, int(person[0])
        named = await self._database.rows("SELECT id FROM person WHERE name = ? LIMIT 2", (words,))
        return None, int(named[0][0]) if len(named) == 1 else None

    async def answer_to(self, event: Event) -> tuple[str, str]:
        """Where the platform wants the answer to this event, and the account of its sender there."""
        row = await self._database.row(
            "SELECT via, account.external_id FROM event JOIN place ON place.chat_id = event.chat_id AND "
            "place.current = 1 LEFT JOIN account ON account.person_id = event.person_id AND account.platform = "
            "place.platform WHERE event.id = ? ORDER BY account.name = event.name DESC LIMIT 1",
            (event.id,),
        )
        return (str(row[0]), str(row[1] or "")) if row is not None else ("", "")


def standing(db: sqlite3.Connection, lists: Lists, chat_id: int, person_id: int | None) -> Standing:
    """Verb part: what a person (None: whoever is in that DM) may in a chat. Being denied outweighs every list."""
    kind, access = db.execute("SELECT kind, access FROM chat WHERE id = ?", (chat_id,)).fetchone()
    places = db.execute("SELECT platform, external_id, parent FROM place WHERE chat_id = ?", (chat_id,)).fetchall()
    if person_id is None and kind == "dm":
        row = db.execute("SELECT person_id FROM member WHERE chat_id = ?", (chat_id,)).fetchone()
        person_id = row[0] if row else None
    trusted, refused, owner = _person(db, lists, person_id)
    if any(platform == CONSOLE for platform, _, _ in places):
        return Standing(True, False, owner)
    if kind == "dm":
        return Standing(trusted and not refused, refused, owner)
    access = access or _inherited(db, places)
    listed = any(f"{platform}:{name}" in lists.allow for platform, *names in places for name in names)
    closed = access == "denied"
    return Standing(not refused and not closed and (listed or access == "allowed"), refused, owner)


def _person(db: sqlite3.Connection, lists: Lists, person_id: int | None) -> tuple[bool, bool, bool]:
    """Whether a person is trusted, refused, and an owner; any of their accounts counts, a bot's none."""
    row = db.execute("SELECT access, is_bot FROM person WHERE id = ?", (person_id,)).fetchone()
    if row is None or row[1]:
        return False, row is not None and row[0] == "denied", False
    accounts = db.execute("SELECT platform, external_id, owner FROM account WHERE person_id = ?", (person_id,))
    known = [(platform, f"{platform}:{external_id}", bool(own)) for platform, external_id, own in accounts]
    owner = any(own or name in lists.owners for _, name, own in known)
    listed = any(name in lists.allow or platform == CONSOLE for platform, name, _ in known)
    return owner or row[0] == "allowed" or listed, row[0] == "denied" and not owner, owner


def _inherited(db: sqlite3.Connection, places: list[tuple[str, str, str]]) -> str:
    """What was decided for the guild or the group that a channel or topic belongs to."""
    for platform, name in ((platform, name) for platform, *names in places for name in names if name):
        row = db.execute(
            "SELECT access FROM chat JOIN place ON place.chat_id = chat.id WHERE platform = ?1 "
            "AND (external_id = ?2 OR parent = ?2) AND access <> '' ORDER BY access DESC LIMIT 1",
            (platform, name),
        ).fetchone()
        if row is not None:
            return str(row[0])
    return ""


def set_chat(db: sqlite3.Connection, chat_id: int, access: Access) -> None:
    """Verb: the decision about a group, its parent and all that has the same parent."""
    db.execute("UPDATE chat SET access = ? WHERE id = ?", (access, chat_id))
    db.execute(
        "UPDATE chat SET access = ?1 WHERE kind = 'group' AND id IN (SELECT other.chat_id FROM place AS own "
        "JOIN place AS other ON other.platform = own.platform AND ((own.parent <> '' AND own.parent IN "
        "(other.parent, other.external_id)) OR other.parent = own.external_id) WHERE own.chat_id = ?2)",
        (access, chat_id),
    )


def admit(db: sqlite3.Connection, lists: Lists, chat_id: int, person_id: int | None, situation: Situation) -> Situation:
    """Verb part: the situation with what its sender may, and with the codes that count here."""
    found = standing(db, lists, chat_id, person_id)
    allowed, refused = found.allowed, found.refused
    if not allowed and not refused:
        refused = guessed(db, person_id, situation.at) >= GUESSES
    brings = bool(situation.code) and situation.chat_kind == "dm" and not situation.is_command
    if brings and not refused and not situation.forwarded and (not allowed or _opens(db, situation)):
        situation = replace(situation, is_command=True, greets=True)
    elif situation.is_command and situation.code and not allowed and not found.owner:
        situation = replace(situation, greets=True)
    return replace(situation, allowed=allowed, refused=refused, from_owner=found.owner)


def guessed(db: sqlite3.Connection, person_id: int | None, at: int) -> int:
    """Verb part: how many wrong codes a person sent that still count against them."""
    row = db.execute(
        "SELECT count(*) FROM code WHERE kind = 'wrong' AND person_id = ? AND expires_at > ?", (person_id, at)
    ).fetchone()
    return int(row[0])


def _opens(db: sqlite3.Connection, situation: Situation) -> bool:
    """Whether the code exists: to somebody who may talk here, any other word of that form is just a word."""
    return bool(
        db.execute(
            "SELECT 1 FROM code WHERE code = ? AND kind IN ('owner', 'link') AND expires_at > ?",
            (situation.code, situation.at),
        ).fetchone()
    )


def kept(incoming: Incoming, situation: Situation, why: str) -> tuple[Incoming, bool]:
    """What of an event is stored, and whether that is less than came: of a stranger only the fact, or the code."""
    if why in UNSEEN:
        return replace(incoming, text="", attachments=(), scene=None), True
    if why != "command":
        return incoming, False
    if situation.greets and situation.code:
        return replace(incoming, text=f"/start {situation.code}", attachments=()), not situation.allowed
    if not situation.allowed and not situation.from_owner:
        return replace(incoming, text=" ".join(incoming.text.split()[:1]), attachments=()), True
    return incoming, False
