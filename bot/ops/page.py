"""The page for instruments: GET /metrics and /health over HTTP/1.1, one answer a connection. It knows no figure."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from bot.config.kinds import is_loopback
from bot.types.log import Log

MOST_BYTES, MOST_AT_ONCE, PATIENCE_S = 8_192, 16, 5.0
"""Of a request; connections at the same time; seconds for a request and its answer."""

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Page:
    """What a path shows."""

    body: bytes
    kind: str = TEXT
    status: HTTPStatus = HTTPStatus.OK


Show = Callable[[str], Awaitable[Page | None]]
"""The page of a path, None when there is none."""


@contextlib.asynccontextmanager
async def served(host: str, port: int, show: Show, log: Log) -> AsyncIterator[None]:
    """While inside the pages are shown there. An address that cannot be had is one line in the log, no more."""
    visitors = _Visitors(show, log)
    try:
        server = await asyncio.start_server(visitors.serve, host, port, limit=MOST_BYTES)
    except OSError as error:
        why = f"{host}:{port} cannot be opened ({error.strerror or error})"
        log.warning("metrics_not_served", error=f"{why}: set metrics.port or metrics.host; nuan goes on without")
        yield
        return
    log.info("metrics_served", host=host, port=port)
    if not is_loopback(f"http://[{host}]" if ":" in host else f"http://{host}"):
        log.warning("metrics_open", host=host, error="whoever reaches this address reads them: there is no password")
    try:
        yield
    finally:
        server.close()
        await visitors.close()


class _Visitors:
    """The connections there are."""

    def __init__(self, show: Show, log: Log) -> None:
        self._show = show
        self._log = log
        self._here: set[asyncio.Task[object]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request and its answer; nothing that a visitor sends reaches further."""
        task = asyncio.current_task()
        assert task is not None
        if len(self._here) >= MOST_AT_ONCE:
            writer.close()
            return
        self._here.add(task)
        try:
            async with asyncio.timeout(PATIENCE_S):
                writer.write(await self._answer(reader))
                await writer.drain()
        except (OSError, TimeoutError):
            pass  # the visitor is gone
        except Exception as error:  # noqa: BLE001 - a defect here must not end the house
            self._log.error("metrics_failed", exc_info=error)
        finally:
            self._here.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _bytes(_status(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        except asyncio.IncompleteReadError:
            return b""
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _bytes(_status(HTTPStatus.BAD_REQUEST))
        method, target, _ = words
        if method not in ("GET", "HEAD"):
            return _bytes(_status(HTTPStatus.METHOD_NOT_ALLOWED))
        page = await self._show(target.partition("?")[0]) or _status(HTTPStatus.NOT_FOUND, "try /health or /metrics")
        return _bytes(page, bare=method == "HEAD")

    async def close(self) -> None:
        """Wait for nobody."""
        for task in self._here.copy():
            task.cancel()
        if self._here:
            await asyncio.wait(self._here.copy())


def _status(status: HTTPStatus, text: str = "") -> Page:
    return Page(f"{text or status.phrase}\n".encode(), status=status)


def _bytes(page: Page, *, bare: bool = False) -> bytes:
    head = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}", f"Content-Type: {page.kind}",
        f"Content-Length: {len(page.body)}", "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
        "Connection: close",
    )  # fmt: skip
    return "\r\n".join((*head, "", "")).encode("latin-1") + (b"" if bare else page.body)
