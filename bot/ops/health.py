"""Keeps platforms running with growing waits after a break, and says whether platforms, model and store work."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from bot.core.errors import PlatformError, StoreError
from bot.core.inspection import HealthArea, HealthProblem, HealthSnapshot, VectorWork
from bot.core.ports import ROLES, Adapter, Clock, EventSink, Log, Reaches, implements, pause
from bot.model.pool import ModelPool
from bot.store.store import Store

PlatformState = Literal["running", "broken", "ended"]
"""Of a platform: at work (connected or not), waiting for the next try, over."""

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000
"""Back-off of a platform whose connection broke: 1 s, doubled each time, at most five minutes."""

STORE_WAIT_MS = 5_000
"""How often, while the disk refuses, it is tried whether it takes writes again: nobody is told before (FAULTS S6)."""

UNHEARD = "the database has not heard of this nuan for store.lease_seconds: nothing is taken in until it does"

STEADY_MS = 60_000
"""A connection that held this long was a good one: the next wait is the first again."""

SILENT_MS = 90_000
"""A platform that has not answered for so long is not there (as the watch over Telegram's polling, FAULTS D26)."""

STORE_S = 2.0
"""Seconds in which the store must answer."""

PARTS: tuple[HealthArea, ...] = get_args(HealthArea)

SPARABLE: frozenset[HealthArea] = frozenset({"embedding"})
"""Parts without which everybody is answered."""


class Supervisor:
    """Runs adapters side by side; one that fails does not touch the others.

    `writable` says whether the store takes writes: a platform counts how often somebody connects, a disk does not. While
    this process is `unheard` of, so that another may take its place, no platform is connected.
    """

    def __init__(
        self,
        sink: EventSink,
        clock: Clock,
        log: Log,
        writable: Callable[[], Awaitable[bool]],
        unheard: asyncio.Event | None = None,
    ) -> None:
        self._sink = sink
        self._unheard = unheard or asyncio.Event()
        self._writable = writable
        self._clock = clock
        self._log = log
        self._states: dict[str, PlatformState] = {}

    @property
    def states(self) -> Mapping[str, PlatformState]:
        """How each platform stands that was ever begun."""
        return self._states

    async def keep(self, adapter: Adapter) -> None:
        """Run it until it ends by itself or cannot go on, telling the operator one line each time it breaks."""
        try:
            await self._keep(adapter.platform, adapter.run, self._states)
        finally:
            self._states[adapter.platform] = "ended"

    async def reach(self, adapter: Adapter) -> None:
        """As `keep`, but beside the process that runs it, if it can."""
        platform = adapter.platform
        if implements(adapter, Reaches):
            await self._keep(platform, adapter.reach, {})

    async def _keep(
        self, platform: str, run: Callable[[EventSink], Awaitable[None]], states: dict[str, PlatformState]
    ) -> None:
        wait = FIRST_WAIT_MS
        while True:
            begun = self._clock.now()
            states[platform] = "running"
            try:
                await self._run(run)
                return
            except PlatformError as error:
                self._log.error("platform_failed", platform=platform, error=str(error), final=error.final)
                if error.final:
                    return
            except StoreError as error:
                self._log.error("store_failed", platform=platform, error=str(error))
                states[platform] = "broken"
                if await self._stored_again():
                    wait = FIRST_WAIT_MS  # an outage that is over says nothing about the next one
            except (OSError, TimeoutError) as error:
                self._log.warning("platform_lost", platform=platform, error=f"{type(error).__name__}: {error}")
            except Exception as error:  # noqa: BLE001 - one platform's defect must not end the others
                self._log.error("platform_failed", platform=platform, exc_info=error)
            states[platform] = "broken"
            wait = FIRST_WAIT_MS if self._clock.now() - begun >= STEADY_MS else wait
            await pause(self._clock, wait)
            wait = min(wait * 2, LONGEST_WAIT_MS)

    async def _run(self, run: Callable[[EventSink], Awaitable[None]]) -> None:
        """As it does; StoreError when nobody heard of this process for too long."""
        running = asyncio.ensure_future(run(self._sink))
        unheard = asyncio.ensure_future(self._unheard.wait())
        try:
            await asyncio.wait((running, unheard), return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise StoreError(UNHEARD)
            await running
        finally:
            unheard.cancel()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def _stored_again(self) -> bool:
        """Return when the store takes writes; whether it refused any meanwhile."""
        refused = False
        await pause(self._clock, STORE_WAIT_MS)
        while self._unheard.is_set() or not await self._writable():
            refused = True
            await pause(self._clock, STORE_WAIT_MS)
        return refused


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """Where to look: `states` and `silent` tell of each platform, `pool` is that of now, `queues` what is under way,
    `vectors` how their making stands, `now` what time it is, ms."""

    store: Store
    pool: Callable[[], ModelPool]
    states: Callable[[], Mapping[str, PlatformState]]
    silent: Callable[[], Mapping[str, int | None]]
    queues: Callable[[], Mapping[str, int]]
    vectors: Callable[[], VectorWork]
    now: Callable[[], int]

    async def look(self) -> HealthSnapshot:
        """What stands now; a store that cannot be read is an ailment, not an error."""
        silent, vitals = self.silent(), self.store.inspector
        vectors = self.vectors()
        queues, deliveries, trouble = {**self.queues(), "vectors": vectors.waiting}, dict[str, int](), vitals.refusing
        lags, here = dict[str, int](), None
        try:
            async with asyncio.timeout(STORE_S):
                dead = sum((await self.store.events.dead()).values())
                queues |= {"unanswered": await vitals.queued(), "dead": dead, "writes": vitals.unwritten}
                deliveries = await self.store.outbox.states()
                lags = await self.store.processes.lags(self.now())
                here = next((each for each in await self.store.processes.all() if each.boot == self.store.boot), None)
        except (StoreError, TimeoutError) as error:
            trouble = str(error) or f"no answer within {STORE_S:g} s"
        ailments = [*platforms(self.states(), silent), *models(self.pool()), *embedding(vectors)]
        if trouble:
            ailments.append(HealthProblem("store", "store.url" if self.store.url else "nuan.db", trouble))
        told = (ROLES, 0, ()) if here is None else (here.roles or ROLES, here.chats, here.leases)
        return HealthSnapshot(tuple(ailments), silent, queues, deliveries, lags, *told)


def platforms(states: Mapping[str, PlatformState], silent: Mapping[str, int | None]) -> tuple[HealthProblem, ...]:
    """The platforms that nobody hears nuan on."""
    return tuple(
        HealthProblem("platform", name, why)
        for name, state in states.items()
        if (why := _platform_trouble(name, state, silent))
    )


def _platform_trouble(name: str, state: PlatformState, silent: Mapping[str, int | None]) -> str:
    if state != "running":
        told = {"broken": "the connection broke, it is tried again", "ended": "it cannot go on, the log says why"}
        return told[state]
    if name not in silent:
        return ""
    age = silent[name]
    if age is None:
        return "not connected"
    return f"silent for {age // 1000} s" if age > SILENT_MS else ""


def models(pool: ModelPool) -> tuple[HealthProblem, ...]:
    """The first model, when neither it nor another in its place answers."""
    fault = pool.common_fault
    return () if fault is None else (HealthProblem("model", pool.first.model.name, fault),)


def embedding(vectors: VectorWork) -> tuple[HealthProblem, ...]:
    """Who makes vectors, when it does not."""
    return () if vectors.fault is None else (HealthProblem("embedding", vectors.model, vectors.fault),)
