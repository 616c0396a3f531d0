"""A week of talk through the whole bot on a simulated clock, and what it leaves in memory hour by hour."""

import asyncio
import gc
import json
import logging
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bot.config.settings import Settings
from bot.core.models import ModelRequest
from tests.fakes.model import Answer, calls, says
from tests.torture.row import Found
from tests.world import World, open_files

WARM = 24
"""Hours after which everything that is loaded once is loaded, and every cache has its size."""

POOL = 6
"""Threads that asyncio itself would give a machine with two cores."""

SAID = (
    "早上好呀",
    "今天去爬山了，好累",
    "我明天要交报告",
    "晚上想吃红烧肉",
    "周末带蓝莓去看医生",
    "你记得我怕什么吗",
    "记住我最怕蛇",
    "忘记我怕什么",
    ".ai help",
    "提醒我一小时后喝水",
    "/new",
    "谢谢你",
    "停",
)


class Destroyed(logging.Handler):
    """Counts what asyncio complains of: tasks that were destroyed, exceptions that nobody fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """One more, unless it is only slow."""
        self.count += not record.getMessage().startswith("Executing ")


def resident_mb() -> float:
    """What this process holds now."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def slope(figures: list[float]) -> float:
    """By how much they rise each hour, as the straight line with the least squares has it."""
    count = len(figures)
    middle, mean = (count - 1) / 2, sum(figures) / count
    spread = sum((hour - middle) ** 2 for hour in range(count))
    return sum((hour - middle) * (figure - mean) for hour, figure in enumerate(figures)) / spread if spread else 0.0


def script(chance: random.Random, request: ModelRequest) -> Answer:
    """Digests, tools every now and then, and talk."""
    if not request.prompt.tools:
        return json.dumps({"summary": "聊了聊一天里的小事", "statements": []}, ensure_ascii=False)
    if request.prompt.messages[-1].role == "user" and chance.random() < 0.2:
        return calls(("memory_recall", '{"query": "怕什么"}'))
    return says("原来是这样，先别着急，慢慢来。" * chance.randint(1, 4), prompt_tokens=chance.randint(500, 3_000))


async def fill_pool() -> None:
    """The loop's pool has all its threads from now on: one that it starts later would look like one that was left."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(POOL))
    together = threading.Barrier(POOL)
    await asyncio.gather(*(asyncio.to_thread(together.wait) for _ in range(POOL)))


async def soak(folder: Path, hours: int, seed: int) -> Found:
    """Every hour a few people talk in private and in groups; nights are quiet."""
    chance, heard = random.Random(seed), Destroyed()
    await fill_pool()
    logging.getLogger("asyncio").addHandler(heard)
    world = await World(folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}})).open()
    world.model.digests = True
    world.model.script = lambda request: script(chance, request)
    held: list[float] = []
    counts: list[tuple[int, int, int]] = []
    turns = 0
    try:
        for hour in range(hours):
            for _ in range(2 if (hour + 9) % 24 < 8 else 16):
                who, text = f"人{chance.randrange(12)}", chance.choice(SAID)
                group = f"群{chance.randrange(4)}" if chance.random() < 0.4 else ""
                await world.say(f"小暖，{text}" if group and not text.startswith((".", "/")) else text, who, group)
                await world.wait(chance.uniform(1, 60))
            turns += len(world.model.requests)
            for kept in (world.model.requests, world.talk.said, world.log.lines):
                kept.clear()
            world._typed.clear()
            await world.wait(3_600 - (world.clock.now() // 1000) % 3_600)
            gc.collect()
            held.append(resident_mb())
            counts.append((len(asyncio.all_tasks()), threading.active_count(), open_files()))
    finally:
        await world.close()
        gc.collect()
        await asyncio.sleep(0)
        logging.getLogger("asyncio").removeHandler(heard)
    warm = held[WARM:] or held[-1:]  # before that it says nothing
    first, last = counts[min(WARM, hours // 2)], counts[-1]
    return Found(
        {"hours": hours, "destroyed": heard.count, "calls": turns},
        {
            "slope_mb_an_hour": round(slope(warm), 4),
            "grown_mb": round(warm[-1] - warm[0], 1),
            "held_mb": round(max(held)),
            "tasks_grown": last[0] - first[0],
            "threads_grown": last[1] - first[1],
            "descriptors_grown": last[2] - first[2],
        },
    )
