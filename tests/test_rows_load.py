"""The short versions of the rows about models and load."""

from pathlib import Path

import pytest

from tests.torture.row import Row, Size, broken
from tests.torture.rows_load import ROWS as LOAD
from tests.torture.rows_model import ROWS as MODEL
from tests.torture.rows_turns import ROWS as TURNS

SHORT = tuple(row for row in (*MODEL, *TURNS, *LOAD) if row.short)


@pytest.mark.parametrize("row", SHORT, ids=[row.id for row in SHORT])
async def test_a_row_comes_out_as_wanted(row: Row, tmp_path: Path) -> None:
    assert row.run is not None
    assert broken(row, await row.run(tmp_path, Size(row.short)), row.short) == ()
