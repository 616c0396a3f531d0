"""Erasing a person: for each table what is deleted or emptied."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from bot.core.archive import NoteRefused
from bot.core.people import ErasedPerson
from bot.store.commitments import delete_commitments as drop_promises
from bot.store.deletion import delete_lines
from bot.store.digests import drop_talks
from bot.store.forget import empty_talk, purge_rows
from bot.store.index import drop_documents, forget_terms
from bot.store.note_rows import delete_note
from bot.store.notes import NoteStorage, read_note
from bot.store.schema import placeholders
from bot.store.sessions import drop_log, end_logs
from bot.store.transactions import Tx
from bot.text.files import read_front

PERSON_COUNTS = (
    ("memories", "SELECT count(*) FROM memory WHERE owner_id = ?1 AND disabled_at IS NULL"),
    ("promises", "SELECT count(*) FROM commitment WHERE owner_id = ?1 AND text <> ''"),
    ("reminders", "SELECT count(*) FROM reminder WHERE person_id = ?1 AND ended_at IS NULL"),
    ("talks", "SELECT count(*) FROM digest WHERE owner_id = ?1 AND summary <> '' AND session_id IS NOT NULL"),
    ("notes", "SELECT count(DISTINCT path) FROM note WHERE owner_id = ?1"),
    ("lines", "SELECT count(*) FROM event WHERE person_id = ?1 AND text <> ''"),
)


def count_of_person(db: Tx, person_id: int) -> dict[str, int]:
    """Within a transaction: each kind with its number."""
    return {name: int(db.execute(sql, (person_id,)).fetchone()[0]) for name, sql in PERSON_COUNTS}


LEAVING_KEY = "leaving:"
"""The key in meta of a chat whose address goes begins with it."""

IS_LEAVING = f"(key > '{LEAVING_KEY}' AND key < '{LEAVING_KEY[:-1]};')"
"""All of these rows; ';' is the character after ':'."""

LEAVE_MS = 60_000
"""How long the last word may take before it is looked whether it went."""


def drop_left_addresses(db: Tx, now: int) -> int:
    """One transaction: where the last word has been sent, the address goes; how many went. Whoever came back keeps
    theirs.
    """
    rows = db.execute(f"SELECT key FROM meta WHERE {IS_LEAVING} AND CAST(value AS INTEGER) <= ?", (now,)).fetchall()
    gone = 0
    for (key,) in rows:
        number = int(key.removeprefix(LEAVING_KEY))
        waits = "SELECT 1 FROM outbox WHERE chat_id = ? AND state IN ('pending', 'sending')"
        if db.execute(waits, (number,)).fetchone():
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (str(now + LEAVE_MS), key))
            continue
        db.execute("UPDATE outbox SET only_for = '', buttons = '[]', via = '' WHERE chat_id = ?", (number,))
        db.execute("DELETE FROM meta WHERE key = ?", (key,))
        back = db.execute("SELECT 1 FROM chat WHERE id = ?1 AND (kind <> 'dm' OR EXISTS (SELECT 1 FROM member WHERE "
                          "chat_id = ?1))", (number,)).fetchone()  # fmt: skip
        if back is None:
            gone += db.execute("DELETE FROM place WHERE chat_id = ?", (number,)).rowcount
    return gone


def drop_notes(db: Tx, note_storage: NoteStorage, person_id: int, dms: tuple[int, ...], at: int) -> None:
    """Within a transaction: no note of theirs is left, but one kept by hand that other owners have, too.

    StoreError when one cannot be removed. Lines of theirs in notes of groups are taken out with the lines themselves.
    """
    paths: set[str] = set()
    for number, path, owner, chat in db.execute("SELECT id, path, owner_id, chat_id FROM note").fetchall():
        if owner == person_id or chat in dms:
            delete_note(db, number)
            others = db.execute("SELECT 1 FROM note WHERE path = ? AND owner_id IS NOT ?", (path, person_id)).fetchone()
            if others is None:
                paths.add(str(path))
    for path in note_storage.files.listing().found:
        if _chat_of(note_storage, path) in dms:
            paths.add(path)
    for path in sorted(paths):
        for line in read_note(note_storage, path) or ():
            if line.strip():
                note_storage.add_tombstone(0, line, at)
        note_storage.files.remove(path)


def _chat_of(note_storage: NoteStorage, path: str) -> int | None:
    """The chat that a note was made of, as its top says; None for every other file."""
    try:
        front, _ = read_front(read_note(note_storage, path) or [])
    except NoteRefused:
        return None
    return front.chat_id if front is not None else None


ERASE_COMMAND = ".ai forget me"
"""What the message that asked for it reads afterwards, so that a crash before its answer says it again."""


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
    note_storage: NoteStorage
    last: int | None = None


def erase_person(db: Tx, person_id: int, note_storage: NoteStorage, at: int, last: int | None = None) -> ErasedPerson:
    """Within a transaction: nothing of that person is left but counts; who it was, for the files of the log."""
    who, counts = erasure_scope(db, person_id, note_storage, at, last), count_of_person(db, person_id)
    for step, _ in ERASURE_STEPS:
        step(db, who)
    forget_terms(db)
    ids = frozenset(number for _, number in who.accounts)
    return ErasedPerson(person_id, frozenset(who.dms), frozenset(who.chats), ids, who.names, counts)


def erasure_scope(db: Tx, person_id: int, note_storage: NoteStorage, at: int, last: int | None = None) -> ErasureScope:
    """Within a transaction: what of the person there is to find the rest by."""
    spoke = "SELECT chat_id FROM event WHERE person_id = ?1 UNION SELECT chat_id FROM member WHERE person_id = ?1"
    rows = db.execute(
        f"SELECT id, kind FROM chat WHERE id IN ({spoke} UNION SELECT chat_id FROM memory WHERE owner_id = ?1 UNION "
        "SELECT chat_id FROM session JOIN participant ON session_id = session.id WHERE person_id = ?1)",
        (person_id,),
    ).fetchall()
    others = "SELECT 1 FROM member WHERE chat_id = ? AND person_id <> ?"
    dms = tuple(
        number for number, kind in rows if kind == "dm" and not db.execute(others, (number, person_id)).fetchone()
    )
    accounts = db.execute("SELECT platform, external_id FROM account WHERE person_id = ?", (person_id,)).fetchall()
    names = db.execute(
        "SELECT name FROM person WHERE id = ?1 UNION SELECT name FROM account WHERE person_id = ?1 UNION "
        "SELECT name FROM event WHERE person_id = ?1",
        (person_id,),
    ).fetchall()
    return ErasureScope(
        person_id, dms, tuple(number for number, _ in rows), tuple((str(one), str(two)) for one, two in accounts),
        frozenset(str(name) for (name,) in names if name), at, note_storage, last,
    )  # fmt: skip


def _lines(db: Tx, who: ErasureScope) -> None:
    """What they said, what was said in their direct chats, and all that was made of it; in groups lines are emptied."""
    rows = db.execute(
        f"SELECT id, text FROM event WHERE (person_id = ? OR chat_id IN ({placeholders(who.dms)})) AND id <> ?",
        (who.id, *who.dms, who.last or 0),
    ).fetchall()
    said = {cast("int", number): str(text) for number, text in rows}
    # Receipts in their direct chats are among the lines: looking for each by its text would take for ever.
    alone = db.execute(f"SELECT id FROM event WHERE chat_id IN ({placeholders(who.dms)})", who.dms).fetchall()
    keys = [(f"event:{number}:", f"event:{number};") for (number,) in alone]  # ';' is the character after ':'
    db.executemany("UPDATE effect SET result = '' WHERE key > ? AND key < ? AND result <> 'done'", keys)
    if said:
        delete_lines(db, said, who.at, who.note_storage)
    own = [(number,) for number in said]
    db.executemany("UPDATE event SET name = '', quote = '', via = '' WHERE id = ?", own)
    db.executemany("UPDATE event SET delivery_key = NULL WHERE id = ? AND kind <> 'message'", own)
    db.execute(
        "UPDATE event SET quote = '' WHERE quote <> '' AND target <> '' AND EXISTS (SELECT 1 FROM event AS said "
        "WHERE said.chat_id = event.chat_id AND said.external_id = event.target AND said.person_id = ?)",
        (who.id,),
    )
    if who.last is not None:
        db.execute("UPDATE event SET text = ?, name = '', quote = '' WHERE id = ?", (ERASE_COMMAND, who.last))
    _for_each(db, "DELETE FROM lately WHERE event_id = ?", said)
    db.execute(f"DELETE FROM lately WHERE person_id = ? OR chat_id IN ({placeholders(who.dms)})", (who.id, *who.dms))
    _for_each(db, "DELETE FROM attachment WHERE event_id = ?", said)
    _for_each(db, "DELETE FROM edge WHERE event_id = ? AND kind NOT IN ('digest', 'recount')", said)


def _notes(db: Tx, who: ErasureScope) -> None:
    drop_notes(db, who.note_storage, who.id, who.dms, who.at)


def _memories(db: Tx, who: ErasureScope) -> None:
    """Theirs, and what belongs to nobody in a direct chat of theirs; none of it comes back by an import."""
    rows = db.execute(
        f"SELECT id, text, original FROM memory WHERE owner_id = ? OR chat_id IN ({placeholders(who.dms)})",
        (who.id, *who.dms),
    ).fetchall()
    for number, text, original in rows:
        for wording in filter(None, (text, original)):
            who.note_storage.add_tombstone(number, wording, who.at)
    numbers = [cast("int", row[0]) for row in rows]
    drop_documents(db, "memory", numbers)
    _for_each(db, "DELETE FROM rewriting WHERE memory_id = ?", numbers)
    for number in numbers:
        db.execute(
            "UPDATE memory SET disabled_at = ?1, disabled_reason = 'deleted', purge_at = ?1 WHERE id = ?2",
            (who.at, number),
        )
    purge_rows(db, who.at)


def _talks(db: Tx, who: ErasureScope) -> None:
    """Summaries of their direct chats go; those of a group they took part in are made again of what others said."""
    own = db.execute(
        f"SELECT id FROM digest WHERE (owner_id = ? OR chat_id IN ({placeholders(who.dms)})) AND session_id IS NOT "
        "NULL",
        (who.id, *who.dms),
    ).fetchall()
    drop_talks(db, [cast("int", row[0]) for row in own])
    rest = db.execute(
        f"SELECT id FROM digest WHERE owner_id = ? OR chat_id IN ({placeholders(who.dms)})", (who.id, *who.dms)
    ).fetchall()
    for (number,) in rest:
        drop_documents(db, "digest", (number,))
        db.execute("DELETE FROM talker WHERE digest_id = ?", (number,))
        db.execute("DELETE FROM digest WHERE id = ?", (number,))
    for number, session_id in db.execute(
        "SELECT digest.id, session_id FROM talker JOIN digest ON digest.id = digest_id WHERE person_id = ?", (who.id,)
    ).fetchall():
        names = json.loads(db.execute("SELECT names FROM digest WHERE id = ?", (number,)).fetchone()[0])
        left = json.dumps([name for name in names if name not in who.names], ensure_ascii=False)
        db.execute("UPDATE digest SET names = ? WHERE id = ?", (left, number))
        if session_id is not None:
            empty_talk(db, number, session_id, who.at)
    db.execute("DELETE FROM talker WHERE person_id = ?", (who.id,))
    own_lines = "SELECT id FROM event WHERE person_id = ?"
    db.execute(f"DELETE FROM edge WHERE kind = 'digest' AND event_id IN ({own_lines})", (who.id,))


def _plans(db: Tx, who: ErasureScope) -> None:
    """What they promised and wanted to be reminded of, and questions that wait for them."""
    where, values = f"{{}} = ? OR chat_id IN ({placeholders(who.dms)})", (who.id, *who.dms)
    promises = db.execute(f"SELECT id FROM commitment WHERE {where.format('owner_id')}", values).fetchall()
    drop_promises(db, [cast("int", row[0]) for row in promises])
    reminders = db.execute(f"SELECT id FROM reminder WHERE {where.format('person_id')}", values).fetchall()
    for (number,) in reminders:
        lines = "SELECT event_id FROM edge WHERE kind = 'reminded' AND derived_id = ?"
        db.execute(f"UPDATE event SET text = '', hidden = 'deleted' WHERE id IN ({lines})", (number,))
        db.execute(f"UPDATE outbox SET text = '' WHERE event_id IN ({lines})", (number,))
        db.execute("DELETE FROM edge WHERE kind IN ('reminder', 'reminded') AND derived_id = ?", (number,))
        db.execute("DELETE FROM reminder WHERE id = ?", (number,))
    for table in ("reminder_question", "question"):
        db.execute(f"DELETE FROM {table} WHERE {where.format('person_id')}", values)


def _logs(db: Tx, who: ErasureScope) -> None:
    """What the model saw in their chats: it ends, and is gone with the turn that runs on it."""
    sessions = "SELECT epoch.id FROM epoch JOIN session ON session.id = session_id WHERE chat_id IN ({})"
    alone = db.execute(sessions.format(placeholders(who.dms)), who.dms).fetchall()
    for (number,) in alone:
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (number,))
        drop_log(db, number)
    end_logs(
        db, {cast("int", row[0]) for row in db.execute(sessions.format(placeholders(who.chats)), who.chats).fetchall()}
    )
    db.execute(
        "UPDATE session SET state = 'closed', close_reason = CASE state WHEN 'open' THEN 'clear' ELSE close_reason "
        f"END, closed_at = coalesce(closed_at, ?), digest_due_at = NULL WHERE chat_id IN ({placeholders(who.dms)})",
        (who.at, *who.dms),
    )
    db.execute("DELETE FROM participant WHERE person_id = ?", (who.id,))


def _sent(db: Tx, who: ErasureScope) -> None:
    """What waits to be said to them or was: nothing is sent any more but what takes a half-said reply away."""
    ids = [one for platform, number in who.accounts for one in (number, f"{platform}:{number}")]
    rows = db.execute(
        f"SELECT id FROM outbox WHERE chat_id IN ({placeholders(who.dms)}) OR only_for IN ({placeholders(ids)}) OR "
        "turn_id IN "
        "(SELECT id FROM turn WHERE person_id = ?)",
        (*who.dms, *ids, who.id),
    ).fetchall()
    for number in [cast("int", row[0]) for row in rows]:
        db.execute(
            "UPDATE outbox SET text = '', error = '', only_for = '', buttons = '[]', via = '', state = CASE WHEN "
            "state IN ('pending', 'preview') AND kind <> 'withdrawal' THEN 'cancelled' ELSE state END WHERE id = ?",
            (number,),
        )
    for account in ids:
        db.execute("UPDATE outbox SET buttons = '[]' WHERE instr(buttons, json_quote(?))", (account,))
    db.execute(f"DELETE FROM sent WHERE chat_id IN ({placeholders(who.dms)})", who.dms)


def _turns(db: Tx, who: ErasureScope) -> None:
    """Turns count; what they were told, and how they were liked, is gone."""
    db.execute("UPDATE turn SET receipts = '[]', error = '' WHERE person_id = ?", (who.id,))
    turns = f"SELECT id FROM turn WHERE person_id = ? OR chat_id IN ({placeholders(who.dms)})"
    for table in ("brought", "turn_memory", "feedback", "section_round"):
        db.execute(f"DELETE FROM {table} WHERE turn_id IN ({turns})", (who.id, *who.dms))
    for table in ("feedback", "section_round"):
        db.execute(f"DELETE FROM {table} WHERE person_id = ?", (who.id,))


def _index(db: Tx, who: ErasureScope) -> None:
    """Whatever could still be found of theirs; vectors go with their documents."""
    rows = db.execute(
        f"SELECT id FROM doc WHERE person_id = ? OR chat_id IN ({placeholders(who.dms)})", (who.id, *who.dms)
    ).fetchall()
    for row in rows:
        db.execute("DELETE FROM doc_text WHERE rowid = ?", row)
        db.execute("DELETE FROM vector WHERE doc_id = ?", row)
        db.execute("DELETE FROM doc WHERE id = ?", row)


def _calls(db: Tx, who: ErasureScope) -> None:
    """What was spent stays spent, for nobody in particular: budgets stay right."""
    db.execute("UPDATE call SET person_id = NULL WHERE person_id = ?", (who.id,))


def _identity(db: Tx, who: ErasureScope) -> None:
    """Accounts and addresses; an empty row stays where the person was, so that its number is never given again."""
    for table in ("setting", "recount"):
        db.execute(f"UPDATE {table} SET person_id = NULL WHERE person_id = ?", (who.id,))
    for table in ("member", "window", "told", "code", "trace", "account"):
        db.execute(f"DELETE FROM {table} WHERE person_id = ?", (who.id,))
    db.execute(
        "UPDATE person SET name = '', script = '', timezone = '', access = '', created_at = 0 WHERE id = ?", (who.id,)
    )
    for table in ("heartbeat", "joining", "rush", "chat_context", "member", "window", "code", "trace"):
        db.execute(f"DELETE FROM {table} WHERE chat_id IN ({placeholders(who.dms)})", who.dms)
    db.execute(
        "UPDATE chat SET title = '', scene = '', persona = '', mode = '', access = '', enabled = 1, gone = 0 "
        f"WHERE id IN ({placeholders(who.dms)})",
        who.dms,
    )
    if who.last is None:
        db.execute(f"DELETE FROM place WHERE chat_id IN ({placeholders(who.dms)})", who.dms)
        return
    row = db.execute("SELECT chat_id FROM event WHERE id = ?", (who.last,)).fetchone()
    for number in {*who.dms, *row}:
        db.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (f"{LEAVING_KEY}{number}", str(who.at + LEAVE_MS))
        )


ERASURE_STEPS: tuple[tuple[Callable[[Tx, ErasureScope], None], str], ...] = (
    (_lines, "event lately attachment edge effect"),
    (_notes, "note note_chunk note_line"),
    (_memories, "memory merged rewriting"),
    (_talks, "digest talker"),
    (_plans, "commitment reminder reminder_question question"),
    (_logs, "entry epoch session participant"),
    (_sent, "outbox sent"),
    (_turns, "turn brought turn_memory feedback section_round"),
    (_index, "doc doc_text vector"),
    (_calls, "call"),
    (
        _identity,
        "person account place chat member window told code heartbeat joining rush chat_context meta setting "
        "recount trace",
    ),
)
"""What each step takes care of. A table that stands in no step and not in NOBODYS is one that was forgotten."""

IMPERSONAL_TABLES = {
    "prefix": "the bootstrap of a persona with the tools, the same for everybody",
    "counting": "how many tokens a model makes of a letter",
    "turn_event": "numbers of turns and events, no more",
}
"""Tables that hold nothing of a person, and why."""


def _for_each(db: Tx, sql: str, numbers: Iterable[int]) -> None:
    db.executemany(sql, [(number,) for number in numbers])
