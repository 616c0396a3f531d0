"""Sessions and epochs: what is open, what its log holds, what waits to be closed or digested."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bot.core.clock import DAY_MS
from bot.core.models import Message, ToolSpec
from bot.core.sessions import BootstrapMode, CloseReason, Epoch, LogEntry, Session, SessionFacts
from bot.store.engine import Database, Repository, reads, writes, writing
from bot.store.sqlite import GREATEST
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
        tx.run(
            "INSERT INTO participant (session_id, person_id) SELECT ?, person_id FROM event WHERE id = ? "
            "AND person_id IS NOT NULL ON CONFLICT DO NOTHING",
            session_id,
            number,
        )


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
    for epoch_id in sorted(epochs):
        tx.run("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", epoch_id)
        if not tx.has("SELECT 1 FROM turn WHERE epoch_id = ? AND state IN ('asked', 'answered')", epoch_id):
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
    tx.run(
        "UPDATE session SET digest_due_at = ? WHERE chat_id = ? AND state = 'closing' AND digest_due_at > ? "
        "AND digest_attempts = 0",
        at,
        chat_id,
        at,
    )


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
    changed = tx.run(
        "UPDATE session SET state = 'closing', close_reason = ?, closed_at = ?, digest_due_at = ?, "
        f"upto_event = {GREATEST}(upto_event, coalesce(?, ({heard}), 0)) WHERE id = ? AND state = 'open' "
        "AND (? OR close_at <= ?) AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.session_id = session.id "
        "AND turn.state IN ('asked', 'answered'))",
        reason,
        at,
        at,
        upto_event,
        at,
        session_id,
        not deadline,
        at,
    )
    return changed == 1


def _cleared_upto(tx: Tx, chat_id: int) -> int:
    """The event up to which `.ai clear` hid the lines of a chat; 0: it never did."""
    return tx.number("SELECT cleared_upto FROM chat WHERE id = ?", chat_id)


class Sessions(Repository):
    """The conversations of each chat."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # A log is read at every turn and only grows: what the last turn parsed need not be parsed again.
        self._parse = lru_cache(maxsize=PARSED)(Message.parse)

    close = writing(close_session)

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
        row = tx.one(SELECT_EPOCH + f"WHERE epoch.id = {NEWEST_EPOCH_OF}", session_id)
        entries = tx.all(SELECT_ENTRY + f"WHERE epoch_id = {NEWEST_EPOCH_OF} ORDER BY position", session_id)
        return self.epoch_of(row, entries) if row is not None else None

    def epoch_of(self, row: Row, entries: Sequence[Row]) -> Epoch:
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
    def clear(self, tx: Tx, chat_id: int, upto_event: int, *, ended: bool = False) -> bool:
        """No new log of this chat shows a raw line up to that event, whether a session is open or not.

        With `ended` the last talk that has no digest yet leaves nothing either; whether there was one.
        """
        tx.run("UPDATE chat SET cleared_upto = ? WHERE id = ?", upto_event, chat_id)
        return (
            ended
            and tx.run(
                "UPDATE session SET close_reason = 'clear' WHERE id = (SELECT max(id) FROM session WHERE chat_id = ? "
                "AND state = 'closing' AND digest_due_at IS NOT NULL)",
                chat_id,
            )
            == 1
        )

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
        lines = tx.ids(
            "SELECT id FROM event WHERE chat_id = ? AND id > ? AND id <= ? AND at >= ? AND kind IN ('message', 'bot') "
            "ORDER BY id DESC LIMIT ?",
            chat_id,
            ended,
            start,
            since,
            most,
        )
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
            lines = tx.all(
                "SELECT id, at, kind = 'message' FROM event WHERE chat_id = ? AND id > ? AND at >= ? AND at <= ? "
                "AND kind IN ('message', 'bot') ORDER BY id DESC LIMIT ?",
                chat_id,
                max(upto, _cleared_upto(tx, chat_id)),
                since,
                at,
                most,
            )
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
        tx.run(
            "UPDATE session SET digest_due_at = ?, digest_from = coalesce(digest_from, from_event) "
            "WHERE id = ? AND digest_due_at IS NOT NULL",
            until,
            session.id,
        )
        return True

    @writes
    def postpone_digest(self, tx: Tx, session_id: int, until: int) -> None:
        """The digest failed: try again at `until`, ms."""
        tx.run(
            "UPDATE session SET digest_due_at = ?, digest_attempts = digest_attempts + 1 WHERE id = ? "
            "AND digest_due_at IS NOT NULL",
            until,
            session_id,
        )
