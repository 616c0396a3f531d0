"""The full-text index: documents with who may see them, kept in line with the rows that they are of."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from bot.core.memories import Visibility
from bot.core.people import Audience
from bot.core.recall import HitKind, RecallRound
from bot.language.sections import SLOT_QUESTION_WORDS, SectionRegistry, read_registry
from bot.store.schema import IS_KEPT, placeholders
from bot.store.transactions import Tx
from bot.text.terms import TERMS_VERSION, search_terms

INDEXES = ("memory_text", "doc_text")
"""Full-text tables, of older schemas too."""

MANY_LEVELS = 100
"""An index with so many is built anew; a newer SQLite stops at 64 by itself."""

MOST_LEVELS = 2_000
"""With more than these SQLite calls an index malformed (FTS5_MAX_SEGMENT)."""

STRUCTURE = 10
"""The row of an index that begins with four bytes and how many levels it has (FTS5_STRUCTURE_ROWID)."""

AVERAGES = 1
"""The row of an index with its sums, which may be empty (FTS5_AVERAGES_ROWID)."""


def merge_terms(db: Tx, index: str) -> None:
    """Within a transaction: an index keeps nothing of rows that were deleted or written anew, and stays readable over
    years.
    """
    db.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
    if levels(db, index) >= MANY_LEVELS:  # counted after the merge, which may have added two
        db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")


def check_indexes(db: Tx) -> None:
    """One transaction: an index with too many levels is built anew from its rows; any other fault is a
    sqlite3.Error.
    """
    for index in INDEXES:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (index,)).fetchone():
            continue
        found = levels(db, index)
        if found > MOST_LEVELS:
            _empty(db, index)
        if found >= MANY_LEVELS:
            db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
        db.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")


def levels(db: Tx, index: str) -> int:
    """How many levels an index has, 0 when that cannot be told."""
    row = db.execute(f"SELECT block FROM {index}_data WHERE id = ?", (STRUCTURE,)).fetchone()
    count = 0
    for byte in cast("bytes", row[0])[4:7] if row is not None else b"":
        count = count << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return count


def _empty(db: Tx, index: str) -> None:
    """No statement on the index itself works any more: its tables become those of a new one; its rows stay."""
    db.execute(f"DELETE FROM {index}_data")
    db.execute(f"DELETE FROM {index}_idx")
    db.execute(f"INSERT INTO {index}_data (id, block) VALUES (?, ?), (?, ?)", (AVERAGES, b"", STRUCTURE, bytes(7)))


TALK_MS = 1_800_000
"""A silence this long between two lines of a chat begins another talk (the idle time of a session, 1,800 s)."""

EVERYBODY = "all"


@dataclass(frozen=True, slots=True)
class Doc:
    """Something that can come back: its number `ref` among those of its kind, and its text as it is searched.

    `scope` is who may see it (`scope_of`), `person_id` whose words or whose memory it is (None: nuan's), `at` when it
    happened, ms. Of a line, `talk` is the number of the first one of the same talk, and `place` counts the lines of
    its chat. `section` is where a memory belongs, "" for what is searched always.
    """

    kind: HitKind
    ref: int
    scope: str
    chat_id: int
    person_id: int | None
    at: int
    text: str
    talk: int = 0
    place: int = 0
    section: str = ""


def scope_of(visibility: Visibility, owner_id: int | None, chat_id: int) -> str:
    """Who may see it, as one word of the index: p7 person 7 alone in a DM, c3 chat 3, o7 wherever 7 speaks, or all."""
    if visibility == "chat" or (visibility == "private" and owner_id is None):
        return f"c{chat_id}"
    if owner_id is None:
        return EVERYBODY
    return f"p{owner_id}" if visibility == "private" else f"o{owner_id}"


def scopes_of(audience: Audience) -> tuple[str, ...]:
    """All that this audience may see (ARCHITECTURE §7): private only in the owner's own DM, a chat's only there."""
    people = audience.person_ids
    own = (f"p{audience.alone}",) if audience.alone is not None else ()
    return (*own, f"c{audience.chat_id}", *(f"o{number}" for number in people), EVERYBODY)


def indexed_scopes(scope: str, kind: str, person_id: int | None) -> str:
    """The scopes as the index of words holds them: what person 7 said in a group, a line or what was kept of it, is w7
    too, found in their own DM."""
    own = person_id is not None and kind in ("line", "memory") and scope.startswith("c")
    return f"{scope} w{person_id}" if own else scope


def put_document(db: Tx, doc: Doc) -> None:
    """Within a transaction: write the row of a document, in place of the one it had. Its terms need no dictionary."""
    drop_documents(db, doc.kind, (doc.ref,))
    terms = search_terms(doc.text)
    if not terms:
        return
    number = db.execute(
        "INSERT INTO doc (kind, ref, scope, chat_id, person_id, at, talk, place, length, section) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            doc.kind,
            doc.ref,
            doc.scope,
            doc.chat_id,
            doc.person_id,
            doc.at,
            doc.talk,
            doc.place,
            len(terms),
            doc.section,
        ),
    ).lastrowid
    scope = indexed_scopes(doc.scope, doc.kind, doc.person_id)
    db.execute("INSERT INTO doc_text (rowid, scope, terms) VALUES (?, ?, ?)", (number, scope, " ".join(terms)))


def drop_documents(db: Tx, kind: HitKind, refs: Iterable[int]) -> None:
    """Within a transaction: these come back no more. Their terms stay in the file until `forget_terms`."""
    for ref in refs:
        row = db.execute("SELECT id FROM doc WHERE kind = ? AND ref = ?", (kind, ref)).fetchone()
        if row is not None:
            db.execute("DELETE FROM doc_text WHERE rowid = ?", row)
            db.execute("DELETE FROM doc WHERE id = ?", row)


def forget_terms(db: Tx) -> None:
    """Within a transaction: nothing of what was dropped or written anew is left: the index keeps terms until its parts
    merge.
    """
    merge_terms(db, "doc_text")


def rescope(db: Tx, old: str, new: str) -> None:
    """Within a transaction: what those of one scope could see, those of the other see from now on."""
    rows = db.execute("SELECT id FROM doc WHERE scope = ?", (old,)).fetchall()
    db.execute("UPDATE doc SET scope = ? WHERE scope = ?", (new, old))
    _rewrite(db, (number for (number,) in rows))


def reindex_speaker(db: Tx, person_id: int) -> None:
    """Within a transaction: what this person said in groups is found in their own DM, also what another account of
    theirs said.
    """
    rows = db.execute("SELECT id FROM doc WHERE person_id = ? AND kind = 'line'", (person_id,)).fetchall()
    _rewrite(db, (number for (number,) in rows))


def _rewrite(db: Tx, docs: Iterable[int]) -> None:
    for number in docs:
        scope, kind, person = db.execute("SELECT scope, kind, person_id FROM doc WHERE id = ?", (number,)).fetchone()
        db.execute("UPDATE doc_text SET scope = ? WHERE rowid = ?", (indexed_scopes(scope, kind, person), number))


DOCUMENT_TEXTS = {
    "memory": "(SELECT text FROM memory WHERE memory.id = doc.ref)",
    "digest": "(SELECT summary FROM digest WHERE digest.id = doc.ref)",
    "note": "(SELECT text FROM note_chunk WHERE note_chunk.id = doc.ref)",
    "line": "(SELECT text || coalesce((SELECT ' ' || group_concat(attachment.text, ' ') FROM attachment "
    "WHERE event_id = event.id AND state = 'done'), '') FROM event WHERE event.id = doc.ref AND hidden = '')",
}
"""Where the text of a document lies, by its kind."""

DOCUMENT_TEXT = (
    "coalesce(CASE kind "
    + " ".join(f"WHEN '{kind}' THEN {text}" for kind, text in DOCUMENT_TEXTS.items())
    + " END, '')"
)


def fingerprint(text: str) -> bytes:
    """What tells a text from others: 8 bytes of a hash."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def keep_vectors(db: Tx) -> None:
    """Within a transaction: before all documents are written anew, keep the vectors under what they are of."""
    db.execute("DROP TABLE IF EXISTS temp.kept")
    db.execute(
        "CREATE TEMP TABLE kept AS SELECT kind, ref, model, dimensions, fingerprint, vector FROM vector "
        "JOIN doc ON doc.id = doc_id"
    )
    db.execute("CREATE INDEX temp.kept_of ON kept (kind, ref)")


def restore_vectors(db: Tx) -> None:
    """Within a transaction: documents whose text is still the same have their vectors again."""
    rows = db.execute(
        f"SELECT doc.id, fingerprint, {DOCUMENT_TEXT}, kept.rowid FROM kept JOIN doc USING (kind, ref)"
    ).fetchall()
    for number, print_, text, row in rows:
        if fingerprint(text) == print_:
            db.execute(
                "INSERT OR REPLACE INTO vector (doc_id, model, dimensions, fingerprint, vector) "
                "SELECT ?, model, dimensions, fingerprint, vector FROM temp.kept WHERE rowid = ?",
                (number, row),
            )
    db.execute("DROP TABLE temp.kept")


KEPT_ROUNDS = 60
"""Rounds that are kept of one person in one chat; the widest window and the longest count of misses need fewer."""


def store_registry(db: Tx, text: str) -> None:
    """One transaction: from now on memories are stored by this registry."""
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('sections', ?)", (text,))


def stored_registry(db: Tx) -> SectionRegistry:
    """Within a transaction: the registry by which memories are stored."""
    row = db.execute("SELECT value FROM meta WHERE key = 'sections'").fetchone()
    return read_registry(row[0] if row else None)


def sort_memory(db: Tx, number: int) -> None:
    """Within a transaction: a memory stands in the section that its text is of; the index follows (trigger
    memory_section).
    """
    text, kind, owner = db.execute("SELECT text, kind, owner_id FROM memory WHERE id = ?", (number,)).fetchone()
    key = stored_registry(db).assign(text, kind, owned=owner is not None)
    db.execute("UPDATE memory SET section = ?1 WHERE id = ?2 AND section <> ?1", (key, number))


def note_round(db: Tx, turn_id: int, found: RecallRound | None, at: int) -> None:
    """Within a transaction: what a turn's own recall found, once; of many the oldest go."""
    if found is None:
        return
    chat, person = db.execute("SELECT chat_id, person_id FROM turn WHERE id = ?", (turn_id,)).fetchone()
    db.execute(
        "INSERT OR IGNORE INTO section_round (turn_id, chat_id, person_id, at, hits, searched, held) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (turn_id, chat, person, at, json.dumps(found.hits, ensure_ascii=False),
         json.dumps(found.searched, ensure_ascii=False), int(found.held)),
    )  # fmt: skip
    db.execute(
        "DELETE FROM section_round WHERE chat_id = ?1 AND person_id = ?2 AND turn_id <= (SELECT turn_id FROM "
        "section_round WHERE chat_id = ?1 AND person_id = ?2 ORDER BY turn_id DESC LIMIT 1 OFFSET ?3)",
        (chat, person, KEPT_ROUNDS),
    )


def note_hit(db: Tx, turn_id: int, memories: Sequence[int]) -> None:
    """Within a transaction: the section of the best memory that a tool found in this turn was hit, whatever was
    searched.
    """
    row = db.execute("SELECT hits FROM section_round WHERE turn_id = ?", (turn_id,)).fetchone()
    best = f"SELECT id, section FROM memory WHERE id IN ({placeholders(memories)}) AND section <> ''"
    found = dict(db.execute(best, tuple(memories)).fetchall())
    number = next((each for each in memories if each in found), None)
    if row is None or number is None:
        return
    hits = {found[number]: number} | json.loads(row[0])
    db.execute(
        "UPDATE section_round SET hits = ?, held = 0 WHERE turn_id = ?", (json.dumps(hits, ensure_ascii=False), turn_id)
    )


IS_INDEXED_LINE = """kind IN ('message', 'bot') AND hidden = '' AND off_record = 0 AND label IN ('', 'cut')"""
"""Lines of the transcript that may come back: what people and nuan said. Receipts, commands and what is forgotten,
deleted, a copy, too old or not to be recorded are none."""


IS_INDEXED_MEMORY = "disabled_at IS NULL"
IS_INDEXED_DIGEST = "summary <> '' AND into_id IS NULL"


def index_memory(db: Tx, number: int) -> None:
    """Within a transaction: the index has this memory as it is now, or not when it is over."""
    row = db.execute(
        f"SELECT owner_id, chat_id, visibility, text, observed_at, CASE WHEN {IS_KEPT} THEN '' ELSE section END, slot "
        f"FROM memory WHERE id = ? AND {IS_INDEXED_MEMORY}",
        (number,),
    ).fetchone()
    if row is None:
        drop_documents(db, "memory", (number,))
        return
    owner, chat, seen, text, at, section, slot = row
    text = f"{text} {SLOT_QUESTION_WORDS.get(slot.casefold(), '')}".rstrip()
    put_document(db, Doc("memory", number, scope_of(seen, owner, chat), chat, owner, at, text, section=section))


def index_digest(db: Tx, number: int) -> None:
    """Within a transaction: the index has this summary as it is now, or not when it was emptied."""
    row = db.execute(
        f"SELECT owner_id, chat_id, summary, ended_at FROM digest WHERE id = ? AND {IS_INDEXED_DIGEST}", (number,)
    )
    found = row.fetchone()
    if found is None:
        drop_documents(db, "digest", (number,))
        return
    owner, chat, text, at = found
    put_document(db, Doc("digest", number, scope_of("private", owner, chat), chat, owner, at, text))


def index_note(db: Tx, chunk: int) -> None:
    """Within a transaction: the index has this piece of a note as it was read last, or not when it is there no more."""
    row = db.execute(
        "SELECT visibility, owner_id, chat_id, at, text FROM note_chunk JOIN note ON note.id = note_id "
        "WHERE note_chunk.id = ?",
        (chunk,),
    ).fetchone()
    if row is None:
        drop_documents(db, "note", (chunk,))
        return
    seen, owner, chat, at, text = row
    put_document(db, Doc("note", chunk, scope_of(seen, owner, chat), chat, owner, at, text))


def index_lines(db: Tx, numbers: Iterable[int]) -> None:
    """Within a transaction: the index has these lines as they are now, or not when they may not come back."""
    for number in sorted(numbers):
        row = db.execute(
            "SELECT chat_id, person_id, at, text || coalesce((SELECT ' ' || group_concat(attachment.text, ' ') FROM "
            "attachment WHERE event_id = event.id AND state = 'done'), '') FROM event WHERE id = ? AND "
            f"{IS_INDEXED_LINE}",
            (number,),
        ).fetchone()
        if row is None:
            drop_documents(db, "line", (number,))
            continue
        chat, person, at, text = row
        put_document(
            db, Doc("line", number, _heard_by(db, chat), chat, person, at, text, *_where(db, chat, number, at))
        )


def refresh_index(db: Tx) -> None:
    """One transaction: an index that was never written, or with other terms than today's, is written anew."""
    row = db.execute("SELECT value FROM meta WHERE key = 'terms'").fetchone()
    if row is None or row[0] != str(TERMS_VERSION):
        rebuild_index(db)
        db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('terms', ?)", (str(TERMS_VERSION),))


def rebuild_index(db: Tx) -> int:
    """One transaction: all rows are written anew from the tables of what they are of; how many there are then."""
    keep_vectors(db)
    for kind, ref in db.execute("SELECT kind, ref FROM doc").fetchall():
        drop_documents(db, kind, (ref,))
    for (number,) in db.execute(f"SELECT id FROM memory WHERE {IS_INDEXED_MEMORY} ORDER BY id").fetchall():
        index_memory(db, number)
    for (number,) in db.execute(f"SELECT id FROM digest WHERE {IS_INDEXED_DIGEST} ORDER BY id").fetchall():
        index_digest(db, number)
    index_lines(
        db, [number for (number,) in db.execute(f"SELECT id FROM event WHERE {IS_INDEXED_LINE} ORDER BY id").fetchall()]
    )
    for (number,) in db.execute("SELECT id FROM note_chunk ORDER BY id").fetchall():
        index_note(db, number)
    restore_vectors(db)
    count: int = db.execute("SELECT count(*) FROM doc").fetchone()[0]
    return count


def _heard_by(db: Tx, chat_id: int) -> str:
    """Lines of a DM are for its person wherever they write to nuan, those of a group stay there."""
    row = db.execute(
        "SELECT person_id FROM chat JOIN member ON chat_id = chat.id WHERE chat.id = ? AND kind = 'dm' "
        "ORDER BY seen_at DESC LIMIT 1",
        (chat_id,),
    ).fetchone()
    return scope_of("private", row[0] if row else None, chat_id)


def _where(db: Tx, chat_id: int, number: int, at: int) -> tuple[int, int]:
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
