"""What somebody said in a group, in their own chat: known there, marked with the group, and nobody else's."""

import json

from bot.text.length import estimate_tokens
from tests.conftest import NewWorld
from tests.fakes.model import calls, says
from tests.living import FILL, digested
from tests.test_recall_kinds import recalls, result
from tests.world import World

DAY = 86_400
CHECK_UP = {"kind": "event", "text": "小王6月17日体检", "when": "2026-06-17", "from": [1]}
MOVING = {"title": "帮阿明搬家", "when": "2026-06-16", "from": [1], "to": "阿明"}
SAID = "小暖，我下周三去体检，周二我要帮阿明搬家"


async def in_group(world: World, **answer: object) -> None:
    """小王 says it in the group 家 on Friday 2026-06-12, and a model digests that talk; two days go by."""
    world.model.digests = True
    text = json.dumps({"summary": "聊天", **answer}, ensure_ascii=False)
    world.model.script = lambda request: "嗯" if request.prompt.tools else text
    await world.say(f"{SAID}。{FILL}", "小王", "家")
    await world.say("小暖，/new", "小王", "家")
    await world.wait(2 * DAY)


def opening(world: World) -> list[str]:
    return world.turns[-1][1].content.splitlines()


def about(world: World, word: str) -> list[str]:
    return [line for line in opening(world) if line.startswith("-") and word in line]


async def test_it_comes_up_in_the_own_chat_with_the_group_and_nowhere_else(world: World) -> None:
    await in_group(world, statements=[CHECK_UP], promises=[MOVING])
    await world.say("你好呀", "小王")
    [check], [moving] = about(world, "体检"), about(world, "搬家")
    assert [each in check for each in ("在群「家」里", "6月17日周三，3天后")] == [True] * 2
    assert [each in moving for each in ("小王在群「家」里", "6月16日周二，2天后")] == [True] * 2
    await world.say("你好呀", "阿明")
    await world.say("小暖，你好呀", "小王", "别处")
    await world.say("小暖，你好呀", "阿明", "别处")
    for turn in world.turns[-3:]:
        told = turn[1].content
        assert not [word for word in ("体检", "搬家", "家」里") if word in told]


async def test_light_talk_names_the_group_of_what_is_today(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    await in_group(world, statements=[CHECK_UP])
    await world.wait(3 * DAY)
    await world.say("早", "小王")
    assert "【今天】在群「家」里：小王6月17日体检" in world.last_user


async def test_recall_by_words_and_by_number_brings_the_memory_with_its_day_and_the_group(world: World) -> None:
    await in_group(world, statements=[CHECK_UP])
    await world.say("你好呀", "小王")
    await world.say("/new", "小王")
    recalls(world, "体检")
    await world.say("哪天来着", "小王")
    assert "#1 " in result(world)
    assert "6月17日" in result(world)
    world.model.script = lambda request: (
        says("好") if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "#1"}'))
    )
    await world.say("细说", "小王")
    assert "小王在群「家」里：小王6月17日体检" in world.turns[-1][-1].content
    await world.say("细说", "阿明")
    assert "体检" not in world.turns[-1][-1].content


async def test_a_change_told_in_private_stays_private(world: World) -> None:
    await in_group(world, statements=[CHECK_UP])
    wish = ("remember", json.dumps({"id": 1, "text": "体检改到6月18日"}, ensure_ascii=False))
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(wish)
    await world.say("体检改到6月18日了", "小王")
    world.model.script = lambda request: "好"
    await world.say("/new", "小王")
    await world.say("你好呀", "小王")
    assert about(world, "体检")[0] == "- #2 小王：体检改到6月18日（6月18日周四，4天后）"
    assert about(world, "6月17日") == []
    await world.say("小暖，你好呀", "小王", "家")
    assert about(world, "18日") == []


async def test_what_is_forgotten_in_the_group_is_gone_from_the_own_chat(world: World) -> None:
    await in_group(world, statements=[CHECK_UP])
    await world.say("你好呀", "小王")
    await world.say("小暖，忘记 #1", "小王", "家")
    await world.say("在吗在吗", "小王")
    assert "体检" not in "".join(message.content for message in world.turns[-1])


async def test_how_they_are_called_in_a_group_stays_there(world: World) -> None:
    await world.say("小暖，以后叫我老大", "小王", "家")
    await world.say("你好呀", "小王")
    assert "老大" not in world.turns[-1][1].content


async def test_the_newer_of_two_values_is_told_wherever_it_was_said(world: World) -> None:
    home = {"kind": "knowledge", "slot": "home", "from": [1], "lasting": True}
    world.model.digests = True
    for place, text in (("", "我住在苏州"), ("家", "我搬到杭州了")):
        answer = json.dumps({"summary": "聊天", "statements": [{**home, "text": text}]}, ensure_ascii=False)
        digested(world, answer)
        await world.say(f"{'小暖，' if place else ''}{text}。{FILL}", "小王", place)
        await world.say("小暖，/new" if place else "/new", "小王", place)
        await world.wait(DAY)
    await world.say("你好呀", "小王")
    known = [line for line in opening(world) if line.startswith("- 小王") and "住在苏州" in line]
    assert known == []
    assert "小王在群「家」里：我搬到杭州了" in world.turns[-1][1].content
    assert estimate_tokens("\n".join(opening(world))) <= 600


async def test_a_reminder_comes_up_with_its_day_and_hour_once(world: World) -> None:
    await world.say("提醒我6月15日上午九点交房租")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("你好呀")
    assert about(world, "房租") == ["- ⏰1 小王：提醒：交房租（6月15日周一 09:00，2天后）"]
    assert "初识" not in world.turns[-1][1].content
    await world.say("小暖，在吗", "小王", "家")
    assert "房租" not in world.turns[-1][1].content


async def test_a_reminder_of_what_is_told_already_only_adds_its_hour(world: World) -> None:
    await world.say("记住我6月15日交房租")
    await world.say("提醒我6月15日上午九点交房租")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("你好呀")
    [told] = about(world, "房租")
    assert [each in told for each in ("#1", "09:00提醒", "6月15日周一，2天后")] == [True] * 3


async def test_a_reminder_that_is_forgotten_goes_with_the_log_that_told_it(world: World) -> None:
    await world.say("6月15日早上8点提醒我带上紫藤钥匙")
    await world.say("/new")
    await world.wait(DAY)
    await world.say("你好呀")
    assert about(world, "紫藤")
    await world.say("忘记紫藤钥匙")
    await world.say("在吗在吗")
    assert "紫藤" not in "".join(message.content for message in world.turns[-1])


async def test_who_got_an_answer_to_a_command_yesterday_is_not_new(world: World) -> None:
    await world.say(".ai help")
    await world.wait(DAY)
    await world.say("你好呀")
    assert "初识" not in world.turns[-1][1].content
    await world.say("你好呀", "阿明")
    assert "初识" in world.turns[-1][1].content
