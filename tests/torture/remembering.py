"""kill -9 while people have things remembered and forgotten and their talks are summed up, then count.

What a receipt says is acknowledged: what was kept is there, what was forgotten is nowhere, nothing is there twice, and
after each kill the file is whole.
"""

import asyncio
import os
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM

from tests.e2e import Home, Process
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.storing import look, sound
from tests.torture.autopsy import WAITING, Lives, autopsy
from tests.torture.grounds import FIRST_PERSON, SlowOpenAI, TelegramGround, common
from tests.torture.kills import Plan, end, live, some, start, until
from tests.torture.secrets import spilled

KEPT, GONE = re.compile(r"记住啦 #(\d+)"), re.compile(r"忘[^#\n]*#(\d+)")
THING = re.compile(r"zq\d{5}")
FORGETTINGS = 2
"""Kills while everybody has something forgotten: receipts come late, so before them hardly anybody knows a number."""

UNTOLD = 40
"""Commands without a receipt at which people wait: more would be answered minutes after the last kill."""
PEOPLE = 8
"""The program says one message a second in a chat: with few people receipts would wait for that."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was acknowledged; what of it is lost, came back or is there twice, and what of file and index is wrong.

    `digests` are talks that were summed up meanwhile.
    """

    kept: int
    forgotten: int
    digests: int
    lost: tuple[int, ...]
    back: tuple[int, ...]
    twice: tuple[str, ...]
    wrong: tuple[object, ...]
    spilled: tuple[str, ...]
    lives: Lives


@dataclass
class People:
    """Who writes what, and which numbers their receipts told them."""

    ground: TelegramGround
    chance: random.Random
    written: int = 0

    def numbers(self, who: int, receipt: re.Pattern[str]) -> set[int]:
        """The numbers that such receipts told somebody."""
        return {int(number) for text in self.ground.seen()[who] for number in receipt.findall(text)}

    def told(self) -> int:
        """How many messages people got."""
        return sum(map(len, self.ground.seen()))

    def forget(self, wished: set[int]) -> None:
        """Everybody who knows a number of theirs has it forgotten."""
        for who in range(PEOPLE):
            for number in sorted(self.numbers(who, KEPT) - wished)[:1]:
                wished.add(number)
                self.ground.write(who, f"{self.chance.choice(('忘记', '彻底忘记'))} #{number}")

    async def write(self, wished: set[int]) -> None:
        """For ever: somebody has something kept or, of what a receipt named, forgotten."""
        while True:
            who = self.chance.randrange(PEOPLE)
            left = sorted(self.numbers(who, KEPT) - wished)
            if left and self.chance.random() < 0.4:
                number = self.chance.choice(left)
                wished.add(number)
                self.ground.write(who, f"{self.chance.choice(('忘记', '彻底忘记'))} #{number}")
            elif self.chance.random() < 0.25:
                self.ground.write(who, self.chance.choice(("今天去图书馆借了两本书", "/new")))
            else:
                self.ground.write(who, f"记住我的第{self.written}件事是zq{self.written:05}号")
            self.written += 1
            await asyncio.sleep(self.chance.uniform(0, 0.4))
            while self.written - self.told() > UNTOLD:  # noqa: ASYNC110 - the other side is a process
                await asyncio.sleep(0.1)


async def remembering(folder: Path, plan: Plan) -> Told:
    """Kill it so often in the middle of memory commands; a talk is over after three seconds of silence."""
    allow = ",".join(str(FIRST_PERSON + who) for who in range(PEOPLE))
    token = f"{os.getpid()}{TOKEN[10:]}"
    async with FakeTelegram(token) as server, SlowOpenAI(plan.model_s, plan.seed) as model:
        home = Home(
            folder,
            common(model)
            | {
                "TELEGRAM__TOKEN": server.token,
                "TELEGRAM__BASE_URL": server.url,
                "TELEGRAM__ALLOW": allow,
                "SESSION__IDLE_SECONDS": "3",
            },
        )
        people, wished, lives = People(TelegramGround(server), random.Random(plan.seed)), set[int](), Lives()
        first = max(plan.kills - FORGETTINGS, 0)
        writing = asyncio.create_task(people.write(wished))
        try:
            for _ in range(first):
                await died(home, await live(home, plan, people.chance, model), lives)
        finally:
            writing.cancel()
            await asyncio.wait((writing,))
        process = await settled(home)
        for _ in range(plan.kills - first):
            people.forget(wished)
            await asyncio.sleep(people.chance.uniform(0.05, 0.6))
            await died(home, process, lives)
            process = await settled(home)
        await end(process, SIGTERM)
        return count(home, people, wished, lives, model)


async def died(home: Home, process: Process, lives: Lives) -> None:
    """A life is over; what it left is looked at."""
    took = await end(process, SIGKILL)
    lives.add(process.returncode or 0, took, await asyncio.to_thread(autopsy, home.data_folder))


async def settled(home: Home) -> Process:
    """A new life, in which all that was written is answered, and every receipt arrived."""
    process = await start(home)
    await until(lambda: bool(some(home, "SELECT 1 FROM event")) and not some(home, WAITING))
    await asyncio.sleep(1)
    await until(lambda: not some(home, WAITING))
    return process


def count(home: Home, people: People, wished: set[int], lives: Lives, model: FakeOpenAI) -> Told:
    """Compare what people were told with what is stored."""
    receipts = [number for shown in people.ground.seen() for text in shown for number in KEPT.findall(text)]
    kept = set(map(int, receipts))
    gone = {number for who in range(PEOPLE) for number in people.numbers(who, GONE)} & wished
    rows = look(home.data_folder, "SELECT id, text FROM memory WHERE disabled_at IS NULL")
    active = {int(str(row[0])) for row in rows}
    indexed = {int(str(row[0])) for row in look(home.data_folder, "SELECT ref FROM doc WHERE kind = 'memory'")}
    told = Counter([*receipts, *(THING.findall(str(row[1]))[0] for row in rows if THING.search(str(row[1])))])
    return Told(
        len(kept),
        len(gone),
        len(look(home.data_folder, "SELECT 1 FROM digest")),
        tuple(sorted(kept - wished - active)),
        tuple(sorted(gone & active)),
        tuple(name for name, times in told.items() if times > 1),
        (*lives.wrong, *sound(home.data_folder), *sorted(active ^ indexed)),
        spilled(home.folder, model.bodies),
        lives,
    )
