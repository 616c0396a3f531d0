"""Where each value of the configuration comes from: a default, a file or a variable. It shows no secret."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, SecretStr

from bot.config.fields import Key, keys
from bot.config.load import Origin, written
from bot.config.settings import Settings
from bot.types.said import Said


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: its value as it would stand in a file ("" for a secret), where that comes from, and what it is for.

    `name` is the file, variable or person that sets it, `secret` tells whether a secret is set (None: it is none).
    """

    key: str
    value: str
    origin: Origin
    name: str
    help: str
    secret: bool | None = None


def settings_shown(
    settings: Settings, config_file: Path | None, env: Mapping[str, str], said: Iterable[Said] = ()
) -> tuple[Setting, ...]:  # fmt: skip
    """Every key with its value and place, as the files and chats say now; what cannot be read is shown as a default."""
    where = written(config_file, env) | {one.key: ("chat", one.name) for one in said}
    return tuple(_shown(settings, key, *where.get(key.dotted, ("default", ""))) for key in keys())


def _shown(settings: Settings, key: Key, origin: Origin, name: str) -> Setting:
    node: object = settings
    for part in key.path:
        node = getattr(node, part)
    about = key.field.description or ""
    if SecretStr in (key.field.annotation, *getattr(key.field.annotation, "__args__", ())):
        return Setting(key.dotted, "", origin, name, about, secret=node is not None)
    return Setting(key.dotted, "none" if node is None else _plain(node), origin, name, about)


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_json)


def _json(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
