"""The short versions of the rows about models and load."""

from pathlib import Path

import pytest

from tests.torture.row import Row, Size, broken
from tests.torture.rows_load import ROWS as LOAD
from tests.torture.rows_model import ROWS as MODEL
from tests.torture.rows_turns import ROWS as TURNS

SHORT = tuple(row for row in (*MODEL, *TURNS, *LOAD) if row.short)
# Its stops come after so many steps of the loop, chosen in debug mode: without it steps are shorter and, in one run of
# seventeen, fewer than three stops meet their turn.
DEBUGGED = ("L14",)


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row.id, marks=[pytest.mark.debugged] if row.id in DEBUGGED else []) for row in SHORT],
)
async def test_a_row_comes_out_as_wanted(row: Row, tmp_path: Path) -> None:
    assert row.run is not None
    assert broken(row, await row.run(tmp_path, Size(row.short)), row.short) == ()
