"""Sending, editing, drafts and the typing sign: how fast they may go out, and what an error means for a message."""

import asyncio
import datetime as dtm
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from telegram import InlineKeyboardMarkup, Message, MessageEntity
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)
from telegram.ext import BaseRateLimiter, ExtBot

from adapters.telegram.messages import edit_part, formatted, keyboard, send_part
from adapters.telegram.requests import NOT_SENT_ERRORS
from bot.core.errors import SendError, SendFate, bounded_wait_ms
from bot.core.events import Outgoing
from bot.core.parts import File, Image, Reaction
from bot.core.ports import Clock, pause
from bot.text.markdown import preview

ProgressKind = Literal["preview", "draft"]
"""An edit or a draft that only shows progress never waits: without a free slot it is left out."""

ApiBot = ExtBot[ProgressKind]

GONE_TEXTS = (
    "chat not found",
    "user not found",
    "peer_id_invalid",
    "group chat was deactivated",
    "thread not found",
    "topic_deleted",
    "topic_id_invalid",
    "chat_id_invalid",
)

MUTED_TEXTS = (
    "not enough rights to send",
    "have no rights to send",
    "chat_write_forbidden",
    "topic_closed",
    "chat_restricted",
)

TOO_LARGE_TEXT = "too large"
"""Of a request that the server did not take at all."""

NEW_MESSAGES = frozenset({"sendMessage", "sendPhoto", "sendDocument", "sendVoice", "sendSticker"})
COUNTED = NEW_MESSAGES | {"editMessageText", "editMessageMedia", "sendMessageDraft"}
"""Methods that Telegram's limits count."""

TYPING_REPEAT_MS = 4_500
"""Telegram hides the sign after 5 s (documented at sendChatAction)."""

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
        if endpoint not in COUNTED:
            return
        wait = max(self._window(self._all, self._limits.overall, self._limits.overall_ms, now), 0)
        if endpoint in NEW_MESSAGES:
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
        if endpoint in NEW_MESSAGES:
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


class TelegramSender:
    """One connected bot's outgoing side. `clean` takes secrets out of error texts."""

    def __init__(self, bot: ApiBot, clean: Callable[[str], str]) -> None:
        self._bot = bot
        self._clean = clean

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Send it, or end its preview with it; ChatMigrated when the group has a new id, SendError for the rest."""
        chat, thread = target_of(outgoing)
        private = bool(outgoing.only_for) and str(chat) != outgoing.external_chat_id
        if outgoing.preview_id and not private:
            try:
                return (await self._end_preview(chat, outgoing),)
            except ChatMigrated:
                raise
            except TelegramError as error:
                if not _is(error, "message to edit not found", "message can't be edited", "message_id_invalid"):
                    raise self._error(error, repeatable=True) from None
        try:
            if outgoing.part is not None:
                return await send_part(self._bot, chat, thread, outgoing.part, outgoing)
            return (str((await self._new(chat, thread, outgoing)).message_id),)
        except ChatMigrated:
            raise
        except TelegramError as error:
            refused = self._error(error, repeatable=isinstance(outgoing.part, Reaction))
            if private and refused.fate in ("gone", "muted"):
                # One person who cannot be written to says nothing about the chat where the command was given.
                refused = SendError("shut", refused.detail)
            raise refused from None

    async def show(self, outgoing: Outgoing) -> str:
        """A first preview waits like a message; a later one is left out when there is no room for it."""
        chat, thread = target_of(outgoing)
        outgoing = replace(outgoing, text=preview(outgoing.text) or outgoing.text)
        try:
            if not outgoing.preview_id:
                return str((await self._new(chat, thread, outgoing)).message_id)
            return await self._edit(chat, outgoing.preview_id, outgoing, "preview")
        except ChatMigrated:
            raise
        except TelegramError as error:
            if outgoing.preview_id and isinstance(error, (RateLimited, RetryAfter)):
                return outgoing.preview_id
            raise self._error(error, repeatable=bool(outgoing.preview_id)) from None

    async def withdraw(self, outgoing: Outgoing) -> None:
        """Take the message `preview_id` away; one that is gone, or too old to be taken away, stays as it is."""
        chat, _ = target_of(outgoing)
        try:
            await self._bot.delete_message(chat, int(outgoing.preview_id))
        except BadRequest:
            return
        except ChatMigrated:
            raise
        except TelegramError as error:
            raise self._error(error, repeatable=True) from None

    async def draft(self, outgoing: Outgoing) -> bool:
        """Show it as being written, in private chats; what cannot be shown now is left out."""
        chat, thread = target_of(outgoing)
        if chat < 0 or not outgoing.outbox_id:
            return False
        text, spans = formatted(preview(outgoing.text))
        if not text:
            return True
        try:
            return await self._bot.send_message_draft(
                chat, outgoing.outbox_id, text, message_thread_id=thread, entities=spans, rate_limit_args="draft"
            )
        except (BadRequest, Forbidden, InvalidToken, ChatMigrated):
            return False
        except TelegramError:
            return True

    async def _new(self, chat: int, thread: int | None, outgoing: Outgoing) -> Message:
        text, spans = formatted(outgoing.text)
        buttons = keyboard(outgoing.buttons)
        try:
            return await self._bot.send_message(
                chat, text, message_thread_id=thread, entities=spans, reply_markup=buttons
            )
        except BadRequest as error:
            if not _may_be_format(error, spans, buttons):
                raise
        return await self._bot.send_message(chat, outgoing.text, message_thread_id=thread)

    async def _end_preview(self, chat: int, outgoing: Outgoing) -> str:
        """Put the message into its preview, whose id it is."""
        if isinstance(outgoing.part, Image | File):
            await edit_part(self._bot, chat, int(outgoing.preview_id), outgoing.part, outgoing)
            return outgoing.preview_id
        return await self._edit(chat, outgoing.preview_id, outgoing, None)

    async def _edit(self, chat: int, preview_id: str, outgoing: Outgoing, hurry: ProgressKind | None) -> str:
        text, spans = formatted(outgoing.text)
        buttons = keyboard(outgoing.buttons)
        number = int(preview_id)
        try:
            await self._bot.edit_message_text(
                text, chat, number, entities=spans, reply_markup=buttons, rate_limit_args=hurry
            )
        except BadRequest as error:
            if _is(error, "message is not modified"):
                return preview_id
            if not _may_be_format(error, spans, buttons):
                raise
            try:
                await self._bot.edit_message_text(outgoing.text, chat, number, rate_limit_args=hurry)
            except BadRequest as again:
                if not _is(again, "message is not modified"):
                    raise
        return preview_id

    def _error(self, error: TelegramError, *, repeatable: bool = False) -> SendError:
        """What becomes of the message; what is `repeatable` (an edit) may always be tried again when in doubt."""
        fate, wait = fate_of(error)
        if repeatable and fate == "unknown":
            fate = "later"
        return SendError(fate, self._clean(f"{type(error).__name__}: {error.message}"), wait)


def fate_of(error: TelegramError) -> tuple[SendFate, int | None]:
    """What may be done with a message after this error, and when (ms) where Telegram says so."""
    match error:
        case RateLimited():
            return "wait", error.wait_ms
        case RetryAfter():
            return "later", wait_of(error)
        case Forbidden():
            return "gone", None
        case BadRequest():
            return ("gone" if _is(error, *GONE_TEXTS) else "muted" if _is(error, *MUTED_TEXTS) else "never"), None
        case InvalidToken() | Conflict() | ChatMigrated():
            return "later", None
        case NetworkError() if _is(error, TOO_LARGE_TEXT):
            return "never", None
        case NetworkError() if isinstance(error.__cause__, NOT_SENT_ERRORS):
            return "later", None
        case _:
            return "unknown", None


def target_of(outgoing: Outgoing) -> tuple[int, int | None]:
    """The chat's number and the topic in it; what only one may read goes to that one."""
    chat, _, thread = (outgoing.only_for or outgoing.external_chat_id).partition(":")
    with suppress(ValueError):
        return int(chat), int(thread) if thread else None
    raise SendError("never", "no Telegram chat")


def _may_be_format(error: BadRequest, spans: Sequence[MessageEntity], buttons: InlineKeyboardMarkup | None) -> bool:
    """Whether the same text, plain and without buttons, may be taken; a refused one was certainly not sent."""
    if _is(
        error, *GONE_TEXTS, *MUTED_TEXTS, "message to edit not found", "message can't be edited", "too long", "is empty"
    ):
        return False
    return bool(spans) or buttons is not None


def _is(error: TelegramError, *texts: str) -> bool:
    said = error.message.lower()
    return any(text in said for text in texts)


class TypingIndicator:
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
            await pause(self._clock, TYPING_REPEAT_MS)
