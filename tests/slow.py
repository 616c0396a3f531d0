"""A World whose model takes its time: people write while it thinks, on a simulated clock."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.config.settings import Settings
from bot.core.models import Completion, ModelRequest
from tests.fakes.clock import let_others_run
from tests.fakes.model import ScriptedModel, says
from tests.world import World

STEPS = 10
"""Steps of the event loop after which a cancelled call has ended."""


class SlowModel(ScriptedModel):
    """Answers after `takes_ms` of simulated time; `thinking` calls wait for it, and are not under way meanwhile."""

    def __init__(self, world: "SlowWorld", takes_ms: Callable[[], int]) -> None:
        super().__init__()
        self._world = world
        self.takes_ms = takes_ms
        self.thinking = 0
        self.most = 0

    async def complete(self, request: ModelRequest) -> Completion:
        """Think, then answer as scripted; a call that is cancelled thinks no more."""
        takes, clock, due, under_way = self.takes_ms(), self._world.clock, asyncio.Event(), self._world.app._activity

        def thought() -> None:
            self.thinking -= 1
            under_way.begin()
            due.set()

        if not takes:
            return await super().complete(request)
        self.requests.append(request)
        self.thinking += 1
        self.most = max(self.most, self.thinking)
        under_way.end()
        alarm = clock.at(clock.now() + takes, thought)
        try:
            await due.wait()
        finally:
            alarm.cancel()
            if not due.is_set():
                thought()
        answer = self.script(request)
        if isinstance(answer, Exception):
            raise answer
        return says(answer) if isinstance(answer, str) else answer


class SlowWorld(World):
    """Time goes on while the model thinks."""

    def __init__(
        self,
        folder: Path,
        settings: Settings | None = None,
        platforms: tuple[str, ...] = (),
        *,
        takes_ms: Callable[[], int] = lambda: 2_000,
    ) -> None:
        super().__init__(folder, settings, platforms)
        self.slow = SlowModel(self, takes_ms)
        self.model = self.slow

    async def quiet(self) -> None:
        """Return when nothing moves any more but calls that take their time."""
        for _ in range(STEPS):  # a call that was just cancelled is still thinking
            await let_others_run()
        await self.settled()

    async def wait(self, seconds: float) -> None:
        """Time passes, deadline by deadline."""
        await self.clock.advance(round(seconds * 1000), self.quiet)

    async def write(self, text: str, who: str = "小王", group: str = "", **facts: object) -> None:
        """Somebody writes; nobody waits for the answer."""
        await self.app.ingest.accept(self.message(text, who, group, **facts))  # type: ignore[arg-type]
        await self.quiet()

    async def flood(self, lines: Iterator[tuple[str, str]], group: str = "", every_ms: int = 10) -> None:
        """Lines of (who, text), one every so many ms."""
        for who, text in lines:
            await self.write(text, who, group)
            await self.wait(every_ms / 1000)

    async def crash(self, *, shut: bool = False) -> None:
        """Die as by kill -9; what the model thought about is forgotten."""
        await super().crash(shut=True)
        self.slow.gate = None
        await self.quiet()
