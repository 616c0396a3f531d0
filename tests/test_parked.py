"""A follow-up that could not be answered waits for the next call, whatever else is there; on a simulated clock."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config.speaking import TalkLimits
from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from tests.slow import SlowWorld
from tests.test_bursts import GROUP, answered, speaking


@asynccontextmanager
async def story_told(
    folder: Path, limits: Mapping[str, int] | None = None, **speak: object
) -> AsyncIterator[SlowWorld]:
    """A nuan that has told 阿明 a story in a group, so that follow-ups are answered there."""
    rules = speaking(debounce_seconds=0, **speak)
    world = SlowWorld(folder, rules.model_copy(update={"limits": TalkLimits.model_validate(limits or {})}))
    await world.open()
    await world.write("小暖，讲个故事", "阿明", GROUP)
    await world.wait(10)
    yield world
    await world.close()


def fails(times: int) -> Callable[[ModelRequest], ModelError | str]:
    """A script of a model that cannot be reached, until it was asked so often."""
    faults = [ModelError("unreachable", "…") for _ in range(times)]
    return lambda _: faults.pop() if faults else "好的"


async def test_a_follow_up_that_failed_goes_with_the_next_call_and_is_not_tried_alone_for_ever(tmp_path: Path) -> None:
    async with story_told(tmp_path, busy="queue") as world:
        world.model.script = fails(2)
        await world.write("要长的", "阿明", GROUP)
        await world.wait(10)
        await world.write("小暖，在吗", "阿明", GROUP)
        await world.wait(10)
        assert len(world.model.requests) == 4, "the story, the follow-up, it once more, and it with the call"
        assert answered(world) == [["小暖，讲个故事"], ["要长的", "小暖，在吗"]]
        assert world.log.named("queue_folded") == []


async def test_a_command_is_carried_out_although_a_follow_up_before_it_fails(tmp_path: Path) -> None:
    async with story_told(tmp_path) as world:
        world.model.script = fails(2)
        await world.write("要长的", "阿明", GROUP)
        await world.wait(5.5)  # it is being answered
        await world.write(".ai help", "阿明", GROUP)
        await world.write("小暖，在吗", "阿明", GROUP)
        await world.wait(20)
        assert len(world.model.requests) == 3, "the story, the follow-up, and it again with the call"
        assert ".ai help" in world.replies[1]
        assert world.replies[2].startswith("我连不上模型")


async def test_a_call_beyond_a_limit_does_not_have_what_is_parked_tried_alone(tmp_path: Path) -> None:
    async with story_told(tmp_path, limits={"person_minute": 2}) as world:
        for _ in range(2):
            await world.write("小暖，在吗", "阿红", GROUP)
            await world.wait(2)
        world.model.script = fails(2)
        await world.write("要长的", "阿明", GROUP)
        await world.wait(10)
        await world.write("小暖，你说呢", "阿红", GROUP)
        await world.wait(10)
        assert len(world.model.requests) == 4, "three answers, and the follow-up"
        assert [reply[:3] for reply in world.replies[3:]] == ["太快啦"]


async def test_what_is_parked_lets_nobody_past_their_limit(tmp_path: Path) -> None:
    async with story_told(tmp_path, limits={"person_minute": 2}) as world:
        for _ in range(2):
            await world.write("小暖，在吗", "阿红", GROUP)
            await world.wait(2)
        faults = [ModelError("invalid", "…")]  # it was asked and paid, and no answer came
        world.model.script = lambda _: faults.pop() if faults else "好的"
        await world.write("要长的", "阿明", GROUP)
        await world.wait(10)
        await world.write("小暖，你说呢", "阿红", GROUP)
        await world.wait(10)
        assert [reply[:3] for reply in world.replies[3:]] == ["太快啦"]


async def test_what_is_answered_with_a_long_call_is_answered_although_its_window_ends_meanwhile(tmp_path: Path) -> None:
    async with story_told(tmp_path) as world:
        world.model.script = fails(1)
        await world.write("要长的", "阿明", GROUP)
        await world.wait(10)
        world.slow.takes_ms = lambda: 120_000
        await world.write("小暖，在吗", "阿红", GROUP)
        await world.wait(200)
        assert ("要长的", "answered") in world.peek.events("text", "outcome", kind="message")
