"""Discord answers with errors of its own, or connects anew: nothing is lost, and one channel's trouble is not all's."""

import asyncio
from collections.abc import Collection
from dataclasses import replace

import pytest

from adapters.discord import Shards
from adapters.discord.channels import IDLE_CHANNELS_KEPT, ChannelQueues
from bot.core.errors import SendError, StatementError
from bot.core.events import Incoming, Place
from tests.discord_support import COMMANDS, Lines, RecordingSink, Scene, Town, adapter_for, outgoing, running
from tests.fakes.clock import SimClock, let_others_run
from tests.sizes import PATIENCE_S


async def awake(scene: Scene, ms: int) -> None:
    """That much time passes, once somebody waits for it."""
    due = scene.clock.now() + ms
    while not any(alarm.when == due and not alarm.cancelled for alarm in scene.clock._alarms):
        await let_others_run()
    await scene.clock.advance(ms, let_others_run)


async def test_a_channel_never_seen_is_read_before_what_is_known_moves_the_mark(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: scene.sink.texts == ["before"])
    town.say(town.other, town.lin, "IMPORTANT")
    town.say(town.hall, town.lin, "later")
    town.server.misbehave("502", times=1, method="GET", path=rf"/channels/{town.other.id}/messages")
    async with running(town.server, scene):
        await town.server.until(lambda: any(asked.status == 502 for asked in town.server.requests))
        assert scene.sink.texts == ["before"]
    async with running(town.server, scene):
        await scene.sink.until(lambda: len(scene.sink.stored) == 3)
    assert scene.sink.texts == ["before", "IMPORTANT", "later"]


async def test_a_history_that_fails_is_tried_again_while_other_channels_go_on(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        town.say(town.dm, town.lin, "hi")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    town.say(town.hall, town.lin, "missed")
    town.server.misbehave("503", times=2, method="GET", path=rf"/channels/{town.hall.id}/messages")
    async with running(town.server, scene):
        town.say(town.dm, town.lin, "still here?")
        await scene.sink.until(lambda: "still here?" in scene.sink.texts)
        await awake(scene, 1_000)
        await scene.sink.until(lambda: "missed" in scene.sink.texts)
    assert scene.log.names.count("discord_history_unread") == 1


async def test_chatting_works_where_the_list_of_commands_cannot_be_had(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    town.server.misbehave("502", times=9, method="GET", path=r"/applications/\d+/commands")
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "hi")
        await scene.sink.until(lambda: scene.sink.texts == ["hi"])
    assert "discord_commands_failed" in scene.log.names


async def test_two_connections_in_a_row_strand_no_channel(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        assert scene.running is not None
        scene.sink.open.clear()
        town.say(town.dm, town.lin, "the first ever")
        for count in (2, 3):
            town.server.gateway.drop(4000, resumable=False)
            async with asyncio.timeout(PATIENCE_S):
                while scene.log.names.count("discord_connected") < count:
                    await asyncio.wait((scene.running,), timeout=0.01)
        scene.sink.open.set()
        await scene.sink.until(lambda: scene.sink.texts == ["the first ever"])


async def test_a_preview_that_was_taken_away_does_not_come_back(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        shown = await scene.adapter.show(outgoing(town.hall, "…"))
        preview = replace(outgoing(town.hall, "half of it"), preview_id=shown)
        await scene.adapter.withdraw(preview)
        with pytest.raises(SendError):
            await scene.adapter.show(preview)
        await scene.adapter.withdraw(preview)
    assert town.server.texts(town.hall) == []


async def test_a_slash_command_is_stored_before_discord_hears_that_it_arrived(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        scene.sink.broken = OSError("disk full")
        town.server.people.slash(town.hall, town.lin, "remember", text="我怕狗")
        await scene.sink.until(lambda: scene.sink.refused > 0)
        assert not any(asked.path.startswith("/interactions") for asked in town.server.requests)


async def test_both_parts_of_an_answer_only_one_may_see_arrive_though_discord_fails_once(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        town.server.people.slash(town.hall, town.lin, "ai ctx")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
        via = scene.sink.stored[0].via
        await scene.adapter.send(replace(outgoing(town.hall, "one", 1), via=via, only_for=str(town.lin.id)))
        town.server.misbehave("503", times=1, path=r"/webhooks/.*")
        await scene.adapter.send(
            replace(outgoing(town.hall, "two", 2), further=True, via=via, only_for=str(town.lin.id))
        )
    assert [one.content for one in town.server.ephemeral(town.lin)] == ["one", "two"]
    assert town.server.texts(town.hall) == []


async def test_a_further_part_that_may_have_arrived_is_not_sent_again(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        town.server.people.slash(town.hall, town.lin, "ai ctx")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
        via = scene.sink.stored[0].via
        await scene.adapter.send(replace(outgoing(town.hall, "one", 1), via=via, only_for=str(town.lin.id)))
        town.server.misbehave("reset_after", times=9, path=r"/webhooks/.*")
        with pytest.raises(SendError) as error:
            await scene.adapter.send(
                replace(outgoing(town.hall, "two", 2), further=True, via=via, only_for=str(town.lin.id))
            )
    assert error.value.fate == "unknown"


async def test_an_answer_is_not_held_up_by_a_slash_command_that_a_lost_connection_cut_off(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        scene.sink.open.clear()
        town.server.people.slash(town.hall, town.lin, "ai ctx")
        while not scene.adapter._interactions._told:
            await let_others_run()
        (handle,) = scene.adapter._interactions._told
    scene.sink.open.set()
    async with running(town.server, scene):
        answer = replace(outgoing(town.hall, "here"), via=handle, only_for=str(town.lin.id))
        await asyncio.wait_for(scene.adapter.send(answer), PATIENCE_S)
    assert town.server.texts(town.dm) == ["here"]
    assert town.server.texts(town.hall) == []


async def test_channels_whose_histories_fail_hold_up_no_other(town: Town, scene: Scene) -> None:
    places = [town.server.world.add_channel(town.guild, f"c{number}") for number in range(6)]
    async with running(town.server, scene):
        for place in places:
            town.say(place, town.lin, "before")
        await scene.sink.until(lambda: len(scene.sink.stored) == 6)
    for place in places:
        town.say(place, town.lin, "missed")
    failing = "|".join(str(place.id) for place in places[:-1])
    town.server.misbehave("503", times=99, method="GET", path=rf"/channels/(?:{failing})/messages")
    async with running(town.server, scene):
        await scene.sink.until(lambda: scene.sink.of(places[-1]) == ["before", "missed"])


async def test_a_connection_that_falls_silent_is_given_up_and_loses_nothing(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        client = scene.adapter._client
        assert client is not None
        assert client.ws._max_heartbeat_timeout == 60, "what the library waits for a word"
        client.ws._max_heartbeat_timeout = 0.3
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: scene.sink.texts == ["before"])
        town.server.gateway.fall_silent()
        town.say(town.hall, town.lin, "meanwhile")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    assert scene.sink.texts == ["before", "meanwhile"]
    assert town.server.gateway.resumed == 1


class Quiet:
    """A past in which nothing happened, and a sink that takes everything."""

    looked = 0

    async def missed(self, there: Place, after: str) -> tuple[Incoming, ...]:
        """Nothing."""
        self.looked += 1
        return ()

    async def changed(self, there: Place, stored: Collection[str]) -> tuple[Incoming, ...]:
        """Nothing."""
        return ()


async def test_channels_at_rest_are_not_remembered_for_ever() -> None:
    sink, past, log = RecordingSink(), Quiet(), Lines()
    queues = ChannelQueues(sink, past, SimClock(0), log, Shards())
    queues.connected(0)
    said = [
        Incoming(
            Place("discord", str(number), "group"),
            None,
            "message",
            "hi",
            delivery_key=f"{number}",
            external_id=f"{number}",
        )
        for number in range(3 * IDLE_CHANNELS_KEPT)
    ]
    for begin in range(0, len(said), 512):
        for incoming in said[begin : begin + 512]:
            queues.put(incoming)
        while any(queue.task for queue in queues._queues.values()):
            await let_others_run()
    assert len(sink.stored) == len(said)
    assert len(queues._queues) == IDLE_CHANNELS_KEPT
    queues.put(replace(said[0], delivery_key="again"))
    while any(queue.task for queue in queues._queues.values()):
        await let_others_run()
    assert (len(sink.stored), past.looked) == (len(said) + 1, 1), "a forgotten one is looked at once more"
    await queues.close()


async def test_one_event_that_the_store_cannot_take_does_not_stop_the_others(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        scene.sink.broken = StatementError("odd")
        town.say(town.hall, town.lin, "odd")
        await scene.sink.until(lambda: scene.sink.refused == 1)
        scene.sink.broken = None
        town.say(town.hall, town.lin, "even")
        await scene.sink.until(lambda: scene.sink.texts == ["even"])
    assert len(town.server.gateway.identified) == 1
