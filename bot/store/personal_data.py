"""What one person may take along, and erasing them: for each table what is deleted or emptied."""

import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.archive import NoteRefused
from bot.core.clock import HOUR_MS
from bot.core.people import ErasedPerson, PersonalRecords
from bot.store.commitments import delete_commitments
from bot.store.digests import drop_talks
from bot.store.engine import Repository, reading, reads, wipe_soon, writes
from bot.store.events import note_effect
from bot.store.index import drop_documents
from bot.store.notes import delete_note, read_note
from bot.store.people import drop_expired_codes, put_code
from bot.store.removal import delete_lines, empty_talk, purge_rows
from bot.store.schema import META_AT, WAITING_THERE, placeholders
from bot.store.sessions import drop_log, end_logs
from bot.store.supersession import end_memory
from bot.store.transactions import Tx
from bot.text.dates import stamp
from bot.text.files import read_front

CHAT_OF = """(SELECT platform || ':' || external_id FROM place WHERE place.chat_id = {}.chat_id
    ORDER BY current DESC LIMIT 1) AS chat"""

COUNTED = ("calls", "prompt_tokens", "output_tokens", "cost")
"""What is summed by month of a person's calls."""

Record = dict[str, object]

ERASED_KEY = "erased:"
"""The key in meta of an erasure that this database has seen begins with it."""

SELECT_ACCOUNTS = "SELECT person_id, platform || ':' || external_id FROM account"

UNFINISHED_KEY = "unfinished:"
"""The key in meta of whoever may still be in files begins with it; ';' is the character after ':'."""

DONE_BY = "done_by"
"""What stands beside it there: which processes have none of them in their files any more."""

EXPORT_MS = HOUR_MS
"""A person's data is packed once in this time."""

ASK_MS = 600_000
"""How long the number counts that somebody is to repeat."""

PERSON_COUNTS = {
    "memories": "SELECT count(*) FROM memory WHERE owner_id = ? AND disabled_at IS NULL",
    "promises": "SELECT count(*) FROM commitment WHERE owner_id = ? AND text <> ''",
    "reminders": "SELECT count(*) FROM reminder WHERE person_id = ? AND ended_at IS NULL",
    "talks": "SELECT count(*) FROM digest WHERE owner_id = ? AND summary <> '' AND session_id IS NOT NULL",
    "notes": "SELECT count(DISTINCT path) FROM note WHERE owner_id = ?",
    "lines": "SELECT count(*) FROM event WHERE person_id = ? AND text <> ''",
}
"""How much there is of a person, by kind."""

TABLES_OF_PERSON = (
    "feedback",
    "section_round",
    "talker",
    "participant",
    "question",
    "reminder_question",
    "lately",
    "member",
    "conversation_window",
    "told",
    "code",
    "trace",
    "outside_grant",
    "plugin_value",
    "account",
)
"""Their rows (`person_id`) are deleted."""

TABLES_OF_CHAT = (
    "sent",
    "question",
    "reminder_question",
    "lately",
    "heartbeat",
    "joining",
    "rush",
    "chat_context",
    "member",
    "conversation_window",
    "code",
    "trace",
    "outside_grant",
    "plugin_value",
)
"""The rows of their direct chats (`chat_id`) are deleted."""

TABLES_OF_TURN = ("told_item", "turn_memory", "feedback", "section_round")
"""The rows of their turns, and of those in their direct chats (`turn_id`), are deleted."""

NOBODYS_TABLES = ("call", "setting", "recount")
"""Their rows stay, for nobody in particular: what was spent stays spent, and what was set for everybody stays set."""

LEAVING_KEY = "leaving:"
"""The key in meta of a chat whose address goes begins with it."""

IS_LEAVING = f"(key > '{LEAVING_KEY}' AND key < '{LEAVING_KEY[:-1]};')"
"""All of these rows; ';' is the character after ':'."""

LEAVE_MS = 60_000
"""How long the last word may take before it is looked whether it went."""

ERASE_COMMAND = ".ai forget me"
"""What the message that asked for it reads afterwards, so that a crash before its answer says it again."""


def count_of_person(tx: Tx, person_id: int) -> dict[str, int]:
    """How much there is of a person, by kind."""
    return {name: tx.value(sql, person_id) for name, sql in PERSON_COUNTS.items()}


def _drop_left_addresses(tx: Tx, now: int) -> None:
    """Where the last word has been sent, the address goes. Whoever came back keeps theirs."""
    for (key,) in tx.all(f"SELECT key FROM meta WHERE {IS_LEAVING} AND {META_AT} <= ?", now):
        number = int(key.removeprefix(LEAVING_KEY))
        if tx.has(
            f"SELECT 1 FROM outbox {WAITING_THERE} WHERE chat_id = ? AND state IN ('pending', 'sending')", number
        ):
            tx.set_meta(key, str(now + LEAVE_MS))
            continue
        wipe_soon(tx, now)
        tx.run("UPDATE outbox SET only_for = '', buttons = '[]', via = '' WHERE chat_id = ?", number)
        tx.set_meta(key, None)
        is_back = "kind <> 'dm' OR EXISTS (SELECT 1 FROM member WHERE chat_id = chat.id)"
        if not tx.has(f"SELECT 1 FROM chat WHERE id = ? AND ({is_back})", number):
            tx.run("DELETE FROM place WHERE chat_id = ?", number)


@dataclass(frozen=True, slots=True)
class ErasureScope:
    """Who goes: the number, the direct chats, all chats, accounts (platform and id) and the names they bore.

    `last` is the event that asked for it, whose answer is still to be sent; None when nobody waits for one.
    """

    id: int
    dms: tuple[int, ...]
    chats: tuple[int, ...]
    accounts: tuple[tuple[str, str], ...]
    names: frozenset[str]
    at: int
    last: int | None = None

    def ids(self, tx: Tx, table: str, column: str = "person_id") -> tuple[int, ...]:
        """The rows of a table that name the person in that column, or a direct chat of theirs."""
        here = f"SELECT id FROM {table} WHERE chat_id IN ({placeholders(self.dms)})"
        return tx.ids(f"SELECT id FROM {table} WHERE {column} = ? UNION {here}", self.id, *self.dms)


def erase_person(tx: Tx, person_id: int, at: int, last: int | None = None) -> ErasedPerson:
    """Nothing of that person is left but counts; who it was, for the files of the log."""
    who, counts = erasure_scope(tx, person_id, at, last), count_of_person(tx, person_id)
    wipe_soon(tx, at)
    # Talks first: what is left of one is told anew whenever a line of it goes.
    for step in (_own_talks, _lines, _notes, _memories, _talks, _plans, _logs, _sent, _turns, _index, _identity):
        step(tx, who)
    ids = frozenset(number for _, number in who.accounts)
    return ErasedPerson(person_id, frozenset(who.dms), frozenset(who.chats), ids, who.names, counts)


def erasure_scope(tx: Tx, person_id: int, at: int, last: int | None = None) -> ErasureScope:
    """What of the person there is to find the rest by."""
    rows = tx.all(
        "SELECT id, kind = 'dm' AND NOT EXISTS (SELECT 1 FROM member WHERE chat_id = chat.id AND person_id <> ?) "
        "FROM chat WHERE id IN (SELECT chat_id FROM event WHERE person_id = ? UNION SELECT chat_id FROM member "
        "WHERE person_id = ? UNION SELECT chat_id FROM memory WHERE owner_id = ? UNION SELECT chat_id FROM session "
        "JOIN participant ON session_id = session.id WHERE person_id = ?)",
        *(person_id,) * 5,
    )
    accounts = tx.all("SELECT platform, external_id FROM account WHERE person_id = ?", person_id)
    names = tx.all(
        "SELECT name FROM person WHERE id = ? UNION SELECT name FROM account WHERE person_id = ? UNION "
        "SELECT name FROM event WHERE person_id = ?",
        *(person_id,) * 3,
    )
    return ErasureScope(
        person_id,
        tuple(number for number, alone in rows if alone),
        tuple(number for number, _ in rows),
        tuple((platform, number) for platform, number in accounts),
        frozenset(name for (name,) in names if name),
        at,
        last,
    )


def _lines(tx: Tx, who: ErasureScope) -> None:
    """What they said, what was said in their direct chats, and all that was made of it; in groups lines are emptied."""
    sql = f"SELECT id, text FROM event WHERE (person_id = ? OR chat_id IN ({placeholders(who.dms)})) AND id <> ?"
    said: dict[int, str] = dict(tx.all(sql, who.id, *who.dms, who.last or 0))
    # Receipts in their direct chats are among the lines: looking for each by its text would take for ever.
    for number in tx.ids(f"SELECT id FROM event WHERE chat_id IN ({placeholders(who.dms)})", *who.dms):
        receipts = f"event:{number}:", f"event:{number};"  # ';' is the character after ':'
        tx.run("UPDATE effect SET result = '' WHERE key > ? AND key < ? AND result <> 'done'", *receipts)
    if said:
        delete_lines(tx, said, who.at)
    for number in said:
        tx.run(
            "UPDATE event SET name = '', account = '', quote = '', via = '', "
            "delivery_key = CASE kind WHEN 'message' THEN delivery_key END WHERE id = ?",
            number,
        )
        tx.run("DELETE FROM lately WHERE event_id = ?", number)
        tx.run("DELETE FROM attachment WHERE event_id = ?", number)
        tx.run("DELETE FROM edge WHERE event_id = ? AND kind NOT IN ('digest', 'recount')", number)
    tx.run(
        "UPDATE event SET quote = '' WHERE id IN (SELECT quoting.id FROM event AS said JOIN event AS quoting "
        "ON quoting.chat_id = said.chat_id AND quoting.target = said.external_id WHERE said.person_id = ? "
        "AND said.external_id <> '' AND quoting.quote <> '' AND quoting.target <> '')",
        who.id,
    )
    if who.last is not None:
        tx.run("UPDATE event SET text = ?, name = '', account = '', quote = '' WHERE id = ?", ERASE_COMMAND, who.last)


def _notes(tx: Tx, who: ErasureScope) -> None:
    """No note of theirs is left, but one kept by hand that other owners have, too; StoreError when one cannot go.

    Lines of theirs in notes of groups are taken out with the lines themselves.
    """
    files = tx.files.notes
    paths = {path for path in files.listing().found if _chat_of(tx, path) in who.dms}
    for number in who.ids(tx, "note", "owner_id"):
        path = tx.value("SELECT path FROM note WHERE id = ?", number)
        delete_note(tx, number)
        if not tx.has("SELECT 1 FROM note WHERE path = ? AND owner_id IS DISTINCT FROM ?", path, who.id):
            paths.add(path)
    lines = [(0, line) for path in sorted(paths) for line in read_note(tx, path) or () if line.strip()]
    tx.files.tombstones.add_tombstones(lines, who.at)
    for path in sorted(paths):
        files.remove(path)


def _chat_of(tx: Tx, path: str) -> int | None:
    """The chat that a note was made of, as its top says; None for every other file."""
    try:
        front, _ = read_front(read_note(tx, path) or [])
    except NoteRefused:
        return None
    return front.chat_id if front is not None else None


def _memories(tx: Tx, who: ErasureScope) -> None:
    """Theirs, and what belongs to nobody in a direct chat of theirs; none of it comes back by an import."""
    numbers = who.ids(tx, "memory", "owner_id")
    texts = "SELECT text, original FROM memory WHERE id = ?"
    said = [(number, each) for number in numbers for each in tx.row(texts, number) if each]
    tx.files.tombstones.add_tombstones(said, who.at)
    for number in numbers:
        tx.run("DELETE FROM rewriting WHERE memory_id = ?", number)
        end_memory(tx, number, "deleted", who.at, who.at)
    purge_rows(tx, who.at)


def _own_talks(tx: Tx, who: ErasureScope) -> None:
    """Summaries of their direct chats go."""
    numbers = who.ids(tx, "digest", "owner_id")
    drop_talks(tx, [number for number in numbers if tx.value("SELECT session_id FROM digest WHERE id = ?", number)])
    for number in who.ids(tx, "digest", "owner_id"):
        drop_documents(tx, "digest", (number,))
        tx.run("DELETE FROM talker WHERE digest_id = ?", number)
        tx.run("DELETE FROM digest WHERE id = ?", number)


def _talks(tx: Tx, who: ErasureScope) -> None:
    """Those of a group they took part in are made again of what others said."""
    sql = "SELECT digest.id, session_id, names FROM talker JOIN digest ON digest.id = digest_id WHERE person_id = ?"
    for number, session_id, names in tx.all(sql, who.id):
        left = [name for name in json.loads(names) if name not in who.names]
        tx.run("UPDATE digest SET names = ? WHERE id = ?", json.dumps(left, ensure_ascii=False), number)
        if session_id is not None:
            empty_talk(tx, number, who.at)
    tx.run("DELETE FROM edge WHERE kind = 'digest' AND event_id IN (SELECT id FROM event WHERE person_id = ?)", who.id)


def _plans(tx: Tx, who: ErasureScope) -> None:
    """What they promised and wanted to be reminded of."""
    delete_commitments(tx, who.ids(tx, "commitment", "owner_id"))
    for number in who.ids(tx, "reminder"):
        for line in tx.sources("reminded", number):
            tx.run("UPDATE event SET text = '', hidden = 'deleted' WHERE id = ?", line)
            tx.run("UPDATE outbox SET text = '', payload = '' WHERE event_id = ?", line)
        tx.unlink("reminder", number)
        tx.unlink("reminded", number)
        tx.run("DELETE FROM reminder WHERE id = ?", number)


def _logs(tx: Tx, who: ErasureScope) -> None:
    """What the model saw in their chats: it ends, and is gone with the turn that runs on it."""
    sessions = "SELECT epoch.id FROM epoch JOIN session ON session.id = session_id WHERE chat_id IN ({})"
    for number in tx.ids(sessions.format(placeholders(who.dms)), *who.dms):
        tx.run("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", number)
        drop_log(tx, number)
    end_logs(tx, set(tx.ids(sessions.format(placeholders(who.chats)), *who.chats)))
    sql = (
        "UPDATE session SET state = 'closed', close_reason = CASE state WHEN 'open' THEN 'clear' ELSE close_reason "
        f"END, closed_at = coalesce(closed_at, ?), digest_due_at = NULL WHERE chat_id IN ({placeholders(who.dms)}) "
        "AND (state <> 'closed' OR closed_at IS NULL OR digest_due_at IS NOT NULL)"
    )
    tx.run(sql, who.at, *who.dms)


def _sent(tx: Tx, who: ErasureScope) -> None:
    """What waits to be said to them or was: nothing is sent any more but what takes a half-said reply away."""
    ids = {one for platform, number in who.accounts for one in (number, f"{platform}:{number}")}
    sql = (
        f"SELECT id FROM outbox WHERE chat_id IN ({placeholders(who.dms)}) UNION SELECT id FROM outbox "
        f"WHERE only_for <> '' AND only_for IN ({placeholders(ids)}) UNION SELECT outbox.id FROM turn "
        "JOIN outbox ON outbox.turn_id = turn.id WHERE turn.person_id = ?"
    )
    rows = tx.ids(sql, *who.dms, *ids, who.id)
    for number in rows:
        tx.run(
            "UPDATE outbox SET text = '', payload = '', error = '', only_for = '', buttons = '[]', via = '', state = CASE WHEN "
            "state IN ('pending', 'preview') AND (kind <> 'withdrawal' OR preview_id = '') THEN 'cancelled' ELSE state END WHERE id = ? "
            "AND (text || payload || error || only_for || via <> '' OR buttons <> '[]' OR state IN ('pending', 'preview'))",
            number,
        )
    for number, buttons in tx.all("SELECT id, buttons FROM outbox WHERE buttons <> '[]'"):
        if not ids.isdisjoint(part for button in json.loads(buttons) for part in button):
            tx.run("UPDATE outbox SET buttons = '[]' WHERE id = ?", number)


def _turns(tx: Tx, who: ErasureScope) -> None:
    """Turns count; what they were told, and how they were liked, is gone."""
    tx.run("UPDATE turn SET receipts = '[]', error = '' WHERE person_id = ? AND receipts || error <> '[]'", who.id)
    for number in who.ids(tx, "turn"):
        for table in TABLES_OF_TURN:
            tx.run(f"DELETE FROM {table} WHERE turn_id = ?", number)


def _index(tx: Tx, who: ErasureScope) -> None:
    """Whatever could still be found of theirs; vectors go with their documents."""
    here = f"chat_id IN ({placeholders(who.dms)})"
    sql = (
        f"SELECT id FROM doc WHERE person_id = ? UNION SELECT id FROM doc WHERE {here} AND kind = 'line' "
        f"UNION SELECT id FROM doc WHERE {here} AND kind <> 'line'"
    )
    for number in tx.ids(sql, who.id, *who.dms, *who.dms):
        kind, ref = tx.row("SELECT kind, ref FROM doc WHERE id = ?", number)
        drop_documents(tx, kind, (ref,))


def _identity(tx: Tx, who: ErasureScope) -> None:
    """Accounts and addresses; an empty row stays where the person was, so that its number is never given again."""
    for table in TABLES_OF_PERSON:
        tx.run(f"DELETE FROM {table} WHERE person_id = ?", who.id)
    for table in NOBODYS_TABLES:
        tx.run(f"UPDATE {table} SET person_id = NULL WHERE person_id = ?", who.id)
    tx.run("DELETE FROM linked WHERE link_id IN (SELECT id FROM link WHERE person_id = ?)", who.id)
    tx.run("DELETE FROM link WHERE person_id = ?", who.id)
    tx.run("DELETE FROM linking WHERE code NOT IN (SELECT code FROM code)")
    empty = "name = '', script = '', timezone = '', access = '', created_at = 0"
    tx.run(f"UPDATE person SET {empty} WHERE id = ?", who.id)
    for number in who.dms:
        for table in TABLES_OF_CHAT:
            tx.run(f"DELETE FROM {table} WHERE chat_id = ?", number)
        empty = "title = '', scene = '', persona = '', mode = '', access = '', enabled = 1, gone = 0"
        tx.run(f"UPDATE chat SET {empty} WHERE id = ?", number)
        if who.last is None:
            tx.run("DELETE FROM place WHERE chat_id = ?", number)
    if who.last is not None:
        for number in {*who.dms, tx.value("SELECT chat_id FROM event WHERE id = ?", who.last)}:
            tx.set_meta(f"{LEAVING_KEY}{number}", str(who.at + LEAVE_MS))


def erase_again(tx: Tx, at: int) -> tuple[ErasedPerson, ...]:
    """Do what this database has not seen yet; who went."""
    gone: list[ErasedPerson] = []
    seen, accounts = lambda name: tx.meta(f"{ERASED_KEY}{name}") is not None, lambda: tx.all(SELECT_ACCOUNTS)
    for name, people in tx.files.erasures.due(seen, accounts):
        gone += [erase_person(tx, person_id, at) for person_id in people]
        tx.set_meta(f"{ERASED_KEY}{name}", str(at))
    return tuple(gone)


class PersonalData(Repository):
    """What there is of one person, to be taken along or erased."""

    personal_counts = reading(count_of_person)

    @writes
    def may_export(self, tx: Tx, person_id: int, event_id: int, at: int) -> bool:
        """Whether this message may have a person's data packed: once within EXPORT_MS, which this one begins."""
        key = f"person:{person_id}:exported"
        last, when = tx.one("SELECT result, at FROM effect WHERE key = ?", key) or ("", 0)
        if last != str(event_id) and at - when < EXPORT_MS:
            return False
        note_effect(tx, key, at, str(event_id))
        return True

    @reads
    def personal_records(self, tx: Tx, person_id: int) -> PersonalRecords:
        """All rows that are that person's alone; LookupError when there is nobody of that number."""

        def records(columns: str, rest: str) -> tuple[Record, ...]:
            cursor = tx.execute(f"SELECT {columns} FROM {rest}", (person_id,))
            names = [column[0] for column in cursor.description]
            return tuple(dict(zip(names, row, strict=True)) for row in cursor)

        person = records("id AS number, name, script, timezone, access, created_at", "person WHERE id = ?")
        if not person:
            raise LookupError(f"no person {person_id!r}")
        accounts = "SELECT platform || ':' || external_id FROM account WHERE person_id = ? ORDER BY 1"
        return PersonalRecords(
            {**person[0], "accounts": [account for (account,) in tx.all(accounts, person_id)]},
            records(
                f"id AS number, text, state, due_at, made_at, ended_at, {CHAT_OF.format('commitment')}",
                "commitment WHERE owner_id = ? AND text <> '' ORDER BY id",
            ),
            records(
                f"id AS number, text, due_at, rule, made_at, {CHAT_OF.format('reminder')}",
                "reminder WHERE person_id = ? AND ended_at IS NULL AND (text <> '' OR commitment_id IS NULL) "
                "ORDER BY due_at, id",
            ),
            records(
                f"at, {CHAT_OF.format('event')}, text",
                "event WHERE person_id = ? AND kind = 'message' AND text <> '' AND off_record = 0 ORDER BY id",
            ),
            records(
                f"at, {CHAT_OF.format('event')}, attachment.kind AS kind, attachment.name AS name, mime, size, "
                "attachment.text AS text",
                "attachment JOIN event ON event.id = event_id WHERE person_id = ? ORDER BY event.id, position",
            ),
            records(
                f"at, {CHAT_OF.format('turn')}, sign",
                "feedback JOIN turn ON turn.id = turn_id WHERE feedback.person_id = ? ORDER BY at, turn_id",
            ),
            _usage(tx, person_id),
            records(
                "chat.id AS number, kind, CASE kind WHEN 'group' THEN title ELSE '' END AS title, CASE kind WHEN 'dm' "
                "THEN persona ELSE '' END AS persona, CASE kind WHEN 'dm' THEN mode ELSE '' END AS mode, enabled, "
                "seen_at",
                "member JOIN chat ON chat.id = chat_id WHERE person_id = ? ORDER BY chat.id",
            ),
        )

    @reads
    def is_known(self, tx: Tx, person_id: int) -> bool:
        """Whether the person has an account: without one they were erased."""
        return tx.has("SELECT 1 FROM account WHERE person_id = ?", person_id)

    @writes
    def ask_to_erase(self, tx: Tx, person_id: int, chat_id: int, at: int) -> str:
        """A new number of four digits for that person to repeat in that chat; the one before is void."""
        number = f"{secrets.randbelow(9_000) + 1_000}"
        drop_expired_codes(tx, at)
        tx.run("DELETE FROM code WHERE kind = 'erase' AND person_id = ?", person_id)
        put_code(tx, f"erase {person_id} {chat_id} {number}", "erase", at, ASK_MS, person_id, chat_id)
        return number

    @writes
    def agreed_to_erase(self, tx: Tx, person_id: int, chat_id: int, number: str, at: int) -> bool:
        """Whether this is the number; a wrong one makes it void."""
        code = f"erase {person_id} {chat_id} {number}"
        found = tx.has("SELECT 1 FROM code WHERE code = ? AND kind = 'erase' AND expires_at > ?", code, at)
        if not found:
            tx.run("DELETE FROM code WHERE kind = 'erase' AND person_id = ?", person_id)
        return found

    async def erase(self, person_id: int, at: int, last: int | None = None) -> ErasedPerson:
        """Nothing of the person is left but counts, in one commit; who it was, for the files, until `finish_erasures`.

        `last` is the event whose answer is still to be sent there. StoreError: nothing was erased.
        """
        where = "WHERE person_id = ?"
        rows = await self._database.read(lambda tx: tx.all(f"{SELECT_ACCOUNTS} {where}", person_id))
        name = self._files.erasures.begin((account for _, account in rows), at)
        try:
            return await self._erase(name, person_id, at, last)
        except Exception:  # whatever refused; one that is only cancelled may have been committed
            self._files.erasures.give_up(name)
            raise

    @writes
    def _erase(self, tx: Tx, name: str, person_id: int, at: int, last: int | None) -> ErasedPerson:
        erased = erase_person(tx, person_id, at, last)
        tx.set_meta(f"{ERASED_KEY}{name}", str(at))
        _note_unfinished(tx, erased)
        return erased

    async def resume_erasures(self) -> None:
        """Do what a crash left between the file and the commit."""
        if self._files.erasures.all() and await self._erase_again():
            await self._database.truncate()

    @writes
    def _erase_again(self, tx: Tx) -> int:
        gone = erase_again(tx, tx.number("SELECT max(at) FROM event"))
        for erased in gone:
            _note_unfinished(tx, erased)
        return len(gone)

    @reads
    def unfinished_erasures(self, tx: Tx) -> tuple[ErasedPerson, ...]:
        """Who was erased from the database, and may still be in files of this process, or of no other."""
        after = f"{UNFINISHED_KEY[:-1]};"
        rows = tx.all("SELECT key, value FROM meta WHERE key > ? AND key < ? ORDER BY key", UNFINISHED_KEY, after)
        unfinished = ((key, json.loads(value)) for key, value in rows)
        return tuple(
            _unfinished(key, told)
            for key, told in unfinished
            if tx.boot not in (done := told.pop(DONE_BY, [])) or not _others(tx, done)
        )

    async def finish_erasures(self, gone: tuple[ErasedPerson, ...], at: int) -> None:
        """No file of this process tells of them; nor does the database nor its log, when that is so of every process.
        StoreError while somebody reads."""
        await self._forget_unfinished(gone, at)
        await self._database.truncate()

    @writes
    def _forget_unfinished(self, tx: Tx, gone: tuple[ErasedPerson, ...], at: int) -> None:
        wipe_soon(tx, at)
        for key in (f"{UNFINISHED_KEY}{erased.person_id}" for erased in gone):
            told = json.loads(tx.meta(key) or "{}")
            done = sorted({*told.get(DONE_BY, ()), tx.boot})
            tx.set_meta(key, json.dumps({**told, DONE_BY: done}) if told and _others(tx, done) else None)

    async def drop_left_addresses(self, now: int) -> None:
        """Where the last word has been sent, the address goes, too."""
        await self._database.write(lambda tx: _drop_left_addresses(tx, now))
        await self._database.truncate()


def _others(tx: Tx, done: Collection[str]) -> bool:
    """Whether a process works on the database that is none of these."""
    return not {boot for (boot,) in tx.all("SELECT boot FROM process")} <= {*done}


def _note_unfinished(tx: Tx, erased: ErasedPerson) -> None:
    """By what the rest of them is found in files, also after a crash."""
    told = {"dms": erased.dms, "chats": erased.chats, "ids": erased.ids, "names": erased.names}
    tx.set_meta(f"{UNFINISHED_KEY}{erased.person_id}", json.dumps({name: sorted(each) for name, each in told.items()}))


def _unfinished(key: str, told: Mapping[str, Iterable[Any]]) -> ErasedPerson:
    return ErasedPerson(
        int(key.removeprefix(UNFINISHED_KEY)), **{name: frozenset(each) for name, each in told.items()}, counts={}
    )


def _usage(tx: Tx, person_id: int) -> tuple[Record, ...]:
    """What was spent on a person, by month (UTC)."""
    months: dict[str, dict[str, float]] = {}
    for at, *spent in tx.all(f"SELECT at, {', '.join(COUNTED)} FROM call WHERE person_id = ? ORDER BY at", person_id):
        day = stamp(at)
        month = months.setdefault(f"{day[:4]}-{day[4:6]}", dict.fromkeys(COUNTED, 0))
        for name, amount in zip(COUNTED, spent, strict=True):
            month[name] += amount
    return tuple({"month": month, **sums} for month, sums in months.items())
