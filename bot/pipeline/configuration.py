"""The configuration that services work by: one immutable value with the texts and models it names, and the holder in
which another one replaces it. It is put together in `bot/cli/installation.py`."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from bot import __version__
from bot.config.settings import Settings, shared_values
from bot.core.models import PriceAt, ToolSpec
from bot.core.people import SCRIPTS, Script
from bot.core.ports import Log
from bot.model.offline import OFFLINE
from bot.model.pool import ModelPool
from bot.pipeline.texts import Texts, read_instructions
from bot.prompt.persona import (
    SKILL,
    Persona,
    Personas,
    Skill,
    ToolSpecs,
    persona_words,
    read_personas,
    read_skills,
    with_shared,
)
from bot.prompt.stickers import read_stickers
from bot.prompt.templates import PersonaOpening, read_opening
from bot.text.length import TokenVocabulary, vocabulary_of

INSTRUCTIONS = ("digest", "mend", "check", "media", "flush", "rewrite", "rollup")
"""The folders of prompts that tell a model what to write."""


VERSION, ZONE, TEXTS = "version", "bot.timezone", "persona and prompts"
"""What counts beside the settings as they are written: nuan itself, the time zone that holds, and what texts say."""


@dataclass(frozen=True, slots=True, eq=False)
class PromptTexts:
    """Everything that is read from prompt and persona files.

    `prompts` finds a prompt file by name, `folders` are those of the personas. `instructions` are by folder and
    language, `tools` by file, in their order: those that a turn brings. Of each persona by name: its prefixes, how its
    logs open, its skills, and what it is about.
    """

    words: Texts
    prompts: Callable[[str], Path]
    folders: Mapping[str, Path]
    instructions: Mapping[str, Mapping[Script, str]]
    tools: Mapping[str, ToolSpec]
    personas: Personas
    openings: Mapping[str, PersonaOpening]
    skills: Mapping[str, tuple[Skill, ...]]
    about: Mapping[str, str]


def texts_key(settings: Settings) -> tuple[object, ...]:
    """The settings by which texts are read: where they are the same, and no file has changed, the texts are."""
    return (
        settings.bot,
        settings.persona,
        settings.prompts_dir,
        settings.heartbeat.on,
        settings.speak.paced,
        settings.prompt.tools,
        settings.memory.inject,
        bool(settings.media.images),
        bool(settings.image.model),
        tuple((name, rules.about) for name, rules in settings.mcp.servers.items()),
    )


def read_texts(
    settings: Settings,
    words: Texts,
    prompts: Callable[[str], Path],
    folders: Mapping[str, Path],
    tools: ToolSpecs,
    dialect: str,
    shared: tuple[Skill, ...] = (),
) -> PromptTexts:
    """Read the texts for these settings, tools and a model of that dialect; ConfigError for a file that is broken.

    The `shared` skills are every persona's that has none of the same name. The tool that reads skills is left out where
    no persona has any.
    """
    name = settings.bot.names[0]
    personas = {
        each: Persona(
            folder,
            with_shared(read_skills(folder), shared),
            settings.heartbeat.on,
            settings.speak.paced,
            read_stickers(folder, settings.platforms),
        )
        for each, folder in folders.items()
    }
    skills = {each: persona.skills for each, persona in personas.items()}
    offered = tools.get(SCRIPTS[0], {})
    return PromptTexts(
        words,
        prompts,
        folders,
        {folder: read_instructions(prompts, folder) for folder in INSTRUCTIONS},
        {each: spec for each, spec in offered.items() if each != SKILL or any(skills.values())},
        read_personas(prompts, personas, settings.persona, name, tools, dialect),
        {each: read_opening(prompts, persona, name) for each, persona in personas.items()},
        skills,
        {each: persona_words(persona) for each, persona in personas.items()},
    )


@dataclass(frozen=True, slots=True, eq=False)
class Configuration:
    """What services work by. `written` are the settings as files and people say them, with nothing tuned or swapped.

    `vision_rate` is what looking at pictures costs; None: as much as the first model's own tokens.
    """

    settings: Settings
    written: Settings
    texts: PromptTexts
    pool: ModelPool
    vision_rate: PriceAt | None = None

    @property
    def vocabulary(self) -> TokenVocabulary:
        """How the first model counts tokens."""
        return self.settings.model.vocabulary or vocabulary_of(self.pool.first.model.name)

    @property
    def uses_tools(self) -> bool:
        """Whether a model answers that is given tools."""
        return self.settings.prompt.tools and self.pool.first.model.dialect != OFFLINE

    @property
    def judges(self) -> bool:
        """Whether a model with tools answers that also digests, so that what is not certain is left to it."""
        return self.settings.prompt.tools and self.pool.first.model.digests

    @property
    def shared(self) -> dict[str, str]:
        """What all processes on a database must work by, by name of the setting."""
        texts = self.texts
        prefixes = sorted(chain.from_iterable(each.signatures for each in texts.personas.known.values()))
        zone, told = str(texts.words.default_tz), repr((prefixes, texts.instructions))
        return shared_values(self.written) | {VERSION: __version__, ZONE: zone, TEXTS: told}


OnChange = Callable[[Configuration, Configuration], Awaitable[None]]
"""Told of a change: what was, and what is from now on."""

_HELD: ContextVar[tuple["Current", Configuration] | None] = ContextVar("held", default=None)


class Current:
    """The configuration that holds now; inside `held` it stays the one with which the operation began.

    What runs in the store's or the text thread reads the newest: hand over the values instead.
    """

    def __init__(self, value: Configuration, log: Log) -> None:
        self.newest = value
        self._log = log
        self._changed: list[OnChange] = []
        self._users: Counter[ModelPool] = Counter()
        self._replaced: list[ModelPool] = []

    @property
    def value(self) -> Configuration:
        """What this operation works by; outside of one the newest."""
        held = _HELD.get()
        return held[1] if held is not None and held[0] is self else self.newest

    @property
    def settings(self) -> Settings:
        """Its settings."""
        return self.value.settings

    @property
    def words(self) -> Texts:
        """Its texts for people and the model."""
        return self.value.texts.words

    @property
    def pool(self) -> ModelPool:
        """Its models."""
        return self.value.pool

    def on_change(self, changed: OnChange) -> None:
        """Have a change told to what cannot wait for its next operation."""
        self._changed.append(changed)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """An operation: what holds at its begin holds to its end, and its models stay open that long."""
        value = self.newest
        self._users[value.pool] += 1
        token = _HELD.set((self, value))
        try:
            yield
        finally:
            _HELD.reset(token)
            self._users[value.pool] -= 1
            await self._close_unused()

    async def replace(self, value: Configuration) -> None:
        """From now on operations begin with this value; models that it leaves out are closed after their last call.

        It holds whatever whoever is told of it raises: that is logged.
        """
        before, self.newest = self.newest, value
        if before.pool is not value.pool:
            self._replaced.append(before.pool)
        token = _HELD.set((self, value))
        try:
            for changed in self._changed:
                try:
                    await changed(before, value)
                except Exception as error:  # noqa: BLE001 - the others are told, and the value is taken, all the same
                    self._log.error("change_not_followed", exc_info=error)
        finally:
            _HELD.reset(token)
            await self._close_unused()

    async def _close_unused(self) -> None:
        unused = [pool for pool in self._replaced if not self._users[pool]]
        self._replaced = [pool for pool in self._replaced if self._users[pool]]
        for pool in unused:
            del self._users[pool]
            try:
                await pool.close()
            except Exception as error:  # noqa: BLE001 - whatever a connection says at its end must not stop a chat
                self._log.error("models_not_closed", exc_info=error)
