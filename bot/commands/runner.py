"""Carries out a command: finds it in the registry, checks who may, and runs its handler."""

from collections.abc import Awaitable, Callable, Mapping

from bot.commands.budget import BudgetCommand, LimitCommand
from bot.commands.chat import ContextCommand, ModeCommand, PersonaCommand, SwitchCommands, WhyCommand
from bot.commands.command import CommandServices, Invocation, corrected
from bot.commands.dialog import DialogCommand
from bot.commands.insight import AccountCommands, InsightCommands, TraceCommand
from bot.commands.memories import MemCommand
from bot.commands.models import CALLS_SHOWN, BaseCommand, KeyCommand, ModelCommand, calls_report, calls_wanted
from bot.commands.people import AccessCommands, ErasePersonCommand, ExportPersonCommand
from bot.commands.promises import PromiseCommand, RemindCommand, ZoneCommand
from bot.commands.prompt_report import ctx_report
from bot.commands.registry import HelpCommand, find_command, parse_command
from bot.commands.settings import ReloadCommand, SetCommand, SettingsEditor
from bot.core.events import Draft, Event
from bot.core.people import Chat, Person
from bot.core.sessions import CloseReason
from bot.pipeline.background import BackgroundGate
from bot.pipeline.inspection import inspect_plan, plan_imagined
from bot.pipeline.refusals import Strangers
from bot.text.codes import names_key
from bot.text.fold import fold


class CommandRunner:
    """The commands of this house."""

    def __init__(self, services: CommandServices) -> None:
        self._services = services
        store, planner, clock = services.store, services.planner, services.clock
        settings, words = services.settings, services.texts
        self._notes, self._store, self._planner, self._clock = services.notes, store, planner, clock
        self._settings, self._words = settings, words
        guests = AccessCommands(store, clock, Strangers(store, clock, words), self._text)
        limit = LimitCommand(store.switches, store.settings, clock, settings.limits, self._text)
        context = ContextCommand(store.switches, settings.context, self._text)
        mode = ModeCommand(store.switches, settings.speak, self._text)
        why = WhyCommand(store, clock, words, self._text)
        setting = SettingsEditor(store.settings, services.settle, services.written, words, self._text)
        switching = SwitchCommands(store, clock, services.adapter, self._text)
        self._help = HelpCommand(store.access, self._text)
        mem = MemCommand(store, planner, clock, settings, words, self._text)
        account = AccountCommands(store, planner, clock, settings, words, self._text)
        inside = InsightCommands(store, planner, clock, words, settings.budget.currency, self._text)
        self._runs: Mapping[str, Callable[[Invocation], Awaitable[str]]] = {
            "export": ExportPersonCommand(store, clock, services.personal_data, words, self._text).run,
            "forget": ErasePersonCommand(store, clock, services.personal_data, self._text).run,
            "start": guests.start, "help": self._help.run, "new": self._new, "clear": self._clear, "ctx": self._ctx,
            "dialog": DialogCommand(store, planner, clock, settings, words, self._text).run,
            "budget": BudgetCommand(store, planner, clock, setting).run, "on": switching.on, "off": switching.off,
            "model": ModelCommand(setting).run, "base": BaseCommand(setting).run, "key": KeyCommand(setting).run,
            "max": SetCommand("max", setting).run, "reply": SetCommand("reply", setting).run, "link": guests.link,
            "calls": self._calls, "limit": limit.run, "context": context.run, "approve": guests.approve,
            "allow": guests.allow, "deny": guests.deny, "reload": ReloadCommand(services.reload, self._text).run,
            "remind": RemindCommand(services.reminders).run, "tz": ZoneCommand(store, clock, words, self._text).run,
            "mode": mode.run, "why": why.run,
            "info": account.info, "feedback": account.feedback, "refs": account.refs, "mem": mem.run,
            "memstats": mem.stats, "tools": SetCommand("tools", setting, inside.tools).run,
            "trace": TraceCommand(store.traces, clock, self._text, inside.trace).run, "introspect": inside.introspect,
            "personality": inside.personality,
            "promise": PromiseCommand(store, planner, clock, words, self._text).run,
            "persona": PersonaCommand(store.switches, planner.personas, self._text).run,
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

    async def _new(self, asked: Invocation) -> str:
        await self._notes.ended(asked.event, asked.chat, asked.person)
        await self._close(asked, "new")
        return self._text(asked, "new_session")

    async def _clear(self, asked: Invocation) -> str:
        there = await self._close(asked, "clear")
        return self._text(asked, "cleared" if there else "cleared_none")

    async def _close(self, asked: Invocation, reason: CloseReason) -> bool:
        """End the talk that goes on there; whether there was one, or (clear) one that waits for its digest."""
        sessions, chat, event = self._store.sessions, asked.chat.id, asked.event.id
        session = await sessions.open_session(chat)
        there = session is not None
        if reason == "clear":
            there = await sessions.clear(chat, event, ended=not there) or there
        elif session is None and not await sessions.undigested(chat):
            await sessions.clear(chat, event)
        if session is not None:
            await sessions.close(session.id, reason, self._clock.now(), upto_event=event)
        await self._store.outbox.leave_off(chat, self._clock.now())
        return there

    async def _ctx(self, asked: Invocation) -> str:
        person, query = await self._about(asked)
        now, tz = self._clock.now(), self._words.tz(self._words.zone_of(asked.chat, person))
        plan = await plan_imagined(self._planner, self._words, asked.chat, person, query, now)
        seen = await inspect_plan(self._store, self._planner, plan, asked.chat.id, now, tz)
        return ctx_report(seen, lambda key, **values: self._text(asked, key, **values))

    async def _about(self, asked: Invocation) -> tuple[Person, str]:
        """Of whom, and what they would say; in a DM only of oneself."""
        if asked.words and asked.person.is_owner and asked.chat.kind == "group":
            known = await self._store.people.audience(asked.chat)
            other = await self._store.people.person_named(asked.words[0])
            if other is not None and other.id in known.person_ids:
                return other, " ".join(asked.words[1:])
        words = asked.words[1:] if asked.words[:1] == (asked.person.name,) else asked.words
        return asked.person, " ".join(words)

    async def _calls(self, asked: Invocation) -> str:
        gate = BackgroundGate(self._store.switches, self._settings.background)
        words = tuple(map(fold, asked.words))
        shown = calls_wanted(words)
        if shown is None and words not in (("background", "on"), ("background", "off")):
            return self._text(asked, "calls_words")
        if shown is None:
            await gate.switch(words[1] == "on")
        if words[1:] == ("on",) and not gate.configured:
            return self._text(asked, "background_fixed")
        made = await self._store.ledger.recent(shown or CALLS_SHOWN)
        tz = self._words.tz(self._words.zone_of(asked.chat, asked.person))
        sources = gate.sources if await gate.is_on() else ()
        report = calls_report(
            made, sources, tz, self._settings.budget.currency, lambda key, **values: self._text(asked, key, **values)
        )  # fmt: skip
        dead = sum((await self._store.failures.dead()).values())
        return f"{report}\n{self._text(asked, 'calls_dead', n=dead)}" if dead else report
