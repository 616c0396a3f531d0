"""The running program: connects adapters, work queues, deadlines and services, and starts and stops them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from bot.commands.registry import is_command
from bot.config.memory import SectionRules
from bot.container import Dependencies, make_services
from bot.core.errors import StoreError
from bot.core.inspection import VectorWork
from bot.core.ports import ROLES, Adapter, Role, SceneSource, Shared, WakeKind, implements
from bot.core.speaking import UNASKED
from bot.language.sections import section_registry
from bot.ops.health import Supervisor
from bot.pipeline.concurrency import Activity, TurnStopper, WorkQueue
from bot.pipeline.configuration import Configuration
from bot.pipeline.ingest import Ingest
from bot.pipeline.jobs.archives import PersonData
from bot.pipeline.reminders import rearm_recurring
from bot.pipeline.scheduler import RETRY_MS, Scheduler
from bot.pipeline.send import OutboxSender
from bot.plugins import scenes as plugin_scenes
from bot.store.intake import Accepted

SEND_GRACE_S = 2.0
"""How long it waits for what is being sent."""


class App:
    """The running bot: ingest for adapters, work queues for chats, sending, digests and alarms.

    It has all roles; `bot/peer.py` is one of several that share them.
    """

    def __init__(self, parts: Dependencies, scenes: Sequence[SceneSource] = ()) -> None:
        store, clock, current, log = parts.store, parts.clock, parts.current, parts.log
        self.parts = parts
        self._store, self._clock, self._thread, self._log = store, clock, parts.thread, log
        self._roles: set[Role] = set(ROLES)
        self._activity = Activity()
        self._sends = WorkQueue("send", self._send, self._activity, log)
        self._sender = OutboxSender(store, clock, current, self._wake_send, self.look, log)
        self._stopper = TurnStopper(store.turns, self._wake_send, log)
        self._services = services = make_services(parts, self._sender, self._stopper, self.look_at_notes)
        self._person_data = PersonData(store, clock, log, parts.scrub)
        self._sections: SectionRules | None = None
        self._working: list[WorkQueue] = []
        self._chats = self._queue("chat", "worker", self._turns)
        self._digests = self._queue("digest", "worker", self._digest)
        self._lives = self._queue("life", "janitor", lambda _: services.memory_aging.work())
        self._rewrites = self._queue("rewrite", "janitor", services.statement_rewriter.work)
        self._backups = self._queue("backup", "janitor", lambda _: services.daily_backup.work())
        self._rolls = self._queue("roll", "janitor", services.dialogue_rollup.work)
        self._vectors = self._queue("vectors", "janitor", self._make_vectors, looks=False)
        self._notes = self._queue("notes", "janitor", self._read_notes, looks=False)
        wakes: dict[str, Callable[[int], None]] = {
            "event": self._chats.wake,
            "outbox": self._sends.wake,
            "digest": self._digests.wake,
            "join": self._join,
            "life": self._lives.wake,
            "rewrite": self._rewrites.wake,
            "roll": self._rolls.wake,
            "backup": self._backups.wake,
        }
        self._alarms = Scheduler(
            store, clock, current, wakes, self._write_first, self._remind, self.look, self._roles, log
        )
        self._alarm_queue = WorkQueue("alarm", self._hand_out, self._activity, log)
        self.ingest = Ingest(
            store,
            clock,
            current,
            services.debounce,
            is_command,
            self._arrived,
            self._activity,
            parts.timings,
            (*scenes, *plugin_scenes(parts.plugins, log)),
        )
        current.on_change(self._changed)

    @property
    def queues(self) -> dict[str, int]:
        """How much is under way, by work queue."""
        return {queue.name: queue.busy for queue in (*self._working, self._sends)}

    @property
    def vectors(self) -> VectorWork:
        """How the making of vectors stands."""
        return self._services.vector_maker.state

    async def _changed(self, before: Configuration, after: Configuration) -> None:
        """What goes by another configuration at once; everything else reads it at its next operation."""
        old, new, services = before.settings, after.settings, self._services
        if (new.bot, new.platforms) != (old.bot, old.platforms):
            self._store.admit_by(frozenset(new.bot.owners), new.allow_list)
        if new.model.slots != old.model.slots:
            services.slots.resize(new.model.slots)
        if after.pool.embedding is not before.pool.embedding:
            services.vector_maker.begin_anew()
        if new.mcp != old.mcp:
            await services.servers.follow(after)
        try:
            if "janitor" in self._roles:
                await self._register_sections()
                if (new.heartbeat, new.bot) != (old.heartbeat, old.bot):
                    await services.heartbeat.rearm()
                if (new.backup, new.bot) != (old.backup, old.bot):
                    await services.daily_backup.arm()
        except StoreError as error:
            # Sections are registered at the next look, deadlines worked out anew when they come.
            self._log.error("store_failed", error=str(error))
        self._wake_vectors()
        if (new.notes, new.bot) != (old.notes, old.bot):
            self.look_at_notes()
        self.look()  # deadlines may have moved

    async def start(self, adapters: Sequence[Adapter]) -> None:
        """Take up what an earlier process left, then begin."""
        for adapter in adapters:
            self._sender.connect(adapter)
            self._share(adapter)
        left = await self._recover()
        for why in UNASKED:
            await self._store.turns.drop_unasked(why, self._clock.now())
        await self._begin_upkeep()
        running = await self._store.turns.running()
        self._log_recovered(turns=len(running), **left)
        for turn in running:
            self._services.dispatcher.take_up(turn.chat_id)
            self._chats.wake(turn.chat_id)
        self.look()

    def know(self, adapters: Sequence[Adapter]) -> None:
        """What these platforms can do, where only other processes talk to them; before `start`."""
        for adapter in adapters:
            self._sender.know(adapter)

    def _share(self, adapter: Adapter) -> None:
        """Over a database on a server others may talk to the platform, too: beside this one, or before and after it."""
        if self._store.url and implements(adapter, Shared):
            adapter.share(self._store.leases.take_for)

    async def _recover(self) -> dict[str, int]:
        """See to what processes that are no more were sending and had reserved; how much that was."""
        resent, unknown = await self._store.outbox.recover(self._sender.resending, self._sender.placing)
        lost = await self._store.turns.lost_calls(self._clock.now())
        return {"calls_lost": lost, "messages": resent, "unknown": unknown}

    def _log_recovered(self, **counts: int) -> None:
        if any(counts.values()):
            self._log.info("recovered", **counts)

    async def _begin_upkeep(self) -> None:
        """Be the one who looks after what is there."""
        self._roles.add("janitor")
        await self._register_sections()
        await self._person_data.finish()
        await self._alarms.take_up()
        await rearm_recurring(self._store.reminders, self._clock, self.parts.current.words, self._log)
        await self._services.heartbeat.rearm()
        await self._services.daily_backup.arm()
        self._wake_vectors()
        self.look_at_notes()

    def look(self) -> None:
        """See what is due now."""
        self._alarm_queue.wake(0)

    def look_at_notes(self) -> None:
        """See which notes have changed."""
        self._notes.wake(0)

    async def settled(self) -> None:
        """Return when no work queue, alarm, write or send is in flight."""
        await self._activity.settled()

    async def drained(self) -> None:
        """Return when nothing is in flight and no line waits for its answer.

        What cannot be answered now (a full disk) stays queued for the next start.
        """
        await self._passed(self._store.deadlines.waiting)

    async def spoken(self) -> None:
        """Return when nothing is in flight and every reply is said to its end, also one in several messages."""
        await self._passed(self._store.deadlines.unsaid)

    async def _passed(self, last: Callable[[], Awaitable[int | None]]) -> None:
        """Wait until the last of these deadlines has passed, and what it started has settled."""
        await self.settled()
        before = None
        while (due := await last()) is not None and due != before:
            before = due
            come = asyncio.Event()
            self._clock.at(due, come.set)
            await come.wait()
            self.look()
            await self.settled()

    async def serve(self, adapter: Adapter, supervisor: Supervisor) -> None:
        """Talk to its platform until that cannot go on."""
        await supervisor.keep(adapter)

    async def stop(self) -> None:
        """Finish or park what runs. Nothing is closed: the next start resumes."""
        self._alarms.stop()
        await asyncio.gather(self._alarm_queue.close(self.parts.current.settings.model.stop_seconds), self._finish())
        self._alarms.stop()
        self._services.notes.stop()
        await self._services.servers.close()
        await self._sends.close(SEND_GRACE_S)
        self._sender.stop()
        await asyncio.to_thread(self._thread.close)

    async def _finish(self) -> None:
        """Begin nothing more, and wait for turns and digests under way; what is not done in time is taken up later."""
        self._services.vector_maker.end()
        self._services.dispatcher.end()
        await asyncio.gather(*(each.close(self.parts.current.settings.model.stop_seconds) for each in self._working))

    def _queue(
        self, name: str, role: Role, work: Callable[[int], Awaitable[object]], *, looks: bool = True
    ) -> WorkQueue:
        """A work queue of that role; with `looks` the scheduler is woken after each piece of work. What gives False was
        not this process's to do."""

        async def guarded(key: int) -> None:
            if role in self._roles and await self._guard(work, key) and looks:
                self.look()

        self._working.append(WorkQueue(name, guarded, self._activity, self._log))
        return self._working[-1]

    async def _turns(self, chat_id: int) -> bool:
        services = self._services
        await services.heartbeat.work(chat_id)
        await services.join.work(chat_id)
        await services.dispatcher.work(chat_id)
        await services.heartbeat.arm(chat_id)
        if await services.log_flusher.due(chat_id) is not None:
            self._digests.wake(chat_id)
        self._hint_vectors()
        return True

    async def _digest(self, chat_id: int) -> bool:
        services = self._services
        flushed = [
            await services.log_flusher.work(session_id) for session_id in await services.session_closer.ended(chat_id)
        ]
        if (session_id := await services.log_flusher.due(chat_id)) is not None:
            flushed.append(await services.log_flusher.work(session_id))
        if any(flushed):
            self.look_at_notes()
        await services.session_closer.work(chat_id)
        await services.heartbeat.arm(chat_id, anew=True)
        self._hint_vectors()
        return True

    async def _make_vectors(self, _: int) -> None:
        await self._services.vector_maker.work(self._wake_vectors)

    async def _read_notes(self, _: int) -> None:
        if await self._services.notes.look():
            self._hint_vectors()

    async def _write_first(self) -> None:
        if (chat_id := await self._services.heartbeat.fire()) is not None:
            self._chats.wake(chat_id)

    async def _remind(self) -> None:
        for chat_id in await self._services.reminders.fire():
            self._wake_send(chat_id)

    def _join(self, chat_id: int) -> None:
        self._services.join.fire(chat_id)
        self._chats.wake(chat_id)

    async def _send(self, chat_id: int) -> None:
        await self._guard(self._sender.work, chat_id)

    def _wake_send(self, chat_id: int) -> None:
        """Something waits to be sent in that chat."""
        self._sends.wake(chat_id)
        self._tell("outbox", chat_id)

    def _tell(self, kind: WakeKind, key: int) -> None:
        """Have other processes look at it: there are none."""

    async def _hand_out(self, _: int) -> None:
        async with self.parts.current.held():
            await self._alarms.work()
        if "janitor" in self._roles:
            await self._guard(self._register_sections, 0)

    async def _register_sections(self, _: int = 0) -> None:
        """Have the store sort memories into the configured sections, unless it does so already."""
        sections = self.parts.current.settings.sections
        if sections != self._sections:
            await self._store.settings.register_sections(section_registry(sections.own))
            self._sections = sections

    def _wake_vectors(self) -> None:
        self._vectors.wake(0)

    def _hint_vectors(self) -> None:
        if "janitor" in self._roles:
            self._services.vector_maker.hint(self._wake_vectors)

    async def _guard(self, work: Callable[[int], Awaitable[object]], key: int) -> bool:
        """One operation, and whether it was done; when the disk refuses, nothing was stored and nothing is lost: look again
        a little later."""
        try:
            async with self.parts.current.held():
                return await work(key) is not False
        except (StoreError, OSError) as error:
            self._log.error("store_failed", key=key, error=str(error))
            self._clock.at(self._clock.now() + RETRY_MS, self.look)
            return False

    def _arrived(self, accepted: Accepted) -> None:
        """An event is stored: answer it, or see when it will be due."""
        self._hint_vectors()
        chat_id, event, decision = accepted.chat.id, accepted.event, accepted.decision
        if event is None or decision is None:
            return
        self._log.debug("decided", chat=chat_id, said=event.id, action=decision.action, why=decision.why)
        if event.kind == "message":
            self._services.join.interrupt(chat_id)
        self._stopper.halt(accepted)
        if accepted.halted is not None:
            self._tell("halt", chat_id)
        if accepted.halted is not None or accepted.superseded:
            self._sender.stop_typing(chat_id)
        if decision.action == "listen":
            if accepted.armed:
                self.look()
            return
        self._services.heartbeat.interrupt(chat_id)
        self._tell("chat", chat_id)
        if decision.action == "now":
            self._chats.wake(chat_id)
        if decision.action == "follow" or event.kind == "event":
            self.look()  # what an event takes back may be on the screen while the chat is busy
