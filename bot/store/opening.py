"""What a warm boot may tell: the layers of memories, and when nuan and its people last talked."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo

from bot.core.clock import DAY_MS
from bot.core.memories import Memory
from bot.core.people import Audience, Person
from bot.store.access import persons
from bot.store.engine import Repository, reads
from bot.store.index import TALK_MS
from bot.store.memories import visible_memory
from bot.store.schema import IS_CURRENT, LAYER, MEMORY_COLUMNS, memory_of, placeholders
from bot.store.sqlite import GREATEST
from bot.store.supersession import PLAN_CHANGED
from bot.store.transactions import Tx
from bot.text.dates import day_start, local_day, month_start, next_local_time

LAYERS = (
    ("kept", 50),
    ("name", 20),
    ("lasting", 300),
    ("identity", 50),
    ("anniversary", 30),
    ("emotion", 5),
    ("event", 24),
    ("living", 30),
    ("ahead", 30),
)
"""What a warm boot may draw from (seed Warm Boot: identity 50, emotion 5). Of the events, which are those up to today,
7 are told; of what lives (knowledge, experience) the 10 with the most vitality; of what lies ahead the soonest."""

IS_LIVING = """kind IN ('knowledge', 'experience') AND slot NOT IN ('address', 'no_address')
    AND asked = 0 AND protected = 0 AND faded > .5
    AND accessed_at + stability_days * 59887917 >= :now"""
"""What may have a vitality above one half, e^(-t/S) alone: t at most S ln 2; 59,887,917 ms are ln 2 days."""

LAST_TALKED = """SELECT max(CASE open_reason WHEN 'import' THEN last_at ELSE (SELECT max(asked_at) FROM turn
    WHERE session_id = session.id AND state = 'said' AND why <> 'heartbeat') END) FROM (SELECT id, last_at, open_reason
    FROM session WHERE chat_id IN ({}) ORDER BY last_at DESC LIMIT 64) AS session"""
"""When somebody was answered last; that nuan wrote first is no talk, and she does so at most fifty times in a row."""
LAST_TALK = LAST_TALKED.format(":chat")
LAST_OWN_TALK = LAST_TALKED.format("""SELECT chat.id FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind =
    'dm' WHERE member.person_id = :p0""")
"""With one person alone it does not matter on which platform it was."""

IS_AHEAD = """dated <> '' AND kind <> 'emotion' AND observed_at >= :year
    AND observed_at >= CASE dated WHEN 'year' THEN :year WHEN 'month' THEN :month ELSE :today END"""
"""What names a day that is not over, or a month, or a year."""

MET = """SELECT EXISTS (SELECT 1 FROM session WHERE chat_id IN ({0}) AND state <> 'open')
    OR EXISTS (SELECT 1 FROM event WHERE chat_id IN ({0}) AND state <> 'queued' AND at < :earlier)"""
MET_HERE = MET.format(":chat")
MET_ALONE = MET.format("""SELECT chat.id FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind = 'dm'
    WHERE member.person_id = :p0""")
"""Commands and reminders are answered without a session: whose words an earlier talk holds is nobody new."""

NEWEST_FIRST = "observed_at DESC, id DESC"
SOONEST_FIRST = "observed_at, id"
LIVELIEST_FIRST = "(:now - accessed_at) / stability_days, id DESC"

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class OpeningMaterial:
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


CHANGED_MEMORIES = f"""SELECT DISTINCT own.derived_id FROM edge AS own JOIN memory ON memory.id = own.derived_id
    JOIN edge AS told ON told.event_id = own.event_id AND told.kind IN ('memory', 'commitment')
    LEFT JOIN memory AS was ON told.kind = 'memory' AND was.id = told.derived_id AND {PLAN_CHANGED.format(was="was")}
    AND was.id <> memory.id AND coalesce(was.replaced_by, 0) <> memory.id
    LEFT JOIN commitment ON told.kind = 'commitment' AND commitment.id = told.derived_id
    WHERE own.kind = 'memory' AND own.derived_id IN ({{}})
    AND {GREATEST}(coalesce(was.former_at, 0), coalesce(commitment.moved_at, 0)) > memory.created_at"""


def _layers(audience: Audience, now: int, tz: tzinfo) -> tuple[str, Values]:
    """All layers as one SELECT with its values."""
    where, given = visible_memory(audience)
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
    order = {"living": LIVELIEST_FIRST, "ahead": SOONEST_FIRST}.get(name, NEWEST_FIRST)
    match name:
        case "living":
            which = IS_LIVING
        case "ahead":
            which = IS_AHEAD
        case "event":
            which = f"{LAYER} = 'event' AND observed_at < :tomorrow"
        case _:
            which = f"{LAYER} = '{name}'"
    found = " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM memory WHERE {IS_CURRENT} AND {reach} AND {which} ORDER BY {order} LIMIT "
        f"{limit})"
        for reach in reaches
    )
    return f"SELECT {MEMORY_COLUMNS} FROM memory WHERE id IN ({found}) AND {where} ORDER BY {order} LIMIT {limit}"


class OpeningReads(Repository):
    """What an opening must know of its people, read in one snapshot."""

    @reads
    def opening(self, tx: Tx, audience: Audience, now: int, named: int = 0, tz: tzinfo = UTC) -> OpeningMaterial:
        """What an opening may tell this audience, each once, layer by layer, what happened last first.

        The first `named` of the audience are among the people; today is that of `tz`.
        """
        sql, values = _layers(audience, now, tz)
        found = {memory.id: memory for memory in (memory_of(row) for row in tx.execute(sql, values))}
        memories = tuple(found.values())
        wanted = {*audience.person_ids[:named], *(memory.owner_id for memory in memories if memory.owner_id)}
        alone = audience.alone is not None
        (last,) = tx.execute(LAST_OWN_TALK if alone else LAST_TALK, values).fetchone()
        (met,) = tx.execute(MET_ALONE if alone else MET_HERE, values).fetchone()
        changed = tx.ids(CHANGED_MEMORIES.format(placeholders(found)), *found)
        people = {person.id: person for person in persons(tx, f"WHERE id IN ({placeholders(wanted)})", *wanted)}
        return OpeningMaterial(memories, people, last, bool(met), frozenset(changed))
