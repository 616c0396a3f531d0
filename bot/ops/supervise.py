"""Keeps a platform running: again with growing waits when its connection breaks, not when it cannot go on."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from bot.errors import PlatformError, StoreError
from bot.ports import Adapter, Clock, Door, pause
from bot.types.log import Log

State = Literal["running", "broken", "ended"]
"""Of a platform: at work (connected or not), waiting for the next try, over."""

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000
"""Back-off of a platform whose connection broke: 1 s, doubled each time, at most five minutes."""

STORE_WAIT_MS = 5_000
"""How often, while the disk refuses, it is tried whether it takes writes again: nobody is told before (FAULTS S6)."""

STEADY_MS = 60_000
"""A connection that held this long was a good one: the next wait is the first again."""


class Supervisor:
    """Runs adapters side by side; one that fails does not touch the others.

    `writable` says whether the store takes writes: a platform counts how often somebody connects, a disk does not.
    """

    def __init__(self, door: Door, clock: Clock, log: Log, writable: Callable[[], Awaitable[bool]]) -> None:
        self._door = door
        self._writable = writable
        self._clock = clock
        self._log = log
        self._states: dict[str, State] = {}

    @property
    def states(self) -> Mapping[str, State]:
        """How each platform stands that was ever begun."""
        return self._states

    async def keep(self, adapter: Adapter) -> None:
        """Run it until it ends by itself or cannot go on, telling the operator one line each time it breaks."""
        try:
            await self._keep(adapter)
        finally:
            self._states[adapter.platform] = "ended"

    async def _keep(self, adapter: Adapter) -> None:
        wait = FIRST_WAIT_MS
        while True:
            begun = self._clock.now()
            self._states[adapter.platform] = "running"
            try:
                await adapter.run(self._door)
                return
            except PlatformError as error:
                self._log.error("platform_failed", platform=adapter.platform, error=str(error), final=error.final)
                if error.final:
                    return
            except StoreError as error:
                self._log.error("store_failed", platform=adapter.platform, error=str(error))
                self._states[adapter.platform] = "broken"
                if await self._stored_again():
                    wait = FIRST_WAIT_MS  # an outage that is over says nothing about the next one
            except (OSError, TimeoutError) as error:
                self._log.warning("platform_lost", platform=adapter.platform, error=f"{type(error).__name__}: {error}")
            except Exception as error:  # noqa: BLE001 - one platform's defect must not end the others
                self._log.error("platform_failed", platform=adapter.platform, exc_info=error)
            self._states[adapter.platform] = "broken"
            wait = FIRST_WAIT_MS if self._clock.now() - begun >= STEADY_MS else wait
            await pause(self._clock, wait)
            wait = min(wait * 2, LONGEST_WAIT_MS)

    async def _stored_again(self) -> bool:
        """Return when the store takes writes; whether it refused any meanwhile."""
        refused = False
        await pause(self._clock, STORE_WAIT_MS)
        while not await self._writable():
            refused = True
            await pause(self._clock, STORE_WAIT_MS)
        return refused
