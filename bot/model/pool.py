"""The model pool: which endpoint is asked next, which one rests, which one makes vectors, and the slots for calls, shared
fairly among chats. It asks none itself."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from bot.core.clock import HOUR_MS
from bot.core.errors import ModelError, ModelFault
from bot.core.models import PriceAt
from bot.core.ports import Embedder, Model, Painter, Speaker

FAILURES = 3
"""Failures in a row after which a model rests."""

FIRST_REST_MS, LONGEST_REST_MS = 15_000, 300_000
"""How long it rests: 15 s, doubled with every probe that fails, at most five minutes."""

MOST_DOUBLINGS = 10

SPARED_MS = 30_000
"""While it is spared one call goes to it in so long (FAULTS L2: 1 in 30 s)."""

LONGEST_MS = HOUR_MS
"""A server may ask for a day of rest; that it is well again is found out after an hour."""

FIRST_RETRY_MS, LONGEST_RETRY_MS = 500, 5_000
"""Before the same model is asked again: .5 s, doubled; a server that wants a longer wait is not waited for."""

OTHERS_SHARE = 1 / 3
"""Part of a call's time that is kept for the next model."""

REMEMBERED = 1_024
"""Chats whose last slot is remembered (FAULTS R4); one that is forgotten counts as served longest ago, as it was."""

SlotWaiter = asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """What is known of one model: failures in a row, until when it rests (ms), whether a probe is on its way."""

    failures: int = 0
    rests_until: int = 0
    probing: bool = False
    fault: ModelFault = "busy"

    @property
    def closed(self) -> bool:
        """Whether calls go through as always."""
        return self.failures < FAILURES

    def allows(self, now: int) -> bool:
        """Whether a call may be made now; of a model that rested, one alone."""
        return self.closed or (now >= self.rests_until and not self.probing)

    def begun(self) -> "CircuitBreaker":
        """A call goes out."""
        return self if self.closed else replace(self, probing=True)

    def worked(self) -> "CircuitBreaker":
        """It was answered."""
        return CircuitBreaker()

    def ended(self, *, probe: bool) -> "CircuitBreaker":
        """It ended without a word about the server: cancelled, rate limit, a question that no model takes."""
        return replace(self, probing=False) if probe else self

    def failed(self, error: ModelError, now: int, *, probe: bool) -> "CircuitBreaker":
        """It failed. Rate limits and questions that no model takes say nothing about the server.

        Nor do calls that went out before it rested and were no `probe`: they fail for the same reason.
        """
        if error.limited or error.final or error.fault == "overflow" or not (self.closed or probe):
            return self.ended(probe=probe)
        failures = self.failures + 1
        rest = min(FIRST_REST_MS * 2 ** min(max(failures - FAILURES, 0), MOST_DOUBLINGS), LONGEST_REST_MS)
        return CircuitBreaker(failures, now + rest, False, error.fault)


@dataclass(frozen=True, slots=True)
class RateLimitState:
    """What is known of one model's rate limit, all in ms.

    It was reached at `since` (-1: never), the server wants no call before `asks_from`, others come first till `until`.
    """

    since: int = -1
    asks_from: int = 0
    until: int = 0

    def limited(self, now: int, wait_s: float | None) -> "RateLimitState":
        """The limit was reached; the server wants that wait, in seconds, or named none."""
        wait = min(round((wait_s or 0) * 1000), LONGEST_MS)
        return RateLimitState(now, max(now + wait, self.asks_from), max(now + max(wait, SPARED_MS), self.until))

    def begun(self, now: int) -> "RateLimitState":
        """A call goes out: until it is answered no other one follows for a while."""
        return self if self.since < 0 else replace(self, until=max(now + SPARED_MS, self.until))

    def worked(self, begun_at: int) -> "RateLimitState":
        """A call was answered; one that went out before the limit was reached says nothing about it."""
        return RateLimitState() if begun_at > self.since else self


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint:
    """One model, what its tokens cost at an instant, and from how many tokens on a prompt is cached."""

    model: Model
    rate: PriceAt
    least_cached: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingEndpoint:
    """Who makes vectors, and what its tokens cost at an instant."""

    embedder: Embedder
    rate: PriceAt


@dataclass(frozen=True, slots=True, eq=False)
class SpeechEndpoint:
    """Who speaks, and what a million characters cost."""

    speaker: Speaker
    price: float


@dataclass(frozen=True, slots=True, eq=False)
class DrawingEndpoint:
    """Who draws, and what one picture costs."""

    painter: Painter
    price: float


@dataclass(frozen=True, slots=True)
class EndpointFailure:
    """How one model failed within one call: the last error and when, ms, how often, and whether it was asked at all."""

    error: ModelError
    at: int
    times: int
    asked: bool = True


@dataclass(frozen=True, slots=True)
class NextEndpoint:
    """Who is asked next, and after how long, ms."""

    endpoint: Endpoint
    wait_ms: int


class ModelPool:
    """The first model, those that answer in its place, and the small one for a budget that runs low."""

    def __init__(
        self,
        first: Endpoint,
        fallbacks: tuple[Endpoint, ...] = (),
        small: Endpoint | None = None,
        tries: int = 3,
        embedding: EmbeddingEndpoint | None = None,
        speech: SpeechEndpoint | None = None,
        drawing: DrawingEndpoint | None = None,
    ) -> None:
        self.first = first
        self.embedding = embedding
        self.speech = speech
        self.drawing = drawing
        self._fallbacks = fallbacks
        self._small = small
        self._tries = tries
        self._breakers: dict[Endpoint, CircuitBreaker] = {}
        self._sparings: dict[Endpoint, RateLimitState] = {}

    @property
    def has_small(self) -> bool:
        """Whether there is a smaller model."""
        return self._small is not None

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every model, the first one first."""
        return (self.first, *self._fallbacks, *((self._small,) if self._small is not None else ()))

    @property
    def common_fault(self) -> ModelFault | None:
        """What every model that answers people failed for when it was asked last; None while one of them answers."""
        answering = [self._breaker(endpoint) for endpoint in self._order(False)]
        return answering[0].fault if all(breaker.failures for breaker in answering) else None

    def provider(self, name: str) -> str:
        """Whose the model of that name is, "" when nobody here has it."""
        return next((endpoint.model.dialect for endpoint in self.endpoints if endpoint.model.name == name), "")

    def pick(self, now: int, *, small: bool = False) -> Endpoint:
        """Whom to ask first, of those that are spared only if nobody else can; `begin` refuses when all rest."""
        order = self._order(small)
        return min(
            (endpoint for endpoint in order if self._may(endpoint, now)),
            key=lambda endpoint: self._spared(endpoint, now),
            default=order[0],
        )

    def begin(self, endpoint: Endpoint, now: int) -> bool:
        """A call to this model goes out, as a probe (True) or not; ModelError while it rests, with what ailed it."""
        breaker = self._breaker(endpoint)
        if not breaker.allows(now):
            rest = max(breaker.rests_until - now, 0) / 1000
            detail = f"{endpoint.model.name} is left alone for {rest:.0f} s after {breaker.failures} failures"
            fault = breaker.fault if breaker.fault in ("unreachable", "refused") else "busy"
            raise ModelError(fault, detail, limited=True)
        sparing = self._sparing(endpoint)
        if now < sparing.asks_from:
            rest_s = (sparing.asks_from - now) / 1000
            raise ModelError(
                "busy", f"{endpoint.model.name} wants no call for {rest_s:.0f} s", limited=True, wait_s=rest_s
            )
        self._breakers[endpoint] = breaker.begun()
        self._sparings[endpoint] = sparing.begun(now)
        return not breaker.closed

    def worked(self, endpoint: Endpoint, begun_at: int) -> None:
        """The request that was begun at that time was answered."""
        self._breakers[endpoint] = self._breaker(endpoint).worked()
        self._sparings[endpoint] = self._sparing(endpoint).worked(begun_at)

    def failed(self, endpoint: Endpoint, now: int, error: ModelError | None, *, probe: bool, again: bool) -> None:
        """The request failed, or (None: cancelled) ended without telling anything.

        What fails `again` in the same call tells no more of the server, but for how long it wants to be left alone.
        """
        breaker = self._breaker(endpoint)
        ended = breaker.ended(probe=probe) if error is None or again else breaker.failed(error, now, probe=probe)
        self._breakers[endpoint] = ended
        if error is not None and error.limited:
            self._sparings[endpoint] = self._sparing(endpoint).limited(now, error.wait_s)

    def after(
        self, endpoint: Endpoint, failures: Mapping[Endpoint, EndpointFailure], tried: int, now: int
    ) -> NextEndpoint | None:
        """Whom to ask when `endpoint`, of all who failed in this call, failed last; None when that was the last
        word.
        """
        error = failures[endpoint].error
        # A log too long for the first model closes its session; another one's window may only be smaller.
        if error.final or tried >= self._tries or (error.fault == "overflow" and endpoint is self.first):
            return None
        ready = [other for other in self._order(False) if other is not endpoint and self._breaker(other).allows(now)]
        fresh = min(
            (other for other in ready if other not in failures and self._may(other, now)),
            key=lambda other: self._spared(other, now),
            default=None,
        )
        if fresh is not None:
            return NextEndpoint(fresh, 0)
        again = [*ready, endpoint] if self._breaker(endpoint).allows(now) else ready
        waits = [NextEndpoint(one, wait) for one in again if (wait := _wait(failures[one], now)) is not None]
        following = min(waits, key=lambda one: one.wait_ms, default=None)
        return following if following is not None and following.wait_ms <= LONGEST_RETRY_MS else None

    def followed(self, endpoint: Endpoint, failures: Mapping[Endpoint, EndpointFailure], tried: int, now: int) -> bool:
        """Whether another model could come after that one in this call."""
        others = [other for other in self._order(False) if other is not endpoint and self._may(other, now)]
        may = any(other not in failures or _wait(failures[other], now) is not None for other in others)
        return may and tried < self._tries

    async def close(self) -> None:
        """Close every model's connections."""
        for endpoint in self.endpoints:
            await endpoint.model.close()
        if self.embedding is not None:
            await self.embedding.embedder.close()
        if self.speech is not None:
            await self.speech.speaker.close()
        if self.drawing is not None:
            await self.drawing.painter.close()

    def _order(self, small: bool) -> tuple[Endpoint, ...]:
        if small and self._small is not None:
            return (self._small, self.first, *self._fallbacks)
        return (self.first, *self._fallbacks)

    def _may(self, endpoint: Endpoint, now: int) -> bool:
        """Whether it may be asked now."""
        return self._breaker(endpoint).allows(now) and now >= self._sparing(endpoint).asks_from

    def _spared(self, endpoint: Endpoint, now: int) -> bool:
        """Whether others are asked before it."""
        return now < self._sparing(endpoint).until

    def _sparing(self, endpoint: Endpoint) -> RateLimitState:
        return self._sparings.get(endpoint, RateLimitState())

    def _breaker(self, endpoint: Endpoint) -> CircuitBreaker:
        return self._breakers.get(endpoint, CircuitBreaker())


def _wait(failure: EndpointFailure, now: int) -> int | None:
    """How long, ms, before the same model is asked again; None when it would take as long or say the same."""
    error = failure.error
    if error.fault in ("refused", "overflow") or (error.billed and error.fault != "cut"):
        return None
    wait = FIRST_RETRY_MS << max(failure.times - 1, 0)
    wait = wait if error.wait_s is None else max(wait, round(error.wait_s * 1000))
    return max(failure.at + wait - now, 0)


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
    async def of(
        self, chat_id: int, *, behind: bool = False, stops: Collection[asyncio.Event] = ()
    ) -> AsyncIterator[None]:
        """Hold a slot for that chat. ModelError when one of `stops` was set before there was one."""
        await self._take(chat_id, self._behind if behind else self._people, stops)
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

    async def _take(
        self, chat_id: int, queue: OrderedDict[int, deque[SlotWaiter]], stops: Collection[asyncio.Event]
    ) -> None:
        if self._free > 0:  # then nobody waits
            self._free -= 1
            self._serve(chat_id)
            return
        place: SlotWaiter = asyncio.get_running_loop().create_future()
        queue.setdefault(chat_id, deque()).append(place)
        try:
            await _given(place, stops)
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


async def _given(place: SlotWaiter, stops: Collection[asyncio.Event]) -> None:
    """Return when the place is given; ModelError when what it is for is not wanted any more."""
    stopping: list[asyncio.Future[Any]] = [asyncio.ensure_future(stop.wait()) for stop in stops]
    try:
        await asyncio.wait([place, *stopping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in stopping:
            each.cancel()
    if not place.done():
        raise ModelError("busy", "not asked: somebody wrote meanwhile", final=True)


def _leave(queue: OrderedDict[int, deque[SlotWaiter]], chat_id: int, place: SlotWaiter) -> None:
    """Take a place out of its queue; a chat in which nothing waits is not kept."""
    places = queue.get(chat_id)
    if places is not None and place in places:
        places.remove(place)
        if not places:
            del queue[chat_id]
