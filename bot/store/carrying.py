"""All memories, summaries and notes of a house, or one person's, as an export has them. importing.py writes them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from bot.store.access import Lists
from bot.store.carriednotes import ACCOUNTS, MADE, Readers, Shelved, owners_of, read_notes, write_notes
from bot.store.carriedpeople import COLUMNS, Named
from bot.store.database import Database
from bot.store.importing import Tell, carry_out
from bot.store.reader import Row
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf
from bot.types.carried import (
    Carried,
    CarriedMemory,
    CarriedMerge,
    Here,
    Plan,
)

ARCHIVED = "CASE WHEN disabled_reason = 'archived' THEN disabled_at ELSE 0 END"
"""When a memory was put away; one that was forgotten has another reason."""

LEFT_BEHIND = (
    "owner_id", "chat_id", "folded", "disabled_at", "disabled_reason", "purge_at",
)  # fmt: skip
"""Its other columns: a house's own numbers, what is made from the text, and the state of what is not exported."""

_MERGES = (
    "SELECT memory_id, at, how, before, before_observed_at, said, kind, source, observed_at, coalesce(undone_at, 0) "
    "FROM merged ORDER BY id"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A line that a memory was made from; its text is "" once it was forgotten or deleted."""

    event_id: int
    at: int
    chat: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Whole:
    """One memory with its lines; without `memory` it is no more (`ended`: forgotten, replaced …), or of nobody."""

    number: int
    memory: CarriedMemory | None
    ended: str = ""
    ended_at: int | None = None
    undo_until: int | None = None
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Export:
    """What can be exported, and how many memories are not: `forgotten` or replaced, or `astray`, of nobody known.

    `files` are notes that are for nobody or cannot be read.
    """

    here: Here
    forgotten: int
    astray: int
    files: int = 0


class Carrying:
    """Memories on their way out and in."""

    def __init__(self, database: Database, tombstones: Tombstones, shelf: Shelf, lists: Lists) -> None:
        self._database = database
        self._tombstones = tombstones
        self._shelf = shelf
        self._lists = lists

    async def export(self, person_id: int | None = None, exported_at: int = 0) -> Export:
        """Everything that is remembered, or only what one person owns, all of one moment.

        What was forgotten or replaced is not read at all, though its row may be kept for undo.
        """
        own = "" if person_id is None else " AND owner_id = ?"
        params = () if person_id is None else (person_id,)
        others = await self._others()
        columns = ", ".join((*(f"memory.{name}" for name in (*COLUMNS, *others)), ARCHIVED))
        kept = "(disabled_at IS NULL OR disabled_reason = 'archived')"
        people, accounts, chats, memories, digests, dms, rest, counts, merges = await self._database.snapshot(
            ("SELECT id, name, script, timezone, is_bot FROM person", ()),
            ("SELECT person_id, platform || ':' || external_id FROM account ORDER BY 2", ()),
            ("SELECT chat.id, kind, title, platform || ':' || external_id FROM chat JOIN place ON chat_id = chat.id "
             "ORDER BY chat.id, current DESC, 4", ()),
            (f"SELECT owner_id, chat_id, {columns} FROM memory WHERE {kept}{own} ORDER BY id", params),
            ("SELECT owner_id, chat_id, id, summary, made_by, names, started_at, ended_at, created_at, tier FROM "
             f"digest WHERE summary <> '' AND session_id IS NOT NULL{own} ORDER BY id", params),
            ("SELECT person_id, chat_id FROM member JOIN chat ON chat.id = chat_id WHERE kind = 'dm' "
             "ORDER BY seen_at, chat_id", ()),
            ("SELECT (SELECT value FROM meta WHERE key = 'house'), (SELECT seq FROM sqlite_sequence WHERE name = "
             "'memory')", ()),
            (f"SELECT count(*) FROM memory WHERE NOT {kept} AND disabled_reason <> 'merged'{own}", params),
            (_MERGES, ()),
        )  # fmt: skip
        names = Named(people, accounts, chats, self._merges(merges))
        found = [memory for row in memories if (memory := names.memory(row, others)) is not None]
        summaries = [summary for row in digests if (summary := names.summary(row)) is not None]
        whole = person_id is None
        shelved, owner_accounts, by_chat = await self._notes(names, dms)
        account = "" if whole else names.account(person_id)
        notes = tuple(note for note in shelved.notes if whole or note.owners == (account,))
        owners = {memory.owner for memory in found} | {each.owner for each in summaries}
        owners |= {owner for note in notes for owner in note.owners}
        places = {memory.chat for memory in found} | {each.chat for each in summaries} | {note.chat for note in notes}
        house, last = rest[0]
        carried = Carried(
            str(house or ""), exported_at,
            tuple(person for person in names.people if person.accounts[0] in owners),
            tuple(chat for chat in names.chats if chat.places[0] in places), tuple(found), tuple(summaries),
            notes,
        )  # fmt: skip
        own_chats = names.dms(dms) if whole else ()
        here = Here(carried, int(last or 0), own_chats, by_chat, owner_accounts, shelved.files)
        return Export(here, int(counts[0][0]), len(memories) - len(found), shelved.astray if whole else 0)

    async def _notes(
        self, names: Named, dms: list[Row]
    ) -> tuple[Shelved, tuple[tuple[str, ...], ...], tuple[tuple[str, str], ...]]:
        """The notes, the accounts of each owner, and of every direct chat whose it is."""
        accounts, made = await self._database.snapshot((ACCOUNTS, ()), (MADE, ()))
        owners = owners_of(accounts, self._lists.owners)
        whose = names.whose(dms)
        indexed = {str(path): cast("int", chat) for path, chat in made}
        readers = Readers(names.places, whose, owners, indexed)
        shelved = await asyncio.to_thread(read_notes, self._shelf.files, readers, self._tombstones.covers)
        return shelved, owners, tuple(sorted(whose.items()))

    def _merges(self, rows: list[Row]) -> dict[int, tuple[CarriedMerge, ...]]:
        """What was merged into each memory, without what was forgotten."""
        found: dict[int, tuple[CarriedMerge, ...]] = {}
        for number, *values in rows:
            merge = CarriedMerge(*values)
            if not self._tombstones.covers(merge.before) and not self._tombstones.covers(merge.said):
                found[number] = (*found.get(number, ()), merge)
        return found

    async def _others(self) -> Mapping[str, object]:
        """The columns of the table that are not named here, with their defaults: nothing is lost that comes later."""
        rows = await self._database.rows("SELECT name, dflt_value FROM pragma_table_info('memory')")
        named = {*COLUMNS, *LEFT_BEHIND}
        return {str(name): _default(value) for name, value in rows if name not in named}

    async def here(self) -> Here:
        """What an import is compared with: all of it, and everybody, also who has no memory yet."""
        people, accounts, chats = await self._database.snapshot(
            ("SELECT id, name, script, timezone, is_bot FROM person", ()),
            ("SELECT person_id, platform || ':' || external_id FROM account ORDER BY 2", ()),
            ("SELECT chat.id, kind, title, platform || ':' || external_id FROM chat JOIN place ON chat_id = chat.id "
             "ORDER BY chat.id, current DESC, 4", ()),
        )  # fmt: skip
        names = Named(people, accounts, chats)
        found = (await self.export()).here
        carried = Carried(
            found.carried.house, 0, names.people, names.chats, found.carried.memories, found.carried.summaries,
            found.carried.notes,
        )  # fmt: skip
        return replace(found, carried=carried)

    async def whole(self, number: int) -> Whole | None:
        """One memory and where it comes from; None when no memory has that number (any more)."""
        row = await self._database.row(
            f"SELECT disabled_reason, nullif(disabled_at, {ARCHIVED}), purge_at, owner_id FROM memory WHERE id = ?",
            (number,),
        )
        if row is None:
            return None
        ended, ended_at, until, owner = row
        if ended_at is not None:
            return Whole(number, None, "forgotten" if ended in ("asked", "derived") else str(ended), ended_at, until)
        found = (await self.export(owner)).here.carried.memories
        lines = await self._database.rows(
            "SELECT event.id, at, (SELECT platform || ':' || external_id FROM place WHERE place.chat_id = "
            "event.chat_id AND current = 1), name, CASE hidden WHEN '' THEN text ELSE '' END FROM edge JOIN event "
            "ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? ORDER BY event.id",
            (number,),
        )
        memory = next((memory for memory in found if memory.id == number), None)
        return Whole(number, memory, sources=tuple(Source(*line) for line in lines))

    async def bring_in(
        self, plan: Plan, at: int, forget_until: int | None = None, tell: Tell = lambda *_: None
    ) -> None:  # fmt: skip
        """Carry the plan out in one transaction: after a crash all of it is there, or nothing.

        Then its notes are written.

        With `forget_until` (ms, when undo ends) what the file holds no more is forgotten, first in the tombstones.
        """
        gone = plan.forget if forget_until is not None else ()
        if gone:
            self._tombstones.bury_all(
                [(each.id, text) for each in gone for text in (each.text, each.original) if text], at
            )
        await self._database.write(lambda db: carry_out(db, plan, at, forget_until, self._shelf, tell))
        if gone:
            await self._database.truncate()
        if plan.new_notes:
            await self._database.write(lambda db: write_notes(db, self._shelf.files, plan.new_notes))


def _default(value: str | None) -> object:
    """A default as the schema has it: a number, or a text in quotes."""
    if value is None:
        return None
    return value.strip("'") if value.startswith("'") else float(value)
