"""The chat box of the web page as a platform: a direct chat with whoever holds the page's token."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

from bot.core.errors import PlatformError
from bot.core.events import Incoming, Outgoing, Place, Sender
from bot.core.ports import Clock, EventSink
from bot.text.clean import clean, clean_name

PLATFORM = "web"
ACCOUNT = ("console", "local")
"""Who holds the token sits at this machine, as whoever uses its terminal does: the same person, with the same rights.

The chat is another one: what is said in the terminal is not told here."""

PLACE = Place(PLATFORM, "local", "dm")

MOST_UNSTORED = 50
"""Answers to commands and notices that are kept to be shown: they are no part of the transcript."""

MOST_SIGNALS = 256
"""Signs that wait for one browser; a slower one misses some, and sees the whole with the next."""


@dataclass(frozen=True, slots=True)
class BrowserSignal:
    """What a browser is told: the text so far of what is being written, that there are new lines, or … on or off."""

    kind: Literal["draft", "lines", "typing", "end"]
    text: str = ""
    on: bool = False


@dataclass(frozen=True, slots=True)
class UnstoredMessage:
    """Something that was said and is no line of the transcript; `at` is when, ms."""

    at: int
    text: str


class WebAdapter:
    """The chat box. Whoever listens is told of all that is said; what was said while nobody did is in the store."""

    platform = PLATFORM
    resends = True
    draft_interval_ms = 150

    def __init__(self, user: str, clock: Clock) -> None:
        self._user = clean_name(user)
        self._clock = clock
        self._sink: EventSink | None = None
        self._listeners: set[asyncio.Queue[BrowserSignal]] = set()
        self._asides: deque[UnstoredMessage] = deque(maxlen=MOST_UNSTORED)

    def rename(self, user: str) -> None:
        """Who holds the token has another name from now on."""
        self._user = clean_name(user)

    async def run(self, sink: EventSink) -> None:
        """Take lines until cancelled; then nobody listens any more."""
        self._sink = sink
        try:
            await asyncio.Event().wait()
        finally:
            self._sink = None
            self._tell(BrowserSignal("end"))

    async def hear(self, text: str) -> bool:
        """Bring a line to the sink; True when it is stored. PlatformError while nobody is there to answer."""
        if self._sink is None:
            raise PlatformError(
                "nuan is just starting or stopping: try again in a moment; of several processes the one that has the lease web "
                "has the chat box (nuan workers)",
                final=False,
            )
        sender = Sender(*ACCOUNT, self._user)
        stored = await self._sink.accept(Incoming(PLACE, sender, "message", clean(text)))
        self._tell(BrowserSignal("lines"))
        return stored

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Say it to whoever listens. Replies and receipts are lines of the store; others are kept to be shown."""
        if outgoing.kind in ("command", "notice"):
            self._asides.append(UnstoredMessage(self._clock.now(), outgoing.text))
        self._tell(BrowserSignal("lines"))
        return (str(outgoing.outbox_id),)

    async def draft(self, outgoing: Outgoing) -> bool:
        """Show what is being written."""
        self._tell(BrowserSignal("draft", outgoing.text))
        return True

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Show or hide …."""
        if external_chat_id == PLACE.external_id:
            self._tell(BrowserSignal("typing", on=on))

    def asides(self) -> tuple[tuple[int, str], ...]:
        """What was said beside the transcript since the start: when (ms) and what, oldest first."""
        return tuple((aside.at, aside.text) for aside in self._asides)

    async def listen(self) -> AsyncIterator[tuple[str, str]]:
        """What there is to see from now on: the kind of a sign, and its text (of typing "on" or "")."""
        queue: asyncio.Queue[BrowserSignal] = asyncio.Queue(MOST_SIGNALS)
        self._listeners.add(queue)
        try:
            while (sign := await queue.get()).kind != "end":
                yield sign.kind, ("on" if sign.on else "") if sign.kind == "typing" else sign.text
        finally:
            self._listeners.discard(queue)

    def _tell(self, sign: BrowserSignal) -> None:
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(sign)
