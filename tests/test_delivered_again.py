"""A platform brings a message again, or an older one after newer ones: each is handled once, whenever it comes."""

import random

from tests.world import World

SAID = ("记住我怕狗", "忘记我的生日", ".ai mem", "小暖，在吗", "记住我喜欢荷花")


async def bring(world: World, number: int) -> None:
    """A message as the platform tells it, each with a number of its own."""
    told = world.message(SAID[number], "阿明", delivery_key=str(number), external_id=str(number))
    await world.app.ingest.accept(told)
    await world.app.settled()


async def test_what_comes_three_times_more_in_any_order_and_after_a_crash_is_answered_and_kept_once(
    world: World,
) -> None:
    for number in range(len(SAID)):
        await bring(world, number)
    replies, asked = list(world.replies), len(world.model.requests)
    order = [*range(len(SAID)), *random.Random(9).sample(range(len(SAID)), len(SAID))]
    for number in order:
        await bring(world, number)
    await world.crash()
    for number in range(len(SAID)):
        await bring(world, number)
    assert len(replies) == len(SAID)
    assert world.replies == replies
    assert len(world.model.requests) == asked
    assert sorted(str(text) for (text,) in world.peek.memories("text")) == ["我喜欢荷花", "我怕狗"]


async def test_what_comes_after_newer_ones_and_a_restart_is_handled_too(world: World) -> None:
    await bring(world, 0)
    await bring(world, 3)
    await world.crash()
    await bring(world, 2)
    assert len(world.replies) == 3
    assert world.peek.events.count(state="queued") == 0
