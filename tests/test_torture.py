"""The kill harness in small: `make torture` does the same two hundred times on each platform."""

from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, SIGSTOP, Signals

import pytest

from tests.torture.deadlines import Times, deadlines
from tests.torture.grounds import discord
from tests.torture.kills import Plan
from tests.torture.remembering import remembering


async def test_two_kills_lose_nothing_and_nothing_is_said_twice(tmp_path: Path) -> None:
    count = await discord(tmp_path, replace(Plan(2, 20), people=2, shortest_s=1.0, longest_s=2.0))
    assert (count.written, count.lost, count.unanswered, count.twice, count.early) == (20, 0, 0, 0, 0), count.line()
    assert count.violations == 0


@pytest.mark.parametrize("how", [SIGKILL, SIGSTOP])
async def test_what_is_due_while_the_program_is_dead_or_stands_still_fires_once(tmp_path: Path, how: Signals) -> None:
    fired = await deadlines(tmp_path, 2, how, Times(3, 3, 5, 3))
    assert fired.right, fired.line()


async def test_kills_in_the_middle_of_memory_commands_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    told = await remembering(tmp_path, 2, longest_s=2.0)
    assert min(told.kept, told.forgotten) > 0, told.line()
    assert (told.lost, told.back, told.wrong) == ((), (), ()), told.line()
