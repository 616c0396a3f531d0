"""Everything goes wrong at once, at DEBUG with texts, and then every byte that came out is searched for secrets."""

import asyncio
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM

from tests.e2e import PROGRAM, run, running
from tests.fakes.discord_front import Kind
from tests.fakes.discord_world import Channel
from tests.fakes.openai_script import Asked, Fault, Reply
from tests.fakes.telegram_faults import Fault as TelegramFault
from tests.fakes.telegram_faults import Misbehaviour
from tests.fakes.telegram_shapes import Person
from tests.fork_server import ROOT
from tests.platforms import Platforms, PlatformsHome, echo
from tests.test_last_words import BROKEN
from tests.torture.autopsy import WAITING
from tests.torture.kills import some, until
from tests.torture.row import Found, Size
from tests.torture.secrets import packed, spilled

LAST = "都好了吗"
ANN = Person(501, "安", language="zh-hans")
COMMANDS = (
    ("doctor", "--no-call"),
    ("doctor",),
    ("ctx",),
    ("boot",),
    ("usage",),
    ("sections",),
    ("logs",),
    ("backup",),
    ("memory", "list"),
    ("export", "telegram:501", "ann.zip"),
    ("run",),
    ("mcp", "--person", "nobody"),
)
"""Beside a running nuan; some must fail, and say so without a secret."""
OF_MODEL: tuple[Fault | None, ...] = (
    "http",
    None,
    "reset",
    None,
    "broken_json",
    None,
    "html200",
    None,
    "cut",
    None,
    "error200",
    None,
    "error_stream",
    None,
)
OF_TELEGRAM: tuple[Misbehaviour, ...] = ("html502", "drop_after", "garbage", "error", "flood", "drop_before")
OF_DISCORD: tuple[Kind, ...] = ("reset", "502", "503", "429", "reset_after")
STRICT = ("-X", "dev", "-W", "error::ResourceWarning", "-W", "error::RuntimeWarning")
"""asyncio's debug mode, and what was left open or not awaited as errors."""


@dataclass
class Strict(PlatformsHome):
    """An installation whose interpreter is that strict."""

    def command(self, command: str, *more: str) -> tuple[str, ...]:
        """As usual, with the options."""
        line = super().command(command, *more)
        return (PROGRAM[0], *STRICT, *line[1:])


class Failing:
    """A model that fails in every way in turn, and answers in between."""

    def __init__(self) -> None:
        self._faults = itertools.cycle(OF_MODEL)
        self._statuses = itertools.cycle((401, 429, 500))
        self.well = False

    def __call__(self, asked: Asked) -> Reply:
        """One answer."""
        fault = None if self.well else next(self._faults)
        if fault is None:
            return echo(asked)
        return Reply("好", fault=fault, status=next(self._statuses), retry_after=1)


async def troubled(folder: Path, size: Size, *, strict: bool) -> Found:
    """People write on both platforms so many times while everything fails; commands run beside it; all is well again
    and what was left is said; then it stops."""
    model = Failing()
    async with Platforms(model) as platforms:
        settings = platforms.home(
            folder,
            LOG__LEVEL="debug",
            LOG__TEXT="true",
            MODEL__TRIES="1",
            TELEGRAM__ALLOW="501",
            DISCORD__ALLOW=str(platforms.dana.id),
        ).settings
        home = (Strict if strict else PlatformsHome)(folder, settings)
        printed: list[str] = []
        async with running(home, "run") as nuan:
            await until(
                lambda: platforms.discord.gateway.connected > 0 and bool(platforms.telegram.calls("getUpdates"))
            )
            await _talk(platforms, size.units)
            for command in COMMANDS:
                ran = await run(PlatformsHome(folder, settings), *command)
                printed += [ran.text, ran.err]
            await _mended(platforms, model, home)
            nuan.send(SIGTERM)
            code = await nuan.ended()
            printed.append(nuan.output)
        platforms.telegram.faults.clear()
        platforms.telegram.faults.add("getMe", TelegramFault("unauthorized"))
        alone = {name: value for name, value in settings.items() if not name.startswith("DISCORD")}
        refused = await run(PlatformsHome(folder, alone), "run")
        crashed = await _crashed()
        said = [shown.text for shown in platforms.telegram.sent(ANN.id)] + platforms.discord.texts(_room(platforms))
        (folder / "stderr-all.txt").write_text(
            "\n".join((*printed, refused.text, refused.err, crashed, *said)), "utf-8"
        )
        found = spilled(folder, platforms.model.bodies)
        archives = await asyncio.to_thread(packed, folder)
        return Found(
            {
                "rounds": size.units,
                "requests": len(platforms.model.bodies),
                "commands": len(COMMANDS),
                "files": len(PlatformsHome(folder).files()),
                "answers": len(said),
                "spilled": len(found),
                "archives": archives,
                "defects told": crashed.count("this is a defect of nuan"),
                "strange ends": float(code != 0) + float(refused.code == 0),
            },
            {},
            found,
        )


async def _crashed() -> str:
    """All that a program prints whose own code fails, in a thread, a task, a destructor, over secrets."""
    broken = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BROKEN, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    printed, _ = await broken.communicate()
    return printed.decode("utf-8", "replace")


async def _mended(platforms: Platforms, model: Failing, home: PlatformsHome) -> None:
    """Nothing fails any more, and everybody gets what they still wait for."""
    model.well = True
    platforms.telegram.faults.clear()
    platforms.discord.front.faults.clear()
    platforms.telegram.people.say(ANN.id, ANN, LAST)
    platforms.discord.people.say(_room(platforms), platforms.dana, LAST)
    await until(lambda: len(some(home, f"SELECT 1 FROM event WHERE text = '{LAST}'")) == 2 and not some(home, WAITING))


def _room(platforms: Platforms) -> Channel:
    return platforms.discord.world.open_dm(platforms.dana)


async def _talk(platforms: Platforms, rounds: int) -> None:
    """Each platform and the model fail a little later each time; people do not wait."""
    place = _room(platforms)
    for number in range(rounds):
        fault = TelegramFault(OF_TELEGRAM[number % len(OF_TELEGRAM)])
        platforms.telegram.faults.add(("sendMessage", "getUpdates")[number % 2], fault)
        platforms.discord.misbehave(OF_DISCORD[number % len(OF_DISCORD)])
        platforms.telegram.people.say(
            ANN.id, ANN, (f"第{number}句", f"第{number}句", "记住我怕狗", ".ai ctx")[number % 4]
        )
        platforms.discord.people.say(
            place, platforms.dana, (f"第{number}句", f"第{number}句", ".ai mem", ".ai export me")[number % 4]
        )
        await asyncio.sleep(0.7)
