"""The dense half of a recall: what is like the question, of what its audience may see; else why there is none."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.config.embedding import EmbeddingServer
from bot.errors import ModelError, OverBudget
from bot.flow.aside import Aside
from bot.flow.embedding import EmbeddingCalls
from bot.ports import Clock
from bot.recall.vectors import Matrix, changed, matrix, nearest
from bot.store.store import Store
from bot.store.vectors import Space
from bot.types.people import Audience
from bot.types.recall import Asking

QUESTIONS = 64
"""Questions whose vectors are kept: a turn may ask the same again."""

MATRICES_BYTES = 64_000_000
"""Memory that vectors may take between two questions."""

Missing = Literal["", "off", "none", "down", "budget", "unpaid"]
"""Nothing is missing; no embedder is set; nothing has a vector yet; the server fails or rests; a limit is reached; who
only looks may not call."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Documents that are like a question: place, from 1, and cosine, by number; `missing` says why there are none."""

    found: Mapping[int, tuple[int, float]] = field(default_factory=dict)
    missing: Missing = ""


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
        self._matrices: OrderedDict[tuple[Audience, int], Matrix] = OrderedDict()

    @property
    def weak(self) -> bool:
        """Whether its vectors know no meaning: they may help words, not outvote them."""
        return self._calls is not None and not self._calls.embedder.calls

    async def like(self, asking: Asking, most: int) -> Likeness:
        """At most `most` documents like the question; without vectors at once nothing, and why."""
        if self._calls is None or not asking.text.strip():
            return Likeness(missing="off")
        if self._calls.embedder.calls and not self._pays:
            return Likeness(missing="unpaid")
        seen = await self._store.vectors.seen_by(asking, self._calls.embedder.name)
        if not seen:
            return Likeness(missing="none")
        try:
            asked, dimensions = await self._vector(asking)
        except OverBudget:
            return Likeness(missing="budget")
        except ModelError:
            return Likeness(missing="down")
        fits = {number: fit for number, width, fit in seen if width == dimensions}
        if not fits:
            return Likeness(missing="none")
        rows = await self._rows(asking.audience, dimensions, list(fits))
        fit = [fits.get(number, False) for number in rows.ids]
        best = await self._aside.run(nearest, asked, rows, fit, self._rules.least_cosine, most)
        return Likeness({number: (place, cosine) for place, (number, cosine) in enumerate(best, 1)})

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

    async def _rows(self, audience: Audience, dimensions: int, wanted: list[int]) -> Matrix:
        """The vectors of these documents; only those that are not known from the last question are read."""
        assert self._calls is not None
        key, space = (audience, dimensions), Space(self._calls.embedder.name, dimensions)
        known = self._matrices.pop(key, None)
        have = set(known.ids) if known is not None else set()
        need = [number for number in wanted if number not in have]
        if known is None or need or len(have) != len(wanted):
            new = await self._store.vectors.of(audience, space, need)
            if known is None:
                known = await self._aside.run(matrix, new, dimensions)
            else:
                known = await self._aside.run(changed, known, wanted, new)
        self._matrices[key] = known
        while sum(each.size for each in self._matrices.values()) > MATRICES_BYTES and len(self._matrices) > 1:
            self._matrices.popitem(last=False)
        return known
