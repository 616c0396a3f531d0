"""Talks as wholes: which of them a question is about, to whom they show, and what is gone from them."""

from dataclasses import replace

from tests.conftest import NewWorld
from tests.test_ctx_options import seen
from tests.world import World


async def talks(world: World, query: str) -> list[dict[str, float]]:
    found: list[dict[str, float]] = (await seen(world, query, debug=True))["debug"]["v2"]["talks"]
    return found


async def evenings(world: World) -> None:
    """Three talks, a day each: only the middle one is about the boat, a little in each line."""
    for lines in (
        ("今天做了红烧肉", "放了很多冰糖"),
        ("我想给小船刷漆", "船底要先打磨", "漆要买蓝色的"),
        ("周末去爬山",),
    ):
        for line in lines:
            await world.say(line)
        await world.wait(86_400)


async def test_the_talk_that_has_all_of_it_comes_first(new_world: NewWorld) -> None:
    world = await new_world(memory={"mode": "v2"})
    await evenings(world)
    found = await talks(world, "小船打磨以后买什么漆")
    (first,) = world.peek.events("id", text="我想给小船刷漆")[0]
    assert (found[0]["line"], found[0]["figure"]) == (first, 1.0)


async def test_a_deleted_line_is_no_part_of_its_talk(new_world: NewWorld) -> None:
    world = await new_world(memory={"mode": "v2"})
    await world.say("暗号是蓝鲸", external_id="a")
    assert await talks(world, "蓝鲸")
    gone = replace(world.message("", delivery_key="d"), kind="event", label="delete", target="a")
    await world.app.ingest.accept(gone)
    await world.app.settled()
    assert await talks(world, "蓝鲸") == []
