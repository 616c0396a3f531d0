"""Which of the configured models answers first. Pure."""

from bot.config.model import AnyModel, Use
from bot.config.settings import Settings


def models(settings: Settings) -> dict[Use, AnyModel]:
    """The models that are configured, by the name of their section; each with the server that it stands on."""
    every: dict[Use, AnyModel] = {
        "model": settings.model, "fallback": settings.fallback, "second_fallback": settings.second_fallback,
        "small": settings.small,
    }  # fmt: skip
    return {use: _standing(settings, model) for use, model in every.items() if model.name.strip()}


def chosen(settings: Settings) -> Settings:
    """The settings with the chosen model in [model]; the others answer after it, in their order."""
    found, use = models(settings), settings.model.use
    if use == "model" or use not in found:
        return settings
    first, behind = found.pop(use), [found.pop(each) for each in ("model", "fallback", "second_fallback")
                                     if each in found]  # fmt: skip
    rest = [*behind, None, None]
    return settings.model_copy(
        update={
            "model": _as(settings.model, first),
            "fallback": _as(type(settings.fallback)(), rest[0]),
            "second_fallback": _as(type(settings.second_fallback)(), rest[1]),
            "small": _as(type(settings.small)(), found.get("small")),
        }
    )


def _standing(settings: Settings, model: AnyModel) -> AnyModel:
    """A model without an address of its own stands on that of [model], with its key and proxy."""
    if model.base_url:
        return model
    server = settings.model
    there = {"base_url": server.base_url, "api_key": server.api_key, "proxy": server.proxy}
    return model.model_copy(update=there)


def _as(section: AnyModel, model: AnyModel | None) -> AnyModel:
    """That section with what another one says of its model."""
    if model is None:
        return section
    return section.model_copy(update={name: getattr(model, name) for name in AnyModel.model_fields})
