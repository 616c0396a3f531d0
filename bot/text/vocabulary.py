"""Vocabularies: tables in TOML files beside the modules that read them, and expressions compiled at first use."""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from typing import Any


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

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """As re.Pattern.finditer."""
        return self._compiled.finditer(text, start)

    def sub(self, replacement: str, text: str) -> str:
        """As re.Pattern.sub with a text as replacement."""
        return self._compiled.sub(replacement, text)

    def split(self, text: str) -> list[str]:
        """As re.Pattern.split, for patterns without groups."""
        return self._compiled.split(text)


def read_table(package: str, name: str) -> dict[str, Any]:
    """The content of the file NAME.toml of a package, as bot.language."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))
