"""`.ai help`: every command one may use here, by topic, or all there is to know of one. It carries none out."""

from collections.abc import Callable

from bot.commands.nearest import near_command
from bot.commands.table import TABLE, TOPICS, Asked, Command, named
from bot.store.access import Admission
from bot.text.fold import fold


class HelpCommand:
    """Tells the table to people."""

    def __init__(self, access: Admission, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._access = access
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai help [COMMAND]`; a stranger is told how to become none."""
        here = await self._access.standing(asked.chat.id, asked.person.id)
        if not here.allowed and not asked.person.is_owner:
            return self._text(asked, "help_stranger")
        name = next((fold(word) for word in asked.words if fold(word) not in (".ai", "。ai")), "")
        if not name:
            return self._all(asked)
        command = named(name)
        return self.unknown(asked, name) if command is None else self._one(asked, command)

    def unknown(self, asked: Asked, name: str) -> str:
        """What is said to a name that no command goes by: the nearest that this person may use here, if any is near."""
        near = near_command(name, allowed(asked))
        return self._text(asked, "unknown_near" if near else "unknown_command", command=name[:32], near=near)

    def _all(self, asked: Asked) -> str:
        may, lines = allowed(asked), list[str]()
        for topic in TOPICS:
            found = [command for command in may if command.topic == topic]
            if found:
                lines.append(self._text(asked, f"topic_{topic}"))
            lines += [f".ai {command.name} — {self._text(asked, command.help)}" for command in found]
        return "\n".join((*lines, self._text(asked, "help_more"), self._text(asked, "help_memory")))

    def _one(self, asked: Asked, command: Command) -> str:
        lines = [f"{usage(command)} — {self._text(asked, command.help)}"]
        if command.aliases:
            lines.append(self._text(asked, "help_aliases", names=", ".join(f".ai {name}" for name in command.aliases)))
        where = self._text(asked, "help_private" if command.private else "help_open")
        lines.append(self._text(asked, "help_who", who=self._text(asked, f"who_{command.who}"), where=where))
        if command.example not in ("", command.arguments):
            lines.append(self._text(asked, "help_example", example=f".ai {command.name} {command.example}"))
        return "\n".join(lines)


def allowed(asked: Asked) -> tuple[Command, ...]:
    """The listed commands that this person may use here."""
    return tuple(command for command in TABLE if command.listed and command.allows(asked))


def usage(command: Command) -> str:
    """How it is said, with its arguments: ".ai tz [CITY | reset]"."""
    return f".ai {command.name} {command.arguments}".rstrip()
