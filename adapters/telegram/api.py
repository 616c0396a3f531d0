"""What else is asked of the Bot API: whether the token works, who is an admin, the command menu, files people send."""

import asyncio
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
from telegram import Bot, BotCommand, BotCommandScopeAllGroupChats, BotCommandScopeAllPrivateChats
from telegram.error import BadRequest, Forbidden, InvalidToken, TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram.content import menu_name
from adapters.telegram.sending import ApiBot
from bot.core.errors import SendError
from bot.core.events import CommandSpec
from bot.core.inspection import CheckResult, failed, passed
from bot.core.ports import Log

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


async def check(token: str, base_url: str, proxy: str) -> tuple[CheckResult, ...]:
    """Ask the server who the bot is; never raises for what a token, a proxy or a server can do."""
    where = f"{base_url}{' through the proxy' if proxy else ''}"
    try:
        request = HTTPXRequest(proxy=proxy or None, connect_timeout=ANSWER_S, read_timeout=ANSWER_S)
        bot = Bot(token, base_url=f"{base_url}/bot", base_file_url=f"{base_url}/file/bot", request=request)
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
            taken = bytearray()
            async for chunk in response.aiter_raw():
                taken += chunk
                if len(taken) > most:
                    raise SendError("never", f"more than {most} bytes")
            return bytes(taken)
    except httpx.HTTPError as error:
        raise ConnectionError(f"Telegram: {type(error).__name__}") from None


def _local(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        taken = file.read(most + 1)
    if len(taken) > most:
        raise SendError("never", f"more than {most} bytes")
    return taken
