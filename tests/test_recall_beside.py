"""What stands around a question: the person's last lines and the scene order what it finds, and find nothing alone."""

import json
from dataclasses import replace

import pytest

from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.world import World


def asks(world: World, **wish: object) -> None:
    """From now on the model looks something up and then says 嗯."""
    asked = ("memory_recall", json.dumps(wish, ensure_ascii=False))
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)


def found(world: World) -> list[str]:
    """The lines of the last result, without its head."""
    return [message.content for message in world.prompts[-1] if message.role == "tool"][-1].splitlines()[1:]


async def two_pets(world: World) -> None:
    """Two memories that a question for a name finds alike."""
    await world.say("记住我的仓鼠叫年糕")
    await world.say("记住我的鹦鹉叫汤圆")
    await world.say("/new")


@pytest.mark.parametrize(("pet", "name"), [("仓鼠", "年糕"), ("鹦鹉", "汤圆")])
async def test_what_was_just_said_decides_between_equals(world: World, pet: str, name: str) -> None:
    await two_pets(world)
    await world.say(f"今天{pet}好像不太舒服")
    asks(world, query="叫什么名字", kinds=["identity", "knowledge", "event", "emotion"])
    await world.say("你说该怎么办呢")
    assert name in found(world)[0]
    assert len(found(world)) == 2, "the other one is found as well"
    await world.wait(3_600)
    await world.say("你说该怎么办呢")
    assert "汤圆" in found(world)[0], "an hour later it is another talk: of equals the newer one comes first"


async def test_what_was_just_said_weighs_less_than_the_question(world: World) -> None:
    await two_pets(world)
    await world.say("我的仓鼠我的仓鼠，年糕年糕")
    asks(world, query="鹦鹉", kinds=["identity", "knowledge", "event", "emotion"])
    await world.say("另一只呢")
    assert "汤圆" in found(world)[0]


async def test_what_was_just_said_finds_nothing_by_itself(world: World) -> None:
    await two_pets(world)
    await world.say("我的仓鼠好像不太舒服")
    asks(world, query="潜水艇")
    await world.say("随便查查")
    assert found(world) == []


@pytest.mark.parametrize(("pet", "name"), [("仓鼠", "年糕"), ("鹦鹉", "汤圆")])
async def test_the_scene_decides_between_equals(world: World, pet: str, name: str) -> None:
    await two_pets(world)
    asks(world, query="叫什么名字", kinds=["identity", "knowledge", "event", "emotion"])
    await world.app.ingest.accept(replace(world.message("你看看"), scene=f"阳台上，{pet}在笼子里"))
    await world.app.settled()
    assert name in found(world)[0]


async def test_lines_that_come_by_themselves_follow_what_was_just_said(new_world: NewWorld) -> None:
    world = await new_world(memory={"max": 1}, context={"opening_tokens": 100})
    for text in ("我的仓鼠吃葵花子当零食", "我的鹦鹉吃核桃仁当零食", *(f"我的第{n}本日记放在书架上" for n in range(9))):
        await world.say(f"记住{text}")
    await world.say("/new")
    for pet, what in (("仓鼠", "葵花子"), ("鹦鹉", "核桃仁")):
        await world.say(f"{pet}今天好像不太舒服")
        await world.say("/new")
        await world.say("零食吃什么呢？")
        assert what in world.last_user.partition("想起来的")[2]
        await world.say("/new")
        await world.wait(3_600)
