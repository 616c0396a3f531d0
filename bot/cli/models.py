"""From the configuration to the models that answer: what each can do, how it is spoken to, what it costs."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bot.cli.embedding import embedding_problems, make_embedding
from bot.cli.rules import shipped_rules
from bot.clock import SystemClock
from bot.config.budget import Budget
from bot.config.kinds import is_loopback
from bot.config.model import AnyModel
from bot.config.settings import Settings
from bot.flow.crew import Crew, Member
from bot.model.capabilities import capabilities
from bot.model.client import OpenAIModel
from bot.model.dialect import Dialect
from bot.model.offline import OfflineModel
from bot.money.prices import rate_of
from bot.money.table import UNKNOWN, public_rate
from bot.prompt.lifetimes import idle_seconds, log_tokens
from bot.text.catalogue import catalogue
from bot.types.capabilities import Capabilities
from bot.types.money import Rate

PRICES = ("price_input", "price_cached", "price_written", "price_output")


def known_of(settings: Settings, model: AnyModel, name: str = "") -> Capabilities:
    """What is known of a configured model, or of another one of its server: shipped rules, then the operator's."""
    base_url = model.base_url or settings.model.base_url
    return capabilities((*shipped_rules(), *settings.capabilities), base_url, name or model.name)


def tuned(settings: Settings) -> Settings:
    """The settings with what was left unset as suits the provider's cache and prices."""
    can, session, prompt = known_of(settings, settings.model), settings.session, settings.prompt
    values = {
        "idle_seconds": idle_seconds(can, session.idle_seconds), "log_tokens": log_tokens(can, session.log_tokens),
    }  # fmt: skip
    unset = {name: value for name, value in values.items() if name not in session.model_fields_set}
    life = 0 if can.cache == "none" and can.provider != UNKNOWN.provider else can.cache_life_seconds
    warm = {} if "warm_seconds" in prompt.model_fields_set else {"warm_seconds": life}
    return settings.model_copy(
        update={
            "session": session.model_copy(update=unset),
            "prompt": prompt.model_copy(update={name: value for name, value in warm.items() if value is not None}),
        }
    )


def make_crew(settings: Settings, find: Callable[[str], Path]) -> Crew:
    """The configured servers, or the built-in offline model, whose texts `find` finds."""
    if not settings.model.base_url:
        offline = OfflineModel(catalogue(find, "offline"))
        alone = Member(offline, rate_of(settings.model, Capabilities()))
        return Crew(alone, embedding=make_embedding(settings))
    others = (settings.fallback, settings.second_fallback)
    small = member_of(settings, settings.small) if settings.small.name else None
    fallbacks = tuple(member_of(settings, other) for other in others if other.name)
    first, embedding = member_of(settings, settings.model), make_embedding(settings)
    return Crew(first, fallbacks, small, settings.model.tries, embedding)


def crew_key(settings: Settings) -> tuple[object, ...]:
    """What `make_crew` makes a crew of: where it is the same, the old one goes on with its connections."""
    asked = {
        "slots", "window_tokens", "max_output_tokens", "temperature", "deadline_seconds", "first_token_seconds",
        "vocabulary",
    }  # fmt: skip
    rest = settings.model.model_copy(update={name: type(settings.model).model_fields[name].default for name in asked})
    others = settings.fallback, settings.second_fallback, settings.small
    return (
        rest,
        *others,
        settings.capabilities,
        settings.media.images,
        settings.memory.mode,
        settings.memory.embedding,
        settings.budget.currency,
        settings.budget.usd_rate,
    )


def seeing_rate(settings: Settings) -> Rate | None:
    """What looking at pictures costs by the public table; None: as much as the model's own tokens, as configured."""
    name = settings.media.images
    own = settings.model.price_input is not None or name in ("", settings.model.name)
    return None if own else public(settings, settings.model, name)


def public(settings: Settings, model: AnyModel, name: str) -> Rate | None:
    """The public prices of a model of that server in the budget's currency, where both are known."""
    base_url, budget = model.base_url or settings.model.base_url, settings.budget
    worth = 1.0 if budget.currency == "USD" else budget.usd_rate
    if not base_url or is_loopback(base_url) or worth is None:
        return None
    return public_rate(base_url, name, worth, SystemClock().now(), known_of(settings, model, name))


def price_problems(settings: Settings) -> tuple[str, ...]:
    """Limits in money need the price of every model that may answer; and who sets one price needs plain ones, too."""
    models = {"model": settings.model, "fallback": settings.fallback, "second_fallback": settings.second_fallback,
              "small": settings.small}  # fmt: skip
    limits = tuple(name for name in Budget.model_fields if name.endswith("_money"))
    limited = next((name for name in limits if getattr(settings.budget, name) is not None), "")
    unpriced = (
        problem for path, model in models.items() if model.name for problem in _unpriced(settings, path, model, limited)
    )
    return (*unpriced, *embedding_problems(settings))


def _unpriced(settings: Settings, path: str, model: AnyModel, limited: str) -> Iterator[str]:
    """What is missing of a model's prices, if they matter: to a limit in money, or because others are set."""
    missing = [name for name in ("price_input", "price_output") if getattr(model, name) is None]
    if not missing or public(settings, model, model.name) is not None:
        return
    if any(getattr(model, name) is not None for name in PRICES):
        yield from (f"{path}.{name}: missing; another price is set" for name in missing)
    elif limited and not is_loopback(model.base_url or settings.model.base_url):
        rate = "" if settings.budget.currency == "USD" else ", or budget.usd_rate is missing"
        yield (
            f"budget.{limited}: needs {path}.price_input and {path}.price_output: the public table does not know "
            f"{model.name!r}{rate}"
        )


def member_of(settings: Settings, model: AnyModel) -> Member:
    """One configured model; one without a server of its own is on the first one's."""
    server = model if model.base_url else settings.model
    can = known_of(settings, model)
    key = server.api_key.get_secret_value() if server.api_key is not None else ""
    speaker = OpenAIModel(
        server.base_url, key, model.name, stream=model.stream, proxy=server.proxy, speaks=Dialect(can, model.thinking),
        sees=Dialect(known_of(settings, model, settings.media.images)),
    )  # fmt: skip
    priced = model.price_input is not None and model.price_output is not None
    rate = rate_of(model, can, None if priced else public(settings, model, model.name))
    return Member(speaker, rate, can.cache_min_tokens)
