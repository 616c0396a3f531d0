"""The short versions of the store's rows of the table of faults."""

from pathlib import Path

import pytest

from tests.torture.row import Row, Size, broken
from tests.torture.rows_store import ROWS
from tests.torture.rows_years import ROWS as YEARS


@pytest.mark.parametrize("row", [row for row in (*ROWS, *YEARS) if row.short], ids=lambda row: row.id)
async def test_in_short(row: Row, tmp_path: Path) -> None:
    assert row.run is not None
    found = await row.run(tmp_path, Size(row.short))
    assert broken(row, found, row.short) == (), found.notes
