"""Short ways for tests of the life of memories: what a digest finds, and what the store holds. It checks nothing."""

import json
import re

from bot.core.models import ModelRequest
from bot.core.people import MemoryKind
from tests.world import World

FILL = "今天一路上看到很多有意思的东西，" * 20
"""Enough talk for a model to digest."""

DAY = 86_400


async def found(
    world: World,
    text: str,
    kind: MemoryKind = "knowledge",
    who: str = "小王",
    group: str = "",
    lasting: bool = False,
    **facts: object,
) -> None:
    """Somebody says it, and the digest of that talk finds it."""
    world.model.digests = True
    section = "moods" if kind == "emotion" else "statements"

    def answer(request: ModelRequest) -> str:
        asked = request.prompt.messages[-1].content
        lines = re.findall(rf"(?m)^(\d+)\. .*{re.escape(text)}", asked.rpartition("talk:")[2])
        one = {"kind": kind, "text": text, "from": [int(lines[-1])] if lines else [1], "lasting": lasting}
        return json.dumps({"summary": "聊天", section: [one]}, ensure_ascii=False)

    world.model.script = lambda request: "嗯" if request.prompt.tools else answer(request)
    await world.say(("小暖，" if group else "") + f"{text}。{FILL}", who, group, **facts)
    await world.say("/new", who, group)
    await world.wait(1)


def digested(world: World, answer: str) -> None:
    """From now on every digest is this."""
    world.model.script = lambda request: "嗯" if request.prompt.tools else answer


def active(world: World, columns: str = "text") -> list[tuple[object, ...]]:
    """The memories that are alive, oldest first."""
    return world.rows(f"SELECT {columns} FROM memory WHERE disabled_at IS NULL ORDER BY id")


async def later(world: World, days: float) -> None:
    """Days without power, and what a start makes up for."""
    await world.close()
    world.away(days * DAY)
    await world.open()
