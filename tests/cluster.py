"""Several nuan over one PostgreSQL database in one process: the same time, the same platform, the same model."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from bot.config.settings import Settings
from bot.core.ports import Role
from bot.ops.log_files import scrub_logs
from bot.peer import Peer
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.wakeups import ServerWakeups
from tests import servers
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.model import ScriptedModel
from tests.sizes import PATIENCE_S
from tests.world import NINE, Talk, World

GATEWAY: tuple[Role, ...] = ("gateway", "janitor")
WORKER: tuple[Role, ...] = ("worker",)


class Cluster:
    """A gateway that is the janitor, too, and workers beside it. Unless something `wakes` them, polls alone tell them of
    each other. With `pooled` a pooler is before the database."""

    def __init__(
        self, folder: Path, settings: Settings | None = None, *, wakes: bool = False, pooled: bool = False
    ) -> None:
        self.folder = folder
        self.url = servers.lend_pooled(folder) if pooled else servers.lend(folder)
        self.settings = settings
        self.wakes = wakes
        self.clock = SimClock(NINE)
        self.model = ScriptedModel()
        self.talk = Talk()
        self.processes: dict[str, World] = {}
        self._killed: list[World] = []

    @property
    def replies(self) -> list[str]:
        """Everything nuan said, in order."""
        return [outgoing.text for outgoing in self.talk.said]

    def adapter(self, name: str, world: World) -> Talk:
        """How that process talks to the platform."""
        return self.talk

    async def add(self, name: str, roles: tuple[Role, ...]) -> World:
        """One more process."""
        folder = self.folder.parent / name
        servers.URLS[folder] = self.url
        world = World(folder, self.settings)
        world.clock, world.model, world.talk, world.roles = self.clock, self.model, self.adapter(name, world), roles
        world.wakes, world.scrub = self.wakes, partial(scrub_logs, folder / "logs")
        self.processes[name] = world
        await world.open(settle=False)
        if isinstance(world.store.wakeups, ServerWakeups):
            await world.store.wakeups.listening.wait()
        await self.settled()
        return world

    async def settled(self) -> None:
        """Return when nothing is in flight in any of them, but calls that are held at the shut gate."""
        async with asyncio.timeout(PATIENCE_S):
            while self.model.gate is not None and self._busy() > self.model.held:
                await let_others_run()
            while self.model.gate is None and self._busy():
                await asyncio.gather(*(world.app.settled() for world in (*self.processes.values(), *self._killed)))

    def _busy(self) -> int:
        return sum(world.app._activity._count for world in (*self.processes.values(), *self._killed))

    def shut(self) -> None:
        """From now on the model lets every request wait."""
        self.model.gate = asyncio.Event()

    async def let_answer(self) -> None:
        """The model answers what waits, and it is sent."""
        assert self.model.gate is not None
        self.model.gate.set()
        self.model.gate = None
        await self.wait(2)

    async def give(self, name: str, chat_id: int = 1) -> None:
        """From now on that process works in the chat, which nobody has yet."""
        assert await self.processes[name].store.leases.claim((chat_id,))

    async def later(self, seconds: float) -> None:
        """So much later; then they look, two times."""
        self.clock.skip(round(seconds * 1000))
        await self.wait(2)

    async def wait(self, seconds: float) -> None:
        """Time passes for all, poll by poll."""
        await self.clock.advance(round(seconds * 1000), self.settled)

    async def say(self, text: str, at: str = "gateway", who: str = "小王", group: str = "") -> None:
        """Somebody writes; returns when all of them have looked twice since: for the message, and for the answer."""
        await self.hear(text, at, who, group)
        await self.wait(2)

    async def hear(self, text: str, at: str = "gateway", who: str = "小王", group: str = "") -> None:
        """Somebody writes; nobody has looked yet."""
        world = self.processes[at]
        await world.app.ingest.accept(world.message(text, who, group))

    async def until(self, what: Callable[[], bool]) -> None:
        """Return when that is so, though no time passes."""
        async with asyncio.timeout(PATIENCE_S):
            while not what():
                await let_others_run()

    async def kill(self, name: str) -> None:
        """That process was not heard of for too long, and the others know it; what it has under way goes on."""
        world = self.processes.pop(name)
        self._killed.append(world)
        assert isinstance(world.app, Peer)
        world.app._alarms.stop()
        world.app._stop_polling()
        gone = [asyncio.Event() for _ in self.processes]
        for event, other in zip(gone, self.processes.values(), strict=True):
            other.store.leases.on_gone(event.set)
        await asyncio.to_thread(self._run, "DELETE FROM process WHERE boot = ?", world.store.boot)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(event.wait() for event in gone))
        await self.settled()

    def _run(self, sql: str, *values: object) -> None:
        with closing(PostgresTx(self.url)) as tx:
            tx.run(sql, *values)

    async def close(self) -> None:
        """Stop all of them."""
        for world in (*self.processes.values(), *self._killed):
            await world.close()
        servers.take_back()
