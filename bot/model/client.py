"""Models behind an OpenAI-compatible server, for chats, vectors, speech and pictures; never retries, logs or counts money."""

import asyncio
import base64
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from bot.core.errors import ModelError
from bot.core.models import Completion, Embeddings, ModelRequest
from bot.lazy_packages import load_parts_when_asked, loading_without
from bot.model.completion import CompletionBuilder, describe_error, fault_of, label
from bot.model.dialect import PLAIN_DIALECT, Dialect
from bot.text.files import picture_ending, sound_ending

if TYPE_CHECKING:
    from bot.model.transport import Transport

T = TypeVar("T")

OTHER_CLIENT = "openai._vendor.httpx_aiohttp"
"""Another way of the library to make requests, which brings aiohttp with it."""


class ServerClient:
    """One server and one model name; the library and its connections are loaded at the first use, in a thread (about
    1 s). An empty `api_key` sends no Authorization header.

    `speaks` is what the provider wants otherwise than others, `sees` what its model for pictures wants.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        name: str,
        *,
        stream: bool = True,
        proxy: str = "",
        speaks: Dialect = PLAIN_DIALECT,
        sees: Dialect = PLAIN_DIALECT,
    ) -> None:
        def load() -> "Transport":
            load_parts_when_asked("openai.types")
            with loading_without(OTHER_CLIENT):
                from bot.model.transport import Transport

            return Transport(base_url, api_key, name, stream=stream, speaks=speaks, sees=sees, proxy=proxy)

        self.name = name
        self.dialect = speaks.capabilities.provider
        self._stream = stream
        self._speaks = speaks
        self._load = load
        self._loading = asyncio.Lock()
        self._loaded: Transport | None = None

    async def prepare(self) -> "Transport":
        """The connections, loaded once however many ask for them: before the first answer, so that it need not wait."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self._load)
            return self._loaded

    async def reach(self, deadline_s: float) -> tuple[str, ...]:
        """The names of the server's models, for nothing; raises ModelError. A server may have no list: none."""
        return await within_deadline(deadline_s, (await self.prepare()).names())

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        transport, self._loaded = self._loaded, None
        if transport is not None:
            await transport.close()


async def within_deadline(deadline_s: float, call: Awaitable[T], late: str = "no end") -> T:
    """What a call gives within `deadline_s` seconds, else ModelError, which says what is `late`."""
    try:
        async with asyncio.timeout(deadline_s):
            return await call
    except TimeoutError:
        raise ModelError("timeout", f"{late} after {deadline_s:g} s") from None


class OpenAIModel(ServerClient):
    """A chat model behind such a server."""

    digests = True
    _only_ends = False

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer within `deadline_s` seconds, or raise ModelError; cancelling closes the connection."""
        return await self.stream(request, lambda _: None)

    async def stream(self, request: ModelRequest, hear: Callable[[Callable[[], str]], None]) -> Completion:
        """As `complete`; `hear` gets a function for the text so far, each time there is more of it."""
        transport = await self.prepare()
        taken = frozenset(call.id for message in request.prompt.messages for call in message.tool_calls)
        can, keep = self._speaks.capabilities, self._speaks.keeps_reasoning
        answer = CompletionBuilder(
            taken,
            keep_reasoning=keep,
            hear=hear,
            counted=(can.usage_cached, can.usage_written),
            only_ends=self._only_ends,
        )
        # What thinks in silence begins late; what does not stream has no beginning.
        first_s = request.first_s if self._stream and not self._speaks.thinking else 0
        await _ask_within(request, first_s or None, answer, transport.ask(request, answer))
        completion, self._only_ends = answer.completion(), answer.only_ends
        return completion

    async def see(
        self, model: str, picture: bytes, mime: str, question: str, max_tokens: int, deadline_s: float
    ) -> Completion:
        """What another model of the server answers about a picture, cut at `max_tokens`; raises ModelError."""
        transport, answer = await self.prepare(), CompletionBuilder(frozenset(), whole=False)
        await within_deadline(deadline_s, transport.see(model, picture, mime, question, max_tokens, answer))
        return answer.completion()

    async def listen(self, model: str, sound: bytes, name: str, deadline_s: float) -> str:
        """What is said in a recording, "" when nothing is; raises ModelError."""
        transport = await self.prepare()
        return await within_deadline(deadline_s, transport.listen(model, sound, name))

    async def body(self, request: ModelRequest) -> bytes:
        """The exact bytes that `complete` would send, made by the same call against a transport that only looks."""
        return await (await self.prepare()).body(request)


async def _ask_within(
    request: ModelRequest, first_s: float | None, answer: CompletionBuilder, asking: Awaitable[None]
) -> None:
    """Ask until the deadline, and with `first_s` until the first piece is late; ModelError says which it was."""
    begins = asyncio.timeout(first_s)
    try:
        async with asyncio.timeout(request.deadline_s), begins:
            answer.on_begin = lambda: begins.reschedule(None)
            await asking
    except TimeoutError:
        if begins.expired():
            raise ModelError("timeout", f"no beginning after {first_s:g} s") from None
        after = f"no end after {request.deadline_s:g} s and {answer.chunks} chunks"
        raise ModelError("timeout", after) from None


class OpenAIEmbedder(ServerClient):
    """A model for vectors behind such a server; `dimensions` is asked for where it is given, else its own count."""

    calls = means = True
    least_cosine = 0.05

    def __init__(self, base_url: str, api_key: str, model: str, dimensions: int | None = None, proxy: str = "") -> None:
        super().__init__(base_url, api_key, model, proxy=proxy)
        self.name = f"{model}-{dimensions}" if dimensions else model
        self.model = model
        self._dimensions = dimensions

    async def load(self, wait_s: float, *, anew: bool = False) -> bool:
        """Its server is asked, whenever that is."""
        del wait_s, anew
        return True

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embeddings:
        """The vectors within `deadline_s` seconds, or ModelError, whatever the server answers."""
        return await within_deadline(deadline_s, self._embed(texts), "no vectors")

    async def _embed(self, texts: Sequence[str]) -> Embeddings:
        raw = await (await self.prepare()).embed(texts, self._dimensions)
        return await asyncio.to_thread(read_embeddings, raw, len(texts), self._dimensions)


class OpenAISpeaker(ServerClient):
    """A model that speaks with that voice, behind such a server."""

    def __init__(
        self, base_url: str, api_key: str, model: str, voice: str, kind: Literal["opus", "mp3"], proxy: str = ""
    ) -> None:
        super().__init__(base_url, api_key, model, proxy=proxy)
        self._voice = voice
        self._kind = kind

    async def speak(self, text: str, deadline_s: float) -> bytes:
        """The recording within `deadline_s` seconds, or ModelError, whatever the server answers."""
        sound = await within_deadline(deadline_s, self._speak(text), "no recording")
        if not sound_ending(sound):
            raise ModelError("invalid", "the server answered no recording: is voice.model one of its models?")
        return sound

    async def _speak(self, text: str) -> bytes:
        return await (await self.prepare()).speak(text, self._voice, self._kind)


class OpenAIPainter(ServerClient):
    """A model that draws pictures of that size, behind such a server; `wants_base64`: it has to be told that no address is
    wanted."""

    def __init__(
        self, base_url: str, api_key: str, model: str, size: str, proxy: str = "", *, wants_base64: bool = True
    ) -> None:
        super().__init__(base_url, api_key, model, proxy=proxy)
        self._size = size
        self._wants_base64 = wants_base64

    async def draw(self, prompt: str, deadline_s: float) -> bytes:
        """The picture within `deadline_s` seconds, or ModelError, whatever the server answers."""
        coded = await within_deadline(deadline_s, self._draw(prompt), "no picture")
        try:
            picture = await asyncio.to_thread(base64.b64decode, coded, validate=True)
        except ValueError:
            picture = b""
        if not picture_ending(picture):
            raise ModelError("invalid", "the server answered what is no picture")
        return picture

    async def _draw(self, prompt: str) -> str:
        return await (await self.prepare()).draw(prompt, self._size, wants_base64=self._wants_base64)


def read_embeddings(raw: bytes, count: int, dimensions: int | None) -> Embeddings:
    """The vectors of an answer to `count` texts; ModelError for anything but `count` vectors of finite numbers.

    All have the same length, that of `dimensions` where it is given. Numbers beyond float32 are no numbers.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise ModelError("invalid", "the server answered no JSON: is base_url right?") from None
    if not isinstance(body, dict):
        raise ModelError("invalid", "the server answered no JSON object: is base_url right?")
    if isinstance(body.get("error"), dict | str):
        shown = body["error"] if isinstance(body["error"], dict) else {"message": body["error"]}
        raise ModelError(fault_of(shown), f"an error with status 200: {label(body)}".strip(": "), describe_error(shown))
    rows = _rows(body.get("data"), count)
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not min(widths) > 0:
        raise ModelError("invalid", f"vectors of different lengths: {sorted(widths)[:4]}")
    if dimensions is not None and widths != {dimensions}:
        raise ModelError("invalid", f"vectors have {min(widths)} dimensions, asked for were {dimensions}")
    usage = body.get("usage")
    tokens = usage.get("prompt_tokens", usage.get("total_tokens")) if isinstance(usage, dict) else None
    counted = tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None
    return Embeddings(_packed(rows), min(widths), counted)


def _rows(data: object, count: int) -> list[list[float]]:
    """The vectors in the order of their index, where every one has its own, else as they came."""
    if not isinstance(data, list) or len(data) != count:
        found = f"{len(data)} vectors" if isinstance(data, list) else "no list of vectors"
        raise ModelError("invalid", f"the server answered {found} for {count} texts")
    if not all(isinstance(each, dict) and isinstance(each.get("embedding"), list) for each in data):
        raise ModelError("invalid", "a vector is no list of numbers")
    index = [each.get("index") for each in data]
    if all(type(place) is int for place in index):
        if sorted(index) != list(range(count)):
            raise ModelError("invalid", "the vectors are not numbered as the texts are")
        data = sorted(data, key=lambda each: int(each["index"]))
    return [each["embedding"] for each in data]


def _packed(rows: list[list[float]]) -> tuple[bytes, ...]:
    import numpy as np

    if not all(type(value) in (int, float) for row in rows for value in row):
        raise ModelError("invalid", "a vector holds what is no number")
    try:
        values = np.asarray(rows, dtype=np.float64)
    except (OverflowError, ValueError):
        raise ModelError("invalid", "a vector holds a number beyond all bounds") from None
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt((values * values).sum(axis=1, keepdims=True))
    if not all(math.isfinite(length) and length > 0 for length in lengths[:, 0].tolist()):
        raise ModelError("invalid", "a vector holds a number that is none, or only zeros")
    return tuple(row.tobytes() for row in (values / lengths).astype("<f4"))
