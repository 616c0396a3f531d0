"""Builds every service from store, clock, log and the configuration that holds. It starts nothing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.commands.command import CommandServices
from bot.commands.registry import CommandRunner
from bot.core.models import ToolSpec
from bot.core.ports import ApplySettings, Clock, Log, Reload
from bot.core.sessions import Occasion
from bot.core.tools import Tool
from bot.mcp.pool import ServerPool
from bot.mcp.tools import OutsideTools
from bot.model.pool import ModelSlots
from bot.pipeline.actions.remember import RememberActions
from bot.pipeline.calls import BackgroundWriter, ModelCaller
from bot.pipeline.concurrency import TextThread, TurnStopper
from bot.pipeline.configuration import Current
from bot.pipeline.dispatch import Dispatcher
from bot.pipeline.ingest import Debounce
from bot.pipeline.initiative import HeartbeatService, JoinService
from bot.pipeline.jobs.archives import DailyBackup, PersonData, Scrub
from bot.pipeline.jobs.digests import DigestMaker, SessionCloser
from bot.pipeline.jobs.notes import LogFlusher, NoteReader, NoteWriter
from bot.pipeline.jobs.upkeep import DialogueRollup, MemoryAging, StatementRewriter
from bot.pipeline.media import MediaReader
from bot.pipeline.opening import OpeningReader
from bot.pipeline.pictures import PictureMaker
from bot.pipeline.plan import Planner
from bot.pipeline.recall import AutoRecall, Recall, SectionFilter
from bot.pipeline.refusals import TalkLimiter
from bot.pipeline.reminders import ReminderService
from bot.pipeline.send import OutboxSender
from bot.pipeline.timings import TurnTimings
from bot.pipeline.tools.registry import ToolRegistry
from bot.pipeline.turn import TurnRunner
from bot.pipeline.vector_search import VectorSearch
from bot.pipeline.vectors import EmbeddingCallers, FindCaller, VectorMaker
from bot.plugins import PluginRunner, Plugins
from bot.store.store import Store


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What services are built from; `current` is what they work by. Whatever another configuration brings, these stay.

    `reload` and `apply` have the configuration read anew and a setting of a chat taken; `scrub` takes somebody out of
    the log that this installation writes.
    """

    store: Store
    clock: Clock
    log: Log
    current: Current
    thread: TextThread = field(default_factory=TextThread)
    reload: Reload | None = None
    apply: ApplySettings | None = None
    scrub: Scrub | None = None
    timings: TurnTimings = field(default_factory=TurnTimings)
    plugins: Plugins = field(default_factory=Plugins)


@dataclass(frozen=True, slots=True)
class Services:
    """What works behind the queues."""

    dispatcher: Dispatcher
    heartbeat: HeartbeatService
    join: JoinService
    session_closer: SessionCloser
    debounce: Debounce
    log_flusher: LogFlusher
    notes: NoteReader
    vector_maker: VectorMaker
    memory_aging: MemoryAging
    statement_rewriter: StatementRewriter
    dialogue_rollup: DialogueRollup
    reminders: ReminderService
    daily_backup: DailyBackup
    slots: ModelSlots
    servers: ServerPool


def make_embedding_callers(parts: Dependencies) -> EmbeddingCallers:
    """Who is asked for vectors."""
    return EmbeddingCallers(parts.store, parts.clock, parts.current, parts.log)


def make_recall(parts: Dependencies, calls: FindCaller | None = None, *, pays: bool = False) -> Recall:
    """What finds memories; unless it `pays` it asks no server for a vector."""
    calls = calls or make_embedding_callers(parts).caller
    dense = VectorSearch(parts.store, parts.thread, calls, parts.clock, parts.current, pays=pays)
    return Recall(parts.store, parts.thread, parts.current, dense)


def make_vector_maker(parts: Dependencies, calls: FindCaller) -> VectorMaker:
    """What makes vectors in the background."""
    return VectorMaker(parts.store, calls, parts.clock, parts.current, parts.log)


def make_planner(parts: Dependencies, recall: Recall | None = None) -> Planner:
    """What composes turns, for the running bot and for commands that only look."""
    store, current = parts.store, parts.current
    sectioning = SectionFilter(store, current)
    opening = OpeningReader(store, current, sectioning, parts.log)
    auto_recall = AutoRecall(recall or make_recall(parts), parts.thread, current, sectioning)
    return Planner(store, current, auto_recall, opening)


def make_services(
    parts: Dependencies, sender: OutboxSender, stopper: TurnStopper, read_notes: Callable[[], None]
) -> Services:
    """Build every service; `read_notes` has the notes looked at."""
    store, clock, current, thread, log = parts.store, parts.clock, parts.current, parts.thread, parts.log
    timings = parts.timings
    slots = ModelSlots(current.settings.model.slots)
    media = MediaReader(store, slots, sender.adapter, clock, current, log)
    embedding = make_embedding_callers(parts)
    recall = make_recall(parts, embedding.caller, pays=True)
    planner = make_planner(parts, recall)
    pictures = PictureMaker(store, planner, sender.adapter, clock, current, log)
    reminders = ReminderService(store, clock, current, log)
    notes = NoteReader(store, clock, current, thread, read_notes, log)
    caller = ModelCaller(current, slots, clock, log)
    servers = ServerPool(store, clock, current, log)
    outside = OutsideTools(servers, store, clock, current, log)
    plugins = PluginRunner(parts.plugins, store, clock, current, log)

    def added(specs: Mapping[str, ToolSpec]) -> tuple[Tool, ...]:
        return (*outside.tools(specs), *plugins.tools())

    tools = ToolRegistry(store, current, recall, notes.read, reminders, media, pictures, thread, added)
    runner = TurnRunner(store, planner, caller, tools.tools, clock, current, log, sender, timings, stopper.asked)

    async def begin(occasion: Occasion, stop: asyncio.Event) -> None:
        behind = caller.behind(stop)
        unasked = TurnRunner(store, planner, behind, tools.tools, clock, current, log, sender, timings, stopper.asked)
        await unasked.begin(occasion)

    def writer(folder: str) -> BackgroundWriter:
        return BackgroundWriter(caller.behind(), folder, store.ledger, clock, current)

    limiter = TalkLimiter(store, clock, current, log)
    remember_actions = RememberActions(store, clock, current, thread)
    debounce = Debounce(store, clock, current, remember_actions.understand, sender.adapter)
    dispatcher = Dispatcher(
        store,
        runner,
        remember_actions,
        planner,
        clock,
        current,
        sender,
        media,
        stopper,
        limiter,
        debounce,
        reminders,
        timings,
        log,
    )
    note_writer = NoteWriter(store, current, thread, log, read_notes)
    personal_data = PersonData(store, clock, log, parts.scrub)
    dispatcher.set_commands(
        CommandRunner(
            CommandServices(
                store,
                planner,
                clock,
                current,
                note_writer,
                reminders,
                personal_data,
                parts.reload,
                parts.apply,
                sender.adapter,
                timings,
                servers,
                plugins.commands(),
            )
        )
    )
    digest_maker = DigestMaker(store, writer("digest"), planner, clock, current, thread, log)
    return Services(
        dispatcher=dispatcher,
        heartbeat=HeartbeatService(store, clock, current, begin, lambda: sender.known, log),
        join=JoinService(store, clock, current, recall, planner, limiter, begin, log),
        session_closer=SessionCloser(store, digest_maker, clock, current, log),
        debounce=debounce,
        log_flusher=LogFlusher(store, writer("flush"), planner, clock, current, log),
        notes=notes,
        vector_maker=make_vector_maker(parts, embedding.caller),
        memory_aging=MemoryAging(store, clock, current, thread, log),
        statement_rewriter=StatementRewriter(store, writer("rewrite"), clock, current, thread, log),
        dialogue_rollup=DialogueRollup(store, writer("rollup"), clock, current, thread, log),
        reminders=reminders,
        daily_backup=DailyBackup(store, clock, current, log),
        slots=slots,
        servers=servers,
    )
