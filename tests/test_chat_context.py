"""`.ai context`: what opens the next conversation of a chat, what its digest reads, and that nothing is lost."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.chat import CONTEXT_NUMBERS, clamped
from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.world import World

GROUP = "闲聊"


async def chatter(world: World, lines: int, seconds: float = 1) -> None:
    """A group talks among itself."""
    for number in range(1, lines + 1):
        await world.say(f"第{number}句闲话", "阿明", GROUP)
        await world.wait(seconds)


async def told(world: World) -> list[str]:
    """The lines of others with which the next conversation opens; it is over after that."""
    await world.say("小暖，在吗", "小王", GROUP)
    lines = re.findall(r'<p n="阿明">第(\d+)句', world.last_user)
    await world.say("/new", "小王", GROUP)
    return lines


async def test_show_tells_the_numbers_and_where_they_come_from(world: World) -> None:
    await world.say(".ai context")
    first = world.replies[-1]
    assert re.findall(r"(\d+) [行秒条].*（按配置）", first) == ["10", "86400", "200"]
    await world.say(".ai context recent 3")
    await world.say(".ai context window 60")
    await world.say(".ai context recentmax 50")
    await world.say(".ai context show")
    assert re.findall(r"(\d+) [行秒条].*（这里定的）", world.replies[-1]) == ["3", "60", "50"]
    await world.restart()
    await world.wait(1)
    await world.say(".ai context show")
    assert "50 条" in world.replies[-1]
    await world.say(".ai context reset")
    assert first in world.replies[-1]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("recent 0", (1, None, None)),
        ("recent 99999", (5_000, None, None)),
        ("RECENT ２０", (20, None, None)),
        ("window 9", (None, 10, None)),
        ("window 10", (None, 10, None)),
        ("recentmax 19", (None, None, 20)),
        (f"recentmax {'9' * 5_000}", (None, None, 5_000)),
        ("recent -5", None),
        ("recent abc", None),
        ("recent 3.5", None),
        ("recent", None),
        ("window 1 2", None),
        ("gap 3", None),
    ],
)
async def test_numbers_are_clamped_as_the_seed_does_and_nonsense_changes_nothing(
    world: World, words: str, kept: tuple[int | None, ...] | None
) -> None:
    await world.say(f".ai context {words}")
    assert world.peek.chat_contexts("recent", "window_seconds", "recent_max") == ([kept] if kept else [])
    said = words.split()
    if kept and clamped(said[1], next(knob for knob in CONTEXT_NUMBERS if knob.name == said[0].lower())) == (
        max(number for number in kept if number is not None),
        True,
    ):
        assert "只能是" in world.replies[-1]


@pytest.mark.parametrize(
    ("before", "answer"),
    [("我说的话", "例如 .ai context recent 1"), ("我說的話", "什麼都沒改"), ("what I said", "nothing has changed")],
)
async def test_a_bad_number_is_answered_in_the_persons_script(world: World, before: str, answer: str) -> None:
    await world.say(before)
    for word in ("many", "-5"):
        await world.say(f".ai context recent {word}")
        assert answer in world.replies[-1]


async def test_in_a_group_only_the_owner_may(world: World) -> None:
    await world.say(".ai context recent 3", "阿明", GROUP)
    assert world.peek.chat_contexts.count() == 0


async def test_recent_and_window_bound_the_next_opening_of_that_chat_alone(world: World) -> None:
    await chatter(world, 30)
    assert await told(world) == [str(number) for number in range(21, 31)]
    await world.say(".ai context recent 4", "小王", GROUP)
    await world.say(".ai context recent 2")
    await chatter(world, 30)
    assert await told(world) == ["27", "28", "29", "30"]
    await world.say(".ai context recent 5000", "小王", GROUP)
    await chatter(world, 30)
    assert len(await told(world)) == 30
    await world.say(".ai context window 12", "小王", GROUP)
    await chatter(world, 9, 5)
    assert await told(world) == ["8", "9"]


async def test_bytes_already_sent_stay(world: World) -> None:
    await chatter(world, 9)
    await world.say("小暖，在吗", "小王", GROUP)
    before = world.prompts[-1]
    await world.say(".ai context recent 1", "小王", GROUP)
    await world.say("小暖，还在吗", "小王", GROUP)
    assert world.prompts[-1][: len(before)] == before


async def test_recentmax_bounds_the_events_of_an_opening(new_world: NewWorld) -> None:
    world = await new_world(context={"recent": 100})
    await chatter(world, 60)
    await world.say(".ai context recentmax 20", "小王", GROUP)
    assert 0 < len(await told(world)) <= 20


async def test_recentmax_bounds_the_lines_of_a_digest(world: World) -> None:
    for cap, kept in ((None, 31), (20, 20)):
        if cap:
            await world.say(f".ai context recentmax {cap}", "小王", GROUP)
        await world.say("小暖，在吗", "小王", GROUP)
        await chatter(world, 29)
        await world.say("/new", "小王", GROUP)
        (lines,) = [fields["lines"] for fields in world.log.named("digest")][-1:]
        assert lines == kept


async def test_a_digest_that_is_not_there_yet_is_stood_in_for_by_as_many_lines_as_the_chat_wants(
    world: World,
) -> None:
    def script(request: ModelRequest) -> str:
        if request.prompt.tools:
            return "好的"
        raise ModelError("unreachable", "down")

    world.model.digests, world.model.script = True, script
    for wish, kept in (("", 12), (".ai context recent 3", 3)):
        await world.say("小暖，在吗", "小王", GROUP)
        for number in range(1, 13):
            await world.say(f"第{number}句闲话，我想说的是周末去爬山看日出的事情", "阿明", GROUP)
        await world.say("/new", "小王", GROUP)
        if wish:
            await world.say(wish, "小王", GROUP)
        await world.say("小暖，还在吗", "小王", GROUP)
        assert len(re.findall(r'<p n="阿明">第', world.last_user)) == kept
        await world.wait(60)


async def test_nothing_is_wiped_at_message_201(world: World) -> None:
    await chatter(world, 201, 0.3)
    await world.say("小暖，在吗", "小王", GROUP)
    assert re.findall(r"第(\d+)句", world.last_user) == [str(number) for number in range(192, 202)]
    await chatter(world, 250, 0.3)
    await world.say("小暖，还在吗", "小王", GROUP)
    assert len(re.findall(r"第\d+句", world.last_user)) <= 200
    assert re.search(r'<g n="\d+"', world.last_user)
    assert world.rows("SELECT count(*), count(DISTINCT text) FROM event WHERE text LIKE '第%句闲话'") == [(451, 250)]


@given(st.integers(0, 10**15), st.sampled_from(CONTEXT_NUMBERS))
def test_every_number_is_brought_into_bounds(number: int, knob: object) -> None:
    one = next(each for each in CONTEXT_NUMBERS if each is knob)
    found = clamped(str(number), one)
    assert found is not None
    assert one.least <= found[0] <= one.most
    assert found[1] == (found[0] != number)


def test_the_example_file_is_made_from_the_settings() -> None:
    assert "bus_max = 200" in Path("data/nuan.example.toml").read_text(encoding="utf-8")
