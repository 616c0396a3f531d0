"""`python -m tests.bench.recallspeed`: how long a recall takes, and how long one holds up the event loop.

A house with so many lines of one owner, or of many, is asked again and again while another task notes the moments
between its turns. One JSON object for each size tells wall and CPU time of a recall and the longest gaps, in ms; the
gap of a loop with nothing else to do tells what the machine itself adds.
"""

import argparse
import asyncio
import gc
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bot.config.settings import Settings
from bot.flow.recalling import Recalling
from bot.rooms import make_recalling
from bot.types.event import Incoming, Place, Sender
from bot.types.people import Audience
from bot.types.recall import Asking, Mode
from tests.bench.counts import spread
from tests.world import World

TOGETHER = 256
"""Lines that wait for one commit."""

TICK_S = 0.001
"""Between two looks at the clock."""

WORDS = (
    "hiking dentist Lisbon marathon guitar sourdough passport kitten balcony tomato violin deadline invoice cousin "
    "allergy peanuts concert Tokyo swimming therapist birthday garden mortgage interview scooter umbrella telescope "
    "我 喜欢 昨天 医生 花生 过敏 妈妈 生日 上海 北京 跑步 吉他 猫 狗 公司 老板 会议 周末 电影 火锅 高铁 护照 房租 面试 "
    "阳台 番茄 咳嗽 围巾 海边 论文 考试 室友 钥匙 快递"
).split()


def _line(dice: random.Random, number: int) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(6, 14))) + f" {number}"


async def fill(world: World, documents: int, owners: int) -> list[Audience]:
    """Owners who have said so many lines together, each in their own DM."""
    dice = random.Random(6)
    for start in range(0, documents, TOGETHER):
        await asyncio.gather(*(
            world.app.door.accept(
                Incoming(
                    Place("console", f"dm:{number % owners}", "dm"),
                    Sender("console", f"{number % owners}", f"P{number % owners}"),
                    "message", _line(dice, number), external_id=str(number), at=world.clock.now() - 10**7 + number,
                )
            )
            for number in range(start, min(documents, start + TOGETHER))
        ))  # fmt: skip
    await world.app.settled()
    chats = [chat for chat in await world.store.people.chats() if chat.kind == "dm"]
    return [await world.store.people.audience(chat) for chat in chats[:100]]


class Gaps:
    """Notes how long the loop does not come round."""

    def __init__(self) -> None:
        self._found: list[float] = []
        self._task: asyncio.Task[None] | None = None

    async def _look(self) -> None:
        last = perf_counter()
        while True:
            await asyncio.sleep(TICK_S)
            now = perf_counter()
            self._found.append((now - last - TICK_S) * 1000)
            last = now

    async def __aenter__(self) -> "Gaps":
        self._task = asyncio.create_task(self._look())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def told(self) -> dict[str, float]:
        """The gaps beyond the pause itself, ms."""
        ordered = sorted(self._found)
        return {"p99": round(ordered[int(len(ordered) * 0.99)], 1), "longest": round(ordered[-1], 1)}


async def _asked(recalling: Recalling, audiences: Sequence[Audience], mode: Mode, now: int, times: int) -> dict[str, Any]:
    dice = random.Random(7)
    walls: list[float] = []
    cpus: list[float] = []
    async with Gaps() as gaps:
        began = perf_counter(), process_time()
        await recalling.recall(_asking(audiences[0], dice, mode, now))
        first = (perf_counter() - began[0]) * 1000
    async with Gaps() as later:
        for _ in range(times):
            asking = _asking(dice.choice(audiences), dice, mode, now)
            began = perf_counter(), process_time()
            await recalling.recall(asking)
            walls.append((perf_counter() - began[0]) * 1000)
            cpus.append((process_time() - began[1]) * 1000)
            await asyncio.sleep(0)
    return {"wall": spread(walls), "cpu": spread(cpus), "first": round(first, 1), "first_gap": gaps.told()["longest"],
            "gap": later.told()}  # fmt: skip


def _asking(audience: Audience, dice: random.Random, mode: Mode, now: int) -> Asking:
    text = "when did I tell you about " + " ".join(dice.choices(WORDS, k=dice.randint(3, 8))) + "?"
    return Asking(audience, audience.person_ids[0], text, now, mode=mode)


async def measure(data: Path, documents: int, owners: int, modes: Sequence[Mode], times: int) -> dict[str, Any]:
    """One house of that size."""
    memory = {"mode": "hybrid", "embedding": {"provider": "hash"}} if "hybrid" in modes else {}
    settings = Settings.model_validate({"bot": {"timezone": "UTC"}, "memory": memory})
    world = await World(data, settings).open()
    audiences = await fill(world, documents, owners)
    if "hybrid" in modes:
        await world.app._rooms.vectorising.make_all(lambda made: None)
    recalling = make_recalling(world.parts, world.app._rooms.vectorising._calls, pays=True)
    gc.collect()
    async with Gaps() as idle:
        await asyncio.sleep(2)
    found: dict[str, Any] = {"documents": documents, "owners": owners, "idle_gap": idle.told()}
    for mode in modes:
        found[mode] = await _asked(recalling, audiences, mode, world.clock.now(), times)
    await world.close()
    return found


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.recallspeed", description=__doc__)
    parser.add_argument("--sizes", nargs="*", default=["3000/1", "100000/1000"], metavar="DOCUMENTS/OWNERS")
    parser.add_argument("--modes", nargs="*", choices=("keyword", "v2", "hybrid"), default=["v2", "hybrid"])
    parser.add_argument("--times", type=int, default=300, help="recalls of each mode")
    options = parser.parse_args(arguments)
    for size in options.sizes:
        documents, owners = map(int, size.split("/"))
        with tempfile.TemporaryDirectory() as data:
            found = asyncio.run(measure(Path(data) / "data", documents, owners, options.modes, options.times))
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
