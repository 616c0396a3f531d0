"""What every room may say to the operator's log. Where it goes is decided in bot/ops/logs.py."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Literal, Protocol

_ABOUT: ContextVar[Mapping[str, int]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(numbers: Mapping[str, int]) -> Iterator[None]:
    """While inside, every line of this task, and of tasks begun in it, says these, too: which turn it belongs to."""
    token = _ABOUT.set({**_ABOUT.get(), **numbers})
    try:
        yield
    finally:
        _ABOUT.reset(token)


def place() -> Mapping[str, int]:
    """What the lines of this task say besides their own fields."""
    return _ABOUT.get()


def model_fields(operation: Literal["chat", "embeddings"], model: str, provider: str = "") -> dict[str, str]:
    """Who was asked for what, named after the OpenTelemetry conventions for generative AI."""
    named = {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    return {name: value for name, value in named.items() if value}


class Log(Protocol):
    """One line per event: a short name in snake_case and fields that hold ids and numbers, never people's text."""

    def debug(self, event: str, **fields: object) -> None:
        """Something that only a closer look needs."""
        ...

    def info(self, event: str, **fields: object) -> None:
        """Something that belongs to normal work."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """Something that nuan could help itself with."""
        ...

    def error(self, event: str, **fields: object) -> None:
        """Something an operator should look at; `exc_info=error` adds where it came from."""
        ...
