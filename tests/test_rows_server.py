"""The short versions of the rows about several processes on a PostgreSQL server."""

from pathlib import Path

import pytest

from tests.servers import programs
from tests.torture.row import Row, Size, broken
from tests.torture.rows_server import ROWS

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize("row", [row for row in ROWS if row.short], ids=lambda row: row.id)
async def test_in_short(row: Row, tmp_path: Path) -> None:
    if programs() is None:
        pytest.skip("no PostgreSQL server")
    assert row.run is not None
    found = await row.run(tmp_path, Size(row.short))
    assert broken(row, found, row.short) == (), found
