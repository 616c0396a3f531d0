"""HTTP/1.1 over connections that are kept open for the next request. No proxies, redirects, cookies or packing."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from urllib.request import getproxies

import h11

KEPT_OPEN_S = 45.0
"""How long an idle connection is kept for the next request, seconds: less than load balancers keep theirs (60 s)."""
UNANSWERED_MS = 10_000
"""A connection on which nothing is acknowledged for so long is dead, ms: the machine slept, or its network changed."""
STALE_S = 1.0
"""A server that had closed an idle connection says so within a second of the next request."""
UNREAD_BYTES = 1_000_000
"""So much of an answer waits to be read before no more is taken from the server."""
SECOND_ADDRESS_S = 0.25
"""How long the first address of a server is tried alone."""
PORTS = {"http": 80, "https": 443}
PROXIED = frozenset(("http", "https", "all"))
"""What a proxy of the environment may be for."""

Headers = list[tuple[str, str]] | list[tuple[bytes, bytes]]
Origin = tuple[str, str, int]


def is_local(url: str) -> bool:
    """Whether the server is on this machine: no proxy of the environment stands between."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def is_proxied(url: str, proxy: str) -> bool:
    """Whether requests go through this proxy, or may go through one of the environment."""
    return bool(proxy) or (not is_local(url) and not PROXIED.isdisjoint(getproxies()))


class NotSentError(OSError):
    """There was no connection: the server knows nothing of the request."""


class LostError(ConnectionError):
    """The connection broke, or what came was no HTTP; `unseen` where the server hardly saw the request: it had closed
    the connection before, or acknowledged nothing."""

    unseen = False


class _Connection(asyncio.Protocol):
    def __init__(self, origin: Origin) -> None:
        self._loop = asyncio.get_running_loop()
        self._news: asyncio.Future[None] | None = None
        self._error: Exception | None = None
        self._unread = 0
        self.origin = origin
        self.http = h11.Connection(h11.CLIENT)
        self.transport: asyncio.Transport
        self.used = self.busy = False
        self.since = 0.0
        self.closed = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_MS)

    def data_received(self, data: bytes) -> None:
        if not self.busy:  # nobody asked: it would be taken for the answer to the next request
            self.transport.abort()
            return
        self.http.receive_data(data)
        self._unread += len(data)
        if self._unread > UNREAD_BYTES:
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        if self.busy:
            self.http.receive_data(b"")
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._error = exc or ConnectionAbortedError("the connection is closed")
        self.closed.set_result(None)
        self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    @property
    def usable(self) -> bool:
        """Whether the next request may be tried on it."""
        return not self.transport.is_closing() and asyncio.get_running_loop().time() - self.since < KEPT_OPEN_S

    def begin(self, head: h11.Request, body: bytes) -> None:
        """Hand out a request."""
        self.busy, self.since = True, asyncio.get_running_loop().time()
        pieces = (head, h11.Data(data=body), h11.EndOfMessage()) if body else (head, h11.EndOfMessage())
        self.transport.write(b"".join([self.http.send(piece) or b"" for piece in pieces]))

    async def event(self) -> h11.Event:
        """What comes next of the answer; LostError where nothing will."""
        try:
            while not isinstance(event := self.http.next_event(), h11.Event):
                if self._error is not None:
                    raise LostError(f"{type(self._error).__name__}: {self._error}") from self._error
                if self._unread > UNREAD_BYTES:
                    self.transport.resume_reading()
                self._unread = 0
                self._news = self._loop.create_future()
                await self._news
        except h11.RemoteProtocolError as error:
            raise LostError(str(error)) from error
        return event

    async def head(self) -> h11.Response:
        """The beginning of the answer."""
        try:
            while not isinstance(event := await self.event(), h11.Response):
                pass  # what only informs
        except LostError as error:
            soon = asyncio.get_running_loop().time() - self.since < STALE_S
            error.unseen = (self.used and soon) or isinstance(self._error, TimeoutError)
            raise
        return event

    def end(self) -> bool:
        """Whether the answer was read whole and another request may follow."""
        whole = self.http.our_state is h11.DONE and self.http.their_state is h11.DONE
        if not whole or self.http.trailing_data[0] or self.transport.is_closing():
            self.transport.abort()
            return False
        self.http.start_next_cycle()
        self.busy, self.used, self.since = False, True, asyncio.get_running_loop().time()
        return True


class Answer:
    """One answer. It has to be read to its end, or closed."""

    def __init__(self, client: "HttpClient", connection: _Connection, head: h11.Response) -> None:
        self._client = client
        self._connection: _Connection | None = connection
        self.status = head.status_code
        self.headers: list[tuple[bytes, bytes]] = list(head.headers)
        """Names are in small letters."""

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes; LostError where the connection breaks."""
        try:
            while self._connection is not None and isinstance(event := await self._connection.event(), h11.Data):
                yield bytes(event.data)
        finally:
            self.close()

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces()])

    def close(self) -> None:
        """Read no more; twice is once."""
        if self._connection is not None:
            self._client.take_back(self._connection)
            self._connection = None


class HttpClient:
    """Connections to servers: at most `most` at once, of which `idle` are kept."""

    def __init__(self, certificates: ssl.SSLContext, *, connect_s: float, most: int, idle: int) -> None:
        self._certificates = certificates
        self._connect_s = connect_s
        self._room = asyncio.Semaphore(most)
        self._most_idle = idle
        self._idle: dict[_Connection, None] = {}
        self._open: set[_Connection] = set()

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes = b"", answer_s: float | None = None
    ) -> Answer:
        """Send a request as it is and return with the head of its answer.

        NotSentError before; after that LostError, or TimeoutError when no answer begins within `answer_s` seconds.
        """
        try:
            address = urlsplit(url)
            origin = (address.scheme, address.hostname or "", address.port or PORTS[address.scheme])
        except (KeyError, ValueError):
            raise NotSentError("no http address") from None
        target = f"{address.path or '/'}?{address.query}" if address.query else address.path or "/"
        request = h11.Request(method=method, target=target, headers=headers)
        connection = await self._connection(origin)
        try:
            connection.begin(request, body)
            async with asyncio.timeout(answer_s):
                return Answer(self, connection, await connection.head())
        except BaseException:
            self.take_back(connection)
            raise

    async def close(self) -> None:
        """End all connections."""
        connections = list(self._open)
        for connection in connections:
            connection.transport.abort()
        await asyncio.gather(*(connection.closed for connection in connections))

    def take_back(self, connection: _Connection) -> None:
        """Keep a connection for the next request, or end it."""
        self._room.release()
        if connection.end():
            self._idle[connection] = None
            if len(self._idle) > self._most_idle:
                oldest = next(iter(self._idle))
                del self._idle[oldest]
                oldest.transport.abort()

    async def _connection(self, origin: Origin) -> _Connection:
        try:
            async with asyncio.timeout(self._connect_s):
                await self._room.acquire()
                try:
                    return self._kept(origin) or await self._connect(origin)
                except BaseException:
                    self._room.release()
                    raise
        except OSError as error:
            raise NotSentError(f"{type(error).__name__}: {error}") from error

    def _kept(self, origin: Origin) -> _Connection | None:
        for connection in reversed(self._idle):
            if connection.origin == origin and connection.usable:
                del self._idle[connection]
                return connection
        return None

    async def _connect(self, origin: Origin) -> _Connection:
        scheme, host, port = origin
        # Who is cancelled while addresses race leaves a socket to the garbage collector (staggered_race of Python 3.11).
        only_address = ":" in host or host.replace(".", "").isdecimal()
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: _Connection(origin),
            host,
            port,
            ssl=self._certificates if scheme == "https" else None,
            happy_eyeballs_delay=None if only_address else SECOND_ADDRESS_S,
        )
        self._open.add(connection)
        connection.closed.add_done_callback(lambda _: self._ended(connection))
        return connection

    def _ended(self, connection: _Connection) -> None:
        self._open.discard(connection)
        self._idle.pop(connection, None)
