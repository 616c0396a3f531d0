"""`nuan run`, `web` and `chat`: the commands under which nuan answers, with web page and metrics, until they are
stopped."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.console import DIM, PLAIN, ConsoleAdapter, PromptTerminal, Terminal, open_terminal
from adapters.web import WebAdapter
from bot.app import App
from bot.cli.installation import (
    RESTART_PLATFORM_KEYS,
    ConfigSource,
    Installation,
    configured_secrets,
    lock_tokens,
    make_adapters,
    make_configuration,
    make_dependencies,
    make_known_adapters,
    make_words,
    owner_name,
    preload,
    read_only,
)
from bot.cli.mcp import change_handler
from bot.cli.reload import RESTART_LOG_KEYS, Reloader
from bot.cli.terminal import resume_collector, stopped_by_sigterm, system_language, use_one_heap
from bot.config.settings import MetricsPage, Settings
from bot.config.sources import settings_shown
from bot.container import Dependencies
from bot.core.clock import SystemClock
from bot.core.errors import (
    ConfigError,
    DatabaseHeldError,
    DatabaseSharedError,
    FolderLockedError,
    LeaseLostError,
    NuanError,
    StoreError,
)
from bot.core.files import install_command
from bot.core.ports import Adapter, Clock, Liveness, Role
from bot.ops.control import control_socket
from bot.ops.health import HealthCheck, Supervisor
from bot.ops.log_files import NullLog
from bot.ops.logs import Logs
from bot.ops.metrics import MetricsPages, make_metrics, serve_pages, show_standby
from bot.peer import Peer
from bot.pipeline.configuration import Configuration
from bot.pipeline.endpoints import make_pool
from bot.plugins import load_plugins
from bot.store.engine import postgres_part
from bot.store.store import Store, open_store
from bot.text.catalogue import catalogue
from bot.text.dates import local

if TYPE_CHECKING:
    from bot.ops.prometheus import Metrics
    from bot.web.requests import SiteData
    from bot.web.server import WebServer

USED = {"input": "input_tokens", "cached": "cache_read.input_tokens", "output": "output_tokens"}
"""The fields of a turn's line in the log, by their names in the text of the terminal."""

STAND_BY_SECONDS = 1.0
"""Between two looks whether the database is free, or its server there."""

STANDS_BY = "stands by to take over"

BESIDE_SECONDS = 5.0
"""So much longer than a lease one with roles waits for a command, or one without that died, to be gone."""

ALONE_LOST = "another nuan took over the database, as this one was not heard of for too long"
SHARED_LOST = (
    "the others took this process off, as the database had not heard of it for longer than store.lease_seconds: they go on "
    "with what it had; start it again"
)

RESTART_WEB_KEYS = ("web.on", "web.host", "web.port")
"""What the page was opened with: a change waits for a restart."""


@contextlib.asynccontextmanager
async def metrics_page(
    settings: MetricsPage, app: App, adapters: Sequence[Adapter], supervisor: Supervisor, meters: "Metrics | None"
) -> AsyncIterator[None]:
    """While inside, /health and /metrics are served if they are wanted; what keeps them from it is told in the log."""
    if not settings.on:
        yield
        return
    store, log = app.parts.store, app.parts.log
    hearing = {each.platform: each for each in adapters if isinstance(each, Liveness)}
    health_check = HealthCheck(
        store,
        lambda: app.parts.current.newest.pool,
        lambda: supervisor.states,
        lambda: {name: each.silent_ms() for name, each in hearing.items()},
        lambda: app.queues,
        lambda: app.vectors,
        app.parts.clock.now,
    )
    shown = MetricsPages(health_check, meters)
    with contextlib.suppress(StoreError):  # it begins with the first look, then
        await shown.begin()
    if meters is None:
        log.warning("metrics_unavailable", error=f"/metrics needs a library: {install_command('metrics')}")
    async with serve_pages(settings.host, settings.port, shown.show, log):
        yield


class WebFrontend:
    """The page of one installation, with the adapter that its chat box is."""

    def __init__(self, page: "WebServer", source: ConfigSource, adapter: WebAdapter | None) -> None:
        """Without an adapter the page only reads."""
        self.token = page.token
        self.adapter = adapter
        self._page = page
        self._source = source
        self._made: tuple[Configuration, SiteData] | None = None

    def take(self, settings: Settings) -> None:
        """Whoever writes is called as these settings say."""
        if self.adapter is not None:
            self.adapter.rename(owner_name(settings))

    @contextlib.asynccontextmanager
    async def served(self, parts: Dependencies) -> AsyncIterator[None]:
        """The page is answered by the bot as it is at each request, and the terminal is told where."""
        async with self._page.served(lambda: self._site_data(parts), parts.log):
            print(self._page.greeting(sys.stdout.isatty()), flush=True)
            yield

    def _site_data(self, parts: Dependencies) -> "SiteData":
        from bot.web.requests import SiteData

        configuration, source = parts.current.newest, self._source
        if self._made is None or self._made[0] is not configuration:
            settings, texts = configuration.settings, configuration.texts
            site = SiteData(
                parts.store,
                parts.clock,
                settings,
                texts.words,
                catalogue(texts.prompts, "web"),
                texts.prompts,
                texts.folders,
                lambda: settings_shown(settings, source.config, source.env, source.said()),
                self.adapter,
            )
            self._made = configuration, site
        return self._made[1]


@contextlib.contextmanager
def open_web_frontend(
    source: ConfigSource, place: Installation, clock: Clock, *, reads: bool = False, new_token: bool = False
) -> Iterator[WebFrontend]:
    """Open the page's socket; ConfigError when its libraries are missing, NuanError when the port is taken."""
    try:
        from bot.web.server import open_server
    except ImportError as error:
        raise ConfigError((f"web: the library {error.name} is missing: {install_command('web')}",)) from error
    with open_server(place.settings.web, source.data, place.url, new_token=new_token) as page:
        yield WebFrontend(page, source, None if reads else WebAdapter(owner_name(place.settings), clock))


async def run(
    source: ConfigSource,
    place: Installation,
    *,
    alone: bool = False,
    new_token: bool = False,
    roles: Collection[Role] = (),
) -> None:
    """Talk on all configured platforms, or `alone` on the web page; ends well on a signal. With `roles` it is one of
    several on a database.

    NuanError when no platform is left.
    """
    use_one_heap()
    settings = place.settings
    platforms = settings.platforms
    configured = any(platform.configured for platform in platforms.values()) or load_plugins(place.data).platforms
    if roles and not place.url:
        raise ConfigError(("--role: several processes share a PostgreSQL database: set store.url",))
    if not (alone or settings.web.on or configured or (roles and "gateway" not in roles)):
        wanted = ", ".join(f"{name}.{platform.starts_with}" for name, platform in platforms.items())
        raise ConfigError((f"{wanted}: none is set; `nuan init` asks for them, `nuan chat` talks without",))
    clock, stopped = SystemClock(), asyncio.Event()
    reloader = Reloader(source, place, (*RESTART_LOG_KEYS, *RESTART_PLATFORM_KEYS, *RESTART_WEB_KEYS))
    # A signal that comes while the store is opened or closed must not cut that off.
    # On a server leases say who talks to which platform: one that stands still must not keep its tokens, too.
    tokens = contextlib.nullcontext() if alone or place.url else lock_tokens(settings)
    with handle_signals(stopped.set, reloader.on_hangup), tokens:
        if place.url:  # who registers is to be heard of from then on, also where a machine is too busy to load at once
            await _load(place, roles)
        opened_store, waited = await _open_when_free(place, stopped, roles, stands_by=not alone)
        if opened_store is None:
            return
        async with opened_store as store:
            meters = make_metrics(settings.budget.currency) if settings.metrics.on else None
            watch = meters.saw if meters is not None else None
            logs = Logs(place.data / "logs", settings.log, clock.now, configured_secrets(settings), sys.stderr, watch)
            with contextlib.closing(logs), contextlib.ExitStack() as opened:
                adapters = () if alone else make_adapters(place, clock, logs.log)
                known = make_known_adapters(place, clock, logs.log) if roles else ()
                reads = bool(roles) and "gateway" not in roles
                front = (
                    opened.enter_context(open_web_frontend(source, place, clock, reads=reads, new_token=new_token))
                    if alone or settings.web.on
                    else None
                )
                if front is not None:
                    logs.hide([front.token])
                if front is not None and front.adapter is not None:
                    adapters = (*adapters, front.adapter)
                taken = front.take if front is not None else None
                app = _make_app(place, store, logs, reloader, clock, taken, roles)
                app.know(known)
                try:
                    # Before the first call is reserved: one that a crash cuts off while the library loads is charged.
                    await preload(app.parts.current.newest, clock.now())
                    await app.start(adapters)
                    resume_collector()
                    if waited:  # what was set in chats could not be read before, or is of long ago
                        await reloader.reload("waited")
                    supervisor = Supervisor(app.ingest, clock, logs.log, store.inspector.writable, store.unheard)
                    page = metrics_page(settings.metrics, app, adapters, supervisor, meters)
                    control = control_socket(place.data, change_handler(app), logs.log, reloader.ask)
                    async with control, _web_page(front, app), page:
                        await _serve_platforms(adapters, app, supervisor, reloader, stopped)
                finally:
                    await app.parts.current.pool.close()


async def _open_when_free(
    place: Installation, stopped: asyncio.Event, roles: Collection[Role], *, stands_by: bool
) -> tuple[Store | None, bool]:
    """The store, and whether it was waited for. While another nuan answers from its database on a server, or that server is
    away, who `stands_by` waits; None when it is stopped before that. DatabaseSharedError where others have roles and this
    one has none, or, when a lease and BESIDE_SECONDS are over, the other way round: who waited on would keep all of them
    out at the next restart.
    """
    rules, metrics = place.settings.store, place.settings.metrics
    said = set[str]()

    def tell(error: StoreError, does: str) -> None:
        """What it `does` the operator hears once."""
        if does not in said:
            said.add(does)
            print(f"nuan: {error}; this one {does}", flush=True)

    async with contextlib.AsyncExitStack() as standing_by:
        away, clock = False, asyncio.get_running_loop()
        latest = clock.time() + rules.lease_seconds + BESIDE_SECONDS
        while not stopped.is_set():
            try:
                opened = await open_store(
                    place.data,
                    frozenset(place.settings.bot.owners),
                    place.settings.allow_list,
                    url=place.url,
                    writers=rules.writers,
                    lease_seconds=rules.lease_seconds,
                    copied=rules.copy_before_update,
                    roles=roles,
                )
                return opened, bool(said)
            except DatabaseHeldError as error:
                shared = isinstance(error, DatabaseSharedError)
                if not stands_by or (shared and (not roles or clock.time() > latest)):
                    raise
                if not shared and metrics.on and STANDS_BY not in said:
                    page = serve_pages(metrics.host, metrics.port, show_standby, NullLog())
                    await standing_by.enter_async_context(page)
                tell(error, "waits for a moment" if shared else STANDS_BY)
            except FolderLockedError:
                raise
            except StoreError as error:
                before, away = away, stands_by and await _is_away(place.url)
                if not (away or before):  # it may have come back between the two questions
                    raise
                tell(error, "waits for it")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), STAND_BY_SECONDS)
    return None, False


async def _is_away(url: str) -> bool:
    return bool(url) and await asyncio.to_thread(postgres_part("opening").is_away, url)


async def _load(place: Installation, roles: Collection[Role]) -> None:
    """Load what a start needs, so that who begins or takes over answers at once."""
    clock, pool = SystemClock(), make_pool(place.settings, place.prompts.path)
    make_adapters(place, clock, NullLog())
    if roles:
        make_known_adapters(place, clock, NullLog())
    try:
        await preload(make_configuration(place, pool), clock.now())
    finally:
        await pool.close()


def _make_app(
    place: Installation,
    store: Store,
    logs: Logs,
    reloader: Reloader,
    clock: Clock,
    taken: Callable[[Settings], None] | None = None,
    roles: Collection[Role] = (),
) -> App:
    """The bot, which can be reloaded, or with `roles` one of several; `taken` is told other settings before it works by
    them."""
    parts = make_dependencies(place, store, make_pool(place.settings, place.prompts.path), logs.log, clock)
    logs.hide(parts.plugins.secrets)
    parts.plugins.tell(logs.log)
    parts = replace(parts, reload=reloader.command, apply=reloader.apply, scrub=logs.scrub)
    app = Peer(parts, roles=roles) if roles else App(parts)

    def take(settings: Settings) -> None:
        logs.hide([*configured_secrets(settings), *parts.plugins.secrets])
        if taken is not None:
            taken(settings)

    reloader.serve(app, take)
    return app


def _web_page(front: WebFrontend | None, app: App) -> AbstractAsyncContextManager[None]:
    return contextlib.nullcontext() if front is None else front.served(app.parts)


async def _serve_platforms(
    adapters: Sequence[Adapter], app: App, supervisor: Supervisor, reloader: Reloader, stopped: asyncio.Event
) -> None:
    """Until `stopped`, no platform is left of these or another nuan took over; turns are finished or parked before the
    platforms go."""
    log = app.parts.log

    lines = [asyncio.create_task(app.serve(adapter, supervisor), name=adapter.platform) for adapter in adapters]
    waiting = asyncio.create_task(stopped.wait(), name="signal")
    lost = asyncio.create_task(app.parts.store.lost.wait(), name="lease")
    reloading = asyncio.create_task(reloader.keep(), name="reload")
    try:
        log.info("started", platforms=[adapter.platform for adapter in adapters])
        ended = asyncio.gather(*lines) if lines else asyncio.get_running_loop().create_future()
        await asyncio.wait((ended, waiting, lost), return_when=asyncio.FIRST_COMPLETED)
        reloading.cancel()
        await asyncio.wait((reloading,))
        await app.stop()
        log.info("stopped")
    finally:
        others = (waiting, lost, reloading)
        for task in (*lines, *others):
            task.cancel()
        await asyncio.wait((*lines, *others))
        with contextlib.suppress(asyncio.CancelledError):
            ended.cancel()
            await ended
    if app.parts.store.lost.is_set():
        raise LeaseLostError(SHARED_LOST if isinstance(app, Peer) else ALONE_LOST)
    if not stopped.is_set():
        raise NuanError("no platform is left; the log says why")


@contextlib.contextmanager
def handle_signals(stop: Callable[[], None], hang_up: Callable[[], None]) -> Iterator[None]:
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


async def web(source: ConfigSource, place: Installation, *, new_token: bool = False) -> None:
    """Serve the page until a signal; when another nuan answers from the folder, what it stores can be read."""
    try:
        await run(source, place, alone=True, new_token=new_token)
    except FolderLockedError:
        await serve_read_only(source, place, new_token=new_token)


async def serve_read_only(source: ConfigSource, place: Installation, *, new_token: bool = False) -> None:
    """The page over the database of a nuan that answers elsewhere: nothing is changed, nobody is answered."""
    clock, stopped = SystemClock(), asyncio.Event()
    page = open_web_frontend(source, place, clock, reads=True, new_token=new_token)
    with handle_signals(stopped.set, lambda: None), page as front:
        async with read_only(place, clock) as parts, front.served(parts):
            resume_collector()
            print("nuan: another nuan answers from this folder, so this page only reads", flush=True)
            await stopped.wait()


async def chat(source: ConfigSource, place: Installation, group: str, name: str, verbose: bool) -> None:
    """Talk until the input ends; every line that was read is answered before it returns."""
    use_one_heap()
    settings = place.settings
    words, clock, reloader = make_words(place), SystemClock(), Reloader(source, place)
    async with await open_store(
        place.data,
        frozenset(settings.bot.owners),
        settings.allow_list,
        url=place.url,
        copied=settings.store.copy_before_update,
    ) as store:
        # The folder is ours from here on: before that, its log may belong to another nuan.
        script = settings.bot.language if "language" in settings.bot.model_fields_set else system_language(os.environ)
        terminal, tasks = open_terminal(sys.stdin, sys.stdout), set[asyncio.Task[None]]()
        seen = isinstance(terminal, PromptTerminal)
        if isinstance(terminal, PromptTerminal) and script == "en":
            terminal.stop = "stop"

        def told(_level: str, event: str, fields: Mapping[str, object]) -> None:
            if event == "turn":
                text = words.messages.text("console_cost", script, **cost_of(fields, settings))
                tasks.add(task := asyncio.create_task(terminal.aside(text)))
                task.add_done_callback(tasks.discard)

        shown, watch = sys.stderr if verbose and not seen else None, told if verbose and seen else None
        logs = Logs(place.data / "logs", settings.log, clock.now, configured_secrets(settings), shown, watch)
        with contextlib.closing(logs):
            adapter = ConsoleAdapter(
                terminal,
                name or owner_name(settings),
                _prefix(settings),
                group,
                settings.bot.names,
                words.messages.text("console_scene", settings.bot.language, names="{names}"),
            )

            def rename(settings: Settings) -> None:
                adapter.rename(name or owner_name(settings), _prefix(settings), settings.bot.names)

            app = _make_app(place, store, logs, reloader, clock, rename)
            await app.start([adapter])
            resume_collector()
            if seen:
                day = f"{local(clock.now(), words.default_tz):%Y-%m-%d}"
                begin = words.messages.text("console_begin", script, name=settings.bot.names[0], day=day)
                print(f"{DIM}{begin}{PLAIN}", flush=True)
            reloading = asyncio.create_task(reloader.keep(), name="reload")
            warm = asyncio.create_task(_warm_up(app, terminal), name="warm-up")
            try:
                with stopped_by_sigterm():
                    async with control_socket(place.data, change_handler(app), logs.log, reloader.ask):
                        # Piped lines are answered one by one, as a person would wait.
                        await adapter.run(app.ingest, None if sys.stdin.isatty() else app.spoken)
                        await app.drained()
            finally:
                reloading.cancel()
                await asyncio.wait((reloading,))
                await app.stop()
                warm.cancel()  # where the prompt never came up no key is typed
                with contextlib.suppress(asyncio.CancelledError):
                    await warm
                await app.parts.current.pool.close()


async def _warm_up(app: App, terminal: Terminal) -> None:
    """While somebody types, so that nobody waits for the prompt."""
    if await terminal.used():
        await preload(app.parts.current.newest, app.parts.clock.now())


def cost_of(fields: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """What one turn used, as the line below its reply says it."""
    used = {name: fields.get(f"gen_ai.usage.{key}", 0) for name, key in USED.items()}
    seconds = f"{float(str(fields.get('ms', 0))) / 1000:.1f}"
    return {**used, "cost": fields.get("cost", 0), "money": settings.budget.currency, "seconds": seconds}


def _prefix(settings: Settings) -> str:
    """What stands before each reply."""
    return f"{settings.bot.names[0]} › "
