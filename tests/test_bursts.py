"""Messages that come while nuan answers: collected, interrupting or queued, through ingest on a simulated clock."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.config.settings import Settings
from tests.fakes.clock import let_others_run
from tests.fakes.model import calls
from tests.fakes.platform import Lively, StreamingModel
from tests.reloading import Filed
from tests.slow import SlowWorld
from tests.test_sending import ONCE, pass_interval, until
from tests.world import World

GROUP = "闲聊"
OpenSlow = Callable[..., Awaitable[SlowWorld]]


def speaking(**speak: object) -> Settings:
    return Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": speak})


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncIterator[OpenSlow]:
    """Starts a nuan whose model takes two seconds: `await slow(busy="queue")`."""
    worlds: list[SlowWorld] = []

    async def start(**speak: object) -> SlowWorld:
        worlds.append(SlowWorld(tmp_path / f"data{len(worlds)}", speaking(**speak)))
        await worlds[-1].open()
        return worlds[-1]

    yield start
    for world in worlds:
        await world.wait(60)
        await world.close()


def answered(world: World) -> list[list[str]]:
    """What each turn that was said answered."""
    rows = world.rows(
        "SELECT turn.id, text FROM turn JOIN turn_event ON turn_event.turn_id = turn.id JOIN event "
        "ON event.id = event_id WHERE turn.state = 'said' ORDER BY turn.id, event.id"
    )
    return [[str(text) for turn, text in rows if turn == number] for number in dict.fromkeys(row[0] for row in rows)]


async def test_four_who_call_during_a_turn_are_answered_in_one_and_all_named(slow: OpenSlow) -> None:
    world = await slow()
    await world.write("小暖，讲个故事", "阿明", GROUP)
    for number, who in enumerate(("甲", "乙", "丙", "丁")):
        await world.wait(0.3)
        await world.write(f"小暖，我是第{number}个", who, GROUP)
    await world.wait(5)
    assert answered(world) == [["小暖，讲个故事"], [f"小暖，我是第{number}个" for number in range(4)]]
    assert 'to="甲, 乙, 丙, 丁"' in world.last_user
    assert all(f'<p n="{who}">小暖，我是第' in world.last_user for who in "甲乙丙丁")
    assert " to=" not in world.prompts[0][-1].content


async def test_a_name_cannot_break_the_head_of_the_context(slow: OpenSlow) -> None:
    world = await slow()
    await world.write("小暖，讲个故事", "阿明", GROUP)
    await world.write("小暖，在吗", '甲" x="1', GROUP)
    await world.write("小暖，在吗？", "乙", GROUP)
    await world.wait(5)
    assert 'to="甲&quot; x=&quot;1, 乙">' in world.last_user


async def test_an_interrupting_message_is_asked_together_with_what_was_being_answered(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    await world.write("推荐一部电影", "阿明")
    await world.wait(1)
    await world.write("要喜剧", "阿明")
    await world.wait(3)
    assert world.replies == ["好的"]
    assert answered(world) == [["推荐一部电影", "要喜剧"]]
    assert world.peek.turns("state", "error") == [("void", "interrupted"), ("said", "")]
    assert world.peek.calls("state") == [("lost",), ("settled",)]
    assert world.slow.most == 1
    assert world.last_user.count("推荐一部电影") == 1
    assert [line["turns"] for line in world.log.named("interrupted")] == [[1]]


async def test_a_turn_is_interrupted_once_only(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    for text in ("推荐一部电影", "要喜剧", "不要太老", "最好是法国的"):
        await world.write(text, "阿明")
        await world.wait(0.8)
    await world.wait(6)
    assert answered(world) == [["推荐一部电影", "要喜剧"], ["不要太老", "最好是法国的"]]
    assert len(world.model.requests) == 3


async def test_others_do_not_interrupt_and_are_answered_afterwards(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    await world.write("小暖，讲个故事", "阿明", GROUP)
    await world.wait(1)
    await world.write("小暖，几点了", "阿红", GROUP)
    await world.wait(4)
    assert answered(world) == [["小暖，讲个故事"], ["小暖，几点了"]]
    assert world.peek.turns.count(state="void") == 0


async def test_a_follow_up_interrupts_and_what_is_said_to_others_or_needs_no_model_does_not(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    await world.write("小暖，讲个故事", "阿明", GROUP)
    await world.write("你吃了吗", "阿明", GROUP, addresses_other=True)
    await world.write("记住我怕狗", "阿明", GROUP)
    assert world.peek.turns("state") == [("asked",)]
    await world.wait(1)
    await world.write("要短的", "阿明", GROUP)
    await world.wait(4)
    assert answered(world) == [["小暖，讲个故事", "要短的"]]


@pytest.mark.parametrize("speak", [{"busy": "interrupt"}, {"debounce_seconds": 0.6}])
async def test_what_people_saw_of_an_interrupted_reply_is_taken_away(tmp_path: Path, speak: dict[str, object]) -> None:
    world, model, talk = (
        World(tmp_path / "data", speaking(**speak)),
        StreamingModel(),
        Lively(size=10_000, edit_interval_ms=300),
    )
    world.model, world.talk = model, talk
    await world.open()
    await world.app.ingest.accept(world.message("讲个故事吧。", "阿明"))
    await until(lambda: model.writing)
    for piece in (ONCE, "停在这里"):
        model.write(piece)
        await pass_interval(world, 300)
    await until(lambda: list(talk.shown.values()) == [model.written])
    await world.app.ingest.accept(world.message("要短一点的。", "阿明"))
    await world.clock.advance(600, let_others_run)
    await until(lambda: len(model.requests) == 2 and model.writing)
    assert ONCE[:20] not in world.last_user
    model.write("好吧")
    model.finish()
    await world.app.settled()
    assert list(talk.shown.values()) == ["好吧"]
    assert answered(world) == [["讲个故事吧。", "要短一点的。"]]
    await world.close()


async def test_a_turn_whose_tool_was_carried_out_is_not_interrupted(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    asked = calls(("remember", '{"text": "阿明在学法语", "kind": "experience"}'))
    world.model.script = lambda request: asked if len(world.model.requests) == 1 else "好的"
    await world.write("我学完了第一课法语", "阿明")
    await world.wait(2.5)
    assert world.peek.memories.count() == 1
    await world.write("现在第二课", "阿明")
    await world.wait(8)
    assert answered(world) == [["我学完了第一课法语"], ["现在第二课"]]
    assert world.peek.memories.count() == 1


async def test_a_stop_after_an_interruption_stops_both(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    await world.write("推荐一部电影", "阿明")
    await world.write("要喜剧", "阿明")
    await world.write("停", "阿明")
    await world.wait(10)
    assert (world.replies, answered(world)) == (["好，我不说了"], [])


async def test_a_receipt_is_said_once_when_its_turn_is_interrupted(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    await world.write("记住我怕狗。你说呢？", "阿明")
    await world.wait(1)
    await world.write("特别是大狗", "阿明")
    await world.wait(5)
    assert "\n".join(world.replies).count("记住啦") == 1
    assert world.peek.memories.count() == 1


async def test_a_crash_after_an_interruption_loses_neither_message(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt")
    await world.write("推荐一部电影", "阿明")
    await world.wait(1)
    await world.write("要喜剧", "阿明")
    await world.crash()
    await world.wait(5)
    assert answered(world) == [["推荐一部电影", "要喜剧"]]
    assert len(world.replies) == 1


async def test_a_crash_between_the_interruption_and_the_next_request_asks_for_both(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt", debounce_seconds=2)
    await world.write("推荐一部电影", "阿明")
    await world.wait(2.5)
    await world.write("要喜剧", "阿明")
    assert world.slow.thinking == 0
    await world.crash()
    await world.wait(10)
    assert answered(world) == [["推荐一部电影", "要喜剧"]]


async def test_queue_answers_one_after_the_other_in_order(slow: OpenSlow) -> None:
    world = await slow(busy="queue")
    for text, who in (("小暖，一", "甲"), ("小暖，二", "乙"), ("小暖，三", "甲"), ("小暖，四", "丙")):
        await world.write(text, who, GROUP)
        await world.wait(0.3)
    await world.wait(8)
    assert answered(world) == [["小暖，一"], ["小暖，二"], ["小暖，三"], ["小暖，四"]]
    assert world.slow.most == 1
    assert "四" not in world.prompts[1][-1].content


async def test_a_queue_that_grows_long_is_answered_together_and_the_operator_told(slow: OpenSlow) -> None:
    world = await slow(busy="queue")
    for number in range(6):
        await world.write(f"小暖，第{number}句", "甲", GROUP)
        await world.wait(0.3)
    await world.wait(8)
    assert [len(texts) for texts in answered(world)] == [1, 5]
    assert [line["messages"] for line in world.log.named("queue_folded")] == [5]


async def test_a_queue_goes_on_after_a_crash(slow: OpenSlow) -> None:
    world = await slow(busy="queue")
    for number in range(3):
        await world.write(f"第{number}句", "甲")
        await world.wait(0.3)
    await world.crash()
    await world.wait(12)
    assert answered(world) == [["第0句"], ["第1句"], ["第2句"]]


async def test_who_never_pauses_for_a_follow_ups_silence_is_answered_after_a_minute(slow: OpenSlow) -> None:
    world = await slow()
    await world.write("小暖，听我说", "甲", GROUP)
    for number in range(20):
        await world.wait(4)
        await world.write(f"然后第{number}件事", "甲", GROUP)
    assert len(answered(world)) == 2


@pytest.mark.parametrize("busy", ["collect", "queue"])
async def test_two_paced_replies_to_one_person_are_not_mixed(slow: OpenSlow, busy: str) -> None:
    world = await slow(busy=busy, paced=True)
    world.model.script = lambda request: "[[1500]]".join(f"{len(world.model.requests)}{part}" for part in "甲乙丙")
    for number in range(3):
        await world.write(f"小暖，第{number}句", "阿明", GROUP)
        await world.wait(1.1)
    await world.wait(30)
    assert [reply[0] for reply in world.replies] == sorted(reply[0] for reply in world.replies)
    assert [reply[1] for reply in world.replies][-3:] == list("甲乙丙")
    said = [str(text) for (text,) in world.peek.events("text", kind="bot", hidden="")]
    assert "\n".join(said).split() == world.replies


async def test_commands_between_the_lines_of_a_flood_do_not_divide_it(slow: OpenSlow) -> None:
    world = await slow()
    world.slow.takes_ms = lambda: 15_000
    for number in range(100):
        await world.write(".ai help" if number % 10 == 9 else f"第{number}句")
        await world.wait(0.1)
    await world.wait(60)
    assert len(world.model.requests) <= 3
    assert sum(len(texts) for texts in answered(world)) == 90
    assert sum(".ai help" in reply for reply in world.replies) == 10


async def test_follow_ups_that_interrupt_are_joined_like_calls(slow: OpenSlow) -> None:
    world = await slow(busy="interrupt", debounce_seconds=0.6)
    await world.write("小暖，讲个故事", "阿明", GROUP)
    await world.wait(1)
    for text in ("要短的", "要好笑的"):
        await world.write(text, "阿明", GROUP)
        await world.wait(0.3)
    await world.wait(3)
    assert answered(world) == [["小暖，讲个故事", "要短的", "要好笑的"]]


async def test_a_follow_up_goes_with_the_call_that_came_after_it_and_not_with_a_later_follow_up(slow: OpenSlow) -> None:
    world = await slow(debounce_seconds=0)
    await world.write("小暖，讲个故事", "阿明", GROUP)
    for text in ("要长一点的", "小暖，听见了吗", "不急"):
        await world.wait(0.3)
        await world.write(text, "阿明", GROUP)
    await world.wait(60)
    assert answered(world) == [["小暖，讲个故事"], ["要长一点的", "小暖，听见了吗"], ["不急"]]


async def test_a_call_that_waits_for_a_pause_is_not_overtaken_by_one_that_no_longer_has_to(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.write("[speak]\ndebounce_seconds = 3\n")
    await world.open()
    await world.app.ingest.accept(world.message("小暖，先说这个", "阿明", GROUP))
    world.write('[speak]\nbusy = "queue"\ndebounce_seconds = 0\n')
    await world.reload()
    await world.app.ingest.accept(world.message("小暖，再说那个", "阿明", GROUP))
    await world.wait(10)
    assert answered(world) == [["小暖，先说这个"], ["小暖，再说那个"]]
    await world.close()
