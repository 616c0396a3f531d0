"""Persons, accounts, chats and places as they are stored, and who may talk with the bot where."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.events import Incoming, Place, Sender
from bot.core.people import Chat, Person
from bot.core.speaking import Situation
from bot.store.schema import placeholders
from bot.store.settings import BOT_OFF, bot_off
from bot.store.transactions import Row, Tx

CONSOLE = "console"
"""Whoever sits at this machine's terminal is always allowed."""

MOST_GUESSES = 5
"""Wrong codes within an hour after which a person's codes are ignored for an hour."""

USUAL_LINES, USUAL_CHARS = 5, 500
"""Of so many of a person's last lines, the beginning of each, it is told what they usually write in."""

Access = Literal["", "allowed", "denied"]
UNSTORED_REASONS = ("pair", "stranger", "closed")
"""Decisions about messages whose text is not kept."""

SELECT_CHAT = f"""SELECT chat.id, platform, external_id, kind, title, enabled = 1 AND NOT {BOT_OFF}, scene, nullif(mode, ''),
    persona FROM chat JOIN place ON chat_id = chat.id AND current = 1 """

BELONGS = "platform = ? AND (external_id = ? OR parent = ?)"
"""Whether a place is the one of that platform and id, or belongs to it: a guild's channel, a group's topic."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """What one person may in one chat. `refused`: no answer at all, because an owner said so."""

    allowed: bool
    refused: bool
    owner: bool


def account_owner(tx: Tx, platform: str, external_id: str) -> int | None:
    found: int | None = tx.value(
        "SELECT person_id FROM account WHERE platform = ? AND external_id = ?", platform, external_id
    )
    return found


def permissions_of(tx: Tx, chat_id: int, person_id: int | None) -> Permissions:
    """What a person (None: whoever is in that DM) may in a chat; being denied outweighs every list."""
    rows = tx.all(
        "SELECT kind, access, platform, external_id, parent FROM chat LEFT JOIN place ON chat_id = chat.id "
        "WHERE chat.id = ?",
        chat_id,
    )
    (kind, access, *_), *_ = rows
    places = tuple(row[2:] for row in rows if row[2] is not None)
    if person_id is None and kind == "dm":
        person_id = tx.value("SELECT person_id FROM member WHERE chat_id = ?", chat_id)
    trusted, refused, owner = _person(tx, person_id)
    if any(platform == CONSOLE for platform, _, _ in places):
        return Permissions(True, False, owner)
    if kind == "dm":
        return Permissions(trusted and not refused, refused, owner)
    access = access or _inherited(tx, places)
    listed = any(f"{platform}:{name}" in tx.lists.allow for platform, *names in places for name in names)
    closed = access == "denied"
    return Permissions(not refused and not closed and (listed or access == "allowed"), refused, owner)


def _person(tx: Tx, person_id: int | None) -> tuple[bool, bool, bool]:
    """Whether a person is trusted, refused, and an owner; any of their accounts counts, a bot's none."""
    accounts = tx.all(
        "SELECT access, is_bot, platform, platform || ':' || external_id, owner FROM person "
        "LEFT JOIN account ON person_id = person.id WHERE person.id = ?",
        person_id,
    )
    access, is_bot = accounts[0][:2] if accounts else ("", True)
    if is_bot:
        return False, access == "denied", False
    owner = any(own or name in tx.lists.owners for *_, name, own in accounts)
    listed = any(name in tx.lists.allow or platform == CONSOLE for _, _, platform, name, _ in accounts)
    return owner or access == "allowed" or listed, access == "denied" and not owner, owner


def _inherited(tx: Tx, places: tuple[Row, ...]) -> str:
    """What was decided for the guild or the group that a channel or topic belongs to."""
    for platform, name in ((platform, name) for platform, *names in places for name in names if name):
        sql = (
            f"SELECT access FROM chat JOIN place ON place.chat_id = chat.id WHERE {BELONGS} AND access <> '' "
            "ORDER BY access DESC LIMIT 1"
        )
        access: str | None = tx.value(sql, platform, name, name)
        if access is not None:
            return access
    return ""


def with_permissions(tx: Tx, chat_id: int, person_id: int | None, situation: Situation) -> Situation:
    """The situation with what its sender may, and with the codes that count here."""
    found = permissions_of(tx, chat_id, person_id)
    allowed, refused = found.allowed, found.refused
    if not allowed and not refused:
        refused = wrong_guesses(tx, person_id, situation.at) >= MOST_GUESSES
    brings = bool(situation.code) and situation.chat_kind == "dm" and not situation.is_command
    if brings and not refused and (not allowed or _opens(tx, situation)):
        situation = replace(situation, is_command=True, greets=True)
    elif situation.is_command and situation.code and not allowed and not found.owner:
        situation = replace(situation, greets=True)
    return replace(situation, allowed=allowed, refused=refused, from_owner=found.owner)


def wrong_guesses(tx: Tx, person_id: int | None, at: int) -> int:
    """How many wrong codes a person sent that still count against them."""
    return tx.number(
        "SELECT count(*) FROM code WHERE kind = 'wrong' AND person_id = ? AND expires_at > ?", person_id, at
    )


def _opens(tx: Tx, situation: Situation) -> bool:
    """Whether it makes an owner: to somebody who may talk here, any other word of that form is just a word."""
    sql = "SELECT 1 FROM code WHERE code = ? AND kind = 'owner' AND expires_at > ?"
    return tx.has(sql, situation.code, situation.at)


def stored_part(incoming: Incoming, situation: Situation, why: str) -> tuple[Incoming, bool]:
    """What of an event is stored, and whether that is less than came: of a stranger only the fact, or the code."""
    if why in UNSTORED_REASONS:
        return replace(incoming, text="", attachments=(), scene=None), True
    if why != "command":
        return incoming, False
    if situation.greets and situation.code:
        return replace(
            incoming, text=_code_command(incoming.text, situation.code), attachments=()
        ), not situation.allowed
    if not situation.allowed and not situation.from_owner:
        return replace(incoming, text=" ".join(incoming.text.split()[:1]), attachments=()), True
    return incoming, False


def _code_command(text: str, code: str) -> str:
    """What is stored of a message with a code: `.ai link yes CODE` as it is, any other as `/start CODE`."""
    _, *words = text.lower().split()[:-1] or ("",)
    return " ".join((".ai", *words, code)) if words and words[0] == "link" else f"/start {code}"


def chat_of(tx: Tx, chat_id: int) -> Chat:
    """The chat of that number; LookupError when there is none."""
    chat = tx.one(SELECT_CHAT + "WHERE chat.id = ?", chat_id, to=Chat)
    if chat is None:
        raise LookupError(f"no chat {chat_id!r}")
    return chat


def persons(tx: Tx, where: str, *values: object) -> tuple[Person, ...]:
    """Whom a condition chooses; an account among the owners, or one that used the owner code, makes them an owner."""
    owners = tx.lists.owners  # a reload may change the lists meanwhile
    owns = f"owner = 1 OR platform || ':' || external_id IN ({placeholders(owners)})"
    sql = (
        "SELECT id, name, script, timezone, is_bot = 0 AND EXISTS (SELECT 1 FROM account WHERE person_id = person.id "
        f"AND ({owns})), is_bot FROM person {where}"
    )
    return tx.all(sql, *owners, *values, to=Person)


def owner_ids(tx: Tx) -> tuple[int, ...]:
    """The persons who are owners, by number."""
    listed = {account_owner(tx, *account.partition(":")[::2]) for account in tx.lists.owners} - {None}
    found = listed.union(tx.ids("SELECT person_id FROM account WHERE owner = 1"))
    return tx.ids(f"SELECT id FROM person WHERE is_bot = 0 AND id IN ({placeholders(found)}) ORDER BY id", *found)


def find_chat(tx: Tx, place: Place, at: int) -> Chat:
    """The chat a place points to, made when it is new; its title follows the platform's."""
    there = "platform = ? AND external_id = ?"
    known = f"{SELECT_CHAT}WHERE chat.id = (SELECT chat_id FROM place WHERE {there})"
    chat = tx.one(known, place.platform, place.external_id, to=Chat)
    if chat is None:
        chat_id = tx.insert("chat", kind=place.kind, title=place.title, created_at=at)
        tx.insert("place", platform=place.platform, external_id=place.external_id, chat_id=chat_id, parent=place.parent)
        return Chat(chat_id, place.platform, place.external_id, place.kind, place.title, enabled=not bot_off(tx))
    if place.title and place.title != chat.title:
        tx.run("UPDATE chat SET title = ? WHERE id = ?", place.title, chat.id)
    if place.parent:
        sql = f"UPDATE place SET parent = ? WHERE {there} AND parent <> ?"
        tx.run(sql, place.parent, place.platform, place.external_id, place.parent)
    return chat


def find_person(
    tx: Tx,
    sender: Sender,
    chat_id: int,
    script: Callable[[str, tuple[str, ...]], str],
    at: int,
    called: Callable[[str], str] | None = None,
) -> tuple[int, str]:
    """The person an account belongs to, made when it is new, and their name; that follows what was last seen, the script
    what they wrote last in that chat. `called`: the name by that script, where they told none.
    """
    there = "platform = ? AND external_id = ?"
    sql = f"SELECT person_id, account.name, script FROM account JOIN person ON person.id = person_id WHERE {there}"
    row = tx.one(sql, sender.platform, sender.external_id)
    if row is None:
        first = script("", ())
        name = called(first) if called is not None else sender.name
        number = tx.insert("person", name=name, script=first, is_bot=int(sender.is_bot), created_at=at)
        tx.insert(
            "account",
            platform=sender.platform,
            external_id=sender.external_id,
            person_id=number,
            name=sender.name,
            created_at=at,
        )
        return number, name
    person_id: int = row[0]
    if row[1] != sender.name:
        tx.run(f"UPDATE account SET name = ? WHERE {there}", sender.name, sender.platform, sender.external_id)
    usual = script(row[2], last_lines(tx, chat_id, person_id))
    now = (called(usual) if called is not None else sender.name, usual)
    tx.run("UPDATE person SET name = ?, script = ? WHERE id = ? AND (name <> ? OR script <> ?)", *now, person_id, *now)
    return person_id, now[0]


def last_lines(tx: Tx, chat_id: int, person_id: int) -> tuple[str, ...]:
    """What a person wrote last in a chat, of its newest lines, the newest first."""
    sql = (
        "SELECT text FROM event WHERE kind = 'message' AND hidden = '' AND forwarded = 0 AND person_id = ? AND id IN "
        "(SELECT id FROM event WHERE chat_id = ? ORDER BY id DESC LIMIT 60) ORDER BY id DESC LIMIT ?"
    )
    rows = tx.all(sql, person_id, chat_id, USUAL_LINES - 1)
    return tuple(text[:USUAL_CHARS] for (text,) in rows)
