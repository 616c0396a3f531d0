"""`nuan usage`: what the calls of some days used, per day, chat and cause, beside a running nuan."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.inspection import BAR_CELLS, EIGHTHS, HIT_CELLS, bar, show_usage
from bot.cli.installation import Installation
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import Completion, Usage
from tests.conftest import NewWorld
from tests.e2e import Home, run
from tests.world import World

DAY_S = 86_400
BLOCKS = str.maketrans("", "", EIGHTHS.strip())


def place(world: World) -> Installation:
    """Where that nuan lives."""
    return Installation(
        world.settings,
        world.folder,
        PromptFiles(None),
        resource_dir("data/persona") / world.settings.persona,
        world.settings,
    )


async def test_every_call_is_in_its_day_chat_and_cause(new_world: NewWorld) -> None:
    world = await new_world(
        bot={"timezone": "Asia/Shanghai", "language": "en"}, model={"price_input": 1.0, "price_output": 1.0}
    )
    world.model.script = lambda _: Completion("好", (), Usage(900, 450, 100))
    await world.say("今天下雨了")
    await world.wait(2 * DAY_S)
    for text in ("小暖，今天下雨了", "小暖，我带了伞"):
        await world.say(text, "阿明", "很长很长很长很长很长很长很长的群名")
    shown = (await show_usage(place(world), 3, world.clock)).splitlines()
    assert shown[0] == "3 days: 3 calls, 3000 tokens, 50% of the input from the cache, 0.0030 USD spent"
    shown = [line.translate(BLOCKS) for line in shown]
    days = [line.split() for line in shown if line[:3] == "06-"]
    assert [(day[0], day[-4], day[-3]) for day in days] == [
        ("06-12", "1000", "1"),
        ("06-13", "0", "0"),
        ("06-14", "2000", "2"),
    ]
    assert any("console 很长很长" in line and line.split()[-4:] == ["2000", "2", "50%", "0.0020"] for line in shown)
    assert any(line.startswith("#2 阿明") and line.split()[-4:] == ["2000", "2", "50%", "0.0020"] for line in shown)
    assert any(line.startswith("answer") and line.split()[-4] == "3000" for line in shown)
    drawn = (await show_usage(place(world), 3, world.clock)).splitlines()
    assert "█" * BAR_CELLS in drawn[5]
    assert "█" * (HIT_CELLS // 2) + " " * (HIT_CELLS // 2) in drawn[5].rpartition("50%")[2], "half of the input"
    only_today = (await show_usage(place(world), 1, world.clock)).splitlines()
    assert only_today[0].startswith("1 days: 2 calls, 2000 tokens")


async def test_nothing_used_is_shown_as_nothing(world: World) -> None:
    shown = await show_usage(place(world), 2, world.clock)
    assert shown.splitlines()[0] == "2 天：0 次调用，0 token，输入的 0% 命中缓存，花费 0.0000 USD"


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_bar_fits_and_shows_whatever_is_not_nothing(part: int, more: int) -> None:
    drawn = bar(part, part + more)
    assert len(drawn) == BAR_CELLS
    assert bool(drawn.strip()) == bool(part)


@pytest.mark.parametrize("days", ["0", "x", "9999"])
async def test_as_a_command_it_wants_a_number_of_days(tmp_path: Path, days: str) -> None:
    ran = await run(Home(tmp_path), "usage", "--days", days)
    assert ran.code == 2
    assert "Traceback" not in ran.text
