"""Every key of the configuration, from the model of the settings: a reload takes it as a start would, or says no."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import is_dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from types import FunctionType, MethodType
from typing import get_args

import pytest
from pydantic import BaseModel, SecretStr

from adapters.console import ConsoleAdapter, PipeTerminal
from bot.app import App
from bot.cli.installation import ConfigSource, make_dependencies
from bot.cli.platforms import RESTART_PLATFORM_KEYS
from bot.cli.reload import RESTART_LOG_KEYS, Reloader
from bot.config.keys import UNSET, SettingKey, keys
from bot.container import allow_list
from bot.core.errors import ConfigError
from bot.model.pool import Endpoint, ModelPool
from bot.pipeline.endpoints import make_pool
from tests.reloading import Filed
from tests.world import NINE

HERE = "http://127.0.0.1:9/v1"
MODEL = {"base_url": HERE, "name": "a", "price_input": 1, "price_output": 1}
BASE = {
    "model": MODEL, "fallback": {**MODEL, "base_url": ""}, "second_fallback": MODEL, "small": MODEL,
    "bot": {"timezone": "Asia/Shanghai"},
    "media": {"images": "eyes", "voice": "ears"}, "heartbeat": {"on": True}, "persona": "own",
    "memory": {"mode": "hybrid", "embedding": {"provider": "openai", "base_url": HERE, "model": "e"}},
}  # fmt: skip
SPECIAL = {
    "persona": "other", "prompts_dir": "{home}/prompts", "bot.timezone": "Europe/Paris", "bot.holidays": "TW",
    "bot.owners": ["telegram:1"], "sections.words": ["garden: 番茄"], "sections.window": 10,
    "sections.dominant": 0.8, "sections.stable_turns": 3,
    "budget.currency": "EUR", "memory.embedding.dimensions": 64, "speak.reply_chars": 80,
    "discord.gateway_url": "ws://127.0.0.1:9",
    "capabilities": [{"hosts": ["127.0.0.1"], "cached_ratio": 0.3, "temperature": False}],
}  # fmt: skip
GUESSES = (5, 0.5, "b", "http://127.0.0.1:8", ["b"])
RUNTIME = frozenset(
    ("_left", "_adapters", "_alarm", "_loaded", "_store", "_database", "_activity", "_log", "_clock", "store", "clock",
     "trouble", "log", "_thread", "thread", "_typists", "inside", "_tasks", "_again", "_watched", "_progress")
)  # fmt: skip
"""What an installation that has run has, and a new one has not yet; and what lasts."""


def values(key: SettingKey) -> Iterator[object]:
    """What might be written for a key instead of its default."""
    default = key.field.default
    if key.dotted in SPECIAL:
        yield SPECIAL[key.dotted]
    elif isinstance(default, bool):
        yield from (not default, default)
    elif isinstance(default, int | float):
        yield from (default + 1, default - 1, default / 2)
    yield from (each for each in get_args(key.field.annotation) if isinstance(each, str) and each != default)
    if isinstance(default, tuple):
        yield list(default[:1])
    yield from GUESSES


def toml(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def write(filed: Filed, changed: Mapping[SettingKey, object] | None = None) -> None:
    """The configuration of these tests, with other values for some keys."""
    tables: dict[str, object] = json.loads(json.dumps(BASE))
    for key, value in (changed or {}).items():
        node = tables
        for name in key.path[:-1]:
            node = node.setdefault(name, {})  # type: ignore[assignment]
        node[key.path[-1]] = value.replace("{home}", str(filed.home)) if isinstance(value, str) else value
    filed.write("", "".join(f"{name} = {toml(each)}\n" for name, each in tables.items()))


def shape(thing: object, seen: set[int] | None = None) -> object:
    """All that an installation is built of and goes by, as plain values that can be compared; what comes again is left
    out.
    """
    if isinstance(thing, SecretStr):
        return thing.get_secret_value()
    if thing is None or isinstance(thing, str | bytes | int | float | Path):
        return thing
    inside = seen if seen is not None else set()
    if isinstance(thing, Mapping):
        return {str(name): shape(each, inside) for name, each in thing.items()}
    if isinstance(thing, set | frozenset):
        return sorted(map(str, thing))
    if isinstance(thing, tuple | list):
        return [shape(each, inside) for each in thing]
    if isinstance(thing, BaseModel):
        return {name: shape(getattr(thing, name), inside) for name in type(thing).model_fields}
    if not (is_dataclass(thing) and type(thing).__hash__ is not object.__hash__):  # who is no plain value
        if id(thing) in inside:
            return "…"
        inside.add(id(thing))
    if isinstance(thing, partial):
        return [shape(each, inside) for each in (thing.func, thing.args, thing.keywords)]
    if isinstance(thing, MethodType):
        return [thing.__name__, shape(thing.__self__, inside)]
    if isinstance(thing, FunctionType):
        return [thing.__qualname__, *(shape(cell.cell_contents, inside) for cell in thing.__closure__ or ())]
    if isinstance(thing, type) or not type(thing).__module__.startswith("bot.") or isinstance(thing, Reloader):
        return type(thing).__name__
    names = {*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())} - RUNTIME
    held = {name: getattr(thing, name, None) for name in sorted(names)}
    if isinstance(thing, Endpoint):
        held["rate"] = thing.rate(NINE)  # made of a whole section, of which it needs the prices
    return [type(thing).__name__, {name: shape(each, inside) for name, each in held.items()}]


class Real(Filed):
    """Filed, with the model pool that the command line makes; it is never asked."""

    def _make_pool(self) -> ModelPool:
        place = ConfigSource(self.home / "nuan.toml", self.folder, {}).read()
        return make_pool(place.settings, place.prompts.path)

    def new(self) -> App:
        """The installation that a start with the files of now would build."""
        place = ConfigSource(self.home / "nuan.toml", self.folder, {}).read()
        parts = make_dependencies(
            place, self.store, make_pool(place.settings, place.prompts.path), self.log, self.clock
        )
        return App(replace(parts, reload=self.reloader.command, apply=self.reloader.apply))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Real]:
    """A folder with all that the keys can name."""
    real = Real(tmp_path)
    shutil.copytree(real.persona, real.persona.parent / "other")
    (real.persona.parent / "other" / "IDENTITY.md").write_text("你是别人。", "utf-8")
    write(real)
    await real.open()
    yield real
    await real.close()
    await real.app.parts.current.pool.close()


def differences(one: object, other: object, path: str = "") -> list[str]:
    """Where two shapes part."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for name in one for found in differences(one[name], other[name], f"{path}.{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [found for place, pair in enumerate(zip(one, other, strict=True))
                for found in differences(*pair, f"{path}[{place}]")]  # fmt: skip
    return [] if one == other else [path]


@pytest.mark.parametrize("table", sorted({key.path[0] for key in keys()}))
async def test_after_a_reload_the_installation_is_as_one_that_was_started_with_the_new_files(
    home: Real, table: str
) -> None:
    """The keys of a table change one after the other; the installation is compared when all have."""
    wrong: dict[str, object] = {}
    changed: dict[SettingKey, object] = {}
    for key in (key for key in keys() if key.path[0] == table):
        for value in values(key):
            write(home, {**changed, key: value})
            done = await home.reload()
            if key.dotted in done.changed and not done.problems:
                break
        else:
            wrong[key.dotted] = done
            continue
        if (key.dotted in done.restart) != (key.dotted in (*RESTART_LOG_KEYS, *RESTART_PLATFORM_KEYS)):
            wrong[key.dotted] = done.restart
        elif key.dotted not in done.restart:
            changed[key] = value
    write(home, changed)
    await home.reload()
    if found := differences(shape(home.app), shape(home.new())):
        wrong[table] = found
    settings = home.app.parts.current.settings
    lists = home.store._lists
    assert (lists.owners, lists.allow) == (frozenset(settings.bot.owners), allow_list(settings))
    assert wrong == {}


async def test_a_default_that_is_written_down_counts_where_unset_means_something_else(home: Real) -> None:
    assert {key.dotted for key in keys() if "unset" in str(key.field.description)} == set(UNSET)
    for key in keys():
        if key.dotted in UNSET:
            write(home)
            await home.reload()
            write(home, {key: key.field.default})
            done = await home.reload()
            assert done.changed == (key.dotted,)
            assert differences(shape(home.app), shape(home.new())) == []


async def test_a_wait_that_is_written_down_is_waited_in_the_terminal(filed: Filed) -> None:
    await filed.say("在吗")
    filed.write("[speak]\ndebounce_seconds = 0.6\n")
    assert (await filed.reload()).changed == ("speak.debounce_seconds",)
    await filed.say("你好")
    assert len(filed.replies) == 1
    await filed.wait(0.6)
    assert len(filed.replies) == 2
    filed.write("")
    assert (await filed.reload()).changed == ("speak.debounce_seconds",)
    await filed.say("再见")
    assert len(filed.replies) == 3


async def test_a_bad_key_of_any_table_is_said_and_changes_nothing(home: Real) -> None:
    before = shape(home.app)
    for key in {key.path[0]: key for key in keys()}.values():
        write(home, {key: {"no": "table"}})
        with pytest.raises(ConfigError):
            ConfigSource(home.home / "nuan.toml", home.folder, {}).read()
        assert (await home.reload()).problems
    assert shape(home.app) == before


def test_who_types_has_the_name_that_a_reload_brings() -> None:
    adapter = ConsoleAdapter(PipeTerminal(0, StringIO()), "安", "小暖 › ")
    adapter.rename("小安", "阿福 › ", ("阿福",))
    sender = adapter.incoming("在吗").sender
    assert sender is not None
    assert sender.name == "小安"
