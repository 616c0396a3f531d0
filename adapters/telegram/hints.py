"""Shows that nuan is thinking, again and again while it lasts. It never fails, and shows nothing of its own."""

import asyncio
from collections.abc import Awaitable, Callable

from telegram.error import TelegramError

from bot.ports import Clock, pause

AGAIN_MS = 4_500
"""Telegram hides the sign after 5 s (documented at sendChatAction)."""


class Hints:
    """The chats where it is shown; `act` shows it once."""

    def __init__(self, clock: Clock, act: Callable[[str], Awaitable[None]]) -> None:
        self._clock = clock
        self._act = act
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def show(self, chat: str, on: bool) -> None:
        """Begin, or end; twice is once."""
        if on and chat not in self._tasks:
            self._tasks[chat] = asyncio.create_task(self._repeat(chat))
        elif not on and (task := self._tasks.pop(chat, None)):
            self._end(task)

    def stop(self) -> None:
        """End it everywhere."""
        for task in self._tasks.values():
            self._end(task)
        self._tasks.clear()

    def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _repeat(self, chat: str) -> None:
        while True:
            try:
                await self._act(chat)
            except (TelegramError, OSError, ValueError, RuntimeError):
                pass  # a sign that is not shown is no reason to say anything
            await pause(self._clock, AGAIN_MS)
