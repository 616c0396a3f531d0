"""The command menu, from the one table of commands. It runs none of them."""

import re

from telegram import BotCommand, BotCommandScopeAllGroupChats, BotCommandScopeAllPrivateChats
from telegram.error import TelegramError

from adapters.telegram.content import menu_name
from adapters.telegram.send import Bot
from bot.types.command import CommandSpec
from bot.types.log import Log

LANGUAGES = (("", "en"), ("en", "en"), ("zh", "zh-Hans"))
"""Telegram's two-letter language and ours; it knows no scripts, and "" is for everyone else."""

NAME = re.compile(r"[a-z0-9_]{1,32}")
MOST, ABOUT_CHARS = 100, 256
"""Documented at setMyCommands and BotCommand."""


async def set_menu(bot: Bot, commands: tuple[CommandSpec, ...], log: Log) -> None:
    """Show the menu in private chats and groups; without it the commands can still be typed, so it never fails."""
    try:
        for scope in (BotCommandScopeAllPrivateChats(), BotCommandScopeAllGroupChats()):
            for code, ours in LANGUAGES:
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
        if NAME.fullmatch(name) and about:
            entries.append(BotCommand(name, about[:ABOUT_CHARS]))
    return entries[:MOST]
