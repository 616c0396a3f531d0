"""Telegram as a platform: connects, polls, checks the token, sets the menu, fetches files. It reads no updates."""

import asyncio
import datetime as dtm
import logging
import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    LinkPreviewOptions,
    Update,
)
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, TelegramError, TimedOut
from telegram.ext import Defaults, Updater
from telegram.request import BaseRequest

from adapters.telegram import TelegramSettings
from adapters.telegram.events import ALLOWED_UPDATES, BotAccount, menu_name, migrated
from adapters.telegram.messages import SENDS
from adapters.telegram.polling import IngestQueue, PollingBot, PollingRequest, PollingWatch
from adapters.telegram.requests import make_request
from adapters.telegram.sending import ApiBot, RateLimiter, RateLimits, TelegramSender, TypingIndicator, target_of
from bot.core.errors import NuanError, PlatformError, SendError
from bot.core.events import Attachment, CommandSpec, Outgoing
from bot.core.files import read_at_most
from bot.core.http import is_local
from bot.core.inspection import CheckResult, failed, passed
from bot.core.ports import Clock, EventSink, Log, TakeFor
from bot.text.clean import clean_name
from bot.text.split import split, utf16_units

PART_UNITS = 4_000
"""UTF-16 units of one message: below Telegram's 4,096, so that fences closed by splitting still fit."""

POLL_S = 25
"""How long the server holds a poll without updates, seconds; well below the 90 s after which polling counts as dead."""

STOP_S = 3.0
"""How long ending the polling may take, seconds; what is not confirmed then comes again and is dropped."""

NOT_CONNECTED_MS = 1_000

ANSWER_S = 10.0
"""Seconds to wait for the server."""

ADMIN_STATUSES = ("creator", "administrator")

MENU_LANGUAGES = (("", "en"), ("en", "en"), ("zh", "zh-Hans"))
"""Telegram's two-letter language and ours; it knows no scripts, and "" is for everyone else."""

MENU_NAME = re.compile(r"[a-z0-9_]{1,32}")
MOST_MENU_ENTRIES, ABOUT_CHARS = 100, 256
"""Documented at setMyCommands and BotCommand."""

FETCH_S = 60.0
"""How long a file may take, seconds."""


class TelegramAdapter:
    """Telegram as a platform; `run` or `reach` connect it, and outside of them nothing can be sent."""

    platform = lease = "telegram"
    resends = False
    sends = SENDS
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
        self._proxy = settings.proxy
        self._commands = commands
        self._clock = clock
        self._log = log
        self._limits = limits or RateLimits()
        # Ordered waits must outlive a reconnection.
        self._pace = RateLimiter(clock, self._limits, self.edit_interval_ms, self.draft_interval_ms)
        self._settled = self._shared = False
        self._watch: PollingWatch | None = None
        self._connection: tuple[ApiBot, EventSink, BotAccount] | None = None
        self._hints = TypingIndicator(clock, self._act)
        self._tasks: set[asyncio.Task[None]] = set()

    def share(self, take_for: TakeFor) -> None:
        """Who polls beside this one may be the one before it, so it is waited until that one ends."""
        self._shared = True

    async def run(self, sink: EventSink) -> None:
        """Poll until cancelled; PlatformError for a refused token or a second poller, OSError for the network."""
        self._watch = watch = PollingWatch(
            self._clock, self._log, self._clean, settled_before=self._settled, shared=self._shared
        )
        try:
            async with self._connected(sink, watch.answered) as (bot, me), self._polling(bot, me, sink, watch):
                await set_menu(bot, self._commands, self._log)
                await watch.ended
        except TelegramError as error:
            # The library's own text may hold the token, so the original must not be shown with it.
            raise self._problem(error) from None
        finally:
            self._settled, self._watch = watch.settled, None
            watch.close()

    async def reach(self, sink: EventSink) -> None:
        """As `run`, but without polling: another process does."""
        try:
            async with self._connected(sink, lambda code: None):
                await asyncio.get_running_loop().create_future()
        except TelegramError as error:
            raise self._problem(error) from None

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
        return await read_file(file.file_path, most, self._proxy or None, trust_env=not is_local(self._base_url))

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
    async def _connected(
        self, sink: EventSink, answered: Callable[[int], None]
    ) -> AsyncGenerator[tuple[PollingBot, BotAccount]]:
        bot = self._make_bot(answered)
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
    async def _polling(
        self, bot: PollingBot, me: BotAccount, sink: EventSink, watch: PollingWatch
    ) -> AsyncGenerator[None]:
        queue = IngestQueue(sink, me, self._log, self._answer_button)
        bot.on_updates(queue.begin)
        updater = Updater(bot, queue)
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
            bot.on_updates(lambda updates: None)  # what the last request brings is not confirmed
            await _stop(updater, polling)

    def _make_bot(self, answered: Callable[[int], None]) -> PollingBot:
        return PollingBot(
            self._token,
            PollingRequest(self._make_request(), answered, self._log),
            base_url=f"{self._base_url}/bot",
            base_file_url=f"{self._base_url}/file/bot",
            request=self._make_request(),
            defaults=Defaults(
                link_preview_options=LinkPreviewOptions(is_disabled=True), allow_sending_without_reply=True
            ),
            rate_limiter=self._pace,
        )

    def _make_request(self) -> BaseRequest:
        return make_request(self._base_url, self._proxy, self._limits.answer_s)

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
                return PlatformError(
                    f"Telegram does not accept telegram.token at {self._base_url}: check the token "
                    "that @BotFather gave, and telegram.base_url",
                    final=True,
                )
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


async def check(token: str, base_url: str, proxy: str) -> tuple[CheckResult, ...]:
    """Ask the server who the bot is; never raises for what a token, a proxy or a server can do."""
    where = f"{base_url}{' through the proxy' if proxy else ''}"
    try:
        requests = [make_request(base_url, proxy, ANSWER_S) for _ in "12"]
        bot = Bot(token, base_url=f"{base_url}/bot", request=requests[0], get_updates_request=requests[1])
        async with bot:
            hook = await bot.get_webhook_info()
            me = bot.bot
    except InvalidToken:
        return (failed("telegram.token", "is refused: take the one that @BotFather shows"),)
    except TelegramError as error:
        text = f"{where} cannot be reached ({type(error).__name__}): check telegram.base_url and telegram.proxy"
        return (failed("telegram", text),)
    found = [passed("telegram", f"{where} knows the bot as @{me.username}")]
    if hook.url:
        text = "a webhook is set for this bot: another program takes its messages; stop it or delete the webhook"
        found.append(failed("telegram", text))
    if not me.can_read_all_group_messages:
        text = "in groups the bot hears only what is said to it: @BotFather, /setprivacy, Disable lets it follow up"
        found.append(passed("telegram", text))
    return tuple(found)


async def is_admin(bot: ApiBot, external_chat_id: str, account: str) -> bool:
    """Whether that account is the group's owner or an admin; OSError when Telegram cannot be asked."""
    chat, person = None, None
    with suppress(ValueError):
        chat, person = int(external_chat_id.partition(":")[0]), int(account)
    if chat is None or person is None:
        return False
    try:
        return (await bot.get_chat_member(chat, person)).status in ADMIN_STATUSES
    except (BadRequest, Forbidden):
        return False
    except TelegramError as error:
        raise OSError(type(error).__name__) from None


async def set_menu(bot: ApiBot, commands: tuple[CommandSpec, ...], log: Log) -> None:
    """Show the menu in private chats and groups; without it the commands can still be typed, so it never fails."""
    try:
        for scope in (BotCommandScopeAllPrivateChats(), BotCommandScopeAllGroupChats()):
            for code, ours in MENU_LANGUAGES:
                entries = menu(commands, ours)
                await bot.set_my_commands(entries, scope=scope, language_code=code or None)
    except TelegramError as error:
        log.warning("telegram_menu", error=type(error).__name__)


def menu(commands: tuple[CommandSpec, ...], language: str) -> list[BotCommand]:
    """The commands as Telegram takes them, described in this language or else in the first one there is."""
    entries: list[BotCommand] = []
    names = {menu_name(spec) for spec in commands}
    for spec in commands:
        name = menu_name(spec)
        if name.startswith("ai_") and name.removeprefix("ai_") in names:
            continue  # the same command stands there under its short name
        about = dict(spec.about).get(language) or next((text for _, text in spec.about), "")
        if MENU_NAME.fullmatch(name) and about:
            entries.append(BotCommand(name, about[:ABOUT_CHARS]))
    return entries[:MOST_MENU_ENTRIES]


async def read_file(url: str, most: int, proxy: str | None, *, trust_env: bool) -> bytes:
    """What is at the URL (or, where Telegram's server runs on this machine, at the path) of at most `most` bytes.

    SendError("never") when it is larger or not there, OSError to try again; neither tells the URL, which holds the
    token. No redirect is followed, and nothing is unpacked.
    """
    if url.startswith("/"):
        return await asyncio.to_thread(_local, Path(url), most)
    parts = urlsplit(url)
    try:
        async with (
            asyncio.timeout(FETCH_S),
            httpx.AsyncClient(proxy=proxy, trust_env=trust_env, timeout=FETCH_S) as client,
            client.stream(
                "GET", parts._replace(path=quote(parts.path)).geturl(), headers={"Accept-Encoding": "identity"}
            ) as response,
        ):
            if response.status_code != httpx.codes.OK:
                if 300 <= response.status_code < 500 and response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                    raise SendError("never", f"{response.status_code}")
                raise ConnectionError(f"Telegram: {response.status_code}")
            return await read_at_most(response.aiter_raw(), most)
    except httpx.HTTPError as error:
        raise ConnectionError(f"Telegram: {type(error).__name__}") from None


def _local(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        taken = file.read(most + 1)
    if len(taken) > most:
        raise SendError("never", f"more than {most} bytes")
    return taken
