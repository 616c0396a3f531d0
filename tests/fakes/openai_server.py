"""A small OpenAI-compatible server on loopback that checks, records and answers by script. It is no model.

In a test: `async with FakeOpenAI(script) as server: … server.base_url … server.bodies`; as a process see `main`.
"""

import argparse
import asyncio
import hashlib
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, get_args
from urllib.parse import urlsplit

from tests.fakes.openai_dialects import DialectName, check_dialect, counted
from tests.fakes.openai_replies import error_json, play, send
from tests.fakes.openai_rules import Violation, check, items, mapping, tokens
from tests.fakes.openai_script import Asked, Recorded, Reply, Script, plain, rules
from tests.fakes.openai_senses import (
    SOUND_TYPES,
    check_picture,
    drawing,
    has_picture,
    pictures,
    recording,
    speech,
    transcription,
)


class FakeOpenAI:
    """The server. `requests` holds every request in order; `hung_up` is set when a client left before the end.

    It refuses what a server of this dialect refuses, and caches as that one does: whole prefixes, or marked ones only.
    """

    def __init__(
        self,
        script: Script = plain,
        *,
        key: str = "",
        port: int = 0,
        record: Path | None = None,
        dialect: DialectName = "any",
    ) -> None:
        self.requests: list[Recorded] = []
        self.hung_up = asyncio.Event()
        self._script = script
        self._key = key
        self._port = port
        self._record = record
        self._dialect: DialectName = dialect
        self._prefixes: set[bytes] = set()
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    @property
    def port(self) -> int:
        """The port, known after entering."""
        return self._port

    @property
    def base_url(self) -> str:
        """What goes into `model.base_url`."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def bodies(self) -> list[bytes]:
        """Every request body, byte for byte."""
        return [request.raw for request in self.requests]

    @property
    def violations(self) -> list[str]:
        """Every rule that was broken."""
        return [request.violation for request in self.requests if request.violation]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            raw = await reader.readexactly(int(headers.get("content-length", "0")))
            path = urlsplit(first.split(" ")[1]).path  # through a proxy the address is whole
            left = asyncio.ensure_future(reader.read())  # a client that leaves ends its side of the connection
            answer = asyncio.ensure_future(self._answer(path, headers, raw, writer))
            try:
                await asyncio.wait((left, answer), return_when=asyncio.FIRST_COMPLETED)
                if not answer.done():
                    self.hung_up.set()
            finally:
                answer.cancel()
                left.cancel()
                await asyncio.gather(answer, left, return_exceptions=True)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.hung_up.set()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, path: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        if self._key and headers.get("authorization") != f"Bearer {self._key}":
            wrong = headers.get("authorization", "").removeprefix("Bearer ")
            await send(writer, 401, error_json(f"Incorrect API key provided: {wrong}", "invalid_api_key"))
        elif path == "/v1/models":
            await send(writer, 200, json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}))
        elif path == "/v1/chat/completions":
            await self._complete(headers, raw, writer)
        elif path == "/v1/audio/transcriptions":
            await self._sense(
                headers,
                raw,
                writer,
                lambda: recording(headers, raw),
                lambda reply, _: send(writer, 200, transcription(reply)),
            )
        elif path == "/v1/audio/speech":
            await self._sense(
                headers,
                raw,
                writer,
                lambda: speech(raw),
                lambda reply, body: send(writer, 200, reply.text, SOUND_TYPES[str(body["response_format"])]),
            )
        elif path == "/v1/images/generations":
            await self._sense(
                headers, raw, writer, lambda: drawing(raw), lambda reply, _: send(writer, 200, pictures(reply))
            )
        else:
            await send(writer, 404, error_json(f"no such path: {path}", "not_found"))

    async def _complete(self, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        body: Mapping[str, object] = {}
        violation = ""
        try:
            body = mapping(json.loads(raw))
            (check_picture if has_picture(body) else check)(body)
            check_dialect(body, self._dialect)
        except (ValueError, Violation) as error:
            violation = str(error) or "no JSON"
        recorded = self._remember(headers, raw, body, violation)
        if violation:
            await send(writer, 400, error_json(violation, "invalid_request_error"))
            return
        reply = self._script(Asked(raw, body))
        await play(writer, reply, body, recorded)

    async def _sense(
        self,
        headers: Mapping[str, str],
        raw: bytes,
        writer: asyncio.StreamWriter,
        read: Callable[[], Mapping[str, object]],
        made: Callable[[Reply, Mapping[str, object]], Awaitable[None]],
    ) -> None:
        """A request that is no chat: `read` says what is asked or what is wrong, `made` sends what comes of it."""
        body: Mapping[str, object] = {}
        violation = ""
        try:
            body = read()
        except (ValueError, Violation) as error:
            violation = str(error) or "no JSON"
        recorded = self._remember(headers, raw, body, violation)
        if violation:
            await send(writer, 400, error_json(violation, "invalid_request_error"))
            return
        reply = self._script(Asked(raw, body))
        if reply.fault is None:
            await made(reply, body)
        else:
            await play(writer, reply, body, recorded)

    def _remember(self, headers: Mapping[str, str], raw: bytes, body: Mapping[str, object], violation: str) -> Recorded:
        total = shared = shared_tokens = 0
        digest, written = hashlib.sha256(), set[bytes]()
        known = () if violation else zip(items(body), counted(body, self._dialect), strict=True)
        for number, (item, ends) in enumerate(known, 1):
            digest.update(item.encode() + b"\n")
            total += tokens(item)
            if ends and digest.digest() in self._prefixes:
                shared, shared_tokens = number, total
            if ends:
                written.add(digest.digest())
        self._prefixes |= written
        recorded = Recorded(raw, violation, total, shared, shared_tokens, headers)
        self.requests.append(recorded)
        if self._record is not None:
            with self._record.open("a", encoding="utf-8") as file:
                file.write(recorded.line())
        return recorded


async def serve(script: Script, key: str, port: int, record: Path | None, dialect: DialectName = "any") -> None:
    """Serve until SIGTERM or the end of standard input; the first line of output is the port."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    # A thread of its own, because standard input may be a file, which an event loop cannot watch.
    threading.Thread(target=_wait_for_end, args=(loop, ended), daemon=True).start()
    async with FakeOpenAI(script, key=key, port=port, record=record, dialect=dialect) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        await ended.wait()


def _wait_for_end(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    while os.read(0, 4096):
        pass
    with suppress(RuntimeError):  # the loop has ended before
        loop.call_soon_threadsafe(ended.set)


def main() -> None:
    """`python -m tests.fakes.openai_server --port 0 --script FILE --record FILE [--key KEY] [--dialect NAME]`."""
    parser = argparse.ArgumentParser(prog="openai_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="JSON lines, see openai_script.rules")
    parser.add_argument("--record", type=Path, help="one JSON line for each request, written before the answer")
    parser.add_argument("--key", default="")
    parser.add_argument("--dialect", choices=get_args(DialectName), default="any")
    given = parser.parse_args()
    script = rules(given.script.read_text(encoding="utf-8").splitlines()) if given.script else plain
    asyncio.run(serve(script, given.key, given.port, given.record, given.dialect))


if __name__ == "__main__":
    main()
