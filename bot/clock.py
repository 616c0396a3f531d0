"""The real time, for the running program. Tests bring their own clock."""

import asyncio
import time
from collections.abc import Callable

from bot.ports import Alarm


class SystemClock:
    """Wall-clock milliseconds and alarms on the running event loop."""

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        return time.time_ns() // 1_000_000

    def at(self, when: int, call: Callable[[], None]) -> Alarm:
        """Call `call` when `when` has come; sleeps of the machine or clock changes delay it, never skip it."""
        return asyncio.get_running_loop().call_later(max(0, when - self.now()) / 1000, call)
