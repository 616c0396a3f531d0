"""Dialogue memory: the digest of each closed session, exactly one, and what it leaves behind."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.store.commitments import store_commitment
from bot.store.database import Database
from bot.store.indexing import index_digest
from bot.store.keeping import store_memory
from bot.store.ledger import Settlement, settle
from bot.types.digest import Digest
from bot.types.memory import Dialogue
from bot.types.merging import Merging, keep_apart
from bot.types.people import Audience
from bot.types.session import Session


@dataclass(frozen=True, slots=True)
class Digested:
    """A digest with the session it is of: whose it is (None: a group's), who took part, which events it covers.

    `settlement` is of the model call that made it, if one did: paid for and used in one commit. `merging` says what
    becomes of memories much like older ones.
    """

    session: Session
    digest: Digest
    owner_id: int | None
    names: tuple[str, ...]
    event_ids: tuple[int, ...]
    settlement: Settlement | None = None
    merging: Merging = keep_apart


class Digests:
    """Summaries of closed sessions."""

    def __init__(self, database: Database, covers: Callable[[str], bool]) -> None:
        """`covers` tells what was forgotten: no promise brings it back."""
        self._database = database
        self._covers = covers

    async def store(self, digested: Digested, at: int) -> bool:
        """Commit the digest and close the session.

        False when another commit did so before, or when a line it was made from was forgotten meanwhile: it stays due.
        """
        kept = tuple(each for each in digested.digest.commitments if not self._covers(each.text))
        told = replace(digested, digest=replace(digested.digest, commitments=kept))
        return await self._database.write(lambda db: store(db, told, at))

    async def recent(self, audience: Audience, limit: int) -> tuple[Dialogue, ...]:
        """The newest summaries that this audience may see, oldest of them first."""
        owner = audience.person_ids[0] if audience.kind == "dm" and len(audience.person_ids) == 1 else -1
        rows = await self._database.rows(
            "SELECT id, session_id, chat_id, summary, started_at, ended_at, names FROM digest WHERE summary <> '' AND "
            "(owner_id = ? OR chat_id = ?) ORDER BY ended_at DESC, id DESC LIMIT ?",
            (owner, audience.chat_id, limit),
        )
        return tuple(
            Dialogue(int(row[0]), int(row[1]), int(row[2]), row[3], int(row[4]), int(row[5]), tuple(json.loads(row[6])))
            for row in reversed(rows)
        )


def store(db: sqlite3.Connection, digested: Digested, at: int) -> bool:
    """Verb: the digest with its memories and source edges; a digest made again replaces its summary only."""
    if digested.settlement is not None:
        settle(db, digested.settlement, at)
    session, digest = digested.session, digested.digest
    if any(
        db.execute(
            "SELECT 1 FROM event WHERE id = ? AND (hidden IN ('forgotten', 'deleted') OR off_record)", (number,)
        ).fetchone()
        for number in digested.event_ids
    ):
        return False
    if not db.execute(
        "UPDATE session SET state = 'closed', digest_due_at = NULL WHERE id = ? AND digest_due_at IS NOT NULL",
        (session.id,),
    ).rowcount:
        return False
    again = db.execute("SELECT id FROM digest WHERE session_id = ?", (session.id,)).fetchone()
    if again is not None:
        db.execute("UPDATE digest SET summary = ?, made_by = ? WHERE id = ?", (digest.summary, digest.by, again[0]))
        index_digest(db, again[0])
        return True
    number = db.execute(
        "INSERT INTO digest (session_id, chat_id, owner_id, summary, made_by, names, started_at, ended_at, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session.id, session.chat_id, digested.owner_id, digest.summary, digest.by,
         json.dumps(digested.names, ensure_ascii=False), session.opened_at, session.last_at, at),
    ).lastrowid  # fmt: skip
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('digest', ?, ?)",
        [(number, event) for event in digested.event_ids],
    )
    if number is not None:
        index_digest(db, number)
    for memory in digest.memories:
        store_memory(db, memory, at, digested.merging)
    for commitment in digest.commitments:
        store_commitment(db, commitment, at)
    return True
