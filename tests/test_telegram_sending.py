"""The Telegram adapter sends, edits and shows, against a strict fake server on loopback."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from adapters.telegram.adapter import read_file
from bot.core.errors import SendError
from bot.core.events import Attachment, Button
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.telegram_faults import Fault, Limits
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.telegram_stage import ANN, BO, Lines, fate, make, said, stage


@pytest.fixture
async def server() -> AsyncGenerator[FakeTelegram]:
    async with FakeTelegram(limits=Limits(private=1000.0, burst=1000)) as fake:
        yield fake


async def test_markdown_is_formatted_and_links_have_no_preview(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        (sent,) = await on.adapter.send(
            said("**好** https://example.org", buttons=(Button("撤销", ".ai undo", "501"),))
        )
        (shown,) = server.sent(ANN.id)
        assert shown.text == "好 https://example.org"
        assert ("bold", 0, 1) in {(one.type, one.offset, one.length) for one in shown.entities}
        assert not shown.preview
        assert shown.buttons == {"撤销": "501|.ai undo"}
        assert sent == str(shown.message_id)


async def test_a_refused_formatting_falls_back_once_to_plain_text(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        server.faults.add("sendMessage", Fault("error", code=400, description="Bad Request: can't parse entities: no"))
        await on.adapter.send(said("**好**"))
        assert [shown.text for shown in server.sent(ANN.id)] == ["**好**"]
        assert len(server.calls("sendMessage")) == 2


async def test_a_button_whose_data_would_be_too_long_is_left_out(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        await on.adapter.send(said("好", buttons=(Button("长", "长" * 30, "501"),)))
        assert server.sent(ANN.id)[0].buttons == {}


async def test_a_pressed_button_speaks_for_the_one_it_was_made_for_only(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("小组", ANN, BO)
        (sent,) = await on.adapter.send(said("好", chat, buttons=(Button("撤销", ".ai undo", "501"),)))
        before = len(on.sink.stored)
        posted = server.people.say(chat, ANN, "嗯")
        await on.sink.until(before + 1)
        button = replace(posted, message_id=int(sent))
        first = server.people.press(button, BO, "撤销")
        await server.until(lambda: server.world.queries[first].answer is not None)
        second = server.people.press(button, ANN, "撤销")
        await server.until(lambda: server.world.queries[second].answer is not None)
        pressed = [one for one in on.sink.stored if one.text == ".ai undo"]
        assert [one.sender.external_id for one in pressed if one.sender] == ["501"]


async def test_a_preview_becomes_the_reply_and_the_same_text_again_is_no_error(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("小组", ANN)
        shown = await on.adapter.show(said("…", chat))
        assert await on.adapter.send(said("你好", chat, preview_id=shown)) == (shown,)
        assert await on.adapter.send(said("你好", chat, preview_id=shown)) == (shown,)
        assert [one.text for one in server.sent(chat)] == ["你好"]


async def test_a_preview_that_somebody_deleted_is_sent_anew(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("小组", ANN)
        (sent,) = await on.adapter.send(said("你好", chat, preview_id="99"))
        assert sent != "99"
        assert [one.text for one in server.sent(chat)] == ["你好"]


async def test_previews_faster_than_one_and_a_half_seconds_are_left_out(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        chat = server.chats.group("小组", ANN)
        shown = await on.adapter.show(said("一", chat))
        for text in ("一二", "一二三", "一二三四"):
            assert await on.adapter.show(said(text, chat, preview_id=shown)) == shown
        assert [one.text for one in server.sent(chat)] == ["一二"]
        await clock.advance(1_500, let_others_run)
        await on.adapter.show(said("一二三四五", chat, preview_id=shown))
        assert [one.text for one in server.sent(chat)] == ["一二三四五"]


async def test_drafts_are_shown_in_private_chats_only(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        chat = server.chats.group("小组", ANN)
        assert await on.adapter.draft(said("**你"))
        assert not await on.adapter.draft(said("你", chat))
        assert [(draft.chat, draft.draft_id, draft.text) for draft in server.drafts] == [(ANN.id, 7, "你")]


async def test_what_only_one_may_read_goes_to_that_one(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        chat = server.chats.group("小组", ANN, BO)
        await on.adapter.send(said("秘密", chat, only_for="501"))
        assert server.sent(chat) == ()
        assert [one.text for one in server.sent(ANN.id)] == ["秘密"]
        with pytest.raises(SendError) as caught:
            await on.adapter.send(said("秘密", chat, only_for="502"))
        assert fate(caught) == "shut"


async def test_a_topic_is_answered_in_the_topic(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("论坛", ANN, forum=True)
        thread = server.chats.topic(chat, ANN, "闲聊")
        server.people.say(chat, ANN, "在吗", thread=thread)
        stored = (await on.sink.until(2))[-1]
        assert stored.place.external_id == f"{chat}:{thread}"
        assert stored.target == ""
        await on.adapter.send(replace(said("在"), external_chat_id=stored.place.external_id))
        assert server.sent(chat)[0].thread == thread


@pytest.mark.parametrize(
    ("fault", "expected", "copies"),
    [
        (Fault("stall"), "unknown", 1),
        (Fault("drop_after"), "unknown", 1),
        (Fault("garbage"), "unknown", 1),
        (Fault("html502"), "unknown", 0),
        (Fault("flood", retry_after=3), "later", 0),
        (Fault("error", code=403, description="Forbidden: bot was blocked by the user"), "gone", 0),
        (Fault("error", code=400, description="Bad Request: chat not found"), "gone", 0),
        (Fault("error", code=400, description="Bad Request: message text is empty"), "never", 0),
    ],
)
async def test_what_became_of_a_message_is_told_truly(
    server: FakeTelegram, fault: Fault, expected: str, copies: int
) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        server.faults.add("sendMessage", fault)
        with pytest.raises(SendError) as caught:
            await on.adapter.send(said("好"))
        assert fate(caught) == expected
        assert len(server.sent(ANN.id)) == copies
        assert len(server.calls("sendMessage")) == 1
        assert TOKEN not in str(caught.value)


async def test_an_edit_in_doubt_may_be_tried_again(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("小组", ANN)
        shown = await on.adapter.show(said("…", chat))
        server.faults.add("editMessageText", Fault("drop_after"))
        with pytest.raises(SendError) as caught:
            await on.adapter.send(said("好", chat, preview_id=shown))
        assert fate(caught) == "later"
        assert await on.adapter.send(said("好", chat, preview_id=shown)) == (shown,)
        assert [one.text for one in server.sent(chat)] == ["好"]


async def test_before_and_after_the_connection_a_message_waits(server: FakeTelegram) -> None:
    adapter = make(server, Lines())
    with pytest.raises(SendError) as caught:
        await adapter.send(said("好"))
    assert fate(caught) == "later"
    assert server.requests == []


async def test_a_group_that_became_a_supergroup_is_told_before_the_next_try(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("小组", ANN, kind="group")
        on.server.world.updates.hold()
        new = server.chats.migrate(chat, ANN)
        with pytest.raises(SendError) as caught:
            await on.adapter.send(said("好", chat))
        assert fate(caught) == "later"
        told = [one for one in on.sink.stored if one.label == "migrate"]
        assert [(one.place.external_id, one.target) for one in told] == [(str(chat), str(new))]


async def test_typing_is_shown_again_every_four_and_a_half_seconds_until_it_is_hidden(server: FakeTelegram) -> None:
    clock = SimClock(1_000_000)
    async with stage(server, clock=clock) as on:
        server.people.say(ANN.id, ANN, "在吗")
        on.adapter.typing("501", True)
        on.adapter.typing("501", True)
        on.adapter.typing("nobody", True)
        await server.until(lambda: len(server.actions) == 1)
        await let_others_run()
        while len(server.actions) == 1:
            await clock.advance(4_500, let_others_run)
            with suppress(TimeoutError):
                await server.until(lambda: len(server.actions) == 2, within=0.2)
        on.adapter.typing("501", False)
        on.adapter.typing("501", False)
        await clock.advance(60_000, let_others_run)
        assert len(server.actions) == 2


async def test_a_file_is_read_up_to_its_limit(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.document(ANN.id, ANN, "a.txt", b"x" * 100)
        (stored,) = await on.sink.until(1)
        (attachment,) = stored.attachments
        assert (attachment.kind, attachment.name, attachment.size) == ("file", "a.txt", 100)
        assert await on.adapter.fetch(attachment, 100) == b"x" * 100
        with pytest.raises(SendError):
            await on.adapter.fetch(attachment, 99)
        with pytest.raises(SendError):
            await on.adapter.fetch(Attachment("file", "no-such-file"), 99)


async def test_of_a_file_that_is_larger_than_told_only_as_much_is_read_as_is_wanted() -> None:
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Encoding": "gzip"})
        await response.prepare(request)
        while True:
            await response.write(bytes(1 << 16))
            sent += 1 << 16

    async def moved(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/endless"})

    app = web.Application()
    app.router.add_get("/endless", endless)
    app.router.add_get("/moved", moved)
    async with TestServer(app, handler_cancellation=True) as server:
        for path in ("endless", "moved", "nothing"):
            with pytest.raises(SendError, match="never"):
                await read_file(str(server.make_url(f"/{path}")), 100_000, None, trust_env=False)
    assert sent < 8_000_000, "what the connection buffers"


async def test_a_file_beside_a_server_on_this_machine_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"x" * 100)
    assert await read_file(str(file), 100, None, trust_env=False) == b"x" * 100
    with pytest.raises(SendError, match="never"):
        await read_file(str(file), 99, None, trust_env=False)


async def test_long_texts_become_messages_that_telegram_takes(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        parts = on.adapter.parts("😀好。" * 3000)
        for part in parts:
            await on.adapter.send(said(part))
        assert "".join(one.text for one in server.sent(ANN.id)) == "😀好。" * 3000


async def test_a_server_that_is_gone_took_nothing_and_does_not_hold_up_the_end() -> None:
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as server_runs:
        server = await server_runs.enter_async_context(FakeTelegram())
        async with stage(server) as on:
            server.people.say(ANN.id, ANN, "在吗")
            await on.sink.until(1)
            await server_runs.aclose()
            with pytest.raises(SendError) as caught:
                await on.adapter.send(said("好"))
            assert fate(caught) == "later"
            assert not on.task.done()
            began = loop.time()
        assert loop.time() - began < 6
