"""`python -m tests.bench.workers`: turns a second of real processes: a file, then PostgreSQL with one and several workers.

People write on the fake of Telegram, each the next message when the last one is answered. The fakes run in this
process, on the same processors: they are named, and so is what the server takes. Another load of the machine makes all
slower but the processor's seconds.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from signal import SIGTERM
from time import process_time

import psycopg

from tests.bench.counts import spread
from tests.bench.largedb import Size, make
from tests.e2e import KEY, Process, run
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_server import FakeTelegram
from tests.platforms import TELEGRAM
from tests.torture.clusters import Machine
from tests.torture.database import DatabaseServer
from tests.torture.grounds import FIRST_PERSON, TelegramGround, common
from tests.torture.kills import WORD, Echo, end, start, until
from tests.torture.processes import descendants

CHATS, TURNS, MODEL_MS = 50, 40, (0, 200)
PATIENCE_S = 300.0
LAYOUTS: Mapping[str, tuple[str, ...]] = {
    "file": ("",),
    "server": ("",),
    "server, 1 worker": ("--role gateway,janitor", "--role worker"),
    "server, 2 workers": ("--role gateway,janitor", *("--role worker",) * 2),
    "server, 4 workers": ("--role gateway,janitor", *("--role worker",) * 4),
}
"""The options of each process; all but the first of these are on PostgreSQL."""

SMALL, LARGE = Size(2_000, 2_000, 100), Size(200_000, 200_000, 100_000)
"""What others have said and what is kept of them in the database, for growth."""

KEPT_DAYS = "3000"
"""Everything in a database that was filled for growth is kept so long."""

TICK = os.sysconf("SC_CLK_TCK")


class TimedModel(FakeOpenAI):
    """A model that takes so long for every answer, and notes when it is first asked about each message, loop time."""

    def __init__(self, takes_ms: int) -> None:
        super().__init__(Echo(), key=KEY)
        self.asked_at: dict[int, float] = {}
        self._takes_s = takes_ms / 1000

    async def _complete(self, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        now = asyncio.get_running_loop().time()
        for number in WORD.findall(raw.decode().rpartition("<ctx")[2]):
            self.asked_at.setdefault(int(number), now)
        await asyncio.sleep(self._takes_s)
        await super()._complete(headers, raw, writer)


@dataclass(frozen=True, slots=True)
class Throughput:
    """What so many turns took; times in ms from a message to its request, processor times in ms for each turn."""

    layout: str
    model_ms: int
    turns: int
    turns_a_second: float
    to_request_ms: dict[str, float]
    nuan_cpu_ms: float
    server_cpu_ms: float
    fakes_cpu_ms: float


def processor_s(pids: list[int]) -> float:
    """Seconds of a processor that these and their ended children have taken."""
    fields = [Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split() for pid in pids]
    return sum(sum(map(int, each[11:15])) for each in fields) / TICK


@asynccontextmanager
async def started(homes: Sequence[tuple[Machine, str]]) -> AsyncIterator[list[Process]]:
    """A process in each home; all end well."""
    processes: list[Process] = []
    try:
        for home, words in homes:
            processes.append(await start(home, *words.split()))
        yield processes
    finally:
        for process in processes:
            await end(process, SIGTERM)


async def throughput(
    layout: str, model_ms: int, chats: int, turns: int, folder: Path, filled: Path | None = None
) -> Throughput:
    """All chats talk at once; in a copy of the data folder `filled`, which `tests.bench.largedb` made."""
    async with FakeTelegram(TELEGRAM) as telegram, TimedModel(model_ms) as model, DatabaseServer() as server:
        settings = common(model) | {
            "TELEGRAM__TOKEN": TELEGRAM,
            "TELEGRAM__BASE_URL": telegram.url,
            "TELEGRAM__ALLOW": ",".join(str(FIRST_PERSON + who) for who in range(chats)),
            "LOG__LEVEL": "info",
            "MODEL__SLOTS": str(chats),
        }
        if filled is not None:  # what it holds is old, and nothing of it goes meanwhile
            settings |= {
                f"RETENTION__{name}_DAYS": KEPT_DAYS for name in ("IDS", "TRANSCRIPT", "LOG", "DIALOGUE", "COUNTS")
            }
        place = {} if layout == "file" else {"STORE__URL": server.url}
        named = enumerate(LAYOUTS[layout])
        homes = {f"data{number}": words for number, words in named}
        if filled is not None:
            await asyncio.to_thread(shutil.copytree, filled, folder / "data0")
            if place:
                moved = await run(Machine(folder, settings, "data0"), "move", "--to", server.url, seconds=3_600)
                assert moved.code == 0, moved.err
                with psycopg.connect(server.url, autocommit=True) as connection:
                    connection.execute("VACUUM ANALYZE")  # else the server does it meanwhile
        return await _measured(
            [(Machine(folder, settings | place, name), words) for name, words in homes.items()],
            (layout, model_ms, chats, turns),
            TelegramGround(telegram, chats),
            model,
            server,
        )


async def _measured(
    homes: Sequence[tuple[Machine, str]],
    about: tuple[str, int, int, int],
    ground: TelegramGround,
    model: TimedModel,
    server: DatabaseServer,
) -> Throughput:
    layout, model_ms, chats, turns = about
    loop, written = asyncio.get_running_loop(), dict[int, float]()
    dms = ground.server.world.chats

    async def talk(who: int) -> None:
        person = FIRST_PERSON + who
        for turn in range(turns + 1):
            number = turn * chats + who
            written[number] = loop.time()
            ground.write(who, f"第{number}句")
            lines = 2 * (turn + 1)  # theirs and nuan's; who looks closer takes more of the processor than nuan
            await ground.server.until(lambda lines=lines: len(dms[person].messages) >= lines, PATIENCE_S)  # type: ignore[misc]
            if turn == 0:
                first.release()
                await go.wait()

    first, go = asyncio.Semaphore(0), asyncio.Event()
    async with started(homes) as processes:
        await until(ground.ready)
        talks = [asyncio.create_task(talk(who)) for who in range(chats)]
        for _ in talks:
            await first.acquire()
        pids = [process.pid for process in processes]
        before = [processor_s(each) for each in (pids, [server.pid, *descendants(server.pid)])]
        own, begun = process_time(), loop.time()
        go.set()
        await asyncio.gather(*talks)
        took, own = loop.time() - begun, process_time() - own
        after = [processor_s(each) for each in (pids, [server.pid, *descendants(server.pid)])]
    waits = [(model.asked_at[number] - at) * 1000 for number, at in written.items() if number >= chats]
    done = chats * turns
    nuan, database = ((last - first) / done * 1000 for first, last in zip(before, after, strict=True))
    return Throughput(
        layout,
        model_ms,
        done,
        round(done / took, 1),
        spread(waits),
        round(nuan, 1),
        round(database, 1),
        round(own / done * 1000, 1),
    )


def main(arguments: list[str]) -> int:
    """Measure each and print one line of JSON each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.workers", description=__doc__)
    parser.add_argument("--chats", type=int, default=CHATS)
    parser.add_argument("--turns", type=int, default=TURNS, help="of each chat")
    parser.add_argument("--model", type=int, nargs="*", default=MODEL_MS, help="ms that the model takes")
    parser.add_argument("--layouts", nargs="*", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--growth", action="store_true", help="one process in a small and in a large database instead")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="nuan-") as kept:
        filled = {size: Path(kept, str(size.chats)) for size in (SMALL, LARGE) if options.growth}
        for size, data in filled.items():
            asyncio.run(make(data, size))
        for layout, model_ms, held in product(options.layouts, options.model, filled or (None,)):
            with tempfile.TemporaryDirectory(prefix="nuan-") as folder:
                place = filled[held] if held else None
                measured = throughput(layout, model_ms, options.chats, options.turns, Path(folder), place)
                found = asdict(asyncio.run(measured)) | ({"size": asdict(held)} if held else {})
                print(json.dumps(found, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
