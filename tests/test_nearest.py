"""Words that no command knows: the nearest is named in the person's script, and nothing else is done or sent."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.adapter import menu
from bot.commands.command import TOPICS, Command, Invocation, command, corrected
from bot.commands.registry import COMMANDS, command_specs, find_command, is_command, nearest_command, parse_command
from bot.core.events import CommandSpec
from bot.core.files import PromptFiles
from bot.core.people import SCRIPTS
from bot.text.catalogue import catalogue
from tests.tables import all_cases
from tests.world import World

MESSAGES = catalogue(PromptFiles(None).path, "messages")
LIMITS = "[off | usermin N | notify on|off]"


@all_cases(
    ("name", "near"),
    [
        ("bugdet", "budget"),
        ("budgt", "budget"),
        ("hlep", "help"),
        ("memry", "mem"),
        ("memory", "mem"),
        ("introspec", "introspect"),
        ("persona", "persona"),
        ("personallity", "personality"),
        ("clera", "clear"),
        ("dance", ""),
        ("nonsense", ""),
        ("", ""),
        ("预算", ""),
        ("x", ""),
    ],
)
def test_a_name_is_told_its_nearest(name: str, near: str) -> None:
    assert nearest_command(name, COMMANDS) == near


@all_cases(
    ("arguments", "words", "right"),
    [
        (LIMITS, "", ""),
        (LIMITS, "off", ""),
        (LIMITS, "OFF", ""),
        (LIMITS, "of", "off"),
        (LIMITS, "usrmin 3", "usermin"),
        (LIMITS, "notify onn", "notify on"),
        (LIMITS, "notify on", ""),
        (LIMITS, "usermin off", ""),
        (LIMITS, "whatever", ""),
        (LIMITS, "notify", ""),
        (LIMITS, "off and more", ""),
        ("[full | NAME]", "ful", ""),
        ("[WHEN WHAT | list]", "lst", "list"),
        ("[WHEN WHAT | list]", "lst tea", ""),
        ("me [NUMBER]", "mee", "me"),
        ("me [NUMBER]", "me 123", ""),
        ("", "anything", ""),
        ("[#N | stats]", "#3", ""),
    ],
)
def test_a_word_that_fits_nowhere_is_put_right(arguments: str, words: str, right: str) -> None:
    @command("x", arguments, who="anyone", topic="chat")
    async def made(call: Invocation) -> str:
        return call.text("x")

    assert corrected(made, tuple(words.split())) == (f".ai x {right}" if right else "")


@all_cases(
    "said",
    [
        "mode show",
        "limit show",
        "dialog person 阿明",
        "remind 列表",
        "remind 取消 3",
        "remind 明天8点开会",
        "tz off",
        "tz 默认",
        "export 我",
        "export myself",
        "forget 我 123",
        "deny telegram:1",
        "ctx 你好",
        "introspect now",
    ],
)
def test_words_that_a_command_knows_beside_those_of_the_table_are_left_alone(said: str) -> None:
    name, *words = said.split()
    command = find_command(name)
    assert command is not None
    assert corrected(command, tuple(words)) == ""


@given(st.sampled_from(COMMANDS), st.lists(st.text(max_size=8), max_size=4))
def test_anything_may_follow_and_what_is_proposed_fits(command: Command, words: list[str]) -> None:
    for loosely in (False, True):
        proposed = corrected(command, tuple(words), loosely=loosely)
        if proposed:
            name, fixed = parse_command(proposed)
            assert find_command(name) == command
            assert corrected(command, fixed) == ""


async def test_nearest_words_through_the_door(world: World) -> None:
    await world.say("我說的話", "阿紅")
    await world.say("what I said", "Ann")
    calls = len(world.model.requests)
    for text, who, told in (
        (".ai bugdet", "小王", "没有“bugdet”这个命令，你是想发 .ai budget 吗？"),
        ("。AI ＢＵＧＤＥＴ", "小王", "没有“bugdet”这个命令，你是想发 .ai budget 吗？"),
        (".ai bugdet", "阿紅", "沒有「bugdet」這個指令，你是想傳 .ai budget 嗎？"),
        (".ai bugdet", "Ann", "There is no command “bugdet”; did you mean .ai budget?"),
        (".ai aprove", "Ann", "There is no command “aprove”; .ai help shows them all"),
        (".ai 天氣", "阿紅", "沒有「天氣」這個指令，傳 .ai help 看看都有什麼"),
        (".ai help 天氣", "阿紅", "沒有「天氣」這個指令，傳 .ai help 看看都有什麼"),
        (".ai help memstat", "小王", "没有“memstat”这个命令，你是想发 .ai memstats 吗？"),
        (".ai calls background of", "小王", "这里没有这个词，你是想发 .ai calls background off 吗？"),
        (".ai context recnt 20", "Ann", "I don't know that word there; did you mean .ai context recent?"),
        (".ai remind lst", "小王", "这里没有这个词，你是想发 .ai remind list 吗？"),
    ):
        await world.say(text, who)
        assert world.replies[-1] == told
    for text, more in (
        (".ai dialog ful", "你是想发 .ai dialog full 吗？"),
        (".ai mem stat", "你是想发 .ai mem stats 吗？"),
        (".ai persona rest", "你是想发 .ai persona reset 吗？"),
        (".ai tz rset", "你是想发 .ai tz reset 吗？"),
    ):
        await world.say(text)
        assert world.replies[-1].splitlines()[-1] == more
    assert len(world.model.requests) == calls
    assert world.peek.facts.count(key="background") == 0
    assert world.peek.reminders.count() == 0
    before = len(world.turns)
    for text in ("bugdet", "ai bugdet", "。bugdet", "我想看 .ai bugdet"):
        await world.say(text)
    assert len(world.turns) == before + 4


async def test_one_command_is_told_with_its_arguments_and_an_example(world: World) -> None:
    for name in ("remind", ".ai remind", "REMIND"):
        await world.say(f".ai help {name}")
        first, who, example = world.replies[-1].splitlines()
        assert first.startswith(".ai remind [WHEN WHAT | list | cancel N | cancel all] — .ai remind 明天8点")
        assert who == "谁可以用：谁都行；回答给你自己看"
        assert example == "比如：.ai remind list"
    await world.say(".ai help mem")
    assert "也可以写：.ai memory" in world.replies[-1]


def test_no_two_commands_go_by_one_name() -> None:
    names = [name for each in COMMANDS for name in (each.name, *each.aliases)]
    assert len(set(names)) == len(names)


def test_every_command_has_its_words_in_every_language() -> None:
    keys = {command.help for command in COMMANDS if command.listed}
    keys |= {f"who_{command.who}" for command in COMMANDS} | {f"topic_{topic}" for topic in TOPICS}
    for key in keys:
        told = {script: MESSAGES.text(key, script) for script in SCRIPTS}
        assert key not in told.values()
        assert told["en"].isascii() != told["zh-Hans"].isascii(), key
    for each in COMMANDS:
        assert corrected(each, tuple(each.example.split())) == "", each.name


def test_telegrams_menu_holds_every_command_within_its_limits() -> None:
    listed = [command for command in COMMANDS if command.listed]
    for language in ("en", "zh-Hans"):
        entries = {entry.command: entry.description for entry in menu(command_specs(MESSAGES), language)}
        assert len(entries) <= 100
        assert all(0 < len(about) <= 256 for about in entries.values())
        for each in listed:
            assert f"ai_{each.name}" in entries or each.name in entries
    crowd = tuple(replace(CommandSpec("a", ".ai a", (("en", "A"),)), name=f"a{number}") for number in range(120))
    assert len(menu(crowd, "en")) == 100


def test_a_full_width_head_is_a_command_and_a_longer_word_is_none() -> None:
    assert [is_command(text) for text in ("。ai x", "．AI x", "/ai", ".aix", "ai x", "。。ai")] == [True] * 3 + [
        False
    ] * 3


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("/mem", "说“记住…”我就记"),
        ("/remnd", "没有“remnd”这个命令，你是想发 .ai remind 吗？"),
        ("/weather Berlin", "没有“weather”这个命令，发 .ai help 看看都有什么"),
    ],
)
async def test_in_a_direct_chat_a_slash_begins_a_command(world: World, said: str, answer: str) -> None:
    await world.say("你好")
    await world.say(said)
    assert answer in world.replies[-1]


@pytest.mark.parametrize("said", ["/etc/hosts 里写了什么", "/ 是什么", "/s", "/弱 今天好累"])
async def test_what_only_looks_like_one_is_talk(world: World, said: str) -> None:
    await world.say(said)
    assert world.replies == ["好的"]


async def test_in_a_group_it_may_be_for_another_bot(world: World) -> None:
    await world.say("/weather Berlin", group="闲聊")
    assert world.replies == []
