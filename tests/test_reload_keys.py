"""Every key of the configuration, from the model of the settings: a reload takes it as a start would, or says no."""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from types import FunctionType, MethodType
from typing import get_args

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from adapters.console import ConsoleAdapter, PipeTerminal
from bot.cli.installation import RESTART_PLATFORM_KEYS, ConfigSource, make_configuration
from bot.cli.reload import RESTART_LOG_KEYS
from bot.config.settings import UNSET, SettingKey, Settings, keys
from bot.config.sources import load
from bot.core.files import PromptFiles, resource_dir
from bot.model.client import ServerClient
from bot.model.pool import Endpoint, ModelPool
from bot.pipeline.configuration import texts_key
from bot.pipeline.endpoints import make_pool, pool_key
from tests.configured import configured
from tests.reloading import Filed
from tests.world import NINE

HERE = "http://127.0.0.1:9/v1"
MODEL = {"base_url": HERE, "name": "a", "price_input": 1, "price_output": 1}
BASE = {
    "model": MODEL,
    "fallback": {**MODEL, "base_url": ""},
    "second_fallback": MODEL,
    "small": MODEL,
    "bot": {"timezone": "Asia/Shanghai"},
    "media": {"images": "eyes", "voice": "ears"},
    "heartbeat": {"on": True},
    "persona": "own",
    "memory": {"mode": "hybrid", "embedding": {"provider": "openai", "base_url": HERE, "model": "e"}},
}
SPECIAL = {
    "image.size": "auto",
    "mcp.servers": {"notes": {"command": "notes-server", "about": "my notes"}},
    "store.url": "postgresql://nuan@db.example/nuan",
    "persona": "other",
    "prompts_dir": "{home}/prompts",
    "bot.timezone": "Europe/Paris",
    "bot.holidays": "TW",
    "bot.owners": ["telegram:1"],
    "sections.words": ["garden: 番茄"],
    "sections.window": 10,
    "sections.dominant": 0.8,
    "sections.stable_turns": 3,
    "budget.currency": "EUR",
    "memory.mode": "keyword",
    "memory.embedding.dimensions": 64,
    "speak.reply_chars": 80,
    "discord.gateway_url": "ws://127.0.0.1:9",
    "discord.shards": "0-1/2",
    "capabilities": [{"hosts": ["127.0.0.1"], "cached_ratio": 0.3, "temperature": False}],
}
GUESSES = (5, 0.5, "b", "http://127.0.0.1:8", ["b"])


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


def tables(home: Path, changed: Mapping[SettingKey, object]) -> str:
    """The configuration of these tests, with other values for some keys."""
    found: dict[str, object] = json.loads(json.dumps(BASE))
    for key, value in changed.items():
        node = found
        for name in key.path[:-1]:
            node = node.setdefault(name, {})  # type: ignore[assignment]
        node[key.path[-1]] = value.replace("{home}", str(home)) if isinstance(value, str) else value
    return "".join(f"{name} = {toml(each)}\n" for name, each in found.items())


def node_of(settings: Settings, key: SettingKey) -> BaseModel:
    """The table in which a key stands."""
    node: BaseModel = settings
    for name in key.path[:-1]:
        node = getattr(node, name)
    return node


def others(settings: Settings) -> dict[SettingKey, object]:
    """For every key a value that it takes, and does not have."""
    found: dict[SettingKey, object] = {}
    for key in keys():
        node, name = node_of(settings, key), key.path[-1]
        for value in values(key):
            try:
                taken = getattr(type(node).model_validate({name: value}), name)
            except ValidationError:
                continue
            if taken != getattr(node, name):
                found[key] = value
                break
    return found


def with_value(settings: Settings, key: SettingKey, other: Settings) -> Settings:
    """The settings with the value that another one has for a key."""
    node: BaseModel = node_of(settings, key).model_copy(
        update={key.path[-1]: getattr(node_of(other, key), key.path[-1])}
    )
    for depth in range(len(key.path) - 2, -1, -1):
        above = node_of(settings, SettingKey(key.path[: depth + 1], key.field, key.table))
        node = above.model_copy(update={key.path[depth]: node})
    assert isinstance(node, Settings)
    return node


@dataclass(frozen=True)
class Pair:
    """The settings of these tests, and others in which every key has another value."""

    base: Settings
    other: Settings

    def unnoticed(self, key_of: Callable[[Settings], object]) -> Settings:
        """The base with every key changed that alone leaves that the same."""
        settings = self.base
        for key in keys():
            if key_of(with_value(self.base, key, self.other)) == key_of(self.base):
                settings = with_value(settings, key, self.other)
        assert key_of(settings) == key_of(self.base)
        return settings


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """As files say them."""
    (tmp_path / "prompts").mkdir()
    file = tmp_path / "nuan.toml"
    file.write_text(tables(tmp_path, {}), "utf-8")
    base = load(file, {})
    file.write_text(tables(tmp_path, others(base)), "utf-8")
    return Pair(base, load(file, {}))


def shape(thing: object, seen: set[int] | None = None) -> object:
    """All that texts or models are made of, as plain values that can be compared; what comes again is left out."""
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
    if isinstance(thing, type) or not type(thing).__module__.startswith("bot."):
        return type(thing).__name__
    names = {*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())}
    if isinstance(thing, ServerClient):
        names.discard("_loaded")  # there once it was asked for
    held = {name: getattr(thing, name, None) for name in sorted(names)}
    if isinstance(thing, Endpoint):
        held["rate"] = thing.rate(NINE)  # made of a whole section, of which it needs the prices
    return [type(thing).__name__, {name: shape(each, inside) for name, each in held.items()}]


def differences(one: object, other: object, path: str = "") -> list[str]:
    """Where two shapes part."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for name in one for found in differences(one[name], other[name], f"{path}.{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for place, pair in enumerate(zip(one, other, strict=True))
            for found in differences(*pair, f"{path}[{place}]")
        ]
    return [] if one == other else [path]


class Real(Filed):
    """Filed, with the model pool that the command line makes; it is never asked."""

    def _make_pool(self) -> ModelPool:
        place = ConfigSource(self.home / "nuan.toml", self.folder, {}).read()
        return make_pool(place.settings, place.prompts.path)

    def change(self, changed: Mapping[SettingKey, object]) -> None:
        """Save nuan.toml with these values."""
        self.write("", tables(self.home, changed))

    def differences(self) -> list[str]:
        """In what the configuration is another than that of a start with the files of now."""
        place = ConfigSource(self.home / "nuan.toml", self.folder, {}).read()
        new = make_configuration(place, make_pool(place.settings, place.prompts.path))
        return differences(shape(self.app.parts.current.newest), shape(new))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Real]:
    """A running nuan in a folder with all that the keys can name."""
    real = Real(tmp_path)
    shutil.copytree(real.persona, real.persona.parent / "other")
    (real.persona.parent / "other" / "IDENTITY.md").write_text("你是别人。", "utf-8")
    real.change({})
    await real.open()
    yield real
    await real.close()
    await real.app.parts.current.pool.close()


def test_each_key_by_which_texts_are_read_is_noticed(pair: Pair) -> None:
    """The others change all at once: the same texts are read."""
    folders = {"own": resource_dir("data/persona") / "default"}
    read = [configured(each, folders=folders).value.texts for each in (pair.base, pair.unnoticed(texts_key))]
    assert differences(shape(read[0]), shape(read[1])) == []


def test_each_key_by_which_models_are_made_is_noticed(pair: Pair) -> None:
    """The others change all at once: the same models are made."""
    made = [make_pool(each, PromptFiles(None).path) for each in (pair.base, pair.unnoticed(pool_key))]
    assert differences(shape(made[0]), shape(made[1])) == []


async def test_after_a_reload_the_installation_is_as_one_that_was_started_with_the_new_files(home: Real) -> None:
    home.change(others(home.app.parts.current.newest.written))
    done = await home.reload()
    assert done.problems == ()
    assert {key.dotted for key in keys()} - set(done.changed) == set()
    assert set(done.restart) == {*RESTART_LOG_KEYS, *RESTART_PLATFORM_KEYS}
    assert home.differences() == []
    settings, lists = home.app.parts.current.settings, home.store._lists
    assert (lists.owners, lists.allow) == (frozenset(settings.bot.owners), settings.allow_list)
    assert home.app._services.slots._most == settings.model.slots
    home.change({})
    assert set((await home.reload()).changed) == set(done.changed)
    assert home.differences() == []


async def test_a_default_that_is_written_down_counts_where_unset_means_something_else(home: Real) -> None:
    assert {key.dotted for key in keys() if "unset" in key.help.lower()} == set(UNSET)
    for key in keys():
        if key.dotted in UNSET:
            home.change({key: key.field.default})
            done = await home.reload()
            assert key.dotted in done.changed
            assert home.differences() == []


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
    before = home.app.parts.current.newest
    bad = {key.path[0]: key for key in keys()}
    home.change({key: {"no": "table"} for key in bad.values()})
    problems = (await home.reload()).problems
    assert {line.split(":")[0].split(".")[0] for line in problems} >= bad.keys()
    assert home.app.parts.current.newest is before


def test_who_types_has_the_name_that_a_reload_brings() -> None:
    adapter = ConsoleAdapter(PipeTerminal(0, StringIO()), "安", "小暖 › ")
    adapter.rename("小安", "阿福 › ", ("阿福",))
    sender = adapter.incoming("在吗").sender
    assert sender is not None
    assert sender.name == "小安"
