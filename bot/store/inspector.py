"""What the operator may see: memories, people, events and turns of all chats, and vital signs of the store."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.core.errors import StoreError
from bot.core.inspection import PaidCall
from bot.core.memories import Memory
from bot.core.models import Message, RecentCall, ToolSpec
from bot.core.people import Person
from bot.core.sessions import ToldItem
from bot.store.access import persons
from bot.store.engine import Repository, reading, reads
from bot.store.index import index_faults
from bot.store.ledger import SELECT_CALL
from bot.store.schema import MEMORY_COLUMNS, NO_LIMIT, memory_of, placeholders
from bot.store.sessions import HIDDEN_STATES
from bot.store.transactions import Row, Tx
from bot.text.fold import fold

FORGOTTEN_REASONS = ("asked", "derived")
"""Why a memory is over that was forgotten: its text is told nobody any more, also while the row waits for undo."""

MEMORY_STATES = {
    "active": "memory.disabled_at IS NULL",
    "archived": "memory.disabled_reason = 'archived' AND memory.disabled_at IS NOT NULL",
    "forgotten": "memory.disabled_reason IN ('asked', 'derived') AND memory.disabled_at IS NOT NULL",
    "all": "1",
}
"""What can be browsed."""

CHAT_LABEL = """coalesce((SELECT platform || ' ' || coalesce(nullif(chat.title, ''), (SELECT max(member.name)
    FROM (SELECT chat_id, name FROM member JOIN person ON id = person_id) AS member
    WHERE chat.kind = 'dm' AND member.chat_id = chat.id AND member.name <> ''), external_id) FROM place
    WHERE place.chat_id = chat.id AND current = 1), '#' || chat.id)"""
"""How a chat is called, for a query that joins it: by its title, one of two alone by who talks with nuan there."""

MANY_TRIES = 8
"""So often put off, a digest is stuck."""

PROBE_BYTES = 65_536
PROBE_KEY = "probe"
"""What a store that refused must take before anybody builds on it again: more than a line with all it causes."""

LAST_SEEN = "(SELECT max(seen_at) FROM member WHERE person_id = person.id)"

_FOUND = f"""SELECT {MEMORY_COLUMNS}, memory.disabled_reason, memory.purge_at, coalesce(person.name, ''), {CHAT_LABEL}
    FROM memory LEFT JOIN person ON person.id = memory.owner_id
    LEFT JOIN chat ON chat.id = memory.chat_id """


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """What is browsed: words in the text, one owner, one kind, a state of STATES; those with numbers below `below`."""

    text: str = ""
    owner_id: int | None = None
    kind: str = ""
    state: str = "active"
    below: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory with whose it is and where it was told; `undo_until` (ms) is when an ended one goes for good.

    The text of one that was forgotten is empty.
    """

    memory: Memory
    owner: str
    chat: str
    ended: str = ""
    undo_until: int | None = None

    @property
    def forgotten(self) -> bool:
        """Whether somebody asked to forget it, or it went with what was forgotten."""
        return self.ended in FORGOTTEN_REASONS


def _memory_row(*row: Any) -> MemoryRow:
    *values, ended, undo_until, owner, chat = row
    found = MemoryRow(memory_of(tuple(values)), owner, chat or "", ended, undo_until)
    return replace(found, memory=replace(found.memory, text="", original="")) if found.forgotten else found


_TOLD = f"""SELECT digest.id, {CHAT_LABEL}, tier, talks, summary, names, started_at, ended_at, into_id
    FROM digest JOIN chat ON chat.id = chat_id WHERE summary <> '' """


@dataclass(frozen=True, slots=True)
class PersonRow:
    """Somebody nuan knows: their accounts ("platform:id"), what an owner decided, active memories, last seen (ms)."""

    person: Person
    accounts: tuple[str, ...]
    access: str
    memories: int
    seen_at: int | None


@dataclass(frozen=True, slots=True)
class TalkerRow:
    """Somebody who wrote in a chat, and when last, ms; `title` is "" where the two are alone."""

    person_id: int
    name: str
    platform: str
    title: str
    seen_at: int


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A promise with its state, or an open reminder with its rule ("": once, else cron's five fields); times are ms."""

    id: int
    who: str
    chat: str
    text: str
    made_at: int
    due_at: int | None
    state: str = ""
    visibility: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One summary on the time line, of a conversation or of the `talks` that it was rolled up of; times are ms.

    `parts` are what it was rolled up of, as far as that is still kept.
    """

    id: int
    chat: str
    tier: str
    talks: int
    summary: str
    names: tuple[str, ...]
    started_at: int
    ended_at: int
    parts: tuple["SummaryRow", ...] = ()


def _told(row: Row, parts: Mapping[int, list[Row]]) -> SummaryRow:
    number, chat, tier, talks, summary, names, started, ended, _ = row
    inside = tuple(_told(each, parts) for each in parts.get(number, ()))
    return SummaryRow(number, chat, tier, talks, summary, tuple(json.loads(names)), started, ended, inside)


LAST_ENDED_FIRST = "ORDER BY ended_at DESC, digest.id DESC"

_HAPPENED = f"""SELECT event.id, {CHAT_LABEL}, at, event.kind, coalesce(nullif(event.name, ''), person.name, ''),
    CASE WHEN hidden = '' AND off_record = 0 THEN event.text ELSE '' END, label, why, outcome, turn_id FROM event
    JOIN chat ON chat.id = event.chat_id LEFT JOIN person ON person.id = event.person_id """

_TAKEN = f"""SELECT turn.id, {CHAT_LABEL}, session.number, epoch.number, turn.number, turn.state,
    turn.why, turn.mode_why, epoch.mode, epoch.reason, asked_at, said_at, coalesce(person.name, ''), turn.error,
    (SELECT coalesce(sum(prompt_tokens), 0) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(cached_tokens), 0) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(output_tokens), 0) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(cost), 0) FROM call WHERE turn_id = turn.id)
    FROM turn JOIN chat ON chat.id = turn.chat_id JOIN session ON session.id = turn.session_id
    JOIN epoch ON epoch.id = turn.epoch_id LEFT JOIN person ON person.id = turn.person_id """


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event; its text is "" when it is not told any more, `turn_id` is the turn it belongs to."""

    id: int
    chat: str
    at: int
    kind: str
    who: str
    text: str
    label: str
    why: str
    outcome: str
    turn_id: int | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn in a list: its numbers in the chat, why it was taken, in which mode, and what its calls used.

    `epoch_reason` is why its log began; times are ms.
    """

    id: int
    chat: str
    session: int
    epoch: int
    number: int
    state: str
    why: str
    mode_why: str
    mode: str
    epoch_reason: str
    asked_at: int
    said_at: int | None
    who: str
    error: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class LogRow:
    """One item of a log, with the number of the turn that appended it; `own`: the turn that is looked at."""

    turn: int
    own: bool
    message: Message


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a turn was sent: prefix, tools and log, its calls, what memory brought, what it answered, what it said.

    The log is empty when it is not kept any more: by its age, or because something in it was forgotten. Of a turn that
    failed or was stopped it is that before it: what it added is taken out again.
    """

    turn: TurnRow
    prefix: Message
    tools: tuple[ToolSpec, ...]
    signature: str
    log: tuple[LogRow, ...]
    calls: tuple[RecentCall, ...]
    brought: tuple[ToldItem, ...]
    answered: tuple[EventRow, ...]
    said: tuple[EventRow, ...]


class InstallationReads(Repository):
    """All memories, people, events and turns of the installation, and its signs of life."""

    unindexed = reading(index_faults)

    @reads
    def damage(self, tx: Tx) -> tuple[str, ...]:
        """As `Tx.faults`."""
        return tx.faults()

    @reads
    def dangling(self, tx: Tx) -> int:
        """As `Tx.dangling`."""
        return tx.dangling()

    @reads
    def memories(self, tx: Tx, wanted: MemoryFilter) -> tuple[MemoryRow, ...]:
        """The newest that fit, newest first; the text of what was forgotten is not searched."""
        where, values = [MEMORY_STATES.get(wanted.state, MEMORY_STATES["active"])], list[object]()
        if wanted.text.strip():
            like = fold(wanted.text).strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            where.append("memory.folded LIKE ? ESCAPE '\\' AND memory.disabled_reason NOT IN ('asked', 'derived')")
            values.append(f"%{like}%")
        for column, value in (("owner_id", wanted.owner_id), ("kind", wanted.kind or None)):
            if value is not None:
                where.append(f"memory.{column} = ?")
                values.append(value)
        if wanted.below:
            where.append("memory.id < ?")
            values.append(wanted.below)
        sql = f"{_FOUND}WHERE {' AND '.join(where)} ORDER BY memory.id DESC LIMIT ?"
        return tx.all(sql, *values, wanted.limit, to=_memory_row)

    @reads
    def memory(self, tx: Tx, number: int) -> MemoryRow | None:
        """The memory of that number; None when there is none (any more)."""
        return tx.one(f"{_FOUND}WHERE memory.id = ?", number, to=_memory_row)

    @reads
    def origins(self, tx: Tx, number: int) -> tuple[EventRow, ...]:
        """The lines that a memory was made from, in order."""
        lines = "SELECT event_id FROM edge WHERE kind = 'memory' AND derived_id = ?"
        return tx.all(f"{_HAPPENED}WHERE event.id IN ({lines}) ORDER BY event.id", number, to=EventRow)

    @reads
    def first_lines(self, tx: Tx, numbers: Collection[int]) -> dict[int, EventRow]:
        """Of each memory the first line that it was made from, as far as that is known."""
        lines = (
            "SELECT derived_id, min(event_id) FROM edge WHERE kind = 'memory' "
            f"AND derived_id IN ({placeholders(numbers)}) GROUP BY derived_id"
        )
        first: dict[int, int] = dict(tx.all(lines, *numbers))
        sql = f"{_HAPPENED}WHERE event.id IN ({placeholders(first)})"
        events = {event.id: event for event in tx.all(sql, *first.values(), to=EventRow)}
        return {number: events[event] for number, event in first.items() if event in events}

    @reads
    def former(self, tx: Tx, number: int) -> tuple[MemoryRow, ...]:
        """What a memory took the place of, the newest first."""
        return tx.all(f"{_FOUND}WHERE memory.replaced_by = ? ORDER BY memory.id DESC", number, to=_memory_row)

    @reads
    def memory_counts(self, tx: Tx) -> dict[str, int]:
        """How many memories there are of each state of MEMORY_STATES."""
        return {state: tx.value(f"SELECT count(*) FROM memory WHERE {where}") for state, where in MEMORY_STATES.items()}

    @reads
    def people(self, tx: Tx, limit: int = NO_LIMIT, after: int = 0, only: int | None = None) -> tuple[PersonRow, ...]:
        """Everybody after the first so many, whoever was seen last first; or `only` the one of that number."""
        sql = (
            "SELECT id, access, (SELECT count(*) FROM memory WHERE owner_id = found.id AND disabled_at IS NULL), seen "
            f"FROM (SELECT id, access, {LAST_SEEN} AS seen FROM person {'' if only is None else 'WHERE id = ? '}"
            "ORDER BY 3 DESC, id LIMIT ? OFFSET ?) AS found ORDER BY seen DESC, id"
        )
        rows = tx.all(sql, *(() if only is None else (only,)), limit, after)
        here = f"IN ({', '.join(str(row[0]) for row in rows)})"
        everybody = {person.id: person for person in persons(tx, f"WHERE id {here}")}
        accounts: dict[int, tuple[str, ...]] = {}
        every = f"SELECT person_id, platform || ':' || external_id FROM account WHERE person_id {here} ORDER BY 2"
        for number, account in tx.all(every):
            accounts[number] = (*accounts.get(number, ()), account)
        return tuple(PersonRow(everybody[row[0]], accounts.get(row[0], ()), *row[1:]) for row in rows)

    @reads
    def talkers(self, tx: Tx, limit: int) -> tuple[TalkerRow, ...]:
        """Who wrote where, whoever did so last first."""
        return tx.all(
            "SELECT person.id, person.name, platform, CASE kind WHEN 'dm' THEN '' ELSE coalesce(title, '') END, seen_at "
            "FROM member JOIN person ON person.id = person_id JOIN chat ON chat.id = member.chat_id "
            "JOIN place ON place.chat_id = chat.id AND current = 1 "
            "WHERE is_bot = 0 ORDER BY seen_at DESC, person.id LIMIT ?",
            limit,
            to=TalkerRow,
        )

    @reads
    def chat_labels(self, tx: Tx, among: Collection[int] | None = None) -> dict[int, str]:
        """How each chat is called, or each of these, by number."""
        where = "" if among is None else f"WHERE chat.id IN ({placeholders(among)}) "
        return dict(tx.all(f"SELECT chat.id, {CHAT_LABEL} FROM chat {where}ORDER BY chat.id", *(among or ())))

    @reads
    def names(self, tx: Tx) -> tuple[tuple[int, str], ...]:
        """The number and the name of everybody, whoever was seen last first."""
        return tx.all(f"SELECT id, name FROM person ORDER BY {LAST_SEEN} DESC, id")

    @reads
    def promises(self, tx: Tx, limit: int) -> tuple[PlanRow, ...]:
        """What is open first, then what ended last."""
        found = (
            f"SELECT commitment.id, person.name, {CHAT_LABEL}, text, made_at, due_at, state, visibility "
            "FROM commitment JOIN person ON person.id = owner_id JOIN chat ON chat.id = commitment.chat_id WHERE "
        )
        first = "due_at IS NULL, due_at, commitment.id DESC LIMIT ?"
        still = tx.all(f"{found}ended_at IS NULL ORDER BY {first}", limit, to=PlanRow)
        over = f"{found}ended_at IS NOT NULL ORDER BY ended_at DESC, {first}"
        return (*still, *tx.all(over, limit - len(still), to=PlanRow))

    @reads
    def reminders(self, tx: Tx, limit: int) -> tuple[PlanRow, ...]:
        """What somebody is still to be reminded of, the next first; of a promise by its own words."""
        sql = (
            f"SELECT reminder.id, person.name, {CHAT_LABEL}, coalesce(nullif(reminder.text, ''), commitment.text, ''), "
            "reminder.made_at, reminder.due_at, '', '', rule FROM reminder "
            "JOIN person ON person.id = reminder.person_id JOIN chat ON chat.id = reminder.chat_id "
            "LEFT JOIN commitment ON commitment.id = commitment_id "
            "WHERE reminder.ended_at IS NULL ORDER BY reminder.due_at, reminder.id LIMIT ?"
        )
        return tx.all(sql, limit, to=PlanRow)

    @reads
    def summaries(self, tx: Tx, chat_id: int | None, before: int, limit: int) -> tuple[SummaryRow, ...]:
        """Summaries that ended before that instant (ms, 0: all), newest first; what was emptied is left out."""
        here, values = ("", ()) if chat_id is None else ("AND chat_id = ? ", (chat_id,))
        sql = f"{_TOLD}AND into_id IS NULL {here}AND ended_at < ? {LAST_ENDED_FIRST} LIMIT ?"
        rows = tx.all(sql, *values, before or NO_LIMIT, limit)
        parts: dict[int, list[Row]] = {}
        wholes = rows
        while wholes:
            inside = f"{_TOLD}AND into_id IN ({placeholders(wholes)}) {LAST_ENDED_FIRST}"
            wholes = tx.all(inside, *(row[0] for row in wholes))
            for row in wholes:
                parts.setdefault(row[-1], []).append(row)
        return tuple(_told(row, parts) for row in rows)

    @reads
    def events(self, tx: Tx, after: int, limit: int, chat_id: int | None = None) -> tuple[EventRow, ...]:
        """The newest events with a higher number, newest first."""
        here, values = ("", ()) if chat_id is None else ("AND event.chat_id = ? ", (chat_id,))
        sql = f"{_HAPPENED}WHERE event.id > ? {here}ORDER BY event.id DESC LIMIT ?"
        return tx.all(sql, after, *values, limit, to=EventRow)

    @reads
    def turns(self, tx: Tx, below: int, limit: int, chat_id: int | None = None) -> tuple[TurnRow, ...]:
        """The newest turns with a number below that (0: all), newest first."""
        here, values = ("", ()) if chat_id is None else ("AND turn.chat_id = ? ", (chat_id,))
        sql = f"{_TAKEN}WHERE turn.id < ? {here}ORDER BY turn.id DESC LIMIT ?"
        return tx.all(sql, below or NO_LIMIT, *values, limit, to=TurnRow)

    @reads
    def request(self, tx: Tx, turn_id: int) -> TurnRequest | None:
        """What the turn of that number was sent, all of one moment; None when there is no such turn."""
        turn = tx.one(f"{_TAKEN}WHERE turn.id = ?", turn_id, to=TurnRow)
        if turn is None:
            return None
        epoch_id, message, tools, signature, stale = tx.row(
            "SELECT epoch.id, message, tools, signature, stale FROM epoch JOIN prefix USING (signature) WHERE id = "
            "(SELECT epoch_id FROM turn WHERE id = ?)",
            turn_id,
        )
        logged = turn.state in ("failed", "void") or tx.has("SELECT 1 FROM entry WHERE turn_id = ?", turn_id)
        entries = (
            ()
            if stale in HIDDEN_STATES or not logged
            else tx.all(
                "SELECT turn.number, turn.id, message FROM entry JOIN turn ON turn.id = entry.turn_id "
                "WHERE entry.epoch_id = ? AND turn.id <= ? ORDER BY position",
                epoch_id,
                turn_id,
            )
        )
        calls = tx.all(f"{SELECT_CALL}WHERE turn_id = ? ORDER BY id", turn_id, to=RecentCall)
        brought = "SELECT way, ref, tokens, why FROM told_item WHERE turn_id = ? ORDER BY id"
        answered = "event.id IN (SELECT event_id FROM turn_event WHERE turn_id = ?)"
        return TurnRequest(
            turn,
            Message.parse(message),
            tuple(ToolSpec(*tool) for tool in json.loads(tools)),
            signature,
            tuple(LogRow(number, by == turn_id, Message.parse(entry)) for number, by, entry in entries),
            calls,
            tx.all(brought, turn_id, to=ToldItem),
            tx.all(f"{_HAPPENED}WHERE {answered} ORDER BY event.id", turn_id, to=EventRow),
            tx.all(f"{_HAPPENED}WHERE turn_id = ? AND event.kind = 'bot' ORDER BY event.id", turn_id, to=EventRow),
        )

    @property
    def refusing(self) -> str:
        """Why the last write was refused, "" when it was taken."""
        return self._database.refusing

    @property
    def unwritten(self) -> int:
        """How many transactions wait for their commit."""
        return self._database.unwritten

    async def writable(self) -> bool:
        """Whether the store takes writes again; what is written to see it is deleted."""
        try:
            await self._database.write(lambda tx: tx.set_meta(PROBE_KEY, "0" * PROBE_BYTES))
            await self._database.write(lambda tx: tx.set_meta(PROBE_KEY, None))
        except StoreError:
            return False
        return True

    @reads
    def queued(self, tx: Tx) -> int:
        """Lines that wait for an answer; StoreError when the file cannot be read."""
        return tx.number("SELECT count(*) FROM event WHERE state = 'queued'")

    @reads
    def newest_line(self, tx: Tx) -> int:
        """When the last line was stored, ms; 0 before the first."""
        return tx.number("SELECT at FROM event ORDER BY id DESC LIMIT 1")

    @reads
    def stuck_digests(self, tx: Tx) -> int:
        """Talks whose digest was put off MANY_TRIES times or more."""
        sql = "SELECT count(*) FROM session WHERE digest_due_at IS NOT NULL AND digest_attempts >= ?"
        return tx.number(sql, MANY_TRIES)

    @reads
    def newest_call(self, tx: Tx) -> int:
        """The number of the last call, 0 before the first."""
        return tx.number("SELECT max(id) FROM call")

    @reads
    def paid_calls(self, tx: Tx, after: int, among: Collection[int] = ()) -> tuple[PaidCall, ...]:
        """The calls after that number, and those `among` the numbers, oldest first."""
        sql = (
            "SELECT id, cause, model, state, settled_at - at, prompt_tokens, cached_tokens, output_tokens, cost "
            f"FROM call WHERE id > ? OR id IN ({placeholders(among)}) ORDER BY id"
        )
        return tx.all(sql, after, *among, to=PaidCall)

    @reads
    def numbers(self, tx: Tx, outbox_id: int) -> dict[str, int]:
        """The session, epoch and turn that a message on its way out belongs to; nothing for one of no turn."""
        row = tx.one(
            "SELECT session.number, epoch.number, turn.number FROM outbox JOIN turn ON turn.id = outbox.turn_id "
            "JOIN session ON session.id = turn.session_id JOIN epoch ON epoch.id = turn.epoch_id WHERE outbox.id = ?",
            outbox_id,
        )
        return dict(zip(("session", "epoch", "turn"), row, strict=True)) if row is not None else {}
