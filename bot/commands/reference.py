"""The chat commands for docs/, written from the table and the help texts. Writes no file."""

from collections.abc import Mapping

from bot.commands.specs import SAYINGS
from bot.commands.table import SHORT, TABLE, Command, Who
from bot.text.catalogue import Catalogue
from bot.text.script import SCRIPTS

WHO: Mapping[Who, str] = {"anyone": "anyone", "own": "in a DM anyone, in a group the owner", "owner": "the owner"}


def chat_commands(messages: Catalogue) -> str:
    """Every listed command with its arguments, who may, who reads the answer; then what has a place in menus."""
    lines = ["| command | who may | the answer is for | what it does | 简体 | 繁體 |", "|---|---|---|---|---|---|"]
    lines += [_row(command, messages) for command in TABLE if command.listed]
    lines += ["", f"Without `.ai`, everywhere: {', '.join(f'`{name}`' for name in SHORT)}. In menus also:", ""]
    lines += [f"- `{says.strip()}`: {messages.text(f'help_{name}', 'en')}" for name, says, _ in SAYINGS]
    return "\n".join(lines)


def _row(command: Command, messages: Catalogue) -> str:
    said = f"`.ai {command.name} {command.arguments}".rstrip() + "`"
    audience = "you alone" if command.private else "the chat"
    helps = {script: messages.text(f"help_{command.name}", script) for script in SCRIPTS}
    cells = (said, WHO[command.who], audience, helps["en"], helps["zh-Hans"], helps["zh-Hant"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
