"""The registry of commands: which there are, found by name and carried out, with help, menus and docs.

A new command is a function with `@command` in one of `MODULES` and its texts in the message catalogue."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import ModuleType

from bot.commands import chat, insight, memories, people, servers, settings
from bot.commands.command import (
    TOPICS,
    Command,
    CommandServices,
    HelpTopic,
    Invocation,
    command,
    corrected,
    nearest_word,
)
from bot.core.events import ArgumentShape, CommandSpec, Draft, Event
from bot.core.people import SCRIPTS, Chat
from bot.language.wishes.reader import ORDERS, list_asked
from bot.pipeline.dispatch import TurnWanted
from bot.pipeline.ingest import READ_CHARS
from bot.text.catalogue import Catalogue
from bot.text.clean import clean_name
from bot.text.codes import COMMAND_HEADS, names_key
from bot.text.fold import fold, script_of

FIRST_COMMANDS = ("mem", "remind", "promise", "forget", "tz")
"""What `.ai help` tells; the rest stands under its topics, as all commands are more than a phone shows at once."""

MODULES = (chat, memories, insight, settings, people, servers)
"""Modules with commands, in the order of help within a topic."""

SHORT_COMMANDS = ("/new", "/start", "/help")
"""Commands that work without `.ai`."""

MENU_PHRASES: tuple[tuple[str, str, ArgumentShape], ...] = (
    ("remember", "/remember ", "text"),
    ("forget", "/forget ", "text"),
    ("new", "/new", "none"),
    ("help", "/help", "none"),
    ("start", "/start", "words"),
)
"""What has a place of its own in a menu: its name, how it is said, what follows. Understood in every language."""

MENU_GROUPS: Mapping[HelpTopic, str] = {"inside": "ai-admin", "admin": "ai-admin"}
"""Topics with a group of their own in menus that have groups; the rest is under /ai. Discord takes 25 in each."""


_SLASHED = re.compile("/[a-z][a-z_]{1,31}", re.IGNORECASE)


@command("help", "[TOPIC | COMMAND]", who="anyone", topic="chat", example="remind")
async def show_help(call: Invocation) -> str:
    """The registry as people read it; a stranger is told how to become none."""
    here = await call.store.people.standing(call.chat.id, call.person.id)
    if not here.allowed and not call.person.is_owner:
        return call.text("help_stranger")
    said = next((word for word in call.words if fold(word) not in (".ai", "。ai")), "")
    if fold(said) in ("", "all", "全部", "所有"):
        return _first_help(call)
    texts = call.services.texts.messages
    if topic := next((topic for topic in TOPICS if fold(said) in (topic, *_titles(topic, texts))), None):
        return _topic_help(call, topic)
    found = find_command(fold(said), call.services.commands) or command_called(fold(said), texts)
    return _unknown(call, said) if found is None else _one_help(call, found)


def _titles(topic: HelpTopic, texts: Catalogue) -> tuple[str, ...]:
    return tuple(fold(texts.text(f"topic_{topic}", script)) for script in SCRIPTS)


def _first_help(call: Invocation) -> str:
    """Plain words first, as a newcomer needs no more; then the first commands and the topics of the others."""
    may = usable_commands(call)
    lines = [_help_line(call, each) for each in may if each.name in FIRST_COMMANDS]
    topics = [topic for topic in TOPICS if any(each.topic == topic for each in may)]
    return "\n".join((call.text("help_memory"), *lines, call.text("help_more", topics=" | ".join(topics))))


def _topic_help(call: Invocation, topic: HelpTopic) -> str:
    lines = [_help_line(call, each) for each in usable_commands(call) if each.topic == topic]
    return "\n".join((call.text(f"topic_{topic}"), *lines)) if lines else call.text("not_allowed")


def _help_line(call: Invocation, command: Command) -> str:
    return f".ai {command.name} — {command.told(call.text)}"


def _one_help(call: Invocation, command: Command) -> str:
    lines = [f"{usage(command)} — {command.told(call.text)}"]
    if command.aliases:
        lines.append(call.text("help_aliases", names=", ".join(f".ai {name}" for name in command.aliases)))
    where = call.text("help_private" if command.private else "help_open")
    lines.append(call.text("help_who", who=call.text(f"who_{command.who}"), where=where))
    if command.example not in ("", command.arguments):
        lines.append(call.text("help_example", example=f".ai {command.name} {command.example}"))
    return "\n".join(lines)


def _unknown(call: Invocation, said: str) -> str:
    """What is said to a name that no command goes by: the nearest that this person may use here, if any is near."""
    name = fold(said)
    near = nearest_command(name, usable_commands(call))
    shown = name if name.isascii() else clean_name(said)  # folding writes Simplified, and they may not
    written = script_of(said, call.script)  # .ai 預算 of a reader of Chinese
    call = call if "en" in (call.script, written) else replace(call, script=written)
    return call.text("unknown_near" if near else "unknown_command", command=shown[:32], near=near)


def declared_in(module: ModuleType) -> Iterator[Command]:
    """The commands whose functions stand in that module, in their order there."""
    for each in vars(module).values():
        if isinstance(each, Command) and each.handler.__module__ == module.__name__:
            yield each


COMMANDS: tuple[Command, ...] = tuple(
    sorted(
        (show_help, *(each for module in MODULES for each in declared_in(module))),
        key=lambda each: TOPICS.index(each.topic),
    )
)
"""Every command, in the order of help."""


class CommandRunner:
    """Carries out commands by the registry."""

    def __init__(self, services: CommandServices) -> None:
        self._services = services

    async def carry_out(self, event: Event, chat: Chat) -> Draft | TurnWanted | None:
        """Do what a command says; its answer, for its sender alone where it holds somebody's data."""
        store = self._services.store
        person = await store.people.person(event.person_id or 0)
        via, account = await store.people.answer_to(event)  # before: afterwards nobody may know who it was
        texts, listed = self._services.texts, list_asked(event.text[:READ_CHARS])
        name, words = parse_command(listed or event.text)
        script = texts.script_of(event.text, person.script) if listed else texts.script(person)
        call = Invocation(event, chat, person, script, words, self._services, account)
        found = find_command(name, self._services.commands) or (settings.key if names_key(name) else None)
        found = found or command_called(name, self._services.texts.messages)
        text: str | Draft | TurnWanted
        if found is None:
            text = _unknown(call, name_said(event.text))
        elif not found.allows(call):
            text = call.text("not_allowed")
        elif near := corrected(found, words):
            text = call.text("words_near", near=near)
        else:
            text = await found.handler(call)
        if not text or isinstance(text, TurnWanted):
            return text or None
        private = found is not None and found.private and chat.kind == "group"
        draft = text if isinstance(text, Draft) else Draft(text, "command")
        return replace(draft, via=via, only_for=account if private else "")


def find_command(name: str, more: Iterable[Command] = ()) -> Command | None:
    """The command that goes by this name, of nuan's own and of these; None when none does."""
    return next((command for command in (*COMMANDS, *more) if name == command.name or name in command.aliases), None)


def command_called(name: str, texts: Catalogue) -> Command | None:
    """The command that people of any language call so (提醒, memories); None when none is. The name is folded."""
    known = ((each, texts.text(f"names_{each.name}", script)) for each in COMMANDS for script in SCRIPTS)
    return next((each for each, names in known if name in fold(names).split()), None)


def name_said(text: str) -> str:
    """The name in a command as it was written; "" for `.ai` alone."""
    head, *words = text.split()
    return next(iter(words), "") if head.lower() in COMMAND_HEADS else head[1:]


def parse_command(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name and its words: `.ai ctx me 你好` is ("ctx", ("me", "你好")); `.ai` alone asks for info."""
    head, *words = text.split()
    return fold(name_said(text)) or "info", tuple(words[1:] if head.lower() in COMMAND_HEADS else words)


def is_command(text: str, direct: bool = False) -> bool:
    """Whether a message is a command; the rest of the sentence never is (`.aim high` is none).

    In a `direct` chat, where no other bot could be meant, so is each that begins as commands of platforms do (/mem).
    """
    parts = text.strip().split(maxsplit=1)
    if not parts:
        return False
    return parts[0].lower() in (*COMMAND_HEADS, *SHORT_COMMANDS, *ORDERS) or (
        direct and _SLASHED.fullmatch(parts[0]) is not None
    )


def command_specs(messages: Catalogue) -> tuple[CommandSpec, ...]:
    """Every command for a menu: "ai ctx" says ".ai ctx", "remember" says "/remember " and then the text."""

    def about(key: str) -> tuple[tuple[str, str], ...]:
        return tuple((script, messages.text(key, script)) for script in SCRIPTS)

    listed = tuple(
        CommandSpec(
            f"ai {command.name}",
            f".ai {command.name}",
            about(command.help),
            command.shape,
            command.arguments,
            MENU_GROUPS.get(command.topic, ""),
        )
        for command in COMMANDS
        if command.listed
    )
    return listed + tuple(CommandSpec(name, says, about(f"help_{name}"), shape) for name, says, shape in MENU_PHRASES)


def nearest_command(name: str, commands: Iterable[Command]) -> str:
    """The name among these commands that is most like this one, "" when none is."""
    known = {each: command.name for command in commands for each in (command.name, *command.aliases)}
    return known.get(nearest_word(name, known), "")


def usable_commands(call: Invocation) -> tuple[Command, ...]:
    """The listed commands that this person may use here."""
    return tuple(each for each in (*COMMANDS, *call.services.commands) if each.listed and each.allows(call))


def usage(command: Command) -> str:
    """How it is said, with its arguments: ".ai tz [CITY | reset]"."""
    return f".ai {command.name} {command.arguments}".rstrip()
