"""`python -m tests.bench.turn`: what a turn of `nuan run` costs, on Telegram with a model server, both on this machine.

A private talk of 17 turns, then 50 people with 20 messages each at a model of 200 ms. Of each: from message to request,
from the model's last byte to the platform, and the processor of a message, all of nuan's process alone; the processor of
its encoder of sentences beside, and the memory of both; and, in a World, the statements and transactions of a message.
With `--pairs N` instead the same of two that hear the same N messages in turns, one of which goes by words alone.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from aiohttp import web

from bot.pipeline.timings import PHASES
from tests.bench.counts import percentile
from tests.e2e import PROGRAM, ROOT
from tests.fakes.telegram_faults import UNLIMITED
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.fakes.telegram_shapes import Person
from tests.metering import Meter
from tests.world import World

TALK = (
    "在吗？",
    "今天下班路上看到一只橘猫。",
    "它跟了我一路！",
    "我给它取了个名字，叫团子。",
    "你觉得我该把它带回家吗？",
    "家里还有一条狗，怕它们打架。",
    "狗是柯基，三岁了。",
    "对了，我下周三要去杭州出差。",
    "想住在西湖边上。",
    "你记得我之前说想吃什么吗？",
    "好累啊。",
    "老板今天又改需求了。",
    "算了，不说他。",
    "晚上想看个电影，有推荐吗？",
    "不要恐怖片。",
    "那就看这个吧！",
    "谢谢你，晚安。",
)
"""A private talk: every line a whole sentence."""

CHATS, MESSAGES, MODEL_MS = 50, 20, 200
"""The stress (issue 26): so many people, so many messages of each, so long a model thinks."""

FIRST_ID = 5_000_000
PATIENCE_S = 120.0
NUMBERED = re.compile(rb"@(\d+)@")
"""How a line of the stress is known again in a request."""
PSS = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


@dataclass
class ModelServer:
    """An OpenAI-compatible server that answers everything after `ms`, and knows when: loop time, by the line asked."""

    ms: float = 0.0
    asked: dict[int, float] = field(default_factory=dict)
    answered: dict[int, float] = field(default_factory=dict)
    url: str = ""

    @asynccontextmanager
    async def served(self) -> AsyncIterator["ModelServer"]:
        """While inside it answers."""
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._complete)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body, loop = await request.read(), asyncio.get_running_loop()
        number = int(NUMBERED.findall(body)[-1])
        self.asked.setdefault(number, loop.time())
        await asyncio.sleep(self.ms / 1000)
        choice = {"index": 0, "message": {"role": "assistant", "content": "好的，我知道了。"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 8, "total_tokens": len(body) // 4 + 8}
        answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice]}
        response = web.json_response({**answer, "usage": usage})
        await response.prepare(request)
        await response.write_eof()
        self.answered[number] = loop.time()
        return response


@dataclass(frozen=True, slots=True)
class Played:
    """What a part cost: ms of the clock from message to request and from the last byte to the platform's first call,
    and ms of nuan's processor a message, and of its encoder's, loading too; MB of both processes (Pss)."""

    part: str
    messages: int
    answered: int
    first_ms: float
    request_p50: float
    request_p95: float
    reply_p50: float
    reply_p95: float
    processor_ms: float
    encoder_ms: float
    memory_mb: float


class Stage:
    """A running nuan between the two servers."""

    def __init__(self, telegram: FakeTelegram, model: ModelServer, pid: int) -> None:
        self._telegram = telegram
        self._model = model
        self._pid = pid
        self._said: dict[int, tuple[int, float]] = {}

    def processor(self) -> tuple[float, float]:
        """Seconds so far, all threads: of nuan's process, and of those that it started and that run."""
        return _processor(self._pid), sum(map(_processor, self._children()))

    def memory(self) -> float:
        """MB of all of them; what several share is divided among them."""
        rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8") for pid in (self._pid, *self._children()))
        return sum(int(kilobytes) for rollup in rollups for kilobytes in PSS.findall(rollup)) * 1024 / 1e6

    def _children(self) -> list[int]:
        lists = Path(f"/proc/{self._pid}/task").glob("*/children")
        return [int(pid) for each in lists for pid in each.read_text("utf-8").split()]

    async def say(self, person: Person, text: str) -> None:
        """One message; returns when it is answered."""
        number, before = len(self._said), len(self._telegram.sent(person.id))
        self._said[number] = (person.id, asyncio.get_running_loop().time())
        self._telegram.people.say(person.id, person, f"{text} @{number}@")
        await self._telegram.until(lambda: len(self._telegram.sent(person.id)) > before, PATIENCE_S)

    async def played(self, part: str, count: int, per: int, before: tuple[float, float]) -> Played:
        """What the last `count` messages, each person's `per` in order, cost."""
        numbers = range(len(self._said) - count, len(self._said))
        waits = [
            (self._model.asked[each] - self._said[each][1]) * 1000 for each in numbers if each in self._model.asked
        ]
        sends: dict[int, list[float]] = {}
        for call in self._telegram.calls("sendMessage"):
            sends.setdefault(int(call.params["chat_id"]), []).append(call.at)
        replies = []
        for each in numbers:
            person, since = self._said[each][0], self._model.answered.get(each)
            if since is not None:
                replies += [(at - since) * 1000 for at in sends.get(person, ()) if at >= since - 0.001][:1]
        await asyncio.sleep(1)  # what follows a reply belongs to it
        own, beside = ((now - then) * 1000 / count for now, then in zip(self.processor(), before, strict=True))
        return Played(
            part,
            count,
            len(replies),
            round(waits[0], 1),
            round(percentile(waits, 0.5), 1),
            round(percentile(waits, 0.95), 1),
            round(percentile(replies, 0.5), 1),
            round(percentile(replies, 0.95), 1),
            round(own, 2),
            round(beside, 2),
            round(self.memory(), 1),
        )

    async def talk(self) -> Played:
        """The private talk."""
        person, before = Person(FIRST_ID, "安", "ann", language="zh-hans"), self.processor()
        for text in TALK:
            await self.say(person, text)
            await asyncio.sleep(1.1)
        return await self.played("talk", len(TALK), 1, before)

    async def stress(self, chats: int, messages: int) -> Played:
        """Everybody writes again when answered."""
        self._model.ms = MODEL_MS
        before = self.processor()

        async def write(place: int) -> None:
            person = Person(FIRST_ID + 1 + place, f"人{place}", f"p{place}", language="zh-hans")
            for number in range(messages):
                await self.say(person, f"{TALK[(place + number) % len(TALK)]}我说第{number}句。")

        await asyncio.gather(*(write(place) for place in range(chats)))
        return await self.played("stress", chats * messages, messages, before)


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def running(
    folder: Path, launcher: tuple[str, ...], chats: int, debounce: str, level: str, mode: str = ""
) -> AsyncIterator[Stage]:
    """A nuan of this tree that listens to both servers; its recalls go as is usual, or by `mode`."""
    async with FakeTelegram(limits=UNLIMITED) as telegram, ModelServer().served() as model:
        people = json.dumps([str(FIRST_ID + each) for each in range(chats + 1)])
        settings = {
            "MODEL__BASE_URL": model.url,
            "MODEL__NAME": "fake",
            "MODEL__API_KEY": "k",
            "MODEL__STREAM": "false",
            "TELEGRAM__TOKEN": TOKEN,
            "TELEGRAM__BASE_URL": telegram.url,
            "TELEGRAM__ALLOW": people,
            "BUDGET__DAY_TOKENS": "none",
            "MODEL__SLOTS": str(max(chats, 1)),
            "BOT__LANGUAGE": "zh-Hans",
            "LOG__LEVEL": level,
            **({"SPEAK__DEBOUNCE_SECONDS": debounce} if debounce else {}),
            **({"MEMORY__MODE": mode} if mode else {}),
        }
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = kept | {"TZ": "Asia/Shanghai", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        environment |= {f"NUAN_{name}": value for name, value in settings.items()}
        environment["TMPDIR"] = str(folder)  # where it keeps whose a token is: several may run at once
        told = (folder / "stderr.txt").open("wb")
        process = await asyncio.create_subprocess_exec(
            *launcher,
            "run",
            "--data",
            str(folder / "data"),
            cwd=folder,
            env=environment,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=told,
        )
        try:
            await telegram.until(lambda: len(telegram.calls("getUpdates")) > 0, PATIENCE_S)
            await asyncio.sleep(2)  # what a start does after it is ready is no part of a turn
            yield Stage(telegram, model, process.pid)
        except TimeoutError:
            print((folder / "stderr.txt").read_text("utf-8")[-2_000:], file=sys.stderr)
            raise
        finally:
            told.close()
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def paired(folder: Path, launcher: tuple[str, ...], debounce: str, turns: int) -> tuple[Played, ...]:
    """What these turns cost by words and with vectors; SystemExit when there is no encoder that makes them."""
    async with AsyncExitStack() as stack:
        stages: dict[str, Stage] = {}
        for mode in ("v2", "hybrid"):
            (folder / mode).mkdir()
            ran = running(folder / mode, launcher, 0, debounce, "info", mode)
            stages[mode] = await stack.enter_async_context(ran)
        person = Person(FIRST_ID, "安", "ann", language="zh-hans")
        before = {mode: stage.processor() for mode, stage in stages.items()}
        for number in range(turns):
            order = tuple(stages.values())
            for stage in order if number % 2 else order[::-1]:
                await stage.say(person, f"{TALK[number % len(TALK)]}我说第{number}句。")
                await asyncio.sleep(1.1)
        if not stages["hybrid"].processor()[1]:
            raise SystemExit("no encoder runs: install nuan[semantic]")
        return tuple([await stage.played(mode, turns, turns, before[mode]) for mode, stage in stages.items()])


def phases(folder: Path) -> dict[str, float]:
    """The median of each phase of the turns so far."""
    lines = map(json.loads, (folder / "data" / "logs" / "nuan.jsonl").read_text("utf-8").splitlines())
    turns = [line for line in lines if line["event"] == "turn_phases"]
    return {phase: percentile([turn[phase] for turn in turns], 0.5) for phase in PHASES}


async def works(folder: Path) -> dict[str, dict[str, int]]:
    """What SQLite does for a line that is answered, and for small talk."""
    meter, world = Meter(), World(folder)
    with meter.watching():
        await world.open()
    for text in TALK[:8]:
        await world.say(text)
        await world.wait(10)
    found: dict[str, dict[str, int]] = {}
    for name, text in (("sentence", "明天我想去爬山，你觉得要带什么？"), ("small talk", "哈哈")):
        meter.start()
        await world.say(text)
        found[name] = {"statements": meter.asked, "looks": meter.looks, "transactions": meter.transactions}
        await world.wait(10)
    await world.close()
    return found


async def main(arguments: list[str]) -> int:
    """Play all of it and print one line of JSON each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.turn", description=__doc__)
    parser.add_argument("--chats", type=int, default=CHATS)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--debounce", default="0", help='seconds; "" for the default')
    parser.add_argument("--launcher", default="", help="another program in the place of `python -m bot`")
    parser.add_argument("--phases", action="store_true", help="and what nuan itself measures, ms of each phase")
    parser.add_argument("--pairs", type=int, metavar="N", help="N messages by words and with vectors, in turns")
    options = parser.parse_args(arguments)
    launcher = tuple(options.launcher.split()) or PROGRAM
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.pairs:
            for played in await paired(folder, launcher, options.debounce, options.pairs):
                print(json.dumps(asdict(played)), flush=True)
            return 0
        for kind, work in (await works(folder / "world")).items():
            print(json.dumps({"work": kind, **work}))
        level = "debug" if options.phases else "info"
        async with running(folder, launcher, options.chats, options.debounce, level) as stage:
            print(json.dumps(asdict(await stage.talk())), flush=True)
            if options.phases:
                print(json.dumps({"phases": phases(folder)}), flush=True)
            if options.chats:
                print(json.dumps(asdict(await stage.stress(options.chats, options.messages))), flush=True)
    return 0


if __name__ == "__main__":
    began = time.monotonic()
    code = asyncio.run(main(sys.argv[1:]))
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    sys.exit(code)
