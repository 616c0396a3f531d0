"""What every test may ask for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A running nuan with nobody in it yet."""
    world = await World(tmp_path / "data").open()
    yield world
    await world.close()
