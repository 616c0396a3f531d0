"""Searching the index for an audience: by terms, by number, and the vectors of documents."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.events import Event
from bot.core.memories import Memory, MemoryKind
from bot.core.models import MissingEmbedding
from bot.core.people import Audience
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
from bot.core.sessions import ModelCall
from bot.store.engine import Params, Repository
from bot.store.events import OWN_RECENT_LINES, SELECT_EVENT, event_of
from bot.store.index import DOCUMENT_TEXT, fingerprint, scopes_of
from bot.store.ledger import CallAccount, Reservation, Settlement, reserve_call, settle_call
from bot.store.memories import visible_memory
from bot.store.schema import IS_NAME, MEMORY_COLUMNS, SELECT_MEMORY, memory_of, placeholders
from bot.store.transactions import Tx

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

SELECT_TALKS = """SELECT chat_id, talk, min(at), max(at), json_group_array(id), json_group_array(length) FROM doc
    WHERE kind = 'line'"""

# The order of these joins is written down: SQLite would rather look at all lines of the installation than at those
# asked for.
SELECT_DOCUMENT = """SELECT doc.id, doc.kind, doc.ref, doc.person_id, coalesce(person.name, ''), doc.at, doc.chat_id,
    doc.place, doc.talk, doc_text.terms,
    iif(doc.scope GLOB 'c*', (SELECT title FROM chat WHERE chat.id = doc.chat_id AND chat.kind = 'group'), NULL)"""
SELECT_LINES = f"""{SELECT_DOCUMENT}, event.text, event.forwarded FROM doc CROSS JOIN doc_text ON doc_text.rowid =
    doc.id CROSS JOIN event ON event.id = doc.ref LEFT JOIN person ON person.id = doc.person_id
    WHERE +doc.kind = 'line' AND """
SELECT_OTHERS = f"""{SELECT_DOCUMENT}, coalesce(digest.summary, {CITED_NOTE}, ''), 0 FROM doc CROSS JOIN doc_text ON
    doc_text.rowid = doc.id LEFT JOIN person ON person.id = doc.person_id
    LEFT JOIN digest ON doc.kind = 'digest' AND digest.id = doc.ref
    LEFT JOIN note_chunk ON doc.kind = 'note' AND note_chunk.id = doc.ref
    LEFT JOIN note ON note.id = note_chunk.note_id WHERE +doc.kind <> 'line' AND """
SELECT_MEMORIES = f"SELECT {MEMORY_COLUMNS} FROM doc CROSS JOIN memory ON memory.id = doc.ref AND disabled_at IS NULL"
SELECT_NEIGHBOURS = f"""SELECT near.id FROM doc AS one CROSS JOIN doc AS near ON near.chat_id = one.chat_id AND
    near.kind = 'line' AND near.place BETWEEN one.place - {AROUND} AND one.place + {AROUND} WHERE +one.kind = 'line'
    AND one.id IN """


@dataclass(frozen=True, slots=True)
class WantedDocuments:
    """Documents to read; of `lines` also those around them."""

    docs: tuple[int, ...]
    lines: tuple[int, ...]


class SearchIndex(Repository):
    """What can come back, as an audience may see it."""

    async def look(
        self,
        asking: RecallQuery,
        terms: Sequence[str],
        spans: Sequence[TimeSpan],
        choose: Callable[[Matches], WantedDocuments],
    ) -> tuple[Matches, tuple[Candidate, ...]]:
        """What the index has of these terms and of these times, and of that what `choose` (pure) wants to be read.

        A term that is not letters and figures has nothing. One trip: what was chosen is there when it is read.
        """
        terms = [term for term in terms if term.isalnum()]

        def found(db: Tx) -> tuple[Matches, tuple[Candidate, ...]]:
            matches = _matches(db, asking, terms, spans)
            return matches, _candidates(db, asking, choose(matches))

        return await self._database.read(found)

    async def read(self, asking: RecallQuery, wanted: WantedDocuments) -> tuple[Candidate, ...]:
        """The documents of these numbers that the audience may see, and the lines around those of `lines`."""
        # Hundreds of rows become candidates beside the event loop, where they are read.
        return await self._database.read(lambda db: _candidates(db, asking, wanted))

    async def beside(self, session_id: int, chat_id: int, person_id: int) -> tuple[int, tuple[Event, ...]]:
        """The first message that the running log of a session answers (the model has it and what follows; 0: none), and
        what the person wrote last in the chat, oldest first."""
        heard, own = await self._database.snapshot(
            ("SELECT min(event_id) FROM turn JOIN turn_event ON turn_id = turn.id "
             "WHERE epoch_id = (SELECT max(id) FROM epoch WHERE session_id = ?)", (session_id,)),
            (SELECT_EVENT + OWN_RECENT_LINES, (chat_id, person_id)),
        )  # fmt: skip
        return heard[0][0] or 0, tuple(event_of(row) for row in reversed(own))

    async def newest(self, asking: RecallQuery, limit: int) -> tuple[int, ...]:
        """The documents that happened last, newest first."""
        scopes = scopes_of(asking.audience)
        limits, values = _limits(asking)
        rows = await self._database.rows(
            f"SELECT id FROM doc WHERE scope IN ({_marks(scopes)}){limits} ORDER BY at DESC, id DESC LIMIT ?",
            (*scopes, *values, limit),
        )
        return tuple(int(row[0]) for row in rows)


def _matches(db: Tx, asking: RecallQuery, terms: Sequence[str], spans: Sequence[TimeSpan]) -> Matches:
    scopes = scopes_of(asking.audience)
    marks = _marks(scopes)
    limits, values = _limits(asking)
    count, length = db.execute(f"SELECT count(*), sum(length) FROM doc WHERE scope IN ({marks})", scopes).fetchone()
    each = f"SELECT * FROM (SELECT id FROM doc WHERE scope IN ({marks}) AND at >= ? AND at < ?{limits} "
    times = " UNION ".join(each + "ORDER BY at DESC LIMIT ?)" for _ in spans)
    dated = (
        db.execute(times, [value for span in spans for value in (*scopes, *span, *values, MOST_DATED)]) if spans else ()
    )
    found = _postings(db, asking, terms)
    return Matches(found, count, length or 0, tuple(row[0] for row in dated), _talks(db, asking))


def _talks(db: Tx, asking: RecallQuery) -> tuple[IndexedTalk, ...]:
    """All talks of which the audience may see lines. Of one scope, as is nearly always, the index has them in order."""
    held = _held(db, asking, ("line",)) if "line" in asking.kinds else []
    if not held:
        return ()
    limits, values = _limits(asking)
    rows = db.execute(
        f"{SELECT_TALKS} AND scope IN ({_marks(held)}){limits} GROUP BY chat_id, talk", (*held, *values)
    ).fetchall()
    # Once for all: to begin costs as much as to read twenty.
    docs, lengths = (json.loads(f"[{','.join(row[column] for row in rows)}]") for column in (4, 5))
    return tuple(
        IndexedTalk(chat, talk, begun, at, sum(long), tuple(some), tuple(long))
        for (chat, talk, begun, at, _, _), some, long in zip(rows, docs, lengths, strict=True)
    )


def _candidates(db: Tx, asking: RecallQuery, wanted: WantedDocuments) -> tuple[Candidate, ...]:
    around = db.execute(f"{SELECT_NEIGHBOURS}({_marks(wanted.lines)})", wanted.lines) if wanted.lines else ()
    docs = tuple({*wanted.docs, *(number for (number,) in around)})
    if not docs:
        return ()
    seen, by = _seen(asking.audience)
    here = asking.audience.chat_id
    limits, values = _limits(asking)

    def among(numbers: Sequence[int]) -> tuple[str, Params]:
        return f"doc.id IN ({_marks(numbers)}) AND {seen}{limits}", (*numbers, *by, *values)

    may, given = among(docs)
    found = [_candidate(row, here) for row in db.execute(SELECT_LINES + may, given)]
    if "memory" not in asking.kinds:
        kept: dict[int, Memory] = {}
    else:
        docs = tuple({*docs, *_akin(db, [one.finding.ref for one in found], docs)})
        may, given = among(docs)
        rows = db.execute(f"{SELECT_MEMORIES} WHERE +doc.kind = 'memory' AND {may}", given)
        kept = {row[0]: memory_of(row) for row in rows}
    proven = _sources(db, tuple(kept))
    for row in db.execute(SELECT_OTHERS + may, given) if len(found) < len(docs) else ():
        if row[1] != "memory":
            found.append(_candidate(row, here))
        elif row[2] in kept:
            found.append(_candidate(row, here, kept[row[2]], proven.get(row[2], ())))
    return tuple(found)


def _seen(audience: Audience) -> tuple[str, Params]:
    """What an audience may see, as a condition on `doc`: of a person alone also what they said themselves in groups."""
    scopes = scopes_of(audience)
    here = f"+doc.scope IN ({_marks(scopes)})"
    if audience.alone is None:
        return here, scopes
    own = "+doc.kind IN ('line', 'memory') AND +doc.person_id = ?"
    name = f"doc.kind = 'memory' AND doc.ref IN (SELECT id FROM memory WHERE {IS_NAME})"
    return f"({here} OR ({own} AND NOT ({name})))", (*scopes, audience.alone)


def _akin(db: Tx, lines: Sequence[int], docs: Sequence[int]) -> list[int]:
    """The documents of memories that were drawn from these lines, or that are of the subject of one of `docs`."""
    rows = db.execute(
        f"SELECT doc.id FROM edge JOIN doc ON doc.kind = 'memory' AND doc.ref = derived_id "
        f"WHERE edge.kind = 'memory' AND event_id IN ({_marks(lines)}) LIMIT {MOST_AKIN}",
        lines,
    ).fetchall()
    rows += db.execute(
        f"SELECT near.id FROM doc CROSS JOIN memory ON memory.id = doc.ref AND memory.subject <> '' "
        f"CROSS JOIN memory AS other "
        f"ON other.owner_id = memory.owner_id AND other.subject = memory.subject AND other.id <> memory.id "
        f"CROSS JOIN doc AS near ON near.kind = 'memory' AND near.ref = other.id "
        f"WHERE +doc.kind = 'memory' AND doc.id IN ({_marks(docs)}) LIMIT {MOST_AKIN}",
        docs,
    ).fetchall()
    rows += db.execute(
        f"SELECT was.id FROM doc CROSS JOIN memory ON memory.replaced_by = doc.ref AND memory.former_at IS NOT NULL "
        f"CROSS JOIN doc AS was ON was.kind = 'memory' AND was.ref = memory.id "
        f"WHERE +doc.kind = 'memory' AND doc.id IN ({_marks(docs)}) LIMIT {MOST_AKIN}",
        docs,
    ).fetchall()
    return [number for (number,) in rows]


def _sources(db: Tx, memories: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The lines that each memory was drawn from, where they are few."""
    found: dict[int, tuple[int, ...]] = {}
    rows = db.execute(
        f"SELECT derived_id, event_id FROM edge WHERE kind = 'memory' AND derived_id IN ({_marks(memories)})", memories
    )
    for number, event in rows:
        found[number] = (*found.get(number, ()), event)
    return {number: events for number, events in found.items() if len(events) <= MOST_SOURCES}


def _postings(db: Tx, asking: RecallQuery, terms: Sequence[str]) -> tuple[Posting, ...]:
    """The documents of each term. Only scopes that hold any are searched: most of a group's people have
    told nothing to everybody, and in most groups nothing is kept."""
    limits, values = _limits(asking)
    held = _searched(db, asking) if terms else []
    if not held:
        return tuple(Posting(term, ()) for term in terms)
    # Never the other way round: SQLite would search the index once for each of the asker's memories.
    sections = ("", *asking.sections) if asking.sections else ()
    joined = " CROSS JOIN doc ON doc.id = doc_text.rowid" if limits or sections else ""
    docs = "json_group_array(doc_text.rowid)"
    if sections:
        there = f"{docs} FILTER (WHERE section IN ({_marks(sections)}))"
        docs = f"CASE WHEN count(*) <= {RARE_DOCUMENTS} THEN {docs} ELSE {there} END"
    each = f"SELECT {{n}}, count(*), {docs} FROM doc_text{joined} WHERE doc_text MATCH ?{limits}"
    rows = db.execute(
        " UNION ALL ".join(each.format(n=number) for number in range(len(terms))),
        [value for term in terms
         for value in (*sections, f'scope : ({" OR ".join(held)}) AND terms : "{term}"', *values)],
    )  # fmt: skip
    found = {number: (count if sections else None, tuple(json.loads(some))) for number, count, some in rows}
    return tuple(Posting(term, found[number][1], found[number][0]) for number, term in enumerate(terms))


def _held(db: Tx, asking: RecallQuery, kinds: Sequence[HitKind]) -> list[str]:
    """Of what the audience may see, the scopes that hold anything of these kinds."""
    any_of = f"SELECT 1 FROM doc WHERE scope = ? AND kind IN ({_marks(kinds)}) LIMIT 1"
    return [scope for scope in scopes_of(asking.audience) if db.execute(any_of, (scope, *kinds)).fetchone()]


def _searched(db: Tx, asking: RecallQuery) -> list[str]:
    """What the index of words is searched for: the same, and what the person of a direct chat said in groups."""
    alone = asking.audience.alone
    own = [f"w{alone}"] if alone is not None and not {"line", "memory"}.isdisjoint(asking.kinds) else []
    return _held(db, asking, asking.kinds) + own


def _limits(asking: RecallQuery) -> tuple[str, Params]:
    """What a question leaves out, as conditions on `doc`."""
    parts: list[str] = []
    values: list[object] = []
    if len(asking.kinds) < 4:
        parts.append(f" AND +doc.kind IN ({_marks(asking.kinds)})")
        values += asking.kinds
    if asking.memory_kinds:
        some = f"SELECT id FROM memory WHERE kind IN ({_marks(asking.memory_kinds)})"
        parts.append(f" AND (doc.kind <> 'memory' OR doc.ref IN ({some}))")
        values += asking.memory_kinds
    if asking.since is not None:
        parts.append(" AND doc.at >= ?")
        values.append(asking.since)
    if asking.until is not None:
        parts.append(" AND doc.at < ?")
        values.append(asking.until)
    if asking.heard:
        parts.append(" AND NOT (doc.kind = 'line' AND doc.chat_id = ? AND doc.ref >= ?)")
        values += [asking.audience.chat_id, asking.heard]
    return "".join(parts), values


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _candidate(
    row: tuple[Any, ...], here: int, memory: Memory | None = None, sources: tuple[int, ...] = ()
) -> Candidate:
    number, kind, ref, person, who, at, chat, place, talk, terms, group, text, forwarded = row
    line = LinePosition(chat, place, talk) if kind == "line" else None
    told = memory.text if memory is not None else text
    found = SearchHit(
        number,
        kind,
        ref,
        told,
        person,
        who,
        at,
        line,
        memory,
        forwarded=bool(forwarded),
        group=group if chat != here else None,
    )
    return Candidate(found, tuple(terms.split()), sources)


MOST_SOURCES = 3
"""A memory made from more lines than this was drawn from a whole talk: none of them is its source."""

VISIBLE_LINES = "SELECT ref FROM doc WHERE kind = 'line' AND scope IN ({scopes})"


class Lookup(Repository):
    """Reads single things."""

    async def memory(self, audience: Audience, number: int) -> Memory | None:
        """An active memory that this audience may see."""
        where, params = visible_memory(audience)
        row = await self._database.row(
            f"{SELECT_MEMORY}WHERE memory.id = ? AND disabled_at IS NULL AND {where}", (number, *params)
        )
        return memory_of(row) if row is not None else None

    async def sources(self, audience: Audience, memory_id: int) -> tuple[Event, ...]:
        """The lines that a memory was told in, oldest first, as far as this audience may see them."""
        scopes = scopes_of(audience)
        heard = VISIBLE_LINES.format(scopes=placeholders(scopes))
        rows = await self._database.rows(
            f"{SELECT_EVENT}WHERE id IN (SELECT event_id FROM edge WHERE edge.kind = 'memory' AND derived_id = ?) "
            f"AND id IN ({heard}) AND (SELECT count(*) FROM edge WHERE edge.kind = 'memory' AND derived_id = ?) <= ? "
            "ORDER BY id",
            (memory_id, *scopes, memory_id, MOST_SOURCES),
        )
        return tuple(event_of(row) for row in rows)

    async def around(self, audience: Audience, number: int, reach: int) -> tuple[Event, ...]:
        """A line and at most `reach` before and after it in its chat, in order; none that this audience may not see."""
        scopes = scopes_of(audience)
        heard = VISIBLE_LINES.format(scopes=placeholders(scopes))
        here = "chat_id = (SELECT chat_id FROM doc WHERE kind = 'line' AND ref = ?1)"
        numbered = heard.replace("?", "{}").format(*(f"?{place}" for place in range(3, 3 + len(scopes))))
        rows = await self._database.rows(
            f"{SELECT_EVENT}WHERE id IN (SELECT ref FROM (SELECT ref FROM ({numbered} AND {here} AND ref <= ?1) "
            f"ORDER BY ref DESC LIMIT ?2 + 1) UNION SELECT ref FROM (SELECT ref FROM ({numbered} AND {here} "
            f"AND ref > ?1) ORDER BY ref LIMIT ?2)) AND ?1 IN ({numbered}) ORDER BY id",
            (number, reach, *scopes),
        )
        if not rows and audience.alone is not None:  # said in a group: their own words, and nobody else's
            own = "SELECT ref FROM doc WHERE kind = 'line' AND ref = ? AND person_id = ?"
            rows = await self._database.rows(f"{SELECT_EVENT}WHERE id IN ({own})", (number, audience.alone))
        return tuple(event_of(row) for row in rows)


HAS_VECTOR = "SELECT 1 FROM vector WHERE doc_id = doc.id AND model = ?1 AND (?3 = 0 OR dimensions = ?3)"

VECTOR_INDEX = "doc CROSS JOIN vector INDEXED BY vector_space ON doc_id = doc.id"
"""Documents with what is known of their vectors, read from the index alone: the rows with the vectors are large."""

MOST_COMPARED = 20_000
"""Newest documents of an audience whose vectors are compared: 120 MB of them at 1,536 dimensions."""


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


class Vectors(Repository):
    """The vectors of documents; every read for people takes an audience and filters in the query."""

    async def lacking(self, space: VectorSpace, after: int, limit: int) -> tuple[MissingEmbedding, ...]:
        """Documents beyond number `after` without a vector there, oldest first; a document never changes its text."""
        rows = await self._database.rows(
            f"SELECT id, chat_id, {DOCUMENT_TEXT} FROM doc WHERE id > ?2 AND NOT EXISTS ({HAS_VECTOR}) ORDER BY id "
            "LIMIT ?4",
            (space.model, after, space.dimensions, limit),
        )
        return tuple(MissingEmbedding(*row) for row in rows)

    async def counts(self, space: VectorSpace) -> tuple[int, int]:
        """How many documents there are, and how many of them have a vector there."""
        row = await self._database.row(
            "SELECT (SELECT count(*) FROM doc), (SELECT count(*) FROM vector WHERE model = ?1 AND "
            "(?2 = 0 OR dimensions = ?2))",
            (space.model, space.dimensions),
        )
        assert row is not None
        return int(row[0]), int(row[1])

    async def dimensions(self, model: str) -> int:
        """As many as the newest vector of that model has; 0 when there is none."""
        row = await self._database.row(
            "SELECT dimensions FROM vector WHERE model = ? ORDER BY doc_id DESC LIMIT 1", (model,)
        )
        return int(row[0]) if row else 0

    async def state(self, audience: Audience, model: str) -> dict[int, tuple[int, int, int]]:
        """What this audience may see of that model's vectors: by dimensions their count, newest and sum of numbers.

        Numbers of documents are never given twice, and a document's vector does not change: where these figures are
        the same, so are the vectors, but for a coincidence. Who reads the documents filters once more.
        """
        scopes = scopes_of(audience)
        rows = await self._database.rows(
            f"SELECT dimensions, count(*), max(doc_id), sum(doc_id) FROM {VECTOR_INDEX} "
            f"WHERE scope IN ({placeholders(scopes)}) AND model = ? GROUP BY dimensions",
            (*scopes, model),
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    async def numbers(self, audience: Audience, space: VectorSpace) -> list[int]:
        """The documents with a vector there that this audience may see, newest first."""
        scopes = scopes_of(audience)
        rows = await self._database.rows(
            f"SELECT doc_id FROM {VECTOR_INDEX} WHERE scope IN ({placeholders(scopes)}) "
            "AND model = ? AND dimensions = ? ORDER BY doc_id DESC LIMIT ?",
            (*scopes, space.model, space.dimensions, MOST_COMPARED),
        )
        return [row[0] for row in rows]

    async def of(
        self, audience: Audience, space: VectorSpace, numbers: Sequence[int]
    ) -> list[tuple[int, str, int, int, int, bytes]]:  # fmt: skip
        """These documents with their vectors as far as this audience may see them: number, kind, ref, chat, time."""
        scopes = scopes_of(audience)
        found: list[tuple[int, str, int, int, int, bytes]] = []
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            found += await self._database.rows(
                "SELECT doc_id, kind, ref, chat_id, at, vector FROM doc JOIN vector ON doc_id = doc.id WHERE doc.id IN "
                f"({placeholders(part)}) AND scope IN ({placeholders(scopes)}) AND model = ? AND dimensions = ?",
                (*part, *scopes, space.model, space.dimensions),
            )
        return found

    async def of_kinds(
        self, audience: Audience, numbers: Sequence[int], kinds: Sequence[MemoryKind]
    ) -> frozenset[int]:  # fmt: skip
        """Which of these documents this audience may see that are no memories of other types."""
        scopes = scopes_of(audience)
        rows = await self._database.rows(
            f"SELECT id FROM doc WHERE id IN ({placeholders(numbers)}) AND scope IN ({placeholders(scopes)}) AND "
            "(kind <> "
            f"'memory' OR ref IN (SELECT id FROM memory WHERE kind IN ({placeholders(kinds)})))",
            (*numbers, *scopes, *kinds),
        )
        return frozenset(row[0] for row in rows)

    async def put(self, space: VectorSpace, new: Sequence[NewVector], settlement: Settlement | None, at: int) -> int:
        """Store them with what they cost, in one commit; how many, since what was forgotten meanwhile gets none."""
        return await self._database.write(lambda db: put_vectors(db, space, new, settlement, at))

    async def drop(self) -> None:
        """All vectors go; they are made anew."""
        await self._database.write(lambda db: db.execute("DELETE FROM vector").rowcount)

    async def reserve(self, chat_id: int, person_id: int | None, reservation: Reservation, at: int) -> ModelCall:
        """Reserve a call for vectors on the account of a chat, and of whoever asks; OverBudget beyond a limit."""
        owner = CallAccount(None, chat_id, None, person_id)
        return await self._database.write(lambda db: reserve_call(db, reservation, at, owner))


def put_vectors(
    db: Tx, space: VectorSpace, new: Sequence[NewVector], settlement: Settlement | None, at: int
) -> int:  # fmt: skip
    """One transaction: the vectors of documents that are still there."""
    if settlement is not None:
        settle_call(db, settlement, at)
    return sum(
        db.execute(
            "INSERT OR REPLACE INTO vector (doc_id, model, dimensions, fingerprint, vector) "
            "SELECT id, ?, ?, ?, ? FROM doc WHERE id = ?",
            (space.model, space.dimensions, fingerprint(each.text), each.vector, each.doc_id),
        ).rowcount
        for each in new
    )
