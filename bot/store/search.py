"""Searching the index for an audience: by terms, and by number."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, repeat

from bot.core.events import Event
from bot.core.memories import Memory
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
from bot.store.engine import Database, Repository, reads
from bot.store.events import OWN_RECENT_LINES, read_events
from bot.store.index import scopes_of
from bot.store.memories import visible_memory
from bot.store.postings import postings_of
from bot.store.schema import (
    GIVEN,
    IS_NAME,
    LIST_OF,
    MEMORY_COLUMNS,
    NAMED,
    SELECT_MEMORY,
    padded,
    placeholders,
)
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

HEARD = """SELECT doc.id FROM event CROSS JOIN doc ON doc.kind = 'line' AND doc.ref = event.id
    WHERE event.chat_id = ? AND event.id >= ?"""
OWN_MEMORIES = "memory CROSS JOIN doc ON doc.kind = 'memory' AND doc.ref = memory.id WHERE memory.owner_id = ?"

MOST_SOURCES = 3
"""A memory made from more lines than this was drawn from a whole talk: none of them is its source."""

VISIBLE_LINES = "SELECT ref FROM doc WHERE kind = 'line' AND scope IN ({scopes})"

MOST_KNOWN = 100_000
"""Lines of which it is known between two questions which talk they are of: about 20 MB."""

KNOWN_LINES, KNOWN_CHARS = 4_096, 500
"""Lines with terms of at most so many characters of which it is known what their rows say: of 22 Chinese characters
each 20 MB (measured)."""

NEWEST = 2
"""Which figure of the state of documents is their newest number (`_matches`)."""

TalkLines = tuple[tuple[IndexedTalk, ...], dict[int, int], dict[int, int]]
"""Talks, and of each line of them the place of its talk among these and its length."""


@dataclass(frozen=True, slots=True)
class WantedDocuments:
    """Documents to read; of `lines` also those around them."""

    docs: tuple[int, ...]
    lines: tuple[int, ...]


class KnownTalks:
    """The talks that questions looked at lately. They are read again as soon as the audience may see other documents;
    where some were only added, those alone."""

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
            known = self._known.get(key)
        lines = known and (known[1] if known[0] == state else _grown(tx, asking, state, *known))
        if lines is None:
            lines = _talks(tx, held, limits, values)
        with self._lock:
            self._known[key] = state, lines
            self._known.move_to_end(key)
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
    """What can come back, by its words; every read for people filters by audience in the query."""

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


def _grown(tx: Tx, asking: RecallQuery, state: Row, before: Row, lines: TalkLines) -> TalkLines | None:
    """The talks that were known with the lines of what was added since; None where more than that happened."""
    scopes = scopes_of(asking.audience)
    limits, values = _limits(asking)
    sql = (
        f"SELECT id, length, chat_id, talk, at, kind = 'line'{limits} FROM doc "
        f"WHERE scope IN ({placeholders(scopes)}) AND id > ? ORDER BY id"
    )
    new = tx.all(sql, *values, *scopes, before[NEWEST] or 0)
    count, length, _, total, chats = (figure or 0 for figure in before)
    docs, lengths, in_chats = ([row[column] for row in new] for column in range(3))
    newest = docs[-1] if docs else None
    if (count + len(new), length + sum(lengths), newest, total + sum(docs), chats + sum(in_chats)) != state:
        return None
    talks, talk_of, length_of = list(lines[0]), dict(lines[1]), dict(lines[2])
    places = {(each.chat_id, each.talk): place for place, each in enumerate(talks)}
    for doc, length, chat, talk, at, counts in new:
        if not counts:
            continue
        place = places.setdefault((chat, talk), len(talks))
        if place == len(talks):
            if talks and (chat, talk) < (talks[-1].chat_id, talks[-1].talk):
                return None
            talks.append(IndexedTalk(chat, talk, at, at, 0))
        known = talks[place]
        talks[place] = IndexedTalk(chat, talk, min(known.begun, at), max(known.at, at), known.length + length)
        talk_of[doc], length_of[doc] = place, length
    return tuple(talks), talk_of, length_of


def _candidates(tx: Tx, asking: RecallQuery, wanted: WantedDocuments) -> tuple[Candidate, ...]:
    lifted = padded(wanted.lines)
    around = tx.ids(f"{SELECT_NEIGHBOURS}({placeholders(lifted)})", *lifted)
    docs = padded(tuple({*wanted.docs, *around}))
    if not docs:
        return ()
    seen, by = _seen(asking.audience)
    here = asking.audience.chat_id
    limits, values = _limits(asking)
    may = f"doc.id IN ({{}}) AND {seen}{limits}"
    lines = tx.all(SELECT_LINES + may.format(placeholders(docs)), *docs, *by, *values)
    found = [(_known_line if len(row[TERMS]) <= KNOWN_CHARS else _candidate)(row, here) for row in lines]
    docs = padded(tuple(set(docs).difference(one.finding.doc for one in found)))
    kept: dict[int, Memory] = {}
    if "memory" in asking.kinds:
        docs = padded(tuple({*docs, *_akin(tx, padded([one.finding.ref for one in found]), docs)}))
        memories = f"{SELECT_MEMORIES} WHERE +doc.kind = 'memory' AND {may.format(placeholders(docs))}"
        kept = {memory.id: memory for memory in tx.all(memories, *docs, *by, *values, to=Memory)}
    proven = _sources(tx, padded(tuple(kept)))
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
    held = _searched(tx, asking) if terms else []
    if not held:
        return tuple(Posting(term, ()) for term in terms)
    found = postings_of(tx, held, terms)
    if _limits(replace(asking, heard=0))[0] or asking.sections:
        may = _may_come(tx, asking, held, found)
        return tuple(_posting(term, [doc for doc in docs if doc in may], may) for term, docs in found.items())
    heard = set(tx.ids(HEARD, asking.audience.chat_id, asking.heard)) if asking.heard else ()
    return tuple(
        Posting(term, tuple(doc for doc in docs if doc not in heard) if heard else docs) for term, docs in found.items()
    )


def _may_come(tx: Tx, asking: RecallQuery, held: Sequence[str], found: Mapping[str, Sequence[int]]) -> dict[int, int]:
    """The documents among these that a question does not leave out, and whether each is in a section that is searched."""
    limits, values = _limits(asking)
    sections = ("", *asking.sections) if asking.sections else ()
    searched = f"doc.section IN ({placeholders(sections)})" if sections else "1"
    select = f"SELECT doc.id, {searched} FROM"
    if "line" in asking.kinds:
        of = f"{GIVEN} CROSS JOIN doc ON doc.id = given.value WHERE TRUE{limits}"
        return dict(tx.all(f"{select} {of}", *sections, json.dumps(sorted({*chain(*found.values())})), *values))
    # Most of what holds a word is lines: all that is none is less to look at.
    of = f"doc WHERE scope IN ({placeholders(held)}) AND kind IN ({placeholders(asking.kinds)}){limits}"
    sql, given = f"{select} {of}", [*sections, *held, *asking.kinds, *values]
    if asking.audience.alone is not None:
        sql, given = (
            f"{sql} UNION ALL {select} {OWN_MEMORIES}{limits}",
            [*given, *sections, asking.audience.alone, *values],
        )
    return dict(tx.all(sql, *given))


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
