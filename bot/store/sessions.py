"""Sessions and epochs: what is open, what its log holds, what waits to be closed or digested."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from bot.core.clock import DAY_MS
from bot.core.events import Event
from bot.core.models import BudgetLimits, BudgetPressure, Message, ToolSpec
from bot.core.recall import RecallRound
from bot.core.sessions import BootstrapMode, CloseReason, Epoch, LogEntry, Session, SessionFacts
from bot.store.engine import Database, Repository, reading, reads, writes, writing
from bot.store.events import OWN_RECENT_LINES, read_events, tellable_lines
from bot.store.ledger import budget_pressure
from bot.store.schema import GREATEST
from bot.store.told import recall_rounds
from bot.store.transactions import Row, Tx, row_reader

SELECT_SESSION = """SELECT id, chat_id, number, state, opened_at, last_at, close_at, close_reason, from_event,
    upto_event, digest_attempts, digest_due_at, open_reason, digest_from FROM session """
SELECT_EPOCH = """SELECT epoch.id, session_id, number, signature, message, logged_upto, stale, prompt_tokens,
    prompt_entries, mode, (SELECT model FROM call WHERE turn_id IN (SELECT turn_id FROM entry WHERE epoch_id = epoch.id)
    AND counted = 'returned' ORDER BY call.id DESC LIMIT 1) FROM epoch JOIN prefix USING (signature) """
SELECT_ENTRY = "SELECT turn_id, message, tokens FROM entry "
NEWEST_EPOCH_OF = "(SELECT id FROM epoch WHERE session_id = ? ORDER BY number DESC LIMIT 1)"


ACTIVE_MS = 14 * DAY_MS
"""A group in which nobody called for so long is not read at the early hour."""

PARSED = 2_048
"""Log entries kept parsed: the logs of some twenty busy chats."""


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
class NewEpoch:
    """An epoch about to begin, with the whole prefix it stands on."""

    prefix: Message
    tools: tuple[ToolSpec, ...]
    signature: str
    reason: str
    mode: BootstrapMode


session_of: Callable[[Row], Session] = row_reader(Session)
"""A row of SELECT_SESSION as a value."""


def open_session(tx: Tx, chat_id: int, from_event: int, at: int, close_at: int, reason: str = "") -> int:
    """Begin the chat's next session; `reason` is why its first message is answered."""
    count = tx.value("SELECT coalesce(max(number), 0) + 1 FROM session WHERE chat_id = ?", chat_id)
    return tx.insert(
        "session",
        chat_id=chat_id,
        number=count,
        state="open",
        opened_at=at,
        last_at=at,
        close_at=close_at,
        from_event=from_event,
        upto_event=from_event,
        open_reason=reason,
    )


def take_part(tx: Tx, session_id: int, events: tuple[int, ...]) -> None:
    """Whoever is answered in a session takes part in it."""
    for number in events:
        sql = (
            "INSERT INTO participant (session_id, person_id) SELECT ?, person_id FROM event WHERE id = ? "
            "AND person_id IS NOT NULL ON CONFLICT DO NOTHING"
        )
        tx.run(sql, session_id, number)


def open_epoch(tx: Tx, session_id: int, new: NewEpoch, at: int) -> int:
    """Begin the session's next epoch on its prefix."""
    tools = json.dumps([[tool.name, tool.description, tool.parameters] for tool in new.tools], ensure_ascii=False)
    prefix = "INSERT INTO prefix (signature, message, tools) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    tx.run(prefix, new.signature, new.prefix.canonical(), tools)
    count = tx.value("SELECT coalesce(max(number), 0) + 1 FROM epoch WHERE session_id = ?", session_id)
    return tx.insert(
        "epoch",
        session_id=session_id,
        number=count,
        opened_at=at,
        reason=new.reason,
        mode=new.mode,
        signature=new.signature,
    )


def end_logs(tx: Tx, epochs: set[int]) -> None:
    """These are never sent again: their entries go now, or when the turn that runs on them ends."""
    running = tx.ids("SELECT epoch_id FROM turn WHERE state IN ('asked', 'answered')") if epochs else ()
    for epoch_id in sorted(epochs):
        tx.run("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", epoch_id)
        if epoch_id not in running:
            drop_log(tx, epoch_id)


def end_direct_logs(tx: Tx, person_id: int) -> None:
    """Who this person is has changed: the next turn of each of their DMs begins a new log."""
    tx.run(
        "UPDATE epoch SET stale = 'people' WHERE stale = '' AND session_id IN (SELECT session.id FROM session "
        "JOIN chat ON chat.id = session.chat_id AND chat.kind = 'dm' JOIN member ON member.chat_id = chat.id "
        "WHERE session.state = 'open' AND person_id = ?)",
        person_id,
    )


def drop_log(tx: Tx, epoch_id: int) -> None:
    """The log of an epoch is deleted; its turns keep their numbers."""
    drop_entries(tx, "epoch_id", epoch_id)


def drop_entries(tx: Tx, of: Literal["epoch_id", "turn_id"], number: int) -> None:
    """The entries of an epoch or a turn are deleted, with what they come from."""
    tx.run(
        "DELETE FROM edge WHERE kind IN ('entry', 'told', 'recount') AND derived_id IN "
        f"(SELECT id FROM entry WHERE {of} = ?)",
        number,
    )
    tx.run(f"DELETE FROM entry WHERE {of} = ?", number)


def digest_now(tx: Tx, chat_id: int, at: int) -> None:
    """A full opening is made, so the short talks that wait for others wait no longer."""
    sql = (
        "UPDATE session SET digest_due_at = ? WHERE chat_id = ? AND state = 'closing' AND digest_due_at > ? "
        "AND digest_attempts = 0"
    )
    tx.run(sql, at, chat_id, at)


def close_session(
    tx: Tx, session_id: int, reason: CloseReason, at: int, *, deadline: bool = False, upto_event: int | None = None
) -> bool:
    """Close an open session (with `deadline`, only if its time has come); True when this call closed it.

    Its digest is due at once. `upto_event` is the command that closed it: what came before belongs to it, what comes
    after does not; else what was said in a group after nuan's last words belongs to it. It waits while a turn of the
    session is running.
    """
    heard = (
        "SELECT max(id) FROM event WHERE event.chat_id = session.chat_id AND kind = 'message' "
        "AND state IN ('done', 'listened') AND at <= ?"
    )
    sql = (
        "UPDATE session SET state = 'closing', close_reason = ?, closed_at = ?, digest_due_at = ?, "
        f"upto_event = {GREATEST}(upto_event, coalesce(?, ({heard}), 0)) WHERE id = ? AND state = 'open' "
        "AND (? OR close_at <= ?) AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.session_id = session.id "
        "AND turn.state IN ('asked', 'answered'))"
    )
    changed = tx.run(sql, reason, at, at, upto_event, at, session_id, not deadline, at)
    return changed == 1


def clear_lines(tx: Tx, chat_id: int, upto_event: int) -> None:
    """No new log of this chat shows a raw line up to that event."""
    tx.run("UPDATE chat SET cleared_upto = ? WHERE id = ?", upto_event, chat_id)


def _cleared_upto(tx: Tx, chat_id: int) -> int:
    """The event up to which `.ai clear` hid the lines of a chat; 0: it never did."""
    return tx.number("SELECT cleared_upto FROM chat WHERE id = ?", chat_id)


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
class PastLog:
    """A log that requests were made of, with the tools they brought. Its entries are kept for some days only."""

    epoch: Epoch
    tools: tuple[ToolSpec, ...]


class Sessions(Repository):
    """The conversations of each chat."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # A log is read at every turn and only grows: what the last turn parsed need not be parsed again.
        self._parse = lru_cache(maxsize=PARSED)(Message.parse)

    close = writing(close_session)
    recall_rounds = reading(recall_rounds)

    @reads
    def open_session(self, tx: Tx, chat_id: int) -> Session | None:
        """The open session of a chat."""
        return tx.one(SELECT_SESSION + "WHERE chat_id = ? AND state = 'open'", chat_id, to=Session)

    @reads
    def session(self, tx: Tx, session_id: int) -> Session:
        """The session of that number; LookupError when there is none."""
        return Session(*tx.row(SELECT_SESSION + "WHERE id = ?", session_id))

    @reads
    def undigested(self, tx: Tx, chat_id: int) -> tuple[Session, ...]:
        """The sessions of a chat that ended, or whose time is over, and have no digest yet; oldest first."""
        return tx.all(SELECT_SESSION + "WHERE chat_id = ? AND state <> 'closed' ORDER BY number", chat_id, to=Session)

    @reads
    def facts(self, tx: Tx, chat_id: int, now: int) -> SessionFacts:
        """The open session, the one before it, who takes part, and who is in conversation now."""
        found = tx.all(SELECT_SESSION + "WHERE chat_id = ? ORDER BY number DESC LIMIT 2", chat_id, to=Session)
        is_open = bool(found) and found[0].state == "open"
        names = tx.all(
            "SELECT name FROM participant JOIN person ON person.id = person_id JOIN session ON session.id = "
            "session_id WHERE session.chat_id = ? AND session.state = 'open' ORDER BY person.id",
            chat_id,
        )
        windows = tx.all(
            "SELECT name, until FROM conversation_window JOIN person ON person.id = person_id WHERE chat_id = ? AND until > ? "
            "ORDER BY until, person.id",
            chat_id,
            now,
        )
        before = next(iter(found[1:] if is_open else found), None)
        return SessionFacts(found[0] if is_open else None, before, tuple(name for (name,) in names), windows)

    @reads
    def floor(self, tx: Tx, chat_id: int) -> int:
        """The event up to which a new log may show no raw lines: the last `.ai clear`, or a digested `/new`."""
        digested = "SELECT max(upto_event) FROM session WHERE chat_id = ? AND close_reason = 'new' AND state = 'closed'"
        return max(_cleared_upto(tx, chat_id), tx.number(digested, chat_id))

    @reads
    def epoch(self, tx: Tx, session_id: int) -> Epoch | None:
        """The newest epoch of a session with its whole log."""
        return self._epoch(tx, NEWEST_EPOCH_OF, session_id)

    def _epoch_of(self, row: Row, entries: Sequence[Row]) -> Epoch:
        """A row of SELECT_EPOCH with its rows of SELECT_ENTRY as a value."""
        number, session, count, signature, prefix, upto, stale, prompt_tokens, prompt_entries, mode, counted_by = row
        log = tuple(LogEntry(turn, self._parse(text), tokens) for turn, text, tokens in entries)
        return Epoch(
            number,
            session,
            count,
            signature,
            self._parse(prefix),
            log,
            upto,
            stale,
            prompt_tokens,
            prompt_entries,
            mode,
            counted_by or "",
        )

    @reads
    def tools(self, tx: Tx, signature: str) -> tuple[ToolSpec, ...]:
        """The tools that a stored prefix was sent with."""
        (tools,) = tx.row("SELECT tools FROM prefix WHERE signature = ?", signature)
        return tuple(ToolSpec(name, text, schema) for name, text, schema in json.loads(tools))

    @writes
    def clear(self, tx: Tx, chat_id: int, upto_event: int) -> None:
        """No new log of this chat shows a raw line up to that event, whether a session is open or not."""
        clear_lines(tx, chat_id, upto_event)

    @reads
    def due(self, tx: Tx, chat_id: int, now: int) -> tuple[Session, ...]:
        """The sessions of a chat whose digest is due by now, oldest first."""
        where = "WHERE chat_id = ? AND digest_due_at <= ? ORDER BY number"
        return tx.all(SELECT_SESSION + where, chat_id, now, to=Session)

    @reads
    def waiting(self, tx: Tx, session: Session) -> tuple[Session, ...]:
        """The talks right before this one that ended and have no digest yet, oldest first."""
        return tx.all(
            SELECT_SESSION + "WHERE chat_id = ? AND number < ? AND number > coalesce((SELECT max(number) FROM session "
            "WHERE chat_id = ? AND number < ? AND state <> 'closing'), 0) ORDER BY number",
            session.chat_id,
            session.number,
            session.chat_id,
            session.number,
            to=Session,
        )

    @reads
    def heard_from(self, tx: Tx, session: Session, most: int, since: int = 0) -> int:
        """The event after which a digest reads: at most so many lines before the session, of `since`, ms, or later, and
        none that another session or `.ai clear` ended with."""
        chat_id, start = session.chat_id, session.from_event
        before = "SELECT max(upto_event) FROM session WHERE chat_id = ? AND number < ?"
        ended = max(_cleared_upto(tx, chat_id), tx.number(before, chat_id, session.number))
        sql = (
            "SELECT id FROM event WHERE chat_id = ? AND id > ? AND id <= ? AND at >= ? AND kind IN ('message', 'bot') "
            "ORDER BY id DESC LIMIT ?"
        )
        lines = tx.ids(sql, chat_id, ended, start, since, most)
        return lines[-1] - 1 if lines else start

    @writes
    def overhear(self, tx: Tx, at: int, since: int, least: int, most: int) -> int:
        """What was said in groups after their last talk, `since` ms, becomes a talk of its own that is to be digested:
        of groups where there was one, or a command, in `ACTIVE_MS`, at least so many lines of people, the last `most`. Their number.
        """
        made = 0
        spoke = "SELECT 1 FROM event WHERE chat_id = ? AND kind = 'bot' AND at > ? LIMIT 1"
        for chat_id, upto, number, opened_at in tx.all(
            "SELECT chat.id, coalesce(max(upto_event), 0), coalesce(max(number), 0), coalesce(max(opened_at), 0) "
            "FROM chat LEFT JOIN session ON session.chat_id = chat.id WHERE chat.kind = 'group' AND NOT EXISTS "
            "(SELECT 1 FROM session AS now WHERE now.chat_id = chat.id AND now.state = 'open') GROUP BY chat.id"
        ):
            if opened_at <= at - ACTIVE_MS and not tx.has(spoke, chat_id, at - ACTIVE_MS):
                continue
            sql = (
                "SELECT id, at, kind = 'message' FROM event WHERE chat_id = ? AND id > ? AND at >= ? AND at <= ? "
                "AND kind IN ('message', 'bot') ORDER BY id DESC LIMIT ?"
            )
            lines = tx.all(sql, chat_id, max(upto, _cleared_upto(tx, chat_id)), since, at, most)
            if sum(line[2] for line in lines) < least:
                continue
            (last, last_at, _), (first, first_at, _) = lines[0], lines[-1]
            tx.insert(
                "session",
                chat_id=chat_id,
                number=number + 1,
                state="closing",
                opened_at=first_at,
                last_at=last_at,
                close_at=at,
                closed_at=at,
                close_reason="day",
                digest_due_at=at,
                from_event=first - 1,
                upto_event=last,
                open_reason="heard",
            )
            made += 1
        return made

    @writes
    def wait(self, tx: Tx, session: Session, until: int) -> bool:
        """Its digest waits until then, ms, to be made with those of other short talks.

        False when a full opening was made since it ended (`digest_now`): it is to be made now.
        """
        opened = (
            "SELECT 1 FROM session JOIN epoch ON session_id = session.id WHERE chat_id = ? AND session.number > ? "
            "AND mode = 'full'"
        )
        if tx.has(opened, session.chat_id, session.number):
            return False
        sql = (
            "UPDATE session SET digest_due_at = ?, digest_from = coalesce(digest_from, from_event) "
            "WHERE id = ? AND digest_due_at IS NOT NULL"
        )
        tx.run(sql, until, session.id)
        return True

    @writes
    def postpone_digest(self, tx: Tx, session_id: int, until: int) -> None:
        """The digest failed: try again at `until`, ms."""
        sql = (
            "UPDATE session SET digest_due_at = ?, digest_attempts = digest_attempts + 1 WHERE id = ? "
            "AND digest_due_at IS NOT NULL"
        )
        tx.run(sql, until, session_id)

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
        sql = "SELECT id FROM event WHERE chat_id = ? AND id > ? AND id <= ? AND at < ? ORDER BY id DESC LIMIT 1"
        looked_at = tx.value(sql, chat_id, after, last_old, since - LATE_MS)
        where = "id > ? AND (id > ? OR (at >= ? AND off_record = 0))"
        values = (looked_at or after, last_old, since)
        return tellable_lines(tx, chat_id, answering, limit, where, *values, apart=apart)

    async def past_log(self, chat_id: int, back: int = 0) -> PastLog | None:
        """The newest log of a chat, open or closed, that something was asked on; with `back` one before it."""
        epoch = await self._database.read(lambda tx: self._epoch(tx, PAST, chat_id, back))
        if epoch is None:
            return None
        shown = replace(epoch, entries=()) if epoch.stale in HIDDEN_STATES else epoch
        return PastLog(shown, await self.tools(epoch.signature))

    def _epoch(self, tx: Tx, which: str, *values: object) -> Epoch | None:
        row = tx.one(f"{SELECT_EPOCH}WHERE epoch.id = {which}", *values)
        if row is None:
            return None
        entries = tx.all(SELECT_ENTRY + "WHERE epoch_id = ? ORDER BY position", row[0])
        return self._epoch_of(row, list(entries))

    @reads
    def light_run(self, tx: Tx, chat_id: int, person_id: int, most: int) -> int:
        """How many of a person's newest `most` replies in a chat were small talk, up to the last one that was not."""
        sql = (
            "SELECT mode = 'light' AND mode_why <> 'budget' FROM session JOIN turn ON turn.session_id = session.id "
            "JOIN epoch ON epoch.id = turn.epoch_id WHERE session.chat_id = ? AND turn.person_id = ? "
            "AND turn.state = 'said' ORDER BY session.number DESC, turn.number DESC LIMIT ?"
        )
        light = tx.ids(sql, chat_id, person_id, most)
        return light.index(0) if 0 in light else len(light)
