"""Reminders where the world is not as it was: clocks that were ahead, rows that are damaged, zones nobody knows."""

import pytest

from tests.storing import holding
from tests.world import World

HOUR, DAY = 3_600, 86_400
SECRET = "紫藤7719"


async def change(world: World, sql: str, *values: object) -> None:
    """What an older or broken program may have left."""
    await world.store._database.write(lambda db: db.execute(sql, values).rowcount)


async def test_what_was_said_by_a_clock_that_was_ahead_does_not_wait_for_it(world: World) -> None:
    await world.say("每天晚上10点提醒我睡觉")
    await world.close()
    world.away(400 * DAY)
    await world.open()
    assert len(world.replies) == 2
    await world.close()
    world.away(-400 * DAY)
    await world.open()
    await world.wait(3 * DAY)
    assert world.replies[2:] == ["提醒你：睡觉"] * 3


async def test_a_clock_that_goes_back_a_little_says_nothing_twice(world: World) -> None:
    await world.say("每天上午10点提醒我喝水")
    await world.wait(2 * HOUR)
    await world.close()
    world.away(-1.5 * HOUR)
    await world.open()
    await world.wait(HOUR)
    assert world.replies[1:] == ["提醒你：喝水"]


async def test_a_damaged_rule_keeps_nobody_else_from_being_reminded(world: World) -> None:
    await world.say("每天上午10点提醒我睡觉")
    await world.say("下午3点提醒我喝水", "阿明")
    await change(world, "UPDATE reminder SET rule = '0 99 * * *' WHERE id = 1")
    await world.wait(8 * HOUR)
    assert world.replies[2:] == ["提醒你：睡觉", "提醒你：喝水"]
    assert world.log.named("reminder_damaged") == [{"reminder": 1}]
    assert world.log.named("queue_failed") == []


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "A" * 300])
async def test_a_stored_zone_that_this_machine_does_not_know_is_the_installations(world: World, zone: str) -> None:
    await world.say("早上好")
    await change(world, "UPDATE person SET timezone = ?", zone)
    for text in ("我明天把报告发给你", "昨天我们说了什么", "明天早上8点提醒我开会"):
        await world.say(text)
    assert world.replies == ["好的", "好的", "好的", "好，周六（6月13日）早上8:00提醒你：开会 ⏰2"]
    await world.wait(DAY)
    assert world.replies[4:] == ["提醒你：开会", "你说过今天要：把报告发给我"]


async def test_what_a_command_set_is_forgotten_with_its_line(world: World) -> None:
    await world.say(f".ai remind 两小时后 去{SECRET}拿药")
    await world.wait(3 * HOUR)
    await world.say(f"记住我要去{SECRET}拿药")
    await world.say("彻底忘记 #1")
    assert holding(world.folder, SECRET) == []
