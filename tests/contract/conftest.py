"""What every engine has to keep is asked of each of these."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.store.store import Store
from tests.contract.engines import Engine, Pooled, Postgres, Sqlite
from tests.servers import take_back

ENGINES: dict[str, type[Engine]] = {
    "sqlite": Sqlite,
    "postgres": Postgres,
    "pooled": Pooled,
}

BEHIND_POOLER = frozenset(("kept_beside", "transactions"))
"""The files that are asked of a server behind a pooler, too: each way in which a store talks to it."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which engines a file is asked of."""
    if "engine" in metafunc.fixturenames:
        pooled = metafunc.module.__name__.rpartition("test_")[2] in BEHIND_POOLER
        metafunc.parametrize("engine", [name for name in ENGINES if name != "pooled" or pooled], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine with an empty folder."""
    yield ENGINES[request.param](tmp_path)
    take_back()


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[Store]:
    """An empty store, open."""
    async with await engine.open() as store:
        yield store
