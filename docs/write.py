"""`python -m docs.write`: writes the reference pages of docs/ and data/nuan.example.toml from settings and commands."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from bot.cli.commandline import EXAMPLES_HEAD
from bot.cli.main import app
from bot.cli.terminal import ExitCode
from bot.commands.command import TOPICS, Command, Permission
from bot.commands.registry import COMMANDS, MENU_PHRASES, SHORT_COMMANDS, usage
from bot.config.mcp import OutsideServer
from bot.config.settings import SettingKey, Settings, keys
from bot.core.files import PromptFiles
from bot.core.people import SCRIPTS
from bot.text.catalogue import Catalogue, catalogue

DOCS = Path(__file__).resolve().parent
EXAMPLE = DOCS.parent / "data" / "nuan.example.toml"


def pages(docs: Path = DOCS) -> Mapping[str, str]:
    """The files of docs/ that are written from the code, wholly or in a part, by name, as they should be."""
    messages = catalogue(PromptFiles(None).path, "messages")
    privacy = (docs / "privacy.md").read_text(encoding="utf-8")
    return {
        "configuration.md": configuration_page(),
        "commands.md": COMMANDS_PAGE.format(
            chat=chat_commands(messages), shell="\n".join(shell_commands()), exits=exit_codes()
        ),
        "privacy.md": filled(privacy, "retention", retention_table()),
    }


COMMANDS_PAGE = """\
# Commands

Written from the command table, the help texts and the command line by `python -m docs.write`; do not edit by
hand.

## In a chat

One table makes this list, `.ai help`, Discord's slash commands and Telegram's menu. `。ai` and `/ai` work like `.ai`;
`.ai` alone is `.ai info`, and `.ai help NAME` tells all about one. Words in capitals are yours to fill in. A word
that no command knows is answered with the nearest. On Discord the last two lists are under `/ai-admin`, the others
under `/ai`; in Telegram's menu `.ai tz` is `/ai_tz`. To remember, to forget and to stop, plain words do (`README.md`,
"Talk with it").

{chat}

## In a terminal

`nuan COMMAND --help` tells every option; `nuan --install-completion` completes commands, options, people, chats and
backups in your shell.

| command | what it does | `--json` | examples |
|---|---|---|---|
{shell}

With `--json` standard output holds one JSON document in UTF-8 and nothing else, no question and no bar; where something
goes wrong it holds nothing. Only `nuan logs` prints JSON Lines, for a log need not end, and `nuan doctor` and
`nuan reload` print what they found wrong as part of their document. Errors are lines on standard error that begin with
`nuan: `, with and without `--json`; the exit code tells them apart. Bars show on standard error while something takes
long, where that is a terminal.

### Exit codes

{exits}
"""


PERMISSION_TEXTS: Mapping[Permission, str] = {
    "anyone": "anyone",
    "own": "in a DM anyone, in a group the owner",
    "admins": "in a DM anyone, in a group its admins and the owner",
    "owner": "the owner",
}

COMMANDS_HEADER = (
    "| command | who may | the answer is for | what it does | 简体 | 繁體 |",
    "|---|---|---|---|---|---|",
)


def chat_commands(messages: Catalogue) -> str:
    """Every listed command with its arguments, who may, who reads the answer; then what has a place in menus."""
    lines: list[str] = []
    for topic in TOPICS:
        lines += [f"**{messages.text(f'topic_{topic}', 'en')}**", "", *COMMANDS_HEADER]
        lines += [_command_row(command, messages) for command in COMMANDS if command.listed and command.topic == topic]
        lines.append("")
    lines += [f"Without `.ai`, everywhere: {', '.join(f'`{name}`' for name in SHORT_COMMANDS)}. In menus also:", ""]
    lines += [f"- `{says.strip()}`: {messages.text(f'help_{name}', 'en')}" for name, says, _ in MENU_PHRASES]
    return "\n".join(lines)


def _command_row(command: Command, messages: Catalogue) -> str:
    said = f"`{usage(command)}`" + "".join(f", `.ai {name}`" for name in command.aliases)
    if command.example not in ("", command.arguments):
        said += f"; so: `.ai {command.name} {command.example}`"
    audience = "you alone" if command.private else "the chat"
    helps = {script: messages.text(command.help, script) for script in SCRIPTS}
    cells = (said, PERMISSION_TEXTS[command.who], audience, helps["en"], helps["zh-Hans"], helps["zh-Hant"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def shell_commands(command: Any = None, before: str = "nuan") -> list[str]:
    """A row for each command of the command line, in the order of its help."""
    command = command or get_command(app)
    if isinstance(command, TyperGroup):
        names = command.list_commands(Context(command))
        own = [_shell_row(command, before)] if command.invoke_without_command and before != "nuan" else []
        return [*own, *(row for name in names for row in shell_commands(command.commands[name], f"{before} {name}"))]
    return [_shell_row(command, before)]


def _shell_row(command: Any, before: str) -> str:
    about = (command.help or "").split("\n")[0]
    shown = "<br>".join(f"`{line}`" for line in examples_of(command.epilog))
    as_json = "yes" if any("--json" in each.opts for each in command.params) else "–"
    return f"| `{before}` | {about} | {as_json} | {shown} |"


def exit_codes() -> str:
    """The table of exit codes."""
    rows = [f"| {code.value} | {code.meaning} |" for code in ExitCode]
    return "\n".join(("| code | meaning |", "|---|---|", *rows))


def filled(text: str, name: str, table: str) -> str:
    """The text with the table between its two marks of that name."""
    begin, end = f"<!-- {name}: written from the settings -->", f"<!-- /{name} -->"
    return re.sub(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{table}\n{end}", text)


def examples_of(epilog: str | None) -> tuple[str, ...]:
    """The command lines of such an end."""
    return tuple(line.strip() for line in (epilog or "").splitlines() if line.strip() and line != EXAMPLES_HEAD)


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
        lines += [f"# {key.help}", f"# {key.path[-1]} = {_default_toml(key)}"]
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

Written from the settings model by `python -m docs.write`; do not edit by hand.

Keys stand in `nuan.toml`, in the folder nuan is started in or at `--config FILE`. Each has a variable as well, in the
environment or in `.env` beside `nuan.toml`: `NUAN_MODEL__BASE_URL` sets `model.base_url`. The environment goes before
`.env`, and `.env` before the file. Tokens and keys belong into `.env` (mode 0600). An unknown key, a wrong type or a
value out of its range is refused at start, all problems in one message, exit code 2. Units are in the names. The same
keys as a file to copy: `data/nuan.example.toml`.
"""

KEPT = (
    "memory.undo_days",
    "memory.life.archive_days",
    "memory.commitment_days",
    "log.max_megabytes",
    "log.keep",
    "backup.keep",
    "backup.days",
)
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
            lines += ["", f"## {name}", "", title, "", *KEYS_HEADER]
        lines.append(_key_row(key, key.path[-1]))
        if key.dotted == "mcp.servers":
            lines += ["", "## [mcp.servers.NAME]", "", (OutsideServer.__doc__ or "").strip(), "", *KEYS_HEADER]
            lines += [_key_row(each, each.path[-1]) for each in server_keys()]
    return "\n".join(lines) + "\n"


def server_keys() -> list[SettingKey]:
    """The keys of one server of outside tools."""
    fields = OutsideServer.model_fields.items()
    return [SettingKey(("mcp", "servers", "NAME", name), field, OutsideServer) for name, field in fields]


def retention_table() -> str:
    """The rows of docs/privacy.md: everything that is kept for a time, and for how long."""
    kept = [key for key in ordered_keys() if key.path[0] == "retention" or key.dotted in KEPT]
    return "\n".join((*KEYS_HEADER, *(_key_row(key, key.dotted) for key in kept)))


KEYS_HEADER = ("| key | default | may be | what it does |", "|---|---|---|---|")


def _key_row(key: SettingKey, name: str) -> str:
    default = "none" if key.field.default is None else json.dumps(key.field.default, ensure_ascii=False)
    cells = (f"`{name}`", f"`{default}`", _may_be(key), key.help)
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
    named = {
        bool: "`true`, `false`",
        int: "whole number",
        float: "number",
        str: "text",
        SecretStr: "secret text",
        NoneType: "none",
    }
    if isinstance(kind, type) and kind in named:
        yield named[kind]
    elif get_origin(kind) is Literal:
        yield ", ".join(f"`{value}`" if value != "" else '`""`' for value in get_args(kind))
    elif get_origin(kind) is tuple:
        yield "list"
    elif get_origin(kind) is dict:
        yield "table"
    else:
        for each in get_args(kind)[:1] if hasattr(kind, "__metadata__") else get_args(kind):
            yield from _kinds(each)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    EXAMPLE.write_text(example_toml(), encoding="utf-8")
