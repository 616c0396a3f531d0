"""`python -m tests.bench.start [CASE …] [--runs N] [--stress] [--profile]`: what nuan needs until it is ready.

Processor time and memory of the process alone, from its first instruction; the servers are fakes on loopback. Clock
times are worth something on an idle machine only. With --profile each import and each step is told instead.
"""

import argparse
import asyncio
import contextlib
import os
import pty
import re
import signal
import struct
import sys
import tempfile
import termios
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from fcntl import ioctl
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.fakes.telegram_shapes import Person
from tests.platforms import Platforms, PlatformsHome

CASES = ("version", "logs", "completion", "chat", "telegram", "discord", "both")
PROMPT = "›".encode()
WITHIN_S = 60.0
SETTLED_S = 0.4
"""A process that used no processor for so long is idle."""
CHATS, MESSAGES = 50, 20
"""Of the stress."""
TICKS = os.sysconf("SC_CLK_TCK")
MB = 1_000_000
ANN = Person(501, "安", language="zh-hans")
CROWD = tuple(Person(900 + number, f"人{number}", language="zh-hans") for number in range(CHATS))
TALK = (
    "今天下午去公园走了走，你猜我看到了什么？",
    "是一只会唱歌的鹦鹉",
    "明天想去海边，不知道会不会下雨",
    "晚饭吃了什么好呢？",
)
OTHER_TOKEN = {"telegram": "DISCORD__TOKEN", "discord": "TELEGRAM__TOKEN"}
ENDS = {"version": ("--version",), "logs": ("logs", "--data", "data"), "completion": ()}


@dataclass
class Taken:
    """What one run took; a figure that a case does not have is missing."""

    figures: dict[str, float] = field(default_factory=dict)


class Watched:
    """A running nuan, looked at through /proc."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.began = perf_counter()

    @property
    def processor_s(self) -> float:
        """What all its threads took so far, in steps of 10 ms."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, name: str) -> float:
        """Its memory in MB: Rss, or Pss, in which a page shared with others counts in part."""
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024 / MB

    async def idle(self) -> None:
        """Return once it has nothing to do."""
        before, now = -1.0, self.processor_s
        while now != before:
            await asyncio.sleep(SETTLED_S)
            before, now = now, self.processor_s

    async def stop(self) -> float:
        """Seconds from SIGTERM to its end."""
        asked = perf_counter()
        self.process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(self.process.wait(), WITHIN_S)
        return perf_counter() - asked


@contextlib.asynccontextmanager
async def started(
    home: PlatformsHome, words: Sequence[str], profile: Path | None, terminal: int = asyncio.subprocess.DEVNULL
) -> AsyncIterator[Watched]:
    """A nuan of its own interpreter, killed at the end whatever happens."""
    module = ("bot",) if profile is None else ("tests.bench.start_probe", str(profile))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *module,
        *words,
        stdin=terminal,
        stdout=terminal,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=home.folder,
        env=home.environment(),
        start_new_session=True,
    )
    try:
        yield Watched(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def command(home: PlatformsHome, case: str, profile: Path | None) -> Taken:
    """A command that ends by itself."""
    before, began = os.times(), perf_counter()
    if case == "completion":
        home = CompletionHome(home.folder, home.settings)
    async with started(home, ENDS[case], profile) as watched:
        await watched.process.wait()
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Taken({"ready s": perf_counter() - began, "processor s": spent})


class CompletionHome(PlatformsHome):
    """As a shell that asks what may follow `nuan logs --chat`."""

    def environment(self) -> dict[str, str]:
        """As usual, with the variables of a completion."""
        asked = {"_NUAN_COMPLETE": "complete_bash", "COMP_WORDS": "nuan logs --chat ", "COMP_CWORD": "3"}
        return super().environment() | asked


async def chat(home: PlatformsHome, profile: Path | None) -> Taken:
    """`nuan chat` on a terminal, until its prompt and through one answer."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    shown = Terminal(ours)
    try:
        async with started(home, ("chat", "--data", "data"), profile, theirs) as watched:
            await shown.until(lambda text: PROMPT in text)
            taken = ready(watched)
            await watched.idle()
            taken.figures |= settled(watched)
            before = watched.processor_s
            seen = len(shown.text)
            os.write(ours, "今天过得怎么样？\r".encode())
            await shown.until(lambda text: "好的。".encode() in text[seen:])
            await watched.idle()
            taken.figures["first message s"] = watched.processor_s - before
            taken.figures["stop s"] = await watched.stop()
            return taken
    finally:
        shown.close()
        os.close(theirs)


class Terminal:
    """What is printed on a pseudo-terminal."""

    def __init__(self, descriptor: int) -> None:
        self.text = b""
        self._descriptor, self._news = descriptor, asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    async def until(self, holds: Callable[[bytes], bool]) -> None:
        """Wait until something holds of the text."""
        async with asyncio.timeout(WITHIN_S):
            while not holds(self.text):
                self._news.clear()
                await self._news.wait()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _read(self) -> None:
        chunk = os.read(self._descriptor, 65_536)
        if b"\x1b[6n" in chunk:
            os.write(self._descriptor, b"\x1b[1;1R")
        self.text += chunk
        self._news.set()


def ready(watched: Watched) -> Taken:
    """What it took until now."""
    return Taken({"ready s": perf_counter() - watched.began, "processor s": watched.processor_s})


def settled(watched: Watched) -> dict[str, float]:
    """What an idle one holds and took."""
    return {
        "settled s": watched.processor_s,
        "idle MB": watched.memory("Rss"),
        "idle PSS MB": watched.memory("Pss"),
    }


async def serve(platforms: Platforms, home: PlatformsHome, case: str, profile: Path | None, *, stress: bool) -> Taken:
    """`nuan run` until it polls or is connected, idle, after its first message, and with `stress` after many."""
    polls, connected = len(platforms.telegram.calls("getUpdates")), platforms.discord.gateway.connected
    async with started(home, ("run", "--data", "data"), profile) as watched:
        if case != "discord":
            await platforms.telegram.until(lambda: len(platforms.telegram.calls("getUpdates")) > polls, WITHIN_S)
        if case != "telegram":
            await platforms.discord.until(lambda: platforms.discord.gateway.connected > connected, WITHIN_S)
        taken = ready(watched)
        await watched.idle()
        taken.figures |= settled(watched)
        before = watched.processor_s
        await say(platforms, case, TALK[0])
        await watched.idle()
        taken.figures["first message s"] = watched.processor_s - before
        for text in TALK[1:]:
            await say(platforms, case, text)
        await watched.idle()
        taken.figures["after four MB"] = watched.memory("Rss")
        if stress:
            await crowd(platforms)
            await watched.idle()
            taken.figures["after stress MB"] = watched.memory("Rss")
        taken.figures["stop s"] = await watched.stop()
        return taken


async def say(platforms: Platforms, case: str, text: str) -> None:
    """One message and its answer."""
    if case == "discord":
        await platforms.tell_discord(platforms.dana, text)
    else:
        await platforms.tell(ANN, text)


def answered(platforms: Platforms, who: Person, mark: str) -> bool:
    """Whether what is marked so is answered, also together with what came before."""
    return any(mark in shown.text for shown in platforms.telegram.sent(who.id))


async def crowd(platforms: Platforms) -> None:
    """Many chats at once on Telegram."""

    async def one(who: Person) -> None:
        for count in range(MESSAGES):
            platforms.telegram.people.say(who.id, who, f"第{count}句，今天的天气真不错，我们去爬山吧")
            await platforms.telegram.until(partial(answered, platforms, who, f"第{count}句"), WITHIN_S)

    await asyncio.gather(*map(one, CROWD))


async def once(platforms: Platforms, case: str, folder: Path, profile: Path | None, *, stress: bool) -> Taken:
    """One run of a case, on a folder that a run before has filled."""
    everybody = ",".join(str(who.id) for who in (ANN, *CROWD))
    home = platforms.home(
        folder, TELEGRAM__ALLOW=everybody, DISCORD__ALLOW=str(platforms.dana.id), SPEAK__DEBOUNCE_SECONDS="0"
    )
    off = OTHER_TOKEN.get(case, "")
    home = PlatformsHome(folder, {name: value for name, value in home.settings.items() if name != off})
    if case in ENDS:
        return await command(home, case, profile)
    if case == "chat":
        return await chat(home, profile)
    return await serve(platforms, home, case, profile, stress=stress)


def shown(name: str, values: list[float]) -> str:
    """The median of a figure, and between what its runs lie."""
    return f"{name} {median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


async def main(cases: Sequence[str], runs: int, *, stress: bool, profile: bool) -> None:
    """Print each case; the first run of it fills caches and is not counted."""
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            async with Platforms() as platforms:
                await once(platforms, case, folder, None, stress=False)
                if profile:
                    kept = folder / "profile.txt"
                    await once(platforms, case, folder, kept, stress=False)
                    print(f"{case}\n{kept.read_text('utf-8')}")
                    continue
                taken = [await once(platforms, case, folder, None, stress=stress) for _ in range(runs)]
        names = taken[0].figures
        print(f"{case}: " + ", ".join(shown(name, [one.figures[name] for one in taken]) for name in names), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--stress", action="store_true")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    asyncio.run(main(given.cases or CASES, given.runs, stress=given.stress, profile=given.profile))
