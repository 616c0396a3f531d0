"""The bot's own sentences from a folder of prompts/, one TOML file for each language."""

import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast

from bot.core.errors import ConfigError
from bot.core.people import SCRIPTS

FALLBACK = "en"


class Catalogue:
    """All sentences in memory; a key that is missing in a language is taken from English."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        """Read one file per language; raises ConfigError with all that is wrong with them."""
        problems: list[str] = []
        self._messages = {language: _read(path, problems) for language, path in files.items()}
        if problems:
            raise ConfigError(tuple(problems))

    def text(self, key: str, script: str, **values: object) -> str:
        """The sentence `key` in `script`, with the values in their places.

        A language, key or value that is missing falls back to English, then to the key itself: nuan says something odd
        rather than nothing.
        """
        for language in (script, FALLBACK):
            found = self._messages.get(language, {}).get(key)
            if isinstance(found, str):
                try:
                    return found.format(**values)
                except (KeyError, IndexError, ValueError, AttributeError):
                    continue
        return key

    def words(self, key: str, script: str) -> tuple[str, ...]:
        """The list `key` in `script` (weekdays from Monday); empty when there is none."""
        for language in (script, FALLBACK):
            found = self._messages.get(language, {}).get(key)
            if isinstance(found, tuple):
                return found
        return ()


def catalogue(find: Callable[[str], Path], folder: str) -> Catalogue:
    """The catalogue of a prompts folder, each file looked up by `find` (an operator may replace any of them)."""
    return Catalogue({language: find(f"{folder}/{language}.toml") for language in SCRIPTS})


def _read(path: Path, problems: list[str]) -> Mapping[str, str | tuple[str, ...]]:
    try:
        content = _parsed(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{path}: cannot be read: {error}")
        return {}
    messages: dict[str, str | tuple[str, ...]] = {}
    for key, value in content.items():
        match value:
            case str():
                messages[key] = value
            case list() if all(isinstance(word, str) for word in value):
                messages[key] = tuple(cast(list[str], value))
            case _:
                problems.append(f"{path}: {key}: must be a text or a list of texts")
    return messages


@lru_cache(maxsize=16)
def _parsed(text: str) -> Mapping[str, object]:
    """A start checks every file before it uses it, and a reload does so again: the same text is parsed once."""
    return tomllib.loads(text)
