"""What a turn and an opening must know of a chat, each read in one snapshot."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo

from bot.core.clock import DAY_MS
from bot.core.events import Event
from bot.core.memories import Memory, MemoryQuestion
from bot.core.models import BudgetLimits, BudgetPressure, ToolSpec
from bot.core.people import Audience, Chat, Person
from bot.core.recall import RecallRound
from bot.core.sessions import Epoch, Session
from bot.core.speaking import LastDecisions, LastEntry, LastLine, LastLook, QueueMarks
from bot.store.access import chat_of, persons
from bot.store.engine import Database, Repository, reads
from bot.store.events import OWN_RECENT_LINES, read_events, tellable_lines
from bot.store.feedback import recall_rounds
from bot.store.index import TALK_MS
from bot.store.ledger import budget_pressure
from bot.store.memories import SELECT_QUESTION, question_of, visible_memory
from bot.store.schema import IS_CURRENT, LAYER, MEMORY_COLUMNS, memory_of, placeholders
from bot.store.sessions import NEWEST_EPOCH_OF, SELECT_ENTRY, SELECT_EPOCH, SELECT_SESSION, Sessions, session_of
from bot.store.sqlite import EVENT_QUEUE, GREATEST
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


IS_DUE = f"SELECT 1 FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' AND due_at <= ?"
CALLED = f"{IS_DUE} AND kind = 'message' AND why NOT IN ('command', 'pair', 'closed')"
QUEUED = (
    "WHERE chat_id = ? AND state = 'queued' AND (due_at <= ? OR (why <> 'window' AND tries = 0) "
    f"OR (due_at IS NULL AND EXISTS ({CALLED}))) AND EXISTS ({IS_DUE}) ORDER BY id"
)
"""What is due, and with it what came late and waits for the rest of its backlog: it would be shown and told twice.

What failed waits for its next try alone. With what a turn answers also the follow-ups that an earlier one failed on:
they wait without a deadline.
"""
SELECT_QUEUE_MARKS = (
    f"SELECT id, coalesce(due_at > ?, 0), tries > 0, due_at IS NULL FROM {EVENT_QUEUE} "
    "WHERE chat_id = ? AND state = 'queued'"
)
NEWS = (
    "id > ? AND NOT (kind = 'bot' AND label <> 'cut' "
    "AND EXISTS (SELECT 1 FROM turn WHERE turn.id = event.turn_id AND epoch_id = ?))"
)
"""After the last event that an epoch tells, what it does not tell yet: all but its own replies. Of one that was stopped it
is told what people saw."""
LATE_MS = DAY_MS
"""What a platform delivers late is that old at most."""
PAST = (
    "(SELECT epoch.id FROM epoch JOIN session ON session.id = session_id WHERE chat_id = ? AND EXISTS "
    "(SELECT 1 FROM turn WHERE turn.epoch_id = epoch.id AND turn.state IN ('asked', 'answered', 'said')) "
    "ORDER BY epoch.id DESC LIMIT 1 OFFSET ?)"
)
"""A log with a turn that was not void, the newest with 0."""
HIDDEN_STATES = ("forgotten", "deleted")
"""Logs of which nothing is shown any more, even while a turn still runs on them."""


@dataclass(frozen=True, slots=True)
class WaitingChat:
    """What in a chat is to be answered by now, in order, with the people who wrote it.

    `asked` is what people of the chat were asked back about memories, by person; `promising` are those of whom any
    promise is known.
    """

    chat: Chat
    due: tuple[Event, ...]
    people: Mapping[int | None, Person]
    standing: QueueMarks = field(default_factory=QueueMarks)
    asked: Mapping[int, MemoryQuestion] = field(default_factory=dict)
    promising: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class OpenLog:
    """The open session of a chat with its newest epoch, and what happened since that was logged.

    `earlier` counts the events that did not fit into `news`. Without an epoch nothing is news. `own` is what the person
    it was read for wrote last, oldest first; `ratios` are the tokens that each model counts for one estimated,
    `pressure` how full the limits are that were asked for, `rounds` what that person's turns there found lately.
    """

    session: Session | None
    epoch: Epoch | None
    news: tuple[Event, ...]
    earlier: int
    own: tuple[Event, ...] = ()
    ratios: Mapping[str, float] = field(default_factory=dict)
    pressure: BudgetPressure = field(default_factory=BudgetPressure)
    rounds: tuple[RecallRound, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnTotals:
    """What the calls of one turn came to, and the model of the last; `watchers` are the direct chats in which turns are
    told of, each with the person who wanted it."""

    calls: int
    prompt: int
    cached: int
    output: int
    cost: float
    model: str
    watchers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PastLog:
    """A log that requests were made of, with the tools they brought. Its entries are kept for some days only."""

    epoch: Epoch
    tools: tuple[ToolSpec, ...]


class Views(Repository):
    """Readings across the nouns."""

    def __init__(self, database: Database, sessions: Sessions) -> None:
        super().__init__(database)
        self._sessions = sessions

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
        people = {person.id: person for person in self._people(tx, wanted)}
        return OpeningMaterial(memories, people, last, bool(met), frozenset(changed))

    def _people(self, tx: Tx, numbers: Collection[int | None]) -> tuple[Person, ...]:
        return persons(tx, f"WHERE id IN ({placeholders(numbers)})", *numbers)

    @reads
    def decisions(self, tx: Tx, chat_id: int, before: int) -> LastDecisions:
        """What was decided last in a chat before that event, which asks."""
        return LastDecisions(
            tx.one(
                "SELECT id, name, why, state, outcome, due_at FROM event WHERE chat_id = ? AND id < ? AND kind = "
                "'message' AND hidden = '' ORDER BY id DESC LIMIT 1",
                chat_id,
                before,
                to=LastLine,
            ),
            tx.one("SELECT event_id, why, until, due_at FROM joining WHERE chat_id = ?", chat_id, to=LastLook),
            tx.one(
                "SELECT id, why, outcome FROM event WHERE chat_id = ? AND id < ? AND why IN ('join', 'heartbeat') "
                "AND kind = 'event' ORDER BY id DESC LIMIT 1",
                chat_id,
                before,
                to=LastEntry,
            ),
        )

    @reads
    def waiting(self, tx: Tx, chat_id: int, now: int) -> WaitingChat:
        """What in this chat is to be answered by now; LookupError when there is no such chat."""
        chat = chat_of(tx, chat_id)
        due = read_events(tx, QUEUED, *(chat_id, now) * 3, table=EVENT_QUEUE)
        if not due:
            return WaitingChat(chat, due, {})
        marks, writers = tx.all(SELECT_QUEUE_MARKS, now, chat_id), {event.person_id for event in due}
        return WaitingChat(
            chat,
            due,
            {person.id: person for person in self._people(tx, writers)},
            QueueMarks(*(frozenset(row[0] for row in marks if row[kind]) for kind in (1, 2, 3))),
            dict(question_of(row) for row in tx.all(SELECT_QUESTION, chat_id, now)),
            frozenset(tx.ids_for("SELECT owner_id FROM commitment WHERE owner_id = ? LIMIT 1", writers)),
        )

    @reads
    def log(
        self,
        tx: Tx,
        chat_id: int,
        limit: int,
        person_id: int,
        answering: tuple[int, ...] = (),
        *,
        apart: bool = False,
        limits: tuple[BudgetLimits, int, int] | None = None,
        rounds_since: int | None = None,
    ) -> OpenLog:
        """What the next turn of a chat appends to: at most the newest `limit` lines are its news.

        The messages it is `answering` are no news. `apart`: each message is answered by itself. `limits` (with the ms at
        which their day and month begin) are weighed, rounds read since that instant; None: neither.
        """
        session = tx.one(SELECT_SESSION + "WHERE chat_id = ? AND state = 'open'", chat_id)
        epoch = self._epoch(tx, NEWEST_EPOCH_OF, session[0]) if session else None
        news, earlier = tuple[Event, ...](), 0
        if epoch is not None:
            since = (epoch.logged_upto, epoch.id)
            news, earlier = tellable_lines(tx, chat_id, answering, limit, NEWS, *since, apart=apart)
        own = read_events(tx, OWN_RECENT_LINES, person_id, chat_id)
        ratios: dict[str, float] = dict(tx.all("SELECT model, ratio FROM counting"))
        pressure = BudgetPressure() if limits is None else budget_pressure(tx, *limits, chat_id, person_id)
        rounds = () if rounds_since is None else recall_rounds(tx, chat_id, person_id, rounds_since)
        opened = session_of(session) if session else None
        return OpenLog(opened, epoch, news, earlier, own[::-1], ratios, pressure, rounds)

    @reads
    def lines(
        self,
        tx: Tx,
        chat_id: int,
        answering: tuple[int, ...],
        after: int,
        old: tuple[int, int],
        limit: int,
        *,
        apart: bool,
    ) -> tuple[tuple[Event, ...], int]:
        """The newest `limit` lines after event `after` that a new log may tell, in order, and how many are older.

        `answering` and `apart` as for `log`. `old` is an event and a time, ms: of what came up to the event only what
        is not older, nor was asked not to be kept.
        """
        last_old, since = old
        # Nothing up to that event is so new: it saves reading all that a chat ever said.
        looked_at = tx.value(
            "SELECT id FROM event WHERE chat_id = ? AND id > ? AND id <= ? AND at < ? ORDER BY id DESC LIMIT 1",
            chat_id,
            after,
            last_old,
            since - LATE_MS,
        )
        where = "id > ? AND (id > ? OR (at >= ? AND off_record = 0))"
        values = (looked_at or after, last_old, since)
        return tellable_lines(tx, chat_id, answering, limit, where, *values, apart=apart)

    async def past(self, chat_id: int, back: int = 0) -> PastLog | None:
        """The newest log of a chat, open or closed, that something was asked on; with `back` one before it."""
        epoch = await self._database.read(lambda tx: self._epoch(tx, PAST, chat_id, back))
        if epoch is None:
            return None
        shown = replace(epoch, entries=()) if epoch.stale in HIDDEN_STATES else epoch
        return PastLog(shown, await self._sessions.tools(epoch.signature))

    def _epoch(self, tx: Tx, which: str, *values: object) -> Epoch | None:
        row = tx.one(f"{SELECT_EPOCH}WHERE epoch.id = {which}", *values)
        if row is None:
            return None
        entries = tx.all(SELECT_ENTRY + "WHERE epoch_id = ? ORDER BY position", row[0])
        return self._sessions.epoch_of(row, list(entries))

    @reads
    def totals(self, tx: Tx, turn_id: int) -> TurnTotals:
        """What the calls of that turn came to, and who is told."""
        calls, prompt, cached, output, cost, model = tx.row(
            "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0), "
            "(SELECT model FROM call WHERE turn_id = ? ORDER BY id DESC LIMIT 1) FROM call WHERE turn_id = ?",
            turn_id,
            turn_id,
        )
        watchers = tx.all(
            "SELECT chat_id, trace.person_id FROM trace JOIN chat ON chat.id = chat_id WHERE kind = 'dm' AND gone = 0 "
            "ORDER BY chat_id"
        )
        return TurnTotals(calls, prompt, cached, output, float(cost), model or "", watchers)

    @reads
    def light_run(self, tx: Tx, chat_id: int, person_id: int, most: int) -> int:
        """How many of a person's newest `most` replies in a chat were small talk, up to the last one that was not."""
        light = tx.ids(
            "SELECT mode = 'light' AND mode_why <> 'budget' FROM session JOIN turn ON turn.session_id = session.id "
            "JOIN epoch ON epoch.id = turn.epoch_id WHERE session.chat_id = ? AND turn.person_id = ? "
            "AND turn.state = 'said' ORDER BY session.number DESC, turn.number DESC LIMIT ?",
            chat_id,
            person_id,
            most,
        )
        return light.index(0) if 0 in light else len(light)
