"""`python -m tests.bench.recall_speed`: how long one recall takes in a large store, and how long the loop waits.

3,000 documents of one person; then 100,000 of 1,000 people; by words alone and with vectors (`--provider`). Of the moments
when the loop did not come round, `wall` also holds what other programs took; `held` is at most the CPU time that nuan
used meanwhile, in whichever thread.
"""

import argparse
import asyncio
import gc
import json
import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

from bot.config.settings import Settings
from bot.container import make_recall
from bot.core.people import Audience
from bot.core.recall import RECALL_MODES, RecallMode, RecallQuery
from bot.store.index import Doc, add_document
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import DATABASE
from bot.store.transactions import Tx
from tests.bench.counts import spread
from tests.world import World

SIZES = ((3_000, 1), (100_000, 1_000))
"""Documents and people."""

QUESTIONS = 300
TICK_S = 0.001
"""Between two looks at the clock."""

HAN = [chr(0x4E00 + 7 * number) for number in range(1_500)]
NOW = 1_781_226_000_000


def sentence(chance: random.Random, words: int = 22) -> str:
    """Chinese-looking text: characters as unevenly used as in real text."""
    return "".join(
        HAN[min(int(chance.paretovariate(0.7)) * 3 + chance.randrange(3), len(HAN) - 1)] for _ in range(words)
    )


def fill(path: Path, documents: int, people: int) -> None:
    """Lines of as many DMs, straight into the index with their events."""
    chance = random.Random(7)
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db:
        for person in range(1, people + 1):
            db.execute("INSERT INTO person (id, name, created_at) VALUES (?, ?, 0)", (person, f"人{person}"))
            db.execute("INSERT INTO chat (id, kind, created_at) VALUES (?, 'dm', 0)", (person,))
        for number in range(1, documents + 1):
            at = NOW - (documents - number) * 60_000
            add_line(db, number, number % people + 1, people, at, sentence(chance))
        db.commit()


def add_line(db: Tx, number: int, person: int, people: int, at: int, text: str) -> None:
    """A line of somebody's DM with its document: the event of that number, in the talk of 20 lines that is its turn."""
    db.execute(
        "INSERT INTO event (id, chat_id, at, kind, person_id, text, state) VALUES (?, ?, ?, 'message', ?, ?, "
        "'listened')",
        (number, person, at, person, text),
    )
    talk = number - number % (people * 20)
    add_document(db, Doc("line", number, f"p{person}", person, person, at, text, talk, number // people))


class Gaps:
    """Notes how long the event loop does not come round."""

    def __init__(self) -> None:
        self._wall = self._held = 0.0
        self._task: asyncio.Task[None] | None = None

    async def _look(self) -> None:
        while True:
            wall, busy = perf_counter(), process_time()
            await asyncio.sleep(TICK_S)
            gap = perf_counter() - wall - TICK_S
            self._wall = max(self._wall, gap)
            self._held = max(self._held, min(gap, process_time() - busy))

    async def __aenter__(self) -> "Gaps":
        self._task = asyncio.create_task(self._look())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def told(self) -> dict[str, float]:
        """The longest gaps, ms."""
        return {"wall": round(self._wall * 1000, 1), "held": round(self._held * 1000, 1)}


async def measure(
    folder: Path, documents: int, people: int, modes: tuple[RecallMode, ...], provider: str, *, live: bool = False
) -> dict[str, object]:
    """Ask one person after the other, in each mode."""
    memory = {"mode": "hybrid", "embedding": {"provider": provider}} if "hybrid" in modes else {}
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "memory": memory})
    world = await World(folder, settings).open()
    await world.close()
    began = perf_counter()
    await asyncio.to_thread(fill, folder / DATABASE, documents, people)
    filled = perf_counter() - began
    await world.open()
    async with Gaps() as gaps:
        await world.app._services.vector_maker.make_all(lambda made: None)
    found: dict[str, object] = {
        "documents": documents,
        "people": people,
        "filled_seconds": round(filled, 1),
        "vectors_loop_ms": gaps.told(),
    }
    async with Gaps() as gaps:
        await asyncio.sleep(2)
    found["idle_loop_ms"] = gaps.told()
    gc.freeze()  # as `nuan run` does
    for place, mode in enumerate(modes):
        said = documents + place * QUESTIONS if live else None
        found[mode] = await asked(world, people, mode, said)
    await world.close()
    await world.parts.current.pool.close()
    return found


async def asked(world: World, people: int, mode: RecallMode, said: int | None) -> dict[str, object]:
    """How long recalls take in this mode, the first of which loads.

    With `said`, after so many lines, each is asked as memory_recall asks in a talk: by somebody who just said a line,
    which has no vector yet, while those before have theirs; and what this talk said is left out.
    """
    chance = random.Random(11)
    maker = world.app._services.vector_maker
    recalling = make_recall(world.parts, maker._find_caller, pays=True)
    times: list[float] = []
    busy: list[float] = []
    async with Gaps() as gaps:
        for number in range(1, QUESTIONS + 1):
            person = chance.randrange(people) + 1
            asking = RecallQuery(Audience(person, "dm", (person,)), person, sentence(chance, 14), NOW, mode=mode)
            if said is not None:
                await maker.make_all(lambda made: None)
                event, text = said + number, sentence(chance)
                add = partial(add_line, number=event, person=person, people=people, at=NOW, text=text)
                await world.store._database.write(add)
                asking = replace(asking, heard=said + 1, own=(text,))
            began, used = perf_counter(), process_time()
            await recalling.recall(asking)
            times.append((perf_counter() - began) * 1000)
            busy.append((process_time() - used) * 1000)
    return {"ms": spread(times[1:]), "cpu_ms": spread(busy[1:]), "first_ms": round(times[0], 1), "loop_ms": gaps.told()}


def main(arguments: list[str]) -> int:
    """Print one line of JSON for each size."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.recall_speed", description=__doc__)
    parser.add_argument("--modes", nargs="*", choices=RECALL_MODES, default=["v2", "hybrid"])
    parser.add_argument("--provider", choices=("local", "hash"), default="hash", help="who makes hybrid's vectors")
    parser.add_argument("--small", action="store_true", help="only 3,000 documents")
    parser.add_argument("--live", action="store_true", help="ask as memory_recall does in a talk: after each new line")
    options = parser.parse_args(arguments)
    for documents, people in SIZES[:1] if options.small else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            modes, data = tuple(options.modes), Path(folder) / "data"
            found = asyncio.run(measure(data, documents, people, modes, options.provider, live=options.live))
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
