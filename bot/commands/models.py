"""`.ai model`, `base`, `key` and the list of `calls`: which model answers, where it stands, what was asked of it."""

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo

from bot.commands.command import Invocation, nearest_word
from bot.commands.settings import SettingsEditor
from bot.config.checks import configured_models
from bot.config.models import ModelSettings, ModelUse
from bot.core.money import RecentCall
from bot.text.clean import clean_name
from bot.text.fold import fold
from bot.text.length import clip

USE_KEY = "model.use"

MODEL_PRICES = ("price_input", "price_output")

NAME_CHARS = 60


class ModelCommand:
    """Shows the models that are configured and has another of them answer first."""

    def __init__(self, setting: SettingsEditor) -> None:
        self._setting = setting

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai model …`; a name that is not configured changes nothing."""
        setting = self._setting
        found = configured_models(setting.settings)
        if not found:
            return setting.text(asked, "model_offline")
        words = fold(" ".join(asked.words))
        if words in ("", "show"):
            return "\n".join([*self._listed(asked, found), *await setting.lines(asked, setting.settings, (USE_KEY,))])
        use = None if words == "reset" else _use(words, found)
        if words != "reset" and use is None:
            right = nearest_word(words, [*found, *(fold(model.name) for model in found.values())])
            said = clip(clean_name(" ".join(asked.words)), NAME_CHARS)
            line = setting.text(asked, "model_near" if right else "model_unknown", name=said, near=right)
            return "\n".join((line, *self._listed(asked, found)))
        wish: dict[str, str | None] = {USE_KEY: use}
        if (
            use is None and setting.settings.model.use != "model"
        ):  # prices that were said of the chosen one mean nothing where it is configured no more
            wish |= dict.fromkeys(f"{setting.settings.model.use}.{name}" for name in MODEL_PRICES)
        problem, settings = await setting.change(asked, wish)
        if problem:
            return problem
        name = configured_models(settings)[settings.model.use].name
        return "\n".join(
            (setting.text(asked, "model_set", name=name), *await setting.lines(asked, settings, (USE_KEY,)))
        )

    def _listed(self, asked: Invocation, found: Mapping[ModelUse, ModelSettings]) -> list[str]:
        now = self._setting.settings.model.use
        key = {True: "model_line_now", False: "model_line"}
        return [self._setting.text(asked, key[use == now], use=use, name=model.name) for use, model in found.items()]


def _use(words: str, found: Mapping[ModelUse, ModelSettings]) -> ModelUse | None:
    """The section that is called so, or whose model is."""
    return next((use for use, model in found.items() if words in (use, fold(model.name))), None)


class BaseCommand:
    """Shows the address that is asked; it is not set in a chat.

    Whoever is asked gets the key and all that people say: one mistyped letter, or one hijacked account of an owner,
    would hand both to a stranger. So the address stands in files that only the operator can write.
    """

    def __init__(self, setting: SettingsEditor) -> None:
        self._setting = setting

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai base …`."""
        setting = self._setting
        if asked.words and fold(" ".join(asked.words)) != "show":
            return setting.text(asked, "base_fixed")
        found = configured_models(setting.settings)
        if not found:
            return setting.text(asked, "model_offline")
        return setting.text(asked, "base_now", url=found[setting.settings.model.use].base_url)


class KeyCommand:
    """Says that a key has no place in a chat; what came with it was never stored (bot/text/codes.py)."""

    def __init__(self, setting: SettingsEditor) -> None:
        self._setting = setting

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai key …`, for anyone: whoever sent a key should hear of it."""
        brought = "key_brought" if asked.words else "key_where"
        return self._setting.text(asked, brought)


CALLS_SHOWN, MOST_CALLS = 10, 50


def calls_wanted(words: tuple[str, ...]) -> int | None:
    """How many calls these words ask to see; None when they ask for something else."""
    match words:
        case () | ("recent",):
            return CALLS_SHOWN
        case ("recent", number) if number.isascii() and number.isdigit() and int(number[:9]):
            return min(int(number[:9]), MOST_CALLS)
        case _:
            return None


def calls_report(
    made: tuple[RecentCall, ...], sources: tuple[str, ...], tz: tzinfo, currency: str, text: Callable[..., str]
) -> str:
    """What may call in the background (nothing: it is off), then each call, the newest first."""
    state = text("background_on", sources=", ".join(sources)) if sources else text("background_off")
    lines = [
        text(
            "calls_line", at=f"{datetime.fromtimestamp(call.at / 1000, tz):%m-%d %H:%M:%S}", cause=call.cause,
            model=call.model, prompt=call.prompt_tokens, cached=call.cached_tokens, written=call.written_tokens,
            output=call.output_tokens, thought=call.reasoning_tokens, money=f"{call.money:.5f} {currency}",
            ms=call.ms, state=call.state,
        )
        for call in made
    ]  # fmt: skip
    return "\n".join((text("calls_head", state=state, n=len(made)), *(lines or [text("calls_none")])))
