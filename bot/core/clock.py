"""The system clock with its alarms, lengths of time in milliseconds, and a time as somebody named it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.core.ports import Alarm

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000


UnclearTime = Literal[
    "time", "half", "day", "past", "none_such", "several", "rule", "vague", "before", "change", "task"
]
"""What is unclear.

No time of day; morning or evening; which day; it is over; no such day or hour; more than one time; a rule that
cannot be kept; no time to count from; how long before; an hour that a change of clocks leaves out or repeats;
what it is of, where its time is clear.
"""

Precision = Literal["time", "day", "month", "year"]

POLL_S = 5.0
"""How often, in seconds, an alarm looks at the clock: its timer stands still while the machine sleeps (C13: 5 s)."""

SLOW_RATIO = 9, 10
"""The pace at which time goes on after the machine's clock was set back, until that has caught up: 9 s in 10."""

JUMP_NS = 1_000_000_000
"""A clock that goes ahead by less was only a little slow."""


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment, ms since 1970 UTC. `timed`: a time of day, or a number of hours or minutes, was said, not assumed."""

    at: int
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Recurring:
    """What comes back: `rule` as in bot/language/time/schedule.py, `at` its first moment, ms; `timed` as of an
    instant."""

    rule: str
    at: int
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Unclear:
    """What has to be asked back; `said` are the person's own words for the time."""

    what: UnclearTime
    said: str = ""


Moment = Instant | Recurring | Unclear


@dataclass(frozen=True, slots=True)
class DatedMoment:
    """When something is, as exactly as it was told: `at` is its first moment, ms since 1970 UTC.

    `yearly`: it comes back on that day, as a birthday does; `at` is then the coming one.
    """

    at: int
    precision: Precision = "day"
    yearly: bool = False


def _steady_ns() -> int:
    """Time that is never set. On Linux it goes on in a machine's sleep; elsewhere that looks like a clock set."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()


class SystemClock:
    """Wall-clock milliseconds that never run backwards, and alarms on the running event loop.

    A clock set forward is followed as soon as whoever listens has moved what waits along (bot/core/ports.py,
    JumpingClock), at once where nobody does. One set back is not: every deadline and every limit would wait for as
    long; an hour is caught up in ten. `wall` and `steady` are in ns; the second one is never set.
    """

    def __init__(self, wall: Callable[[], int] = time.time_ns, steady: Callable[[], int] = _steady_ns) -> None:
        self._wall = wall
        self._steady = steady
        self._last = wall()
        self._seen = steady()
        self._ahead = 0
        self._on_jump: Callable[[], None] | None = None

    @property
    def jump(self) -> int:
        """By how many ms the machine's clock was set forward that is not followed yet, 0: by none."""
        return self._ahead // 1_000_000

    def on_jump(self, call: Callable[[], None]) -> None:
        """Call it while there is a jump, every few seconds, until it is followed."""
        self._on_jump = call

    def follow(self) -> None:
        """What waits was moved along: from now on the time is the machine's."""
        self._last += self._ahead
        self._ahead = 0

    def warn(self) -> None:
        """Tell whoever listens for a jump that there is one."""
        if self._ahead and self._on_jump is not None:
            self._on_jump()

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        seen, wall = self._steady(), self._wall()
        passed, self._seen = seen - self._seen, seen
        self._ahead = wall - self._last - passed if self._on_jump is not None else 0
        if self._ahead >= JUMP_NS:
            self._last += passed
        else:
            self._ahead = 0
            self._last = max(wall, self._last + passed * SLOW_RATIO[0] // SLOW_RATIO[1])
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
        return asyncio.get_running_loop().call_later(min(wait, POLL_S), self._look)

    def _look(self) -> None:
        now = self._clock.now()
        self._clock.warn()
        if now >= self._when:
            self._call()
        else:
            self._timer = self._arm()
