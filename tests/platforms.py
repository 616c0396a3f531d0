"""Both platforms and a model server around the real program: people write, answers are read. It starts nothing."""

import re
import signal
from pathlib import Path

from bot.text.codes import code_form
from tests.e2e import KEY, PROGRAM, Home, Nuan, Ran, with_server
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import User
from tests.fakes.openai_script import Asked, Reply, Script
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_faults import UNLIMITED
from tests.fakes.telegram_server import FakeTelegram
from tests.fakes.telegram_shapes import Person
from tests.peek import Peek

TELEGRAM = "7700000042:AAmadeupmadeupmadeupmadeupmadeup-42"
DISCORD = "made-up.discord.token-of-test-run"
STOPS_WITHIN_S = 60.0
"""How long a stop may take on a busy machine; systemd waits for 90 s."""
WORD = re.compile(r"第(\d+)句")


class PlatformsHome(Home):
    """A home whose temporary folder lies beside it: no other test's tokens are held there, and it can be searched."""

    def command(self, command: str, *more: str) -> tuple[str, ...]:
        """As usual; `init` takes no data folder."""
        if command == "init":
            return (*PROGRAM, command, *more)
        return super().command(command, *more)

    def environment(self) -> dict[str, str]:
        """As usual, with a temporary folder of its own."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        return super().environment() | {"TMPDIR": str(temporary)}

    @property
    def peek(self) -> Peek:
        """What the database holds."""
        return Peek(self.data_folder / "nuan.db")


class Platforms:
    """Both platforms and a model server; the wrong tokens are those the servers do not know."""

    def __init__(self, script: Script | None = None) -> None:
        self.telegram = FakeTelegram(TELEGRAM, limits=UNLIMITED)
        self.discord = FakeDiscord(DISCORD, limit=0)
        self.model = FakeOpenAI(script or echo, key=KEY)
        self.dana, self.eve = (self.discord.world.add_user(name) for name in ("丹", "夏"))

    async def __aenter__(self) -> "Platforms":
        await self.telegram.__aenter__()
        await self.discord.__aenter__()
        await self.model.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in (self.model, self.discord, self.telegram):
            await server.__aexit__(None, None, None)

    def home(self, folder: Path, **more: str) -> PlatformsHome:
        """Settings for both platforms, nobody allowed."""
        return PlatformsHome(
            folder,
            with_server(self.model)
            | {
                "BUDGET__DAY_TOKENS": "none",
                "TELEGRAM__TOKEN": TELEGRAM,
                "TELEGRAM__BASE_URL": self.telegram.url,
                "DISCORD__TOKEN": DISCORD,
                "DISCORD__API_URL": self.discord.api_url,
                "DISCORD__GATEWAY_URL": self.discord.gateway_url,
                **more,
            },
        )

    async def tell(self, person: Person, text: str) -> str:
        """Somebody writes on Telegram; the answer."""
        before = len(self.telegram.sent(person.id))
        self.telegram.people.say(person.id, person, text)
        await self.telegram.until(lambda: len(self.telegram.sent(person.id)) > before)
        return self.telegram.sent(person.id)[-1].text

    async def tell_discord(self, who: User, text: str) -> str:
        """Somebody writes to the bot directly on Discord; the answer."""
        await self.discord.until(lambda: self.discord.gateway.connected > 0)
        place = self.discord.world.open_dm(who)
        before = len(self.discord.sent(place))
        self.discord.people.say(place, who, text)
        await self.discord.until(lambda: len(self.discord.sent(place)) > before)
        return self.discord.texts(place)[-1]


def echo(asked: Asked) -> Reply:
    """Names every sentence it is asked to answer."""
    numbers = WORD.findall(asked.last_user)
    return Reply("收到" + "，".join(f"第{number}句" for number in numbers) if numbers else "好的。")


async def stop(nuan: Nuan) -> None:
    """SIGTERM ends it well, in time."""
    nuan.send(signal.SIGTERM)
    assert await nuan.ended(STOPS_WITHIN_S) == 0, nuan.errors


def keeps_secrets(home: PlatformsHome, *printed: str) -> None:
    """Neither the tokens nor their secret halves are in a file or in what was printed."""
    for secret in (TELEGRAM, TELEGRAM.partition(":")[2], DISCORD, KEY):
        assert secret.encode() not in home.written()
        assert not [text for text in printed if secret in text]


def code_of(text: str) -> str:
    """The code in a text."""
    return next(code for word in re.findall(r"[0-9A-Z]{8}", text) if (code := code_form(word)))


def only_line(ran: Ran, code: int) -> str:
    """The line on standard error, the only one of it all."""
    assert (ran.code, ran.text) == (code, ""), ran.err
    (line,) = ran.err.splitlines()
    return line
