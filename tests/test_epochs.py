"""ARCHITECTURE §5 as the model sees it: a log only grows, holds everything once, and begins anew only for a reason."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.core.errors import ModelError
from bot.core.files import resource_dir
from bot.core.models import ModelRequest
from bot.text.length import estimate_tokens
from tests.conftest import NewWorld
from tests.fakes.model import Answer, calls
from tests.prefixes import logs_of
from tests.world import World

GROUP = "闲聊"


async def test_within_a_session_every_request_begins_with_the_one_before_and_its_reply(world: World) -> None:
    world.model.script = lambda request: f"  回复 {len(world.model.requests)}\n"
    for number in range(8):
        await world.say(f"第 {number} 句，说点什么吧")
        await world.wait(40)
    for number, (earlier, later) in enumerate(zip(world.turns, world.turns[1:], strict=False), 1):
        assert later[: len(earlier)] == earlier
        assert later[len(earlier)].wire() == {"role": "assistant", "content": f"  回复 {number}\n"}
        assert len(later) == len(earlier) + 2
    assert len(logs_of(world.turns)) == 1


async def test_tool_rounds_extend_the_same_log(world: World) -> None:
    answers: Iterator[Answer] = iter([calls(("memory_recall", '{"query": "花生"}')), "不记得了", "嗯"])
    world.model.script = lambda request: next(answers)
    await world.say("我说过花生吗")
    await world.say("好吧")
    assert len(logs_of(world.turns)) == 1
    assert [message.role for message in world.turns[-1]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


async def test_two_chats_have_two_logs(world: World) -> None:
    for _ in range(3):
        await world.say("你好")
        await world.say("小暖，你好", "阿明", GROUP)
    assert [len(log) for log in logs_of(world.turns)] == [3, 3]


async def test_a_delta_holds_only_what_is_new_and_not_the_bots_logged_replies(world: World) -> None:
    world.model.script = lambda request: "独一无二的回答"
    await world.say("第一句")
    await world.say("第二句")
    assert "第二句" in world.last_user
    assert "第一句" not in world.last_user
    assert "独一无二的回答" not in world.last_user


async def test_a_log_tells_a_date_once_and_explains_an_element_where_it_first_shows_it(world: World) -> None:
    await world.say("小暖，今天去哪里吃好呢", group=GROUP)
    first = re.findall(r"<ctx .*>|<!-- .* -->", world.last_user)
    assert re.fullmatch(r'<ctx now="\d{4}-\d\d-\d\d \d\d:\d\d 周.">', first[0])
    assert re.findall(r"\b([a-z])=", first[1].partition("to ")[0]) == []
    await world.wait(120)
    await world.say("小暖，那吃完去哪里玩呢", group=GROUP)
    assert re.search(r'^<ctx now="\d\d:\d\d">\n<p ', world.last_user)
    await world.say("小暖，这里可以做什么呢", group=GROUP, quote="海边到了", target="7")
    assert re.findall(r"<!-- (.*) -->", world.last_user) == ["r=所回复的话"]


async def test_alone_with_somebody_a_line_tells_no_name_and_no_minute_that_the_log_has_told(world: World) -> None:
    await world.say("今天去哪里吃好呢")
    assert "><p>今天去哪里吃好呢</p></ctx>" in world.last_user
    await world.say("那吃完去哪里玩呢")
    assert world.last_user == "<p>那吃完去哪里玩呢</p>"
    await world.wait(90)
    await world.say("这里可以做什么呢")
    assert re.fullmatch(r'<ctx now="\d\d:\d\d"><p>这里可以做什么呢</p></ctx>', world.last_user)


async def test_a_new_date_is_told_whole(new_world: NewWorld) -> None:
    world = await new_world(session={"close_hour": 4, "idle_seconds": 90_000})
    await world.say("今天去哪里吃好呢")
    while "周六" not in world.last_user:
        await world.wait(3_600)
        await world.say("接下来去哪里玩好呢")
        assert len(logs_of(world.turns)) == 1
    assert re.search(r'^<ctx now="\d{4}-\d\d-\d\d 00:\d\d 周六">', world.last_user)


async def test_what_was_said_while_she_listened_is_in_the_next_delta(world: World) -> None:
    await world.say("小暖，你好", "阿明", GROUP)
    await world.say("我昨天看了电影", "阿红", GROUP)
    await world.say("小暖，阿红做了什么", "阿明", GROUP)
    assert '<p n="阿红">我昨天看了电影</p>' in world.last_user


async def test_a_memory_receipt_is_told_in_the_next_delta(world: World) -> None:
    await world.say("你好")
    await world.say("记住我怕狗")
    await world.say("那你说呢")
    assert '<b f="memory">记住啦 #1</b>' in world.last_user


async def test_a_message_being_answered_is_whole_up_to_the_limit_and_then_says_what_was_cut(world: World) -> None:
    await world.say("头" + "长" * 7998 + "尾")
    assert "头" + "长" * 7998 + "尾" in world.last_user
    await world.say("始" + "长" * 8000 + "终")
    assert "始" + "长" * 7999 in world.last_user
    assert "长终" not in world.last_user
    assert "2 字没有收下" in world.last_user


async def test_every_answered_message_is_whole_also_when_several_are_due_at_once(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    long = ["甲" * 900, "乙" * 900, "丙" * 900]
    for text in long:
        await world.say(text, "阿明", GROUP)
    await world.wait(5)
    assert all(text in world.last_user for text in long)


async def test_other_peoples_lines_take_at_most_1200_tokens_and_the_rest_is_one_mark(world: World) -> None:
    await world.say("小暖，你好", "阿明", GROUP)
    for number in range(60):
        await world.say(f"闲话{number:02}" + "哗啦" * 40, "阿红", GROUP)
    await world.wait(300)
    await world.say("小暖，他们说了什么", "阿明", GROUP)
    delta = world.last_user
    others = [line for line in delta.splitlines() if line.startswith('<p n="阿红"')]
    assert 0 < sum(map(estimate_tokens, others)) <= 1200
    assert others == sorted(others)
    assert "闲话59" in others[-1]
    marks = re.findall(r'<g n="(\d+)" d="\w+"/>', delta)
    assert [int(mark) for mark in marks] == [60 - len(others)]
    assert "小暖，他们说了什么" in delta


async def test_a_restart_goes_on_with_the_same_bytes(world: World) -> None:
    await world.say("你好")
    await world.restart()
    await world.say("还在吗")
    await world.crash()
    await world.say("在就好")
    assert len(logs_of(world.turns)) == 1


async def test_a_crash_in_the_middle_of_a_call_asks_the_same_bytes_again(world: World) -> None:
    await world.say("你好")
    world.shut()
    await world.app.ingest.accept(world.message("想你了"))
    await world.held()
    await world.crash()
    assert len(world.turns) == 3
    assert world.turns[2] == world.turns[1]
    assert world.replies == ["好的", "好的"]
    assert len(logs_of(world.turns)) == 1


async def test_a_crash_between_two_tool_rounds_asks_the_same_bytes_again(world: World) -> None:
    world.model.script = lambda request: (
        "想起来了" if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "猫"}'))
    )
    await world.say("我的猫呢")
    world.shut()
    await world.app.ingest.accept(world.message("我的狗呢"))
    await world.held()
    await world.answer_one()
    await world.crash()
    assert world.turns[-1] == world.turns[-2]
    assert world.replies == ["想起来了", "想起来了"]
    assert len(logs_of(world.turns)) == 1


@pytest.mark.parametrize("fault", ["invalid", "cut", "timeout", "unreachable"])
async def test_a_failed_turn_is_void_and_its_messages_join_the_next_delta(world: World, fault: str) -> None:
    await world.say("你好")
    world.model.script = lambda request: ModelError(fault, "detail")  # type: ignore[arg-type]
    await world.say("这句没有答到")
    world.model.script = lambda request: "好的"
    await world.say("这句答到了")
    assert "这句没有答到" in world.last_user
    assert "这句答到了" in world.last_user
    assert world.turns[2][: len(world.turns[0])] == world.turns[0]
    assert len(world.turns[2]) == len(world.turns[0]) + 2
    assert "没有答到" not in "".join(message.content for message in world.turns[2][:-1])


async def test_a_failed_first_turn_leaves_no_trace_in_the_log(world: World) -> None:
    world.model.script = lambda request: ModelError("invalid", "detail")
    await world.say("第一句")
    world.model.script = lambda request: "好的"
    await world.say("第二句")
    assert len(world.turns[1]) == 2
    assert "第一句" in world.last_user
    assert "【在场】" in world.last_user


async def test_forgotten_text_begins_a_new_log_that_does_not_hold_it(world: World) -> None:
    await world.say("记住我的车牌是沪A12345，今天开车吗？")
    await world.say("走吧")
    await world.say("忘记我的车牌")
    await world.say("到了吗")
    logs = logs_of(world.turns)
    assert [len(log) for log in logs] == [2, 1]
    assert "12345" not in "".join(message.content for message in logs[1][0])
    assert "走吧" in world.last_user
    assert world.peek.epochs("reason") == [("open",), ("forgotten",)]


async def test_a_memory_said_otherwise_by_hand_begins_only_logs_anew_that_may_tell_it(world: World) -> None:
    await world.say("记住我怕狗")
    for _ in range(2):
        for who in ("小王", "阿明"):
            await world.say("今天过得怎么样呀", who)
        await world.store.memories.reword(1, "我怕大狗", world.clock.now())
    await world.say("今天过得怎么样呀", "阿明")
    assert [len(log) for log in logs_of(world.turns)] == [1, 3, 1]
    assert "怕大狗" in str(world.turns[2])


def own_prompts(folder: Path, text: str) -> Path:
    folder.mkdir()
    shipped = (resource_dir("prompts") / "ai-system.txt").read_text("utf-8")
    (folder / "ai-system.txt").write_text(shipped + text, "utf-8")
    return folder


async def test_another_system_text_begins_a_new_log_in_the_same_session(world: World, tmp_path: Path) -> None:
    await world.say("记住我怕狗")
    await world.say("你好")
    await world.close()
    folder = own_prompts(tmp_path / "own", "\n- 说话带点口音。")
    world.settings = world.settings.model_copy(update={"prompts_dir": str(folder)})
    await world.open()
    await world.say("我回来了")
    assert [len(log) for log in logs_of(world.turns)] == [1, 1]
    assert world.turns[-1][0].content.count("说话带点口音") == 1
    assert "你好" in world.last_user
    assert "好的" in world.last_user
    assert "我怕狗" in world.last_user
    assert world.peek.sessions.count() == 1
    assert world.peek.epochs("reason") == [("open",), ("prefix",)]


async def test_another_tool_text_begins_a_new_log(world: World, tmp_path: Path) -> None:
    await world.say("你好")
    await world.close()
    (tmp_path / "own" / "tools").mkdir(parents=True)
    shipped = (resource_dir("prompts") / "tools" / "memory_recall.json").read_text("utf-8")
    changed = shipped.replace("先查；", "先查一查；")
    assert changed != shipped
    (tmp_path / "own" / "tools" / "memory_recall.json").write_text(changed, "utf-8")
    world.settings = world.settings.model_copy(update={"prompts_dir": str(tmp_path / "own")})
    await world.open()
    await world.say("我回来了")
    assert [len(log) for log in logs_of(world.turns)] == [1, 1]


async def test_the_same_prompts_in_another_folder_go_on_with_the_log(world: World, tmp_path: Path) -> None:
    await world.say("你好")
    await world.close()
    world.settings = world.settings.model_copy(update={"prompts_dir": str(own_prompts(tmp_path / "own", ""))})
    await world.open()
    await world.say("我回来了")
    assert len(logs_of(world.turns)) == 1


async def test_remembering_commands_names_and_time_begin_no_new_log(world: World) -> None:
    for text in ("你好", "记住我怕狗", "叫我阿猫", "别叫我老王", ".ai help", ".ai ctx", ".ai dialog", "撤销", "早"):
        await world.say(text)
        await world.wait(60)
    assert len(logs_of(world.turns)) == 1


async def test_the_scene_is_told_only_when_it_changed(world: World) -> None:
    for scene in ("广场，下雨", "广场，下雨", "屋里，灯亮着", "屋里，灯亮着"):
        await world.say("小暖，在吗", "阿明", GROUP, scene=scene)
    told = ["广场" in world.turns[-1][1].content]
    told += ["scene" in message.content for message in world.turns[-1][3::2]]
    assert told == [True, False, True, False]
    assert world.turns[-1][5].content.count("屋里，灯亮着") == 1


async def test_a_new_log_of_the_same_session_carries_at_most_1500_tokens_of_lines(new_world: NewWorld) -> None:
    world = await new_world(session={"log_tokens": 60_000})
    await world.say("记住我的暗号是蓝鲸777，你说呢？")
    for number in range(30):
        await world.say(f"第{number:02}件事：" + "说来话长" * 20)
    await world.say("忘记我的暗号是蓝鲸777")
    await world.say("继续吧")
    assert len(logs_of(world.turns)) == 2
    carried = [line for line in world.last_user.splitlines() if line.startswith(("<p", "<b"))][:-1]
    assert 700 < sum(map(estimate_tokens, carried)) <= 1500
    assert any("第29件事" in line for line in carried)
    assert "蓝鲸777" not in world.last_user


async def test_the_same_conversation_gives_the_same_bytes(new_world: NewWorld) -> None:
    async def talk(world: World) -> list[ModelRequest]:
        await world.say("记住我怕狗，今天呢？")
        await world.say("小暖，你好", "阿明", GROUP)
        await world.wait(2000)
        await world.say("在吗")
        return world.model.requests

    assert await talk(await new_world()) == await talk(await new_world())
