"""`python -m tests.bench.growth`: what each operation costs in databases of growing size, and how that grows.

One person with as many lines and memories as ever writes among ever more people (`--own`: whose own share grows among
as many others). Of each operation: processor, statements, steps of SQLite's virtual machine, bytes read from files and
written to them; then the exponent of each over the size, by least squares.
"""

import argparse
import asyncio
import math
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

from bot.cli.doctor import store_findings
from bot.cli.installation import preload
from bot.config.settings import Settings
from bot.container import make_recall
from bot.core.events import Incoming
from bot.core.people import Audience
from bot.core.recall import RecallQuery
from bot.pipeline.jobs.archives import PersonData, pack_person
from bot.store.store import open_store
from tests.bench.largedb import Size, make
from tests.metering import Meter
from tests.webbed import webbed
from tests.world import World

SIZES = (1_000, 10_000, 100_000)
"""Lines; a tenth as many memories and a two-hundredth as many chats go with them."""

OWN_LINES, OWN_MEMORIES = 200, 50
"""What the person who is looked at has of their own, while others grow."""

SETTINGS = {"bot": {"timezone": "Asia/Shanghai"}, "budget": {"day_tokens": 10**12, "month_tokens": 10**12}}
"""Limits that nobody meets, however many talk."""

EVERY = 100
"""Steps between two counts."""

Act = Callable[[World], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation took."""

    ms: float
    statements: int
    steps: int
    read: int
    written: int


async def cost_of(act: Awaitable[object], meter: Meter) -> Cost:
    """What this takes."""
    meter.start()
    read, written, began = *_bytes(), process_time()
    await act
    used = (process_time() - began) * 1000
    after, work = _bytes(), meter.work
    return Cost(round(used, 1), work.statements, work.steps, after[0] - read, after[1] - written)


def _bytes() -> tuple[int, int]:
    """What this process has read from files and written to them; nothing where the system does not tell."""
    try:
        told = dict(line.split(": ") for line in Path("/proc/self/io").read_text("ascii").splitlines())
    except OSError:
        return 0, 0
    return int(told["rchar"]), int(told["wchar"])


def _changed(world: World, label: str, text: str = "") -> Incoming:
    said = world.message("")
    return replace(said, kind="event", text=text, label=label, target="mine")


async def _edit(world: World) -> None:
    await world.app.ingest.accept(_changed(world, "edit", "我喜欢喝红茶"))
    await world.app.settled()


async def _delete(world: World) -> None:
    await world.app.ingest.accept(_changed(world, "delete"))
    await world.app.settled()


async def _recall(world: World) -> None:
    recalling = make_recall(world.parts)
    await recalling.recall(RecallQuery(Audience(1, "dm", (1,)), 1, "我喜欢喝什么茶", world.clock.now()))


async def _export(world: World) -> None:
    async with await open_store(world.folder, read_only=True) as store:
        await pack_person(store, 1, world.clock.now(), "UTC")


async def _export_all(world: World) -> None:
    async with await open_store(world.folder, read_only=True) as store:
        await store.memories.export(None, world.clock.now())


def _page(path: str) -> Act:
    async def look(world: World) -> None:
        async with webbed(world, reads=True) as page:
            answer = await page.visitor.get(path)
            assert answer.status == 200, path

    return look


async def _purge_due(world: World) -> None:
    await world.store.memories.purge(world.clock.now() + 8 * 86_400_000)


OPERATIONS: Mapping[str, Act] = {
    "message, listened": lambda world: world.say("今天天气真好", "人6", "群5"),
    "message, answered": lambda world: world.say("今天过得怎么样"),
    "turn in a group": lambda world: world.say("小暖，今天过得怎么样", "人6", "群5"),
    "recall": _recall,
    "记住": lambda world: world.say("记住我最爱的颜色是青金石色", external_id="kept"),
    "忘记": lambda world: world.say("忘记我最爱的颜色"),
    "撤销": lambda world: world.say("撤销"),
    "彻底忘记": lambda world: world.say("彻底忘记我最爱的颜色"),
    "message to change": lambda world: world.say("我喜欢喝绿茶", external_id="mine"),
    "edit": _edit,
    "delete": _delete,
    "reminder set": lambda world: world.say("提醒我十分钟后喝水"),
    "reminder fired": lambda world: world.wait(601),
    ".ai ctx": lambda world: world.say(".ai ctx"),
    ".ai budget": lambda world: world.say(".ai budget"),
    ".ai mem": lambda world: world.say(".ai mem list"),
    ".ai promise": lambda world: world.say(".ai promise"),
    "digest": lambda world: world.say("/new"),
    "opening": lambda world: world.say("早上好，今天有什么安排吗"),
    "purge of what is due": _purge_due,
    "page live": _page("/live"),
    "page turn": _page("/turns/7"),
    "page promises": _page("/promises"),
    "export of one": _export,
    "page turns": _page("/turns"),
    "page turns of a chat": _page("/turns?chat=1"),
    "page usage": _page("/usage"),
    "page memories": _page("/memories"),
    "page memories of one": _page("/memories?owner=1"),
    "page search": _page("/memories?q=青金石"),
    "page people": _page("/people"),
    "page dialogue": _page("/dialogue"),
    "page dialogue of a chat": _page("/dialogue?chat=1"),
    "export of all": _export_all,
    "doctor": lambda world: store_findings(world.folder, world.clock.now()),
    "start": lambda world: world.restart(),
    "erase": lambda world: PersonData(world.store, world.clock, world.log).erase(1),
}
"""In this order, one after the other, in one installation."""

OF_ALL = frozenset(
    (
        "page turns",
        "page turns of a chat",
        "page usage",
        "page memories",
        "page memories of one",
        "page search",
        "page people",
        "page dialogue",
        "page dialogue of a chat",
        "export of all",
        "doctor",
        "start",
    ),
)
"""What is about everybody, or offers all chats or people to choose from: it may grow with them."""


async def measure(
    folder: Path, meter: Meter, leaving: Collection[str] = (), most: int = 0, only: str = ""
) -> dict[str, Cost]:
    """Carry the operations out but those in `leaving`; with `most` print the dearest statements of each whose name has
    `only` in it.
    """
    world = await World(folder, Settings.model_validate(SETTINGS)).open()
    found: dict[str, Cost] = {}
    try:
        await preload(world.parts.current.newest, world.clock.now())  # as a start does before anybody writes
        await world.say("你好呀")  # what the first message loads is loaded once
        await world.say("今天的晚饭想吃什么呢")
        for name in (name for name in OPERATIONS if name not in leaving):
            await world.wait(1)
            found[name] = await cost_of(OPERATIONS[name](world), meter)
            if most and only in name:
                _print_dearest(name, meter, most)
    finally:
        await world.close()
    return found


def _print_dearest(name: str, meter: Meter, most: int) -> None:
    print(f"{name}: {meter.work}")
    for statement, steps in meter.steps.most_common(most):
        print(f"  {steps:>9} {meter.statements[statement]:>5} {' '.join(statement.split())[:300]}")


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """By which power of the size a cost grows: the slope of the logarithms, by least squares."""
    xs, ys = [math.log(size) for size in sizes], [math.log(max(cost, 1)) for cost in costs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    over = sum((one - x) ** 2 for one in xs)
    return sum((one - x) * (other - y) for one, other in zip(xs, ys, strict=True)) / over if over else 0.0


def _size(lines: int, *, own: bool) -> Size:
    if own:
        return Size(lines + 10_000, lines // 10 + 1_000, 100, lines, lines // 10)
    return Size(lines, max(lines // 10, 100), max(lines // 200, 10), OWN_LINES, OWN_MEMORIES)


def main(arguments: list[str]) -> int:
    """A table of each size, then the exponents."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    parser.add_argument("--lines", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--own", action="store_true", help="the person's own lines grow, not those of others")
    parser.add_argument("--statements", type=int, default=0, help="print so many of the dearest statements of each")
    parser.add_argument("--of", default="", help="with --statements: only operations with this in their name")
    options = parser.parse_args(arguments)
    meter = Meter(EVERY)
    costs: list[dict[str, Cost]] = []
    for lines in options.lines:
        with tempfile.TemporaryDirectory() as folder:
            size = _size(lines, own=options.own)
            asyncio.run(make(Path(folder) / "data", size))
            with meter.watching():
                costs.append(asyncio.run(measure(Path(folder) / "data", meter, (), options.statements, options.of)))
        print(f"\n{size}")
        print(f"{'':<24}{'ms':>10}{'statements':>12}{'steps':>12}{'read kB':>10}{'written kB':>12}")
        for name, cost in costs[-1].items():
            print(
                f"{name:<24}{cost.ms:>10}{cost.statements:>12}{cost.steps:>12}{cost.read // 1000:>10}"
                f"{cost.written // 1000:>12}"
            )
    if len(costs) > 1:
        print(f"\n{'exponents':<24}{'ms':>10}{'statements':>12}{'steps':>12}{'read':>10}{'written':>12}")
        for name in costs[0]:
            row = [
                exponent(options.lines, [getattr(each[name], of) for each in costs])
                for of in ("ms", "statements", "steps", "read", "written")
            ]
            print(f"{name:<24}{row[0]:>10.2f}{row[1]:>12.2f}{row[2]:>12.2f}{row[3]:>10.2f}{row[4]:>12.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
