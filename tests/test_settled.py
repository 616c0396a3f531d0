"""`app.settled()` is exact: a repeated hard test differs in no byte. `python -m tests.bench.repeat` does a thousand."""

from pathlib import Path

import pytest

from tests.scenarios import SCENARIOS, Scenario, fingerprint

TIMES = 2
"""Repeats here; the thousand of each take the benchmark about an hour."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
async def test_every_repeat_leaves_the_same_requests_replies_and_rows(scenario: Scenario, tmp_path: Path) -> None:
    seen = {await fingerprint(scenario, tmp_path / str(number)) for number in range(TIMES)}
    assert len(seen) == 1
