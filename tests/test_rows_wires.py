"""The short version of the rows of the table of faults about the wires; the long one is `make torture`."""

from pathlib import Path

import pytest

from tests.torture.row import Row, Size, broken
from tests.torture.rows_wires import ROWS


@pytest.mark.parametrize("row", [row for row in ROWS if row.short], ids=lambda row: row.id)
async def test_the_row_holds(row: Row, tmp_path: Path) -> None:
    assert row.run is not None
    assert broken(row, await row.run(tmp_path, Size(row.short)), row.short) == ()
