"""By whose clock a person's times are meant: `.ai tz`."""

import pytest

from tests.test_recall_kinds import recalls, result
from tests.world import World

HOUR = 3_600
DAY = 24 * HOUR


async def test_another_zone_moves_what_is_said_by_the_clock_and_says_so(world: World) -> None:
    await world.say("每天早上8点提醒我吃药")
    await world.say("下午三点提醒我开会")
    await world.say("两小时后提醒我关火")
    await world.say(".ai tz 東京")
    assert world.replies[3] == ("好，按 Asia/Tokyo 算，你那边现在 2026-06-12 10:00\n有 2 个提醒跟着改到了那边的时间")
    await world.wait(2 * HOUR)
    assert world.replies[4:] == ["提醒你：关火"]
    await world.wait(3 * HOUR)
    assert world.replies[5:] == ["提醒你：开会"]
    await world.wait(17 * HOUR)
    assert world.replies[6:] == ["提醒你：吃药"]
    await world.say("明天早上8点提醒我跑步")
    await world.wait(DAY)
    assert world.replies.count("提醒你：跑步") == 1


@pytest.mark.parametrize(
    ("said", "zone"),
    [
        ("上海", "Asia/Shanghai"),
        ("台北", "Asia/Taipei"),
        ("臺北", "Asia/Taipei"),
        ("London", "Europe/London"),
        ("new york", "America/New_York"),
        ("asia/tokyo", "Asia/Tokyo"),
        ("UTC+8", "Etc/GMT-8"),
    ],
)
async def test_zones_are_known_by_their_cities(world: World, said: str, zone: str) -> None:
    await world.say(f".ai tz {said}")
    assert world.peek.people("timezone") == [(zone,)]


async def test_an_unknown_zone_gets_the_nearest_name_and_changes_nothing(world: World) -> None:
    await world.say(".ai tz Londn")
    await world.say(".ai tz 火星")
    await world.say(".ai tz")
    assert world.replies == [
        "没有这个时区，是 Europe/London 吗？说 .ai tz Europe/London",
        "不认识“火星”，写城市（上海、台北、London）或时区（Asia/Tokyo）",
        "你没有设过时区，按这里的 Asia/Shanghai 算，\n现在 2026-06-12 09:00",
    ]


async def test_in_a_group_yesterday_is_that_of_the_installation_whoever_asks(world: World) -> None:
    await world.say(".ai tz Pacific/Honolulu", "阿明")
    await world.wait(11 * HOUR)
    await world.say("小暖，我去看了牙医", "阿明", "饭团")
    await world.wait(13 * HOUR)
    await world.say("/new", "阿明", "饭团")
    recalls(world, "昨天我做了什么")
    await world.say("小暖，昨天我做了什么", "阿明", "饭团")
    assert "看了牙医" in result(world)
