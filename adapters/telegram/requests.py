"""How the library's requests get to the server. It knows no methods of the Bot API."""

import asyncio
import ssl
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from bot.core.http import HttpClient, LostError, NotSentError, is_local, is_proxied

CONNECT_S = 10.0
"""Seconds to reach the server."""
SLOWEST_BYTES_S = 100_000
"""How fast a file goes at least: one of 10 megabytes may take 100 s longer than a text."""
MOST_CONNECTIONS = 64
"""At once; all of them are kept for the next message."""

NOT_SENT_ERRORS = (
    NotSentError,
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""What goes wrong before a request leaves."""


@cache
def certificates(trust_env: bool) -> ssl.SSLContext:
    """By what servers are known; all connections share it, as the machine's certificates take 30 ms to read."""
    return httpx.create_ssl_context(trust_env=trust_env)


def make_request(base_url: str, proxy: str, answer_s: float) -> BaseRequest:
    """Requests straight to the server; through a proxy, also one of the environment, they are the library's own."""
    local = is_local(base_url)
    if is_proxied(base_url, proxy):
        return HTTPXRequest(
            connection_pool_size=MOST_CONNECTIONS,
            read_timeout=answer_s,
            write_timeout=answer_s,
            connect_timeout=CONNECT_S,
            pool_timeout=CONNECT_S,
            proxy=proxy or None,
            httpx_kwargs={"trust_env": not local, "verify": certificates(not local)},
        )
    return DirectRequest(answer_s, certificates(not local))


class DirectRequest(BaseRequest):
    """Requests over connections that are kept open: a tenth of what the library's own takes."""

    def __init__(self, answer_s: float, verify: ssl.SSLContext) -> None:
        self._answer_s = answer_s
        self._client = HttpClient(verify, connect_s=CONNECT_S, most=MOST_CONNECTIONS, idle=MOST_CONNECTIONS)

    @property
    def read_timeout(self) -> float:
        """How long an answer may take, s."""
        return self._answer_s

    async def initialize(self) -> None:
        """Nothing to prepare."""

    async def shutdown(self) -> None:
        """End all connections."""
        await self._client.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """As the library's; of the times only that for the answer is looked at, and files may take longer."""
        answer_s = read_timeout if isinstance(read_timeout, int | float) else self._answer_s
        body, kind = b"", "application/x-www-form-urlencoded"
        if request_data is not None and request_data.contains_files:
            form = httpx.Request("POST", url, data=request_data.json_parameters, files=request_data.multipart_data)
            body, kind = form.read(), form.headers["Content-Type"]
            answer_s += len(body) / SLOWEST_BYTES_S
        elif request_data is not None:
            body = request_data.url_encoded_parameters().encode()
        headers = [
            ("Host", urlsplit(url).netloc),
            ("User-Agent", self.USER_AGENT),
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
        ]
        try:
            answer = await self._client.send(method, url, headers, body, answer_s)
            async with asyncio.timeout(answer_s):
                return answer.status, await answer.read()
        except TimeoutError as error:
            raise TimedOut from error
        except (NotSentError, LostError) as error:
            raise NetworkError(str(error)) from error
