"""Dialogue memory: the digest of each closed session, exactly one, and what it leaves behind."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from bot.store.commitments import store_commitment
from bot.store.database import Database
from bot.store.indexing import index_digest
from bot.store.keeping import store_memory
from bot.store.ledger import Settlement, settle
from bot.store.rolled import retell
from bot.types.dialogue import Dialogue
from bot.types.digest import Digest
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
        """`covers` tells what was forgotten for good: no digest brings it back."""
        self._database = database
        self._covers = covers

    async def store(self, digested: Digested, at: int) -> bool:
        """Commit the digest and close the session.

        False when another commit did so before, or when a line it was made from was forgotten meanwhile: it stays due.
        """
        kept = replace(digested, digest=self.allowed(digested.digest))
        return await self._database.write(lambda db: store(db, kept, at))

    def allowed(self, digest: Digest) -> Digest:
        """The digest without what was forgotten for good."""
        return Digest(
            "" if self._covers(digest.summary) else digest.summary,
            tuple(memory for memory in digest.memories if not self._covers(memory.text)),
            digest.by,
            tuple(task for task in digest.commitments if not self._covers(task.text)),
        )

    async def told(self, audience: Audience, person_id: int, since: int) -> tuple[Dialogue, ...]:
        """All summaries of talks since then, ms, that this audience may see, newest first; `own` is that person's."""
        whose, params = told_to(audience)
        rows = await self._database.rows(
            f"{TOLD}{whose} AND ended_at >= ? ORDER BY ended_at DESC, id DESC", (person_id, person_id, *params, since)
        )
        return tuple(_dialogue(row) for row in rows)


TOLD = """SELECT digest.id, digest.session_id, digest.chat_id, digest.summary, digest.started_at, digest.ended_at,
    digest.names, digest.tier, digest.talks, digest.owner_id IS ? OR EXISTS (SELECT 1 FROM talker WHERE person_id = ?
    AND digest_id IN (SELECT digest.id UNION ALL SELECT talk.id FROM digest AS talk WHERE talk.into_id = digest.id))
    FROM digest WHERE digest.summary <> '' AND digest.into_id IS NULL AND """
"""What is told of talks, each once, and whether a person took part in it."""


def told_to(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition under which an audience is told a talk, and its parameters: one's own in a DM, a chat's there."""
    return "(digest.owner_id = ? OR digest.chat_id = ?)", (whose_dm(audience), audience.chat_id)


def whose_dm(audience: Audience) -> int:
    """The one person of a DM; nobody's number for a group."""
    return audience.alone if audience.alone is not None else -1


def _dialogue(row: tuple[Any, ...]) -> Dialogue:
    number, session, chat, summary, started, ended, names, tier, talks, own = row
    return Dialogue(
        int(number), int(session or 0), int(chat), str(summary), int(started), int(ended), tuple(json.loads(names)),
        tier, int(talks), bool(own),
    )  # fmt: skip


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
        retell(db, again[0])
        return True
    _tell(db, digested, at)
    for memory in digest.memories:
        store_memory(db, memory, at, digested.merging)
    for commitment in digest.commitments:
        store_commitment(db, commitment, at)
    return True


def _tell(db: sqlite3.Connection, digested: Digested, at: int) -> None:
    """Verb part: the talk's row; what somebody cleared from dialogue memory before it was digested tells nothing."""
    session, digest = digested.session, digested.digest
    (cleared,) = db.execute("SELECT talks_cleared FROM chat WHERE id = ?", (session.chat_id,)).fetchone()
    number = db.execute(
        "INSERT INTO digest (session_id, chat_id, owner_id, summary, made_by, names, started_at, ended_at, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session.id, session.chat_id, digested.owner_id, digest.summary if session.last_at > cleared else "", digest.by,
         json.dumps(digested.names, ensure_ascii=False), session.opened_at, session.last_at, at),
    ).lastrowid  # fmt: skip
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('digest', ?, ?)",
        [(number, event) for event in digested.event_ids],
    )
    db.executemany(
        "INSERT OR IGNORE INTO talker (digest_id, person_id) SELECT ?, person_id FROM event WHERE id = ? "
        "AND kind = 'message' AND person_id IS NOT NULL",
        [(number, event) for event in digested.event_ids],
    )
    index_digest(db, cast("int", number))
