"""The only module that imports openai: calls, response shapes, size limits and errors. Loaded in a thread at first
use."""

import asyncio
import base64
import json
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, Literal

import anyio._backends._asyncio  # noqa: F401 - openai would load it in its first request
import httpx2
import openai

from bot.core.errors import ModelError
from bot.core.http import (
    KEPT_OPEN_S,
    STALE_S,
    UNANSWERED_MS,
    Answer,
    HttpClient,
    LostError,
    NotSentError,
    is_local,
    is_proxied,
)
from bot.core.models import ModelRequest, Prompt, ToolSpec
from bot.model.completion import CompletionBuilder, describe_error, fault_of, label
from bot.model.dialect import Dialect
from bot.text.clean import clean

MOST_BYTES = 16_000_000
"""Of one answer, unpacked: far above what any needs, far below what a machine has."""
STEP_BYTES = 65_536
"""What is unpacked at a time."""
GZIP_OR_DEFLATE = 32 + zlib.MAX_WBITS
"""gzip as well as deflate, by what the first bytes say."""

QUOTING_STATUSES = (400, 413, 422)
"""Statuses about the request itself: their messages may quote what people wrote."""
CONNECT_S = 5.0
"""Seconds to reach the server (the library's own default); everything else is under the request's deadline."""
MOST_CONNECTIONS, MOST_IDLE = 1_000, 100
"""As the library has it."""
DETAIL_CHARS = 300
"""Characters of an error's detail: one line of a log."""

LONGEST_WAIT_S = 86_400.0
"""What a server may want one to wait, in seconds: a day."""

_SECRETS = re.compile(r"bearer\s+\S+|authorization\S*\s*\S*|\b[sg]k-[\w*-]{6,}|//[^/\s@]*@", re.IGNORECASE)
_UNREADABLE = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError)
_BROKEN = (ValueError, TypeError, AttributeError, RecursionError, ExceptionGroup)
"""Broken JSON and wrong encodings are ValueErrors; a shape that the library did not expect makes the others."""


@lru_cache(maxsize=8)
def _sent_tools(tools: tuple[ToolSpec, ...]) -> list[dict[str, object]]:
    """Tools as they are sent, made once for all requests: nobody changes them."""
    return [tool.wire() for tool in tools]


async def bound_response(response: httpx2.Response) -> None:
    """For the hooks of a client: reading this answer ends with a ModelError where it is longer than MOST_BYTES.

    Packed answers are not asked for. A thousandth of that is enough to fill the memory, so they are unpacked here.
    """
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity", "gzip", "deflate"):
        raise ModelError("invalid", "the server packs its answers though nobody asked for it")
    if packed in ("gzip", "deflate"):
        del response.headers["content-encoding"]
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, packed=packed in ("gzip", "deflate"))


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, *, packed: bool) -> None:
        self._stream = stream
        self._unpacker = zlib.decompressobj(GZIP_OR_DEFLATE) if packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for raw in self._stream:
            for piece in self._pieces(raw):
                left -= len(piece)
                if left < 0:
                    raise ModelError("invalid", f"the answer is longer than {MOST_BYTES // 1_000_000} MB")
                yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _pieces(self, raw: bytes) -> Iterator[bytes]:
        if self._unpacker is None:
            yield raw
            return
        piece = b""
        while raw or len(piece) == STEP_BYTES:
            try:
                piece = self._unpacker.decompress(raw, STEP_BYTES)
            except zlib.error:
                raise ModelError("invalid", "the server's answer cannot be unpacked") from None
            raw = self._unpacker.unconsumed_tail
            yield piece


class _Direct(httpx2.AsyncBaseTransport):
    """The library's requests over our own connections: a fifth of the time that its own ones take."""

    def __init__(self, certificates: ssl.SSLContext) -> None:
        self._http = HttpClient(certificates, connect_s=CONNECT_S, most=MOST_CONNECTIONS, idle=MOST_IDLE)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body, address = await request.aread(), str(request.url)
        try:
            answer = await self._http.send(request.method, address, request.headers.raw, body)
        except LostError as error:
            raise (httpx2.ConnectError if error.unseen else httpx2.ReadError)(str(error)) from error
        except NotSentError as error:
            raise httpx2.ConnectError(str(error)) from error
        return httpx2.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    async def aclose(self) -> None:
        await self._http.close()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._answer.pieces():
                yield piece
        except LostError as error:
            raise httpx2.ReadError(str(error)) from error

    async def aclose(self) -> None:
        self._answer.close()


class _Delivery:
    """What became of one request on its way through a proxy, as the library's `trace` tells it."""

    def __init__(self) -> None:
        self._asked_at = asyncio.get_running_loop().time()
        self._used, self._answered = True, False

    async def __call__(self, event: str, told: Mapping[str, Any]) -> None:
        match event:
            case "connection.connect_tcp.complete":
                self._used = False
                if hasattr(socket, "TCP_USER_TIMEOUT"):
                    opened = told["return_value"].get_extra_info("socket")
                    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_MS)
            case "http11.receive_response_headers.complete":
                self._answered = True

    def failed(self, cause: BaseException) -> bool:
        """Whether the server cannot have begun: it had closed the connection, or acknowledged nothing."""
        soon = asyncio.get_running_loop().time() - self._asked_at < STALE_S
        return not self._answered and (
            (self._used and soon) or any(isinstance(e, TimeoutError) for e in _causes(cause))
        )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class Transport:
    """One client of the library; building it is slow (0.2 s), so it is built in a thread too."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        name: str,
        *,
        stream: bool,
        speaks: Dialect,
        sees: Dialect,
        proxy: str = "",
    ) -> None:
        self._name = name
        self._api_key = api_key
        self._stream = stream
        self._speaks = speaks
        self._sees = sees
        self._sending: dict[asyncio.Task[object] | None, Callable[[], None]] = {}
        try:
            self._proxied = is_proxied(base_url, proxy)
            self._client = _connect(base_url, api_key, proxy, self._on_request)
        except (ValueError, httpx2.InvalidURL):
            raise ModelError("unreachable", "base_url is no address") from None

    async def ask(self, request: ModelRequest, answer: CompletionBuilder) -> None:
        """Send one request and feed what comes back to `answer`; raises ModelError, without a secret in it."""
        task = asyncio.current_task()
        if request.on_sent is not None:
            self._sending[task] = request.on_sent
        try:
            with self._translated():
                await self._ask(self._client, request, answer)
        finally:
            self._sending.pop(task, None)

    async def see(
        self, model: str, picture: bytes, mime: str, question: str, max_tokens: int, answer: CompletionBuilder
    ) -> None:
        """Ask another model of the server about a picture; raises as `ask`."""
        once = ModelRequest(Prompt((), ()), max_tokens, 0.0, 0.0)
        url = f"data:{mime};base64,{base64.b64encode(picture).decode()}"
        parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
        body = {"model": model, "messages": [{"role": "user", "content": parts}], "stream": False}
        with self._translated():
            limits = self._sees.limits(once) | self._sees.fields(once)
            _take(await self._post(self._client, body | limits, {}, stream=False), answer)

    async def listen(self, model: str, sound: bytes, name: str) -> str:
        """What is said in a recording; raises as `ask`."""
        with self._translated():
            # The library loads this part at its first use: beside the event loop.
            audio = await asyncio.to_thread(lambda: self._client.audio.transcriptions)
            heard = await audio.create(
                model=model, file=(name, sound), response_format="json", extra_headers=self._headers
            )
            text: object = getattr(heard, "text", None)
            if not isinstance(text, str):
                raise ModelError("invalid", "the server answered no transcription: is media.voice one of its models?")
            return clean(text).strip()

    async def speak(self, text: str, voice: str, kind: Literal["opus", "mp3"]) -> bytes:
        """A recording of that text, unread; raises as `ask`."""
        with self._translated():
            audio = await asyncio.to_thread(lambda: self._client.audio.speech)
            spoken = await audio.create(
                model=self._name, voice=voice, input=text, response_format=kind, extra_headers=self._headers
            )
            return spoken.content

    async def draw(self, prompt: str, size: str, *, wants_base64: bool) -> str:
        """The picture of a description, in base64; raises as `ask`."""
        with self._translated():
            images = await asyncio.to_thread(lambda: self._client.images)
            # Servers that know only one form refuse to be asked for it.
            form: Literal["b64_json"] | openai.Omit = "b64_json" if wants_base64 else openai.omit
            drawn = await images.generate(
                model=self._name, prompt=prompt, size=size, n=1, response_format=form, extra_headers=self._headers
            )
            pictures = getattr(drawn, "data", None) or (None,)
            found: object = getattr(pictures[0], "b64_json", None)
            if not isinstance(found, str):
                raise ModelError("invalid", "the server answered no picture: is image.model one of its models?")
            return found

    async def embed(self, texts: Sequence[str], dimensions: int | None) -> bytes:
        """The server's answer to a request for the vectors of these texts, unread; raises as `ask`."""
        with self._translated():
            # Asked for by name: without it the library asks for base64, which some servers refuse and some ignore.
            answer = await self._client.embeddings.with_raw_response.create(
                model=self._name,
                input=list(texts),
                dimensions=dimensions or openai.omit,
                encoding_format="float",
                extra_headers=self._headers,
            )
            return answer.content

    async def names(self) -> tuple[str, ...]:
        """The models of the server, as it lists them; none where it has no such list."""
        with self._translated():
            try:
                listed = await self._client.models.list(extra_headers=self._headers)
            except openai.APIStatusError as error:
                if error.status_code in (404, 405, 501):
                    return ()
                raise
            return tuple(model.id for model in listed.data if isinstance(model.id, str) and model.id)

    async def body(self, request: ModelRequest) -> bytes:
        """The bytes `ask` would send."""
        sent: list[bytes] = []

        def look(looked: httpx2.Request) -> httpx2.Response:
            sent.append(looked.content)
            return httpx2.Response(200, json={})

        async with httpx2.AsyncClient(transport=httpx2.MockTransport(look)) as transport:
            client = self._client.copy(http_client=transport)
            await self._ask(client, request, CompletionBuilder(frozenset()))
        return sent[0]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, client: openai.AsyncOpenAI, request: ModelRequest, answer: CompletionBuilder) -> None:
        speaks = self._speaks
        body: dict[str, object] = {"model": self._name, "messages": speaks.messages(request)}
        if request.prompt.tools:
            body["tools"] = _sent_tools(request.prompt.tools)
        body["stream"] = self._stream
        if self._stream:
            body["stream_options"] = {"include_usage": True}
        body |= speaks.limits(request) | speaks.fields(request)
        response = await self._post(client, body, speaks.headers(request), stream=self._stream)
        if isinstance(response, openai.AsyncStream):
            await _read(response, answer)
        else:
            _take(response, answer)

    async def _post(
        self, client: openai.AsyncOpenAI, body: dict[str, object], headers: dict[str, str], *, stream: bool
    ) -> object:
        """Send the bytes of a body once made: the library's own methods look through every message for what it may
        have to change (a tenth of all processor time), and there is nothing."""
        return await client.post(
            "/chat/completions",
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(),
            options={"headers": self._headers | headers},
            cast_to=object,
            stream=stream,
            stream_cls=openai.AsyncStream[object],
        )

    async def _on_request(self, request: httpx2.Request) -> None:
        """For the hooks of the client: the request of this task goes out."""
        if self._proxied:
            request.extensions["trace"] = _Delivery()
        if (on_sent := self._sending.pop(asyncio.current_task(), None)) is not None:
            on_sent()

    @property
    def _headers(self) -> dict[str, str | openai.Omit]:
        return {} if self._api_key else {"Authorization": openai.omit}

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Whatever goes wrong inside is a ModelError without a secret in it."""
        try:
            yield
        except ModelError as error:
            raise self._without_secrets(error) from None
        except (*_UNREADABLE, *_BROKEN) as error:
            # `from None`: the library's error holds the request with its headers, and what the server echoed.
            raise self._without_secrets(_translate(error)) from None

    def _without_secrets(self, error: ModelError) -> ModelError:
        return ModelError(
            error.fault,
            self._clean(error.detail),
            self._clean(error.said),
            limited=error.limited,
            wait_s=error.wait_s,
            final=error.final,
        )

    def _clean(self, detail: str) -> str:
        """One short line without the key, whatever a server echoed."""
        if self._api_key:
            detail = detail.replace(self._api_key, "***")
        return _SECRETS.sub("***", " ".join(detail.split()))[:DETAIL_CHARS]


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """By what servers are known; all clients share it, as the machine's certificates take 30 ms to read."""
    return httpx2.create_ssl_context(trust_env=trust_env)


def _connect(
    base_url: str, api_key: str, proxy: str, on_request: Callable[[httpx2.Request], Awaitable[None]]
) -> openai.AsyncOpenAI:
    timeout = httpx2.Timeout(None, connect=CONNECT_S)
    # A proxy of the environment must not stand between nuan and a server on this machine.
    local = is_local(base_url)
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key or "none",  # never None: the library would take a key from the environment
        timeout=timeout,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpx2Client(
            timeout=timeout,
            base_url=base_url,
            verify=_certificates(not local),
            proxy=proxy or None,
            transport=None if is_proxied(base_url, proxy) else _Direct(_certificates(not local)),
            headers={"Accept-Encoding": "identity"},
            event_hooks={"request": [on_request], "response": [bound_response]},
            limits=httpx2.Limits(
                max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_IDLE, keepalive_expiry=KEPT_OPEN_S
            ),
        ),
    )


async def _read(stream: openai.AsyncStream[object], answer: CompletionBuilder) -> None:
    """Feed a stream to the answer, closing it whatever happens."""
    async with stream:
        kind = stream.response.headers.get("content-type", "")
        if "json" in kind:  # a server that does not stream, or an error with status 200
            answer.add(json.loads(await stream.response.aread()))
            return
        if "html" in kind:
            raise ModelError("invalid", f"the server answered {kind}: is base_url right?")
        async for chunk in stream:
            answer.add(chunk)


def _take(response: object, answer: CompletionBuilder) -> None:
    """Feed a whole response to the answer; the library hands out a bare text where the server does not call it JSON."""
    try:
        body = json.loads(response) if isinstance(response, str) else response
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ModelError("invalid", "the server answered no JSON object: is base_url right?")
    answer.add(body)


def _translate(error: Exception) -> ModelError:
    """Our error for one of the library's."""
    match error:
        case openai.APIStatusError():
            return _of_status(error)
        case openai.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError() | OSError():
            cause = error.__cause__ or error
            if isinstance(cause, ModelError):
                return cause
            lost = isinstance(cause, httpx2.ReadError | httpx2.RemoteProtocolError | httpx2.StreamError)
            if lost and isinstance(error, openai.APIConnectionError):
                delivery = error.request.extensions.get("trace")
                lost = not (isinstance(delivery, _Delivery) and delivery.failed(cause))
            return ModelError("cut" if lost else "unreachable", f"{type(cause).__name__}: {cause}")
        case openai.APIError():
            shown = {"code": error.code, "type": error.type, "message": error.message}
            return ModelError(
                fault_of(shown), f"error in the stream: {error.code or error.type or ''}", describe_error(shown)
            )
        case httpx2.InvalidURL() | ExceptionGroup():  # the library's own try to connect to a port that cannot be
            return ModelError("unreachable", "base_url is no address")
        case _:
            # The texts of these errors may quote the answer, which is people's talk.
            return ModelError("invalid", f"the server's answer cannot be read: {type(error).__name__}")


def _of_status(error: openai.APIStatusError) -> ModelError:
    """What an HTTP status means: overflow, filtered, busy (another try may help) or refused (none will)."""
    status = error.status_code
    page = isinstance(error.body, str) and error.body.lstrip().startswith("<")
    said = "a page, no JSON" if page else describe_error(error.body)
    # Any server may quote the prompt in its message: only code and type, single words, are safe in a log.
    detail = " ".join((f"HTTP {status}", "a page, no JSON" if page else label(error.body))).strip()
    if status in QUOTING_STATUSES:
        fault = fault_of(said)
        return ModelError(fault if fault in ("overflow", "filtered") else "refused", detail, said)
    if status == 429 and "insufficient_quota" in said:
        return ModelError("refused", detail, said)
    if status in (408, 409, 425, 429) or status >= 500:
        wait = _seconds(error.response.headers.get("retry-after", ""))
        detail = detail if wait is None else f"{detail} (retry after {wait:g} s)"
        return ModelError("busy", detail, said, limited=status == 429, wait_s=wait)
    return ModelError("refused", detail, said)


def _seconds(header: str) -> float | None:
    """The seconds of a Retry-After header, at most a day; None for a date: clocks that differ would mislead."""
    return min(float(header[:9]), LONGEST_WAIT_S) if header.isascii() and header.isdigit() else None
