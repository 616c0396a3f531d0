"""Words in TOML files: the sentences of a folder of prompts/ by language, and tables beside the modules that read them;
expressions compiled at first use."""

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from bot.core.errors import ConfigError
from bot.core.people import SCRIPTS

FALLBACK = "en"


class LazyPattern:
    """A compiled pattern's most used methods; the first call compiles it."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    @property
    def text(self) -> str:
        """The expression as it was given."""
        return self._text

    @property
    def groupindex(self) -> Mapping[str, int]:
        """As re.Pattern.groupindex."""
        return self._compiled.groupindex

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As re.Pattern.search."""
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As re.Pattern.match."""
        return self._compiled.match(text, start, end)

    def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """As re.Pattern.fullmatch."""
        return self._compiled.fullmatch(text, start, end)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """As re.Pattern.finditer."""
        return self._compiled.finditer(text, start, end)

    def findall(self, text: str) -> list[Any]:
        """As re.Pattern.findall."""
        return self._compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """As re.Pattern.sub."""
        return self._compiled.sub(replacement, text, count)

    def subn(self, replacement: str, text: str) -> tuple[str, int]:
        """As re.Pattern.subn."""
        return self._compiled.subn(replacement, text)

    def split(self, text: str) -> list[str]:
        """As re.Pattern.split, for patterns without groups."""
        return self._compiled.split(text)


def read_table(package: str, name: str) -> dict[str, Any]:
    """The content of the file NAME.toml of a package, as bot.language."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


def patterns_in(table: Mapping[str, Iterable[str]]) -> dict[str, LazyPattern]:
    """Each list of alternatives of a table as one pattern."""
    return {name: LazyPattern("|".join(alternatives)) for name, alternatives in table.items()}


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
