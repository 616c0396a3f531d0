"""Sessions and epochs: what is open, what its log holds, what waits to be closed or digested."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from bot.core.clock import DAY_MS
from bot.core.models import Message, ToolSpec
from bot.core.sessions import BootstrapMode, CloseReason, Epoch, LogEntry, Session, SessionFacts, SessionState
from bot.store.engine import Database
from bot.store.transactions import Row, Tx

SELECT_SESSION = """SELECT id, chat_id, number, state, opened_at, last_at, close_at, close_reason, from_event,
    upto_event, digest_attempts, digest_due_at, open_reason, digest_from FROM session """
SELECT_EPOCH = """SELECT epoch.id, session_id, number, signature, message, logged_upto, stale, prompt_tokens,
    prompt_entries, mode, (SELECT model FROM call WHERE turn_id IN (SELECT turn_id FROM entry WHERE epoch_id = epoch.id)
    AND counted = 'returned' ORDER BY call.id DESC LIMIT 1) FROM epoch JOIN prefix USING (signature) """
SELECT_ENTRY = "SELECT turn_id, message, tokens FROM entry "
NEWEST_EPOCH_OF = "(SELECT id FROM epoch WHERE session_id = ?1 ORDER BY number DESC LIMIT 1)"


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


class Sessions:
    """The conversations of each chat."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # A log is read at every turn and only grows: what the last turn parsed need not be parsed again.
        self._parse = lru_cache(maxsize=PARSED)(Message.parse)

    async def open_session(self, chat_id: int) -> Session | None:
        """The open session of a chat."""
        row = await self._database.row(SELECT_SESSION + "WHERE chat_id = ? AND state = 'open'", (chat_id,))
        return session_of(row) if row else None

    async def session(self, session_id: int) -> Session:
        """The session of that number; LookupError when there is none."""
        row = await self._database.row(SELECT_SESSION + "WHERE id = ?", (session_id,))
        if row is None:
            raise LookupError(f"no session {session_id!r}")
        return session_of(row)

    async def undigested(self, chat_id: int) -> tuple[Session, ...]:
        """The sessions of a chat that ended, or whose time is over, and have no digest yet; oldest first."""
        rows = await self._database.rows(
            SELECT_SESSION + "WHERE chat_id = ? AND state <> 'closed' ORDER BY number", (chat_id,)
        )
        return tuple(session_of(row) for row in rows)

    async def facts(self, chat_id: int, now: int) -> SessionFacts:
        """The open session, the one before it, who takes part, and who is in conversation now."""
        sessions, names, windows = await self._database.snapshot(
            (SELECT_SESSION + "WHERE chat_id = ? ORDER BY number DESC LIMIT 2", (chat_id,)),
            (
                "SELECT name FROM participant JOIN person ON person.id = person_id JOIN session ON session.id = "
                "session_id WHERE session.chat_id = ? AND session.state = 'open' ORDER BY person.id",
                (chat_id,),
            ),
            (
                "SELECT name, until FROM window JOIN person ON person.id = person_id WHERE chat_id = ? AND until > ? "
                "ORDER BY until, person.id",
                (chat_id, now),
            ),
        )
        found = [session_of(row) for row in sessions]
        is_open = bool(found) and found[0].state == "open"
        return SessionFacts(
            found[0] if is_open else None, next(iter(found[1:] if is_open else found), None),
            tuple(str(row[0]) for row in names), tuple((str(row[0]), int(row[1])) for row in windows),
        )  # fmt: skip

    async def floor(self, chat_id: int) -> int:
        """The event up to which a new log may show no raw lines: the last `.ai clear`, or a digested `/new`."""
        row = await self._database.row(
            "SELECT max(cleared_upto, (SELECT coalesce(max(upto_event), 0) FROM session WHERE chat_id = chat.id "
            "AND close_reason = 'new' AND state = 'closed')) FROM chat WHERE id = ?",
            (chat_id,),
        )
        return int(row[0]) if row else 0

    async def epoch(self, session_id: int) -> Epoch | None:
        """The newest epoch of a session with its whole log."""
        epochs, entries = await self._database.snapshot(
            (SELECT_EPOCH + f"WHERE epoch.id = {NEWEST_EPOCH_OF}", (session_id,)),
            (SELECT_ENTRY + f"WHERE epoch_id = {NEWEST_EPOCH_OF} ORDER BY position", (session_id,)),
        )
        return self.epoch_of(epochs[0], entries) if epochs else None

    def epoch_of(self, row: Row, entries: list[Row]) -> Epoch:
        """A row of EPOCH with its rows of ENTRIES as a value."""
        log = tuple(LogEntry(int(turn), self._parse(text), int(tokens)) for turn, text, tokens in entries)
        return Epoch(int(row[0]), int(row[1]), int(row[2]), str(row[3]), self._parse(row[4]), log, int(row[5]),
                     str(row[6]), int(row[7]), int(row[8]), row[9], row[10] or "")  # fmt: skip

    async def tools(self, signature: str) -> tuple[ToolSpec, ...]:
        """The tools that a stored prefix was sent with."""
        row = await self._database.row("SELECT tools FROM prefix WHERE signature = ?", (signature,))
        if row is None:
            raise LookupError(f"no prefix {signature!r}")
        return tuple(ToolSpec(name, text, schema) for name, text, schema in json.loads(row[0]))

    async def close(
        self, session_id: int, reason: CloseReason, at: int, *, deadline: bool = False, upto_event: int | None = None
    ) -> bool:
        """Close an open session (with `deadline`, only if its time has come); True when this call closed it.

        `upto_event` is the command that closed it: what came before belongs to it, what comes after does not.
        """
        return await self._database.write(lambda db: close_session(db, session_id, reason, at, deadline, upto_event))

    async def clear(self, chat_id: int, upto_event: int, *, ended: bool = False) -> bool:
        """No new log of this chat shows a raw line up to that event, whether a session is open or not.

        With `ended` the last talk that has no digest yet leaves nothing either; whether there was one.
        """
        return await self._database.write(lambda db: clear_lines(db, chat_id, upto_event, ended))

    async def due(self, chat_id: int, now: int) -> tuple[Session, ...]:
        """The sessions of a chat whose digest is due by now, oldest first."""
        rows = await self._database.rows(
            SELECT_SESSION + "WHERE chat_id = ? AND digest_due_at <= ? ORDER BY number", (chat_id, now)
        )
        return tuple(session_of(row) for row in rows)

    async def waiting(self, session: Session) -> tuple[Session, ...]:
        """The talks right before this one that ended and have no digest yet, oldest first."""
        rows = await self._database.rows(
            SELECT_SESSION
            + "WHERE chat_id = ?1 AND number < ?2 AND number > coalesce((SELECT max(number) FROM session "
            "WHERE chat_id = ?1 AND number < ?2 AND state <> 'closing'), 0) ORDER BY number",
            (session.chat_id, session.number),
        )
        return tuple(session_of(row) for row in rows)

    async def heard_from(self, session: Session, most: int) -> int:
        """The event after which a group's digest reads: at most so many lines before the session, and none that
        another session or `.ai clear` ended with."""
        row = await self._database.row(
            "SELECT coalesce(min(id) - 1, ?3) FROM (SELECT id FROM event WHERE chat_id = ?1 AND id <= ?3 "
            "AND kind IN ('message', 'bot') AND id > (SELECT max(cleared_upto, (SELECT coalesce(max(upto_event), 0) "
            "FROM session WHERE chat_id = ?1 AND number < ?2)) FROM chat WHERE id = ?1) ORDER BY id DESC LIMIT ?4)",
            (session.chat_id, session.number, session.from_event, most),
        )
        return int(row[0]) if row else session.from_event

    async def overhear(self, at: int, since: int, least: int, most: int) -> int:
        """What was said in groups after their last talk, `since` ms, becomes a talk of its own that is to be digested:
        of groups where there was one in `ACTIVE_MS`, at least so many lines of people, the last `most`. Their number.
        """
        return await self._database.write(lambda db: close_overheard_talks(db, at, since, least, most))

    async def wait(self, session: Session, until: int) -> None:
        """Its digest may wait until then, ms, to be made with those of other short talks."""
        await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE session SET digest_due_at = ?, digest_from = coalesce(digest_from, from_event) "
                    "WHERE id = ? AND digest_due_at IS NOT NULL",
                    (until, session.id),
                ).rowcount
            )
        )

    async def postpone_digest(self, session_id: int, until: int) -> None:
        """The digest failed: try again at `until`, ms."""
        await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE session SET digest_due_at = ?, digest_attempts = digest_attempts + 1 WHERE id = ? "
                    "AND digest_due_at IS NOT NULL",
                    (until, session_id),
                ).rowcount
            )
        )


def session_of(row: tuple[object, ...]) -> Session:
    """A row of SESSION as a value."""
    number, chat, count, state, opened, last, close_at, reason, first, upto, attempts, digest_due, why, told = row
    return Session(
        cast("int", number), cast("int", chat), cast("int", count), cast("SessionState", state), cast("int", opened),
        cast("int", last), cast("int", close_at), cast("CloseReason", reason), cast("int", first), cast("int", upto),
        cast("int", attempts),
        cast("int | None", digest_due), str(why), cast("int | None", told),
    )  # fmt: skip


def open_session(
    db: Tx, chat_id: int, from_event: int, at: int, close_at: int, reason: str = ""
) -> int:  # fmt: skip
    """Within a transaction: begin the chat's next session; `reason` is why its first message is answered."""
    count = db.execute("SELECT coalesce(max(number), 0) + 1 FROM session WHERE chat_id = ?", (chat_id,)).fetchone()[0]
    return cast(
        "int",
        db.execute(
            "INSERT INTO session (chat_id, number, state, opened_at, last_at, close_at, from_event, upto_event, "
            "open_reason) VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?)",
            (chat_id, count, at, at, close_at, from_event, from_event, reason),
        ).lastrowid,
    )


def close_overheard_talks(db: Tx, at: int, since: int, least: int, most: int) -> int:
    """One transaction: sessions that begin closed, over the lines of groups that no session holds."""
    made = 0
    groups = db.execute(
        "SELECT chat.id, max(cleared_upto, max(upto_event)), max(number) FROM chat JOIN session ON session.chat_id = "
        "chat.id WHERE chat.kind = 'group' GROUP BY chat.id "
        "HAVING max(opened_at) > ? AND NOT max(session.state = 'open')",
        (at - ACTIVE_MS,),
    ).fetchall()
    for chat_id, upto, number in groups:
        lines = db.execute(
            "SELECT id, at, kind = 'message' FROM event WHERE chat_id = ? AND id > ? AND at >= ? AND at <= ? "
            "AND kind IN ('message', 'bot') ORDER BY id DESC LIMIT ?",
            (chat_id, upto, since, at, most),
        ).fetchall()
        if sum(line[2] for line in lines) < least:
            continue
        (last, last_at, _), (first, first_at, _) = lines[0], lines[-1]
        db.execute(
            "INSERT INTO session (chat_id, number, state, opened_at, last_at, close_at, closed_at, close_reason, "
            "digest_due_at, from_event, upto_event, open_reason) "
            "VALUES (?1, ?2, 'closing', ?3, ?4, ?5, ?5, 'day', ?5, ?6, ?7, 'heard')",
            (chat_id, number + 1, first_at, last_at, at, first - 1, last),
        )
        made += 1
    return made


def take_part(db: Tx, session_id: int, events: tuple[int, ...]) -> None:
    """Within a transaction: whoever is answered in a session takes part in it."""
    db.executemany(
        "INSERT OR IGNORE INTO participant (session_id, person_id) SELECT ?, person_id FROM event WHERE id = ? "
        "AND person_id IS NOT NULL",
        [(session_id, number) for number in events],
    )


def open_epoch(db: Tx, session_id: int, new: NewEpoch, at: int) -> int:
    """Within a transaction: begin the session's next epoch on its prefix."""
    tools = json.dumps([[tool.name, tool.description, tool.parameters] for tool in new.tools], ensure_ascii=False)
    db.execute(
        "INSERT OR IGNORE INTO prefix (signature, message, tools) VALUES (?, ?, ?)",
        (new.signature, new.prefix.canonical(), tools),
    )
    return cast(
        "int",
        db.execute(
            "INSERT INTO epoch (session_id, number, opened_at, reason, mode, signature) VALUES (?1, "
            "(SELECT coalesce(max(number), 0) + 1 FROM epoch WHERE session_id = ?1), ?2, ?3, ?4, ?5)",
            (session_id, at, new.reason, new.mode, new.signature),
        ).lastrowid,
    )


def end_logs(db: Tx, epochs: set[int]) -> None:
    """Within a transaction: these are never sent again: their entries go now, or when the turn that runs on them
    ends.
    """
    for epoch_id in sorted(epochs):
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (epoch_id,))
        running = db.execute(
            "SELECT 1 FROM turn WHERE epoch_id = ? AND state IN ('asked', 'answered')", (epoch_id,)
        ).fetchone()
        if running is None:
            drop_log(db, epoch_id)


def drop_log(db: Tx, epoch_id: int) -> None:
    """Within a transaction: the log of an epoch is deleted; its turns keep their numbers."""
    db.execute(
        "DELETE FROM edge WHERE kind IN ('entry', 'told', 'recount') AND derived_id IN "
        "(SELECT id FROM entry WHERE epoch_id = ?)",
        (epoch_id,),
    )
    db.execute("DELETE FROM entry WHERE epoch_id = ?", (epoch_id,))


def digest_now(db: Tx, chat_id: int, at: int) -> None:
    """Within a transaction: a full opening is made, so the short talks that wait for others wait no longer."""
    db.execute(
        "UPDATE session SET digest_due_at = ?1 WHERE chat_id = ?2 AND state = 'closing' AND digest_due_at > ?1 "
        "AND digest_attempts = 0",
        (at, chat_id),
    )


def clear_lines(db: Tx, chat_id: int, upto_event: int, ended: bool) -> bool:
    """One transaction: raw lines are shown no more; with `ended` the talk that waits for its digest gets none."""
    db.execute("UPDATE chat SET cleared_upto = ? WHERE id = ?", (upto_event, chat_id))
    if not ended:
        return False
    changed = db.execute(
        "UPDATE session SET close_reason = 'clear' WHERE id = (SELECT max(id) FROM session WHERE chat_id = ? "
        "AND state = 'closing' AND digest_due_at IS NOT NULL)",
        (chat_id,),
    ).rowcount
    return changed == 1


def close_session(
    db: Tx, session_id: int, reason: CloseReason, at: int, deadline: bool, upto: int | None = None
) -> bool:
    """One transaction: open → closing; the digest is due at once. It waits while a turn of the session is running.

    What was said in a group after nuan's last words belongs to it.
    """
    changed = db.execute(
        "UPDATE session SET state = 'closing', close_reason = ?1, closed_at = ?2, digest_due_at = ?2, "
        "upto_event = max(upto_event, coalesce(?5, (SELECT max(id) FROM event WHERE event.chat_id = session.chat_id "
        "AND kind = 'message' AND state IN ('done', 'listened') AND at <= ?2), 0)) "
        "WHERE id = ?3 AND state = 'open' AND (?4 = 0 OR close_at <= ?2) AND NOT EXISTS "
        "(SELECT 1 FROM turn WHERE session_id = ?3 AND turn.state IN ('asked', 'answered'))",
        (reason, at, session_id, int(deadline), upto),
    ).rowcount
    return changed == 1
