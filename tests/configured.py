"""What services of a test work by: settings with the shipped texts, and a model that is never asked unless it is given."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot.config.settings import Settings
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import Capabilities
from bot.core.ports import Log
from bot.model.pool import Endpoint, ModelPool
from bot.money import rate_of
from bot.ops.log_files import NullLog
from bot.pipeline.configuration import Configuration, Current, read_texts
from bot.pipeline.texts import Texts
from bot.pipeline.tools.registry import sent_specs
from bot.prompt.persona import persona_folders
from bot.prompt.templates import PersonaOpening
from bot.text.catalogue import catalogue
from tests.fakes.model import ScriptedModel


def configured(
    settings: Settings, words: Texts | None = None, pool: ModelPool | None = None, log: Log | None = None, *,
    folders: Mapping[str, Path] | None = None, opening: PersonaOpening | None = None,
) -> Current:  # fmt: skip
    """The holder of these; without `folders` of personas the shipped ones, each of which opens with `opening`."""
    prompts, bot = PromptFiles(Path(settings.prompts_dir) if settings.prompts_dir else None), settings.bot
    words = words or Texts(
        catalogue(prompts.path, "messages"), catalogue(prompts.path, "opening"), bot.language, bot.timezone,
        bot.holidays, bot.names,
    )  # fmt: skip
    shipped = resource_dir("data/persona")
    folders = folders or {**persona_folders(shipped), settings.persona: shipped / settings.persona}
    pool = pool or ModelPool(Endpoint(ScriptedModel(), rate_of(settings.model, Capabilities())))
    tools = sent_specs(settings, prompts.path)
    texts = read_texts(settings, words, prompts.path, folders, tools, pool.first.model.dialect)
    if opening is not None:
        texts = replace(texts, openings=dict.fromkeys(folders, opening))
    return Current(Configuration(settings, settings, texts, pool), log or NullLog())
