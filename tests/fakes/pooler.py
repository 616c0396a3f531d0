"""A pooler in transaction mode on loopback, before a PostgreSQL server: each transaction of a client has whichever
connection is free longest, with all that another client left there. It ends with its `with`."""

import asyncio
import contextlib
import struct
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from psycopg.conninfo import conninfo_to_dict

STARTUP, CANCEL, NO_ENCRYPTION = 196_608, 80_877_102, (80_877_103, 80_877_104)
"""What a client says first: the version of the protocol, that a query is to be cancelled, that it wants TLS or GSS."""

ENDS = b"QSF"
"""Messages that the server answers with one ReadyForQuery each: a query, Sync, a function call."""

OF_COPY = b"dcfH"
"""Messages that belong to what is under way, and Flush."""

IDLE = b"I"

LEAST_FREE = 2

HEAD, READ_BYTES = 5, 65_536

Message = tuple[bytes, bytes]
"""Its kind and its body."""

OWN_KEYS = b"K\0\0\0\x0c" + bytes(8)
"""A key for cancelling, which the pooler does not do."""
WELCOME = b"R\0\0\0\x08\0\0\0\0"


def message(kind: bytes, body: bytes) -> bytes:
    """A message of the protocol."""
    return kind + struct.pack("!I", len(body) + 4) + body


class Stream:
    """What comes from one side, as messages."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._bytes = bytearray()
        self._coming: asyncio.Future[None] | None = None

    def more(self) -> "asyncio.Future[None]":
        """Done when more bytes are there, and until then the same; ConnectionError when that side has gone."""
        if self._coming is None:
            self._coming = asyncio.ensure_future(self._read())
        return self._coming

    async def _read(self) -> None:
        got = await self._reader.read(READ_BYTES)
        if not got:
            raise ConnectionResetError
        self._bytes += got
        self._coming = None

    def whole(self) -> list[Message]:
        """The messages that are there as a whole, each once."""
        found, at, bytes_ = [], 0, self._bytes
        while len(bytes_) - at >= HEAD and len(bytes_) > at + (size := struct.unpack_from("!I", bytes_, at + 1)[0]):
            found.append((bytes(bytes_[at : at + 1]), bytes(bytes_[at + HEAD : at + 1 + size])))
            at += 1 + size
        del bytes_[:at]
        return found

    async def next(self) -> list[Message]:
        """Those that come next; the last of them may not be whole yet."""
        await asyncio.shield(self.more())
        return self.whole()

    def end(self) -> None:
        """Nobody listens any more."""
        if self._coming is not None and not self._coming.cancel():
            self._coming.exception()  # that side has gone, which nobody need be told


def together(messages: Iterable[Message]) -> bytes:
    """As they go over a line."""
    return b"".join(message(*one) for one in messages)


@dataclass(eq=False)
class Server:
    """A connection to the server, what it said of itself, and whose name it goes by."""

    stream: Stream
    writer: asyncio.StreamWriter
    told: list[bytes] = field(default_factory=list)
    name: bytes = b""

    async def rename(self, name: bytes) -> None:
        """Have the server call it as the client does, which is all of a session that a pooler carries over."""
        if name == self.name:
            return
        self.name = name
        self.writer.write(message(b"Q", b"SET application_name = '" + name.replace(b"'", b"''") + b"'\0"))
        while not any(kind == b"Z" for kind, _ in await self.stream.next()):
            pass


class Pooler:
    """`with Pooler(url) as pooler:` … `pooler.url` is the same database through it; `connections` is how many it has there.

    It runs on a thread of its own, as those who use it may block theirs.
    """

    def __init__(self, url: str, connections: int = 12) -> None:
        known = conninfo_to_dict(url)
        self._socket = f"{known['host']}/.s.PGSQL.{known.get('port') or 5432}"
        self._database, self._user = str(known["dbname"]), str(known["user"])
        self._most = connections
        self.transactions = 0
        """How many went through it."""
        self._made: list[Server] = []
        self._free: asyncio.Queue[Server] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pooler", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        begun = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop)
        self._listening = begun.result()
        port = self._listening.sockets[0].getsockname()[1]
        self.url = f"postgresql://{self._user}@127.0.0.1:{port}/{self._database}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for server in self._made:
            server.stream.end()
            server.writer.close()
            with contextlib.suppress(OSError):
                await server.writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._client(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one of them has gone
        finally:
            writer.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            size, version = struct.unpack("!II", await reader.readexactly(8))
            body = await reader.readexactly(size - 8)
            if version == CANCEL:
                return
            if version == STARTUP:
                break
            assert version in NO_ENCRYPTION, version
            writer.write(b"N")
        words = body.split(b"\0")
        name = dict(zip(words[::2], words[1::2], strict=False)).get(b"application_name", b"")
        server = await self._take()
        writer.write(WELCOME + b"".join(server.told) + OWN_KEYS + message(b"Z", IDLE))
        self._give(server)
        client = Stream(reader)
        try:
            while not (asked := client.whole()) or asked[0][0] != b"X":
                if not asked:
                    await asyncio.shield(client.more())
                    continue
                server = await self._take()
                try:
                    await server.rename(name)
                    await self._transaction(server, client, writer, asked)
                except BaseException:  # it may be in the middle of a transaction: nobody may have it
                    self._made.remove(server)
                    server.stream.end()
                    server.writer.transport.abort()
                    raise
                self._give(server)
        finally:
            client.end()

    async def _transaction(
        self, server: Server, client: Stream, writer: asyncio.StreamWriter, asked: list[Message]
    ) -> None:
        """Carry messages both ways, from these on, until the server says that no transaction is open, and owes no answer."""
        owed, whole = 0, True
        while True:
            for kind, _ in asked:
                if kind == b"X":
                    raise ConnectionError("the client has gone in the middle of a transaction")
                owed += kind in ENDS
                whole = kind in ENDS or (whole and kind in OF_COPY)
            server.writer.write(together(asked))
            both = client.more(), server.stream.more()
            for side in (await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED))[0]:
                side.result()
            asked = client.whole()
            answers = server.stream.whole()
            writer.write(together(answers))
            owed -= sum(kind == b"Z" for kind, _ in answers)
            if answers and answers[-1] == (b"Z", IDLE) and not owed and whole and not asked:
                self.transactions += 1
                return

    async def _take(self) -> Server:
        """The connection that is free longest: never the same one twice in a row."""
        if self._free.qsize() >= LEAST_FREE or len(self._made) >= self._most:
            return await self._free.get()
        reader, writer = await asyncio.open_unix_connection(self._socket)
        server = Server(Stream(reader), writer)
        self._made.append(server)
        words = b"".join(word.encode() + b"\0" for word in ("user", self._user, "database", self._database))
        writer.write(struct.pack("!II", len(words) + 9, STARTUP) + words + b"\0")
        ready = False
        while not ready:
            for got in await server.stream.next():
                if got[0] == b"E":
                    raise ConnectionError(got[1].decode("utf-8", "replace"))
                if got[0] == b"S":
                    server.told.append(message(*got))
                ready = got[0] == b"Z"
        return server

    def _give(self, server: Server) -> None:
        self._free.put_nowait(server)
