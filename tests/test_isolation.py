"""People's secrets in small: `make torture` asks a thousand times under every ranking."""

from pathlib import Path

from tests.torture.canaries import canaries


async def test_no_secret_comes_where_it_was_not_told(tmp_path: Path) -> None:
    count = await canaries(tmp_path, 31, rankings=("v2",), people=2, groups=2)
    assert count.foreign == [], count.line()
    assert not {"line", "memory", "digest"} & set(count.missing), count.line()
    assert len(count.asked) == 31
