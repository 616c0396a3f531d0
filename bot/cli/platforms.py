"""From configuration to adapters: which platforms start, and that no second nuan uses their tokens."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name

from pydantic import SecretStr

from bot.cli.installation import Installation, make_words
from bot.commands.registry import command_specs
from bot.config.base import PlatformSettings
from bot.config.keys import keys
from bot.config.settings import Settings
from bot.core.errors import ConfigError, FolderLockedError
from bot.core.events import CommandSpec
from bot.core.files import lock_file
from bot.core.ports import Adapter, Clock, Log

RESTART_PLATFORM_KEYS = tuple(
    key.dotted
    for key in keys()
    if key.path[0] in Settings().platforms and key.path[-1] not in PlatformSettings.model_fields
)
"""What a connection to a platform was made with."""


def make_adapter(
    platform: PlatformSettings, commands: tuple[CommandSpec, ...], clock: Clock, log: Log
) -> Adapter:  # fmt: skip
    """The adapter of a platform, with these commands in its menu; ImportError when its library is not installed."""
    adapter: Adapter = resolve_name(platform.adapter)(platform, commands, clock, log)
    return adapter


def library_missing(name: str) -> str:
    """What is said of a platform whose library is not installed."""
    return f"the library is missing: pip install 'nuan[{name}]'"


def make_adapters(place: Installation, clock: Clock, log: Log) -> tuple[Adapter, ...]:
    """The adapters of all platforms that are configured; ConfigError names every library that is not installed."""
    commands = command_specs(make_words(place).messages)
    adapters: list[Adapter] = []
    problems: list[str] = []
    for name, platform in place.settings.platforms.items():
        if platform.configured:
            try:
                adapters.append(make_adapter(platform, commands, clock, log))
            except ImportError:
                problems.append(f"{name}.{platform.starts_with}: set, but {library_missing(name)}")
    if problems:
        raise ConfigError(tuple(problems))
    return tuple(adapters)


def secrets(settings: Settings) -> dict[str, str]:
    """The keys and tokens that are set, by the name of the setting."""
    values = {key.dotted: key.value(settings) for key in keys()}
    return {name: value.get_secret_value() for name, value in values.items() if isinstance(value, SecretStr)}


def configured_secrets(settings: Settings) -> list[str]:
    """What must never be in a log."""
    return list(secrets(settings).values())


@contextlib.contextmanager
def lock_tokens(settings: Settings) -> Iterator[None]:
    """While it lasts no other nuan on this machine uses these tokens; FolderLockedError when one does already."""
    folder = Path(tempfile.gettempdir()) / f"nuan-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as held:
        for key, token in secrets(settings).items():
            if key.partition(".")[0] in settings.platforms:
                name = hashlib.sha256(token.encode()).hexdigest()[:24]
                held.enter_context(_lock(folder / f"{name}.lock", key))
        yield


@contextlib.contextmanager
def _lock(path: Path, key: str) -> Iterator[None]:
    descriptor = lock_file(path)
    if descriptor is None:
        raise FolderLockedError(f"another nuan on this machine uses the same {key}: stop it first")
    try:
        yield
    finally:
        os.close(descriptor)
