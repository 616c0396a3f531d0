"""`python -m tests.bench.crowd [--connections N]`: how long an owner waits beside N connections that ask slowly or never.

At the web page, at /metrics and /health, and at the socket of agents, each in turn, from another process: a third of
the connections say nothing, a third stop within their request, a third go on with it a byte at a time and come again a
second after they were sent away.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bot.cli.mcp import change_handler
from bot.config.settings import WebPage
from bot.core.errors import NuanError
from bot.core.people import AgentRequest, Principal
from bot.ops.control import SOCKET, control_socket, request_change
from bot.web.server import open_server
from tests.instrumented import get, instrumented
from tests.webbed import Webbed
from tests.world import World, open_files

TRICKLE_S, AGAIN_S, ASKED = 0.05, 1.0, 20
"""Seconds between two bytes of a slow one, and until it comes again; how often the owner asks."""


@dataclass(frozen=True, slots=True)
class Service:
    """Its port or its socket's path, the beginning of a request, and an owner's whole one: whether it is answered."""

    address: str
    half: bytes
    ask: Callable[[], Awaitable[bool]]


async def stand_around(address: str, half: bytes, count: int) -> None:
    """So many connections that never ask anything whole, until standard input ends; a line tells that they stand."""
    lines = [await _connect(address) for _ in range(count - count // 3)]
    for _, writer in lines[count // 3 :]:
        writer.write(half)
    slow = [asyncio.create_task(_trickle(address, half, AGAIN_S * place / count)) for place in range(count // 3)]
    await asyncio.sleep(AGAIN_S)
    print("standing", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in slow:
        task.cancel()


async def _connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.isdigit():
        return await asyncio.open_connection("127.0.0.1", int(address))
    return await asyncio.open_unix_connection(address)


async def _trickle(address: str, half: bytes, begin_s: float) -> None:
    """Come after that time, send a byte now and then, and come again."""
    await asyncio.sleep(begin_s)
    while True:
        with suppress(OSError):
            reader, writer = await _connect(address)
            for byte in half * 100:
                writer.write(bytes((byte,)))
                with suppress(TimeoutError):
                    async with asyncio.timeout(TRICKLE_S):
                        if await reader.read(1) == b"":
                            break
            writer.close()
        await asyncio.sleep(AGAIN_S)


@asynccontextmanager
async def web_page(folder: Path) -> AsyncIterator[Service]:
    """The page, and an owner who has logged in."""
    async with AsyncExitStack() as stack:
        world = World(folder / "data")
        await world.open()
        stack.push_async_callback(world.close)
        server = stack.enter_context(open_server(WebPage(port=0), folder))
        port = server._listener.getsockname()[1]
        await stack.enter_async_context(server.served(Webbed(world).site._site_data, world.log))

        async def ask(head: str, body: str = "") -> str:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            more = f"Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            writer.write(f"{head}\r\n{more}".encode())
            try:
                return (await reader.read()).decode()
            finally:
                writer.close()

        cookie = (await ask("POST /login HTTP/1.1", f"token={server.token}")).split("set-cookie: ")[1].split(";")[0]

        async def answered() -> bool:
            return (await ask(f"GET /live HTTP/1.1\r\nCookie: {cookie}")).startswith("HTTP/1.1 200")

        yield Service(str(port), b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX: y", answered)


@asynccontextmanager
async def metrics(folder: Path) -> AsyncIterator[Service]:
    """/metrics and /health."""
    async with instrumented(folder / "data") as page:

        async def answered() -> bool:
            with suppress(IndexError):  # no status: the connection was closed
                return [(await get(page.port, path))[0] for path in ("/metrics", "/health")] == [200, 200]
            return False

        yield Service(str(page.port), b"GET /health HTTP/1.1\r\nX: y", answered)


@asynccontextmanager
async def agents(folder: Path) -> AsyncIterator[Service]:
    """The socket at which agents have something kept."""
    world = World(folder / "data")
    await world.open()
    try:
        await world.say("你好")
        wish = AgentRequest("remember", Principal(1, 1), "probe", "我喜欢拿铁")

        async def answered() -> bool:
            reply = await request_change(world.folder, wish)
            return reply is not None and not reply.wrong

        async with control_socket(world.folder, change_handler(world.app), world.log):
            yield Service(str(world.folder / SOCKET), b'{"verb":"remember","', answered)
    finally:
        await world.close()


SERVICES = {"page": web_page, "metrics": metrics, "agents": agents}


async def measured(name: str, count: int) -> tuple[int, float, int]:
    """Of one service: how often its owner was answered, the longest wait in seconds, how many files the others hold."""
    with tempfile.TemporaryDirectory() as folder:
        async with SERVICES[name](Path(folder)) as service:
            await service.ask()  # what is loaded at the first request
            before = open_files()
            command = (sys.executable, "-m", "tests.bench.crowd", "--stand", service.address)
            crowd = await asyncio.create_subprocess_exec(
                *command,
                "--half",
                service.half.hex(),
                "--connections",
                str(count),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            assert crowd.stdout is not None
            assert crowd.stdin is not None
            await crowd.stdout.readline()
            answered, longest, held = 0, 0.0, 0
            for _ in range(ASKED):
                began = perf_counter()
                with suppress(OSError, NuanError):
                    answered += await service.ask()
                longest, held = max(longest, perf_counter() - began), max(held, open_files() - before)
            crowd.stdin.close()
            await crowd.wait()
            return answered, longest, held


def main() -> int:
    """Print the figures; 1 when somebody was not answered within a second."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--stand", default="", help=argparse.SUPPRESS)
    parser.add_argument("--half", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.stand:
        asyncio.run(stand_around(asked.stand, bytes.fromhex(asked.half), asked.connections))
        return 0
    late = False
    for name in SERVICES:
        answered, longest, held = asyncio.run(measured(name, asked.connections))
        late = late or answered < ASKED or longest > 1
        print(
            f"{name:8} {answered} of {ASKED} answered, the longest after {longest:.2f} s; {held} files held by others"
        )
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
