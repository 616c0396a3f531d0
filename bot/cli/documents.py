"""`python -m bot.cli.documents`: writes what docs/ tells of settings and commands anew. Needs a checkout."""

import re
from collections.abc import Mapping
from pathlib import Path

import typer

from bot.cli.main import app
from bot.commands.reference import chat_commands
from bot.config.reference import configuration_page, retention_table
from bot.resources import Prompts
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

`nuan COMMAND --help` tells every option; `nuan --install-completion` completes them in your shell. Exit codes are in
`docs/operations.md`.

| command | what it does |
|---|---|
{shell}
"""


def pages(docs: Path = DOCS) -> Mapping[str, str]:
    """The files of docs/ that are written from the code, wholly or in a part, by name, as they should be."""
    messages = catalogue(Prompts(None).path, "messages")
    privacy = (docs / "privacy.md").read_text(encoding="utf-8")
    return {
        "configuration.md": configuration_page(),
        "commands.md": COMMANDS.format(chat=chat_commands(messages), shell="\n".join(shell_commands())),
        "privacy.md": filled(privacy, "retention", retention_table()),
    }


def shell_commands(group: typer.Typer = app, before: str = "nuan") -> list[str]:
    """A row for each command of the command line, in its order."""
    rows = []
    for command in group.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        about, _, example = (command.help or command.callback.__doc__ or "").split("\n")[0].partition(" Example: ")
        shown = f"{about} `{example}`" if example else about
        rows.append(f"| `{before} {name}` | {shown} |".replace("\n", " "))
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            rows += shell_commands(inner.typer_instance, f"{before} {inner.name}")
    return rows


def filled(text: str, name: str, table: str) -> str:
    """The text with the table between its two marks of that name."""
    begin, end = f"<!-- {name}: written from the settings -->", f"<!-- /{name} -->"
    return re.sub(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{table}\n{end}", text)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
