"""People with what is kept of them, promises and summaries of everybody, for the operator's eyes only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from bot.store.access import Lists
from bot.store.browsing import CHAT_LABEL
from bot.store.database import Database
from bot.store.people import PERSON, person_of
from bot.store.reader import Row
from bot.types.people import Person

_RESIDENTS = PERSON.replace(
    " FROM person ",
    ", access, (SELECT count(*) FROM memory WHERE owner_id = person.id AND disabled_at IS NULL), "
    "(SELECT max(seen_at) FROM member WHERE person_id = person.id) FROM person ",
)

_TOLD = f"""SELECT digest.id, chat_id, {CHAT_LABEL}, tier, talks, summary, made_by, names, started_at, ended_at, into_id
    FROM digest JOIN chat ON chat.id = chat_id WHERE summary <> '' """


@dataclass(frozen=True, slots=True)
class Resident:
    """Somebody nuan knows: their accounts ("platform:id"), what an owner decided, active memories, last seen (ms)."""

    person: Person
    accounts: tuple[str, ...]
    access: str
    memories: int
    seen_at: int | None


@dataclass(frozen=True, slots=True)
class Promise:
    """One commitment of somebody; times are ms."""

    id: int
    who: str
    chat: str
    text: str
    state: str
    visibility: str
    source: str
    made_at: int
    due_at: int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """One open reminder: for whom, where it is said, when (ms), and how often ("": once, else cron's five fields)."""

    id: int
    who: str
    chat: str
    text: str
    due_at: int
    rule: str
    made_at: int


@dataclass(frozen=True, slots=True)
class Told:
    """One summary on the time line, of a conversation or of the `talks` that it was rolled up of; times are ms.

    `parts` are what it was rolled up of, as far as that is still kept.
    """

    id: int
    chat_id: int
    chat: str
    tier: str
    talks: int
    summary: str
    made_by: str
    names: tuple[str, ...]
    started_at: int
    ended_at: int
    parts: tuple["Told", ...] = ()


class Residents:
    """Everybody, and what is open and told of them."""

    def __init__(self, database: Database, lists: Lists) -> None:
        self._database = database
        self._lists = lists

    async def all(self) -> tuple[Resident, ...]:
        """Everybody, whoever was seen last first."""
        rows = await self._database.rows(f"{_RESIDENTS}ORDER BY 10 DESC, id")
        return tuple(
            Resident(
                person_of(row[:7], self._lists.owners), tuple(sorted(str(row[5] or "").split("\n"))), str(row[7]),
                cast("int", row[8]), cast("int | None", row[9]),
            )
            for row in rows
        )  # fmt: skip

    async def promises(self, limit: int) -> tuple[Promise, ...]:
        """What is open first, then what ended last."""
        rows = await self._database.rows(
            f"SELECT commitment.id, person.name, {CHAT_LABEL}, text, state, visibility, source, made_at, due_at "
            "FROM commitment JOIN person ON person.id = owner_id JOIN chat ON chat.id = commitment.chat_id "
            "ORDER BY ended_at IS NOT NULL, coalesce(ended_at, 0) DESC, due_at IS NULL, due_at, commitment.id DESC "
            "LIMIT ?",
            (limit,),
        )
        return tuple(Promise(*row) for row in rows)

    async def reminders(self, limit: int) -> tuple[Wanted, ...]:
        """What somebody is still to be reminded of, the next first; of a promise by its own words."""
        rows = await self._database.rows(
            f"SELECT reminder.id, person.name, {CHAT_LABEL}, coalesce(nullif(reminder.text, ''), commitment.text, ''), "
            "reminder.due_at, rule, reminder.made_at FROM reminder JOIN person ON person.id = reminder.person_id "
            "JOIN chat ON chat.id = reminder.chat_id LEFT JOIN commitment ON commitment.id = commitment_id "
            "WHERE reminder.ended_at IS NULL ORDER BY reminder.due_at, reminder.id LIMIT ?",
            (limit,),
        )
        return tuple(Wanted(*row) for row in rows)

    async def told(self, chat_id: int | None, before: int, limit: int) -> tuple[Told, ...]:
        """Summaries that ended before that instant (ms, 0: all), newest first; what was emptied is left out."""
        rows = await self._database.rows(
            f"{_TOLD}AND into_id IS NULL AND (?1 IS NULL OR chat_id = ?1) AND (?2 = 0 OR ended_at < ?2) "
            "ORDER BY ended_at DESC, digest.id DESC LIMIT ?3",
            (chat_id, before, limit),
        )
        inside = await self._database.rows(f"{_TOLD}AND into_id IS NOT NULL ORDER BY ended_at DESC, digest.id DESC")
        parts: dict[int, list[Row]] = {}
        for row in inside:
            parts.setdefault(int(row[-1]), []).append(row)
        return tuple(_told(row, parts) for row in rows)


def _told(row: Row, parts: Mapping[int, list[Row]]) -> Told:
    number, chat, label, tier, talks, summary, made_by, names, started, ended, _ = row
    inside = tuple(_told(each, parts) for each in parts.get(number, ()))
    return Told(number, chat, label, tier, talks, summary, made_by, tuple(json.loads(names)), started, ended, inside)
