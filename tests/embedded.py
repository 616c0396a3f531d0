"""A World whose memory has a server of embeddings on loopback, and what a test looks at there."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from bot.config.settings import Settings
from bot.container import make_recall
from bot.core.people import Audience
from bot.core.recall import RecallQuery
from bot.pipeline.vector_search import VectorSearch
from tests.fakes.embedding_server import FakeEmbeddings, Vectors, meaning_of
from tests.world import World

PETS = meaning_of({"狗": 0, "旺财": 0, "汪星人": 0, "猫": 1, "喵": 1, "花生": 2, "过敏": 2})
SOON = 20
Answers = Callable[[list[str]], Vectors]


class EmbeddedWorld(World):
    """A World with the dense half of its recall to look at."""

    dense: VectorSearch

    async def open(self, *, settle: bool = True) -> "EmbeddedWorld":
        """Start it."""
        await super().open(settle=settle)
        self.dense = make_recall(self.parts, self.app._services.vector_maker._find_caller, pays=True)._near
        return self


@asynccontextmanager
async def embedded_world(
    folder: Path, script: Answers = lambda texts: Vectors(), *, provider: str = "openai", **tables: object
) -> AsyncIterator[tuple[EmbeddedWorld, FakeEmbeddings]]:
    """A nuan whose memory has a server of embeddings."""
    async with FakeEmbeddings(PETS, script) as server:
        world = await EmbeddedWorld(folder, settings(server, provider, **tables)).open()
        try:
            yield world, server
        finally:
            await world.close()
            if world.parts.current.pool.embedding is not None:
                await world.parts.current.pool.embedding.embedder.close()


def settings(server: FakeEmbeddings, provider: str = "openai", **tables: object) -> Settings:
    """A configuration with this server."""
    embedding = {"provider": provider, "base_url": server.base_url, "model": "meaning", "price_input": 100.0}
    more = cast("dict[str, object]", tables.pop("embedding", {}))
    memory = {"mode": "hybrid", "embedding": {**embedding, **more}}
    return Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "memory": memory, **tables})


def vectors(world: World) -> list[tuple[object, ...]]:
    """Which memories have a vector, by whose model."""
    return world.rows(
        "SELECT memory.text, model FROM vector JOIN doc ON doc.id = doc_id JOIN memory ON memory.id = ref "
        "WHERE doc.kind = 'memory' ORDER BY memory.id"
    )


def paid(world: World) -> list[tuple[object, ...]]:
    """How the calls for vectors ended, and what they cost."""
    return world.rows("SELECT state, prompt_tokens, round(cost, 6) FROM call WHERE cause = 'embedding' ORDER BY id")


async def likeness(world: EmbeddedWorld, text: str, audience: Audience | None = None) -> list[str]:
    """The texts that a recall would find by likeness alone, for the owner in their own DM."""
    found = await world.dense.like(RecallQuery(audience or Audience(1, "dm", (1,)), 1, text, world.clock.now()), 20)
    texts = world.rows("SELECT doc.id, text FROM doc JOIN memory ON memory.id = ref WHERE doc.kind = 'memory'")
    told = {cast("int", number): str(text) for number, text in texts}
    return [told[number] for number in found.found if number in told]
