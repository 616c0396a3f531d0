"""The real program, killed with SIGKILL again and again while somebody talks to it, as a model server sees it.

Half of the kills come while the server has begun an answer that never ends, the others at any moment after a line was
typed. What was lost must be asked again byte for byte; anything else must begin with the last request and a reply that
was given to it, or be the first request of an epoch that the database knows. Logs are short (LOG_TOKENS), so that some
sessions close and new ones begin among the kills; all else is nuan's default.
"""

import asyncio
import json
import random
import re
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL, SIGTERM

from bot.store.store import DATABASE
from tests.bench.dmday import SMALL_TALK, THEN, WHAT, WHEN
from tests.e2e import KEY, Home, Nuan, raw_items, running, with_server
from tests.fakes.openai_rules import mapping
from tests.fakes.openai_script import Asked, Call, Reply
from tests.fakes.openai_server import FakeOpenAI

LOG_TOKENS = 1500
MOST_LINES, INSIDE, SOON_S, ASKS_TOOL = 3, 0.5, 0.15, 0.25
"""Lines answered before a kill, kills during an answer, latest moment of the others, replies that ask for a tool."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Of `requests` that were no first of an epoch, how many were kept whole, and how many of them were asked again."""

    kills: int
    requests: int
    whole: int
    again: int
    begun: int
    epochs: int
    violations: int

    def line(self) -> str:
        """For the reader of the benchmark."""
        return (
            f"kill -9: {self.kills} kills, kept whole {self.whole}/{self.requests}, {self.again} of them asked again "
            f"byte for byte, {self.begun} logs begun, {self.epochs} epochs stored, {self.violations} requests refused"
        )


@dataclass(slots=True)
class Companion:
    """The server's script: every reply is another one, some ask for a tool; while `endless` it only begins."""

    chance: random.Random
    endless: bool = False
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    replies: dict[bytes, set[str]] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Reply:
        """Answer, and remember what was answered to these bytes."""
        self.asked.set()
        if not re.search("<ctx|<p>", asked.last_user):
            return Reply('{"summary":"聊了几件小事","statements": []}')
        if self.endless:
            return Reply("从前有一座灯塔", fault="drip")
        number = sum(map(len, self.replies.values()))
        said, calls = f"这是第{number}个回答，慢慢说。", tuple[Call, ...]()
        if asked.last_role == "user" and asked.tool_names and self.chance.random() < ASKS_TOOL:
            said, calls = "", (Call("memory_recall", json.dumps({"query": f"第{number}件事"}, ensure_ascii=False)),)
        self.replies.setdefault(asked.raw, set()).add(said)
        return Reply(said, calls)


async def kept_after_kills(kills: int, seed: int) -> Kept:
    """Talk and kill so many times, then look at every request of a turn."""
    chance = random.Random(seed)
    companion = Companion(chance)
    with tempfile.TemporaryDirectory() as folder:
        async with FakeOpenAI(companion, key=KEY) as server:
            home = Home(Path(folder), with_server(server, SESSION__LOG_TOKENS=str(LOG_TOKENS)))
            for _ in range(kills):
                async with running(home) as nuan:
                    await _life(nuan, companion, chance)
            async with running(home) as nuan:
                await _talk(nuan, chance, 2)
                nuan.send(SIGTERM)
                await nuan.ended()
            bodies = [body for body in server.bodies if b"<ctx" in body]
            with closing(sqlite3.connect(home.data_folder / DATABASE)) as db:
                epochs = int(db.execute("SELECT count(*) FROM epoch").fetchone()[0])
            return judged(bodies, companion.replies, kills, epochs, len(server.violations))


async def _life(nuan: Nuan, companion: Companion, chance: random.Random) -> None:
    """A few lines, one more, and the end."""
    await _talk(nuan, chance, chance.randint(0, MOST_LINES))
    companion.endless, wait = chance.random() < INSIDE, chance.uniform(0, SOON_S)
    companion.asked.clear()
    await nuan.say(_line(chance))
    if companion.endless:
        await companion.asked.wait()
    with suppress(TimeoutError):
        await asyncio.wait_for(nuan.process.wait(), wait)
    nuan.send(SIGKILL)
    await nuan.ended()
    companion.endless = False


async def _talk(nuan: Nuan, chance: random.Random, lines: int) -> None:
    for _ in range(lines):
        await nuan.ask(_line(chance))


def _line(chance: random.Random) -> str:
    said = chance.choice(WHEN["hans"]) + chance.choice(WHAT["hans"]) + "，" + chance.choice(THEN["hans"])
    return chance.choice((said, said, chance.choice(SMALL_TALK["hans"])))


def judged(bodies: Sequence[bytes], replies: dict[bytes, set[str]], kills: int, epochs: int, violations: int) -> Kept:
    """Every request beside the one before it; a log that no epoch in the database explains counts as broken."""
    begun, whole, again = 1, 0, 0
    for number in range(1, len(bodies)):
        before, now = raw_items(bodies[number - 1]), raw_items(bodies[number])
        fresh = [mapping(json.loads(item)) for item in now[len(before) :]]
        same = bodies[number] == bodies[number - 1]
        extends = now[: len(before)] == before and bool(fresh)
        extends = extends and str(fresh[0]["content"]) in replies.get(bodies[number - 1], ())
        again, whole = again + same, whole + (same or extends)
        begun += not (same or extends) and len(re.findall(rb'"role":"', b"".join(now))) == 2
    return Kept(kills, len(bodies) - min(begun, epochs), whole, again, begun, epochs, violations)
