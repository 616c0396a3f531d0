"""Settings taken while nuan runs (when it is told to, or a file has changed), with `nuan reload`; and `nuan unset`."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from pathlib import Path

from bot.app import App
from bot.cli.installation import ConfigSource, Installation, make_configuration, preload, text_hashes
from bot.cli.terminal import ExitCode, json_document, print_error
from bot.config.settings import Settings, differing
from bot.core.errors import ConfigError, FolderLockedError, NuanError
from bot.core.inspection import CheckResult, passed
from bot.core.ports import ChatSetting, Log, ReloadResult, SettingChanges
from bot.model.pool import ModelPool
from bot.ops.control import request_reload
from bot.ops.log_files import NullLog
from bot.pipeline.configuration import texts_key
from bot.pipeline.endpoints import make_pool, pool_key
from bot.store.settings import BOT_SWITCH, settings_in
from bot.store.store import DATABASE, LOCK, lock_folder, open_store
from bot.text.dates import local

RESTART_LOG_KEYS = (
    "store.url",
    "store.pooler",
    "store.copy_before_update",
    "log.text",
    "log.level",
    "log.max_megabytes",
    "log.keep",
    "metrics.on",
    "metrics.host",
    "metrics.port",
)
"""What the store, the open log file and the page for instruments were opened with: a change waits for a restart."""

MakePool = Callable[[Settings, Callable[[str], Path]], ModelPool]


class Reloader:
    """One for each running nuan. Reloads come one after the other; who asks during one shares the next."""

    def __init__(
        self,
        source: ConfigSource,
        place: Installation,
        fixed: tuple[str, ...] = RESTART_LOG_KEYS,
        make: MakePool = make_pool,
    ) -> None:
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
            problems = (await self._reload("chat", wish, person_id)).problems
            if self._app is not None and self._app.parts.store.wakeups is not None and not problems:
                self._app.parts.store.wakeups.tell("settings", 0)
            return problems

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
                await self._replace(app, place, named, same_texts=same_texts)
            except BaseException:
                if wish:
                    await said.put_back(earlier)
                raise
        self._place, self._texts, self._there = place, texts, self._there or self._source.file.exists()
        return ReloadResult(changed, restart)

    async def _replace(self, app: App, place: Installation, named: set[str], *, same_texts: bool) -> None:
        """Have the bot work by it; a model pool that it does not take is closed. `named` are the files that changed."""
        current, settings = app.parts.current, place.settings
        before = current.newest
        keeps_pool = pool_key(settings) == pool_key(self._place.settings)
        keeps_pool = keeps_pool and not any(name.startswith("prompts/offline/") for name in named)
        pool = before.pool if keeps_pool else await asyncio.to_thread(self._make_pool, settings, place.prompts.path)
        same_texts = same_texts and not named and pool.first.model.dialect == before.pool.first.model.dialect
        try:
            configuration = await asyncio.to_thread(
                make_configuration, place, pool, before.texts if same_texts else None
            )
            self._taken(settings)
            await preload(configuration, app.parts.clock.now())
            await current.replace(configuration)
        finally:
            if current.newest.pool is not pool:
                await pool.close()


def chat_setting_findings(folder: Path, url: str = "") -> tuple[CheckResult, ...]:
    """One line for each key that somebody set in a chat."""
    return tuple(
        passed("set in a chat", f"{_line_of(one)}: `nuan unset {one.key}`")
        for one in settings_in(folder / DATABASE, url)
    )


async def unset(folder: Path, keys: Sequence[str], url: str = "", *, everything: bool, as_json: bool) -> str:
    """Take back what is set in chats, or show it when nothing is named; NuanError for a key that nobody set.

    FolderLockedError while a nuan answers from the folder: it is told in a chat.
    """
    said = {one.key: one for one in settings_in(folder / DATABASE, url)}
    if unknown := [key for key in keys if key not in said]:
        raise NuanError(f"{unknown[0]} is not set in a chat; set there: {', '.join(said) or 'nothing'}")
    taken = tuple(said) if everything else tuple(dict.fromkeys(keys))
    if taken:
        async with await open_store(folder, url=url) as store:
            await store.settings.put(dict.fromkeys(taken), None, 0)
    shown = [said[key] for key in taken] if taken else list(said.values())
    if as_json:
        told = [{"key": one.key, "value": one.value, "by": one.name, "at": one.at} for one in shown]
        return json_document({"taken_back": bool(taken), "settings": told})
    if not shown:
        return "nothing is set in a chat"
    return "\n".join(f"{'taken back: ' if taken else ''}{_line_of(one)}" for one in shown)


def _line_of(one: ChatSetting) -> str:
    day = f" on {local(one.at, UTC):%Y-%m-%d}" if one.at else ""
    what = "everything is switched off" if one.key == BOT_SWITCH else f"{one.key} = {one.value}"
    return f"{what}, said by {one.name or 'somebody'}{day}"


async def reload(data: Path, *, as_json: bool) -> tuple[str, ExitCode]:
    """What was taken and the exit code; what is wrong goes to standard error. NuanError when no nuan can be asked.

    The configuration that counts is the one that the running nuan was started with; none is read here.
    """
    done = await request_reload(data)
    if done is None:
        raise NuanError(_nobody(data))
    code = ExitCode.WRONG if done.problems else ExitCode.DONE
    if as_json:
        told = {"changed": list(done.changed), "restart": list(done.restart), "problems": list(done.problems)}
        return json_document(told), code
    for problem in done.problems:
        print_error(problem)
    return "\n".join(_lines(done)), code


def _lines(done: ReloadResult) -> Iterator[str]:
    if done.problems:
        yield "nothing was taken: the running nuan goes on as it was"
        return
    taken = [name for name in done.changed if name not in done.restart]
    if taken:
        yield f"taken: {', '.join(taken)}"
    if done.restart:
        yield f"waits for a restart: {', '.join(done.restart)}"
    if not done.changed and not done.restart:
        yield "nothing has changed"


def _nobody(data: Path) -> str:
    """Why none can be asked; where there is no lock, none is made."""
    if (data / LOCK).exists():
        try:
            os.close(lock_folder(data))
        except FolderLockedError:
            return f"the nuan that uses {data} cannot be asked: send it SIGHUP, or say `.ai reload` as its owner"
    return f"no nuan answers from {data}: it reads its files when it starts; or give --data DIR"
