"""Searching the index for an audience: by terms, by number, and the vectors of documents."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat

from bot.core.events import Event
from bot.core.memories import Memory
from bot.core.models import MissingEmbedding
from bot.core.people import Audience, MemoryKind
from bot.core.recall import (
    Candidate,
    HitKind,
    IndexedTalk,
    LinePosition,
    Matches,
    Posting,
    RecallQuery,
    SearchHit,
    TimeSpan,
)
from bot.store.engine import Database, Repository, reads, writes
from bot.store.events import OWN_RECENT_LINES, read_events
from bot.store.index import DOCUMENT_TEXT, STORE_VECTOR, fingerprint, scopes_of
from bot.store.ledger import Settlement, settle_call
from bot.store.memories import visible_memory
from bot.store.postings import postings_of
from bot.store.schema import GIVEN, IS_NAME, LIST_OF, MEMORY_COLUMNS, NAMED, SELECT_MEMORY, VECTOR_INDEX, placeholders
from bot.store.transactions import Row, Tx

AROUND = 2
"""Lines before and after one that support it: in a direct chat nuan's reply stands between two of a person's."""

MOST_AKIN = 40
"""Memories of the same lines or of the same subject that are looked at beside those that were found."""

MOST_DATED = 120
"""Documents of the times that a question asks about, the newest."""

RARE_DOCUMENTS = 16
"""A term that so few documents hold finds them in every section: it is what the question is about (measured: 4 lost up
to 1.4 points of recall, 8 up to .8, 16 none; 32 saves less)."""

CITED_NOTE = """note.path || '#L' || note_chunk.first_line || CASE note_chunk.last_line
    WHEN note_chunk.first_line THEN '' ELSE '-' || note_chunk.last_line END || ': ' || note_chunk.text"""
"""A piece of a note as it is cited: notes/2026-05-02.md#L3-9 and what it says."""

SELECT_TALKS = f"""SELECT chat_id, talk, min(at), max(at), sum(length), count(*), {LIST_OF}(id), {LIST_OF}(length) FROM doc
    WHERE kind = 'line'"""

# The order of these joins is written down: SQLite would rather look at all lines of the installation than at those
# asked for.
SELECT_DOCUMENT = """SELECT doc.id, doc.kind, doc.ref, doc.person_id, coalesce(person.name, ''), doc.at, doc.chat_id,
    doc.place, doc.talk, doc_text.terms,
    CASE WHEN doc.scope LIKE 'c%'
    THEN (SELECT title FROM chat WHERE chat.id = doc.chat_id AND chat.kind = 'group') END"""
TERMS = 9
"""Which of these columns has the terms."""

SELECT_LINES = f"""{SELECT_DOCUMENT}, event.text, event.forwarded FROM doc CROSS JOIN doc_text ON doc_text.doc_id =
    doc.id CROSS JOIN event ON event.id = doc.ref LEFT JOIN person ON person.id = doc.person_id
    WHERE +doc.kind = 'line' AND """
SELECT_OTHERS = f"""{SELECT_DOCUMENT}, coalesce(digest.summary, {CITED_NOTE}, ''), 0 FROM doc CROSS JOIN doc_text ON
    doc_text.doc_id = doc.id LEFT JOIN person ON person.id = doc.person_id
    LEFT JOIN digest ON doc.kind = 'digest' AND digest.id = doc.ref
    LEFT JOIN note_chunk ON doc.kind = 'note' AND note_chunk.id = doc.ref
    LEFT JOIN note ON note.id = note_chunk.note_id WHERE +doc.kind <> 'line' AND """
SELECT_MEMORIES = f"SELECT {MEMORY_COLUMNS} FROM doc CROSS JOIN memory ON memory.id = doc.ref AND disabled_at IS NULL"
SELECT_NEIGHBOURS = f"""SELECT near.id FROM doc AS one CROSS JOIN doc AS near ON near.chat_id = one.chat_id AND
    near.kind = 'line' AND near.place BETWEEN one.place - {AROUND} AND one.place + {AROUND} WHERE +one.kind = 'line'
    AND one.id IN """
SELECT_DRAWN = """SELECT doc.id FROM edge JOIN doc ON doc.kind = 'memory' AND doc.ref = derived_id
    WHERE edge.kind = 'memory' AND event_id IN """
SELECT_SAME_SUBJECT = """SELECT near.id FROM doc CROSS JOIN memory ON memory.id = doc.ref AND memory.subject <> ''
    CROSS JOIN memory AS other ON other.owner_id = memory.owner_id AND other.subject = memory.subject
    AND other.id <> memory.id CROSS JOIN doc AS near ON near.kind = 'memory' AND near.ref = other.id
    WHERE +doc.kind = 'memory' AND doc.id IN """
SELECT_FORMER = """SELECT was.id FROM doc CROSS JOIN memory ON memory.replaced_by = doc.ref
    AND memory.former_at IS NOT NULL CROSS JOIN doc AS was ON was.kind = 'memory' AND was.ref = memory.id
    WHERE +doc.kind = 'memory' AND doc.id IN """
SELECT_SUCCESSOR = """SELECT now.id FROM doc CROSS JOIN memory ON memory.id = doc.ref
    AND memory.former_at IS NOT NULL CROSS JOIN doc AS now ON now.kind = 'memory' AND now.ref = memory.replaced_by
    WHERE +doc.kind = 'memory' AND doc.id IN """

MOST_SOURCES = 3
"""A memory made from more lines than this was drawn from a whole talk: none of them is its source."""

VISIBLE_LINES = "SELECT ref FROM doc WHERE kind = 'line' AND scope IN ({scopes})"

MOST_COMPARED = 20_000
"""Newest documents of an audience whose vectors are compared: 120 MB of them at 1,536 dimensions."""

MOST_KNOWN = 100_000
"""Lines of which it is known between two questions which talk they are of: about 20 MB."""

KNOWN_LINES, KNOWN_CHARS = 4_096, 500
"""Lines with terms of at most so many characters of which it is known what their rows say: of 22 Chinese characters
each 20 MB (measured)."""

TalkLines = tuple[tuple[IndexedTalk, ...], dict[int, int], dict[int, int]]
"""Talks, and of each line of them the place of its talk among these and its length."""


@dataclass(frozen=True, slots=True)
class WantedDocuments:
    """Documents to read; of `lines` also those around them."""

    docs: tuple[int, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Whose vectors can be compared: those of one model with as many dimensions; 0 is however many there are."""

    model: str
    dimensions: int = 0


@dataclass(frozen=True, slots=True)
class NewVector:
    """A vector about to be stored, with the document and the text that it is of."""

    doc_id: int
    text: str
    vector: bytes


class KnownTalks:
    """The talks that questions looked at lately. They are read again as soon as the audience may see other documents."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], tuple[Row, TalkLines]] = OrderedDict()
        self._lock = threading.Lock()
        """Several threads may read at once."""

    def read(self, tx: Tx, asking: RecallQuery, state: Row) -> TalkLines:
        """All talks of which the audience may see lines; `state` is what its documents are (`_matches`)."""
        held = _held(tx, asking, ("line",)) if "line" in asking.kinds else []
        if not held:
            return (), {}, {}
        limits, values = _limits(asking)
        key = (*held, limits, *values)
        with self._lock:
            before, lines = self._known.pop(key, (None, None))
        if lines is None or before != state:
            lines = _talks(tx, held, limits, values)
        with self._lock:
            self._known[key] = state, lines
            while sum(len(known[1]) for _, known in self._known.values()) > MOST_KNOWN and len(self._known) > 1:
                self._known.popitem(last=False)
        return lines


def look_up(
    tx: Tx,
    asking: RecallQuery,
    terms: Sequence[str],
    spans: Sequence[TimeSpan],
    choose: Callable[[Matches], WantedDocuments],
    known: KnownTalks,
) -> tuple[Matches, tuple[Candidate, ...]]:
    """What the index has of these terms and of these times, and of that what `choose` (pure) wants to be read.

    A term that is not letters and figures has nothing. One trip: what was chosen is there when it is read.
    """
    matches = _matches(tx, asking, [term for term in terms if term.isalnum()], spans, known)
    return matches, _candidates(tx, asking, choose(matches))


class Search(Repository):
    """What can come back, by its words and its vectors; every read for people filters by audience in the query."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._known = KnownTalks()

    @reads
    def look(
        self,
        tx: Tx,
        asking: RecallQuery,
        terms: Sequence[str],
        spans: Sequence[TimeSpan],
        choose: Callable[[Matches], WantedDocuments],
    ) -> tuple[Matches, tuple[Candidate, ...]]:
        """As `look_up`."""
        return look_up(tx, asking, terms, spans, choose, self._known)

    @reads
    def read(self, tx: Tx, asking: RecallQuery, wanted: WantedDocuments) -> tuple[Candidate, ...]:
        """The documents of these numbers that the audience may see, and the lines around those of `lines`."""
        return _candidates(tx, asking, wanted)

    @reads
    def beside(self, tx: Tx, session_id: int, chat_id: int, person_id: int) -> tuple[int, tuple[Event, ...]]:
        """The first message that the running log of a session answers (the model has it and what follows; 0: none), and
        what the person wrote last in the chat, oldest first."""
        heard = tx.value(
            "SELECT min(event_id) FROM turn JOIN turn_event ON turn_id = turn.id "
            "WHERE epoch_id = (SELECT max(id) FROM epoch WHERE session_id = ?)",
            session_id,
        )
        return heard or 0, read_events(tx, OWN_RECENT_LINES, chat_id, person_id)[::-1]

    @reads
    def newest(self, tx: Tx, asking: RecallQuery, limit: int) -> tuple[int, ...]:
        """The documents that happened last, newest first."""
        scopes = scopes_of(asking.audience)
        limits, values = _limits(asking)
        newest = f"SELECT id FROM doc WHERE scope IN ({placeholders(scopes)}){limits} ORDER BY at DESC, id DESC LIMIT ?"
        return tx.ids(newest, *scopes, *values, limit)

    @reads
    def memory(self, tx: Tx, audience: Audience, number: int) -> Memory | None:
        """An active memory that this audience may see."""
        where, params = visible_memory(audience)
        return tx.one(
            f"{SELECT_MEMORY}WHERE memory.id = ? AND disabled_at IS NULL AND {where}", number, *params, to=Memory
        )

    @reads
    def sources(self, tx: Tx, audience: Audience, memory_id: int) -> tuple[Event, ...]:
        """The lines that a memory was told in, oldest first, as far as this audience may see them."""
        scopes = scopes_of(audience)
        lines = tx.ids("SELECT event_id FROM edge WHERE kind = 'memory' AND derived_id = ?", memory_id)
        if len(lines) > MOST_SOURCES:
            return ()
        heard = VISIBLE_LINES.format(scopes=placeholders(scopes))
        where = f"WHERE id IN ({placeholders(lines)}) AND id IN ({heard}) ORDER BY id"
        return read_events(tx, where, *lines, *scopes)

    @reads
    def around(self, tx: Tx, audience: Audience, number: int, reach: int) -> tuple[Event, ...]:
        """A line and at most `reach` before and after it in its chat, in order; none that this audience may not see."""
        scopes = scopes_of(audience)
        heard = VISIBLE_LINES.format(scopes=placeholders(scopes))
        chat = tx.value(
            f"SELECT chat_id FROM doc WHERE kind = 'line' AND ref = ? AND ref IN ({heard})", number, *scopes
        )
        if chat is not None:
            near = f"{heard} AND chat_id = ? AND ref"
            before = tx.ids(f"{near} <= ? ORDER BY ref DESC LIMIT ?", *scopes, chat, number, reach + 1)
            after = tx.ids(f"{near} > ? ORDER BY ref LIMIT ?", *scopes, chat, number, reach)
            lines = (*before, *after)
        elif audience.alone is not None:  # said in a group: their own words, and nobody else's
            own = "SELECT ref FROM doc WHERE kind = 'line' AND ref = ? AND person_id = ?"
            lines = tx.ids(own, number, audience.alone)
        else:
            lines = ()
        return read_events(tx, f"WHERE id IN ({placeholders(lines)}) ORDER BY id", *lines)

    @reads
    def lacking_vectors(
        self, tx: Tx, space: VectorSpace, after: int, before: int, limit: int
    ) -> tuple[MissingEmbedding, ...]:
        """Documents between these numbers without a vector there, newest first; a document never changes its text."""
        sql = (
            f"SELECT id, chat_id, {DOCUMENT_TEXT} FROM doc WHERE id > ? AND id < ? AND NOT EXISTS (SELECT 1 FROM vector "
            "WHERE doc_id = doc.id AND model = ? AND dimensions = coalesce(nullif(?, 0), dimensions)) "
            "ORDER BY id DESC LIMIT ?"
        )
        return tx.all(sql, after, before, space.model, space.dimensions, limit, to=MissingEmbedding)

    @reads
    def vector_counts(self, tx: Tx, space: VectorSpace) -> tuple[int, int]:
        """How many documents there are, and how many of them have a vector there."""
        of_space = "SELECT count(*) FROM vector WHERE model = ? AND dimensions = coalesce(nullif(?, 0), dimensions)"
        return tx.value("SELECT count(*) FROM doc"), tx.value(of_space, space.model, space.dimensions)

    @reads
    def dimensions(self, tx: Tx, model: str) -> int:
        """As many as the newest vector of that model has; 0 when there is none."""
        return tx.number("SELECT dimensions FROM vector WHERE model = ? ORDER BY doc_id DESC LIMIT 1", model)

    @reads
    def document_state(self, tx: Tx, audience: Audience) -> tuple[int, int, int]:
        """The documents that this audience may see: their count, newest and sum of numbers."""
        scopes = scopes_of(audience)
        figures = "SELECT count(*), coalesce(max(id), 0), coalesce(sum(id), 0)"
        count, newest, total = tx.row(f"{figures} FROM doc WHERE scope IN ({placeholders(scopes)})", *scopes)
        return count, newest, total

    @reads
    def vector_state(self, tx: Tx, audience: Audience, model: str) -> dict[int, tuple[int, int, int]]:
        """What this audience may see of that model's vectors: by dimensions their count, newest and sum of numbers.

        Numbers of documents are never given twice, and a document's vector does not change: where these figures are
        the same, so are the vectors, but for a coincidence. Who reads the documents filters once more.
        """
        scopes = scopes_of(audience)
        sql = (
            f"SELECT dimensions, count(*), max(doc_id), sum(doc_id) FROM {VECTOR_INDEX} "
            f"WHERE scope IN ({placeholders(scopes)}) AND model = ? GROUP BY dimensions"
        )
        rows = tx.all(sql, *scopes, model)
        return {dimensions: (count, newest, total) for dimensions, count, newest, total in rows}

    @reads
    def with_vectors(self, tx: Tx, audience: Audience, space: VectorSpace) -> tuple[int, ...]:
        """The documents with a vector there that this audience may see, newest first."""
        scopes = scopes_of(audience)
        sql = (
            f"SELECT doc_id FROM {VECTOR_INDEX} WHERE scope IN ({placeholders(scopes)}) "
            "AND model = ? AND dimensions = ? ORDER BY doc_id DESC LIMIT ?"
        )
        return tx.ids(sql, *scopes, space.model, space.dimensions, MOST_COMPARED)

    @reads
    def vectors(
        self, tx: Tx, space: VectorSpace, numbers: Sequence[int]
    ) -> list[tuple[int, str, int, int, int, bytes]]:
        """These documents with their vectors there: number, kind, ref, chat, time; whose they are `numbers` says."""
        found: list[tuple[int, str, int, int, int, bytes]] = []
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            sql = (
                "SELECT doc_id, kind, ref, chat_id, at, vector FROM doc JOIN vector ON doc_id = doc.id WHERE doc.id IN "
                f"({placeholders(part)}) AND model = ? AND dimensions = ?"
            )
            found += tx.all(sql, *part, space.model, space.dimensions)
        return found

    @reads
    def of_kinds(self, tx: Tx, numbers: Sequence[int], kinds: Sequence[MemoryKind]) -> frozenset[int]:
        """Which of these documents are no memories of other types."""
        sql = (
            f"SELECT id FROM doc WHERE id IN ({placeholders(numbers)}) "
            f"AND (kind <> 'memory' OR ref IN (SELECT id FROM memory WHERE kind IN ({placeholders(kinds)})))"
        )
        return frozenset(tx.ids(sql, *numbers, *kinds))

    @writes
    def put_vectors(
        self, tx: Tx, space: VectorSpace, new: Sequence[NewVector], settlement: Settlement | None, at: int
    ) -> int:
        """Store them with what they cost, in one commit; how many, since what was forgotten meanwhile gets none."""
        if settlement is not None:
            settle_call(tx, settlement, at)
        sql = STORE_VECTOR.format("SELECT id, ?, ?, ?, ? FROM doc WHERE id")
        return sum(
            tx.run(sql, space.model, space.dimensions, fingerprint(each.text), each.vector, each.doc_id) for each in new
        )

    @writes
    def drop_vectors(self, tx: Tx) -> None:
        """All vectors go; they are made anew."""
        tx.run("DELETE FROM vector")


def _matches(
    tx: Tx, asking: RecallQuery, terms: Sequence[str], spans: Sequence[TimeSpan], known: KnownTalks
) -> Matches:
    scopes = scopes_of(asking.audience)
    limits, values = _limits(asking)
    here = f"FROM doc WHERE scope IN ({placeholders(scopes)})"
    # Where these are the same, the documents are, but for a coincidence: a number is never given twice.
    state = tx.row(f"SELECT count(*), sum(length), max(id), sum(id), sum(chat_id) {here}", *scopes)
    count, length = state[:2]
    then = f"SELECT id {here} AND at >= ? AND at < ?{limits} ORDER BY at DESC LIMIT ?"
    dated = {number for span in spans for number in tx.ids(then, *scopes, *span, *values, MOST_DATED)}
    return Matches(
        _postings(tx, asking, terms), count, length or 0, tuple(sorted(dated)), *known.read(tx, asking, state)
    )


def _talks(tx: Tx, held: Sequence[str], limits: str, values: Sequence[object]) -> TalkLines:
    """All talks with lines in these scopes. Of one, as is nearly always, the index has them in order."""
    where = f" AND scope IN ({placeholders(held)}){limits} GROUP BY chat_id, talk"
    rows = tx.all(SELECT_TALKS + where, *held, *values)
    # Once for all: to begin costs as much as to read twenty.
    docs, lengths = (list(chain(*json.loads(f"[{','.join(row[column] for row in rows)}]"))) for column in (6, 7))
    places = chain(*(repeat(place, row[5]) for place, row in enumerate(rows)))
    talks = tuple(IndexedTalk(*row[:5]) for row in rows)
    return talks, dict(zip(docs, places, strict=True)), dict(zip(docs, lengths, strict=True))


def _candidates(tx: Tx, asking: RecallQuery, wanted: WantedDocuments) -> tuple[Candidate, ...]:
    around = tx.ids(f"{SELECT_NEIGHBOURS}({placeholders(wanted.lines)})", *wanted.lines)
    docs = tuple({*wanted.docs, *around})
    if not docs:
        return ()
    seen, by = _seen(asking.audience)
    here = asking.audience.chat_id
    limits, values = _limits(asking)
    may = f"doc.id IN ({{}}) AND {seen}{limits}"
    lines = tx.all(SELECT_LINES + may.format(placeholders(docs)), *docs, *by, *values)
    found = [(_known_line if len(row[TERMS]) <= KNOWN_CHARS else _candidate)(row, here) for row in lines]
    docs = tuple(set(docs).difference(one.finding.doc for one in found))
    kept: dict[int, Memory] = {}
    if "memory" in asking.kinds:
        docs = tuple({*docs, *_akin(tx, [one.finding.ref for one in found], docs)})
        memories = f"{SELECT_MEMORIES} WHERE +doc.kind = 'memory' AND {may.format(placeholders(docs))}"
        kept = {memory.id: memory for memory in tx.all(memories, *docs, *by, *values, to=Memory)}
    proven = _sources(tx, tuple(kept))
    others = SELECT_OTHERS + may.format(placeholders(docs))
    for row in tx.all(others, *docs, *by, *values) if docs else ():
        kind, ref = row[1:3]
        if kind != "memory":
            found.append(_candidate(row, here))
        elif ref in kept:
            found.append(_candidate(row, here, kept[ref], proven.get(ref, ())))
    return tuple(found)


def _seen(audience: Audience) -> tuple[str, Sequence[object]]:
    """What an audience may see, as a condition on `doc`: of a person alone also what they said themselves in groups."""
    scopes = scopes_of(audience)
    here = f"+doc.scope IN ({placeholders(scopes)})"
    if audience.alone is None:
        return here, scopes
    own = "+doc.kind IN ('line', 'memory') AND +doc.person_id = ?"
    name = (
        f"doc.kind = 'memory' AND EXISTS (SELECT 1 FROM memory AS named WHERE named.id = doc.ref AND named.{IS_NAME})"
    )
    return f"({here} OR ({own} AND NOT ({name})))", (*scopes, audience.alone)


def _akin(tx: Tx, lines: Sequence[int], docs: Sequence[int]) -> set[int]:
    """The documents of memories that were drawn from these lines, are of the subject of one of `docs`, or took its place
    or lost it to one of them."""
    asked = ((SELECT_DRAWN, lines), (SELECT_SAME_SUBJECT, docs), (SELECT_FORMER, docs), (SELECT_SUCCESSOR, docs))
    return {
        number
        for select, among in asked
        for number in tx.ids(f"{select}({placeholders(among)}) LIMIT {MOST_AKIN}", *among)
    }


def _sources(tx: Tx, memories: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The lines that each memory was drawn from, where they are few."""
    found: dict[int, tuple[int, ...]] = {}
    edges = f"SELECT derived_id, event_id FROM edge WHERE kind = 'memory' AND derived_id IN ({placeholders(memories)})"
    for number, event in tx.all(edges, *memories):
        found[number] = (*found.get(number, ()), event)
    return {number: events for number, events in found.items() if len(events) <= MOST_SOURCES}


def _postings(tx: Tx, asking: RecallQuery, terms: Sequence[str]) -> tuple[Posting, ...]:
    """The documents of each term. Only scopes that hold any are searched: most of a group's people have
    told nothing to everybody, and in most groups nothing is kept."""
    limits, values = _limits(asking)
    held = _searched(tx, asking) if terms else []
    if not held:
        return tuple(Posting(term, ()) for term in terms)
    found = postings_of(tx, held, terms)
    if not (limits or asking.sections):
        return tuple(Posting(term, docs) for term, docs in found.items())
    searched = f"section IN ({placeholders(('', *asking.sections))})" if asking.sections else "1"
    may: dict[int, int] = dict(
        tx.all(
            f"SELECT doc.id, {searched} FROM {GIVEN} CROSS JOIN doc ON doc.id = given.value WHERE TRUE{limits}",
            *(("", *asking.sections) if asking.sections else ()),
            json.dumps(sorted({*chain(*found.values())})),
            *values,
        )
    )
    return tuple(_posting(term, [doc for doc in docs if doc in may], may) for term, docs in found.items())


def _posting(term: str, docs: Sequence[int], searched: Mapping[int, int]) -> Posting:
    """The documents of a term; of a common one those in the sections that are searched."""
    some = docs if len(docs) <= RARE_DOCUMENTS else [doc for doc in docs if searched[doc]]
    return Posting(term, tuple(some), len(docs))


def _held(tx: Tx, asking: RecallQuery, kinds: Sequence[HitKind]) -> list[str]:
    """Of what the audience may see, the scopes that hold anything of these kinds."""
    any_of = f"SELECT 1 FROM doc WHERE scope = named.value AND kind IN ({placeholders(kinds)})"
    holding = f"SELECT named.value FROM {NAMED} WHERE EXISTS ({any_of})"
    return [scope for (scope,) in tx.all(holding, json.dumps(scopes_of(asking.audience)), *kinds)]


def _searched(tx: Tx, asking: RecallQuery) -> list[str]:
    """What the index of words is searched for: the same, and what the person of a direct chat said in groups."""
    alone = asking.audience.alone
    own = [f"w{alone}"] if alone is not None and not {"line", "memory"}.isdisjoint(asking.kinds) else []
    return _held(tx, asking, asking.kinds) + own


def _limits(asking: RecallQuery) -> tuple[str, Sequence[object]]:
    """What a question leaves out, as conditions on `doc`."""
    chosen: list[tuple[str, Sequence[object]]] = []
    if len(asking.kinds) < 4:
        chosen.append((f"+doc.kind IN ({placeholders(asking.kinds)})", asking.kinds))
    if asking.memory_kinds:
        some = f"SELECT id FROM memory WHERE kind IN ({placeholders(asking.memory_kinds)})"
        chosen.append((f"(doc.kind <> 'memory' OR doc.ref IN ({some}))", asking.memory_kinds))
    if asking.since is not None:
        chosen.append(("doc.at >= ?", (asking.since,)))
    if asking.until is not None:
        chosen.append(("doc.at < ?", (asking.until,)))
    if asking.heard:
        here = "NOT (doc.kind = 'line' AND doc.chat_id = ? AND doc.ref >= ?)"
        chosen.append((here, (asking.audience.chat_id, asking.heard)))
    return "".join(f" AND {where}" for where, _ in chosen), [value for _, values in chosen for value in values]


def _candidate(row: Row, here: int, memory: Memory | None = None, sources: tuple[int, ...] = ()) -> Candidate:
    number, kind, ref, person, who, at, chat, place, talk, terms, group, text, forwarded = row
    found = SearchHit(
        number,
        kind,
        ref,
        memory.text if memory is not None else text,
        person,
        who,
        at,
        LinePosition(chat, place, talk) if kind == "line" else None,
        memory,
        forwarded=bool(forwarded),
        group=group if chat != here else None,
    )
    return Candidate(found, tuple(terms.split()), sources)


_known_line = lru_cache(KNOWN_LINES)(_candidate)
"""The same lines are candidates again and again: what a row says is read once."""
