"""What is former comes back through no summary or note, and where the person asks about the past."""

import json

import pytest

from tests.living import FILL, digested
from tests.test_recall_kinds import recalls, result
from tests.world import World

DAY = 86_400


async def moved(world: World) -> None:
    """小王 lived in 苏州 and moved to 杭州, each digested by a model."""
    world.model.digests = True
    for summary, text, said in (
        ("小王住在苏州，最近很忙", "小王住在苏州平江路", "我住在苏州平江路"),
        ("小王搬家了", "小王住在杭州滨江", "我搬到杭州滨江了"),
    ):
        fact = {"kind": "knowledge", "text": text, "slot": "home", "lasting": True, "from": [1]}
        answer = json.dumps({"summary": summary, "statements": [fact]}, ensure_ascii=False)
        digested(world, answer)
        await world.say(f"{said}。{FILL}")
        await world.say("/new")
        await world.wait(3 * DAY)


async def test_no_summary_and_no_note_tells_a_former_value_as_true(world: World) -> None:
    await moved(world)
    recalls(world, "我住哪儿")
    await world.say("我住哪儿？")
    told = result(world).splitlines()
    assert "杭州" in told[1]
    assert [line for line in told if "苏州" in line] == [], "nor does the line that told it"


async def test_the_past_is_asked_about_in_the_persons_words_whatever_is_searched_for(world: World) -> None:
    await moved(world)
    recalls(world, "苏州 住")
    await world.say("我以前住哪儿？")
    assert "#1 以前：小王住在苏州平江路" in result(world)
    await world.say("/new")
    recalls(world, "苏州 住")
    await world.say("我住哪儿？")
    assert "#1" not in result(world)


async def test_what_took_the_place_of_a_former_value_answers_a_question_in_the_former_ones_words(world: World) -> None:
    world.model.digests = True
    for text, said, former in (
        ("如果贷款下来，小王想买那套老洋房", "如果贷款下来我想买那套老洋房", []),
        ("小王的钱没批下来，不买了", "钱没批下来，不买了", [1]),
    ):
        fact = {"kind": "knowledge", "text": text, "lasting": False, "replaces": former, "from": [1]}
        digested(world, json.dumps({"summary": "小王说了房子的事", "statements": [fact]}, ensure_ascii=False))
        await world.say(f"{said}。{FILL}")
        await world.say("/new")
        await world.wait(3 * DAY)
    recalls(world, "老洋房")
    await world.say("那套老洋房怎么样了？")
    assert any("没批下来" in line and line.startswith("- #2") for line in result(world).splitlines()), result(world)


@pytest.mark.parametrize("question", ["我上个月住哪？", "六月那会儿我住哪儿来着？", "搬家之前我住哪"])
async def test_a_former_value_comes_with_the_days_it_held_where_the_question_names_a_time_of_it(
    world: World, question: str
) -> None:
    await moved(world)
    await world.wait(31 * DAY)
    recalls(world, question)
    await world.say(question)
    former = next(line for line in result(world).splitlines() if "苏州" in line)
    assert former.startswith("- #1 以前：小王住在苏州平江路（到6月15日为止；6月12日说的）")


@pytest.mark.parametrize("question", ["我这个月住哪？", "我今天在哪儿住", "我住哪里"])
async def test_a_question_of_today_brings_the_current_value_alone(world: World, question: str) -> None:
    await moved(world)
    await world.wait(31 * DAY)
    recalls(world, question)
    await world.say(question)
    assert "杭州" in result(world)
    assert "苏州" not in result(world)


async def test_the_boss_of_then_comes_to_who_asks_in_the_past_tense(world: World) -> None:
    world.model.digests = True
    for name in ("Priya", "Owen"):
        fact = {"kind": "knowledge", "text": f"小王's boss is {name}", "slot": "boss", "lasting": True, "from": [1]}
        digested(world, json.dumps({"summary": "a talk of work", "statements": [fact]}))
        await world.say(f"my boss is {name}. {'we saw many things on the way today, ' * 9}")
        await world.say("/new")
        await world.wait(3 * DAY)
    recalls(world, "boss")
    await world.say("who was my boss?")
    assert "formerly: 小王's boss is Priya" in result(world)
    await world.say("who is my boss?")
    assert "Priya" not in result(world)
