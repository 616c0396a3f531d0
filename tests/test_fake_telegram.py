"""The fake Telegram server is as strict as the real one, as the real client library sees it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from telegram import (
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.error import (
    BadRequest,
    Conflict,
    Forbidden,
)
from telegram.request import HTTPXRequest

from tests.fakes.telegram_faults import UNLIMITED, Limits
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.fakes.telegram_shapes import Person, Posted, number

AN = Person(501, "安", "an_test", "zh-hans")
BO = Person(502, "Bo", "bo_test", "en")
ALL = ["message", "edited_message", "callback_query", "message_reaction", "my_chat_member", "chat_member"]


@asynccontextmanager
async def talking(limits: Limits = UNLIMITED) -> AsyncIterator[tuple[FakeTelegram, Bot]]:
    async with FakeTelegram(limits=limits) as server, client(server) as bot:
        yield server, bot


def client(server: FakeTelegram) -> Bot:
    requests = [HTTPXRequest(connection_pool_size=8, read_timeout=0.5, httpx_kwargs={"trust_env": False}) for _ in "ab"]
    return Bot(TOKEN, server.base_url, server.file_url, request=requests[0], get_updates_request=requests[1])


async def updates(bot: Bot, offset: int = 0, wait: int = 0) -> tuple[Update, ...]:
    return await bot.get_updates(offset=offset, timeout=wait, allowed_updates=[*ALL, "channel_post"])


async def test_everything_people_do_arrives_as_the_library_documents_it() -> None:
    async with talking() as (server, bot):
        await updates(bot)
        people, rooms = server.people, server.chats
        chat, forum = rooms.group("花园", AN, owner=BO), rooms.group("论坛", AN, forum=True)
        asked = people.say(chat, AN, "@nuan_fake_bot 在吗")
        people.say(chat, BO, "听到了", reply_to=asked, forward=AN)
        people.edit(asked, "/start 在吗")
        people.react(asked, BO, "👍")
        rooms.pin(asked, BO)
        rooms.title(chat, BO, "新花园")
        rooms.join(chat, Person(503, "Chen"))
        rooms.leave(chat, AN)
        people.sticker(chat, AN)
        people.photo(chat, AN, b"jpeg", "看")
        people.voice(chat, AN, b"ogg")
        people.document(chat, AN, "a.txt", b"text")
        people.say(forum, AN, "话题里", thread=rooms.topic(forum, AN, "话题"))
        people.anonymous(chat, "匿名")
        channel = rooms.group("频道", kind="channel")
        rooms.link(channel, chat)
        people.channel_post(channel, "公告")
        rooms.migrate(rooms.group("旧群", AN, kind="group"), AN)
        rooms.bot_status(forum, AN, "kicked")
        rooms.block(AN)
        got = await updates(bot)
    messages = [update.message for update in got if update.message]
    assert all(Update.de_json(update.to_dict(), None) for update in got)
    assert [entity.type for entity in messages[0].entities] == ["mention"]
    assert messages[1].forward_origin is not None
    assert messages[1].reply_to_message is not None
    assert messages[1].reply_to_message.text == "@nuan_fake_bot 在吗"
    assert got[2].edited_message is not None
    assert got[2].edited_message.text == "/start 在吗"
    assert got[3].message_reaction is not None
    kinds = [next(name for name in update.to_dict() if name != "update_id") for update in got]
    assert {*kinds} == {*ALL, "channel_post"} - {"callback_query"}
    in_topic = next(message for message in messages if message.text == "话题里")
    assert in_topic.is_topic_message
    assert in_topic.reply_to_message is not None
    assert in_topic.reply_to_message.forum_topic_created is not None
    hidden = next(message for message in messages if message.text == "匿名")
    assert (hidden.from_user and hidden.from_user.username) == "GroupAnonymousBot"
    assert hidden.sender_chat == hidden.chat
    copied = next(message for message in messages if message.text == "公告")
    assert copied.is_automatic_forward
    assert [message.migrate_to_chat_id is not None for message in messages].count(True) == 1


async def test_a_message_is_sent_edited_answered_and_deleted() -> None:
    async with talking() as (server, bot):
        server.people.say(AN.id, AN, "在吗")
        keys = InlineKeyboardMarkup([[InlineKeyboardButton("撤销", callback_data="undo")]])
        first = await bot.send_message(AN.id, "<b>在</b>&amp;🌱", parse_mode="HTML", reply_markup=keys)
        assert (first.text, first.entities[0].type, first.entities[0].length) == ("在&🌱", "bold", 1)
        await first.edit_text("改了", entities=[MessageEntity("italic", 0, 2)])
        with pytest.raises(BadRequest, match=r"(?i)message is not modified"):
            await first.edit_text("改了", entities=[MessageEntity("italic", 0, 2)])
        second = await bot.send_message(AN.id, "再说", reply_parameters=ReplyParameters(1), link_preview_options=None)
        await bot.send_message(AN.id, "关", link_preview_options=LinkPreviewOptions(is_disabled=True))
        shown = server.sent(AN.id)
        assert [(one.text, one.edits, one.reply_to, one.preview) for one in shown] == [
            ("改了", 1, None, True),
            ("再说", 0, 1, True),
            ("关", 0, None, False),
        ]
        await second.delete()
        assert [one.text for one in server.sent(AN.id)] == ["改了", "关"]


async def test_a_button_is_answered_once() -> None:
    async with talking() as (server, bot):
        await updates(bot)
        chat = server.chats.group("花园", AN)
        keys = InlineKeyboardMarkup([[InlineKeyboardButton("撤销", callback_data="undo:1")]])
        sent = await bot.send_message(chat, "撤销吗", reply_markup=keys)
        query_id = server.people.press(Posted(sent.chat_id, sent.message_id), AN, "撤销")
        pressed = (await updates(bot))[0].callback_query
        assert pressed is not None
        assert (pressed.data, pressed.id, pressed.from_user.id) == ("undo:1", query_id, AN.id)
        await pressed.answer("好")
        await pressed.edit_message_reply_markup(None)
        assert (server.sent(chat)[0].buttons, server.world.queries[query_id].answer) == ({}, "好")
        with pytest.raises(BadRequest, match=r"(?i)query is too old"):
            await pressed.answer("又")


async def test_small_methods_do_what_they_document() -> None:
    async with talking() as (server, bot):
        photo = server.people.photo(AN.id, AN, b"jpeg" * 9)
        group = server.chats.group("花园", AN, owner=BO)
        assert (await bot.get_me()).can_read_all_group_messages
        message = (await updates(bot))[0].message
        assert message is not None
        assert await (await message.photo[-1].get_file()).download_as_bytearray() == b"jpeg" * 9
        await bot.set_message_reaction(AN.id, photo.message_id, "❤")
        await bot.send_chat_action(AN.id, "typing")
        await bot.send_message_draft(AN.id, 7, "正在")
        with pytest.raises(BadRequest, match=r"(?i)textdraft_peer_invalid"):
            await bot.send_message_draft(group, 7, "正在")
        await bot.set_my_commands([BotCommand("ai", "菜单")], language_code="zh")
        assert (await bot.get_my_commands(language_code="zh"))[0].description == "菜单"
        assert (await bot.get_chat(group)).title == "花园"
        assert (await bot.get_chat_member(group, BO.id)).status == "creator"
        assert len(await bot.get_chat_administrators(group)) == 2
        await bot.delete_webhook()
        await bot.leave_chat(group)
        with pytest.raises(Forbidden, match=r"(?i)not a member"):
            await bot.send_message(group, "在吗")
        assert [draft.text for draft in (*server.drafts, *server.actions)] == ["正在", "typing"]
        assert server.world.reactions[AN.id, photo.message_id] == ("❤",)


async def test_updates_wait_until_they_are_confirmed_and_come_again_on_order() -> None:
    async with talking() as (server, bot):
        ids = [server.people.say(AN.id, AN, str(count)).update_id or 0 for count in range(3)]
        assert [update.update_id for update in await updates(bot)] == ids
        assert [update.update_id for update in await updates(bot, ids[2])] == ids[2:]
        assert server.confirmed == ids[:2]
        server.world.updates.redeliver(ids[0])
        assert [update.update_id for update in await updates(bot, ids[2] + 1)] == ids[:1]
        server.world.updates.hold()
        late = server.people.say(AN.id, AN, "迟").update_id
        server.world.updates.release()
        assert [update.update_id for update in await updates(bot, ids[0] + 1)] == [late]
        assert server.confirmed == ids
        poll = asyncio.create_task(updates(bot, number(late) + 1, wait=5))
        await server.until(lambda: len(server.calls("getUpdates")) == 5)
        said = server.people.say(AN.id, AN, "醒")
        assert [update.update_id for update in await poll] == [said.update_id]
        assert server.confirmed == [*ids, late]


async def test_of_two_pollers_the_older_is_told_of_the_conflict() -> None:
    async with talking() as (server, bot):
        first = asyncio.create_task(updates(bot, wait=5))
        await server.until(lambda: len(server.calls("getUpdates")) == 1)
        second = asyncio.create_task(updates(bot, wait=5))
        with pytest.raises(Conflict, match=r"(?i)terminated by other getUpdates request"):
            await first
        server.people.say(AN.id, AN, "在吗")
        assert len(await second) == 1


async def test_reactions_arrive_only_when_asked_for_and_only_with_rights() -> None:
    async with talking() as (server, bot):
        said = server.people.say(AN.id, AN, "在吗")
        assert server.people.react(said, AN, "👍") is None
        await updates(bot)
        assert server.people.react(said, AN, "👍") is not None
        quiet = server.people.say(server.chats.group("花园", AN, bot="member"), AN, "嗯")
        assert server.people.react(quiet, AN, "👍") is None


async def test_privacy_mode_hides_what_is_not_meant_for_the_bot() -> None:
    async with talking() as (server, _):
        server.world.reads_all = False
        group = server.chats.group("花园", AN, bot="member")
        heard = [
            server.people.say(group, AN, text).update_id is not None for text in ("嗯", "/ai", "@nuan_fake_bot 嗯")
        ]
        assert heard == [False, True, True]


async def test_the_fake_server_runs_as_a_process_of_its_own() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.fakes.telegram_server", "--port", "0", "--token", TOKEN),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said = {"do": "say", "chat": AN.id, "person": {"id": AN.id, "first_name": "安"}, "text": "在吗"}
    try:
        port = int(await process.stdout.readline())
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            async with session.post("/control", json=said) as answer:
                assert (await answer.json())["update_id"] > 0
            async with session.post(f"/bot{TOKEN}/sendMessage", json={"chat_id": AN.id, "text": "在"}) as answer:
                assert answer.status == 200
            async with session.post("/control", json={"do": "sent", "chat": AN.id}) as answer:
                assert [one["text"] for one in (await answer.json())["sent"]] == ["在"]
    finally:
        process.terminate()
        assert await process.wait() == 0
