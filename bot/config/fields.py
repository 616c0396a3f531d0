"""The keys of the configuration as a flat list of dotted paths. Knows no values but the defaults."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.config.settings import Settings

PREFIX = "NUAN_"


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
    """The keys that have another value in one than in the other, as dotted paths."""
    return tuple(key.dotted for key in keys() if _value(one, key.path) != _value(other, key.path))


def keys(section: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Key]:
    """Every key in the order of the models."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from keys(kind, (*path, name))
        else:
            yield Key((*path, name), field)


def _value(settings: Settings, path: tuple[str, ...]) -> object:
    node: object = settings
    for name in path:
        node = getattr(node, name)
    return node
