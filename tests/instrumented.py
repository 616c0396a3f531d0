"""A World whose log is the real one and whose instruments are served; and what a visitor of the page sees."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from bot.cli.run import metrics_page
from bot.config.settings import LogFile, MetricsPage, Settings
from bot.core.ports import Adapter, Log
from bot.ops.health import Supervisor
from bot.ops.logs import LineObserver, Logs
from bot.ops.metrics import make_metrics
from tests.fakes.openai_rules import mapping
from tests.world import Lines, Talk, World


class Both(Lines):
    """A log that a test can read, and the operator's."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def debug(self, event: str, **fields: object) -> None:
        """In both."""
        super().debug(event, **fields)
        self._log.debug(event, **fields)

    def info(self, event: str, **fields: object) -> None:
        """In both."""
        super().info(event, **fields)
        self._log.info(event, **fields)

    def warning(self, event: str, **fields: object) -> None:
        """In both."""
        super().warning(event, **fields)
        self._log.warning(event, **fields)

    def error(self, event: str, **fields: object) -> None:
        """In both."""
        super().error(event, **fields)
        self._log.error(event, **fields)


@dataclass
class Heard(Talk):
    """A platform that knows when it was heard last."""

    age: int | None = 0

    def silent_ms(self) -> int | None:
        """As the test says."""
        return self.age

    async def run(self, sink: object) -> None:
        """Until it is stopped."""
        await asyncio.Event().wait()


@asynccontextmanager
async def logged(
    world: World, watch: LineObserver | None = None, *, settle: bool = True, **options: object
) -> AsyncIterator[World]:
    """The world, opened, with the operator's log in its folder."""
    logs = Logs(world.folder / "logs", LogFile.model_validate(options), world.clock.now, watch=watch)
    world.log = Both(logs.log)
    with closing(logs):
        await world.open(settle=settle)
        try:
            yield world
        finally:
            await world.close()


def records(world: World, event: str = "") -> list[Mapping[str, object]]:
    """The lines in the file of the log, all or of one event."""
    lines = (world.folder / "logs" / "nuan.jsonl").read_text("utf-8").splitlines()
    return [line for line in map(mapping, map(json.loads, lines)) if event in ("", line["event"])]


@dataclass
class Page:
    """The page of a world's instruments: its platforms, and who keeps them."""

    world: World
    port: int
    platform: Heard
    supervisor: Supervisor

    async def health(self) -> tuple[int, Mapping[str, object]]:
        """What /health says."""
        code, body = await get(self.port, "/health")
        return code, mapping(json.loads(body))

    async def figures(self) -> dict[str, float]:
        """What /metrics says: each sample with its labels."""
        code, body = await get(self.port, "/metrics")
        assert code == 200
        lines = [line for line in body.splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


@asynccontextmanager
async def instrumented(
    folder: Path, settings: Settings | None = None, *, settle: bool = True, **options: object
) -> AsyncIterator[Page]:
    """A world that shows its instruments on a free port; `options` are those of its log."""
    world, platform, port = World(folder, settings), Heard(), free_port()
    meters = make_metrics("EUR")
    assert meters is not None, "the tests need prometheus-client"
    async with logged(world, meters.saw, settle=settle, **options):
        supervisor = Supervisor(world.app.ingest, world.clock, world.log, world.store.inspector.writable)
        adapters: tuple[Adapter, ...] = (platform,)
        keeping = asyncio.create_task(supervisor.keep(platform))
        try:
            async with metrics_page(MetricsPage(on=True, port=port), world.app, adapters, supervisor, meters):
                yield Page(world, port, platform, supervisor)
        finally:
            keeping.cancel()
            await asyncio.wait((keeping,))


def free_port() -> int:
    """A port at which nobody listens just now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


async def get(port: int, path: str) -> tuple[int, str]:
    """The status and the body of a page."""
    head, _, body = (await raw(port, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())).partition("\r\n\r\n")
    return int(head.split()[1]), body


async def raw(port: int, request: bytes) -> str:
    """What the page answers to these bytes, until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        await writer.drain()
        return (await reader.read()).decode()
    finally:
        writer.close()
