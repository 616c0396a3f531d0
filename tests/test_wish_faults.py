"""Wishes that went wrong once: 撤销 after what cannot be undone, two facts in one wish, long ones, names kept twice."""

import json

import pytest

from tests.conftest import NewWorld
from tests.fakes.model import calls, says
from tests.peek import In, Like
from tests.test_bare_wishes import kept
from tests.world import World

NO_MODEL = {"tools": False}


@pytest.mark.parametrize("wish", ["彻底忘记 #2", "忘掉关于小凯的一切"])
async def test_undo_after_what_is_gone_for_good_takes_no_older_wish_back(world: World, wish: str) -> None:
    await world.say("记住我怕狗")
    await world.wait(1)
    await world.say("记住我喜欢茶" if "#" in wish else "小凯欠我三百块，他在顺丰开货车")
    await world.wait(1)
    await world.say(wish)
    await world.wait(1)
    await world.say("撤销")
    assert world.replies[-1].startswith("刚才那次忘记是彻底的")
    assert kept(world) == ["我怕狗"]
    await world.say("撤销 #1")
    assert kept(world) == []


async def test_what_is_kept_after_that_can_be_undone(world: World) -> None:
    for line in ("记住我怕狗", "彻底忘记 #1", "记住我喜欢茶", "撤销"):
        await world.say(line)
        await world.wait(1)
    assert "我喜欢茶" in world.replies[-1]
    assert kept(world) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("记住我怕狗，另外我下周去东京", ["我怕狗", "我下周去东京"]),
        ("记住我对花生过敏，另外周五要交报告", ["我对花生过敏，另外周五要交报告"]),
    ],
)
async def test_a_second_fact_after_besides_is_kept_as_well(new_world: NewWorld, text: str, facts: list[str]) -> None:
    world = await new_world(prompt=NO_MODEL)
    await world.say(text)
    assert kept(world) == facts


@pytest.mark.parametrize("fact", ["周六早上七点半香山地铁站A口集合", "小李欠我四十块"])
async def test_a_meeting_and_a_debt_are_kept_without_a_question(new_world: NewWorld, fact: str) -> None:
    world = await new_world(prompt=NO_MODEL)
    await world.say(f"小暖，记住{fact}", group="爬山")
    assert kept(world) == [fact]


async def test_a_receipt_quotes_in_a_few_words_and_its_log_does_not(world: World) -> None:
    await world.say("记住我对花生过敏，一点都不能吃，上次吃了半颗就进了医院，住了两天")
    assert world.replies[-1].startswith("记住啦 #1：我对花生过敏")
    assert len(world.replies[-1]) < 50
    assert world.peek.events("text", kind="bot") == [("记住啦 #1",)]


@pytest.mark.parametrize(("text", "answer"), [("please hold on to this one thing: my cat is Tom", "Kept as #1")])
async def test_what_a_tool_answers_is_in_the_language_of_the_message(world: World, text: str, answer: str) -> None:
    for line in ("早上好呀", "今天好冷"):
        await world.say(line)
    arguments = json.dumps({"text": "my cat is Tom"})
    world.model.script = lambda request: (
        says("ok") if request.prompt.messages[-1].role == "tool" else calls(("remember", arguments))
    )
    await world.say(text)
    tools = [message.content for message in world.turns[-1] if message.role == "tool"]
    assert tools[-1].startswith(answer), tools


@pytest.mark.parametrize("body", ["x" * 10_000, "今天我们去爬山。" * 1_250, "这是一段很长的话，" * 1_111])
async def test_ten_thousand_characters_are_answered_and_kept_shortened(new_world: NewWorld, body: str) -> None:
    world = await new_world(prompt=NO_MODEL)
    await world.say(f"记住{body}")
    assert world.model.requests == []
    assert world.replies[-1].startswith(("记住啦 #1", "要我记住"))
    if not kept(world):
        await world.say("要")
    assert [text for text in kept(world) if text in body] != []


@pytest.mark.parametrize("wish", ["那个不用再記了", "这个别再记了"])
async def test_no_longer_is_of_what_was_kept_just_now(world: World, wish: str) -> None:
    await world.say("记住我对花生过敏")
    await world.say("哈哈哈")
    await world.say(wish)
    assert kept(world) == []
    assert "忘掉了 #1" in world.replies[-1]
    await world.say("撤销")
    assert kept(world) == ["我对花生过敏"]


async def test_a_name_that_is_given_is_kept_once(world: World) -> None:
    await world.say("我叫小陈")
    await world.say("/new")
    await world.wait(3_600)
    assert world.peek.memories("text", text=Like("%小陈%"), slot=In("address", "name")) == [("小陈",)]


async def test_a_digest_knows_how_they_asked_to_be_called(world: World) -> None:
    world.model.digests = True
    await world.say("以后叫我阿宁")
    await world.say("我今天去看了牙医，下周三还要再去一次，好烦")
    await world.say("/new")
    await world.wait(3_600)
    asked = [request.prompt.messages[-1].content for request in world.model.requests if not request.prompt.tools]
    assert any("known:\ncalled 阿宁" in text for text in asked), asked


async def test_praise_of_a_memory_is_no_cue(new_world: NewWorld) -> None:
    world = await new_world(prompt=NO_MODEL)
    await world.say("你记性真好")
    assert world.replies == ["好的"]
