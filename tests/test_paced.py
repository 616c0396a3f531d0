"""Replies that go out as several messages: when each goes, what ends them, and what stands in the transcript (C19)."""

from itertools import pairwise
from pathlib import Path

from bot.config.settings import Settings
from bot.core.errors import SendError
from tests.conftest import NewWorld
from tests.fakes.clock import SimClock
from tests.fakes.platform import Lively
from tests.joining import EAGER, enters
from tests.test_closing import TALK
from tests.world import World

PACED: dict[str, object] = {"paced": True}
SCRIPT = "在的\n\n让我想想\n[[3000]]\n去湖边走走吧\n\n顺便吃个面"
PARTS = ["在的", "让我想想", "去湖边走走吧", "顺便吃个面"]
GROUP = "闲聊"


async def paced(new_world: NewWorld, reply: str = SCRIPT) -> World:
    """An installation whose model answers with a script."""
    world = await new_world(speak=PACED)
    world.model.script = lambda request: reply
    return world


def dues(world: World) -> list[int]:
    """When each message goes, ms from the reply on."""
    rows = world.peek.outbox("due_at", kind="reply")
    return [int(str(due)) - int(str(rows[0][0])) for (due,) in rows]


def left(world: World) -> list[str]:
    return [str(state) for (state,) in world.peek.outbox("state", kind="reply")]


async def test_each_message_goes_at_its_stored_moment_and_not_before(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("周末干什么好呢")
    assert world.replies == PARTS[:1]
    times = dues(world)
    assert 3_000 < times[2] - times[1] < 4_500
    for number, (before, due) in enumerate(pairwise(times), 1):
        await world.wait((due - before - 1) / 1000)
        assert world.replies == PARTS[:number]
        await world.wait(0.001)
        assert world.replies == PARTS[: number + 1]


async def test_the_log_keeps_what_the_model_wrote_and_the_transcript_what_people_read(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("周末干什么好呢")
    await world.wait(60)
    assert world.peek.events("text", "label", kind="bot") == [("\n".join(PARTS), "")]
    await world.say("好主意，哪家面好吃")
    assert world.prompts[-1][-2].content == SCRIPT
    assert "[[" not in "".join(world.replies)
    assert 'cut="1"' not in world.last_user


async def test_the_same_turn_is_said_the_same_way_each_time(new_world: NewWorld) -> None:
    first, second = await paced(new_world), await paced(new_world)
    for world in (first, second):
        await world.say("周末干什么好呢")
    assert dues(first) == dues(second)


async def test_a_newer_message_of_that_person_ends_what_was_not_said_yet(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("周末干什么好呢")
    await world.wait(2)
    assert world.replies == PARTS[:2]
    world.model.script = lambda request: "好，去爬山"
    await world.say("不想去湖边，想爬山")
    assert left(world) == ["sent", "sent", "cancelled", "cancelled", "sent"]
    assert world.replies == [*PARTS[:2], "好，去爬山"]
    assert f'<b cut="1">{PARTS[0]}\n{PARTS[1]}</b>' in world.last_user
    assert PARTS[2] not in world.last_user
    await world.wait(120)
    assert world.replies == [*PARTS[:2], "好，去爬山"]
    assert world.peek.events("text", "label", kind="bot") == [
        ("\n".join(PARTS[:2]), "cut"),
        ("好，去爬山", ""),
    ]
    assert world.log.named("superseded") == [{"chat": 1, "turns": [1]}]


async def test_what_nobody_answers_ends_nothing(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("小暖，周末干什么好呢", "阿明", GROUP)
    await world.say("我也想知道", "小红", GROUP)
    await world.say(".ai help", "阿明", GROUP)
    await world.wait(10)
    assert [text for text in world.replies if text in PARTS] == PARTS


async def test_a_stop_word_ends_it(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("周末干什么好呢")
    await world.wait(2)
    await world.say("停")
    await world.wait(60)
    assert world.replies == [*PARTS[:2], "好，我不说了"]
    assert left(world)[2:] == ["cancelled", "cancelled"]


async def test_somebody_else_is_answered_meanwhile_and_the_rest_still_comes(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("小暖，周末干什么好呢", "阿明", GROUP)
    world.model.script = lambda request: "三点"
    await world.say("小暖，现在几点", "小红", GROUP)
    assert world.replies == [PARTS[0], "三点"]
    await world.wait(60)
    assert world.replies == [PARTS[0], "三点", *PARTS[1:]]


async def test_what_was_cut_after_somebody_else_was_answered_is_told_all_the_same(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("小暖，周末干什么好呢", "阿明", GROUP)
    world.model.script = lambda request: "三点"
    await world.say("小暖，现在几点", "小红", GROUP)
    await world.say("小暖，不用了", "阿明", GROUP)
    assert f'<b cut="1">{PARTS[0]}</b>' in world.last_user
    assert world.peek.events.count(hidden="", label="cut") == 1
    await world.say("小暖，真的不用了", "阿明", GROUP)
    assert "cut=" not in world.last_user


async def test_the_digest_reads_what_was_said_and_not_what_was_cut(new_world: NewWorld) -> None:
    world = await paced(new_world)
    world.model.digests = True
    for text in TALK:
        await world.say(text)
    await world.wait(60)
    await world.say("/new")
    digest = next(request for request in world.model.requests if not request.prompt.tools)
    told = digest.prompt.messages[-1].content
    assert told.count(PARTS[0]) == len(TALK)
    assert told.count(PARTS[2]) == 1


async def test_a_crash_in_between_sends_the_rest_once_and_in_time(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("周末干什么好呢")
    times = dues(world)
    await world.wait(times[1] / 1000)
    await world.crash()
    assert world.replies == PARTS[:2]
    await world.wait((times[2] - times[1] - 1) / 1000)
    assert world.replies == PARTS[:2]
    await world.wait(0.001)
    assert world.replies == PARTS[:3]
    await world.crash()
    await world.wait(60)
    assert world.replies == PARTS


async def test_what_is_long_overdue_does_not_come_all_at_once(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("周末干什么好呢")
    times = dues(world)
    await world.close()
    world.away(3_600)
    await world.open()
    assert world.replies == PARTS[:2]
    await world.wait((times[2] - times[1]) / 1000)
    assert world.replies == PARTS[:3]
    await world.wait((times[3] - times[2]) / 1000)
    assert world.replies == PARTS


async def test_the_messages_of_a_reply_keep_their_order_whatever_the_clock_did(new_world: NewWorld) -> None:
    world = await paced(new_world, "一\n\n二\n[[40000]]\n三")
    await world.say("周末干什么好呢")
    await world.close()
    world.clock = SimClock(world.clock.now() - 150_000)
    await world.open()
    await world.wait(300)
    assert world.replies == ["一", "二", "三"]


async def test_a_platform_that_wants_a_wait_keeps_the_order_and_the_pauses(tmp_path: Path) -> None:
    world = World(tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": PACED}))
    talk = Lively()
    world.talk = talk
    await world.open()
    world.model.script = lambda request: SCRIPT
    await world.say("周末干什么好呢")
    talk.fates = [SendError("wait", "", 20_000)]
    await world.wait(20)
    assert world.replies == PARTS[:1]
    await world.wait(2)
    assert world.replies == PARTS[:2]
    await world.wait(10)
    assert world.replies == PARTS
    await world.close()


async def test_a_person_need_not_call_again_for_a_minute_after_the_last_message(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("小暖，周末干什么好呢", "阿明", GROUP)
    last = dues(world)[-1]
    assert world.peek.windows("until") == [(world.clock.now() + last + 60_000,)]


async def test_without_the_switch_or_without_the_persona_file_a_reply_is_one_message(new_world: NewWorld) -> None:
    world = await new_world()
    world.model.script = lambda request: "在的\n\n让我想想"
    await world.say("周末干什么好呢")
    assert world.replies == ["在的\n\n让我想想"]
    assert "[[800]]" not in world.sent
    other = await paced(new_world)
    await other.say("周末干什么好呢")
    assert "[[800]]" in other.sent


async def test_small_talk_is_not_told_how_and_costs_no_tokens_for_it(new_world: NewWorld) -> None:
    world = await new_world(speak=PACED, prompt={"light": "per_message"})
    await world.say("早上好")
    assert "[[800]]" not in world.sent
    await world.say("我下周要去成都看熊猫，帮我想想要带什么")
    assert "[[800]]" in world.sent


async def test_marks_and_nothing_else_are_no_answer_in_vain(new_world: NewWorld) -> None:
    world = await paced(new_world, "[[800]]")
    await world.say("周末干什么好呢")
    assert world.replies == ["嗯，我在听"]


async def test_a_message_that_a_platform_takes_in_pieces_is_finished_or_left_out_whole(tmp_path: Path) -> None:
    world = World(tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": PACED}))
    world.talk = Lively(size=10)
    await world.open()
    world.model.script = lambda request: "好\n\n" + "长" * 25 + "\n\n" + "尾" * 25
    await world.say("周末干什么好呢")
    await world.wait(3)
    assert world.replies == ["好", "长" * 10, "长" * 10, "长" * 5]
    await world.say("算了")
    assert world.peek.events("text", label="cut") == [("好\n" + "长" * 25,)]
    await world.close()


async def test_a_stop_of_somebody_else_does_not_claim_to_end_what_goes_on(new_world: NewWorld) -> None:
    for text in ("小暖，停", "小暖，闭嘴"):
        world = await paced(new_world)
        await world.say("小暖，讲个故事", "阿明", GROUP)
        await world.say(text, "阿红", GROUP)
        await world.wait(30)
        assert world.replies == [PARTS[0], "我在答别人的话，说完就停", *PARTS[1:]]


async def test_off_and_a_new_talk_end_what_is_still_being_said(new_world: NewWorld) -> None:
    for command in (".ai off", ".ai new", ".ai clear"):
        world = await paced(new_world)
        await world.say("小暖，讲个故事", "阿明", GROUP)
        await world.say(command, "小王", GROUP)
        await world.wait(30)
        assert len(world.replies) == 2, command
        assert world.peek.events("text", label="cut") == [(PARTS[0],)]
        await world.say(".ai on", "小王", GROUP)
        await world.say("小暖，在吗", "小王", GROUP)
        assert PARTS[2] not in world.last_user


async def test_a_command_that_only_shows_something_ends_nothing(new_world: NewWorld) -> None:
    world = await paced(new_world)
    await world.say("小暖，讲个故事", "阿明", GROUP)
    await world.say(".ai why", "阿明", GROUP)
    await world.wait(30)
    assert [reply for reply in world.replies if reply in PARTS] == PARTS


async def test_an_entry_that_nobody_asked_for_ends_when_anybody_speaks(new_world: NewWorld) -> None:
    world = await new_world(speak={**EAGER, **PACED})
    enters(world, SCRIPT)
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(20)
    assert world.replies == PARTS[:1]
    await world.say("是啊，昨天热得睡不着", "阿红", GROUP)
    await world.wait(15)
    assert world.replies == PARTS[:1]
    assert world.peek.events("text", label="cut") == [(PARTS[0],)]
