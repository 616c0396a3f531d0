"""The real time, for the running program. Tests bring their own clock."""

import asyncio
import time
from collections.abc import Callable

from bot.ports import Alarm

LOOK_S = 5.0
"""How often, in seconds, an alarm looks at the clock: its timer stands still while the machine sleeps (C13: 5 s)."""

SLOW = 9, 10
"""The pace at which time goes on after the machine's clock was set back, until that has caught up: 9 s in 10."""


class SystemClock:
    """Wall-clock milliseconds that never run backwards, and alarms on the running event loop.

    A clock set forward is followed at once. One set back is not: every deadline and every limit would wait for as long;
    an hour is caught up in ten. `wall` and `steady` are in ns; the second one is never set.
    """

    def __init__(
        self, wall: Callable[[], int] = time.time_ns, steady: Callable[[], int] = time.monotonic_ns
    ) -> None:  # fmt: skip
        self._wall = wall
        self._steady = steady
        self._last = wall()
        self._seen = steady()

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        seen = self._steady()
        self._last = max(self._wall(), self._last + (seen - self._seen) * SLOW[0] // SLOW[1])
        self._seen = seen
        return self._last // 1_000_000

    def at(self, when: int, call: Callable[[], None]) -> Alarm:
        """Call `call` when `when` has come; a sleep of the machine delays it by 5 s at most, nothing skips it."""
        return _Alarm(self, when, call)


class _Alarm:
    """Looks again and again, so that no wait is longer than the clock says."""

    def __init__(self, clock: SystemClock, when: int, call: Callable[[], None]) -> None:
        self._clock = clock
        self._when = when
        self._call = call
        self._timer = self._arm()

    def cancel(self) -> None:
        self._timer.cancel()

    def _arm(self) -> asyncio.TimerHandle:
        wait = max(0, self._when - self._clock.now()) / 1000
        return asyncio.get_running_loop().call_later(min(wait, LOOK_S), self._look)

    def _look(self) -> None:
        if self._clock.now() >= self._when:
            self._call()
        else:
            self._timer = self._arm()
