"""`python -m tests.bench.visits [--files NAME]`: how many files of bot/ and adapters/ one message runs through.

A World with its store: what its threads run counts, too. With --files those of one of them are listed.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from types import FrameType

from tests.source import ROOT
from tests.world import World

THREADS = 8
"""So many of the loop's threads are watched: as many as work at once."""

SAID = {
    "set a reminder": "明天下午三点提醒我交表",
    "message": "我想换个工作，你觉得呢，帮我想想有什么要注意的",
    "记住": "记住我对花生过敏",
    ".ai budget": ".ai budget day 5",
}
PARTS = (f"{ROOT}/bot/", f"{ROOT}/adapters/")


class Visits:
    """The files in which a function was called while it watched."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._files: set[str] = set()

    def _saw(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PARTS):
            self._files.add(frame.f_code.co_filename.removeprefix(f"{ROOT}/"))

    async def _watch(self, *, on: bool) -> None:
        """Every thread looks for itself: the writer, the reader, those of the loop."""
        watch = self._saw if on else None
        await self._world.store._database.write(lambda _: sys.setprofile(watch))
        await self._world.store._database.read(lambda _: sys.setprofile(watch))
        await asyncio.gather(*(asyncio.to_thread(sys.setprofile, watch) for _ in range(THREADS)))
        sys.setprofile(watch)

    async def of(self, act: Awaitable[object]) -> list[str]:
        """The files that this visits."""
        await self._watch(on=True)
        self._files.clear()
        await act
        found = sorted(self._files)
        await self._watch(on=False)
        return found


async def measure() -> dict[str, list[str]]:
    """The files of each act, in one talk."""
    with tempfile.TemporaryDirectory() as folder:
        world = await World(Path(folder) / "data").open()
        try:
            visits, found = Visits(world), dict[str, list[str]]()
            await world.say("你好啊，今天去爬了香山，红叶很好看")
            await world.say("五分钟后提醒我交表")
            found["reminder said"] = await visits.of(world.wait(330))
            for name, text in SAID.items():
                await world.say("早")
                found[name] = await visits.of(world.say(text))
            return found
        finally:
            await world.close()


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.visits", description=__doc__)
    parser.add_argument("--files", default="", help="list the files of this one")
    asked = parser.parse_args()
    for name, files in asyncio.run(measure()).items():
        print(f"{name:<16}{len(files):>4}")
        for path in files if name == asked.files else ():
            print(f"    {path}")


if __name__ == "__main__":
    main()
