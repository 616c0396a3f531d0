"""Kills the real program at random moments while people write, then counts. It knows no platform and no protocol."""

import asyncio
import contextlib
import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import Protocol

from tests.e2e import Home, Process, run
from tests.fakes.openai_script import Asked, Recorded, Reply
from tests.storing import sound
from tests.torture.autopsy import WAITING, Lives, autopsy
from tests.torture.processes import hears
from tests.torture.secrets import spilled

WORD = re.compile(r"第(\d+)句")
ANSWER = re.compile(r"（(\d+)）")
ANSWERED_TWICE = """SELECT 1 FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.state = 'said'
    GROUP BY event_id HAVING count(*) > 1"""
PAID_TWICE = """SELECT 1 FROM turn_event JOIN call USING (turn_id) WHERE call.state = 'settled'
    GROUP BY event_id HAVING count(*) > 1"""
PATIENCE_S = 120.0
"""How long the program may take, after the last kill, to answer what is left."""
LONGEST_SILENCE_S = 15.0
"""How long a life may go on without a request."""
ORPHAN = "…"
"""A message begun of which nothing was shown."""


Query = Callable[[str], list[tuple[object, ...]]]
"""Reads rows of the database that the program writes to."""


class Playground(Protocol):
    """A platform's fake, with people who write to nuan."""

    def write(self, who: int, text: str) -> None:
        """Somebody writes in a private chat of their own."""
        ...

    def seen(self) -> list[list[str]]:
        """Every message of nuan that people see now, chat by chat, in order."""
        ...

    def pictures(self) -> dict[str, int]:
        """How many pictures of nuan people see now in each chat, by the platform's own id."""
        ...

    def ready(self) -> bool:
        """Whether nuan listens."""
        ...

    def violations(self) -> int:
        """How often a rule of the platform was broken."""
        ...


class Model(Protocol):
    """A model's fake: `begun` counts requests as they come, `requests` has those that were answered."""

    begun: int
    requests: list[Recorded]

    @property
    def bodies(self) -> list[bytes]:
        """What was asked."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """How much: kills, messages, people who write at once, and the seed of all chances.

    A life lasts up to `longest_s` seconds from the moment it says that it has started; a part of them, `early`, is
    ended while it starts, within `start_s` seconds. With `asking` the
    time counts from its first request instead. The model takes up to `model_s` seconds for an answer. With `parts` it
    reacts to each message, and one reply of five has a picture.
    """

    kills: int
    messages: int
    people: int = 8
    seed: int = 1
    longest_s: float = 1.2
    early: float = 0.2
    start_s: float = 0.8
    model_s: float = 0.3
    ends_by: Signals = SIGKILL
    asking: bool = False
    parts: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """What was found: messages written, not stored, not answered, answered twice or before an earlier one of the chat.

    `unknown` are replies of which nobody knows whether they arrived, `orphans` messages begun and left. Of calls:
    completions that were stored twice, calls lost in a crash, of these the uncharged, and requests that the ledger
    does not know. `shown` is how many unknown replies `nuan doctor` tells of. Of `pictures` those are lost that nobody
    sees, though they were sent or should have been.
    """

    written: int
    lost: int
    unanswered: int
    twice: int
    early: int
    unknown: int
    orphans: int
    violations: int
    paid_twice: int
    lost_calls: int
    uncharged: int
    unbooked: int
    wrong: tuple[str, ...]
    spilled: tuple[str, ...]
    shown: int
    lives: Lives
    pictures: int
    pictures_lost: int
    pictures_twice: int


class Echo:
    """A model that names every sentence it is told, so that each can be found in a reply, and counts its answers.

    What opens a new session shows older lines, too: so a sentence may be named again, an answer's number may not.
    """

    def __init__(self, marks: str = "") -> None:
        self._answers = 0
        self._marks = marks

    def __call__(self, asked: Asked) -> Reply:
        """One answer."""
        numbers = WORD.findall(asked.last_user.rpartition("<ctx")[2])
        said = "收到" + "，".join(f"第{number}句" for number in numbers) if numbers else "好的。"
        self._answers += 1
        return Reply(f"{said}（{self._answers}）{self._marks}")


async def torture(home: Home, plan: Plan, ground: Playground, model: Model) -> Count:
    """Write and kill until both are done, let the last life answer everything, and count."""
    chance = random.Random(plan.seed)
    lives, allowed = Lives(), asyncio.Semaphore(0 if plan.kills else plan.messages)
    await _greet(home, plan, ground)
    writing = asyncio.create_task(write(plan, ground, chance, allowed))
    process: Process | None = None
    try:
        for number in range(plan.kills):
            for _ in range(plan.messages * number // plan.kills, plan.messages * (number + 1) // plan.kills):
                allowed.release()
            process = await live(home, plan, chance, model)
            took = await end(process, plan.ends_by)
            lives.add(process.returncode or 0, took, await asyncio.to_thread(autopsy, home.data_folder))
        process = await start(home)
        last = process.pid
        await writing
        await until(lambda: hears(last, SIGTERM) and _settled(home, plan))
        await end(process, SIGTERM)
    finally:
        writing.cancel()
        await asyncio.wait((writing,))
        if process is not None:
            await end(process, SIGKILL)
    if process.returncode:
        lives.wrong.append(f"the last life ended with {process.returncode}")
    shown = re.search(r"(\d+) messages may or may not", (await run(home, "doctor", "--no-call")).text)
    rows = partial(_rows, home)
    lives.wrong += map(str, sound(home.data_folder))
    return count(rows, home.folder, plan, ground, model, lives, int(shown[1]) if shown else 0)


async def live(home: Home, plan: Plan, chance: random.Random, model: Model) -> Process:
    """A life that has lasted as long as it shall, or has ended by itself."""
    log = home.data_folder / "logs" / "nuan.jsonl"
    before, asked = said_started(log), model.begun
    process = await start(home)
    early = chance.random() < plan.early
    loop, wait_s = asyncio.get_running_loop(), chance.uniform(0, plan.start_s if early else plan.longest_s)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            ended = asyncio.ensure_future(process.wait())
            try:
                while not ended.done() and not hears(process.pid, plan.ends_by):
                    await asyncio.wait((ended,), timeout=0.005)
                begun = loop.time()
                while not ended.done() and (loop.time() - begun < wait_s if early else said_started(log) == before):
                    await asyncio.wait((ended,), timeout=0.02)
                begun = loop.time()
                while plan.asking and model.begun == asked and loop.time() - begun < LONGEST_SILENCE_S:
                    await asyncio.wait((ended,), timeout=0.02)
            finally:
                ended.cancel()
        await asyncio.sleep(0 if early else wait_s)
    return process


def said_started(log: Path) -> tuple[int, int]:
    """Changes when a life says that it has started: which file of the log it is and how often it is said there."""
    try:
        return log.stat().st_ino, log.read_bytes().count(b'"event":"started"')
    except FileNotFoundError:
        return 0, 0


async def _greet(home: Home, plan: Plan, ground: Playground) -> None:
    """Everybody has written once before it begins: what is missed of a place that was never seen is not asked for."""
    process = await start(home)
    await greeted(partial(some, home), plan, ground)
    await end(process, SIGTERM)


async def greeted(rows: Query, plan: Plan, ground: Playground) -> None:
    """Everybody writes once, as soon as nuan listens, and it is stored."""
    await until(ground.ready)
    for who in range(plan.people):
        ground.write(who, "早")
    await until(lambda: len(rows("SELECT 1 FROM event WHERE text LIKE '%早'")) == plan.people)


async def write(plan: Plan, ground: Playground, chance: random.Random, allowed: asyncio.Semaphore) -> None:
    """Each life has its share of the messages, so that there is always something to do."""
    pause = max(plan.kills, 20) * plan.longest_s / 2 / plan.messages
    for number in range(plan.messages):
        await allowed.acquire()
        ground.write(chance.randrange(plan.people), f"第{number}句")
        await asyncio.sleep(chance.uniform(0, 2 * pause))


async def start(home: Home, *words: str) -> Process:
    """The program on that folder, with these options."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        with (home.folder / "stderr.txt").open("ab") as errors:
            return await home.start(("run", *words), (nothing, nothing, errors.fileno()))
    finally:
        os.close(nothing)


async def end(process: Process, how: Signals) -> float:
    """End it; how many seconds that took."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(how)
    await process.wait()
    return loop.time() - begun


async def until(true: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Wait until it is so; TimeoutError when it never is."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - the other side is a file
            await asyncio.sleep(0.2)


def _rows(home: Home, sql: str) -> list[tuple[object, ...]]:
    path = home.data_folder / "nuan.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute(sql).fetchall()


def some(home: Home, sql: str) -> list[tuple[object, ...]]:
    """The rows, or none while the database is being made."""
    try:
        return _rows(home, sql)
    except sqlite3.Error:
        return []


def _stored(rows: Query) -> set[int]:
    texts = rows("SELECT text FROM event WHERE kind = 'message'")
    return {int(number) for (text,) in texts for number in WORD.findall(str(text))}


def settled(rows: Query, plan: Plan) -> bool:
    """Everything written is stored, nothing waits, nothing is on its way."""
    return not rows(WAITING) and len(_stored(rows)) == plan.messages


def _settled(home: Home, plan: Plan) -> bool:
    with contextlib.suppress(sqlite3.Error):
        return settled(partial(_rows, home), plan)
    return False


def _pictures(rows: Query, seen: Mapping[str, int]) -> tuple[int, int, int]:
    """How many pictures there were, how many of them nobody sees, and how many stand there twice."""
    sql = (
        "SELECT external_id, outbox.state, count(*) FROM outbox JOIN place ON place.chat_id = outbox.chat_id AND current = 1 "
        "WHERE medium = 'image' GROUP BY external_id, outbox.state"
    )
    stored: dict[str, Counter[str]] = {}
    for chat, state, count in rows(sql):
        stored.setdefault(str(chat), Counter())[str(state)] += int(str(count))
    lost = twice = 0
    for chat, states in stored.items():
        lost += max(0, states.total() - states["unknown"] - seen.get(chat, 0))
        twice += max(0, seen.get(chat, 0) - states["sent"] - states["unknown"])
    return sum(states.total() for states in stored.values()), lost, twice


def count(rows: Query, folder: Path, plan: Plan, ground: Playground, model: Model, lives: Lives, shown: int) -> Count:
    """All that was found in the end: `rows` of the database, what lies in `folder`, what people see."""
    unknown = rows("SELECT text FROM outbox WHERE state = 'unknown'")
    doubtful = {int(number) for (text,) in unknown for number in WORD.findall(str(text))}
    texts = ground.seen()
    named = [dict.fromkeys(int(number) for text in chat for number in WORD.findall(text)) for chat in texts]
    seen = {number for chat in named for number in chat}
    # A sentence whose own reply never arrived is first seen where a later one names it once more.
    chats = [[number for number in chat if number not in doubtful] for chat in named]
    answers = Counter(number for chat in texts for text in chat for number in ANSWER.findall(text))
    twice = sum(times > 1 for times in answers.values()) + len(rows(ANSWERED_TWICE))
    pictures, pictures_lost, pictures_twice = _pictures(rows, ground.pictures())
    lost_calls = {row[0] for row in rows("SELECT id FROM call WHERE state = 'lost'")}
    return Count(
        written=plan.messages,
        lost=plan.messages - len(_stored(rows)),
        unanswered=sum(number not in seen and number not in doubtful for number in range(plan.messages)),
        twice=twice,
        early=sum(later < before for chat in chats for before, later in pairwise(chat)),
        unknown=len(unknown),
        orphans=sum(text.strip() == ORPHAN for chat in texts for text in chat),
        violations=ground.violations(),
        paid_twice=len(rows(PAID_TWICE)),
        lost_calls=len(lost_calls),
        uncharged=len(lives.calls - lost_calls),
        unbooked=max(0, len(model.requests) - len(rows("SELECT 1 FROM call"))),
        wrong=tuple(lives.wrong),
        spilled=spilled(folder, model.bodies),
        shown=shown,
        lives=lives,
        pictures=pictures,
        pictures_lost=pictures_lost,
        pictures_twice=pictures_twice,
    )


Run = Callable[[Path, Plan], Coroutine[None, None, Count]]
