"""The full-text index: what can be searched, as documents with who may see them, and their terms (`postings.py`)."""

import contextlib
import hashlib
import heapq
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.core.memories import Memory, Visibility
from bot.core.people import Audience
from bot.core.recall import HitKind, RecallRound
from bot.language.sections import SLOT_QUESTION_WORDS, read_registry
from bot.store.postings import (
    EVERYBODY,
    add_postings,
    drop_postings,
    fill_postings,
    posting_counts,
    postings_of,
    wrong_postings,
)
from bot.store.schema import GIVEN, IS_KEPT, SELECT_MEMORY, TEXT_LIST, placeholders
from bot.store.transactions import Row, Tx
from bot.text.terms import TERMS_VERSION, search_terms

UNPOSTED = "unposted"
"""The version of the terms (meta) in a database whose index was not made yet of the terms that it holds."""

TALK_MS = 1_800_000
"""A silence this long between two lines of a chat begins another talk (the idle time of a session, 1,800 s)."""


def index_faults(tx: Tx) -> int:
    """How many rows that can be searched the index lacks, has beyond them, or does not list by all of their terms."""
    lacks = tx.ids("SELECT id FROM doc WHERE id NOT IN (SELECT doc_id FROM doc_text)")
    beyond = tx.ids("SELECT doc_id FROM doc_text WHERE doc_id NOT IN (SELECT id FROM doc)")
    return len(wrong_postings(tx).union(lacks, beyond))


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


def add_document(tx: Tx, doc: Doc) -> None:
    """The row of a document that has none. Its terms need no dictionary."""
    terms = search_terms(doc.text)
    if not terms:
        return
    number = tx.insert(
        "doc",
        kind=doc.kind,
        ref=doc.ref,
        scope=doc.scope,
        chat_id=doc.chat_id,
        person_id=doc.person_id,
        at=doc.at,
        talk=doc.talk,
        place=doc.place,
        length=len(terms),
        section=doc.section,
    )
    put_terms(tx, number, indexed_scopes(doc.scope, doc.kind, doc.person_id), " ".join(terms))


def put_terms(tx: Tx, doc: int, scope: str, terms: str) -> None:
    """A document that had no terms is found by these."""
    tx.insert("doc_text", doc_id=doc, scope=scope, terms=terms)
    add_postings(tx, doc, scope.split(), terms.split())


def drop_terms(tx: Tx, doc: int) -> str:
    """A document is found no more; the terms that it had."""
    found: tuple[str, str] = tx.one("SELECT scope, terms FROM doc_text WHERE doc_id = ?", doc) or ("", "")
    scope, terms = found
    drop_postings(tx, doc, scope.split(), terms.split())
    tx.run("DELETE FROM doc_text WHERE doc_id = ?", doc)
    return terms


def drop_documents(tx: Tx, kind: HitKind, refs: Iterable[int]) -> None:
    """These come back no more, and nothing of them is left in the index."""
    for ref in refs:
        number = tx.value("SELECT id FROM doc WHERE kind = ? AND ref = ?", kind, ref)
        if number is not None:
            _drop_document(tx, number)


def _drop_document(tx: Tx, number: int) -> None:
    drop_terms(tx, number)
    tx.run("DELETE FROM doc WHERE id = ?", number)


def rescope(tx: Tx, old: str, new: str) -> None:
    """What those of one scope could see, those of the other see from now on."""
    numbers = tx.ids("SELECT id FROM doc WHERE scope = ?", old)
    tx.run("UPDATE doc SET scope = ? WHERE scope = ?", new, old)
    _rewrite(tx, numbers)


def reindex_speaker(tx: Tx, person_id: int) -> None:
    """What this person said in groups, by any of their accounts, is found in their own DM."""
    _rewrite(tx, tx.ids("SELECT id FROM doc WHERE person_id = ? AND kind = 'line'", person_id))


def _rewrite(tx: Tx, docs: Iterable[int]) -> None:
    for number in docs:
        scope = indexed_scopes(*tx.row("SELECT scope, kind, person_id FROM doc WHERE id = ?", number))
        put_terms(tx, number, scope, drop_terms(tx, number))


LINE_TEXT = f"""text || coalesce((SELECT ' ' || {TEXT_LIST}(attachment.text, ' ') FROM attachment
    WHERE event_id = event.id AND state = 'done'), '')"""
"""What a line says, and what its attachments show."""

DOCUMENT_TEXT = f"""coalesce(CASE kind WHEN 'memory' THEN (SELECT text FROM memory WHERE memory.id = doc.ref)
    WHEN 'digest' THEN (SELECT summary FROM digest WHERE digest.id = doc.ref)
    WHEN 'note' THEN (SELECT text FROM note_chunk WHERE note_chunk.id = doc.ref)
    WHEN 'line' THEN (SELECT {LINE_TEXT} FROM event WHERE event.id = doc.ref AND hidden = '') END, '')"""
"""The text of a document, which lies in the table of its kind."""

STORE_VECTOR = """INSERT INTO vector (doc_id, model, dimensions, fingerprint, vector) {} = ?
    ON CONFLICT (doc_id) DO UPDATE SET model = excluded.model, dimensions = excluded.dimensions,
    fingerprint = excluded.fingerprint, vector = excluded.vector"""
"""In between goes a SELECT of one row, up to what the last value is compared with."""


def fingerprint(text: str) -> bytes:
    """What tells a text from others: 8 bytes of a hash."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def keep_vectors(tx: Tx) -> None:
    """Before all documents are written anew, keep the vectors under what they are of."""
    tx.run("DROP TABLE IF EXISTS kept")
    tx.run(
        "CREATE TEMP TABLE kept AS SELECT kind, ref, model, dimensions, fingerprint, vector FROM vector "
        "JOIN doc ON doc.id = doc_id"
    )
    tx.run("CREATE INDEX kept_of ON kept (kind, ref)")


def restore_vectors(tx: Tx) -> None:
    """Documents whose text is still the same have their vectors again."""
    again = STORE_VECTOR.format("SELECT ?, model, dimensions, fingerprint, vector FROM kept WHERE kind = ? AND ref")
    for number, print_, text, kind, ref in tx.all(
        f"SELECT doc.id, fingerprint, {DOCUMENT_TEXT}, kind, ref FROM kept JOIN doc USING (kind, ref)"
    ):
        if fingerprint(text) == print_:
            tx.run(again, number, kind, ref)
    tx.run("DROP TABLE kept")


KEPT_ROUNDS = 60
"""Rounds that are kept of one person in one chat; the widest window and the longest count of misses need fewer."""


def sort_memory(tx: Tx, number: int) -> None:
    """A memory stands in the section that its text is of, in the index, too."""
    text, kind, owner = tx.row("SELECT text, kind, owner_id FROM memory WHERE id = ?", number)
    key = read_registry(tx.meta("sections")).assign(text, kind, owned=owner is not None)
    tx.run("UPDATE memory SET section = ? WHERE id = ? AND section <> ?", key, number, key)
    index_section(tx, number)


def index_section(tx: Tx, number: int) -> None:
    """In the index a memory stands in its section, or in none when somebody asked to keep it, protects it or is called
    by it.
    """
    section = f"SELECT CASE WHEN {IS_KEPT} THEN '' ELSE section END FROM memory WHERE id = ?"
    tx.run(f"UPDATE doc SET section = ({section}) WHERE kind = 'memory' AND ref = ?", number, number)


def note_round(tx: Tx, turn_id: int, chat: int, person: int, found: RecallRound, at: int) -> None:
    """What a turn's own recall found, once; of many the oldest go."""
    tx.run(
        "INSERT INTO section_round (turn_id, chat_id, person_id, at, hits, searched, held) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        turn_id,
        chat,
        person,
        at,
        json.dumps(found.hits, ensure_ascii=False),
        json.dumps(found.searched, ensure_ascii=False),
        int(found.held),
    )
    sql = (
        "DELETE FROM section_round WHERE chat_id = ? AND person_id = ? AND turn_id <= (SELECT turn_id FROM "
        "section_round WHERE chat_id = ? AND person_id = ? ORDER BY turn_id DESC LIMIT 1 OFFSET ?)"
    )
    tx.run(sql, chat, person, chat, person, KEPT_ROUNDS)


def note_hit(tx: Tx, turn_id: int, memories: Sequence[int]) -> None:
    """The section of the best memory that a tool found in this turn was hit, whatever was searched."""
    before = tx.value("SELECT hits FROM section_round WHERE turn_id = ?", turn_id)
    best = f"SELECT id, section FROM memory WHERE id IN ({placeholders(memories)}) AND section <> ''"
    found: dict[int, str] = dict(tx.all(best, *memories))
    number = next((each for each in memories if each in found), None)
    if before is None or number is None:
        return
    hits = json.dumps({found[number]: number} | json.loads(before), ensure_ascii=False)
    tx.run("UPDATE section_round SET hits = ?, held = 0 WHERE turn_id = ?", hits, turn_id)


INDEXED: dict[HitKind, str] = {
    "memory": "memory WHERE disabled_at IS NULL",
    "digest": "digest WHERE summary <> '' AND into_id IS NULL",
    "line": "event WHERE kind IN ('message', 'bot') AND hidden = '' AND off_record = 0 AND label IN ('', 'cut')",
    "note": "note_chunk JOIN note ON note.id = note_id WHERE 1 = 1",
}
"""What may come back, by kind. Of lines what people and nuan said: receipts, commands and what is forgotten, deleted, a
copy, too old or not to be recorded are none."""

SELECT_INDEXED: dict[HitKind, str] = {
    "memory": f"visibility, owner_id, chat_id, observed_at, text, CASE WHEN {IS_KEPT} THEN '' ELSE section END, slot",
    "digest": "'private', owner_id, chat_id, ended_at, summary, '', ''",
    "line": f"'', person_id, chat_id, at, {LINE_TEXT}, '', ''",
    "note": "visibility, owner_id, chat_id, at, text, '', ''",
}
"""Who may see it, whose it is, where and when it was, what it says, its section and its slot."""

ID_OF: dict[HitKind, str] = {"memory": "id", "digest": "id", "line": "id", "note": "note_chunk.id"}


def index_document(tx: Tx, kind: HitKind, number: int) -> None:
    """The index has this document as its row is now, or not when that may not come back."""
    row = tx.one(f"SELECT {SELECT_INDEXED[kind]} FROM {INDEXED[kind]} AND {ID_OF[kind]} = ?", number)
    if row is None:
        drop_documents(tx, kind, (number,))
        return
    seen, owner, chat, at, text, section, slot = row
    text = f"{text} {SLOT_QUESTION_WORDS.get(slot.casefold(), '')}".rstrip() if slot else text
    line = kind == "line"
    scope = _heard_by(tx, chat) if line else scope_of(seen, owner, chat)
    written = "SELECT id, talk, place FROM doc WHERE kind = ? AND ref = ?"
    before, talk, place = tx.one(written, kind, number) or (None, 0, 0)
    if before is not None:  # an edited line stays where it was
        _drop_document(tx, before)
    elif line:
        talk, place = _new_place(tx, chat, number, at)
    add_document(tx, Doc(kind, number, scope, chat, owner, at, text, talk, place, section))


def index_memory(tx: Tx, number: int) -> None:
    """The index has this memory as it is now, or not when it is over."""
    index_document(tx, "memory", number)


def index_digest(tx: Tx, number: int) -> None:
    """The index has this summary as it is now, or not when it was emptied."""
    index_document(tx, "digest", number)


def index_lines(tx: Tx, numbers: Iterable[int]) -> None:
    """The index has these lines as they are now, or not when they may not come back."""
    for number in sorted(numbers):
        index_document(tx, "line", number)


def indexed_documents(tx: Tx) -> dict[tuple[str, int], Row]:
    """What the index holds of each document, by its kind and number."""
    listed = posting_counts(tx)
    rows = tx.all(
        "SELECT kind, ref, doc.scope, doc_text.scope, chat_id, terms, doc.id FROM doc "
        "LEFT JOIN doc_text ON doc_id = doc.id"
    )
    return {row[:2]: (*row[2:-1], listed[row[-1]]) for row in rows}


def documents_anew(tx: Tx) -> dict[tuple[str, int], Row]:
    """What the index would hold if it were written anew now; in a copy of the database, nothing is changed."""
    with contextlib.closing(tx.copied()) as other:
        rebuild_index(other)
        return indexed_documents(other)


STRAY = "doc_id NOT IN (SELECT id FROM doc)"


def stray_terms(tx: Tx) -> tuple[int, ...]:
    """What the index holds that is no document, by number."""
    known = tx.ids("SELECT id FROM doc WHERE id IN (SELECT doc_id FROM doc_text)")
    return tuple(sorted({*tx.ids("SELECT doc_id FROM doc_text"), *posting_counts(tx)}.difference(known)))


def drop_stray_terms(tx: Tx, doc: int) -> None:
    """That row goes, if it belongs to no document."""
    if tx.has(f"SELECT 1 FROM doc_text WHERE doc_id = ? AND {STRAY}", doc):
        drop_terms(tx, doc)


K1, B = 1.2, 0.75
"""BM25 for memories: how much the first mention of a term tells, and how much a long text is held back (Robertson)."""

LEAST_RARITY = 1e-6
"""What a term tells that stands in every other memory."""


def matching_memories(
    tx: Tx, scope: str, terms: Sequence[str], where: str, *values: object, limit: int
) -> tuple[Memory, ...]:
    """The memories of one scope that hold some of these terms and of whose rows the condition is true, the best first."""
    held = postings_of(tx, (scope,), terms)
    count, length = tx.row("SELECT count(*), sum(length) FROM doc WHERE scope = ? AND kind = 'memory'", scope)
    found: dict[int, tuple[int, int]] = {
        doc: (ref, long)
        for doc, ref, long in tx.all(
            f"SELECT doc.id, ref, length FROM {GIVEN} CROSS JOIN doc ON doc.id = given.value "
            f"CROSS JOIN memory ON memory.id = ref WHERE doc.kind = 'memory' AND {where}",
            json.dumps(sorted({doc for docs in held.values() for doc in docs})),
            *values,
        )
    }
    figures: Counter[int] = Counter()
    for docs in held.values():
        holding = [doc for doc in docs if doc in found]
        rarity = max(LEAST_RARITY, math.log((count - len(holding) + 0.5) / (len(holding) + 0.5)))
        for doc in holding:
            ref, long = found[doc]
            figures[ref] += rarity * (K1 + 1) / (1 + K1 * (1 - B + B * long * count / length))
    best = heapq.nlargest(limit, ((figure, ref) for ref, figure in figures.items()))
    told: dict[int, str] = dict(
        tx.all(
            "SELECT ref, terms FROM doc JOIN doc_text ON doc_id = doc.id WHERE kind = 'memory' "
            f"AND ref IN ({placeholders(best)})",
            *(ref for _, ref in best),
        )
    )
    # Two terms may share a number in the index.
    numbers = [ref for _, ref in best if not set(terms).isdisjoint(told.get(ref, "").split())]
    rows = tx.all(f"{SELECT_MEMORY}WHERE id IN ({placeholders(numbers)})", *numbers, to=Memory)
    return tuple(sorted(rows, key=lambda memory: numbers.index(memory.id)))


def is_index_stale(tx: Tx) -> bool:
    """Whether the index was never written, or not with the terms of today."""
    unposted = tx.has("SELECT 1 FROM doc_text") and not tx.has("SELECT 1 FROM posting")
    return unposted or tx.meta("terms") != str(TERMS_VERSION)


def refresh_index(tx: Tx) -> None:
    """An index that is stale is written anew."""
    if not is_index_stale(tx):
        return
    if tx.meta("terms") in (UNPOSTED, str(TERMS_VERSION)):
        fill_postings(tx)
    else:
        rebuild_index(tx)
    tx.set_meta("terms", str(TERMS_VERSION))


def rebuild_index(tx: Tx) -> None:
    """All rows are written anew from the tables of what they are of."""
    keep_vectors(tx)
    for table in ("posting", "doc_text", "doc"):
        tx.run(f"DELETE FROM {table}")
    for kind, rows in INDEXED.items():
        for number in tx.ids(f"SELECT {ID_OF[kind]} FROM {rows} ORDER BY 1"):
            index_document(tx, kind, number)
    restore_vectors(tx)


def _heard_by(tx: Tx, chat_id: int) -> str:
    """Lines of a DM are for its person wherever they write to nuan, those of a group stay there."""
    person = tx.value(
        "SELECT person_id FROM chat JOIN member ON chat_id = chat.id WHERE chat.id = ? AND kind = 'dm' "
        "ORDER BY seen_at DESC LIMIT 1",
        chat_id,
    )
    return scope_of("private", person, chat_id)


def _new_place(tx: Tx, chat_id: int, number: int, at: int) -> tuple[int, int]:
    """The talk that a line goes on with, or begins, and its place in the chat."""
    newest = "SELECT talk, place, at FROM doc WHERE chat_id = ? AND kind = 'line' ORDER BY place DESC LIMIT 1"
    talk, place, last_at = tx.one(newest, chat_id) or (number, 0, at)
    return (talk if abs(at - last_at) <= TALK_MS else number), place + 1
