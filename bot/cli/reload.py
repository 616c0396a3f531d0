"""Reads configuration, persona and prompts anew while nuan runs, when it is told to or a file has changed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from bot.app import App
from bot.cli.installation import ConfigSource, Installation, make_configuration, preload, text_hashes
from bot.config.keys import differing
from bot.config.settings import Settings
from bot.core.errors import ConfigError, NuanError
from bot.core.ports import Log, ReloadResult, SettingChanges
from bot.model.pool import ModelPool
from bot.ops.log_files import NullLog
from bot.pipeline.configuration import Current, texts_key
from bot.pipeline.endpoints import make_pool, pool_key

RESTART_LOG_KEYS = (
    "log.text", "log.level", "log.max_megabytes", "log.keep", "metrics.on", "metrics.host", "metrics.port",
)  # fmt: skip
"""What the open log file and the page for instruments were opened with: a change waits for a restart."""

MakePool = Callable[[Settings, Callable[[str], Path]], ModelPool]


class Reloader:
    """One for each running nuan. Reloads come one after the other; who asks during one shares the next."""

    def __init__(
        self, source: ConfigSource, place: Installation, fixed: tuple[str, ...] = RESTART_LOG_KEYS,
        make: MakePool = make_pool
    ) -> None:  # fmt: skip
        """`place` is what was read from `source`; a change of the `fixed` keys waits for a restart."""
        self._source = source
        self._place = place
        self._fixed = fixed
        self._make_pool = make
        self._begun_with = place
        self._texts = text_hashes(place)
        self._tried = self._seen = source.stamps(place)
        self._there = source.file.exists()
        self._app: App | None = None
        self._log: Log = NullLog()
        self._taken: Callable[[Settings], None] = lambda _: None
        self._lock = asyncio.Lock()
        self._asked = self._served = 0
        self._done = ReloadResult()
        self._woken = asyncio.Event()
        self._told = self._ended = False

    def serve(self, app: App, taken: Callable[[Settings], None]) -> None:
        """This is the bot; `taken` is told the new settings before it works by them."""
        self._app, self._log, self._taken = app, app.parts.log, taken

    def on_hangup(self) -> None:
        """A signal says that the files are to be read; several at once are one."""
        self._told = True
        self._woken.set()

    async def command(self) -> ReloadResult:
        """An owner says so."""
        return await self.reload("command")

    async def ask(self) -> ReloadResult:
        """`nuan reload` says so; while this nuan stops, nothing is taken any more."""
        if self._ended:
            return ReloadResult(problems=("this nuan is stopping: nothing was taken",))
        return await self.reload("command line")

    async def keep(self) -> None:
        """Wait for signals and look at the files, until cancelled; then no reload is under way."""
        try:
            await self._keep()
        finally:
            self._ended = True
            async with self._lock:
                pass

    async def _keep(self) -> None:
        assert self._app is not None
        clock = self._app.parts.clock
        while True:
            seconds = self._place.settings.reload.watch_seconds
            alarm = clock.at(clock.now() + round(seconds * 1000), self._woken.set) if seconds else None
            try:
                await self._woken.wait()
            finally:
                if alarm is not None:
                    alarm.cancel()
            self._woken.clear()
            self._app.look_at_notes()
            if self._told:
                self._told = False
                await self.reload("signal")
            elif self._place.settings.reload.watch_seconds:
                await self.look()

    async def apply(self, wish: SettingChanges, person_id: int) -> tuple[str, ...]:
        """An owner sets something in a chat: check it with all the rest, store it, work by it.

        With problems nothing has changed; nuan.toml is read anew besides.
        """
        async with self._lock:
            return (await self._reload("chat", wish, person_id)).problems

    async def look(self) -> None:
        """Take what has changed once it is quiet: while a file is still being written, the next look sees more."""
        stamps = await asyncio.to_thread(self._source.stamps, self._place)
        quiet, self._seen = stamps == self._seen, stamps
        if quiet and stamps != self._tried:
            await self.reload("file")

    async def reload(self, why: str) -> ReloadResult:
        """Take the files as they are now, or keep what there is and say everything that is wrong."""
        self._asked += 1
        mine = self._asked
        async with self._lock:
            served = self._served
            if served < mine:
                self._served = self._asked
                try:
                    self._done = await self._reload(why)
                except BaseException:
                    self._served = served
                    raise
                self._woken.set()  # whether and how often to look may have changed
            return self._done

    async def _reload(self, why: str, wish: SettingChanges | None = None, person_id: int | None = None) -> ReloadResult:
        assert self._app is not None
        if not wish:
            self._tried = await asyncio.to_thread(self._source.stamps, self._place)
        try:
            done = await self._take(self._app, wish or {}, person_id)
        except ConfigError as error:
            done = ReloadResult(problems=error.problems)
        except (NuanError, OSError) as error:
            done = ReloadResult(problems=(str(error),))
        except Exception as error:  # noqa: BLE001 - whatever a file holds, the bot that runs must go on
            self._log.error("reload_failed", why=why, exc_info=error)
            done = ReloadResult(problems=(type(error).__name__,))
        if done.problems:
            self._log.error("reload_refused", why=why, problems=list(done.problems))
        else:
            self._log.info("reloaded", why=why, changed=list(done.changed), restart=list(done.restart))
        return done

    async def _take(self, app: App, wish: SettingChanges, person_id: int | None) -> ReloadResult:
        old, before = self._place, self._place if wish else None
        place = await asyncio.to_thread(lambda: self._source.read(whole=self._there, wish=wish, before=before))
        same_texts = texts_key(place.written) == texts_key(old.written)
        texts = self._texts if wish and same_texts else await asyncio.to_thread(text_hashes, place)
        named = {name for name in texts.keys() | self._texts.keys() if texts.get(name) != self._texts.get(name)}
        changed = (*differing(old.written, place.written), *sorted(named))
        restart = tuple(key for key in differing(self._begun_with.written, place.written) if key in self._fixed)
        said = app.parts.store.settings
        earlier = await said.all() if wish else ()
        if wish:
            await said.put(wish, person_id, app.parts.clock.now())
        if set(changed) - set(self._fixed):
            try:
                await self._replace(app.parts.current, place, named, same_texts=same_texts)
            except BaseException:
                if wish:
                    await said.put_back(earlier)
                raise
        self._place, self._texts, self._there = place, texts, self._there or self._source.file.exists()
        return ReloadResult(changed, restart)

    async def _replace(self, current: Current, place: Installation, named: set[str], *, same_texts: bool) -> None:
        """Have the bot work by it; a model pool that it does not take is closed. `named` are the files that changed."""
        before, settings = current.newest, place.settings
        keeps_pool = pool_key(settings) == pool_key(self._place.settings)
        keeps_pool = keeps_pool and not any(name.startswith("prompts/offline/") for name in named)
        pool = before.pool if keeps_pool else await asyncio.to_thread(self._make_pool, settings, place.prompts.path)
        same_texts = same_texts and not named and pool.first.model.dialect == before.pool.first.model.dialect
        try:
            configuration = await asyncio.to_thread(
                make_configuration, place, pool, before.texts if same_texts else None
            )
            self._taken(settings)
            if not keeps_pool:
                await preload(pool)
            await current.replace(configuration)
        finally:
            if current.newest.pool is not pool:
                await pool.close()
