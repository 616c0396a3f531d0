"""Sending, editing, drafts and the typing sign, and what an error means for a message."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import httpx
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Message, MessageEntity
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
from telegram.ext import ExtBot

from adapters.telegram.rate_limiter import ProgressKind, RateLimited, wait_of
from bot.core.errors import SendError, SendFate
from bot.core.events import Button, Outgoing
from bot.core.ports import Clock, pause
from bot.text.markdown import entities, preview

ApiBot = ExtBot[ProgressKind]

DATA_BYTES = 64
"""Longest data of a button, UTF-8 (documented at InlineKeyboardButton.callback_data)."""

NOT_SENT_ERRORS = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""What goes wrong before a request leaves."""

GONE_TEXTS = ("chat not found", "user not found", "peer_id_invalid", "group chat was deactivated", "thread not found",
        "topic_deleted", "topic_id_invalid", "chat_id_invalid")  # fmt: skip

MUTED_TEXTS = ("not enough rights to send", "have no rights to send", "chat_write_forbidden", "topic_closed",
         "chat_restricted")  # fmt: skip

TYPING_REPEAT_MS = 4_500
"""Telegram hides the sign after 5 s (documented at sendChatAction)."""


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
                return (await self._edit(chat, outgoing.preview_id, outgoing, None),)
            except ChatMigrated:
                raise
            except TelegramError as error:
                if not _is(error, "message to edit not found", "message can't be edited", "message_id_invalid"):
                    raise self._error(error, repeatable=True) from None
        try:
            return (str((await self._new(chat, thread, outgoing)).message_id),)
        except ChatMigrated:
            raise
        except TelegramError as error:
            refused = self._error(error)
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


def formatted(text: str) -> tuple[str, tuple[MessageEntity, ...]]:
    """The model's markdown as Telegram shows it."""
    marked = entities(text)
    return marked.text, tuple(
        MessageEntity(span.kind, span.offset, span.length, language=span.language or None) for span in marked.spans
    )


def keyboard(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """One row of buttons; one whose data would be too long is left out, its text can still be typed."""
    data = [(button.label, f"{button.account}|{button.text}") for button in buttons]
    row = [
        InlineKeyboardButton(label, callback_data=value) for label, value in data if len(value.encode()) <= DATA_BYTES
    ]
    return InlineKeyboardMarkup([row]) if row else None


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
