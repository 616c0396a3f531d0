"""Connections that are kept open: what is asked on them, and what becomes of a request when they break."""

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bot.core.http import HttpClient, LostError, NotSentError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Served:
    """A server that answers each request of a connection with the next of these bytes, and then hangs up."""

    answers: list[list[bytes]]
    url: str = ""
    asked: list[list[bytes]] = field(default_factory=list)
    silent: bool = False
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    _ended: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.asked.append(asked := [])
        self.writers.append(writer)
        for answer in self.answers.pop(0):
            asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
            if self.silent:
                await reader.read()
            writer.write(answer)
        writer.close()
        self._ended += 1

    async def hung_up(self, count: int) -> None:
        """When so many connections have ended and the other side had time to hear of it."""
        await heard()
        assert self._ended == count


async def heard() -> None:
    """When both sides had time to read what is there."""
    for _ in range(10):
        await asyncio.sleep(0)  # noqa: TID251 - lets what is there be read, and waits for nothing


@asynccontextmanager
async def client(*answers: list[bytes], most: int = 4) -> AsyncIterator[tuple[HttpClient, Served]]:
    """A client, and a server that answers so, connection by connection."""
    served = Served(list(answers))
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    http = HttpClient(ssl.create_default_context(), connect_s=0.2, most=most, idle=most)
    try:
        yield http, served
    finally:
        await http.close()
        server.close()
        await server.wait_closed()


async def ask(http: HttpClient, served: Served, path: str) -> bytes:
    """What is answered to a request for it."""
    return await (await http.send("GET", f"{served.url}{path}", [("Host", "here")], answer_s=5)).read()


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (OK, b"ok"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", b"to the end"),
    ],
)
async def test_an_answer_is_read_whole(answer: bytes, body: bytes) -> None:
    async with client([answer]) as (http, served):
        assert await ask(http, served, "/a?b=c") == body
        assert served.asked == [[b"GET /a?b=c HTTP/1.1"]]


async def test_a_connection_serves_the_next_request_until_the_server_hangs_up() -> None:
    async with client([OK, OK], [OK]) as (http, served):
        assert [await ask(http, served, path) for path in ("/1", "/2")] == [b"ok", b"ok"]
        await served.hung_up(1)
        assert await ask(http, served, "/3") == b"ok"
        assert [len(asked) for asked in served.asked] == [2, 1]


@pytest.mark.parametrize("late", [False, True])
async def test_what_nobody_asked_for_is_no_answer_to_the_next_request(late: bool) -> None:
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
    async with client([OK if late else OK + forged, b""], [OK]) as (http, served):
        assert await ask(http, served, "/1") == b"ok"
        if late:
            served.writers[0].write(forged)
            await heard()
        assert await ask(http, served, "/2") == b"ok"


async def test_requests_beside_each_other_have_a_connection_each_and_wait_for_room() -> None:
    async with client([OK], [OK], most=2) as (http, served):
        answers = [await http.send("GET", served.url, [("Host", "here")]) for _ in "12"]
        with pytest.raises(NotSentError):
            await http.send("GET", served.url, [("Host", "here")])
        answers[0].close()
        assert await answers[1].read() == b"ok"


@pytest.mark.parametrize(
    ("answers", "unseen"), [([b""], False), ([b"no HTTP\r\n\r\n"], False), ([OK[:-1]], False), ([OK, b""], True)]
)
async def test_what_becomes_of_a_request_when_the_connection_breaks(answers: list[bytes], unseen: bool) -> None:
    async with client(answers) as (http, served):
        for _ in answers[1:]:
            assert await ask(http, served, "/") == b"ok"
        with pytest.raises(LostError) as lost:
            await ask(http, served, "/")
        assert lost.value.unseen is unseen


async def test_where_nobody_listens_nothing_was_sent_and_silence_ends_in_time() -> None:
    async with client([]) as (http, served):
        with pytest.raises(NotSentError):
            await http.send("GET", "http://127.0.0.1:1/", [("Host", "here")])
    async with client([OK]) as (http, served):
        served.silent = True
        with pytest.raises(TimeoutError):
            await http.send("GET", served.url, [("Host", "here")], answer_s=0.01)


async def test_who_is_cancelled_while_a_connection_is_made_leaves_no_socket() -> None:
    async with client(*[[OK]] * 30) as (http, served):
        for turns in range(30):
            asking = asyncio.ensure_future(ask(http, served, "/"))
            for _ in range(turns):
                await asyncio.sleep(0)  # noqa: TID251 - a step of the loop, at each of which it is cancelled once
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await heard()
    gc.collect()  # what nobody closed is told of here
