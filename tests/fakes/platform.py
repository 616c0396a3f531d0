"""A platform with every skill (sizes, previews, scripted answers), and a model that streams; for tests of sending."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.core.errors import ModelError, SendError
from bot.core.events import Outgoing
from bot.core.models import Completion, ModelRequest
from tests.fakes.model import ScriptedModel, says
from tests.world import Talk


@dataclass
class Lively(Talk):
    """What people see: `shown` holds each message by its id.

    `fates` are raised by the next sends, one each, `lost` by what is shown next, once people see it; what is shown
    waits for `slow`.
    """

    resends: bool = False
    placeholder: bool = False
    edit_interval_ms: int = 1_500
    size: int = 100
    fates: list[SendError] = field(default_factory=list)
    lost: list[SendError] = field(default_factory=list)
    shown: dict[str, str] = field(default_factory=dict)
    history: list[tuple[str, str]] = field(default_factory=list)
    slow: asyncio.Event | None = None

    def parts(self, text: str) -> tuple[str, ...]:
        """Messages of at most `size` characters."""
        return tuple(text[start : start + self.size] for start in range(0, len(text), self.size)) or ("",)

    async def show(self, outgoing: Outgoing) -> str:
        """Send or edit a preview."""
        number = outgoing.preview_id or f"m{len(self.shown) + 1}"
        self.shown[number] = outgoing.text
        self.history.append((number, outgoing.text))
        if self.lost:
            raise self.lost.pop(0)
        if self.slow is not None:
            await self.slow.wait()
        return number

    async def withdraw(self, outgoing: Outgoing) -> None:
        """Take a message away."""
        del self.shown[outgoing.preview_id]

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it, or answer as scripted."""
        if self.fates:
            raise self.fates.pop(0)
        await super().send(outgoing)
        return (await self.show(outgoing),)


@dataclass
class Drafting(Lively):
    """A platform that shows what is being written without sending it."""

    draft_interval_ms: int = 700
    drafts: list[str] = field(default_factory=list)

    async def draft(self, outgoing: Outgoing) -> bool:
        """Show it."""
        self.drafts.append(outgoing.text)
        return True


class StreamingModel(ScriptedModel):
    """Writes piece by piece, as a test tells it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = ""
        self.fault: ModelError | None = None
        self._hear: Callable[[Callable[[], str]], None] | None = None
        self._done = asyncio.Event()

    @property
    def writing(self) -> bool:
        """Whether somebody listens."""
        return self._hear is not None

    async def stream(self, request: ModelRequest, hear: Callable[[Callable[[], str]], None]) -> Completion:
        """Wait for the test to finish the text."""
        self.requests.append(request)
        self.written, self._hear, self._done = "", hear, asyncio.Event()
        await self._done.wait()
        self._hear = None
        if self.fault is not None:
            raise self.fault
        return says(self.written)

    def write(self, piece: str) -> None:
        """More of the text."""
        assert self._hear is not None
        self.written += piece
        self._hear(lambda: self.written)

    def finish(self) -> None:
        """The text is whole."""
        self._done.set()
