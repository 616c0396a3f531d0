"""Rows of the table of faults about files: whose addresses are read, and how much of what comes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from tests.torture.row import Bound, Found, Row, Size

MOST_BYTES = 10_000_000


async def addresses(folder: Path, size: Size) -> Found:
    """X19: forms of addresses inside, as the handle of an attachment; a server on loopback counts who comes."""
    from adapters.discord import DiscordSettings
    from adapters.discord.adapter import DiscordAdapter
    from bot.core.errors import SendError
    from bot.core.events import Attachment
    from tests.discord_support import Lines
    from tests.fakes.clock import SimClock
    from tests.test_discord_extras import INSIDE

    del folder
    read = connections = 0

    async def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        writer.close()

    server = await asyncio.start_server(came, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    adapter = DiscordAdapter(DiscordSettings(token=SecretStr("made-up")), (), SimClock(0), Lines())
    forms = [*INSIDE[: size.units - 1], f"http://127.0.0.1:{port}/a"]
    async with server:
        for form in forms:
            with suppress(SendError, OSError):
                await adapter.fetch(Attachment("file", form), 100)
                read += 1
    return Found({"addresses": len(forms), "read": read, "connections": connections})


async def bombs(folder: Path, size: Size) -> Found:
    """X20: servers that send 100 MB where a few bytes were told, by turns on Discord and Telegram."""
    import resource

    from aiohttp import web
    from aiohttp.test_utils import TestServer

    from adapters.discord import DiscordSettings
    from adapters.discord.adapter import DiscordAdapter
    from adapters.telegram.adapter import read_file
    from bot.core.errors import SendError
    from bot.core.events import Attachment
    from tests.discord_support import Lines
    from tests.fakes.clock import SimClock

    del folder

    async def large(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        piece = bytes(1 << 16)
        with suppress(ConnectionError):
            for _ in range(100_000_000 >> 16):
                await response.write(piece)
        return response

    app = web.Application()
    app.router.add_get("/large.png", large)
    taken = 0
    async with TestServer(app) as server:
        url = str(server.make_url("/large.png"))
        settings = DiscordSettings(token=SecretStr("made-up"), api_url=url.removesuffix("large.png") + "api")
        adapter = DiscordAdapter(settings, (), SimClock(0), Lines())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for number in range(size.units):
            with suppress(SendError):
                if number % 2:
                    await read_file(url, MOST_BYTES, None, trust_env=False)
                else:
                    await adapter.fetch(Attachment("image", url, size=10), MOST_BYTES)
                taken += 1
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Found({"files": size.units, "taken": taken}, {"more MB": (after - before) / 1024})


FILES = (
    Row(
        "X19",
        "an address inside the house as an attachment",
        "no connection to a private net",
        "addresses",
        29,
        29,
        29,
        60,
        (Bound("read", "==", 0), Bound("connections", "==", 0)),
        addresses,
        ("test_discord_extras.py::test_a_file_is_read_from_discords_own_hosts_alone",),
        differs="no tool fetches what people write; these stand in the place of the platform's own addresses, and its "
        "hosts are trusted to resolve to it",
    ),
    Row(
        "X20",
        "a file far larger than told",
        "no more memory than 30 MB beside what was there",
        "files",
        20,
        2,
        20,
        120,
        (Bound("taken", "==", 0), Bound("more MB", "<=", 30)),
        bombs,
        (
            "test_telegram_sending.py::test_of_a_file_that_is_larger_than_told_only_as_much_is_read_as_is_wanted",
            "test_discord_extras.py::test_an_attachment_is_fetched_up_to_a_limit",
        ),
        differs="no picture is decoded here and nothing unpacked: pixels and archives are only bytes",
    ),
)
