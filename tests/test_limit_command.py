"""`.ai limit`: what the owner says of how often people are answered holds at once and lasts."""

import pytest

from tests.conftest import NewWorld
from tests.test_limits import several
from tests.world import World

WRITES = ("我说说今天的事", "我說說今天發生的事", "Let me tell you about it")
MINUTE = ("每人每分钟：{}", "每人每分鐘：{}", "Each person per minute: {}")
CONFIGURED = ("（按配置）", "（按設定檔）", " (configured)")
OWNERS = ("（主人说的）", "（主人說的）", " (the owner's word)")
TIMES = ("5 次", "5 次", "5 times")
FREE = ("不限", "不限", "no limit")


async def shown(world: World, words: str = "show") -> list[str]:
    """The lines of `.ai limit` with these words."""
    await world.say(f".ai limit {words}")
    return world.replies[-1].splitlines()


@pytest.mark.parametrize("script", [0, 1, 2])
async def test_every_limit_is_shown_with_where_it_comes_from(world: World, script: int) -> None:
    await world.say(WRITES[script])
    lines = await shown(world)
    assert len(lines) == 6
    assert lines[1] == MINUTE[script].format(FREE[script]) + CONFIGURED[script]
    assert all(line.endswith(CONFIGURED[script]) for line in lines)
    lines = await shown(world, "usermin 5")
    assert lines[1] == MINUTE[script].format(TIMES[script]) + OWNERS[script]
    assert sum(line.endswith(OWNERS[script]) for line in lines) == 1


async def test_the_owners_word_holds_at_once_over_the_configuration_restarts_and_crashes(new_world: NewWorld) -> None:
    world = await new_world(limits={"person_minute": 9})
    await shown(world, "usermin 2")
    assert await several(world, 4) == 2
    await world.restart()
    await world.crash()
    await world.wait(60)
    assert await several(world, 4) == 2
    await shown(world, "off")
    assert await several(world, 12) == 12
    await world.wait(60)
    assert "每人每分钟：9 次（按配置）" in await shown(world, "reset")
    assert await several(world, 12) == 9


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("userday 7", "每人每天：7 次（主人说的）"),
        ("globalmin 8", "全部每分钟：8 次（主人说的）"),
        ("GLOBALDAY 9", "全部每天：9 次（主人说的）"),
        ("cooldown 10", "同一个人两次回答之间：10 秒（主人说的）"),
        ("cooldown 999999", "同一个人两次回答之间：86400 秒（主人说的）"),
        ("userday 99999999999999999999999", "每人每天：1000000 次（主人说的）"),
        ("userday 0", "每人每天：不限（主人说的）"),
        ("userday off", "每人每天：不限（主人说的）"),
        ("userday 無限", "每人每天：不限（主人说的）"),
        ("notify off", "到了上限说一声：关（主人说的）"),
        ("notify ON", "到了上限说一声：开（主人说的）"),
    ],
)
async def test_each_word_sets_its_limit_and_no_other(world: World, words: str, line: str) -> None:
    lines = await shown(world, words)
    assert line in lines
    assert sum(each.endswith("（主人说的）") for each in lines) == 1
    assert lines[-6:] == await shown(world, "")


async def test_notify_off_is_silence(world: World) -> None:
    await shown(world, "usermin 1")
    await shown(world, "notify off")
    before = len(world.replies)
    assert await several(world, 3) == 1
    assert len(world.replies) == before + 1


UNKNOWN = (
    "help",
    "usermin",
    "usermin x",
    "usermin -1",
    "usermin 1 2",
    "notify",
    "notify maybe",
    "cooldown 1.5",
    "off now",
    "usermin ５",
    "usermin 00",
    "00",
)


async def test_words_that_it_does_not_know_change_nothing_and_are_refused_as_elsewhere(world: World) -> None:
    before = await shown(world)
    for words in UNKNOWN:
        assert (await shown(world, words))[0].endswith("什么都没改；比如：.ai limit userday 50"), words
        assert await shown(world) == before, words


@pytest.mark.parametrize("group", ["", "家"])
async def test_others_are_refused_and_change_nothing(world: World, group: str) -> None:
    await world.say(".ai limit usermin 1", "阿明", group)
    assert "主人" in world.replies[-1]
    assert all(line.endswith("（按配置）") for line in await shown(world))


async def test_more_than_may_be_is_told(world: World) -> None:
    assert "最多能设 86400，就设成了这么多" in await shown(world, "cooldown 999999")
    assert not any("最多" in line for line in await shown(world, "cooldown 86400"))
