"""The kill harness in small: `make torture` does the same two hundred times on each platform."""

from pathlib import Path
from signal import SIGKILL, SIGSTOP, Signals

import pytest

from tests.torture.deadlines import Times, deadlines
from tests.torture.grounds import discord
from tests.torture.kills import Plan
from tests.torture.remembering import remembering
from tests.torture.rows_kills import ZEROS, found_of


async def test_two_kills_lose_nothing_and_nothing_is_said_twice(tmp_path: Path) -> None:
    plan = Plan(2, 10, people=2, longest_s=0.4, early=0, model_s=0.1)
    found = found_of(await discord(tmp_path, plan), plan)
    assert {name: figure for name in ZEROS if (figure := found.sums[name])} == {}
    assert (found.sums["kills"], found.sums["messages"]) == (2, 10)


@pytest.mark.parametrize("how", [SIGKILL, SIGSTOP])
async def test_what_is_due_while_the_program_is_dead_or_stands_still_fires_once(tmp_path: Path, how: Signals) -> None:
    fired = await deadlines(tmp_path, 2, how, Times(3, 3, 5, 3))
    assert fired.right, fired.line()


async def test_kills_in_the_middle_of_memory_commands_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    told = await remembering(tmp_path, Plan(3, 0, longest_s=0.8, early=0, model_s=0.1))
    assert min(told.kept, told.forgotten) > 0, told
    assert (told.lost, told.back, told.twice, told.wrong, told.spilled) == ((), (), (), (), ()), told
