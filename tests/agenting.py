"""An agent at a World's table: the package's own client over its memory streams, beside the installation that
answers.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp import Client
from mcp.types import Implementation, TextContent

from bot.cli.installation import Installation
from bot.cli.lookup import find_principal
from bot.cli.mcp import agent_tools, change_handler
from bot.core.files import PromptFiles, resource_dir
from bot.mcp.server import make_server
from bot.ops.control import control_socket
from bot.store.store import open_store
from tests.world import World


@dataclass(frozen=True, slots=True)
class Agent:
    """One client. `ask` gives what it was told, `refused` what it was told when nothing was done."""

    client: Client

    async def told(self, name: str, **arguments: object) -> tuple[str, bool]:
        """The text and whether it is an error."""
        result = await self.client.call_tool(name, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        return content.text, result.is_error

    async def ask(self, name: str, **arguments: object) -> str:
        text, wrong = await self.told(name, **arguments)
        assert not wrong, text
        return text

    async def refused(self, name: str, **arguments: object) -> str:
        text, wrong = await self.told(name, **arguments)
        assert wrong, text
        return text


def place_of(world: World) -> Installation:
    return Installation(
        world.settings,
        world.folder,
        PromptFiles(None),
        resource_dir("data/persona") / world.settings.persona,
        world.settings,
    )


@asynccontextmanager
async def at_table(world: World, person: str = "", chat: str = "", name: str = "probe") -> AsyncIterator[Agent]:
    """An agent of that name for a principal; the World carries out what it changes."""
    async with (
        control_socket(world.folder, change_handler(world.app), world.log),
        reading(world, person, chat, name) as agent,
    ):
        yield agent


@asynccontextmanager
async def reading(world: World, person: str = "", chat: str = "", name: str = "probe") -> AsyncIterator[Agent]:
    """The same where the installation opens no socket."""
    async with await open_store(world.folder, frozenset(world.settings.bot.owners), read_only=True) as store:
        principal = await find_principal(store, person, chat)
        who = Implementation(name=name, version="1")
        async with (
            agent_tools(place_of(world), store, principal, world.log, world.clock) as agents,
            Client(make_server(agents), client_info=who) as client,
        ):
            yield Agent(client)
