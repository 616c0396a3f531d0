"""Plugins: found and checked at the start, each by itself, so that a broken one is left out and named; and their tools,
commands and scenes carried out, with a time and a number of calls, over values of their own."""

import asyncio
import importlib.util
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from inspect import iscoroutinefunction
from json import dumps
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.commands.command import Command, Invocation
from bot.commands.registry import COMMANDS
from bot.config.settings import Settings
from bot.core.errors import PlatformError
from bot.core.events import ArgumentShape, CommandSpec, Place
from bot.core.files import resource_dir
from bot.core.models import ToolSpec
from bot.core.people import SCRIPTS, Audience
from bot.core.plugins import PLUGIN_API, Plugin, PluginAdapter, PluginCall, PluginCommand, PluginTool
from bot.core.ports import Adapter, Clock, Log
from bot.core.tools import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments
from bot.pipeline.configuration import Current
from bot.prompt.persona import PURPOSE_CHARS, Skill
from bot.store.store import Store
from bot.text.clean import clean
from bot.text.dates import local_day
from bot.text.length import clip, estimate_tokens
from bot.tools.outside import RESULT_TOKENS, told_result

GROUP = "nuan.plugins"
"""The entry points of packages that name a plugin."""

FOLDER, ATTRIBUTE = "plugins", "plugin"
"""The folder of the data folder whose files are plugins, and what each of them calls its own."""

KINDS = ("tools", "commands", "skills", "scenes", "adapters")
"""What a plugin brings."""

SECRET_OPTIONS = ("key", "token", "secret", "password")
"""An option whose name has one of these is in no log."""

SCHEMA_CHARS = 1_200
"""Of a tool's schema: every full request brings it."""

SPARE_S = 1.0
"""Beside what a tool may take itself, for what stands around it."""


@dataclass(frozen=True, slots=True)
class FoundPlugin:
    """A plugin by the name of its entry point or file; None with the `problem` for which it is left out.

    `options` are what the operator wrote for it, None where they wrote nothing.
    """

    name: str
    plugin: Plugin | None
    problem: str = ""
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Plugins:
    """What was found; of a plugin that is left out nothing is used."""

    found: tuple[FoundPlugin, ...] = ()

    @property
    def usable(self) -> tuple[Plugin, ...]:
        """The good ones."""
        return tuple(each.plugin for each in self.found if each.plugin is not None)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model reads of their tools."""
        return tuple(spec_of(tool) for plugin in self.usable for tool in plugin.tools)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Their skills, as personas have them."""
        texts = {each.name: clean(each.text).strip() for plugin in self.usable for each in plugin.skills}
        return tuple(Skill(name, _purpose(text), text) for name, text in texts.items())

    @property
    def menu(self) -> tuple[CommandSpec, ...]:
        """Their commands for the menus of platforms."""
        return tuple(
            CommandSpec(
                f"ai {each.name}",
                f".ai {each.name}",
                tuple((script, clean(each.about)) for script in SCRIPTS),
                _shape(each),
                each.arguments,
            )
            for plugin in self.usable
            for each in plugin.commands
        )

    @property
    def platforms(self) -> tuple[tuple[FoundPlugin, PluginAdapter], ...]:
        """The adapters that are to be used, each with its plugin."""
        having = ((found, found.plugin) for found in self.found if found.options is not None)
        return tuple((found, each) for found, plugin in having if plugin is not None for each in plugin.adapters)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be in a log."""
        options = ((name.lower(), value) for found in self.found for name, value in (found.options or {}).items())
        return tuple(
            value for name, value in options if isinstance(value, str) and any(s in name for s in SECRET_OPTIONS)
        )

    def tell(self, log: Log) -> None:
        """A line for each, for the operator."""
        for each in self.found:
            if each.plugin is None:
                log.warning("plugin_left_out", plugin=each.name, error=each.problem)
            else:
                log.info("plugin_loaded", plugin=each.name, **counts(each.plugin))


def counts(plugin: Plugin) -> dict[str, int]:
    """How much it brings of each kind."""
    return {kind: len(getattr(plugin, kind)) for kind in KINDS if getattr(plugin, kind)}


@cache
def load_plugins(data: Path) -> Plugins:
    """Those of the installed packages and of this data folder, checked; their code runs once in a process."""
    found: list[FoundPlugin] = []
    taken = set(_taken())
    for name, load in _sources(data / FOLDER):
        try:
            value = load()
            problem = problem_of(value, taken)
            options = _options(data / FOLDER / f"{value.name}.toml") if isinstance(value, Plugin) else None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever somebody else's code raises, nuan starts
            value, options, problem = None, None, f"{type(error).__name__}: {error}"
        if isinstance(value, Plugin) and not problem:
            taken.update(_names(value))
            found.append(FoundPlugin(name, value, options=options))
        else:
            found.append(FoundPlugin(name, None, " ".join(problem.split())))
    return Plugins(tuple(found))


def problem_of(value: object, taken: set[str]) -> str:
    """Why a plugin cannot be used, "" when it can; `taken` are the names that are in use by now."""
    if not isinstance(value, Plugin):
        return f"{type(value).__name__} is no Plugin of bot.core.plugins"
    if value.api != PLUGIN_API:
        return f"it was written for version {value.api!r} of plugins, and this nuan knows {PLUGIN_API}"
    try:
        TypeAdapter(Plugin).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    names = list(_names(value))
    if twice := [name for place, name in enumerate(names) if name in taken or name in names[:place]]:
        return f"the name of its {twice[0]} is taken"
    runs = {each.name: each.run for each in value.tools} | {f".ai {each.name}": each.run for each in value.commands}
    if waiting := [name for name, run in runs.items() if not iscoroutinefunction(run)]:
        return f"run of {waiting[0]} must be async"
    for tool in value.tools:
        if len(spec_of(tool).parameters) > SCHEMA_CHARS:
            return f"the schema of the tool {tool.name} is longer than {SCHEMA_CHARS} characters"
    return next((f"the skill {each.name} is empty" for each in value.skills if not _purpose(each.text)), "")


def spec_of(tool: PluginTool) -> ToolSpec:
    """What the model reads of a tool."""
    about = {name: field.description or "" for name, field in tool.arguments.model_fields.items()}
    schema = dumps(tool.arguments.schema_told(about), ensure_ascii=False, separators=(",", ":"))
    return ToolSpec(tool.name, clean(tool.about), schema)


def _sources(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        yield point.name, point.load
    for path in sorted(folder.glob("*.py")) if folder.is_dir() else ():
        if not path.name.startswith((".", "_")):
            yield path.stem, partial(_in_file, path)


def _options(path: Path) -> Mapping[str, Any] | None:
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else None


def _in_file(path: Path) -> object:
    """What a file calls its plugin."""
    spec = importlib.util.spec_from_file_location(f"nuan_plugin_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where annotations that are read late are looked up
    spec.loader.exec_module(module)
    return getattr(module, ATTRIBUTE)


def _taken() -> Iterator[str]:
    """The names that nuan itself uses, by kind."""
    for path in resource_dir("prompts/tools").glob("*.json"):
        yield f"tool {path.name.partition('.')[0]}"
    for each in COMMANDS:
        yield from (f"command {name}" for name in (each.name, *each.aliases))
    yield from (f"adapter {name}" for name in (*Settings().platforms, "console", "web"))


def _names(plugin: Plugin) -> Iterator[str]:
    yield f"plugin {plugin.name}"
    for kind in (each for each in KINDS if each != "scenes"):
        yield from (f"{kind.removesuffix('s')} {each.name}" for each in getattr(plugin, kind))


def _shape(command: PluginCommand) -> ArgumentShape:
    return "words" if command.arguments else "none"


def _purpose(text: str) -> str:
    return clip(text.strip().partition("\n")[0].lstrip("#").strip(), PURPOSE_CHARS)


class _Values:
    """What one plugin keeps of one chat, put there by that person."""

    def __init__(self, store: Store, plugin: str, chat_id: int, person_id: int) -> None:
        self._store = store
        self._place = plugin, chat_id
        self._person_id = person_id

    async def get(self, key: str) -> str:
        return await self._store.outside.plugin_value(*self._place, key)

    async def put(self, key: str, value: str) -> None:
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError("keys and values are texts")
        await self._store.outside.put_plugin_value(*self._place, key, value, self._person_id)


class PluginScene:
    """A source of scenes that never fails."""

    def __init__(self, plugin: str, describe: Callable[[Place], str | None], log: Log) -> None:
        self._plugin = plugin
        self._describe = describe
        self._log = log

    def scene(self, place: Place) -> str | None:
        """What it says of the place; None when it knows nothing, or failed."""
        try:
            text = self._describe(place)
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises, the message is taken
            self._log.error("plugin_failed", plugin=self._plugin, exc_info=error)
            return None
        return text if isinstance(text, str) and text.strip() else None


class PluginRunner:
    """Carries out what plugins bring."""

    def __init__(self, plugins: Plugins, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._plugins = plugins
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log

    def tools(self) -> tuple[Tool, ...]:
        """Their tools, as turns bring them."""
        return tuple(self._tool(plugin, tool) for plugin in self._plugins.usable for tool in plugin.tools)

    def commands(self) -> tuple[Command, ...]:
        """Their commands, as the registry carries them out."""
        return tuple(self._command(plugin, each) for plugin in self._plugins.usable for each in plugin.commands)

    def _tool(self, plugin: Plugin, tool: PluginTool) -> Tool:
        async def run(context: ToolContext, arguments: str) -> ToolAnswer:
            wanted = read_arguments(tool.arguments, arguments or "{}")
            today = local_day(self._clock.now(), self._current.words.default_tz).toordinal()
            counted = f"plugin {plugin.name} {tool.name}"
            once = "" if tool.reads else f"{context.call}:plugin"
            begun = await self._store.outside.begin_call(counted, today, tool.day_calls, self._clock.now(), once=once)
            if begun != "begun":
                raise ToolRefused(f"outside_{begun}", str(tool.day_calls))
            call = self._call(plugin, context.audience, context.person_id, context.script)
            text = told_result(await _within(tool.run(call, wanted), tool.seconds))
            words = self._current.words
            say = words.opening(words.script_named(context.script))
            if not text:
                return ToolAnswer(say("outside_nothing", tool=tool.name))
            return ToolAnswer(say("outside_result", tool=tool.name, text=_cut(text)))

        return Tool(spec_of(tool), run, tool.reads, tool.seconds + SPARE_S)

    def _command(self, plugin: Plugin, command: PluginCommand) -> Command:
        async def handle(call: Invocation) -> str:
            asked = self._call(plugin, await call.audience(), call.person.id, call.script, call.words)
            try:
                return clean(await _within(command.run(asked), command.seconds)).strip()
            except Exception as error:  # noqa: BLE001 - whatever a plugin raises, its sender is told that it failed
                self._log.error("plugin_failed", plugin=plugin.name, command=command.name, exc_info=error)
                return call.text("plugin_failed", name=command.name)

        return Command(
            command.name,
            command.arguments,
            "owner" if command.owners else "anyone",
            "chat",
            command.private,
            _shape(command),
            listed=True,
            about="",
            example="",
            aliases=(),
            handler=handle,
            said=clean(command.about),
        )

    def _call(
        self, plugin: Plugin, audience: Audience, person_id: int, script: str, words: tuple[str, ...] = ()
    ) -> PluginCall:
        values = _Values(self._store, plugin.name, audience.chat_id, person_id)
        options = next(each.options for each in self._plugins.found if each.plugin is plugin) or {}
        return PluginCall(audience, person_id, script, self._clock.now(), values, options, words)


def make_plugin_adapter(
    found: FoundPlugin, adapter: PluginAdapter, menu: tuple[CommandSpec, ...], clock: Clock, log: Log
) -> Adapter:
    """The adapter of a plugin; PlatformError says why there is none."""
    try:
        made = adapter.make(found.options or {}, menu, clock, log)
        if made.platform != adapter.name or not isinstance(made.resends, bool):
            raise TypeError(f"its platform must be {adapter.name}, and resends must be set")
        if not (iscoroutinefunction(made.run) and iscoroutinefunction(made.send)):
            raise TypeError("run and send must be async")
    except (Exception, SystemExit) as error:
        raise PlatformError(f"{type(error).__name__}: {error}", final=True) from error
    return made


def plugin_adapters(plugins: Plugins, menu: tuple[CommandSpec, ...], clock: Clock, log: Log) -> Iterator[Adapter]:
    """Their adapters; one that cannot be made is left out, and told in the log."""
    for found, each in plugins.platforms:
        try:
            yield make_plugin_adapter(found, each, menu, clock, log)
        except PlatformError as error:
            log.warning("plugin_left_out", plugin=found.name, adapter=each.name, error=str(error))


def scenes(plugins: Plugins, log: Log) -> Iterable[PluginScene]:
    """Their sources of scenes."""
    return (PluginScene(plugin.name, each, log) for plugin in plugins.usable for each in plugin.scenes)


async def _within(work: Awaitable[str], seconds: float) -> str:
    """What a plugin answers; TimeoutError after so many seconds, also when it does not let itself be cancelled."""
    task = asyncio.ensure_future(_contained(work))
    try:
        await asyncio.wait((task,), timeout=seconds)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        task.cancel()
        task.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody else asks for it


async def _contained(work: Awaitable[str]) -> str:
    """Its answer, a text; a plugin that wants to end the program only ends its call."""
    try:
        text = await work
    except SystemExit as error:
        raise RuntimeError("SystemExit") from error
    if not isinstance(text, str):
        raise TypeError(f"answered with {type(text).__name__}, not with a text")
    return text


def _cut(text: str) -> str:
    piece = text[: RESULT_TOKENS * 4]
    while estimate_tokens(piece) > RESULT_TOKENS:
        piece = piece[: len(piece) * 9 // 10]
    return piece if piece == text else f"{piece}…"
