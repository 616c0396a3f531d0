"""Messages that Telegram tells, as documented payloads, become what happened."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.adapter import menu
from bot.core.events import Attachment, CommandSpec, Incoming, Place, Sender
from tests.tables import all_cases
from tests.telegram_payloads import (
    ANN,
    AT,
    BO,
    BOT,
    CHANNEL,
    DM,
    FORUM,
    GROUP,
    ME,
    Json,
    entity,
    marked,
    message,
    one,
    read,
)


def test_a_private_message_is_told_with_place_sender_and_time() -> None:
    assert one(message(DM, text="在吗")) == Incoming(
        Place("telegram", "501", "dm"),
        Sender("telegram", "501", "安 娜"),
        "message",
        "在吗",
        delivery_key="7700:9",
        external_id="42",
        at=AT * 1000,
    )


def test_a_mention_is_found_behind_emoji_that_take_two_units() -> None:
    text = "😀👨‍👩‍👧 @NUAN_bot 你好"
    assert one(message(**marked(text, "mention", "@NUAN_bot"))).mentions_bot


def test_a_mention_of_someone_else_addresses_that_one() -> None:
    other = one(message(**marked("😀 @bo_bo 你好", "mention", "@bo_bo")))
    assert (other.mentions_bot, other.addresses_other) == (False, True)
    assert not one(message(**marked("我是 @ann", "mention", "@ann"))).addresses_other


def test_a_mention_without_a_username_counts_by_its_account() -> None:
    assert one(message(**marked("暖 你好", "text_mention", "暖", user=BOT))).mentions_bot
    assert one(message(**marked("Bo 你好", "text_mention", "Bo", user=BO))).addresses_other


def test_a_reply_says_what_it_replies_to_and_whose_that_is() -> None:
    def answer(sender: Json) -> Incoming:
        target = message(GROUP, sender, text="从前") | {"message_id": 40}
        return one(message(text="嗯", reply_to_message=target))

    to_bot, to_other, to_self = answer(BOT), answer(BO), answer(ANN)
    assert (to_bot.target, to_bot.replies_to_bot, to_bot.addresses_other) == ("40", True, False)
    assert (to_other.replies_to_bot, to_other.addresses_other) == (False, True)
    assert (to_self.replies_to_bot, to_self.addresses_other) == (False, False)


@pytest.mark.parametrize(
    "origin",
    [
        {"type": "user", "date": AT, "sender_user": BO},
        {"type": "hidden_user", "date": AT, "sender_user_name": "某人"},
        {"type": "channel", "date": AT, "chat": CHANNEL, "message_id": 3},
    ],
)
def test_a_forwarded_command_stays_a_forwarded_text(origin: Json) -> None:
    told = one(message(DM, forward_origin=origin, **marked("/ctx", "bot_command", "/ctx")))
    assert (told.forwarded, told.text) == (True, "/ctx")


@all_cases(
    ("text", "command", "expected"),
    [
        ("/ctx", "/ctx", ".ai ctx"),
        ("/ctx@nuan_bot me", "/ctx@nuan_bot", ".ai ctx me"),
        ("/CTX me", "/CTX", ".ai ctx me"),
        ("/start ABCD1234", "/start", "/start ABCD1234"),
        ("/new@Nuan_Bot", "/new@Nuan_Bot", "/new"),
        ("/ai@nuan_bot ctx", "/ai@nuan_bot", "/ai ctx"),
        ("/new@other_bot", "/new@other_bot", "/new@other_bot"),
        ("看 /ctx", "/ctx", "看 /ctx"),
    ],
)
def test_a_command_becomes_what_a_person_would_type(text: str, command: str, expected: str) -> None:
    assert one(message(**marked(text, "bot_command", command))).text == expected


def test_a_command_says_which_bot_it_is_for() -> None:
    mine = one(message(**marked("/new@nuan_bot", "bot_command", "/new@nuan_bot")))
    other = one(message(**marked("/new@other_bot", "bot_command", "/new@other_bot")))
    assert (mine.mentions_bot, mine.addresses_other) == (True, False)
    assert (other.mentions_bot, other.addresses_other) == (False, True)


def test_a_sticker_is_told_by_its_emoji() -> None:
    shape = {"file_id": "s", "file_unique_id": "u", "width": 1, "height": 1, "is_animated": False, "is_video": False}
    assert one(message(sticker={**shape, "type": "regular", "emoji": "😀"})).text == "[sticker 😀]"


def test_files_are_told_with_their_caption_and_a_photo_in_its_largest_size() -> None:
    size = {"file_unique_id": "u", "width": 90, "height": 90, "file_size": 5}
    photo = [{**size, "file_id": "big", "width": 900, "file_size": 50}, {**size, "file_id": "small"}]
    told = one(message(photo=photo, caption="看", caption_entities=[]))
    assert (told.text, told.attachments) == ("看", (Attachment("image", "big", mime="image/jpeg", size=50),))
    file = {"file_id": "f", "file_unique_id": "u", "file_name": "a.txt", "mime_type": "text/plain", "file_size": 9}
    assert one(message(document=file)).attachments == (Attachment("file", "f", "a.txt", "text/plain", 9),)
    png = {**file, "mime_type": "image/png"}
    assert one(message(document=png)).attachments[0].kind == "image"
    voice = {"file_id": "v", "file_unique_id": "u", "duration": 3, "mime_type": "audio/ogg", "file_size": 7}
    assert one(message(voice=voice)).attachments == (Attachment("voice", "v", "", "audio/ogg", 7),)
    audio = {**voice, "file_name": "a.mp3", "mime_type": "audio/mpeg"}
    assert one(message(audio=audio)).attachments == (Attachment("voice", "v", "a.mp3", "audio/mpeg", 7),)


@pytest.mark.parametrize(
    ("sender", "chat", "copied"),
    [
        ({"id": 1087968824, "is_bot": True, "first_name": "Group"}, GROUP, False),
        ({"id": 136817688, "is_bot": True, "first_name": "Channel"}, CHANNEL, False),
        ({"id": 777000, "is_bot": False, "first_name": "Telegram"}, CHANNEL, True),
        (None, CHANNEL, False),
    ],
)
def test_whoever_writes_as_a_chat_is_that_chat_and_never_a_person(
    sender: Json | None, chat: Json, copied: bool
) -> None:
    told = one(message(GROUP, sender, text="我是群主", sender_chat=chat, is_automatic_forward=copied))
    assert told.sender is not None
    assert (told.sender.external_id, told.sender.is_bot, told.forwarded) == (str(chat["id"]), True, copied)


def test_a_service_account_without_a_chat_is_no_person_either() -> None:
    sender = one(message(GROUP, {"id": 777000, "is_bot": False, "first_name": "Telegram"}, text="你好")).sender
    assert sender is not None
    assert sender.is_bot


def test_a_copy_from_the_linked_channel_counts_as_forwarded() -> None:
    assert one(message(text="新闻", sender_chat=CHANNEL, is_automatic_forward=True)).forwarded


def test_another_bot_is_a_bot_and_its_own_messages_are_nothing() -> None:
    sender = one(message(GROUP, {**BO, "is_bot": True}, text="你好")).sender
    assert sender is not None
    assert sender.is_bot
    assert read("message", message(GROUP, BOT, text="你好")) == ()


def test_a_topic_is_a_place_of_its_own_and_its_plain_lines_reply_to_nobody() -> None:
    first = message(FORUM, BOT, forum_topic_created={"name": "闲聊", "icon_color": 1}) | {"message_id": 5}
    told = one(message(FORUM, text="在吗", message_thread_id=5, is_topic_message=True, reply_to_message=first))
    assert told.place == Place("telegram", "-1001:5", "group", "小组", parent="-1001")
    assert (told.target, told.replies_to_bot) == ("", False)


def test_a_comment_thread_of_an_ordinary_group_is_no_place_of_its_own() -> None:
    assert one(message(text="在吗", message_thread_id=5)).place == Place("telegram", "-1001", "group", "小组")


@all_cases(
    ("text", "told"),
    [
        ("@nuan_bot 记住我怕狗", "记住我怕狗"),
        ("@NUAN_bot，.ai off", ".ai off"),
        ("记住我怕狗😀 @nuan_bot", "记住我怕狗😀"),
        ("😀你好@nuan_bot 在吗", "😀你好@暖 在吗"),
        ("@nuan_bot", "@暖"),
        (" @nuan_bot  ", " @暖  "),
    ],
)
def test_a_call_at_either_end_is_no_part_of_what_is_said(text: str, told: str) -> None:
    part = next(part for part in ("@nuan_bot", "@NUAN_bot") if part in text)
    (said,) = read("message", message(**marked(text, "mention", part)), replace(ME, name="暖"))
    assert (said.text, said.mentions_bot) == (told, True)


def test_a_call_without_a_username_is_left_out_and_a_command_behind_it_is_read() -> None:
    text = "暖 /ai_ctx@nuan_bot me"
    entities = [entity("text_mention", text, "暖", user=BOT), entity("bot_command", text, "/ai_ctx@nuan_bot")]
    me = replace(ME, commands=(CommandSpec("ai ctx", ".ai ctx", (("en", "Show"),)),))
    (said,) = read("message", message(text=text, entities=entities), me)
    assert (said.text, said.mentions_bot) == (".ai ctx me", True)


def test_an_edit_is_told_without_its_call_too() -> None:
    told = one(message(edit_date=AT, **marked("@nuan_bot 记住我怕猫", "mention", "@nuan_bot")), "edited_message")
    assert (told.label, told.text) == ("edit", "记住我怕猫")


@given(st.text(alphabet="ab😀暖,@ \n", max_size=20), st.lists(st.tuples(*[st.integers(0, 25)] * 2), max_size=4))
def test_wrong_entities_break_nothing(text: str, spans: list[tuple[int, int]]) -> None:
    entities = [{"type": "text_mention", "offset": at, "length": size, "user": BOT} for at, size in spans]
    assert len(read("message", message(text=text or "x", entities=entities))) == 1


def test_every_command_of_the_menu_is_understood_as_what_it_says() -> None:
    commands = (
        CommandSpec("ai ctx", ".ai ctx", (("en", "Show"),), "words"),
        CommandSpec("ai new", ".ai new", (("en", "Anew"),)),
        CommandSpec("new", "/new", (("en", "Anew"),)),
        CommandSpec("remember", "/remember ", (("en", "Keep"),), "text"),
        CommandSpec("start", "/start", (("en", "Hello"),), "words"),
    )
    shown = [entry.command for entry in menu(commands, "en")]
    assert shown == ["ai_ctx", "new", "remember", "start"]
    me = replace(ME, commands=commands)
    texts = [
        read("message", message(DM, **marked(f"/{name} Ann  likes tea", "bot_command", f"/{name}")), me)[0].text
        for name in shown
    ]
    assert texts == [
        ".ai ctx Ann  likes tea",
        "/new Ann  likes tea",
        "/remember Ann  likes tea",
        "/start Ann  likes tea",
    ]
    for where, said, told in (
        (DM, "/ai_cxt", ".ai cxt"),
        (DM, "/AI_Memory", ".ai Memory"),
        (GROUP, "/ai_cxt", "/ai_cxt"),
        (GROUP, "/ai_cxt@nuan_bot", ".ai cxt"),
        (DM, "/air_cxt", "/air_cxt"),
        (DM, "/ai_", "/ai_"),
    ):
        assert read("message", message(where, **marked(said, "bot_command", said)), me)[0].text == told
