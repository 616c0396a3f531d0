"""The library `mcp` as a client: one connection to a server, what it offers, and calls, as plain values. It is opened
and closed by one task."""

import asyncio
import base64
import json
import logging
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bot import __version__
from bot.config.mcp import OutsideServer
from bot.core.errors import OutsideError, OutsideFault
from bot.core.tools import CallResult, Offer
from bot.tools.outside import make_offer

MOST_BYTES = 4_000_000
"""Of one line, of one answer over HTTP, and of all that a program says between two calls."""

MOST_PAGES, MOST_OFFERS = 20, 500
"""Of a listing: pages that are read, and what is taken from them."""

MOST_PICTURES = 4
"""Of one result."""

RESULT_CHARS = 200_000
"""Of a result that is kept."""

CONNECT_S, END_S = 10.0, 2.0
"""How long an address may take to answer, and a program to end by itself and after it is told to."""

TAIL_BYTES = 500
"""Of what a program last said on standard error."""

INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL", "TERM")
"""The variables of nuan's own environment that a program gets."""

logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # it quotes what servers say; ours is told in our own lines

T = TypeVar("T")

Heard = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Heard], MemoryObjectSendStream[SessionMessage]]


class ServerConnection:
    """An open connection. `ended` is set when the server is gone; `stale`: it says that it offers something else now."""

    def __init__(self, name: str, rules: OutsideServer) -> None:
        self.ended = asyncio.Event()
        self.stale = False
        self.flooded = False
        self.tail = b""
        self.heard_bytes = 0
        self._name = name
        self._rules = rules
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The library's."""
        assert self._client is not None
        return self._client

    def opened(self, client: Client) -> None:
        """It is open."""
        self._client = client

    async def notified(self, message: object) -> None:
        """What the server says unasked: only that its lists changed is of interest."""
        changed = (
            types.ToolListChangedNotification,
            types.ResourceListChangedNotification,
            types.PromptListChangedNotification,
        )
        if isinstance(message, changed):
            self.stale = True

    async def offers(self) -> tuple[Offer, ...]:
        """All that the server offers and the configuration lets through. OutsideError."""
        self.stale, self.heard_bytes = False, 0
        found = [offer for offer in await self._answer(self._listed()) if offer is not None]
        once = {offer.name: offer for offer in reversed(found) if self._rules.offers(offer.name)}
        return tuple(sorted(once.values(), key=lambda offer: offer.name))

    async def call(self, offer: Offer, arguments: dict[str, Any], seconds: float) -> CallResult:
        """Call it and wait so long at most. OutsideError."""
        self.heard_bytes = 0
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(self._called(offer, arguments))
        except TimeoutError:
            raise OutsideError("timeout", f"{seconds:g} s") from None

    async def _answer(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except MCPError as error:
            if self.ended.is_set() or error.code == types.CONNECTION_CLOSED or error.message == "Session terminated":
                raise self.broken() from error
            raise OutsideError("refused", str(error.code), error.message) from error
        except (ValidationError, ValueError, TypeError, KeyError, RuntimeError, RecursionError) as error:
            raise OutsideError("unreadable", type(error).__name__) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError) as error:
            raise self.broken() from error
        except httpx2.HTTPError as error:
            raise OutsideError("lost", type(error).__name__) from error

    def broken(self) -> OutsideError:
        """Why nothing is heard any more."""
        return OutsideError("flood" if self.flooded else "lost", said=self.last_words)

    @property
    def last_words(self) -> str:
        """What its program last said on standard error."""
        return self.tail.decode("utf-8", "replace").strip()

    async def _listed(self) -> list[Offer | None]:
        session, can, name = self.client.session, self.client.server_capabilities, self._name
        found: list[Offer | None] = []
        if can.tools is not None:
            cursor: str | None = None
            for _ in range(MOST_PAGES):
                tools = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
                found += [_tool(name, tool) for tool in tools.tools[:MOST_OFFERS]]
                cursor = tools.next_cursor
                if cursor is None or len(found) >= MOST_OFFERS:
                    break
        if can.resources is not None and self._rules.offers_any("resource."):
            listed = await session.list_resources()
            found += [_resource(name, each) for each in listed.resources[:MOST_OFFERS]]
        if can.prompts is not None and self._rules.offers_any("prompt."):
            prompts = await session.list_prompts()
            found += [_prompt(name, each) for each in prompts.prompts[:MOST_OFFERS]]
        return found[:MOST_OFFERS]

    async def _called(self, offer: Offer, arguments: dict[str, Any]) -> CallResult:
        session = self.client.session
        match offer.kind:
            case "resource":
                read = await session.read_resource(offer.address)
                return CallResult(_joined(_resource_text(each) for each in read.contents))
            case "prompt":
                texts = {name: str(value) for name, value in arguments.items()}
                filled = await session.get_prompt(offer.address, texts)
                return CallResult(_joined(_content_text(each.content) for each in filled.messages))
            case "tool":
                # Not the client's own call: that has each answer looked over by the schema and the patterns of the server.
                params = types.CallToolRequestParams(name=offer.address, arguments=arguments)
                request = types.CallToolRequest(params=params)
                result = await session.send_request(request, types.CallToolResult)
                text = _joined(_content_text(each) for each in result.content)
                if not text and result.structured_content is not None:
                    text = json.dumps(result.structured_content, ensure_ascii=False)
                images = [each for each in result.content if isinstance(each, types.ImageContent)][:MOST_PICTURES]
                pictures = tuple(base64.b64decode(image.data, validate=False) for image in images)
                return CallResult(text[:RESULT_CHARS], bool(result.is_error), pictures)


@asynccontextmanager
async def connected(name: str, rules: OutsideServer) -> AsyncIterator[ServerConnection]:
    """A connection while inside, for the task that enters it. OutsideError or whatever the library raises."""
    connection = ServerConnection(name, rules)
    async with AsyncExitStack() as stack:
        if rules.command:
            transport: Any = _program(rules, connection)
        else:
            headers = {key: value.get_secret_value() for key, value in rules.headers.items()}
            http = httpx2.AsyncClient(
                headers={"accept-encoding": "identity", **headers},
                timeout=httpx2.Timeout(CONNECT_S, read=float(rules.timeout_seconds)),
                transport=_BoundedTransport(),
            )
            await stack.enter_async_context(http)
            transport = streamable_http_client(rules.url, http_client=http)
        client = Client(
            transport,
            client_info=types.Implementation(name="nuan", version=__version__),
            message_handler=connection.notified,
            cache=None,
        )
        try:
            connection.opened(await stack.enter_async_context(client))
        except Exception as error:
            fault: OutsideFault = "flood" if connection.flooded else "absent"
            raise OutsideError(fault, _reason(error), connection.last_words) from error
        yield connection


def _reason(error: BaseException) -> str:
    """Why there is no connection, without anything that the server wrote."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return f"error {error.code}"
    return getattr(error, "strerror", None) or type(error).__name__


def _tool(server: str, tool: types.Tool) -> Offer | None:
    hints = tool.annotations
    said = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
    return make_offer(
        server,
        "tool",
        tool.name,
        tool.description or tool.title or "",
        tool.input_schema,
        reads=bool(hints and hints.read_only_hint),
        said=said,
    )


def _resource(server: str, resource: types.Resource) -> Offer | None:
    uri, about = str(resource.uri), resource.description or resource.title or resource.name
    said = {"uri": uri, "name": resource.name, "about": about}
    return make_offer(server, "resource", uri, about, {}, reads=True, said=said)


def _prompt(server: str, prompt: types.Prompt) -> Offer | None:
    wanted = prompt.arguments or []
    fields = {each.name: {"type": "string", "description": each.description or ""} for each in wanted}
    schema = {"type": "object", "properties": fields, "required": [each.name for each in wanted if each.required]}
    about = prompt.description or prompt.title or ""
    return make_offer(server, "prompt", prompt.name, about, schema, reads=True, said=[about, schema])


def _joined(texts: Any) -> str:
    return "\n".join(text for text in texts if text)[:RESULT_CHARS]


def _content_text(content: Any) -> str:
    match content:
        case types.TextContent():
            return content.text
        case types.ImageContent() | types.AudioContent():
            kind = "image" if isinstance(content, types.ImageContent) else "audio"
            return f"[{kind} {content.mime_type}, {len(content.data) * 3 // 4} bytes]"
        case types.EmbeddedResource():
            return _resource_text(content.resource)
        case types.ResourceLink():
            return f"{content.name}: {content.uri}"
        case _:
            return ""


def _resource_text(resource: Any) -> str:
    if isinstance(resource, types.TextResourceContents):
        return resource.text
    size = len(base64.b64decode(resource.blob, validate=False)) if len(resource.blob) < MOST_BYTES else 0
    return f"[{resource.mime_type or 'data'}, {size} bytes]"


class _Counted(httpx2.AsyncByteStream):
    """The body of an answer up to MOST_BYTES."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._inner:
            count += len(piece)
            if count > MOST_BYTES:
                raise httpx2.ReadError(f"more than {MOST_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        """Read no more."""
        await self._inner.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """Answers of a bounded size; one that is packed could be of any."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it."""
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("the answer is packed")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream)
        return response


@asynccontextmanager
async def _program(rules: OutsideServer, connection: ServerConnection) -> AsyncGenerator[Streams]:
    """The streams of a program that is started; at the end it is ended, with all that it started."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    own = {name: value.get_secret_value() for name, value in rules.env.items()}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        rules.command,
        *rules.args,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env={**inherited, **own},
        start_new_session=True,
        limit=MOST_BYTES,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    said, heard = anyio.create_memory_object_stream[Heard](0)
    to_say, to_write = anyio.create_memory_object_stream[SessionMessage](0)

    async def read(lines: asyncio.StreamReader) -> None:
        async with said:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                while line := await _line(lines, connection):
                    message = _message(line)
                    if message is not None:
                        await said.send(message)
        connection.ended.set()
        with suppress(OSError):
            while await lines.read(65_536):
                pass  # whoever is stuck in writing could not end

    async def write(pipe: asyncio.StreamWriter) -> None:
        async with to_write:
            with suppress(OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                async for message in to_write:
                    pipe.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                    await pipe.drain()

    async def drain(errors: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while piece := await errors.read(4_096):
                connection.tail = (connection.tail + piece)[-TAIL_BYTES:]

    async with anyio.create_task_group() as group:
        group.start_soon(read, process.stdout)
        group.start_soon(write, process.stdin)
        group.start_soon(drain, process.stderr)
        try:
            yield heard, to_say
        finally:
            with anyio.CancelScope(shield=True):
                for stream in (heard, to_say):
                    await stream.aclose()
                await _end(process)
            group.cancel_scope.cancel()


async def _line(lines: asyncio.StreamReader, connection: ServerConnection) -> bytes:
    """The next line; b"" when there is none, or too much was said."""
    try:
        line = await lines.readline()
    except ValueError:
        line, connection.flooded = b"", True
    connection.heard_bytes += len(line)
    if connection.heard_bytes > MOST_BYTES:
        connection.flooded = True
        return b""
    return line


def _message(line: bytes) -> SessionMessage | None:
    """The message of a line; None for what is none, as programs that print."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError):
        return None


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let a program end by itself, else tell it to, else end it, with its children."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    for sign in (None, signal.SIGTERM, signal.SIGKILL):
        if sign is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, sign)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await process.wait()
                return
