"""What tests of first messages share: what the model is asked, what it says, and a call that is held."""

from bot.core.models import ModelRequest
from tests.fakes.model import Answer
from tests.world import World

HOUR_S = 3_600
DAY_S = 24 * HOUR_S
ON = {"on": True}
FIRST = "昨天的面试怎么样？"


def is_first(request: ModelRequest) -> bool:
    """Whether nuan is asked to write first."""
    return '<e t="heartbeat"' in [m.content for m in request.prompt.messages if m.role == "user"][-1]


def writes(world: World, text: Answer = FIRST) -> None:
    """What the model says when it may write first; every message is answered with 好的."""
    world.model.script = lambda request: text if is_first(request) else "好的"


def firsts(world: World) -> list[ModelRequest]:
    return [request for request in world.model.requests if is_first(request)]


async def beat_held(world: World, seconds: float) -> None:
    """Time passes up to a first message, whose call waits at the shut gate."""
    await world.wait(seconds - 1)
    world.shut()
    await world.clock.advance(1_000, lambda: world.held(0))
    assert world.model.held == 1
