"""Who takes part and who may talk: the repository of persons, chats and one-time codes."""

import asyncio
import json
import secrets
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Literal, cast

from bot.core.clock import HOUR_MS
from bot.core.errors import StoreError
from bot.core.events import Draft, Event, Place
from bot.core.files import make_private_folder, write_file
from bot.core.people import Audience, Chat, Person
from bot.store.access import (
    BELONGS,
    CONSOLE,
    MOST_GUESSES,
    SELECT_CHAT,
    Access,
    account_owner,
    chat_of,
    last_lines,
    owner_ids,
    permissions_of,
    persons,
    wrong_guesses,
)
from bot.store.engine import Repository, reading, reads, writes, writing
from bot.store.events import finish_events
from bot.store.outbox import enqueue
from bot.store.schema import placeholders
from bot.store.settings import BOT_SWITCH, put_settings
from bot.store.transactions import Tx
from bot.store.windows import cut_all_replies
from bot.text.clean import beside_id
from bot.text.codes import code_form, new_code

MOST_AUDIENCE = 200
"""In a larger group only the public memories of those who were seen last can be told."""

OWNER_FILE = "owner.code"
"""Written by `nuan init` before there is a database; taken into it, and removed, when nuan next looks for a code."""

OWNER_MS = 24 * HOUR_MS
MOST_PENDING = 3
"""Strangers of one platform that may wait for an owner at the same time."""
REPEAT_MS = HOUR_MS
"""A stranger who writes on and on is told their code, or that too many wait, once in this time."""

MOST_NAMED = 5
"""Accounts of one name that are shown."""

CodeOutcome = Literal["owner", "link", "waits", "wrong", "ignored"]


def person_of(tx: Tx, person_id: int) -> Person:
    """The person of that number; LookupError when there is none."""
    found = persons(tx, "WHERE id = ?", person_id)
    if not found:
        raise LookupError(f"no person {person_id!r}")
    return found[0]


class KnownPeople(Repository):
    """Who takes part, where, who may talk with nuan, and the codes by which that is decided, each used once."""

    chat = reading(chat_of)
    person = reading(person_of)
    standing = writing(permissions_of)
    written = reading(last_lines)

    @reads
    def chats(self, tx: Tx, among: Collection[int] | None = None) -> tuple[Chat, ...]:
        """All chats, or those with one of these numbers, by number."""
        where = "" if among is None else f"WHERE chat.id IN ({placeholders(among)}) "
        return tx.all(f"{SELECT_CHAT}{where}ORDER BY chat.id", *(among or ()), to=Chat)

    @reads
    def first_chat(self, tx: Tx, platform: str) -> Chat | None:
        """The oldest chat on that platform; None when there is none."""
        return tx.one(SELECT_CHAT + "WHERE platform = ? ORDER BY chat.id LIMIT 1", platform, to=Chat)

    @reads
    def places(self, tx: Tx, platform: str) -> tuple[Place, ...]:
        """Where on that platform something happened that is stored."""
        sql = (
            "SELECT platform, external_id, kind, title, parent FROM place JOIN chat ON chat.id = chat_id "
            "WHERE platform = ? AND current = 1 AND gone = 0 ORDER BY chat.id"
        )
        return tx.all(sql, platform, to=Place)

    @reads
    def named(self, tx: Tx, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
        """The display names of these persons and their time zones ("": none of their own)."""
        rows = tx.all(f"SELECT id, name, timezone FROM person WHERE id IN ({placeholders(numbers)})", *numbers)
        return {number: (name, zone) for number, name, zone in rows}

    @reads
    def titles(self, tx: Tx, numbers: Collection[int]) -> dict[int, str]:
        """The titles of those of these chats that are groups."""
        sql = f"SELECT id, title FROM chat WHERE kind = 'group' AND id IN ({placeholders(numbers)})"
        return dict(tx.all(sql, *numbers))

    @reads
    def by_number(self, tx: Tx, number: str) -> int | None:
        """The person of that number, as people write it; None when there is none."""
        found: int | None = tx.value("SELECT id FROM person WHERE id = ?", _number(number))
        return found

    @reads
    def by_account(self, tx: Tx, account: str) -> int | None:
        """The number of the person with that account, "platform:id"; None when nuan knows none."""
        return account_owner(tx, *account.partition(":")[::2])

    @reads
    def accounts(self, tx: Tx, person_id: int, platform: str) -> frozenset[str]:
        """The ids by which that platform knows the person."""
        sql = "SELECT external_id FROM account WHERE person_id = ? AND platform = ?"
        return frozenset(name for (name,) in tx.all(sql, person_id, platform))

    @reads
    def audience(self, tx: Tx, chat: Chat) -> Audience:
        """Everyone who wrote in that chat and has not left it, at most MOST_AUDIENCE, whoever was seen last first."""
        sql = "SELECT person_id FROM member WHERE chat_id = ? ORDER BY seen_at DESC, person_id LIMIT ?"
        return Audience(chat.id, chat.kind, tx.ids(sql, chat.id, MOST_AUDIENCE))

    @writes
    def switch_bot(self, tx: Tx, on: bool, person_id: int, at: int) -> None:
        """Let nuan speak anywhere, or nowhere; what waits for an answer, or is still to be said, waits no more.

        Each chat keeps its own switch.
        """
        put_settings(tx, {BOT_SWITCH: None if on else "off"}, person_id, at)
        if on:  # deadlines that came while it was off are worked out anew
            tx.run("UPDATE heartbeat SET due_at = ? WHERE due_at IS NULL", at)
        else:
            for chat_id in tx.ids("SELECT id FROM chat"):
                _silence(tx, chat_id, at)

    @writes
    def switch(self, tx: Tx, chat_id: int, enabled: bool, at: int) -> None:
        """Let nuan speak in a chat, or not; what waits there for an answer, or is still to be said, waits no more."""
        tx.run("UPDATE chat SET enabled = ? WHERE id = ?", int(enabled), chat_id)
        if not enabled:
            _silence(tx, chat_id, at)

    @writes
    def set_chat(self, tx: Tx, chat_id: int, access: Access) -> None:
        """Let nuan talk in a group with all that belongs to it (a guild's channels, a group's topics), or not."""
        tx.run("UPDATE chat SET access = ? WHERE id = ?", access, chat_id)
        sql = (
            "UPDATE chat SET access = ? WHERE kind = 'group' AND id IN (SELECT other.chat_id FROM place AS own "
            "JOIN place AS other ON other.platform = own.platform AND ((own.parent <> '' AND own.parent IN "
            "(other.parent, other.external_id)) OR other.parent = own.external_id) WHERE own.chat_id = ?)"
        )
        tx.run(sql, access, chat_id)

    @writes
    def set_person(self, tx: Tx, person_id: int, access: Access) -> None:
        """Let nuan talk with a person, or not."""
        tx.run("UPDATE person SET access = ? WHERE id = ?", access, person_id)

    @reads
    def find(self, tx: Tx, words: str, platform: str) -> tuple[int | None, int | None]:
        """The chat or the person of an id: "platform:id", or an id of that platform."""
        head, _, tail = words.partition(":")
        for place, external_id in ((head, tail), (platform, words)):
            chat = (
                tx.value(
                    f"SELECT chat.id FROM place JOIN chat ON chat.id = chat_id WHERE kind = 'group' AND {BELONGS} "
                    "ORDER BY external_id = ? DESC, chat.id LIMIT 1",
                    place,
                    *[external_id] * 3,
                )
                if external_id
                else None
            )
            if chat is not None:
                return chat, None
            person = account_owner(tx, place, external_id)
            if person is not None:
                return None, person
        return None, None

    @reads
    def accounts_named(self, tx: Tx, name: str) -> tuple[tuple[str, str], ...]:
        """Accounts that go by that name, as name and "platform:id", at most MOST_NAMED: anybody may choose any name."""
        sql = (
            "SELECT account.name, platform || ':' || external_id FROM account JOIN person ON person.id = person_id "
            "WHERE account.person_id IN (SELECT id FROM person WHERE name = ?) AND is_bot = 0 "
            "ORDER BY account.created_at, external_id LIMIT ?"
        )
        return tx.all(sql, name, MOST_NAMED)

    @reads
    def labelled(self, tx: Tx, person_id: int) -> str:
        """A person as receipts name them: their name with all of their accounts, "阿明 (telegram:1, discord:2)"."""
        rows = tx.all("SELECT platform || ':' || external_id FROM account WHERE person_id = ?", person_id)
        name = tx.value("SELECT name FROM person WHERE id = ?", person_id)
        return f"{beside_id(name)} ({', '.join(account for (account,) in rows)})"

    @reads
    def answer_to(self, tx: Tx, event: Event) -> tuple[str, str]:
        """Where the platform wants the answer to this event, and the account of its sender there."""
        row = tx.one(
            "SELECT via, account.external_id FROM event JOIN place ON place.chat_id = event.chat_id AND "
            "place.current = 1 LEFT JOIN account ON account.person_id = event.person_id AND account.platform = "
            "place.platform WHERE event.id = ? ORDER BY account.external_id = event.account DESC, account.name = event.name DESC LIMIT 1",
            event.id,
        )
        return (row[0], row[1] or "") if row is not None else ("", "")

    @writes
    def request_pairing(
        self,
        tx: Tx,
        event: Event,
        person_id: int,
        platform: str,
        answer: Callable[[str], Draft],
        notice: Callable[[str, str, str], Draft],
        at: int,
        *,
        always: bool,
    ) -> None:
        """Answer a stranger, and tell every owner once, in one commit; nothing when they were allowed meanwhile.

        `answer` makes what they are told (of a code, or of ""), `notice` what an owner is told: of the code, the owner's
        script and their account on that platform. `always` answers even one who was answered a moment ago.
        """
        here = permissions_of(tx, event.chat_id, person_id)
        if here.allowed or here.refused:
            finish_events(tx, (event.id,), "pair")
            return
        drop_expired_codes(tx, at)
        known = tx.value("SELECT code FROM code WHERE kind = 'pair' AND person_id = ?", person_id)
        fresh = known is None and _pending(tx, platform) < MOST_PENDING
        code = make_code(tx, "pair", person_id, event.chat_id, at, HOUR_MS) if fresh else known or ""
        told = f"told {person_id}"
        last = tx.value("SELECT made_at FROM code WHERE code = ?", told)
        if fresh or always or last is None or at - last >= REPEAT_MS:
            enqueue(tx, event.chat_id, answer(code), at)
            put_code(tx, told, "told", at, HOUR_MS, person_id, event.chat_id)
        finish_events(tx, (event.id,), "pair")
        if fresh:
            for chat_id, script, account in owner_chats(tx, platform):
                enqueue(tx, chat_id, notice(code, script, account), at)

    @writes
    def decide_pairing(
        self, tx: Tx, code: str, access: Access, tell: Callable[[str], Draft | None], at: int
    ) -> int | None:
        """Allow or deny whom a pairing code belongs to; their number, None when there is no such code.

        `tell` makes what they are told in their script; it is sent when the decision is new.
        """
        drop_expired_codes(tx, at)
        row = tx.one(
            "SELECT person.id, chat_id, script, access FROM code JOIN person ON person.id = person_id "
            "WHERE code = ? AND kind = 'pair'",
            code.upper(),
        )
        if row is None:
            return None
        person_id, chat_id, script, before = row
        if before != access:
            tx.run("UPDATE person SET access = ? WHERE id = ?", access, person_id)
            told = tell(script)
            if told is not None:
                enqueue(tx, chat_id, told, at)
        return int(person_id)

    @writes
    def tell_owners(self, tx: Tx, platform: str, notice: Callable[[str], Draft], at: int) -> None:
        """Tell every owner once, on that platform if they can be met there; `notice` gets the owner's script."""
        for chat_id, script, _ in owner_chats(tx, platform):
            enqueue(tx, chat_id, notice(script), at)

    async def redeem_code(self, code: str, event_id: int, at: int) -> CodeOutcome:
        """Use a code in the name of the event's sender, once per event; five wrong ones within an hour are the last."""
        await self.take_owner_code()
        return await self._redeem_once(code.upper(), event_id, at)

    @writes
    def _redeem_once(self, tx: Tx, code: str, event_id: int, at: int) -> CodeOutcome:
        key = f"event:{event_id}:code"
        before = tx.value("SELECT result FROM effect WHERE key = ?", key)
        if before is not None:
            return cast("CodeOutcome", before)
        drop_expired_codes(tx, at)
        outcome = _use(tx, code, event_id, at)
        tx.insert("effect", key=key, result=outcome, at=at)
        return outcome

    async def take_owner_code(self) -> None:
        """Take the code that `nuan init` left in the data folder, if any; it replaces an older one."""
        file = self._files.folder / OWNER_FILE
        left = await asyncio.to_thread(_read, file)
        if left is not None:
            await self._take_owner_code(*left)
            await asyncio.to_thread(file.unlink, missing_ok=True)

    @writes
    def _take_owner_code(self, tx: Tx, code: str, expires_at: int) -> None:
        tx.run("DELETE FROM code WHERE kind = 'owner'")
        put_code(tx, code, "owner", 0, expires_at)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1


def _silence(tx: Tx, chat_id: int, at: int) -> None:
    """Nothing more is said there, and only commands are still answered."""
    cut_all_replies(tx, chat_id, at)
    tx.run(
        "UPDATE event SET state = 'listened', outcome = 'off', due_at = NULL WHERE chat_id = ? "
        "AND state = 'queued' AND why <> 'command'",
        chat_id,
    )


def leave_owner_code(folder: Path, at: int) -> str:
    """Leave a new code for whoever will be the owner in the data folder, readable by this user only; OSError."""
    code = new_code()
    make_private_folder(folder)
    write_file(folder / OWNER_FILE, json.dumps({"code": code, "expires_at": at + OWNER_MS}).encode())
    return code


def _read(path: Path) -> tuple[str, int] | None:
    """The code in the file and when it expires, ms; StoreError when the file cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return code_form(found["code"]), int(found["expires_at"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreError(f"{OWNER_FILE} in the data folder cannot be read ({error}): remove it") from error


def make_code(tx: Tx, kind: str, person_id: int, chat_id: int, at: int, lasts: int) -> str:
    """A new code of that kind, which lasts so long, ms."""
    drop_expired_codes(tx, at)
    code = new_code()
    while tx.has("SELECT 1 FROM code WHERE code = ?", code):
        code = new_code()
    put_code(tx, code, kind, at, lasts, person_id, chat_id)
    return code


def put_code(
    tx: Tx, code: str, kind: str, at: int, lasts: int, person_id: int | None = None, chat_id: int | None = None
) -> None:
    """A code, or another word that counts for so long (ms), in the place of what was under that word."""
    row = {"kind": kind, "person_id": person_id, "chat_id": chat_id, "made_at": at, "expires_at": at + lasts}
    tx.put("code", "code", code=code, **row)


def drop_expired_codes(tx: Tx, at: int) -> None:
    """What is over is gone: codes, wrong guesses, and who was told something."""
    tx.run("DELETE FROM code WHERE expires_at <= ?", at)


def _pending(tx: Tx, platform: str) -> int:
    return tx.number(
        "SELECT count(*) FROM code JOIN place ON place.chat_id = code.chat_id AND place.current = 1 "
        "JOIN person ON person.id = person_id WHERE code.kind = 'pair' AND person.access = '' AND platform = ?",
        platform,
    )


def owner_chats(tx: Tx, platform: str) -> tuple[tuple[int, str, str], ...]:
    """One DM of each owner with script and account: on that platform if there is one, the terminal only if no other."""
    owners = owner_ids(tx)
    sql = (
        "SELECT member.person_id, chat.id, person.script, account.external_id "
        "FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind = 'dm' JOIN person ON "
        "person.id = member.person_id JOIN place ON place.chat_id = chat.id AND place.current = 1 JOIN account ON "
        "account.person_id = person.id AND account.platform = place.platform WHERE chat.gone = 0 AND "
        f"member.person_id IN ({placeholders(owners)}) "
        "ORDER BY place.platform <> ?, place.platform = ?, member.seen_at DESC, account.external_id"
    )
    rows = tx.all(sql, *owners, platform, CONSOLE)
    found: dict[int, tuple[int, str, str]] = {}
    for person_id, chat_id, script, account in rows:
        found.setdefault(person_id, (chat_id, script, account))
    return tuple(found.values())


def _use(tx: Tx, code: str, event_id: int, at: int) -> CodeOutcome:
    person_id, chat_id, platform = tx.row(
        "SELECT person_id, event.chat_id, platform FROM event "
        "JOIN place ON place.chat_id = event.chat_id AND place.current = 1 WHERE event.id = ?",
        event_id,
    )
    if not may_use_codes(tx, person_id, chat_id, at):
        return "ignored"
    match tx.one("SELECT kind, person_id FROM code WHERE code = ?", code):
        case ("owner", _):
            sql = (
                "UPDATE account SET owner = 1 WHERE person_id = ? AND platform = ? "
                "AND external_id = coalesce(nullif((SELECT account FROM event WHERE id = ?), ''), external_id)"
            )
            tx.run(sql, person_id, platform, event_id)
            tx.run("DELETE FROM code WHERE code = ? OR (kind = 'pair' AND person_id = ?)", code, person_id)
            return "owner"
        case ("link", _):
            return "link"
        case ("pair", of) if of == person_id:
            return "waits"
    count_wrong(tx, person_id, at)
    return "wrong"


def may_use_codes(tx: Tx, person_id: int, chat_id: int, at: int) -> bool:
    """Whether a code of this person is looked at: of nobody who was denied or guesses."""
    guesses = wrong_guesses(tx, person_id, at) >= MOST_GUESSES
    return not (guesses or permissions_of(tx, chat_id, person_id).refused)


def count_wrong(tx: Tx, person_id: int, at: int) -> None:
    """A wrong code counts for an hour; the last one makes them all count for an hour from now."""
    put_code(tx, f"wrong {secrets.token_hex(8)}", "wrong", at, HOUR_MS, person_id)
    if wrong_guesses(tx, person_id, at) >= MOST_GUESSES:
        tx.run("UPDATE code SET expires_at = ? WHERE kind = 'wrong' AND person_id = ?", at + HOUR_MS, person_id)
