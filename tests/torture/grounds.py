"""The platforms' fakes as playgrounds of the kill harness, and the settings that point the program at them."""

import os
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import KEY, Home, with_server
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_faults import UNLIMITED, Limits
from tests.fakes.telegram_server import TOKEN, FakeTelegram
from tests.fakes.telegram_shapes import Person
from tests.torture.kills import Count, Plan, echo, torture

FIRST_PERSON = 5_000_001


@dataclass(frozen=True, slots=True)
class TelegramGround:
    """Private chats with the bot."""

    server: FakeTelegram

    def write(self, who: int, text: str) -> None:
        """One of them writes."""
        number = FIRST_PERSON + who
        self.server.people.say(number, Person(number, f"人{who}"), text)

    def seen(self) -> list[list[str]]:
        """What they see of the bot's."""
        return [[shown.text for shown in self.server.sent(FIRST_PERSON + who)] for who in range(100)]

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

    def ready(self) -> bool:
        """Whether the gateway has somebody."""
        return self.server.gateway.connected > 0

    def violations(self) -> int:
        """Rules that were not kept."""
        return len(self.server.violations)


async def discord(folder: Path, plan: Plan) -> Count:
    """The same against a Discord."""
    token = f"made-up.discord.{os.getpid()}"  # two runs at once are two bots
    async with FakeDiscord(token, limit=0) as server, FakeOpenAI(echo, key=KEY) as model:
        members = tuple(server.world.add_user(f"人{who}") for who in range(plan.people))
        guild = server.world.add_guild("家", *members)
        channels = tuple(server.world.add_channel(guild, f"c{who}") for who in range(plan.people))
        home = Home(folder, with_server(model) | {
            "BUDGET__DAY_TOKENS": "none", "DISCORD__TOKEN": token, "DISCORD__API_URL": server.api_url,
            "DISCORD__GATEWAY_URL": server.gateway_url, "DISCORD__ALLOW": str(guild.id),
        })  # fmt: skip
        return await torture(home, plan, DiscordGround(server, channels, members))


async def telegram(folder: Path, plan: Plan, placeholder: bool = False, limits: Limits = UNLIMITED) -> Count:
    """The whole program against a Bot API server and a model server, killed again and again."""
    allow = ",".join(str(FIRST_PERSON + who) for who in range(plan.people))
    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}", limits=limits) as server, FakeOpenAI(echo, key=KEY) as model:
        home = Home(folder, with_server(model) | {
            "BUDGET__DAY_TOKENS": "none", "TELEGRAM__TOKEN": server.token, "TELEGRAM__BASE_URL": server.url,
            "TELEGRAM__ALLOW": allow, "TELEGRAM__DELIVERY": "placeholder" if placeholder else "send",
        })  # fmt: skip
        return await torture(home, plan, TelegramGround(server))
