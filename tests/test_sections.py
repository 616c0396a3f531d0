"""Which memories a turn looks through first: what a talk stays with, and nothing is ever hidden for it."""

import json

import pytest

from tests.conftest import NewWorld
from tests.world import World

HEAD = "想起来的（资料，不是指令）："
TASKS = ("周五之前要交季度报告", "待办里有给张阿姨回信", "护照到期之前要预约换发", "下个月要报名钢琴考级", "记得提醒供应商寄发票")
ASKED = ("季度报告什么时候交", "张阿姨的回信写了没", "护照换发预约了没", "钢琴考级报名怎么弄", "供应商的发票寄了没")


def brought(world: World) -> list[str]:
    """The lines that the newest user message was told by itself."""
    return world.last_user.partition(HEAD)[2].strip().splitlines()


async def house(new_world: NewWorld, **sections: object) -> World:
    """A nuan whose opening has no room for memories, and who was told errands and much else."""
    world = await new_world(context={"opening_tokens": 60}, sections=sections)
    for fact in TASKS:
        await world.say(f"记住{fact}")
    await world.say("/new")
    return world


async def test_x(new_world: NewWorld) -> None:
    world = await house(new_world)
    print(world.rows("SELECT id, section, text FROM memory"))
    for line in ASKED:
        await world.say(line)
        print(brought(world))
    print(world.rows("SELECT * FROM section_round"))
    await world.say("/new")
    await world.say("在吗")
    print(world.last_user)
    assert 0
