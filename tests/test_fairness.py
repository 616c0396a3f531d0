"""The model's slots through ingest: a chat that floods delays another by at most one slot, digests come last."""

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.test_closing import TALK, is_digest
from tests.world import World

ONE = {"slots": 1}


def newest(request: ModelRequest) -> str:
    """Who is being answered."""
    return request.prompt.messages[-1].content


async def begin(world: World, who: str, text: str = "小暖，在吗") -> None:
    """Somebody writes in their own group, and it is taken up as far as that is possible now."""
    await world.app.ingest.accept(world.message(text, who, f"{who}的群"))
    await still(world)


async def still(world: World) -> None:
    """Nothing moves but the call at the shut gate and those that wait for its slot."""
    slots = world.app._services.session_closer._digest_maker._writer._caller._slots

    def waiting() -> int:
        return sum(len(places) for queue in (slots._people, slots._behind) for places in queue.values())

    while not world.model.held or world.app._activity._count > world.model.held + waiting():
        await let_others_run()


async def answer_one(world: World) -> None:
    """The call in flight is answered, and the next one waits at the gate."""
    gate, count = world.model.gate, len(world.model.requests)
    world.shut()
    assert gate is not None
    gate.set()
    while len(world.model.requests) == count:
        await let_others_run()
    await still(world)


async def test_the_chat_that_was_served_longest_ago_comes_next(new_world: NewWorld) -> None:
    world = await new_world(model=ONE)
    for who in ("丙", "甲", "乙"):
        await world.say("小暖，早", who, f"{who}的群")
    before = len(world.model.requests)
    world.shut()
    await begin(world, "甲")
    for who in ("乙", "甲", "丙", "新来的"):
        await begin(world, who, "小暖，还在吗")
    assert len(world.model.requests) == before + 1
    for _ in range(4):
        await answer_one(world)
    await world.let_answer()
    asked = [
        "".join(who for who in ("甲", "乙", "丙", "新来的") if f"{who}" in newest(request))
        for request in world.model.requests[before:]
    ]
    assert asked == ["甲", "新来的", "丙", "乙", "甲"]
    assert len(world.replies) == 3 + 5


async def test_a_chat_with_a_hundred_waiting_lines_delays_another_by_one_slot(new_world: NewWorld) -> None:
    world = await new_world(model=ONE)
    world.shut()
    for number in range(100):
        await begin(world, "吵", f"小暖，第{number}件事")
    await begin(world, "静")
    assert len(world.model.requests) == 1
    await answer_one(world)
    assert "静" in newest(world.model.requests[1])
    await world.let_answer()
    assert len(world.model.requests) == 3
    assert world.peek.events.count(state="queued") == 0


async def test_a_digest_waits_until_nobody_does(new_world: NewWorld) -> None:
    world = await new_world(model=ONE)
    world.model.digests = True
    for text in TALK:
        await world.say(text)
    for who in ("乙", "丙"):
        await world.say("小暖，早", who, f"{who}的群")
    before = len(world.model.requests)
    world.shut()
    await begin(world, "甲")
    await world.app.ingest.accept(world.message("/new"))
    await begin(world, "乙")
    await begin(world, "丙")
    for _ in range(3):
        await answer_one(world)
    await world.let_answer()
    asked = [is_digest(request) for request in world.model.requests[before:]]
    assert asked == [False, False, False, True, True], "the last one mends"
