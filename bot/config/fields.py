"""The keys of the configuration as a flat list of dotted paths. Knows no values but the defaults."""

from collections.abc import Iterator
from dataclasses import dataclass

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


def keys(section: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Key]:
    """Every key in the order of the models."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from keys(kind, (*path, name))
        else:
            yield Key((*path, name), field)


def _value(settings: Settings, key: Key) -> object:
    """The value of a key, None while it is unset and not its default."""
    node: object = settings
    for name in key.path[:-1]:
        node = getattr(node, name)
    if key.dotted in UNSET and isinstance(node, BaseModel) and key.path[-1] not in node.model_fields_set:
        return None
    return getattr(node, key.path[-1])
