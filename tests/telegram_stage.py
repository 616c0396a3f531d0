"""What the tests of the Telegram adapter share: a sink, a log, and the adapter running against the fake server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest
from pydantic import SecretStr

from adapters.telegram import TelegramSettings
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.sending import RateLimits as Pacing
from bot.core.clock import SystemClock
from bot.core.errors import SendError
from bot.core.events import CommandSpec, Incoming, Outgoing, Place
from bot.core.ports import Clock
from bot.store.engine import OwnLeases
from tests.fakes.telegram_server import FakeTelegram
from tests.fakes.telegram_shapes import Person, Posted
from tests.sizes import PATIENCE_S

ANN = Person(501, "安", "ann", language="zh-hans")
BO = Person(502, "Bo", "bo")
COMMANDS = (
    CommandSpec("ctx", ".ai ctx", (("zh-Hans", "看上下文"), ("zh-Hant", "看上下文"), ("en", "Show the context"))),
)
QUICK = Pacing(private_ms=1, answer_s=1.0)


@dataclass
class RecordingSink:
    """Stores what comes in; `problems` are raised first, one for each call."""

    stored: list[Incoming] = field(default_factory=list)
    problems: list[Exception] = field(default_factory=list)
    hold: asyncio.Event | None = None
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def accept(self, incoming: Incoming) -> bool:
        if self.problems:
            raise self.problems.pop(0)
        if self.hold is not None:
            await self.hold.wait()
        async with self._news:
            if incoming.delivery_key not in {one.delivery_key for one in self.stored}:
                self.stored.append(incoming)
            self._news.notify_all()
        return True

    async def newest(self, place: Place) -> str:
        return ""

    async def recent(self, place: Place, limit: int) -> tuple[str, ...]:
        return ()

    async def places(self, platform: str) -> tuple[Place, ...]:
        return ()

    def typing(self, place: Place, account: str) -> None:
        """Nobody looks."""

    async def until(self, count: int) -> list[Incoming]:
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: len(self.stored) >= count)
        return self.stored

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self.stored]


@dataclass
class Lines:
    """A log that remembers."""

    lines: list[str] = field(default_factory=list)

    def info(self, event: str, **fields: object) -> None:
        self.lines.append(f"{event} {fields}")

    debug = warning = error = info


@dataclass
class Stage:
    """The running adapter and what surrounds it."""

    server: FakeTelegram
    adapter: TelegramAdapter
    sink: RecordingSink
    log: Lines
    task: "asyncio.Task[None]"

    async def ended(self) -> BaseException | None:
        await asyncio.wait([self.task], timeout=8)
        return self.task.exception()


def make(
    server: FakeTelegram, log: Lines, clock: Clock | None = None, pacing: Pacing = QUICK, proxy: str = ""
) -> TelegramAdapter:
    settings = TelegramSettings(token=SecretStr(server.token), base_url=server.url, proxy=proxy)
    return TelegramAdapter(settings, COMMANDS, clock or SystemClock(), log, limits=pacing)


@asynccontextmanager
async def stage(
    server: FakeTelegram,
    *,
    clock: Clock | None = None,
    pacing: Pacing = QUICK,
    sink: RecordingSink | None = None,
    proxy: str = "",
    shared: bool = False,
) -> AsyncGenerator[Stage]:
    log, sink = Lines(), sink or RecordingSink()
    adapter = make(server, log, clock, pacing, proxy)
    if shared:
        adapter.share(OwnLeases().take_for)
    task = asyncio.create_task(adapter.run(sink))
    try:
        polled = asyncio.create_task(server.until(lambda: polls(server) > 0))
        await asyncio.wait([task, polled], return_when=asyncio.FIRST_COMPLETED)
        polled.cancel()
        yield Stage(server, adapter, sink, log, task)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


def said(text: str, chat: int = ANN.id, **more: object) -> Outgoing:
    return replace(Outgoing(7, 1, "telegram", str(chat), text, "reply"), **more)  # type: ignore[arg-type]


def polls(server: FakeTelegram) -> int:
    return len(server.calls("getUpdates"))


def confirmed(server: FakeTelegram, posted: Posted) -> bool:
    assert posted.update_id is not None
    return any(int(call.params.get("offset", 0)) > posted.update_id for call in server.calls("getUpdates"))


def fate(caught: pytest.ExceptionInfo[SendError]) -> str:
    return caught.value.fate
