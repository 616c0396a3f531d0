"""The short wait before a turn: what belongs together is answered once, what is whole and commands never wait, a crash
loses nothing."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.core.events import Place
from bot.speaking.pacing import REMEMBERED, Typists
from tests.conftest import NewWorld, OpenMedia
from tests.fakes.media import image
from tests.reloading import Filed
from tests.slow import SlowWorld
from tests.test_bursts import GROUP, answered, speaking
from tests.world import Talk, World


@dataclass
class Chatty(Talk):
    """A platform on which people write in short messages."""

    debounce_ms: int = 600


@pytest.fixture
async def chatty(tmp_path: Path) -> AsyncIterator[World]:
    """A nuan on such a platform."""
    world = World(tmp_path / "data")
    world.talk = Chatty()
    yield await world.open()
    await world.close()


def typing(world: World, who: str = "小王", group: str = "") -> None:
    """The platform says that somebody is typing."""
    said = world.message("", who, group)
    assert said.sender is not None
    world.app.ingest.typing(said.place, said.sender.external_id)


async def test_messages_close_together_are_answered_in_one(chatty: World) -> None:
    for text in ("我跟你说", "今天", "好累"):
        await chatty.say(text)
        await chatty.wait(0.4)
    assert chatty.replies == []
    await chatty.wait(0.2)
    assert answered(chatty) == [["我跟你说", "今天", "好累"]]


async def test_what_looks_unfinished_is_answered_after_the_wait_and_not_before(chatty: World) -> None:
    await chatty.say("今天我去了趟公司，")
    await chatty.wait(0.599)
    assert chatty.replies == []
    await chatty.wait(0.001)
    assert chatty.replies == ["好的"]


@pytest.mark.parametrize("text", ["今天下班路上看到一只橘猫。", "你在幹嘛", "What do you think?"])
async def test_a_whole_sentence_is_answered_at_once(chatty: World, text: str) -> None:
    await chatty.say(text)
    assert chatty.replies == ["好的"]


async def test_a_line_within_a_second_of_a_whole_one_waits_for_the_next(chatty: World) -> None:
    await chatty.say("今天下班路上看到一只橘猫。")
    await chatty.wait(0.999)
    await chatty.say("它跟了我一路。")
    await chatty.say("我给它取了个名字。")
    assert answered(chatty) == [["今天下班路上看到一只橘猫。"]]
    await chatty.wait(0.6)
    assert answered(chatty)[1:] == [["它跟了我一路。", "我给它取了个名字。"]]
    await chatty.wait(2)
    await chatty.say("叫团子。")
    assert len(answered(chatty)) == 3


async def test_two_quick_lines_are_answered_together_though_the_first_is_asked_already(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path)
    world.talk = Chatty()
    await world.open()
    await world.write("我今天被老板骂了。", "阿明")
    assert world.slow.thinking == 1
    await world.wait(0.9)
    await world.write("他说我做得太慢。", "阿明")
    assert world.slow.thinking == 0
    await world.wait(4)
    assert answered(world) == [["我今天被老板骂了。", "他说我做得太慢。"]]
    assert len(world.replies) == 1
    await world.close()


async def test_two_quick_lines_are_answered_together_though_the_first_is_not_asked_yet(open_world: OpenMedia) -> None:
    world = await open_world({"speak": {"debounce_seconds": 0.6}})

    async def meanwhile() -> None:
        await world.app.ingest.accept(world.message("它今天三岁了。"))

    world.files.meanwhile = meanwhile
    await world.send(image(), text="这是我家的猫。")
    assert world.replies == []
    await world.wait(0.6)
    assert answered(world) == [["这是我家的猫。", "它今天三岁了。"]]
    assert (len(world.replies), len(world.eyes.looked)) == (1, 1)


async def test_what_comes_a_second_later_is_answered_after_the_first(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path)
    world.talk = Chatty()
    await world.open()
    await world.write("我今天被老板骂了。", "阿明")
    await world.wait(1)
    await world.write("他说我做得太慢。", "阿明")
    await world.wait(5)
    assert answered(world) == [["我今天被老板骂了。"], ["他说我做得太慢。"]]
    await world.close()


async def test_in_a_group_a_whole_sentence_does_not_wait_for_what_others_write(chatty: World) -> None:
    await chatty.say("小暖，今天下班路上看到一只橘猫。", "阿明", GROUP)
    await chatty.wait(0.5)
    await chatty.say("小暖，明天会下雨吗？", "阿红", GROUP)
    assert len(answered(chatty)) == 2
    await chatty.wait(0.5)
    await chatty.say("小暖，它跟了我一路。", "阿明", GROUP)
    assert len(answered(chatty)) == 3


async def test_in_a_group_a_line_within_a_second_of_ones_own_waits_though_others_write_between(chatty: World) -> None:
    await chatty.say("小暖，今天下班路上看到一只橘猫。", "阿明", GROUP)
    await chatty.wait(0.5)
    await chatty.say("小暖，明天会下雨吗？", "阿红", GROUP)
    await chatty.wait(0.4)
    await chatty.say("小暖，它跟了我一路。", "阿明", GROUP)
    assert len(answered(chatty)) == 2
    await chatty.wait(0.6)
    assert answered(chatty)[2:] == [["小暖，它跟了我一路。"]]


async def test_without_a_wait_no_answer_is_cut_short(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path, speaking(debounce_seconds=0))
    world.talk = Chatty()
    await world.open()
    await world.write("我跟你说，", "阿明")
    await world.wait(0.5)
    await world.write("我今天被老板骂了。", "阿明")
    await world.wait(5)
    assert answered(world) == [["我跟你说，"], ["我今天被老板骂了。"]]
    await world.close()


async def test_who_never_pauses_is_answered_after_three_seconds(chatty: World) -> None:
    for number in range(7):
        await chatty.say(f"第{number}句")
        await chatty.wait(0.5)
    assert [len(texts) for texts in answered(chatty)] == [6]


async def test_in_the_terminal_nobody_waits_unless_it_is_configured(world: World, new_world: NewWorld) -> None:
    await world.say("在吗")
    assert world.replies == ["好的"]
    patient = await new_world(speak={"debounce_seconds": 1})
    await patient.say("我跟你说")
    await patient.wait(0.9)
    assert patient.replies == []
    await patient.wait(0.1)
    assert patient.replies == ["好的"]


async def test_a_configured_wait_comes_before_the_platforms(tmp_path: Path) -> None:
    world = World(tmp_path, speaking(debounce_seconds=0))
    world.talk = Chatty()
    await world.open()
    await world.say("在吗")
    assert world.replies == ["好的"]
    await world.close()


@pytest.mark.parametrize("text", [".ai help", "记住我怕狗", "停"])
async def test_commands_memory_and_stop_words_never_wait(chatty: World, text: str) -> None:
    await chatty.say(text)
    assert len(chatty.replies) == 1


async def test_a_command_does_not_wait_for_the_message_before_it_nor_hurry_it(chatty: World) -> None:
    await chatty.say("我跟你说")
    await chatty.wait(0.3)
    await chatty.say(".ai help")
    assert [".ai help remind" in reply for reply in chatty.replies] == [True]
    assert chatty.model.requests == []
    await chatty.wait(0.3)
    assert answered(chatty) == [["我跟你说"]]


async def test_a_stop_takes_back_what_still_waits(chatty: World) -> None:
    await chatty.say("我跟你说")
    await chatty.say("停")
    await chatty.wait(5)
    assert chatty.model.requests == []


async def test_a_crash_during_the_wait_loses_nothing(chatty: World) -> None:
    await chatty.say("我跟你说")
    await chatty.wait(0.3)
    await chatty.say("今天好累")
    await chatty.crash()
    await chatty.wait(0.6)
    assert answered(chatty) == [["我跟你说", "今天好累"]]


async def test_after_a_long_crash_the_answer_comes_at_once(chatty: World) -> None:
    await chatty.say("我跟你说")
    await chatty.close()
    chatty.away(60)
    await chatty.open()
    assert chatty.replies == ["好的"]


async def test_who_is_still_typing_is_waited_for_three_seconds_in_all(chatty: World) -> None:
    await chatty.say("我跟你说")
    await chatty.wait(0.5)
    typing(chatty)
    await chatty.wait(2.4)
    assert chatty.replies == []
    await chatty.wait(0.1)
    assert answered(chatty) == [["我跟你说"]]


async def test_what_they_typed_is_joined_and_ends_the_longer_wait(chatty: World) -> None:
    await chatty.say("我跟你说")
    typing(chatty)
    await chatty.wait(1.5)
    await chatty.say("今天好累")
    await chatty.wait(0.6)
    assert answered(chatty) == [["我跟你说", "今天好累"]]


async def test_others_who_type_hold_nobody_up(chatty: World) -> None:
    await chatty.say("小暖，我跟你说", "阿明", GROUP)
    typing(chatty, "阿红", GROUP)
    typing(chatty, "阿明")
    await chatty.wait(0.6)
    assert answered(chatty) == [["小暖，我跟你说"]]


async def test_a_memory_command_does_not_wait_for_who_goes_on_typing(chatty: World) -> None:
    await chatty.say("我跟你说")
    typing(chatty)
    await chatty.say("记住我怕狗")
    typing(chatty)
    assert any("记住啦" in reply for reply in chatty.replies)


async def test_typing_stores_nothing_and_a_crash_forgets_it(chatty: World) -> None:
    before = chatty.rows("SELECT count(*) FROM event") + chatty.rows("SELECT count(*) FROM person")
    typing(chatty, "阿生")
    assert chatty.rows("SELECT count(*) FROM event") + chatty.rows("SELECT count(*) FROM person") == before
    await chatty.say("我跟你说")
    typing(chatty)
    await chatty.crash()
    await chatty.wait(0.6)
    assert chatty.replies == ["好的"]


async def test_queue_does_not_wait(tmp_path: Path) -> None:
    world = World(tmp_path, speaking(busy="queue"))
    world.talk = Chatty()
    await world.open()
    await world.say("在吗")
    assert world.replies == ["好的"]
    await world.close()


async def test_people_in_a_group_wait_each_for_themselves(chatty: World) -> None:
    await chatty.say("小暖，我跟你说", "阿明", GROUP)
    await chatty.wait(0.5)
    await chatty.say("小暖，几点了", "阿红", GROUP)
    await chatty.wait(0.1)
    assert answered(chatty) == [["小暖，我跟你说", "小暖，几点了"]], "a message that is due takes along what waits"


def test_typists_are_bounded_and_forgotten_after_ten_seconds() -> None:
    typists, place = Typists(), Place("discord", "1", "group")
    for number in range(REMEMBERED + 10):
        typists.typing(place, str(number), 1_000)
    found = typists.still("discord", "1", 10_999)
    assert (len(found), "9" in found, "10" in found) == (REMEMBERED, False, True)
    assert typists.still("discord", "1", 11_000) == frozenset()
    assert typists.still("telegram", "1", 1_000) == frozenset()


async def test_who_is_typing_is_waited_for_over_a_reload(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    filed.talk = Chatty()
    await filed.open()
    await filed.say("我跟你说")
    typing(filed)
    filed.write("[input]\nmax_chars = 100\n")
    await filed.reload()
    await filed.wait(2.9)
    assert filed.replies == []
    await filed.wait(0.1)
    assert answered(filed) == [["我跟你说"]]
    await filed.close()


async def test_what_follows_a_call_during_its_wait_is_joined_to_it(chatty: World) -> None:
    await chatty.say("小暖", "阿明", GROUP)
    await chatty.wait(0.3)
    await chatty.say("帮我查一下天气", "阿明", GROUP)
    await chatty.wait(0.3)
    assert chatty.replies == []
    await chatty.wait(0.3)
    assert answered(chatty) == [["小暖", "帮我查一下天气"]]
    await chatty.say("明天呢", "阿明", GROUP)
    await chatty.wait(4.9)
    assert len(answered(chatty)) == 1
    await chatty.wait(0.1)
    assert answered(chatty)[1:] == [["明天呢"]]


async def test_follow_ups_cannot_hold_up_the_call_before_them(chatty: World) -> None:
    await chatty.say("小暖", "阿明", GROUP)
    for number in range(7):
        await chatty.wait(0.5)
        await chatty.say(f"第{number}件事", "阿明", GROUP)
    assert [len(texts) for texts in answered(chatty)] == [6]
