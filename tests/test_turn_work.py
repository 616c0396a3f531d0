"""How often a turn asks the database: exact bounds, which only a change that says so may raise."""

from pathlib import Path

import pytest

from tests.metering import EXACT, Meter
from tests.world import World


async def warm(folder: Path) -> tuple[World, Meter]:
    """A nuan whose every connection is counted, some messages into a talk."""
    meter, world = Meter(EXACT), World(folder)
    with meter.watching():
        await world.open()
    for number in range(6):
        await world.say(f"今天下班路上看到一只橘猫，第{number}次了")
        await world.wait(10)
    meter.start()
    return world, meter


@pytest.mark.parametrize(
    ("text", "looks", "statements"),
    [("我想去爬山，你觉得要带什么？", 5, 105), ("明天我想去爬山，你觉得要带什么？", 8, 113), ("哈哈", 5, 122)],
)
async def test_a_message_takes_so_many_statements_and_transactions(
    tmp_path: Path, text: str, looks: int, statements: int
) -> None:
    world, meter = await warm(tmp_path)
    await world.say(text)
    assert world.replies[-1] == "好的"
    # Stored, asked, said, sent; and what waits, the log, memory, the line of the log, the next deadline; where a day ahead
    # is named also what is on it: memories, promises, reminders.
    assert (meter.transactions, meter.looks) == (4, looks)
    assert meter.asked <= statements, meter.asked
    await world.close()


async def test_what_is_only_heard_is_one_transaction(tmp_path: Path) -> None:
    world, meter = await warm(tmp_path)
    await world.say("今天天气真好", "阿明", "闲聊")
    meter.start()
    await world.say("周末去哪里玩", "阿明", "闲聊")
    assert (meter.transactions, meter.looks) == (1, 0)
    assert meter.asked <= 27, meter.asked
    await world.close()
