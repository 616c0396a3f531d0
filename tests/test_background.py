"""Calls that nobody waits for: what may call, the owner's switch, and the list of the last calls."""

import json

import pytest

from tests.conftest import NewWorld
from tests.test_closing import DIGEST, TALK, digesting, digests, is_digest, talk
from tests.world import World

ON = ("后台调用现在开着", "背景呼叫現在開著", "Background calls are on")
OFF = ("后台调用现在关着", "背景呼叫現在關著", "Background calls are off")
HEADS = ("后台调用现在", "背景呼叫現在", "Background calls are")
ANSWERED = ("回答，scripted，0.0 秒", "回答，scripted，0.0 秒", "answer, scripted, 0.0 s")
WRITES = ("我说说今天的事", "我說說今天發生的事", "Let me tell you about it")


async def ended(world: World, *, who: str = "小王") -> None:
    """A talk worth a digest, and its end; the model would make one."""
    digesting(world, json.dumps(DIGEST, ensure_ascii=False))
    await talk(world, who)
    await world.say("/new", who)


@pytest.mark.parametrize("background", [{"on": False}, {"sources": []}, {"on": False, "sources": []}])
async def test_what_is_configured_off_makes_no_call_and_rules_make_the_digest(
    new_world: NewWorld, background: dict[str, object]
) -> None:
    world = await new_world(background=background)
    await ended(world)
    assert digests(world) == [(1, "rule")]
    assert not any(map(is_digest, world.model.requests))
    await world.say(".ai calls")
    assert OFF[0] in world.replies[-1]
    await world.say(".ai calls background on")
    assert "background.on" in world.replies[-1], "the owner is told why it stays off"
    await ended(world)
    assert not any(map(is_digest, world.model.requests))


async def test_left_on_the_model_makes_the_digest(world: World) -> None:
    await ended(world)
    assert digests(world) == [(1, "model")]


async def test_the_owners_switch_lasts_over_restarts_and_crashes(world: World) -> None:
    await world.say(".ai calls background off")
    assert OFF[0] in world.replies[-1]
    await world.restart()
    await world.crash()
    await ended(world)
    assert digests(world) == [(1, "rule")]
    await world.say(".ai calls background ON")
    assert ON[0] in world.replies[-1]
    await world.restart()
    await ended(world)
    assert digests(world) == [(1, "model"), (2, "model")], "the rule's was made again"


@pytest.mark.parametrize("group", ["", "家"])
async def test_others_are_refused_and_change_nothing(world: World, group: str) -> None:
    await world.say("小暖，你好", "阿明", group)
    for words in ("", " background off", " background on", " background maybe"):
        await world.say(f".ai calls{words}", "阿明", group)
        assert "主人" in world.replies[-1], words
        assert "scripted" not in world.replies[-1], words
        await world.say(".ai calls")
        assert ON[0] in world.replies[-1], words


@pytest.mark.parametrize("script", [0, 1, 2])
async def test_words_that_it_does_not_know_change_nothing_and_are_answered_by_those_it_does(
    world: World, script: int
) -> None:
    await world.say(WRITES[script])
    for words in ("background maybe", "background", "background on off", "off", "on", "help", "10"):
        await world.say(f".ai calls {words}")
        assert ".ai calls background on | off" in world.replies[-1], words
        await world.say(".ai calls")
        assert ON[script] in world.replies[-1], words


@pytest.mark.parametrize("script", [0, 1, 2])
async def test_the_newest_five_calls_are_listed_in_the_owners_script(world: World, script: int) -> None:
    for number in range(11):
        await world.say(f"{WRITES[script]} {number}")
        await world.wait(60)
    await world.say(".ai calls")
    head, *lines = world.replies[-1].splitlines()
    assert head.startswith(HEADS[script])
    calls, more = lines[:-1:2], lines[-1]
    assert all(line.endswith(ANSWERED[script]) for line in calls)
    assert [line[6:11] for line in calls] == [f"09:{minute:02}" for minute in range(10, 5, -1)]
    assert ".ai calls recent 20" in more


async def test_before_the_first_call_it_says_so_and_a_digest_is_listed_as_one(world: World) -> None:
    await world.say(".ai calls")
    assert world.replies[-1].endswith("还没有调用")
    await ended(world)
    await world.say(".ai calls")
    assert "写摘要，scripted" in world.replies[-1].splitlines()[1]
    assert not any(text in world.replies[-1] for text in TALK)
