"""All memories and summaries of a house, or one person's, as an export carries them. It reads; importing.py writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import cast, get_args

from bot.store.database import Database, Row
from bot.store.importing import carry_out
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf
from bot.types import memory as words
from bot.types.carried import (
    Carried,
    CarriedChat,
    CarriedMemory,
    CarriedPerson,
    CarriedSummary,
    Here,
    Plan,
)
from bot.types.event import ChatKind

_OTHERWISE = ("owner", "chat", "archived_at", "more")
COLUMNS = tuple(field.name for field in fields(CarriedMemory) if field.name not in _OTHERWISE)
"""Of the table memory, as they are; the person and the chat go as platform ids, columns that are not named as more."""
ARCHIVED = "CASE WHEN disabled_reason = 'archived' THEN disabled_at ELSE 0 END"
"""When a memory was put away; one that was forgotten has another reason."""

LEFT_BEHIND = (
    "owner_id", "chat_id", "folded", "disabled_at", "disabled_reason", "purge_at",
)  # fmt: skip
"""Its other columns: a house's own numbers, what is made from the text, and the state of what is not exported."""

_KNOWN = {"visibility": words.Visibility, "kind": words.MemoryKind, "slot": words.Slot, "source": words.Source}
_FLAGS = ("asked", "protected")


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
    """What can be exported, and how many memories are not: `forgotten` or replaced, or `astray`, of nobody known."""

    here: Here
    forgotten: int
    astray: int


class Carrying:
    """Memories on their way out and in."""

    def __init__(self, database: Database, tombstones: Tombstones, shelf: Shelf) -> None:
        self._database = database
        self._tombstones = tombstones
        self._shelf = shelf

    async def export(self, person_id: int | None = None, exported_at: int = 0) -> Export:
        """Everything that is remembered, or only what one person owns, all of one moment.

        What was forgotten or replaced is not read at all, though its row may be kept for undo.
        """
        own = "" if person_id is None else " AND owner_id = ?"
        params = () if person_id is None else (person_id,)
        others = await self._others()
        columns = ", ".join((*(f"memory.{name}" for name in (*COLUMNS, *others)), ARCHIVED))
        kept = "(disabled_at IS NULL OR disabled_reason = 'archived')"
        people, accounts, chats, memories, digests, dms, rest, counts = await self._database.snapshot(
            ("SELECT id, name, script, timezone, is_bot FROM person", ()),
            ("SELECT person_id, platform || ':' || external_id FROM account ORDER BY 2", ()),
            ("SELECT chat.id, kind, title, platform || ':' || external_id FROM chat JOIN place ON chat_id = chat.id "
             "ORDER BY chat.id, current DESC, 4", ()),
            (f"SELECT owner_id, chat_id, {columns} FROM memory WHERE {kept}{own} ORDER BY id", params),
            ("SELECT owner_id, chat_id, id, summary, made_by, names, started_at, ended_at, created_at, tier FROM "
             f"digest WHERE summary <> ''{own} ORDER BY id", params),
            ("SELECT person_id, chat_id FROM member JOIN chat ON chat.id = chat_id WHERE kind = 'dm' "
             "ORDER BY seen_at, chat_id", ()),
            ("SELECT (SELECT value FROM meta WHERE key = 'house'), (SELECT seq FROM sqlite_sequence WHERE name = "
             "'memory')", ()),
            (f"SELECT count(*) FROM memory WHERE NOT {kept}{own}", params),
        )  # fmt: skip
        names = _People(people, accounts, chats)
        found = [memory for row in memories if (memory := names.memory(row, others)) is not None]
        summaries = [summary for row in digests if (summary := names.summary(row)) is not None]
        whole = person_id is None
        owners = {memory.owner for memory in found} | {each.owner for each in summaries}
        places = {memory.chat for memory in found} | {each.chat for each in summaries}
        house, last = rest[0]
        carried = Carried(
            str(house or ""), exported_at,
            tuple(person for person in names.people if person.accounts[0] in owners),
            tuple(chat for chat in names.chats if chat.places[0] in places), tuple(found), tuple(summaries),
        )  # fmt: skip
        own_chats = names.dms(dms) if whole else ()
        return Export(Here(carried, int(last or 0), own_chats), int(counts[0][0]), len(memories) - len(found))

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
        names = _People(people, accounts, chats)
        found = (await self.export()).here
        carried = Carried(
            found.carried.house, 0, names.people, names.chats, found.carried.memories, found.carried.summaries
        )
        return Here(carried, found.last, found.dms)

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

    async def bring_in(self, plan: Plan, at: int, forget_until: int | None = None) -> None:
        """Carry the plan out in one transaction: after a crash all of it is there, or nothing.

        With `forget_until` (ms, when undo ends) what the file holds no more is forgotten, first in the tombstones.
        """
        gone = plan.forget if forget_until is not None else ()
        for memory in gone:
            self._tombstones.bury(memory.id, memory.text, at)
        await self._database.write(lambda db: carry_out(db, plan, at, forget_until, self._shelf))
        if gone:
            await self._database.truncate()


class _People:
    """Who and where the numbers of a house are, in platform ids."""

    def __init__(self, people: list[Row], accounts: list[Row], chats: list[Row]) -> None:
        ids: dict[int, list[str]] = {}
        for number, account in accounts:
            ids.setdefault(number, []).append(account)
        self._people = {
            number: CarriedPerson(tuple(ids[number]), name, script, zone, bool(is_bot))
            for number, name, script, zone, is_bot in people
            if number in ids
        }
        places: dict[int, list[str]] = {}
        kinds: dict[int, tuple[str, str]] = {}
        for number, kind, title, place in chats:
            places.setdefault(number, []).append(place)
            kinds[number] = kind, title
        self._chats = {
            number: CarriedChat(tuple(places[number]), cast("ChatKind", kind), title)
            for number, (kind, title) in kinds.items()
        }
        self.people = tuple(sorted(self._people.values(), key=lambda person: person.accounts))
        self.chats = tuple(sorted(self._chats.values(), key=lambda chat: chat.places))

    def dms(self, rows: list[Row]) -> tuple[tuple[str, str], ...]:
        """Each person's own chat, where they were seen last."""
        found = {
            self._people[person].accounts[0]: self._chats[chat].places[0]
            for person, chat in rows
            if person in self._people and chat in self._chats
        }
        return tuple(found.items())

    def memory(self, row: Row, others: Mapping[str, object]) -> CarriedMemory | None:
        """A memory; None for one whose owner, chat or words are none that there are."""
        where = self._where(row[0], row[1])
        values: dict[str, object] = dict(zip((*COLUMNS, *others, "archived_at"), row[2:], strict=True))
        more = {name: values.pop(name) for name in others}
        values["more"] = tuple(sorted((name, each) for name, each in more.items() if each != others[name]))
        if where is None or any(values[name] not in get_args(kinds) for name, kinds in _KNOWN.items()):
            return None
        values |= {name: bool(values[name]) for name in _FLAGS}
        return _made(values | {"owner": where[0], "chat": where[1]})

    def summary(self, row: Row) -> CarriedSummary | None:
        """A summary; None for one of nobody known."""
        where = self._where(row[0], row[1])
        if where is None:
            return None
        number, summary, by, names, started, ended, created, tier = row[2:]
        return CarriedSummary(
            number, *where, summary, by, tuple(json.loads(names)), started, ended, created, tier
        )  # fmt: skip

    def _where(self, owner_id: int | None, chat_id: int) -> tuple[str, str] | None:
        owner = "" if owner_id is None else self._people[owner_id].accounts[0] if owner_id in self._people else None
        chat = self._chats.get(chat_id)
        return None if owner is None or chat is None else (owner, chat.places[0])


def _default(value: str | None) -> object:
    """A default as the schema has it: a number, or a text in quotes."""
    if value is None:
        return None
    return value.strip("'") if value.startswith("'") else float(value)


def _made(values: Mapping[str, object]) -> CarriedMemory:
    return CarriedMemory(**values)  # type: ignore[arg-type]
