"""The loop of tool calls: nothing twice, readers side by side, bounds in time and tokens; no scaffolding shown."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ModelError
from bot.core.models import Completion, Message, ToolCall, ToolSpec
from bot.core.sessions import Turn
from bot.core.tools import Tool, ToolAnswer, ToolContext
from bot.model.completion import CompletionBuilder, without_artifacts, without_open_artifacts, written_calls
from bot.pipeline.tools.calls import ToolRound, ToolRunner
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.fakes.model import calls
from tests.prefixes import logs_of
from tests.tables import all_cases
from tests.test_tools import recall, results, save
from tests.world import World

AGAIN = "同样的调用刚做过，结果就在上面，不会变。"
ENOUGH = "这一轮不能再用工具了，请直接回答。"


def in_turn(world: World, asked: list[Completion | str]) -> None:
    """The model answers with these, one after the other."""
    answers = iter(asked)
    world.model.script = lambda request: next(answers)


async def test_the_same_call_is_carried_out_once_a_turn(world: World) -> None:
    await world.say("记住我最怕蛇")
    name, arguments = recall("蛇")
    spaced = json.dumps(json.loads(arguments), ensure_ascii=True, indent=1)
    in_turn(world, [calls((name, arguments)), calls((name, spaced), recall("狗")), "怕蛇"])
    await world.say("我怕什么")
    found, again, other = results(world)
    assert found.startswith("以下是检索到的记忆")
    assert (again, other) == (AGAIN, "没有找到相关的记忆。")


async def test_of_two_equal_calls_side_by_side_one_is_carried_out(world: World) -> None:
    await world.say("记住我最怕蛇")
    in_turn(world, [calls(recall("蛇"), recall("蛇")), "怕蛇"])
    await world.say("我怕什么")
    assert [result == AGAIN for result in results(world)] == [False, True]


async def test_two_equal_calls_that_change_something_are_one(world: World) -> None:
    in_turn(world, [calls(save("先量再裁"), save("先量再裁")), "好"])
    await world.say("弄完了")
    assert results(world) == ["经验已存 #1", AGAIN]


async def test_before_the_last_call_the_model_is_told_to_answer(world: World) -> None:
    in_turn(world, [calls(recall("蛇")), calls(recall("狗")), calls(recall("猫")), "不知道"])
    await world.say("我怕什么")
    none = "没有找到相关的记忆。"
    assert results(world) == [none, none, f"{none}\n{ENOUGH}"]
    assert world.replies == ["不知道"]


async def test_what_is_asked_for_with_the_last_call_is_not_done(world: World) -> None:
    in_turn(world, [calls(recall("蛇")), calls(recall("狗")), calls(recall("猫")), calls(save("先量再裁"))])
    await world.say("弄完了")
    assert world.peek.memories.count() == 0


async def test_a_model_that_calls_tools_for_ever_is_ended_and_told_of(world: World) -> None:
    count = iter(range(99))
    world.model.script = lambda request: calls(recall(f"蛇{next(count)}"))
    await world.say("我怕什么")
    assert len(world.model.requests) == 4
    assert len(world.replies) == 1


async def test_of_more_calls_than_a_turn_has_the_rest_is_not_carried_out(world: World) -> None:
    in_turn(world, [calls(*(recall(f"蛇{number}") for number in range(8))), "不知道"])
    await world.say("我怕什么")
    assert [result == ENOUGH for result in results(world)] == [False] * 6 + [True] * 2


async def test_more_calls_at_once_than_anything_needs_are_no_answer(world: World) -> None:
    in_turn(world, [calls(*(recall(f"蛇{number}") for number in range(17))), "不知道"])
    await world.say("我怕什么")
    assert len(world.model.requests) == 1
    assert world.replies != ["不知道"]


async def test_what_a_server_could_not_read_is_not_sent_to_it_again(world: World) -> None:
    in_turn(world, [calls(("memory_recall", '{"query": "再'), ("memory_recall", "")), "好的"])
    await world.say("小暖，在吗")
    sent = [call.arguments for message in world.turns[-1] for call in message.tool_calls]
    assert [json.loads(each) for each in sent] == [{"unreadable": True}, {}]


@pytest.mark.parametrize(
    "arguments", ['{"line": "再', '{"line": "再见"', '["再见"]', "{" * 9_000, '{"a":"' + "b" * 9_000 + '"}']
)
async def test_a_tool_that_needs_no_arguments_is_not_carried_out_with_broken_ones(world: World, arguments: str) -> None:
    in_turn(world, [calls(("stop_listen", arguments)), "好的", "我在"])
    await world.say("小暖，在吗", "阿明", "闲聊")
    await world.say("你看呢", "阿明", "闲聊")
    await world.wait(5)
    assert world.replies == ["好的", "我在"]
    assert results(world)[0].startswith("参数不对，没有执行")


@pytest.mark.parametrize("names", [("memory_recall", "remind", "skill"), ("remember", "forget", "stop_listen")])
async def test_no_tool_takes_broken_arguments(world: World, names: tuple[str, ...]) -> None:
    in_turn(world, [calls(*((name, '{"') for name in names)), "好的"])
    await world.say("小暖，在吗", "阿明", "闲聊")
    assert [result[:9] for result in results(world)] == ["参数不对，没有执行"] * len(names)


async def test_a_tool_that_breaks_takes_neither_the_others_nor_the_turn_along(world: World) -> None:
    async def breaks(context: ToolContext, arguments: str) -> ToolAnswer:
        raise KeyError("x")

    async def works(context: ToolContext, arguments: str) -> ToolAnswer:
        return ToolAnswer("好了")

    tools = tuple(Tool(ToolSpec(run.__name__, "", "{}"), run, reads=True) for run in (breaks, works))
    asked = tuple(ToolCall(str(number), tool.spec.name, "{}") for number, tool in enumerate(tools))
    await world.say("你好")
    chat, person = await world.store.people.chat(1), await world.store.people.person(1)
    turn = Turn(1, 1, 1, 1, 1, "asked", "dm", 1, world.clock.now(), ())
    bench = ToolRound(turn, chat, person, (Message("assistant", "", asked),))
    planner, current = world.app._services.dispatcher._planner, world.parts.current
    outcomes = await ToolRunner(planner, lambda: tools, world.clock, current, world.log).run(bench, asked)
    assert [outcome.answer.text for outcome in outcomes] == ["工具出错了，没有执行：KeyError", "好了"]
    assert world.log.named("tool_failed")[0]["tool"] == "breaks"


async def test_what_changes_something_is_done_in_the_order_it_was_asked_for(world: World) -> None:
    in_turn(world, [calls(save("先量再裁"), recall("先量再裁"), save("第二条")), "好"])
    await world.say("弄完了")
    saved, found, refused = results(world)
    assert saved == "经验已存 #1"
    assert "先量再裁" in found
    assert refused == "这段对话已经存过一条经验，没有再存。"


async def test_a_turn_that_has_used_enough_tokens_gets_no_more_tools(new_world: NewWorld) -> None:
    world = await new_world(budget={"turn_tokens": 100})
    in_turn(world, [calls(recall("蛇")), "不知道"])
    await world.say("我怕什么")
    assert results(world) == [ENOUGH]
    assert world.replies[-1] == "不知道"


async def test_a_turn_that_lasts_three_minutes_gets_no_more_tools(world: World) -> None:
    in_turn(world, [calls(recall("蛇")), "不知道"])
    world.model.gate = asyncio.Event()
    saying = asyncio.ensure_future(world.say("我怕什么"))
    while not world.model.held:
        await let_others_run()
    await world.clock.advance(180_001, let_others_run)
    world.model.gate.set()
    await saying
    assert results(world) == [ENOUGH]


WHOLE = '<tool_call>\n{"name": "memory_recall", "arguments": {"query": "蛇"}}\n</tool_call>'


def completed(text: str, finish: str = "stop") -> Completion:
    """What a server's answer with that text becomes."""
    answer = CompletionBuilder(frozenset())
    answer.add({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})
    return answer.completion()


async def test_a_call_written_as_text_is_carried_out_and_not_shown(world: World) -> None:
    await world.say("记住我最怕蛇")
    in_turn(world, [completed(f"我查一下。{WHOLE}"), "你怕蛇"])
    await world.say("我怕什么")
    assert results(world)[0].startswith("以下是检索到的记忆")
    assert world.replies[-1] == "你怕蛇"
    assert "<tool_call>" not in "".join(world.replies)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE[:-14],
        WHOLE[:40],
        WHOLE.replace("}}", "}"),
        WHOLE.replace("}}\n", "}"),
        '<tool_call>["memory_recall"]</tool_call>',
    ],
)
def test_a_call_that_is_cut_or_broken_is_neither_carried_out_nor_shown(text: str) -> None:
    assert written_calls(text) == ()
    answer = completed(f"好的。{text}")
    assert (answer.text, answer.tool_calls) == ("好的。", ())
    with pytest.raises(ModelError, match="an empty answer"):
        completed(text)


@all_cases(
    ("text", "shown"),
    [
        ('<ctx now="2026-06-12 09:00 周五">\n<b>好的，我在听</b>\n</ctx>', "好的，我在听"),
        ("<b>好的</b>", "好的"),
        ("<ctx><p>你好</p></ctx>\n好呀", "好呀"),
        ('<p n="小王">你好</p>\n好呀', "好呀"),
        ('<b f="memory">记住啦 #1</b>好', "记住啦 #1好"),
        ('好<g n="3"/>呀', "好呀"),
        ('<e t="join" n="阿明">来了</e>欢迎', "欢迎"),
        ("<!-- p=人说的话 b=你已发出的话 -->嗯", "嗯"),
        ("好的<|im_end|>", "好的"),
        ('嗯<p n="小王">你好', "嗯"),
        ('<p n="小王">你好\n好呀', "好呀"),
        ("好的<function=memory_recall><parameter=query>蛇</parameter></function>", "好的"),
        ('好的[TOOL_CALLS][{"name": "memory_recall", "arguments": {}}]', "好的"),
        ("<｜tool▁calls▁begin｜>memory_recall<｜tool▁calls▁end｜>好的<｜end▁of▁sentence｜>", "好的"),
        ("<tool_calls>[{}]</tool_calls>好的", "好的"),
        ("<|channel|>analysis<|message|>他怕蛇<|end|><|start|>assistant<|channel|>final<|message|>你怕蛇", "你怕蛇"),
        ("<|channel|>analysis<|message|>他怕蛇", ""),
        ("清单：[1] 见 <function> 和 [TOOLS]", None),
        ("网页里 <p> 是段落，<b>粗体</b> 是强调，<p class='x'> 带样式", None),
        ("3 < 5，而 a<b>c", None),
        ("```html\n<b>hi</b>\n```", None),
    ],
)
def test_marks_of_the_prompt_are_not_shown_and_ordinary_markup_is(text: str, shown: str | None) -> None:
    assert without_artifacts(text) == (text if shown is None else shown)


async def test_what_a_model_wrote_stays_in_the_log_so_that_the_prefix_is_kept(world: World) -> None:
    raw = '<ctx now="x">\n<b>好的，我在听</b>\n</ctx>'
    in_turn(world, [completed(raw), "嗯"])
    await world.say("今天好累")
    await world.say("还没下班")
    assert world.replies == ["好的，我在听", "嗯"]
    assert world.turns[-1][2].content == raw
    assert len(logs_of(world.turns)) == 1


@given(st.text(alphabet='<>/bpctx n="1f|-!\n你好', max_size=60))
def test_nothing_is_lost_of_a_text_without_marks_and_nothing_raises(text: str) -> None:
    assert without_artifacts(without_artifacts(text)) == without_artifacts(text)
    for end in range(len(text) + 1):
        without_open_artifacts(text[:end])
    if "<" not in text:
        assert without_artifacts(text) == without_open_artifacts(text) == text


@all_cases(
    "text",
    [
        f"好的。{WHOLE}",
        '<ctx now="9">\n<b>好</b></ctx>',
        '嗯<p n="小王">你好</p>呀',
        '嗯<ctx now="[9">好',
        "<function=memory_recall><parameter=q>小王</parameter></function>好",
        "<|channel|>analysis<|message|>小王<|end|><|start|>assistant<|channel|>final<|message|>好",
        '[TOOL_CALLS][{"name": "memory_recall"}]',
        "<｜tool▁calls▁begin｜>memory_recall<｜tool▁calls▁end｜>好",
    ],
)
def test_a_preview_never_shows_what_the_reply_will_not_have(text: str) -> None:
    shown = [without_open_artifacts(text[:end]) for end in range(len(text) + 1)]
    assert not any("<" in each or "memory_recall" in each or "小王" in each for each in shown)


def previews(text: str, *, only_ends: bool) -> set[str]:
    """Everything that is shown while a server sends that text, and nothing of its last piece."""
    shown: set[str] = set()
    answer = CompletionBuilder(frozenset(), hear=lambda so_far: shown.add(so_far()), only_ends=only_ends)
    for char in text:
        answer.add({"choices": [{"delta": {"content": char}}]})
    assert answer.only_ends
    return shown


def test_a_model_that_only_ends_its_thoughts_shows_none_of_them_once_that_is_known() -> None:
    text = "他怕蛇</think>你怕蛇"
    assert not any("<" in each for each in previews(text, only_ends=False))
    assert previews(text, only_ends=True) == {"", "你", "你怕", "你怕蛇"}
