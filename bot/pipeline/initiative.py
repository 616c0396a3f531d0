"""Speaking unasked: writing first after silence, and entering a talk of a group. People come first."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from bot.core.errors import OverLimit, StoreError
from bot.core.ports import Clock, Log
from bot.core.recall import RecallQuery
from bot.core.sessions import Occasion
from bot.core.speaking import HEARTBEAT, JOIN, GroupLine, GroupTalk, JoinVerdict, SilentChat
from bot.language.small_talk import asks_something
from bot.pipeline.calls import BackgroundGate
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner
from bot.pipeline.recall import Recall
from bot.pipeline.refusals import TalkLimiter
from bot.speaking.initiative import addressee, heartbeat_due, manners_verdict, score_verdict
from bot.store.proactive import TalkLineRow, TalkState
from bot.store.store import Store
from bot.text.dates import duration_label

Begin = Callable[[Occasion, asyncio.Event], Awaitable[None]]
"""Runs the turn of an occasion; its model call ends when the event is set."""

SAID = 6
"""Newest lines that are compared with what nuan knows (SEED_SYSTEMS C27: up to 6)."""


class UnaskedTurns:
    """Turns that nobody asked for: whoever writes ends them, and whatever goes wrong is logged and nobody is told."""

    def __init__(self, failure: str, log: Log) -> None:
        """`failure` is what the log calls one that fails."""
        self._failure = failure
        self._log = log
        self._stops: dict[int, asyncio.Event] = {}

    def interrupt(self, chat_id: int) -> None:
        """Somebody writes in this chat: what nuan was about to say has no place any more."""
        if chat_id in self._stops:
            self._stops[chat_id].set()

    async def look(self, store: Store, now: int) -> None:
        """As `interrupt`, where another process stored what somebody wrote, and it is to be answered."""
        for chat_id in tuple(self._stops):
            waiting = await store.events.waiting(chat_id, now)
            if any(event.kind == "message" for event in waiting.due):
                self.interrupt(chat_id)

    @contextmanager
    def _turn(self, chat_id: int) -> Iterator[asyncio.Event]:
        """The turn of a chat, which is to end when the event is set. StoreError and OSError pass."""
        stop = self._stops[chat_id] = asyncio.Event()
        try:
            yield stop
        except (StoreError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - what nobody asked for must not stop the chat
            self._log.error(self._failure, chat=chat_id, exc_info=error)
        finally:
            del self._stops[chat_id]


class HeartbeatService(UnaskedTurns):
    """What the alarm and the chat queues do so that nuan writes first."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        current: Current,
        begin: Begin,
        platforms: Callable[[], frozenset[str]],
        log: Log,
    ) -> None:
        """`platforms` are those that one can send to now."""
        super().__init__("heartbeat_failed", log)
        self._store = store
        self._clock = clock
        self._gate = BackgroundGate(store.settings, current)
        self._current = current
        self._begin = begin
        self._platforms = platforms
        self._due: set[int] = set()
        self._fired: set[int] = set()

    async def rearm(self) -> None:
        """Set every deadline anew, by other rules."""
        due = self._next if self._current.settings.heartbeat.on else None
        await self._store.turns.arm_heartbeats(self._platforms(), due)

    async def arm(self, chat_id: int, *, anew: bool = False) -> None:
        """Somebody was answered: from now on nuan may write first in this chat, when it has been silent.

        `anew`: more is known of the days ahead.
        """
        if self._current.settings.heartbeat.on:
            await self._store.turns.arm_heartbeat(chat_id, self._platforms(), self._next, anew=anew)

    async def fire(self) -> int | None:
        """Something is due: queue the event of the first chat, and say which chat that is.

        Beside other processes its event is queued by the work of that chat.
        """
        if not self._store.leases.shared:
            return await self._fire()
        for chat_id in await self._store.leases.claim((await self._store.turns.due_heartbeats(self._clock.now()))[:1]):
            self._due.add(chat_id)
            return chat_id
        return None

    async def _fire(self, only: int | None = None) -> int | None:
        now = self._clock.now()
        chat_id = await self._store.turns.fire_heartbeat(
            self._platforms(), self._next, lambda silence: self._told(silence, now), now, only
        )
        if chat_id is not None:
            self._fired.add(chat_id)
        return chat_id

    async def work(self, chat_id: int) -> None:
        """The turn of a chat where it was due.

        StoreError: nothing of the last step was stored; the next call ends what was begun.
        """
        if chat_id in self._due:
            await self._fire(chat_id)
            self._due.discard(chat_id)
        if chat_id not in self._fired:
            return
        outcome = "void"
        with self._turn(chat_id) as stop:
            if await self._gate.allows("heartbeat"):
                outcome = await self._beat(chat_id, stop)
        await self._store.turns.leave_unasked(chat_id, HEARTBEAT, outcome, self._clock.now())
        self._fired.discard(chat_id)

    async def _beat(self, chat_id: int, stop: asyncio.Event) -> str:
        """Run the turn, unless something else is to be done here; what becomes of an event that is still queued."""
        waiting = await self._store.events.waiting(chat_id, self._clock.now())
        beats = tuple(event for event in waiting.due if event.why == HEARTBEAT)
        if len(beats) < len(waiting.due) or await self._store.turns.running(chat_id):
            return "overtaken"
        if beats:
            person = waiting.people[beats[0].person_id]
            await self._begin(Occasion(waiting.chat, person, beats, HEARTBEAT), stop)
        return "void"

    def _next(self, silence: SilentChat, not_before: int) -> int | None:
        tz = self._current.words.tz(silence.timezone or self._current.words.zone)
        return heartbeat_due(silence, self._current.settings.heartbeat, tz, not_before)

    def _told(self, silence: SilentChat, now: int) -> str:
        """What the model is told instead of a message."""
        text = self._current.words.opening(self._current.words.script_named(silence.script))
        return text("heartbeat", silent=duration_label(now - (silence.heard_at or silence.last_at)))


class JoinService(UnaskedTurns):
    """What the alarm and the chat queues do so that nuan enters talks."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        current: Current,
        recalling: Recall,
        planner: Planner,
        limiter: TalkLimiter,
        begin: Begin,
        log: Log,
    ) -> None:
        super().__init__("join_failed", log)
        self._store = store
        self._clock = clock
        self._current = current
        self._recalling = recalling
        self._planner = planner
        self._limiter = limiter
        self._gate = BackgroundGate(store.settings, current)
        self._begin = begin
        self._due: set[int] = set()
        self._under_way: set[int] = set()

    def fire(self, chat_id: int) -> None:
        """The deadline of that chat has come: its work queue looks next."""
        self._due.add(chat_id)

    async def work(self, chat_id: int) -> None:
        """Look at a chat where that is due, and enter.

        StoreError: nothing of the last step was stored; the next call ends what was begun.
        """
        if chat_id in self._under_way:
            await self._store.turns.leave_unasked(chat_id, JOIN, "void", self._clock.now())
            self._under_way.discard(chat_id)
        if chat_id not in self._due:
            return
        self._due.discard(chat_id)
        speak = self._current.settings.speak
        standing = await self._store.turns.take_talk(chat_id, speak.window_seconds * 1000, self._clock.now())
        if standing is None or (standing.mode or speak.mode) != "join":
            return
        with self._turn(chat_id) as stop:
            await self._look(chat_id, standing, stop)

    async def _look(self, chat_id: int, standing: TalkState, stop: asyncio.Event) -> None:
        """Judge the talk, remember and log the verdict, and enter where that is it."""
        now, tz, talk = self._clock.now(), self._current.words.default_tz, talk_of(standing)
        speak = self._current.settings.speak
        verdict = manners_verdict(talk, speak.join, speak.window_seconds * 1000, tz, now)
        if verdict is None and not await self._gate.allows("join"):
            verdict = JoinVerdict("silent", "background")
        if verdict is None:
            verdict = score_verdict(talk, await self._relevance(chat_id, standing), speak.join, now)
        newest = standing.lines[-1] if standing.lines else None
        if verdict.action == "enter" and newest is not None:
            self._under_way.add(chat_id)
            person = await self._store.people.person(newest.person_id)
            told = self._current.words.opening(self._current.words.script(person))("entry")
            verdict = await self._store.turns.enter_talk(chat_id, verdict, newest, told, now)
        else:
            await self._store.turns.keep_verdict(chat_id, verdict, newest.id if newest is not None else 0, now)
        line = self._log.info if verdict.action == "enter" else self._log.debug
        line("looked", chat=chat_id, action=verdict.action, why=verdict.why, score=verdict.score, until=verdict.at)
        if verdict.action == "enter":
            await self._enter(chat_id, stop)
        self._under_way.discard(chat_id)

    async def _enter(self, chat_id: int, stop: asyncio.Event) -> None:
        """Run the turn, unless somebody came before it."""
        outcome = "void"
        try:
            waiting = await self._store.events.waiting(chat_id, self._clock.now())
            mine = tuple(event for event in waiting.due if event.why == JOIN)
            under_way = await self._store.turns.running(chat_id)
            if len(mine) < len(waiting.due) or under_way or stop.is_set():
                outcome = "overtaken"
            elif mine:
                pace = self._limiter.pace(None, mine)
                person = waiting.people[mine[0].person_id]
                await self._begin(Occasion(waiting.chat, person, mine, JOIN, pace=pace), stop)
        except OverLimit as error:
            self._log.info("over_limit", chat=chat_id, limit=error.limit, said=False)
            outcome = "limited"
        await self._store.turns.leave_unasked(chat_id, JOIN, outcome, self._clock.now(), overtaken=stop.is_set())

    async def _relevance(self, chat_id: int, standing: TalkState) -> float:
        """0 to 1: how well the last lines fit what everybody here may be told, or who nuan is.

        Memories are measured as the reference does, whichever mode orders a recall: the others have no scale.
        """
        last = [line for line in standing.lines if line.id > standing.part.spoke_id and not line.from_bot][-SAID:]
        text = "\n".join(line.text for line in last if not line.forwarded)
        chat, person = await self._store.people.chat(chat_id), await self._store.people.person(last[-1].person_id)
        audience = await self._planner.audience(chat, person)
        known = await self._recalling.known(RecallQuery(audience, person.id, text, self._clock.now()))
        about = self._current.value.texts.about[self._planner.personas.name(chat.persona)]
        weight = self._current.settings.speak.join.weight_persona
        return max(known, weight * await self._recalling.shared(text, about))


def talk_of(standing: TalkState) -> GroupTalk:
    """What is stored of a talk as its manners see it: who is called by name is read from the lines."""
    people = {line.person_id: line.name for line in standing.lines if not line.from_bot}
    return replace(standing.part, lines=tuple(_line(line, people) for line in standing.lines))


def _line(line: TalkLineRow, people: dict[int, str]) -> GroupLine:
    others = {number: name for number, name in people.items() if number != line.person_id}
    to = line.replied_to if line.is_reply else addressee(line.text, others)
    aimed = (line.is_reply and to != line.person_id) or to in others or line.why == "other"
    return GroupLine(
        line.id,
        line.at,
        line.person_id,
        aimed,
        to if to != line.person_id else None,
        asks_something(line.text),
        line.forwarded,
        line.from_bot,
    )
