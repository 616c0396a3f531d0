"""`.ai model`, `base` and `key`: which model answers and where it stands."""

from collections.abc import Mapping

from bot.commands.command import Invocation, command, nearest_word
from bot.commands.settings import apply_wish, setting_lines
from bot.config.checks import configured_models
from bot.config.models import ModelSettings, ModelUse
from bot.text.clean import clean_name
from bot.text.codes import KEY_NAMES
from bot.text.fold import fold
from bot.text.length import clip

USE_KEY = "model.use"

MODEL_PRICES = ("price_input", "price_output")

NAME_CHARS = 60


@command("model", "[NAME | reset]", who="owner", topic="house", private=True, example="small")
async def model(call: Invocation) -> str:
    """Show the models that are configured, or have another answer first; an unknown name changes nothing."""
    settings = call.services.written
    found = configured_models(settings)
    if not found:
        return call.text("model_offline")
    words = fold(" ".join(call.words))
    if words in ("", "show"):
        return "\n".join([*_listed(call, found), *await setting_lines(call, (USE_KEY,))])
    use = None if words == "reset" else _use(words, found)
    if words != "reset" and use is None:
        right = nearest_word(words, [*found, *(fold(each.name) for each in found.values())])
        said = clip(clean_name(" ".join(call.words)), NAME_CHARS)
        line = call.text("model_near" if right else "model_unknown", name=said, near=right)
        return "\n".join((line, *_listed(call, found)))
    wish: dict[str, str | None] = {USE_KEY: use}
    if use is None and settings.model.use != "model":
        # prices that were said of the chosen one mean nothing where it is configured no more
        wish |= dict.fromkeys(f"{settings.model.use}.{name}" for name in MODEL_PRICES)
    if problem := await apply_wish(call, wish):
        return problem
    settings = call.services.written
    name = configured_models(settings)[settings.model.use].name
    return "\n".join((call.text("model_set", name=name), *await setting_lines(call, (USE_KEY,))))


def _listed(call: Invocation, found: Mapping[ModelUse, ModelSettings]) -> list[str]:
    now = call.services.written.model.use
    key = {True: "model_line_now", False: "model_line"}
    return [call.text(key[use == now], use=use, name=each.name) for use, each in found.items()]


def _use(words: str, found: Mapping[ModelUse, ModelSettings]) -> ModelUse | None:
    """The section that is called so, or whose model is."""
    return next((use for use, model in found.items() if words in (use, fold(model.name))), None)


@command("base", who="owner", topic="house", private=True, shape="words")
async def base(call: Invocation) -> str:
    """Show the address that is asked; it is not set in a chat.

    Whoever is asked gets the key and all that people say: one mistyped letter, or one hijacked account of an owner,
    would hand both to a stranger. So the address stands in files that only the operator can write.
    """
    if call.words and fold(" ".join(call.words)) != "show":
        return call.text("base_fixed")
    settings = call.services.written
    found = configured_models(settings)
    if not found:
        return call.text("model_offline")
    return call.text("base_now", url=found[settings.model.use].base_url)


@command(
    "key", who="anyone", topic="house", private=True, shape="words", listed=False, aliases=KEY_NAMES[1:]
)  # fmt: skip
async def key(call: Invocation) -> str:
    """Say that a key has no place in a chat; what came with it was never stored (bot/text/codes.py).

    For anyone: whoever sent a key should hear of it.
    """
    return call.text("key_brought" if call.words else "key_where")
