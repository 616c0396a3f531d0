"""A talk under way hears of it when somebody wants to be addressed otherwise; its opening is frozen."""

import pytest

from bot.core.events import Incoming
from tests.peek import Like
from tests.world import World

GROUP = "闲聊"


@pytest.mark.parametrize(
    ("first", "said", "event"),
    [
        ("今天天气真好呀", "叫我老王", '<e t="address" n="小王" d="叫TA「老王」"/>'),
        ("今天天氣真好，我們聊聊吧", "別叫我小王", '<e t="address" n="小王" d="別叫TA「小王」"/>'),
        ("What a lovely day, is it not?", "Call me Rex", '<e t="address" n="小王" d="call them \'Rex\'"/>'),
    ],
)
async def test_the_next_delta_tells_it(world: World, first: str, said: str, event: str) -> None:
    await world.say(first)
    opened = world.turns[-1][:2]
    await world.say(said)
    await world.say(first + " :)")
    assert event in world.last_user
    assert world.turns[-1][:2] == opened  # the same log goes on
    await world.say(first + " ;)")
    assert event not in world.last_user


async def test_it_is_told_where_it_holds_and_nowhere_else(world: World) -> None:
    await world.say("小暖，今天吃什么好", group=GROUP)
    await world.say("今天吃什么好呢")
    await world.say("叫我老王")
    await world.say("小暖，明天吃什么好", group=GROUP)
    assert "老王" not in world.last_user
    await world.say("明天吃什么好呢")
    assert "老王" in world.last_user


async def test_without_a_talk_under_way_the_opening_tells_it(world: World) -> None:
    await world.say("叫我老王")
    await world.say("今天吃什么好呢")
    assert 't="address"' not in world.last_user
    assert "老王" in world.last_user


async def test_it_goes_with_the_wish(world: World) -> None:
    await world.say("今天吃什么好呢")
    await world.say("叫我老王", external_id="m1")
    await world.say("明天吃什么好呢")
    assert "老王" in world.last_user
    said = world.message("")
    await world.app.ingest.accept(Incoming(said.place, said.sender, "event", "", "delete", "", target="m1"))
    await world.app.settled()
    asked = len(world.prompts)
    await world.say("后天吃什么好呢")
    assert "老王" not in "".join(each.content for prompt in world.prompts[asked:] for each in prompt)
    assert world.peek.events.count(text=Like("%老王%")) == 0


async def test_what_is_taken_back_and_brought_back_is_told(world: World) -> None:
    await world.say("今天吃什么好呢")
    await world.say("叫我老王")
    await world.say("撤销")
    asked = len(world.prompts)
    await world.say("明天吃什么好呢")
    assert "「老王」" not in "".join(each.content for prompt in world.prompts[asked:] for each in prompt)
    await world.say("撤销 #1")
    await world.say("后天吃什么好呢")
    assert '<e t="address" n="小王" d="叫TA「老王」"/>' in world.last_user


@pytest.mark.parametrize(
    ("said", "name", "other"),
    [("remember I'm afraid of dogs", "friend", "朋友"), ("记住我怕狗", "朋友", "friend")],
)
async def test_who_told_no_name_is_called_in_their_own_language(world: World, said: str, name: str, other: str) -> None:
    await world.say(said, "朋友")
    await world.say("/new", "朋友")
    await world.say(f"{said.removeprefix('remember ').removeprefix('记住')}, what should I do about it?", "朋友")
    opening = world.turns[-1][1].content
    assert name in opening
    assert other not in opening
