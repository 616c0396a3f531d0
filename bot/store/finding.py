"""Reading the index: what matches, and the rows behind it. Every read takes an audience and filters in the query."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.store.database import Database, Params
from bot.store.documents import scopes_of
from bot.store.events import EVENT, OWN_LINES, event_of
from bot.store.rows import COLUMNS, memory_of
from bot.types.event import Event
from bot.types.memory import Memory
from bot.types.recall import Asking, Candidate, Finding, Matches, Place, Posting, Span, Talk

AROUND = 2
"""Lines before and after one that support it."""

MOST_DATED = 120
"""Documents of the times that a question asks about, the newest."""

NOTE = """note.path || '#L' || note_chunk.first_line || CASE note_chunk.last_line WHEN note_chunk.first_line THEN ''
    ELSE '-' || note_chunk.last_line END || ': ' || note_chunk.text"""
"""A piece of a note as it is cited: notes/2026-05-02.md#L3-9 and what it says."""

TALKS = """SELECT chat_id, talk, min(at), max(at), sum(length), json_group_array(id) FROM doc WHERE kind = 'line'"""

ROWS = f"""SELECT doc.id, doc.kind, doc.ref, doc.person_id, coalesce(person.name, ''), doc.at, doc.chat_id, doc.place,
    doc.talk, doc_text.terms, coalesce(event.text, digest.summary, {NOTE}, '')
    FROM doc JOIN doc_text ON doc_text.rowid = doc.id LEFT JOIN person ON person.id = doc.person_id
    LEFT JOIN digest ON doc.kind = 'digest' AND digest.id = doc.ref
    LEFT JOIN event ON doc.kind = 'line' AND event.id = doc.ref
    LEFT JOIN note_chunk ON doc.kind = 'note' AND note_chunk.id = doc.ref
    LEFT JOIN note ON note.id = note_chunk.note_id """


@dataclass(frozen=True, slots=True)
class Wanted:
    """Documents to read; of `lines` also those around them."""

    docs: tuple[int, ...]
    lines: tuple[int, ...]


class Findings:
    """What can come back, as an audience may see it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def match(self, asking: Asking, terms: Sequence[str], spans: Sequence[Span]) -> Matches:
        """What the index has of these terms and of these times; a term that is not letters and figures has nothing."""
        terms = [term for term in terms if term.isalnum()]
        scopes = scopes_of(asking.audience)
        marks = _marks(scopes)
        limits, values = _limits(asking)
        each = f"SELECT * FROM (SELECT id FROM doc WHERE scope IN ({marks}) AND at >= ? AND at < ?{limits} "
        times = " UNION ".join(each + "ORDER BY at DESC LIMIT ?)" for _ in spans) or "SELECT 0 WHERE 0"
        together = f"{TALKS} AND scope IN ({marks}){limits} GROUP BY chat_id, talk"

        def matches(db: sqlite3.Connection) -> Matches:
            found = _postings(db, asking, terms)
            count, length = db.execute(
                f"SELECT count(*), sum(length) FROM doc WHERE scope IN ({marks})", scopes
            ).fetchone()
            dated = db.execute(times, [value for span in spans for value in (*scopes, *span, *values, MOST_DATED)])
            talks = db.execute(together, (*scopes, *values)) if "line" in asking.kinds else ()
            return Matches(
                found, count, length or 0, tuple(row[0] for row in dated), tuple(_talk(*row) for row in talks)
            )

        return await self._database.read(matches)

    async def read(self, asking: Asking, wanted: Wanted) -> tuple[Candidate, ...]:
        """The documents of these numbers that the audience may see, and the lines around those of `lines`."""
        scopes = scopes_of(asking.audience)
        limits, values = _limits(asking)
        may = f"doc.scope IN ({_marks(scopes)}){limits}"
        around = (
            "SELECT near.id FROM doc AS one JOIN doc AS near ON near.chat_id = one.chat_id AND near.kind = 'line' "
            f"AND near.place BETWEEN one.place - {AROUND} AND one.place + {AROUND} "
            f"WHERE one.kind = 'line' AND one.id IN ({_marks(wanted.lines)})"
        )
        documents, memories = (
            (f"{ROWS}WHERE doc.id IN (SELECT id FROM doc WHERE id IN ({_marks(wanted.docs)}) UNION {around}) AND {may}",
             (*wanted.docs, *wanted.lines, *scopes, *values)),
            (f"SELECT {COLUMNS} FROM doc JOIN memory ON memory.id = doc.ref AND disabled_at IS NULL "
             f"WHERE doc.kind = 'memory' AND doc.id IN ({_marks(wanted.docs)}) AND {may}",
             (*wanted.docs, *scopes, *values)),
        )  # fmt: skip

        def candidates(db: sqlite3.Connection) -> tuple[Candidate, ...]:
            rows, kept = db.execute(*documents).fetchall(), db.execute(*memories).fetchall()
            known = {memory.id: memory for memory in map(memory_of, kept)}
            return tuple(_candidate(row, known) for row in rows if row[1] != "memory" or row[2] in known)

        # Hundreds of rows become candidates beside the event loop, where they are read.
        return await self._database.read(candidates)

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


def _postings(db: sqlite3.Connection, asking: Asking, terms: Sequence[str]) -> tuple[Posting, ...]:
    """The documents of each term. Only scopes that hold any are searched: most of a group's people have
    told nothing to everybody, and in most groups nothing is kept."""
    limits, values = _limits(asking)
    which = " AND kind <> 'line'" if "line" not in asking.kinds else ""
    if which:
        which += f" AND kind IN ({_marks(asking.kinds)})"
    held = [
        scope for scope in scopes_of(asking.audience)
        if db.execute(f"SELECT 1 FROM doc WHERE scope = ?{which} LIMIT 1", (scope, *(asking.kinds if which else ())))
        .fetchone()
    ]  # fmt: skip
    if not held or not terms:
        return tuple(Posting(term, ()) for term in terms)
    # Never the other way round: SQLite would search the index once for each of the asker's memories.
    joined = " CROSS JOIN doc ON doc.id = doc_text.rowid" if limits else ""
    each = f"SELECT {{n}}, json_group_array(doc_text.rowid) FROM doc_text{joined} WHERE doc_text MATCH ?{limits}"
    rows = db.execute(
        " UNION ALL ".join(each.format(n=number) for number in range(len(terms))),
        [value for term in terms for value in (f'scope : ({" OR ".join(held)}) AND terms : "{term}"', *values)],
    )
    found = {number: tuple(json.loads(docs)) for number, docs in rows}
    return tuple(Posting(term, found[number]) for number, term in enumerate(terms))


def _limits(asking: Asking) -> tuple[str, Params]:
    """What a question leaves out, as conditions on `doc`."""
    parts: list[str] = []
    values: list[object] = []
    if len(asking.kinds) < 4:
        parts.append(f" AND doc.kind IN ({_marks(asking.kinds)})")
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


def _candidate(row: tuple[Any, ...], memories: Mapping[int, Memory]) -> Candidate:
    number, kind, ref, person, who, at, chat, place, talk, terms, text = row
    memory = memories[ref] if kind == "memory" else None
    line = Place(chat, place, talk) if kind == "line" else None
    told = memory.text if memory is not None else text
    return Candidate(Finding(number, kind, ref, told, person, who, at, line, memory), tuple(terms.split()))


def _talk(chat: int, talk: int, begun: int, at: int, length: int, docs: str) -> Talk:
    return Talk(chat, talk, begun, at, length, tuple(json.loads(docs)))
