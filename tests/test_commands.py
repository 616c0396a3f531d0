"""Dot-commands: what they show, who may use them, and that they never reach the model."""

import re

import pytest

from bot.commands.command import TOPICS
from bot.commands.registry import COMMANDS
from tests.fakes.model import calls, says
from tests.world import World

GROUP = "闲聊"


def parts(report: str) -> dict[str, str]:
    """The body of each part of a `.ai ctx` report by its title, without the number in brackets."""
    found = re.findall(r"(?m)^── (.+?) · (\d+) tok\n((?:(?!── |合计约|来自记忆).*\n?)*)", report)
    return {re.sub(r"[（(].*", "", title).strip(): body.rstrip("\n") for title, _, body in found}


async def shown_and_sent(world: World, text: str) -> None:
    """`.ai ctx TEXT` shows exactly the parts of the request that TEXT then makes."""
    await world.say(f".ai ctx full {text}")
    shown = parts(world.replies[-1])
    await world.say(text)
    sent = world.turns[-1]
    assert shown["系统与人设"] == sent[0].content
    assert shown.get("本段已有记录", "") == "\n".join(
        " ".join(
            part
            for part in (
                f"[{message.role}]",
                message.content,
                *(f"{call.name}({call.arguments})" for call in message.tool_calls),
            )
            if part
        )
        for message in sent[1:-1]
    )
    opening = shown.get("开场", "")
    assert (f"{opening}\n\n" if opening else "") + shown["这一轮新增"] == sent[-1].content


async def test_ctx_shows_exactly_what_the_next_call_sends(world: World) -> None:
    await shown_and_sent(world, "你好")
    await shown_and_sent(world, "今天天气怎么样？")
    await world.say("记住我怕狗")
    await world.wait(700)
    await shown_and_sent(world, "再说一句")
    world.model.script = lambda request: (
        "嗯" if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "怕"}'))
    )
    await world.say("我怕什么")
    world.model.script = lambda request: "好的"
    await shown_and_sent(world, "接着说")
    await world.say("忘记我怕狗")
    await shown_and_sent(world, "换个话题")
    await world.say("/new")
    await shown_and_sent(world, "早上好")
    await world.wait(2000)
    await shown_and_sent(world, "晚上好")
    await world.restart()
    await shown_and_sent(world, "还在吗")


async def test_ctx_after_a_failed_turn_shows_what_is_sent(world: World) -> None:
    await world.say("你好")
    world.model.script = lambda request: RuntimeError("boom")
    await world.say("这句没有答到")
    world.model.script = lambda request: "好的"
    await shown_and_sent(world, "这句答到了")


async def test_ctx_changes_nothing(world: World) -> None:
    await world.say("你好")
    before = len(world.model.requests)
    for _ in range(3):
        await world.say(".ai ctx full 在吗")
        await world.wait(1)
    assert len(world.model.requests) == before
    await world.say("在吗")
    assert world.turns[-1][: len(world.turns[0])] == world.turns[0]
    assert "ctx" not in world.last_user.replace("<ctx", "").replace("</ctx", "")


async def test_ctx_tells_signature_and_cache_statistics(world: World) -> None:
    world.model.script = lambda request: says("好", prompt_tokens=1000)
    await world.say("你好")
    await world.say(".ai ctx full")
    assert re.search(r"不变的开头编号 [0-9a-f]{16}", world.replies[-1])
    assert "1 次调用，输入 1000 token" in world.replies[-1]


async def test_ctx_of_another_person_of_the_group(world: World) -> None:
    await world.say("小暖，我叫阿明", "阿明", GROUP)
    await world.say(".ai ctx full 阿明 你在干嘛", "小王", GROUP)
    (button,) = world.talk.said[-1].buttons
    assert button.text == ".ai ctx full console:person:阿明 你在干嘛"
    await world.say(button.text, "小王", GROUP)
    assert '<p n="阿明">你在干嘛</p>' in world.replies[-1]


async def test_ctx_tells_in_short_what_the_next_request_holds(world: World) -> None:
    await world.say("你好")
    await world.say(".ai ctx 在吗")
    head, *lines = world.replies[-1].splitlines()
    assert head.startswith("下一次发给模型约 ")
    assert "· 系统与人设" in lines[0]
    assert lines[-1] == "逐字看：.ai ctx full"
    assert "在吗" not in world.replies[-1]


@pytest.mark.parametrize(
    ("said", "tells"),
    [
        (".ai help 提醒", ".ai remind"),
        (".ai help 記憶", ".ai mem"),
        (".ai help memories", ".ai mem"),
        (".ai help 关于你", "关于你"),
        (".ai help 關於你", "关于你"),
        (".ai 提醒", "没有等着的提醒"),
    ],
)
async def test_commands_and_topics_go_by_their_names_in_every_language(world: World, said: str, tells: str) -> None:
    await world.say("我说的话")
    await world.say(said)
    assert tells in world.replies[-1].splitlines()[0]


@pytest.mark.parametrize("command", [".ai ctx", ".ai budget show", ".ai clear", ".ai on", ".ai off"])
async def test_in_a_group_only_the_owner_may(world: World, command: str) -> None:
    await world.say("小暖，你好", "阿明", GROUP)
    await world.say(command, "阿明", GROUP)
    assert world.replies[-1] == "这个只有主人能做哦"
    await world.say(command, "小王", GROUP)
    assert world.replies[-1] != "这个只有主人能做哦"


@pytest.mark.parametrize(
    "command", [".ai help", ".ai dialog", "/new", "．ai help", "。ai help", "/ai help", ".AI HELP", ".ai"]
)
async def test_anyone_may_use_the_others_in_every_spelling(world: World, command: str) -> None:
    await world.say(command, "阿明", GROUP)
    assert len(world.replies) == 1
    assert "只有主人" not in world.replies[0]
    assert "没有“" not in world.replies[0]
    assert world.model.requests == []


@pytest.mark.parametrize("text", [".aim high", "..ai", ".ai-help", "说 .ai help", "newnew"])
async def test_what_only_looks_like_a_command_is_talk(world: World, text: str) -> None:
    await world.say(text)
    assert len(world.turns) == 1


async def test_a_forwarded_command_is_not_carried_out(world: World) -> None:
    await world.say(".ai off", forwarded=True)
    await world.say("你好")
    assert world.replies == ["好的", "好的"]
    assert ".ai off" in world.prompts[0][-1].content, "it is told as what was forwarded"


async def test_an_unknown_command_is_named(world: World) -> None:
    await world.say(".ai dance now")
    assert world.replies == ["没有“dance”这个命令，发 .ai help 看看都有什么"]


@pytest.mark.parametrize(
    ("before", "line"),
    [("我说的话", "让我在这里说话"), ("我說的話", "讓我在這裡說話"), ("what I said", "let me speak here")],
)
async def test_help_speaks_the_persons_script_and_fits_a_phone(world: World, before: str, line: str) -> None:
    await world.say(before)
    await world.say(".ai help")
    said, *first, topics, more = world.replies[-1].splitlines()
    assert ".ai" not in said
    assert [told.split()[1] for told in first] == ["mem", "promise", "remind", "tz", "forget"]
    assert more.endswith(".ai help remind")
    told = []
    for topic in TOPICS:
        assert topic in topics
        await world.say(f".ai help {topic}")
        title, *lines = world.replies[-1].splitlines()
        assert len(lines) <= 12
        told += [each.split()[1] for each in lines]
        if topic == "chat":
            assert any(each.startswith(f".ai on — {line}") for each in lines)
    assert told == [
        command.name for topic in TOPICS for command in COMMANDS if command.listed and command.topic == topic
    ]
    await world.say(f".ai help {title}")
    assert world.replies[-1].splitlines()[0] == title  # also by the name that people see


async def test_help_in_a_group_lists_only_what_one_may(world: World) -> None:
    await world.say(".ai help chat", "阿明", GROUP)
    assert ".ai clear" not in world.replies[-1]
    assert ".ai new" in world.replies[-1]


async def test_budget_shows_what_was_used(world: World) -> None:
    world.model.script = lambda request: says("好好好", prompt_tokens=1000)
    await world.say("你好")
    await world.say(".ai budget show")
    assert "1,003 token / 2,000,000" in world.replies[-1]
    assert "1 次调用" in world.replies[-1]


async def test_dialog_tells_past_talks_to_their_audience_only(world: World) -> None:
    await world.say(".ai dialog")
    assert world.replies[-1] == "还没有对话摘要"
    await world.say("我下周三要去成都看大熊猫")
    await world.say("/new")
    await world.say(".ai dialog")
    assert re.fullmatch(r"1\. 今天 .*熊猫.*", world.replies[-1])
    await world.say(".ai dialog", "阿明")
    assert world.replies[-1] == "还没有对话摘要"
    await world.say(".ai dialog", "小王", GROUP)
    assert world.replies[-1] == "还没有对话摘要"


async def test_commands_and_their_answers_never_reach_the_model(world: World) -> None:
    for text in ("你好", ".ai help", ".ai budget show", ".ai dialog", ".ai nonsense", "在吗", "/new", "早"):
        await world.say(text)
    assert ".ai" not in world.sent
    assert "/new" not in world.sent


async def test_a_command_waits_for_its_turn_in_the_chat(world: World) -> None:
    world.shut()
    await world.app.ingest.accept(world.message("你好"))
    await world.held()
    await world.app.ingest.accept(world.message("/new"))
    await world.app.ingest.accept(world.message("早"))
    await world.held()
    await world.let_answer()
    assert world.replies == ["好的", "好，我们重新开始聊吧", "好的"]
    assert world.peek.sessions("state") == [("closed",), ("open",)]
