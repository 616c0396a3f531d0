"""The kill harness in small: `make torture` does the same two hundred times on each platform."""

from dataclasses import replace
from pathlib import Path

from tests.torture.grounds import discord
from tests.torture.kills import Plan


async def test_two_kills_lose_nothing_and_nothing_is_said_twice(tmp_path: Path) -> None:
    count = await discord(tmp_path, replace(Plan(2, 20), people=2, shortest_s=1.0, longest_s=2.0))
    assert (count.written, count.lost, count.unanswered, count.twice, count.early) == (20, 0, 0, 0, 0), count.line()
    assert count.violations == 0
