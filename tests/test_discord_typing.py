"""Discord tells who is typing: the sink hears it, with the place and the account, and of nuan itself nothing."""

from collections.abc import AsyncIterator

import pytest

from bot.core.events import Place
from tests.discord_support import RecordingSink, Town, adapter_for, running
from tests.fakes.discord_server import FakeDiscord


class Listening(RecordingSink):
    """A sink that wants to know."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[tuple[Place, str]] = []

    def typing(self, place: Place, account: str) -> None:
        self.typed.append((place, account))
        self._changed.set()


@pytest.fixture
async def server() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


async def test_who_types_where_reaches_the_door(server: FakeDiscord) -> None:
    town, scene = Town(server), adapter_for(server)
    scene.sink = sink = Listening()
    async with running(server, scene):
        for place, who in ((town.hall, town.lin), (town.hall, server.world.bot), (town.dm, town.lin)):
            server.begin_typing(place, who)
        town.say(town.hall, town.lin, "one")
        await sink.until(lambda: len(sink.stored) == 1)
        await sink.until(lambda: len(sink.typed) == 2)
    assert [(place.kind, place.external_id, account) for place, account in sink.typed] == [
        ("group", str(town.hall.id), str(town.lin.id)),
        ("dm", str(town.dm.id), str(town.lin.id)),
    ]
    assert [one.kind for one in sink.stored] == ["message"]


async def test_a_door_that_does_not_listen_is_left_alone(server: FakeDiscord) -> None:
    town, scene = Town(server), adapter_for(server)
    async with running(server, scene):
        server.begin_typing(town.hall, town.lin)
        town.say(town.hall, town.lin, "one")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
    assert "discord_malformed" not in scene.log.names
