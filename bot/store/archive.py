"""Memories, summaries and notes of an installation as an export has them, and an import carried out."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

from bot.core import memories as words
from bot.core.archive import (
    CURATED_NOTE,
    ExportContents,
    ExportedChat,
    ExportedMemory,
    ExportedMerge,
    ExportedNote,
    ExportedPerson,
    ExportedSummary,
    FrontMatter,
    ImportBase,
    ImportPlan,
    NoteRefused,
)
from bot.core.errors import StoreError
from bot.core.people import MemoryKind
from bot.core.sessions import TIERS
from bot.store.access import owner_ids
from bot.store.engine import Repository, reads
from bot.store.files import DataFiles, content_of
from bot.store.index import index_digest, index_memory, sort_memory
from bot.store.memories import begin_logs_anew
from bot.store.supersession import end_memory
from bot.store.transactions import Row, Tx
from bot.text.clean import clean
from bot.text.files import lines_of, read_front, write_front
from bot.text.fold import fold

_OTHERWISE = ("owner", "chat", "archived_at", "merges", "more")
EXPORTED_COLUMNS = tuple(field.name for field in fields(ExportedMemory) if field.name not in _OTHERWISE)
"""Of the table memory, as they are; the person and the chat go as platform ids, columns that are not named as more."""
LEFT_BEHIND = ("owner_id", "chat_id", "folded", "disabled_at", "disabled_reason", "purge_at")
"""Its other columns: an installation's own numbers, what is made from the text, and the state of what is not
exported.
"""
CHANGED_COLUMNS = (
    "visibility",
    "kind",
    "section",
    "slot",
    "text",
    "asked",
    "emotion",
    "emotion_value",
    "observed_at",
    "protected",
)
"""What a file may change of a memory, besides its chat."""
STORED_COLUMNS = (
    *CHANGED_COLUMNS,
    "source",
    "importance",
    "stability_days",
    "accessed_at",
    "access_count",
    "created_at",
    "updated_at",
    "original",
)
"""What is stored of a new one."""

IS_EXPORTED = "(disabled_at IS NULL OR disabled_reason = 'archived')"
ARCHIVED = "CASE WHEN disabled_reason = 'archived' THEN disabled_at ELSE 0 END"
"""When a memory was put away; one that was forgotten has another reason."""

MOST_NOTE_BYTES = 16_384 * 1024
"""The largest note that a setting allows."""

PROGRESS_STEP = 100
"""Memories after which progress is told."""

_KNOWN = {"visibility": words.Visibility, "kind": MemoryKind, "source": words.MemorySource}
_FLAGS = ("asked", "protected")
_TYPES: dict[type, str] = {int: "INTEGER", float: "REAL", str: "TEXT"}

ImportProgress = Callable[[int, int], None]
"""How many memories are left to bring in, and how many there are in all."""


CHATS_OF = """SELECT chat_id FROM member WHERE person_id = ? UNION SELECT chat_id FROM memory WHERE owner_id = ?
    UNION SELECT chat_id FROM digest WHERE owner_id = ?"""
"""Where a person is, and where something of theirs is from."""


class PlatformNames:
    """Who and where the numbers of an installation are, in platform ids: all, or what one person's data names."""

    def __init__(self, tx: Tx, person_id: int | None = None) -> None:
        people = None if person_id is None else {person_id, *owner_ids(tx)}
        places = None if person_id is None else tx.ids(CHATS_OF, *(person_id,) * 3)
        accounts = _grouped(
            tx.all(
                f"SELECT person_id, platform || ':' || external_id FROM account WHERE {_among('person_id', people)} "
                "ORDER BY 2"
            )
        )
        found = _grouped(
            tx.all(
                f"SELECT chat_id, platform || ':' || external_id FROM place WHERE {_among('chat_id', places)} "
                "ORDER BY chat_id, current DESC, 2"
            )
        )
        self._people = {
            number: ExportedPerson(accounts[number], name, script, zone, bool(is_bot))
            for number, name, script, zone, is_bot in tx.all(
                f"SELECT id, name, script, timezone, is_bot FROM person WHERE {_among('id', people)}"
            )
            if number in accounts
        }
        chats = {
            number: ExportedChat(found[number], kind, title)
            for number, kind, title in tx.all(f"SELECT id, kind, title FROM chat WHERE {_among('id', places)}")
            if number in found
        }
        self.people = tuple(sorted(self._people.values(), key=lambda person: person.accounts))
        self.chats = tuple(sorted(chats.values(), key=lambda chat: chat.places))
        self._places = {number: chat.places[0] for number, chat in chats.items()}
        own = tx.all(
            "SELECT person_id, chat_id FROM member JOIN chat ON chat.id = chat_id "
            f"WHERE kind = 'dm' AND {_among('chat_id', places)} ORDER BY seen_at, chat_id"
        )
        self.whose = {self._places[chat]: self.account(person) for person, chat in own if chat in self._places}
        """Of every direct chat whose it is: of whoever was seen there last."""
        self.dms = {self.account(person): self._places[chat] for person, chat in own if chat in self._places}
        """Each person's own chat, where they were seen last."""
        self.dms.pop("", None)
        known = {account for person in self.people if not person.is_bot for account in person.accounts}
        owners = [self._people[number].accounts for number in owner_ids(tx) if number in self._people]
        self.owners = tuple(sorted([*owners, *((account,) for account in tx.lists.owners - known)]))
        """The accounts of each owner, also of one who has not been here yet."""
        made = f"SELECT path, chat_id FROM note WHERE made = 1 AND {_among('chat_id', places)}"
        self._indexed: dict[str, int] = dict(tx.all(made))

    def account(self, number: int | None) -> str:
        """What a person is called in a file, "" for one without an account."""
        return self._people[number].accounts[0] if number in self._people else ""

    def memory(
        self, row: Row, others: Mapping[str, object], merges: Mapping[int, tuple[ExportedMerge, ...]]
    ) -> ExportedMemory | None:
        """A memory; None for one whose owner, chat or words are none that there are."""
        where = self._where(row[0], row[1])
        values: dict[str, Any] = dict(zip((*EXPORTED_COLUMNS, *others, "archived_at"), row[2:], strict=True))
        more = {name: values.pop(name) for name in others}
        if where is None or any(values[name] not in get_args(kinds) for name, kinds in _KNOWN.items()):
            return None
        return ExportedMemory(
            **values | {name: bool(values[name]) for name in _FLAGS},
            owner=where[0],
            chat=where[1],
            merges=merges.get(values["id"], ()),
            more=tuple(sorted((name, each) for name, each in more.items() if each != others[name])),
        )

    def summary(self, row: Row) -> ExportedSummary | None:
        """A summary; None for one of nobody known."""
        where = self._where(row[0], row[1])
        if where is None:
            return None
        number, summary, by, names, *rest = row[2:]
        return ExportedSummary(number, *where, summary, by, tuple(json.loads(names)), *rest)

    def _where(self, owner_id: int | None, chat_id: int) -> tuple[str, str] | None:
        owner = self.account(owner_id)
        return None if chat_id not in self._places or (owner_id and not owner) else (owner, self._places[chat_id])

    def notes(self, files: DataFiles, paths: Iterable[str], person_id: int | None) -> tuple[ExportedNote, ...]:
        """What can be told of these notes, or of those that are for one person alone. It blocks."""
        only = None if person_id is None else (self.account(person_id),)
        read = (self._note(files, path, only) for path in sorted(paths))
        return tuple(note for note in read if note is not None)

    def _note(self, files: DataFiles, path: str, only: tuple[str, ...] | None) -> ExportedNote | None:
        """A note without its forgotten lines; None for one that is empty, for nobody or others, or cannot be read."""
        try:
            lines = lines_of(files.notes.read(path, MOST_NOTE_BYTES)[0].decode("utf-8-sig"))
            front, top = (None, 0) if path == CURATED_NOTE else read_front(lines)
        except (NoteRefused, UnicodeDecodeError, OSError):
            return None
        chat, owners = "", tuple(group[0] for group in self.owners)
        seen: words.Visibility = "private"
        events: tuple[int, ...] = ()
        if front is not None:
            chat = self._places.get(front.chat_id) or self._places.get(self._indexed.get(path, 0), "")
            owner = self.whose.get(chat, "") if front.visibility != "chat" else ""
            owners, seen, events = (owner,) if owner else (), front.visibility, front.events
        if (seen != "chat" and not owners) or (seen == "chat" and not chat) or only not in (None, owners):
            return None
        told = clean("\n".join(line for line in lines[top:] if not (line.strip() and files.tombstones.covers(line))))
        return ExportedNote(path, owners, chat, seen, events, told) if told.strip() else None


def _among(column: str, numbers: Iterable[int] | None) -> str:
    """That a column has one of these numbers, as SQL; None: any."""
    return "1 = 1" if numbers is None else f"{column} IN ({', '.join(map(str, numbers))})"


def _grouped(rows: Iterable[Row]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for number, name in rows:
        found[number] = (*found.get(number, ()), name)
    return found


def carry_out_import(tx: Tx, plan: ImportPlan, at: int, tell: ImportProgress = lambda *_: None) -> None:
    """People and chats, then memories and summaries; every open log is told anew what is remembered."""
    _add_people(tx, plan, at)
    _add_chats(tx, plan, at)
    accounts: dict[str, int] = dict(tx.all("SELECT platform || ':' || external_id, person_id FROM account"))
    places: dict[str, int] = dict(tx.all("SELECT platform || ':' || external_id, chat_id FROM place"))
    for note in plan.new_notes:  # a direct chat that was brought in is the one of whoever its notes are for
        chat, owner = places.get(note.chat), accounts.get(next(iter(note.owners), ""))
        if chat is not None and owner is not None and not tx.has("SELECT 1 FROM member WHERE chat_id = ?", chat):
            tx.insert("member", chat_id=chat, person_id=owner, seen_at=at)
    fillable = {name: kind for name, kind, _ in tx.columns("memory")}
    for name in (*STORED_COLUMNS, *LEFT_BEHIND, "id", "replaced_by"):  # only an installation can know its own numbers
        del fillable[name]
    new = plan.of("new")
    total = len(new) + len(plan.summaries)
    for count, item in enumerate(new):
        if count % PROGRESS_STEP == 0:
            tell(total - count, total)
        _insert(tx, item.memory, accounts.get(item.memory.owner), places[item.memory.chat], fillable, at)
    for item in plan.of("changed"):
        assert item.before is not None
        values = {name: getattr(item.memory, name) for name in CHANGED_COLUMNS}
        values |= {"chat_id": places[item.memory.chat], "folded": fold(item.memory.text), "updated_at": at}
        sets = ", ".join(f"{name} = ?" for name in values)
        tx.run(f"UPDATE memory SET {sets} WHERE id = ?", *values.values(), item.before.id)
        index_memory(tx, item.before.id)
    for count, summary in enumerate(plan.summaries):
        if count % PROGRESS_STEP == 0:
            tell(len(plan.summaries) - count, total)
        _add_summary(tx, summary, accounts.get(summary.owner), places[summary.chat])
    tell(0, total)
    begin_logs_anew(tx, tx.ids("SELECT chat_id FROM session WHERE state = 'open'"))


def _add_people(tx: Tx, plan: ImportPlan, at: int) -> None:
    """People as they would be made at their first message: without any right."""
    for person in plan.people:
        number = tx.insert(
            "person",
            name=person.name,
            script=person.script,
            timezone=person.timezone,
            is_bot=int(person.is_bot),
            created_at=at,
        )
        for platform, _, name in (account.partition(":") for account in person.accounts):
            tx.insert("account", platform=platform, external_id=name, person_id=number, name=person.name, created_at=at)


def _add_chats(tx: Tx, plan: ImportPlan, at: int) -> None:
    for chat in plan.chats:
        number = tx.insert("chat", kind=chat.kind, title=chat.title, created_at=at)
        for place in chat.places:
            platform, _, name = place.partition(":")
            current = int(place == chat.places[0])
            tx.insert("place", platform=platform, external_id=name, chat_id=number, current=current)


def _insert(
    tx: Tx, memory: ExportedMemory, owner_id: int | None, chat_id: int, fillable: Mapping[str, str], at: int
) -> None:
    if memory.slot == "address":  # the file's name for somebody is the newer one
        sql = (
            "SELECT id FROM memory WHERE owner_id IS NOT DISTINCT FROM ? AND visibility = ? AND slot = 'address' "
            "AND disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?)"
        )
        for number in tx.ids(sql, owner_id, memory.visibility, chat_id):
            end_memory(tx, number, "replaced", at)
    values: dict[str, object] = {name: getattr(memory, name) for name in STORED_COLUMNS}
    values |= {name: value for name, value in memory.more if fillable.get(name) == _TYPES[type(value)]}
    if memory.archived_at:
        values |= {"disabled_at": memory.archived_at, "disabled_reason": "archived"}
    number = tx.insert("memory", owner_id=owner_id, chat_id=chat_id, folded=fold(memory.text), **values)
    for merge in memory.merges:
        tx.insert("merged", memory_id=number, **asdict(merge) | {"undone_at": merge.undone_at or None})
    if not memory.section:
        sort_memory(tx, number)
    index_memory(tx, number)


def _add_summary(tx: Tx, summary: ExportedSummary, owner_id: int | None, chat_id: int) -> None:
    """A summary hangs on a conversation: a closed one without a line of its own."""
    last = tx.number("SELECT max(number) FROM session WHERE chat_id = ?", chat_id)
    session = tx.insert(
        "session",
        chat_id=chat_id,
        number=last + 1,
        state="closed",
        opened_at=summary.started_at,
        last_at=summary.ended_at,
        close_at=summary.ended_at,
        close_reason="import",
        closed_at=summary.ended_at,
        from_event=0,
        upto_event=0,
        open_reason="import",
    )
    number = tx.insert(
        "digest",
        session_id=session,
        chat_id=chat_id,
        owner_id=owner_id,
        summary=summary.summary,
        tier=summary.tier if summary.tier in TIERS else "raw",
        made_by=summary.made_by,
        names=json.dumps(summary.names, ensure_ascii=False),
        started_at=summary.started_at,
        ended_at=summary.ended_at,
        created_at=summary.created_at,
    )
    index_digest(tx, number)


def write_notes(tx: Tx, notes: tuple[ExportedNote, ...]) -> None:
    """Write new notes, after their chats were committed: a number that no chat has yet may become any chat's.

    StoreError when the disk refuses, or another file has that name by now; the same import brings the rest.
    """
    for note in notes:
        top: list[str] = []
        if note.chat:
            chat_id = tx.value("SELECT chat_id FROM place WHERE platform || ':' || external_id = ?", note.chat)
            top = write_front(FrontMatter(chat_id, note.visibility, note.events))
        if not tx.files.notes.create(note.path, content_of([*top, *note.text.split("\n")])):
            raise StoreError("a note of that name has just been written: import once more")


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


class MemoryArchive(Repository):
    """Memories on their way out and in."""

    async def export(self, person_id: int | None = None, exported_at: int = 0) -> Export:
        """Everything that is remembered, or only what one person owns, all of one moment.

        What was forgotten or replaced is not read at all, though its row may be kept for undo.
        """
        return (await self._export(person_id, exported_at))[0]

    async def import_base(self) -> ImportBase:
        """What an import is compared with: all of it, and everybody, also who has no memory yet."""
        export, names = await self._export(None, 0)
        return replace(export.here, carried=replace(export.here.carried, people=names.people, chats=names.chats))

    async def _export(self, person_id: int | None, exported_at: int) -> tuple[Export, PlatformNames]:
        names, export = await self._stored(person_id, exported_at)
        listing = await asyncio.to_thread(self._files.notes.listing)
        notes = await asyncio.to_thread(names.notes, self._files, listing.found, person_id)
        taken = frozenset({*listing.found, *listing.refused})
        astray = len(taken) - len(notes) if person_id is None else 0
        carried = export.here.carried
        owners = {memory.owner for memory in carried.memories} | {each.owner for each in carried.summaries}
        owners |= {owner for note in notes for owner in note.owners}
        places = {memory.chat for memory in carried.memories} | {each.chat for each in carried.summaries}
        places |= {note.chat for note in notes}
        carried = replace(
            carried,
            notes=notes,
            people=tuple(person for person in names.people if person.accounts[0] in owners),
            chats=tuple(chat for chat in names.chats if chat.places[0] in places),
        )
        return replace(export, here=replace(export.here, carried=carried, files=taken), files=astray), names

    @reads
    def _stored(self, tx: Tx, person_id: int | None, exported_at: int) -> tuple[PlatformNames, Export]:
        """What the database has of an export."""
        own, values = ("", ()) if person_id is None else (" AND owner_id = ?", (person_id,))
        names = PlatformNames(tx, person_id)
        memories = self._memories(tx, names, IS_EXPORTED + own, *values)
        found = tuple(memory for memory in memories if memory is not None)
        talks = tx.all(
            "SELECT owner_id, chat_id, id, summary, made_by, names, started_at, ended_at, created_at, tier FROM digest "
            f"WHERE summary <> '' AND session_id IS NOT NULL{own} ORDER BY id",
            *values,
        )
        summaries = tuple(summary for row in talks if (summary := names.summary(row)) is not None)
        forgotten = f"SELECT count(*) FROM memory WHERE NOT {IS_EXPORTED} AND disabled_reason <> 'merged'{own}"
        here = ImportBase(
            ExportContents(tx.meta("house") or "", exported_at, memories=found, summaries=summaries),
            tx.last_numbers().get("memory", 0),
            tuple(names.dms.items()) if person_id is None else (),
            tuple(sorted(names.whose.items())),
            names.owners,
        )
        return names, Export(here, tx.value(forgotten, *values), len(memories) - len(found))

    def _memories(self, tx: Tx, names: PlatformNames, where: str, *values: object) -> list[ExportedMemory | None]:
        """These memories in order, None for one of nobody known, with what was merged into them and not forgotten."""
        merges: dict[int, tuple[ExportedMerge, ...]] = {}
        for number, *merged in tx.all(
            "SELECT memory_id, at, how, before, before_observed_at, said, kind, source, observed_at, "
            f"coalesce(undone_at, 0) FROM merged WHERE memory_id IN (SELECT id FROM memory WHERE {where}) ORDER BY id",
            *values,
        ):
            merge = ExportedMerge(*merged)
            if not any(map(self._files.tombstones.covers, (merge.before, merge.said))):
                merges[number] = (*merges.get(number, ()), merge)
        # Columns that are not named here go with their defaults: nothing is lost that comes later.
        named = {*EXPORTED_COLUMNS, *LEFT_BEHIND}
        others = {name: _default(default) for name, _, default in tx.columns("memory") if name not in named}
        columns = ", ".join((*EXPORTED_COLUMNS, *others, ARCHIVED))
        rows = tx.all(f"SELECT owner_id, chat_id, {columns} FROM memory WHERE {where} ORDER BY id", *values)
        return [names.memory(row, others, merges) for row in rows]

    @reads
    def with_lines(self, tx: Tx, number: int) -> MemoryWithLines | None:
        """One memory and where it comes from; None when no memory has that number (any more)."""
        state = f"SELECT owner_id, disabled_reason, disabled_at, purge_at, {IS_EXPORTED} FROM memory WHERE id = ?"
        row = tx.one(state, number)
        if row is None:
            return None
        owner, ended, ended_at, until, is_exported = row
        if not is_exported:
            why = "forgotten" if ended in ("asked", "derived") else ended
            return MemoryWithLines(number, None, why, ended_at, until)
        sql = (
            "SELECT event.id, at, (SELECT platform || ':' || external_id FROM place WHERE place.chat_id = "
            "event.chat_id AND current = 1), name, CASE hidden WHEN '' THEN text ELSE '' END FROM edge JOIN event "
            "ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? ORDER BY event.id"
        )
        lines = tx.all(sql, number, to=ExportedLine)
        (memory,) = self._memories(tx, PlatformNames(tx, owner), "id = ?", number)
        return MemoryWithLines(number, memory, sources=lines)

    async def bring_in(self, plan: ImportPlan, at: int, tell: ImportProgress = lambda *_: None) -> None:
        """Carry the plan out in one transaction: after a crash all of it is there, or nothing.

        Then its notes are written.
        """
        await self._database.write(lambda tx: carry_out_import(tx, plan, at, tell))
        if plan.new_notes:
            await self._database.write(lambda tx: write_notes(tx, plan.new_notes))


def _default(value: str | None) -> object:
    """A default as the schema has it: a number, or a text in quotes."""
    if value is None:
        return None
    return value.strip("'") if value.startswith("'") else float(value)
