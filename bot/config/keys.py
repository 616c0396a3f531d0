"""All keys as a flat list of dotted paths, and the example file and reference page generated from it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
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


EXAMPLE_HEAD = """\
# The configuration of nuan, with every key and its default. Copy it to nuan.toml and uncomment what you change.
# Each key can be set by a variable, too, here or in .env beside nuan.toml: NUAN_MODEL__API_KEY sets model.api_key.
"""


def example_toml() -> str:
    """The text of data/nuan.example.toml: each key commented out, with its help above it."""
    lines = [EXAMPLE_HEAD.rstrip()]
    table: tuple[str, ...] = ()
    for key in ordered_keys():
        if key.path[:-1] != table:
            table = key.path[:-1]
            lines += ["", *(f"# {line}".rstrip() for line in section_title(table)), f"[{'.'.join(table)}]"]
        lines += [f"# {key.field.description}", f"# {key.path[-1]} = {_default_toml(key)}"]
    return "\n".join(lines) + "\n"


def ordered_keys() -> list[SettingKey]:
    """Every key as a file wants them: those without a table first, then table by table."""
    return sorted(keys(), key=_by_table)


def _by_table(key: SettingKey) -> tuple[bool, int, int]:
    """TOML wants keys before tables, and a table's own keys before the tables inside it."""
    return len(key.path) > 1, list(Settings.model_fields).index(key.path[0]) if len(key.path) > 1 else 0, len(key.path)


def section_title(table: tuple[str, ...]) -> list[str]:
    """What a table is about, in the lines of its model."""
    section: type[BaseModel] = Settings
    for name in table:
        kind = section.model_fields[name].annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            section = kind
    return [line.strip() for line in (section.__doc__ or "").strip().splitlines()]


def _default_toml(key: SettingKey) -> str:
    default = key.field.default
    return '"none"' if default is None else json.dumps(default, ensure_ascii=False)


PAGE_HEAD = """\
# Configuration

Written from the settings model by `python -m bot.cli.documents`; do not edit by hand.

Keys stand in `nuan.toml`, in the folder nuan is started in or at `--config FILE`. Each has a variable as well, in the
environment or in `.env` beside `nuan.toml`: `NUAN_MODEL__BASE_URL` sets `model.base_url`. The environment goes before
`.env`, and `.env` before the file. Tokens and keys belong into `.env` (mode 0600). An unknown key, a wrong type or a
value out of its range is refused at start, all problems in one message, exit code 2. Units are in the names. The same
keys as a file to copy: `data/nuan.example.toml`.
"""

KEPT = (
    "memory.undo_days", "memory.life.archive_days", "memory.commitment_days", "log.max_megabytes", "log.keep",
    "backup.keep", "backup.days",
)  # fmt: skip
"""What bounds how long something is kept, besides the table `retention`."""


def configuration_page() -> str:
    """The text of docs/configuration.md: a table of the configuration is a table of the page."""
    lines = [PAGE_HEAD.rstrip()]
    table: tuple[str, ...] | None = None
    for key in ordered_keys():
        if key.path[:-1] != table:
            table = key.path[:-1]
            title = " ".join(filter(None, section_title(table))) if table else "Before the first table of the file."
            name = f"[{'.'.join(table)}]" if table else "Without a table"
            lines += ["", f"## {name}", "", title, "", *_TABLE_HEADER]
        lines.append(_row(key, key.path[-1]))
    return "\n".join(lines) + "\n"


def retention_table() -> str:
    """The rows of docs/privacy.md: everything that is kept for a time, and for how long."""
    kept = [key for key in ordered_keys() if key.path[0] == "retention" or key.dotted in KEPT]
    return "\n".join((*_TABLE_HEADER, *(_row(key, key.dotted) for key in kept)))


_TABLE_HEADER = ("| key | default | may be | what it does |", "|---|---|---|---|")


def _row(key: SettingKey, name: str) -> str:
    default = "none" if key.field.default is None else json.dumps(key.field.default, ensure_ascii=False)
    cells = (f"`{name}`", f"`{default}`", _may_be(key), key.field.description or "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _may_be(key: SettingKey) -> str:
    """The kind of its values in words, with their range."""
    words = [*_kinds(key.field.annotation)]
    limits = [word for rule in key.field.metadata for word in _limits(rule)]
    return " or ".join([", ".join([words[0], *limits]), *words[1:]])


def _limits(rule: object) -> Iterator[str]:
    match rule:
        case Ge(ge=least):
            yield f"≥ {least}"
        case Gt(gt=least):
            yield f"> {least}"
        case Le(le=most):
            yield f"≤ {most}"
        case Lt(lt=most):
            yield f"< {most}"


def _kinds(kind: object) -> Iterator[str]:
    """The words for a type: one, or one for each of a union's."""
    named = {bool: "`true`, `false`", int: "whole number", float: "number", str: "text", SecretStr: "secret text",
             NoneType: "none"}  # fmt: skip
    if isinstance(kind, type) and kind in named:
        yield named[kind]
    elif get_origin(kind) is Literal:
        yield ", ".join(f"`{value}`" if value != "" else '`""`' for value in get_args(kind))
    elif get_origin(kind) is tuple:
        yield "list"
    else:
        for each in get_args(kind)[:1] if hasattr(kind, "__metadata__") else get_args(kind):
            yield from _kinds(each)
