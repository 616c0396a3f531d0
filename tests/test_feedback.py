"""Reactions: counted for the memories that a reply was told, told to the model, never answered."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.events import Incoming, Sender
from tests.fakes.model import calls, says
from tests.sizes import sized
from tests.world import World


async def react(world: World, emoji: str, target: str, who: str = "小王", key: str = "", is_bot: bool = False) -> None:
    """Somebody reacts to a message; "-" before the emoji takes it back."""
    said = world.message("", who)
    sender = Sender("console", said.sender.external_id if said.sender else "", who, is_bot)
    place = world.message("").place
    await world.app.ingest.accept(Incoming(place, sender, "event", emoji, "reaction", key, target=target))
    await world.app.settled()


def counts(world: World, memory: int) -> tuple[int, int]:
    """The reactions for and against the replies that a memory was told to."""
    signs = world.rows(f"SELECT sign FROM turn_memory JOIN feedback USING (turn_id) WHERE memory_id = {memory}")
    down = signs.count(("👎",))
    return len(signs) - down, down


async def told(world: World) -> str:
    """A reply whose opening told memory 1; its id on the platform."""
    await world.say("记住我怕狗")
    await world.say("在吗")
    return str(world.rows("SELECT external_id FROM sent WHERE turn_id IS NOT NULL ORDER BY turn_id DESC LIMIT 1")[0][0])


async def test_each_person_counts_once_for_each_emoji_in_any_skin_tone(world: World) -> None:
    reply = await told(world)
    for emoji, who in (
        ("👍", "小王"),
        ("👍🏽", "小王"),
        ("👍🏿", "阿明"),
        ("❤️", "阿明"),
        ("👎", "阿红"),
        ("🎉", "阿红"),
    ):
        await react(world, emoji, reply, who)
    assert counts(world, 1) == (3, 1)
    assert counts(world, 2) == (0, 0)


async def test_what_is_taken_back_counts_no_more_and_a_second_delivery_changes_nothing(world: World) -> None:
    reply = await told(world)
    await react(world, "👍", reply, key="r1")
    await react(world, "-👍🏻", reply, key="r2")
    await react(world, "👍", reply, key="r1")
    await react(world, "-❤", reply)
    assert counts(world, 1) == (0, 0)


async def test_a_reaction_to_a_person_or_of_a_bot_counts_for_nothing(world: World) -> None:
    reply = await told(world)
    await world.say("好耶", external_id="m77")
    await react(world, "👍", "m77")
    await react(world, "👍", reply, "机器人", is_bot=True)
    assert counts(world, 1) == (0, 0)


async def test_a_reaction_is_told_once_and_never_answered(world: World) -> None:
    reply = await told(world)
    said = len(world.replies)
    await react(world, "👍", reply)
    await react(world, "👍", reply)
    await react(world, "-👍", reply)
    assert len(world.replies) == said
    await world.say("继续")
    assert '<e t="reaction" n="小王" d="👍 x2"/>' in world.last_user
    assert "-👍" not in world.last_user


async def test_a_reply_that_recalled_a_memory_counts_for_it(world: World) -> None:
    await world.say("在吗")
    await world.say("记住我怕狗")
    world.model.script = lambda request: (
        says("你怕狗") if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "怕狗"}'))
    )
    await world.say("我怕什么？")
    reply = world.peek.sent("external_id", turn_id=2)[0][0]
    await react(world, "👎", str(reply))
    assert counts(world, 1) == (0, 1)


async def test_a_memory_that_is_purged_takes_its_counts_along(world: World) -> None:
    reply = await told(world)
    await react(world, "👍", reply)
    await world.say("彻底忘记我怕狗")
    assert counts(world, 1) == (0, 0)


STEPS = st.lists(
    st.tuples(st.sampled_from(("小王", "阿明")), st.sampled_from(("👍", "👎", "❤")), st.booleans()), max_size=12
)


@settings(max_examples=sized(15))
@given(STEPS)
def test_any_order_of_reactions_ends_in_what_stands(steps: list[tuple[str, str, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(walk(Path(folder), steps))


async def walk(folder: Path, steps: list[tuple[str, str, bool]]) -> None:
    """Play the steps against a World and against a set."""
    world = await World(folder / "data").open()
    standing: set[tuple[str, str]] = set()
    try:
        reply = await told(world)
        for who, emoji, taken_back in steps:
            await react(world, f"-{emoji}" if taken_back else emoji, reply, who)
            (standing.discard if taken_back else standing.add)((who, emoji))
        down = sum(emoji == "👎" for _, emoji in standing)
        assert counts(world, 1) == (len(standing) - down, down)
    finally:
        await world.close()
