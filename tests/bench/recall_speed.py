"""`python -m tests.bench.recall_speed`: how long one recall takes in a large store, and how long the loop waits.

3,000 documents of one person; then 100,000 of 1,000 people.
"""

import asyncio
import json
import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time

from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.flow.recalling import Recalling
from bot.recall.fusion import Likeness
from bot.store.documents import Doc, put
from bot.store.store import DATABASE, open_store
from bot.types.people import Audience
from bot.types.recall import Asking, Likenesses
from tests.bench.counts import spread

SIZES = ((3_000, 1), (100_000, 1_000))
"""Documents and people."""

QUESTIONS = 300
HAN = [chr(0x4E00 + 7 * number) for number in range(1_500)]
NOW = 1_781_226_000_000


class Unlike:
    """Nothing is alike: words alone are measured."""

    async def like(self, asking: Asking, most: int) -> Likenesses:
        """Nothing."""
        return Likeness(missing="off")


def sentence(chance: random.Random, words: int = 22) -> str:
    """Chinese-looking text: characters as unevenly used as in real text."""
    return "".join(
        HAN[min(int(chance.paretovariate(0.7)) * 3 + chance.randrange(3), len(HAN) - 1)] for _ in range(words)
    )


def fill(path: Path, documents: int, people: int) -> None:
    """Lines of as many DMs, straight into the index with their events."""
    chance = random.Random(7)
    with closing(sqlite3.connect(path)) as db:
        for person in range(1, people + 1):
            db.execute("INSERT INTO person (id, name, created_at) VALUES (?, ?, 0)", (person, f"人{person}"))
            db.execute("INSERT INTO chat (id, kind, created_at) VALUES (?, 'dm', 0)", (person,))
        for number in range(1, documents + 1):
            person, text = number % people + 1, sentence(chance)
            at = NOW - (documents - number) * 60_000
            db.execute(
                "INSERT INTO event (id, chat_id, at, kind, person_id, text, state) VALUES (?, ?, ?, 'message', ?, ?, "
                "'listened')",
                (number, person, at, person, text),
            )
            talk = number - number % (people * 20)
            put(db, Doc("line", number, f"p{person}", person, person, at, text, talk, number // people))
        db.commit()


async def waits(stop: asyncio.Event) -> float:
    """The longest that the event loop was not free, ms."""
    longest = 0.0
    while not stop.is_set():
        began = perf_counter()
        await asyncio.sleep(0.001)
        longest = max(longest, (perf_counter() - began) * 1000 - 1)
    return longest


async def measure(folder: Path, documents: int, people: int) -> dict[str, object]:
    """Ask one person after the other."""
    chance = random.Random(11)
    async with await open_store(folder):
        pass
    began = perf_counter()
    await asyncio.to_thread(fill, folder / DATABASE, documents, people)
    filled = perf_counter() - began
    aside, times = Aside(), []
    async with await open_store(folder) as store:
        recalling = Recalling(store, aside, Settings(), Unlike(), "Asia/Shanghai")
        stop, busy = asyncio.Event(), process_time()
        watching = asyncio.create_task(waits(stop))
        for number in range(QUESTIONS):
            person = chance.randrange(people) + 1
            asking = Asking(Audience(person, "dm", (person,)), person, sentence(chance, 14), NOW)
            began = perf_counter()
            await recalling.recall(asking)
            if number:  # the first one loads
                times.append((perf_counter() - began) * 1000)
        stop.set()
        busy = (process_time() - busy) * 1000 / QUESTIONS
        longest = await watching
    aside.close()
    return {
        "documents": documents, "people": people, "ms": spread(times), "cpu_ms": round(busy, 2),
        "loop_ms": round(longest, 1), "filled_seconds": round(filled, 1),
    }  # fmt: skip


def main() -> int:
    """Print one line of JSON for each size."""
    for documents, people in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(asyncio.run(measure(Path(folder) / "data", documents, people))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
