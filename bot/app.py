"""Wires the house together and supervises it; decides nothing."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.commands.desk import CommandDesk
from bot.commands.table import is_command
from bot.config.settings import Settings
from bot.errors import StoreError
from bot.flow.alarms import RETRY_MS, Alarms, Handlers
from bot.flow.answering import Answering, Reach
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.calling import Caller
from bot.flow.closing import Closing, Summariser
from bot.flow.crew import Crew
from bot.flow.halting import Halting
from bot.flow.heartbeat import Heartbeat
from bot.flow.instructions import read_instructions
from bot.flow.intake import Intake
from bot.flow.joining import Joining, Knowing
from bot.flow.limiting import Limiting
from bot.flow.media import Eyes, Media
from bot.flow.plan import Planner
from bot.flow.recalling import Recalling
from bot.flow.remembering import Remembering
from bot.flow.sending import Sending
from bot.flow.tools import make_tools
from bot.flow.turn import Brain, TurnRunner
from bot.flow.words import Words
from bot.ports import Adapter, Clock, SceneSource
from bot.prompt.persona import NAME_MARK, Persona, persona_words, read_bootstraps
from bot.prompt.skills import read_skills
from bot.session.activation import SpeakingRules
from bot.session.lanes import Activity, Lanes, Work
from bot.session.slots import Slots
from bot.store.arrival import Accepted
from bot.store.store import Store
from bot.types.log import Log
from bot.types.money import Rate
from bot.types.occasion import Occasion

GRACE_S = 4.0
"""How long a stop waits for running turns and digests; what is not done by then is taken up at the next start."""

SEND_GRACE_S = 2.0
"""How long it waits for what is being sent."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the house is built of. `prompts` finds a prompt file by name; `seeing` are the prices of looking."""

    store: Store
    crew: Crew
    clock: Clock
    settings: Settings
    words: Words
    prompts: Callable[[str], Path]
    persona: Path
    log: Log
    aside: Aside = field(default_factory=Aside)
    seeing: Rate | None = None


def make_media(parts: Parts, adapter: Callable[[str], Adapter | None]) -> Media:
    """Who looks at what people send along; `adapter` finds the platform that has it."""
    crew = parts.crew
    slots = Slots(parts.settings.model.slots)
    eyes = Eyes(crew.first.model, parts.seeing or crew.first.rate, read_instructions(parts.prompts, "media"), slots)
    return Media(parts.store, eyes, adapter, parts.clock, parts.settings, parts.words, parts.log)


def make_planner(parts: Parts, media: Media | None = None) -> tuple[Planner, Brain]:
    """What composing needs, for the running house and for commands that only look."""
    settings, words = parts.settings, parts.words
    media = media or make_media(parts, lambda _: None)
    recalling, skills = Recalling(parts.store, parts.aside, settings), read_skills(parts.persona)
    tools = make_tools(
        parts.store, words, parts.prompts, recalling, media if settings.media.images else None,
        {skill.name: skill.text.replace(NAME_MARK, settings.bot.names[0]) for skill in skills},
    )  # fmt: skip
    persona = Persona(parts.persona, skills, settings.heartbeat.on)
    bootstraps = read_bootstraps(
        parts.prompts, persona, settings.bot.names[0], tuple(tool.spec for tool in tools),
        parts.crew.first.model.dialect,
    )  # fmt: skip
    planner = Planner(parts.store, settings, bootstraps, words, parts.crew)
    return planner, Brain(Caller(parts.crew, media.slots, parts.clock, parts.log), tools)


def make_knowing(parts: Parts, planner: Planner, limiting: Limiting) -> Knowing:
    """What entering a talk needs."""
    return Knowing(
        Recalling(parts.store, parts.aside, parts.settings), planner,
        persona_words(Persona(parts.persona, read_skills(parts.persona))), limiting,
        BackgroundGate(parts.store.switches, parts.settings.background),
    )  # fmt: skip


class App:
    """The running house: a door for adapters, lanes for chats, sending, digests and alarms."""

    def __init__(self, parts: Parts, scenes: Sequence[SceneSource] = ()) -> None:
        store, clock, settings, words, log = parts.store, parts.clock, parts.settings, parts.words, parts.log
        self._store, self._clock, self._aside, self._log = store, clock, parts.aside, log
        self._activity = Activity()
        self._chats = Lanes("chat", self._answer, self._activity, log)
        self._sends = Lanes("send", self._send, self._activity, log)
        self._digests = Lanes("digest", self._digest, self._activity, log)
        self._sending = Sending(store, clock, words, self._sends.wake, self.look, log)
        media = make_media(parts, self._sending.adapter)
        planner, brain = make_planner(parts, media)
        runner = TurnRunner(store, planner, brain, clock, settings, words, log, self._sending)

        async def begin(occasion: Occasion, stop: asyncio.Event) -> None:
            stoppable = replace(brain, caller=brain.caller.behind(stop), stop=stop)
            await TurnRunner(store, planner, stoppable, clock, settings, words, log, self._sending).begin(occasion)

        self._heartbeat = Heartbeat(
            store, clock, settings, words, begin, lambda: self._sending.platforms, log
        )  # fmt: skip
        limiting = Limiting(store, clock, settings.limits, words, log)
        self._joining = Joining(
            store, clock, settings.speak, words, make_knowing(parts, planner, limiting), begin, log
        )  # fmt: skip
        remembering = Remembering(store, clock, settings, words, parts.aside)
        self._halting = Halting(self._sends.wake, log)
        self._answering = Answering(
            store, runner, remembering, planner, clock, words,
            Reach(self._sending, media, self._halting, limiting), log,
        )  # fmt: skip
        summariser = Summariser(brain.caller.behind(), read_instructions(parts.prompts, "digest"))
        self._closing = Closing(store, summariser, planner, clock, settings, words, parts.aside, log)
        self._answering.employ(CommandDesk(store, planner, clock, settings, words))
        handlers = Handlers(self._chats.wake, self._sends.wake, self._digests.wake, self._write_first, self._join)
        self._alarms = Alarms(store, clock, handlers, settings, words.tz(words.zone), self.look, log)
        self._alarm_lane = Lanes("alarm", self._alarms.work, self._activity, log)
        rules = SpeakingRules(
            settings.bot.names, settings.bot.prefix_trigger, settings.speak.window_seconds * 1000,
            settings.speak.followup_seconds * 1000, settings.speak.backlog_seconds * 1000,
            settings.speak.bots == "limited", settings.speak.mode, settings.speak.join.lull_seconds * 1000,
        )  # fmt: skip
        self.door = Intake(store, clock, rules, is_command, words, self._arrived, self._activity, tuple(scenes))

    async def start(self, adapters: Sequence[Adapter]) -> None:
        """Take up what an earlier process left, then begin."""
        for adapter in adapters:
            self._sending.connect(adapter)
        resent, unknown = await self._store.outbox.recover(self._sending.resending, self._sending.placing)
        lost = await self._store.turns.lost_calls(self._clock.now())
        await self._heartbeat.start()
        await self._joining.start()
        running = await self._store.turns.running()
        for turn in running:
            self._answering.take_up(turn.chat_id)
            self._chats.wake(turn.chat_id)
        if resent or unknown or lost or running:
            self._log.info("taken_up", turns=len(running), calls_lost=lost, messages=resent, unknown=unknown)
        self.look()

    def look(self) -> None:
        """See what is due now."""
        self._alarm_lane.wake(0)

    async def settled(self) -> None:
        """Return when no lane, alarm, write or send is in flight."""
        await self._activity.settled()

    async def drained(self) -> None:
        """Return when nothing is in flight and no line waits for its answer.

        What cannot be answered now (a full disk) stays queued for the next start.
        """
        await self.settled()
        before = None
        while (due := await self._store.deadlines.waiting()) is not None and due != before:
            before = due
            come = asyncio.Event()
            self._clock.at(due, come.set)
            await come.wait()
            self.look()
            await self.settled()

    async def stop(self) -> None:
        """Finish or park what runs. Nothing is closed: the next start resumes."""
        self._alarms.stop()
        await asyncio.gather(*(lanes.close(GRACE_S) for lanes in (self._alarm_lane, self._chats, self._digests)))
        self._alarms.stop()
        await self._sends.close(SEND_GRACE_S)
        self._aside.close()

    async def _answer(self, chat_id: int) -> None:
        if await self._guard(self._turns, chat_id):
            self.look()

    async def _turns(self, chat_id: int) -> None:
        await self._heartbeat.work(chat_id)
        await self._joining.work(chat_id)
        await self._answering.work(chat_id)
        await self._heartbeat.arm(chat_id)

    async def _write_first(self) -> None:
        if (chat_id := await self._heartbeat.fire()) is not None:
            self._chats.wake(chat_id)

    def _join(self, chat_id: int) -> None:
        self._joining.fire(chat_id)
        self._chats.wake(chat_id)

    async def _send(self, chat_id: int) -> None:
        await self._guard(self._sending.work, chat_id)

    async def _digest(self, session_id: int) -> None:
        if await self._guard(self._closing.digest, session_id):
            self.look()

    async def _guard(self, work: Work, key: int) -> bool:
        """Do it; when the disk refuses, nothing was stored and nothing is lost: look again a little later."""
        try:
            await work(key)
        except StoreError as error:
            self._log.error("store_failed", key=key, error=str(error))
            self._clock.at(self._clock.now() + RETRY_MS, self.look)
            return False
        return True

    def _arrived(self, accepted: Accepted) -> None:
        """An event is stored: answer it, or see when it will be due."""
        chat_id, event, decision = accepted.chat.id, accepted.event, accepted.decision
        if event is None or decision is None:
            return
        self._log.debug("decided", chat=chat_id, said=event.id, action=decision.action, why=decision.why)
        if event.kind == "message":
            self._joining.interrupt(chat_id)
        if decision.action == "listen":
            if accepted.armed:
                self.look()
            return
        self._heartbeat.interrupt(chat_id)
        self._halting.halt(accepted)
        if decision.action == "now":
            self._chats.wake(chat_id)
        if decision.action == "follow" or event.kind == "event":
            self.look()  # what an event takes back may be on the screen while the chat is busy
