"""What was forgotten or deleted after a copy was made is forgotten in the copy, too. It puts no copy in its place."""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.errors import StoreError
from bot.store.forgetting import Forgetting, disable, hide, logs_of, undigest
from bot.store.indexing import index_memory
from bot.store.overtaken import Overtaken, bury_plans, overtake
from bot.store.purging import purge
from bot.store.rolled import retell
from bot.store.rows import MEMORY, memory_of
from bot.store.sessions import drop_log
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf

_COUNTED = ("memory", "event", "outbox", "digest", "commitment", "reminder", "note_chunk")
"""Tables whose numbers are never given twice, not by a way back either."""


@dataclass(frozen=True, slots=True)
class Since:
    """What the present database no longer tells: lines, memories and summaries that are left, and the last numbers."""

    house: str
    hidden: frozenset[int]
    memories: frozenset[int]
    active: frozenset[int]
    digests: frozenset[int]
    last: tuple[tuple[str, int], ...]
    overtaken: Overtaken | None = None

    @staticmethod
    def of(db: sqlite3.Connection) -> "Since":
        """Read it; sqlite3.Error when the file cannot be read."""

        def numbers(sql: str) -> frozenset[int]:
            return frozenset(cast("int", row[0]) for row in db.execute(sql))

        house = db.execute("SELECT value FROM meta WHERE key = 'house'").fetchone()
        return Since(
            str(house[0]) if house else "",
            numbers("SELECT id FROM event WHERE hidden IN ('forgotten', 'deleted')"),
            # A name that was replaced was not forgotten, and what was archived is only put away.
            numbers("SELECT id FROM memory WHERE disabled_at IS NULL OR disabled_reason IN ('replaced', 'archived')"),
            numbers("SELECT id FROM memory WHERE disabled_at IS NULL"),
            numbers("SELECT id FROM digest WHERE session_id IS NOT NULL AND summary <> ''"),
            tuple((str(name), cast("int", seq)) for name, seq in db.execute("SELECT name, seq FROM sqlite_sequence")),
            _overtaken(db),
        )


def _overtaken(db: sqlite3.Connection) -> Overtaken | None:
    try:
        return Overtaken.of(db)
    except sqlite3.Error:  # of a schema before these tables
        return None


def forget_again(
    db: sqlite3.Connection, since: Since | None, tombstones: Tombstones, at: int, shelf: Shelf
) -> int:  # fmt: skip
    """Verb: forget by tombstone (number or text) and by what the present database no longer tells; how many memories.

    StoreError when the copy is of another house.
    """
    if since is not None:
        _same_house(db, since)
        _hide(db, since, at)
        _undone(db, since)
        _talks(db, since)
    gone = 0
    seqs = dict(since.last) if since is not None else {}
    if since is not None and since.overtaken is not None:
        overtake(db, since.overtaken, seqs, at)
    bury_plans(db, tombstones, at)
    last = max(seqs.get("memory", 0), tombstones.last)
    for row in db.execute(f"{MEMORY}WHERE disabled_at IS NULL ORDER BY memory.id").fetchall():
        memory = memory_of(tuple(row))
        ended = since is not None and memory.id <= last and memory.id not in since.memories
        buried = tombstones.covers_number(memory.id) or any(map(tombstones.covers, memory.wordings))
        # Of what two people said alike one may have forgotten theirs: the other's is still there today.
        if ended or (buried and (since is None or memory.id not in since.active)):
            disable(db, Forgetting((memory,), memory.owner_id or 0, None), memory.chat_id, at, shelf)
            gone += 1
    # Nothing that was forgotten before the copy was made is kept for undo any longer than its time.
    purge(db, at)
    for name in _COUNTED:
        most = max(seqs.get(name, 0), tombstones.last if name == "memory" else 0)
        db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (most, name))
    return gone


def _talks(db: sqlite3.Connection, since: Since) -> None:
    """Talks of which the present database tells nothing: forgotten ones are emptied, cleared and old ones with them."""
    last = dict(since.last).get("digest", 0)
    for (number,) in db.execute("SELECT id FROM digest WHERE session_id IS NOT NULL AND summary <> ''").fetchall():
        if number <= last and number not in since.digests:
            db.execute("UPDATE digest SET summary = '' WHERE id = ?", (number,))
            retell(db, number)


def _undone(db: sqlite3.Connection, since: Since) -> None:
    """What was forgotten when the copy was made and taken back since is not purged with its time."""
    rows = db.execute("SELECT id FROM memory WHERE disabled_reason IN ('asked', 'derived')").fetchall()
    for number in {cast("int", row[0]) for row in rows} & since.active:
        db.execute(
            "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL WHERE id = ?", (number,)
        )
        index_memory(db, number)


def _same_house(db: sqlite3.Connection, since: Since) -> None:
    row = db.execute("SELECT value FROM meta WHERE key = 'house'").fetchone()
    if since.house and row is not None and row[0] != since.house:
        raise StoreError("the backup is of another house: nothing was changed")


def _hide(db: sqlite3.Connection, since: Since, at: int) -> None:
    """Lines that were forgotten or deleted, with the logs and summaries that tell of them."""
    told = {cast("int", row[0]) for row in db.execute("SELECT id FROM event WHERE hidden = ''")} & since.hidden
    for epoch_id in logs_of(db, told):
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (epoch_id,))
        drop_log(db, epoch_id)
    undigest(db, told, at)
    hide(db, told, "forgotten")
