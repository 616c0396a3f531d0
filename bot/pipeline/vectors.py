"""Vectors: budgeted calls, and making those that are lacking in the background."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import Literal

from bot import money
from bot.core.clock import DAY_MS, HOUR_MS, MINUTE_MS
from bot.core.errors import ModelError, ModelFault, OverBudget
from bot.core.inspection import VectorWork
from bot.core.models import Embeddings, MissingEmbedding, Usage
from bot.core.ports import Alarm, Clock, Log, model_fields
from bot.model.local import STILL_LOADING
from bot.model.pool import CircuitBreaker, EmbeddingEndpoint
from bot.pipeline.calls import BackgroundGate, end_failed, reservation, reserve_shielded
from bot.pipeline.configuration import Current
from bot.recall.vectors import stored
from bot.store.ledger import Settlement
from bot.store.store import Store
from bot.store.vectors import NewVector, VectorSpace
from bot.text.length import clip, estimate_tokens

TEXT_CHARS = 2_000
"""Longest text that gets a vector, in characters: most models read 512 tokens, few more than 8,000."""

Trouble = Literal["", "down", "budget", "switched_off"]
"""Nothing; the server fails or rests; a limit is reached; calls in the background are off."""

GATHER_MS, OWN_GATHER_MS = 20_000, 300
"""How long what is new is gathered before one call makes its vectors: a talk has many short lines; and without a call."""

FIRST_WAIT_MS, LONGEST_WAIT_MS = 30_000, HOUR_MS
"""Before trying again: 30 s, doubled each time, at most an hour; as digests do."""

PAGE, OWN_PAGE, OWN_CHARS = 256, 32, 4_000
"""Documents that are looked at together; and without a call, where what is new waits for no more of them, and characters
of their texts: 32 texts of 1,000 Chinese characters take the local encoder 5.5 s (measured)."""

BEYOND = 1 << 62
"""More than any number of a document."""

PLAIN = "nuan"
"""A text that any server takes: where it does not, the server is wrong, and not the text that it refused."""

ONE_BY_ONE = ("refused", "overflow", "filtered")
"""Faults that a single text of a batch may have caused."""

WHOLE_MS = DAY_MS
"""How long what was looked at is not looked at again: a server may commit documents in another order than that of their
numbers."""

TELL_MS = MINUTE_MS
"""How often a round that goes on says in the log how far it is."""

DIMENSIONS_CHANGED = "the dimensions change from call to call"
"""Why vectors of a server cannot be used."""

LOADS_S = 600.0
"""How long vectors in the background wait for an encoder that is being loaded."""


class EmbeddingCaller:
    """Asks one embedder, and knows how it went."""

    def __init__(self, store: Store, endpoint: EmbeddingEndpoint, clock: Clock, current: Current, log: Log) -> None:
        self.embedder = endpoint.embedder
        self._store = store
        self._rate = endpoint.rate
        self._clock = clock
        self._current = current
        self._log = log
        self._breaker = CircuitBreaker()
        self._wanted_until = 0
        self._late = False
        self.trouble: Trouble = ""
        self.fault: ModelFault | None = None

    async def load(self, wait_s: float, *, anew: bool = False) -> bool:
        """Whether it can be asked now, as its `load`; ModelError is told in the log."""
        try:
            return await self.embedder.load(wait_s, anew=anew)
        except ModelError as error:
            self.note("down", error)
            raise

    async def embed(
        self, texts: Sequence[str], chat_id: int, person_id: int | None, deadline_s: float, *, anyway: bool = False
    ) -> tuple[Embeddings, Settlement | None]:
        """The vectors of these texts, and what is to be committed for them with what they are made for; `anyway` also of a
        server that failed too often lately.

        ModelError and OverBudget: nothing of it is left to settle.
        """
        shown = [clip(text, TEXT_CHARS) for text in texts]
        if not self.embedder.calls:
            try:
                return await self.embedder.embed(shown, deadline_s), None
            except ModelError as error:
                self._tell(error)
                raise
        now = self._clock.now()
        if now < self._wanted_until or not (anyway or self._breaker.allows(now)):
            wait = (self.rests_until(now) - now) / 1000
            raise ModelError("busy", f"{self.embedder.name} is left alone for {wait:.0f} s", limited=True, wait_s=wait)
        tokens = sum(estimate_tokens(text) for text in shown)
        call = await self._reserve(tokens, chat_id, person_id, now)
        probe = not self._breaker.closed
        self._breaker = self._breaker.begun()
        try:
            found = await self.embedder.embed(shown, deadline_s)
        except BaseException as error:
            await self._failed(call, error, probe=probe)
            if isinstance(error, ModelError) or not isinstance(error, Exception):
                raise
            self._log.error("embedding_failed", call=call, exc_info=error)
            raise ModelError("invalid", type(error).__name__) from error
        self._breaker = self._breaker.worked()
        counted = found.tokens is not None
        usage = Usage(found.tokens if found.tokens is not None else tokens, 0, 0, returned=counted)
        return found, Settlement(call, usage, money.cost(usage, self._rate(self._clock.now())))

    @property
    def _named(self) -> dict[str, str]:
        return model_fields("embeddings", self.embedder.name)

    def note(self, trouble: Trouble, error: ModelError | OverBudget | None = None) -> None:
        """Say once that it does not work any more, or that it does again: then it is asked as ever, whatever it refused."""
        if not trouble:
            self._breaker, self._late = self._breaker.worked(), False
        if trouble == self.trouble:
            return
        self.trouble, self.fault, detail = trouble, None, ""
        if isinstance(error, ModelError):
            self.fault, detail = error.fault, f"{error.fault}: {error.detail}"
        elif error is not None:
            detail = error.limit
        if trouble:
            self._log.warning("embedding_trouble", why=trouble, detail=detail, **self._named)
        else:
            self._log.info("embedding_works", **self._named)

    def _tell(self, error: ModelError) -> None:
        """Note that it does not work; of what was late once only if it is late again: a question does not wait long."""
        again, self._late = self._late, error.fault == "timeout"
        if again or not self._late:
            self.note("down", error)

    def rests_until(self, now: int) -> int:
        """When the server may be asked again, ms; `now` while it may."""
        until = max(self._wanted_until, now if self._breaker.closed else self._breaker.rests_until)
        return max(until, now)

    async def _reserve(self, tokens: int, chat_id: int, person_id: int | None, now: int) -> int:
        most = reservation(self._current, "embedding", self.embedder.name, tokens, 0, self._rate, now)
        try:
            booking = self._store.ledger.book(chat_id, most, now, person_id)
            return await reserve_shielded(booking, self._store, self._clock)
        except OverBudget as error:
            self.note("budget", error)
            raise

    async def _failed(self, call: int, error: BaseException, *, probe: bool) -> None:
        now = self._clock.now()
        if isinstance(error, ModelError):
            self._breaker = self._breaker.failed(error, now, probe=probe)
            if error.wait_s is not None:
                self._wanted_until = now + math.ceil(error.wait_s * 1000)
            self._tell(error)
        else:
            self._breaker = self._breaker.ended(probe=probe)
        await end_failed(self._store.ledger, call, error, now)


class EmbeddingCallers:
    """The caller of the embedder that is configured."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log
        self._made: tuple[EmbeddingEndpoint, EmbeddingCaller] | None = None

    def caller(self) -> EmbeddingCaller | None:
        """Who is asked for vectors now; None where none are wanted."""
        endpoint = self._current.pool.embedding
        if endpoint is None:
            return None
        if self._made is None or self._made[0] is not endpoint:
            self._made = endpoint, EmbeddingCaller(self._store, endpoint, self._clock, self._current, self._log)
        return self._made[1]


FindCaller = Callable[[], EmbeddingCaller | None]
"""Who is asked for vectors now; None where none are wanted."""


@dataclass(slots=True)
class VectorProgress:
    """How far the vectors are made: those from `low` to `high` were looked at, and nothing below is left where `low` is 0;
    with how many dimensions; failures in a row.

    What is newest comes first, so that what is said meanwhile does not wait for all that was there before. A page
    `leaves` documents below it, unless it has all that is new. From `until` on, ms, all are looked at once more. About
    how many documents are `waiting` is counted when a round begins.
    """

    low: int = BEYOND
    high: int = 0
    leaves: bool = True
    dimensions: int = 0
    begun: bool = False
    until: int = 0
    waiting: int = 0
    moved: bool = False
    failures: int = 0


class VectorMaker:
    """The work of the queue for vectors; without an embedder there is none."""

    def __init__(self, store: Store, calls: FindCaller, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._find_caller = calls
        self._gate = BackgroundGate(store.settings, current)
        self._clock = clock
        self._current = current
        self._log = log
        self._progress = VectorProgress()
        self._alarm: Alarm | None = None
        self._ended = False

    @property
    def _calls(self) -> EmbeddingCaller | None:
        return self._find_caller()

    @property
    def state(self) -> VectorWork:
        """How it stands."""
        calls = self._calls
        if calls is None:
            return VectorWork()
        return VectorWork(calls.embedder.name, self._progress.waiting, calls.fault)

    def hint(self, wake: Callable[[], None], *, now: bool = False) -> None:
        """There may be new documents: wake the queue soon, or now."""
        if self._calls is not None and not self._ended and self._alarm is None:
            gather = GATHER_MS if self._calls.embedder.calls else OWN_GATHER_MS
            self._arm(self._clock.now() + (0 if now else gather), wake)

    def end(self) -> None:
        """No alarm is armed any more, and the round under way ends after its batch."""
        self._ended = True
        self.begin_anew()

    def begin_anew(self) -> None:
        """Look at every document once more: another embedder is configured, so what was waited for is over."""
        self._progress = VectorProgress()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def work(self, wake: Callable[[], None]) -> None:
        """Make what is lacking; after trouble the queue is woken again later. StoreError: nothing of the last batch."""
        if self._calls is None or self._ended:
            return
        done, began = 0, self._clock.now()
        told = began
        try:
            while not self._stops and (page := await self._page()):
                done += await self.make(page)
                self._pass(page)
                if (now := self._clock.now()) - told >= TELL_MS:
                    told = now
                    await self._tell(done, now - began)
            self._progress.failures = 0
        except OverBudget:
            self._again(wake, LONGEST_WAIT_MS)
        except ModelError as error:
            wait = min(FIRST_WAIT_MS << min(self._progress.failures, 10), LONGEST_WAIT_MS)
            self._progress.failures += 1
            self._calls.note("down", error)
            now = self._clock.now()
            self._again(wake, max(wait, self._calls.rests_until(now) - now))
        if done:
            self._log.info("embedded", documents=done, **model_fields("embeddings", self._calls.embedder.name))

    async def make_all(self, progress: Callable[[int], None], *, anew: bool = False) -> None:
        """Make every vector that is lacking now; with `anew` those that are there go first.

        What was refused is asked for again. `progress` is told how many are made, after each page. ModelError and
        OverBudget end it; what is made stays.
        """
        if self._calls is None:
            return
        again = await self._store.vectors.ask_again(self._calls.embedder.name)
        if anew:
            await self._store.vectors.drop()
        if anew or again:
            self._progress = VectorProgress()
        made = 0
        while not self._stops and (page := await self._page()):
            made += await self.make(page)
            self._pass(page)
            progress(made)

    async def lacking(self, *, anew: bool = False) -> int:
        """How many documents have no vector, refused or not; with `anew` how many there are."""
        if self._calls is None:
            return 0
        there, having, _ = await self._store.vectors.counts(await self._space())
        return there if anew else there - having

    async def make(self, page: Sequence[MissingEmbedding]) -> int:
        """The vectors of these documents, batch by batch, each of one chat, on whose account a call goes."""
        assert self._calls is not None
        if not await self._calls.load(LOADS_S, anew=True):
            raise ModelError("timeout", STILL_LOADING)
        paid = self._calls.embedder.calls
        chats: dict[int, list[MissingEmbedding]] = {}
        for each in page:
            if each.text.strip():
                chats.setdefault(each.chat_id if paid else 0, []).append(each)
        made = 0
        for documents in chats.values():
            batch = self._current.settings.memory.embedding.batch
            for start in range(0, len(documents), batch):
                if self._stops:
                    return made
                made += await self._one(documents[start : start + batch])
        return made

    async def _tell(self, done: int, took_ms: int) -> None:
        """Say how far a round is that made so many vectors in that time."""
        if self._calls is None or self._stops:
            return
        there, having, refused = await self._store.vectors.counts(await self._space())
        waiting, named = there - having - refused, model_fields("embeddings", self._calls.embedder.name)
        self._progress.waiting, pace = waiting, {"a_second": round(done * 1000 / took_ms, 1)}
        if done:
            pace["minutes_left"] = math.ceil(waiting * took_ms / done / MINUTE_MS)
        self._log.info("embedding_progress", made=having, documents=there, **pace, **named)

    @property
    def _stops(self) -> bool:
        """Whether the round ends: nuan stops, or another embedder is configured by now."""
        return self._ended or self._replaced

    @property
    def _replaced(self) -> bool:
        return self._current.newest.pool.embedding is not self._current.pool.embedding

    async def _page(self) -> tuple[MissingEmbedding, ...]:
        assert self._calls is not None
        if self._calls.embedder.calls and not await self._gate.allows("embedding"):
            self._calls.note("switched_off")
            return ()
        space, progress, lacking = await self._space(), self._progress, self._store.vectors.lacking
        limit = PAGE if self._calls.embedder.calls else OWN_PAGE
        new = await lacking(space, progress.high, BEYOND, limit)
        found = new or (await lacking(space, 0, progress.low, limit) if 0 < progress.low < BEYOND else ())
        if not found:
            progress.low = 0
        sizes = accumulate(min(len(each.text), TEXT_CHARS) for each in found)
        most = math.inf if self._calls.embedder.calls else OWN_CHARS
        page = found[: max(1, sum(size <= most for size in sizes))]
        progress.leaves = not new or progress.low == BEYOND or len(new) == limit or len(page) < len(new)
        if progress.waiting < len(page):
            progress.waiting = len(page) if progress.low == 0 and len(new) < limit else await self.lacking()
        progress.waiting = progress.waiting if page else 0
        return page

    def _pass(self, page: Sequence[MissingEmbedding]) -> None:
        """These were looked at."""
        progress = self._progress
        progress.waiting = max(progress.waiting - len(page), 0)
        if progress.begun and not self._stops:
            progress.low = page[-1].id if progress.leaves else progress.low
            progress.high = max(progress.high, page[0].id)

    async def _space(self) -> VectorSpace:
        assert self._calls is not None
        progress, model = self._progress, self._calls.embedder.name
        now = self._clock.now()
        if not progress.begun or now >= progress.until:
            progress.dimensions = progress.dimensions or await self._store.vectors.dimensions(model)
            progress.begun, progress.low, progress.high, progress.until = True, BEYOND, 0, now + WHOLE_MS
        return VectorSpace(model, progress.dimensions)

    async def _one(self, batch: Sequence[MissingEmbedding], takes: str | None = None) -> int:
        """One batch; where the server refuses it for one of its texts, each alone, and those texts are left out.

        That it takes others though it refuses some with `takes` was asked already; of another refusal that is asked first, and
        where it takes none the error is raised.
        """
        try:
            return await self._call(batch)
        except ModelError as error:
            if error.fault not in ONE_BY_ONE:
                raise
            if error.detail != takes:
                await self._take_plain(batch[0].chat_id, error)
            takes = error.detail
            if len(batch) == 1:
                await self._leave_out(batch[0], error)
                return 0
        made = 0
        for each in batch:
            if self._stops:
                break
            made += await self._one((each,), takes)
        return made

    async def _take_plain(self, chat_id: int, refused: ModelError) -> None:
        """Return when the server takes a text that any server takes; else what it `refused` is no fault of a text."""
        assert self._calls is not None
        timeout_s = self._current.settings.memory.embedding.timeout_seconds
        try:
            # Else a server that worked again would be left alone for good, as long as the first batch holds what it refuses.
            _, settlement = await self._calls.embed((PLAIN,), chat_id, None, timeout_s, anyway=True)
        except ModelError:
            raise refused from None
        if settlement is not None:
            await asyncio.shield(self._store.ledger.settle(settlement, self._clock.now()))

    async def _leave_out(self, document: MissingEmbedding, error: ModelError) -> None:
        """This one is not asked for again until an operator wants it."""
        assert self._calls is not None
        self._calls.note("")
        self._log.warning("not_embedded", document=document.id, fault=error.fault, detail=error.detail)
        nothing = (NewVector(document.id, document.text, b""),)
        await self._store.vectors.put(VectorSpace(self._calls.embedder.name), nothing, None, self._clock.now())

    async def _call(self, batch: Sequence[MissingEmbedding]) -> int:
        assert self._calls is not None
        texts = list(dict.fromkeys(each.text for each in batch))
        timeout_s = self._current.settings.memory.embedding.timeout_seconds
        found, settlement = await self._calls.embed(texts, batch[0].chat_id, None, timeout_s)
        self._calls.note("")
        vectors = dict(zip(texts, await asyncio.to_thread(stored, found.vectors), strict=True))
        space = VectorSpace(self._calls.embedder.name, found.dimensions)
        ordered = sorted(batch, key=attrgetter("id"))  # in falling order the pages of the table stay half empty
        new = [NewVector(each.id, each.text, vectors[each.text]) for each in ordered]
        made = await self._store.vectors.put(space, new, settlement, self._clock.now())
        self._check(found)
        return made

    def _check(self, found: Embeddings) -> None:
        """Other dimensions than so far: all vectors are made anew, but not again and again."""
        if self._replaced:
            return  # the progress is that of the next round
        progress = self._progress
        if progress.dimensions and found.dimensions != progress.dimensions:
            if progress.moved:
                raise ModelError("invalid", DIMENSIONS_CHANGED)
            self._log.warning("embedding_dimensions", before=progress.dimensions, now=found.dimensions)
            progress.begun, progress.moved = False, True
        progress.dimensions = found.dimensions

    def _again(self, wake: Callable[[], None], wait_ms: int) -> None:
        if not self._stops and self._alarm is None:
            self._arm(self._clock.now() + wait_ms, wake)

    def _arm(self, when: int, wake: Callable[[], None]) -> None:
        def fire() -> None:
            self._alarm = None
            wake()

        self._alarm = self._clock.at(when, fire)
