"""The real discord.py, pointed at the fake Discord, noting every event. It is no part of nuan."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import discord
import pytest
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import Channel, User
from tests.sizes import PATIENCE_S

TOKEN = "made-up.discord.token"
INTENTS = discord.Intents(guilds=True, members=True, messages=True, reactions=True, message_content=True)


class Client(discord.Client):
    """A client that notes every event; `seen` holds (name, arguments)."""

    def __init__(self, intents: discord.Intents) -> None:
        super().__init__(intents=intents, guild_ready_timeout=0.05, allowed_mentions=discord.AllowedMentions.none())
        self.seen: list[tuple[str, tuple[Any, ...]]] = []
        self.tree = app_commands.CommandTree(self)
        self._news = asyncio.Event()

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Note it, then do what the library does."""
        self.seen.append((event, args))
        self._news.set()
        super().dispatch(event, *args, **kwargs)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Do not wait 5 s before identifying anew, as the library does."""

    def of(self, event: str) -> list[Any]:
        """The first argument of every such event so far."""
        return [args[0] if args else None for name, args in self.seen if name == event]

    async def until(self, event: str, count: int = 1) -> Any:
        """Wait for so many such events; the first argument of the last. TimeoutError when they never come."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.of(event)) < count:
                self._news.clear()
                await self._news.wait()
        return self.of(event)[count - 1]


def point(monkeypatch: pytest.MonkeyPatch, server: FakeDiscord) -> None:
    """Point the library of this process at the server, until the test ends."""
    monkeypatch.setattr(Route, "BASE", server.api_url)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))


@asynccontextmanager
async def online(intents: discord.Intents = INTENTS) -> AsyncIterator[Client]:
    """A client that is ready; raises what its start raised."""
    client = Client(intents)
    running = asyncio.ensure_future(client.start(TOKEN))
    ready = asyncio.ensure_future(client.until("ready"))
    try:
        await asyncio.wait((running, ready), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
        yield client
    finally:
        ready.cancel()
        await client.close()
        await asyncio.gather(running, ready, return_exceptions=True)


def guild(server: FakeDiscord) -> tuple[User, Channel]:
    """Anna, and the channel of a guild that is hers."""
    anna = server.world.add_user("Anna")
    return anna, server.world.add_channel(server.world.add_guild("home", anna), "talk")
