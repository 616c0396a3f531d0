"""Carries out dot-commands from the table. Every answer goes back to the chat it was asked in."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.commands.account import AccountCommands
from bot.commands.answerer import BaseCommand, KeyCommand, ModelCommand
from bot.commands.belongings import ExportCommand, ForgetCommand
from bot.commands.budget import BudgetCommand
from bot.commands.calls import CALLS_SHOWN, calls_report, calls_wanted
from bot.commands.context import ContextCommand
from bot.commands.ctx import ctx_report
from bot.commands.dialog import DialogCommand
from bot.commands.guests import GuestCommands
from bot.commands.help import HelpCommand
from bot.commands.insight import InsightCommands
from bot.commands.limit import LimitCommand
from bot.commands.manners import ModeCommand, WhyCommand
from bot.commands.mem import MemCommand
from bot.commands.nearest import meant
from bot.commands.persona import PersonaCommand
from bot.commands.promise import PromiseCommand
from bot.commands.reload import ReloadCommand
from bot.commands.remind import RemindCommand, ZoneCommand
from bot.commands.sets import SetCommand, Setting
from bot.commands.switching import SwitchCommands
from bot.commands.table import Asked, named, split
from bot.commands.trace import TraceCommand
from bot.config.said import Settle
from bot.config.settings import Settings
from bot.flow.background import BackgroundGate
from bot.flow.belongings import Belongings
from bot.flow.guests import Guests
from bot.flow.imagine import imagine
from bot.flow.inspection import inspect
from bot.flow.notewriting import NoteWriting
from bot.flow.plan import Planner
from bot.flow.reminding import Reminding
from bot.flow.words import Words
from bot.ports import Adapter, Clock
from bot.store.store import Store
from bot.text.fold import fold
from bot.text.secrecy import names_key
from bot.types.event import Event
from bot.types.outgoing import Draft
from bot.types.people import Chat, Person
from bot.types.reload import Reload
from bot.types.session import CloseReason


@dataclass(frozen=True, slots=True)
class Errands:
    """Who does what commands ask for beyond a look: ends notes, reminds, exports and erases, reads settings."""

    notes: NoteWriting
    reminding: Reminding
    belongings: Belongings
    reload: Reload | None = None
    settle: Settle | None = None
    written: Settings | None = None
    adapter: Callable[[str], Adapter | None] = lambda _: None


class CommandDesk:
    """The commands of this house."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, settings: Settings, words: Words, errands: Errands
    ) -> None:  # fmt: skip
        self._notes = errands.notes
        self._store = store
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        guests = GuestCommands(store, clock, Guests(store, clock, words), self._text)
        limit = LimitCommand(store.switches, store.settings, clock, settings.limits, self._text)
        context = ContextCommand(store.switches, settings.context, self._text)
        mode = ModeCommand(store.switches, settings.speak, self._text)
        why = WhyCommand(store, clock, words, self._text)
        setting = Setting(store.settings, errands.settle, errands.written or settings, words, self._text)
        switching = SwitchCommands(store, clock, errands.adapter, self._text)
        self._help = HelpCommand(store.access, self._text)
        mem = MemCommand(store, planner, clock, settings, words, self._text)
        account = AccountCommands(store, planner, clock, settings, words, self._text)
        inside = InsightCommands(store, planner, clock, words, settings.budget.currency, self._text)
        self._runs: Mapping[str, Callable[[Asked], Awaitable[str]]] = {
            "export": ExportCommand(store, clock, errands.belongings, words, self._text).run,
            "forget": ForgetCommand(store, clock, errands.belongings, self._text).run,
            "start": guests.start, "help": self._help.run, "new": self._new, "clear": self._clear, "ctx": self._ctx,
            "dialog": DialogCommand(store, planner, clock, settings, words, self._text).run,
            "budget": BudgetCommand(store, planner, clock, setting).run, "on": switching.on, "off": switching.off,
            "model": ModelCommand(setting).run, "base": BaseCommand(setting).run, "key": KeyCommand(setting).run,
            "max": SetCommand("max", setting).run, "reply": SetCommand("reply", setting).run, "link": guests.link,
            "calls": self._calls, "limit": limit.run, "context": context.run, "approve": guests.approve,
            "allow": guests.allow, "deny": guests.deny, "reload": ReloadCommand(errands.reload, self._text).run,
            "remind": RemindCommand(errands.reminding).run, "tz": ZoneCommand(store, clock, words, self._text).run,
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
        name, words = split(event.text)
        asked = Asked(event, chat, person, self._words.script(person), words)
        command = named(name) or (named("key") if names_key(name) else None)
        if command is None:
            text = self._help.unknown(asked, next(iter(event.text.split()[1:2]), name))
        elif not command.allows(asked):
            text = self._text(asked, "not_allowed")
        elif near := meant(command, words):
            text = self._text(asked, "words_near", near=near)
        else:
            text = await self._runs[command.name](asked)
        if not text:
            return None
        private = command is not None and command.private and chat.kind == "group"
        return Draft(text, "command", via, account if private else "")

    def _text(self, asked: Asked, key: str, **values: object) -> str:
        return self._words.messages.text(key, asked.script, bot=self._settings.bot.names[0], **values)

    async def _new(self, asked: Asked) -> str:
        await self._notes.ended(asked.event, asked.chat, asked.person)
        await self._close(asked, "new")
        return self._text(asked, "new_session")

    async def _clear(self, asked: Asked) -> str:
        there = await self._close(asked, "clear")
        return self._text(asked, "cleared" if there else "cleared_none")

    async def _close(self, asked: Asked, reason: CloseReason) -> bool:
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

    async def _ctx(self, asked: Asked) -> str:
        person, query = await self._about(asked)
        now, tz = self._clock.now(), self._words.tz(self._words.zone_of(asked.chat, person))
        plan = await imagine(self._planner, self._words, asked.chat, person, query, now)
        seen = await inspect(self._store, self._planner, plan, asked.chat.id, now, tz)
        return ctx_report(seen, lambda key, **values: self._text(asked, key, **values))

    async def _about(self, asked: Asked) -> tuple[Person, str]:
        """Of whom, and what they would say; in a DM only of oneself."""
        if asked.words and asked.person.is_owner and asked.chat.kind == "group":
            known = await self._store.people.audience(asked.chat)
            other = await self._store.people.person_named(asked.words[0])
            if other is not None and other.id in known.person_ids:
                return other, " ".join(asked.words[1:])
        words = asked.words[1:] if asked.words[:1] == (asked.person.name,) else asked.words
        return asked.person, " ".join(words)

    async def _calls(self, asked: Asked) -> str:
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
        dead = sum((await self._store.failing.dead()).values())
        return f"{report}\n{self._text(asked, 'calls_dead', n=dead)}" if dead else report
