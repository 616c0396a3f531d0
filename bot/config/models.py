"""Keys of model servers, their capability rules, and what may be spent."""

import json
import tomllib
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError

from bot.config.base import ModelName, Money, ProxyUrl, ServerUrl, SettingsTable, Share, Tokens, value_error
from bot.core.errors import ConfigError
from bot.core.models import CacheRule, JsonMode, MarkStyle, MaxTokensField

OWN = frozenset(
    (
        "model",
        "messages",
        "tools",
        "tool_choice",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "n",
        "response_format",
        "prompt_cache_key",
        "prompt_cache_options",
    )
)
"""Fields of a request that are nuan's own: prices, limits and the ledger stand on them."""

OWN_HEADERS = frozenset(("authorization", "host", "connection", "transfer-encoding", "content-type", "content-length"))

ModelUse = Literal["model", "fallback", "second_fallback", "small"]


def switch(fields: Mapping[str, object]) -> Mapping[str, object]:
    """The fields as they are, if a request can carry them beside its own."""
    if taken := sorted(OWN & fields.keys()):
        raise value_error(f"must not hold {', '.join(taken)}")
    try:
        json.dumps(fields, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise value_error("must hold only what JSON can: texts, numbers, true, false, lists and tables") from None
    return fields


def header(name: str) -> str:
    """The name as it is, if no request needs that header itself."""
    if name.lower() in OWN_HEADERS:
        raise value_error(f"must not be {name}: requests need it themselves")
    return name


Switch = Annotated[Mapping[str, object], AfterValidator(switch)]


class CapabilityRule(SettingsTable):
    """One rule of data/providers.toml or of [[capabilities]]; of several that fit, the last one that says it holds."""

    hosts: tuple[str, ...] = ("*",)
    """Servers it is for: host names, * for any part."""
    models: tuple[str, ...] = ("*",)
    """Models it is for: names, * for any part."""
    provider: str | None = Field(default=None, max_length=32)
    """Name of the provider, for people."""
    cache: CacheRule | None = None
    """What its cache matches: none, prefix, exact or units."""
    marks: MarkStyle | None = None
    """How a request marks what is worth keeping."""
    cache_key: bool | None = None
    """Whether prompt_cache_key is sent."""
    cache_header: Annotated[str, AfterValidator(header)] | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{0,64}$")
    """Header that carries the cache key."""
    cache_min_tokens: int | None = Field(default=None, ge=0)
    """Smallest prompt that is cached, in tokens."""
    cache_life_seconds: int | None = Field(default=None, ge=1, le=31_536_000)
    """How long a prefix is kept, in seconds."""
    cached_ratio: float | None = Field(default=None, ge=0, le=1)
    """Price of cached input, part of the full."""
    written_ratio: float | None = Field(default=None, ge=0, le=10)
    """Price of input that is cached anew."""
    usage_cached: tuple[str, ...] | None = None
    """Fields of usage that count cached input."""
    usage_written: tuple[str, ...] | None = None
    """Fields that count input cached anew."""
    thinking_off: Switch | None = None
    """What a request says to think not."""
    thinking_on: Switch | None = None
    """What a request says to think."""
    keep_reasoning: bool | None = None
    """Whether the model wants its reasoning back."""
    max_tokens_field: MaxTokensField | None = None
    """What bounds an answer in a request."""
    temperature: bool | None = None
    """Whether a request may set a temperature."""
    json_mode: JsonMode | None = None
    """How a request can ask for JSON: none, object, or schema (strict)."""
    embeddings: bool | None = None
    """Whether the server makes embeddings."""
    vision: bool | None = None
    """Whether the server has models that see pictures."""
    transcription: bool | None = None
    """Whether the server transcribes recordings."""
    speech: bool | None = None
    """Whether the server has models that speak."""
    drawing: bool | None = None
    """Whether the server has models that draw and gives the picture itself, not its address."""
    picture_format: bool | None = None
    """Whether a request for a picture may say that the picture itself is wanted."""


def read_rules(text: str) -> tuple[CapabilityRule, ...]:
    """The rules of a table in TOML, in their order; ConfigError says what is wrong with it."""
    try:
        rules = tomllib.loads(text).get("rule", [])
        return tuple(CapabilityRule.model_validate(rule) for rule in rules)
    except (tomllib.TOMLDecodeError, ValidationError, TypeError) as error:
        raise ConfigError((f"providers.toml: {error}",)) from error


class ModelSettings(SettingsTable):
    """What every model is told by: where it is and what it costs."""

    base_url: ServerUrl = ""
    """Address of the server's API, for example http://localhost:11434/v1."""
    api_key: SecretStr | None = None
    """Key of the server; better kept in .env, in a variable like NUAN_MODEL__API_KEY."""
    name: ModelName = ""
    """Name of the model on that server."""
    stream: bool = True
    """Whether answers are streamed from the server."""
    thinking: bool = False
    """Whether the model thinks before it answers, where that can be switched; thoughts are paid output."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    price_input: Money = None
    """Price of a million uncached input tokens, in budget.currency; none takes the public table's."""
    price_cached: Money = None
    """Price of a million cached input tokens; none follows the provider's rule."""
    price_written: Money = None
    """Price of a million input tokens that the provider caches anew; none follows the provider's rule."""
    price_output: Money = None
    """Price of a million output tokens, in budget.currency; none takes the public table's."""
    vocabulary: Literal["", "o200k", "deepseek", "qwen", "cl100k"] = ""
    """What estimates of tokens go by; empty follows the model's name. Counts correct them."""


class ModelServer(ModelSettings):
    """The OpenAI-compatible server that answers; without base_url and name the built-in offline model does."""

    use: ModelUse = "model"
    """Section of the model that answers first: model, fallback, second_fallback or small; the others answer after it,
    in their order. `.ai model` sets it."""
    window_tokens: int = Field(default=128_000, ge=2048, le=100_000_000)
    """Size of the model's context window, in tokens."""
    max_output_tokens: int = Field(default=512, ge=1, le=1_000_000)
    """Longest answer of one call, in tokens."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    """Sampling temperature from 0 to 2."""
    deadline_seconds: float = Field(default=90.0, gt=0, le=86_400)
    """When a call is given up, in seconds from its start; other tries and models are within it."""
    first_token_seconds: float = Field(default=20.0, ge=0, le=86_400)
    """When a model that has not begun to answer is left for the next one, in seconds, where answers are streamed and
    another model is there; 0 waits for the deadline alone."""
    tries: int = Field(default=3, ge=1, le=3)
    """Requests that one call makes at most, of all models together, 1 to 3."""
    slots: int = Field(default=4, ge=1, le=256)
    """Calls that may be in flight at the same time."""
    stop_seconds: float = Field(default=4.0, ge=0, le=600)
    """How long a stop waits for calls under way, in seconds; one that is not answered by then is paid and asked again by
    whoever goes on. Give what stops nuan (systemd, Docker) ten more."""


class Fallback(ModelSettings):
    """The model that answers when the first one does not; without a name there is none.

    An empty base_url is that of [model], with its key and proxy.
    """


class SecondFallback(ModelSettings):
    """The model that answers when the first two do not; as [fallback]."""


class SmallModel(ModelSettings):
    """The cheaper model that answers when a budget runs low (budget.small_at); as [fallback]."""


class VoiceServer(SettingsTable):
    """Who speaks short answers, to people who spoke themselves or ask to hear them, where a platform takes voice messages.

    `.ai calls` shows what it costs; in the ledger a character counts as a token.
    """

    model: ModelName = ""
    """Name of a model that speaks, by /audio/speech of an OpenAI-compatible server; empty speaks nothing."""
    voice: Annotated[str, Field(min_length=1, max_length=128)] = "alloy"
    """Name of the voice, as the server knows it."""
    base_url: ServerUrl = ""
    """Address of the server's API; empty is that of [model], with its key and proxy."""
    api_key: SecretStr | None = None
    """Key of the server; better kept in .env, in a variable like NUAN_VOICE__API_KEY."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    format: Literal["opus", "mp3"] = "opus"
    """What the server makes: opus (OGG, which Telegram shows as a voice message) or mp3."""
    price: Money = None
    """Price of a million characters, in budget.currency."""
    max_chars: int = Field(default=300, ge=1, le=1_000)
    """Longest answer that is spoken, in characters, 1 to 1000; a longer one is written."""
    day_characters: Tokens = 20_000
    """Characters that are spoken in a local day, to everybody together; none means no limit."""
    deadline_seconds: float = Field(default=15.0, gt=0, le=120)
    """How long an answer waits for its recording, in seconds; then it goes out as text."""


class ImageServer(SettingsTable):
    """Who draws pictures for people who ask for one, where a platform takes them; the model gets the tool `image` for it."""

    model: ModelName = ""
    """Name of a model that draws, by /images/generations of an OpenAI-compatible server; empty draws nothing, and there is
    no such tool."""
    base_url: ServerUrl = ""
    """Address of the server's API; empty is that of [model], with its key and proxy."""
    api_key: SecretStr | None = None
    """Key of the server; better kept in .env, in a variable like NUAN_IMAGE__API_KEY."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    size: Annotated[str, Field(pattern=r"^(auto|[1-9][0-9]{1,4}x[1-9][0-9]{1,4})$")] = "1024x1024"
    """Size of a picture in pixels, width x height, or auto, as the server takes it."""
    price: Money = None
    """Price of one picture, in budget.currency."""
    person_day: int = Field(default=5, ge=1, le=1_000)
    """Pictures that are drawn for one person in a local day, 1 to 1000."""
    deadline_seconds: float = Field(default=60.0, gt=0, le=600)
    """When a picture is given up, in seconds; the reply waits for it."""


class Budget(SettingsTable):
    """What may be spent; a limit that is reached stops model calls; those of a day or month end with it."""

    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")
    """Three-letter currency of all prices and limits."""
    usd_rate: float | None = Field(default=None, gt=0)
    """What a US dollar is worth in this currency, for the public table's prices; unless it is USD."""
    small_at: Share = 0.8
    """Used part of any limit from which the model of [small] answers, 0 to 1."""
    light_at: Share = 0.9
    """Used part of any limit from which new logs begin without tools and memories, 0 to 1."""
    notify: bool = True
    """Whether who meets a limit is told so, once a day; off means silence."""
    day_money: Money = None
    """Money per local day; none means no limit."""
    month_money: Money = None
    """Money per calendar month; none means no limit."""
    day_tokens: Tokens = 2_000_000
    """Tokens per local day; none means no limit."""
    month_tokens: Tokens = None
    """Tokens per calendar month; none means no limit."""
    total_money: Money = None
    """Money for ever; none means no limit."""
    total_tokens: Tokens = None
    """Tokens for ever; none means no limit."""
    turn_tokens: Tokens = 60_000
    """Tokens after which one turn gets no more tools, in all its calls; none means no limit."""
    chat_day_money: Money = None
    """Money per chat and local day; none means no limit."""
    chat_day_tokens: Tokens = None
    """Tokens per chat and local day; none means no limit."""
    person_day_money: Money = None
    """Money per person who is answered and local day; none means no limit."""
    person_day_tokens: Tokens = None
    """Tokens per person who is answered and local day; none means no limit."""
    chat_month_money: Money = None
    """Money per chat and calendar month; none means no limit."""
    chat_month_tokens: Tokens = None
    """Tokens per chat and calendar month; none means no limit."""
    person_month_money: Money = None
    """Money per person who is answered and calendar month; none means no limit."""
    person_month_tokens: Tokens = None
    """Tokens per person who is answered and calendar month; none means no limit."""
