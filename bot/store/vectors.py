"""Vectors of what can come back, one a document: they go with it, and a change of text or model makes them anew."""

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.database import Database
from bot.store.documents import scopes_of
from bot.store.ledger import Owner, Reservation, Settlement, reserve, settle
from bot.types.embedding import Unembedded
from bot.types.people import Audience
from bot.types.turn import Call

TEXTS = {
    "memory": "(SELECT text FROM memory WHERE memory.id = doc.ref)",
    "digest": "(SELECT summary FROM digest WHERE digest.id = doc.ref)",
    "line": "(SELECT text FROM event WHERE event.id = doc.ref AND hidden = '')",
}
"""Where the text of a document lies, by its kind."""

TEXT = "coalesce(CASE kind " + " ".join(f"WHEN '{kind}' THEN {text}" for kind, text in TEXTS.items()) + " END, '')"
HAS = "SELECT 1 FROM vector WHERE doc_id = doc.id AND model = ?1 AND (?3 = 0 OR dimensions = ?3)"

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


class Vectors:
    """The vectors of documents; every read for people takes an audience and filters in the query."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lacking(self, space: Space, after: int, limit: int) -> tuple[Unembedded, ...]:
        """Documents beyond number `after` without a vector there, oldest first; a document never changes its text."""
        rows = await self._database.rows(
            f"SELECT id, chat_id, {TEXT} FROM doc WHERE id > ?2 AND NOT EXISTS ({HAS}) "
            "ORDER BY id LIMIT ?4",
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

    async def seen_by(self, audience: Audience, model: str) -> dict[int, int]:
        """The documents that this audience may see and that have a vector of that model, with its dimensions."""
        scopes = scopes_of(audience)
        rows = await self._database.rows(
            f"SELECT doc_id, dimensions FROM doc JOIN vector ON doc_id = doc.id WHERE scope IN ({_places(scopes)}) "
            "AND model = ? ORDER BY doc_id DESC LIMIT ?",
            (*scopes, model, MOST),
        )
        return dict(rows)

    async def of(self, audience: Audience, space: Space, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of these documents as far as this audience may see them."""
        scopes = scopes_of(audience)
        found: list[tuple[int, bytes]] = []
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            found += await self._database.rows(
                "SELECT doc_id, vector FROM doc JOIN vector ON doc_id = doc.id WHERE doc.id IN "
                f"({_places(part)}) AND scope IN ({_places(scopes)}) AND model = ? AND dimensions = ?",
                (*part, *scopes, space.model, space.dimensions),
            )  # type: ignore[arg-type]
        return found

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


def fingerprint(text: str) -> bytes:
    """What tells a text from others: 8 bytes of a hash."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def set_aside(db: sqlite3.Connection) -> None:
    """Verb part: before all documents are written anew, keep the vectors under what they are of."""
    db.execute("DROP TABLE IF EXISTS temp.kept")
    db.execute(
        "CREATE TEMP TABLE kept AS SELECT kind, ref, model, dimensions, fingerprint, vector FROM vector "
        "JOIN doc ON doc.id = doc_id"
    )
    db.execute("CREATE INDEX temp.kept_of ON kept (kind, ref)")


def take_back(db: sqlite3.Connection) -> None:
    """Verb part: documents whose text is still the same have their vectors again."""
    rows = db.execute(f"SELECT doc.id, fingerprint, {TEXT}, kept.rowid FROM kept JOIN doc USING (kind, ref)").fetchall()
    for number, print_, text, row in rows:
        if fingerprint(text) == print_:
            db.execute(
                "INSERT OR REPLACE INTO vector (doc_id, model, dimensions, fingerprint, vector) "
                "SELECT ?, model, dimensions, fingerprint, vector FROM temp.kept WHERE rowid = ?",
                (number, row),
            )
    db.execute("DROP TABLE temp.kept")


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
