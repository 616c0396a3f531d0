"""The registry of commands: name, arguments, who may, who reads the answer; help, menus, docs and corrections from
it."""

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

from bot.commands import budget, chat, insight, models, settings
from bot.commands.command import TOPICS, Command, HelpTopic, Invocation, Permission, corrected, nearest_word
from bot.core.events import ArgumentShape, CommandSpec
from bot.language.wishes.reader import ORDERS
from bot.store.people import AccessRights
from bot.text.catalogue import Catalogue
from bot.text.clean import clean_name
from bot.text.codes import COMMAND_HEADS, KEY_NAMES
from bot.text.fold import SCRIPTS, fold

BRIEF_TOPICS: tuple[HelpTopic, ...] = ("inside", "house")
"""Topics of which `.ai help` tells the names alone: all lines of all commands are more than a phone shows at once."""


TABLE = (
    Command("start", "[CODE]", "anyone", "chat", private=True, shape="words", listed=False),
    Command("help", "[COMMAND]", "anyone", "chat", shape="words", example="remind"),
    Command("info", "", "anyone", "chat"),
    Command("new", "", "anyone", "chat"),
    Command("clear", "", "own", "chat"),
    Command("on", "[all]", "admins", "chat", shape="words", example="all"),
    Command("off", "[all]", "admins", "chat", shape="words", example="all"),
    Command(
        "mode", "[window | called | join | reset]", "own", "chat", shape="words", example="called",
    ),
    Command("why", "", "anyone", "chat"),
    Command("persona", "[NAME | reset]", "own", "chat", shape="words", example="terse"),
    Command(
        "context", "[show | recent N | window SEC | recentmax N | reset]", "own", "chat", shape="words",
        example="recent 20",
    ),
    Command(
        "mem",
        "[WORDS | #N | recent | stats | archived | protect #N | unprotect #N | fade #N | archive #N | restore #N | "
        "unmerge #N | share #N | unshare #N]",
        "anyone", "memory", private=True, shape="words", example="#12", aliases=("memory",),
    ),
    Command("memstats", "", "anyone", "memory", private=True),
    Command("dialog", "[full | clear | NAME]", "anyone", "memory", private=True, shape="words", example="full"),
    Command(
        "promise", "[all | done N | doing N | fail N | open N | drop N]", "anyone", "memory", private=True,
        shape="words", example="done 3",
    ),
    Command(
        "remind", "[WHEN WHAT | list | cancel N | cancel all]", "anyone", "memory", private=True, shape="words",
        example="list",
    ),
    Command("feedback", "[stats | recent]", "anyone", "memory", private=True, shape="words", example="recent"),
    Command("refs", "[recent | stats]", "anyone", "memory", private=True, shape="words", example="stats"),
    Command("tz", "[CITY | ZONE | reset]", "anyone", "you", private=True, shape="words", example="Asia/Tokyo"),
    Command("link", "[CODE]", "anyone", "you", private=True, shape="words"),
    Command("export", "me", "anyone", "you", private=True, shape="words", example="me"),
    Command("forget", "me [NUMBER]", "anyone", "you", private=True, shape="words", about="forget_me", example="me"),
    Command("ctx", "[PERSON] [QUERY]", "own", "inside", private=True, shape="words"),
    Command(
        "calls", "[recent N | background on|off]", "owner", "inside", private=True, shape="words",
        example="background off",
    ),
    Command("tools", "[on | off | reset]", "anyone", "inside", shape="words", example="off"),
    Command("trace", "[on | off]", "own", "inside", private=True, shape="words", example="on"),
    Command("introspect", "", "own", "inside", private=True),
    Command("personality", "", "own", "inside", private=True),
    Command(
        "budget",
        "[show | currency CODE | pricein N | priceout N | day N | month N | total N | maxtokens N | notify on|off | "
        "resetday | resetmonth | resettotal | reset]",
        "own", "house", private=True, shape="words", example="day 5",
    ),
    Command("model", "[NAME | reset]", "owner", "house", private=True, shape="words", example="small"),
    Command("base", "", "owner", "house", private=True, shape="words"),
    Command("max", "[N | reset]", "owner", "house", private=True, shape="words", example="800"),
    Command("reply", "[show | maxlen N | reset]", "owner", "house", private=True, shape="words", example="maxlen 200"),
    Command("key", "", "anyone", "house", private=True, shape="words", listed=False, aliases=KEY_NAMES[1:]),
    Command(
        "limit",
        "[off | reset | usermin N | userday N | globalmin N | globalday N | cooldown SEC | notify on|off]",
        "owner", "house", private=True, shape="words", example="userday 50",
    ),
    Command("reload", "", "owner", "house", private=True),
    Command("approve", "CODE", "owner", "house", private=True, shape="text", example="AB12CD"),
    Command("allow", "[ID]", "owner", "house", shape="words", example="telegram:123"),
    Command("deny", "[CODE | ID]", "owner", "house", shape="words", example="telegram:123"),
)  # fmt: skip


MODULES: tuple[ModuleType, ...] = (chat, insight, budget, models, settings)
"""Modules whose commands stand where their functions do."""

DECLARED = {
    each.name: each
    for module in MODULES for each in vars(module).values()
    if isinstance(each, Command) and each.handler is not None and each.handler.__module__ == module.__name__
}  # fmt: skip

COMMANDS = tuple(DECLARED.get(each.name, each) for each in TABLE)


def find_command(name: str) -> Command | None:
    """The command that goes by this name; None when none does."""
    return next((command for command in COMMANDS if name == command.name or name in command.aliases), None)


def parse_command(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name and its words: `.ai ctx me 你好` is ("ctx", ("me", "你好")); `.ai` alone asks for info."""
    parts = text.strip().split()
    head = parts[0].lower()
    if head in COMMAND_HEADS:
        return (fold(parts[1]) if len(parts) > 1 else "info"), tuple(parts[2:])
    return head[1:], tuple(parts[1:])


SHORT_COMMANDS = ("/new", "/start", "/help")
"""Commands that work without `.ai`."""


def is_command(text: str) -> bool:
    """Whether a message is a command; the rest of the sentence never is (`.aim high` is none)."""
    parts = text.strip().split(maxsplit=1)
    return bool(parts) and parts[0].lower() in (*COMMAND_HEADS, *SHORT_COMMANDS, *ORDERS)


MENU_PHRASES: tuple[tuple[str, str, ArgumentShape], ...] = (
    ("remember", "/remember ", "text"), ("forget", "/forget ", "text"), ("new", "/new", "none"),
    ("help", "/help", "none"), ("start", "/start", "words"),
)  # fmt: skip
"""What has a place of its own in a menu: its name, how it is said, what follows. Understood in every language."""

MENU_GROUPS: Mapping[HelpTopic, str] = {"inside": "ai-house", "house": "ai-house"}
"""Topics with a group of their own in menus that have groups; the rest is under /ai. Discord takes 25 in each."""


def command_specs(messages: Catalogue) -> tuple[CommandSpec, ...]:
    """Every command for a menu: "ai ctx" says ".ai ctx", "remember" says "/remember " and then the text."""

    def about(key: str) -> tuple[tuple[str, str], ...]:
        return tuple((script, messages.text(key, script)) for script in SCRIPTS)

    listed = tuple(
        CommandSpec(
            f"ai {command.name}", f".ai {command.name}", about(command.help), command.shape, command.arguments,
            MENU_GROUPS.get(command.topic, ""),
        )
        for command in COMMANDS if command.listed
    )  # fmt: skip
    return listed + tuple(CommandSpec(name, says, about(f"help_{name}"), shape) for name, says, shape in MENU_PHRASES)


def nearest_command(name: str, commands: Iterable[Command]) -> str:
    """The name among these commands that is most like this one, "" when none is."""
    known = {each: command.name for command in commands for each in (command.name, *command.aliases)}
    return known.get(nearest_word(name, known), "")


def hint(asked: Invocation, name: str, text: Callable[..., str]) -> str:
    """A further line for somebody whose words came to nothing in that command: what they may have meant, or ""."""
    command = find_command(name)
    wanted = corrected(command, asked.words, loosely=True) if command is not None else ""
    return f"\n{text(asked, 'meant', near=wanted)}" if wanted else ""


class HelpCommand:
    """Tells the table to people."""

    def __init__(self, access: AccessRights, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._access = access
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai help [COMMAND]`; a stranger is told how to become none."""
        here = await self._access.standing(asked.chat.id, asked.person.id)
        if not here.allowed and not asked.person.is_owner:
            return self._text(asked, "help_stranger")
        said = next((word for word in asked.words if fold(word) not in (".ai", "。ai")), "")
        if not said:
            return self._all(asked)
        command = find_command(fold(said))
        return self.unknown(asked, said) if command is None else self._one(asked, command)

    def unknown(self, asked: Invocation, said: str) -> str:
        """What is said to a name that no command goes by: the nearest that this person may use here, if any is near."""
        name = fold(said)
        near = nearest_command(name, usable_commands(asked))
        shown = name if name.isascii() else clean_name(said)  # folding writes Simplified, and they may not
        return self._text(asked, "unknown_near" if near else "unknown_command", command=shown[:32], near=near)

    def _all(self, asked: Invocation) -> str:
        """Plain words first, as a newcomer needs no more; then the commands."""
        may, lines = usable_commands(asked), [self._text(asked, "help_memory")]
        for topic in TOPICS:
            found, title = [command for command in may if command.topic == topic], self._text(asked, f"topic_{topic}")
            if found and topic in BRIEF_TOPICS:
                names = " · ".join(command.name for command in found)
                lines.append(self._text(asked, "help_brief", topic=title, names=names))
            elif found:
                lines += [title, *(f".ai {command.name} — {self._text(asked, command.help)}" for command in found)]
        return "\n".join((*lines, self._text(asked, "help_more")))

    def _one(self, asked: Invocation, command: Command) -> str:
        lines = [f"{usage(command)} — {self._text(asked, command.help)}"]
        if command.aliases:
            lines.append(self._text(asked, "help_aliases", names=", ".join(f".ai {name}" for name in command.aliases)))
        where = self._text(asked, "help_private" if command.private else "help_open")
        lines.append(self._text(asked, "help_who", who=self._text(asked, f"who_{command.who}"), where=where))
        if command.example not in ("", command.arguments):
            lines.append(self._text(asked, "help_example", example=f".ai {command.name} {command.example}"))
        return "\n".join(lines)


def usable_commands(asked: Invocation) -> tuple[Command, ...]:
    """The listed commands that this person may use here."""
    return tuple(command for command in COMMANDS if command.listed and command.allows(asked))


def usage(command: Command) -> str:
    """How it is said, with its arguments: ".ai tz [CITY | reset]"."""
    return f".ai {command.name} {command.arguments}".rstrip()


PERMISSION_TEXTS: Mapping[Permission, str] = {
    "anyone": "anyone",
    "own": "in a DM anyone, in a group the owner",
    "admins": "in a DM anyone, in a group its admins and the owner",
    "owner": "the owner",
}


TABLE_HEAD = ("| command | who may | the answer is for | what it does | 简体 | 繁體 |", "|---|---|---|---|---|---|")


def chat_commands(messages: Catalogue) -> str:
    """Every listed command with its arguments, who may, who reads the answer; then what has a place in menus."""
    lines: list[str] = []
    for topic in TOPICS:
        lines += [f"**{messages.text(f'topic_{topic}', 'en')}**", "", *TABLE_HEAD]
        lines += [_row(command, messages) for command in COMMANDS if command.listed and command.topic == topic]
        lines.append("")
    lines += [f"Without `.ai`, everywhere: {', '.join(f'`{name}`' for name in SHORT_COMMANDS)}. In menus also:", ""]
    lines += [f"- `{says.strip()}`: {messages.text(f'help_{name}', 'en')}" for name, says, _ in MENU_PHRASES]
    return "\n".join(lines)


def _row(command: Command, messages: Catalogue) -> str:
    said = f"`{usage(command)}`" + "".join(f", `.ai {name}`" for name in command.aliases)
    if command.example not in ("", command.arguments):
        said += f"; so: `.ai {command.name} {command.example}`"
    audience = "you alone" if command.private else "the chat"
    helps = {script: messages.text(command.help, script) for script in SCRIPTS}
    cells = (said, PERMISSION_TEXTS[command.who], audience, helps["en"], helps["zh-Hans"], helps["zh-Hant"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
