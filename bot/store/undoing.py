"""撤销: what a person last asked of memory, and taking it back. It decides nothing else."""

import sqlite3
from dataclasses import dataclass
from typing import Literal, cast

from bot.store.commitments import drop, settle
from bot.store.current import restore_former
from bot.store.database import Repository
from bot.store.indexing import index_lines, index_memory
from bot.store.keeping import Receipt, answer, done_before
from bot.store.memories import visible
from bot.store.reminding import TEXT, end
from bot.store.rows import MEMORY, marks, memory_of
from bot.types.memory import Memory, Thing
from bot.types.people import Audience

TOGETHER_MS = 10_000
"""What was kept from one message within this time was one wish."""


PlanWish = Literal["set", "cancelled", "promised", "settled", "aside"]


@dataclass(frozen=True, slots=True)
class LastPlan:
    """What somebody last asked of reminders or promises, or of a line (aside): their numbers, and when, ms."""

    kind: PlanWish
    numbers: tuple[int, ...]
    at: int


_PLANS = """SELECT 'set', made_at, id FROM reminder WHERE person_id = ?1 AND ended_at IS NULL AND commitment_id IS NULL
    AND (?2 IS NULL OR chat_id = ?2)
    UNION ALL SELECT 'cancelled', ended_at, id FROM reminder WHERE person_id = ?1 AND outcome = 'cancelled'
    AND due_at > ?3 AND (?2 IS NULL OR chat_id = ?2) AND (commitment_id IS NULL OR EXISTS (
        SELECT 1 FROM commitment WHERE commitment.id = commitment_id AND commitment.ended_at IS NULL))
    UNION ALL SELECT 'promised', made_at, id FROM commitment WHERE owner_id = ?1 AND ended_at IS NULL
    AND source IN ('rule', 'tool') AND (?2 IS NULL OR chat_id = ?2)
    UNION ALL SELECT 'settled', ended_at, id FROM commitment WHERE owner_id = ?1 AND ended_at = updated_at
    AND text <> '' AND (?2 IS NULL OR chat_id = ?2)
    UNION ALL SELECT DISTINCT 'aside', at, event.id FROM edge JOIN event ON event.id = derived_id
    WHERE edge.kind = 'aside' AND person_id = ?1 AND chat_id = ?4"""
"""What can be taken back, oldest or newest first as it is asked for; ?2 is the group, NULL in a DM, ?3 is now."""


_READ_AGAIN = """UPDATE session SET digest_due_at = ?1 WHERE id IN (SELECT digest.session_id FROM edge JOIN digest
    ON digest.id = derived_id WHERE edge.kind = 'digest' AND event_id = ?2)"""


@dataclass(frozen=True, slots=True)
class LastWish:
    """What somebody asked last: to `keep` these memories, or to forget them; `at` is when, ms."""

    keep: bool
    memories: tuple[Memory, ...]
    at: int


def final_key(person_id: int, chat_id: int) -> str:
    """Of the effect that tells when that person last had something forgotten there that cannot come back."""
    return f"final:{person_id}:{chat_id}"


class Undoing(Repository):
    """Reads what can be taken back, and ends reminders."""

    async def last(self, owner_id: int, audience: Audience, since: int, now: int) -> LastWish | None:
        """The last wish of a person that this audience may see; what was kept before `since`, ms, stays."""
        gone, held = await self.forgotten(owner_id, audience, now), await self.told(owner_id, audience, since)
        ended = gone[0].disabled_at or 0 if gone else 0
        kept = max((memory.created_at for memory in held), default=0)
        if gone and ended >= kept:
            return LastWish(False, gone, ended)
        return LastWish(True, held, kept) if held else None

    async def forgotten(self, owner_id: int, audience: Audience, now: int) -> tuple[Memory, ...]:
        """What a person asked to forget last, as far as it is still kept and this audience could see it."""
        where, params = visible(audience, elsewhere=False)
        asked = f"owner_id = ? AND disabled_reason = 'asked' AND purge_at > ? AND {where}"
        rows = await self._database.rows(
            f"{MEMORY}WHERE {asked} AND disabled_at = (SELECT max(disabled_at) FROM memory WHERE {asked}) ORDER BY id",
            (owner_id, now, *params) * 2,
        )
        return tuple(memory_of(tuple(row)) for row in rows)

    async def final(self, owner_id: int, chat_id: int) -> int:
        """When that person last had something forgotten there that cannot come back, ms; 0 for never."""
        row = await self._database.row("SELECT at FROM effect WHERE key = ?", (final_key(owner_id, chat_id),))
        return int(row[0]) if row is not None else 0

    async def told(self, owner_id: int, audience: Audience, since: int) -> tuple[Memory, ...]:
        """The memories of the last message in which a person asked to keep something, not before `since`, ms."""
        where, params = visible(audience, elsewhere=False)
        rows = await self._database.rows(
            self._newest(where), (owner_id, since, *params, owner_id, *params, TOGETHER_MS)
        )  # fmt: skip
        return tuple(memory_of(tuple(row)) for row in rows)

    async def plans(self, person_id: int, chat_id: int, group: int | None, now: int) -> tuple[LastPlan, ...]:
        """What a person asked of reminders, promises and lines that can be taken back, the last wish first."""
        rows = await self._database.rows(f"{_PLANS} ORDER BY 2 DESC, 3", (person_id, group, now, chat_id))
        wishes: dict[tuple[PlanWish, int], list[int]] = {}
        for kind, at, number in rows:
            wishes.setdefault((kind, at), []).append(number)
        return tuple(LastPlan(kind, tuple(numbers), at) for (kind, at), numbers in wishes.items())

    async def take_back(self, wish: LastPlan, owner_id: int, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key."""

        def verb(db: sqlite3.Connection) -> str:
            before = done_before(db, receipt, at)
            if before is not None:
                return before
            _take_back(db, wish, owner_id, at)
            return answer(db, receipt, at)

        return await self._database.write(verb)

    async def texts(self, thing: Thing, numbers: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """What these reminders or promises say, each with its number."""
        table, text = {"reminder": ("reminder", TEXT), "promise": ("commitment", "text")}[thing]
        rows = await self._database.rows(
            f"SELECT id, {text} FROM {table} WHERE id IN ({marks(numbers)}) ORDER BY id", numbers
        )
        return tuple((int(row[0]), str(row[1])) for row in rows)

    async def holds_again(self, number: int, audience: Audience) -> Memory | None:
        """What holds again once this memory is taken back, if it took the place of something and is current."""
        where, params = visible(audience)
        rows = await self._database.rows(
            f"{MEMORY}WHERE replaced_by = ? AND disabled_at IS NULL AND {where} "
            "AND EXISTS (SELECT 1 FROM memory AS new WHERE new.id = ? AND new.replaced_by IS NULL) "
            "ORDER BY max(said_at, created_at) DESC, id DESC LIMIT 1",
            (number, *params, number),
        )
        return memory_of(tuple(rows[0])) if rows else None

    def _newest(self, where: str) -> str:
        """The newest memory that was asked for, and those that came of the same message with it."""
        return (
            "WITH newest AS (SELECT id, created_at AS at FROM memory WHERE owner_id = ? AND disabled_at IS NULL "
            f"AND asked = 1 AND source IN ('command', 'tool') AND created_at >= ? AND {where} "
            "ORDER BY created_at DESC, id DESC LIMIT 1) "
            f"{MEMORY}JOIN newest ON memory.id = newest.id OR (memory.owner_id = ? AND memory.disabled_at IS NULL "
            f"AND memory.asked = 1 AND {where} AND memory.created_at >= newest.at - ? AND EXISTS (SELECT 1 FROM "
            "edge AS one JOIN edge AS two ON one.event_id = two.event_id WHERE one.kind = 'memory' AND "
            "two.kind = 'memory' AND one.derived_id = memory.id AND two.derived_id = newest.id)) ORDER BY memory.id"
        )


def _take_back(db: sqlite3.Connection, wish: LastPlan, owner_id: int, at: int) -> None:
    match wish.kind:
        case "set":
            end(db, wish.numbers, "cancelled", at)
        case "cancelled":
            again = "UPDATE reminder SET ended_at = NULL, outcome = '', made_at = ? WHERE id = ?"
            db.executemany(again, [(at, number) for number in wish.numbers])
        case "promised":
            for number in wish.numbers:
                drop(db, number, owner_id, at)
        case "settled":
            for number in wish.numbers:
                settle(db, number, owner_id, "pending", at)
        case "aside":
            heard = tuple(
                cast("int", row[0])
                for number in wish.numbers
                for row in db.execute("SELECT event_id FROM edge WHERE kind = 'aside' AND derived_id = ?", (number,))
            )
            db.executemany("UPDATE event SET off_record = 0 WHERE id = ?", [(number,) for number in heard])
            db.executemany("DELETE FROM edge WHERE kind = 'aside' AND derived_id = ?", [(n,) for n in wish.numbers])
            index_lines(db, heard)
            db.executemany(_READ_AGAIN, [(at, number) for number in heard])


def restore_replaced(db: sqlite3.Connection, memories: tuple[Memory, ...], at: int) -> tuple[int, ...]:
    """Verb part: what a new way to be called, or a new value, had ended holds again; the numbers of those names."""
    found: list[int] = []
    for memory in memories:
        if not memory.is_name:
            restore_former(db, memory.id)
            continue
        rows = db.execute(
            "SELECT id FROM memory WHERE owner_id IS ? AND slot IN ('address', 'no_address') "
            "AND disabled_reason = 'replaced' "
            "AND disabled_at IN (?, ?)",
            (memory.owner_id, memory.created_at, memory.updated_at),  # when it was said, or brought back
        ).fetchall()
        found += [cast("int", row[0]) for row in rows]
    for number in found:
        db.execute(
            "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = ? WHERE id = ?",
            (at, number),
        )
        index_memory(db, number)
    return tuple(found)
