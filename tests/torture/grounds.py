"""The platforms' fakes as playgrounds of the kill harness, and the settings that point the program at them."""

import asyncio
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.e2e import KEY, Home, with_server
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.fakes.media import PNG
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_faults import UNLIMITED, Limits
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.fakes.telegram_shapes import Person
from tests.torture.kills import Count, Echo, Plan, torture

FIRST_PERSON = 5_000_001
MARKS = "[[react:👍]][[sticker:猫]]"


class SlowOpenAI(FakeOpenAI):
    """A model that takes a moment for every answer, so that kills find calls in flight."""

    def __init__(self, most_s: float, seed: int, marks: str = "") -> None:
        super().__init__(Echo(marks), key=KEY)
        self.begun = 0
        self._most_s = most_s
        self._chance = random.Random(seed)

    async def _complete(self, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        self.begun += 1
        await asyncio.sleep(self._chance.uniform(0, self._most_s))
        await super()._complete(headers, raw, writer)


@dataclass(frozen=True, slots=True)
class TelegramGround:
    """Private chats with the bot."""

    server: FakeTelegram
    people: int = 8

    def write(self, who: int, text: str) -> None:
        """One of them writes."""
        number = FIRST_PERSON + who
        self.server.people.say(number, Person(number, f"人{who}"), text)

    def seen(self) -> list[list[str]]:
        """What they see of the bot's."""
        return [[shown.text for shown in self.server.sent(FIRST_PERSON + who)] for who in range(self.people)]

    def pictures(self) -> dict[str, int]:
        """How many pictures each of them sees."""
        numbers = [FIRST_PERSON + who for who in range(self.people)]
        return {str(chat): sum(shown.medium == "photo" for shown in self.server.sent(chat)) for chat in numbers}

    def ready(self) -> bool:
        """Whether somebody polls."""
        return bool(self.server.calls("getUpdates"))

    def violations(self) -> int:
        """Limits that were not kept."""
        return len(self.server.violations)


@dataclass(frozen=True, slots=True)
class DiscordGround:
    """Channels of one guild, one person in each."""

    server: FakeDiscord
    channels: tuple[Channel, ...]
    members: tuple[User, ...]

    def write(self, who: int, text: str) -> None:
        """One of them mentions the bot."""
        self.server.people.say(self.channels[who], self.members[who], f"<@{self.server.world.bot.id}> {text}")

    def seen(self) -> list[list[str]]:
        """What they see of the bot's."""
        return [list(self.server.texts(channel)) for channel in self.channels]

    def pictures(self) -> dict[str, int]:
        """How many pictures there are in each."""
        return {
            str(channel.id): sum(len(one.attachments) for one in self.server.sent(channel)) for channel in self.channels
        }

    def ready(self) -> bool:
        """Whether the gateway has somebody."""
        return self.server.gateway.connected > 0

    def violations(self) -> int:
        """Rules that were not kept."""
        return len(self.server.violations)


def common(model: FakeOpenAI) -> dict[str, str]:
    """What every run sets: this model, no budget, and all that can be logged."""
    return with_server(model) | {"BUDGET__DAY_TOKENS": "none", "LOG__LEVEL": "debug"}


def with_parts(home: Home, plan: Plan) -> Home:
    """The same with a persona that reacts and has a sticker, where the plan wants that."""
    if not plan.parts:
        return home
    persona = home.data_folder / "persona" / "own"
    persona.mkdir(parents=True)
    (persona / "IDENTITY.md").write_text("{{BOT_NAME}}", "utf-8")
    (persona / "stickers.toml").write_text('[[sticker]]\nlabel = "猫"\nfile = "cat.png"\n', "utf-8")
    (persona / "cat.png").write_bytes(PNG)
    return replace(home, settings={**home.settings, "PERSONA": "own"})


async def discord(folder: Path, plan: Plan, more: Mapping[str, str] | None = None) -> Count:
    """The whole program against a gateway, a REST server and a model server, killed again and again."""
    token = f"made-up.discord.{os.getpid()}"  # two runs at once are two bots
    async with (
        FakeDiscord(token, limit=0) as server,
        SlowOpenAI(plan.model_s, plan.seed, MARKS if plan.parts else "") as model,
    ):
        members = tuple(server.world.add_user(f"人{who}") for who in range(plan.people))
        guild = server.world.add_guild("家", *members)
        channels = tuple(server.world.add_channel(guild, f"c{who}") for who in range(plan.people))
        home = Home(
            folder,
            common(model)
            | {
                "DISCORD__TOKEN": token,
                "DISCORD__API_URL": server.api_url,
                "DISCORD__GATEWAY_URL": server.gateway_url,
                "DISCORD__ALLOW": str(guild.id),
                **(more or {}),
            },
        )
        return await torture(with_parts(home, plan), plan, DiscordGround(server, channels, members), model)


async def telegram(
    folder: Path, plan: Plan, more: Mapping[str, str] | None = None, limits: Limits = UNLIMITED
) -> Count:
    """The same against a Bot API server."""
    allow = ",".join(str(FIRST_PERSON + who) for who in range(plan.people))
    token = f"{os.getpid()}{TOKEN[10:]}"
    async with (
        FakeTelegram(token, limits=limits) as server,
        SlowOpenAI(plan.model_s, plan.seed, MARKS if plan.parts else "") as model,
    ):
        home = Home(
            folder,
            common(model)
            | {
                "TELEGRAM__TOKEN": server.token,
                "TELEGRAM__BASE_URL": server.url,
                "TELEGRAM__ALLOW": allow,
                **(more or {}),
            },
        )
        return await torture(with_parts(home, plan), plan, TelegramGround(server, plan.people), model)


async def placeholder(folder: Path, plan: Plan) -> Count:
    """Telegram, where a reply begins as a message that is edited."""
    return await telegram(folder, plan, {"TELEGRAM__DELIVERY": "placeholder"})
