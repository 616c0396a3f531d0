"""`python -m tests.bench.flood`: floods and bursts through the whole bot on a simulated clock.

Calls, what became of every message, memory, and how long people wait for their answer in each mode.
"""

import argparse
import asyncio
import gc
import json
import random
import re
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

from bot.config.settings import Settings
from tests.bench.counts import spread
from tests.slow import SlowWorld

LINES, EVERY_MS = 1_000, 10
"""The flood of the issue: 1,000 messages in 10 s."""

MODES = ("collect", "interrupt", "queue")
KINDS = ("dm", "callers", "caller")
FOLDED = re.compile(r'<g n="(\d+)"')
GROUP = "闲聊"


@dataclass(frozen=True, slots=True)
class Flood:
    """What a flood caused: `told` are the messages in the prompts, whole, cut or counted in a <g n=…/>.

    `grown_mb` is what Python holds more than before, `peak_mb` the most while it lasted, both None where memory was
    not traced; `longest` is in tokens, `cpu_seconds` are the processor's, three times as many where it was traced.
    """

    kind: str
    busy: str
    model_ms: int
    debounce: float
    messages: int
    stored: int
    calls: int
    answered: int
    told: int
    longest: int
    grown_mb: float | None
    peak_mb: float | None
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Delays:
    """How long the last message of a burst waits for the answer that covers it, ms of simulated time."""

    busy: str
    debounce: float
    bursts: int
    messages: int
    turns: int
    ms: dict[str, float]


def lines(kind: str, count: int) -> Iterator[tuple[str, str]]:
    """Who writes what: in a DM; in a group 50 callers; in a group one who calls once and then goes on."""
    for number in range(count):
        match kind:
            case "dm":
                yield "阿明", f"第{number}句"
            case "callers":
                yield f"人{number % 50}", f"小暖，第{number}句"
            case _:
                yield "阿明", f"第{number}句" if number else f"小暖，第{number}句"


def config(busy: str, debounce: float) -> Settings:
    """Nothing but the mode and the wait."""
    speak = {"busy": busy, "debounce_seconds": debounce}
    return Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": speak})


async def flood(
    kind: str,
    busy: str,
    folder: Path,
    *,
    model_ms: int = 2_000,
    debounce: float = 0.0,
    count: int = LINES,
    traced: bool = False,
) -> Flood:
    """Play one flood; everything has settled at its end."""
    world = SlowWorld(folder, config(busy, debounce), takes_ms=lambda: model_ms)
    await world.open()
    group = "" if kind == "dm" else GROUP
    gc.collect()
    if traced:
        tracemalloc.start()
    before, began = tracemalloc.get_traced_memory()[0], process_time()
    await world.flood(lines(kind, count), group, EVERY_MS)
    await world.wait(60)
    cpu = process_time() - began
    prompts = [request.prompt.messages[-1].content for request in world.model.requests if request.prompt.tools]
    calls, longest = len(world.model.requests), max(len(text) for text in prompts)
    longest = max(int(str(row[0])) for row in world.rows("SELECT max(tokens) FROM entry")) or longest
    world.model.requests.clear()
    gc.collect()
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    said = "SELECT count(DISTINCT event_id) FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.state = 'said'"
    report = Flood(
        kind,
        busy,
        model_ms,
        debounce,
        count,
        stored=_number(world, "SELECT count(*) FROM event WHERE kind = 'message'"),
        calls=calls,
        answered=_number(world, said),
        told=_told(prompts),
        longest=longest,
        grown_mb=round((after - before) / 2**20, 2) if traced else None,
        peak_mb=round((peak - before) / 2**20, 2) if traced else None,
        cpu_seconds=round(cpu, 2),
    )
    await world.close()
    return report


def _number(world: SlowWorld, sql: str) -> int:
    return int(str(world.rows(sql)[0][0]))


def _told(prompts: list[str]) -> int:
    """How many messages the prompts tell of: each text once, and those that are only counted."""
    shown = {found for text in prompts for found in re.findall(r"第(\d+)句", text)}
    return len(shown) + sum(int(found) for text in prompts for found in FOLDED.findall(text))


async def delays(busy: str, debounce: float, folder: Path, bursts: int = 60) -> Delays:
    """Bursts of one to four messages of one person, .2 to 1.5 s apart, to a model of 1 to 4 s."""
    chance = random.Random(5)
    world = SlowWorld(folder, config(busy, debounce), takes_ms=lambda: chance.randint(1_000, 4_000))
    await world.open()
    last: list[int] = []
    for number in range(bursts):
        for part in range(chance.randint(1, 4)):
            if part:
                await world.wait(chance.uniform(0.2, 1.5))
            await world.write(f"第{number}次第{part}句", "阿明")
        last.append(_number(world, "SELECT max(id) FROM event WHERE kind = 'message'"))
        await world.wait(40)
    covered = (
        "SELECT said_at - event.at FROM turn_event JOIN turn ON turn.id = turn_event.turn_id "
        "JOIN event ON event.id = event_id WHERE turn.state = 'said' AND event_id = "
    )
    waits = [_number(world, f"{covered}{event}") for event in last]
    report = Delays(
        busy,
        debounce,
        bursts,
        _number(world, "SELECT count(*) FROM event WHERE kind = 'message'"),
        _number(world, "SELECT count(*) FROM turn WHERE state = 'said'"),
        spread(waits),
    )
    await world.close()
    return report


def main(arguments: list[str]) -> int:
    """Play everything and print one line of JSON each; 1 when a flood broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.flood", description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES, help="messages of a flood")
    options = parser.parse_args(arguments)
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        # What is loaded once, by the first message of all, is no growth.
        asyncio.run(flood("dm", "collect", Path(folder) / "first", count=10))
        plays = [(kind, busy, 0.0, 2_000, False) for kind in KINDS for busy in MODES]
        plays += [
            (kind, "collect", debounce, ms, False) for kind in KINDS for debounce, ms in ((0.6, 2_000), (0.0, 60))
        ]
        plays += [(kind, "collect", 0.0, 2_000, True) for kind in KINDS]
        for number, (kind, busy, debounce, ms, traced) in enumerate(plays):
            where = Path(folder) / f"flood{number}"
            report = asyncio.run(
                flood(kind, busy, where, model_ms=ms, debounce=debounce, count=options.lines, traced=traced)
            )
            broken += report.calls > 3 or report.stored != options.lines or (report.grown_mb or 0) > 20
            print(json.dumps({"flood": asdict(report)}, ensure_ascii=False))
        for busy in MODES:
            for debounce in (0.0, 0.6):
                waited = asyncio.run(delays(busy, debounce, Path(folder) / f"delays-{busy}-{debounce}"))
                print(json.dumps({"delays": asdict(waited)}, ensure_ascii=False))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
