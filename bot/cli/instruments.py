"""Shows the page for instruments beside a running house, when the configuration wants one."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from bot.app import App
from bot.config.metrics import MetricsPage
from bot.errors import StoreError
from bot.ops.instruments import Instruments
from bot.ops.page import served
from bot.ops.supervise import Supervisor
from bot.ops.vitals import Sight
from bot.ports import Adapter, Hears

if TYPE_CHECKING:
    from bot.ops.meters import Meters


@contextlib.asynccontextmanager
async def instruments(
    settings: MetricsPage, app: App, adapters: Sequence[Adapter], supervisor: Supervisor, meters: "Meters | None"
) -> AsyncIterator[None]:
    """While inside, /health and /metrics are served if they are wanted; what keeps them from it is told in the log."""
    if not settings.on:
        yield
        return
    store, log = app.parts.store, app.parts.log
    hearing = {each.platform: each for each in adapters if isinstance(each, Hears)}
    sight = Sight(
        store, lambda: app.parts.crew, lambda: supervisor.states,
        lambda: {name: each.silent_ms() for name, each in hearing.items()}, lambda: app.queues,
    )  # fmt: skip
    shown = Instruments(sight, meters)
    with contextlib.suppress(StoreError):  # it begins with the first look, then
        await shown.begin()
    if meters is None:
        log.warning("metrics_unavailable", error="/metrics needs a library: pip install 'nuan[metrics]'")
    async with served(settings.host, settings.port, shown.show, log):
        yield
