"""The Discord adapter against a strict fake server: what comes in, what goes out, what happens when things break."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from bot.core.errors import PlatformError, SendError, StoreError
from bot.core.events import Place
from tests.discord_support import COMMANDS, RecordingSink, Scene, Town, adapter_for, outgoing, running
from tests.fakes.clock import let_others_run
from tests.fakes.discord_gateway import MESSAGE_CONTENT, PRIVILEGED
from tests.fakes.discord_server import FakeDiscord
from tests.sizes import PATIENCE_S

pytestmark = pytest.mark.debugged


async def test_a_message_comes_through_the_door_and_an_answer_goes_back(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        said = town.say(town.hall, town.lin, f"{town.server.world.bot.mention} 在吗")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
        ids = await scene.adapter.send(outgoing(town.hall, "在的"))
    (incoming,) = scene.sink.stored
    assert (incoming.text, incoming.mentions_bot, incoming.external_id) == ("在吗", True, str(said.id))
    assert (incoming.place.title, incoming.place.parent) == ("#hall", str(town.guild.id))
    (sent,) = town.server.sent(town.hall)
    assert ids == (str(sent.id),)
    assert (sent.allowed_mentions, sent.previews) == ({"parse": []}, False)


async def test_without_a_gateway_address_the_api_is_asked_for_it(town: Town) -> None:
    scene = adapter_for(town.server, gateway=False)
    async with running(town.server, scene):
        town.say(town.dm, town.lin, "hi")
        await scene.sink.until(lambda: scene.sink.texts == ["hi"])
    assert [asked.path for asked in town.server.requests].count("/gateway/bot") == 1


async def test_the_order_inside_a_channel_is_kept(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        for number in range(40):
            town.say(town.hall, town.lin, f"a{number}")
            town.say(town.other, town.ann, f"b{number}")
        await scene.sink.until(lambda: len(scene.sink.stored) == 80)
    assert scene.sink.of(town.hall) == [f"a{number}" for number in range(40)]
    assert scene.sink.of(town.other) == [f"b{number}" for number in range(40)]


async def test_the_same_row_sent_again_stands_there_once(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        first = await scene.adapter.send(outgoing(town.hall, "once"))
        again = await scene.adapter.send(outgoing(town.hall, "once"))
    assert first == again
    assert town.server.texts(town.hall) == ["once"]


async def test_a_row_cut_off_after_arriving_is_sent_later_and_stands_there_once(town: Town, scene: Scene) -> None:
    town.server.misbehave("reset_after")
    async with running(town.server, scene):
        with pytest.raises(SendError) as error:
            await scene.adapter.send(outgoing(town.hall, "once"))
        assert error.value.fate == "later"
        await scene.adapter.send(outgoing(town.hall, "once"))
    assert town.server.texts(town.hall) == ["once"]


async def test_what_was_missed_comes_once_and_before_what_is_new(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        for place in (town.hall, town.other, town.dm):
            town.say(place, town.lin, "before")
        await scene.sink.until(lambda: len(scene.sink.stored) == 3)
    for number in range(10):
        for place in (town.hall, town.other, town.dm):
            town.say(place, town.lin, f"missed {number}")
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "after")
        await scene.sink.until(lambda: len(scene.sink.stored) == 34)
    expected = ["before", *(f"missed {number}" for number in range(10))]
    assert scene.sink.of(town.hall) == [*expected, "after"]
    assert scene.sink.of(town.other) == scene.sink.of(town.dm) == expected
    assert all(one.at > 0 for one in scene.sink.stored)


async def test_what_is_new_waits_until_what_was_missed_is_read(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
    missed = [town.say(town.hall, town.lin, f"missed {number}").content for number in range(3)]
    scene.sink.open.clear()
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "new")
        town.say(town.other, town.lin, "elsewhere")
        scene.sink.open.set()
        await scene.sink.until(lambda: len(scene.sink.stored) == 6)
    assert scene.sink.of(town.hall) == ["before", *missed, "new"]


async def test_more_than_one_page_of_history_is_read(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
    expected = ["before", *(town.say(town.hall, town.lin, f"missed {number}").content for number in range(250))]
    async with running(town.server, scene):
        await scene.sink.until(lambda: len(scene.sink.stored) == 251)
    assert scene.sink.of(town.hall) == expected


async def test_an_event_that_only_the_door_cannot_take_is_passed_over(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        scene.sink.broken = ValueError("odd")
        town.say(town.hall, town.lin, "odd")
        await scene.sink.until(lambda: scene.sink.refused == 1)
        scene.sink.broken = None
        town.say(town.hall, town.lin, "even")
        await scene.sink.until(lambda: scene.sink.texts == ["even"])


async def test_a_fresh_install_reads_no_old_messages(town: Town, scene: Scene) -> None:
    town.say(town.hall, town.lin, "long ago")
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "now")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
    assert scene.sink.texts == ["now"]
    assert not any(asked.path.endswith("/messages") for asked in town.server.requests)


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_cut_connection_loses_nothing(town: Town, scene: Scene, resumable: bool) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: scene.sink.texts == ["before"])
        town.server.gateway.drop(4000, resumable=resumable)
        town.say(town.hall, town.lin, "meanwhile")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    assert scene.sink.texts == ["before", "meanwhile"]


async def test_one_malformed_event_does_not_stop_the_others(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.server.gateway.malformed()
        town.say(town.hall, town.lin, "still there")
        await scene.sink.until(lambda: scene.sink.texts == ["still there"])
    assert scene.log.names.count("discord_malformed") == 1
    assert len(town.server.gateway.identified) == 1


async def test_a_frame_that_is_no_json_ends_in_an_error_that_may_be_tried_again(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.server.gateway.malformed('{"op": 0, "t"')
        assert scene.running is not None
        await asyncio.wait((scene.running,), timeout=10)
        assert isinstance(scene.running.exception(), ConnectionError)


async def test_a_server_that_fails_is_asked_once_and_the_outbox_decides_about_another_try(
    town: Town, scene: Scene
) -> None:
    async with running(town.server, scene):
        for status in ("502", "503"):
            town.server.misbehave(status, times=9)
            with pytest.raises(SendError) as error:
                await scene.adapter.send(outgoing(town.hall, "在的"))
            assert (error.value.fate, error.value.detail) == ("later", "ServerFault")
            town.server.front.faults.clear()
    tries = [asked.status for asked in town.server.requests if asked.path.endswith("/messages")]
    assert tries == [502, 503]


async def test_a_store_that_fails_ends_the_run_and_the_message_comes_again(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "first")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
        scene.sink.broken = StoreError("the disk is full")
        town.say(town.hall, town.lin, "second")
        assert scene.running is not None
        await asyncio.wait((scene.running,), timeout=10)
        assert isinstance(scene.running.exception(), StoreError)
    scene.sink.broken = None
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "third")
        await scene.sink.until(lambda: len(scene.sink.stored) == 3)
    assert scene.sink.texts == ["first", "second", "third"]


class AwaySink(RecordingSink):
    """A sink that cannot say which places it knows when it is asked for the n-th time."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._left = number

    async def places(self, platform: str) -> tuple[Place, ...]:
        self._left -= 1
        if not self._left:
            raise StoreError("the server is away")
        return await super().places(platform)


@pytest.mark.parametrize("number", [1, 2])
async def test_a_store_that_cannot_say_which_places_it_knows_ends_the_run(
    town: Town, scene: Scene, number: int
) -> None:
    with pytest.raises(StoreError):
        await asyncio.wait_for(scene.adapter.run(AwaySink(number)), PATIENCE_S)


async def test_a_wrong_token_is_final_and_not_told() -> None:
    async with FakeDiscord("another.made-up.token") as server:
        scene = adapter_for(server)
        with pytest.raises(PlatformError, match="token") as error:
            await scene.adapter.run(scene.sink)
    assert error.value.final
    assert "made-up" not in f"{error.value}{scene.log.kept}"


@pytest.mark.parametrize("privileged", [0, PRIVILEGED & ~MESSAGE_CONTENT])
async def test_an_intent_that_is_off_is_final_and_named(privileged: int) -> None:
    async with FakeDiscord(privileged=privileged) as server:
        scene = adapter_for(server)
        with pytest.raises(PlatformError, match="Message Content Intent") as error:
            await scene.adapter.run(scene.sink)
    assert error.value.final


async def test_nobody_listening_is_an_error_that_may_be_tried_again(town: Town) -> None:
    async with FakeDiscord() as gone:
        scene = adapter_for(gone)
    with pytest.raises(OSError, match="Cannot connect"):
        await scene.adapter.run(scene.sink)


async def test_sending_before_the_connection_stands_is_for_a_second_later(town: Town, scene: Scene) -> None:
    with pytest.raises(SendError) as error:
        await scene.adapter.send(outgoing(town.hall, "too early"))
    assert (error.value.fate, error.value.wait_ms) == ("later", 1_000)


async def test_a_channel_that_can_only_be_read_is_muted_and_who_blocks_is_gone(town: Town, scene: Scene) -> None:
    town.hall.writable = False
    town.lin.blocks_bot = True
    async with running(town.server, scene):
        for place, fate in ((town.hall, "muted"), (town.dm, "gone")):
            with pytest.raises(SendError) as error:
                await scene.adapter.send(outgoing(place, "hello"))
            assert error.value.fate == fate
        with pytest.raises(SendError) as error:
            await scene.adapter.send(replace(outgoing(town.other, "secret"), only_for=str(town.lin.id)))
        assert error.value.fate == "shut"
    assert town.server.texts(town.other) == []


async def test_too_long_a_wait_is_handed_back(town: Town, scene: Scene) -> None:
    town.server.misbehave("429", retry_after=90)
    async with running(town.server, scene):
        with pytest.raises(SendError) as error:
            await scene.adapter.send(outgoing(town.hall, "hello"))
    assert (error.value.fate, error.value.wait_ms) == ("later", 90_000)


def of_the_library() -> list[str]:
    """What of the adapter and its library is still running."""
    codes = (getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks())
    return [code.co_qualname for code in codes if code is not None and "/discord/" in code.co_filename]


async def test_stopping_is_quick_and_leaves_nothing_running(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        scene.adapter.typing(str(town.hall.id), True)
        town.say(town.hall, town.lin, "hi")
    assert of_the_library() == []


def asked_at_least(server: FakeDiscord, count: int) -> bool:
    return len(server.requests) >= count


async def test_stopping_at_any_moment_leaves_nothing_running(town: Town) -> None:
    for requests in range(16):
        scene = adapter_for(town.server, commands=COMMANDS)
        before = len(town.server.requests) + min(requests, 3)
        task = asyncio.create_task(scene.adapter.run(scene.sink))
        await town.server.until(partial(asked_at_least, town.server, before))
        for _ in range(requests):
            await let_others_run()
        task.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert of_the_library() == []
