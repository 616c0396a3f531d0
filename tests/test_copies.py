"""The same message twice, and what a system repeats: heard once, answered once, nothing lost."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.events import Attachment, Incoming, Place, Sender
from bot.store.duplicates import COPY_MS, ECHO_MS, LinePrint, copied_from, print_of
from tests.storing import NOW
from tests.tables import all_cases
from tests.world import World

GROUP = "闲聊"
STATES = "SELECT text, hidden, state, same_as FROM event WHERE kind <> 'bot' ORDER BY id"


async def sent(world: World, text: str, number: int, who: str = "小王", group: str = "", **facts: object) -> None:
    """A message with a platform id of its own."""
    await world.say(text, who, group, external_id=str(number), delivery_key=f"k{number}", **facts)


async def happened(world: World, label: str, number: int, text: str = "") -> None:
    said = world.message(text, target=str(number), label=label)
    await world.app.ingest.accept(replace(said, kind="event"))
    await world.settled()


@pytest.mark.parametrize(("apart", "replies"), [(0, 1), (0.25, 1), (0.251, 2)])
async def test_a_double_click_is_answered_once(world: World, apart: float, replies: int) -> None:
    await sent(world, "在吗", 1)
    await world.wait(apart)
    await sent(world, "在 吗" if apart > 1 else "在吗", 2)
    assert len(world.replies) == replies
    assert len(world.rows(STATES)) == 2


async def test_a_copy_keeps_its_row_without_text(world: World) -> None:
    await sent(world, "我喜歡貓", 1)
    await world.wait(0.1)
    await sent(world, "我喜欢猫 ", 2)
    assert world.rows(STATES) == [("我喜歡貓", "", "done", None), ("", "copy", "listened", 1)]


async def test_a_stuttering_key_is_one_message(world: World) -> None:
    for number in range(20):
        await sent(world, "喂", number)
        await world.wait(0.2)
    assert len(world.replies) == 1


async def test_who_wrote_something_else_in_between_did_not_click_twice(world: World) -> None:
    for number, text in enumerate(("在吗", "你好", "在吗")):
        await sent(world, text, number)
    assert len(world.replies) == 3


async def test_a_restart_changes_nothing(world: World) -> None:
    await sent(world, "在吗", 1)
    await world.crash()
    world.away(0.2)
    await world.crash()
    await sent(world, "在吗", 2)
    assert len(world.replies) == 1
    await sent(world, "在吗", 2)
    assert len(world.rows(STATES)) == 2


async def test_two_people_places_texts_or_targets_are_two_messages(world: World) -> None:
    await sent(world, "小暖，好", 1, "小王", GROUP)
    await sent(world, "小暖，好", 2, "阿明", GROUP)
    await sent(world, "小暖，好", 3)
    await sent(world, "小暖，好！", 4)
    await sent(world, "小暖，好", 5, target="1")
    assert len(world.replies) == 5


async def test_a_command_is_carried_out_once_even_when_it_empties_itself(world: World) -> None:
    await world.say("记住我怕狗")
    await world.wait(1)
    for number in (1, 2):
        await sent(world, "忘记我怕狗", number)
        await world.wait(0.1)
    assert len(world.replies) == 2
    assert "忘掉了" in world.replies[-1]


async def test_pictures_forwarded_lines_and_slash_commands_are_no_copies(world: World) -> None:
    picture = (Attachment("file", "h", "a.txt"),)
    for number in (1, 2):
        await sent(world, "看", number, attachments=picture)
        await sent(world, "转", number + 2, forwarded=True)
        await sent(world, ".ai help", number + 4, via="77")
    assert world.peek.events.count(hidden="copy") == 0


async def test_deleting_the_first_copy_leaves_the_other(world: World) -> None:
    await sent(world, "记住我怕狗", 1)
    await sent(world, "记住我怕狗", 2)
    await happened(world, "delete", 1)
    assert world.peek.memories("text", disabled_at=None) == [("我怕狗",)]
    await happened(world, "delete", 2)
    assert world.peek.memories("text", disabled_at=None) == []
    assert "我怕狗" not in str(world.rows(STATES))


async def test_deleting_the_second_copy_leaves_the_first(world: World) -> None:
    await sent(world, "我怕狗", 1)
    await sent(world, "我怕狗", 2)
    await happened(world, "delete", 2)
    assert [row[:2] for row in world.rows(STATES)][:2] == [("我怕狗", ""), ("", "deleted")]


async def test_a_reply_to_the_copy_is_one_to_the_message(world: World) -> None:
    await sent(world, "我的卡号是 4455", 1)
    await sent(world, "我的卡号是 4455", 2)
    await world.wait(60)
    await sent(world, "忘记这个", 3, target="2")
    assert "4455" not in str(world.rows(STATES))


async def test_a_copy_that_is_edited_is_a_message_of_its_own(world: World) -> None:
    await sent(world, "明天见", 1)
    await sent(world, "明天见", 2)
    await happened(world, "edit", 2, "明天见")
    assert [row[:2] for row in world.rows(STATES)][1] == ("", "copy")
    await happened(world, "edit", 2, "后天见")
    assert [row[:2] for row in world.rows(STATES)][:2] == [("明天见", ""), ("后天见", "")]


@pytest.mark.parametrize(
    ("line", "wait", "told"),
    [
        ("<阿明> 大家好", 1.2, False),
        ("大家好", 0, False),
        ("阿明: 大家好", 1.201, True),
        ("大家好吗", 0, True),
        ("<小王> 大家好", 0, True),
    ],
)
async def test_a_system_line_that_repeats_a_message_is_its_echo(
    world: World, line: str, wait: float, told: bool
) -> None:
    await world.say("大家好", "阿明", GROUP)
    await world.wait(wait)
    await world.app.ingest.accept(Incoming(Place("console", f"group:{GROUP}", "group", GROUP), None, "server", line))
    await world.say("小暖，在吗", "小王", GROUP)
    assert ("<s>" in world.last_user) == told


async def test_an_event_of_the_same_words_is_no_echo(world: World) -> None:
    await world.say("diamond", "阿明", GROUP)
    place = Place("console", f"group:{GROUP}", "group", GROUP)
    await world.app.ingest.accept(Incoming(place, None, "event", "diamond", "pickup"))
    await world.say("小暖，在吗", "小王", GROUP)
    assert '<e t="pickup" d="diamond"/>' in world.last_user


async def test_nothing_of_a_copy_waits_in_the_files(world: World) -> None:
    await world.say("早")
    await world.wait(60)
    await world.say("晚")
    assert world.peek.lately.count() == 1


def line(text: str, at: int = 0, arrived: int = NOW, kind: str = "message") -> LinePrint:
    sender = Sender("telegram", "1", "Ann") if kind == "message" else None
    incoming = Incoming(Place("telegram", "1", "dm"), sender, kind, text, at=at)  # type: ignore[arg-type]
    found = print_of(incoming, 1 if sender else None, arrived)
    assert found is not None
    return replace(found, original=7)


@all_cases(
    ("first", "second", "copies"),
    [
        (NOW, NOW, True),
        (NOW, NOW + 1_000, True),
        (NOW, NOW + 2_000, False),
        (NOW + 1, NOW + 251, True),
        (NOW + 1, NOW + 252, False),
        (0, NOW + 9, True),
    ],
)
def test_what_comes_late_in_one_lump_is_told_apart_by_the_platforms_clock(
    first: int, second: int, copies: bool
) -> None:
    assert (copied_from(line("好", second), (line("好", first),)) == 7) == copies


@given(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9), st.integers(-3_000, 3_000))
def test_only_what_is_close_and_the_same_is_a_copy(one: str, other: str, late: int) -> None:
    if not one.strip() or not other.strip():
        return
    try:
        first = line(one)
        said, echo = line(other, arrived=NOW + late), line(one, arrived=NOW + late, kind="server")
    except AssertionError:  # nothing that can be seen
        return
    again = line(one, arrived=NOW + late)
    assert (copied_from(again, (first,)) is not None) == (abs(late) <= COPY_MS)
    assert copied_from(said, (first,)) is None or said.said == first.said
    assert copied_from(echo, (first,)) is None or abs(late) <= ECHO_MS
