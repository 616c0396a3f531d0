"""What every engine has to keep is asked of each of these."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.store.store import Store
from tests.contract.engines import Engine, Postgres, Sqlite
from tests.servers import take_back

ENGINES: dict[str, type[Engine]] = {
    "sqlite": Sqlite,
    "postgres": Postgres,
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine with an empty folder."""
    yield ENGINES[request.param](tmp_path)
    take_back()


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[Store]:
    """An empty store, open."""
    async with await engine.open() as store:
        yield store
