"""What writing first knows of days: how long the person was silent, what she wrote meanwhile, and days that matter."""

import pytest

from tests.beating import DAY_S, FIRST, HOUR_S, ON, firsts, writes
from tests.conftest import NewWorld
from tests.fakes.model import calls, says
from tests.world import World


def told(world: World) -> list[str]:
    """What each first message was asked for with, without the words for it."""
    return [request.prompt.messages[-1].content for request in firsts(world)]


@pytest.mark.parametrize("text", ["我回来了，跟你说件事", "早"])
async def test_the_pause_is_since_the_person_wrote_and_her_message_is_shown(new_world: NewWorld, text: str) -> None:
    world = await new_world(heartbeat=ON, prompt={"light": "auto"})
    writes(world, "这几天降温，多穿点")
    await world.say("周末去爬山，你觉得哪座山好")
    await world.wait(8 * DAY_S)
    assert world.replies[1:] == ["这几天降温，多穿点"] * 2
    await world.say(text)
    assert "隔了八天" in world.last_user
    assert world.last_user.count("<b>这几天降温，多穿点</b>") == 2
    await world.say("再跟你说件正事，帮我想想下周的安排")
    full = "\n".join(message.content for message in world.prompts[-1])
    assert full.count("<b>这几天降温，多穿点</b>") == 2, "also in the log that takes over from a light one"
    await world.wait(3 * HOUR_S)
    await world.say("还有一件正事，帮我想想明年的安排")
    assert "这几天降温" not in world.last_user.partition("<ctx")[0]


async def test_her_second_message_knows_of_her_first(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 48})
    writes(world)
    await world.say("周末去爬山，你觉得哪座山好")
    await world.wait(5 * DAY_S)
    assert "已经安静了 4d" in told(world)[1]
    assert f"<b>{FIRST}</b>" in told(world)[1]
    assert "隔了四天" in told(world)[1]


async def test_what_was_cleared_is_not_shown_again(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("周末去爬山，你觉得哪座山好")
    await world.wait(3 * DAY_S)
    await world.say(".ai clear")
    await world.say("我回来了")
    assert FIRST not in world.last_user


async def test_each_skip_waits_twice_as_long_until_the_person_writes(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world, "skip")
    await world.say("周末去爬山，你觉得哪座山好")
    counts = []
    for _ in range(21):
        await world.wait(DAY_S)
        counts.append(len(firsts(world)))
    assert [day for day, (n, m) in enumerate(zip([0, *counts], counts, strict=False), 1) if m > n] == [1, 3, 7, 14, 21]
    await world.restart()
    await world.say("我回来了")
    await world.wait(DAY_S)
    assert len(firsts(world)) == 6


def promises(world: World, when: str, then: str) -> None:
    """The model notes a promise of the first message, and has nothing or something to say when it may write first."""

    def script(request: object) -> object:
        messages = request.prompt.messages  # type: ignore[attr-defined]
        if '<e t="heartbeat"' in messages[-1].content:
            return then
        if messages[-1].role == "user" and when in messages[-1].content:
            return calls(("remember", '{"kind": "promise", "text": "' + when + '"}'))
        return says("好的")

    world.model.script = script  # type: ignore[assignment]


async def test_the_day_of_something_promised_is_looked_at(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 168}, remind={"commitments": False})
    promises(world, "下周三我要去面试", "面试加油！")
    await world.say("下周三我要去面试")
    await world.wait(5 * DAY_S + HOUR_S - 1)
    assert firsts(world) == []
    await world.wait(1)
    assert world.replies[-1] == "面试加油！", "Wednesday, 10:00"
    await world.wait(DAY_S)
    assert len(firsts(world)) == 1


async def test_a_memory_of_a_day_to_come_is_looked_at_once(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world, "skip")
    await world.say("周末去爬山，你觉得哪座山好")
    await world.say("记住我怕狗")
    dated = f"UPDATE memory SET observed_at = created_at + {10 * DAY_S * 1000}"
    await world.store._database.write(lambda db: db.execute(dated).rowcount)
    await world.wait(9 * DAY_S)
    before = len(firsts(world))
    assert before == 3, "after 1, 3 and 7 days"
    await world.wait(DAY_S + HOUR_S - 1)
    assert len(firsts(world)) == before
    await world.wait(1)
    assert len(firsts(world)) == before + 1, "on the day, at 10:00, though it would wait for four days more"
    await world.wait(6 * DAY_S)
    assert len(firsts(world)) == before + 1


@pytest.mark.parametrize("change", ["", ", former_at = 1", ", dated = 'year'", ", owner_id = NULL"])
async def test_a_birthday_is_looked_at_whatever_year_it_was_told_of(new_world: NewWorld, change: str) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 168})
    writes(world, "生日快乐！")
    await world.say("周末去爬山，你觉得哪座山好")
    await world.say("记住我的生日是6月17日")
    kind = "event" if "dated" in change else "anniversary"
    years = 5 * DAY_S * 1000 if kind == "event" else -(36 * 365 + 9 - 5) * DAY_S * 1000
    dated = f"UPDATE memory SET kind = '{kind}', observed_at = said_at + {years}{change}"
    await world.store._database.write(lambda db: db.execute(dated).rowcount)
    await world.wait(5 * DAY_S + HOUR_S - 1)
    assert firsts(world) == []
    await world.wait(1)
    assert len(firsts(world)) == (not change), "Wednesday 17 June, 10:00"


async def test_what_is_dated_to_a_day_of_another_person_is_no_reason(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 168})
    writes(world, "skip")
    await world.say("周末去爬山，你觉得哪座山好")
    await world.say("记住我怕狗", "小李")
    dated = f"UPDATE memory SET observed_at = created_at + {3 * DAY_S * 1000}"
    await world.store._database.write(lambda db: db.execute(dated).rowcount)
    await world.wait(6 * DAY_S)
    assert firsts(world) == []


async def test_a_day_that_a_digest_learns_of_moves_a_deadline_that_stands(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 168})
    writes(world)
    await world.say("周末去爬山，你觉得哪座山好")
    await world.say("记住我怕狗")
    dated = f"UPDATE memory SET observed_at = created_at + {3 * DAY_S * 1000}"
    await world.store._database.write(lambda db: db.execute(dated).rowcount)
    await world.wait(3 * DAY_S + HOUR_S - 1)
    assert firsts(world) == []
    await world.wait(1)
    assert world.replies[-1] == FIRST
