"""`nuan run`: every platform that has a token, supervised, until SIGTERM or Ctrl-C."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence

from bot.app import App
from bot.cli.house import Place, allowed, make_parts, warm_up
from bot.cli.models import make_crew
from bot.cli.platforms import hold_tokens, make_adapters, secrets
from bot.clock import SystemClock
from bot.errors import ConfigError, NuanError
from bot.ops.logs import Logs
from bot.ops.supervise import Supervisor
from bot.ports import Adapter, Clock
from bot.store.store import open_store
from bot.types.log import Log


async def run(place: Place) -> None:
    """Talk on all configured platforms; ends well on a signal, with NuanError when no platform is left."""
    settings = place.settings
    clock, stopped = SystemClock(), asyncio.Event()
    # A signal that comes while the store is opened or closed must not cut that off.
    with _signals(stopped.set), hold_tokens(settings):
        async with await open_store(place.data, frozenset(settings.bot.owners), allowed(settings)) as store:
            logs = Logs(place.data / "logs", settings.log, clock.now, secrets(settings), sys.stderr)
            with contextlib.closing(logs):
                adapters = make_adapters(place, clock, logs.log)
                if not adapters:
                    raise ConfigError(("telegram.token, discord.token: none is set; `nuan chat` talks without one",))
                crew = make_crew(settings, place.prompts.path)
                app = App(make_parts(place, store, crew, logs.log, clock))
                try:
                    # Before the first call is reserved: one that a crash cuts off while the library loads is charged.
                    await warm_up(crew)
                    await app.start(adapters)
                    await _talk(adapters, app, clock, logs.log, stopped)
                finally:
                    await crew.close()


async def _talk(adapters: Sequence[Adapter], app: App, clock: Clock, log: Log, stopped: asyncio.Event) -> None:
    """Until `stopped` or no platform is left; turns are finished or parked before the platforms go."""
    supervisor = Supervisor(app.door, clock, log)
    lines = [asyncio.create_task(supervisor.keep(adapter), name=adapter.platform) for adapter in adapters]
    waiting = asyncio.create_task(stopped.wait(), name="signal")
    try:
        log.info("started", platforms=[adapter.platform for adapter in adapters])
        ended = asyncio.gather(*lines)
        await asyncio.wait((ended, waiting), return_when=asyncio.FIRST_COMPLETED)
        await app.stop()
        log.info("stopped")
    finally:
        for task in (*lines, waiting):
            task.cancel()
        await asyncio.wait((*lines, waiting))
        with contextlib.suppress(asyncio.CancelledError):
            await ended
    if not stopped.is_set():
        raise NuanError("no platform is left; the log says why")


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
