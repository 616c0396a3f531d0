"""One-time codes (pairing, owner, link), and the joining of two persons that a link makes."""

import asyncio
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from bot.core.clock import HOUR_MS
from bot.core.errors import StoreError
from bot.core.events import Draft
from bot.core.files import write_file
from bot.store.commitments import join_promises
from bot.store.engine import Database
from bot.store.events import finish_events
from bot.store.index import drop_documents, reindex_speaker, rescope
from bot.store.note_rows import delete_note
from bot.store.outbox import enqueue
from bot.store.people import CONSOLE, MOST_GUESSES, Access, AccessLists, permissions_of, wrong_guesses
from bot.store.supersession import one_current
from bot.store.transactions import Tx
from bot.text.codes import CODE_ALPHABET, CODE_LENGTH, code_form

REPOINTED = (
    "account SET person_id", "event SET person_id", "turn SET person_id", "call SET person_id", "digest SET owner_id",
    "code SET person_id", "memory SET owner_id", "doc SET person_id", "commitment SET owner_id",
    "reminder SET person_id", "section_round SET person_id",
)  # fmt: skip
"""Columns that only have to name the other person; a place in a set (member, window, feedback) may be taken."""


def is_busy(db: Tx, people: tuple[int, int], event_id: int, at: int) -> bool:
    """Within a transaction: whether something is under way in a name that may vanish: a turn, a due message, a
    digest.
    """
    chat = "(SELECT chat_id FROM event WHERE id = ?3)"
    row = db.execute(
        "SELECT EXISTS (SELECT 1 FROM turn WHERE state IN ('asked', 'answered') AND person_id IN (?1, ?2)) "
        f"OR EXISTS (SELECT 1 FROM event WHERE state = 'queued' AND due_at <= ?4 AND person_id IN (?1, ?2) "
        f"AND chat_id <> {chat}) OR EXISTS (SELECT 1 FROM session WHERE digest_due_at <= ?4 AND chat_id IN "
        "(SELECT chat_id FROM member WHERE person_id IN (?1, ?2)))",
        (*people, event_id, at),
    ).fetchone()
    return bool(row[0])


def join_persons(db: Tx, one: int, other: int) -> int:
    """Within a transaction: join two persons; the number of the one that is left, who is the older.

    Their logs are stale afterwards, so that what is remembered follows at the next turn of each DM.
    """
    keep, gone = (
        row[0] for row in db.execute("SELECT id FROM person WHERE id IN (?, ?) ORDER BY created_at, id", (one, other))
    )
    db.execute(
        "UPDATE person SET script = coalesce(nullif(person.script, ''), young.script), "
        "timezone = coalesce(nullif(person.timezone, ''), young.timezone), "
        "access = CASE 'allowed' WHEN young.access THEN 'allowed' ELSE person.access END "
        "FROM (SELECT script, timezone, access FROM person WHERE id = ?2) AS young WHERE person.id = ?1",
        (keep, gone),
    )
    _join_memories(db, keep, gone)
    for column in REPOINTED:
        db.execute(f"UPDATE {column} = ?1 WHERE {column.split()[-1]} = ?2", (keep, gone))
    reindex_speaker(db, cast("int", keep))
    one_current(db, cast("int", keep))
    join_promises(db, cast("int", keep))
    _join_sets(db, keep, gone)
    _join_notes(db, keep, gone)
    db.execute("DELETE FROM code WHERE kind IN ('pair', 'link', 'told') AND person_id = ?", (keep,))
    db.execute(
        "UPDATE epoch SET stale = 'people' WHERE stale = '' AND session_id IN (SELECT session.id FROM session "
        "JOIN chat ON chat.id = session.chat_id AND chat.kind = 'dm' JOIN member ON member.chat_id = chat.id "
        "WHERE session.state = 'open' AND person_id = ?)",
        (keep,),
    )
    db.execute("DELETE FROM person WHERE id = ?", (gone,))
    return cast("int", keep)


def _join_sets(db: Tx, keep: int, gone: int) -> None:
    """Where both have a row, the one that lasts longer stays."""
    for table, key, value in (("member", "chat_id", "seen_at"), ("window", "chat_id", "until")):
        db.execute(
            f"INSERT INTO {table} ({key}, person_id, {value}) SELECT {key}, ?1, {value} FROM {table} "
            f"WHERE person_id = ?2 ON CONFLICT ({key}, person_id) DO UPDATE SET {value} = "
            f"max({value}, excluded.{value})",
            (keep, gone),
        )
        db.execute(f"DELETE FROM {table} WHERE person_id = ?", (gone,))
    db.execute("UPDATE OR IGNORE feedback SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE participant SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE question SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE talker SET person_id = ? WHERE person_id = ?", (keep, gone))
    db.execute("UPDATE OR IGNORE reminder_question SET person_id = ? WHERE person_id = ?", (keep, gone))
    for table in ("feedback", "told", "participant", "question", "talker", "reminder_question"):
        db.execute(f"DELETE FROM {table} WHERE person_id = ?", (gone,))


def _join_notes(db: Tx, keep: int, gone: int) -> None:
    """A note kept by hand is there once for each owner: of two copies one stays."""
    db.execute("UPDATE OR IGNORE note SET owner_id = ?1, stamp = '' WHERE owner_id = ?2", (keep, gone))
    for (number,) in db.execute("SELECT id FROM note WHERE owner_id = ?", (gone,)).fetchall():
        delete_note(db, number)


def _join_memories(db: Tx, keep: int, gone: int) -> None:
    """The full-text rows change their owner; of two that say the same, and of two names to use, the newer stays."""
    for seen in ("p", "o"):
        rescope(db, f"{seen}{gone}", f"{seen}{keep}")
    twins = db.execute(
        "SELECT new.id, old.id FROM memory AS new JOIN memory AS old ON new.visibility = old.visibility "
        "AND (new.visibility <> 'chat' OR new.chat_id = old.chat_id) "
        "AND ((new.folded = old.folded AND "
        "((new.slot IN ('address', 'no_address')) = (old.slot IN ('address', 'no_address')))) "
        "OR (new.slot = 'address' AND old.slot = 'address')) "
        "AND (new.updated_at, new.id) > (old.updated_at, old.id) WHERE new.disabled_at IS NULL "
        "AND old.disabled_at IS NULL AND ((new.owner_id = ?1 AND old.owner_id = ?2) "
        "OR (new.owner_id = ?2 AND old.owner_id = ?1)) ORDER BY new.updated_at, new.id",
        (keep, gone),
    ).fetchall()
    for new, old in twins:
        db.execute(
            "UPDATE memory SET importance = min(100, memory.importance + twin.importance), asked = max(memory.asked, "
            "twin.asked), protected = max(memory.protected, twin.protected), helpful = memory.helpful + twin.helpful, "
            "unhelpful = memory.unhelpful + twin.unhelpful "
            "FROM (SELECT * FROM memory WHERE id = ?2) AS twin WHERE memory.id = ?1 "
            "AND memory.folded = twin.folded",
            (new, old),
        )
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT kind, ?1, event_id FROM edge "
            "WHERE kind = 'memory' AND derived_id = ?2 AND EXISTS (SELECT 1 FROM memory AS a JOIN memory AS b "
            "ON a.folded = b.folded WHERE a.id = ?1 AND b.id = ?2)",
            (new, old),
        )
        db.execute(
            "UPDATE memory SET disabled_at = (SELECT updated_at FROM memory WHERE id = ?1), "
            "disabled_reason = 'replaced' WHERE id = ?2",
            (new, old),
        )
        drop_documents(db, "memory", (old,))


OWNER_FILE = "owner.code"
"""Written by `nuan init` before there is a database; taken into it, and removed, when nuan next looks for a code."""

LINK_MS = 600_000
OWNER_MS = 24 * HOUR_MS
MOST_PENDING = 3
"""Strangers of one platform that may wait for an owner at the same time."""
REPEAT_MS = HOUR_MS
"""A stranger who writes on and on is told their code, or that too many wait, once in this time."""

CodeOutcome = Literal["owner", "linked", "same", "busy", "waits", "wrong", "ignored"]


@dataclass(frozen=True, slots=True)
class PairingRequest:
    """A stranger: `answer` makes what they are told (of a code, or of ""), `notice` what an owner is told.

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

    def __init__(self, database: Database, lists: AccessLists, folder: Path) -> None:
        self._database = database
        self._lists = lists
        self._file = folder / OWNER_FILE

    async def request_pairing(self, request: PairingRequest, at: int) -> None:
        """Answer a stranger, and tell every owner once, in one commit; nothing when they were allowed meanwhile."""
        await self._database.write(lambda db: _request_pairing(db, self._lists, request, at))

    async def decide(self, code: str, access: Access, tell: Callable[[str], Draft | None], at: int) -> str | None:
        """Allow or deny whom a pairing code belongs to; their name, None when there is no such code.

        `tell` makes what they are told in their script; it is sent when the decision is new.
        """
        return await self._database.write(lambda db: _decide(db, code.upper(), access, tell, at))

    async def tell_owners(self, platform: str, notice: Callable[[str], Draft], at: int) -> None:
        """Tell every owner once, on that platform if they can be met there; `notice` gets the owner's script."""

        def transaction(db: Tx) -> None:
            for chat_id, script, _ in _owners(db, self._lists, platform):
                enqueue(db, chat_id, notice(script), at)

        await self._database.write(transaction)

    async def link(self, person_id: int, chat_id: int, at: int) -> str:
        """A new code that joins whoever uses it to this person; their former one is void."""

        def transaction(db: Tx) -> str:
            db.execute("DELETE FROM code WHERE kind = 'link' AND person_id = ?", (person_id,))
            return _make(db, "link", person_id, chat_id, at, LINK_MS)

        return await self._database.write(transaction)

    async def redeem(self, code: str, event_id: int, at: int) -> CodeOutcome:
        """Use a code in the name of the event's sender, once per event; five wrong ones within an hour are the last."""
        await self.take_owner_code()
        return await self._database.write(lambda db: _redeem(db, self._lists, code.upper(), event_id, at))

    async def take_owner_code(self) -> None:
        """Take the code that `nuan init` left in the data folder, if any; it replaces an older one."""
        left = await asyncio.to_thread(_read, self._file)
        if left is None:
            return

        def transaction(db: Tx) -> None:
            db.execute("DELETE FROM code WHERE kind = 'owner'")
            db.execute("INSERT OR REPLACE INTO code (code, kind, made_at, expires_at) VALUES (?, 'owner', 0, ?)", left)

        await self._database.write(transaction)
        await asyncio.to_thread(self._file.unlink, missing_ok=True)


def new_code() -> str:
    """A random code of the right form."""
    while not code_form(code := "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))):
        pass
    return code


def leave_owner_code(folder: Path, at: int) -> str:
    """Leave a new code for whoever will be the owner in the data folder, readable by this user only; OSError."""
    code = new_code()
    folder.mkdir(parents=True, exist_ok=True)
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


def _make(db: Tx, kind: str, person_id: int, chat_id: int, at: int, lasts: int) -> str:
    _sweep(db, at)
    code = new_code()
    while db.execute("SELECT 1 FROM code WHERE code = ?", (code,)).fetchone():
        code = new_code()
    db.execute("INSERT INTO code VALUES (?, ?, ?, ?, ?, ?)", (code, kind, person_id, chat_id, at, at + lasts))
    return code


def _sweep(db: Tx, at: int) -> None:
    """What is over is gone: codes, wrong guesses, and who was told something."""
    db.execute("DELETE FROM code WHERE expires_at <= ?", (at,))


def _request_pairing(db: Tx, lists: AccessLists, request: PairingRequest, at: int) -> None:
    finish_events(db, (request.event_id,), "done", "pair")
    here = permissions_of(db, lists, request.chat_id, request.person_id)
    if here.allowed or here.refused:
        return
    _sweep(db, at)
    row = db.execute("SELECT code FROM code WHERE kind = 'pair' AND person_id = ?", (request.person_id,)).fetchone()
    code, fresh = str(row[0]) if row else "", False
    if not code and _pending(db, request.platform) < MOST_PENDING:
        code, fresh = _make(db, "pair", request.person_id, request.chat_id, at, HOUR_MS), True
    told = f"told {request.person_id}"
    last = db.execute("SELECT made_at FROM code WHERE code = ?", (told,)).fetchone()
    if fresh or request.always or last is None or at - last[0] >= REPEAT_MS:
        enqueue(db, request.chat_id, request.answer(code), at)
        db.execute(
            "INSERT OR REPLACE INTO code VALUES (?, 'told', ?, ?, ?, ?)",
            (told, request.person_id, request.chat_id, at, at + HOUR_MS),
        )
    if fresh:
        for chat_id, script, account in _owners(db, lists, request.platform):
            enqueue(db, chat_id, request.notice(code, script, account), at)


def _pending(db: Tx, platform: str) -> int:
    row = db.execute(
        "SELECT count(*) FROM code JOIN place ON place.chat_id = code.chat_id AND place.current = 1 "
        "JOIN person ON person.id = person_id WHERE code.kind = 'pair' AND person.access = '' AND platform = ?",
        (platform,),
    ).fetchone()
    return int(row[0])


def _owners(db: Tx, lists: AccessLists, platform: str) -> list[tuple[int, str, str]]:
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
        if person_id not in found and permissions_of(db, lists, chat_id, person_id).owner:
            found[person_id] = (chat_id, script, account)
    return list(found.values())


def _decide(db: Tx, code: str, access: Access, tell: Callable[[str], Draft | None], at: int) -> str | None:
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
            enqueue(db, chat_id, told, at)
    return str(name)


def _redeem(db: Tx, lists: AccessLists, code: str, event_id: int, at: int) -> CodeOutcome:
    key = f"event:{event_id}:code"
    before = db.execute("SELECT result FROM effect WHERE key = ?", (key,)).fetchone()
    if before is not None:
        return cast("CodeOutcome", before[0])
    _sweep(db, at)
    outcome = _use(db, lists, code, event_id, at)
    if outcome != "busy":
        db.execute("INSERT INTO effect (key, result, at) VALUES (?, ?, ?)", (key, outcome, at))
    return outcome


def _use(db: Tx, lists: AccessLists, code: str, event_id: int, at: int) -> CodeOutcome:
    person_id, chat_id, is_bot, platform = db.execute(
        "SELECT person_id, event.chat_id, is_bot, platform FROM event JOIN person ON person.id = person_id "
        "JOIN place ON place.chat_id = event.chat_id AND place.current = 1 WHERE event.id = ?",
        (event_id,),
    ).fetchone()
    if (
        is_bot
        or wrong_guesses(db, person_id, at) >= MOST_GUESSES
        or permissions_of(db, lists, chat_id, person_id).refused
    ):
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
            if is_busy(db, (person_id, of), event_id, at):
                return "busy"
            db.execute("DELETE FROM code WHERE code = ?", (code,))
            join_persons(db, person_id, of)
            return "linked"
        case _:
            return _wrong(db, person_id, at)


def _denied(db: Tx, person_id: int) -> bool:
    """A code made before an owner said no must not undo that."""
    return bool(db.execute("SELECT 1 FROM person WHERE id = ? AND access = 'denied'", (person_id,)).fetchone())


def _wrong(db: Tx, person_id: int, at: int) -> CodeOutcome:
    """A wrong code counts for an hour; the last one makes them all count for an hour from now."""
    row = f"wrong {secrets.token_hex(8)}", person_id, at, at + HOUR_MS
    db.execute("INSERT INTO code (code, kind, person_id, made_at, expires_at) VALUES (?, 'wrong', ?, ?, ?)", row)
    if wrong_guesses(db, person_id, at) >= MOST_GUESSES:
        db.execute("UPDATE code SET expires_at = ? WHERE kind = 'wrong' AND person_id = ?", (at + HOUR_MS, person_id))
    return "wrong"
