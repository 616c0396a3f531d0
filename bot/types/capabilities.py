"""What a model's server can do and how it counts: facts from data/providers.toml and the operator's own rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CacheRule = Literal["none", "prefix", "exact", "units"]
"""What a provider's cache matches: nothing, the longest equal prefix, marked prefixes only, whole units of requests."""

MarkStyle = Literal["none", "breakpoint", "cache_control"]
"""How the end of a prefix worth keeping is marked in a request: not, in OpenAI's words, in Anthropic's words."""

MaxTokensField = Literal["max_tokens", "max_completion_tokens"]

JsonMode = Literal["none", "object", "schema"]
"""How a server can be told to answer in JSON: not at all, any object, or by a strict schema (response_format)."""

CACHED = (
    "prompt_tokens_details.cached_tokens", "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens",
    "input_tokens_details.cached_tokens", "cached_content_token_count", "timings.cache_n",
)  # fmt: skip
"""Every field known to count input that was read from a cache (PROMPT_ECONOMICS, section 1), in usage or beside it."""

WRITTEN = (
    "prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_input_tokens",
    "cache_write_tokens", "cache_creation_input_tokens",
)  # fmt: skip
"""Every field known to count input that was written to a cache."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One model on one server. The defaults are safe for a server that nothing is known of.

    Sizes are tokens, `cache_life_seconds` is how long a prefix is kept; ratios are parts of the price of uncached
    input, None where the provider is not known to have such a price. `thinking_off` and `thinking_on` are merged into
    the request; a model with neither cannot be switched. `keep_reasoning`: it wants its reasoning back in later
    requests. `cache_header` carries the cache key where a header does.
    """

    provider: str = "plain"
    cache: CacheRule = "none"
    marks: MarkStyle = "none"
    cache_key: bool = False
    cache_header: str = ""
    cache_min_tokens: int = 0
    cache_life_seconds: int | None = None
    cached_ratio: float | None = None
    written_ratio: float | None = None
    usage_cached: tuple[str, ...] = CACHED
    usage_written: tuple[str, ...] = WRITTEN
    thinking_off: Mapping[str, object] = field(default_factory=dict)
    thinking_on: Mapping[str, object] = field(default_factory=dict)
    keep_reasoning: bool = False
    max_tokens_field: MaxTokensField = "max_tokens"
    temperature: bool = True
    json_mode: JsonMode = "none"
    embeddings: bool = True
    vision: bool = True
    transcription: bool = True
