"""The running bot as one of several processes on a database: what it does of all there is to do, and what it knows of the
others. Rows are the truth, seen every second; wake-ups only make it sooner."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

from bot.app import App
from bot.container import Dependencies
from bot.core.ports import ROLES, Adapter, Alarm, ChatSetting, Reaches, Role, SceneSource, Shared, WakeKind, implements
from bot.ops.health import Supervisor
from bot.pipeline.concurrency import WorkQueue
from bot.pipeline.configuration import Configuration
from bot.pipeline.scheduler import RETRY_MS
from bot.store.processes import CLOCKS_MS, different_settings

POLL_MS = 1_000
"""How often it is seen what others stored."""

BESIDE_MS = 30_000
"""How often is seen what lies beside the rows: notes that others may have written, files of this process's own that tell of
somebody who was erased, an owner code left in its folder, and the clock."""


def lease_of(adapter: Adapter) -> str:
    """The name of the lease without which no process talks to that platform."""
    return adapter.lease if implements(adapter, Shared) else adapter.platform


class Peer(App):
    """An app with some roles: a gateway keeps the connections of the platforms that it leads and sends, a worker answers
    in the chats that it holds, one janitor looks after what is there."""

    def __init__(
        self, parts: Dependencies, scenes: Sequence[SceneSource] = (), roles: Collection[Role] = ROLES
    ) -> None:
        super().__init__(parts, scenes)
        self._wanted = frozenset(roles)
        self._roles &= self._wanted - {"janitor"}
        self._leases = parts.store.leases
        self._claimed: set[int] = set()
        self._free: dict[str, Callable[[], Awaitable[None]]] = {}
        self._led: dict[str, asyncio.Event] = {}
        self._left: set[str] = set()
        self._settings: tuple[ChatSetting, ...] | None = None
        self._told: tuple[Configuration, tuple[ChatSetting, ...]] | None = None
        self._differing: list[tuple[str, str, list[str]]] = []
        self._clock_differs = False
        self._beside_at = 0
        self._polls = WorkQueue("poll", self._poll, self._activity, parts.log)
        self._recoveries = WorkQueue("recover", self._take_over, self._activity, parts.log)
        self._next_poll: Alarm | None = None

    async def start(self, adapters: Sequence[Adapter]) -> None:
        """Begin what is this process's to do, and with it what others left."""
        for adapter in adapters:
            self._sender.know(adapter, shows="worker" in self._wanted and implements(adapter, Reaches))
            self._led[adapter.platform] = asyncio.Event()
            if "gateway" in self._wanted:
                self._free[lease_of(adapter)] = partial(self._lead, adapter)
            self._share(adapter)
        if "janitor" in self._wanted:
            self._free["janitor"] = self._begin_upkeep
        self._leases.on_claimed(self._claimed.add)
        self._leases.on_gone(lambda: self._recoveries.wake(0))
        if self._store.wakeups is not None:
            self._store.wakeups.on_heard(self._heard)
        self._log_recovered(**await self._recover())
        await self._poll(0)

    async def serve(self, adapter: Adapter, supervisor: Supervisor) -> None:
        """As `App.serve`, once this process leads that platform; a worker reaches it without that, too. What cannot go on
        is left to another gateway, and who has other roles goes on with those."""
        works = "worker" in self._wanted
        reaching = [asyncio.create_task(supervisor.reach(adapter), name=f"reach-{adapter.platform}")] if works else []
        try:
            await self._led[adapter.platform].wait()
        finally:
            for task in reaching:
                task.cancel()
            await asyncio.gather(*reaching, return_exceptions=True)
        await supervisor.keep(adapter)
        self._sender.disconnect(adapter)
        self._left.add(lease_of(adapter))
        self._polls.wake(0)
        if works:
            await supervisor.reach(adapter)
        if self._wanted != {"gateway"}:
            await asyncio.get_running_loop().create_future()

    async def stop(self) -> None:
        """As `App.stop`. Others go on in each chat in which nothing is under way, and with what is parked; meanwhile what
        is said is sent, and who is reminded hears it."""
        self._free.clear()
        self._roles.discard("worker")
        self._leases.hand_over()
        await self._finish()
        self._stop_polling()
        await asyncio.gather(self._polls.close(0), self._recoveries.close(0))
        self._stop_polling()
        await super().stop()

    async def _lead(self, adapter: Adapter) -> None:
        self._sender.connect(adapter)
        self._led[adapter.platform].set()

    async def _begin_upkeep(self) -> None:
        await super()._begin_upkeep()
        self._roles.add("janitor")

    async def _turns(self, chat_id: int) -> bool:
        async with self._leases.working(chat_id) as mine:
            if mine and chat_id in self._claimed:
                if await self._store.turns.take_up(chat_id, self._clock.now()):
                    self._services.dispatcher.take_up(chat_id)
                self._claimed.discard(chat_id)
            return mine and await super()._turns(chat_id)

    async def _digest(self, chat_id: int) -> bool:
        async with self._leases.working(chat_id) as mine:
            return mine and await super()._digest(chat_id)

    def _tell(self, kind: WakeKind, key: int) -> None:
        if self._store.wakeups is not None:
            self._store.wakeups.tell(kind, key)

    def _heard(self, kind: WakeKind, key: int) -> None:
        """Another process stored something."""
        match kind:
            case "chat":
                self._services.join.interrupt(key)
                self._services.heartbeat.interrupt(key)
                self._chats.wake(key)
            case "outbox":
                self._sends.wake(key)
            case "halt" | "settings":
                self._polls.wake(0)

    async def _poll(self, _: int) -> None:
        self._stop_polling()
        wait = POLL_MS if await self._guard(self._look_round, 0) else RETRY_MS
        self._next_poll = self._clock.at(self._clock.now() + wait, lambda: self._polls.wake(0))

    async def _look_round(self, _: int) -> None:
        """Take what nobody does, and see what others stored."""
        for name, begin in tuple(self._free.items()):
            if await self._leases.take(name):
                await begin()
                del self._free[name]
                self._log.info("lease_taken", lease=name)
        for name in tuple(self._left):
            await self._leases.leave(name)
            self._left.discard(name)
            self._log.info("lease_left", lease=name)
        before, self._settings = self._settings, await self._store.settings.all()
        if self.parts.reload is not None and before not in (None, self._settings):
            await self.parts.reload()
        await self._tell_settings(self._settings)
        await self._stopper.look()
        for unasked in (self._services.join, self._services.heartbeat):
            await unasked.look(self._store, self._clock.now())
        self._hint_vectors()
        if self._clock.now() >= self._beside_at:
            self._beside_at = self._clock.now() + BESIDE_MS
            self.look_at_notes()
            await self._person_data.finish()
            await self._compare_settings()
            await self._compare_clocks()
            await self._store.people.take_owner_code()
        self.look()

    async def _tell_settings(self, said: tuple[ChatSetting, ...]) -> None:
        """What was `said` in chats is the same for all a moment later."""
        works_by = self.parts.current.newest, said
        if works_by != self._told:
            keys = {one.key for one in said}
            values = {key: value for key, value in works_by[0].shared.items() if key not in keys}
            await self._store.processes.tell_settings(values)
            self._told = works_by

    async def _compare_settings(self) -> None:
        found = different_settings(await self._store.processes.all())
        before, self._differing = self._differing, [(each.name, first.name, keys) for each, first, keys in found]
        for name, first, keys in self._differing:
            if (name, first, keys) not in before:
                self._log.warning("settings_differ", process=name, than=first, keys=keys)

    async def _compare_clocks(self) -> None:
        """What one process stores another takes when it is due by its own clock."""
        ahead = await self._store.processes.clock_ahead(self._clock.now)
        before, self._clock_differs = self._clock_differs, abs(ahead) > CLOCKS_MS
        if self._clock_differs and not before:
            self._log.warning("clock_differs", ahead_ms=ahead)

    async def _take_over(self, _: int) -> None:
        """Another process is no more."""

        async def recover(_: int) -> None:
            self._log_recovered(**await self._recover())

        await self._guard(recover, 0)
        self.look()

    def _stop_polling(self) -> None:
        if self._next_poll is not None:
            self._next_poll.cancel()
            self._next_poll = None
