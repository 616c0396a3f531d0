"""`python -m tests.torture.remembering [KILLS]`: kill -9 while people have things remembered and forgotten, then count.

What a receipt says is acknowledged: what was kept is there, what was forgotten is nowhere, index and table agree.
"""

import asyncio
import contextlib
import os
import random
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM

from tests.e2e import KEY, Home, Process, with_server
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.storing import look, sound
from tests.torture.grounds import FIRST_PERSON, TelegramGround
from tests.torture.kills import WAITING, echo, end, some, start, until

KEPT, GONE = re.compile(r"记住啦 #(\d+)"), re.compile(r"忘[^#\n]*#(\d+)")
FORGETTINGS = 2
"""Kills while everybody has something forgotten: receipts come late, so before them hardly anybody knows a number."""

PEOPLE = 8
"""The program says one message a second in a chat: with few people receipts would wait for that."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was acknowledged, what of it is lost or came back, and what of index and file is wrong."""

    kills: int
    kept: int
    forgotten: int
    lost: tuple[int, ...]
    back: tuple[int, ...]
    wrong: tuple[object, ...]

    def line(self) -> str:
        """For the operator of the run."""
        return (
            f"{self.kills} kills, {self.kept} kept, {self.forgotten} forgotten: lost {self.lost}, back {self.back}, "
            f"wrong {self.wrong[:5]}"
        )


@dataclass
class People:
    """Who writes what, and which numbers their receipts told them."""

    ground: TelegramGround
    chance: random.Random
    written: int = 0

    def numbers(self, who: int, receipt: re.Pattern[str]) -> set[int]:
        """The numbers that such receipts told somebody."""
        return {int(number) for text in self.ground.seen()[who] for number in receipt.findall(text)}

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
            else:
                self.ground.write(who, f"记住我的第{self.written}件事是zq{self.written:05}号")
            self.written += 1
            await asyncio.sleep(self.chance.uniform(0, 0.4))


async def remembering(folder: Path, kills: int, seed: int = 1, longest_s: float = 3.0) -> Told:
    """Kill it so often in the middle of memory commands; each life lasts 1.2 to `longest_s` seconds."""
    allow = ",".join(str(FIRST_PERSON + who) for who in range(PEOPLE))
    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, FakeOpenAI(echo, key=KEY) as model:
        home = Home(folder, with_server(model) | {
            "BUDGET__DAY_TOKENS": "none", "TELEGRAM__TOKEN": server.token, "TELEGRAM__BASE_URL": server.url,
            "TELEGRAM__ALLOW": allow,
        })  # fmt: skip
        people, wished = People(TelegramGround(server), random.Random(seed)), set[int]()
        writing = asyncio.create_task(people.write(wished))
        try:
            for _ in range(kills):
                process = await start(home)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), people.chance.uniform(1.2, longest_s))
                await end(process, SIGKILL)
        finally:
            writing.cancel()
            await asyncio.wait((writing,))
        process = await settled(home)
        for _ in range(FORGETTINGS):
            people.forget(wished)
            await asyncio.sleep(people.chance.uniform(0.05, 0.6))
            await end(process, SIGKILL)
            process = await settled(home)
        await end(process, SIGTERM)
        return count(home, people, wished, kills + FORGETTINGS)


async def settled(home: Home) -> Process:
    """A new life, in which all that was written is answered, and every receipt arrived."""
    process = await start(home)
    await until(lambda: bool(some(home, "SELECT 1 FROM event")) and not some(home, WAITING))
    await asyncio.sleep(1)
    await until(lambda: not some(home, WAITING))
    return process


def count(home: Home, people: People, wished: set[int], kills: int) -> Told:
    """Compare what people were told with what is stored."""
    kept = {number for who in range(PEOPLE) for number in people.numbers(who, KEPT)}
    gone = {number for who in range(PEOPLE) for number in people.numbers(who, GONE)} & wished
    rows = look(home.data_folder, "SELECT id FROM memory WHERE disabled_at IS NULL")
    active = {int(str(row[0])) for row in rows}
    indexed = {int(str(row[0])) for row in look(home.data_folder, "SELECT ref FROM doc WHERE kind = 'memory'")}
    wrong = [*sound(home.data_folder), *sorted(active ^ indexed)]
    return Told(kills, len(kept), len(gone), tuple(sorted(kept - wished - active)), tuple(sorted(gone & active)),
                tuple(wrong))  # fmt: skip


def main() -> None:
    """Exit code 1 when something acknowledged was lost or came back, is wrong in the file, or nothing was tried."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(remembering(Path(folder), kills))
    print(told.line())
    sys.exit(bool(told.lost or told.back or told.wrong) or not (told.kept and told.forgotten))


if __name__ == "__main__":
    main()
