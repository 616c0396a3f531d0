"""How fast messages may go out, for python-telegram-bot's rate limiter hook. It repeats nothing."""

import datetime as dtm
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from telegram.error import RetryAfter, TelegramError
from telegram.ext import BaseRateLimiter

from bot.core.errors import bounded_wait_ms
from bot.core.ports import Clock

ProgressKind = Literal["preview", "draft"]
"""An edit or a draft that only shows progress never waits: without a free slot it is left out."""

MANY_CHATS = 1_000
"""Above this number, windows in which nothing is left are thrown away."""

SAME_MS = 1_100
"""Waits that end so close together are one: Telegram tells whole seconds, rounded up."""

Calls = Callable[..., Coroutine[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Messages per second overall, per minute and group, and ms between two to a private chat.

    30, 20 and 1 s: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this. `answer_s` is how
    long an answer of the server may take, seconds. What leaves evenly may arrive closer together, so the windows are a
    little longer than Telegram's second and minute.
    """

    overall: int = 30
    overall_ms: int = 1_100
    group: int = 20
    group_ms: int = 60_500
    private_ms: int = 1_000
    answer_s: float = 20.0


class RateLimited(TelegramError):
    """Nothing was sent; it may be in `wait_ms`."""

    def __init__(self, wait_ms: int) -> None:
        super().__init__(f"not before {wait_ms} ms have passed")
        self.wait_ms = wait_ms


class RateLimiter(BaseRateLimiter[ProgressKind]):
    """Sliding windows over the last second and the last minute, and the waits that Telegram has ordered."""

    def __init__(self, clock: Clock, limits: RateLimits, edit_ms: int, draft_ms: int) -> None:
        self._clock = clock
        self._limits = limits
        self._apart: dict[ProgressKind, int] = {"preview": edit_ms, "draft": draft_ms}
        self._all: deque[int] = deque()
        self._chats: dict[int, deque[int]] = {}
        self._previews: dict[int, int] = {}
        self._until: dict[int | None, int] = {}

    async def initialize(self) -> None:
        """Nothing to prepare."""

    async def shutdown(self) -> None:
        """Nothing to free."""

    async def process_request(
        self,
        callback: Calls,
        args: Any,
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: ProgressKind | None,
    ) -> Any:
        """Make the call if there is room for it; RateLimited while a wait is running or when there is none yet.

        It never waits itself: a message that waits here would count as being sent when the program dies.
        """
        chat = data.get("chat_id")
        if isinstance(chat, int):
            self._room(chat, endpoint, rate_limit_args)
        try:
            return await callback(*args, **kwargs)
        except RetryAfter as error:
            if isinstance(chat, int):
                self._ordered(chat, wait_of(error))
            raise

    def _room(self, chat: int, endpoint: str, hurry: ProgressKind | None) -> None:
        now = self._clock.now()
        ordered = max(self._until.get(chat, 0), self._until.get(None, 0))
        if ordered > now:
            raise RateLimited(ordered - now)
        if endpoint not in {"sendMessage", "editMessageText", "sendMessageDraft"}:
            return
        wait = max(self._window(self._all, self._limits.overall, self._limits.overall_ms, now), 0)
        if endpoint == "sendMessage":
            wait = max(wait, self._chat_wait(chat, now))
        if hurry:
            wait = max(wait, self._previews.get(chat, 0) + self._apart[hurry] - now)
        if wait > 0:
            raise RateLimited(wait)
        self._take(chat, endpoint, now, hurry)

    def _chat_wait(self, chat: int, now: int) -> int:
        times = self._chats.get(chat, deque())
        limits = self._limits
        return (
            self._window(times, limits.group, limits.group_ms, now)
            if chat < 0
            else self._window(times, 1, limits.private_ms, now)
        )

    def _take(self, chat: int, endpoint: str, now: int, hurry: ProgressKind | None) -> None:
        self._all.append(now)
        if endpoint == "sendMessage":
            self._chats.setdefault(chat, deque()).append(now)
        if hurry:
            self._previews[chat] = now
        if len(self._chats) > MANY_CHATS:
            old = now - self._limits.group_ms
            self._chats = {chat: times for chat, times in self._chats.items() if times and times[-1] > old}
        if len(self._previews) > MANY_CHATS:
            self._previews = {chat: at for chat, at in self._previews.items() if at > now - self._apart["preview"]}

    def _ordered(self, chat: int, wait_ms: int) -> None:
        """Remember a wait. Telegram does not say whether it means the chat or all: a busy second means all, and so
        does another chat's that ends at the same time."""
        now = self._clock.now()
        self._until = {key: until for key, until in self._until.items() if until > now}
        busy = len([at for at in self._all if at > now - self._limits.overall_ms]) * 2 > self._limits.overall
        alike = any(abs(until - now - wait_ms) <= SAME_MS for key, until in self._until.items() if key != chat)
        whom = None if busy or alike else chat
        self._until[whom] = max(self._until.get(whom, 0), now + wait_ms)

    @staticmethod
    def _window(times: deque[int], most: int, length: int, now: int) -> int:
        """Milliseconds until one more fits into the window."""
        while times and times[0] <= now - length:
            times.popleft()
        return times[0] + length - now if len(times) >= most else 0


def wait_of(error: RetryAfter) -> int:
    """How long Telegram wants one to wait, ms."""
    wait = error.retry_after
    return bounded_wait_ms(wait.total_seconds() if isinstance(wait, dtm.timedelta) else wait)
