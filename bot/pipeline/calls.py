"""Model calls within one deadline: slots, retries over the pool, a reservation for each request, settlement; and texts that
a model writes in the background, where that is allowed."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from bot import money
from bot.config.settings import BackgroundRules, BackgroundSource
from bot.core.errors import ModelError, OverBudget, OverLimit, StoreError
from bot.core.models import Completion, Message, ModelRequest, PriceAt, Prompt, ResponseFormat, Usage
from bot.core.people import Script
from bot.core.ports import Clock, Log, Model, model_fields, pause
from bot.core.sessions import CallCause, ModelCall
from bot.model.pool import OTHERS_SHARE, Endpoint, EndpointFailure, ModelSlots
from bot.pipeline.configuration import Current
from bot.prompt.composition import credible
from bot.store.ledger import Ledger, Reservation, Settlement
from bot.store.settings import StoredSettings
from bot.store.store import Store
from bot.text.length import TokenVocabulary, message_tokens

Reserve = Callable[[Endpoint], Awaitable[ModelCall]]
Listen = Callable[[Model, ModelRequest], Awaitable[Completion]]

ReserveAt = Callable[[Reservation, int], Awaitable[ModelCall]]
"""Commits a reservation at an instant, ms; it may raise OverBudget, and ModelError when the call is not wanted now."""


def reservation(
    current: Current,
    cause: CallCause,
    model: str,
    prompt: int,
    output: int,
    rate: PriceAt,
    now: int,
    estimated: int = 0,
) -> Reservation:
    """What a call with a prompt of so many tokens, and an answer of so many, must reserve under every limit.

    `estimated` is what a bare estimate makes of the prompt.
    """
    most = money.estimate(prompt, output, rate(now))
    return replace(fixed_reservation(current, cause, model, most.tokens, most.cost, now), estimated=estimated)


def fixed_reservation(
    current: Current, cause: CallCause, model: str, tokens: int, cost: float, now: int
) -> Reservation:
    """What a call that costs so much must reserve under every limit."""
    day, month = money.periods(now, current.words.default_tz)
    return Reservation(cause, model, tokens, cost, money.limits(current.settings), day, month)


async def reserve_shielded(booking: Awaitable[ModelCall], store: Store, clock: Clock) -> int:
    """The number of the call that is reserved; whoever is cancelled meanwhile gives it back.

    The store finishes what it has begun although nobody waits for it. Raises what the store raises.
    """
    reserving = asyncio.ensure_future(booking)
    try:
        return (await asyncio.shield(reserving)).id
    except asyncio.CancelledError:
        with suppress(OverBudget, OverLimit, StoreError):  # nothing was asked: it costs nothing
            await store.ledger.release((await reserving).id, clock.now())
        raise


async def end_failed(ledger: Ledger, call: int, error: BaseException, now: int) -> None:
    """End the reservation of a call that failed: released when a model says that nothing was billed, else charged."""
    billed = not isinstance(error, ModelError) or error.billed
    await (ledger.charge if billed else ledger.release)(call, now)


class BackgroundGate:
    """The gate before every call in the background (seed AI Chat Pipeline, C43)."""

    def __init__(self, settings: StoredSettings, current: Current) -> None:
        self._settings = settings
        self._current = current

    @property
    def _rules(self) -> BackgroundRules:
        return self._current.settings.background

    async def allows(self, source: BackgroundSource) -> bool:
        """Whether that source may call now."""
        return source in self._rules.sources and await self.is_on()

    async def is_on(self) -> bool:
        """Whether background calls are on at all."""
        return self._rules.on and await self._settings.background()

    @property
    def configured(self) -> bool:
        """Whether the configuration lets anything call."""
        return self._rules.on and bool(self._rules.sources)

    @property
    def sources(self) -> tuple[str, ...]:
        """What may call while it is on."""
        return self._rules.sources

    async def switch(self, on: bool) -> None:
        """Remember the owner's word, across restarts; what the configuration switched off stays off."""
        await self._settings.switch_background(on)


class InterruptibleModel:
    """That model, until `stop` is set."""

    def __init__(self, model: Model, stop: asyncio.Event) -> None:
        self.name, self.dialect, self.digests = model.name, model.dialect, model.digests
        self._model = model
        self._stop = stop

    async def complete(self, request: ModelRequest) -> Completion:
        """As the model does; ModelError when it was stopped, which costs nothing before the call began."""
        if self._stop.is_set():
            raise ModelError("busy", "not asked: somebody wrote meanwhile", final=True)
        asking = asyncio.ensure_future(self._model.complete(request))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((asking, stopping), return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            raise ModelError("cut", "stopped: somebody wrote meanwhile", final=True)
        finally:
            asking.cancel()
            stopping.cancel()
            await asyncio.gather(asking, stopping, return_exceptions=True)

    async def body(self, request: ModelRequest) -> bytes:
        """As the model does."""
        return await self._model.body(request)

    async def close(self) -> None:
        """The model is closed by its owner."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A completion, the reservation that it is settled with, and who gave it."""

    completion: Completion
    call: ModelCall
    endpoint: Endpoint


class ModelCaller:
    """Asks models for turns and digests; `slots` bounds the calls in flight over all chats, shared fairly."""

    def __init__(self, current: Current, slots: ModelSlots, clock: Clock, log: Log) -> None:
        self._current = current
        self._slots = slots
        self._clock = clock
        self._log = log
        self._behind = False
        self._stop: asyncio.Event | None = None

    def behind(self, stop: asyncio.Event | None = None) -> "ModelCaller":
        """The same for what nobody waits for: its calls come after those of people, and end when `stop` is set."""
        other = ModelCaller(self._current, self._slots, self._clock, self._log)
        other._behind, other._stop = True, stop
        return other

    async def ask(
        self,
        chat_id: int,
        request: ModelRequest,
        first: tuple[Endpoint, ModelCall],
        reserve: Reserve,
        ledger: Ledger,
        listen: Listen,
        by: int | None = None,
    ) -> ModelReply:
        """The answer of whoever gives one. ModelError: nobody did, and the last reservation is left to the caller.

        Reservations of requests that failed before it are charged or released here; `reserve` makes the next one and
        may raise OverBudget. The deadline begins when a slot is free; who still waits for one at `by` (ms) is late.
        """
        (endpoint, call), pool = first, self._current.pool
        async with self._slot(chat_id, by):
            ends, tried = self._clock.now() + request.deadline_s * 1000, 0
            failed: dict[Endpoint, EndpointFailure] = {}
            while True:
                now = self._clock.now()
                followed = pool.followed(endpoint, failed, tried + 1, now)
                try:
                    completion = await self._try(
                        endpoint, with_deadline(request, (ends - now) / 1000, followed), listen, failed
                    )
                    return ModelReply(completion, call, endpoint)
                except ModelError as error:
                    now = self._clock.now()
                    tried += failed[endpoint].asked  # one that wanted no call yet was not asked
                    following = pool.after(endpoint, failed, tried, now)
                    if following is None or now + following.wait_ms >= ends:
                        raise
                    self._log.warning(
                        "model_retried",
                        call=call.id,
                        **model_fields("chat", endpoint.model.name),
                        fault=error.fault,
                        detail=error.detail,
                        text=error.said,
                        next=following.endpoint.model.name,
                        wait_ms=following.wait_ms,
                    )
                    await end_failed(ledger, call.id, error, now)
                if following.wait_ms:
                    await pause(self._clock, following.wait_ms)
                endpoint = following.endpoint
                call = await reserve(endpoint)

    @asynccontextmanager
    async def _slot(self, chat_id: int, by: int | None) -> AsyncIterator[None]:
        """Hold a slot; ModelError when there was none by that time, or somebody wrote meanwhile."""
        late, held = asyncio.Event(), False

        def expire() -> None:
            late.set()

        alarm = self._clock.at(by, expire) if by is not None else None
        stops = (late,) if self._stop is None else (late, self._stop)
        try:
            async with self._slots.of(chat_id, behind=self._behind, stops=stops):
                held = True
                if alarm is not None:
                    alarm.cancel()
                yield
        except ModelError:
            if held or not late.is_set():
                raise
            raise ModelError("late", "no slot came free in time", final=True) from None
        finally:
            if alarm is not None:
                alarm.cancel()

    async def _try(
        self, endpoint: Endpoint, request: ModelRequest, listen: Listen, failed: dict[Endpoint, EndpointFailure]
    ) -> Completion:
        """One request, after which the model pool knows how it went; one call's failures of one model are one
        failure.
        """
        before, failure, probe, begun = failed.get(endpoint), None, False, False
        begun_at, pool = self._clock.now(), self._current.pool
        try:
            probe, begun = pool.begin(endpoint, begun_at), True
            model = endpoint.model if self._stop is None else InterruptibleModel(endpoint.model, self._stop)
            completion = await listen(model, request)
        except ModelError as error:
            failure = error
            times = (0 if before is None else before.times) + begun
            failed[endpoint] = EndpointFailure(error, self._clock.now(), times, begun)
            raise
        else:
            begun = False
            pool.worked(endpoint, begun_at)
            return completion
        finally:
            if begun:
                pool.failed(endpoint, self._clock.now(), failure, probe=probe, again=before is not None)


def with_deadline(request: ModelRequest, left_s: float, followed: bool) -> ModelRequest:
    """The request with the seconds it may take.

    One that is `followed` by other models leaves them a third, and is left for them when it does not even begin; the
    last one has all the time there is: a machine that reads slowly is no reason to say nothing.
    """
    if followed:
        return replace(request, deadline_s=left_s * (1 - OTHERS_SHARE))
    return replace(request, deadline_s=left_s, first_s=0.0)


async def complete_whole(model: Model, request: ModelRequest) -> Completion:
    """The answer when it is whole: nobody reads along in the background."""
    return await model.complete(request)


def settlement_of(answered: ModelReply, vocabulary: TokenVocabulary, now: int, window_tokens: int) -> Settlement:
    """What a call cost.

    Where the server did not say, or nothing that can be, it is what was reserved: thoughts that nobody sees are paid
    like an answer, and a limit must not be passed by what nobody counted (FAULTS L10).
    """
    answer, call = answered.completion, answered.call
    if answer.usage is not None and credible(answer.usage, window_tokens):
        return Settlement(call.id, answer.usage, money.cost(answer.usage, answered.endpoint.rate(now)))
    written = min(message_tokens(answer.message(), vocabulary), call.reserved_tokens)
    usage = Usage(call.reserved_tokens - written, 0, written, returned=False)
    return Settlement(call.id, usage, call.reserved_cost, reserved=True)


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What is written for which chat: from this text, by the instructions in that language, in so many tokens.

    `more` is what follows the text: an answer, and what is to be better about it. `shape` is that of the answer.
    """

    cause: CallCause
    chat_id: int
    script: Script
    text: str
    output_tokens: int
    small: bool
    more: tuple[Message, ...] = ()
    shape: ResponseFormat | None = None


@dataclass(frozen=True, slots=True)
class WrittenText:
    """What a model wrote, and what is to be committed for it."""

    text: str
    settlement: Settlement


class BackgroundWriter:
    """Who writes one kind of these texts, by the instructions of that folder."""

    def __init__(self, caller: ModelCaller, folder: str, ledger: Ledger, clock: Clock, current: Current) -> None:
        self._caller = caller
        self._folder = folder
        self._ledger = ledger
        self._clock = clock
        self._current = current

    @property
    def able(self) -> bool:
        """Whether the first model can write such texts; the offline one cannot."""
        return self._current.pool.first.model.digests

    @asynccontextmanager
    async def written(self, task: WritingTask, reserve: ReserveAt) -> AsyncIterator[WrittenText]:
        """The model's text, by one call; whatever the call or the block raises, its reservation is settled.

        ModelError: no model answered. OverBudget: a limit leaves no room for the call.
        """
        model, pool = self._current.settings.model, self._current.pool
        system = Message("system", self._current.value.texts.instructions[self._folder][task.script])
        prompt = Prompt((), (system, Message("user", task.text), *task.more))
        vocabulary = self._current.value.vocabulary
        estimated = sum(message_tokens(message, vocabulary) for message in prompt.messages)
        most = min(task.output_tokens, model.max_output_tokens)
        request = ModelRequest(prompt, most, 0.0, model.deadline_seconds, shape=task.shape)
        calls: list[ModelCall] = []

        async def book(endpoint: Endpoint) -> ModelCall:
            now, name = self._clock.now(), endpoint.model.name
            tokens = math.ceil(estimated * await self._ledger.ratio(name))
            wanted = reservation(
                self._current, task.cause, name, tokens, model.max_output_tokens, endpoint.rate, now, estimated
            )
            calls.append(await reserve(wanted, now))
            return calls[-1]

        endpoint = pool.pick(self._clock.now(), small=task.small)
        try:
            first = endpoint, await book(endpoint)
            answered = await self._caller.ask(task.chat_id, request, first, book, self._ledger, complete_whole)
            paid = settlement_of(answered, vocabulary, self._clock.now(), model.window_tokens)
            yield WrittenText(answered.completion.text, paid)
        except Exception as error:
            if calls:
                await end_failed(self._ledger, calls[-1].id, error, self._clock.now())
            raise
