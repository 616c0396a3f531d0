"""撤销 takes back the last wish of any kind, a reminder too."""

import pytest

from tests.world import World


def open_reminders(world: World) -> list[object]:
    return [row[0] for row in world.rows("SELECT text FROM reminder WHERE ended_at IS NULL ORDER BY id")]


@pytest.mark.parametrize(
    ("wish", "undo", "said"),
    [("提醒我明天下午三点交房租", "撤销", "交房租"), ("remind me tomorrow at 3pm to pay rent", "undo", "pay rent")],
)
async def test_a_reminder_that_was_asked_for_last_is_taken_back(world: World, wish: str, undo: str, said: str) -> None:
    await world.say("记住我对花生过敏")
    await world.wait(60)
    await world.say(wish)
    assert open_reminders(world) == [said]
    await world.say(undo)
    assert said in world.replies[-1]
    assert open_reminders(world) == []
    assert len(world.rows("SELECT 1 FROM memory WHERE disabled_at IS NULL")) == 1


async def test_what_was_kept_after_it_goes_first(world: World) -> None:
    await world.say("提醒我明天下午三点交房租")
    await world.wait(60)
    await world.say("记住我对花生过敏")
    await world.say("撤销")
    assert len(open_reminders(world)) == 1
    assert world.rows("SELECT 1 FROM memory WHERE disabled_at IS NULL") == []


async def test_both_reminders_of_one_message_go_together(world: World) -> None:
    await world.say("提醒我明天上午九点交房租，后天上午九点取快递")
    assert len(open_reminders(world)) == 2
    await world.say("撤销")
    assert open_reminders(world) == []
