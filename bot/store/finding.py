"""Reading the index: what matches, and the rows behind it. Every read takes an audience and filters in the query."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.store.database import Repository
from bot.store.documents import scopes_of
from bot.store.events import EVENT, OWN_LINES, event_of
from bot.store.lookup import SOURCES
from bot.store.reader import Params
from bot.store.rows import COLUMNS, IS_NAME, memory_of
from bot.types.event import Event
from bot.types.memory import Memory
from bot.types.people import Audience
from bot.types.recall import Asking, Candidate, Finding, FindingKind, Matches, Place, Posting, Span, Talk

AROUND = 2
"""Lines before and after one that support it: in a direct chat nuan's reply stands between two of a person's."""

MOST_AKIN = 40
"""Memories of the same lines or of the same subject that are looked at beside those that were found."""

MOST_DATED = 120
"""Documents of the times that a question asks about, the newest."""

RARE = 16
"""A term that so few documents hold finds them in every section: it is what the question is about (measured: 4 lost up
to 1.4 points of recall, 8 up to .8, 16 none; 32 saves less)."""

NOTE = """note.path || '#L' || note_chunk.first_line || CASE note_chunk.last_line WHEN note_chunk.first_line THEN ''
    ELSE '-' || note_chunk.last_line END || ': ' || note_chunk.text"""
"""A piece of a note as it is cited: notes/2026-05-02.md#L3-9 and what it says."""

TALKS = """SELECT chat_id, talk, min(at), max(at), json_group_array(id), json_group_array(length) FROM doc
    WHERE kind = 'line'"""

# The order of these joins is written down: SQLite would rather look at all lines of the house than at those asked for.
WHAT = """SELECT doc.id, doc.kind, doc.ref, doc.person_id, coalesce(person.name, ''), doc.at, doc.chat_id, doc.place,
    doc.talk, doc_text.terms,
    iif(doc.scope GLOB 'c*', (SELECT title FROM chat WHERE chat.id = doc.chat_id AND chat.kind = 'group'), NULL)"""
LINES = f"""{WHAT}, event.text, event.forwarded FROM doc CROSS JOIN doc_text ON doc_text.rowid = doc.id
    CROSS JOIN event ON event.id = doc.ref LEFT JOIN person ON person.id = doc.person_id
    WHERE +doc.kind = 'line' AND """
OTHERS = f"""{WHAT}, coalesce(digest.summary, {NOTE}, ''), 0 FROM doc CROSS JOIN doc_text ON doc_text.rowid = doc.id
    LEFT JOIN person ON person.id = doc.person_id
    LEFT JOIN digest ON doc.kind = 'digest' AND digest.id = doc.ref
    LEFT JOIN note_chunk ON doc.kind = 'note' AND note_chunk.id = doc.ref
    LEFT JOIN note ON note.id = note_chunk.note_id WHERE +doc.kind <> 'line' AND """
MEMORIES = f"SELECT {COLUMNS} FROM doc CROSS JOIN memory ON memory.id = doc.ref AND disabled_at IS NULL"
BESIDE = f"""SELECT near.id FROM doc AS one CROSS JOIN doc AS near ON near.chat_id = one.chat_id AND near.kind = 'line'
    AND near.place BETWEEN one.place - {AROUND} AND one.place + {AROUND} WHERE +one.kind = 'line' AND one.id IN """


@dataclass(frozen=True, slots=True)
class Wanted:
    """Documents to read; of `lines` also those around them."""

    docs: tuple[int, ...]
    lines: tuple[int, ...]


class Findings(Repository):
    """What can come back, as an audience may see it."""

    async def look(
        self, asking: Asking, terms: Sequence[str], spans: Sequence[Span], choose: Callable[[Matches], Wanted]
    ) -> tuple[Matches, tuple[Candidate, ...]]:
        """What the index has of these terms and of these times, and of that what `choose` (pure) wants to be read.

        A term that is not letters and figures has nothing. One trip: what was chosen is there when it is read.
        """
        terms = [term for term in terms if term.isalnum()]

        def found(db: sqlite3.Connection) -> tuple[Matches, tuple[Candidate, ...]]:
            matches = _matches(db, asking, terms, spans)
            return matches, _candidates(db, asking, choose(matches))

        return await self._database.read(found)

    async def read(self, asking: Asking, wanted: Wanted) -> tuple[Candidate, ...]:
        """The documents of these numbers that the audience may see, and the lines around those of `lines`."""
        # Hundreds of rows become candidates beside the event loop, where they are read.
        return await self._database.read(lambda db: _candidates(db, asking, wanted))

    async def beside(self, session_id: int, chat_id: int, person_id: int) -> tuple[int, tuple[Event, ...]]:
        """The first message that the running log of a session answers (the model has it and what follows; 0: none), and
        what the person wrote last in the chat, oldest first."""
        heard, own = await self._database.snapshot(
            ("SELECT min(event_id) FROM turn JOIN turn_event ON turn_id = turn.id "
             "WHERE epoch_id = (SELECT max(id) FROM epoch WHERE session_id = ?)", (session_id,)),
            (EVENT + OWN_LINES, (chat_id, person_id)),
        )  # fmt: skip
        return heard[0][0] or 0, tuple(event_of(row) for row in reversed(own))

    async def newest(self, asking: Asking, limit: int) -> tuple[int, ...]:
        """The documents that happened last, newest first."""
        scopes = scopes_of(asking.audience)
        limits, values = _limits(asking)
        rows = await self._database.rows(
            f"SELECT id FROM doc WHERE scope IN ({_marks(scopes)}){limits} ORDER BY at DESC, id DESC LIMIT ?",
            (*scopes, *values, limit),
        )
        return tuple(int(row[0]) for row in rows)


def _matches(db: sqlite3.Connection, asking: Asking, terms: Sequence[str], spans: Sequence[Span]) -> Matches:
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


def _talks(db: sqlite3.Connection, asking: Asking) -> tuple[Talk, ...]:
    """All talks of which the audience may see lines. Of one scope, as is nearly always, the index has them in order."""
    held = _held(db, asking, ("line",)) if "line" in asking.kinds else []
    if not held:
        return ()
    limits, values = _limits(asking)
    rows = db.execute(
        f"{TALKS} AND scope IN ({_marks(held)}){limits} GROUP BY chat_id, talk", (*held, *values)
    ).fetchall()
    # Once for all: to begin costs as much as to read twenty.
    docs, lengths = (json.loads(f"[{','.join(row[column] for row in rows)}]") for column in (4, 5))
    return tuple(
        Talk(chat, talk, begun, at, sum(long), tuple(some), tuple(long))
        for (chat, talk, begun, at, _, _), some, long in zip(rows, docs, lengths, strict=True)
    )


def _candidates(db: sqlite3.Connection, asking: Asking, wanted: Wanted) -> tuple[Candidate, ...]:
    around = db.execute(f"{BESIDE}({_marks(wanted.lines)})", wanted.lines) if wanted.lines else ()
    docs = tuple({*wanted.docs, *(number for (number,) in around)})
    if not docs:
        return ()
    seen, by = _seen(asking.audience)
    here = asking.audience.chat_id
    limits, values = _limits(asking)

    def among(numbers: Sequence[int]) -> tuple[str, Params]:
        return f"doc.id IN ({_marks(numbers)}) AND {seen}{limits}", (*numbers, *by, *values)

    may, given = among(docs)
    found = [_candidate(row, here) for row in db.execute(LINES + may, given)]
    if "memory" not in asking.kinds:
        kept: dict[int, Memory] = {}
    else:
        docs = tuple({*docs, *_akin(db, [one.finding.ref for one in found], docs)})
        may, given = among(docs)
        rows = db.execute(f"{MEMORIES} WHERE +doc.kind = 'memory' AND {may}", given)
        kept = {row[0]: memory_of(row) for row in rows}
    proven = _sources(db, tuple(kept))
    for row in db.execute(OTHERS + may, given) if len(found) < len(docs) else ():
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


def _akin(db: sqlite3.Connection, lines: Sequence[int], docs: Sequence[int]) -> list[int]:
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


def _sources(db: sqlite3.Connection, memories: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The lines that each memory was drawn from, where they are few."""
    found: dict[int, tuple[int, ...]] = {}
    rows = db.execute(
        f"SELECT derived_id, event_id FROM edge WHERE kind = 'memory' AND derived_id IN ({_marks(memories)})", memories
    )
    for number, event in rows:
        found[number] = (*found.get(number, ()), event)
    return {number: events for number, events in found.items() if len(events) <= SOURCES}


def _postings(db: sqlite3.Connection, asking: Asking, terms: Sequence[str]) -> tuple[Posting, ...]:
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
        docs = (
            f"CASE WHEN count(*) <= {RARE} THEN {docs} ELSE {docs} FILTER (WHERE section IN ({_marks(sections)})) END"
        )
    each = f"SELECT {{n}}, count(*), {docs} FROM doc_text{joined} WHERE doc_text MATCH ?{limits}"
    rows = db.execute(
        " UNION ALL ".join(each.format(n=number) for number in range(len(terms))),
        [value for term in terms
         for value in (*sections, f'scope : ({" OR ".join(held)}) AND terms : "{term}"', *values)],
    )  # fmt: skip
    found = {number: (count if sections else None, tuple(json.loads(some))) for number, count, some in rows}
    return tuple(Posting(term, found[number][1], found[number][0]) for number, term in enumerate(terms))


def _held(db: sqlite3.Connection, asking: Asking, kinds: Sequence[FindingKind]) -> list[str]:
    """Of what the audience may see, the scopes that hold anything of these kinds."""
    any_of = f"SELECT 1 FROM doc WHERE scope = ? AND kind IN ({_marks(kinds)}) LIMIT 1"
    return [scope for scope in scopes_of(asking.audience) if db.execute(any_of, (scope, *kinds)).fetchone()]


def _searched(db: sqlite3.Connection, asking: Asking) -> list[str]:
    """What the index of words is searched for: the same, and what the person of a direct chat said in groups."""
    alone = asking.audience.alone
    own = [f"w{alone}"] if alone is not None and not {"line", "memory"}.isdisjoint(asking.kinds) else []
    return _held(db, asking, asking.kinds) + own


def _limits(asking: Asking) -> tuple[str, Params]:
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
    line = Place(chat, place, talk) if kind == "line" else None
    told = memory.text if memory is not None else text
    found = Finding(
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
