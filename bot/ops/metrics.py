"""The pages /metrics and /health over HTTP/1.1, and what they show. Each paid call is counted once."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.config.base import LOCAL_NAMES, is_loopback_host
from bot.core.errors import StoreError
from bot.core.files import install_command
from bot.core.inspection import HealthSnapshot
from bot.core.ports import Log
from bot.ops.control import BACKLOG, WaitingConnections
from bot.ops.health import SPARABLE, HealthCheck

if TYPE_CHECKING:
    from bot.ops.prometheus import Metrics


MOST_BYTES = 8_192
"""Of a request."""

_HOST = re.compile(rb"(?i)\r\nhost:[ \t]*([^\r]*?)[ \t]*\r\n")

TEXT = "text/plain; charset=utf-8"

JSON = "application/json"
MISSING = f"the figures need a library: {install_command('metrics')}; then start nuan again; /health works without\n"


@dataclass(frozen=True, slots=True)
class HttpPage:
    """What a path shows."""

    body: bytes
    kind: str = TEXT
    status: HTTPStatus = HTTPStatus.OK


ShowPage = Callable[[str], Awaitable[HttpPage | None]]
"""The page of a path, None when there is none."""


@contextlib.asynccontextmanager
async def serve_pages(host: str, port: int, show: ShowPage, log: Log) -> AsyncIterator[None]:
    """While inside the pages are shown there. An address that cannot be had is one line in the log, no more."""
    visitors = _Connections(show, log, LOCAL_NAMES if is_loopback_host(host) else frozenset())
    try:
        server = await asyncio.start_server(visitors.serve, host, port, limit=MOST_BYTES, backlog=BACKLOG)
    except OSError as error:
        why = f"{host}:{port} cannot be opened ({error.strerror or error})"
        log.warning("metrics_not_served", error=f"{why}: set metrics.port or metrics.host; nuan goes on without")
        yield
        return
    log.info("metrics_served", host=host, port=port)
    if not is_loopback_host(host):
        log.warning("metrics_open", host=host, error="whoever reaches this address reads them: there is no password")
    try:
        yield
    finally:
        server.close()
        await visitors.close()


class _Connections:
    """The connections there are; `hosts` are the names that are answered to (none: any)."""

    def __init__(self, show: ShowPage, log: Log, hosts: frozenset[str]) -> None:
        self._hosts = hosts
        self._show = show
        self._log = log
        self._here: set[asyncio.Task[object]] = set()
        self._waiting = WaitingConnections()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request and its answer; nothing that a visitor sends reaches further."""
        task = asyncio.current_task()
        assert task is not None
        self._here.add(task)
        try:
            async with self._waiting.waited_for(writer):
                head = await _head_of(reader)
            writer.write(await self._answer(head))
            async with self._waiting.waited_for(writer):
                await writer.drain()
        except (OSError, TimeoutError):
            pass  # the visitor is gone
        except Exception as error:  # noqa: BLE001 - a defect here must not end the bot
            self._log.error("metrics_failed", exc_info=error)
        finally:
            self._here.discard(task)
            writer.close()

    async def _answer(self, head: bytes | None) -> bytes:
        if head is None:
            return _bytes(_status(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        if not head:
            return b""
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _bytes(_status(HTTPStatus.BAD_REQUEST))
        method, target, _ = words
        if method not in ("GET", "HEAD"):
            return _bytes(_status(HTTPStatus.METHOD_NOT_ALLOWED))
        if self._hosts and _host_of(head) not in (None, *self._hosts):
            return _bytes(_status(HTTPStatus.MISDIRECTED_REQUEST, "another host name was asked for"))
        page = await self._show(target.partition("?")[0]) or _status(HTTPStatus.NOT_FOUND, "try /health or /metrics")
        return _bytes(page, bare=method == "HEAD")

    async def close(self) -> None:
        """Wait for nobody."""
        for task in self._here.copy():
            task.cancel()
        if self._here:
            await asyncio.wait(self._here.copy())


async def _head_of(reader: asyncio.StreamReader) -> bytes | None:
    """A request up to its empty line; nothing from who went before it, None where it is too long."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    except asyncio.LimitOverrunError:
        return None


def _host_of(head: bytes) -> str | None:
    """The host name that a request asks for; None when it names none, as no browser does."""
    found = _HOST.search(head)
    try:
        return None if found is None else urlsplit(f"//{found[1].decode('latin-1')}").hostname or ""
    except ValueError:
        return ""


def _status(status: HTTPStatus, text: str = "") -> HttpPage:
    return HttpPage(f"{text or status.phrase}\n".encode(), status=status)


def _bytes(page: HttpPage, *, bare: bool = False) -> bytes:
    head = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}",
        f"Content-Type: {page.kind}",
        f"Content-Length: {len(page.body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    )
    return "\r\n".join((*head, "", "")).encode("latin-1") + (b"" if bare else page.body)


def make_metrics(currency: str) -> "Metrics | None":
    """The figures; None where their library is not installed."""
    try:
        from bot.ops.prometheus import Metrics
    except ImportError:
        return None
    return Metrics(currency)


class MetricsPages:
    """One for each running bot."""

    def __init__(self, health_check: HealthCheck, meters: "Metrics | None") -> None:
        self._health_check = health_check
        self._meters = meters
        self._after: int | None = None
        self._open: set[int] = set()
        self._reading = asyncio.Lock()

    async def begin(self) -> None:
        """Count what is reserved from now on."""
        self._after = await self._health_check.store.inspector.newest_call()

    async def show(self, path: str) -> HttpPage | None:
        """The page of that path."""
        if path == "/health":
            return health(await self._health_check.look())
        if path != "/metrics":
            return None
        if self._meters is None:
            return HttpPage(MISSING.encode(), status=HTTPStatus.NOT_IMPLEMENTED)
        return HttpPage(*await self._figures(self._meters))

    async def _figures(self, meters: "Metrics") -> tuple[bytes, str]:
        now = await self._health_check.look()
        async with self._reading:
            try:
                await self._count(meters)
            except StoreError:
                pass  # the page says that the store is ill; what was not counted is counted the next time
            return meters.page(now)

    async def _count(self, meters: "Metrics") -> None:
        if self._after is None:
            await self.begin()
        calls = await self._health_check.store.inspector.paid_calls(self._after or 0, self._open)
        self._after = max((self._after or 0, *(call.id for call in calls)))
        self._open = {call.id for call in calls if call.state == "reserved"}
        pool = self._health_check.pool()
        providers = {endpoint.model.name: endpoint.model.dialect for endpoint in pool.endpoints}
        meters.paid((call for call in calls if call.state != "reserved"), providers)


async def show_standby(path: str) -> HttpPage | None:
    """The page of that path while another nuan answers: nothing is wrong here."""
    return (
        HttpPage(json.dumps({"status": "standby", "causes": []}).encode() + b"\n", JSON) if path == "/health" else None
    )


def health(now: HealthSnapshot) -> HttpPage:
    """Green; yellow where only what is spared does not work; or red: with every cause."""
    red = any(each.part not in SPARABLE for each in now.ailments)
    status = "red" if red else "yellow" if now.ailments else "green"
    told = {"status": status, "causes": [asdict(each) for each in now.ailments]}
    body = json.dumps(told, ensure_ascii=False).encode() + b"\n"
    return HttpPage(body, JSON, HTTPStatus.SERVICE_UNAVAILABLE if red else HTTPStatus.OK)
