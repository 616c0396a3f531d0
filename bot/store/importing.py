"""The verb of `nuan memory import`: a plan carried out in one transaction. What it holds is decided elsewhere."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import astuple
from typing import cast

from bot.store.carriednotes import meet
from bot.store.forgetting import Forgetting, disable
from bot.store.indexing import index_digest, index_memory
from bot.store.rows import MEMORY, marks, memory_of
from bot.store.sorting import sort_memory
from bot.store.unnoting import Shelf
from bot.text.fold import fold
from bot.types.carried import CarriedMemory, CarriedSummary, Plan
from bot.types.dialogue import TIERS

CHANGED = (
    "visibility", "kind", "section", "slot", "text", "asked", "emotion", "emotion_value", "observed_at", "protected",
)  # fmt: skip
"""What a file may change of a memory, besides its chat."""
STORED = (
    *CHANGED, "source", "importance", "stability_days", "accessed_at", "access_count", "created_at", "updated_at",
    "original",
)  # fmt: skip
"""What is stored of a new one."""

TOLD = 100
"""Memories after which progress is told."""

_TYPES: dict[type, str] = {int: "INTEGER", float: "REAL", str: "TEXT"}


Tell = Callable[[int, int], None]
"""How many memories are left to bring in, and how many there are in all."""


def carry_out(
    db: sqlite3.Connection, plan: Plan, at: int, forget_until: int | None, shelf: Shelf, tell: Tell = lambda *_: None
) -> None:  # fmt: skip
    """Verb: people and chats, then memories and summaries; what is told from logs is told anew by every open log.

    With `forget_until` (ms) the memories that the file holds no more are forgotten, to be undone until then.
    """
    _people(db, plan, at)
    _chats(db, plan, at)
    meet(db, plan.new_notes, at)
    accounts = _numbers(db, "SELECT platform || ':' || external_id, person_id FROM account")
    places = _numbers(db, "SELECT platform || ':' || external_id, chat_id FROM place")
    more = _others(db)
    new = plan.of("new")
    for count, item in enumerate(new):
        if count % TOLD == 0:
            tell(len(new) - count, len(new))
        memory = item.memory
        _insert(db, memory, (accounts.get(memory.owner), places[memory.chat]), more, at)
    for item in plan.of("changed"):
        assert item.before is not None
        _change(db, item.before, item.memory, places[item.memory.chat], at)
    for summary in plan.summaries:
        _summary(db, summary, accounts.get(summary.owner), places[summary.chat])
    if forget_until is not None:
        _forget(db, [memory.id for memory in plan.forget], forget_until, at, shelf)
    db.execute(
        "UPDATE epoch SET stale = 'memory' WHERE stale = '' AND session_id IN "
        "(SELECT id FROM session WHERE state = 'open')"
    )


def _numbers(db: sqlite3.Connection, sql: str) -> dict[str, int]:
    return {str(key): cast("int", number) for key, number in db.execute(sql)}


def _others(db: sqlite3.Connection) -> dict[str, str]:
    """The columns of this house that a file may fill by name, with their types: none that only a house can know."""
    known = {*STORED, "id", "owner_id", "chat_id", "folded", "disabled_at", "disabled_reason", "purge_at"}
    rows = db.execute("SELECT name, type FROM pragma_table_info('memory')")
    return {str(name): str(kind) for name, kind in rows if name not in known}


def _people(db: sqlite3.Connection, plan: Plan, at: int) -> None:
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


def _chats(db: sqlite3.Connection, plan: Plan, at: int) -> None:
    for chat in plan.chats:
        number = db.execute(
            "INSERT INTO chat (kind, title, created_at) VALUES (?, ?, ?)", (chat.kind, chat.title, at)
        ).lastrowid
        db.executemany(
            "INSERT INTO place (platform, external_id, chat_id, current) VALUES (?, ?, ?, ?)",
            [(*place.split(":", 1), number, int(place == chat.places[0])) for place in chat.places],
        )


def _insert(
    db: sqlite3.Connection, memory: CarriedMemory, where: tuple[int | None, int], more: dict[str, str], at: int
) -> None:  # fmt: skip
    if memory.slot == "address":
        _end_name(db, memory, where, at)
    values: dict[str, object] = {"owner_id": where[0], "chat_id": where[1], "folded": fold(memory.text)}
    values |= {name: getattr(memory, name) for name in STORED}
    values |= {name: value for name, value in memory.more if more.get(name) == _TYPES[type(value)]}
    values.pop("replaced_by", None)  # a number of the house it comes from
    if memory.archived_at:
        values |= {"disabled_at": memory.archived_at, "disabled_reason": "archived"}
    number = db.execute(
        f"INSERT INTO memory ({', '.join(values)}) VALUES ({marks(values)})", tuple(values.values())
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


def _end_name(db: sqlite3.Connection, memory: CarriedMemory, where: tuple[int | None, int], at: int) -> None:
    """The file's name for somebody is the newer one: the former ends."""
    former = db.execute(
        "SELECT id FROM memory WHERE owner_id IS ? AND visibility = ? AND slot = 'address' AND disabled_at IS NULL "
        "AND (visibility <> 'chat' OR chat_id = ?)",
        (where[0], memory.visibility, where[1]),
    ).fetchall()
    for (number,) in former:
        db.execute("UPDATE memory SET disabled_at = ?, disabled_reason = 'replaced' WHERE id = ?", (at, number))
        index_memory(db, number)


def _change(db: sqlite3.Connection, before: CarriedMemory, memory: CarriedMemory, chat_id: int, at: int) -> None:
    sets = ", ".join(f"{name} = ?" for name in CHANGED)
    db.execute(
        f"UPDATE memory SET chat_id = ?, folded = ?, updated_at = ?, {sets} WHERE id = ?",
        (chat_id, fold(memory.text), at, *(getattr(memory, name) for name in CHANGED), before.id),
    )
    index_memory(db, before.id)


def _summary(db: sqlite3.Connection, summary: CarriedSummary, owner_id: int | None, chat_id: int) -> None:
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


def _forget(db: sqlite3.Connection, numbers: list[int], purge_at: int, at: int, shelf: Shelf) -> None:
    for number in numbers:
        row = db.execute(f"{MEMORY}WHERE memory.id = ? AND disabled_at IS NULL", (number,)).fetchone()
        if row is not None:
            memory = memory_of(tuple(row))
            disable(db, Forgetting((memory,), memory.owner_id or 0, purge_at), memory.chat_id, at, shelf)
