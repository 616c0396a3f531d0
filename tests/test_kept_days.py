"""What somebody asks to keep is of the day that its words name: it comes under what lies ahead, and every year."""

import pytest

from tests.conftest import NewWorld
from tests.world import World

DAY = 86_400


@pytest.fixture
async def world(new_world: NewWorld) -> World:
    return await new_world()


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("记住明天下午三点我要面试", "即将到来"),
        ("記住我明天下午三點要面試", "即將到來"),
        ("remember my exam is tomorrow at 3pm", "Coming up"),
    ],
)
async def test_what_is_kept_for_tomorrow_lies_ahead(world: World, said: str, title: str) -> None:
    await world.say(said)
    await world.say("/new")
    await world.wait(DAY // 2)
    hello = {"即将到来": "今天有点事要说说", "即將到來": "今天有點事要說說", "Coming up": "got something to tell you"}
    await world.say(hello[title])
    opening = world.turns[-1][-1].content
    ahead = opening.split(f"## {title}")[1].split("##")[0]
    assert "15:00" in ahead


async def test_a_birthday_that_is_kept_comes_every_year(world: World) -> None:
    await world.say("记住我妈生日是6月15日")
    assert world.peek.memories("kind") == [("anniversary",)]


async def test_two_kept_that_deny_each_other_are_not_both_told(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.say("记住我对花生不过敏了")
    assert world.peek.memories("text", disabled_at=None, former_at=None) == [("我对花生不过敏了",)]
