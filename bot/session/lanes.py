"""Lanes: one piece of work at a time per key, keys in parallel. They know nothing of what the work is."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context

from bot.types.log import Log

Work = Callable[[int], Awaitable[None]]


class Activity:
    """Counts what is under way, so that one can wait until nothing is."""

    def __init__(self) -> None:
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def begin(self) -> None:
        """Something starts."""
        self._count += 1
        self._idle.clear()

    def end(self) -> None:
        """Something has ended."""
        self._count -= 1
        if not self._count:
            self._idle.set()

    async def settled(self) -> None:
        """Return as soon as nothing is under way."""
        await self._idle.wait()


class Lanes:
    """Runs `work(key)` whenever a key is woken; a key woken while its work runs is worked once more after it."""

    def __init__(self, name: str, work: Work, activity: Activity, log: Log) -> None:
        self.name = name
        self._work = work
        self._activity = activity
        self._log = log
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._again: set[int] = set()
        self._closed = False

    @property
    def busy(self) -> int:
        """How many keys have work under way."""
        return len(self._tasks)

    def wake(self, key: int) -> None:
        """There may be something to do for this key."""
        if self._closed:
            return
        if key in self._tasks:
            self._again.add(key)
            return
        self._activity.begin()
        # In a context of its own: what wakes a lane may be a turn, whose numbers are not those of the work here.
        task = asyncio.get_running_loop().create_task(
            self._run(key), name=f"{self.name}-{key}", context=Context()
        )  # fmt: skip
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._done(key, done))

    async def close(self, grace_s: float) -> None:
        """Take nothing new; give what runs `grace_s` seconds, then cancel it."""
        self._closed = True
        tasks = list(self._tasks.values())
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=grace_s)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    async def _run(self, key: int) -> None:
        while True:
            self._again.discard(key)
            await self._work(key)
            if key not in self._again or self._closed:
                return

    def _done(self, key: int, task: "asyncio.Task[None]") -> None:
        del self._tasks[key]
        self._activity.end()
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            # The work guards itself; what still comes through must not end the lane unseen.
            self._log.error("lane_failed", lane=self.name, key=key, exc_info=error)
        elif key in self._again:
            self._again.discard(key)
            self.wake(key)
