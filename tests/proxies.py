"""Two proxies on loopback for tests: SOCKS5 without a password, and HTTP with CONNECT. They forward and count."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

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
