"""`python -m bot.cli.documents`: writes the reference pages of docs/ from settings and commands. Needs a checkout."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from bot.cli.commandline import examples_of
from bot.cli.main import app
from bot.cli.terminal import ExitCode
from bot.commands.registry import chat_commands
from bot.config.keys import configuration_page, retention_table
from bot.config.resources import PromptFiles
from bot.text.catalogue import catalogue

DOCS = Path(__file__).resolve().parents[2] / "docs"

COMMANDS = """\
# Commands

Written from the command table, the help texts and the command line by `python -m bot.cli.documents`; do not edit by
hand.

## In a chat

One table makes this list, `.ai help`, Discord's slash commands and Telegram's menu. `。ai` and `/ai` work like `.ai`;
`.ai` alone is `.ai info`, and `.ai help NAME` tells all about one. Words in capitals are yours to fill in. A word
that no command knows is answered with the nearest. On Discord the last two lists are under `/ai-house`, the others
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


def pages(docs: Path = DOCS) -> Mapping[str, str]:
    """The files of docs/ that are written from the code, wholly or in a part, by name, as they should be."""
    messages = catalogue(PromptFiles(None).path, "messages")
    privacy = (docs / "privacy.md").read_text(encoding="utf-8")
    return {
        "configuration.md": configuration_page(),
        "commands.md": COMMANDS.format(
            chat=chat_commands(messages), shell="\n".join(shell_commands()), exits=exit_codes()
        ),
        "privacy.md": filled(privacy, "retention", retention_table()),
    }


def shell_commands(command: Any = None, before: str = "nuan") -> list[str]:
    """A row for each command of the command line, in the order of its help."""
    command = command or get_command(app)
    if isinstance(command, TyperGroup):
        names = command.list_commands(Context(command))
        return [row for name in names for row in shell_commands(command.commands[name], f"{before} {name}")]
    about = (command.help or "").split("\n")[0]
    shown = "<br>".join(f"`{line}`" for line in examples_of(command.epilog))
    as_json = "yes" if any("--json" in each.opts for each in command.params) else "–"
    return [f"| `{before}` | {about} | {as_json} | {shown} |"]


def exit_codes() -> str:
    """The table of exit codes."""
    rows = [f"| {code.value} | {code.meaning} |" for code in ExitCode]
    return "\n".join(("| code | meaning |", "|---|---|", *rows))


def filled(text: str, name: str, table: str) -> str:
    """The text with the table between its two marks of that name."""
    begin, end = f"<!-- {name}: written from the settings -->", f"<!-- /{name} -->"
    return re.sub(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{table}\n{end}", text)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
