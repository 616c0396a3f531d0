"""Memories, summaries and notes of an installation as an export has them, and an import carried out."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, fields, replace
from typing import cast, get_args

from bot.core import memories as words
from bot.core.archive import (
    ExportContents,
    ExportedChat,
    ExportedMemory,
    ExportedMerge,
    ExportedPerson,
    ExportedSummary,
    ImportBase,
    ImportPlan,
)
from bot.core.events import ChatKind
from bot.core.sessions import TIERS
from bot.store.engine import Database
from bot.store.index import index_digest, index_memory, sort_memory
from bot.store.notes import (
    SELECT_ACCOUNTS,
    SELECT_MADE_NOTES,
    FoundNotes,
    NoteReaders,
    NoteStorage,
    join_direct_chats,
    owners_of,
    read_notes,
    write_notes,
)
from bot.store.people import AccessLists
from bot.store.schema import placeholders
from bot.store.tombstones import Tombstones
from bot.store.transactions import Row, Tx
from bot.text.fold import fold

_OTHERWISE = ("owner", "chat", "archived_at", "merges", "more")
EXPORTED_COLUMNS = tuple(field.name for field in fields(ExportedMemory) if field.name not in _OTHERWISE)
"""Of the table memory, as they are; the person and the chat go as platform ids, columns that are not named as more."""

_KNOWN = {"visibility": words.Visibility, "kind": words.MemoryKind, "source": words.MemorySource}
_FLAGS = ("asked", "protected")


class PlatformNames:
    """Who and where the numbers of an installation are, in platform ids."""

    def __init__(
        self, people: list[Row], accounts: list[Row], chats: list[Row],
        merges: Mapping[int, tuple[ExportedMerge, ...]] | None = None,
    ) -> None:  # fmt: skip
        self._merges = merges or {}
        ids: dict[int, list[str]] = {}
        for number, account in accounts:
            ids.setdefault(number, []).append(account)
        self._people = {
            number: ExportedPerson(tuple(ids[number]), name, script, zone, bool(is_bot))
            for number, name, script, zone, is_bot in people
            if number in ids
        }
        places: dict[int, list[str]] = {}
        kinds: dict[int, tuple[str, str]] = {}
        for number, kind, title, place in chats:
            places.setdefault(number, []).append(place)
            kinds[number] = kind, title
        self._chats = {
            number: ExportedChat(tuple(places[number]), cast("ChatKind", kind), title)
            for number, (kind, title) in kinds.items()
        }
        self.people = tuple(sorted(self._people.values(), key=lambda person: person.accounts))
        self.chats = tuple(sorted(self._chats.values(), key=lambda chat: chat.places))
        self.places = {number: chat.places[0] for number, chat in self._chats.items()}

    def account(self, number: int | None) -> str:
        """What a person is called in a file, "" for one without an account."""
        return self._people[number].accounts[0] if number in self._people else ""

    def whose(self, rows: list[Row]) -> dict[str, str]:
        """Of every direct chat whose it is: of whoever was seen there last."""
        return {self.places[chat]: self.account(person) for person, chat in rows if chat in self.places}

    def dms(self, rows: list[Row]) -> tuple[tuple[str, str], ...]:
        """Each person's own chat, where they were seen last."""
        found = {
            self._people[person].accounts[0]: self._chats[chat].places[0]
            for person, chat in rows
            if person in self._people and chat in self._chats
        }
        return tuple(found.items())

    def memory(self, row: Row, others: Mapping[str, object]) -> ExportedMemory | None:
        """A memory; None for one whose owner, chat or words are none that there are."""
        where = self._where(row[0], row[1])
        values: dict[str, object] = dict(zip((*EXPORTED_COLUMNS, *others, "archived_at"), row[2:], strict=True))
        more = {name: values.pop(name) for name in others}
        values["more"] = tuple(sorted((name, each) for name, each in more.items() if each != others[name]))
        if where is None or any(values[name] not in get_args(kinds) for name, kinds in _KNOWN.items()):
            return None
        values |= {name: bool(values[name]) for name in _FLAGS}
        merges = self._merges.get(cast("int", values["id"]), ())
        return _made(values | {"owner": where[0], "chat": where[1], "merges": merges})

    def summary(self, row: Row) -> ExportedSummary | None:
        """A summary; None for one of nobody known."""
        where = self._where(row[0], row[1])
        if where is None:
            return None
        number, summary, by, names, started, ended, created, tier = row[2:]
        return ExportedSummary(
            number, *where, summary, by, tuple(json.loads(names)), started, ended, created, tier
        )  # fmt: skip

    def _where(self, owner_id: int | None, chat_id: int) -> tuple[str, str] | None:
        owner = "" if owner_id is None else self._people[owner_id].accounts[0] if owner_id in self._people else None
        chat = self._chats.get(chat_id)
        return None if owner is None or chat is None else (owner, chat.places[0])


def _made(values: Mapping[str, object]) -> ExportedMemory:
    return ExportedMemory(**values)  # type: ignore[arg-type]


CHANGED_COLUMNS = (
    "visibility", "kind", "section", "slot", "text", "asked", "emotion", "emotion_value", "observed_at", "protected",
)  # fmt: skip
"""What a file may change of a memory, besides its chat."""
STORED_COLUMNS = (
    *CHANGED_COLUMNS, "source", "importance", "stability_days", "accessed_at", "access_count", "created_at",
    "updated_at", "original",
)  # fmt: skip
"""What is stored of a new one."""

PROGRESS_STEP = 100
"""Memories after which progress is told."""

_TYPES: dict[type, str] = {int: "INTEGER", float: "REAL", str: "TEXT"}


ImportProgress = Callable[[int, int], None]
"""How many memories are left to bring in, and how many there are in all."""


def carry_out_import(
    db: Tx, plan: ImportPlan, at: int, tell: ImportProgress = lambda *_: None
) -> None:  # fmt: skip
    """One transaction: people and chats, then memories and summaries; what is told from logs is told anew by every open log."""
    _people(db, plan, at)
    _chats(db, plan, at)
    join_direct_chats(db, plan.new_notes, at)
    accounts = _numbers(db, "SELECT platform || ':' || external_id, person_id FROM account")
    places = _numbers(db, "SELECT platform || ':' || external_id, chat_id FROM place")
    more = _others(db)
    new = plan.of("new")
    for count, item in enumerate(new):
        if count % PROGRESS_STEP == 0:
            tell(len(new) - count, len(new))
        memory = item.memory
        _insert(db, memory, (accounts.get(memory.owner), places[memory.chat]), more, at)
    for item in plan.of("changed"):
        assert item.before is not None
        _change(db, item.before, item.memory, places[item.memory.chat], at)
    for summary in plan.summaries:
        _summary(db, summary, accounts.get(summary.owner), places[summary.chat])
    db.execute(
        "UPDATE epoch SET stale = 'memory' WHERE stale = '' AND session_id IN "
        "(SELECT id FROM session WHERE state = 'open')"
    )


def _numbers(db: Tx, sql: str) -> dict[str, int]:
    return {str(key): cast("int", number) for key, number in db.execute(sql)}


def _others(db: Tx) -> dict[str, str]:
    """The columns of this installation that a file may fill by name, with their types: none that only an installation
    can know.
    """
    known = {*STORED_COLUMNS, "id", "owner_id", "chat_id", "folded", "disabled_at", "disabled_reason", "purge_at"}
    rows = db.execute("SELECT name, type FROM pragma_table_info('memory')")
    return {str(name): str(kind) for name, kind in rows if name not in known}


def _people(db: Tx, plan: ImportPlan, at: int) -> None:
    """People as they would be made at their first message: without any right."""
    for person in plan.people:
        number = db.execute(
            "INSERT INTO person (name, script, timezone, is_bot, created_at) VALUES (?, ?, ?, ?, ?)",
            (person.name, person.script, person.timezone, int(person.is_bot), at),
        ).lastrowid
        db.executemany(
            "INSERT INTO account (platform, external_id, person_id, name, created_at) VALUES (?, ?, ?, ?, ?)",
            [(*account.split(":", 1), number, person.name, at) for account in person.accounts],
        )


def _chats(db: Tx, plan: ImportPlan, at: int) -> None:
    for chat in plan.chats:
        number = db.execute(
            "INSERT INTO chat (kind, title, created_at) VALUES (?, ?, ?)", (chat.kind, chat.title, at)
        ).lastrowid
        db.executemany(
            "INSERT INTO place (platform, external_id, chat_id, current) VALUES (?, ?, ?, ?)",
            [(*place.split(":", 1), number, int(place == chat.places[0])) for place in chat.places],
        )


def _insert(
    db: Tx, memory: ExportedMemory, where: tuple[int | None, int], more: dict[str, str], at: int
) -> None:  # fmt: skip
    if memory.slot == "address":
        _end_name(db, memory, where, at)
    values: dict[str, object] = {"owner_id": where[0], "chat_id": where[1], "folded": fold(memory.text)}
    values |= {name: getattr(memory, name) for name in STORED_COLUMNS}
    values |= {name: value for name, value in memory.more if more.get(name) == _TYPES[type(value)]}
    values.pop("replaced_by", None)  # a number of the installation it comes from
    if memory.archived_at:
        values |= {"disabled_at": memory.archived_at, "disabled_reason": "archived"}
    number = db.execute(
        f"INSERT INTO memory ({', '.join(values)}) VALUES ({placeholders(values)})", tuple(values.values())
    ).lastrowid
    db.executemany(
        "INSERT INTO merged (memory_id, at, how, before, before_observed_at, said, kind, source, "
        "observed_at, undone_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))",
        [(number, *astuple(merge)) for merge in memory.merges],
    )
    if not memory.section:
        sort_memory(db, cast("int", number))
    index_memory(db, cast("int", number))


def _end_name(db: Tx, memory: ExportedMemory, where: tuple[int | None, int], at: int) -> None:
    """The file's name for somebody is the newer one: the former ends."""
    former = db.execute(
        "SELECT id FROM memory WHERE owner_id IS ? AND visibility = ? AND slot = 'address' AND disabled_at IS NULL "
        "AND (visibility <> 'chat' OR chat_id = ?)",
        (where[0], memory.visibility, where[1]),
    ).fetchall()
    for (number,) in former:
        db.execute("UPDATE memory SET disabled_at = ?, disabled_reason = 'replaced' WHERE id = ?", (at, number))
        index_memory(db, number)


def _change(db: Tx, before: ExportedMemory, memory: ExportedMemory, chat_id: int, at: int) -> None:
    sets = ", ".join(f"{name} = ?" for name in CHANGED_COLUMNS)
    db.execute(
        f"UPDATE memory SET chat_id = ?, folded = ?, updated_at = ?, {sets} WHERE id = ?",
        (chat_id, fold(memory.text), at, *(getattr(memory, name) for name in CHANGED_COLUMNS), before.id),
    )
    index_memory(db, before.id)


def _summary(db: Tx, summary: ExportedSummary, owner_id: int | None, chat_id: int) -> None:
    """A summary hangs on a conversation: a closed one without a line of its own."""
    session = db.execute(
        "INSERT INTO session (chat_id, number, state, opened_at, last_at, close_at, close_reason, closed_at, "
        "from_event, upto_event, open_reason) SELECT ?1, coalesce(max(number), 0) + 1, 'closed', ?2, ?3, ?3, 'import', "
        "?3, 0, 0, 'import' FROM session WHERE chat_id = ?1",
        (chat_id, summary.started_at, summary.ended_at),
    ).lastrowid
    number = db.execute(
        "INSERT INTO digest (session_id, chat_id, owner_id, summary, tier, made_by, names, started_at, ended_at, "
        "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session, chat_id, owner_id, summary.summary, summary.tier if summary.tier in TIERS else "raw", summary.made_by,
         json.dumps(summary.names, ensure_ascii=False), summary.started_at, summary.ended_at, summary.created_at),
    ).lastrowid  # fmt: skip
    index_digest(db, cast("int", number))


ARCHIVED = "CASE WHEN disabled_reason = 'archived' THEN disabled_at ELSE 0 END"
"""When a memory was put away; one that was forgotten has another reason."""

LEFT_BEHIND = (
    "owner_id", "chat_id", "folded", "disabled_at", "disabled_reason", "purge_at",
)  # fmt: skip
"""Its other columns: an installation's own numbers, what is made from the text, and the state of what is not
exported.
"""

_MERGES = (
    "SELECT memory_id, at, how, before, before_observed_at, said, kind, source, observed_at, coalesce(undone_at, 0) "
    "FROM merged ORDER BY id"
)


@dataclass(frozen=True, slots=True)
class ExportedLine:
    """A line that a memory was made from; its text is "" once it was forgotten or deleted."""

    event_id: int
    at: int
    chat: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryWithLines:
    """One memory with its lines; without `memory` it is no more (`ended`: forgotten, replaced …), or of nobody."""

    number: int
    memory: ExportedMemory | None
    ended: str = ""
    ended_at: int | None = None
    undo_until: int | None = None
    sources: tuple[ExportedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Export:
    """What can be exported, and how many memories are not: `forgotten` or replaced, or `astray`, of nobody known.

    `files` are notes that are for nobody or cannot be read.
    """

    here: ImportBase
    forgotten: int
    astray: int
    files: int = 0


class MemoryArchive:
    """Memories on their way out and in."""

    def __init__(
        self, database: Database, tombstones: Tombstones, note_storage: NoteStorage, lists: AccessLists
    ) -> None:
        self._database = database
        self._tombstones = tombstones
        self._note_storage = note_storage
        self._lists = lists

    async def export(self, person_id: int | None = None, exported_at: int = 0) -> Export:
        """Everything that is remembered, or only what one person owns, all of one moment.

        What was forgotten or replaced is not read at all, though its row may be kept for undo.
        """
        own = "" if person_id is None else " AND owner_id = ?"
        params = () if person_id is None else (person_id,)
        others = await self._others()
        columns = ", ".join((*(f"memory.{name}" for name in (*EXPORTED_COLUMNS, *others)), ARCHIVED))
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
        names = PlatformNames(people, accounts, chats, self._merges(merges))
        found = [memory for row in memories if (memory := names.memory(row, others)) is not None]
        summaries = [summary for row in digests if (summary := names.summary(row)) is not None]
        whole = person_id is None
        on_disk, owner_accounts, by_chat = await self._notes(names, dms)
        account = "" if whole else names.account(person_id)
        notes = tuple(note for note in on_disk.notes if whole or note.owners == (account,))
        owners = {memory.owner for memory in found} | {each.owner for each in summaries}
        owners |= {owner for note in notes for owner in note.owners}
        places = {memory.chat for memory in found} | {each.chat for each in summaries} | {note.chat for note in notes}
        house, last = rest[0]
        carried = ExportContents(
            str(house or ""), exported_at,
            tuple(person for person in names.people if person.accounts[0] in owners),
            tuple(chat for chat in names.chats if chat.places[0] in places), tuple(found), tuple(summaries),
            notes,
        )  # fmt: skip
        own_chats = names.dms(dms) if whole else ()
        here = ImportBase(carried, int(last or 0), own_chats, by_chat, owner_accounts, on_disk.files)
        return Export(here, int(counts[0][0]), len(memories) - len(found), on_disk.astray if whole else 0)

    async def _notes(
        self, names: PlatformNames, dms: list[Row]
    ) -> tuple[FoundNotes, tuple[tuple[str, ...], ...], tuple[tuple[str, str], ...]]:
        """The notes, the accounts of each owner, and of every direct chat whose it is."""
        accounts, made = await self._database.snapshot((SELECT_ACCOUNTS, ()), (SELECT_MADE_NOTES, ()))
        owners = owners_of(accounts, self._lists.owners)
        whose = names.whose(dms)
        indexed = {str(path): cast("int", chat) for path, chat in made}
        readers = NoteReaders(names.places, whose, owners, indexed)
        on_disk = await asyncio.to_thread(read_notes, self._note_storage.files, readers, self._tombstones.covers)
        return on_disk, owners, tuple(sorted(whose.items()))

    def _merges(self, rows: list[Row]) -> dict[int, tuple[ExportedMerge, ...]]:
        """What was merged into each memory, without what was forgotten."""
        found: dict[int, tuple[ExportedMerge, ...]] = {}
        for number, *values in rows:
            merge = ExportedMerge(*values)
            if not self._tombstones.covers(merge.before) and not self._tombstones.covers(merge.said):
                found[number] = (*found.get(number, ()), merge)
        return found

    async def _others(self) -> Mapping[str, object]:
        """The columns of the table that are not named here, with their defaults: nothing is lost that comes later."""
        rows = await self._database.rows("SELECT name, dflt_value FROM pragma_table_info('memory')")
        named = {*EXPORTED_COLUMNS, *LEFT_BEHIND}
        return {str(name): _default(value) for name, value in rows if name not in named}

    async def here(self) -> ImportBase:
        """What an import is compared with: all of it, and everybody, also who has no memory yet."""
        people, accounts, chats = await self._database.snapshot(
            ("SELECT id, name, script, timezone, is_bot FROM person", ()),
            ("SELECT person_id, platform || ':' || external_id FROM account ORDER BY 2", ()),
            ("SELECT chat.id, kind, title, platform || ':' || external_id FROM chat JOIN place ON chat_id = chat.id "
             "ORDER BY chat.id, current DESC, 4", ()),
        )  # fmt: skip
        names = PlatformNames(people, accounts, chats)
        found = (await self.export()).here
        carried = ExportContents(
            found.carried.house, 0, names.people, names.chats, found.carried.memories, found.carried.summaries,
            found.carried.notes,
        )  # fmt: skip
        return replace(found, carried=carried)

    async def whole(self, number: int) -> MemoryWithLines | None:
        """One memory and where it comes from; None when no memory has that number (any more)."""
        row = await self._database.row(
            f"SELECT disabled_reason, nullif(disabled_at, {ARCHIVED}), purge_at, owner_id FROM memory WHERE id = ?",
            (number,),
        )
        if row is None:
            return None
        ended, ended_at, until, owner = row
        if ended_at is not None:
            return MemoryWithLines(
                number, None, "forgotten" if ended in ("asked", "derived") else str(ended), ended_at, until
            )
        found = (await self.export(owner)).here.carried.memories
        lines = await self._database.rows(
            "SELECT event.id, at, (SELECT platform || ':' || external_id FROM place WHERE place.chat_id = "
            "event.chat_id AND current = 1), name, CASE hidden WHEN '' THEN text ELSE '' END FROM edge JOIN event "
            "ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? ORDER BY event.id",
            (number,),
        )
        memory = next((memory for memory in found if memory.id == number), None)
        return MemoryWithLines(number, memory, sources=tuple(ExportedLine(*line) for line in lines))

    async def bring_in(self, plan: ImportPlan, at: int, tell: ImportProgress = lambda *_: None) -> None:
        """Carry the plan out in one transaction: after a crash all of it is there, or nothing.

        Then its notes are written.
        """
        await self._database.write(lambda db: carry_out_import(db, plan, at, tell))
        if plan.new_notes:
            await self._database.write(lambda db: write_notes(db, self._note_storage.files, plan.new_notes))


def _default(value: str | None) -> object:
    """A default as the schema has it: a number, or a text in quotes."""
    if value is None:
        return None
    return value.strip("'") if value.startswith("'") else float(value)
