"""What every engine has to keep is asked of each of these."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.store import Store
from tests.contract.engines import Engine, Sqlite

ENGINES: dict[str, type[Engine]] = {
    "sqlite": Sqlite,
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """An engine with an empty folder."""
    return ENGINES[request.param](tmp_path)


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[Store]:
    """An empty store, open."""
    async with await engine.open() as store:
        yield store
