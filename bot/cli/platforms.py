"""From configuration to adapters: which platforms start, and that no second nuan uses their tokens."""

import contextlib
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bot.cli.installation import Installation, make_words
from bot.commands.registry import command_specs
from bot.config.settings import Settings
from bot.core.errors import ConfigError, FolderLockedError
from bot.core.ports import Adapter, Clock, Log


def make_adapters(place: Installation, clock: Clock, log: Log) -> tuple[Adapter, ...]:
    """An adapter for each platform with a token; ConfigError names the extra that is not installed."""
    settings, commands = place.settings, command_specs(make_words(place).messages)
    adapters: list[Adapter] = []
    problems: list[str] = []
    if settings.telegram.token is not None:
        try:
            from adapters.telegram.adapter import TelegramAdapter
        except ImportError:
            problems.append("telegram.token: set, but the library is missing: pip install 'nuan[telegram]'")
        else:
            telegram = settings.telegram
            adapters.append(
                TelegramAdapter(
                    settings.telegram.token.get_secret_value(),
                    telegram.base_url,
                    telegram.proxy,
                    commands,
                    clock,
                    log,
                    placeholder=telegram.delivery == "placeholder",
                )
            )
    if settings.discord.token is not None:
        try:
            from adapters.discord.adapter import DiscordAdapter
        except ImportError:
            problems.append("discord.token: set, but the library is missing: pip install 'nuan[discord]'")
        else:
            discord = settings.discord
            adapters.append(
                DiscordAdapter(
                    settings.discord.token.get_secret_value(),
                    discord.api_url,
                    discord.gateway_url,
                    discord.proxy,
                    commands,
                    clock,
                    log,
                )
            )
    if problems:
        raise ConfigError(tuple(problems))
    return tuple(adapters)


def configured_secrets(settings: Settings) -> list[str]:
    """What must never be in a log."""
    models = (settings.model, settings.fallback, settings.second_fallback, settings.small, settings.memory.embedding)
    kept = (*(model.api_key for model in models), settings.telegram.token, settings.discord.token)
    return [secret.get_secret_value() for secret in kept if secret is not None]


@contextlib.contextmanager
def lock_tokens(settings: Settings) -> Iterator[None]:
    """While it lasts no other nuan on this machine uses these tokens; FolderLockedError when one does already."""
    folder = Path(tempfile.gettempdir()) / f"nuan-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as held:
        for platform, token in (("telegram", settings.telegram.token), ("discord", settings.discord.token)):
            if token is not None:
                name = hashlib.sha256(token.get_secret_value().encode()).hexdigest()[:24]
                held.enter_context(_lock(folder / f"{name}.lock", platform))
        yield


@contextlib.contextmanager
def _lock(path: Path, platform: str) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FolderLockedError(
                f"another nuan on this machine uses the same {platform}.token: stop it first"
            ) from error
        yield
    finally:
        os.close(descriptor)
