"""When the model chooses silence: skip, stop_listen, and follow-ups that could not be answered."""

import json

import pytest

from bot.core.errors import ModelError
from bot.core.models import Completion, Message, ModelRequest
from bot.speaking.initiative import is_silent_answer
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.fakes.model import Answer, calls, says
from tests.peek import Like
from tests.prefixes import logs_of, one_system_then_strict_alternation
from tests.tables import all_cases
from tests.test_sending import until
from tests.world import World

GROUP = "闲聊"
DOWN = ModelError("unreachable", "no route")


async def talking(world: World, who: str = "阿明") -> None:
    """Somebody called in the group and was answered."""
    await world.say("小暖，在吗", who, GROUP)


async def follow(world: World, text: str, who: str = "阿明") -> None:
    """A follow-up, and the silence after it."""
    await world.say(text, who, GROUP)
    await world.wait(5)


def outcomes(world: World) -> list[tuple[object, ...]]:
    return world.peek.events("text", "state", "outcome", kind="message")


@pytest.mark.parametrize("answer", ["skip", "SKIP.", " **skip**\n", "skip\n\n(他们在说别的)", "他们在说别的\nskip"])
async def test_a_skipped_follow_up_is_not_answered_and_stays_in_the_log(world: World, answer: str) -> None:
    await talking(world)
    world.model.script = lambda request: answer
    await follow(world, "哈哈哈")
    assert world.replies == ["好的"]
    assert outcomes(world)[-1] == ("哈哈哈", "done", "skipped")
    assert world.peek.turns("state", "error", id=2) == [("said", "skipped")]
    assert [line["outcome"] for line in world.log.named("turn")] == ["answered", "skipped"]
    world.model.script = lambda request: "我在"
    await world.say("小暖，你看呢", "阿明", GROUP)
    assert world.prompts[-1][-2] == Message("assistant", answer)
    assert "哈哈哈" not in world.last_user
    assert len(logs_of(world.turns)) == 1


async def test_a_call_in_a_group_may_be_skipped_but_a_list_that_holds_the_word_is_an_answer(world: World) -> None:
    world.model.script = lambda request: "skip"
    await talking(world)
    assert world.replies == []
    world.model.script = lambda request: "play\nskip\nstop"
    await world.say("小暖，播放器有哪些键", "阿明", GROUP)
    assert world.replies == ["play\nskip\nstop"]


async def test_in_a_dm_a_skip_leaves_nobody_without_an_answer(world: World) -> None:
    world.model.script = lambda request: "skip"
    await world.say("你觉得呢", "阿明")
    await world.say("what do you think?", "Sam")
    assert world.replies == ["嗯，我在听", "Mm, I'm listening"]
    world.model.script = lambda request: "好的"
    await world.say("再说", "阿明")
    assert world.prompts[-1][-2] == Message("assistant", "嗯，我在听"), "the log holds what was said"


async def test_a_skip_says_the_receipts_all_the_same(world: World) -> None:
    await talking(world)
    world.model.script = lambda request: "skip"
    await world.say("记住我对花生过敏。你说花生酱好吃吗？", "阿明", GROUP)
    assert world.replies[-1] == "记住啦 #1：我对花生过敏"


@all_cases(
    ("text", "why", "kind", "quiet"),
    [
        ("skip", "window", "group", True),
        ("skip", "name", "group", True),
        ("skip", "dm", "dm", False),
        ("skip", "heartbeat", "dm", True),
        ("a\nskip", "name", "group", False),
        ("a\nskip", "window", "group", True),
        ("skip it", "window", "group", False),
        ("不用 skip", "window", "group", False),
    ],
)
def test_what_may_be_passed_over(text: str, why: str, kind: str, quiet: bool) -> None:
    assert is_silent_answer(text, why, "dm" if kind == "dm" else "group") is quiet


def ending(world: World, **arguments: object) -> None:
    """The model wants to end the talk."""
    asked = ("stop_listen", json.dumps(arguments, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(asked)


async def test_the_model_ends_the_talk_with_a_last_line_and_without_another_call(world: World) -> None:
    await talking(world)
    await talking(world, "阿红")
    await world.say("我还想说", "阿红", GROUP)
    ending(world, line="那你们聊，我先不打扰啦")
    await follow(world, "不用你了")
    assert world.replies[2:] == ["那你们聊，我先不打扰啦"]
    assert len(world.model.requests) == 3
    assert world.peek.windows.count() == 0
    await world.wait(10)
    await follow(world, "今天好热")
    assert len(world.replies) == 3
    world.model.script = lambda request: "我在"
    await world.say("小暖，回来", "阿明", GROUP)
    assert world.replies[-1] == "我在"
    for prompt in world.turns:
        one_system_then_strict_alternation(prompt)
    assert len(logs_of(world.turns)) == 1


async def test_without_a_last_line_nothing_is_said(world: World) -> None:
    await talking(world)
    ending(world)
    await follow(world, "不用你了")
    assert world.replies == ["好的"]
    assert outcomes(world)[-1] == ("不用你了", "done", "skipped")


async def test_the_end_of_a_talk_survives_a_crash_between_tool_and_line(world: World) -> None:
    await talking(world)
    ending(world, line="再见")
    await world.app.ingest.accept(world.message("小暖，不用你了", "阿明", GROUP))
    await until(lambda: world.peek.effects("key", key=Like("quiet:%")) != [])
    await world.crash()
    assert world.replies == ["好的", "再见"]
    assert world.peek.windows.count() == 0


async def test_in_a_dm_the_tool_does_nothing_and_the_person_is_answered(world: World) -> None:
    ending(world, line="再见")
    await world.say("你好呀", "阿明")
    assert world.replies == ["好的"]
    assert "私聊" in world.prompts[-1][-1].content


@pytest.mark.parametrize("arguments", [{"line": 7}, {"line": "x" * 501}, {"why": "tired"}])
async def test_wrong_arguments_end_nothing(world: World, arguments: dict[str, object]) -> None:
    ending(world, **arguments)
    await talking(world)
    assert world.replies == ["好的"]
    assert world.peek.windows.count() == 1


async def test_a_failed_follow_up_waits_without_a_word_for_the_next_call_and_is_answered_with_it(world: World) -> None:
    await talking(world)
    world.model.script = lambda request: DOWN
    await follow(world, "昨天那件事" * 60)
    assert world.replies == ["好的"], "nobody asked for it"
    assert world.peek.events("state", "due_at", "outcome", why="window") == [("queued", None, "failed")]
    world.model.script = lambda request: "我懂"
    await world.wait(20)
    await world.say("小暖，你懂吗", "阿红", GROUP)
    assert world.replies == ["好的", "我懂"]
    assert "昨天那件事" * 60 in world.last_user, "whole, as what is answered"
    assert world.peek.told_events.count(turn_id=3) == 2
    await world.wait(100)
    assert len(world.replies) == 2


async def test_the_next_follow_up_takes_the_failed_one_along(world: World) -> None:
    await talking(world)
    world.model.script = lambda request: DOWN
    await follow(world, "第一句")
    world.model.script = lambda request: "我懂"
    await follow(world, "第二句")
    assert world.replies == ["好的", "我懂"]
    assert "第一句" in world.last_user
    assert outcomes(world)[-2:] == [("第一句", "done", "answered"), ("第二句", "done", "answered")]


async def test_a_command_does_not_answer_what_failed(world: World) -> None:
    await talking(world)
    world.model.script = lambda request: DOWN
    await follow(world, "第一句")
    asked = len(world.model.requests)
    await world.say(".ai help", "小王", GROUP)
    assert len(world.model.requests) == asked


async def test_with_the_window_a_failed_follow_up_is_over_and_only_read(world: World) -> None:
    await talking(world)
    world.model.script = lambda request: DOWN
    await follow(world, "第一句")
    await world.wait(61)
    assert outcomes(world)[-1] == ("第一句", "done", "failed")
    world.model.script = lambda request: "我懂"
    await world.say("小暖，回来啦", "阿红", GROUP)
    assert "第一句" in world.last_user
    assert world.peek.told_events.count(turn_id=3) == 1


async def test_a_failed_follow_up_survives_a_crash(world: World) -> None:
    await talking(world)
    world.model.script = lambda request: DOWN
    await follow(world, "第一句")
    await world.crash()
    world.model.script = lambda request: "我懂"
    await world.say("小暖，你懂吗", "阿红", GROUP)
    assert world.replies == ["好的", "我懂"]
    assert "第一句" in world.last_user


async def test_a_failed_call_is_still_told(world: World) -> None:
    world.model.script = lambda request: DOWN
    await talking(world)
    assert world.replies == ["我连不上模型，稍后再跟我说一次好吗？"]


async def test_a_call_while_a_follow_up_is_answered_gets_one_answer_of_its_own(world: World) -> None:
    await talking(world)
    await world.say("我想说", "阿明", GROUP)
    world.shut()
    await world.clock.advance(5_000, let_others_run)
    await world.held()
    for text in ("还有", "小暖，听我说"):
        await world.app.ingest.accept(world.message(text, "阿明", GROUP))
    await world.let_answer()
    await world.wait(20)
    assert len(world.replies) == 3
    assert all(text in world.last_user for text in ("还有", "听我说"))


async def test_what_is_over_budget_waits_for_the_next_call_within_the_window(new_world: NewWorld) -> None:
    world = await new_world(budget={"chat_day_tokens": 3_000})

    def script(request: ModelRequest) -> Answer:
        return Completion("好的") if request else says("")

    world.model.script = script
    for number in range(10):
        await world.say(f"小暖，第{number}件事", "阿明", GROUP)
        if "预算" in world.replies[-1]:
            break
    told = len(world.replies)
    await follow(world, "我还想说")
    assert len(world.replies) == told
    assert outcomes(world)[-1] == ("我还想说", "queued", "silent")
