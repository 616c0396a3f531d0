"""Serving the page from a socket that is bound before anything else starts. It handles no signal."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.config.web import WebPage
from bot.errors import ConfigError, NuanError
from bot.ops.web.gate import TOKEN_FILE, Gate, open_token
from bot.ops.web.house import House
from bot.ops.web.site import Site
from bot.types.log import Log

GRACE_S = 2
"""How long open connections are waited for when the page ends, seconds."""

MOST_OPEN = 100
"""Connections at once, so that no visitor can use up what the house has of them."""

LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))


class _Server(uvicorn.Server):
    """Signals belong to the program that serves the page."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class _Connection(H11Protocol):
    """One of so many: who has not asked for anything yet makes room for the next."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it in; it goes itself when all the others are being answered."""
        super().connection_made(transport)
        if len(self.connections) > MOST_OPEN:
            others = (each for each in self.connections if isinstance(each, _Connection) and each is not self)
            idle = next((each for each in others if each.cycle is None and not each.transport.is_closing()), self)
            idle.transport.close()


class Page:
    """The page on its socket: bound, not served yet."""

    def __init__(self, listener: socket.socket, folder: Path, settings: WebPage) -> None:
        """Make or read the token, which lies in `folder`; StoreError when it cannot be used."""
        self._listener = listener
        self.token, self.fresh = open_token(folder)
        host, port = listener.getsockname()[:2]
        self.local = is_local(settings.host)
        name = f"[{host}]" if ":" in host else host
        self.address = f"http://{name}:{port}/"

    def greeting(self, terminal: bool) -> str:
        """Where the page is; the token once, when it is new and a person reads this in a `terminal`, not a journal."""
        where = f"nuan: the web page is at {self.address}"
        if not self.local:
            where += "\nnuan: others on the network can reach that address, and what is shown travels unencrypted"
        if self.fresh and terminal:
            return f"{where}\nnuan: its token is {self.token} (kept in {TOKEN_FILE} in the data folder)"
        return f"{where} (its token: {TOKEN_FILE} in the data folder)"

    @contextlib.asynccontextmanager
    async def served(self, house: Callable[[], House], log: Log) -> AsyncIterator[None]:
        """While it lasts the page is answered."""
        hosts = LOCAL if self.local else frozenset[str]()
        site = Site(house, Gate(self.token, house().clock), log, hosts)
        config = uvicorn.Config(
            site.app(), log_config=None, access_log=False, lifespan="off", server_header=False,
            proxy_headers=False, ws="none", log_level="critical", timeout_graceful_shutdown=GRACE_S,
            http=_Connection, h11_max_incomplete_event_size=32_000,
        )  # fmt: skip
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]), name="web")
        log.info("web_page", address=self.address, local=self.local)
        try:
            yield
        finally:
            server.should_exit = True
            await asyncio.wait((serving,))
            if (error := serving.exception()) is not None:
                log.error("web_failed", exc_info=error)


@contextlib.contextmanager
def opened(settings: WebPage, folder: Path) -> Iterator[Page]:
    """The page's socket, open while it lasts. NuanError says when the port is taken or the address is not ours."""
    with contextlib.closing(_bind(settings.host, settings.port)) as listener:
        yield Page(listener, folder, settings)


def is_local(host: str) -> bool:
    """Whether only this machine can reach that address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise ConfigError((f"web.host: {host} cannot be found ({error.strerror})",)) from error
    listener = socket.socket(found[0], socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(found[4])
        listener.listen(128)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise NuanError(
            f"the web page cannot listen at {host}:{port} ({error.strerror}): stop what uses it, "
            "or set web.port (--port) to another"
        ) from error
    return listener
