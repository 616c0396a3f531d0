"""Vectors of what can come back, one a document: they go with it, and a change of text or model makes them anew."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.database import Repository
from bot.store.documents import scopes_of
from bot.store.embedded import TEXT, fingerprint
from bot.store.ledger import Owner, Reservation, Settlement, reserve, settle
from bot.store.rows import marks
from bot.types.embedding import Unembedded
from bot.types.memory import MemoryKind
from bot.types.people import Audience
from bot.types.turn import Call

HAS = "SELECT 1 FROM vector WHERE doc_id = doc.id AND model = ?1 AND (?3 = 0 OR dimensions = ?3)"

SLIM = "doc CROSS JOIN vector INDEXED BY vector_space ON doc_id = doc.id"
"""Documents with what is known of their vectors, read from the index alone: the rows with the vectors are large."""

MOST = 20_000
"""Newest documents of an audience whose vectors are compared: 120 MB of them at 1,536 dimensions."""


@dataclass(frozen=True, slots=True)
class Space:
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

    async def lacking(self, space: Space, after: int, limit: int) -> tuple[Unembedded, ...]:
        """Documents beyond number `after` without a vector there, oldest first; a document never changes its text."""
        rows = await self._database.rows(
            f"SELECT id, chat_id, {TEXT} FROM doc WHERE id > ?2 AND NOT EXISTS ({HAS}) ORDER BY id LIMIT ?4",
            (space.model, after, space.dimensions, limit),
        )
        return tuple(Unembedded(*row) for row in rows)

    async def counts(self, space: Space) -> tuple[int, int]:
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
            f"SELECT dimensions, count(*), max(doc_id), sum(doc_id) FROM {SLIM} "
            f"WHERE scope IN ({marks(scopes)}) AND model = ? GROUP BY dimensions",
            (*scopes, model),
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    async def numbers(self, audience: Audience, space: Space) -> list[int]:
        """The documents with a vector there that this audience may see, newest first."""
        scopes = scopes_of(audience)
        rows = await self._database.rows(
            f"SELECT doc_id FROM {SLIM} WHERE scope IN ({marks(scopes)}) "
            "AND model = ? AND dimensions = ? ORDER BY doc_id DESC LIMIT ?",
            (*scopes, space.model, space.dimensions, MOST),
        )
        return [row[0] for row in rows]

    async def of(
        self, audience: Audience, space: Space, numbers: Sequence[int]
    ) -> list[tuple[int, str, int, int, int, bytes]]:  # fmt: skip
        """These documents with their vectors as far as this audience may see them: number, kind, ref, chat, time."""
        scopes = scopes_of(audience)
        found: list[tuple[int, str, int, int, int, bytes]] = []
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            found += await self._database.rows(
                "SELECT doc_id, kind, ref, chat_id, at, vector FROM doc JOIN vector ON doc_id = doc.id WHERE doc.id IN "
                f"({marks(part)}) AND scope IN ({marks(scopes)}) AND model = ? AND dimensions = ?",
                (*part, *scopes, space.model, space.dimensions),
            )
        return found

    async def of_kinds(
        self, audience: Audience, numbers: Sequence[int], kinds: Sequence[MemoryKind]
    ) -> frozenset[int]:  # fmt: skip
        """Which of these documents this audience may see that are no memories of other types."""
        scopes = scopes_of(audience)
        rows = await self._database.rows(
            f"SELECT id FROM doc WHERE id IN ({marks(numbers)}) AND scope IN ({marks(scopes)}) AND (kind <> "
            f"'memory' OR ref IN (SELECT id FROM memory WHERE kind IN ({marks(kinds)})))",
            (*numbers, *scopes, *kinds),
        )
        return frozenset(row[0] for row in rows)

    async def put(self, space: Space, new: Sequence[NewVector], settlement: Settlement | None, at: int) -> int:
        """Store them with what they cost, in one commit; how many, since what was forgotten meanwhile gets none."""
        return await self._database.write(lambda db: put(db, space, new, settlement, at))

    async def drop(self) -> None:
        """All vectors go; they are made anew."""
        await self._database.write(lambda db: db.execute("DELETE FROM vector").rowcount)

    async def reserve(self, chat_id: int, person_id: int | None, reservation: Reservation, at: int) -> Call:
        """Reserve a call for vectors on the account of a chat, and of whoever asks; OverBudget beyond a limit."""
        owner = Owner(None, chat_id, None, person_id)
        return await self._database.write(lambda db: reserve(db, reservation, at, owner))


def put(
    db: sqlite3.Connection, space: Space, new: Sequence[NewVector], settlement: Settlement | None, at: int
) -> int:  # fmt: skip
    """Verb: the vectors of documents that are still there."""
    if settlement is not None:
        settle(db, settlement, at)
    return sum(
        db.execute(
            "INSERT OR REPLACE INTO vector (doc_id, model, dimensions, fingerprint, vector) "
            "SELECT id, ?, ?, ?, ? FROM doc WHERE id = ?",
            (space.model, space.dimensions, fingerprint(each.text), each.vector, each.doc_id),
        ).rowcount
        for each in new
    )
