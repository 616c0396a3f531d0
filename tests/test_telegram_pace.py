"""How fast the Telegram adapter sends, against a strict fake server on loopback."""

from collections.abc import AsyncGenerator

import pytest

from adapters.telegram.sending import RateLimits as Pacing
from bot.core.errors import SendError
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.telegram_faults import UNLIMITED, Fault, Limits
from tests.fakes.telegram_server import FakeTelegram
from tests.telegram_stage import ANN, BO, fate, said, stage


@pytest.fixture
async def server() -> AsyncGenerator[FakeTelegram]:
    async with FakeTelegram(limits=Limits(private=1000.0, burst=1000)) as fake:
        yield fake


async def test_nothing_is_sent_to_a_chat_inside_an_ordered_wait(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        server.people.say(ANN.id, ANN, "在吗")
        server.people.say(BO.id, BO, "在吗")
        server.faults.add("sendMessage", Fault("flood", retry_after=30))
        for _ in range(2):
            with pytest.raises(SendError) as caught:
                await on.adapter.send(said("好"))
            assert caught.value.wait_ms == 30_000
        assert len(server.calls("sendMessage")) == 1
        await on.adapter.send(said("好", BO.id))
        await clock.advance(29_999, let_others_run)
        with pytest.raises(SendError):
            await on.adapter.send(said("好"))
        await clock.advance(1, let_others_run)
        assert [call.chat for call in server.calls("sendMessage")] == [ANN.id, BO.id]


async def test_a_private_chat_gets_one_message_a_second(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock, pacing=Pacing(answer_s=1.0)) as on:
        server.people.say(ANN.id, ANN, "在吗")
        await on.adapter.send(said("一"))
        for wait in (1_000, 1):
            with pytest.raises(SendError) as caught:
                await on.adapter.send(said("二"))
            assert (fate(caught), caught.value.wait_ms) == ("wait", wait)
            await clock.advance(999, let_others_run)
        await on.adapter.send(said("二"))
        assert [one.text for one in server.sent(ANN.id)] == ["一", "二"]


async def test_a_group_gets_twenty_messages_a_minute_and_the_rest_later(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        chat = server.chats.group("小组", ANN)
        for number in range(20):
            await on.adapter.send(said(str(number), chat))
        with pytest.raises(SendError) as caught:
            await on.adapter.send(said("太多", chat))
        assert (fate(caught), caught.value.wait_ms) == ("wait", 60_500)
        assert server.violations == []
        assert len(server.calls("sendMessage")) == 20


async def test_a_flood_while_many_are_written_to_stops_everything(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        chats = [server.chats.group(f"组{number}", ANN) for number in range(17)]
        for chat in chats[:16]:
            await on.adapter.send(said("好", chat))
        server.faults.add("sendMessage", Fault("flood", retry_after=5))
        for chat in chats[15:]:
            with pytest.raises(SendError) as caught:
                await on.adapter.send(said("好", chat))
            assert caught.value.wait_ms == 5_000
        assert len(server.calls("sendMessage")) == 17


async def test_a_wait_that_a_second_chat_is_told_too_is_one_for_all(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        chats = [server.chats.group(f"组{number}", ANN) for number in range(4)]
        for wait, chat in ((9, chats[0]), (5, chats[1])):
            server.faults.add("sendMessage", Fault("flood", retry_after=wait))
            with pytest.raises(SendError):
                await on.adapter.send(said("好", chat))
        await on.adapter.send(said("好", chats[2]))
        await clock.advance(2_000, let_others_run)
        server.faults.add("sendMessage", Fault("flood", retry_after=4))
        for chat in chats[2:]:
            with pytest.raises(SendError) as caught:
                await on.adapter.send(said("好", chat))
            assert caught.value.wait_ms == 4_000
        assert len(server.calls("sendMessage")) == 4
        await clock.advance(4_000, let_others_run)
        await on.adapter.send(said("好", chats[3]))


async def test_thirty_messages_a_second_go_out_over_all_chats() -> None:
    clock = SimClock(1_000_000)
    async with FakeTelegram(limits=UNLIMITED) as server, stage(server, clock=clock) as on:
        chats = [server.chats.group(f"组{number}", ANN) for number in range(31)]
        for chat in chats[:30]:
            await on.adapter.send(said("好", chat))
        with pytest.raises(SendError) as caught:
            await on.adapter.send(said("好", chats[30]))
        assert (fate(caught), caught.value.wait_ms) == ("wait", 1_100)
        await clock.advance(1_100, let_others_run)
        await on.adapter.send(said("好", chats[30]))
        assert len(server.sent(chats[30])) == 1
