"""The vectors of documents: which are lacking, what an audience may see of them, and storing those that were made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.models import MissingEmbedding
from bot.core.people import Audience, MemoryKind
from bot.store.engine import Repository, reads, writes
from bot.store.index import DOCUMENT_TEXT, STORE_VECTOR, fingerprint, scopes_of
from bot.store.ledger import Settlement, settle_call
from bot.store.schema import BY_SPACE, IS_NAME, NO_LIMIT, VECTOR_INDEX, padded, placeholders
from bot.store.transactions import Tx

MOST_COMPARED = 20_000
"""Newest documents of an audience whose vectors are compared: 120 MB of them at 1,536 dimensions."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Whose vectors can be compared: those of one model with as many dimensions; 0 is however many there are."""

    model: str
    dimensions: int = 0


OWN_ELSEWHERE = f"""SELECT doc.id FROM memory CROSS JOIN doc ON doc.kind = 'memory' AND doc.ref = memory.id
    WHERE memory.owner_id = ? AND memory.visibility = 'chat' AND memory.chat_id <> ? AND NOT memory.{IS_NAME}"""
"""What somebody had kept in other chats, for these, but names."""

NumberState = tuple[int, int, int]
"""Count, newest and sum of the numbers of documents."""

NOTHING: NumberState = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class VectorState:
    """Which of a model's vectors an audience may see.

    `whole` are documents that all had a vector when it was looked last, `of_whole` their vectors by dimensions; `there`
    are all that there are now. Up to the number `since` nothing changed since that look.
    """

    whole: NumberState = NOTHING
    of_whole: Mapping[int, NumberState] = field(default_factory=dict)
    there: Mapping[int, NumberState] = field(default_factory=dict)
    since: int = 0


@dataclass(frozen=True, slots=True)
class NewVector:
    """A vector about to be stored, with the document and the text that it is of; empty, in a space of no dimensions, where
    the model refused the text."""

    doc_id: int
    text: str
    vector: bytes


class Vectors(Repository):
    """What is stored by likeness; what is read for people is filtered by audience in the query."""

    @reads
    def lacking(self, tx: Tx, space: VectorSpace, after: int, before: int, limit: int) -> tuple[MissingEmbedding, ...]:
        """Documents between these numbers without a vector there that were not refused, newest first; a document never
        changes its text."""
        sql = (
            f"SELECT id, chat_id, {DOCUMENT_TEXT} FROM doc WHERE id > ? AND id < ? AND NOT EXISTS (SELECT 1 FROM vector "
            f"{BY_SPACE} WHERE doc_id = doc.id AND model = ? AND dimensions IN (0, coalesce(nullif(?, 0), dimensions))) "
            "ORDER BY id DESC LIMIT ?"
        )
        return tx.all(sql, after, before, space.model, space.dimensions, limit, to=MissingEmbedding)

    @reads
    def counts(self, tx: Tx, space: VectorSpace) -> tuple[int, int, int]:
        """How many documents there are, how many of them have a vector there, and how many were refused."""
        of_space = (
            "SELECT count(*), coalesce(sum(CASE dimensions WHEN 0 THEN 1 ELSE 0 END), 0) FROM vector "
            "WHERE model = ? AND dimensions IN (0, coalesce(nullif(?, 0), dimensions))"
        )
        looked_at, refused = tx.row(of_space, space.model, space.dimensions)
        return tx.value("SELECT count(*) FROM doc"), looked_at - refused, refused

    @reads
    def dimensions(self, tx: Tx, model: str) -> int:
        """As many as the newest vector of that model has; 0 when there is none."""
        return tx.number(
            "SELECT dimensions FROM vector WHERE model = ? AND dimensions > 0 ORDER BY doc_id DESC LIMIT 1", model
        )

    @reads
    def state(
        self, tx: Tx, audience: Audience, model: str, known: VectorState, *, memories: bool = False
    ) -> VectorState:
        """Which of that model's vectors this audience may see, all or those of `memories`, by what was known of them before.

        Numbers of documents are never given twice, and a document's vector does not change: where these figures are
        the same, so are the vectors, but for a coincidence. Who reads the documents filters once more.
        """
        where, given = _where(tx, audience, memories)
        figures = "SELECT count(*), coalesce(max(id), 0), coalesce(sum(id), 0)"
        documents = tx.row(f"{figures} FROM doc WHERE {where}", *given)
        if documents == known.whole:
            return VectorState(documents, known.of_whole, known.of_whole, documents[1])
        new = _vectors_since(tx, where, given, model, known.whole[1])
        if _sum(known.whole, *new.values()) != documents:
            known, new = VectorState(), _vectors_since(tx, where, given, model, 0)
        there = dict(known.of_whole)
        for dimensions, state in new.items():
            if dimensions is not None:
                there[dimensions] = _sum(there.get(dimensions, NOTHING), state)
        if None not in new:
            return VectorState(documents, there, there, known.whole[1])
        # What lies below the first that lacks its vector is whole: a new line must not have all looked through again.
        lacking = tx.value(
            f"SELECT min(id) FROM doc WHERE {where} AND id > ? AND NOT EXISTS "
            f"(SELECT 1 FROM vector {BY_SPACE} WHERE doc_id = doc.id AND model = ?)",
            *given,
            known.whole[1],
            model,
        )
        below = _vectors_since(tx, where, given, model, known.whole[1], lacking)
        of_whole = dict(known.of_whole)
        for dimensions, state in below.items():
            of_whole[dimensions or 0] = _sum(of_whole.get(dimensions or 0, NOTHING), state)
        whole = _sum(known.whole, *below.values())
        return VectorState(whole, of_whole, there, known.whole[1])

    @reads
    def read(
        self,
        tx: Tx,
        audience: Audience,
        space: VectorSpace,
        since: int,
        lacking: Callable[[Sequence[int]], Sequence[int]],
        *,
        memories: bool = False,
    ) -> tuple[Sequence[int], list[tuple[int, str, int, int, int, bytes]]]:
        """The documents with numbers above `since` with a vector there that this audience may see, newest first, and
        those of them that are `lacking` (pure) with their vectors: number, kind, ref, chat, time."""
        where, given = _where(tx, audience, memories)
        sql = (
            f"SELECT doc_id FROM {VECTOR_INDEX} WHERE {where} "
            "AND model = ? AND dimensions = ? AND doc.id > ? ORDER BY doc_id DESC LIMIT ?"
        )
        there = tx.ids(sql, *given, space.model, space.dimensions, since, MOST_COMPARED)
        numbers = lacking(there)
        found: list[tuple[int, str, int, int, int, bytes]] = []
        for start in range(0, len(numbers), 500):
            part = padded(numbers[start : start + 500])
            sql = (
                "SELECT doc_id, kind, ref, chat_id, at, vector FROM doc JOIN vector ON doc_id = doc.id WHERE doc.id IN "
                f"({placeholders(part)}) AND model = ? AND dimensions = ?"
            )
            found += tx.all(sql, *part, space.model, space.dimensions)
        return there, found

    @reads
    def of_kinds(self, tx: Tx, numbers: Sequence[int], kinds: Sequence[MemoryKind]) -> frozenset[int]:
        """Which of these documents are no memories of other types."""
        sql = (
            f"SELECT id FROM doc WHERE id IN ({placeholders(numbers)}) "
            f"AND (kind <> 'memory' OR ref IN (SELECT id FROM memory WHERE kind IN ({placeholders(kinds)})))"
        )
        return frozenset(tx.ids(sql, *numbers, *kinds))

    @writes
    def put(self, tx: Tx, space: VectorSpace, new: Sequence[NewVector], settlement: Settlement | None, at: int) -> int:
        """Store them with what they cost, in one commit; how many, since what was forgotten meanwhile gets none."""
        if settlement is not None:
            settle_call(tx, settlement, at)
        sql = STORE_VECTOR.format("SELECT id, ?, ?, ?, ? FROM doc WHERE id")
        return sum(
            tx.run(sql, space.model, space.dimensions, fingerprint(each.text), each.vector, each.doc_id) for each in new
        )

    @writes
    def drop(self, tx: Tx) -> None:
        """All vectors go; they are made anew."""
        tx.run("DELETE FROM vector")

    @writes
    def ask_again(self, tx: Tx, model: str) -> int:
        """What that model refused lacks its vector again; how many documents that are."""
        return tx.run("DELETE FROM vector WHERE model = ? AND dimensions = 0", model)


def _where(tx: Tx, audience: Audience, memories: bool) -> tuple[str, Sequence[object]]:
    """What is compared for an audience, as a condition on `doc`: what it may see, and of a person alone what they had kept
    in other chats, but for names."""
    scopes = scopes_of(audience)
    own = padded(tx.ids(OWN_ELSEWHERE, audience.alone, audience.chat_id)) if audience.alone is not None else ()
    kind = " AND kind = 'memory'" if memories else ""
    where = f"scope IN ({placeholders(scopes)}){kind}"
    if own:
        # Of the kind outside of the brackets all memories of everybody would be read.
        where = f"(({where}) OR doc.id IN ({placeholders(own)}))"
    return where, (*scopes, *own)


def _vectors_since(
    tx: Tx, where: str, given: Sequence[object], model: str, since: int, before: int = NO_LIMIT
) -> dict[int | None, NumberState]:
    """Of these documents those with numbers above that, and below another, by the dimensions of their vectors; None: those
    that have none."""
    sql = (
        f"SELECT dimensions, count(*), max(id), sum(id) FROM doc LEFT JOIN vector {BY_SPACE} ON doc_id = id "
        f"AND model = ? WHERE {where} AND id > ? AND id < ? GROUP BY dimensions"
    )
    rows = tx.all(sql, model, *given, since, before)
    return {dimensions: (count, newest, total) for dimensions, count, newest, total in rows}


def _sum(*states: NumberState) -> NumberState:
    counts, newest, totals = zip(*states, strict=True)
    return sum(counts), max(newest), sum(totals)
