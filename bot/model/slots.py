"""Slots for concurrent model calls, shared fairly among chats."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.core.errors import ModelError

REMEMBERED = 1_024
"""Chats whose last slot is remembered (FAULTS R4); one that is forgotten counts as served longest ago, as it was."""

SlotWaiter = asyncio.Future[None]


class ModelSlots:
    """At most `most` at once; a free slot goes to the waiting chat that was served longest ago, in order within it.

    What waits `behind` gets one only while nobody else waits, so that people come before digests (FAULTS R2).
    """

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._people: OrderedDict[int, deque[SlotWaiter]] = OrderedDict()
        self._behind: OrderedDict[int, deque[SlotWaiter]] = OrderedDict()
        self._served: OrderedDict[int, None] = OrderedDict()

    @asynccontextmanager
    async def of(self, chat_id: int, *, behind: bool = False, stop: asyncio.Event | None = None) -> AsyncIterator[None]:
        """Hold a slot for that chat. ModelError when `stop` was set before there was one."""
        await self._take(chat_id, self._behind if behind else self._people, stop)
        try:
            yield
        finally:
            self._give()

    def resize(self, most: int) -> None:
        """From now on there are so many; of calls in flight beyond that none is cut off."""
        more, self._most = most - self._most, most
        self._free += min(more, 0)
        for _ in range(more):
            self._give()

    async def _take(self, chat_id: int, queue: OrderedDict[int, deque[SlotWaiter]], stop: asyncio.Event | None) -> None:
        if self._free > 0:  # then nobody waits
            self._free -= 1
            self._serve(chat_id)
            return
        place: SlotWaiter = asyncio.get_running_loop().create_future()
        queue.setdefault(chat_id, deque()).append(place)
        try:
            await _wait(place, stop)
        except BaseException:
            if place.done() and not place.cancelled():
                self._give()
            else:
                _leave(queue, chat_id, place)
            raise

    def _give(self) -> None:
        """A slot is free: to whom it goes now."""
        if self._free < 0:  # there are fewer than when it was taken
            self._free += 1
            return
        for queue in (self._people, self._behind):
            while queue:
                chat_id = self._next(queue)
                place = queue[chat_id][0]
                _leave(queue, chat_id, place)
                if not place.done():
                    self._serve(chat_id)
                    place.set_result(None)
                    return
        self._free += 1

    def _next(self, queue: OrderedDict[int, deque[SlotWaiter]]) -> int:
        """The chat that was served longest ago; of those that never were, the one that has waited longest."""
        never = next((chat_id for chat_id in queue if chat_id not in self._served), None)
        return never if never is not None else next(chat_id for chat_id in self._served if chat_id in queue)

    def _serve(self, chat_id: int) -> None:
        self._served[chat_id] = None
        self._served.move_to_end(chat_id)
        if len(self._served) > REMEMBERED:
            self._served.popitem(last=False)


async def _wait(place: SlotWaiter, stop: asyncio.Event | None) -> None:
    """Return when the place is given; ModelError when what it is for is not wanted any more."""
    if stop is None:
        await place
        return
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((place, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
    if not place.done():
        raise ModelError("busy", "not asked: somebody wrote meanwhile", final=True)


def _leave(queue: OrderedDict[int, deque[SlotWaiter]], chat_id: int, place: SlotWaiter) -> None:
    """Take a place out of its queue; a chat in which nothing waits is not kept."""
    places = queue.get(chat_id)
    if places is not None and place in places:
        places.remove(place)
        if not places:
            del queue[chat_id]
