"""Speaking unasked: writing first after a silence, and entering a group's talk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from bot.core.events import Event, Outgoing
from bot.core.people import Audience
from bot.core.sessions import Turn
from bot.core.speaking import ENTRY, HEARTBEAT, JOIN, GroupMode, JoinVerdict, PastEntry, SilentChat
from bot.store.commitments import visible_commitment
from bot.store.engine import Database
from bot.store.events import IS_VISIBLE, SELECT_EVENT, event_of
from bot.store.failures import fail_turn
from bot.store.ingest import QUOTED_ID
from bot.store.ledger import charge_call, settle_call
from bot.store.memories import visible_memory
from bot.store.people import AccessLists, permissions_of
from bot.store.schema import IS_CURRENT
from bot.store.settings import BOT_OFF
from bot.store.transactions import Tx
from bot.store.turns import SELECT_TURN, TurnToSay, say_turn, turn_of


def void_unasked(db: Tx, why: str, chat_id: int | None, outcome: str, at: int) -> None:
    """Within a transaction: of all that was asked for that reason in a chat (None: in any) nothing is said any more."""
    where = "why = ?2 AND (?1 IS NULL OR {}chat_id = ?1)"
    running = f"WHERE turn.state IN ('asked', 'answered') AND turn.{where.format('turn.')}"
    for row in db.execute(SELECT_TURN + running, (chat_id, why)).fetchall():
        _void(db, turn_of(row), outcome, at)
    db.execute(
        f"UPDATE event SET state = 'done', outcome = ?3, due_at = NULL WHERE state = 'queued' AND {where.format('')}",
        (chat_id, why, outcome),
    )


def _void(db: Tx, turn: Turn, error: str, at: int) -> None:
    """A turn that is over without a word; what it logged goes, a call in flight costs what was reserved."""
    for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn.id,)).fetchall():
        charge_call(db, call_id, at)
    fail_turn(db, turn, error, None, None, at)
    db.execute("UPDATE turn SET state = 'void' WHERE id = ?", (turn.id,))


GAP_MS = 60_000
"""Between two chats in which nuan is asked to write first: after a long absence not all of them at once."""

FREE_AT = f"(SELECT coalesce(max(tried_at) + {GAP_MS}, 0) FROM heartbeat WHERE tried_at <= ?1)"
"""When the next chat may be asked, as SQL; ?1 is now. A try of a clock that was wrong holds nobody up."""

MOST_SAID = 64
"""First messages of a chat that are looked at: more than a day may have."""

DUE_HEARTBEATS = f"SELECT chat_id FROM heartbeat WHERE due_at <= ?1 AND {FREE_AT} <= ?1 ORDER BY due_at, chat_id"

WHO = """SELECT person_id, script, timezone FROM member JOIN person ON person.id = person_id
    WHERE chat_id = ? ORDER BY seen_at DESC LIMIT 1"""

REACHED = f"""SELECT chat.id, platform FROM member JOIN chat ON chat.id = member.chat_id
    JOIN place ON place.chat_id = chat.id AND current = 1
    WHERE person_id = ? AND kind = 'dm' AND enabled = 1 AND gone = 0 AND NOT {BOT_OFF}
    ORDER BY seen_at DESC, chat.id"""
"""The DMs of a person in which nuan may speak, the one they were last seen in first."""

HAS_TALKED = """SELECT 1 FROM session JOIN turn ON turn.session_id = session.id
    WHERE session.chat_id = ? AND turn.state = 'said' AND turn.why <> ? LIMIT 1"""

LAST_LINE_OF = "SELECT at, id FROM event WHERE chat_id = ? AND kind = ? ORDER BY id DESC LIMIT 1"

SKIPS = "SELECT count(*) FROM event WHERE chat_id = ? AND id > ? AND why = ? AND outcome = 'skip'"

UNANSWERED = f"""{SELECT_EVENT}WHERE {IS_VISIBLE}chat_id = ?1 AND id > max(?2, coalesce((SELECT id FROM main.event
    WHERE chat_id = ?1 AND kind = 'message' AND hidden = '' AND id <= ?3 ORDER BY id DESC LIMIT 1), 0)) AND id <= ?3
    AND kind = 'bot' AND EXISTS (SELECT 1 FROM turn WHERE turn.id = turn_id AND turn.why = ?4)
    ORDER BY id DESC LIMIT 3"""

MOST_AHEAD = 16
"""Moments that something is dated to which are looked at, the nearest; and days of every year."""

NextHeartbeat = Callable[[SilentChat, int], int | None]
"""When nuan may write first, ms, from the given moment on; None: not until the person writes."""


class Heartbeats:
    """The deadlines of first messages, one for each DM; one may be early, and is worked out anew when it comes."""

    def __init__(self, database: Database, lists: AccessLists, boot: str) -> None:
        self._database = database
        self._lists = lists
        self._boot = boot

    async def begin(self, platforms: frozenset[str], due: NextHeartbeat, at: int) -> None:
        """At a start: what an earlier process began is not said any more, and every deadline is set anew."""

        def transaction(db: Tx) -> None:
            void_unasked(db, HEARTBEAT, None, "crash", at)
            self._arm_all(db, platforms, due)

        await self._database.write(transaction)

    async def rearm(self, platforms: frozenset[str], due: NextHeartbeat) -> None:
        """The rules have changed: every deadline is set anew, what is under way goes on."""
        await self._database.write(lambda db: self._arm_all(db, platforms, due))

    async def arm(self, chat_id: int, platforms: frozenset[str], due: NextHeartbeat, *, anew: bool = False) -> None:
        """Set the deadline of a chat that has none; what was said since moves one only when it is due, or `anew`."""
        known = "SELECT 1 FROM chat LEFT JOIN heartbeat ON chat_id = id WHERE id = ? AND (kind = 'group' OR due_at > 0)"
        if anew or await self._database.row(known, (chat_id,)) is None:
            await self._database.write(lambda db: self._arm(db, chat_id, platforms, due))

    async def fire(
        self, platforms: frozenset[str], due: NextHeartbeat, text: Callable[[SilentChat], str], at: int
    ) -> int | None:  # fmt: skip
        """Queue the event that asks nuan to write first, in the first chat where that is due; that chat.

        At most one chat a minute; a deadline that is due no more moves. `text` is what the model is told.
        """

        def transaction(db: Tx) -> int | None:
            for (chat_id,) in db.execute(DUE_HEARTBEATS, (at,)).fetchall():
                silence = silent_chat_of(db, self._lists, chat_id, platforms)
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

        return await self._database.write(transaction)

    async def unanswered(self, chat_id: int, after: int, upto: int) -> tuple[Event, ...]:
        """What nuan wrote first in a chat since somebody wrote there last, after < id <= upto, in order."""
        rows = await self._database.rows(UNANSWERED, (chat_id, after, upto, HEARTBEAT))
        return tuple(event_of(row) for row in reversed(rows))

    async def say(self, saying: TurnToSay, at: int) -> Outgoing | None:
        """The last commit of a turn that nobody asked for; what to send first.

        Without a line, or when somebody wrote meanwhile, it is void: paid for, not logged, and nothing is sent.
        """
        return await self._database.write(lambda db: say_first(db, self._lists, saying, at, self._boot))

    async def leave(self, chat_id: int, outcome: str, at: int) -> None:
        """Nothing is said first in this chat: what runs is void, what waits is taken off the queue."""
        await self._database.write(lambda db: void_unasked(db, HEARTBEAT, chat_id, outcome, at))

    def _arm_all(self, db: Tx, platforms: frozenset[str], due: NextHeartbeat) -> None:
        db.execute("UPDATE heartbeat SET due_at = NULL WHERE due_at IS NOT NULL")
        for (chat_id,) in db.execute("SELECT id FROM chat WHERE kind = 'dm'").fetchall():
            self._arm(db, chat_id, platforms, due)

    def _arm(self, db: Tx, chat_id: int, platforms: frozenset[str], due: NextHeartbeat) -> None:
        silence = silent_chat_of(db, self._lists, chat_id, platforms)
        when = due(silence, 0) if silence is not None else None
        if when is not None:
            db.execute(
                "INSERT INTO heartbeat (chat_id, due_at) VALUES (?1, ?2) "
                "ON CONFLICT (chat_id) DO UPDATE SET due_at = ?2",
                (chat_id, when),
            )


def silent_chat_of(db: Tx, lists: AccessLists, chat_id: int, platforms: frozenset[str]) -> SilentChat | None:
    """Within a transaction: the silence of a chat; None where nuan never writes first.

    That is in groups, with people who are not allowed or never talked with nuan here, where she was told to be quiet,
    where nothing can be sent to, and in all DMs of a person but the one they were last seen in.
    """
    row = db.execute(WHO, (chat_id,)).fetchone()
    if row is None:
        return None
    person_id, script, timezone = row
    reached = (number for number, platform in db.execute(REACHED, (person_id,)).fetchall() if platform in platforms)
    if next(reached, None) != chat_id or not permissions_of(db, lists, chat_id, person_id).allowed:
        return None
    if db.execute(HAS_TALKED, (chat_id, HEARTBEAT)).fetchone() is None:
        return None
    heard, spoke = (db.execute(LAST_LINE_OF, (chat_id, kind)).fetchone() or (0, 0) for kind in ("message", "bot"))
    skips = db.execute(SKIPS, (chat_id, heard[1], HEARTBEAT)).fetchone()[0]
    tried = db.execute("SELECT tried_at FROM heartbeat WHERE chat_id = ?", (chat_id,)).fetchone()
    said = tuple(
        cast("int", at)
        for (at,) in db.execute(
            "SELECT said_at FROM turn WHERE chat_id = ? AND why = 'heartbeat' AND state = 'said' "
            "ORDER BY said_at DESC LIMIT ?",
            (chat_id, MOST_SAID),
        )
    )
    ignored = sum(at > heard[0] for at in said)
    return SilentChat(
        max(heard[0], spoke[0]), (tried[0] if tried else None) or 0, said, ignored, person_id, script, timezone,
        heard[0], skips, *dated_moments(db, Audience(chat_id, "dm", (person_id,)), heard[0]),
    )  # fmt: skip


def dated_moments(db: Tx, audience: Audience, after: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Within a transaction: moments after `after`, ms, that something of a person is dated to which may be told in
    their DM, and the days of every year.

    What they have still to do by a day, and what they told of before it was: an appointment; birthdays.
    """
    promised, given = visible_commitment(audience)
    told, known = visible_memory(audience)
    mine = f"FROM memory WHERE {IS_CURRENT} AND owner_id = ? AND {told} AND kind"
    ahead = db.execute(
        f"SELECT due_at FROM commitment WHERE ended_at IS NULL AND due_at > ? AND {promised} UNION "
        f"SELECT observed_at {mine} <> 'anniversary' AND observed_at > ? AND observed_at > said_at "
        "AND dated NOT IN ('month', 'year') ORDER BY 1 LIMIT ?",
        (after, *given, audience.alone, *known, after, MOST_AHEAD),
    )
    yearly = db.execute(
        f"SELECT observed_at {mine} = 'anniversary' ORDER BY id DESC LIMIT ?", (audience.alone, *known, MOST_AHEAD)
    )
    return tuple(cast("int", at) for (at,) in ahead), tuple(cast("int", at) for (at,) in yearly)


def say_first(db: Tx, lists: AccessLists, saying: TurnToSay, at: int, boot: str) -> Outgoing | None:
    """One transaction: as `say`, unless there is nothing to say, somebody waits for an answer, or nuan may not write
    any more.
    """
    turn = turn_of(db.execute(SELECT_TURN + "WHERE turn.id = ?", (saying.turn_id,)).fetchone())
    waits = "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND why <> ?"
    may = silent_chat_of(db, lists, turn.chat_id, saying.platforms) is not None
    if saying.line and may and db.execute(waits, (turn.chat_id, HEARTBEAT)).fetchone() is None:
        return say_turn(db, saying, at, boot)
    if saying.settlement is not None:
        settle_call(db, saying.settlement, at)
    void_unasked(db, HEARTBEAT, turn.chat_id, "overtaken" if saying.line else "skip", at)
    return None


MOST_LINES = 30
"""Newest lines of a talk that are looked at: more than people say in the time that counts, or than counts for pace."""

LINE_CHARS = 500
"""Characters of a line that are looked at."""

MOST_ENTRIES = 60
"""Earlier entries that are looked at: as many as an hour may have."""

NEUTRAL_OUTCOMES = ("", "overtaken", "crash", "void", "background")
"""Outcomes that say nothing about whether nuan is welcome."""

_LINES = f"""SELECT event.id, event.at, person_id, person.name, substr(event.text, 1, {LINE_CHARS}), why, forwarded,
    person.is_bot, target <> '', CASE WHEN target <> '' THEN
        (SELECT quoted.person_id FROM main.event AS quoted WHERE quoted.id = {QUOTED_ID}) END
    FROM event JOIN person ON person.id = person_id
    WHERE chat_id = ?1 AND kind = 'message' AND hidden = '' ORDER BY event.id DESC LIMIT {MOST_LINES}"""

_ENTRIES = f"""SELECT event.id, coalesce(turn.said_at, event.at), outcome, EXISTS (SELECT 1 FROM event AS answer
    WHERE answer.chat_id = ?1 AND answer.id > event.id AND answer.kind = 'message'
    AND answer.at <= coalesce(turn.said_at, event.at) + ?2 AND answer.why IN ('mention', 'reply', 'name', 'window'))
    FROM event LEFT JOIN turn ON turn.id = event.turn_id
    WHERE event.chat_id = ?1 AND event.why = '{JOIN}' ORDER BY event.id DESC LIMIT {MOST_ENTRIES}"""

_SPOKE = """SELECT id, at FROM event WHERE chat_id = ? AND kind = 'bot' AND label <> 'stop' ORDER BY id DESC LIMIT 1"""

_WAITING = "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND kind = 'message' LIMIT 1"


@dataclass(frozen=True, slots=True)
class TalkLineRow:
    """One line of people, as it was said: whether it was for somebody else, and who that is where a reply tells."""

    id: int
    at: int
    person_id: int
    name: str
    text: str
    why: str
    forwarded: bool
    from_bot: bool
    is_reply: bool
    replied_to: int | None


@dataclass(frozen=True, slots=True)
class TalkState:
    """All that is stored of a talk that is to be looked at, lines and entries in order; `mode` is the chat's own."""

    mode: GroupMode | None
    lines: tuple[TalkLineRow, ...]
    entries: tuple[PastEntry, ...]
    seen: int
    spoke_id: int
    spoke_at: int
    waiting: bool
    hushed: bool


class Joins:
    """The talks that nuan may enter."""

    def __init__(self, database: Database, lists: AccessLists, boot: str) -> None:
        self._database = database
        self._lists = lists
        self._boot = boot

    async def begin(self, at: int) -> None:
        """At a start: what an earlier process began to say is not said any more."""
        await self._database.write(lambda db: void_unasked(db, JOIN, None, "crash", at))

    async def take(self, chat_id: int, window_ms: int, at: int) -> TalkState | None:
        """The talk of a chat whose deadline has come, which is over with that; None where none has.

        What somebody said up to `window_ms` after an entry may answer it.
        """
        return await self._database.write(lambda db: take_talk(db, chat_id, window_ms, at))

    async def keep(self, chat_id: int, verdict: JoinVerdict, event_id: int, at: int) -> None:
        """Remember what was judged of a talk up to that event, and when to look again."""
        await self._database.write(lambda db: keep_verdict(db, chat_id, verdict, event_id, at))

    async def enter(self, chat_id: int, verdict: JoinVerdict, newest: TalkLineRow, text: str, at: int) -> JoinVerdict:
        """Queue the event that asks nuan; `text` is what the model is told. What came of it is remembered.

        Nothing is queued where somebody said something after the `newest` line, or where nuan may not speak now.
        """
        return await self._database.write(lambda db: enter_talk(db, self._lists, chat_id, (verdict, newest, text), at))

    async def say(self, saying: TurnToSay, at: int) -> Outgoing | None:
        """The last commit of a turn that nobody asked for; what to send first.

        Without a line, or when somebody said something meanwhile, it is void: paid for, not logged, nothing is sent.
        """
        return await self._database.write(lambda db: say_entry(db, self._lists, saying, at, self._boot))

    async def leave(self, chat_id: int, outcome: str, *, overtaken: bool, at: int) -> None:
        """What is under way in this chat is not said. A call that was `overtaken` by people did not fail."""

        def transaction(db: Tx) -> None:
            void_unasked(db, JOIN, chat_id, outcome, at)
            if overtaken:
                db.execute(
                    "UPDATE event SET outcome = 'overtaken' WHERE outcome = 'failed' AND id = "
                    "(SELECT max(id) FROM event WHERE chat_id = ? AND why = ?)",
                    (chat_id, JOIN),
                )

        await self._database.write(transaction)


def take_talk(db: Tx, chat_id: int, window_ms: int, at: int) -> TalkState | None:
    """One transaction: see `Joins.take`."""
    due = "UPDATE joining SET due_at = NULL WHERE chat_id = ? AND due_at <= ?"
    if db.execute(due, (chat_id, at)).rowcount != 1:
        return None
    (mode,) = db.execute("SELECT mode FROM chat WHERE id = ?", (chat_id,)).fetchone()
    (hushed,) = db.execute("SELECT hushed FROM joining WHERE chat_id = ?", (chat_id,)).fetchone()
    entries = db.execute(_ENTRIES, (chat_id, window_ms)).fetchall()
    spoke = db.execute(_SPOKE, (chat_id,)).fetchone() or (0, 0)
    return TalkState(
        mode=cast("GroupMode", mode) if mode else None,
        lines=tuple(_heard(row) for row in reversed(db.execute(_LINES, (chat_id,)).fetchall())),
        entries=tuple(
            PastEntry(
                said_at,
                outcome == "answered",
                bool(answered) and outcome == "answered",
                outcome not in NEUTRAL_OUTCOMES,
            )
            for _, said_at, outcome, answered in reversed(entries)
        ),
        seen=entries[0][0] if entries else 0,
        spoke_id=spoke[0],
        spoke_at=spoke[1],
        waiting=db.execute(_WAITING, (chat_id,)).fetchone() is not None,
        hushed=bool(hushed),
    )


def _heard(row: tuple[object, ...]) -> TalkLineRow:
    number, at, person, name, text, why, forwarded, is_bot, is_reply, to = row
    return TalkLineRow(
        cast("int", number), cast("int", at), cast("int", person), str(name), str(text), str(why), bool(forwarded),
        bool(is_bot), bool(is_reply), cast("int | None", to),
    )  # fmt: skip


def keep_verdict(db: Tx, chat_id: int, verdict: JoinVerdict, event_id: int, at: int) -> None:
    """One transaction: see `Joins.keep`; a nearer deadline that came meanwhile stays."""
    due = verdict.at if verdict.action == "wait" else None
    db.execute(
        "UPDATE joining SET due_at = CASE WHEN ?2 IS NULL THEN due_at ELSE min(coalesce(due_at, ?2), ?2) END, "
        "why = ?3, until = ?4, score = ?5, event_id = ?6, looked_at = ?7 WHERE chat_id = ?1",
        (chat_id, due, verdict.why, verdict.at, verdict.score, event_id, at),
    )


def enter_talk(
    db: Tx, lists: AccessLists, chat_id: int, what: tuple[JoinVerdict, TalkLineRow, str], at: int
) -> JoinVerdict:  # fmt: skip
    """One transaction: see `Joins.enter`."""
    verdict, newest, text = what
    if not _may(db, lists, chat_id, newest.person_id) or _later(db, chat_id, newest.id):
        verdict = JoinVerdict("silent", "away", score=verdict.score)
    else:
        db.execute(
            "INSERT INTO event (chat_id, at, kind, person_id, text, label, state, why, due_at, hidden) "
            "VALUES (?1, ?2, 'event', ?3, ?4, ?5, 'queued', ?6, ?2, ?5)",
            (chat_id, at, newest.person_id, text, ENTRY, JOIN),
        )
    keep_verdict(db, chat_id, verdict, newest.id, at)
    return verdict


def say_entry(db: Tx, lists: AccessLists, saying: TurnToSay, at: int, boot: str) -> Outgoing | None:
    """One transaction: as `say`, unless there is nothing to say, somebody said something, or nuan may not speak any
    more.
    """
    turn = turn_of(db.execute(SELECT_TURN + "WHERE turn.id = ?", (saying.turn_id,)).fetchone())
    (asked,) = db.execute("SELECT max(event_id) FROM turn_event WHERE turn_id = ?", (turn.id,)).fetchone()
    free = _may(db, lists, turn.chat_id, turn.person_id) and not _later(db, turn.chat_id, asked)
    if saying.line and free:
        return say_turn(db, saying, at, boot)
    if saying.settlement is not None:
        settle_call(db, saying.settlement, at)
    void_unasked(db, JOIN, turn.chat_id, "overtaken" if saying.line else "skip", at)
    return None


def _may(db: Tx, lists: AccessLists, chat_id: int, person_id: int) -> bool:
    """Whether nuan may speak there unasked: switched on, not muted, allowed with whoever spoke last."""
    here = (
        "SELECT 1 FROM chat JOIN joining ON chat_id = id WHERE id = ? AND enabled = 1 AND gone = 0 AND hushed = 0 "
        f"AND NOT {BOT_OFF}"
    )
    on = db.execute(here, (chat_id,)).fetchone() is not None
    return on and permissions_of(db, lists, chat_id, person_id).allowed


def _later(db: Tx, chat_id: int, event_id: int) -> bool:
    """Whether something was said after that event, or somebody waits."""
    said = "SELECT 1 FROM event WHERE chat_id = ? AND id > ? AND kind = 'message' AND hidden = '' LIMIT 1"
    later = db.execute(said, (chat_id, event_id)).fetchone() is not None
    return later or db.execute(_WAITING, (chat_id,)).fetchone() is not None
