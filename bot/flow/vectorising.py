"""Makes the vectors that are lacking, in the background and in batches; whatever ends it, the next round goes on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.errors import ModelError, OverBudget
from bot.flow.background import BackgroundGate
from bot.flow.embedding import EmbeddingCalls
from bot.ports import Alarm, Clock
from bot.store.store import Store
from bot.store.vectors import NewVector, Space
from bot.types.duration import HOUR_MS
from bot.types.embedding import Embedded, Unembedded
from bot.types.log import Log, model_fields

GATHER_MS = 20_000
"""How long what is new is gathered before one call makes its vectors: a talk has many short lines."""

FIRST_WAIT_MS, LONGEST_WAIT_MS = 30_000, HOUR_MS
"""Before trying again: 30 s, doubled each time, at most an hour; as digests do."""

PAGE = 256
"""Documents that are looked at together."""

ALONE = 3
"""Texts of a refused batch that are tried one by one before it is the server, and not one text, that is wrong."""

ONE_BY_ONE = ("refused", "overflow", "filtered")
"""Faults that a single text of a batch may have caused."""

DIMENSIONS_CHANGED = "the dimensions change from call to call"


@dataclass(slots=True)
class Progress:
    """How far the vectors are made: up to which document, with how many dimensions; failures in a row."""

    after: int = 0
    dimensions: int = 0
    begun: bool = False
    moved: bool = False
    failures: int = 0


class Vectorising:
    """The work of the one lane for vectors; without an embedder there is none."""

    def __init__(
        self, store: Store, calls: EmbeddingCalls | None, gate: BackgroundGate, clock: Clock, batch: int,
        timeout_s: float, log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._calls = calls
        self._gate = gate
        self._clock = clock
        self._batch = batch
        self._timeout_s = timeout_s
        self._log = log
        self._progress = Progress()
        self._alarm: Alarm | None = None
        self._ended = False

    def hint(self, wake: Callable[[], None], *, now: bool = False) -> None:
        """There may be new documents: wake the lane soon, or now."""
        if self._calls is not None and not self._ended and self._alarm is None:
            self._arm(self._clock.now() + (0 if now else GATHER_MS), wake)

    def end(self) -> None:
        """No alarm is armed any more, and the round under way ends after its batch."""
        self._ended = True
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def work(self, wake: Callable[[], None]) -> None:
        """Make what is lacking; after trouble the lane is woken again later. StoreError: nothing of the last batch."""
        if self._calls is None or self._ended:
            return
        done = 0
        try:
            while not self._ended:
                page = await self._page()
                if not page:
                    break
                done += await self.make(page)
            self._progress.failures = 0
        except OverBudget:
            self._again(wake, LONGEST_WAIT_MS)
        except ModelError as error:
            wait = min(FIRST_WAIT_MS << min(self._progress.failures, 10), LONGEST_WAIT_MS)
            self._progress.failures += 1
            self._calls.note("down", f"{error.fault}: {error.detail}")
            now = self._clock.now()
            self._again(wake, max(wait, self._calls.rests_until(now) - now))
        if done:
            self._log.info("embedded", documents=done, **model_fields("embeddings", self._calls.embedder.name))

    async def make_all(self, progress: Callable[[int], None], *, anew: bool = False) -> None:
        """Make every vector that is lacking now; with `anew` those that are there go first.

        `progress` is told how many are made, after each page. ModelError and OverBudget end it; what is made stays.
        """
        if anew:
            await self._store.vectors.drop()
            self._progress = Progress()
        made = 0
        while self._calls is not None and not self._ended and (page := await self._page()):
            made += await self.make(page)
            progress(made)

    async def lacking(self, *, anew: bool = False) -> int:
        """How many documents have no vector; with `anew` how many there are."""
        if self._calls is None:
            return 0
        there, having = await self._store.vectors.counts(await self._space())
        return there if anew else there - having

    async def make(self, page: Sequence[Unembedded]) -> int:
        """The vectors of these documents, batch by batch, each of one chat: on whose account its call goes."""
        chats: dict[int, list[Unembedded]] = {}
        for each in page:
            if each.text.strip():
                chats.setdefault(each.chat_id, []).append(each)
        made = 0
        for documents in chats.values():
            for start in range(0, len(documents), self._batch):
                if self._ended:
                    return made
                made += await self._one(documents[start : start + self._batch])
        if not self._progress.begun:
            return made  # the dimensions are others now: all over again
        self._progress.after = page[-1].id
        return made

    async def _page(self) -> tuple[Unembedded, ...]:
        assert self._calls is not None
        if self._calls.embedder.calls and not await self._gate.allows("embedding"):
            self._calls.note("switched_off")
            return ()
        space = await self._space()
        return await self._store.vectors.lacking(space, self._progress.after, PAGE)

    async def _space(self) -> Space:
        assert self._calls is not None
        progress, model = self._progress, self._calls.embedder.name
        if not progress.begun:
            progress.dimensions = progress.dimensions or await self._store.vectors.dimensions(model)
            progress.begun, progress.after = True, 0
        return Space(model, progress.dimensions)

    async def _one(self, batch: Sequence[Unembedded]) -> int:
        """One batch; where the server refuses it for one of its texts, each alone, and those texts are left out."""
        try:
            return await self._call(batch)
        except ModelError as error:
            if error.fault not in ONE_BY_ONE or len(batch) == 1:
                raise
            trouble = error
        made = failed = 0
        for each in batch:
            try:
                made += await self._call((each,))
            except ModelError as error:
                failed += 1
                if error.fault not in ONE_BY_ONE or (not made and failed >= min(ALONE, len(batch))):
                    raise trouble from error
                self._log.warning("not_embedded", document=each.id, fault=error.fault, detail=error.detail)
        return made

    async def _call(self, batch: Sequence[Unembedded]) -> int:
        assert self._calls is not None
        texts = list(dict.fromkeys(each.text for each in batch))
        found, settlement = await self._calls.embed(texts, batch[0].chat_id, None, self._timeout_s)
        self._calls.note("")
        vectors = dict(zip(texts, found.vectors, strict=True))
        space = Space(self._calls.embedder.name, found.dimensions)
        new = [NewVector(each.id, each.text, vectors[each.text]) for each in batch]
        stored = await self._store.vectors.put(space, new, settlement, self._clock.now())
        self._check(found)
        return stored

    def _check(self, found: Embedded) -> None:
        """Other dimensions than so far: all vectors are made anew, but not again and again."""
        progress = self._progress
        if progress.dimensions and found.dimensions != progress.dimensions:
            if progress.moved:
                raise ModelError("invalid", DIMENSIONS_CHANGED)
            self._log.warning("embedding_dimensions", before=progress.dimensions, now=found.dimensions)
            progress.begun, progress.moved = False, True
        progress.dimensions = found.dimensions

    def _again(self, wake: Callable[[], None], wait_ms: int) -> None:
        if not self._ended and self._alarm is None:
            self._arm(self._clock.now() + wait_ms, wake)

    def _arm(self, when: int, wake: Callable[[], None]) -> None:
        def fire() -> None:
            self._alarm = None
            wake()

        self._alarm = self._clock.at(when, fire)
