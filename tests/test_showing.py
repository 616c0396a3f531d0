"""Commands that only show: from what is stored, for whom it is meant, and nothing is changed or asked of a model."""

import pytest

from bot import __version__
from bot.core.events import Incoming, Sender
from tests.conftest import NewWorld
from tests.fakes.model import calls, says
from tests.world import World

GROUP = "闲聊"
SHOWING = (
    "",
    "info",
    "memory",
    "memstats",
    "feedback",
    "feedback recent",
    "refs",
    "refs stats",
    "calls",
    "tools",
    "trace",
    "introspect",
    "personality",
    "why",
    "persona",
)
CHANGED = (
    "memory",
    "turn",
    "call",
    "feedback",
    "turn_memory",
    "session",
    "epoch",
    "conversation_window",
    "person",
    "chat",
)


async def react(world: World, emoji: str, who: str, group: str = "") -> None:
    """Somebody reacts to nuan's newest reply there."""
    said = world.message("", who, group)
    target = world.rows("SELECT external_id FROM sent WHERE turn_id IS NOT NULL ORDER BY turn_id DESC LIMIT 1")[0][0]
    account = said.sender.external_id if said.sender else ""
    event = Incoming(said.place, Sender("console", account, who), "event", emoji, "reaction", target=str(target))
    await world.app.ingest.accept(event)
    await world.app.settled()


async def ask(world: World, command: str, who: str = "小王", group: str = "") -> str:
    """The answer to a command, which no model had a hand in; in a group only its asker sees it, but for some."""
    before, requests = len(world.talk.said), len(world.model.requests)
    await world.say(f".ai {command}".strip(), who, group)
    (answer,) = world.talk.said[before:]
    assert len(world.model.requests) == requests
    shared = command.split(" ", maxsplit=1)[0] in ("", "info", "tools", "why", "persona")
    refused = answer.text == "这个只有主人能做哦"
    assert bool(answer.only_for) == (bool(group) and not shared and not refused) or refused
    return answer.text


def stored(world: World) -> list[list[tuple[object, ...]]]:
    return [world.rows(f"SELECT * FROM {table}") for table in CHANGED]


async def talked(world: World) -> None:
    """Three turns: the first is told a memory by its opening and liked, the third recalls it."""
    world.model.script = lambda request: says("别怕，我陪你走", prompt_tokens=1000)
    await world.say("记住我怕狗")
    await world.say("今天想出去走走，有什么好地方吗")
    await react(world, "👍", "小王")
    await world.say("谢谢你")
    world.model.script = lambda request: (
        "你怕狗呀" if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "怕"}'))
    )
    await world.say("我怕什么来着")


async def test_looks_in_private(world: World) -> None:
    for command in SHOWING:  # before anything was said
        assert "{" not in await ask(world, command)
    await talked(world)
    before = stored(world)

    assert await ask(world, "") == await ask(world, "info")
    told = (await ask(world, "info")).splitlines()
    assert told[0] == f"我是小暖（nuan {__version__}），人设 default"
    assert told[2:4] == ["第 1 段对话，2026-06-12 09:00 开始，答了 3 次", "今天在这里答了 3 次"]

    assert await ask(world, "feedback") == "你对我在这里的回答表示过 2 次：谢谢 1, 👍 1\n说好 2，说不好 0，平均 +1.40"
    recent = await ask(world, "feedback recent")
    assert [line.split(" ", 2)[2] for line in recent.splitlines()] == ["谢谢：别怕，我陪你走", "👍：别怕，我陪你走"]
    refs = (await ask(world, "refs recent")).splitlines()
    assert refs[0].endswith("第 1 段第 3 轮 · 想起 #1 我怕狗")
    assert refs[-1].endswith("第 1 段第 1 轮 · 开场 #1 我怕狗")
    assert await ask(world, "refs stats") == (
        "90 天里，我在这里的 3 次回答有 2 次带着你的记忆：\n想起 1 次，开场带上 1 次，一共 1 条"
    )
    assert (
        await ask(world, "memstats")
        == f"{await ask(world, 'mem stats')}\n所有聊天：在用 1，归档 0，忘了等着删 0，一共 1"
    )
    assert await ask(world, "memory") == await ask(world, "mem")
    assert (await ask(world, "calls recent 2")).count("→") == 2
    tools = {tool.name for tool in world.model.requests[-1].prompt.tools}
    assert {line.split(" — ")[0] for line in (await ask(world, "tools")).splitlines()[1:]} == tools
    trace = (await ask(world, "trace")).splitlines()
    assert trace[0] == "第 1 段对话的第 3 次回答，2026-06-12 09:00"
    assert "小王" in trace[1]
    assert sum(line.startswith(("回答，", "用工具，")) for line in trace) == 2
    assert [line for line in trace if line.startswith("用到记忆 ")] == ["用到记忆 memory_recall（27 个 token）"]
    assert "怕狗" not in "\n".join(trace)
    looked = (await ask(world, "introspect")).splitlines()
    assert looked[:2] == ["最近 7 天在这里：答了 3 次（自己开口 0 次），", "没答成 0 次，听了没接 0 句"]
    assert looked[2:4] == ["反馈 2 次：谢谢 1, 👍 1；说好 2，说不好 0，平均 +1.40", "3 次回答里有 2 次带着记忆"]
    persona = await ask(world, "personality")
    assert "不说教，不讨好" in persona
    assert "从 2026-06-12 起" in persona
    assert stored(world) == before  # the looks changed nothing

    await world.say("忘记我怕狗")
    for command in SHOWING:
        assert "怕狗" not in await ask(world, command)
    assert await ask(world, "refs") == "我在这里的回答还没有用到你的记忆"


async def test_a_group_sees_nothing_personal_and_everyone_only_their_own(world: World) -> None:
    world.model.script = lambda request: "青鸟听见了"
    await world.say("记住我的密码是蓝鲸")  # in private
    await world.say("今天过得怎么样，聊聊吧")
    await react(world, "👎", "小王")
    await world.say("小暖，今天吃什么好呢", "阿明", GROUP)
    await react(world, "👍", "阿明", GROUP)
    for who in ("小王", "阿明", "阿红"):
        for command in SHOWING:
            told = await ask(world, command, who, GROUP)
            assert "蓝鲸" not in told
            assert "👎 1" not in told
            assert ("👍 1" in told) == (
                (who == "阿明" and command == "feedback") or (who, command) == ("小王", "introspect")
            )
            assert ("青鸟" in told) <= (who == "阿明" and command == "feedback recent")
    for command in ("trace", "introspect", "personality", "calls"):
        assert await ask(world, command, "阿明", GROUP) == "这个只有主人能做哦"
    assert await ask(world, "calls", "阿明") == "这个只有主人能做哦"
    assert "所有聊天" not in await ask(world, "memstats", "阿明")
    assert "还没对我" in await ask(world, "feedback", "阿明")  # those were in the group
    assert await ask(world, "trace", "阿明") == "我在这里还没有答过"


async def test_who_was_only_greeted_has_talked_with_this_persona(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    await world.say("你好")
    assert world.peek.epochs("mode") == [("light",)]
    assert "从 2026-06-12 起" in await ask(world, "personality")


async def test_off_and_light_are_told(world: World) -> None:
    await world.say(".ai off")
    assert "发 .ai on 叫醒我" in await ask(world, "info")
    await world.say(".ai persona terse")
    assert "人设 terse" in await ask(world, "info")
    assert (await ask(world, "personality")).splitlines()[1].startswith("话少，冷面")


@pytest.mark.parametrize(
    ("before", "soul"), [("what I said", "Like a friend"), ("我說的話", "像認識多年"), ("我说的话", "像认识多年")]
)
async def test_a_persona_is_told_in_the_script_of_who_asks(world: World, before: str, soul: str) -> None:
    await world.say(before)
    assert (await ask(world, "personality")).splitlines()[1].startswith(soul)


@pytest.mark.parametrize(("before", "line"), [("what I said", "Conversation 1 since"), ("我說的話", "第 1 段對話")])
async def test_looks_speak_the_persons_script(world: World, before: str, line: str) -> None:
    await world.say(before)
    assert line in await ask(world, "info")
    for command in SHOWING:
        told = await ask(world, command)
        assert [word for word in ("记忆", "这里", "还没") if word in told] == []


async def test_refs_are_of_this_chat_and_of_ones_own_memories(world: World) -> None:
    await world.say("小暖，记住我喜欢绿茶", "阿明", GROUP)
    await world.say(".ai mem share #1", "阿明", GROUP)
    await world.say("小暖，绿茶怎么泡好喝呢", "阿明", GROUP)
    await world.say("绿茶好喝吗", "阿明")
    assert world.rows("SELECT visibility, count(*) FROM turn_memory JOIN memory ON memory.id = memory_id") == [
        ("public", 2)
    ]
    for group in (GROUP, ""):  # each chat tells of its own reply
        assert await ask(world, "refs", "阿明", group) == "06-12 09:00 第 1 段第 1 轮 · 开场 #1 我喜欢绿茶"
        assert "1 次回答有 1 次带着你的记忆" in await ask(world, "refs stats", "阿明", group)
    assert await ask(world, "refs", "小王", GROUP) == "我在这里的回答还没有用到你的记忆"
    assert "1 次回答有 0 次带着你的记忆" in await ask(world, "refs stats", "小王", GROUP)
