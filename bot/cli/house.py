"""From configuration and folders to the parts of a house, for every command that needs them."""

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from tzlocal import get_localzone_name

from bot.cli.models import price_problems, seeing_rate, tuned
from bot.clock import SystemClock
from bot.config.choice import chosen
from bot.config.settings import Settings
from bot.errors import ConfigError, StoreError
from bot.flow.agents import read_texts
from bot.flow.crew import Crew
from bot.flow.instructions import read_instructions
from bot.flow.tools import listen_spec, look_spec, skill_spec, tool_specs
from bot.flow.words import Words
from bot.model.client import OpenAIModel
from bot.ports import Clock
from bot.prompt.persona import Persona, read_bootstraps
from bot.prompt.personas import persona_folders
from bot.prompt.skills import Skill, read_skills
from bot.prompt.template import read_templates
from bot.resources import Prompts, resource_dir
from bot.rooms import Parts
from bot.store.store import DATABASE, Store
from bot.text.catalogue import catalogue
from bot.text.fold import fold
from bot.text.tokens import query_terms
from bot.types.log import Log
from bot.types.prompt import ToolSpec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where this nuan lives: its settings, its data folder, its prompt files; `written` are the settings untuned.

    `personas` are the folders of all personas by name.
    """

    settings: Settings
    data: Path
    prompts: Prompts
    persona: Path
    written: Settings | None = None
    personas: Mapping[str, Path] = field(default_factory=dict)


def text_problems(settings: Settings, data: Path) -> tuple[str, ...]:
    """What is wrong with the persona and the prompt files that the settings name, all of it."""
    problems: list[str] = []

    def attempt(read: Callable[[], T]) -> T | None:
        try:
            return read()
        except ConfigError as error:
            problems.extend(error.problems)
            return None

    own = Path(settings.prompts_dir).expanduser() if settings.prompts_dir else None
    find = Prompts(own).path
    attempt(lambda: read_texts(find))
    for folder in ("messages", "opening", "offline", "web"):
        attempt(lambda folder=folder: catalogue(find, folder))  # type: ignore[misc]
    for folder in ("digest", "mend", "check", "media", "flush", "rewrite", "rollup"):
        attempt(lambda folder=folder: read_instructions(find, folder))  # type: ignore[misc]
    attempt(lambda: look_spec(find))
    attempt(lambda: skill_spec(find))
    attempt(lambda: listen_spec(find))
    tools = attempt(lambda: tool_specs(find)) or ()
    place = attempt(lambda: find_place(settings, data))
    if place is not None:
        for persona in {place.persona, *place.personas.values()}:
            problems += _persona_problems(settings, persona, find, tools)
    return (*problems, *price_problems(settings))


def _persona_problems(
    settings: Settings, folder: Path, find: Callable[[str], Path], tools: tuple[ToolSpec, ...]
) -> Iterator[str]:  # fmt: skip
    """What is wrong with the files of one persona, with its skills and with how it wakes up."""
    skills: tuple[Skill, ...] = ()
    try:
        skills = read_skills(folder)
    except ConfigError as error:
        yield from error.problems
    try:
        persona = Persona(folder, skills, settings.heartbeat.on, settings.speak.paced)
        read_bootstraps(find, persona, settings.bot.names[0], tools, "")
    except ConfigError as error:
        yield from error.problems
    try:
        read_templates(find, folder)
    except ConfigError as error:
        yield from error.problems


def find_place(settings: Settings, data: Path) -> Place:
    """Look up what the configuration names; ConfigError for a folder that is not there."""
    own = Path(settings.prompts_dir).expanduser() if settings.prompts_dir else None
    folders = [data / "persona", resource_dir("data/persona")]
    persona = next((folder / settings.persona for folder in folders if (folder / settings.persona).is_dir()), None)
    if persona is None:
        raise ConfigError((f"persona: there is no persona {settings.persona!r} in data/persona",))
    return Place(tuned(chosen(settings)), data, Prompts(own), persona, settings, persona_folders(*folders))


def must_be_begun(place: Place) -> None:
    """StoreError when there is no database yet; none is made here."""
    if not (place.data / DATABASE).is_file():
        raise StoreError(f"there is no database in {place.data} yet: talk to nuan once, or give --data DIR")


def make_words(place: Place) -> Words:
    """The house's texts."""
    bot = place.settings.bot
    return Words(
        catalogue(place.prompts.path, "messages"), catalogue(place.prompts.path, "opening"), bot.language,
        bot.timezone or get_localzone_name() or "UTC", bot.holidays,
    )  # fmt: skip


def make_parts(place: Place, store: Store, crew: Crew, log: Log, clock: Clock | None = None) -> Parts:
    """Everything the house is built of; without a clock, in real time."""
    return Parts(
        store, crew, clock or SystemClock(), place.settings, make_words(place), place.prompts.path, place.persona, log,
        seeing=seeing_rate(place.settings), personas=place.personas, written=place.written,
    )  # fmt: skip


async def warm_up(crew: Crew) -> None:
    """Load what the first message needs before it comes."""
    await asyncio.to_thread(_segment)  # the tables of the scripts and the dictionary of words: 0.7 s
    if crew.embedding is not None:
        await asyncio.to_thread(import_module, "numpy")
    if isinstance(crew.first.model, OpenAIModel):
        await crew.first.model.prepare()


def _segment() -> None:
    query_terms(fold("暖和"))


@contextmanager
def loaded_for_good() -> Iterator[None]:
    """What is loaded by now is not looked through for garbage any more, so that no chat waits for that.

    A look through all that a house loads held every thread up for 30 to 120 ms (measured during recalls).
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def owner_name(settings: Settings) -> str:
    """What the owner is called until they say so; never by the account of the system."""
    texts = catalogue(Prompts(None).path, "messages")
    return settings.bot.owner or texts.text("console_name", settings.bot.language)
