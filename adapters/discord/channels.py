"""Events in order, channel by channel: what changed, what was missed, then what is new. It reads no payloads."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from bot.core.errors import NuanError, StatementError
from bot.core.events import Incoming, Place
from bot.core.ports import Clock, EventSink, Log, pause

PARALLEL_READS = 4
"""Channels whose history is read at the same time; Discord allows 50 requests a second overall."""

COMPARED = 100
"""Stored messages of a channel that are looked up after an absence: what one request shows."""

UNSEEN_WAIT_S = 10.0
"""How long the known channels of a guild wait until those never seen were read: what they store moves the mark."""

RETRIES_MS = (1_000, 2_000, 4_000, 8_000, 16_000)
"""Waits after which a history that cannot be read is tried again; then the channel goes on without it."""

IDLE_CHANNELS_KEPT = 1_024
"""Channels at rest that are remembered (FAULTS R4); of one that is forgotten the history is looked at once more."""


class HistoryUnavailable(Exception):
    """A history cannot be read now; the text says why."""


class MessageHistory(Protocol):
    """What a connection can find out about the time before it."""

    async def missed(self, there: Place, after: str) -> tuple[Incoming, ...]:
        """What was said in a place after the message of that id, oldest first. Unread when another try may help."""
        ...

    async def changed(self, there: Place, stored: Collection[str]) -> tuple[Incoming, ...]:
        """Which of these messages were deleted or edited; nothing when that cannot be told."""
        ...


@runtime_checkable
class KnowsPlaces(Protocol):
    """A sink that knows its places. Without one, what is missed in direct messages stays missed."""

    async def places(self, platform: str) -> tuple[Place, ...]:
        """Every place of that platform that is stored."""
        ...


@dataclass(slots=True)
class _ChannelQueue:
    """What waits of one channel, and for which connection its history was read."""

    place: Place
    waiting: deque[Incoming] = field(default_factory=deque)
    read_for: int = 0
    read: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class _StoredBefore:
    """What was stored when a connection began: the places, and the newest message of each guild."""

    places: frozenset[str]
    newest: dict[str, str]


class ChannelQueues:
    """Brings events to the sink: one at a time in a channel, channels in parallel.

    After `connected` the history of a channel is compared and read before its next event. `failed` is done with the
    error when an event could not be stored; from then on nothing is taken.
    """

    def __init__(self, sink: EventSink, past: MessageHistory, clock: Clock, log: Log) -> None:
        self._sink = sink
        self._past = past
        self._clock = clock
        self._log = log
        self._queues: dict[str, _ChannelQueue] = {}
        self._resting: OrderedDict[str, None] = OrderedDict()
        self._connection = 0
        self._before: asyncio.Task[_StoredBefore] | None = None
        self._looks: set[asyncio.Task[_StoredBefore]] = set()
        self._reading = asyncio.Semaphore(PARALLEL_READS)
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connected(self) -> None:
        """A new connection that may have missed something."""
        self._connection += 1
        self._before = asyncio.create_task(self._look_back(), name="discord marks")
        self._looks.add(self._before)
        self._before.add_done_callback(self._looked)
        for channel in self._resting:
            del self._queues[channel]
        self._resting.clear()
        for queue in self._queues.values():
            queue.read.clear()

    def put(self, incoming: Incoming) -> None:
        """An event that just came."""
        self._queue(incoming.place).waiting.append(incoming)
        self.look(incoming.place)

    def look(self, place: Place) -> None:
        """See what was missed in a place, if that was not seen yet, and go on with what waits."""
        queue = self._queue(place)
        if queue.task is None and not self.failed.done():
            self._resting.pop(place.external_id, None)
            queue.task = asyncio.create_task(self._work(queue), name=f"discord {place.external_id}")

    async def known(self) -> tuple[Place, ...]:
        """The places that are stored, where the sink can tell."""
        return await self._sink.places("discord") if isinstance(self._sink, KnowsPlaces) else ()

    async def close(self) -> None:
        """Stop; what still waits is read from the history when nuan comes back."""
        if not self.failed.cancel() and not self.failed.cancelled():
            self.failed.exception()  # whoever waited for it has ended for another reason
        tasks: list[asyncio.Task[Any]] = [queue.task for queue in self._queues.values() if queue.task is not None]
        tasks += self._looks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _looked(self, look: asyncio.Task[_StoredBefore]) -> None:
        """Whoever waits for it gets its error; nobody need wait."""
        self._looks.discard(look)
        if not look.cancelled():
            look.exception()

    async def _look_back(self) -> _StoredBefore:
        """What is stored before this connection stores anything: there the unknown channels of a guild begin."""
        found: dict[str, int] = {}
        places = await self.known()
        for place in places:
            if place.parent and (newest := await self._sink.newest(place)).isdecimal():
                found[place.parent] = max(found.get(place.parent, 0), int(newest))
        newest_of = {parent: str(number) for parent, number in found.items()}
        return _StoredBefore(frozenset(place.external_id for place in places), newest_of)

    async def _after_the_unseen(self, parent: str, before: _StoredBefore) -> None:
        waits = [
            asyncio.ensure_future(queue.read.wait()) for queue in self._queues.values()
            if queue.place.parent == parent != "" and queue.place.external_id not in before.places
            and queue.read_for != self._connection
        ]  # fmt: skip
        try:
            if waits:
                await asyncio.wait(waits, timeout=UNSEEN_WAIT_S)
        finally:
            for waiting in waits:
                waiting.cancel()

    def _queue(self, place: Place) -> _ChannelQueue:
        return self._queues.setdefault(place.external_id, _ChannelQueue(place))

    async def _work(self, queue: _ChannelQueue) -> None:
        try:
            while queue.waiting or queue.read_for != self._connection:
                if queue.read_for != self._connection:
                    await self._catch_up(queue)
                elif not self.failed.done():
                    await self._accept(queue.waiting[0])
                    queue.waiting.popleft()
                else:
                    return
        except Exception as error:  # noqa: BLE001 - it is raised where the adapter waits
            self._fail(error)
        finally:
            queue.task = None
            if not queue.waiting and queue.read_for == self._connection:
                self._rest(queue.place.external_id)

    def _rest(self, channel: str) -> None:
        """Nothing waits there, and nothing was missed; the one that has rested longest is forgotten."""
        self._resting[channel] = None
        if len(self._resting) > IDLE_CHANNELS_KEPT:
            oldest, _ = self._resting.popitem(last=False)
            del self._queues[oldest]

    async def _catch_up(self, queue: _ChannelQueue) -> None:
        connection, count, changes = self._connection, 0, 0
        assert self._before is not None, "nothing is read before there is a connection"
        before = await asyncio.shield(self._before)
        if newest := await self._sink.newest(queue.place):
            await self._after_the_unseen(queue.place.parent, before)
            # What is gone must be gone before what was missed is answered.
            stored = await self._sink.recent(queue.place, COMPARED)
            async with self._reading:
                found = await self._past.changed(queue.place, stored)
            for change in found:
                await self._accept(change)
                changes += 1
        if since := newest or before.newest.get(queue.place.parent, ""):
            for incoming in await self._missed(queue.place, since):
                await self._accept(incoming)
                count += 1
        queue.read_for = connection
        queue.read.set()
        if count or changes:
            channel = queue.place.external_id
            self._log.info("discord_caught_up", channel=channel, messages=count, changes=changes)

    async def _missed(self, place: Place, after: str) -> tuple[Incoming, ...]:
        """What was missed; a channel whose history stays unreadable must not hold up the others for ever."""
        for wait in (*RETRIES_MS, None):
            try:
                async with self._reading:
                    return await self._past.missed(place, after)
            except HistoryUnavailable as error:
                self._log.warning("discord_history_unread", channel=place.external_id, error=str(error), wait_ms=wait)
                if wait is not None:
                    await pause(self._clock, wait)
        return ()

    async def take(self, incoming: Incoming) -> None:
        """Store an event that cannot wait for what was missed; a store that cannot be used ends everything."""
        try:
            await self._accept(incoming)
        except Exception as error:  # noqa: BLE001 - it is raised where the adapter waits
            self._fail(error)

    async def _accept(self, incoming: Incoming) -> None:
        """A store that cannot be used stops everything; anything else is wrong with this one event."""
        try:
            await self._sink.accept(incoming)
        except Exception as error:
            if isinstance(error, (NuanError, OSError)) and not isinstance(error, StatementError):
                raise
            # One event must not stop the others.
            self._log.error("discord_event_failed", delivery_key=incoming.delivery_key, exc_info=error)

    def _fail(self, error: Exception) -> None:
        if not self.failed.done():
            self.failed.set_exception(error)
