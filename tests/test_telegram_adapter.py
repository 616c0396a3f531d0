"""The Telegram adapter polls with the real library against a strict fake server on loopback."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

import aiohttp
import pytest
from telegram import Message, Update
from telegram.error import NetworkError, RetryAfter

from adapters.telegram.events import BotAccount
from adapters.telegram.polling import STORE_TRIES, IngestQueue
from bot.core.errors import PlatformError, StatementError, StoreError
from bot.core.events import Incoming
from bot.core.ports import Adapter, Drafts, Edits, Files, Splits, Typing
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.telegram_faults import Fault, Limits
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.telegram_stage import ANN, BO, Lines, RecordingSink, confirmed, make, polls, stage

pytestmark = pytest.mark.debugged


@pytest.fixture
async def server() -> AsyncGenerator[FakeTelegram]:
    async with FakeTelegram(limits=Limits(private=1000.0, burst=1000)) as fake:
        yield fake


async def test_it_is_everything_that_the_installation_knows_of(server: FakeTelegram) -> None:
    adapter: Adapter = make(server, Lines())
    assert all(isinstance(adapter, port) for port in (Splits, Typing, Edits, Drafts, Files))
    assert adapter.platform == "telegram"
    assert not adapter.resends


async def test_a_message_is_stored_before_telegram_may_forget_it(server: FakeTelegram) -> None:
    sink = RecordingSink(hold=asyncio.Event())
    async with stage(server, sink=sink) as on:
        posted = server.people.say(ANN.id, ANN, "在吗")
        with suppress(TimeoutError):
            await server.until(lambda: confirmed(server, posted), within=0.3)
        assert not confirmed(server, posted)
        assert sink.hold is not None
        sink.hold.set()
        await on.sink.until(1)
        await server.until(lambda: confirmed(server, posted))


class SlowSink(RecordingSink):
    """Stores a message once as many have come as are stored at once here."""

    def __init__(self, together: int) -> None:
        super().__init__()
        self._together, self._come, self._enough = together, 0, asyncio.Event()

    async def accept(self, incoming: Incoming) -> bool:
        self._come += 1
        if self._come == self._together:
            self._enough.set()
        await self._enough.wait()
        return await super().accept(incoming)


async def test_what_one_poll_brings_is_stored_beside_each_other_and_each_chat_in_its_order(
    server: FakeTelegram,
) -> None:
    for number in range(3):
        for person in (ANN, BO):
            server.people.say(person.id, person, f"{person.first_name}{number}")
    async with stage(server, sink=SlowSink(together=2)) as on:
        await on.sink.until(6)
        for person in (ANN, BO):
            texts = [text for text in on.sink.texts if text.startswith(person.first_name)]
            assert texts == [f"{person.first_name}{number}" for number in range(3)]


async def test_a_message_that_cannot_be_stored_comes_again_and_polling_goes_on(server: FakeTelegram) -> None:
    sink = RecordingSink(problems=[StoreError("disk full"), RuntimeError("odd")])
    async with stage(server, sink=sink) as on:
        server.people.say(ANN.id, ANN, "一")
        server.people.say(ANN.id, ANN, "二")
        await on.sink.until(2)
        assert on.sink.texts == ["一", "二"]
        assert not on.task.done()
        assert any("telegram_not_stored" in line and "disk full" in line for line in on.log.lines)


async def test_one_message_whose_content_can_never_be_stored_does_not_stop_the_others(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.world.updates.add("message", {"message_id": 1, "date": "yesterday", "chat": {"id": 1}})
        server.people.say(ANN.id, ANN, "还在")
        await on.sink.until(1)
        assert on.sink.texts == ["还在"]
        assert sum("telegram_update_skipped" in line for line in on.log.lines) == 1


async def test_whatever_breaks_the_storing_of_one_update_polling_goes_on_with_the_others() -> None:
    def update(number: int) -> Update:
        who = {"id": 1, "is_bot": False, "first_name": "Ann"}
        body = {"message_id": number, "date": 1, "text": "坏", "chat": {"id": 1, "type": "private"}, "from": who}
        return Update(number, Message.de_json(body, None))

    log = Lines()
    queue = IngestQueue(sink := RecordingSink(), BotAccount(99, "nuan_bot", (), "暖"), log, lambda update: None)
    problems = (OverflowError(), AttributeError(), RecursionError(), AssertionError(), StatementError("odd"))
    for number, error in enumerate(problems):
        sink.problems = [error] * STORE_TRIES
        for _ in range(STORE_TRIES - 1):
            with pytest.raises(NetworkError):
                await queue.put(update(number))
        await queue.put(update(number))
        assert sink.problems == []
    assert sum("telegram_update_skipped" in line for line in log.lines) == 5
    sink.problems = [StoreError("disk full"), OSError("disk full")] * STORE_TRIES
    for _ in range(STORE_TRIES):
        with pytest.raises(RetryAfter):
            await queue.put(update(9))
        with pytest.raises(NetworkError):
            await queue.put(update(9))
    await queue.put(update(9))
    assert sink.texts == ["坏"], "what nothing is wrong with waits for the disk"


class Refusing(RecordingSink):
    """Stores nothing."""

    async def accept(self, incoming: Incoming) -> bool:
        """It shall come again."""
        return False


async def test_an_update_that_is_not_stored_is_asked_for_again() -> None:
    message = {"message_id": 1, "date": 1, "text": "好", "chat": {"id": 1, "type": "private"}}
    who = {"id": 1, "is_bot": False, "first_name": "Ann"}
    queue = IngestQueue(Refusing(), BotAccount(99, "nuan_bot", (), "暖"), Lines(), lambda update: None)
    with pytest.raises(NetworkError):
        await queue.put(Update(1, Message.de_json({**message, "from": who}, None)))


async def test_a_refused_token_is_final_and_shown_nowhere(server: FakeTelegram) -> None:
    server.faults.add("getMe", Fault("unauthorized"))
    async with stage(server) as on:
        error = await on.ended()
        assert isinstance(error, PlatformError)
        assert error.final
        assert "telegram.token" in str(error)
        assert TOKEN not in f"{error} {error.__cause__} {on.log.lines}"
        assert error.__suppress_context__


async def test_a_token_that_expires_while_polling_ends_it_at_once(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.faults.add("getUpdates", Fault("unauthorized"))
        server.people.say(ANN.id, ANN, "在吗")
        error = await on.ended()
        assert isinstance(error, PlatformError)
        assert error.final


async def test_a_second_program_with_the_same_token_must_go(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as first:
        server.people.say(ANN.id, ANN, "在吗")
        await first.sink.until(1)
        await server.until(lambda: polls(server) > 1)
        await clock.advance(20_000, let_others_run)
        async with stage(server) as second:
            error = await second.ended()
            assert isinstance(error, PlatformError)
            assert error.final
            assert "second program" in str(error)
        server.people.say(ANN.id, ANN, "还在吗")
        await first.sink.until(2)


async def test_one_that_takes_turns_waits_until_another_poller_ends_and_tells_it_once(server: FakeTelegram) -> None:
    async with stage(server, shared=True) as on, aiohttp.ClientSession() as rival:
        for _ in range(2):
            number = polls(server)
            async with rival.post(f"{server.base_url}{server.token}/getUpdates") as answer:
                assert answer.ok
            await server.until(lambda number=number: polls(server) > number + 1)  # type: ignore[misc]
        server.people.say(ANN.id, ANN, "在吗")
        assert [one.text for one in await on.sink.until(1)] == ["在吗"]
        assert [line.split()[0] for line in on.log.lines if "another program polls" in line] == ["telegram_contested"]


async def test_a_server_that_cannot_be_reached_is_worth_another_try() -> None:
    async with FakeTelegram() as server:
        adapter = make(server, Lines())
    with pytest.raises(OSError, match="Telegram"):
        await adapter.run(RecordingSink())


async def test_polling_that_hangs_for_90_seconds_is_given_up(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        await clock.advance(89_000, let_others_run)
        assert not on.task.done()
        await clock.advance(2_000, let_others_run)
        assert isinstance(await on.ended(), TimeoutError)


async def test_polling_that_dies_is_noticed_at_once(server: FakeTelegram) -> None:
    async with stage(server) as on:
        await server.until(lambda: polls(server) > 0)
        await server.until(lambda: len(server.calls("setMyCommands")) == 6)
        for task in asyncio.all_tasks():
            if task.get_name().startswith("Updater:"):
                task.cancel()
        assert isinstance(await on.ended(), OSError)


async def test_the_menu_is_shown_in_private_chats_and_groups(server: FakeTelegram) -> None:
    async with stage(server):
        await server.until(lambda: len(server.commands) == 6)
        assert {language for _, language in server.commands} == {"", "en", "zh"}
        zh = next(menu for (_, language), menu in server.commands.items() if language == "zh")
        assert zh == (("ctx", "看上下文"),)


async def test_telegram_says_who_looks_after_a_group(server: FakeTelegram) -> None:
    group = server.chats.group("家", BO, owner=ANN)
    async with stage(server) as on:
        assert await on.adapter.is_admin(str(group), str(ANN.id))
        assert not await on.adapter.is_admin(str(group), str(BO.id))
        assert not await on.adapter.is_admin(str(group), "12345")
        assert not await on.adapter.is_admin("group:家", "x")
    with pytest.raises(OSError, match="not connected"):
        await on.adapter.is_admin(str(group), str(ANN.id))
