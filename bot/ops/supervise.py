"""Keeps a platform running: again with growing waits when its connection breaks, not when it cannot go on."""

import asyncio
from collections.abc import Mapping
from typing import Literal

from bot.errors import PlatformError
from bot.ports import Adapter, Clock, Door
from bot.types.log import Log

State = Literal["running", "broken", "ended"]
"""Of a platform: at work (connected or not), waiting for the next try, over."""

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000
"""Back-off of a platform whose connection broke: 1 s, doubled each time, at most five minutes."""

STEADY_MS = 60_000
"""A connection that held this long was a good one: the next wait is the first again."""


class Supervisor:
    """Runs adapters side by side; one that fails does not touch the others."""

    def __init__(self, door: Door, clock: Clock, log: Log) -> None:
        self._door = door
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
            except (OSError, TimeoutError) as error:
                self._log.warning("platform_lost", platform=adapter.platform, error=f"{type(error).__name__}: {error}")
            except Exception as error:  # noqa: BLE001 - one platform's defect must not end the others
                self._log.error("platform_failed", platform=adapter.platform, exc_info=error)
            self._states[adapter.platform] = "broken"
            wait = FIRST_WAIT_MS if self._clock.now() - begun >= STEADY_MS else wait
            await self._pause(wait)
            wait = min(wait * 2, LONGEST_WAIT_MS)

    async def _pause(self, wait_ms: int) -> None:
        over = asyncio.Event()
        alarm = self._clock.at(self._clock.now() + wait_ms, over.set)
        try:
            await over.wait()
        finally:
            alarm.cancel()
