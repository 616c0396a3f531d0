"""Carries out a command: finds it in the registry, checks who may, and runs its handler."""

from collections.abc import Awaitable, Callable, Mapping

from bot.commands.command import CommandServices, Invocation, corrected
from bot.commands.dialog import DialogCommand
from bot.commands.memories import MemCommand
from bot.commands.people import AccessCommands, ErasePersonCommand, ExportPersonCommand
from bot.commands.promises import PromiseCommand, RemindCommand, ZoneCommand
from bot.commands.registry import HelpCommand, find_command, parse_command
from bot.core.events import Draft, Event
from bot.core.people import Chat
from bot.pipeline.refusals import Strangers
from bot.text.codes import names_key


class CommandRunner:
    """The commands of this house."""

    def __init__(self, services: CommandServices) -> None:
        self._services = services
        store, planner, clock = services.store, services.planner, services.clock
        settings, words = services.settings, services.texts
        self._notes, self._store, self._planner, self._clock = services.notes, store, planner, clock
        self._settings, self._words = settings, words
        guests = AccessCommands(store, clock, Strangers(store, clock, words), self._text)
        self._help = HelpCommand(store.access, self._text)
        mem = MemCommand(store, planner, clock, settings, words, self._text)
        self._runs: Mapping[str, Callable[[Invocation], Awaitable[str]]] = {
            "export": ExportPersonCommand(store, clock, services.personal_data, words, self._text).run,
            "forget": ErasePersonCommand(store, clock, services.personal_data, self._text).run,
            "start": guests.start, "help": self._help.run,
            "dialog": DialogCommand(store, planner, clock, settings, words, self._text).run,
            "link": guests.link, "approve": guests.approve, "allow": guests.allow, "deny": guests.deny,
            "remind": RemindCommand(services.reminders).run, "tz": ZoneCommand(store, clock, words, self._text).run,
            "mem": mem.run, "memstats": mem.stats,
            "promise": PromiseCommand(store, planner, clock, words, self._text).run,
        }  # fmt: skip

    async def carry_out(self, event: Event, chat: Chat) -> Draft | None:
        """Do what a command says; its answer, for its sender alone where it holds somebody's data."""
        person = await self._store.people.person(event.person_id or 0)
        via, account = await self._store.access.answer_to(event)  # before: afterwards nobody may know who it was
        name, words = parse_command(event.text)
        asked = Invocation(event, chat, person, self._words.script(person), words, self._services)
        command = find_command(name) or (find_command("key") if names_key(name) else None)
        if command is None:
            text = self._help.unknown(asked, next(iter(event.text.split()[1:2]), name))
        elif not command.allows(asked):
            text = self._text(asked, "not_allowed")
        elif near := corrected(command, words):
            text = self._text(asked, "words_near", near=near)
        else:
            text = await (command.handler or self._runs[command.name])(asked)
        if not text:
            return None
        private = command is not None and command.private and chat.kind == "group"
        return Draft(text, "command", via, account if private else "")

    def _text(self, asked: Invocation, key: str, **values: object) -> str:
        return self._words.messages.text(key, asked.script, bot=self._settings.bot.names[0], **values)
