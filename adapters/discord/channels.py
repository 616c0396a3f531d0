"""Events in order, channel by channel: what its history tells of an absence, then what is new. It stores nothing."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

import discord
from discord.abc import GuildChannel, Messageable

from adapters.discord import Shards
from adapters.discord.client import Client
from adapters.discord.events import PLATFORM, deletion, edit_of, from_message, place
from adapters.discord.sending import FAILURES, error_text
from bot.core.errors import NuanError, StatementError
from bot.core.events import Incoming, Place
from bot.core.ports import Clock, EventSink, Log, pause

PARALLEL_READS = 4
"""Channels whose history is read at the same time; Discord allows 50 requests a second overall."""

COMPARED = 100
"""Stored messages of a channel that are looked up after an absence, newest first: what one request shows."""

UNSEEN_WAIT_S = 10.0
"""How long the known channels of a guild wait until those never seen were read: what they store moves the mark."""

RETRIES_MS = (1_000, 2_000, 4_000, 8_000, 16_000)
"""Waits after which a history that cannot be read is tried again; then the channel goes on without it."""

IDLE_CHANNELS_KEPT = 1_024
"""Channels at rest that are remembered (FAULTS R4); of one that is forgotten the history is looked at once more."""

BACKLOG = 1_000
"""Messages of one channel that are read after an absence, the newest of them: ten requests."""
_MALFORMED_PAYLOAD = (KeyError, TypeError, ValueError, AttributeError)


class HistoryUnavailable(Exception):
    """A history cannot be read now; the text says why."""


class MessageHistory(Protocol):
    """What a connection can find out about the time before it."""

    async def missed(self, there: Place, after: str) -> tuple[Incoming, ...]:
        """What was said after the message of that id, oldest first. HistoryUnavailable when another try may help."""
        ...

    async def changed(self, there: Place, stored: Collection[str]) -> tuple[Incoming, ...]:
        """Which of these messages were deleted or edited; nothing when that cannot be told."""
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

    After `connected` the history of each channel of that shard is compared and read before its next event. `failed` is
    done with the error when an event could not be stored; from then on nothing is taken.
    """

    def __init__(self, sink: EventSink, past: MessageHistory, clock: Clock, log: Log, shards: Shards) -> None:
        self._shards = shards
        self._sink = sink
        self._past = past
        self._clock = clock
        self._log = log
        self._queues: dict[str, _ChannelQueue] = {}
        self._resting: OrderedDict[str, None] = OrderedDict()
        self._connections = dict.fromkeys(shards.numbers, 0)
        self._before: dict[int, asyncio.Task[_StoredBefore]] = {}
        self._looks: set[asyncio.Task[_StoredBefore]] = set()
        self._reading = asyncio.Semaphore(PARALLEL_READS)
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connected(self, shard: int) -> None:
        """A new connection of that shard, which may have missed something."""
        self._connections[shard] += 1
        self._before[shard] = before = asyncio.create_task(self._look_back(shard), name="discord marks")
        self._looks.add(before)
        before.add_done_callback(self._looked)
        for channel, queue in [*self._queues.items()]:
            if self._shards.of(queue.place) != shard:
                continue
            if channel in self._resting:
                del self._queues[channel], self._resting[channel]
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

    async def known(self, shard: int) -> tuple[Place, ...]:
        """The places that are stored, of that shard."""
        return tuple(there for there in await self._sink.places(PLATFORM) if self._shards.of(there) == shard)

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

    async def _look_back(self, shard: int) -> _StoredBefore:
        """What is stored before this connection stores anything: there the unknown channels of a guild begin."""
        found: dict[str, int] = {}
        places = await self.known(shard)
        for there in places:
            if there.parent and (newest := await self._sink.newest(there)).isdecimal():
                found[there.parent] = max(found.get(there.parent, 0), int(newest))
        newest_of = {parent: str(number) for parent, number in found.items()}
        return _StoredBefore(frozenset(there.external_id for there in places), newest_of)

    async def _after_the_unseen(self, parent: str, before: _StoredBefore) -> None:
        waits = [
            asyncio.ensure_future(queue.read.wait())
            for queue in self._queues.values()
            if queue.place.parent == parent != ""
            and queue.place.external_id not in before.places
            and not self._is_read(queue)
        ]
        try:
            if waits:
                await asyncio.wait(waits, timeout=UNSEEN_WAIT_S)
        finally:
            for waiting in waits:
                waiting.cancel()

    def _is_read(self, queue: _ChannelQueue) -> bool:
        """Whether nothing that its present connection missed is unread."""
        return queue.read_for == self._connections[self._shards.of(queue.place)]

    def _queue(self, place: Place) -> _ChannelQueue:
        return self._queues.setdefault(place.external_id, _ChannelQueue(place))

    async def _work(self, queue: _ChannelQueue) -> None:
        try:
            while queue.waiting or not self._is_read(queue):
                if not self._is_read(queue):
                    await self._catch_up(queue)
                elif not self.failed.done():
                    await self._accept(queue.waiting[0])
                    queue.waiting.popleft()
                else:
                    return
        except Exception as error:  # noqa: BLE001 - it is raised where the adapter waits
            self.fail(error)
        finally:
            queue.task = None
            if not queue.waiting and self._is_read(queue):
                self._rest(queue.place.external_id)

    def _rest(self, channel: str) -> None:
        """Nothing waits there, and nothing was missed; the one that has rested longest is forgotten."""
        self._resting[channel] = None
        if len(self._resting) > IDLE_CHANNELS_KEPT:
            oldest, _ = self._resting.popitem(last=False)
            del self._queues[oldest]

    async def _catch_up(self, queue: _ChannelQueue) -> None:
        shard, count, changes = self._shards.of(queue.place), 0, 0
        connection = self._connections[shard]
        before = await asyncio.shield(self._before[shard])
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
            self.fail(error)

    async def _accept(self, incoming: Incoming) -> None:
        """A store that cannot be used stops everything; anything else is wrong with this one event."""
        try:
            await self._sink.accept(incoming)
        except Exception as error:
            if isinstance(error, (NuanError, OSError)) and not isinstance(error, StatementError):
                raise
            # One event must not stop the others.
            self._log.error("discord_event_failed", delivery_key=incoming.delivery_key, exc_info=error)

    def fail(self, error: Exception) -> None:
        """End the connection, unless something has already: the next one sees what was missed."""
        if not self.failed.done():
            self.failed.set_exception(error)


class History:
    """The histories that a connection can read."""

    def __init__(self, client: Client, log: Log) -> None:
        self._client = client
        self._log = log

    async def missed(self, there: Place, after: str) -> tuple[Incoming, ...]:
        """What was said in a channel after that message, oldest first; HistoryUnavailable when another try may help."""
        client = self._client
        if client.user is None or not after.isdecimal():
            return ()
        channel = client.get_channel(int(there.external_id))
        last = getattr(channel, "last_message_id", None)
        if last is not None and last <= int(after):
            return ()
        read: list[discord.Message] = []
        try:
            since = discord.Object(int(after))
            async for message in self._source(there).history(limit=BACKLOG, after=since, oldest_first=False):
                read.append(message)  # noqa: PERF401 - what was read before an error is not lost
        except (discord.Forbidden, discord.NotFound) as error:
            self._log.info("discord_no_history", channel=there.external_id, code=error.code)
        except _MALFORMED_PAYLOAD as error:
            self._log.warning("discord_malformed", gateway_event="history", error=type(error).__name__)
        except FAILURES as error:
            raise HistoryUnavailable(error_text(error)) from error
        if len(read) == BACKLOG:
            self._log.warning("discord_backlog_cut", channel=there.external_id, messages=BACKLOG)
        found = (from_message(message, client.user) for message in reversed(read))
        return tuple(one for one in found if one is not None)

    async def changed(self, there: Place, stored: Collection[str]) -> tuple[Incoming, ...]:
        """Which of these messages were deleted or edited, oldest first; nothing when the history cannot be read.

        One request: only what is not older than the oldest message that it shows can be missing there.
        """
        me = self._client.user
        known = sorted(int(one) for one in stored if one.isdecimal())
        if me is None or not known or not self._shows_all(there):
            return ()
        try:
            before = discord.Object(known[-1] + 1)
            shown = {one.id: one async for one in self._source(there).history(limit=COMPARED, before=before)}
            start = min(shown) if len(shown) == COMPARED else 0
            found = [
                edit_of(shown[one], me) if one in shown else deletion(there, one, me.id)
                for one in known
                if one >= start
            ]
        except (*FAILURES, *_MALFORMED_PAYLOAD) as error:
            self._log.info("discord_not_compared", channel=there.external_id, error=type(error).__name__)
            return ()
        return tuple(one for one in found if one is not None)

    def _source(self, there: Place) -> Messageable:
        number = int(there.external_id)
        channel = self._client.get_channel(number)
        return channel if isinstance(channel, Messageable) else self._client.get_partial_messageable(number)

    def _shows_all(self, there: Place) -> bool:
        """Whether what is not in the history is gone: without the permission to read it Discord shows an empty one."""
        channel = self._client.get_channel(int(there.external_id))
        if isinstance(channel, GuildChannel | discord.Thread):
            return may_read(channel)
        return there.kind == "dm"


def readable(guild: discord.Guild) -> list[Place]:
    """Every channel and active thread whose history may be read."""
    channels: list[discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread] = []
    channels += [*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads]
    return [place(channel, channel.id, guild.id) for channel in channels if may_read(channel)]


def may_read(channel: GuildChannel | discord.Thread) -> bool:
    """Whether the bot may read what was said there before."""
    may = channel.permissions_for(channel.guild.me)
    return may.read_messages and may.read_message_history
