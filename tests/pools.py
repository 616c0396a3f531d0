"""What tests of fallbacks share: models that fail as told, and time that passes while a call waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.models import Completion, ModelRequest
from bot.core.ports import Clock, pause
from tests.fakes.clock import SimAlarm, SimClock, let_others_run
from tests.fakes.model import Answer, ScriptedModel
from tests.world import NINE, World

DOWN = ModelError("unreachable", "nobody there")


class Named(ScriptedModel):
    """Answers one thing after another, the last one for ever; each may take its time (seconds), as far as it may."""

    def __init__(self, name: str, *answers: Answer, takes_s: float = 0.0) -> None:
        super().__init__()
        self.name = name
        self.answers = list(answers)
        self.takes_s = takes_s
        self.asked_at: list[float] = []
        self.clock: Callable[[], Clock] = lambda: SimClock(0)
        self.script = lambda request: self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def complete(self, request: ModelRequest) -> Completion:
        """As scripted, within the deadline of the request."""
        self.asked_at.append((self.clock().now() - NINE) / 1000)
        if self.takes_s:
            await pause(self.clock(), round(min(self.takes_s, request.deadline_s) * 1000))
        if self.takes_s > request.deadline_s:
            self.requests.append(request)
            raise ModelError("timeout", f"no end after {request.deadline_s:g} s")
        return await super().complete(request)


@asynccontextmanager
async def with_models(
    folder: Path, first: Named, *fallbacks: Named, smaller: Named | None = None, **sections: dict[str, object]
) -> AsyncIterator[World]:
    """A running nuan with these models; alone the first one is asked up to three times."""
    model = {"tries": 3, **sections.pop("model", {})}
    world = World(folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "model": model, **sections}))
    world.model, world.fallbacks, world.small = first, fallbacks, smaller
    for one in (first, *fallbacks, *((smaller,) if smaller else ())):
        one.clock = lambda: world.clock
    await world.open()
    try:
        yield world
    finally:
        await world.close()


async def through(world: World) -> None:
    """Return when everything has settled; time passes as far as calls under way wait for it."""
    settled = asyncio.ensure_future(world.app.settled())
    while not settled.done():
        world.clock.news.clear()
        pauses = [alarm for alarm in world.clock._alarms if not alarm.cancelled and is_pause(alarm)]
        if pauses:
            await world.clock.advance(min(pauses).when - world.clock.now(), let_others_run)
            continue
        news = asyncio.ensure_future(world.clock.news.wait())
        await asyncio.wait((settled, news), return_when=asyncio.FIRST_COMPLETED)
        news.cancel()


def is_pause(alarm: SimAlarm) -> bool:
    """Whether somebody waits for it; the others ring for what is due."""
    return isinstance(getattr(alarm.call, "__self__", None), asyncio.Event)


async def tell(world: World, text: str, who: str = "小王", group: str = "") -> None:
    """Somebody writes; returns when it is answered, however long the answer takes."""
    await world.app.ingest.accept(world.message(text, who, group))
    await through(world)


def asked(world: World) -> list[str]:
    """Which model each request went to, in order, and what became of its reservation."""
    return [f"{name} {state}" for name, state in world.peek.calls("model", "state")]


def left(world: World) -> int:
    """Reservations of calls that are not over."""
    count = world.peek.calls.count(state="reserved")
    assert isinstance(count, int)
    return count
