"""What a recall brings: the store finds what the audience may see, the ranking orders it. The tool and `ctx` use it."""

from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.flow.dense import Dense
from bot.recall.question import question
from bot.recall.ranking import Trace, rank, raw_score, relevance
from bot.store.store import Store
from bot.types.memory import Ranking
from bot.types.people import Audience

CANDIDATES = 200
"""Best matches of the index that a ranking looks at."""

NEWEST = 200
"""Newest memories that a ranking looks at besides, when likeness counts: a vector is in no index."""


class Recalling:
    """Answers questions from memory, each for its audience alone."""

    def __init__(self, store: Store, aside: Aside, settings: Settings, dense: Dense) -> None:
        self._store = store
        self._dense = dense
        self._aside = aside
        self._names = settings.bot.names
        self.ranking: Ranking = settings.memory.ranking
        self.most = settings.memory.max_results

    async def recall(
        self, audience: Audience, person_id: int, text: str, now: int, most: int | None = None,
        ranking: Ranking | None = None,
    ) -> Trace:  # fmt: skip
        """At most `most` memories that this audience may see, for a question of this person; as configured by default.

        Segmenting and ranking run beside the event loop.
        """
        kind = ranking or self.ranking
        names = () if kind == "keyword" else (*self._names, (await self._store.people.person(person_id)).name)
        asked = await self._aside.run(question, text, names)
        newest = NEWEST if kind == "hybrid" else 0
        found = await self._store.memories.search(audience, asked.terms, CANDIDATES, newest)
        return await self._aside.run(rank, kind, asked, found, now, most or self.most)

    async def shared(self, text: str, other: str) -> float:
        """How much of what a text says is in another one, 0 to 1, as the ranking v2 measures it."""
        asked = await self._aside.run(question, text, self._names)
        return relevance(await self._aside.run(raw_score, asked.terms, other))
