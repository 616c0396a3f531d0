"""A model that is a function: the test decides what it answers, and sees every request."""

import asyncio
from collections.abc import Callable

from bot.core.models import Completion, ModelRequest, ToolCall, Usage
from bot.core.ports import Model

Answer = Completion | Exception | str

RIGHT = '{"wrong": []}'
"""What a second look at a digest answers that finds nothing wrong: what a script says to it that is none."""


def says(text: str, *, prompt_tokens: int = 0) -> Completion:
    """A plain answer; with `prompt_tokens` the server counted."""
    usage = Usage(prompt_tokens, 0, len(text)) if prompt_tokens else None
    return Completion(text, (), usage)


def calls(*calls: tuple[str, str]) -> Completion:
    """An answer that asks for tools: (name, arguments as JSON)."""
    asked = tuple(ToolCall(f"call_{number}", name, arguments) for number, (name, arguments) in enumerate(calls))
    return Completion("", asked, None)


class ScriptedModel:
    """Answers with `script(request)`; `digests` is what a digest request gets (None: this model makes none).

    With a `wire` it only keeps the requests: that model answers them.
    """

    name = "scripted"
    dialect = "scripted"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.script: Callable[[ModelRequest], Answer] = lambda request: "好的"
        self.wire: Model | None = None
        self.digests = False
        self.gate: asyncio.Event | None = None
        self.held = 0

    async def complete(self, request: ModelRequest) -> Completion:
        """Record the request, wait while the gate is shut, answer."""
        self.requests.append(request)
        if self.gate is not None:
            self.held += 1
            try:
                await self.gate.wait()
            finally:
                self.held -= 1
        if self.wire is not None:
            return await self.wire.complete(request)
        answer = self.script(request)
        if isinstance(answer, Exception):
            raise answer
        if request.shape is not None and request.shape.name == "check" and '"wrong"' not in str(answer):
            answer = RIGHT
        return says(answer) if isinstance(answer, str) else answer

    async def body(self, request: ModelRequest) -> bytes:
        """The prompt as it is stored."""
        return "\n".join(message.canonical() for message in request.prompt.messages).encode()

    async def close(self) -> None:
        """Nothing is held."""


OGG = b"OggS" + bytes(60)


class ScriptedSpeaker:
    """Speaks with a recording of no content; a `fault` is raised instead, and a `gate` lets every call wait."""

    name = "speaker"

    def __init__(self) -> None:
        self.spoken: list[str] = []
        self.fault: Exception | None = None
        self.gate: asyncio.Event | None = None

    async def speak(self, text: str, deadline_s: float) -> bytes:
        """Keep what is spoken, wait while the gate is shut, answer."""
        self.spoken.append(text)
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return OGG

    async def close(self) -> None:
        """Nothing is held."""


class ScriptedPainter:
    """Draws with a picture of no content; a `fault` is raised instead, and a `gate` lets every call wait."""

    name = "painter"

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.fault: Exception | None = None
        self.gate: asyncio.Event | None = None

    async def draw(self, prompt: str, deadline_s: float) -> bytes:
        """Keep what is drawn, wait while the gate is shut, answer."""
        self.drawn.append(prompt)
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return b"\x89PNG\r\n\x1a\n" + bytes(40)

    async def close(self) -> None:
        """Nothing is held."""
