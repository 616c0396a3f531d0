"""`.ai model`, `.ai base`, `.ai key`: which model answers, where it stands, and why a key has no place in a chat."""

from collections.abc import Mapping

from bot.commands.nearest import near
from bot.commands.sets import Setting
from bot.commands.table import Asked
from bot.config.choice import models
from bot.config.model import AnyModel, Use
from bot.text.clean import clean_name
from bot.text.clip import clip
from bot.text.fold import fold

USE = "model.use"

PRICES = ("price_input", "price_output")

NAME_CHARS = 60


class ModelCommand:
    """Shows the models that are configured and has another of them answer first."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai model …`; a name that is not configured changes nothing."""
        setting = self._setting
        found = models(setting.settings)
        if not found:
            return setting.text(asked, "model_offline")
        words = fold(" ".join(asked.words))
        if words in ("", "show"):
            return "\n".join([*self._listed(asked, found), *await setting.lines(asked, setting.settings, (USE,))])
        use = None if words == "reset" else _use(words, found)
        if words != "reset" and use is None:
            right = near(words, [*found, *(fold(model.name) for model in found.values())])
            said = clip(clean_name(" ".join(asked.words)), NAME_CHARS)
            line = setting.text(asked, "model_near" if right else "model_unknown", name=said, near=right)
            return "\n".join((line, *self._listed(asked, found)))
        wish: dict[str, str | None] = {USE: use}
        if (
            use is None and setting.settings.model.use != "model"
        ):  # prices that were said of the chosen one mean nothing where it is configured no more
            wish |= dict.fromkeys(f"{setting.settings.model.use}.{name}" for name in PRICES)
        problem, settings = await setting.change(asked, wish)
        if problem:
            return problem
        name = models(settings)[settings.model.use].name
        return "\n".join((setting.text(asked, "model_set", name=name), *await setting.lines(asked, settings, (USE,))))

    def _listed(self, asked: Asked, found: Mapping[Use, AnyModel]) -> list[str]:
        now = self._setting.settings.model.use
        key = {True: "model_line_now", False: "model_line"}
        return [self._setting.text(asked, key[use == now], use=use, name=model.name) for use, model in found.items()]


def _use(words: str, found: Mapping[Use, AnyModel]) -> Use | None:
    """The section that is called so, or whose model is."""
    return next((use for use, model in found.items() if words in (use, fold(model.name))), None)


class BaseCommand:
    """Shows the address that is asked; it is not set in a chat.

    Whoever is asked gets the key and all that people say: one mistyped letter, or one hijacked account of an owner,
    would hand both to a stranger. So the address stands in files that only the operator can write.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai base …`."""
        setting = self._setting
        if asked.words and fold(" ".join(asked.words)) != "show":
            return setting.text(asked, "base_fixed")
        found = models(setting.settings)
        if not found:
            return setting.text(asked, "model_offline")
        return setting.text(asked, "base_now", url=found[setting.settings.model.use].base_url)


class KeyCommand:
    """Says that a key has no place in a chat; what came with it was never stored (bot/text/secrecy.py)."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai key …`, for anyone: whoever sent a key should hear of it."""
        brought = "key_brought" if asked.words else "key_where"
        return self._setting.text(asked, brought)
