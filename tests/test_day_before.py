"""An hour alone, right after a line that names another day, is of that day; where it may be either, it is asked."""

import json
from dataclasses import replace

import pytest

from tests.fakes.model import calls
from tests.world import World

DENTIST = "約了週四看牙醫，下午四點半"


def due(world: World) -> list[tuple[object, ...]]:
    return world.rows(
        "SELECT text, strftime('%m-%d %H:%M', due_at / 1000 + 28800, 'unixepoch') FROM reminder WHERE ended_at IS NULL"
    )


@pytest.mark.parametrize(
    ("lines", "set_for"),
    [
        ((DENTIST, "四點叫我一下，騎車過去要一點時間"), ("看牙醫", "06-18 16:00")),
        ((DENTIST, "嗯嗯", "四點叫我一下"), ("看牙醫", "06-18 16:00")),
        ((DENTIST, "四點提醒我去看牙醫"), ("去看牙醫", "06-18 16:00")),
        (("周四早上十点看牙医", "九点叫我"), ("看牙医", "06-18 09:00")),
        (("周四下午一点开会", "十一点叫我"), ("开会", "06-18 11:00")),
        (("dentist is thursday 4:30pm", "remind me at 4"), ("dentist", "06-18 16:00")),
        ((DENTIST, "今天四點叫我一下"), ("", "06-12 16:00")),
        (("昨天去看了牙医", "四点叫我一下"), ("", "06-12 16:00")),
        (("明天外婆过生日", "下午三点提醒我开会"), ("开会", "06-12 15:00")),
        (("明天九点的飞机", "六点叫我起床"), ("起床", "06-13 06:00")),
    ],
)
async def test_it_is_of_the_day_that_was_named(world: World, lines: tuple[str, ...], set_for: tuple[str, str]) -> None:
    for line in lines:
        await world.say(line)
    assert due(world) == [set_for]


@pytest.mark.parametrize(
    "lines",
    [
        (DENTIST, "今天好累", "四點叫我一下"),
        (DENTIST, "五點叫我一下"),
        (DENTIST, "四點提醒我吃藥"),
        ("周四和周五都要看牙医", "四点叫我一下"),
    ],
)
async def test_where_it_may_be_either_day_it_is_asked(world: World, lines: tuple[str, ...]) -> None:
    for line in lines:
        await world.say(line)
    assert "哪一天" in world.replies[-1]
    assert due(world) == []
    await world.say("周四")
    assert [row[1] for row in due(world)] in (["06-18 16:00"], ["06-18 17:00"])


async def test_what_was_said_long_before_names_no_day(world: World) -> None:
    await world.say(DENTIST)
    await world.wait(6 * 60)
    await world.say("四點叫我一下")
    assert due(world) == [("", "06-12 16:00")]


@pytest.mark.parametrize("when", ["週四下午四點", "2026-06-18T16:00"])
async def test_a_model_that_is_there_decides_and_says_what_it_is_for(world: World, when: str) -> None:
    world.model.digests = True
    await world.say(DENTIST)
    asked = calls(("remind", json.dumps({"text": "出發去看牙醫", "when": when}, ensure_ascii=False)))
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else asked
    await world.say("四點叫我一下，騎車過去要一點時間")
    assert due(world) == [("出發去看牙醫", "06-18 16:00")]
    assert "remind" in next(m.content for m in reversed(world.turns[-1]) if m.role == "user")


async def test_an_edit_reads_the_day_before_it_too(world: World) -> None:
    await world.say(DENTIST)
    await world.say("三點叫我一下", external_id="7")
    edit = replace(world.message("四點叫我一下"), kind="event", label="edit", target="7")
    await world.app.ingest.accept(edit)
    await world.app.settled()
    assert due(world) == [("看牙醫", "06-18 16:00")]
