"""The keys of the configuration as a flat list of dotted paths. Knows no values but the defaults."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.config.settings import Settings

PREFIX = "NUAN_"

UNSET = ("session.idle_seconds", "session.log_tokens", "prompt.warm_seconds", "speak.debounce_seconds")
"""Keys that are not their default while nobody sets them: provider or platform say what they are."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: where it stands and what it is."""

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def dotted(self) -> str:
        """The path as problems name it: model.base_url."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it: NUAN_MODEL__BASE_URL."""
        return PREFIX + "__".join(self.path).upper()


def differing(one: Settings, other: Settings) -> tuple[str, ...]:
    """The keys that have another value in one than in the other, or are set in one only where that matters."""
    return tuple(key.dotted for key in keys() if _value(one, key) != _value(other, key))


@cache
def keys() -> tuple[Key, ...]:
    """Every key in the order of the models."""
    return tuple(_keys(Settings, ()))


def _keys(section: type[BaseModel], path: tuple[str, ...]) -> Iterator[Key]:
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, (*path, name))
        else:
            yield Key((*path, name), field)


def _value(settings: Settings, key: Key) -> object:
    """The value of a key, None while it is unset and not its default."""
    node: object = settings
    for name in key.path[:-1]:
        node = getattr(node, name)
    if isinstance(node, BaseModel) and key.path[-1] not in node.model_fields_set and key.dotted in UNSET:
        return None
    return getattr(node, key.path[-1])
