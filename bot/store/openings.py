"""What an opening is made of, in one trip: the layers of memories, who is named, when the last talk was.

Every layer is read in the order in which things happened, as far as it is told and no farther: the audience and the
number stand in the query, and an index has that order.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo

from bot.store.access import Lists
from bot.store.database import Database
from bot.store.documents import TALK_MS
from bot.store.memories import visible
from bot.store.people import PERSON, person_of
from bot.store.rows import COLUMNS, marks, memory_of
from bot.store.schema_truth import CURRENT, LAYER
from bot.text.dates import day_start, local_day, month_start, next_local_time
from bot.types.duration import DAY_MS
from bot.types.memory import Memory
from bot.types.people import Audience, Person

LAYERS = (
    ("kept", 50), ("name", 20), ("lasting", 300), ("identity", 50), ("anniversary", 30), ("emotion", 5), ("event", 24),
    ("living", 30), ("ahead", 30),
)  # fmt: skip
"""What a warm boot may draw from (seed Warm Boot: identity 50, emotion 5). Of the events, which are those up to today,
7 are told; of what lives (knowledge, experience) the 10 with the most vitality; of what lies ahead the soonest."""

LIVING = """kind IN ('knowledge', 'experience') AND slot NOT IN ('address', 'no_address')
    AND asked = 0 AND protected = 0 AND faded > .5
    AND accessed_at + stability_days * 59887917 >= :now"""
"""What may have a vitality above one half, e^(-t/S) alone: t at most S ln 2; 59,887,917 ms are ln 2 days."""

TALKED = """SELECT max(CASE open_reason WHEN 'import' THEN last_at ELSE (SELECT max(asked_at) FROM turn
    WHERE session_id = session.id AND state = 'said' AND why <> 'heartbeat') END) FROM (SELECT id, last_at, open_reason
    FROM session WHERE chat_id IN ({}) ORDER BY last_at DESC LIMIT 64) AS session"""
"""When somebody was answered last; that nuan wrote first is no talk, and she does so at most fifty times in a row."""
LAST_TALK = TALKED.format(":chat")
LAST_OWN_TALK = TALKED.format("""SELECT chat.id FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind = 'dm'
    WHERE member.person_id = :p0""")
"""With one person alone it does not matter on which platform it was."""

AHEAD = """dated <> '' AND kind <> 'emotion' AND observed_at >= :year
    AND observed_at >= CASE dated WHEN 'year' THEN :year WHEN 'month' THEN :month ELSE :today END"""
"""What names a day that is not over, or a month, or a year."""

MET = """SELECT EXISTS (SELECT 1 FROM session WHERE chat_id IN ({0}) AND state <> 'open')
    OR EXISTS (SELECT 1 FROM event WHERE chat_id IN ({0}) AND state <> 'queued' AND at < :earlier)"""
MET_HERE = MET.format(":chat")
MET_ALONE = MET.format("""SELECT chat.id FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind = 'dm'
    WHERE member.person_id = :p0""")
"""Commands and reminders are answered without a session: whose words an earlier talk holds is nobody new."""

NEWEST = "observed_at DESC, id DESC"
SOONEST = "observed_at, id"
LIVELIEST = "(:now - accessed_at) / stability_days, id DESC"

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Material:
    """What was found: `people` are those who take part and those whose memories are told, by number.

    `last_at` is when nuan and this audience last talked, ms; None when they never did. `met`: a talk of theirs ended,
    or nuan answered them before this one. `changed` are the numbers of memories whose lines told a day that was changed
    later.
    """

    memories: tuple[Memory, ...]
    people: Mapping[int, Person]
    last_at: int | None
    met: bool = True
    changed: frozenset[int] = frozenset()


CHANGED = """SELECT DISTINCT own.derived_id FROM edge AS own JOIN memory ON memory.id = own.derived_id
    JOIN edge AS told ON told.event_id = own.event_id AND told.kind IN ('memory', 'commitment')
    LEFT JOIN memory AS was ON told.kind = 'memory' AND was.id = told.derived_id AND was.dated <> ''
    AND was.id <> memory.id AND coalesce(was.replaced_by, 0) <> memory.id
    AND NOT EXISTS (SELECT 1 FROM memory AS now WHERE now.id = was.replaced_by
    AND abs(now.observed_at - was.observed_at) < 43200000)
    LEFT JOIN commitment ON told.kind = 'commitment' AND commitment.id = told.derived_id
    WHERE own.kind = 'memory' AND own.derived_id IN ({})
    AND max(coalesce(was.former_at, 0), coalesce(commitment.moved_at, 0)) > memory.created_at"""


class Openings:
    """Reads what openings tell."""

    def __init__(self, database: Database, lists: Lists) -> None:
        self._database = database
        self._lists = lists

    async def read(self, audience: Audience, now: int, named: int = 0, tz: tzinfo = UTC) -> Material:
        """What an opening may tell this audience, each once, layer by layer, what happened last first.

        The first `named` of the audience are among the people; today is that of `tz`.
        """
        return await self._database.read(lambda db: self._read(db, audience, now, named, tz))

    def _read(self, db: sqlite3.Connection, audience: Audience, now: int, named: int, tz: tzinfo) -> Material:
        sql, values = _layers(audience, now, tz)
        found = {memory.id: memory for memory in (memory_of(row) for row in db.execute(sql, values))}
        memories = tuple(found.values())
        wanted = {*audience.person_ids[:named], *(memory.owner_id for memory in memories if memory.owner_id)}
        rows = db.execute(PERSON + f"WHERE id IN ({marks(wanted)})", tuple(sorted(wanted)))
        people = {int(row[0]): person_of(tuple(row), self._lists.owners) for row in rows}
        alone = audience.alone is not None
        last = db.execute(LAST_OWN_TALK if alone else LAST_TALK, values).fetchone()[0]
        met = bool(db.execute(MET_ALONE if alone else MET_HERE, values).fetchone()[0])
        rows = db.execute(CHANGED.format(marks(found)), tuple(found))
        return Material(memories, people, last, met, frozenset(int(row[0]) for row in rows))


def _layers(audience: Audience, now: int, tz: tzinfo) -> tuple[str, Values]:
    """All layers as one SELECT with its values."""
    where, given = visible(audience)
    names = [f"v{number}" for number in range(len(given))]
    for name in names:
        where = where.replace("?", f":{name}", 1)
    today, tomorrow = day_start(now, tz), next_local_time(now, 0, tz)
    year = day_start(today - (local_day(now, tz).timetuple().tm_yday - 1) * DAY_MS + DAY_MS // 2, tz)
    values: Values = {"now": now, "chat": audience.chat_id, **dict(zip(names, given, strict=True))}
    values |= {"today": today, "tomorrow": tomorrow, "month": month_start(now, tz), "year": year}
    values["earlier"] = now - TALK_MS
    values |= {f"p{number}": person for number, person in enumerate(audience.person_ids)}
    parts = [_layer(name, limit, _reaches(audience), where) for name, limit in LAYERS]
    return " UNION ALL ".join(f"SELECT * FROM ({part})" for part in parts), values


def _reaches(audience: Audience) -> list[str]:
    """The ways in which a memory may be visible, each with an index: together all that `visible` lets through."""
    people = ", ".join(f":p{number}" for number in range(len(audience.person_ids))) or "NULL"
    ways = ["visibility = 'chat' AND chat_id = :chat", "visibility = 'public' AND owner_id IS NULL"]
    if audience.alone is not None:
        return [*(f"visibility = '{seen}' AND owner_id = :p0" for seen in ("private", "public", "chat")), *ways]
    return [f"visibility = 'public' AND owner_id IN ({people})", *ways]


def _layer(name: str, limit: int, reaches: list[str], where: str) -> str:
    """One layer: from each way as many as are told, then the first of them all."""
    order = {"living": LIVELIEST, "ahead": SOONEST}.get(name, NEWEST)
    match name:
        case "living":
            which = LIVING
        case "ahead":
            which = AHEAD
        case "event":
            which = f"{LAYER} = 'event' AND observed_at < :tomorrow"
        case _:
            which = f"{LAYER} = '{name}'"
    found = " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM memory WHERE {CURRENT} AND {reach} AND {which} ORDER BY {order} LIMIT {limit})"
        for reach in reaches
    )
    return f"SELECT {COLUMNS} FROM memory WHERE id IN ({found}) AND {where} ORDER BY {order} LIMIT {limit}"
