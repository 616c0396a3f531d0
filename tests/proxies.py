"""Proxies on loopback for tests: SOCKS5 without a password, HTTP with CONNECT, and one whose line can be cut."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

Kind = Literal["socks5", "http"]


@dataclass
class Proxy:
    """`through` are the hosts and ports that were asked for."""

    kind: Kind
    port: int = 0
    through: list[str] = field(default_factory=list)
    lines: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"{self.kind}://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines.add(writer)
        try:
            host, port, first = await (_socks(reader, writer) if self.kind == "socks5" else _http(reader, writer))
            self.through.append(f"{host}:{port}")
            there, back = await asyncio.open_connection(host, port)
            self.lines.add(back)
            back.write(first)
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def proxy(kind: Kind) -> AsyncIterator[Proxy]:
    """A proxy that stops by itself."""
    one = Proxy(kind)
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        server.close()
        for line in one.lines:
            line.close()
        await asyncio.gather(*(line.wait_closed() for line in one.lines), return_exceptions=True)


class Line:
    """A port on loopback before a socket of this machine: all goes through, until it is cut.

    While it is cut no byte goes either way and nothing is closed, as when a cable is out; then all goes on.
    """

    def __init__(self, socket: Path) -> None:
        self.port = 0
        self._socket = socket
        self._whole = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()

    def cut(self) -> None:
        """From now on nothing goes through."""
        self._whole.clear()

    def mend(self) -> None:
        """What waited goes on."""
        self._whole.set()

    def end(self) -> None:
        """Every connection that there is ends; another can be made."""
        for task in self._tasks:
            task.cancel()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(task := asyncio.ensure_future(self._serve(reader, writer)))
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError):
            await self._whole.wait()
            there, back = await asyncio.open_unix_connection(str(self._socket))
            with closing(back):
                await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """Who ends a connection ends it for both."""
        while data := await source.read(65_536):
            await self._whole.wait()
            target.write(data)
            await target.drain()
        await self._whole.wait()
        target.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    finally:
        target.close()


async def _socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int, bytes]:
    _, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    writer.write(b"\x05\x00")
    *_, kind = await reader.readexactly(4)
    size = 4 if kind == 1 else (await reader.readexactly(1))[0]
    raw = await reader.readexactly(size)
    host = ".".join(map(str, raw)) if kind == 1 else raw.decode()
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
    return host, port, b""


async def _http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    method, target, *_ = head.decode().split(" ")
    address = target.removeprefix("http://").partition("/")[0]
    host, _, port = address.partition(":")
    if method == "CONNECT":
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        return host, int(port), b""
    return host, int(port or 80), head
