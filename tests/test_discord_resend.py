"""What a Discord row whose first try was long ago does: the nonce is forgotten, so the channel is looked at."""

from dataclasses import replace

import pytest

from adapters.discord.sending import LOOK_BACK
from bot.core.errors import SendError
from tests.discord_support import Scene, Town, adapter_for, outgoing, running

TEN_MINUTES = 600_000


async def test_a_row_of_an_earlier_process_is_found_in_the_channel_long_after(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        first = await scene.adapter.send(outgoing(town.hall, "once"))
        town.say(town.hall, town.ann, "something else")
    town.server.rest._nonces.clear()
    later = adapter_for(town.server)
    tried = later.clock.now() - TEN_MINUTES
    async with running(town.server, later):
        assert await later.adapter.send(replace(outgoing(town.hall, "once"), again=True, tried_at=tried)) == first
        await later.adapter.send(outgoing(town.hall, "once", number=2))
    assert town.server.texts(town.hall) == ["once", "once"]


async def test_what_was_tried_too_long_ago_is_sent_only_where_the_channel_shows_that_it_never_came(
    town: Town, scene: Scene
) -> None:
    tried = replace(outgoing(town.hall, "late"), again=True, tried_at=scene.clock.now() - TEN_MINUTES)
    town.say(town.hall, town.ann, "long before").id -= (2 * TEN_MINUTES) << 22
    for number in range(98):
        town.say(town.hall, town.ann, f"since then {number}")
    async with running(town.server, scene):
        await scene.adapter.send(tried)
        town.server.rest._nonces.clear()
        for number in range(LOOK_BACK):
            town.say(town.hall, town.ann, f"and then {number}")
        with pytest.raises(SendError) as error:
            await scene.adapter.send(replace(tried, outbox_id=2))
        assert error.value.fate == "unknown"
        await scene.adapter.send(replace(tried, outbox_id=3, tried_at=scene.clock.now() - 60_000))
    assert town.server.texts(town.hall) == ["late", "late"]
