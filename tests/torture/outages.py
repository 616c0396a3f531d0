"""The disk of a running program fills and gets room again, while people write on Telegram and on Discord."""

import asyncio
import os
import random
import resource
from collections import Counter
from functools import partial
from pathlib import Path
from signal import SIGTERM

from tests.e2e import KEY, Home, with_server
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.torture.autopsy import WAITING
from tests.torture.grounds import FIRST_PERSON, DiscordGround, TelegramGround
from tests.torture.kills import ANSWER, WORD, Echo, Playground, end, some, start, until

PEOPLE = 4
PAGES = 10
"""Beyond what its files have now the program may write at most so many pages."""


async def telegram(folder: Path, outages: int, seed: int) -> tuple[Counter[str], float]:
    """So many outages on Telegram; what was counted, and the longest time, s, until all was answered again."""
    allow = ",".join(str(FIRST_PERSON + who) for who in range(PEOPLE))
    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, FakeOpenAI(Echo(), key=KEY) as model:
        home = Home(
            folder,
            with_server(model)
            | {
                "BUDGET__DAY_TOKENS": "none",
                "TELEGRAM__TOKEN": server.token,
                "TELEGRAM__BASE_URL": server.url,
                "TELEGRAM__ALLOW": allow,
            },
        )
        return await _fill(home, TelegramGround(server), outages, seed)


async def discord(folder: Path, outages: int, seed: int) -> tuple[Counter[str], float]:
    """The same on Discord."""
    token = f"made-up.discord.{os.getpid()}"
    async with FakeDiscord(token, limit=0) as server, FakeOpenAI(Echo(), key=KEY) as model:
        members = tuple(server.world.add_user(f"人{who}") for who in range(PEOPLE))
        guild = server.world.add_guild("家", *members)
        channels = tuple(server.world.add_channel(guild, f"c{who}") for who in range(PEOPLE))
        home = Home(
            folder,
            with_server(model)
            | {
                "BUDGET__DAY_TOKENS": "none",
                "DISCORD__TOKEN": token,
                "DISCORD__API_URL": server.api_url,
                "DISCORD__GATEWAY_URL": server.gateway_url,
                "DISCORD__ALLOW": str(guild.id),
            },
        )
        return await _fill(home, DiscordGround(server, channels, members), outages, seed)


async def _fill(home: Home, ground: Playground, outages: int, seed: int) -> tuple[Counter[str], float]:
    chance, loop, slowest, number = random.Random(seed), asyncio.get_running_loop(), 0.0, 0
    process = await start(home)
    await until(ground.ready)
    for who in range(PEOPLE):
        ground.write(who, "早")
    await until(lambda: len(some(home, "SELECT 1 FROM event WHERE text LIKE '%早'")) == PEOPLE)
    await until(lambda: not some(home, WAITING))
    for _ in range(outages):
        written = max(path.stat().st_size for path in home.data_folder.glob("nuan.db-wal"))
        room = written + chance.randrange(PAGES) * 4_120 if chance.random() < 0.7 else 0
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        for who in chance.sample(range(PEOPLE), 2):
            ground.write(who, f"第{number}句")
            number += 1
        await asyncio.sleep(chance.uniform(1, 8))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        begun = loop.time()
        await until(partial(_all_answered, ground, number))
        slowest = max(slowest, loop.time() - begun)
    await until(lambda: not some(home, WAITING))
    seen = Counter[str](outages=outages, written=number)
    texts = "".join(str(row[0]) for row in some(home, "SELECT text FROM event WHERE kind = 'message'"))
    seen["lost"] = number - len({int(one) for one in WORD.findall(texts)} & set(range(number)))
    answers = Counter(one for chat in ground.seen() for text in chat for one in ANSWER.findall(text))
    seen["twice"] = sum(count > 1 for count in answers.values())
    seen["refused"] = len(home.log("store_failed")) + len(home.log("telegram_not_stored"))
    seen["ended"] = process.returncode is not None
    await end(process, SIGTERM)
    seen["bad exits"] = process.returncode != 0
    seen["rules broken"] = ground.violations()
    return seen, slowest


def _all_answered(ground: Playground, number: int) -> bool:
    return {int(one) for chat in ground.seen() for text in chat for one in WORD.findall(text)} >= set(range(number))
