"""A platform that has files, a model that sees and hears, and a World of both."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from bot.config.settings import Settings
from bot.core.events import Attachment, Incoming
from bot.core.models import Completion, Usage
from tests.fakes.model import ScriptedModel
from tests.world import Talk, World

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
CAT = "一只橘猫趴在窗台上"


@dataclass
class FileTalk(Talk):
    """A platform whose attachments can be fetched, by handle; `meanwhile` happens while one is."""

    files: dict[str, bytes | Exception] = field(default_factory=lambda: {"cat": PNG})
    fetched: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def fetch(self, attachment: Attachment, most: int) -> bytes:
        """The content, or the failure that is set for it."""
        self.fetched.append(attachment.handle)
        if self.meanwhile is not None:
            await self.meanwhile()
        found = self.files[attachment.handle]
        if isinstance(found, Exception):
            raise found
        return found


@dataclass(frozen=True, slots=True)
class Looked:
    """One call of the model that sees."""

    model: str
    picture: bytes
    question: str


class SeeingModel(ScriptedModel):
    """A scripted model with senses; `eyes_gate` lets every look after the first `eyes_free` wait."""

    def __init__(self) -> None:
        super().__init__()
        self.looked: list[Looked] = []
        self.heard: list[str] = []
        self.sight: Completion | Exception = Completion(CAT, (), Usage(900, 0, 20))
        self.speech: str | Exception = "明天下午三点见"
        self.eyes_gate: asyncio.Event | None = None
        self.eyes_free = 0

    async def see(
        self, model: str, picture: bytes, mime: str, question: str, max_tokens: int, deadline_s: float
    ) -> Completion:
        """What is set to be seen."""
        assert mime == "image/png"
        self.looked.append(Looked(model, picture, question))
        if self.eyes_gate is not None and len(self.looked) > self.eyes_free:
            self.held += 1
            try:
                await self.eyes_gate.wait()
            finally:
                self.held -= 1
        if isinstance(self.sight, Exception):
            raise self.sight
        return self.sight

    async def listen(self, model: str, sound: bytes, name: str, deadline_s: float) -> str:
        """What is set to be heard."""
        self.heard.append(f"{model} {name}")
        if isinstance(self.speech, Exception):
            raise self.speech
        return self.speech


class MediaWorld(World):
    """A World whose platform has files and whose model has senses."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        super().__init__(folder, settings)
        self.eyes = self.model = SeeingModel()
        self.files = self.talk = FileTalk()

    async def send(
        self, *attached: Attachment, text: str = "", who: str = "小王", group: str = "", **facts: str
    ) -> None:
        """Somebody sends something along."""
        await self.say(text, who, group, attachments=attached, **facts)

    def told(self) -> list[tuple[object, ...]]:
        """What is stored of every attachment."""
        return self.rows("SELECT state, text FROM attachment ORDER BY event_id, position")

    def spent(self, cause: str) -> list[tuple[object, ...]]:
        """State, tokens and money of every call of that cause."""
        return self.peek.calls("state", "prompt_tokens", "output_tokens", "cost", cause=cause)


def image(handle: str = "cat", size: int = 0) -> Attachment:
    return Attachment("image", handle, size=size)


def deletion(world: MediaWorld, target: str) -> Incoming:
    message = world.message("")
    return Incoming(message.place, None, "event", label="delete", target=target)


def columns_with(world: MediaWorld, canary: str) -> list[str]:
    """Every column of every table that holds the canary."""
    tables = world.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    return [
        f"{table}.{column}"
        for (table,) in tables
        for (column,) in world.rows(f"SELECT name FROM pragma_table_info('{table}')")
        if world.rows(f"SELECT 1 FROM {table} WHERE CAST({column} AS TEXT) LIKE ?", f"%{canary}%")
    ]
