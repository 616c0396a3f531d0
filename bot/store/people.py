"""Persons, accounts, chats and places, and who may talk with the bot where."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from bot.core.events import ChatKind, Event, Incoming, Place, Sender
from bot.core.people import Audience, Chat, Person
from bot.core.speaking import GroupMode, Situation
from bot.store.engine import Database
from bot.store.schema import placeholders
from bot.store.settings import BOT_OFF, BOT_SWITCH, bot_off, put_settings
from bot.store.transactions import Tx
from bot.store.windows import cut_all_replies

CONSOLE = "console"
"""Whoever sits at this machine's terminal is always allowed."""

MOST_GUESSES = 5
"""Wrong codes within an hour after which a person's codes are ignored for an hour."""

Access = Literal["", "allowed", "denied"]
UNSTORED_REASONS = ("pair", "stranger", "closed")
"""Decisions about messages whose text is not kept."""


@dataclass(slots=True)
class AccessLists:
    """What the configuration says: owners' accounts, and ids that need no approval, each "platform:id".

    One for the whole store, which a reload fills anew.
    """

    owners: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Permissions:
    """What one person may in one chat. `refused`: no answer at all, because an owner said so."""

    allowed: bool
    refused: bool
    owner: bool


class AccessRights:
    """Who may talk with nuan, as it is stored."""

    def __init__(self, database: Database, lists: AccessLists) -> None:
        self._database = database
        self._lists = lists

    async def standing(self, chat_id: int, person_id: int) -> Permissions:
        """What this person may in this chat."""
        return await self._database.write(lambda db: permissions_of(db, self._lists, chat_id, person_id))

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


def permissions_of(db: Tx, lists: AccessLists, chat_id: int, person_id: int | None) -> Permissions:
    """Within a transaction: what a person (None: whoever is in that DM) may in a chat. Being denied outweighs every
    list.
    """
    kind, access = db.execute("SELECT kind, access FROM chat WHERE id = ?", (chat_id,)).fetchone()
    places = db.execute("SELECT platform, external_id, parent FROM place WHERE chat_id = ?", (chat_id,)).fetchall()
    if person_id is None and kind == "dm":
        row = db.execute("SELECT person_id FROM member WHERE chat_id = ?", (chat_id,)).fetchone()
        person_id = row[0] if row else None
    trusted, refused, owner = _person(db, lists, person_id)
    if any(platform == CONSOLE for platform, _, _ in places):
        return Permissions(True, False, owner)
    if kind == "dm":
        return Permissions(trusted and not refused, refused, owner)
    access = access or _inherited(db, places)
    listed = any(f"{platform}:{name}" in lists.allow for platform, *names in places for name in names)
    closed = access == "denied"
    return Permissions(not refused and not closed and (listed or access == "allowed"), refused, owner)


def _person(db: Tx, lists: AccessLists, person_id: int | None) -> tuple[bool, bool, bool]:
    """Whether a person is trusted, refused, and an owner; any of their accounts counts, a bot's none."""
    row = db.execute("SELECT access, is_bot FROM person WHERE id = ?", (person_id,)).fetchone()
    if row is None or row[1]:
        return False, row is not None and row[0] == "denied", False
    accounts = db.execute("SELECT platform, external_id, owner FROM account WHERE person_id = ?", (person_id,))
    known = [(platform, f"{platform}:{external_id}", bool(own)) for platform, external_id, own in accounts]
    owner = any(own or name in lists.owners for _, name, own in known)
    listed = any(name in lists.allow or platform == CONSOLE for platform, name, _ in known)
    return owner or row[0] == "allowed" or listed, row[0] == "denied" and not owner, owner


def _inherited(db: Tx, places: list[tuple[str, str, str]]) -> str:
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


def set_chat(db: Tx, chat_id: int, access: Access) -> None:
    """One transaction: the decision about a group, its parent and all that has the same parent."""
    db.execute("UPDATE chat SET access = ? WHERE id = ?", (access, chat_id))
    db.execute(
        "UPDATE chat SET access = ?1 WHERE kind = 'group' AND id IN (SELECT other.chat_id FROM place AS own "
        "JOIN place AS other ON other.platform = own.platform AND ((own.parent <> '' AND own.parent IN "
        "(other.parent, other.external_id)) OR other.parent = own.external_id) WHERE own.chat_id = ?2)",
        (access, chat_id),
    )


def with_permissions(
    db: Tx, lists: AccessLists, chat_id: int, person_id: int | None, situation: Situation
) -> Situation:
    """Within a transaction: the situation with what its sender may, and with the codes that count here."""
    found = permissions_of(db, lists, chat_id, person_id)
    allowed, refused = found.allowed, found.refused
    if not allowed and not refused:
        refused = wrong_guesses(db, person_id, situation.at) >= MOST_GUESSES
    brings = bool(situation.code) and situation.chat_kind == "dm" and not situation.is_command
    if brings and not refused and not situation.forwarded and (not allowed or _opens(db, situation)):
        situation = replace(situation, is_command=True, greets=True)
    elif situation.is_command and situation.code and not allowed and not found.owner:
        situation = replace(situation, greets=True)
    return replace(situation, allowed=allowed, refused=refused, from_owner=found.owner)


def wrong_guesses(db: Tx, person_id: int | None, at: int) -> int:
    """Within a transaction: how many wrong codes a person sent that still count against them."""
    row = db.execute(
        "SELECT count(*) FROM code WHERE kind = 'wrong' AND person_id = ? AND expires_at > ?", (person_id, at)
    ).fetchone()
    return int(row[0])


def _opens(db: Tx, situation: Situation) -> bool:
    """Whether the code exists: to somebody who may talk here, any other word of that form is just a word."""
    return bool(
        db.execute(
            "SELECT 1 FROM code WHERE code = ? AND kind IN ('owner', 'link') AND expires_at > ?",
            (situation.code, situation.at),
        ).fetchone()
    )


def stored_part(incoming: Incoming, situation: Situation, why: str) -> tuple[Incoming, bool]:
    """What of an event is stored, and whether that is less than came: of a stranger only the fact, or the code."""
    if why in UNSTORED_REASONS:
        return replace(incoming, text="", attachments=(), scene=None), True
    if why != "command":
        return incoming, False
    if situation.greets and situation.code:
        return replace(incoming, text=f"/start {situation.code}", attachments=()), not situation.allowed
    if not situation.allowed and not situation.from_owner:
        return replace(incoming, text=" ".join(incoming.text.split()[:1]), attachments=()), True
    return incoming, False


CHAT = f"""SELECT chat.id, place.platform, place.external_id, chat.kind, chat.title,
    chat.enabled AND NOT {BOT_OFF}, chat.scene,
    chat.mode, chat.persona
    FROM chat JOIN place ON place.chat_id = chat.id AND place.current = 1 """
PERSON = """SELECT id, name, script, timezone, is_bot, (SELECT group_concat(platform || ':' || external_id, char(10))
    FROM account WHERE person_id = person.id), (SELECT max(owner) FROM account WHERE person_id = person.id)
    FROM person """


USUAL_LINES, USUAL_CHARS = 5, 500
"""Of so many of a person's last lines, the beginning of each, it is told what they usually write in."""

MOST_AUDIENCE = 200
"""In a larger group only the public memories of those who were seen last can be told."""


class People:
    """Who takes part, and where."""

    def __init__(self, database: Database, lists: AccessLists) -> None:
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
            f"SELECT id, name, timezone FROM person WHERE id IN ({placeholders(numbers)})", numbers
        )
        return {int(row[0]): (str(row[1]), str(row[2])) for row in rows}

    async def titles(self, numbers: Collection[int]) -> dict[int, str]:
        """The titles of those of these chats that are groups."""
        rows = await self._database.rows(
            f"SELECT id, title FROM chat WHERE kind = 'group' AND id IN ({placeholders(numbers)})", tuple(numbers)
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
            (chat.id, MOST_AUDIENCE),
        )
        return Audience(chat.id, chat.kind, tuple(int(row[0]) for row in rows))

    async def switch_bot(self, on: bool, person_id: int, at: int) -> None:
        """Let nuan speak anywhere, or nowhere; what waits for an answer, or is still to be said, waits no more.

        Each chat keeps its own switch.
        """

        def transaction(db: Tx) -> None:
            put_settings(db, {BOT_SWITCH: None if on else "off"}, person_id, at)
            if on:  # deadlines that came while it was off are worked out anew
                db.execute("UPDATE heartbeat SET due_at = ? WHERE due_at IS NULL", (at,))
            else:
                for (chat_id,) in db.execute("SELECT id FROM chat").fetchall():
                    _silence(db, chat_id, at)

        await self._database.write(transaction)

    async def switch(self, chat_id: int, enabled: bool, at: int) -> None:
        """Let nuan speak in a chat, or not; what waits there for an answer, or is still to be said, waits no more."""

        def transaction(db: Tx) -> None:
            db.execute("UPDATE chat SET enabled = ? WHERE id = ?", (int(enabled), chat_id))
            if not enabled:
                _silence(db, chat_id, at)

        await self._database.write(transaction)


def _silence(db: Tx, chat_id: int, at: int) -> None:
    """Within a transaction: nothing more is said there, and only commands are still answered."""
    cut_all_replies(db, chat_id, at)
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
        cast("GroupMode", mode) if mode else None,
        str(persona),
    )


def person_of(row: tuple[object, ...], owners: frozenset[str]) -> Person:
    """A row of PERSON as a value; an account among `owners`, or one that used the owner code, makes them an owner."""
    number, name, script, timezone, is_bot, accounts, coded = row
    is_owner = not is_bot and (bool(coded) or not owners.isdisjoint(str(accounts or "").split("\n")))
    return Person(cast("int", number), str(name), str(script), str(timezone), is_owner, bool(is_bot))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1


def find_chat(db: Tx, place: Place, at: int) -> Chat:
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
        return Chat(cast("int", chat_id), *there, enabled=not bot_off(db))
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
    db: Tx, sender: Sender, chat_id: int, script: Callable[[str, tuple[str, ...]], str], at: int
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


def _last_lines(db: Tx, chat_id: int, person_id: int) -> tuple[str, ...]:
    """What a person wrote last in a chat, of its newest lines, the newest first."""
    rows = db.execute(
        "SELECT text FROM event WHERE kind = 'message' AND hidden = '' AND forwarded = 0 AND person_id = ? AND id IN "
        "(SELECT id FROM event WHERE chat_id = ? ORDER BY id DESC LIMIT 60) ORDER BY id DESC LIMIT ?",
        (person_id, chat_id, USUAL_LINES - 1),
    )
    return tuple(str(row[0])[:USUAL_CHARS] for row in rows)
