"""A World in real time whose platform is a real adapter: the installation, the library and the fake server in one
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.core.ports import Log
    from tests.world import World

PATIENCE_S = 90.0
TABLES = {"bot": {"timezone": "Asia/Shanghai"}, "budget": {"day_tokens": None}}


@asynccontextmanager
async def live(folder: Path, make: Callable[[Any, Log], Any], **tables: dict[str, Any]) -> AsyncIterator[World]:
    """The installation with the adapter that `make` makes of a clock and a log, connected as the program connects
    it.
    """
    from bot.config.settings import Settings
    from bot.core.clock import SystemClock
    from tests.world import World

    world = World(folder, Settings.model_validate({**TABLES, **tables}))
    clock = SystemClock()
    world.clock = clock  # type: ignore[assignment]
    adapter = world.talk = make(clock, world.log)
    await world.open()
    running = asyncio.create_task(adapter.run(world.app.ingest))
    try:
        yield world
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await running
        await world.close()


async def until(true: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
    """Wait until it is so; whether it became so in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not true():  # noqa: ASYNC110 - the other side is a file or another task
                await asyncio.sleep(0.02)
    return true()


async def each(work: Callable[[int], Awaitable[None]], count: int) -> None:
    """One after the other."""
    for number in range(count):
        await work(number)
