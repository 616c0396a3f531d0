"""The reference of the configuration for docs/, written from the models, so that it cannot grow old. Writes no file."""

import json
from collections.abc import Iterator
from types import NoneType
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import SecretStr

from bot.config.example import ordered, section_title
from bot.config.fields import Key

HEAD = """\
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
    lines = [HEAD.rstrip()]
    table: tuple[str, ...] | None = None
    for key in ordered():
        if key.path[:-1] != table:
            table = key.path[:-1]
            title = " ".join(filter(None, section_title(table))) if table else "Before the first table of the file."
            name = f"[{'.'.join(table)}]" if table else "Without a table"
            lines += ["", f"## {name}", "", title, "", *_HEADER]
        lines.append(_row(key, key.path[-1]))
    return "\n".join(lines) + "\n"


def retention_table() -> str:
    """The rows of docs/privacy.md: everything that is kept for a time, and for how long."""
    kept = [key for key in ordered() if key.path[0] == "retention" or key.dotted in KEPT]
    return "\n".join((*_HEADER, *(_row(key, key.dotted) for key in kept)))


_HEADER = ("| key | default | may be | what it does |", "|---|---|---|---|")


def _row(key: Key, name: str) -> str:
    default = "none" if key.field.default is None else json.dumps(key.field.default, ensure_ascii=False)
    cells = (f"`{name}`", f"`{default}`", _may_be(key), key.field.description or "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _may_be(key: Key) -> str:
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
