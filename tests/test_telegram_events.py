"""What else Telegram tells (edits, reactions, members, buttons, oddities) becomes what happened."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from telegram import Update

from adapters.telegram.events import events_of
from adapters.telegram.polling import readable
from bot.core.events import Incoming
from tests.telegram_payloads import (
    ANN,
    AT,
    BO,
    BOT,
    DM,
    GROUP,
    ME,
    Json,
    message,
    one,
    read,
)


def test_an_edit_tells_the_new_text_and_one_without_text_is_nothing() -> None:
    told = one(message(text="新", edit_date=AT + 5), "edited_message")
    assert (told.kind, told.label, told.target, told.text, told.external_id) == ("event", "edit", "42", "新", "")
    assert told.at == (AT + 5) * 1000
    place = {"latitude": 1.0, "longitude": 2.0, "live_period": 60}
    assert read("edited_message", message(location=place, edit_date=AT + 5)) == ()


def test_an_edit_of_what_was_forwarded_is_nobodys_own_words() -> None:
    origin = {"type": "user", "sender_user": BO, "date": AT}
    assert one(message(text="新", edit_date=AT + 5, forward_origin=origin), "edited_message").forwarded
    assert not one(message(text="新", edit_date=AT + 5), "edited_message").forwarded


def reaction(
    old: Sequence[Mapping[str, object]], new: Sequence[Mapping[str, object]], **who: object
) -> tuple[Incoming, ...]:
    payload = {"chat": GROUP, "message_id": 40, "date": AT, "old_reaction": old, "new_reaction": new, **who}
    return read("message_reaction", payload)


def test_reactions_are_told_one_by_one_taken_back_ones_with_a_minus() -> None:
    up, down, heart = ({"type": "emoji", "emoji": emoji} for emoji in "👍👎❤")
    own = {"type": "custom_emoji", "custom_emoji_id": "5"}
    told = reaction([up, heart], [heart, down, own], user=ANN)
    assert [(item.text, item.target, item.label) for item in told] == [
        ("-👍", "40", "reaction"),
        ("👎", "40", "reaction"),
    ]
    assert len({item.delivery_key for item in told}) == 2
    assert reaction([], [up], actor_chat=GROUP) == ()


def test_who_came_and_who_went_is_told_by_name_not_who_did_it() -> None:
    came = read("message", message(GROUP, ANN, new_chat_members=[BO, BOT, {**BO, "id": 503}]))
    assert [(item.label, item.sender.external_id if item.sender else "") for item in came] == [
        ("join", "502"),
        ("join", "503"),
    ]
    assert len({item.delivery_key for item in came}) == 2
    went = one(message(GROUP, ANN, left_chat_member=BO))
    assert went.sender is not None
    assert (went.label, went.sender.external_id) == ("leave", "502")


def standing(kind: str, whom: Json, old: Json, new: Json, chat: Json = GROUP) -> tuple[Incoming, ...]:
    change = {"chat": chat, "from": ANN, "date": AT}
    return read(kind, {**change, "old_chat_member": {"user": whom, **old}, "new_chat_member": {"user": whom, **new}})


OUT: Json = {"status": "left"}
IN: Json = {"status": "member"}
BANNED: Json = {"status": "kicked", "until_date": 0}


def test_a_join_told_twice_is_one_join() -> None:
    (first,) = standing("chat_member", BO, OUT, IN)
    second = one(message(GROUP, BO, new_chat_members=[BO]))
    assert first.delivery_key == second.delivery_key
    assert first.label == "join"
    assert [item.label for item in standing("chat_member", BO, IN, BANNED)] == ["leave"]
    assert standing("chat_member", BO, BANNED, OUT) == ()


def test_being_blocked_and_let_in_again_is_told() -> None:
    assert [item.label for item in standing("my_chat_member", BOT, IN, BANNED, DM)] == ["gone"]
    assert [item.label for item in standing("my_chat_member", BOT, BANNED, IN, DM)] == ["back"]
    assert standing("my_chat_member", BOT, IN, IN) == ()


def test_titles_and_pins_are_told() -> None:
    assert (one(message(new_chat_title="新名")).label, one(message(new_chat_title="新名")).text) == ("title", "新名")
    pinned = message(text="很长" * 100) | {"message_id": 12}
    told = one(message(pinned_message=pinned))
    assert (told.label, told.target, told.text[:4]) == ("pin", "12", "很长很长")
    assert len(told.text) <= 80
    gone = {"message_id": 12, "date": 0, "chat": GROUP}
    assert (one(message(pinned_message=gone)).target, one(message(pinned_message=gone)).text) == ("12", "")


def test_a_group_that_became_a_supergroup_is_told_once_from_either_side() -> None:
    old: Json = {"id": -77, "type": "group", "title": "小组"}
    left = one(message(old, migrate_to_chat_id=-1001))
    right = one(message(GROUP, migrate_from_chat_id=-77))
    assert (left.label, left.place.external_id, left.target) == ("migrate", "-77", "-1001")
    assert replace(right, at=left.at) == left


def pressed(data: str, by: Json = ANN, chat: Json = GROUP) -> tuple[Incoming, ...]:
    shown = message(chat, BOT, text="好")
    return read("callback_query", {"id": "1", "from": by, "message": shown, "chat_instance": "1", "data": data})


def test_a_button_speaks_only_for_the_one_it_was_made_for() -> None:
    (told,) = pressed("501|.ai undo | 2")
    assert told.sender is not None
    assert (told.kind, told.text, told.sender.external_id) == ("message", ".ai undo | 2", "501")
    assert told.delivery_key == "7700:9"
    for data, by in (("501|.ai undo", BO), (".ai undo", ANN), ("501|", ANN), ("", ANN), ("|x", ANN)):
        assert pressed(data, by) == ()


def test_service_messages_of_no_interest_are_nothing() -> None:
    kinds: tuple[Json, ...] = ({"delete_chat_photo": True}, {"group_chat_created": True}, {"video_chat_started": {}})
    for fields in kinds:
        assert read("message", message(**fields)) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(message())), inner, max_size=4),
    max_leaves=12,
)


@given(update=st.dictionaries(st.sampled_from(["message", "callback_query", "my_chat_member"]), JSON, max_size=2))
@settings(max_examples=200, deadline=None)
def test_an_update_that_cannot_be_read_is_emptied_and_the_others_stay(update: Json) -> None:
    good = {"update_id": 8, "message": message(text="还在")}
    payload, skipped = readable(json.dumps({"ok": True, "result": [{"update_id": 7, **update}, good]}).encode())
    told = [Update.de_json(item, None) for item in json.loads(payload)["result"]]
    assert [item.update_id for item in told] == [7, 8]
    assert skipped in ((), (7,))
    assert events_of(told[1], ME)[0].text == "还在"


@given(
    text=st.text(st.sampled_from("/@ 😀暖nuan_botctx"), max_size=30),
    offset=st.integers(0, 40),
    length=st.integers(0, 40),
    kind=st.sampled_from(["mention", "bot_command", "bold"]),
)
@settings(max_examples=300, deadline=None)
def test_entities_at_any_offset_are_read_without_an_error(text: str, offset: int, length: int, kind: str) -> None:
    payload = message(text=text, entities=[{"type": kind, "offset": offset, "length": length}])
    told = read("message", payload)
    assert len(told) == bool(text)


def test_whoever_writes_as_a_chat_is_a_bot_to_nuan() -> None:
    channel = {"id": -1009, "type": "channel", "title": "频道"}
    sender = one(message(text="在吗", sender_chat=channel)).sender
    assert sender is not None
    assert (sender.external_id, sender.is_bot) == ("-1009", True)
