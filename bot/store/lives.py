"""The life of memories: what tidying archives and counts down, and what their owners protect or bring back."""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.current import come_true, one_current
from bot.store.database import Repository
from bot.store.documents import forget_terms
from bot.store.indexing import index_memory
from bot.store.memories import visible
from bot.store.rows import IS_NAME, MEMORY, NAME_SLOT, memory_of
from bot.types.memory import FADED, MOST_IMPORTANCE, Memory, Older, Reread
from bot.types.people import Audience

BATCH = 200
"""Rows of an older nuan that are read again at a time."""

OLDER = """coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'reread'), 0)"""
"""The highest number of a memory that is still to be read by the rules of today; 0 when none is."""

ZONED = """SELECT memory.id, timezone FROM memory JOIN chat ON chat.id = memory.chat_id AND chat.kind = 'dm'
    JOIN person ON person.id = owner_id WHERE memory.id = ?"""

STANDING = """SELECT text, at FROM edge JOIN event ON event.id = event_id
    WHERE edge.kind = 'memory' AND derived_id = ? AND event.kind = 'message' AND hidden = '' AND text <> ''
    ORDER BY event.id"""


@dataclass(frozen=True, slots=True)
class Household:
    """Memories that are limited together: one person's, or what nobody owns in one chat."""

    owner_id: int | None
    chat_id: int


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What tidying makes of some memories: (number, new count), and the numbers of what is archived till `purge_at`."""

    counts: tuple[tuple[int, int], ...]
    archived: tuple[int, ...]
    purge_at: int


class Lives(Repository):
    """Memories as time and their owners change them."""

    async def households(self) -> tuple[Household, ...]:
        """Everybody with memories that tidying may touch. It tells nobody anything: no audience is asked."""
        rows = await self._database.rows(
            "SELECT DISTINCT owner_id, CASE WHEN owner_id IS NULL THEN chat_id ELSE 0 END FROM memory "
            f"WHERE disabled_at IS NULL AND asked = 0 AND protected = 0 AND NOT {IS_NAME}"
        )
        return tuple(Household(row[0], int(row[1])) for row in rows)

    async def of(self, household: Household) -> tuple[tuple[Memory, int], ...]:
        """Their active memories, each with when its count was last looked at, ms; for tidying only."""
        rows = await self._database.rows(
            MEMORY.replace(" FROM memory ", ", decayed_at FROM memory ")
            + f"WHERE disabled_at IS NULL AND NOT {IS_NAME} AND owner_id IS ?1 AND (?1 IS NOT NULL OR chat_id = ?2)",
            (household.owner_id, household.chat_id),
        )
        return tuple((memory_of(row[:-1]), int(row[-1])) for row in rows)

    async def keep_up(self, upkeep: Upkeep, at: int) -> None:
        """Carry it out in one commit; what was asked for, protected or forgotten meanwhile stays as it is."""
        await self._database.write(lambda db: keep_up(db, upkeep, at))

    async def older(self) -> tuple[Older, ...]:
        """Some memories that an older nuan stored and that were not read again yet, the newest first."""
        return await self._database.read(older)

    async def reread(self, done: tuple[Older, ...], found: tuple[Reread, ...]) -> None:
        """These were read again, and this is what changed; in one commit."""
        await self._database.write(lambda db: reread(db, done, found))

    async def due(self, now: int) -> bool:
        """Whether it is time to tidy."""
        row = await self._database.row("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'life_at'")
        return row is None or int(row[0]) <= now

    async def come_true(self, now: int) -> int:
        """What was dated ahead takes the place of what it names once its day has come; how many are former."""
        return await self._database.write(lambda db: come_true(db, now))

    async def done(self, merged_before: int, now: int, next_at: int) -> None:
        """The tidying is done till `next_at`; what was merged or replaced before `merged_before` (ms) goes for good."""
        await self._database.write(lambda db: done(db, merged_before, now, next_at))

    async def archived(self, owner_id: int, audience: Audience) -> tuple[Memory, ...]:
        """What of a person's memories is archived, as far as this audience may see it, newest first."""
        where, params = visible(audience)
        rows = await self._database.rows(
            MEMORY + f"WHERE disabled_reason = 'archived' AND owner_id = ? AND {where} "
            "ORDER BY disabled_at DESC, id DESC",
            (owner_id, *params),
        )
        return tuple(memory_of(row) for row in rows)

    async def protect(self, memory: Memory, on: bool) -> None:
        """Keep it from tidying, limits and merges, or no longer."""
        sql = "UPDATE memory SET protected = ? WHERE id = ?"
        await self._database.write(lambda db: db.execute(sql, (int(on), memory.id)).rowcount)

    async def fade(self, memory: Memory) -> None:
        """A tenth of its vitality is left, whatever time it is; being recalled brings it back little by little."""
        sql = "UPDATE memory SET faded = faded * ? WHERE id = ?"
        await self._database.write(lambda db: db.execute(sql, (FADED, memory.id)).rowcount)

    async def archive(self, memory: Memory, purge_at: int, at: int) -> None:
        """Out of recall and openings; its row goes at `purge_at`, ms."""
        await self._database.write(lambda db: archive(db, memory.id, purge_at, at))

    async def restore(self, memory: Memory, at: int) -> bool:
        """Back from the archive, as fresh as if it had been recalled; False when it is not there any more."""
        return await self._database.write(lambda db: restore(db, memory.id, at))


def keep_up(db: sqlite3.Connection, upkeep: Upkeep, at: int) -> None:
    """Verb: counts fall and memories are archived; neither changes when something happened, or in which order."""
    free = "disabled_at IS NULL AND asked = 0 AND protected = 0"
    db.executemany(
        f"UPDATE memory SET importance = min(importance, ?), decayed_at = ? WHERE id = ? AND {free}",
        [(count, at, number) for number, count in upkeep.counts],
    )
    for number in upkeep.archived:
        if db.execute(f"SELECT 1 FROM memory WHERE id = ? AND {free}", (number,)).fetchone():
            archive(db, number, upkeep.purge_at, at)


def older(db: sqlite3.Connection) -> tuple[Older, ...]:
    """Verb part: as `Lives.older`."""
    sql = f"{MEMORY}WHERE id <= {OLDER} AND disabled_at IS NULL ORDER BY id DESC LIMIT {BATCH}"
    memories = [memory_of(row) for row in db.execute(sql)]
    return tuple(
        Older(
            memory, tuple((str(text), int(at)) for text, at in db.execute(STANDING, (memory.id,))),
            str((db.execute(ZONED, (memory.id,)).fetchone() or (0, ""))[1]),
        )
        for memory in memories
    )  # fmt: skip


def reread(db: sqlite3.Connection, done: tuple[Older, ...], found: tuple[Reread, ...]) -> None:
    """Verb: older memories are as found, as far as nobody changed them meanwhile; the next are older than these."""
    for one in found:
        db.execute(
            "UPDATE memory SET lasting = max(lasting, ?1), observed_at = iif(access_count = 0, ?2, observed_at), "
            "dated = iif(access_count = 0 AND dated = '' AND observed_at <> ?2, 'day', dated) "
            "WHERE id = ?3 AND disabled_at IS NULL",
            (one.lasting, one.observed_at, one.number),
        )
        index_memory(db, one.number)
    if len(done) < BATCH:
        db.execute("DELETE FROM meta WHERE key = 'reread'")
    else:
        db.execute("UPDATE meta SET value = ? WHERE key = 'reread'", (str(done[-1].memory.id - 1),))


def archive(db: sqlite3.Connection, number: int, purge_at: int, at: int) -> None:
    """Verb part: an active memory is put away."""
    if db.execute(
        "UPDATE memory SET disabled_at = ?, disabled_reason = 'archived', purge_at = ? WHERE id = ? "
        "AND disabled_at IS NULL",
        (at, purge_at, number),
    ).rowcount:
        index_memory(db, number)


def restore(db: sqlite3.Connection, number: int, at: int) -> bool:
    """Verb: active again, unless the same was told anew meanwhile: that one then counts for both."""
    row = db.execute(
        f"SELECT owner_id, folded, visibility, {NAME_SLOT}, chat_id FROM memory WHERE id = ? "
        "AND disabled_reason = 'archived'",
        (number,),
    ).fetchone()
    if row is None:
        return False
    same = db.execute(
        f"SELECT id FROM memory WHERE owner_id IS ? AND folded = ? AND visibility = ? AND {NAME_SLOT} = ? "
        "AND disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?)",
        row,
    ).fetchone()
    if same is not None:
        db.execute("UPDATE memory SET importance = min(?, importance + 1) WHERE id = ?", (MOST_IMPORTANCE, same[0]))
        db.execute("UPDATE memory SET disabled_reason = 'replaced', purge_at = NULL WHERE id = ?", (number,))
        return True
    db.execute(
        "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, accessed_at = ?, faded = 1 "
        "WHERE id = ?",
        (at, number),
    )
    index_memory(db, number)
    one_current(db, row[0])
    return True


def done(db: sqlite3.Connection, merged_before: int, now: int, next_at: int) -> None:
    """Verb: old merges and names that others took the place of are settled for good, the index is one part again, and
    the next time is set.

    One part is searched three times as fast as many; where nothing was written since, making it is free (measured).
    """
    forget_terms(db)
    db.execute(
        "UPDATE memory SET purge_at = ? WHERE disabled_reason IN ('merged', 'replaced') AND purge_at IS NULL "
        "AND disabled_at < ?",
        (now, merged_before),
    )
    old = [cast("int", row[0]) for row in db.execute("SELECT id FROM merged WHERE at < ?", (merged_before,))]
    db.executemany(
        "DELETE FROM edge WHERE kind IN ('merge', 'proof') AND derived_id = ?", [(number,) for number in old]
    )
    db.executemany("DELETE FROM merged WHERE id = ?", [(number,) for number in old])
    db.execute(
        "INSERT INTO meta (key, value) VALUES ('life_at', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
        (str(next_at),),
    )
