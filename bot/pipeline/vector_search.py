"""Search by likeness: the vectors of a question, those that its audience may see, and what of both is kept."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial

from bot.config.memory import EmbeddingServer
from bot.core.errors import ModelError, OverBudget
from bot.core.people import Audience
from bot.core.ports import Clock
from bot.core.recall import RecallQuery
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.pipeline.vectors import EmbeddingCaller, FindCaller
from bot.recall.query import meant_parts
from bot.recall.ranking import HASH_WEIGHT, Likeness, MissingVectors
from bot.recall.vectors import VectorMatrix, changed, lacking, matrix, nearest, standing
from bot.store.index import scopes_of
from bot.store.store import Store
from bot.store.vectors import MOST_COMPARED, VectorSpace, VectorState

LOOK_LOADS_S = 30.0
"""How long a recall outside of turns waits for an encoder that is being loaded."""

UNASKED_SHARE = 0.05
"""What comes unasked waits for its vector this share of the time that a question may (`query_seconds`)."""

QUESTIONS = 64
"""Questions whose vectors are kept: a turn may ask the same again."""

MANY = 500
"""Documents of which those of the types that are asked for are taken: a matrix knows no types of memories."""

MATRICES_BYTES = 64_000_000
"""Memory that vectors may take between two questions."""

Compared = tuple[Sequence[bytes], VectorMatrix] | MissingVectors
"""The vectors of what is asked and those it is compared with, or why there are none."""

MatrixKey = tuple[tuple[str, ...], str, bool]
"""What may be seen, whoever of a group spoke last; whose vectors; memories alone."""


class VectorSearch:
    """Finds by likeness. The work on vectors runs beside the event loop."""

    def __init__(
        self, store: Store, thread: TextThread, calls: FindCaller, clock: Clock, current: Current, *, pays: bool = True
    ) -> None:
        """Without `pays` no server is asked, and no encoder is started for what comes unasked."""
        self._store = store
        self._thread = thread
        self._find_caller = calls
        self._clock = clock
        self._current = current
        self._pays = pays
        self._questions: OrderedDict[tuple[str, ...], tuple[Sequence[bytes], int]] = OrderedDict()
        self._known: OrderedDict[MatrixKey, tuple[VectorState, VectorMatrix]] = OrderedDict()
        self._late: set[asyncio.Task[Compared]] = set()

    @property
    def _calls(self) -> EmbeddingCaller | None:
        return self._find_caller()

    @property
    def _rules(self) -> EmbeddingServer:
        return self._current.settings.memory.embedding

    async def like(self, asking: RecallQuery, most: int) -> Likeness:
        """At most `most` documents like the question; without vectors at once nothing, and why."""
        compared = await self._compared(asking, meant_parts(asking.text))
        if isinstance(compared, str) or self._calls is None:
            return Likeness(missing=compared if isinstance(compared, str) else "off")
        asked, rows = compared
        some = bool(asking.memory_kinds)
        least = self._rules.least_cosine if self._rules.least_cosine is not None else self._calls.embedder.least_cosine
        best, shares = await self._thread.run(nearest, asked, rows, asking, least, MANY if some else most)
        if some:
            fit = await self._store.vectors.of_kinds([number for number, _ in best], asking.memory_kinds)
            best = tuple(each for each in best if each[0] in fit)[:most]
        found = {number: (place, cosine) for place, (number, cosine) in enumerate(best, 1)}
        means = self._calls.embedder.means
        return Likeness(found, "", 1.0 if means else HASH_WEIGHT, shares if means else None)

    async def standing(self, asking: RecallQuery) -> Mapping[int, float]:
        """As `recall.vectors.standing`, of memories by the whole text; nothing where a server would be asked, vectors know no
        meaning, the encoder is busy, or a command only looks. A turn waits for this: it reads memories alone, and what is late is left."""
        calls = self._calls
        if not self._pays or calls is None or calls.embedder.calls or not calls.embedder.means:
            return {}
        asked = asyncio.create_task(self._compared(asking, (asking.text,), memories=True))
        self._late.add(asked)
        asked.add_done_callback(self._late.discard)
        await asyncio.wait((asked,), timeout=UNASKED_SHARE * self._rules.query_seconds)
        compared = asked.result() if asked.done() else "late"
        return {} if isinstance(compared, str) else await self._thread.run(standing, *compared, asking)

    async def _compared(self, asking: RecallQuery, parts: Sequence[str], *, memories: bool = False) -> Compared:
        """The vectors of the question's parts, and those that its audience may see; or why there are none."""
        if self._calls is None or not asking.text.strip():
            return "off"
        if self._calls.embedder.calls and not self._pays:
            return "unpaid"
        audience, model = asking.audience, self._calls.embedder.name
        # What comes unasked was measured with whole vectors, and is no better without what they have in common.
        whole = memories or not self._calls.embedder.means
        key = tuple(sorted(scopes_of(audience))), model, memories
        known = self._known.get(key)
        before = known[0] if known else VectorState()
        state = await self._store.vectors.state(audience, model, before, memories=memories)
        if not any(state.there):  # those of no dimensions were refused
            return "none"
        try:
            # A turn does not wait for the encoder; a command that only looks does.
            if not await self._calls.load(0 if self._pays else LOOK_LOADS_S):
                return "loading"
            asked, dimensions = await self._vectors_of(asking, parts)
        except OverBudget:
            return "budget"
        except ModelError:
            return "down"
        if dimensions not in state.there:
            self._known.clear()
            return "none"
        return asked, await self._rows(audience, VectorSpace(model, dimensions), key, known, state, whole=whole)

    async def _vectors_of(self, asking: RecallQuery, parts: Sequence[str]) -> tuple[Sequence[bytes], int]:
        """The vectors of the question's parts, from a call unless it was asked lately."""
        assert self._calls is not None
        key, chat_id = (self._calls.embedder.name, *parts), asking.audience.chat_id
        if key in self._questions:
            self._questions.move_to_end(key)
            return self._questions[key]
        found, settlement = await self._calls.embed(parts, chat_id, asking.person_id, self._rules.query_seconds)
        if settlement is not None:
            await asyncio.shield(self._store.ledger.settle(settlement, self._clock.now()))
        self._calls.note("")
        self._questions[key] = found.vectors, found.dimensions
        if len(self._questions) > QUESTIONS:
            self._questions.popitem(last=False)
        return self._questions[key]

    async def _rows(
        self,
        audience: Audience,
        space: VectorSpace,
        key: MatrixKey,
        known: tuple[VectorState, VectorMatrix] | None,
        state: VectorState,
        *,
        whole: bool,
    ) -> VectorMatrix:
        """The vectors that this audience may see; of those that are `known` from the last question none is read again."""
        read, run = partial(self._store.vectors.read, memories=key[2]), self._thread.run
        if known is None or known[1].rows.shape[1] != space.dimensions:
            _, new = await read(audience, space, 0, tuple)
            rows = await run(partial(matrix, whole=whole), new, space.dimensions)
        else:
            before, rows = known
            if before.there.get(space.dimensions) != state.there[space.dimensions]:
                wanted, new = await read(audience, space, state.since, partial(lacking, rows))
                rows = await run(changed, rows, state.since, wanted, new, MOST_COMPARED)
        self._known[key] = state, rows
        self._known.move_to_end(key)
        while sum(each.size for _, each in self._known.values()) > MATRICES_BYTES and len(self._known) > 1:
            self._known.popitem(last=False)
        return rows
