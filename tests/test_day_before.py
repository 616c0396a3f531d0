"""An hour alone, right after a line that names another day, is of that day; where it may be either, it is asked."""

import pytest

from tests.world import World

DENTIST = "約了週四看牙醫，下午四點半"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((DENTIST, "四點叫我一下，騎車過去要一點時間"), "好，週四（6月18日）下午4:00提醒你：看牙醫 #1"),
        ((DENTIST, "四點叫我一下"), "好，週四（6月18日）下午4:00提醒你：看牙醫 #1"),
    ],
)
async def test_it_is_of_the_day_that_was_named(world: World, lines: tuple[str, ...], told: str) -> None:
    for line in lines:
        await world.say(line)
    assert world.replies[-1] == told
