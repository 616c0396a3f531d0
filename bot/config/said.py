"""Settings that are set in a chat: whether a value fits, and how the house takes it up. It stores nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from bot.config.settings import Settings
from bot.types.said import Wish


@dataclass(frozen=True, slots=True)
class Settled:
    """The settings that the house works by afterwards, or why nothing has changed."""

    settings: Settings
    problems: tuple[str, ...] = ()


Settle = Callable[[Wish, int], Awaitable[Settled]]
"""Checks the wish of a person (by number) with all the rest, stores it and has the house work by it."""


def fits(key: str, value: str) -> bool:
    """Whether a value can stand at a dotted key, by the type and the bounds that nuan.toml has."""
    *tables, name = key.split(".")
    section: type[BaseModel] = Settings
    for table in tables:
        kind = section.model_fields[table].annotation
        assert isinstance(kind, type)
        assert issubclass(kind, BaseModel)
        section = kind
    try:
        section.model_validate({name: value})
    except ValidationError:
        return False
    return True
