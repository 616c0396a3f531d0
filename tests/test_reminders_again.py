"""What sets a reminder is handled once more when the disk or the program fails: it is set once, and said so."""

from tests.conftest import NewWorld
from tests.test_alarms import alter
from tests.world import World


async def test_the_answer_that_the_disk_refuses_is_heard_once_more(world: World) -> None:
    await world.say("提醒我开会")
    alter(world, "CREATE TRIGGER full BEFORE INSERT ON reminder BEGIN SELECT RAISE(ABORT, 'full'); END")
    await world.say("明天早上8点")
    alter(world, "DROP TRIGGER full")
    await world.wait(60)
    assert world.peek.reminders("text", ended_at=None) == [("开会",)]
    assert "开会" in world.replies[-1]
    assert world.model.requests == []


async def test_the_last_one_that_fits_is_confirmed_when_its_turn_begins_anew(new_world: NewWorld) -> None:
    world = await new_world(remind={"most_open": 1})
    faults = [RuntimeError("a defect")]
    world.model.script = lambda _: faults.pop() if faults else "好的"
    await world.say("明天早上8点提醒我开会。另外，你觉得猫好还是狗好？")
    await world.wait(60)
    assert [("开会" in reply, "先取消" in reply) for reply in world.replies] == [(True, False)]
    await world.say("明天早上9点提醒我吃药")
    assert "先取消" in world.replies[-1]
