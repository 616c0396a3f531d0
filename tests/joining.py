"""What tests of entering a talk share: what the model is asked, what it says, and who talks."""

from bot.core.models import ModelRequest
from tests.world import World

GROUP = "家"
ENTRY = "我知道一个办法"
JOIN: dict[str, object] = {"mode": "join"}
EAGER: dict[str, object] = {"mode": "join", "join": {"threshold": 0.1, "rest_seconds": 1, "per_hour": 60}}
"""Any line is worth entering, after a pause of 20 s."""


def eager(**numbers: object) -> dict[str, object]:
    """The same with other numbers."""
    return {"mode": "join", "join": {"threshold": 0.1, "rest_seconds": 1, "per_hour": 60, **numbers}}


def is_entry(request: ModelRequest) -> bool:
    """Whether nuan is asked whether to enter."""
    return '<e t="entry"' in [m.content for m in request.prompt.messages if m.role == "user"][-1]


def enters(world: World, text: str = ENTRY) -> None:
    """What the model says when it may enter; every message is answered with 好的."""
    world.model.script = lambda request: text if is_entry(request) else "好的"


def asked(world: World) -> int:
    """How often nuan was asked whether to enter."""
    return sum(is_entry(request) for request in world.model.requests)


async def talk(world: World, *lines: tuple[str, str], seconds: float = 5) -> None:
    """People talk in the group, so many seconds apart."""
    for number, (who, text) in enumerate(lines):
        await world.wait(seconds if number else 0)
        await world.say(text, who, GROUP)
