"""Writing first: when it is due in which chat, the event that asks for it, and its end. When is decided elsewhere."""

import sqlite3
from collections.abc import Callable
from typing import cast

from bot.store.access import Lists, standing
from bot.store.commitments import visible_commitment
from bot.store.database import Database
from bot.store.events import EVENT, VISIBLE, event_of
from bot.store.ledger import settle
from bot.store.memories import visible
from bot.store.schema_truth import CURRENT
from bot.store.settings import HOUSE_OFF
from bot.store.steps import TURN, Saying, say, turn_of
from bot.store.unasked import leave
from bot.types.event import Event
from bot.types.heartbeat import HEARTBEAT, Silence
from bot.types.outgoing import Outgoing
from bot.types.people import Audience

GAP_MS = 60_000
"""Between two chats in which nuan is asked to write first: after a long absence not all of them at once."""

FREE_AT = f"(SELECT coalesce(max(tried_at) + {GAP_MS}, 0) FROM heartbeat WHERE tried_at <= ?1)"
"""When the next chat may be asked, as SQL; ?1 is now. A try of a clock that was wrong holds nobody up."""

SAID = 64
"""First messages of a chat that are looked at: more than a day may have."""

DUE = f"SELECT chat_id FROM heartbeat WHERE due_at <= ?1 AND {FREE_AT} <= ?1 ORDER BY due_at, chat_id"

WHO = """SELECT person_id, script, timezone FROM member JOIN person ON person.id = person_id
    WHERE chat_id = ? ORDER BY seen_at DESC LIMIT 1"""

REACHED = f"""SELECT chat.id, platform FROM member JOIN chat ON chat.id = member.chat_id
    JOIN place ON place.chat_id = chat.id AND current = 1
    WHERE person_id = ? AND kind = 'dm' AND enabled = 1 AND gone = 0 AND NOT {HOUSE_OFF}
    ORDER BY seen_at DESC, chat.id"""
"""The DMs of a person in which nuan may speak, the one they were last seen in first."""

TALKED = """SELECT 1 FROM session JOIN turn ON turn.session_id = session.id
    WHERE session.chat_id = ? AND turn.state = 'said' AND turn.why <> ? LIMIT 1"""

LAST = "SELECT at, id FROM event WHERE chat_id = ? AND kind = ? ORDER BY id DESC LIMIT 1"

SKIPS = "SELECT count(*) FROM event WHERE chat_id = ? AND id > ? AND why = ? AND outcome = 'skip'"

UNANSWERED = f"""{EVENT}WHERE {VISIBLE}chat_id = ?1 AND id > max(?2, coalesce((SELECT id FROM main.event
    WHERE chat_id = ?1 AND kind = 'message' AND hidden = '' AND id <= ?3 ORDER BY id DESC LIMIT 1), 0)) AND id <= ?3
    AND kind = 'bot' AND EXISTS (SELECT 1 FROM turn WHERE turn.id = turn_id AND turn.why = ?4)
    ORDER BY id DESC LIMIT 3"""

AHEAD = 16
"""Moments that something is dated to which are looked at, the nearest; and days of every year."""

Due = Callable[[Silence, int], int | None]
"""When nuan may write first, ms, from the given moment on; None: not until the person writes."""


class Heartbeats:
    """The deadlines of first messages, one for each DM; one may be early, and is worked out anew when it comes."""

    def __init__(self, database: Database, lists: Lists, boot: str) -> None:
        self._database = database
        self._lists = lists
        self._boot = boot

    async def begin(self, platforms: frozenset[str], due: Due, at: int) -> None:
        """At a start: what an earlier process began is not said any more, and every deadline is set anew."""

        def verb(db: sqlite3.Connection) -> None:
            leave(db, HEARTBEAT, None, "crash", at)
            self._arm_all(db, platforms, due)

        await self._database.write(verb)

    async def rearm(self, platforms: frozenset[str], due: Due) -> None:
        """The rules have changed: every deadline is set anew, what is under way goes on."""
        await self._database.write(lambda db: self._arm_all(db, platforms, due))

    async def arm(self, chat_id: int, platforms: frozenset[str], due: Due, *, anew: bool = False) -> None:
        """Set the deadline of a chat that has none; what was said since moves one only when it is due, or `anew`."""
        known = "SELECT 1 FROM chat LEFT JOIN heartbeat ON chat_id = id WHERE id = ? AND (kind = 'group' OR due_at > 0)"
        if anew or await self._database.row(known, (chat_id,)) is None:
            await self._database.write(lambda db: self._arm(db, chat_id, platforms, due))

    async def fire(
        self, platforms: frozenset[str], due: Due, text: Callable[[Silence], str], at: int
    ) -> int | None:  # fmt: skip
        """Queue the event that asks nuan to write first, in the first chat where that is due; that chat.

        At most one chat a minute; a deadline that is due no more moves. `text` is what the model is told.
        """

        def verb(db: sqlite3.Connection) -> int | None:
            for (chat_id,) in db.execute(DUE, (at,)).fetchall():
                silence = silence_of(db, self._lists, chat_id, platforms)
                when = due(silence, at) if silence is not None else None
                if silence is None or when is None or when > at:
                    db.execute("UPDATE heartbeat SET due_at = ? WHERE chat_id = ?", (when, chat_id))
                    continue
                db.execute("UPDATE heartbeat SET due_at = NULL, tried_at = ? WHERE chat_id = ?", (at, chat_id))
                db.execute(
                    "INSERT INTO event (chat_id, at, kind, person_id, text, label, state, why, due_at, hidden) "
                    "VALUES (?1, ?2, 'event', ?3, ?4, ?5, 'queued', ?5, ?2, ?5)",
                    (chat_id, at, silence.person_id, text(silence), HEARTBEAT),
                )
                return cast("int", chat_id)
            return None

        return await self._database.write(verb)

    async def unanswered(self, chat_id: int, after: int, upto: int) -> tuple[Event, ...]:
        """What nuan wrote first in a chat since somebody wrote there last, after < id <= upto, in order."""
        rows = await self._database.rows(UNANSWERED, (chat_id, after, upto, HEARTBEAT))
        return tuple(event_of(row) for row in reversed(rows))

    async def say(self, saying: Saying, at: int) -> Outgoing | None:
        """The last commit of a turn that nobody asked for; what to send first.

        Without a line, or when somebody wrote meanwhile, it is void: paid for, not logged, and nothing is sent.
        """
        return await self._database.write(lambda db: say_first(db, self._lists, saying, at, self._boot))

    async def leave(self, chat_id: int, outcome: str, at: int) -> None:
        """Nothing is said first in this chat: what runs is void, what waits is taken off the queue."""
        await self._database.write(lambda db: leave(db, HEARTBEAT, chat_id, outcome, at))

    def _arm_all(self, db: sqlite3.Connection, platforms: frozenset[str], due: Due) -> None:
        db.execute("UPDATE heartbeat SET due_at = NULL WHERE due_at IS NOT NULL")
        for (chat_id,) in db.execute("SELECT id FROM chat WHERE kind = 'dm'").fetchall():
            self._arm(db, chat_id, platforms, due)

    def _arm(self, db: sqlite3.Connection, chat_id: int, platforms: frozenset[str], due: Due) -> None:
        silence = silence_of(db, self._lists, chat_id, platforms)
        when = due(silence, 0) if silence is not None else None
        if when is not None:
            db.execute(
                "INSERT INTO heartbeat (chat_id, due_at) VALUES (?1, ?2) "
                "ON CONFLICT (chat_id) DO UPDATE SET due_at = ?2",
                (chat_id, when),
            )


def silence_of(db: sqlite3.Connection, lists: Lists, chat_id: int, platforms: frozenset[str]) -> Silence | None:
    """Verb part: the silence of a chat; None where nuan never writes first.

    That is in groups, with people who are not allowed or never talked with nuan here, where she was told to be quiet,
    where nothing can be sent to, and in all DMs of a person but the one they were last seen in.
    """
    row = db.execute(WHO, (chat_id,)).fetchone()
    if row is None:
        return None
    person_id, script, timezone = row
    reached = (number for number, platform in db.execute(REACHED, (person_id,)).fetchall() if platform in platforms)
    if next(reached, None) != chat_id or not standing(db, lists, chat_id, person_id).allowed:
        return None
    if db.execute(TALKED, (chat_id, HEARTBEAT)).fetchone() is None:
        return None
    heard, spoke = (db.execute(LAST, (chat_id, kind)).fetchone() or (0, 0) for kind in ("message", "bot"))
    skips = db.execute(SKIPS, (chat_id, heard[1], HEARTBEAT)).fetchone()[0]
    tried = db.execute("SELECT tried_at FROM heartbeat WHERE chat_id = ?", (chat_id,)).fetchone()
    said = tuple(
        cast("int", at)
        for (at,) in db.execute(
            "SELECT said_at FROM turn WHERE chat_id = ? AND why = 'heartbeat' AND state = 'said' "
            "ORDER BY said_at DESC LIMIT ?",
            (chat_id, SAID),
        )
    )
    ignored = sum(at > heard[0] for at in said)
    return Silence(
        max(heard[0], spoke[0]), (tried[0] if tried else None) or 0, said, ignored, person_id, script, timezone,
        heard[0], skips, *matters(db, Audience(chat_id, "dm", (person_id,)), heard[0]),
    )  # fmt: skip


def matters(db: sqlite3.Connection, audience: Audience, after: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Verb part: moments after `after`, ms, that something of a person is dated to which may be told in their DM, and
    the days of every year.

    What they have still to do by a day, and what they told of before it was: an appointment; birthdays.
    """
    promised, given = visible_commitment(audience)
    told, known = visible(audience)
    mine = f"FROM memory WHERE {CURRENT} AND owner_id = ? AND {told} AND kind"
    ahead = db.execute(
        f"SELECT due_at FROM commitment WHERE ended_at IS NULL AND due_at > ? AND {promised} UNION "
        f"SELECT observed_at {mine} <> 'anniversary' AND observed_at > ? AND observed_at > said_at "
        "AND dated NOT IN ('month', 'year') ORDER BY 1 LIMIT ?",
        (after, *given, audience.alone, *known, after, AHEAD),
    )
    yearly = db.execute(
        f"SELECT observed_at {mine} = 'anniversary' ORDER BY id DESC LIMIT ?", (audience.alone, *known, AHEAD)
    )
    return tuple(cast("int", at) for (at,) in ahead), tuple(cast("int", at) for (at,) in yearly)


def say_first(db: sqlite3.Connection, lists: Lists, saying: Saying, at: int, boot: str) -> Outgoing | None:
    """Verb: as `say`, unless there is nothing to say, somebody waits for an answer, or nuan may not write any more."""
    turn = turn_of(db.execute(TURN + "WHERE turn.id = ?", (saying.turn_id,)).fetchone())
    waits = "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND why <> ?"
    may = silence_of(db, lists, turn.chat_id, saying.platforms) is not None
    if saying.line and may and db.execute(waits, (turn.chat_id, HEARTBEAT)).fetchone() is None:
        return say(db, saying, at, boot)
    if saying.settlement is not None:
        settle(db, saying.settlement, at)
    leave(db, HEARTBEAT, turn.chat_id, "overtaken" if saying.line else "skip", at)
    return None
