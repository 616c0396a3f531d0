"""The short versions of the rows about words: the same runs as in `make torture`, at a few units."""

from pathlib import Path

import pytest

from tests.torture import rows_fuzz, rows_prompt, rows_sql, rows_text
from tests.torture.row import Row, Size, broken

ROWS = (*rows_prompt.ROWS, *rows_sql.ROWS, *rows_text.ROWS, *rows_fuzz.ROWS)


@pytest.mark.parametrize("row", [row for row in ROWS if row.short], ids=lambda row: row.id)
async def test_a_few_units_of_each_row(tmp_path: Path, row: Row) -> None:
    assert row.run is not None
    assert broken(row, await row.run(tmp_path, Size(row.short)), row.short) == ()


def test_what_the_rows_run_longer_is_there() -> None:
    """The properties are run by themselves; here they are only found."""
    lists = (
        rows_fuzz.commands,
        rows_fuzz.times,
        rows_fuzz.configuration,
        rows_fuzz.imports,
        rows_fuzz.outputs,
        rows_fuzz.payloads,
    )
    assert all(hasattr(test, "hypothesis") for tests in lists for test in tests())
    assert all(row.existing for row in ROWS if not row.short)
