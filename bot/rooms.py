"""What a house is built of, and the rooms that work by one configuration. It starts nothing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.commands.desk import CommandDesk, Errands
from bot.config.said import Settle
from bot.config.settings import Settings
from bot.flow.answering import Answering, Reach
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.backingup import BackingUp
from bot.flow.belongings import Belongings, Scrub
from bot.flow.booting import Booting, Wake
from bot.flow.bringing import Bringing
from bot.flow.calling import Caller
from bot.flow.closing import Closing
from bot.flow.crew import Crew
from bot.flow.dense import Dense
from bot.flow.digesting import Digesting, Minuting
from bot.flow.embedding import EmbeddingCalls
from bot.flow.flushing import Flushing
from bot.flow.halting import Halting
from bot.flow.heartbeat import Heartbeat
from bot.flow.instructions import read_instructions
from bot.flow.joining import Joining, Knowing
from bot.flow.limiting import Limiting
from bot.flow.media import Eyes, Media
from bot.flow.notes import NoteReading, NoteWay
from bot.flow.notewriting import NoteWriting
from bot.flow.pausing import Pausing
from bot.flow.plan import Planner
from bot.flow.recalling import Recalling
from bot.flow.remembering import Remembering
from bot.flow.reminding import Reminding
from bot.flow.rewriting import Rewriting
from bot.flow.rolling import Rolling
from bot.flow.scribe import Scribe
from bot.flow.sectioning import Sectioning
from bot.flow.sending import Sending
from bot.flow.tidying import Tidying
from bot.flow.tools import Remembered, make_tools
from bot.flow.turn import Brain, TurnRunner
from bot.flow.vectorising import Vectorising
from bot.flow.words import Words
from bot.model.offline import OFFLINE
from bot.ports import Adapter, Clock
from bot.prompt.persona import NAME_MARK, Persona, read_user, read_who
from bot.prompt.personas import read_personas, words_of
from bot.prompt.skills import read_skills
from bot.prompt.template import read_templates
from bot.session.activation import SpeakingRules
from bot.session.slots import Slots
from bot.store.store import Store
from bot.types.log import Log
from bot.types.money import Rate
from bot.types.occasion import Occasion
from bot.types.reload import Reload


@dataclass(frozen=True, slots=True)
class Parts:
    """What the house is built of. `prompts` finds a prompt file by name; `seeing` are the prices of looking.
    `personas` are the folders of all personas by name, `persona` is that of the configured one.
    `written` are the settings as files and people say them, with nothing tuned or swapped; `scrub` takes somebody out
    of the log that this house writes.

    A reload brings others with the same store, clock, log and aside.
    """

    store: Store
    crew: Crew
    clock: Clock
    settings: Settings
    words: Words
    prompts: Callable[[str], Path]
    persona: Path
    log: Log
    aside: Aside = field(default_factory=Aside)
    seeing: Rate | None = None
    reload: Reload | None = None
    settle: Settle | None = None
    written: Settings | None = None
    personas: Mapping[str, Path] = field(default_factory=dict)
    scrub: Scrub | None = None


@dataclass(frozen=True, slots=True)
class Hall:
    """What all rooms share, and what lasts over a reload: the way out, the turns under way, the slots for calls.

    `read_notes` has the notes looked at.
    """

    sending: Sending
    halting: Halting
    slots: Slots
    read_notes: Callable[[], None] = lambda: None


@dataclass(slots=True, eq=False)
class Rooms:
    """What works by one configuration; a reload makes it anew, and what is `inside` ends in the old."""

    parts: Parts
    answering: Answering
    heartbeat: Heartbeat
    joining: Joining
    closing: Closing
    pausing: Pausing
    flushing: Flushing
    notes: NoteReading
    vectorising: Vectorising
    tidying: Tidying
    rewriting: Rewriting
    rolling: Rolling
    reminding: Reminding
    backing: BackingUp
    inside: int = 0


def make_media(parts: Parts, adapter: Callable[[str], Adapter | None], slots: Slots | None = None) -> Media:
    """Who looks at what people send along; `adapter` finds the platform that has it."""
    crew = parts.crew
    slots = slots or Slots(parts.settings.model.slots)
    eyes = Eyes(crew.first.model, parts.seeing or crew.first.rate, read_instructions(parts.prompts, "media"), slots)
    return Media(parts.store, eyes, adapter, parts.clock, parts.settings, parts.words, parts.log)


def make_calls(parts: Parts) -> EmbeddingCalls | None:
    """Who is asked for vectors; None where none are wanted."""
    member = parts.crew.embedding
    if member is None:
        return None
    return EmbeddingCalls(parts.store, member, parts.clock, parts.settings, parts.words, parts.log)


def make_recalling(parts: Parts, calls: EmbeddingCalls | None = None, *, pays: bool = False) -> Recalling:
    """What finds memories; unless it `pays` it asks no server for a vector."""
    rules = parts.settings.memory.embedding
    dense = Dense(parts.store, parts.aside, calls or make_calls(parts), parts.clock, rules, pays=pays)
    return Recalling(parts.store, parts.aside, parts.settings, parts.words.zone, dense)


def make_vectorising(parts: Parts, calls: EmbeddingCalls | None) -> Vectorising:
    """What makes vectors in the background."""
    rules, gate = parts.settings.memory.embedding, BackgroundGate(parts.store.switches, parts.settings.background)
    return Vectorising(parts.store, calls, gate, parts.clock, rules.batch, rules.timeout_seconds, parts.log)


def make_planner(
    parts: Parts, media: Media | None = None, calls: EmbeddingCalls | None = None, *, pays: bool = False
) -> tuple[Planner, Brain]:  # fmt: skip
    """What composing needs, for the running house and for commands that only look."""
    settings, words = parts.settings, parts.words
    media = media or make_media(parts, lambda _: None)
    recalling, personas = make_recalling(parts, calls, pays=pays), read_folders(parts)
    skills, wakes = skills_of(personas, settings), wakes_of(parts, personas)
    sectioning = Sectioning(parts.store, settings.sections)
    booting = Booting(
        parts.store, settings, words, lambda name: wakes.get(name, wakes[settings.persona]), sectioning, parts.log
    )  # fmt: skip
    reminding = Reminding(parts.store, parts.clock, settings, words, parts.log)
    tools = () if not settings.prompt.tools else make_tools(
        parts.store, words, parts.prompts,
        Remembered(recalling, make_notes(parts, lambda: None).read, parts.aside), settings,
        reminding,
        media if settings.media.images else None,
        (lambda name: skills.get(name, skills[settings.persona])) if any(skills.values()) else None,
    )  # fmt: skip
    bootstraps = read_personas(
        parts.prompts, personas, settings.persona, settings.bot.names[0], tuple(tool.spec for tool in tools),
        parts.crew.first.model.dialect,
    )  # fmt: skip
    bringing = Bringing(recalling, parts.aside, settings.memory, settings.bot.names, words, sectioning)
    planner = Planner(parts.store, settings, bootstraps, words, parts.crew, bringing, booting)
    return planner, Brain(Caller(parts.crew, media.slots, parts.clock, parts.log), tools)


def read_folders(parts: Parts) -> dict[str, Persona]:
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


def wakes_of(parts: Parts, personas: Mapping[str, Persona]) -> dict[str, Wake]:
    """How each persona wakes up, by name; ConfigError for a template that cannot be used."""
    bot = parts.settings.bot.names[0]
    return {
        name: Wake(read_templates(parts.prompts, persona.folder), read_who(persona, bot), read_user(persona))
        for name, persona in personas.items()
    }


def make_notes(parts: Parts, wake: Callable[[], None]) -> NoteReading:
    """Who reads the notes; `wake` has them looked at once more."""
    way = NoteWay(parts.settings.notes, parts.words.tz(parts.words.zone), parts.store.tombstones.covers)
    return NoteReading(parts.store, parts.clock, way, parts.aside, wake, parts.log)


def make_knowing(parts: Parts, planner: Planner, limiting: Limiting) -> Knowing:
    """What entering a talk needs."""
    told = words_of(read_folders(parts))
    return Knowing(
        make_recalling(parts), planner,
        lambda name: told[planner.personas.name(name)], limiting,
        BackgroundGate(parts.store.switches, parts.settings.background),
    )  # fmt: skip


def make_scribe(parts: Parts, planner: Planner, brain: Brain, folder: str) -> Scribe:
    """Who writes by the instructions of that folder, after the calls of people."""
    instructions = read_instructions(parts.prompts, folder)
    return Scribe(brain.caller.behind(), instructions, planner, parts.store.ledger, parts.clock, parts.settings)


def make_rooms(parts: Parts, hall: Hall) -> Rooms:
    """Read the texts and build what works by them; ConfigError when one cannot be read."""
    store, clock, settings, words, log = parts.store, parts.clock, parts.settings, parts.words, parts.log
    media = make_media(parts, hall.sending.adapter, hall.slots)
    calls = make_calls(parts)
    planner, brain = make_planner(parts, media, calls, pays=True)
    runner = TurnRunner(store, planner, brain, clock, settings, words, log, hall.sending)

    async def begin(occasion: Occasion, stop: asyncio.Event) -> None:
        stoppable = replace(brain, caller=brain.caller.behind(stop))
        await TurnRunner(store, planner, stoppable, clock, settings, words, log, hall.sending).begin(occasion)

    heartbeat = Heartbeat(store, clock, settings, words, begin, lambda: hall.sending.platforms, log)
    limiting = Limiting(store, clock, settings.limits, words, log)
    knowing = make_knowing(parts, planner, limiting)
    joining = Joining(store, clock, settings.speak, words, knowing, begin, log)

    def judged() -> bool:
        return settings.prompt.tools and parts.crew.first.model.digests

    reminding = Reminding(store, clock, settings, words, log, judged=judged)
    remembering = Remembering(store, clock, settings, words, parts.aside, judged)
    pausing = Pausing(store, clock, settings.speak, remembering.understand, hall.sending.adapter)
    answering = Answering(
        store, runner, remembering, planner, clock, words,
        Reach(hall.sending, media, hall.halting, limiting, pausing, reminding), log,
        lambda: settings.prompt.tools and parts.crew.first.model.dialect != OFFLINE,
    )  # fmt: skip
    minuting = Minuting(
        make_scribe(parts, planner, brain, "digest"),
        read_instructions(parts.prompts, "mend"), read_instructions(parts.prompts, "check"),
    )  # fmt: skip
    digesting = Digesting(store, minuting, planner, clock, settings, words, parts.aside, log)
    closing = Closing(store, digesting, clock, settings, words, log)
    flushing = Flushing(store, make_scribe(parts, planner, brain, "flush"), planner, clock, settings, words, log)
    notes = make_notes(parts, hall.read_notes)
    writing = NoteWriting(store, settings, words, parts.aside, log, hall.read_notes)
    errands = Errands(
        writing, reminding, Belongings(store, clock, log, parts.scrub, words.zone), parts.reload, parts.settle,
        parts.written, hall.sending.adapter,
    )  # fmt: skip
    answering.employ(CommandDesk(store, planner, clock, settings, words, errands))
    vectorising = make_vectorising(parts, calls)
    tidying = Tidying(store, clock, settings, words, parts.aside, log)
    rewriting = Rewriting(
        store, make_scribe(parts, planner, brain, "rewrite"), clock, settings, words, parts.aside, log
    )
    return Rooms(
        parts, answering, heartbeat, joining, closing, pausing, flushing, notes, vectorising, tidying, rewriting,
        Rolling(store, make_scribe(parts, planner, brain, "rollup"), clock, settings, words, parts.aside, log),
        reminding, BackingUp(store, clock, settings, words, log),
    )  # fmt: skip


def rules_of(settings: Settings) -> SpeakingRules:
    """The part of the settings by which the door decides."""
    speak = settings.speak
    return SpeakingRules(
        settings.bot.names, settings.bot.prefix_trigger, speak.window_seconds * 1000, speak.followup_seconds * 1000,
        speak.backlog_seconds * 1000, speak.bots == "limited", speak.mode, speak.join.lull_seconds * 1000,
    )  # fmt: skip


def allowed(settings: Settings) -> frozenset[str]:
    """Who and which groups may use nuan without being approved, as "platform:id"."""
    telegram, discord = settings.telegram.allow, settings.discord.allow
    return frozenset((*(f"telegram:{number}" for number in telegram), *(f"discord:{number}" for number in discord)))
