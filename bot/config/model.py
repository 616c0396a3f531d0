"""The servers that answer: address, limits, prices."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from bot.config.kinds import proxy_url, server_url
from bot.config.section import Section

Use = Literal["model", "fallback", "second_fallback", "small"]


class AnyModel(Section):
    """What every model is told by: where it is and what it costs."""

    base_url: Annotated[str, AfterValidator(server_url)] = Field(
        default="", description="Address of the server's API, for example http://localhost:11434/v1."
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key of the server; better kept in .env, in a variable like NUAN_MODEL__API_KEY."
    )
    name: str = Field(default="", pattern=r"^[^\x00-\x1f\x7f]*$", description="Name of the model on that server.")
    stream: bool = Field(default=True, description="Whether answers are streamed from the server.")
    thinking: bool = Field(
        default=False,
        description="Whether the model thinks before it answers, where that can be switched; thoughts are paid output.",
    )
    proxy: Annotated[str, AfterValidator(proxy_url)] = Field(
        default="", description="Proxy, http://, https:// or socks5:// with host and port; empty for none."
    )
    price_input: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million uncached input tokens, in budget.currency; none takes the public table's.",
    )
    price_cached: float | None = Field(
        default=None, ge=0, description="Price of a million cached input tokens; none follows the provider's rule."
    )
    price_written: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million input tokens that the provider caches anew; none follows the provider's rule.",
    )
    price_output: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million output tokens, in budget.currency; none takes the public table's.",
    )
    vocabulary: Literal["", "o200k", "deepseek", "qwen", "cl100k"] = Field(
        default="", description="What estimates of tokens go by; empty follows the model's name. Counts correct them."
    )


class ModelServer(AnyModel):
    """The OpenAI-compatible server that answers; without base_url and name the built-in offline model does."""

    use: Use = Field(
        default="model",
        description="Section of the model that answers first: model, fallback, second_fallback or small; the others "
        "answer after it, in their order. `.ai model` sets it.",
    )
    window_tokens: int = Field(
        default=128_000, ge=2048, le=100_000_000, description="Size of the model's context window, in tokens."
    )
    max_output_tokens: int = Field(
        default=512, ge=1, le=1_000_000, description="Longest answer of one call, in tokens."
    )
    temperature: float = Field(default=0.7, ge=0, le=2, description="Sampling temperature from 0 to 2.")
    deadline_seconds: float = Field(
        default=90.0,
        gt=0,
        le=86_400,
        description="When a call is given up, in seconds from its start; other tries and models are within it.",
    )
    tries: int = Field(
        default=3, ge=1, le=3, description="Requests that one call makes at most, of all models together, 1 to 3."
    )
    slots: int = Field(default=4, ge=1, le=256, description="Calls that may be in flight at the same time.")


class Fallback(AnyModel):
    """The model that answers when the first one does not; without a name there is none.

    An empty base_url is that of [model], with its key and proxy.
    """


class SecondFallback(AnyModel):
    """The model that answers when the first two do not; as [fallback]."""


class Small(AnyModel):
    """The cheaper model that answers when a budget runs low (budget.small_at); as [fallback]."""
