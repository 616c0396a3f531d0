"""A model behind an OpenAI-compatible server. It never retries, logs or counts money."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from bot.errors import ModelError
from bot.model.answer import Answer
from bot.model.dialect import PLAIN, Dialect
from bot.model.link import Link, within
from bot.types.prompt import Completion, Request

if TYPE_CHECKING:
    from bot.model.wire import Wire


class OpenAIModel:
    """One server and one model name; the library and its connections are loaded at the first use, in a thread.

    `speaks` is what the provider wants otherwise than others, `sees` what its model for pictures wants. An empty
    `api_key` sends no Authorization header.
    """

    digests = True

    def __init__(
        self,
        base_url: str,
        api_key: str,
        name: str,
        *,
        stream: bool = True,
        proxy: str = "",
        speaks: Dialect = PLAIN,
        sees: Dialect = PLAIN,
    ) -> None:
        self.name = name
        self.dialect = speaks.capabilities.provider
        self._base_url = base_url
        self._api_key = api_key
        self._stream = stream
        self._proxy = proxy
        self._speaks = speaks
        self._sees = sees
        self._link = Link(self._load)
        self._only_ends = False

    async def prepare(self) -> None:
        """Load the library now, so that the first answer need not wait for it (about 1 s)."""
        await self._link.wire()

    async def complete(self, request: Request) -> Completion:
        """Answer within `deadline_s` seconds, or raise ModelError; cancelling closes the connection."""
        return await self.stream(request, lambda _: None)

    async def stream(self, request: Request, hear: Callable[[Callable[[], str]], None]) -> Completion:
        """As `complete`; `hear` gets a function for the text so far, each time there is more of it."""
        wire = await self._link.wire()
        taken = frozenset(call.id for message in request.prompt.messages for call in message.tool_calls)
        can, keep = self._speaks.capabilities, self._speaks.keeps_reasoning
        answer = Answer(
            taken, keep_reasoning=keep, hear=hear, counted=(can.usage_cached, can.usage_written),
            only_ends=self._only_ends,
        )  # fmt: skip
        # What thinks in silence begins late; what does not stream has no beginning.
        first_s = request.first_s if self._stream and not self._speaks.thinking else 0
        await _within(request, first_s or None, answer, wire.ask(request, answer))
        completion, self._only_ends = answer.completion(), answer.only_ends
        return completion

    async def see(
        self, model: str, picture: bytes, mime: str, question: str, max_tokens: int, deadline_s: float
    ) -> Completion:
        """What another model of the server answers about a picture, cut at `max_tokens`; raises ModelError."""
        wire, answer = await self._link.wire(), Answer(frozenset(), whole=False)
        await within(deadline_s, wire.see(model, picture, mime, question, max_tokens, answer))
        return answer.completion()

    async def listen(self, model: str, sound: bytes, name: str, deadline_s: float) -> str:
        """What is said in a recording, "" when nothing is; raises ModelError."""
        wire = await self._link.wire()
        return await within(deadline_s, wire.listen(model, sound, name))

    async def reach(self, deadline_s: float) -> tuple[str, ...]:
        """The names of the server's models, for nothing; raises ModelError. A server may have no list: none."""
        wire = await self._link.wire()
        return await within(deadline_s, wire.names())

    async def body(self, request: Request) -> bytes:
        """The exact bytes that `complete` would send, made by the same call against a transport that only looks."""
        return await (await self._link.wire()).body(request)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._link.close()

    def _load(self) -> "Wire":
        from bot.model.wire import Wire

        return Wire(
            self._base_url, self._api_key, self.name, stream=self._stream, dialect=self._speaks, seeing=self._sees,
            proxy=self._proxy,
        )  # fmt: skip


async def _within(request: Request, first_s: float | None, answer: Answer, asking: Awaitable[None]) -> None:
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
