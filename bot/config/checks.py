"""Checks over several keys: contradictions, which configured model answers first, whether a value set in a chat
fits."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from bot.config.base import is_loopback
from bot.config.memory import EmbeddingServer
from bot.config.models import ModelSettings, ModelUse
from bot.config.settings import Settings


def configured_models(settings: Settings) -> dict[ModelUse, ModelSettings]:
    """The models that are configured, by the name of their section; each with the server that it stands on."""
    return {use: _standing(settings, model) for use, model in settings.models.items() if model.name.strip()}


def with_chosen_model(settings: Settings) -> Settings:
    """The settings with the chosen model in [model]; the others answer after it, in their order."""
    found, use = configured_models(settings), settings.model.use
    if use == "model" or use not in found:
        return settings
    first, behind = (
        found.pop(use),
        [found.pop(each) for each in ("model", "fallback", "second_fallback") if each in found],
    )
    rest = [*behind, None, None]
    return settings.model_copy(
        update={
            "model": _as(settings.model, first),
            "fallback": _as(type(settings.fallback)(), rest[0]),
            "second_fallback": _as(type(settings.second_fallback)(), rest[1]),
            "small": _as(type(settings.small)(), found.get("small")),
        }
    )


def _standing(settings: Settings, model: ModelSettings) -> ModelSettings:
    """A model without an address of its own stands on that of [model], with its key and proxy."""
    if model.base_url:
        return model
    server = settings.model
    there = {"base_url": server.base_url, "api_key": server.api_key, "proxy": server.proxy}
    return model.model_copy(update=there)


def _as(section: ModelSettings, model: ModelSettings | None) -> ModelSettings:
    """That section with what another one says of its model."""
    if model is None:
        return section
    return section.model_copy(update={name: getattr(model, name) for name in ModelSettings.model_fields})


def value_fits(key: str, value: str) -> bool:
    """Whether a value can stand at a dotted key, by the type and the bounds that nuan.toml has."""
    *tables, name = key.split(".")
    section: type[BaseModel] = Settings
    for table in tables:
        kind = section.model_fields[table].annotation
        assert isinstance(kind, type)
        assert issubclass(kind, BaseModel)
        section = kind
    try:
        section.model_validate({name: value})
    except ValidationError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One problem between keys; `involved` are the dotted paths it was found from."""

    path: str
    text: str
    involved: frozenset[str]


def contradictions(settings: Settings) -> Iterator[Contradiction]:
    """Every problem between keys that are right by themselves."""
    yield from _server(settings)
    yield from _embedding(settings)
    yield from _sizes(settings)
    if settings.prompts_dir and not _is_folder(settings.prompts_dir):
        yield _found("prompts_dir", "there is no such folder")


def _is_folder(name: str) -> bool:
    try:
        return Path(name).expanduser().is_dir()
    except (OSError, RuntimeError):
        return False  # a name that is too long, or the home of nobody


def _server(settings: Settings) -> Iterator[Contradiction]:
    model = settings.model
    if model.base_url and not model.name:
        yield _found("model.name", "missing; model.base_url is set, so name one of its models", "model.base_url")
    if model.name and not model.base_url:
        yield _found("model.base_url", "missing; model.name is set, so say which server has it", "model.name")
    for name, used in (("images", settings.media.images), ("voice", settings.media.voice)):
        if used and not model.base_url:
            yield _found("model.base_url", f"missing; media.{name} names a model of that server", f"media.{name}")
    if settings.heartbeat.on and not model.base_url:
        yield _found(
            "heartbeat.on", "needs model.base_url: the offline model has nothing to say first", "model.base_url"
        )
    yield from _use(settings)
    yield from _key(model, "model")
    for path, other in settings.models.items():
        if path != "model":
            yield from _other(settings, path, other)


def _use(settings: Settings) -> Iterator[Contradiction]:
    """What answers first is configured, and whatever else asks the server of [model] finds its own there."""
    use, found = settings.model.use, configured_models(settings)
    if use == "model":
        return
    if use not in found:
        yield _found("model.use", f"names [{use}], where no model is configured", f"{use}.name")
        return
    if found[use].base_url == settings.model.base_url:
        return
    for name, used in (("images", settings.media.images), ("voice", settings.media.voice)):
        if used:
            text = f"[{use}] is on another server than media.{name}, which is one of the server of [model]"
            yield _found("model.use", text, f"media.{name}")
    embedding = settings.memory.embedding
    if embedding.provider == "openai" and not embedding.base_url:
        text = f"[{use}] is on another server than memory.embedding, which has no base_url of its own"
        yield _found("model.use", text, "memory.embedding.base_url")


def _other(settings: Settings, path: str, other: ModelSettings) -> Iterator[Contradiction]:
    """A further model stands on a server of its own, or on that of [model]."""
    fields = type(other).model_fields
    given = [name for name in fields if name != "name" and getattr(other, name) != fields[name].default]
    if not other.name.strip():
        if other.name or given:
            shown = f"{path}.{given[0]} is set" if given else "blanks name no model"
            yield _found(f"{path}.name", f"missing; {shown}, so name a model", *(f"{path}.{name}" for name in given))
        return
    if not settings.model.base_url:
        yield _found("model.base_url", f"missing; {path}.name is set, which only helps another model", f"{path}.name")
    if other.api_key is not None and not other.base_url:
        yield _found(
            f"{path}.base_url", f"missing; {path}.api_key is set, so say which server it is for", f"{path}.api_key"
        )
    yield from _key(other, path)


def _embedding(settings: Settings) -> Iterator[Contradiction]:
    """A server of embeddings needs a model, and an address of its own or that of [model]."""
    server, path = settings.memory.embedding, "memory.embedding"
    if server.provider == "openai":
        if not server.model.strip():
            yield _found(f"{path}.model", f"missing; {path}.provider is openai, so name a model", f"{path}.provider")
        if not server.base_url and not settings.model.base_url:
            text = f"missing; {path}.provider is openai, and [model] has no server either"
            yield _found(f"{path}.base_url", text, f"{path}.provider", "model.base_url")
        yield from _key(server, path)
    if server.api_key is not None and not server.base_url:
        yield _found(
            f"{path}.base_url", f"missing; {path}.api_key is set, so say which server it is for", f"{path}.api_key"
        )


def _key(model: ModelSettings | EmbeddingServer, path: str) -> Iterator[Contradiction]:
    key = model.api_key.get_secret_value().strip() if model.api_key else ""
    if model.base_url and not is_loopback(model.base_url) and not key:
        text = "missing; the server is not on this machine (write any word if it wants no key)"
        yield _found(f"{path}.api_key", text, f"{path}.base_url")


def _sizes(settings: Settings) -> Iterator[Contradiction]:
    model = settings.model
    smallest_log = 500
    if model.window_tokens < model.max_output_tokens + settings.session.reserve_tokens + smallest_log:
        yield _found(
            "model.window_tokens",
            "leaves no room beside model.max_output_tokens and session.reserve_tokens",
            "model.max_output_tokens",
            "session.reserve_tokens",
        )


def _found(path: str, text: str, *others: str) -> Contradiction:
    return Contradiction(path, text, frozenset((path, *others)))
