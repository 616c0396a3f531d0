"""Telegram as a platform: connects, polls, and hands to the parts beside it. It formats and reads nothing itself."""

import asyncio
import datetime as dtm
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from telegram import LinkPreviewOptions, Update
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError, TimedOut
from telegram.ext import Defaults, ExtBot, Updater
from telegram.request import HTTPXRequest

from adapters.telegram import TelegramSettings
from adapters.telegram.api import check, is_admin, read_file, set_menu
from adapters.telegram.content import BotAccount
from adapters.telegram.events import ALLOWED_UPDATES, migrated
from adapters.telegram.polling import IngestQueue, PollingRequest, PollingWatch
from adapters.telegram.rate_limiter import RateLimiter, RateLimits
from adapters.telegram.sending import ApiBot, TelegramSender, TypingIndicator, target_of
from bot.core.errors import NuanError, PlatformError, SendError
from bot.core.events import Attachment, CommandSpec, Outgoing
from bot.core.inspection import CheckResult
from bot.core.ports import Clock, EventSink, Log
from bot.text.clean import clean_name
from bot.text.split import split, utf16_units

PART_UNITS = 4_000
"""UTF-16 units of one message: below Telegram's 4,096, so that fences closed by splitting still fit."""

POLL_S = 25
"""How long the server holds a poll without updates, seconds; well below the 90 s after which polling counts as dead."""

STOP_S = 3.0
"""How long ending the polling may take, seconds; what is not confirmed then comes again and is dropped."""

NOT_CONNECTED_MS = 1_000


class TelegramAdapter:
    """Telegram as a platform; `run` connects it, and outside of `run` nothing can be sent."""

    platform = "telegram"
    resends = False
    debounce_ms = 600
    edit_interval_ms = 1_500
    draft_interval_ms = 700

    def __init__(
        self,
        settings: TelegramSettings,
        commands: tuple[CommandSpec, ...],
        clock: Clock,
        log: Log,
        limits: RateLimits | None = None,
    ) -> None:
        prepare_library()
        self.placeholder = settings.delivery == "placeholder"
        self._token = settings.token.get_secret_value() if settings.token else ""
        self._base_url = settings.base_url.rstrip("/")
        self._local = urlsplit(self._base_url).hostname in ("localhost", "127.0.0.1", "::1")
        self._proxy = settings.proxy
        self._commands = commands
        self._clock = clock
        self._log = log
        self._limits = limits or RateLimits()
        # Ordered waits must outlive a reconnection.
        self._pace = RateLimiter(clock, self._limits, self.edit_interval_ms, self.draft_interval_ms)
        self._settled = False
        self._watch: PollingWatch | None = None
        self._connection: tuple[ApiBot, EventSink, BotAccount] | None = None
        self._hints = TypingIndicator(clock, self._act)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, sink: EventSink) -> None:
        """Poll until cancelled; PlatformError for a refused token or a second poller, OSError for the network."""
        self._watch = watch = PollingWatch(self._clock, self._log, self._clean, settled_before=self._settled)
        try:
            async with self._connected(sink, watch) as (bot, me), self._polling(bot, me, sink, watch):
                await set_menu(bot, self._commands, self._log)
                await watch.ended
        except TelegramError as error:
            # The library's own text may hold the token, so the original must not be shown with it.
            raise self._problem(error) from None
        finally:
            self._settled, self._watch = watch.settled, None
            watch.close()

    async def check(self) -> tuple[CheckResult, ...]:
        """Ask the server who the bot is."""
        return await check(self._token, self._base_url, self._proxy)

    def silent_ms(self) -> int | None:
        """How long ago a poll succeeded, or the first was begun, ms; None while it is not connected."""
        return self._watch.silent_ms if self._watch is not None and self._connection is not None else None

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Send one message, or end its preview with it."""
        async with self._post(outgoing) as post:
            return await post.send(outgoing)

    async def show(self, outgoing: Outgoing) -> str:
        """Send a preview, or change it where there is room for that now."""
        async with self._post(outgoing) as post:
            return await post.show(outgoing)

    async def withdraw(self, outgoing: Outgoing) -> None:
        """Take the message `preview_id` away, if it is still there. SendError as `send`."""
        async with self._post(outgoing) as post:
            await post.withdraw(outgoing)

    async def draft(self, outgoing: Outgoing) -> bool:
        """Show it as being written, in private chats."""
        return self._connection is not None and await TelegramSender(self._connection[0], self._clean).draft(outgoing)

    def parts(self, text: str) -> tuple[str, ...]:
        """The text as messages of at most 4,000 UTF-16 units."""
        return split(text, PART_UNITS, utf16_units)

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Show or hide that nuan is thinking; where it cannot be shown nothing happens."""
        self._hints.show(external_chat_id, on)

    async def is_admin(self, external_chat_id: str, account: str) -> bool:
        """Whether that account looks after the group; OSError when Telegram cannot be asked."""
        if self._connection is None:
            raise OSError("Telegram is not connected")
        return await is_admin(self._connection[0], external_chat_id, account)

    async def fetch(self, attachment: Attachment, most: int) -> bytes:
        """The content of a file of at most `most` bytes; the handle is its file_id."""
        if self._connection is None:
            raise OSError("Telegram is not connected")
        try:
            file = await self._connection[0].get_file(attachment.handle)
            if (file.file_size or 0) > most:
                raise SendError("never", f"the file has {file.file_size} bytes")
        except (BadRequest, InvalidToken, Forbidden) as error:
            raise SendError("never", self._clean(error.message)) from None
        except TelegramError as error:
            raise OSError(self._clean(error.message)) from None
        if not file.file_path:
            raise SendError("never", "the file cannot be had")
        return await read_file(file.file_path, most, self._proxy or None, trust_env=not self._local)

    @asynccontextmanager
    async def _post(self, outgoing: Outgoing) -> AsyncGenerator[TelegramSender]:
        """The way out; a group that has become a supergroup is told to the sink before the next try."""
        if self._connection is None:
            raise SendError("later", "Telegram is not connected", NOT_CONNECTED_MS)
        bot, sink, me = self._connection
        try:
            yield TelegramSender(bot, self._clean)
        except ChatMigrated as error:
            try:
                await sink.accept(migrated(target_of(outgoing)[0], error.new_chat_id, me))
            except NuanError as failed:
                raise SendError("later", f"the new id of the group was not stored: {failed}") from error
            raise SendError("later", "the group has become a supergroup") from None

    @asynccontextmanager
    async def _connected(self, sink: EventSink, watch: PollingWatch) -> AsyncGenerator[tuple[ApiBot, BotAccount]]:
        bot = self._make_bot(watch)
        try:
            await bot.initialize()
            me = BotAccount(bot.id, bot.username, self._commands, clean_name(bot.first_name))
            self._connection = (bot, sink, me)
            yield bot, me
        finally:
            self._connection = None
            self._hints.stop()
            for task in self._tasks:
                task.cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_S):
                    await bot.shutdown()

    @asynccontextmanager
    async def _polling(self, bot: ApiBot, me: BotAccount, sink: EventSink, watch: PollingWatch) -> AsyncGenerator[None]:
        updater = Updater(bot, IngestQueue(sink, me, self._log, self._answer_button))
        await updater.initialize()
        before = asyncio.all_tasks()
        polling: list[asyncio.Task[object]] = []
        try:
            await updater.start_polling(
                timeout=dtm.timedelta(seconds=POLL_S), allowed_updates=ALLOWED_UPDATES, error_callback=watch.failed
            )
            polling = [task for task in asyncio.all_tasks() - before if task.get_name().startswith("Updater:")]
            for task in polling:
                task.add_done_callback(watch.died)
            yield
        finally:
            await _stop(updater, polling)

    def _make_bot(self, watch: PollingWatch) -> ApiBot:
        seconds, proxy = self._limits.answer_s, self._proxy or None
        return ExtBot(
            self._token,
            base_url=f"{self._base_url}/bot",
            base_file_url=f"{self._base_url}/file/bot",
            request=HTTPXRequest(
                connection_pool_size=64, read_timeout=seconds, write_timeout=seconds, connect_timeout=10.0,
                pool_timeout=5.0, proxy=proxy, httpx_kwargs={"trust_env": not self._local},
            ),
            get_updates_request=PollingRequest(
                watch.answered, self._log, read_timeout=seconds, proxy=proxy, trust_env=not self._local
            ),
            defaults=Defaults(
                link_preview_options=LinkPreviewOptions(is_disabled=True), allow_sending_without_reply=True
            ),
            rate_limiter=self._pace,
        )  # fmt: skip

    def _answer_button(self, update: Update) -> None:
        """Take the waiting sign off a pressed button, whoever pressed it; nobody waits for that."""
        if update.callback_query is None or self._connection is None:
            return
        task = asyncio.create_task(_answer(self._connection[0], update.callback_query.id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _act(self, external_chat_id: str) -> None:
        if self._connection is not None:
            chat, _, thread = external_chat_id.partition(":")
            await self._connection[0].send_chat_action(
                int(chat), "typing", message_thread_id=int(thread) if thread else None
            )

    def _problem(self, error: TelegramError) -> Exception:
        text = self._clean(error.message)
        match error:
            case InvalidToken():
                return PlatformError(f"Telegram does not accept telegram.token at {self._base_url}: check the token "
                                     "that @BotFather gave, and telegram.base_url", final=True)  # fmt: skip
            case TimedOut():
                return TimeoutError(f"Telegram: {text}")
            case _:
                return OSError(f"Telegram: {type(error).__name__}: {text}")

    def _clean(self, text: str) -> str:
        return text.replace(self._token, "***") if self._token else text


async def _stop(updater: Updater, polling: list[asyncio.Task[object]]) -> None:
    """Stop polling; an update that is just being stored may come again."""
    stopping = asyncio.create_task(updater.stop())
    if polling:
        await asyncio.wait(polling, timeout=STOP_S / 3)
    # In an outage the library's loop sleeps for up to 30 s and does not hear that it shall stop.
    for task in polling:
        task.cancel()
    with suppress(TelegramError, TimeoutError, RuntimeError):
        async with asyncio.timeout(STOP_S):
            await stopping


def prepare_library() -> None:
    """Keep token and people's texts out of the libraries' own logs; waits come as timedelta, as they soon always will.

    The libraries log whole addresses (with the token) and whatever they could not read; what matters is logged here.
    """
    os.environ.setdefault("PTB_TIMEDELTA", "true")
    for name, level in (("httpx", logging.WARNING), ("httpcore", logging.WARNING), ("telegram", logging.CRITICAL + 1)):
        logging.getLogger(name).setLevel(level)


async def _answer(bot: ApiBot, query_id: str) -> None:
    with suppress(TelegramError):
        await bot.answer_callback_query(query_id)
