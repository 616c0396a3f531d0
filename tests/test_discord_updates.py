"""Recorded gateway payloads as Incoming: parsed by the real library, without a connection."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.events import MentionNames, readable_text
from bot.core.events import Attachment
from tests.discord_wire import (
    ANN,
    ANN_USER,
    BOT,
    BOT_USER,
    DM,
    GUILD,
    HALL,
    HOOK,
    LIN,
    LIN_USER,
    MANAGED,
    MEMBER,
    MESSAGE,
    PLAIN,
    SAID_AT,
    THREAD,
    Wire,
    channel,
    direct,
    guild_payload,
    message,
    person,
    thread,
)


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_a_guild_message_has_its_place_sender_time_and_key(wire: Wire) -> None:
    said = wire.one("MESSAGE_CREATE", message("你好"))
    assert (said.place.external_id, said.place.kind, said.place.title) == (str(HALL), "group", "#hall")
    assert said.place.parent == str(GUILD)
    assert said.sender is not None
    assert (said.sender.external_id, said.sender.name, said.sender.is_bot) == (str(LIN), "林", False)
    assert (said.kind, said.text, said.at, said.external_id) == ("message", "你好", SAID_AT, str(MESSAGE))
    assert said.delivery_key == f"{BOT}:{MESSAGE}"
    assert [said.mentions_bot, said.replies_to_bot, said.addresses_other, said.forwarded] == [False] * 4


def test_a_direct_message_is_a_dm_without_a_parent(wire: Wire) -> None:
    said = wire.one("MESSAGE_CREATE", direct("hi"))
    assert (said.place.external_id, said.place.kind, said.place.parent) == (str(DM), "dm", "")


def test_a_thread_is_a_place_of_its_own_in_its_guild(wire: Wire) -> None:
    said = wire.one("MESSAGE_CREATE", message("hi", channel_id=str(THREAD)))
    assert (said.place.external_id, said.place.title, said.place.parent) == (str(THREAD), "周末计划", str(GUILD))


def test_own_messages_and_announcements_of_discord_tell_nothing(wire: Wire) -> None:
    assert wire.feed("MESSAGE_CREATE", message("me", author=BOT_USER)) == []
    for kind in (7, 8, 18, 21):
        assert wire.feed("MESSAGE_CREATE", message("", type=kind)) == []


def test_other_bots_and_webhooks_are_bots(wire: Wire) -> None:
    other = wire.one("MESSAGE_CREATE", message("beep", author=person(500, "Beep", bot=True)))
    hook = wire.one("MESSAGE_CREATE", message("I am 林", author=person(HOOK, "林"), webhook_id=str(HOOK)))
    assert other.sender is not None
    assert hook.sender is not None
    assert other.sender.is_bot
    assert (hook.sender.external_id, hook.sender.is_bot) == (str(HOOK), True)


def test_ids_are_told_as_names(wire: Wire) -> None:
    text = f"<@{BOT}> <@!{ANN}> <@&{PLAIN}> <#{HALL}> <#{THREAD}> <a:wave:7> </ai ctx:8> <@999> <t:1:R>"
    users = [BOT_USER, ANN_USER | {"member": MEMBER | {"nick": "安"}}]
    said = wire.one("MESSAGE_CREATE", message(text, mentions=users, mention_roles=[str(PLAIN)]))
    assert said.text == "@安 @friends #hall #周末计划 :wave: /ai ctx @999 <t:1:R>"


@pytest.mark.parametrize(
    ("text", "changes", "called"),
    [
        (f"<@{BOT}> hi", {"mentions": [BOT_USER]}, True),
        (f"<@&{MANAGED}> hi", {"mention_roles": [str(MANAGED)]}, True),
        (f"<@&{PLAIN}> hi", {"mention_roles": [str(PLAIN)]}, False),
        ("@everyone hi", {"mention_everyone": True}, False),
    ],
)
def test_only_the_bot_itself_and_its_own_role_call_it(
    wire: Wire, text: str, changes: dict[str, Any], called: bool
) -> None:
    said = wire.one("MESSAGE_CREATE", message(text, **changes))
    assert (said.mentions_bot, said.addresses_other) == (called, not called), "a role or everyone is somebody else"


def reply_to(author: dict[str, Any], content: str = "what", **changes: Any) -> dict[str, Any]:
    pointer = {"type": 0, "message_id": "77", "channel_id": str(HALL), "guild_id": str(GUILD)}
    referenced = message("before", id="77", author=author)
    return message(content, type=19, message_reference=pointer, referenced_message=referenced, **changes)


def test_a_reply_to_the_bot_is_known_although_it_pings_it_too(wire: Wire) -> None:
    said = wire.one("MESSAGE_CREATE", reply_to(BOT_USER, mentions=[BOT_USER]))
    assert (said.replies_to_bot, said.mentions_bot, said.addresses_other, said.target) == (True, False, False, "77")


def test_a_reply_or_mention_of_somebody_else_addresses_them(wire: Wire) -> None:
    assert wire.one("MESSAGE_CREATE", reply_to(ANN_USER)).addresses_other
    assert wire.one("MESSAGE_CREATE", message(f"<@{ANN}> hi", mentions=[ANN_USER])).addresses_other
    assert not wire.one("MESSAGE_CREATE", reply_to(LIN_USER)).addresses_other


def test_a_reply_to_a_deleted_message_is_just_a_message(wire: Wire) -> None:
    said = wire.one("MESSAGE_CREATE", reply_to(ANN_USER) | {"referenced_message": None})
    assert (said.text, said.replies_to_bot, said.target) == ("what", False, "77")


def test_a_forward_shows_what_it_carries_and_calls_nobody(wire: Wire) -> None:
    pointer = {"type": 1, "message_id": "77", "channel_id": "5", "guild_id": "6"}
    inner = message(f"<@{BOT}> 记住这个", mentions=[BOT_USER])
    said = wire.one("MESSAGE_CREATE", message("", message_reference=pointer, message_snapshots=[{"message": inner}]))
    assert (said.forwarded, said.mentions_bot, said.target) == (True, False, "")
    assert said.text.endswith("记住这个")


def test_stickers_and_polls_are_told_in_words(wire: Wire) -> None:
    sticker = {"id": "9", "name": "wave", "format_type": 1}
    assert wire.one("MESSAGE_CREATE", message("hi", sticker_items=[sticker])).text == "hi\n[sticker wave]"


def attached(**changes: Any) -> dict[str, Any]:
    return {"id": "5", "filename": "a.bin", "size": 7, "url": "https://cdn.invalid/a", "proxy_url": ""} | changes


def test_attachments_keep_kind_size_and_address(wire: Wire) -> None:
    files = [
        attached(content_type="image/png; charset=x"),
        attached(filename="v.ogg", content_type="audio/ogg", duration_secs=1.5, waveform="AAAA"),
        attached(filename="n.txt"),
        attached(),
    ]
    said = wire.one("MESSAGE_CREATE", message("", attachments=files))
    assert [(one.kind, one.mime) for one in said.attachments] == [
        ("image", "image/png"),
        ("voice", "audio/ogg"),
        ("file", "text/plain"),
        ("file", "application/octet-stream"),
    ]
    assert said.attachments[2] == Attachment("file", "https://cdn.invalid/a", "n.txt", "text/plain", 7)


def test_an_edit_tells_the_new_text_once(wire: Wire) -> None:
    wire.feed("MESSAGE_CREATE", message("one"))
    changed = message("two", edited_timestamp="2025-07-30T07:03:00+00:00")
    edit = wire.one("MESSAGE_UPDATE", changed)
    assert (edit.kind, edit.label, edit.text, edit.target) == ("event", "edit", "two", str(MESSAGE))
    assert edit.delivery_key == f"{BOT}:{MESSAGE}:edit:{edit.at}"
    assert wire.feed("MESSAGE_UPDATE", changed | {"embeds": [{"title": "a link"}]}) == []


def test_a_link_preview_or_our_own_edit_is_no_edit(wire: Wire) -> None:
    assert wire.feed("MESSAGE_UPDATE", message("a link", embeds=[{"title": "x"}])) == []
    assert wire.feed("MESSAGE_UPDATE", message("mine", author=BOT_USER, edited_timestamp="2025-07-30T07:03:00Z")) == []


def test_an_edit_of_a_message_never_seen_is_told(wire: Wire) -> None:
    edit = wire.one("MESSAGE_UPDATE", direct("new", edited_timestamp="2025-07-30T07:03:00+00:00"))
    assert (edit.place.kind, edit.text) == ("dm", "new")


def test_deletions_are_told_one_by_one(wire: Wire) -> None:
    where = {"channel_id": str(HALL), "guild_id": str(GUILD)}
    gone = wire.one("MESSAGE_DELETE", {"id": "7", **where})
    assert (gone.label, gone.target, gone.sender, gone.delivery_key) == ("delete", "7", None, f"{BOT}:7:delete")
    many = wire.feed("MESSAGE_DELETE_BULK", {"ids": ["9", "8"], **where})
    assert [one.target for one in many] == ["8", "9"]
    assert gone.place.title == many[0].place.title == "#hall"


def test_reactions_are_told_when_set_and_when_taken_back(wire: Wire) -> None:
    base = {"user_id": str(LIN), "channel_id": str(HALL), "guild_id": str(GUILD), "message_id": "7", "type": 0}
    thumb, wave = {"id": None, "name": "👍"}, {"id": "5", "name": "wave"}
    added = wire.one("MESSAGE_REACTION_ADD", base | {"emoji": thumb, "member": MEMBER | {"user": LIN_USER}})
    removed = wire.one("MESSAGE_REACTION_REMOVE", base | {"emoji": wave})
    assert added.sender is not None
    assert (added.label, added.text, added.target, added.sender.name) == ("reaction", "👍", "7", "林")
    assert (removed.text, removed.target) == ("-:wave:", "7")
    own = base | {"emoji": thumb, "user_id": str(BOT)}
    assert wire.feed("MESSAGE_REACTION_ADD", own) == []


def test_joins_and_leaves_are_told_in_the_system_channel(wire: Wire) -> None:
    joined = wire.one("GUILD_MEMBER_ADD", MEMBER | {"guild_id": str(GUILD), "user": ANN_USER})
    left = wire.one("GUILD_MEMBER_REMOVE", {"guild_id": str(GUILD), "user": ANN_USER})
    assert [joined.label, left.label] == ["join", "leave"]
    assert {joined.place.external_id, left.place.external_id} == {str(HALL)}
    assert joined.sender == left.sender


def test_without_a_system_channel_a_join_is_told_nowhere(wire: Wire) -> None:
    wire.feed("GUILD_UPDATE", guild_payload() | {"system_channel_id": None})
    assert wire.feed("GUILD_MEMBER_ADD", MEMBER | {"guild_id": str(GUILD), "user": ANN_USER}) == []


def test_a_pin_tells_the_start_of_what_was_pinned(wire: Wire) -> None:
    wire.feed("MESSAGE_CREATE", message("很长" * 100))
    pointer = {"type": 0, "message_id": str(MESSAGE), "channel_id": str(HALL), "guild_id": str(GUILD)}
    pin = wire.one("MESSAGE_CREATE", message("", id="99", type=6, message_reference=pointer))
    assert (pin.kind, pin.label, pin.target, len(pin.text)) == ("event", "pin", str(MESSAGE), 80)


def test_new_names_and_topics_are_told(wire: Wire) -> None:
    told = wire.one("CHANNEL_UPDATE", channel(topic="茶"))
    assert (told.label, told.text, told.place.title) == ("topic", "茶", "#hall")
    assert wire.one("CHANNEL_UPDATE", channel(topic="茶", name="tea")).text == "#tea"
    assert wire.feed("CHANNEL_UPDATE", channel(topic="茶", name="tea", nsfw=True)) == []
    renamed = wire.one("THREAD_UPDATE", thread(name="下周计划"))
    assert (renamed.label, renamed.text, renamed.place.external_id) == ("title", "下周计划", str(THREAD))


@pytest.mark.parametrize("missing", ["id", "author", "type", "content", "channel_id"])
def test_a_message_without_a_field_is_a_line_in_the_log(wire: Wire, missing: str) -> None:
    broken = {key: value for key, value in message("secret words").items() if key != missing}
    assert wire.feed("MESSAGE_CREATE", broken) == []
    assert wire.log.names == ["discord_malformed"]
    assert "secret" not in str(wire.log.kept)


@given(st.text(alphabet="<>@!&#:a/0123456789 ai\n茶", max_size=40))
def test_any_text_stays_what_it_was_apart_from_marks(text: str) -> None:
    told = readable_text(text, MentionNames())
    assert told == text or "<" in text
    assert readable_text(told.replace("<", ""), MentionNames()) == told.replace("<", "")


PLAIN_JSON = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(["id", "name", "type"])
JSON = st.recursive(
    PLAIN_JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=5
)


@given(JSON, st.sampled_from(sorted(message())))
def test_no_value_of_any_field_gets_past_the_guard(value: object, name: str) -> None:
    wire = Wire()
    wire.feed("MESSAGE_CREATE", message("hi") | {name: value})
    assert set(wire.log.names) <= {"discord_malformed"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"<@{BOT}> 记住我怕狗", "记住我怕狗"),
        (f"<@!{BOT}>，.ai off", ".ai off"),
        (f"<@&{MANAGED}> <@{BOT}> 记住我怕狗", "记住我怕狗"),
        (f"记住我怕狗 <@{BOT}>", "记住我怕狗"),
        (f"你好<@{BOT}>在吗", "你好@warm在吗"),
        (f"<@{BOT}>", "@warm"),
        (f"<@{BOT}> <@{ANN}> 早", "@Ann 早"),
    ],
)
def test_a_call_at_either_end_is_no_part_of_what_is_said(wire: Wire, text: str, told: str) -> None:
    more = {"mentions": [BOT_USER, ANN_USER], "mention_roles": [str(MANAGED)]}
    said = wire.one("MESSAGE_CREATE", message(text, **more))
    assert (said.text, said.mentions_bot) == (told, True)


def test_an_edit_is_told_without_its_call_too(wire: Wire) -> None:
    wire.feed("MESSAGE_CREATE", message(f"<@{BOT}> 记住我怕狗", mentions=[BOT_USER]))
    edited = {"edited_timestamp": "2025-07-30T07:03:00+00:00", "mentions": [BOT_USER]}
    told = wire.one("MESSAGE_UPDATE", message(f"<@{BOT}> 记住我怕猫", **edited))
    assert (told.label, told.text) == ("edit", "记住我怕猫")
