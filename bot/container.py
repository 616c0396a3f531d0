"""Builds every service from settings, store, model pool, clock and texts. It starts nothing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.commands.command import CommandServices
from bot.commands.registry import CommandRunner
from bot.config.checks import ApplyWish
from bot.config.settings import Settings
from bot.core.money import PriceAt
from bot.core.ports import Adapter, Clock, Log, Reload
from bot.core.sessions import Occasion
from bot.model.offline import OFFLINE
from bot.model.pool import ModelPool
from bot.model.slots import ModelSlots
from bot.pipeline.actions.remember import RememberActions
from bot.pipeline.background import BackgroundGate, BackgroundWriter
from bot.pipeline.calls import ModelCaller
from bot.pipeline.concurrency import TextThread, TurnStopper
from bot.pipeline.dispatch import Dispatcher, DispatchServices
from bot.pipeline.ingest import Debounce
from bot.pipeline.initiative import HeartbeatService, JoinService, JoinServices
from bot.pipeline.jobs.archives import DailyBackup, PersonData, Scrub
from bot.pipeline.jobs.digests import DigestMaker, DigestPrompts, SessionCloser
from bot.pipeline.jobs.notes import LogFlusher, NoteIndexing, NoteReader, NoteWriter
from bot.pipeline.jobs.upkeep import DialogueRollup, MemoryAging, StatementRewriter
from bot.pipeline.media import MediaModel, MediaReader
from bot.pipeline.opening import OpeningReader, PersonaOpening
from bot.pipeline.plan import Planner
from bot.pipeline.recall import AutoRecall, Recall, SectionFilter
from bot.pipeline.refusals import TalkLimiter
from bot.pipeline.reminders import ReminderService
from bot.pipeline.send import OutboxSender
from bot.pipeline.texts import Texts, read_instructions
from bot.pipeline.tools.registry import ToolServices, make_tools
from bot.pipeline.turn import TurnModel, TurnRunner
from bot.pipeline.vectors import EmbeddingCaller, VectorMaker, VectorSearch
from bot.prompt.persona import NAME_MARK, Persona, persona_texts, read_personas, read_skills, read_user, read_who
from bot.prompt.templates import read_templates
from bot.speaking.activation import SpeakingRules
from bot.store.store import Store


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What services are built from. `prompts` finds a prompt file by name; `seeing` are the prices of looking.
    `personas` are the folders of all personas by name, `persona` is that of the configured one.
    `written` are the settings as files and people say them, with nothing tuned or swapped; `scrub` takes somebody out
    of the log that this installation writes.

    A reload brings others with the same store, clock, log and thread.
    """

    store: Store
    pool: ModelPool
    clock: Clock
    settings: Settings
    words: Texts
    prompts: Callable[[str], Path]
    persona: Path
    log: Log
    thread: TextThread = field(default_factory=TextThread)
    seeing: PriceAt | None = None
    reload: Reload | None = None
    settle: ApplyWish | None = None
    written: Settings | None = None
    personas: Mapping[str, Path] = field(default_factory=dict)
    scrub: Scrub | None = None


@dataclass(frozen=True, slots=True)
class SharedServices:
    """What outlives a reload: the way out, the turns under way, the slots for calls.

    `read_notes` has the notes looked at.
    """

    sender: OutboxSender
    stopper: TurnStopper
    slots: ModelSlots
    read_notes: Callable[[], None] = lambda: None


@dataclass(slots=True, eq=False)
class Services:
    """What works by one configuration; a reload makes it anew, and what is `inside` ends in the old."""

    parts: Dependencies
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
    inside: int = 0


def make_media(
    parts: Dependencies, adapter: Callable[[str], Adapter | None], slots: ModelSlots | None = None
) -> MediaReader:
    """Who looks at what people send along; `adapter` finds the platform that has it."""
    pool = parts.pool
    slots = slots or ModelSlots(parts.settings.model.slots)
    eyes = MediaModel(
        pool.first.model, parts.seeing or pool.first.rate, read_instructions(parts.prompts, "media"), slots
    )
    return MediaReader(parts.store, eyes, adapter, parts.clock, parts.settings, parts.words, parts.log)


def make_embedding_calls(parts: Dependencies) -> EmbeddingCaller | None:
    """Who is asked for vectors; None where none are wanted."""
    endpoint = parts.pool.embedding
    if endpoint is None:
        return None
    return EmbeddingCaller(parts.store, endpoint, parts.clock, parts.settings, parts.words, parts.log)


def make_recall(parts: Dependencies, calls: EmbeddingCaller | None = None, *, pays: bool = False) -> Recall:
    """What finds memories; unless it `pays` it asks no server for a vector."""
    rules = parts.settings.memory.embedding
    dense = VectorSearch(parts.store, parts.thread, calls or make_embedding_calls(parts), parts.clock, rules, pays=pays)
    return Recall(parts.store, parts.thread, parts.settings, parts.words.zone, dense)


def make_vector_maker(parts: Dependencies, calls: EmbeddingCaller | None) -> VectorMaker:
    """What makes vectors in the background."""
    rules, gate = parts.settings.memory.embedding, BackgroundGate(parts.store.switches, parts.settings.background)
    return VectorMaker(parts.store, calls, gate, parts.clock, rules.batch, rules.timeout_seconds, parts.log)


def make_planner(
    parts: Dependencies, media: MediaReader | None = None, calls: EmbeddingCaller | None = None, *, pays: bool = False
) -> tuple[Planner, TurnModel]:  # fmt: skip
    """What composing needs, for the running bot and for commands that only look."""
    settings, words = parts.settings, parts.words
    media = media or make_media(parts, lambda _: None)
    recalling, personas = make_recall(parts, calls, pays=pays), read_persona_folders(parts)
    skills, wakes = skills_of(personas, settings), openings_of(parts, personas)
    sectioning = SectionFilter(parts.store, settings.sections)
    booting = OpeningReader(
        parts.store, settings, words, lambda name: wakes.get(name, wakes[settings.persona]), sectioning, parts.log
    )  # fmt: skip
    reminders = ReminderService(parts.store, parts.clock, settings, words, parts.log)
    tools = () if not settings.prompt.tools else make_tools(
        parts.store, words, parts.prompts,
        ToolServices(recalling, make_notes(parts, lambda: None).read, parts.thread), settings,
        reminders,
        media if settings.media.images else None,
        (lambda name: skills.get(name, skills[settings.persona])) if any(skills.values()) else None,
    )  # fmt: skip
    bootstraps = read_personas(
        parts.prompts, personas, settings.persona, settings.bot.names[0], tuple(tool.spec for tool in tools),
        parts.pool.first.model.dialect,
    )  # fmt: skip
    bringing = AutoRecall(recalling, parts.thread, settings.memory, settings.bot.names, words, sectioning)
    planner = Planner(parts.store, settings, bootstraps, words, parts.pool, bringing, booting)
    return planner, TurnModel(ModelCaller(parts.pool, media.slots, parts.clock, parts.log), tools)


def read_persona_folders(parts: Dependencies) -> dict[str, Persona]:
    """Every persona with its skills, by name; ConfigError for a skill that cannot be read."""
    settings = parts.settings
    folders = {**parts.personas, settings.persona: parts.persona}
    return {
        name: Persona(folder, read_skills(folder), settings.heartbeat.on, settings.speak.paced)
        for name, folder in folders.items()
    }


def skills_of(personas: Mapping[str, Persona], settings: Settings) -> dict[str, dict[str, str]]:
    """The texts of the skills by name, of each persona."""
    bot = settings.bot.names[0]
    return {
        name: {skill.name: skill.text.replace(NAME_MARK, bot) for skill in persona.skills}
        for name, persona in personas.items()
    }


def openings_of(parts: Dependencies, personas: Mapping[str, Persona]) -> dict[str, PersonaOpening]:
    """How each persona wakes up, by name; ConfigError for a template that cannot be used."""
    bot = parts.settings.bot.names[0]
    return {
        name: PersonaOpening(read_templates(parts.prompts, persona.folder), read_who(persona, bot), read_user(persona))
        for name, persona in personas.items()
    }


def make_notes(parts: Dependencies, wake: Callable[[], None]) -> NoteReader:
    """Who reads the notes; `wake` has them looked at once more."""
    way = NoteIndexing(parts.settings.notes, parts.words.tz(parts.words.zone), parts.store.tombstones.covers)
    return NoteReader(parts.store, parts.clock, way, parts.thread, wake, parts.log)


def make_join_context(parts: Dependencies, planner: Planner, limiter: TalkLimiter) -> JoinServices:
    """What entering a talk needs."""
    told = persona_texts(read_persona_folders(parts))
    return JoinServices(
        make_recall(parts), planner,
        lambda name: told[planner.personas.name(name)], limiter,
        BackgroundGate(parts.store.switches, parts.settings.background),
    )  # fmt: skip


def make_writer(parts: Dependencies, planner: Planner, turn_model: TurnModel, folder: str) -> BackgroundWriter:
    """Who writes by the instructions of that folder, after the calls of people."""
    instructions = read_instructions(parts.prompts, folder)
    return BackgroundWriter(
        turn_model.caller.behind(), instructions, planner, parts.store.ledger, parts.clock, parts.settings
    )


def make_services(parts: Dependencies, shared: SharedServices) -> Services:
    """Read the texts and build what works by them; ConfigError when one cannot be read."""
    store, clock, settings, words, log = parts.store, parts.clock, parts.settings, parts.words, parts.log
    media = make_media(parts, shared.sender.adapter, shared.slots)
    calls = make_embedding_calls(parts)
    planner, turn_model = make_planner(parts, media, calls, pays=True)
    runner = TurnRunner(store, planner, turn_model, clock, settings, words, log, shared.sender)

    async def begin(occasion: Occasion, stop: asyncio.Event) -> None:
        stoppable = replace(turn_model, caller=turn_model.caller.behind(stop))
        await TurnRunner(store, planner, stoppable, clock, settings, words, log, shared.sender).begin(occasion)

    heartbeat = HeartbeatService(store, clock, settings, words, begin, lambda: shared.sender.platforms, log)
    limiter = TalkLimiter(store, clock, settings.limits, words, log)
    join_context = make_join_context(parts, planner, limiter)
    join = JoinService(store, clock, settings.speak, words, join_context, begin, log)

    def judged() -> bool:
        return settings.prompt.tools and parts.pool.first.model.digests

    reminders = ReminderService(store, clock, settings, words, log, judged=judged)
    remember_actions = RememberActions(store, clock, settings, words, parts.thread, judged)
    debounce = Debounce(store, clock, settings.speak, remember_actions.understand, shared.sender.adapter)
    dispatcher = Dispatcher(
        store, runner, remember_actions, planner, clock, words,
        DispatchServices(shared.sender, media, shared.stopper, limiter, debounce, reminders), log,
        lambda: settings.prompt.tools and parts.pool.first.model.dialect != OFFLINE,
    )  # fmt: skip
    digest_prompts = DigestPrompts(
        make_writer(parts, planner, turn_model, "digest"),
        read_instructions(parts.prompts, "mend"), read_instructions(parts.prompts, "check"),
    )  # fmt: skip
    digest_maker = DigestMaker(store, digest_prompts, planner, clock, settings, words, parts.thread, log)
    session_closer = SessionCloser(store, digest_maker, clock, settings, words, log)
    log_flusher = LogFlusher(
        store, make_writer(parts, planner, turn_model, "flush"), planner, clock, settings, words, log
    )
    notes = make_notes(parts, shared.read_notes)
    note_writer = NoteWriter(store, settings, words, parts.thread, log, shared.read_notes)
    command_services = CommandServices(
        store, planner, clock, settings, parts.written or settings, words, note_writer, reminders,
        PersonData(store, clock, log, parts.scrub, words.zone), parts.reload, parts.settle, shared.sender.adapter,
    )  # fmt: skip
    dispatcher.set_commands(CommandRunner(command_services))
    vector_maker = make_vector_maker(parts, calls)
    memory_aging = MemoryAging(store, clock, settings, words, parts.thread, log)
    statement_rewriter = StatementRewriter(
        store, make_writer(parts, planner, turn_model, "rewrite"), clock, settings, words, parts.thread, log
    )
    return Services(
        parts, dispatcher, heartbeat, join, session_closer, debounce, log_flusher, notes, vector_maker,
        memory_aging, statement_rewriter,
        DialogueRollup(
            store, make_writer(parts, planner, turn_model, "rollup"), clock, settings, words, parts.thread, log
        ),
        reminders, DailyBackup(store, clock, settings, words, log),
    )  # fmt: skip


def speaking_rules(settings: Settings) -> SpeakingRules:
    """The part of the settings by which ingest decides."""
    speak = settings.speak
    return SpeakingRules(
        settings.bot.names, settings.bot.prefix_trigger, speak.window_seconds * 1000, speak.followup_seconds * 1000,
        speak.backlog_seconds * 1000, speak.bots == "limited", speak.mode, speak.join.lull_seconds * 1000,
    )  # fmt: skip


def allow_list(settings: Settings) -> frozenset[str]:
    """Who and which groups may use nuan without being approved, as "platform:id"."""
    return frozenset(f"{name}:{each}" for name, platform in settings.platforms.items() for each in platform.allow)
