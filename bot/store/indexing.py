"""What of each table can come back: the one place that chooses memories, summaries and lines for the index."""

import sqlite3
from collections.abc import Iterable

from bot.store.documents import TALK_MS, Doc, drop, put, scope_of
from bot.store.embedded import set_aside, take_back
from bot.store.schema_truth import KEPT
from bot.text.slots import ASKED
from bot.text.terms import TERMS

LINE = """kind IN ('message', 'bot') AND hidden = '' AND off_record = 0 AND label IN ('', 'cut')"""
"""Lines of the transcript that may come back: what people and nuan said. Receipts, commands and what is forgotten,
deleted, a copy, too old or not to be recorded are none."""


MEMORY = "disabled_at IS NULL"
DIGEST = "summary <> '' AND into_id IS NULL"


def index_memory(db: sqlite3.Connection, number: int) -> None:
    """Verb part: the index has this memory as it is now, or not when it is over."""
    row = db.execute(
        f"SELECT owner_id, chat_id, visibility, text, observed_at, CASE WHEN {KEPT} THEN '' ELSE section END, slot "
        f"FROM memory WHERE id = ? AND {MEMORY}",
        (number,),
    ).fetchone()
    if row is None:
        drop(db, "memory", (number,))
        return
    owner, chat, seen, text, at, section, slot = row
    text = f"{text} {ASKED.get(slot.casefold(), '')}".rstrip()
    put(db, Doc("memory", number, scope_of(seen, owner, chat), chat, owner, at, text, section=section))


def index_digest(db: sqlite3.Connection, number: int) -> None:
    """Verb part: the index has this summary as it is now, or not when it was emptied."""
    row = db.execute(f"SELECT owner_id, chat_id, summary, ended_at FROM digest WHERE id = ? AND {DIGEST}", (number,))
    found = row.fetchone()
    if found is None:
        drop(db, "digest", (number,))
        return
    owner, chat, text, at = found
    put(db, Doc("digest", number, scope_of("private", owner, chat), chat, owner, at, text))


def index_note(db: sqlite3.Connection, chunk: int) -> None:
    """Verb part: the index has this piece of a note as it was read last, or not when it is there no more."""
    row = db.execute(
        "SELECT visibility, owner_id, chat_id, at, text FROM note_chunk JOIN note ON note.id = note_id "
        "WHERE note_chunk.id = ?",
        (chunk,),
    ).fetchone()
    if row is None:
        drop(db, "note", (chunk,))
        return
    seen, owner, chat, at, text = row
    put(db, Doc("note", chunk, scope_of(seen, owner, chat), chat, owner, at, text))


def index_lines(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Verb part: the index has these lines as they are now, or not when they may not come back."""
    for number in sorted(numbers):
        row = db.execute(
            "SELECT chat_id, person_id, at, text || coalesce((SELECT ' ' || group_concat(attachment.text, ' ') FROM "
            f"attachment WHERE event_id = event.id AND state = 'done'), '') FROM event WHERE id = ? AND {LINE}",
            (number,),
        ).fetchone()
        if row is None:
            drop(db, "line", (number,))
            continue
        chat, person, at, text = row
        put(db, Doc("line", number, _heard_by(db, chat), chat, person, at, text, *_where(db, chat, number, at)))


def up_to_date(db: sqlite3.Connection) -> None:
    """Verb: an index that was never written, or with other terms than today's, is written anew."""
    row = db.execute("SELECT value FROM meta WHERE key = 'terms'").fetchone()
    if row is None or row[0] != str(TERMS):
        rebuild(db)
        db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('terms', ?)", (str(TERMS),))


def rebuild(db: sqlite3.Connection) -> int:
    """Verb: all rows are written anew from the tables of what they are of; how many there are then."""
    set_aside(db)
    for kind, ref in db.execute("SELECT kind, ref FROM doc").fetchall():
        drop(db, kind, (ref,))
    for (number,) in db.execute(f"SELECT id FROM memory WHERE {MEMORY} ORDER BY id").fetchall():
        index_memory(db, number)
    for (number,) in db.execute(f"SELECT id FROM digest WHERE {DIGEST} ORDER BY id").fetchall():
        index_digest(db, number)
    index_lines(db, [number for (number,) in db.execute(f"SELECT id FROM event WHERE {LINE} ORDER BY id").fetchall()])
    for (number,) in db.execute("SELECT id FROM note_chunk ORDER BY id").fetchall():
        index_note(db, number)
    take_back(db)
    count: int = db.execute("SELECT count(*) FROM doc").fetchone()[0]
    return count


def _heard_by(db: sqlite3.Connection, chat_id: int) -> str:
    """Lines of a DM are for its person wherever they write to nuan, those of a group stay there."""
    row = db.execute(
        "SELECT person_id FROM chat JOIN member ON chat_id = chat.id WHERE chat.id = ? AND kind = 'dm' "
        "ORDER BY seen_at DESC LIMIT 1",
        (chat_id,),
    ).fetchone()
    return scope_of("private", row[0] if row else None, chat_id)


def _where(db: sqlite3.Connection, chat_id: int, number: int, at: int) -> tuple[int, int]:
    """The talk that a line goes on with, or begins, and its place in the chat; an edited line stays where it was."""
    row = db.execute("SELECT talk, place FROM doc WHERE kind = 'line' AND ref = ?", (number,)).fetchone()
    if row is not None:
        return row[0], row[1]
    last = db.execute(
        "SELECT talk, place, at FROM doc WHERE chat_id = ? AND kind = 'line' ORDER BY place DESC LIMIT 1", (chat_id,)
    ).fetchone()
    if last is None:
        return number, 1
    return (last[0] if abs(at - last[2]) <= TALK_MS else number), last[1] + 1
