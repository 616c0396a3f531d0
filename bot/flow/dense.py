"""The dense half of a recall: what is like the question, of what its audience may see; else why there is none."""

import asyncio
from collections import OrderedDict

from bot.config.embedding import EmbeddingServer
from bot.errors import ModelError, OverBudget
from bot.flow.aside import Aside
from bot.flow.embedding import EmbeddingCalls
from bot.ports import Clock
from bot.recall.fusion import HASH_WEIGHT, Likeness
from bot.recall.vectors import Matrix, changed, lacking, matrix, nearest
from bot.store.store import Store
from bot.store.vectors import Space
from bot.types.people import Audience
from bot.types.recall import Asking

QUESTIONS = 64
"""Questions whose vectors are kept: a turn may ask the same again."""

MANY = 500
"""Documents of which those of the types that are asked for are taken: a matrix knows no types of memories."""

MATRICES_BYTES = 64_000_000
"""Memory that vectors may take between two questions."""

State = tuple[int, int, int]
"""Count, newest and sum of the numbers of the documents in a matrix."""


class Dense:
    """Finds by likeness. The work on vectors runs beside the event loop."""

    def __init__(
        self, store: Store, aside: Aside, calls: EmbeddingCalls | None, clock: Clock, rules: EmbeddingServer, *,
        pays: bool = True,
    ) -> None:  # fmt: skip
        """Without `pays` no server is asked."""
        self._store = store
        self._aside = aside
        self._calls = calls
        self._clock = clock
        self._rules = rules
        self._pays = pays
        self._questions: OrderedDict[str, tuple[bytes, int]] = OrderedDict()
        self._matrices: OrderedDict[tuple[Audience, int], tuple[State, Matrix]] = OrderedDict()

    async def like(self, asking: Asking, most: int) -> Likeness:
        """At most `most` documents like the question; without vectors at once nothing, and why."""
        if self._calls is None or not asking.text.strip():
            return Likeness(missing="off")
        if self._calls.embedder.calls and not self._pays:
            return Likeness(missing="unpaid")
        states = await self._store.vectors.state(asking.audience, self._calls.embedder.name)
        if not states:
            return Likeness(missing="none")
        try:
            asked, dimensions = await self._vector(asking)
        except OverBudget:
            return Likeness(missing="budget")
        except ModelError:
            return Likeness(missing="down")
        if dimensions not in states:
            return Likeness(missing="none")
        rows = await self._rows(asking.audience, dimensions, states[dimensions])
        some = bool(asking.memory_kinds)
        best = await self._aside.run(nearest, asked, rows, asking, self._rules.least_cosine, MANY if some else most)
        if some:
            fit = await self._store.vectors.of_kinds(
                asking.audience, [number for number, _ in best], asking.memory_kinds
            )
            best = tuple(each for each in best if each[0] in fit)[:most]
        weight = 1.0 if self._calls.embedder.calls else HASH_WEIGHT
        return Likeness({number: (place, cosine) for place, (number, cosine) in enumerate(best, 1)}, "", weight)

    async def _vector(self, asking: Asking) -> tuple[bytes, int]:
        """The question's vector, from a call unless it was asked lately."""
        assert self._calls is not None
        text, chat_id = asking.text, asking.audience.chat_id
        if text in self._questions:
            self._questions.move_to_end(text)
            return self._questions[text]
        found, settlement = await self._calls.embed((text,), chat_id, asking.person_id, self._rules.query_seconds)
        if settlement is not None:
            await asyncio.shield(self._store.ledger.settle(settlement, self._clock.now()))
        self._calls.note("")
        self._questions[text] = found.vectors[0], found.dimensions
        if len(self._questions) > QUESTIONS:
            self._questions.popitem(last=False)
        return self._questions[text]

    async def _rows(self, audience: Audience, dimensions: int, state: State) -> Matrix:
        """The vectors that this audience may see; only those that are not known from the last question are read."""
        assert self._calls is not None
        key, space, vectors = (audience, dimensions), Space(self._calls.embedder.name, dimensions), self._store.vectors
        before, known = self._matrices.pop(key, (None, None))
        if known is None or before != state:
            wanted = await vectors.numbers(audience, space)
            need = wanted if known is None else await self._aside.run(lacking, known, wanted)
            new = await vectors.of(audience, space, need)
            if known is None:
                known = await self._aside.run(matrix, new, dimensions)
            else:
                known = await self._aside.run(changed, known, wanted, new)
        self._matrices[key] = state, known
        while sum(each.size for _, each in self._matrices.values()) > MATRICES_BYTES and len(self._matrices) > 1:
            self._matrices.popitem(last=False)
        return known
