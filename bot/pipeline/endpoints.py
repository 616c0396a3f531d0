"""From the configuration to the model pool: what each endpoint can do, how it is spoken to, what it costs."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from bot.config.base import is_loopback
from bot.config.memory import Provider
from bot.config.models import Budget, CapabilityRule, ImageServer, ModelSettings, VoiceServer, read_rules
from bot.config.settings import Settings
from bot.core.clock import SystemClock
from bot.core.files import program_name, resource_dir
from bot.core.models import Capabilities, Price, PriceAt
from bot.model.client import OpenAIEmbedder, OpenAIModel, OpenAIPainter, OpenAISpeaker
from bot.model.dialect import Dialect, known_capabilities
from bot.model.local import LocalEmbedder, encoder_installed
from bot.model.offline import OfflineModel
from bot.model.pool import DrawingEndpoint, EmbeddingEndpoint, Endpoint, ModelPool, SpeechEndpoint
from bot.money import UNKNOWN_CAPABILITIES, public_rate, rate_of
from bot.recall.vectors import HashEmbedder
from bot.session import best_idle_seconds, best_log_tokens
from bot.text.catalogue import catalogue

PRICE_KEYS = ("price_input", "price_cached", "price_written", "price_output")


@cache
def shipped_rules() -> tuple[CapabilityRule, ...]:
    """The rules of data/providers.toml; ConfigError when the file is broken."""
    return read_rules(resource_dir("data/providers.toml").read_text("utf-8"))


def capabilities_of(settings: Settings, model: ModelSettings, name: str = "") -> Capabilities:
    """What is known of a configured model, or of another one of its server: shipped rules, then the operator's."""
    base_url = model.base_url or settings.model.base_url
    return known_capabilities((*shipped_rules(), *settings.capabilities), base_url, name or model.name)


def with_provider_defaults(settings: Settings) -> Settings:
    """The settings with what was left unset as suits the provider's cache and prices."""
    can, session, prompt = capabilities_of(settings, settings.model), settings.session, settings.prompt
    values = {
        "idle_seconds": best_idle_seconds(can, session.idle_seconds),
        "log_tokens": best_log_tokens(can, session.log_tokens),
    }
    unset = {name: value for name, value in values.items() if name not in session.model_fields_set}
    life = 0 if can.cache == "none" and can.provider != UNKNOWN_CAPABILITIES.provider else can.cache_life_seconds
    warm = {} if "warm_seconds" in prompt.model_fields_set else {"warm_seconds": life}
    return settings.model_copy(
        update={
            "session": session.model_copy(update=unset),
            "prompt": prompt.model_copy(update={name: value for name, value in warm.items() if value is not None}),
        }
    )


def make_pool(settings: Settings, find: Callable[[str], Path]) -> ModelPool:
    """The configured servers, or the built-in offline model, whose texts `find` finds."""
    if not settings.model.base_url:
        offline = OfflineModel(catalogue(find, "offline"), settings.bot.names, program_name())
        return ModelPool(
            Endpoint(offline, _no_cost),
            embedding=make_embedding(settings),
            speech=make_speech(settings),
            drawing=make_drawing(settings),
        )
    others = (settings.fallback, settings.second_fallback)
    small = endpoint_of(settings, settings.small) if settings.small.name else None
    fallbacks = tuple(endpoint_of(settings, other) for other in others if other.name)
    first, embedding = endpoint_of(settings, settings.model), make_embedding(settings)
    return ModelPool(
        first, fallbacks, small, settings.model.tries, embedding, make_speech(settings), make_drawing(settings)
    )


def pool_key(settings: Settings) -> tuple[object, ...]:
    """What `make_pool` makes a pool of: where it is the same, the old one goes on with its connections."""
    asked = {
        "slots",
        "window_tokens",
        "max_output_tokens",
        "temperature",
        "deadline_seconds",
        "first_token_seconds",
        "vocabulary",
    }
    rest = settings.model.model_copy(update={name: type(settings.model).model_fields[name].default for name in asked})
    others = settings.fallback, settings.second_fallback, settings.small
    return (
        rest,
        *others,
        settings.capabilities,
        settings.media.images,
        settings.memory.mode,
        settings.memory.embedding,
        settings.voice.model_copy(update=dict.fromkeys(("max_chars", "day_characters", "deadline_seconds"))),
        settings.image.model_copy(update=dict.fromkeys(("person_day", "deadline_seconds"))),
        settings.budget.currency,
        settings.budget.usd_rate,
    )


def vision_rate(settings: Settings) -> PriceAt | None:
    """What looking at pictures costs by the public table; None: as much as the model's own tokens, as configured."""
    name = settings.media.images
    own = settings.model.price_input is not None or name in ("", settings.model.name)
    return None if own else public_rate_of(settings, settings.model, name)


def public_rate_of(settings: Settings, model: ModelSettings, name: str) -> PriceAt | None:
    """The public prices of a model of that server in the budget's currency, where both are known."""
    base_url = model.base_url or settings.model.base_url
    return _public_rate(settings, base_url, name, capabilities_of(settings, model, name))


def _public_rate(
    settings: Settings, base_url: str, name: str, can: Capabilities, output: float | None = None
) -> PriceAt | None:
    worth = 1.0 if settings.budget.currency == "USD" else settings.budget.usd_rate
    if not base_url or is_loopback(base_url) or worth is None:
        return None
    return public_rate(base_url, name, worth, SystemClock().now(), can, output=output)


def _limit_in_money(settings: Settings) -> str:
    """The first of the limits in money that are set, "" for none."""
    names = (name for name in Budget.model_fields if name.endswith("_money"))
    return next((name for name in names if getattr(settings.budget, name) is not None), "")


def price_problems(settings: Settings) -> tuple[str, ...]:
    """Limits in money need the price of every model that may answer; and who sets one price needs plain ones, too."""
    limited = _limit_in_money(settings)
    unpriced = (
        problem
        for path, model in settings.models.items()
        if model.name
        for problem in _unpriced(settings, path, model, limited)
    )
    return (*unpriced, *embedding_problems(settings), *voice_problems(settings), *image_problems(settings))


def _unpriced(settings: Settings, path: str, model: ModelSettings, limited: str) -> Iterator[str]:
    """What is missing of a model's prices, if they matter: to a limit in money, or because others are set."""
    missing = [name for name in ("price_input", "price_output") if getattr(model, name) is None]
    if not missing or public_rate_of(settings, model, model.name) is not None:
        return
    if any(getattr(model, name) is not None for name in PRICE_KEYS):
        yield from (f"{path}.{name}: missing; another price is set" for name in missing)
    elif limited and not is_loopback(model.base_url or settings.model.base_url):
        rate = "" if settings.budget.currency == "USD" else ", or budget.usd_rate is missing"
        yield (
            f"budget.{limited}: needs {path}.price_input and {path}.price_output: the public table does not know "
            f"{model.name!r}{rate}"
        )


def endpoint_of(settings: Settings, model: ModelSettings) -> Endpoint:
    """One configured model; one without a server of its own is on the first one's."""
    server = model if model.base_url else settings.model
    can = capabilities_of(settings, model)
    key = server.api_key.get_secret_value() if server.api_key is not None else ""
    speaker = OpenAIModel(
        server.base_url,
        key,
        model.name,
        stream=model.stream,
        proxy=server.proxy,
        speaks=Dialect(can, model.thinking),
        sees=Dialect(capabilities_of(settings, model, settings.media.images)),
    )
    priced = model.price_input is not None and model.price_output is not None
    rate = rate_of(model, can, None if priced else public_rate_of(settings, model, model.name))
    return Endpoint(speaker, rate, can.cache_min_tokens)


def make_embedding(settings: Settings) -> EmbeddingEndpoint | None:
    """The configured embedder; None where no recall would use its vectors."""
    server, provider = settings.memory.embedding, embedding_provider(settings)
    if not provider:
        return None
    if provider == "local":
        return EmbeddingEndpoint(LocalEmbedder(), _no_cost)
    if provider == "hash":
        return EmbeddingEndpoint(HashEmbedder(server.dimensions), _no_cost)
    own = server if server.base_url else settings.model
    key = own.api_key.get_secret_value() if own.api_key is not None else ""
    embedder = OpenAIEmbedder(own.base_url, key, server.model, server.dimensions, own.proxy)
    return EmbeddingEndpoint(embedder, embedding_rate(settings) or _no_cost)


def make_speech(settings: Settings) -> SpeechEndpoint | None:
    """The configured speaker, None where nothing is spoken."""
    voice = settings.voice
    own = voice if voice.base_url else settings.model
    if not voice.model or not own.base_url:
        return None
    key = own.api_key.get_secret_value() if own.api_key is not None else ""
    speaker = OpenAISpeaker(own.base_url, key, voice.model, voice.voice, voice.format, own.proxy)
    return SpeechEndpoint(speaker, voice.price or 0.0)


def make_drawing(settings: Settings) -> DrawingEndpoint | None:
    """The configured painter, None where nothing is drawn."""
    image = settings.image
    own = image if image.base_url else settings.model
    if not image.model or not own.base_url:
        return None
    can = known_capabilities((*shipped_rules(), *settings.capabilities), own.base_url, image.model)
    key = own.api_key.get_secret_value() if own.api_key is not None else ""
    painter = OpenAIPainter(own.base_url, key, image.model, image.size, own.proxy, wants_base64=can.picture_format)
    return DrawingEndpoint(painter, image.price or 0.0)


def image_problems(settings: Settings) -> tuple[str, ...]:
    """Who draws needs a server, and with a limit in money a price, as who speaks does."""
    return _unpriced_server(settings, "image", settings.image, "what one picture costs")


def voice_problems(settings: Settings) -> tuple[str, ...]:
    """Who speaks needs a server, and with a limit in money a price, unless the server is on this machine."""
    return _unpriced_server(settings, "voice", settings.voice, "what a million characters cost")


def _unpriced_server(settings: Settings, table: str, server: VoiceServer | ImageServer, price: str) -> tuple[str, ...]:
    url = server.base_url or settings.model.base_url
    if not server.model:
        return ()
    if not url:
        return (f"{table}.model: needs {table}.base_url or model.base_url",)
    limited = _limit_in_money(settings)
    if not limited or server.price is not None or is_loopback(url):
        return ()
    return (f"budget.{limited}: needs {table}.price, {price}",)


def embedding_provider(settings: Settings) -> Provider:
    """Who makes vectors: as configured, else the local encoder where it is installed; "" where no recall uses any."""
    mode, provider = settings.memory.mode, settings.memory.embedding.provider
    if mode in ("keyword", "v2") or (mode is None and provider not in ("", "local")):
        return ""
    return provider or ("local" if encoder_installed() else "")


def embedding_url(settings: Settings) -> str:
    """The address that is asked for vectors."""
    return settings.memory.embedding.base_url or settings.model.base_url


def embedding_capabilities(settings: Settings) -> Capabilities:
    """What is known of its server."""
    rules = (*shipped_rules(), *settings.capabilities)
    return known_capabilities(rules, embedding_url(settings), settings.memory.embedding.model)


def embedding_rate(settings: Settings) -> PriceAt | None:
    """What a million tokens cost: as configured, else by the public table, in which vectors have no price of output."""
    server = settings.memory.embedding
    if server.price_input is not None:
        price = Price(server.price_input, server.price_input, 0.0, server.price_input)
        return lambda now: price
    return _public_rate(settings, embedding_url(settings), server.model, embedding_capabilities(settings), output=0.0)


def embedding_problems(settings: Settings) -> tuple[str, ...]:
    """A limit in money needs the price of vectors, too, unless their server is on this machine."""
    limited = _limit_in_money(settings)
    used = embedding_provider(settings) == "openai"
    if not limited or not used or is_loopback(embedding_url(settings)) or embedding_rate(settings) is not None:
        return ()
    return (
        f"budget.{limited}: needs memory.embedding.price_input: the public table does not know "
        f"{settings.memory.embedding.model!r}",
    )


def _no_cost(_: int) -> Price:
    return Price(0.0, 0.0, 0.0, 0.0)
