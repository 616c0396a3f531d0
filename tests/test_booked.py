"""A stop at any moment leaves no call reserved that nobody makes."""

import asyncio

from tests.conftest import OpenMedia
from tests.fakes.clock import let_others_run
from tests.fakes.media import PNG, image


async def test_a_stop_while_a_look_is_being_reserved_gives_the_reservation_back(open_world: OpenMedia) -> None:
    world = await open_world()
    ingest, stops = world.app.ingest, list[asyncio.Task[bool]]()

    async def stop() -> None:
        """The person says stop, and it is stored in the same moment as the reservation."""
        stops.append(asyncio.create_task(ingest.accept(world.message("停", "阿明"))))
        for _ in range(len(stops) % 6):
            await let_others_run()

    world.files.meanwhile = stop
    for number in range(30):
        world.files.files["cat"] = PNG + bytes([number])  # never seen before
        await ingest.accept(world.message("这是什么", "阿明", attachments=(image(),)))
        await world.app.settled()
        await asyncio.gather(*stops)
        await world.app.settled()
        assert world.peek.calls("id", state="reserved") == []
    assert len(stops) == 30
