"""Speaking unasked: writing first after a silence, and entering a group's talk."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bot.core.events import Event, Outgoing
from bot.core.people import Audience
from bot.core.sessions import Turn
from bot.core.speaking import ENTRY, HEARTBEAT, JOIN, UNASKED, GroupMode, GroupTalk, JoinVerdict, PastEntry, SilentChat
from bot.store.access import permissions_of
from bot.store.commitments import visible_commitment
from bot.store.engine import IS_LEFT, Repository, reads, writes, writing
from bot.store.events import IS_VISIBLE, QUOTED_ID, finish_events, read_events
from bot.store.ledger import settle_call
from bot.store.memories import visible_memory
from bot.store.schema import EVENT_QUEUE, IS_CURRENT
from bot.store.settings import BOT_OFF
from bot.store.transactions import Tx
from bot.store.turns import SELECT_TURN, TurnToSay, running_turns, say_turn, turn_of, void_turn

GAP_MS = 60_000
"""Between two chats in which nuan is asked to write first: after a long absence not all of them at once."""

FREE_AT = f"(SELECT coalesce(max(tried_at) + {GAP_MS}, 0) FROM heartbeat WHERE tried_at <= ?)"
"""When the next chat may be asked, as SQL of the time of now. A try of a clock that was wrong holds nobody up."""

CHATS_AT_ONCE = 100
"""Chats whose deadlines are set in one commit: people wait for no longer than that takes."""

MOST_SAID = 64
"""First messages of a chat that are looked at: more than a day may have."""

DUE_HEARTBEATS = f"SELECT chat_id FROM heartbeat WHERE due_at <= ? AND {FREE_AT} <= ? ORDER BY due_at, chat_id"

WHO = """SELECT person_id, script, timezone FROM member JOIN person ON person.id = person_id
    WHERE chat_id = ? ORDER BY seen_at DESC LIMIT 1"""

REACHED = f"""SELECT chat.id, platform FROM member JOIN chat ON chat.id = member.chat_id
    JOIN place ON place.chat_id = chat.id AND current = 1
    WHERE person_id = ? AND kind = 'dm' AND enabled = 1 AND gone = 0 AND NOT {BOT_OFF}
    ORDER BY seen_at DESC, chat.id"""
"""The DMs of a person in which nuan may speak, the one they were last seen in first."""

QUEUED = "UPDATE event SET state = 'done', outcome = ?, due_at = NULL WHERE state = 'queued' AND why = ?"
"""What is queued for a reason is over, as something."""

HAS_TALKED = """SELECT 1 FROM session JOIN turn ON turn.session_id = session.id
    WHERE session.chat_id = ? AND turn.state = 'said' AND turn.why <> ? LIMIT 1"""

LAST_LINE_OF = "SELECT at, id FROM event WHERE chat_id = ? AND kind = ? ORDER BY id DESC LIMIT 1"

SKIPS = "SELECT count(*) FROM event WHERE chat_id = ? AND id > ? AND why = ? AND outcome = 'skip'"

UNANSWERED = f"""WHERE {IS_VISIBLE}chat_id = ? AND id > ? AND id <= ? AND kind = 'bot'
    AND EXISTS (SELECT 1 FROM turn WHERE turn.id = turn_id AND turn.why = ?) ORDER BY id DESC LIMIT 3"""

MOST_AHEAD = 16
"""Moments that something is dated to which are looked at, the nearest; and days of every year."""

NextHeartbeat = Callable[[SilentChat, int], int | None]
"""When nuan may write first, ms, from the given moment on; None: not until the person writes."""


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
        (SELECT quoted.person_id FROM event AS quoted WHERE quoted.id = {QUOTED_ID}) END
    FROM event JOIN person ON person.id = person_id
    WHERE chat_id = ? AND kind = 'message' AND hidden = '' ORDER BY event.id DESC LIMIT {MOST_LINES}"""

_ENTRIES = f"""SELECT event.id, coalesce(turn.said_at, event.at), outcome, EXISTS (SELECT 1 FROM event AS answer
    WHERE answer.chat_id = event.chat_id AND answer.id > event.id AND answer.kind = 'message'
    AND answer.at <= coalesce(turn.said_at, event.at) + ? AND answer.why IN ('mention', 'reply', 'name', 'window'))
    FROM event LEFT JOIN turn ON turn.id = event.turn_id
    WHERE event.chat_id = ? AND event.why = '{JOIN}' ORDER BY event.id DESC LIMIT {MOST_ENTRIES}"""

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
    """All that is stored of a talk that is to be looked at: the chat's own mode, its lines in order, and nuan's part."""

    mode: GroupMode | None
    lines: tuple[TalkLineRow, ...]
    part: GroupTalk


def keep_verdict(tx: Tx, chat_id: int, verdict: JoinVerdict, event_id: int, at: int) -> None:
    """What was judged of a talk; a nearer deadline that came meanwhile stays."""
    if verdict.action == "wait":
        nearer = "UPDATE joining SET due_at = ? WHERE chat_id = ? AND (due_at IS NULL OR due_at > ?)"
        tx.run(nearer, verdict.at, chat_id, verdict.at)
    judged = "UPDATE joining SET why = ?, until = ?, score = ?, event_id = ?, looked_at = ? WHERE chat_id = ?"
    tx.run(judged, verdict.why, verdict.at, verdict.score, event_id, at, chat_id)


class ProactiveTurns(Repository):
    """What nuan says unasked: first messages, whose deadline may be early and is worked out anew when it comes, and
    entries into talks."""

    keep_verdict = writing(keep_verdict)

    @writes
    def say_unasked(self, tx: Tx, saying: TurnToSay, at: int) -> Outgoing | None:
        """The last commit of a turn that nobody asked for; what to send first.

        Without a line, when somebody wrote meanwhile, or when nuan may not speak there any more, it is void: paid for,
        not logged, and nothing is sent.
        """
        turn = turn_of(tx.row(f"{SELECT_TURN}WHERE turn.id = ?", saying.turn_id))
        may_say = self._may_write if turn.why == HEARTBEAT else self._may_enter
        if saying.line and may_say(tx, turn, saying):
            return say_turn(tx, saying, at)
        if saying.settlement is not None:
            settle_call(tx, saying.settlement, at)
        _void(tx, turn.chat_id, turn.why, "overtaken" if saying.line else "skip", at)
        return None

    @writes
    def drop_unasked(self, tx: Tx, why: str, at: int) -> None:
        """What processes began for that reason which are gone is not said any more: turns whose calls they made,
        and what is queued in chats where nobody works."""
        unheard = f"{QUEUED} AND chat_id NOT IN (SELECT chat_id FROM chat_lease WHERE owner IS NOT NULL)"
        tx.run(unheard, "crash", why)
        for turn in running_turns(tx):
            if turn.why == why and tx.has(f"SELECT 1 FROM call WHERE turn_id = ? AND {IS_LEFT}", turn.id, tx.boot):
                finish_events(tx, turn.event_ids, "crash")
                void_turn(tx, turn, "crash", at, withdrawn=True)

    async def take_up(self, chat_id: int, at: int) -> bool:
        """Another process worked in that chat before: what it began unasked is not said; whether a turn is under way that
        was asked for."""
        begun, running = await self._database.read(partial(_left, chat_id=chat_id))
        for why in begun:
            await self.leave_unasked(chat_id, why, "crash", at)
        return running

    @writes
    def leave_unasked(self, tx: Tx, chat_id: int, why: str, outcome: str, at: int, *, overtaken: bool = False) -> None:
        """What is under way in this chat for that reason is not said. A call that was `overtaken` by people did not fail."""
        _void(tx, chat_id, why, outcome, at)
        if overtaken:
            newest = "(SELECT max(id) FROM event WHERE chat_id = ? AND why = ?)"
            failed = f"UPDATE event SET outcome = 'overtaken' WHERE outcome = 'failed' AND id = {newest}"
            tx.run(failed, chat_id, why)

    async def arm_heartbeats(self, platforms: frozenset[str], due: NextHeartbeat | None) -> None:
        """Set the deadline of every first message anew, None: there is none; what is under way goes on.

        Between its steps others are served.
        """
        chats = await self._unarm()
        if due is None:
            return
        for first in range(0, len(chats), CHATS_AT_ONCE):
            some = chats[first : first + CHATS_AT_ONCE]
            await self._database.write(partial(self._arm_some, chats=some, platforms=platforms, due=due), beside=True)

    @writes
    def _unarm(self, tx: Tx) -> tuple[int, ...]:
        """No first message has a deadline; the direct chats."""
        tx.run("UPDATE heartbeat SET due_at = NULL WHERE due_at IS NOT NULL")
        return tx.ids("SELECT id FROM chat WHERE kind = 'dm'")

    def _arm_some(self, tx: Tx, chats: tuple[int, ...], platforms: frozenset[str], due: NextHeartbeat) -> None:
        for chat_id in chats:
            self._arm(tx, chat_id, platforms, due)

    async def arm_heartbeat(
        self, chat_id: int, platforms: frozenset[str], due: NextHeartbeat, *, anew: bool = False
    ) -> None:
        """Set the deadline of a chat that has none; what was said since moves one only when it is due, or `anew`."""
        known = "SELECT 1 FROM chat LEFT JOIN heartbeat ON chat_id = id WHERE id = ? AND (kind = 'group' OR due_at > 0)"
        if anew or not await self._database.read(lambda tx: tx.has(known, chat_id)):
            await self._database.write(lambda tx: self._arm(tx, chat_id, platforms, due))

    def _arm(self, tx: Tx, chat_id: int, platforms: frozenset[str], due: NextHeartbeat) -> None:
        silence = silent_chat_of(tx, chat_id, platforms)
        when = due(silence, 0) if silence is not None else None
        if when is not None:
            tx.put("heartbeat", "chat_id", chat_id=chat_id, due_at=when)

    @reads
    def due_heartbeats(self, tx: Tx, at: int) -> tuple[int, ...]:
        """The chats in which nuan may be asked to write first, the first one first."""
        return tx.ids(DUE_HEARTBEATS, at, at, at)

    @writes
    def fire_heartbeat(
        self,
        tx: Tx,
        platforms: frozenset[str],
        due: NextHeartbeat,
        text: Callable[[SilentChat], str],
        at: int,
        only: int | None = None,
    ) -> int | None:
        """Queue the event that asks nuan to write first, in the first chat where that is due, or `only` there; that chat.

        At most one chat a minute; a deadline that is due no more moves. `text` is what the model is told.
        """
        chats = tx.ids(DUE_HEARTBEATS, at, at, at)
        for chat_id in chats if only is None else (only,) * (only in chats):
            silence = silent_chat_of(tx, chat_id, platforms)
            when = due(silence, at) if silence is not None else None
            if silence is None or when is None or when > at:
                tx.run("UPDATE heartbeat SET due_at = ? WHERE chat_id = ?", when, chat_id)
                continue
            tx.run("UPDATE heartbeat SET due_at = NULL, tried_at = ? WHERE chat_id = ?", at, chat_id)
            _ask(tx, chat_id, silence.person_id, text(silence), HEARTBEAT, HEARTBEAT, at)
            return chat_id
        return None

    @reads
    def unanswered(self, tx: Tx, chat_id: int, after: int, upto: int) -> tuple[Event, ...]:
        """What nuan wrote first in a chat since somebody wrote there last, after < id <= upto, in order."""
        last = f"SELECT id FROM event WHERE {IS_VISIBLE}chat_id = ? AND id <= ? AND kind = 'message' ORDER BY id DESC LIMIT 1"
        heard = tx.number(last, chat_id, upto)
        return read_events(tx, UNANSWERED, chat_id, max(after, heard), upto, HEARTBEAT)[::-1]

    def _may_write(self, tx: Tx, turn: Turn, saying: TurnToSay) -> bool:
        if silent_chat_of(tx, turn.chat_id, saying.known) is None:
            return False
        waits = "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND why <> ?"
        return not tx.has(waits, turn.chat_id, HEARTBEAT)

    @writes
    def take_talk(self, tx: Tx, chat_id: int, window_ms: int, at: int) -> TalkState | None:
        """The talk of a chat whose deadline has come, which is over with that; None where none has.

        What somebody said up to `window_ms` after an entry may answer it.
        """
        if not tx.run("UPDATE joining SET due_at = NULL WHERE chat_id = ? AND due_at <= ?", chat_id, at):
            return None
        entries = tx.all(_ENTRIES, window_ms, chat_id)
        spoke_id, spoke_at = tx.one(_SPOKE, chat_id) or (0, 0)
        part = GroupTalk(
            (),
            tuple(
                PastEntry(
                    said_at,
                    outcome == "answered",
                    bool(answered) and outcome == "answered",
                    outcome not in NEUTRAL_OUTCOMES,
                )
                for _, said_at, outcome, answered in reversed(entries)
            ),
            spoke_id,
            spoke_at,
            entries[0][0] if entries else 0,
            tx.has(_WAITING, chat_id),
            bool(tx.value("SELECT hushed FROM joining WHERE chat_id = ?", chat_id)),
        )
        mode = tx.value("SELECT mode FROM chat WHERE id = ?", chat_id) or None
        return TalkState(mode, tx.all(_LINES, chat_id, to=TalkLineRow)[::-1], part)

    @writes
    def enter_talk(
        self, tx: Tx, chat_id: int, verdict: JoinVerdict, newest: TalkLineRow, text: str, at: int
    ) -> JoinVerdict:
        """Queue the event that asks nuan; `text` is what the model is told. What came of it is remembered.

        Nothing is queued where somebody said something after the `newest` line, or where nuan may not speak now.
        """
        if self._may_speak(tx, chat_id, newest.person_id, newest.id):
            _ask(tx, chat_id, newest.person_id, text, JOIN, ENTRY, at)
        else:
            verdict = JoinVerdict("silent", "away", score=verdict.score)
        keep_verdict(tx, chat_id, verdict, newest.id, at)
        return verdict

    def _may_enter(self, tx: Tx, turn: Turn, _: TurnToSay) -> bool:
        asked = tx.value("SELECT max(event_id) FROM turn_event WHERE turn_id = ?", turn.id)
        return self._may_speak(tx, turn.chat_id, turn.person_id, asked)

    def _may_speak(self, tx: Tx, chat_id: int, person_id: int, after: int) -> bool:
        """Whether nuan may speak there unasked: switched on, not muted, allowed with whoever spoke last, nothing was
        said after that event, and nobody waits.
        """
        here = (
            "SELECT 1 FROM chat JOIN joining ON chat_id = id WHERE id = ? AND enabled = 1 AND gone = 0 "
            f"AND NOT {BOT_OFF}"
        )
        said = "SELECT 1 FROM event WHERE chat_id = ? AND id > ? AND kind = 'message' AND hidden = '' LIMIT 1"
        if tx.has(said, chat_id, after) or tx.has(_WAITING, chat_id) or not tx.has(here, chat_id):
            return False
        return permissions_of(tx, chat_id, person_id).allowed


def _ask(tx: Tx, chat_id: int, person_id: int, text: str, why: str, label: str, at: int) -> None:
    """Queue the event that asks nuan; `text` is what the model is told."""
    tx.insert(
        "event",
        chat_id=chat_id,
        at=at,
        kind="event",
        person_id=person_id,
        text=text,
        label=label,
        state="queued",
        why=why,
        due_at=at,
        hidden=label,
    )


def _left(tx: Tx, chat_id: int) -> tuple[list[str], bool]:
    """For which reasons something unasked was begun in a chat, and whether a turn is under way there that was asked for."""
    queued = f"SELECT DISTINCT why FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued'"
    running = "SELECT DISTINCT why FROM turn WHERE chat_id = ? AND state IN ('asked', 'answered')"
    waiting, asked = ({why for (why,) in tx.all(sql, chat_id)} for sql in (queued, running))
    return sorted((waiting | asked) & set(UNASKED)), bool(asked - set(UNASKED))


def _void(tx: Tx, chat_id: int, why: str, outcome: str, at: int) -> None:
    """Of all that was asked for that reason in a chat nothing is said any more, and nothing stays logged."""
    tx.run(f"{QUEUED} AND chat_id = ?", outcome, why, chat_id)
    for turn in running_turns(tx, chat_id):
        if turn.why == why:
            void_turn(tx, turn, outcome, at, withdrawn=True)


def silent_chat_of(tx: Tx, chat_id: int, platforms: frozenset[str]) -> SilentChat | None:
    """The silence of a chat; None where nuan never writes first.

    That is in groups, with people who are not allowed or never talked with nuan here, where it was told to be quiet,
    where nothing can be sent to, and in all DMs of a person but the one they were last seen in.
    """
    row = tx.one(WHO, chat_id)
    if row is None:
        return None
    person_id, script, timezone = row
    reached = (number for number, platform in tx.all(REACHED, person_id) if platform in platforms)
    if next(reached, None) != chat_id or not permissions_of(tx, chat_id, person_id).allowed:
        return None
    if not tx.has(HAS_TALKED, chat_id, HEARTBEAT):
        return None
    heard_at, heard_id = tx.one(LAST_LINE_OF, chat_id, "message") or (0, 0)
    spoke_at = tx.value(LAST_LINE_OF, chat_id, "bot") or 0
    sql = (
        "SELECT said_at FROM turn WHERE chat_id = ? AND why = 'heartbeat' AND state = 'said' "
        "ORDER BY said_at DESC LIMIT ?"
    )
    said = tx.ids(sql, chat_id, MOST_SAID)
    return SilentChat(
        max(heard_at, spoke_at),
        tx.value("SELECT tried_at FROM heartbeat WHERE chat_id = ?", chat_id) or 0,
        said,
        sum(at > heard_at for at in said),
        person_id,
        script,
        timezone,
        heard_at,
        tx.value(SKIPS, chat_id, heard_id, HEARTBEAT),
        *dated_moments(tx, Audience(chat_id, "dm", (person_id,)), heard_at),
    )


def dated_moments(tx: Tx, audience: Audience, after: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Moments after `after`, ms, that something of a person is dated to which may be told in their DM (what is to be done by
    then, appointments), and the days of every year.
    """
    promised, given = visible_commitment(audience)
    told, known = visible_memory(audience)
    mine = f"FROM memory WHERE {IS_CURRENT} AND owner_id = ? AND {told} AND kind"
    sql = (
        f"SELECT due_at FROM commitment WHERE ended_at IS NULL AND due_at > ? AND {promised} UNION "
        f"SELECT observed_at {mine} <> 'anniversary' AND observed_at > ? AND observed_at > said_at "
        "AND dated NOT IN ('month', 'year') ORDER BY 1 LIMIT ?"
    )
    ahead = tx.ids(sql, after, *given, audience.alone, *known, after, MOST_AHEAD)
    yearly = f"SELECT observed_at {mine} = 'anniversary' ORDER BY id DESC LIMIT ?"
    return ahead, tx.ids(yearly, audience.alone, *known, MOST_AHEAD)
