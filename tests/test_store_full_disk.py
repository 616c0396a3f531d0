"""A disk that is full: an error that is seen, nothing acknowledged is lost, and work goes on when there is room."""

import asyncio
import resource
import signal
import subprocess
import sys
from pathlib import Path

from bot.core.errors import StoreError
from bot.store.store import DATABASE, open_store
from tests.fork_server import command
from tests.storing import keep, look, sound

ROOM = 2_000_000
"""Bytes a file may grow to, instead of a small disk."""


async def fill(folder: Path) -> None:
    """Write until there is no room, then again with room; print what was acknowledged."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    async with await open_store(folder) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))
        kept: list[str] = []
        refused = 0
        while refused < 5:
            text = f"第{len(kept)}件 " + "长" * 2_000
            try:
                await keep(store, text)
                kept.append(text)
            except StoreError:
                refused += 1
        try:
            store.tombstones.add_tombstones([(1, "甲")], 0)
        except StoreError:
            refused += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await keep(store, "有地方了")
        sys.stdout.write(f"{len(kept)} {refused}\n")


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        command("tests.test_store_full_disk", str(tmp_path)), capture_output=True, check=False, timeout=50
    )
    assert (done.returncode, done.stderr) == (0, b"")
    kept, refused = map(int, done.stdout.split())
    assert kept > 5
    assert refused == 5
    assert (tmp_path / DATABASE).stat().st_size > 100_000
    found = look(tmp_path, "SELECT text FROM memory ORDER BY id")
    assert [str(row[0])[:20] for row in found[:-1]] == [f"第{n}件 ".ljust(20, "长") for n in range(kept)]
    assert found[-1] == ("有地方了",)
    assert look(tmp_path, "SELECT count(*) FROM effect") == [(kept + 1,)]
    assert sound(tmp_path) == []


if __name__ == "__main__":
    asyncio.run(fill(Path(sys.argv[1])))
