"""All keys as a flat list of dotted paths, and which of them differ between two configurations."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bot.config.base import PlatformSettings
from bot.config.settings import Settings

PREFIX = "NUAN_"

UNSET = ("session.idle_seconds", "session.log_tokens", "prompt.warm_seconds", "speak.debounce_seconds")
"""Keys that are not their default while nobody sets them: provider or platform say what they are."""


@dataclass(frozen=True, slots=True)
class SettingKey:
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

    def value(self, settings: Settings) -> object:
        """What it is set to."""
        return attrgetter(self.dotted)(settings)


def differing(one: Settings, other: Settings) -> tuple[str, ...]:
    """The keys that have another value in one than in the other, or are set in one only where that matters."""
    return tuple(key.dotted for key in keys() if _value_of(one, key) != _value_of(other, key))


@cache
def keys() -> tuple[SettingKey, ...]:
    """Every key in the order of the models."""
    return tuple(_keys(Settings, ()))


def _keys(section: type[BaseModel], path: tuple[str, ...]) -> Iterator[SettingKey]:
    shared = PlatformSettings.model_fields if issubclass(section, PlatformSettings) else {}
    for name, field in sorted(section.model_fields.items(), key=lambda each: each[0] in shared):  # its own come first
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, (*path, name))
        else:
            yield SettingKey((*path, name), field)


def _value_of(settings: Settings, key: SettingKey) -> object:
    """The value of a key, None while it is unset and not its default."""
    if key.dotted in UNSET and key.path[-1] not in getattr(settings, key.path[0]).model_fields_set:
        return None
    return key.value(settings)
