"""One-time codes: a stranger's request, the first owner's proof, the link of two accounts. Words come from callers."""

import asyncio
import json
import os
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from bot.errors import StoreError
from bot.store.access import CONSOLE, GUESSES, Access, Lists, guessed, standing
from bot.store.database import Database
from bot.store.events import finish
from bot.store.merge import busy, merge
from bot.store.outbox import put
from bot.text.codes import ALPHABET, LENGTH, code_form
from bot.types.duration import HOUR_MS
from bot.types.outgoing import Draft

OWNER_FILE = "owner.code"
"""Written by `nuan init` before there is a database; taken into it, and removed, when nuan next looks for a code."""

LINK_MS = 600_000
OWNER_MS = 24 * HOUR_MS
PENDING = 3
"""Strangers of one platform that may wait for an owner at the same time."""
REPEAT_MS = HOUR_MS
"""A stranger who writes on and on is told their code, or that too many wait, once in this time."""

Outcome = Literal["owner", "linked", "same", "busy", "waits", "wrong", "ignored"]


@dataclass(frozen=True, slots=True)
class Knock:
    """A stranger at the door: `answer` makes what they are told (of a code, or of ""), `notice` what an owner is told.

    `notice` gets the code, the owner's script and the owner's account on the platform of the chat. `always` answers
    even one who was answered a moment ago.
    """

    event_id: int
    chat_id: int
    person_id: int
    platform: str
    always: bool
    answer: Callable[[str], Draft]
    notice: Callable[[str, str, str], Draft]


class Codes:
    """Makes codes and takes them back, each once."""

    def __init__(self, database: Database, lists: Lists, folder: Path) -> None:
        self._database = database
        self._lists = lists
        self._file = folder / OWNER_FILE

    async def knock(self, knock: Knock, at: int) -> None:
        """Answer a stranger, and tell every owner once, in one commit; nothing when they were allowed meanwhile."""
        await self._database.write(lambda db: _knock(db, self._lists, knock, at))

    async def decide(self, code: str, access: Access, tell: Callable[[str], Draft | None], at: int) -> str | None:
        """Allow or deny whom a pairing code belongs to; their name, None when there is no such code.

        `tell` makes what they are told in their script; it is sent when the decision is new.
        """
        return await self._database.write(lambda db: _decide(db, code.upper(), access, tell, at))

    async def tell_owners(self, platform: str, notice: Callable[[str], Draft], at: int) -> None:
        """Tell every owner once, on that platform if they can be met there; `notice` gets the owner's script."""

        def verb(db: sqlite3.Connection) -> None:
            for chat_id, script, _ in _owners(db, self._lists, platform):
                put(db, chat_id, notice(script), at)

        await self._database.write(verb)

    async def link(self, person_id: int, chat_id: int, at: int) -> str:
        """A new code that joins whoever uses it to this person; their former one is void."""

        def verb(db: sqlite3.Connection) -> str:
            db.execute("DELETE FROM code WHERE kind = 'link' AND person_id = ?", (person_id,))
            return _make(db, "link", person_id, chat_id, at, LINK_MS)

        return await self._database.write(verb)

    async def redeem(self, code: str, event_id: int, at: int) -> Outcome:
        """Use a code in the name of the event's sender, once per event; five wrong ones within an hour are the last."""
        await self.take_owner_code()
        return await self._database.write(lambda db: _redeem(db, self._lists, code.upper(), event_id, at))

    async def take_owner_code(self) -> None:
        """Take the code that `nuan init` left in the data folder, if any; it replaces an older one."""
        left = await asyncio.to_thread(_read, self._file)
        if left is None:
            return

        def verb(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM code WHERE kind = 'owner'")
            db.execute("INSERT OR REPLACE INTO code (code, kind, made_at, expires_at) VALUES (?, 'owner', 0, ?)", left)

        await self._database.write(verb)
        await asyncio.to_thread(self._file.unlink, missing_ok=True)


def new_code() -> str:
    """A random code of the right form."""
    while not code_form(code := "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))):
        pass
    return code


def leave_owner_code(folder: Path, at: int) -> str:
    """Leave a new code for whoever will be the owner in the data folder, readable by this user only; OSError."""
    code = new_code()
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{OWNER_FILE}.new"
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps({"code": code, "expires_at": at + OWNER_MS}))
    new.replace(folder / OWNER_FILE)
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


def _make(db: sqlite3.Connection, kind: str, person_id: int, chat_id: int, at: int, lasts: int) -> str:
    _sweep(db, at)
    code = new_code()
    while db.execute("SELECT 1 FROM code WHERE code = ?", (code,)).fetchone():
        code = new_code()
    db.execute("INSERT INTO code VALUES (?, ?, ?, ?, ?, ?)", (code, kind, person_id, chat_id, at, at + lasts))
    return code


def _sweep(db: sqlite3.Connection, at: int) -> None:
    """What is over is gone: codes, wrong guesses, and who was told something."""
    db.execute("DELETE FROM code WHERE expires_at <= ?", (at,))


def _knock(db: sqlite3.Connection, lists: Lists, knock: Knock, at: int) -> None:
    finish(db, (knock.event_id,), "done", "pair")
    here = standing(db, lists, knock.chat_id, knock.person_id)
    if here.allowed or here.refused:
        return
    _sweep(db, at)
    row = db.execute("SELECT code FROM code WHERE kind = 'pair' AND person_id = ?", (knock.person_id,)).fetchone()
    code, fresh = str(row[0]) if row else "", False
    if not code and _pending(db, knock.platform) < PENDING:
        code, fresh = _make(db, "pair", knock.person_id, knock.chat_id, at, HOUR_MS), True
    told = f"told {knock.person_id}"
    last = db.execute("SELECT made_at FROM code WHERE code = ?", (told,)).fetchone()
    if fresh or knock.always or last is None or at - last[0] >= REPEAT_MS:
        put(db, knock.chat_id, knock.answer(code), at)
        db.execute(
            "INSERT OR REPLACE INTO code VALUES (?, 'told', ?, ?, ?, ?)",
            (told, knock.person_id, knock.chat_id, at, at + HOUR_MS),
        )
    if fresh:
        for chat_id, script, account in _owners(db, lists, knock.platform):
            put(db, chat_id, knock.notice(code, script, account), at)


def _pending(db: sqlite3.Connection, platform: str) -> int:
    row = db.execute(
        "SELECT count(*) FROM code JOIN place ON place.chat_id = code.chat_id AND place.current = 1 "
        "JOIN person ON person.id = person_id WHERE code.kind = 'pair' AND person.access = '' AND platform = ?",
        (platform,),
    ).fetchone()
    return int(row[0])


def _owners(db: sqlite3.Connection, lists: Lists, platform: str) -> list[tuple[int, str, str]]:
    """One DM of each owner with script and account: on that platform if there is one, the terminal only if no other."""
    rows = db.execute(
        "SELECT member.person_id, chat.id, person.script, account.external_id, account.owner, place.platform "
        "FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind = 'dm' JOIN person ON "
        "person.id = member.person_id JOIN place ON place.chat_id = chat.id AND place.current = 1 JOIN account ON "
        "account.person_id = person.id AND account.platform = place.platform WHERE is_bot = 0 AND chat.gone = 0 "
        "ORDER BY place.platform <> ?, place.platform = ?, member.seen_at DESC, account.external_id",
        (platform, CONSOLE),
    ).fetchall()
    found: dict[int, tuple[int, str, str]] = {}
    for person_id, chat_id, script, account, *_ in rows:
        if person_id not in found and standing(db, lists, chat_id, person_id).owner:
            found[person_id] = (chat_id, script, account)
    return list(found.values())


def _decide(
    db: sqlite3.Connection, code: str, access: Access, tell: Callable[[str], Draft | None], at: int
) -> str | None:
    _sweep(db, at)
    row = db.execute(
        "SELECT person.id, chat_id, name, script, access FROM code JOIN person ON person.id = person_id "
        "WHERE code = ? AND kind = 'pair'",
        (code,),
    ).fetchone()
    if row is None:
        return None
    person_id, chat_id, name, script, before = row
    if before != access:
        db.execute("UPDATE person SET access = ? WHERE id = ?", (access, person_id))
        told = tell(script)
        if told is not None:
            put(db, chat_id, told, at)
    return str(name)


def _redeem(db: sqlite3.Connection, lists: Lists, code: str, event_id: int, at: int) -> Outcome:
    key = f"event:{event_id}:code"
    before = db.execute("SELECT result FROM effect WHERE key = ?", (key,)).fetchone()
    if before is not None:
        return cast("Outcome", before[0])
    _sweep(db, at)
    outcome = _use(db, lists, code, event_id, at)
    if outcome != "busy":
        db.execute("INSERT INTO effect (key, result, at) VALUES (?, ?, ?)", (key, outcome, at))
    return outcome


def _use(db: sqlite3.Connection, lists: Lists, code: str, event_id: int, at: int) -> Outcome:
    person_id, chat_id, is_bot, platform = db.execute(
        "SELECT person_id, event.chat_id, is_bot, platform FROM event JOIN person ON person.id = person_id "
        "JOIN place ON place.chat_id = event.chat_id AND place.current = 1 WHERE event.id = ?",
        (event_id,),
    ).fetchone()
    if is_bot or guessed(db, person_id, at) >= GUESSES or standing(db, lists, chat_id, person_id).refused:
        return "ignored"
    row = db.execute("SELECT kind, person_id FROM code WHERE code = ?", (code,)).fetchone()
    match row:
        case ("owner", _):
            db.execute("UPDATE account SET owner = 1 WHERE person_id = ? AND platform = ?", (person_id, platform))
            db.execute("DELETE FROM code WHERE code = ? OR (kind = 'pair' AND person_id = ?)", (code, person_id))
            return "owner"
        case ("link" | "pair" as kind, of) if of == person_id:
            return "same" if kind == "link" else "waits"
        case ("link", of) if _denied(db, of):
            return _wrong(db, person_id, at)
        case ("link", of):
            if busy(db, (person_id, of), event_id, at):
                return "busy"
            db.execute("DELETE FROM code WHERE code = ?", (code,))
            merge(db, person_id, of)
            return "linked"
        case _:
            return _wrong(db, person_id, at)


def _denied(db: sqlite3.Connection, person_id: int) -> bool:
    """A code made before an owner said no must not undo that."""
    return bool(db.execute("SELECT 1 FROM person WHERE id = ? AND access = 'denied'", (person_id,)).fetchone())


def _wrong(db: sqlite3.Connection, person_id: int, at: int) -> Outcome:
    """A wrong code counts for an hour; the last one makes them all count for an hour from now."""
    row = f"wrong {secrets.token_hex(8)}", person_id, at, at + HOUR_MS
    db.execute("INSERT INTO code (code, kind, person_id, made_at, expires_at) VALUES (?, 'wrong', ?, ?, ?)", row)
    if guessed(db, person_id, at) >= GUESSES:
        db.execute("UPDATE code SET expires_at = ? WHERE kind = 'wrong' AND person_id = ?", (at + HOUR_MS, person_id))
    return "wrong"
