"""Kills the real program at random moments while people write, then counts. It knows no platform and no protocol."""

import asyncio
import contextlib
import itertools
import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import Protocol

from tests.e2e import Home, Process
from tests.fakes.openai_script import Asked, Reply

WORD = re.compile(r"第(\d+)句")
ANSWER = re.compile(r"（(\d+)）")
ANSWERS = itertools.count()
ANSWERED_TWICE = """SELECT 1 FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.state = 'said'
    GROUP BY event_id HAVING count(*) > 1"""
WAITING = """SELECT 1 FROM event WHERE state = 'queued'
    UNION ALL SELECT 1 FROM outbox WHERE state IN ('pending', 'sending')
    UNION ALL SELECT 1 FROM turn WHERE state IN ('asked', 'answered')"""
PATIENCE_S = 120.0
"""How long the program may take, after the last kill, to answer what is left."""


class Playground(Protocol):
    """A platform's fake, with people who write to nuan."""

    def write(self, who: int, text: str) -> None:
        """Somebody writes in a private chat of their own."""
        ...

    def seen(self) -> list[list[str]]:
        """Every message of nuan that people see now, chat by chat, in order."""
        ...

    def ready(self) -> bool:
        """Whether nuan listens."""
        ...

    def violations(self) -> int:
        """How often a rule of the platform was broken."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """How much: kills, messages, people who write at once, and the seed of all chances.

    A life lasts `shortest_s` to `longest_s` seconds, counted from the start of the process.
    """

    kills: int
    messages: int
    people: int = 8
    seed: int = 1
    shortest_s: float = 0.3
    longest_s: float = 3.0
    ends_by: Signals = SIGKILL


@dataclass(frozen=True, slots=True)
class Count:
    """What was found: messages written, not stored, not answered, answered twice or before an earlier one of the chat.

    `unknown` are replies of which nobody knows whether they arrived.
    """

    kills: int
    written: int
    lost: int
    unanswered: int
    twice: int
    early: int
    unknown: int
    violations: int
    exits: Counter[int]
    slowest_exit_s: float

    def line(self) -> str:
        """For the operator of the run."""
        return (
            f"{self.kills} kills, {self.written} messages: {self.lost} lost, {self.unanswered} unanswered, "
            f"{self.unknown} replies of unknown fate, {self.twice} answered twice, {self.early} out of order, "
            f"{self.violations} rules broken, "
            f"exit codes {dict(self.exits)}, slowest end {self.slowest_exit_s:.1f} s"
        )


def echo(asked: Asked) -> Reply:
    """A model that names every sentence it is told, so that each can be found in a reply, and counts its answers.

    What opens a new session shows older lines, too: so a sentence may be named again, an answer's number may not.
    """
    numbers = WORD.findall(asked.last_user.rpartition("<ctx")[2])
    said = "收到" + "，".join(f"第{number}句" for number in numbers) if numbers else "好的。"
    return Reply(f"{said}（{next(ANSWERS)}）")


async def torture(home: Home, plan: Plan, ground: Playground) -> Count:
    """Write and kill until both are done, let the last life answer everything, and count."""
    chance = random.Random(plan.seed)
    exits: Counter[int] = Counter()
    slowest = 0.0
    await _greet(home, plan, ground)
    writing = asyncio.create_task(_write(plan, ground, chance))
    try:
        for _ in range(plan.kills):
            process = await start(home)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), chance.uniform(plan.shortest_s, plan.longest_s))
            slowest = max(slowest, await end(process, plan.ends_by))
            exits[process.returncode or 0] += 1
        process = await start(home)
        await writing
        await until(lambda: _settled(home, plan))
        await end(process, SIGTERM)
        exits[process.returncode or 0] += 1
    finally:
        writing.cancel()
        await asyncio.wait((writing,))
    return _count(home, plan, ground, exits, slowest)


async def _greet(home: Home, plan: Plan, ground: Playground) -> None:
    """Everybody has written once before it begins: what is missed of a place that was never seen is not asked for."""
    process = await start(home)
    await until(ground.ready)
    for who in range(plan.people):
        ground.write(who, "早")
    await until(lambda: len(some(home, "SELECT 1 FROM event WHERE text LIKE '%早'")) == plan.people)
    await end(process, SIGTERM)


async def _write(plan: Plan, ground: Playground, chance: random.Random) -> None:
    pause = max(plan.kills, 10) * (plan.shortest_s + plan.longest_s) / 2 / plan.messages
    for number in range(plan.messages):
        ground.write(chance.randrange(plan.people), f"第{number}句")
        await asyncio.sleep(chance.uniform(0, 2 * pause))


async def start(home: Home) -> Process:
    """The program on that folder."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        with (home.folder / "stderr.txt").open("ab") as errors:
            return await home.start(("run",), (nothing, nothing, errors.fileno()))
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


async def until(true: Callable[[], bool]) -> None:
    """Wait until it is so; TimeoutError when it never is."""
    async with asyncio.timeout(PATIENCE_S):
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


def _stored(home: Home) -> set[int]:
    texts = _rows(home, "SELECT text FROM event WHERE kind = 'message'")
    return {int(number) for (text,) in texts for number in WORD.findall(str(text))}


def _settled(home: Home, plan: Plan) -> bool:
    """Everything written is stored, nothing waits, nothing is on its way."""
    with contextlib.suppress(sqlite3.Error):
        waits = _rows(home, WAITING)
        return not waits and len(_stored(home)) == plan.messages
    return False


def _count(home: Home, plan: Plan, ground: Playground, exits: Counter[int], slowest: float) -> Count:
    unknown = _rows(home, "SELECT text FROM outbox WHERE state = 'unknown'")
    doubtful = {int(number) for (text,) in unknown for number in WORD.findall(str(text))}
    texts = ground.seen()
    named = [dict.fromkeys(int(number) for text in chat for number in WORD.findall(text)) for chat in texts]
    seen = {number for chat in named for number in chat}
    # A sentence whose own reply never arrived is first seen where a later one names it once more.
    chats = [[number for number in chat if number not in doubtful] for chat in named]
    answers = Counter(number for chat in texts for text in chat for number in ANSWER.findall(text))
    twice = sum(times > 1 for times in answers.values()) + len(_rows(home, ANSWERED_TWICE))
    return Count(
        kills=plan.kills, written=plan.messages, lost=plan.messages - len(_stored(home)),
        unanswered=sum(number not in seen and number not in doubtful for number in range(plan.messages)),
        twice=twice,
        early=sum(later < before for chat in chats for before, later in pairwise(chat)), unknown=len(unknown),
        violations=ground.violations(), exits=exits, slowest_exit_s=slowest,
    )  # fmt: skip


Run = Callable[[Path, Plan], Coroutine[None, None, Count]]
