"""The chat commands for docs/, written from the table and the help texts. Writes no file."""

from collections.abc import Mapping

from bot.commands.help import usage
from bot.commands.specs import SAYINGS
from bot.commands.table import SHORT, TABLE, TOPICS, Command, Who
from bot.text.catalogue import Catalogue
from bot.text.script import SCRIPTS

WHO: Mapping[Who, str] = {
    "anyone": "anyone",
    "own": "in a DM anyone, in a group the owner",
    "admins": "in a DM anyone, in a group its admins and the owner",
    "owner": "the owner",
}


HEAD = ("| command | who may | the answer is for | what it does | 简体 | 繁體 |", "|---|---|---|---|---|---|")


def chat_commands(messages: Catalogue) -> str:
    """Every listed command with its arguments, who may, who reads the answer; then what has a place in menus."""
    lines: list[str] = []
    for topic in TOPICS:
        lines += [f"**{messages.text(f'topic_{topic}', 'en')}**", "", *HEAD]
        lines += [_row(command, messages) for command in TABLE if command.listed and command.topic == topic]
        lines.append("")
    lines += [f"Without `.ai`, everywhere: {', '.join(f'`{name}`' for name in SHORT)}. In menus also:", ""]
    lines += [f"- `{says.strip()}`: {messages.text(f'help_{name}', 'en')}" for name, says, _ in SAYINGS]
    return "\n".join(lines)


def _row(command: Command, messages: Catalogue) -> str:
    said = f"`{usage(command)}`" + "".join(f", `.ai {name}`" for name in command.aliases)
    if command.example not in ("", command.arguments):
        said += f"; so: `.ai {command.name} {command.example}`"
    audience = "you alone" if command.private else "the chat"
    helps = {script: messages.text(command.help, script) for script in SCRIPTS}
    cells = (said, WHO[command.who], audience, helps["en"], helps["zh-Hans"], helps["zh-Hant"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
