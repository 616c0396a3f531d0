"""The chat page: lines of the transcript, what is being written, and a box to write in."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response, StreamingResponse

from bot.core.ports import Clock, pause
from bot.web.requests import ChatBox, PageRequest, render

SHOWN = 100
"""Lines of the transcript on the page."""

ALIVE_MS = 15_000
"""How often a stream says that it is there, so that a browser that went away is noticed."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line: whether nuan said it, when (ms), and what. An aside is no part of the transcript."""

    own: bool
    at: int
    text: str
    aside: bool = False


async def shown(ask: PageRequest) -> Response:
    """The page."""
    values = {"bubbles": await _chat_lines(ask), "most": ask.site.settings.input.max_chars}
    return render(ask, "chat.html", values)


async def lines(ask: PageRequest) -> Response:
    """The lines alone."""
    return render(ask, "chat_lines.html", {"bubbles": await _chat_lines(ask)})


async def say(ask: PageRequest) -> Response:
    """Somebody writes."""
    text = ask.form.get("text", "")
    if not text.strip():
        raise HTTPException(400)
    await _box(ask).hear(text)
    if "hx-request" in ask.request.headers:
        return await lines(ask)
    return RedirectResponse("/chat", 303)


async def stream(ask: PageRequest) -> Response:
    """Signs for the page while it is open and the login holds."""
    return StreamingResponse(_stream(ask, _box(ask)), media_type="text/event-stream")


async def _stream(ask: PageRequest, box: ChatBox) -> AsyncIterator[str]:
    signs = box.listen()
    next_sign = asyncio.ensure_future(_next(signs))  # before the browser knows that it is connected
    try:
        yield ": here\n\n"
        while ask.holds():
            alive = asyncio.ensure_future(_alive(ask.site.clock))
            await asyncio.wait((next_sign, alive), return_when=asyncio.FIRST_COMPLETED)
            alive.cancel()
            if not next_sign.done():
                yield ": here\n\n"
                continue
            sign = next_sign.result()
            if sign is None:
                return
            next_sign = asyncio.ensure_future(_next(signs))
            yield f"event: {sign[0]}\ndata: {json.dumps({'text': sign[1]}, ensure_ascii=False)}\n\n"
    finally:
        next_sign.cancel()
        await asyncio.wait((next_sign,))


async def _next(signs: AsyncIterator[tuple[str, str]]) -> tuple[str, str] | None:
    return await anext(signs, None)


async def _alive(clock: Clock) -> None:
    await pause(clock, ALIVE_MS)


async def _chat_lines(ask: PageRequest) -> list[ChatLine]:
    """The transcript of the box's chat with the answers to commands in their places, oldest first."""
    box, store = _box(ask), ask.site.store
    here = next((chat for chat in await store.people.chats() if chat.platform == box.platform), None)
    events = await store.inspector.events(0, SHOWN, here.id) if here is not None else ()
    said = [ChatLine(each.kind == "bot", each.at, each.text) for each in reversed(events)
            if each.kind in ("message", "bot") and each.text]  # fmt: skip
    since, forgot = said[0].at if said else 0, store.tombstones.added_at
    # An answer to a command may name what was forgotten after it.
    asides = [ChatLine(True, at, text, aside=True) for at, text in box.asides() if at >= since and at > forgot]
    return sorted((*said, *asides), key=lambda bubble: bubble.at)


def _box(ask: PageRequest) -> ChatBox:
    if ask.site.box is None:
        raise HTTPException(409)
    return ask.site.box


PAGES = {"/chat": shown, "/chat/lines": lines, "/chat/stream": stream}
ACTIONS = {"/chat": say}
