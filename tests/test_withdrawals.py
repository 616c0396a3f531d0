"""A question that is deleted while it is being answered: what was shown of the answer is taken away again."""

import asyncio
from pathlib import Path

from bot.core.errors import SendError
from bot.core.events import Incoming
from tests.fakes.platform import Lively, StreamingModel
from tests.test_sending import ONCE, opened, pass_interval, until, writer
from tests.world import World

WITHDRAWN = [("withdrawal", "sent")]


async def asked(folder: Path, talk: Lively) -> tuple[World, StreamingModel]:
    """Somebody asked for a story (message 77), and the model has begun."""
    world = await opened(folder, talk)
    model = writer(world)
    await world.app.ingest.accept(world.message("讲个故事", external_id="77"))
    await until(lambda: model.writing)
    return world, model


async def shown(world: World, model: StreamingModel) -> None:
    """The beginning of the story is on the screen."""
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])


async def deleted(world: World) -> None:
    """The question is deleted."""
    place = world.message("").place
    await world.app.ingest.accept(Incoming(place, None, "event", label="delete", target="77"))


def left(world: World) -> list[tuple[object, ...]]:
    return world.peek.outbox("kind", "state")


async def test_half_a_reply_to_a_message_that_was_deleted_is_taken_away_again(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world, model = await asked(tmp_path, talk)
    await shown(world, model)
    await deleted(world)
    await until(lambda: talk.shown == {})
    model.finish()
    await world.app.settled()
    assert (talk.shown, left(world)) == ({}, WITHDRAWN)
    await world.close()


async def test_a_preview_on_its_way_when_its_message_is_deleted_is_taken_away_when_it_arrives(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    talk.slow = asyncio.Event()
    world, model = await asked(tmp_path, talk)
    model.write(ONCE)
    await pass_interval(world, 1_500)
    await until(lambda: bool(talk.history))
    await deleted(world)
    talk.slow.set()
    model.write("座山")
    model.finish()
    await world.wait(60)
    assert (talk.shown, left(world)) == ({}, WITHDRAWN)
    await world.close()


async def test_what_waits_to_end_its_preview_is_taken_away_when_its_question_is_deleted(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    talk.fates = [SendError("later", "502", 30_000)]
    world, model = await asked(tmp_path, talk)
    await shown(world, model)
    model.finish()
    await world.app.settled()
    await deleted(world)
    await world.wait(60)
    assert (talk.shown, left(world)) == ({}, WITHDRAWN)
    await world.close()


async def test_a_placeholder_is_not_filled_when_its_question_was_deleted_meanwhile(tmp_path: Path) -> None:
    talk = Lively(size=10_000, placeholder=True)
    talk.slow = asyncio.Event()
    world, model = await asked(tmp_path, talk)
    model.write("短。")
    model.finish()
    await until(lambda: bool(talk.history))
    await deleted(world)
    talk.slow.set()
    await world.wait(60)
    assert (talk.shown, talk.said) == ({}, [])
    await world.close()
