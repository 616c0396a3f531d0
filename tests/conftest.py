"""What every test may ask for."""

import gc
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from bot.config.settings import Settings
from bot.lazy_packages import load_parts_when_asked
from bot.text.dictionary import cutter
from bot.text.fold import simplified
from bot.text.tables import keep_tables_in
from tests import servers
from tests.fakes.media import MediaWorld
from tests.fork_server import TABLES
from tests.lent import end, lend, take_back
from tests.reloading import Filed
from tests.sizes import sized
from tests.world import World

if TYPE_CHECKING:
    from tests.discord_support import Scene, Town
    from tests.fakes.discord_server import FakeDiscord

gc.disable()  # until all is collected: what is loaded lasts, and looking through it again was a fifth of the time

# Folders of tests are in memory where there is room: writing them to a disk was a tenth of the time. What a killed
# process wrote is there as on a disk, which is what tests can see.
MEMORY, ROOM_BYTES = "/dev/shm", 2_000_000_000
if Path(MEMORY).is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

load_parts_when_asked("openai.types")  # as the program does: all of them take a second

# Once for all tests of this machine: no folder of a test makes its own.
TABLES.parent.mkdir(exist_ok=True)  # pytest makes it at its end
keep_tables_in(TABLES)
simplified()
cutter()

NewWorld = Callable[..., Awaitable[World]]
OpenMedia = Callable[..., Awaitable[MediaWorld]]
BOTH_ENGINES = frozenset(
    (
        "closing",
        "copies",
        "deletions",
        "epochs",
        "limits",
        "memory_change",
        "memory_flow",
        "memory_merging",
        "note_forgetting",
        "outage",
        "promises",
        "reminders",
        "replacing",
        "sessions",
        "speaking",
        "stop",
        "talk",
        "tool_loop",
        "tools",
        "unstored",
    )
)
"""The files whose Worlds run on PostgreSQL, too: what a store has to do with, each kind of it once."""

BEHIND_POOLER = frozenset(("talk",))
"""Those of them that run there behind a pooler as well."""

ALWAYS_DEBUGGED = pytest.StashKey[bool]()

# Speed is measured in tests/bench: on a shared machine a timed test would fail for no reason.
# The same examples every time: a submission must not fail by luck.
hypothesis.settings.register_profile(
    "nuan",
    deadline=None,
    derandomize=True,
    max_examples=sized(50),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("nuan")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What was logged may hold halves of characters, which no report can take from one process to another."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


def pytest_collection_finish() -> None:
    """What was loaded and collected stays to the end: no look for garbage goes through all of it again.

    Looks at every 700th object, as is usual, were a tenth of the time.
    """
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The event loop of a test that is marked `debugged` is made in debug mode; of all tests with --asyncio-debug."""
    always = item.config.stash.setdefault(ALWAYS_DEBUGGED, bool(item.config.option.asyncio_debug))
    item.config.option.asyncio_debug = always or item.get_closest_marker("debugged") is not None


def pytest_sessionfinish() -> None:
    """No test is left."""
    end()
    servers.end()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What both engines must do alike is asked of Worlds on either."""
    asked = {"world", "new_world"}.intersection(metafunc.fixturenames)
    name = metafunc.module.__name__.removeprefix("tests.test_")
    if asked and name in BOTH_ENGINES:
        others = ("postgres", "pooled") if name in BEHIND_POOLER else ("postgres",)
        marks = pytest.mark.postgres, pytest.mark.second_engine
        params = ("sqlite", *(pytest.param(other, marks=marks) for other in others))
        metafunc.parametrize("engine", params, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test with a table only the first row runs on PostgreSQL, unless it is marked `every_row`.

    The others say the same in other words, for which the store does the same.
    """
    kept, left, seen = [], [], set()
    for item in items:
        second = item.get_closest_marker("second_engine")
        name = item.nodeid.partition("[")[0], "pooled" in item.nodeid
        if second and name in seen and not item.get_closest_marker("every_row"):
            left.append(item)
            continue
        kept.append(item)
        if second:
            seen.add(name)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """Where a World's rows lie."""
    return str(getattr(request, "param", "sqlite"))


def put(folder: Path, engine: str) -> None:
    """A new database for a World of that folder."""
    if engine == "postgres":
        servers.lend(folder)
    elif engine == "pooled":
        servers.lend_pooled(folder)
    else:
        lend(folder)


def take_all_back() -> None:
    """All Worlds of a test are closed."""
    take_back()
    servers.take_back()


@pytest.fixture
async def world(tmp_path: Path, engine: str) -> AsyncIterator[World]:
    """A running nuan with nobody in it yet."""
    put(tmp_path / "data", engine)
    world = await World(tmp_path / "data").open()
    yield world
    await world.close()
    take_all_back()


@pytest.fixture
async def filed(tmp_path: Path) -> AsyncIterator[Filed]:
    """A running nuan that is configured by files."""
    world = await Filed(tmp_path).open()
    yield world
    await world.close()


@pytest.fixture
async def new_world(tmp_path: Path, engine: str) -> AsyncIterator[NewWorld]:
    """Starts a nuan with other settings: `await new_world(budget={"day_tokens": 900})`."""
    worlds: list[World] = []

    async def start(**sections: dict[str, object]) -> World:
        settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **sections})
        folder = tmp_path / f"data{len(worlds)}"
        put(folder, engine)
        worlds.append(await World(folder, settings).open())
        return worlds[-1]

    yield start
    for world in worlds:
        await world.close()
    take_all_back()


@pytest.fixture
async def open_world(tmp_path: Path) -> AsyncIterator[OpenMedia]:
    """Starts a nuan with senses: `await open_world({"budget": {…}}, max_per_message=2)`."""
    worlds: list[MediaWorld] = []

    async def start(tables: dict[str, object] | None = None, **media: object) -> MediaWorld:
        senses = {"images": "eyes", "voice": "ears", **media}
        settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "media": senses, **(tables or {})})
        folder = tmp_path / f"media{len(worlds)}"
        lend(folder)
        worlds.append(MediaWorld(folder, settings))
        await worlds[-1].open()
        return worlds[-1]

    yield start
    for world in worlds:
        await world.close()
    take_back()


@pytest.fixture
async def discord() -> AsyncIterator["FakeDiscord"]:
    """Discord, as strict as the real one."""
    from tests.fakes.discord_server import FakeDiscord

    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
def town(discord: "FakeDiscord") -> "Town":
    """A server with its channels and people."""
    from tests.discord_support import Town

    return Town(discord)


@pytest.fixture
def scene(discord: "FakeDiscord") -> "Scene":
    """An adapter with a sink in memory."""
    from tests.discord_support import adapter_for

    return adapter_for(discord)
