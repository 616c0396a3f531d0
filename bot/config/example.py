"""The example configuration, written from the models, so that it cannot grow old. Writes no file."""

import json

from pydantic import BaseModel

from bot.config.fields import Key, keys
from bot.config.settings import Settings

HEAD = """\
# The configuration of nuan, with every key and its default. Copy it to nuan.toml and uncomment what you change.
# Each key can be set by a variable, too, here or in .env beside nuan.toml: NUAN_MODEL__API_KEY sets model.api_key.
"""


def example_toml() -> str:
    """The text of data/nuan.example.toml: each key commented out, with its help above it."""
    lines = [HEAD.rstrip()]
    table: tuple[str, ...] = ()
    for key in ordered():
        if key.path[:-1] != table:
            table = key.path[:-1]
            lines += ["", *(f"# {line}".rstrip() for line in section_title(table)), f"[{'.'.join(table)}]"]
        lines += [f"# {key.field.description}", f"# {key.path[-1]} = {_value(key)}"]
    return "\n".join(lines) + "\n"


def ordered() -> list[Key]:
    """Every key as a file wants them: those without a table first, then table by table."""
    return sorted(keys(), key=_by_table)


def _by_table(key: Key) -> tuple[bool, int, int]:
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


def _value(key: Key) -> str:
    default = key.field.default
    return '"none"' if default is None else json.dumps(default, ensure_ascii=False)
