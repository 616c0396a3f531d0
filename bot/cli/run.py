"""`nuan run`: every platform that has a token, supervised, until SIGTERM or Ctrl-C."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from bot.app import App
from bot.cli.agents import changes_in
from bot.cli.front import WEB_KEYS, Front, front_of
from bot.cli.house import Place, loaded_for_good, make_parts, warm_up
from bot.cli.instruments import instruments
from bot.cli.models import make_crew
from bot.cli.platforms import hold_tokens, make_adapters, secrets
from bot.cli.reload import LOG_KEYS, PLATFORM_KEYS, Reloader
from bot.cli.source import Source
from bot.clock import SystemClock
from bot.config.settings import Settings
from bot.errors import ConfigError, NuanError
from bot.ops.agentdoor import agent_door
from bot.ops.instruments import make_meters
from bot.ops.logs import Logs
from bot.ops.supervise import Supervisor
from bot.ports import Adapter
from bot.rooms import allowed
from bot.store.store import open_store

NOWHERE = "telegram.token, discord.token: none is set; `nuan chat` talks without one"


async def run(source: Source, place: Place, *, alone: bool = False) -> None:
    """Talk on all configured platforms, or `alone` on the web page; ends well on a signal.

    NuanError when no platform is left.
    """
    settings = place.settings
    if not (alone or settings.web.on or settings.telegram.token or settings.discord.token):
        raise ConfigError((NOWHERE,))
    clock, stopped = SystemClock(), asyncio.Event()
    reloader = Reloader(source, place, (*LOG_KEYS, *PLATFORM_KEYS, *WEB_KEYS))
    # A signal that comes while the store is opened or closed must not cut that off.
    with signals(stopped.set, reloader.hang_up), contextlib.nullcontext() if alone else hold_tokens(settings):
        async with await open_store(place.data, frozenset(settings.bot.owners), allowed(settings)) as store:
            meters = make_meters(settings.budget.currency) if settings.metrics.on else None
            watch = meters.saw if meters is not None else None
            logs = Logs(place.data / "logs", settings.log, clock.now, secrets(settings), sys.stderr, watch)
            with contextlib.closing(logs), contextlib.ExitStack() as opened:
                adapters = () if alone else make_adapters(place, clock, logs.log)
                front = opened.enter_context(front_of(source, settings, clock)) if alone or settings.web.on else None
                if front is not None and front.adapter is not None:
                    logs.hide([front.token])
                    adapters = (*adapters, front.adapter)
                crew = make_crew(settings, place.prompts.path)
                parts = make_parts(place, store, crew, logs.log, clock)
                app = App(replace(parts, reload=reloader.command, settle=reloader.settle, scrub=logs.scrub))
                reloader.serve(app, lambda settings: _take(settings, logs, front))
                try:
                    # Before the first call is reserved: one that a crash cuts off while the library loads is charged.
                    await warm_up(crew)
                    with loaded_for_good():
                        await app.start(adapters)
                        supervisor = Supervisor(app.door, clock, logs.log)
                        page = instruments(settings.metrics, app, adapters, supervisor, meters)
                        door = agent_door(place.data, changes_in(app), logs.log, reloader.ask)
                        async with door, _served(front, app), page:
                            await _talk(adapters, app, supervisor, reloader, stopped)
                finally:
                    await app.parts.crew.close()


def _take(settings: Settings, logs: Logs, front: Front | None) -> None:
    logs.hide(secrets(settings))
    if front is not None:
        front.take(settings)


def _served(front: Front | None, app: App) -> AbstractAsyncContextManager[None]:
    return contextlib.nullcontext() if front is None else front.served(lambda: app.parts, app.parts.log)


async def _talk(
    adapters: Sequence[Adapter], app: App, supervisor: Supervisor, reloader: Reloader, stopped: asyncio.Event
) -> None:  # fmt: skip
    """Until `stopped` or no platform is left; turns are finished or parked before the platforms go."""
    log = app.parts.log
    lines = [asyncio.create_task(supervisor.keep(adapter), name=adapter.platform) for adapter in adapters]
    waiting = asyncio.create_task(stopped.wait(), name="signal")
    reloading = asyncio.create_task(reloader.keep(), name="reload")
    try:
        log.info("started", platforms=[adapter.platform for adapter in adapters])
        ended = asyncio.gather(*lines)
        await asyncio.wait((ended, waiting), return_when=asyncio.FIRST_COMPLETED)
        reloading.cancel()
        await asyncio.wait((reloading,))
        await app.stop()
        log.info("stopped")
    finally:
        for task in (*lines, waiting, reloading):
            task.cancel()
        await asyncio.wait((*lines, waiting, reloading))
        with contextlib.suppress(asyncio.CancelledError):
            await ended
    if not stopped.is_set():
        raise NuanError("no platform is left; the log says why")


@contextlib.contextmanager
def signals(stop: Callable[[], None], hang_up: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C stop; SIGHUP reloads, unless it says that the terminal is gone in which nuan was started."""
    loop = asyncio.get_running_loop()
    terminals = [descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)]
    heard = {signal.SIGTERM: stop, signal.SIGINT: stop}
    if hasattr(signal, "SIGHUP"):
        heard[signal.SIGHUP] = lambda: hang_up() if all(map(os.isatty, terminals)) else stop()
    for number, call in heard.items():
        loop.add_signal_handler(number, call)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
