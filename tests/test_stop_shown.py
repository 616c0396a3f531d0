"""What people had already seen of a reply that was stopped: it stays, and the model is told of it."""

import asyncio
from pathlib import Path

from bot.core.events import Incoming
from tests.fakes.platform import Drafting, Lively
from tests.peek import Like
from tests.test_sending import LONG, ONCE, ask, opened, pass_interval, until, writer
from tests.world import World

STOPPED = "好，我不说了"


async def begun(folder: Path, talk: Lively) -> World:
    """Half a story is on the screen."""
    world = await opened(folder, talk)
    model = await ask(world)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    model.write("停在这里")
    await pass_interval(world, 1_500)
    await until(lambda: talk.shown["m1"] == model.written)
    return world


async def test_half_a_reply_stays_as_it_is_and_the_next_delta_tells_what_people_saw(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await begun(tmp_path, talk)
    half = talk.shown["m1"]
    await world.say("停")
    assert talk.shown == {"m1": half, "m2": STOPPED}
    assert world.peek.outbox("state", "text") == [("sent", ""), ("sent", "")]
    await world.app.ingest.accept(world.message("后来呢"))
    await until(lambda: len(world.prompts) == 2)
    assert f'<b cut="1">{ONCE[:20]}' in world.last_user
    assert [message.role for message in world.prompts[-1]] == ["system", "user"]
    writer(world).finish()
    await world.close()


async def test_a_question_that_is_deleted_takes_what_was_shown_of_its_answer_along(tmp_path: Path) -> None:
    world = await begun(tmp_path, Lively(size=10_000))
    await world.say("停")
    place = world.message("").place
    await world.app.ingest.accept(Incoming(place, None, "event", label="delete", target="m1"))
    await world.app.settled()
    assert world.peek.events.count(text=Like("%一座庙%")) == 0
    await world.close()


async def test_a_preview_that_a_crash_left_can_be_stopped(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await begun(tmp_path, talk)
    half = talk.shown["m1"]
    world.model = type(writer(world))()
    await world.crash(shut=True)
    await until(lambda: writer(world).writing)
    await world.say("停")
    assert talk.shown == {"m1": half, "m2": STOPPED}
    await world.close()


async def test_a_placeholder_without_a_word_is_taken_away(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    await world.say("停")
    await world.wait(5)
    assert list(talk.shown.values()) == [STOPPED]
    assert world.peek.events.count(label="cut") == 0
    await world.close()


async def test_a_draft_was_seen_too(tmp_path: Path) -> None:
    talk = Drafting(size=10_000)
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write("从前有座山")
    await pass_interval(world, 700)
    await until(lambda: talk.drafts == ["从前有座山"])
    await world.say("停")
    assert list(talk.shown.values()) == [STOPPED]
    assert world.peek.events("text", label="cut") == [("从前有座山",)]
    await world.close()


async def test_parts_that_wait_are_not_sent_and_the_line_holds_what_went(tmp_path: Path) -> None:
    talk = Lively(size=100)
    world = await opened(tmp_path, talk)
    talk.slow = asyncio.Event()
    model = await ask(world)
    model.write(LONG)
    model.finish()
    await until(lambda: len(talk.history) == 1)
    await world.app.ingest.accept(world.message("停"))
    talk.slow.set()
    await world.app.settled()
    assert list(talk.shown.values()) == [LONG[:100], STOPPED]
    assert world.peek.events("text", "label", turn_id=1, kind="bot") == [(LONG[:100], "cut")]
    assert world.peek.outbox("state") == [
        ("sent",),
        ("cancelled",),
        ("cancelled",),
        ("sent",),
    ]
    await world.close()


async def test_a_log_that_goes_on_is_told_what_people_saw(tmp_path: Path) -> None:
    world = await opened(tmp_path, Lively(size=10_000))
    model = await ask(world, "你好")
    model.write("在的")
    model.finish()
    await world.app.settled()
    await ask(world)
    for piece in (ONCE, "停在这里"):
        model.write(piece)
        await pass_interval(world, 1_500)
        await until(lambda: world.peek.outbox("preview_id", turn_id=2) == [("m2",)])
    await until(lambda: world.peek.outbox("text", turn_id=2) == [(model.written,)])
    await world.say("停")
    await world.app.ingest.accept(world.message("后来呢"))
    await until(lambda: len(world.prompts) == 3)
    assert [message.role for message in world.prompts[-1]] == ["system", "user", "assistant", "user"]
    assert f'<b cut="1">{ONCE[:20]}' in world.last_user
    model.finish()
    await world.close()


async def test_what_is_just_being_shown_is_taken_away_when_its_turn_is_stopped(tmp_path: Path) -> None:
    talk = Lively(size=10_000, slow=asyncio.Event())
    assert talk.slow is not None
    world = await opened(tmp_path, talk)
    model = await ask(world)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: bool(talk.history))
    await world.app.ingest.accept(world.message("停"))
    await until(lambda: world.peek.turns.count(state="void") == 1)
    talk.slow.set()
    await world.app.settled()
    await world.wait(5)
    assert list(talk.shown.values()) == [STOPPED]
    await world.close()
