"""Rows of leaks in small."""

from pathlib import Path

import pytest

from tests.torture.row import Row, Size, broken
from tests.torture.rows_leaks import ROWS


@pytest.mark.parametrize("row", [row for row in ROWS if row.short], ids=lambda row: row.id)
async def test_in_small_it_is_as_the_table_wants_it(row: Row, tmp_path: Path) -> None:
    assert row.run is not None
    found = await row.run(tmp_path, Size(row.short))
    assert broken(row, found, row.short) == (), found
