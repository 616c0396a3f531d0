"""What somebody asked to keep comes back when it fits, however old it is and however much talk fits better."""

import json

from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.sizes import sized
from tests.world import World

DAY = 86_400
FOOD = ("面包", "饼干", "早餐", "晚饭", "拌面")


def asks(world: World, query: str, **wish: object) -> None:
    """From now on the model looks something up and then says 嗯."""
    asked = ("memory_recall", json.dumps({"query": query, **wish}, ensure_ascii=False))
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)


def found(world: World) -> list[str]:
    """The lines of the last result, without its head."""
    return [message.content for message in world.prompts[-1] if message.role == "tool"][-1].splitlines()[1:]


async def chatter(world: World, lines: int) -> None:
    for number in range(lines):
        await world.say(f"花生酱第{number}种我也可以吃{FOOD[number % 5]}")
    await world.say("/new")


async def test_talk_never_crowds_out_what_was_kept(new_world: NewWorld) -> None:
    world = await new_world(memory={"inject": "tool"})
    for fact in ("我对花生过敏", "我可以开车", "我住在上海"):
        await world.say(f"记住{fact}")
    await world.wait(200 * DAY)
    await chatter(world, sized(200))
    asks(world, "我可以吃花生酱吗")
    await world.say("你查查看")
    assert len(found(world)) == 6
    assert "花生酱" in found(world)[0], "what fits best stays first"
    assert [line for line in found(world) if "我对花生过敏" in line and "#1" in line] == [found(world)[1]]
    assert not any("上海" in line for line in found(world))


async def test_what_was_kept_and_is_about_something_else_takes_no_place(new_world: NewWorld) -> None:
    world = await new_world(memory={"inject": "tool"})
    await world.say("记住我喜欢吃辣")
    await chatter(world, 12)
    asks(world, "我可以吃花生酱吗")
    await world.say("你查查看")
    assert len(found(world)) == 6
    assert not any("#1" in line for line in found(world))


async def test_no_cut_off_hides_what_was_kept_and_nothing_comes_unasked_for_it(new_world: NewWorld) -> None:
    world = await new_world(memory={"min_score": 0.95, "min_relevance": 0.9}, context={"opening_tokens": 80})
    await world.say("记住我对花生过敏")
    for number in range(8):
        await world.say(f"记住我的第{number}本日记放在了书架第{number}层的盒子里面")
    await world.say("/new")
    await world.wait(400 * DAY)
    await world.say("我到底对什么东西过敏来着？")
    assert "花生" not in world.last_user, "nobody asked for it"
    asks(world, "我对什么东西过敏", kinds=["identity", "knowledge"])
    await world.say("帮我查查")
    assert ["我对花生过敏" in line for line in found(world)][:1] == [True]
