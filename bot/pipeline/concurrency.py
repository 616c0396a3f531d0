"""Text work in a thread beside the event loop, and turns that can be stopped from outside."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any, TypeVar

from bot.core.ports import Log
from bot.core.sessions import Turn
from bot.core.speaking import STOP_REASONS
from bot.store.intake import Accepted
from bot.store.store import Turns

Work = Callable[[int], Awaitable[None]]

T = TypeVar("T")


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


class WorkQueue:
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
        # In a context of its own: what wakes a queue may be a turn, whose numbers are not those of the work here.
        task = asyncio.get_running_loop().create_task(self._run(key), name=f"{self.name}-{key}", context=Context())
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
            # The work guards itself; what still comes through must not end the queue unseen.
            self._log.error("queue_failed", queue=self.name, key=key, exc_info=error)
        elif key in self._again:
            self._again.discard(key)
            self.wake(key)


class TextThread:
    """One thread, first come first served: a pool would win no time under one interpreter lock, and lose the order."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nuan-text")

    async def run(self, work: Callable[..., T], *given: object, brief: bool = False) -> T:
        """What `work(*given)` returns or raises. What is `brief` is done at once: the way to a thread takes longer."""
        if brief:
            return work(*given)
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *given)

    def close(self) -> None:
        """Begin nothing new, finish what runs, end the thread. It blocks meanwhile."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class TurnStopper:
    """The turns under way, one a chat."""

    def __init__(self, turns: Turns, send: Callable[[int], None], log: Log) -> None:
        """`send` has a chat's messages sent."""
        self._turns = turns
        self._send = send
        self._log = log
        self._running: dict[int, asyncio.Task[Any]] = {}
        self._asked: dict[int, int] = {}

    async def run(self, chat_id: int, work: Coroutine[None, None, T]) -> T | None:
        """What the work of that chat's turn gives, None when it was halted. Whatever it raises comes through."""
        task = asyncio.get_running_loop().create_task(work, name=f"turn-{chat_id}")
        self._running[chat_id] = task
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        finally:
            del self._running[chat_id]
            self._asked.pop(chat_id, None)
        return None if task.cancelled() else task.result()

    def asked(self, turn: Turn) -> None:
        """That turn is stored, and under way from now on."""
        if turn.chat_id in self._running:
            self._asked[turn.chat_id] = turn.id

    async def look(self) -> None:
        """End the calls of turns that another process voided: it stored a command to stop, or what interrupts."""
        if not self._asked:
            return
        for chat_id, turn_id in await self._turns.voided(tuple(self._asked.values())):
            if self._asked.get(chat_id) == turn_id:
                self._running[chat_id].cancel()

    def halt(self, accepted: Accepted) -> None:
        """A command to stop, or a message that interrupts, is stored: end the call of what it voided, send the rest."""
        if accepted.superseded:
            self._log.info("superseded", chat=accepted.chat.id, turns=list(accepted.superseded))
        halted, decision, event = accepted.halted, accepted.decision, accepted.event
        if halted is None or decision is None or event is None:
            return
        chat_id = accepted.chat.id
        if chat_id in self._running and not halted.others:
            self._running[chat_id].cancel()
        what = "stopped" if decision.why in STOP_REASONS else "interrupted"
        self._log.info(
            what,
            chat=chat_id,
            person=event.person_id,
            why=decision.why,
            turns=list(halted.turns),
            dropped=halted.dropped,
        )
        self._send(chat_id)
