"""The server that answers: address, limits, prices."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from bot.config.kinds import proxy_url, server_url
from bot.config.section import Section


class ModelServer(Section):
    """The OpenAI-compatible server that answers; without base_url and name the built-in offline model does."""

    base_url: Annotated[str, AfterValidator(server_url)] = Field(
        default="", description="Address of the server's API, for example http://localhost:11434/v1."
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key of the server; better kept as NUAN_MODEL__API_KEY in .env."
    )
    name: str = Field(default="", description="Name of the model on that server.")
    window_tokens: int = Field(
        default=128_000, ge=2048, le=100_000_000, description="Size of the model's context window, in tokens."
    )
    max_output_tokens: int = Field(
        default=512, ge=1, le=1_000_000, description="Longest answer of one call, in tokens."
    )
    temperature: float = Field(default=0.7, ge=0, le=2, description="Sampling temperature from 0 to 2.")
    deadline_seconds: float = Field(
        default=90.0, gt=0, le=86_400, description="When a call is given up, in seconds from its start."
    )
    stream: bool = Field(default=True, description="Whether answers are streamed from the server.")
    proxy: Annotated[str, AfterValidator(proxy_url)] = Field(
        default="", description="Proxy, http://, https:// or socks5:// with host and port; empty for none."
    )
    price_input: float | None = Field(
        default=None, ge=0, description="Price of a million uncached input tokens, in budget.currency."
    )
    price_cached: float | None = Field(
        default=None, ge=0, description="Price of a million cached input tokens; none means that of uncached ones."
    )
    price_written: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million input tokens that the provider caches anew; none means that of uncached ones.",
    )
    price_output: float | None = Field(
        default=None, ge=0, description="Price of a million output tokens, in budget.currency."
    )
    vocabulary: Literal["", "o200k", "deepseek", "qwen", "cl100k"] = Field(
        default="", description="What estimates of tokens go by; empty follows the model's name. Counts correct them."
    )
    slots: int = Field(default=4, ge=1, le=256, description="Calls that may be in flight at the same time.")
