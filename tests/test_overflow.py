"""A log that is too long for the model: the same is asked once more on a new one, and nobody notices but the owner."""

import json

import pytest

from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.model import Answer, calls
from tests.fakes.platform import Lively, StreamingModel
from tests.pools import asked, left
from tests.prefixes import one_system_then_strict_alternation
from tests.test_closing import DIGEST, TALK, digests, is_digest, sessions
from tests.test_sending import ONCE, pass_interval, until
from tests.world import World

QUESTION = "那只叫蓝莓的猫后来怎么样了？"
FULL = ModelError("overflow", "HTTP 400", "context length exceeded")


def small_window(world: World, most: int) -> None:
    """The model takes at most so many messages, and digests."""

    def script(request: ModelRequest) -> Answer:
        if is_digest(request):
            return json.dumps(DIGEST, ensure_ascii=False)
        return FULL if len(request.prompt.messages) > most else "好的"

    world.model.digests = True
    world.model.script = script


async def long_talk(world: World) -> None:
    """Five turns; the sixth does not fit."""
    small_window(world, 2 * len(TALK))
    for text in TALK:
        await world.say(text)


async def test_the_question_is_asked_once_more_on_a_new_log_and_answered_once(world: World) -> None:
    await long_talk(world)
    before = len(world.replies)
    await world.say(QUESTION)
    assert world.replies[before:] == ["好的"]
    first, second = world.turns[len(TALK) :]
    assert (len(first), len(second)) == (2 * len(TALK) + 2, 2)
    one_system_then_strict_alternation(second)
    assert second[-1].content.count(QUESTION) == 1
    assert "爬山" in second[-1].content, "the raw tail of the old log"
    assert sessions(world) == [("closed", "budget"), ("open", "")]
    assert asked(world)[len(TALK) :][0] == "scripted released"
    assert left(world) == 0
    assert len(world.log.named("overflow")) == 1
    await world.say("谢谢你告诉我")
    assert len(world.turns[-1]) == 4, "the new log goes on"


async def test_the_digest_tells_what_was_said_before_and_not_the_question(world: World) -> None:
    await long_talk(world)
    await world.say(QUESTION)
    assert digests(world) == [(1, "model")]
    (told,) = [request.prompt.messages[-1].content for request in world.model.requests if is_digest(request)]
    assert QUESTION not in told
    assert all(text in told for text in TALK)


async def test_a_question_that_is_too_long_by_itself_ends_in_one_line_after_two_calls(world: World) -> None:
    await long_talk(world)
    small_window(world, 1)
    before = len(world.replies)
    await world.say(QUESTION)
    assert len(world.replies) == before + 1
    assert "太长" in world.replies[-1]
    assert len(world.turns) == len(TALK) + 2
    assert left(world) == 0
    assert world.peek.events.count(state="queued") == 0


async def test_a_first_message_that_is_too_long_is_asked_once(world: World) -> None:
    small_window(world, 1)
    await world.say(QUESTION)
    assert len(world.turns) == 1
    assert len(world.replies) == 1


@pytest.mark.parametrize("again", [False, True])
async def test_what_was_to_be_remembered_is_stored_once_and_said_once(world: World, again: bool) -> None:
    await long_talk(world)
    if again:
        small_window(world, 1)
    before = len(world.replies)
    await world.say(f"记住我怕狗。{QUESTION}")
    (reply,) = world.replies[before:]
    assert reply.startswith("记住啦 #")
    assert reply.count("记住啦") == 1
    assert reply.endswith("好的") != again
    assert world.peek.memories("text", source="command") == [("我怕狗",)]


async def test_other_peoples_lines_are_told_once_in_the_new_log(world: World) -> None:
    small_window(world, 4)
    for text in ("小暖，讲个故事", "小暖，再讲一个"):
        await world.say(text, "阿明", "家")
    await world.say("今天去看了河马", "阿红", "家")
    await world.say(f"小暖，{QUESTION}", "阿明", "家")
    assert world.replies == ["好的"] * 3
    shown = world.turns[-1][-1].content
    assert (len(world.turns[-1]), shown.count("河马"), shown.count(QUESTION)) == (2, 1, 1)


async def test_after_a_crash_between_the_two_calls_it_is_answered_once(world: World) -> None:
    await long_talk(world)
    before = len(world.replies)
    world.shut()
    await world.app.ingest.accept(world.message(f"记住我怕狗。{QUESTION}"))
    await world.held()
    await world.answer_one()
    assert sessions(world)[0] == ("closing", "budget")
    await world.crash()
    (reply,) = world.replies[before:]
    assert (reply.count("记住啦"), reply.endswith("好的")) == (1, True)
    assert world.peek.memories("text", source="command") == [("我怕狗",)]
    assert left(world) == 0
    assert [made for _, made in digests(world)] == ["model"]


async def test_a_log_that_grows_too_long_with_a_tools_answer_is_begun_anew_as_well(world: World) -> None:
    await long_talk(world)

    def script(request: ModelRequest) -> Answer:
        if is_digest(request) or len(request.prompt.messages) > 2 * len(TALK) + 3:
            return FULL
        last = request.prompt.messages[-1]
        return "查到了" if last.role == "tool" else calls(("memory_recall", '{"query": "猫"}'))

    world.model.script = script
    before = len(world.replies)
    await world.say(QUESTION)
    assert world.replies[before:] == ["查到了"]
    assert left(world) == 0


async def test_what_was_shown_of_the_answer_that_did_not_fit_is_taken_away_or_becomes_the_answer(
    new_world: NewWorld,
) -> None:
    world = await new_world()
    talk, model = Lively(size=10_000), StreamingModel()
    await world.close()
    world.talk, world.model = talk, model
    await world.open()
    for number, fault in enumerate((None, FULL, None)):
        if number < 2:
            await world.app.ingest.accept(world.message(f"讲第{number}个故事"))
        await until(lambda: model.writing)
        if number == 1:
            model.write(ONCE)
            await pass_interval(world, 1_500)
            await until(lambda: "m2" in talk.shown)
        model.fault = fault
        model.write(f"第{number}个")
        model.finish()
        if number != 1:
            await world.app.settled()
        else:
            await until(lambda: not model.writing)
    assert list(talk.shown.values()) == ["第0个", "第2个"]
