"""Six people's secrets in small: `make torture` asks a thousand times under every ranking."""

from pathlib import Path

from tests.torture.canaries import canaries


async def test_no_secret_comes_where_it_was_not_told(tmp_path: Path) -> None:
    count = await canaries(tmp_path, 33, rankings=("v2",))
    assert count.foreign == [], count.line()
    assert count.own > 100, count.line()
    assert len(count.asked) == 11
