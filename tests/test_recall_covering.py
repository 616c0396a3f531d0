"""A short list answers all that was asked: no part of a question crowds out another."""

import json

from tests.fakes.model import calls
from tests.world import World


async def looked_up(world: World, query: str, most: int) -> list[str]:
    """The lines that the model gets for this question, without their head."""
    wish = {"query": query, "top_k": most, "kinds": ["identity", "knowledge", "event", "emotion"]}
    asked = ("memory_recall", json.dumps(wish, ensure_ascii=False))
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)
    await world.say("随便查查")
    return [message.content for message in world.prompts[-1] if message.role == "tool"][-1].splitlines()[1:]


async def told(world: World, *facts: str) -> None:
    for fact in facts:
        await world.say(f"记住{fact}")
    await world.say("/new")


HIKE = tuple(f"登山节的{what}" for what in ("时间是周五上午", "地点是青岛", "规模是二百人", "领队是老陈"))


async def test_of_two_questions_each_gets_its_line(world: World) -> None:
    await told(world, *HIKE, "外婆住在绍兴")
    found = await looked_up(world, "登山节的时间、地点和规模是什么？另外，外婆住哪儿？", 2)
    assert any("登山节" in line for line in found), found
    assert any("绍兴" in line for line in found), found


async def test_of_one_thing_all_is_found(world: World) -> None:
    await told(world, *HIKE, "外婆住在绍兴")
    found = await looked_up(world, "登山节怎么样？", 4)
    assert sum("登山节" in line for line in found) == 4, found


async def test_who_asks_for_all_of_a_kind_gets_all_before_what_is_beside(world: World) -> None:
    fair = ("机器人展", "书展", "车展", "茶博会")
    await told(world, *(f"今年我去青岛看了{what}" for what in fair), "青岛啤酒是外婆爱喝的", "今年外婆八十岁了")
    found = await looked_up(world, "今年我去青岛看了哪些展？", 4)
    assert sum("看了" in line for line in found) == 4, found
