"""Every way to candidates of a recall, under every ranking: each keeps to its audience, and others' crowd nobody out."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from bot.container import make_recall
from bot.core.people import Audience
from bot.core.recall import RECALL_MODES, RecallMode, RecallQuery
from tests.embedded import SOON, EmbeddedWorld, embedded_world
from tests.noting import look

PEOPLE, GROUP = ("阿明", "阿红"), "东群"
DAY = 86_400
WAYS = {
    "words": "门口的密码是多少",
    "a day": "昨天说了什么",
    "nothing in common": "zebra",
    "a long message": "我又在想门口那件事，密码到底是多少，昨天说过的那个，今天想了一整天也没有想起来，真是愁人啊",
    "likeness": "密碼",
}
"""What is asked, by what of it finds something."""
MOST = 130
"""More than of one day are looked at, or of one question by likeness."""


async def settle(world: EmbeddedWorld) -> None:
    """A talk is over and has its summary; a day later all of it is old, and has its vectors."""
    await world.wait(3 * 3_600)
    await look(world)
    await world.wait(SOON)
    await world.wait(DAY)


def place_of(world: EmbeddedWorld, who: str, group: str = "") -> tuple[Audience, int]:
    """Who hears an answer there, and who asks."""
    places = world.peek.places("external_id", "chat_id")
    chats = {str(name): cast("int", number) for name, number in places}
    people = {str(name): cast("int", number) for name, number in world.peek.people("name", "id")}
    chat = chats[f"group:{group}" if group else f"dm:{who}"]
    there = tuple(people[each] for each in PEOPLE) if group else (people[who],)
    return Audience(chat, "group" if group else "dm", there), people[who]


async def scores(world: EmbeddedWorld, who: str, text: str) -> list[float]:
    """How well each candidate fits, by words alone."""
    audience, person = place_of(world, who)
    asking = RecallQuery(audience, person, text, world.clock.now(), mode="keyword")
    trace = await make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True).recall(asking)
    return [one.score for one in trace.scored]


async def found(
    world: EmbeddedWorld, who: str, text: str, group: str = "", mode: RecallMode = "v2", **more: object
) -> str:
    """The texts of all candidates, also those that are not brought."""
    audience, person = place_of(world, who, group)
    asking = RecallQuery(audience, person, text, world.clock.now(), mode=mode)
    recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
    trace = await recalling.recall(replace(asking, **more))  # type: ignore[arg-type]
    assert {talk.chat_id for talk in trace.talks} <= {audience.chat_id}, "whose talks weigh"
    return "\n".join(one.finding.text for one in trace.scored)


async def test_whatever_is_asked_brings_candidates_of_its_audience_alone(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, provider="hash", notes={"on_new": True}) as (world, _):
        told = {("阿明", ""): "kma", ("阿红", ""): "kra", ("阿明", GROUP): "kmb", ("阿红", GROUP): "krb"}
        for (who, group), mark in told.items():
            await world.say(f"小暖，门口的密码是{mark}1", who, group)
            await world.say(f"小暖，记住车库的密码是{mark}2", who, group)
        await settle(world)
        for mode in RECALL_MODES:
            for (who, group), mark in told.items():
                mine = {mark, told[who, GROUP]} if not group else {told[each, group] for each in PEOPLE}
                others = set(told.values()) - mine
                for way, text in WAYS.items():
                    texts = await found(world, who, text, group, mode)
                    assert not [mark for mark in others if mark in texts], (mode, who, group, way, texts)
                    assert [mark for mark in mine if mark in texts] or way == "nothing in common", (mode, who, way)
                    kinds = await found(world, who, text, group, mode, memory_kinds=("knowledge",))
                    assert not [mark for mark in others if mark in kinds], (mode, who, group, way, kinds)


async def test_much_that_others_said_hides_nothing_of_ones_own(tmp_path: Path) -> None:
    asked: dict[RecallMode, str] = {"v2": "昨天说了什么", "keyword": "zebra", "hybrid": "wallpapering"}
    async with embedded_world(tmp_path, provider="hash") as (world, _):
        await world.say("记住我在学 wallpaper hanging", "阿明")
        for number in range(MOST):
            await world.app.ingest.accept(
                world.message(f"小暖，记住 wallpapering 第{number}面墙", "阿红", f"群{number % 3}")
            )
        await world.app.settled()
        await world.wait(SOON)
        await world.wait(DAY)
        for mode, text in asked.items():
            assert "hanging" in await found(world, "阿明", text, mode=mode), mode


async def test_how_much_others_told_changes_nothing_of_how_well_ones_own_fits(tmp_path: Path) -> None:
    async with embedded_world(tmp_path, provider="hash") as (world, _):
        await world.say("记住我在学 wallpaper hanging", "阿明")
        before = await scores(world, "阿明", "wallpaper")
        for number in range(30):
            await world.app.ingest.accept(world.message(f"记住 wallpaper 第{number}面墙很难贴", "阿红"))
        await world.app.settled()
        assert before
        assert await scores(world, "阿明", "wallpaper") == before
