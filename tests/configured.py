"""What services of a test work by: settings with the shipped texts, and a model that is never asked unless it is given."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bot.config.settings import Settings
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import Capabilities
from bot.core.ports import Log
from bot.model.pool import Endpoint, ModelPool
from bot.money import rate_of
from bot.ops.log_files import NullLog
from bot.pipeline.configuration import Configuration, Current, PromptTexts, read_texts, texts_key
from bot.pipeline.texts import Texts
from bot.pipeline.tools.registry import sent_specs
from bot.plugins import Plugins
from bot.prompt.persona import persona_folders
from bot.prompt.templates import PersonaOpening
from bot.text.catalogue import catalogue
from tests.fakes.model import ScriptedModel

_shipped_texts: dict[str, PromptTexts] = {}


def configured(
    settings: Settings,
    words: Texts | None = None,
    pool: ModelPool | None = None,
    log: Log | None = None,
    *,
    folders: Mapping[str, Path] | None = None,
    opening: PersonaOpening | None = None,
    plugins: Plugins | None = None,
) -> Current:
    """The holder of these; without `folders` of personas the shipped ones, each of which opens with `opening`."""
    prompts, bot = PromptFiles(Path(settings.prompts_dir) if settings.prompts_dir else None), settings.bot
    words = words or Texts(
        catalogue(prompts.path, "messages"),
        catalogue(prompts.path, "opening"),
        bot.language,
        bot.timezone,
        bot.holidays,
        bot.names,
    )
    pool = pool or ModelPool(Endpoint(ScriptedModel(), rate_of(settings.model, Capabilities())))
    texts = _texts(settings, words, prompts.path, folders, pool.first.model.dialect, plugins or Plugins())
    if opening is not None:
        texts = replace(texts, openings=dict.fromkeys(texts.folders, opening))
    return Current(Configuration(settings, settings, texts, pool), log or NullLog())


def _texts(
    settings: Settings,
    words: Texts,
    find: Callable[[str], Path],
    folders: Mapping[str, Path] | None,
    dialect: str,
    plugins: Plugins,
) -> PromptTexts:
    """What is read for these settings; the shipped files are read once for the same ones, as no test writes them."""
    key = "" if folders or settings.prompts_dir or plugins.found else repr((texts_key(settings), dialect))
    if key in _shipped_texts:
        return replace(_shipped_texts[key], words=words, prompts=find)
    shipped = resource_dir("data/persona")
    folders = folders or {**persona_folders(shipped), settings.persona: shipped / settings.persona}
    specs = sent_specs(settings, find, plugins.specs)
    texts = read_texts(settings, words, find, folders, specs, dialect, plugins.skills)
    if key:
        _shipped_texts[key] = texts
    return texts
