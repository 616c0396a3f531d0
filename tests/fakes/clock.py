"""A clock that stands still until a test moves it, deadline by deadline."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count


@dataclass(order=True)
class SimAlarm:
    """A pending call at `when`, ms; equal times fire in the order they were set."""

    when: int
    order: int
    call: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        """Keep it from firing."""
        self.cancelled = True


class SimClock:
    """Time for tests and replays: `now` changes only in `advance`."""

    def __init__(self, now: int) -> None:
        self._now = now
        self._alarms: list[SimAlarm] = []
        self._order = count()
        self.news = asyncio.Event()
        """Set whenever somebody sets an alarm."""

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        return self._now

    def at(self, when: int, call: Callable[[], None]) -> SimAlarm:
        """Call `call` when a later `advance` reaches `when`."""
        alarm = SimAlarm(max(when, self._now), next(self._order), call)
        heapq.heappush(self._alarms, alarm)
        self.news.set()
        return alarm

    def skip(self, ms: int) -> None:
        """So much later nobody has done anything yet: what was to be done meanwhile is late."""
        self._now += ms

    async def advance(self, ms: int, settled: Callable[[], Awaitable[None]]) -> None:
        """Let time pass, stopping at each deadline until everything it started has settled."""
        until = self._now + ms
        await settled()
        while self._alarms and self._alarms[0].when <= until:
            alarm = heapq.heappop(self._alarms)
            if alarm.cancelled:
                continue
            self._now = max(self._now, alarm.when)
            alarm.call()
            await settled()
        self._now = until


async def let_others_run() -> None:
    """Give every other task one step."""
    await asyncio.sleep(0)
