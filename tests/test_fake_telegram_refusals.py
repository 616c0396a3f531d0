"""What the fake Telegram server refuses, limits and gets wrong on order, as the real client library sees it."""

import asyncio

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import (
    MessageEntity,
    ReplyParameters,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.sending import wait_of
from tests.fakes.telegram_faults import Fault, Limits, Misbehaviour
from tests.fakes.telegram_markup import from_html, from_markdown, units
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.fakes.telegram_shapes import Refused, number
from tests.test_fake_telegram import AN, BO, talking

# The library warns, in the constructor of the error itself, of a type that will change.
pytestmark = pytest.mark.filterwarnings("ignore:.*attribute `retry_after`:telegram.warnings.PTBDeprecationWarning")


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("", None, "message text is empty"),
        (" \n", None, "text must be non-empty"),
        ("🌱" * 2049, None, "message is too long"),
        ("<b>没关", "HTML", "can't parse entities: Can't find end tag"),
        ("<br>", "HTML", 'can\'t parse entities: Unsupported start tag "br"'),
        ("1 < 2", "HTML", "can't parse entities: Unclosed start tag at byte offset 2"),
        ("</b>", "HTML", "can't parse entities: Unexpected end tag"),
        ("<b><i>x</b></i>", "HTML", "can't parse entities: Unmatched end tag"),
        ("完了.", "MarkdownV2", "can't parse entities: Character '.' is reserved"),
        ("*没关", "MarkdownV2", "can't parse entities: Can't find end of Bold"),
        ("x", "Klingon", "unsupported parse_mode"),
    ],
)
async def test_a_text_that_telegram_refuses_is_refused(text: str, mode: str | None, why: str) -> None:
    async with talking() as (server, bot):
        server.people.say(AN.id, AN, "在吗")
        with pytest.raises(BadRequest) as caught:
            await bot.send_message(AN.id, text, parse_mode=mode)
        assert why.lower() in str(caught.value).lower()
        assert server.sent(AN.id) == ()


async def test_entities_outside_the_text_or_inside_a_character_are_refused() -> None:
    async with talking() as (server, bot):
        server.people.say(AN.id, AN, "在吗")
        for wrong in (MessageEntity("bold", 0, 3), MessageEntity("bold", 1, 1), MessageEntity("sparkle", 0, 2)):
            with pytest.raises(BadRequest, match=r"(?i)entit"):
                await bot.send_message(AN.id, "🌱", entities=[wrong])
        await bot.send_message(AN.id, "🌱" * 2048, entities=[MessageEntity("bold", 0, 4096)])


async def test_chats_that_cannot_be_reached_say_why() -> None:
    async with talking() as (server, bot):
        old = server.chats.group("旧群", AN, kind="group")
        new = server.chats.migrate(old, AN)
        kicked = server.chats.group("花园", AN, bot="kicked")
        server.chats.block(BO)
        for chat, error, why in (
            (999, BadRequest, "chat not found"),
            (BO.id, Forbidden, "bot was blocked by the user"),
            (kicked, Forbidden, "bot was kicked from the supergroup chat"),
            (old, ChatMigrated, str(new)),
        ):
            with pytest.raises(error, match=f"(?i){why}"):
                await bot.send_message(chat, "在吗")
        with pytest.raises(BadRequest, match=r"(?i)message to be replied not found"):
            await bot.send_message(new, "在", reply_parameters=ReplyParameters(99))
        await bot.send_message(new, "在", reply_parameters=ReplyParameters(99, allow_sending_without_reply=True))
        with pytest.raises(BadRequest, match=r"(?i)message thread not found"):
            await bot.send_message(new, "在", message_thread_id=99)


async def test_limits_are_counted_and_a_send_inside_the_wait_is_a_violation() -> None:
    async with talking(Limits(overall=5, group=2, burst=1)) as (server, bot):
        server.people.say(AN.id, AN, "在吗")
        group = server.chats.group("花园", AN)
        for chat, good in ((AN.id, 1), (group, 2)):
            for _ in range(good):
                await bot.send_message(chat, "在")
            with pytest.raises(RetryAfter) as caught:
                await bot.send_message(chat, "在")
            assert wait_of(caught.value) in (1_000, 60_000)
        assert server.violations == []
        with pytest.raises(RetryAfter):
            await bot.send_message(group, "急")
        assert [(one.method, one.chat) for one in server.violations] == [("sendMessage", group)]
        assert len(server.sent(group)) == 2


@pytest.mark.parametrize(
    ("kind", "error", "copies"),
    [
        ("stall", TimedOut, 1),
        ("silent", TimedOut, 0),
        ("drop_before", NetworkError, 0),
        ("drop_after", NetworkError, 1),
        ("html502", NetworkError, 0),
        ("error", NetworkError, 0),
        ("flood", RetryAfter, 0),
        ("garbage", TelegramError, 1),
        ("unauthorized", InvalidToken, 0),
    ],
)
async def test_the_server_misbehaves_once_as_ordered(
    kind: Misbehaviour, error: type[TelegramError], copies: int
) -> None:
    async with talking() as (server, bot):
        server.people.say(AN.id, AN, "在吗")
        server.faults.add("sendMessage", Fault(kind), after=1)
        await bot.send_message(AN.id, "一")
        with pytest.raises(error):
            await bot.send_message(AN.id, "二")
        assert len(server.sent(AN.id)) == 1 + copies
        if kind in ("flood", "unauthorized"):
            with pytest.raises(error):
                await bot.send_message(AN.id, "三")
        else:
            await bot.send_message(AN.id, "三")


async def test_a_call_waits_at_the_gate_until_the_test_opens_it() -> None:
    async with talking() as (server, bot):
        server.people.say(AN.id, AN, "在吗")
        server.faults.add("sendMessage", Fault("gate"))
        sending = asyncio.create_task(bot.send_message(AN.id, "在"))
        await server.until(lambda: len(server.calls("sendMessage")) == 1)
        assert server.sent(AN.id) == ()
        server.faults.open_gate()
        await sending
        assert len(server.sent(AN.id)) == 1


async def test_a_wrong_token_and_an_unknown_method_are_refused() -> None:
    async with FakeTelegram() as server, aiohttp.ClientSession() as session:
        for path, code in ((f"{TOKEN}x/getMe", 401), ("nothing/getMe", 404), (f"{TOKEN}/sendRocket", 404)):
            async with session.post(server.base_url + path) as answer:
                assert (answer.status, (await answer.json())["error_code"]) == (code, code)


@given(st.text(st.sampled_from('ab<>/&;"_*~`[]()|\\.!\n 🌱中'), max_size=40))
def test_any_text_is_either_read_or_refused(text: str) -> None:
    for read in (from_html, from_markdown):
        try:
            shown, entities = read(text)
        except Refused:
            continue
        assert all(number(one["offset"]) + number(one["length"]) <= units(shown) for one in entities)
