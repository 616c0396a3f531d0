"""The commands as platforms show them in their menus, from the one table. It talks to no platform."""

from collections.abc import Mapping

from bot.commands.table import TABLE, Topic
from bot.text.catalogue import Catalogue
from bot.text.script import SCRIPTS
from bot.types.command import CommandSpec, Shape

SAYINGS: tuple[tuple[str, str, Shape], ...] = (
    ("remember", "/remember ", "text"), ("forget", "/forget ", "text"), ("new", "/new", "none"),
    ("help", "/help", "none"), ("start", "/start", "words"),
)  # fmt: skip
"""What has a place of its own in a menu: its name, how it is said, what follows. Understood in every language."""

UNDER: Mapping[Topic, str] = {"inside": "ai-house", "house": "ai-house"}
"""Topics with a group of their own in menus that have groups; the rest is under /ai. Discord takes 25 in each."""


def specs(messages: Catalogue) -> tuple[CommandSpec, ...]:
    """Every command for a menu: "ai ctx" says ".ai ctx", "remember" says "/remember " and then the text."""

    def about(key: str) -> tuple[tuple[str, str], ...]:
        return tuple((script, messages.text(key, script)) for script in SCRIPTS)

    listed = tuple(
        CommandSpec(
            f"ai {command.name}", f".ai {command.name}", about(command.help), command.shape, command.arguments,
            UNDER.get(command.topic, ""),
        )
        for command in TABLE if command.listed
    )  # fmt: skip
    return listed + tuple(CommandSpec(name, says, about(f"help_{name}"), shape) for name, says, shape in SAYINGS)
