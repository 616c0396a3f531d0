"""`python -m tests.bench.first_reply [--install]`: what it takes to get a first reply, in commands, keys and seconds.

Offline, with a model, and on Telegram, each as the README says and in an empty folder; model and Telegram are fakes on
this machine. Seconds are of the processor, of nuan's processes alone; with `--install` also those of a fresh clone's.
"""

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import KEY, run, running
from tests.fakes.telegram_shapes import Person
from tests.platforms import TELEGRAM, Platforms, PlatformsHome, code_of, stop
from tests.source import ROOT

CLONE, BEGIN = "git clone ADDRESS nuan && cd nuan", "make run"
INIT, RUN = ".venv/bin/nuan init", ".venv/bin/nuan run"
INSTALL = ".venv/bin/pip install -c constraints.txt -e '.[telegram]'"
PATHS = {
    "offline": (CLONE, BEGIN),
    "with a model": (CLONE, BEGIN, INIT, BEGIN),
    "Telegram": (CLONE, BEGIN, INSTALL, INIT, RUN),
}
HELLO = "在吗"
PROVIDER = "deepseek"
"""Of the questions of `nuan init` a person answers this and the key, the rest by Enter."""
QUESTIONS = 8
"""Provider, model, key, two tokens, name, language, persona."""


@dataclass(frozen=True, slots=True)
class Way:
    """What one way to a first reply took; keys are those typed, Enter among them, without an address, a key or a token,
    which are pasted."""

    name: str
    commands: int
    keys: int
    seconds: float
    reply: str


class ColdHome(PlatformsHome):
    """A home whose every command is an interpreter of its own, as a person starts it."""

    def command(self, command: str, *more: str) -> tuple[str, ...]:
        """As usual, begun anew."""
        return ("/usr/bin/env", *super().command(command, *more))


def processor_seconds() -> float:
    """Of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def keys_of(name: str, *, answers: int) -> int:
    """Keys of the commands and the first line, and of the answers to `nuan init`."""
    typed = sum(len(line.replace("ADDRESS", "")) + 1 for line in PATHS[name])
    return typed + len(HELLO) + 1 + (len(PROVIDER) + answers if answers else 0)


async def offline(folder: Path) -> str:
    """The first reply of a chat that nothing was set up for."""
    return (await run(ColdHome(folder, {}), "chat", stdin=f"{HELLO}\n".encode())).text.strip()


async def with_a_model(folder: Path) -> str:
    """That of a model which `nuan init` connected."""
    async with Platforms() as platforms:
        home = ColdHome(folder, {"BUDGET__DAY_TOKENS": "none"})
        await set_up(home, platforms, "")
        return (await run(home, "chat", stdin=f"{HELLO}\n".encode())).text.strip()


async def on_telegram(folder: Path) -> str:
    """That in a direct message, once the owner's code was sent."""
    async with Platforms() as platforms:
        home = ColdHome(folder, {"TELEGRAM__BASE_URL": platforms.telegram.url, "BUDGET__DAY_TOKENS": "none"})
        made = await set_up(home, platforms, TELEGRAM)
        async with running(home, "run") as nuan:
            ann = Person(501, "Ann", language="en")
            await platforms.tell(ann, f"/start {code_of(made)}")
            reply = await platforms.tell(ann, HELLO)
            await stop(nuan)
        return reply


async def set_up(home: ColdHome, platforms: Platforms, token: str) -> str:
    """What `nuan init` says to the answers of a person."""
    answers = ("other", platforms.model.base_url, "fake", KEY, token, *[""] * 4)
    made = await run(home, "init", stdin="".join(f"{line}\n" for line in answers).encode())
    if made.code:
        raise RuntimeError(f"nuan init failed: {made.err}")
    return made.text


def measured() -> list[Way]:
    """Each way, one after the other."""
    found: list[Way] = []
    for name, way in (("offline", offline), ("with a model", with_a_model), ("Telegram", on_telegram)):
        with tempfile.TemporaryDirectory(prefix="nuan-first-") as folder:
            before = processor_seconds()
            reply = asyncio.run(way(Path(folder)))
            answers = 0 if way is offline else QUESTIONS
            keys = keys_of(name, answers=answers)
            found.append(Way(name, len(PATHS[name]), keys, processor_seconds() - before, reply.splitlines()[-1]))
    return found


def installation() -> float:
    """Processor seconds of `make setup` in a fresh clone of this checkout."""
    with tempfile.TemporaryDirectory(prefix="nuan-clone-") as folder:
        before = processor_seconds()
        for line in (f"git clone -q '{ROOT}' nuan", "make -C nuan -s setup"):
            subprocess.run(("sh", "-ec", line), cwd=folder, check=True, capture_output=True)
        return processor_seconds() - before


def main(words: Sequence[str] | None = None) -> int:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.first_reply", description=__doc__)
    parser.add_argument("--install", action="store_true", help="clone and install, too; takes minutes and the network")
    given = parser.parse_args(words)
    print(f"{'first reply':16} {'commands':>9} {'keys':>6} {'processor':>10}")
    for way in measured():
        print(f"{way.name:16} {way.commands:9} {way.keys:6} {way.seconds:8.1f} s  {way.reply}")
    if given.install:
        print(f"{'clone and setup':16} {'':9} {'':6} {installation():8.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
