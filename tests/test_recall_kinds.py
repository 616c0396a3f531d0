"""What comes back besides memories: summaries of talks, and lines of the transcript, each to its own audience."""

import json
import re
from dataclasses import replace

from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.world import World

GROUP = "闲聊"
STORY = "从前有一只海獭，它抱着小石头漂到了月亮湾，结尾是它把石头送给了鲸鱼"


def recalls(world: World, query: str) -> None:
    """From now on the model looks something up and then says 嗯."""
    asked = ("memory_recall", json.dumps({"query": query}, ensure_ascii=False))
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)


def result(world: World) -> str:
    """What the model was told last by a tool."""
    return [message.content for message in world.prompts[-1] if message.role == "tool"][-1]


async def told_a_story(world: World) -> None:
    """Last evening nuan told a story; since then that talk was closed and digested."""
    world.model.script = lambda request: STORY
    await world.wait(11 * 3_600)
    await world.say("给我讲个睡前故事吧")
    world.model.script = lambda request: "晚安"
    await world.say("谢谢，真好听，我要睡觉了")
    await world.wait(13 * 3_600)


async def test_last_nights_story_is_found_by_its_time_and_words(world: World) -> None:
    await told_a_story(world)
    recalls(world, "昨晚 海獭 故事 结尾")
    await world.say("昨晚那个故事，海獭最后怎么样了？")
    line = re.search(r"- (@[0-9]+) 小暖: 从前有一只海獭.*（上文已有）", result(world))
    assert line is not None, "a line is cited as the tool takes it, in short where the prompt shows it"
    assert any("鲸鱼" in message.content for message in world.prompts[-1])
    asked = ("memory_recall", json.dumps({"query": line[1]}))
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)
    await world.say("再看看前后都说了什么")
    assert "给我讲个睡前故事吧" in result(world)


async def test_a_summary_of_a_talk_is_found(new_world: NewWorld) -> None:
    world = await new_world(context={"opening_tokens": 40})
    await told_a_story(world)
    (summary,) = world.peek.digests("summary")[0]
    recalls(world, str(summary))
    await world.say("我们上次聊到哪了？")
    assert "那次聊天：" in result(world)


async def test_what_the_model_has_before_it_anyway_is_not_brought(world: World) -> None:
    await world.say("我的自行车是红色的")
    recalls(world, "自行车")
    await world.say("我的自行车是什么颜色？")
    assert "没有找到" in result(world)


async def test_lines_of_one_chat_do_not_come_back_in_another(world: World) -> None:
    await world.say("小暖，保险箱的密码是蓝鲸", "阿明", GROUP)
    await world.say("我的保险箱密码是海豚", "小红")
    await world.say("/new", "小红")
    for who, group, there in (("小刚", "", ""), ("小王", "别处", ""), ("小红", "", "海豚")):
        recalls(world, "保险箱 密码 蓝鲸 海豚")
        await world.say("小暖，找找看", who, group)
        assert [word for word in ("蓝鲸", "海豚") if word in result(world)] == ([there] if there else [])


async def test_what_a_person_said_in_a_group_is_found_in_their_own_chat_alone(world: World) -> None:
    await world.say("小暖，周日爬山我带炉子和瓦斯", "阿明", GROUP)
    await world.say("爬山我带水果", "小红", GROUP)
    for who, group, there in (("阿明", "", "炉子"), ("阿明", "别处", ""), ("小红", "", "水果"), ("小刚", "", "")):
        recalls(world, "爬山 带")
        await world.say("小暖，找找看", who, group)
        assert [word for word in ("炉子", "水果") if word in result(world)] == ([there] if there else [])
        assert ("在群「" in result(world)) == bool(there)


async def test_a_deleted_line_comes_back_no_more_and_an_edited_one_as_it_is(world: World) -> None:
    await world.say("我的船叫海鸥号", external_id="a")
    await world.say("我的车牌是七七九", external_id="b")
    for label, target, text in (("delete", "a", ""), ("edit", "b", "我的车牌是八八零")):
        change = replace(world.message(text, delivery_key=label), kind="event", label=label, target=target)
        await world.app.ingest.accept(change)
        await world.app.settled()
    await world.say("/new")
    recalls(world, "船 叫 海鸥 车牌 七七九")
    await world.say("查一下")
    assert [word for word in ("海鸥", "七七九", "八八零") if word in result(world)] == ["八八零"]
