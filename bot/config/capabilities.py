"""Rules of the capability table: which servers and models they are for, and what they say of them."""

import json
import tomllib
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from bot.config.kinds import problem
from bot.config.section import Section
from bot.errors import ConfigError
from bot.types.capabilities import CacheRule, JsonMode, MarkStyle, MaxTokensField

OWN = frozenset(
    ("model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens", "max_completion_tokens",
     "temperature", "n", "response_format", "prompt_cache_key", "prompt_cache_options")
)  # fmt: skip
"""Fields of a request that are nuan's own: prices, limits and the ledger stand on them."""

OWN_HEADERS = frozenset(("authorization", "host", "connection", "transfer-encoding", "content-type", "content-length"))


def switch(fields: Mapping[str, object]) -> Mapping[str, object]:
    """The fields as they are, if a request can carry them beside its own."""
    if taken := sorted(OWN & fields.keys()):
        raise problem(f"must not hold {', '.join(taken)}")
    try:
        json.dumps(fields, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise problem("must hold only what JSON can: texts, numbers, true, false, lists and tables") from None
    return fields


def header(name: str) -> str:
    """The name as it is, if no request needs that header itself."""
    if name.lower() in OWN_HEADERS:
        raise problem(f"must not be {name}: requests need it themselves")
    return name


Switch = Annotated[Mapping[str, object], AfterValidator(switch)]


class CapabilityRule(Section):
    """One rule of data/providers.toml or of [[capabilities]]; of several that fit, the last one that says it holds."""

    hosts: tuple[str, ...] = Field(default=("*",), description="Servers it is for: host names, * for any part.")
    models: tuple[str, ...] = Field(default=("*",), description="Models it is for: names, * for any part.")
    provider: str | None = Field(default=None, max_length=32, description="Name of the provider, for people.")
    cache: CacheRule | None = Field(default=None, description="What its cache matches: none, prefix, exact or units.")
    marks: MarkStyle | None = Field(default=None, description="How a request marks what is worth keeping.")
    cache_key: bool | None = Field(default=None, description="Whether prompt_cache_key is sent.")
    cache_header: Annotated[str, AfterValidator(header)] | None = Field(
        default=None, pattern=r"^[A-Za-z0-9-]{0,64}$", description="Header that carries the cache key."
    )
    cache_min_tokens: int | None = Field(default=None, ge=0, description="Smallest prompt that is cached, in tokens.")
    cache_life_seconds: int | None = Field(
        default=None, ge=1, le=31_536_000, description="How long a prefix is kept, in seconds."
    )
    cached_ratio: float | None = Field(default=None, ge=0, le=1, description="Price of cached input, part of the full.")
    written_ratio: float | None = Field(default=None, ge=0, le=10, description="Price of input that is cached anew.")
    usage_cached: tuple[str, ...] | None = Field(default=None, description="Fields of usage that count cached input.")
    usage_written: tuple[str, ...] | None = Field(default=None, description="Fields that count input cached anew.")
    thinking_off: Switch | None = Field(default=None, description="What a request says to think not.")
    thinking_on: Switch | None = Field(default=None, description="What a request says to think.")
    keep_reasoning: bool | None = Field(default=None, description="Whether the model wants its reasoning back.")
    max_tokens_field: MaxTokensField | None = Field(default=None, description="What bounds an answer in a request.")
    temperature: bool | None = Field(default=None, description="Whether a request may set a temperature.")
    json_mode: JsonMode | None = Field(
        default=None, description="How a request can ask for JSON: none, object, or schema (strict)."
    )
    embeddings: bool | None = Field(default=None, description="Whether the server makes embeddings.")
    vision: bool | None = Field(default=None, description="Whether the server has models that see pictures.")
    transcription: bool | None = Field(default=None, description="Whether the server transcribes recordings.")


def read_rules(text: str) -> tuple[CapabilityRule, ...]:
    """The rules of a table in TOML, in their order; ConfigError says what is wrong with it."""
    try:
        rules = tomllib.loads(text).get("rule", [])
        return tuple(CapabilityRule.model_validate(rule) for rule in rules)
    except (tomllib.TOMLDecodeError, ValidationError, TypeError) as error:
        raise ConfigError((f"providers.toml: {error}",)) from error
